"""What goes in comes out in the same form, smaller, with kept messages unchanged."""

import json

import pytest

import baler


def test_messages_that_are_kept_are_the_same_objects(body, host):
    messages = body["messages"]
    result = baler.compact(messages, host=host)
    assert result.is_compacted
    kept = [change for change in result.changes if change.kind == "kept"]
    assert kept and len(result.messages) == len(result.changes) <= len(messages)
    for message, change in zip(result.messages, result.changes, strict=True):
        if change.kind == "kept":
            assert message is messages[change.index]
        else:
            assert all(message is not other for other in messages)


def test_a_body_keeps_its_other_members(body, host):
    before = json.dumps(body)
    result = baler.compact(body, budget=6_000, host=host)
    assert json.dumps(body) == before
    assert result.body["model"] == body["model"] and result.body["tools"] is body["tools"]
    # The objects are exactly what the library wrote.
    assert result.body == json.loads(result._native.document)
    assert baler.count(result.body, host=host) == result.receipt["tokens"]["after"] <= 6_000
    assert baler.validate(result.body, host=host)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, str])
def test_texts_and_bytes_come_back_as_they_were_given(raw, host, kind):
    given = raw.decode() if kind is str else kind(raw)
    result = baler.compact(given, strategy="sliding-window", host=host)
    assert type(result.body) is (str if kind is str else bytes)
    assert json.loads(result.body)["messages"] == result.messages
    restored = result.undo()
    assert (restored.encode() if kind is str else restored) == raw


def test_all_wire_formats_give_what_bytes_give(host):
    from conftest import CONVERSATIONS

    files = [file for file in sorted(CONVERSATIONS.glob("*.json")) if "receipt" not in file.name]
    assert len(files) >= 4
    formats = set()
    for file in files:
        # References of removed content are hashes of its bytes.
        text = json.dumps(json.loads(file.read_text()), ensure_ascii=False, separators=(",", ":"))
        as_text = baler.compact(text, host=host)
        as_objects = baler.compact(json.loads(text), host=host)
        assert as_objects.body == json.loads(as_text.body), file.name
        assert as_objects.undo() == json.loads(text)
        formats.add(as_text.receipt["format"])
    assert len(formats) >= 3


def test_a_budget_is_a_number_or_a_share(body, host):
    after = lambda budget: baler.compact(body, budget=budget, host=host).receipt["tokens"]["after"]  # noqa: E731
    assert after(5_000) <= 5_000
    assert after("25%") == after(0.25) < after("50%") == after(0.5)


def test_what_fits_stays_as_it_is(body, host):
    result = baler.compact(body, budget=100_000, host=host)
    assert not result.is_compacted and result.receipt["why"] == "within-budget"
    assert result.body == body and result.undo() == body
    assert all(change.kind == "kept" for change in result.changes)


def test_one_message_in_place_of_the_list_is_a_message(host):
    content = {"role": "user", "parts": {"text": "Wie hoch steht das Wasser?"}}
    request = baler.compact({"contents": content}, budget=6_000, host=host)
    assert request.body == {"contents": content} and request.messages == [content]
    asked = baler.compact({"input": "Wie hoch steht das Wasser?"}, budget=6_000, host=host)
    assert asked.messages == [{"role": "user", "content": "Wie hoch steht das Wasser?"}]


def test_a_result_tells_what_became_of_it(body, host):
    assert "unchanged (within-budget)" in repr(baler.compact(body, budget=100_000, host=host))
    assert "over the budget of 50" in repr(baler.compact(body, budget=50, host=host))


def test_undo_needs_an_archive(body, state):
    result = baler.compact(body, host=baler.Host(state=state, archive="off"))
    assert result.is_compacted
    with pytest.raises(baler.ArchiveError, match="no archive"):
        result.undo()


def test_expand_returns_removed_content(body, host):
    result = baler.compact(body, strategy="sliding-window", host=host)
    reference = result.receipt["archive"][0]["reference"]
    removed = [index for index, outcome in enumerate(result.units) if outcome == "removed"]
    assert result.receipt["archive"][0]["unit"] == removed[0]
    assert "tool_calls" in host.expand(reference)


def test_pins_are_kept(body, host):
    unpinned = baler.compact(body, strategy="native:truncate", budget="10%", host=host)
    removed = unpinned.units.index("removed")
    pinned = baler.compact(body, strategy="native:truncate", budget="10%", pins=[0, removed], host=host)
    assert pinned.units[removed] == "kept"


def test_should_compact_decides_by_size_or_by_a_strategy(body, host):
    tokens = baler.count(body, host=host)
    assert baler.should_compact(body, budget=tokens - 1, host=host)
    assert not baler.should_compact(body, budget=tokens + 1, host=host)
    assert baler.should_compact(body, context_window=tokens, host=host)
    assert not baler.should_compact(body, context_window=tokens * 2, budget="90%", host=host)
    assert baler.should_compact(body, budget=tokens - 1, strategy="tiered", host=host)


def test_validate_and_repair(host):
    broken = [
        {"role": "user", "content": "Water the ferns. 水やり"},
        {"role": "tool", "tool_call_id": "x", "content": "?"},
    ]
    found = baler.validate(broken, host=host)
    assert not found and found.errors == 1
    assert found.violations[0].rule == "CHAT-1" and found.violations[0].message == 2 and found.violations[0].remedy
    repaired = baler.repair(broken, host=host)
    assert repaired.validation.is_valid and len(repaired.body) == 1 and len(broken) == 2
    assert repaired.repairs[0]["rule"] == "CHAT-1"
    # Without a repair nothing is done; with it, there is nothing to compact.
    assert baler.compact(broken, budget=1, host=host).receipt["why"] == "invalid-input"
    assert baler.compact(broken, budget=1, repair=True, host=host).receipt["outcome"] == "repaired"


def test_introspect_names_permissions_and_the_schema(host):
    told = baler.introspect("sliding-window", host=host)
    assert told["introspection"]["name"] == "sliding-window"
    assert json.loads(told["introspection"]["config-schema"])["type"] == "object"
    assert told["component"]["contract"].startswith("baler:compaction@")


def test_the_shared_host_uses_the_folder_that_the_environment_names(body, tmp_path, monkeypatch):
    from baler import _host

    monkeypatch.setattr(_host, "_shared", None)
    monkeypatch.setenv("BALER_STATE", str(tmp_path / "own"))
    assert baler.compact(body, strategy="native:digest").is_compacted
    assert (tmp_path / "own/key").is_file() and (tmp_path / "own/archive").is_dir()
