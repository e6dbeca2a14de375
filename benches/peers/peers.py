"""What is compared: functions that fit chat messages into a number of tokens. Each returns the messages and the time.

Peers work on message objects of their own. Making these, and making chat messages of the result, is not timed.
"""

import asyncio
import copy
import json
import time
from types import SimpleNamespace

import baler


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def all_peers() -> dict:
    """Returns the peers that are installed, by name, with the job that they do."""
    peers = {}
    for of in (_langchain, _agent_framework, _haystack, _pydantic_ai, _autogen, _strands, _headroom, _cliffcompaction):
        try:
            peers |= of()
        except ImportError as error:
            print(f"left out: {error}")
    return peers


def ours(host: baler.Host) -> dict:
    def with_strategy(name):
        def fit(messages, tokens):
            result, took = timed(lambda: baler.compact(messages, budget=tokens, strategy=name, host=host))
            return result.messages, took

        return fit

    jobs = {"sliding-window": "window", "mask-tool-outputs": "masking", "tiered": "window", "native:digest": "summary"}
    return {f"baler {name}": (job, with_strategy(name)) for name, job in jobs.items()}


def _langchain():
    from langchain.agents.middleware.context_editing import ClearToolUsesEdit
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately as count

    def trim(messages, tokens):
        own = convert_to_messages(messages)
        work = lambda: trim_messages(own, max_tokens=tokens, token_counter=count, strategy="last", include_system=True)
        result, took = timed(work)
        return convert_to_openai_messages(result), took

    def clear(messages, tokens):
        own = convert_to_messages(messages)
        edit = ClearToolUsesEdit(trigger=tokens, keep=3)
        _, took = timed(lambda: edit.apply(own, count_tokens=count))
        return convert_to_openai_messages(own), took

    return {
        "LangChain trim_messages": ("window", trim),
        "LangChain ClearToolUsesEdit": ("masking", clear),
    }


