"""Requests of the providers' own clients, on their way to a scripted server."""

import asyncio
import json

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
