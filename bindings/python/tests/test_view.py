"""Views of histories that somebody else stores."""

import json

import pytest

import baler
from baler._blocks import rebuilt
from baler._memory import Memory
from baler._overflow import is_overflow
from baler._view import Window


def history(beds: int, task: str = "Check the soil of all beds.") -> list[dict]:
    messages = [{"role": "user", "content": task}]
    for bed in range(beds):
        call = {"id": f"c{bed}", "type": "function", "function": {"name": "soil", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{bed}", "content": f"bed {bed}: soil 24 %, light 900 lx, noon"}
        )
    return messages


def test_a_history_that_cannot_become_smaller_does_not_block_others(host):
    window, memory = Window(host=host, at=500), Memory()
    broken = history(40)
    del broken[8]
    assert memory.shown(window, "openai-chat", {}, broken) == broken
    whole = history(40, "Another garden.")
    assert len(memory.shown(window, "openai-chat", {}, whole)) < len(whole)
    # It is not tried again until it has grown.
    assert memory.view(window, "openai-chat", {}, broken).futile == len(broken)


def test_marks_for_the_cache_do_not_change_a_view(host):
    compactions = []
    window, memory = Window(host=host, at=800, on_compaction=compactions.append), Memory()
    whole = history(60)
    first = None
    for end in range(81, 91, 2):
        messages = json.loads(json.dumps(whole[:end]))
        messages[-1]["content"] = [
            {"type": "text", "text": messages[-1]["content"], "cache_control": {"type": "ephemeral"}}
        ]
        shown = memory.shown(window, "openai-chat", {}, messages)
        first = first or shown[:-1]
        assert shown[: len(first)] == first
    assert len(compactions) == 1


def test_parts_keep_their_order_and_what_is_not_described():
    result = {"type": "tool_result", "tool_use_id": "1", "content": "long output"}
    parts = [(result, "output"), (None, "picture"), ({"type": "text", "text": "and now?"}, "question")]
    blocks = [{**result, "content": "short"}, {"type": "text", "text": "and now?"}]
    assert rebuilt(parts, blocks, lambda part, text: f"{part}: {text}", str) == ["output: short", "picture", "question"]
    joined = [{"type": "text", "text": "A summary."}, *blocks]
    found = rebuilt(parts, joined, lambda part, text: f"{part}: {text}", str)
    assert found == ["A summary.", "output: short", "picture", "question"]
    thinking = [{"type": "thinking", "thinking": text, "signature": "s"} for text in ("one", "two")]
    parts = [(block, block["thinking"]) for block in thinking]
    assert rebuilt(parts, thinking[1:], lambda part, text: part, str) == ["two"]


def test_a_repaired_conversation_has_the_repaired_messages(host):
    messages = history(30)
    messages[1]["content"] = ""
    messages.insert(1, {"role": "tool", "tool_call_id": "nobody", "content": "?"})
    result = baler.compact(messages, budget=600, repair=True, host=host)
    assert result.is_compacted and baler.validate(result.body, host=host)
    assert result.body == json.loads(result._native.document)


@pytest.mark.parametrize(
    "text",
    [
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150001 tokens.",
        "prompt is too long: 213462 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "request (8231 tokens) exceeds the available context size (4096 tokens), try increasing it",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        "litellm.ContextWindowExceededError: …",
    ],
)
def test_errors_that_a_request_is_too_long_are_recognised(text):
    assert is_overflow(text)


@pytest.mark.parametrize(
    "text", ["temperature must be <= 2", "Rate limit reached: maximum context length", "string_above_max_length", ""]
)
def test_other_errors_are_not(text):
    assert not is_overflow(text)


def test_objects_that_dump_themselves_raise_an_error(host):
    from unittest.mock import MagicMock

    class Itself:
        def model_dump(self, **options):
            return self

    for wrong in (Itself(), MagicMock()):
        with pytest.raises(baler.ConversationError, match="model_dump"):
            baler.count([{"role": "user", "content": wrong}], host=host)
