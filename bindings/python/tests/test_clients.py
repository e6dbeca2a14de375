"""Requests of the providers' own clients, on their way to a scripted server."""

import asyncio
import json
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import baler

httpx2 = pytest.importorskip("httpx2")
openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

from baler.anthropic import Middleware  # noqa: E402
from baler.httpx2 import AsyncTransport, Transport  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Server:
    """Answers requests, and refuses those that are longer than `limit` characters."""

    def __init__(self, answer, limit=10**9, refusal=None):
        self.answer, self.limit, self.refusal = answer, limit, refusal
        self.seen = []

    def __call__(self, request):
        self.seen.append(request)
        if len(request.content) > self.limit:
            return self.refusal()
        return self.answer()

    async def later(self, request):
        await request.aread()
        return self(request)

    def messages(self, number=-1, member="messages"):
        return json.loads(self.seen[number].content)[member]


def chat_answer():
    message = {"role": "assistant", "content": "Done."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return httpx2.Response(
        200, json={"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )


def chat_refusal():
    error = {
        "message": "This model's maximum context length is 9 tokens.",
        "code": "context_length_exceeded",
        "param": "messages",
        "type": "invalid_request_error",
    }
    return httpx2.Response(400, json={"error": error})


def claude_answer():
    usage = {"input_tokens": 1, "output_tokens": 1}
    content = [{"type": "text", "text": "Done."}]
    body = {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "usage": usage,
        "stop_reason": "end_turn",
        "stop_sequence": None,
    }
    return httpx2.Response(200, json=body)


def claude_refusal():
    error = {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"}
    return httpx2.Response(400, json={"type": "error", "error": error, "request_id": "r"})


def chat_history(beds=40):
    messages = [{"role": "system", "content": "You are a gardener."}, {"role": "user", "content": TASK}]
    for bed in range(beds):
        call = {"id": f"call_{bed}", "type": "function", "function": {"name": "soil", "arguments": f'{{"bed": {bed}}}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        output = f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"
        messages.append({"role": "tool", "tool_call_id": f"call_{bed}", "content": output})
    return messages


def claude_history(beds=40):
    messages = [{"role": "user", "content": TASK}]
    for bed in range(beds):
        call = {"type": "tool_use", "id": f"toolu_{bed}", "name": "soil", "input": {"bed": bed}}
        messages.append({"role": "assistant", "content": [call]})
        output = f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{bed}", "content": output}]}
        )
    return messages


def chat_client(server, host, **options):
    transport = Transport(httpx2.MockTransport(server), host=host, **options)
    return openai.OpenAI(api_key="k", max_retries=0, http_client=httpx2.Client(transport=transport))


def test_a_request_is_compacted_once_it_is_too_large(host):
    server = Server(chat_answer)
    client = chat_client(server, host, at=1_000)
    history = chat_history(5)
    client.chat.completions.create(model="gpt-4o", messages=history)
    assert server.messages() == history
    history = chat_history()
    before = json.dumps(history)
    answer = client.chat.completions.create(model="gpt-4o", messages=history)
    assert answer.choices[0].message.content == "Done." and json.dumps(history) == before
    sent = server.messages()
    assert len(sent) < len(history) and sent[:2] == history[:2] and sent[-1] == history[-1]
    assert baler.validate(sent, host=host) and baler.count(sent, host=host) <= 1_000


def test_the_view_is_repeated_until_it_grew_too_large(host):
    compactions = []
    server = Server(chat_answer)
    client = chat_client(server, host, at=1_200, on_compaction=compactions.append)
    history = chat_history()
    for step in range(4):
        client.chat.completions.create(model="gpt-4o", messages=history[: len(history) - 8 + 2 * step])
    first = server.messages(0)
    for number in range(1, 4):
        assert server.messages(number)[: len(first)] == first
    assert len(compactions) == 1
    # Another conversation has a view of its own.
    other = [history[0], {"role": "user", "content": "Another garden."}, *history[2:]]
    client.chat.completions.create(model="gpt-4o", messages=other)
    assert len(compactions) == 2 and "Another garden." in json.dumps(server.messages())
    # It is compacted again when it has grown.
    longer = [*history, *chat_history(60)[-60:]]
    client.chat.completions.create(model="gpt-4o", messages=longer)
    assert len(compactions) == 3 and baler.validate(server.messages(), host=host)


def test_an_overflow_leads_to_one_smaller_request(host):
    history = chat_history()
    whole = len(json.dumps(history))
    server = Server(chat_answer, limit=whole * 4 // 5, refusal=chat_refusal)
    client = chat_client(server, host, context_window=1_000_000)
    answer = client.chat.completions.create(model="gpt-4o", messages=history)
    assert answer.choices[0].message.content == "Done."
    assert len(server.seen) == 2 and len(server.seen[1].content) < len(server.seen[0].content)
    assert baler.validate(server.messages(), host=host)
    # The next request does not run into it again.
    client.chat.completions.create(model="gpt-4o", messages=[*history, {"role": "user", "content": "And now?"}])
    assert len(server.seen) == 3


def test_an_overflow_that_cannot_be_helped_is_the_providers_own_error(host):
    server = Server(chat_answer, limit=1, refusal=chat_refusal)
    client = chat_client(server, host, context_window=1_000_000)
    with pytest.raises(openai.BadRequestError, match="maximum context length"):
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": TASK}])
    assert len(server.seen) == 1
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="gpt-4o", messages=chat_history())
    assert len(server.seen) == 3


def test_other_errors_and_other_requests_pass(host):
    refused = lambda: httpx2.Response(400, json={"error": {"message": "Rate limit: too many tokens per min"}})  # noqa: E731
    server = Server(chat_answer, limit=10, refusal=refused)
    client = chat_client(server, host, at=500)
    with pytest.raises(openai.BadRequestError, match="Rate limit"):
        client.chat.completions.create(model="gpt-4o", messages=chat_history())
    assert len(server.seen) == 1
    server = Server(lambda: httpx2.Response(200, json={"data": [], "object": "list"}))
    list(chat_client(server, host, at=2).models.list())
    assert server.seen[0].method == "GET"


def test_what_the_provider_stores_is_not_compacted(host):
    response = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": [], "status": "completed"}
    server = Server(
        lambda: httpx2.Response(
            200, json={**response, "tools": [], "parallel_tool_calls": False, "tool_choice": "auto"}
        )
    )
    items = [
        {"role": "user", "content": "x " * 900},
        {"role": "assistant", "content": "y " * 900},
        {"role": "user", "content": TASK},
    ]
    client = chat_client(server, host, at=500)
    client.responses.create(model="gpt-4o", input=items, previous_response_id="r0")
    assert server.messages(member="input") == items
    client.responses.create(model="gpt-4o", input=items, store=False)
    assert len(json.dumps(server.messages(member="input"))) < len(json.dumps(items))


def test_what_the_provider_compacts_itself_is_not_compacted(host):
    server = Server(claude_answer)
    inner = httpx2.Client(transport=httpx2.MockTransport(server))
    client = anthropic.Anthropic(
        api_key="k", max_retries=0, middleware=[Middleware(host=host, at=500)], http_client=inner
    )
    ask = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": claude_history()}
    client.messages.create(**ask, extra_body={"compaction": {"type": "summarize"}})
    assert server.messages() == ask["messages"]
    client.messages.create(**ask)
    assert len(server.messages()) < len(ask["messages"])


def test_streams_pass_unchanged(host):
    lines = [
        b'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"D"}}]}\n\n',
        b"data: [DONE]\n\n",
    ]

    class Stream(httpx2.SyncByteStream):
        def __iter__(self):
            yield from lines

    server = Server(lambda: httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=Stream()))
    chunks = list(
        chat_client(server, host, at=1_000).chat.completions.create(
            model="gpt-4o", messages=chat_history(), stream=True
        )
    )
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["D"]
    assert len(server.messages()) < len(chat_history())


def test_asynchronous_clients(host):
    history = chat_history()
    server = Server(chat_answer, limit=len(json.dumps(history)) * 3 // 4, refusal=chat_refusal)

    async def main():
        transport = AsyncTransport(httpx2.MockTransport(server.later), host=host, at=2_500)
        client = openai.AsyncOpenAI(api_key="k", max_retries=0, http_client=httpx2.AsyncClient(transport=transport))
        return await client.chat.completions.create(model="gpt-4o", messages=history)

    assert asyncio.run(main()).choices[0].message.content == "Done."
    assert baler.validate(server.messages(), host=host)


@pytest.mark.parametrize("is_async", [False, True])
def test_the_middleware_of_anthropics_client(host, is_async):
    history = claude_history()
    server = Server(claude_answer, limit=len(json.dumps(history)) * 3 // 4, refusal=claude_refusal)
    ask = {"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": history, "system": "You are a gardener."}
    middleware = Middleware(host=host, at=1_000_000)
    if is_async:
        inner = httpx2.AsyncClient(transport=httpx2.MockTransport(server.later))
        client = anthropic.AsyncAnthropic(api_key="k", max_retries=0, middleware=[middleware], http_client=inner)

        async def main():
            return await client.messages.create(**ask)

        answer = asyncio.run(main())
    else:
        inner = httpx2.Client(transport=httpx2.MockTransport(server))
        client = anthropic.Anthropic(api_key="k", max_retries=0, middleware=[middleware], http_client=inner)
        answer = client.messages.create(**ask)
    assert answer.content[0].text == "Done." and len(server.seen) == 2
    sent = json.loads(server.seen[1].content)
    assert baler.validate(sent, host=host) and sent["system"] == "You are a gardener."
    assert TASK in json.dumps(sent["messages"][0], ensure_ascii=False)


def test_messages_of_the_clients_go_in_as_they_are(host):
    """An agent appends the objects that its client returned."""
    from openai.types.chat import ChatCompletion

    completion = ChatCompletion.model_validate(chat_answer().json())
    messages = [*chat_history(), completion.choices[0].message, {"role": "user", "content": "Go on."}]
    result = baler.compact(messages, budget=1_000, host=host)
    assert result.is_compacted and result.messages[-2] is messages[-2]
    client = chat_client(Server(chat_answer), host, at=10**9)
    client.chat.completions.create(model="gpt-4o", messages=result.messages)

    answer = anthropic.types.Message.model_validate(claude_answer().json())
    messages = [
        *claude_history(),
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": "Go on."},
    ]
    result = baler.compact(messages, budget=1_000, host=host)
    assert result.is_compacted and result.messages[-2] is messages[-2]


def test_contents_of_googles_client_go_in_as_they_are(host):
    types = pytest.importorskip("google.genai.types")
    contents = [types.Content(role="user", parts=[types.Part(text=TASK)])]
    for bed in range(40):
        call = types.FunctionCall(name="soil", args={"bed": bed})
        contents.append(
            types.Content(role="model", parts=[types.Part(function_call=call, thought_signature=b"\x01\x02")])
        )
        response = types.FunctionResponse(
            name="soil", response={"output": f"bed {bed}: soil 24 %, light 900 lx, at noon"}
        )
        contents.append(types.Content(role="user", parts=[types.Part(function_response=response)]))
    result = baler.compact(contents, budget=1_000, host=host)
    assert result.is_compacted and result.receipt["format"] == "gemini"
    assert result.messages[0] is contents[0] and result.messages[-1] is contents[-1]
    for message in result.messages:
        types.Content.model_validate(message if isinstance(message, dict) else message.model_dump())


def test_a_request_of_bedrock_stays_one(host):
    messages = [{"role": "user", "content": [{"text": TASK}]}]
    for bed in range(40):
        id = f"tooluse_{bed}"
        call = {"toolUseId": id, "name": "soil", "input": {"bed": bed}}
        result = {"toolUseId": id, "content": [{"text": f"bed {bed}: soil 24 %, light 900 lx, at noon"}]}
        messages.append({"role": "assistant", "content": [{"toolUse": call}]})
        messages.append({"role": "user", "content": [{"toolResult": result}]})
    tools = [{"toolSpec": {"name": "soil", "inputSchema": {"json": {"type": "object"}}}}]
    body = {"messages": messages, "toolConfig": {"tools": tools}}
    result = baler.compact(body, budget=1_000, host=host)
    assert result.is_compacted and result.receipt["format"] == "bedrock-converse"
    assert result.body["toolConfig"] == body["toolConfig"]
    assert result.messages[0] is messages[0] and result.messages[-1] is messages[-1]


def test_all_but_the_messages_is_sent_as_it_is(host):
    server = Server(chat_answer)
    with httpx2.Client(transport=Transport(httpx2.MockTransport(server), host=host, at=1_000)) as client:
        body = json.dumps({"seed": 12345678901234567890, "messages": chat_history(), "model": "gpt-4o"}, indent=1)
        client.post("https://api.openai.com/v1/chat/completions", content=body.encode())
    sent = server.seen[-1].content.decode()
    assert sent.startswith('{\n "seed": 12345678901234567890,') and sent.endswith('"model": "gpt-4o"\n}')
    assert len(sent) < len(body)


def test_a_broken_history_is_sent_as_it_is_and_told(host, caplog):
    history = chat_history()
    del history[9]
    server = Server(chat_answer)
    with caplog.at_level("WARNING", "baler"):
        chat_client(server, host, at=1_000).chat.completions.create(model="gpt-4o", messages=history)
    assert server.messages() == history
    assert "message 9" in caplog.text and "CHAT-2" in caplog.text and "baler.repair" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected `context_window`"),
        ({"at": 0}, "`at`"),
        ({"at": 100, "budget": 100}, "`budget`"),
        ({"at": 1}, "`budget`"),
        ({"context_windows": 5}, "no option is called `context_windows`"),
        ({"context_window": 100, "at": 200}, "`at`: expected at most the context window"),
        ({"context_window": 10**30}, "`context_window`"),
        ({"at": 100, "policy": {"foo": 1}}, "`policy`"),
        ({"at": 100, "pins": 5}, "`pins`"),
    ],
)
def test_wrong_options_raise_an_option_error(host, options, message):
    with pytest.raises(baler.OptionError, match=message):
        Transport(host=host, **options)


def test_wrong_strategies_hosts_and_callables_are_noticed_at_once(host):
    with pytest.raises(baler.StrategyError, match="no strategy is called `teired`"):
        Transport(host=host, at=100, strategy="teired")
    with pytest.raises(TypeError, match="`host`"):
        Transport(host="x", at=100)
    with pytest.raises(TypeError, match="`on_compaction`"):
        Transport(host=host, at=100, on_compaction=5)


COUNTED = 5_990
CHAT_CHUNK = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
CHAT_EVENTS = [
    {**CHAT_CHUNK, "choices": [{"index": 0, "delta": {"content": "潮"}}], "usage": None},
    {**CHAT_CHUNK, "choices": [], "usage": {"prompt_tokens": COUNTED, "completion_tokens": 1, "total_tokens": 5_991}},
]
CLAUDE_USAGE = {
    "input_tokens": 90,
    "cache_read_input_tokens": 5_000,
    "cache_creation_input_tokens": 900,
    "output_tokens": 1,
}
CLAUDE_MESSAGE = {**json.loads(claude_answer().content), "usage": CLAUDE_USAGE}
CLAUDE_EVENTS = [
    {"type": "message_start", "message": {**CLAUDE_MESSAGE, "content": []}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}},
    {"type": "message_stop"},
]


@pytest.fixture
def provider():
    """Answers over the network, in JSON or in a stream, compressed if the client takes that."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            server.seen.append(asked["messages"])
            is_claude, is_stream = self.path.endswith("/messages"), asked.get("stream", False)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8" if is_stream else "application/json")
            if is_gzip := server.compresses and "gzip" in self.headers["accept-encoding"]:
                self.send_header("content-encoding", "gzip")
            self.end_headers()
            pack = zlib.compressobj(wbits=31) if is_gzip else None
            for piece in self.pieces(is_claude, is_stream):
                self.wfile.write(pack.compress(piece) + pack.flush(zlib.Z_SYNC_FLUSH) if pack else piece)
            if pack:
                self.wfile.write(pack.flush())

        def pieces(self, is_claude, is_stream):
            if not is_stream:
                usage = CHAT_EVENTS[-1]["usage"]
                whole = CLAUDE_MESSAGE if is_claude else {**json.loads(chat_answer().content), "usage": usage}
                return [json.dumps(whole).encode()]
            events = CLAUDE_EVENTS if is_claude else CHAT_EVENTS
            named = [f"event: {one['type']}\n" if is_claude else "" for one in events]
            texts = [f"{name}data: {json.dumps(one)}\n\n" for name, one in zip(named, events, strict=True)]
            return [text.encode() for text in [*texts, *([] if is_claude else ["data: [DONE]\n\n"])]]

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.seen, server.compresses = [], False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def openai_asks(server, options, runner, is_stream):
    url, ask = f"http://127.0.0.1:{server.server_port}/v1", {"model": "gpt-5", "stream": is_stream}
    if runner:
        client = openai.AsyncOpenAI(
            api_key="k", base_url=url, http_client=httpx2.AsyncClient(transport=AsyncTransport(**options))
        )
        asks = read_all(lambda messages: client.chat.completions.create(**ask, messages=messages), is_stream)
        return lambda messages: runner.run(asks(messages))
    client = openai.OpenAI(api_key="k", base_url=url, http_client=httpx2.Client(transport=Transport(**options)))
    return lambda messages: list(client.chat.completions.create(**ask, messages=messages))


def claude_asks(server, options, runner, is_stream):
    url, ask = f"http://127.0.0.1:{server.server_port}", {"model": "claude-5", "max_tokens": 9, "stream": is_stream}
    given = {"api_key": "k", "base_url": url, "middleware": [Middleware(**options)]}
    if runner:
        client = anthropic.AsyncAnthropic(**given)
        asks = read_all(lambda messages: client.messages.create(**ask, messages=messages), is_stream)
        return lambda messages: runner.run(asks(messages))
    client = anthropic.Anthropic(**given)
    return lambda messages: list(client.messages.create(**ask, messages=messages))


def read_all(create, is_stream):
    async def asks(messages):
        answer = await create(messages)
        return [event async for event in answer] if is_stream else answer

    return asks


def twice(history, server, ask):
    """Asks with a history, and with the same that has grown. Returns how many messages were sent then, and are in it."""
    ask(history(40))
    assert server.seen[0] == history(40)
    ask(history(41))
    return len(server.seen[1]), len(history(41))


@pytest.mark.parametrize("is_stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("compresses", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(("asks", "history"), [(openai_asks, chat_history), (claude_asks, claude_history)])
def test_what_the_provider_counts_takes_the_place_of_the_estimate(
    host, provider, asks, history, compresses, is_async, is_stream
):
    provider.compresses = compresses
    compactions = []
    options = {"host": host, "at": 6_000, "on_compaction": compactions.append}
    with asyncio.Runner() as runner:
        sent, all = twice(history, provider, asks(provider, options, runner if is_async else None, is_stream))
    assert sent < all - 20
    # It is a budget of the provider's tokens.
    assert compactions[0].receipt["tokens"]["budget"] < 3_000


@pytest.mark.parametrize("name", ["httpx", "httpx2"])
def test_the_bytes_of_an_answer_pass_as_they_come(host, name):
    httpx = pytest.importorskip(name)
    transport = pytest.importorskip(f"baler.{name}").Transport
    usage = json.dumps({"choices": [], "usage": {"prompt_tokens": COUNTED}})
    lines = [b'data: {"choices":[]}\n\n', f"data: {usage}\n\n".encode(), b"data: [DONE]\n\n"]
    given, closed, sent = [], [], []

    class Stream(httpx.SyncByteStream):
        def __iter__(self):
            for line in lines:
                given.append(line)
                yield line

        def close(self):
            closed.append(True)

    def answer(request):
        sent.append(json.loads(request.content)["messages"])
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Stream())

    client = httpx.Client(transport=transport(httpx.MockTransport(answer), host=host, at=6_000))

    def ask(beds, most):
        given.clear(), closed.clear()
        url = "https://models.example/v1/chat/completions"
        with client.stream("POST", url, json={"messages": chat_history(beds)}) as response:
            pieces = response.iter_raw()
            for place in range(most):
                assert next(pieces) == lines[place] and len(given) == place + 1
        assert closed == [True] and response.elapsed.total_seconds() >= 0
        return len(sent[-1])

    # What nobody read tells nothing.
    assert ask(40, most=1) == 82 and ask(41, most=1) == 84
    # Nobody reads what comes after the usage.
    assert ask(42, most=2) == 86 and ask(43, most=1) < 66


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({"content-type": "application/json"}, b'{"usage": {"prompt_tokens": "many"}}'),
        ({"content-type": "application/json"}, b'{"usage": {"prompt_tokens": 3}}'),
        ({"content-type": "text/event-stream"}, b'data: {"usage": [\xff\xff\n\n'),
        ({"content-encoding": "gzip"}, b"this is not compressed"),
        ({"content-encoding": "nobody-knows"}, b"\x00"),
    ],
)
def test_an_answer_that_says_nonsense_passes(host, headers, content):
    class Stream(httpx2.SyncByteStream):
        def __iter__(self):
            yield content

    transport = Transport(
        httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, stream=Stream())), host=host, at=6_000
    )
    with httpx2.Client(transport=transport) as client:
        url = "https://models.example/v1/chat/completions"
        with client.stream("POST", url, json={"messages": chat_history(2)}) as response:
            assert b"".join(response.iter_raw()) == content
