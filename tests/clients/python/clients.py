"""What the scenario needs of each client. A client is synchronous or asynchronous; `settled` and `each` are for both."""

import base64
import inspect
import json
from dataclasses import dataclass

import anthropic
import openai
from google import genai
from google.genai import errors, types

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "description": {"type": "string"}},
    "required": ["command", "description"],
    "additionalProperties": False,
}
# A picture of 1 × 1 points.
PNG64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


@dataclass
class Call:
    id: str | None
    name: str
    arguments: dict


@dataclass
class Output:
    call: Call
    text: str
    is_error: bool
    has_image: bool


@dataclass
class Answer:
    said: list
    """What is appended to the history."""
    calls: list[Call]
    text: str
    thinking: str


async def settled(value):
    return await value if inspect.isawaitable(value) else value


async def each(stream):
    if hasattr(stream, "__aiter__"):
        async for chunk in stream:
            yield chunk
    else:
        for chunk in stream:
            yield chunk


async def final(manager, name: str):
    """Reads a stream by the client's own helper, to the whole answer."""
    if hasattr(manager, "__aenter__"):
        async with manager as stream:
            return await getattr(stream, name)()
    with manager as stream:
        return getattr(stream, name)()


def header(manner: str | None) -> dict:
    return {"x-scripted": manner} if manner else {}


class Chat:
    variable = "OPENAI_BASE_URL"
    shows_thinking = False
    refusal = openai.BadRequestError
    waits_as_told = True

    def __init__(self, is_async: bool, base_url: str | None = None):
        make = openai.AsyncOpenAI if is_async else openai.OpenAI
        # Every answer and every event has to be what the types of the client say.
        self.client = make(api_key="k", base_url=base_url, _strict_response_validation=True)

    def user(self, text: str) -> list:
        return [{"role": "user", "content": text}]

    def asked(self, history: list, manner: str | None, has_tools: bool) -> dict:
        tool = {"type": "function", "function": {"name": "bash", "parameters": SCHEMA, "strict": True}}
        tools = {"tools": [tool]} if has_tools else {}
        return {"model": "gpt-5.5", "messages": history, "reasoning_effort": "low", "extra_headers": header(manner)} | tools

    async def ask(self, history: list, is_stream: bool, manner: str | None = None, has_tools: bool = False) -> Answer:
        asked = self.asked(history, manner, has_tools)
        completions = self.client.chat.completions
        if is_stream:
            answer = await final(completions.stream(**asked), "get_final_completion")
        else:
            answer = await settled(completions.create(**asked))
        message = answer.choices[0].message
        calls = [Call(c.id, c.function.name, json.loads(c.function.arguments)) for c in message.tool_calls or []]
        return Answer([message], calls, message.content or "", "")

    def chunks(self, history: list, manner: str):
        return self.client.chat.completions.create(**self.asked(history, manner, False), stream=True)

    def outputs(self, outputs: list[Output]) -> list:
        texts = [{"role": "tool", "tool_call_id": o.call.id, "content": o.text} for o in outputs]
        # Outputs are texts only.
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG64}"}}
        pictures = [{"role": "user", "content": [image]} for o in outputs if o.has_image]
        return texts + pictures

    count = None


class Responses(Chat):
    shows_thinking = True

    def asked(self, history: list, manner: str | None, has_tools: bool) -> dict:
        tool = {"type": "function", "name": "bash", "parameters": SCHEMA, "strict": True}
        return {
            "model": "gpt-5.5",
            "input": history,
            "store": False,
            "reasoning": {"effort": "low", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "extra_headers": header(manner),
        } | ({"tools": [tool]} if has_tools else {})

    async def ask(self, history: list, is_stream: bool, manner: str | None = None, has_tools: bool = False) -> Answer:
        asked = self.asked(history, manner, has_tools)
        if is_stream:
            answer = await final(self.client.responses.stream(**asked), "get_final_response")
        else:
            answer = await settled(self.client.responses.create(**asked))
        calls = [
            Call(item.call_id, item.name, json.loads(item.arguments))
            for item in answer.output
            if item.type == "function_call"
        ]
        thinking = [part.text for item in answer.output if item.type == "reasoning" for part in item.summary]
        return Answer(answer.output, calls, answer.output_text, "".join(thinking))

    def chunks(self, history: list, manner: str):
        return self.client.responses.create(**self.asked(history, manner, False), stream=True)

    def outputs(self, outputs: list[Output]) -> list:
        def output(o: Output):
            text = {"type": "input_text", "text": o.text}
            image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG64}", "detail": "auto"}
            return [text, image] if o.has_image else o.text

        return [{"type": "function_call_output", "call_id": o.call.id, "output": output(o)} for o in outputs]

    async def count(self, history: list, manner: str | None = None) -> int:
        counted = self.client.responses.input_tokens.count(
            model="gpt-5.5", input=history, extra_headers=header(manner)
        )
        return (await settled(counted)).input_tokens