def _agent_framework():
    from agent_framework import Content, Message
    from agent_framework._compaction import (
        CharacterEstimatorTokenizer,
        ToolResultCompactionStrategy,
        TruncationStrategy,
        apply_compaction,
    )

    def to_own(messages):
        own = []
        for message in messages:
            contents = [Content.from_text(message["content"])] if message.get("content") else []
            if message["role"] == "tool":
                contents = [Content.from_function_result(message["tool_call_id"], result=message["content"])]
            for call in message.get("tool_calls") or []:
                function = call["function"]
                contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
            own.append(Message(message["role"], contents))
        return own

    def to_chat(own):
        messages = []
        for message in own:
            calls = [
                {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
                for c in message.contents
                if c.type == "function_call"
            ]
            results = [c for c in message.contents if c.type == "function_result"]
            if results:
                messages.extend({"role": "tool", "tool_call_id": c.call_id, "content": str(c.result)} for c in results)
            else:
                text = message.text or (None if calls else "…")
                messages.append({"role": message.role, "content": text, **({"tool_calls": calls} if calls else {})})
        return messages

    tokenizer = CharacterEstimatorTokenizer()

    def with_strategy(make):
        def fit(messages, tokens):
            own, strategy = to_own(messages), make(tokens)
            work = lambda: asyncio.run(apply_compaction(own, strategy=strategy, tokenizer=tokenizer))
            result, took = timed(work)
            return to_chat(result), took

        return fit

    return {
        "Agent Framework Truncation": (
            "window",
            with_strategy(lambda tokens: TruncationStrategy(max_n=tokens, compact_to=tokens, tokenizer=tokenizer)),
        ),
        "Agent Framework ToolResultCompaction": (
            "masking",
            with_strategy(lambda tokens: ToolResultCompactionStrategy(keep_last_tool_call_groups=3)),
        ),
    }


def _haystack():
    from haystack.dataclasses import ChatMessage
    from haystack.hooks.compaction import SlidingWindowCompactor, ToolResultPruningCompactor
    from haystack.token_counters import ApproximateTokenCounter

    counter = ApproximateTokenCounter()

    def with_compactor(compactor):
        def fit(messages, tokens):
            own = [ChatMessage.from_openai_dict_format(message) for message in messages]
            result, took = timed(lambda: compactor.compact(own, tokens, counter))
            return [message.to_openai_dict_format() for message in (own if result is None else result)], took

        return fit

    return {
        "Haystack SlidingWindow": ("window", with_compactor(SlidingWindowCompactor())),
        "Haystack ToolResultPruning": ("masking", with_compactor(ToolResultPruningCompactor())),
    }


def _pydantic_ai():
    from pydantic_ai import RunContext
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage
    from pydantic_ai_harness.compaction import ClearToolResults, SlidingWindowCompaction

    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())

    def to_own(messages):
        names = {call["id"]: call["function"]["name"] for m in messages for call in m.get("tool_calls") or []}
        own = []
        for message in messages:
            text = message.get("content") or ""
            match message["role"]:
                case "assistant":
                    parts = [TextPart(text)] if text else []
                    for call in message.get("tool_calls") or []:
                        function = call["function"]
                        parts.append(ToolCallPart(function["name"], function["arguments"], tool_call_id=call["id"]))
                    own.append(ModelResponse(parts=parts or [TextPart("…")]))
                    continue
                case "system":
                    part = SystemPromptPart(text)
                case "tool":
                    identity = message["tool_call_id"]
                    part = ToolReturnPart(tool_name=names.get(identity, "tool"), content=text, tool_call_id=identity)
                case _:
                    part = UserPromptPart(text)
            if own and isinstance(own[-1], ModelRequest):
                own[-1] = ModelRequest(parts=[*own[-1].parts, part])
            else:
                own.append(ModelRequest(parts=[part]))
        return own

    def to_chat(own):
        messages = []
        for message in own:
            if isinstance(message, ModelResponse):
                calls = [
                    {"id": p.tool_call_id, "type": "function", "function": {"name": p.tool_name, "arguments": p.args}}
                    for p in message.parts
                    if isinstance(p, ToolCallPart)
                ]
                text = "".join(p.content for p in message.parts if isinstance(p, TextPart)) or None
                messages.append({"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})})
                continue
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    messages.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": part.model_response_str()})
                else:
                    role = "system" if isinstance(part, SystemPromptPart) else "user"
                    messages.append({"role": role, "content": part.content or "…"})
        return messages

    def with_compaction(make):
        def fit(messages, tokens):
            own, compaction = to_own(messages), make(tokens)
            result, took = timed(lambda: asyncio.run(compaction.compact(own, context)))
            return to_chat(own if result is None else result), took

        return fit

    return {
        "pydantic-ai-harness SlidingWindow": (
            "window",
            with_compaction(lambda tokens: SlidingWindowCompaction(max_tokens=tokens, keep_tokens=max(1, tokens * 9 // 10))),
        ),
        "pydantic-ai-harness ClearToolResults": ("masking", with_compaction(lambda tokens: ClearToolResults(max_tokens=tokens))),
    }


def _autogen():
    from autogen_core.model_context import HeadAndTailChatCompletionContext

    def fit(messages, tokens):
        # It counts messages: as many of the newest as the share of tokens allows.
        total = baler.count(messages, format="openai-chat", host=_COUNTER)
        tail = max(2, int(len(messages) * tokens / total) - 2)
        context = HeadAndTailChatCompletionContext(head_size=2, tail_size=tail)
        context._messages = [SimpleNamespace(type="Message", content=message, message=message) for message in messages]
        result, took = timed(lambda: asyncio.run(context.get_messages()))
        return [getattr(message, "message", {"role": "user", "content": str(message.content)}) for message in result], took

    return {"AutoGen HeadAndTail": ("window", fit)}


def _strands():
    from strands.agent.conversation_manager import SlidingWindowConversationManager

    def to_own(messages):
        own = []
        for message in messages:
            text = [{"text": message["content"]}] if message.get("content") else []
            match message["role"]:
                case "system":
                    continue
                case "assistant":
                    calls = [
                        {"toolUse": {"toolUseId": c["id"], "name": c["function"]["name"], "input": c["function"]["arguments"]}}
                        for c in message.get("tool_calls") or []
                    ]
                    own.append({"role": "assistant", "content": [*text, *calls]})
                case "tool":
                    result = {"toolResult": {"toolUseId": message["tool_call_id"], "status": "success", "content": text}}
                    if own[-1]["role"] == "user" and "toolResult" in own[-1]["content"][0]:
                        own[-1]["content"].append(result)
                    else:
                        own.append({"role": "user", "content": [result]})
                case _:
                    own.append({"role": "user", "content": text})
        return own

    def to_chat(own):
        messages = []
        for message in own:
            texts = [part["text"] for part in message["content"] if "text" in part]
            if message["role"] == "assistant":
                calls = [
                    {"id": c["toolUseId"], "type": "function", "function": {"name": c["name"], "arguments": c["input"]}}
                    for c in (part["toolUse"] for part in message["content"] if "toolUse" in part)
                ]
                messages.append({"role": "assistant", "content": "".join(texts) or None, **({"tool_calls": calls} if calls else {})})
                continue
            for result in (part["toolResult"] for part in message["content"] if "toolResult" in part):
                text = "".join(part["text"] for part in result["content"])
                messages.append({"role": "tool", "tool_call_id": result["toolUseId"], "content": text})
            messages.extend({"role": "user", "content": text} for text in texts)
        return messages

    def fit(messages, tokens):
        own = to_own(messages)
        total = baler.count(messages, format="openai-chat", host=_COUNTER)
        manager = SlidingWindowConversationManager(window_size=max(2, int(len(own) * tokens / total)), pin_first=1)
        agent = SimpleNamespace(messages=own)
        _, took = timed(lambda: manager.apply_management(agent))
        system = [message for message in messages if message["role"] == "system"]
        return [*system, *to_chat(agent.messages)], took

    return {"Strands SlidingWindow, pin_first": ("window", fit)}


def _headroom():
    from headroom import compress

    def fit(messages, tokens):
        own = copy.deepcopy(messages)
        result, took = timed(lambda: compress(own, model="gpt-4o"))
        return json.loads(json.dumps(result.messages)), took

    return {"headroom compress": ("masking", fit)}


_COUNTER = baler.Host(state=None)


def _cliffcompaction():
    from cliffcompaction.config import Config
    from cliffcompaction.dialects.openai_chat import DIALECT
    from cliffcompaction.engine import Engine

    def fit(messages, tokens):
        # Its proxy compacts what is over the threshold, and harder while the result still is.
        engine = Engine(Config(threshold_tokens=tokens))
        body = {"model": "gpt-4o", "messages": copy.deepcopy(messages)}
        request, took = timed(lambda: engine.prepare(body, DIALECT))
        return request.outgoing_body()["messages"], took

    return {"CliffCompaction": ("summary", fit)}
