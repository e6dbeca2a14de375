"""Views of histories that somebody else stores."""

import json
import os

import pytest

import baler
from baler._baler import is_too_long, says_too_long
from baler._blocks import rebuilt
from baler._view import Window, applied, applied_to_dicts


def history(beds: int, task: str = "Check the soil of all beds.") -> list[dict]:
    messages = [{"role": "user", "content": task}]
    for bed in range(beds):
        call = {"id": f"c{bed}", "type": "function", "function": {"name": "soil", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append(
            {"role": "tool", "tool_call_id": f"c{bed}", "content": f"bed {bed}: soil 24 %, light 900 lx, noon"}
        )
    return messages


def shown(window, messages, **options):
    """Returns the messages that are shown."""
    found = window.show("openai-chat", {"messages": messages}, **options)
    return messages if found.is_whole else applied_to_dicts(found.native.messages, messages)


def test_what_the_provider_counts_takes_the_place_of_the_estimate(host):
    compactions = []
    window, whole = Window(host=host, at=6_000, on_compaction=compactions.append), history(60)
    counted = window.show("openai-chat", {"messages": whole})
    # These are not believed, or are no numbers.
    for nonsense in (0, -1, 3, 1 << 70, 1.5, "9000", None):
        counted.note_count(nonsense)
    assert shown(window, whole) == whole
    counted.note_count(5_990)
    assert shown(window, whole) == whole and compactions == []
    # Two more messages.
    assert len(shown(window, history(61))) < len(whole)
    (compaction,) = compactions
    # The budget is one of the provider's tokens, too.
    tokens = compaction.receipt["tokens"]
    assert tokens["budget"] == 3_000 * baler.count(whole, host=host) // 5_990 and tokens["after"] <= tokens["budget"]


def test_a_history_that_cannot_become_smaller_does_not_block_others(host):
    compactions = []
    window = Window(host=host, at=500, on_compaction=compactions.append)
    broken = history(40)
    del broken[8]
    assert shown(window, broken) == broken
    assert len(compactions) == 1 and not compactions[0].is_compacted and compactions[0].undo()["messages"] == broken
    whole = history(40, "Another garden.")
    assert len(shown(window, whole)) < len(whole)
    assert len(compactions) == 2
    # It is not tried again until it has grown.
    assert shown(window, broken) == broken and len(compactions) == 2
    shown(window, [*broken, *history(4)[1:]])
    assert len(compactions) == 3


def test_marks_for_the_cache_do_not_change_a_view(host):
    compactions = []
    window = Window(host=host, at=800, on_compaction=compactions.append)
    whole = history(60)
    first = None
    for end in range(81, 91, 2):
        messages = json.loads(json.dumps(whole[:end]))
        messages[-1]["content"] = [
            {"type": "text", "text": messages[-1]["content"], "cache_control": {"type": "ephemeral"}}
        ]
        now = shown(window, messages)
        first = first or now[:-1]
        assert now[: len(first)] == first
    assert len(compactions) == 1


def test_what_is_shown_is_what_is_sent(host):
    window, whole = Window(host=host, at=800), history(60)
    found = window.show("openai-chat", {"messages": whole})
    found = found.native
    assert applied_to_dicts(found.messages, whole) == json.loads(found.conversation.document)["messages"]
    # Of objects, those that are shown as they are stay the same, and the others are made of their new form.
    objects = [object() for _ in whole]
    placed = applied(found.messages, objects, lambda message: message, lambda one, message: (one, message))
    assert placed[0] is objects[0] and placed[-1] is objects[-1]
    assert any(isinstance(one, dict) for one in placed)
    assert found.made_at == len(whole)


def test_what_was_refused_becomes_smaller_until_nothing_can_be_left_out(host):
    window, whole = Window(host=host, at=100_000), history(60)
    assert window.show("openai-chat", {"messages": whole}).is_whole
    sizes = [baler.count(whole, host=host)]
    while len(sizes) < 50 and not (found := window.show("openai-chat", {"messages": whole}, less=True)).is_whole:
        sizes.append(found.native.conversation.tokens)
    assert 2 < len(sizes) < 50 and sizes == sorted(sizes, reverse=True)
    assert shown(window, whole) != whole


def test_a_view_that_was_stored_is_shown_again(host):
    whole, compactions = history(60), []
    first = Window(host=host, at=800).show("openai-chat", {"messages": whole}).native
    again = Window(host=host, at=800, on_compaction=compactions.append)
    found = again.show("openai-chat", {"messages": whole}, view=first.view).native
    assert found.view == first.view and found.conversation.document == first.conversation.document
    assert compactions == []
    # A body that cannot be read is not an error here.
    for wrong in ("", "{}", '{"count": 1, "futile": 0, "last": "", "entries": []}'):
        other = Window(host=host, at=800, on_compaction=compactions.append)
        assert other.show("openai-chat", {"messages": whole}, view=wrong).native.view
    assert len(compactions) == 3


def test_what_a_compaction_removed_can_be_restored(host):
    compactions = []
    whole = history(60)
    found = Window(host=host, at=800, on_compaction=compactions.append).show("openai-chat", {"messages": whole})
    (compaction,) = compactions
    assert compaction.undo() == {"messages": whole}
    assert compaction.body == json.loads(found.native.conversation.document)
    assert compaction.messages == compaction.body["messages"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_shows_views(host):
    window, whole = Window(host=host, at=800), history(60)
    expected = shown(window, whole)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if len(shown(window, whole)) == len(expected) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


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
    assert says_too_long(text)


@pytest.mark.parametrize(
    "text", ["temperature must be <= 2", "Rate limit reached: maximum context length", "string_above_max_length", ""]
)
def test_other_errors_are_not(text):
    assert not says_too_long(text)


def test_a_response_that_a_request_is_too_long_is_recognised_by_its_status_and_its_body():
    body = json.dumps({"error": {"message": "prompt is too long: 213462 tokens > 200000 maximum"}}).encode()
    assert is_too_long(400, body) and not is_too_long(401, body) and not is_too_long(400, b"{}")


def test_objects_that_dump_themselves_raise_an_error(host):
    from unittest.mock import MagicMock

    class Itself:
        def model_dump(self, **options):
            return self

    for wrong in (Itself(), MagicMock()):
        with pytest.raises(baler.ConversationError, match="model_dump"):
            baler.count([{"role": "user", "content": wrong}], host=host)