class Messages:
    variable = "ANTHROPIC_BASE_URL"
    shows_thinking = True
    refusal = anthropic.BadRequestError
    waits_as_told = True

    def __init__(self, is_async: bool, base_url: str | None = None):
        make = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
        self.client = make(api_key="k", base_url=base_url, _strict_response_validation=True)

    def user(self, text: str) -> list:
        return [{"role": "user", "content": text}]

    def asked(self, history: list, manner: str | None, has_tools: bool) -> dict:
        tool = {"name": "bash", "input_schema": SCHEMA}
        return {
            "model": "claude-opus-5-5",
            "max_tokens": 2048,
            "messages": history,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "extra_headers": header(manner),
        } | ({"tools": [tool]} if has_tools else {})

    async def ask(self, history: list, is_stream: bool, manner: str | None = None, has_tools: bool = False) -> Answer:
        asked = self.asked(history, manner, has_tools)
        if is_stream:
            answer = await final(self.client.messages.stream(**asked), "get_final_message")
        else:
            answer = await settled(self.client.messages.create(**asked))
        calls = [Call(b.id, b.name, b.input) for b in answer.content if b.type == "tool_use"]
        text = "".join(b.text for b in answer.content if b.type == "text")
        thinking = "".join(b.thinking for b in answer.content if b.type == "thinking")
        return Answer([{"role": "assistant", "content": answer.content}], calls, text, thinking)

    def chunks(self, history: list, manner: str):
        return self.client.messages.create(**self.asked(history, manner, False), stream=True)

    def outputs(self, outputs: list[Output]) -> list:
        def block(o: Output) -> dict:
            content: list = [{"type": "text", "text": o.text}]
            if o.has_image:
                source = {"type": "base64", "media_type": "image/png", "data": PNG64}
                content.append({"type": "image", "source": source})
            return {"type": "tool_result", "tool_use_id": o.call.id, "content": content, "is_error": o.is_error}

        return [{"role": "user", "content": [block(o) for o in outputs]}]

    async def count(self, history: list, manner: str | None = None) -> int:
        counted = self.client.messages.count_tokens(
            model="claude-opus-5-5", messages=history, extra_headers=header(manner)
        )
        return (await settled(counted)).input_tokens


class Gemini:
    variable = "GOOGLE_GEMINI_BASE_URL"
    shows_thinking = True
    refusal = errors.ClientError
    # It repeats after times of its own.
    waits_as_told = False

    def __init__(self, is_async: bool, base_url: str | None = None):
        options = types.HttpOptions(base_url=base_url, retry_options=types.HttpRetryOptions(attempts=3))
        client = genai.Client(api_key="k", http_options=options)
        # What is made of a client may end with it.
        self.client = client
        self.models = client.aio.models if is_async else client.models

    def user(self, text: str) -> list:
        return [types.UserContent(text)]

    def asked(self, history: list, manner: str | None, has_tools: bool) -> dict:
        schema = {name: value for name, value in SCHEMA.items() if name != "additionalProperties"}
        bash = types.FunctionDeclaration(name="bash", description="Runs a command.", parameters_json_schema=schema)
        config = types.GenerateContentConfig(
            thinking_config=types.ThinkingConfig(include_thoughts=True),
            tools=[types.Tool(function_declarations=[bash])] if has_tools else None,
            http_options=types.HttpOptions(headers=header(manner)),
        )
        return {"model": "gemini-3-pro", "contents": history, "config": config}

    async def ask(self, history: list, is_stream: bool, manner: str | None = None, has_tools: bool = False) -> Answer:
        asked = self.asked(history, manner, has_tools)
        if is_stream:
            answers = [chunk async for chunk in each(await settled(self.models.generate_content_stream(**asked)))]
        else:
            answers = [await settled(self.models.generate_content(**asked))]
        assert answers[-1].candidates[0].finish_reason == types.FinishReason.STOP
        parts = [part for answer in answers for part in answer.candidates[0].content.parts]
        calls = [Call(None, p.function_call.name, p.function_call.args) for p in parts if p.function_call]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        thinking = "".join(part.text for part in parts if part.thought)
        return Answer([types.ModelContent(parts)], calls, text, thinking)

    def chunks(self, history: list, manner: str):
        return self.models.generate_content_stream(**self.asked(history, manner, False))

    def outputs(self, outputs: list[Output]) -> list:
        def part(o: Output) -> types.Part:
            image = types.FunctionResponsePart(
                inline_data=types.FunctionResponseBlob(mime_type="image/png", data=base64.b64decode(PNG64))
            )
            response = types.FunctionResponse(
                name=o.call.name,
                response={"error" if o.is_error else "output": o.text},
                parts=[image] if o.has_image else None,
            )
            return types.Part(function_response=response)

        return [types.UserContent([part(o) for o in outputs])]

    async def count(self, history: list, manner: str | None = None) -> int:
        config = types.CountTokensConfig(http_options=types.HttpOptions(headers=header(manner)))
        counted = self.models.count_tokens(model="gemini-3-pro", contents=history, config=config)
        return (await settled(counted)).total_tokens


CLIENTS = {"chat": Chat, "responses": Responses, "anthropic": Messages, "gemini": Gemini}
