"""Strategies by name, from files, and as callables; and what happens when they fail."""

import json
import logging
import time

import pytest

import baler
from baler import _baler


def wasm(name: str) -> bytes:
    return bytes(dict(_baler.strategies())[name])


def attempts(result: baler.Compaction) -> list[tuple[str, str]]:
    """The name of each strategy that was tried, and the code of what came of it."""

    def code(result: dict) -> str:
        return result["fault"]["fault"] if result["result"] == "fault" else result["result"]

    return [(attempt["strategy"], code(attempt["result"])) for attempt in result.receipt["attempts"]]


def test_strategies_names_what_ships_with_baler():
    assert {"tiered", "sliding-window", "native:digest", "native:truncate"} <= set(baler.strategies())


def test_a_strategy_from_a_file_takes_config_and_limits(body, host, tmp_path):
    file = tmp_path / "mine.wasm"
    file.write_bytes(wasm("sliding-window"))
    by_path = baler.compact(body, strategy=file, host=host)
    assert attempts(by_path) == [("mine", "accepted")]
    few = baler.Strategy.load(file, name="few", config={"keep": {"units": 2}}, timeout=1.5)
    result = baler.compact(body, strategy=few, host=host)
    assert attempts(result) == [("few", "accepted")] and repr(few) == "<baler.Strategy few>"
    assert result.receipt["tokens"]["after"] < by_path.receipt["tokens"]["after"]
    hungry = baler.Strategy.load(file, fuel=10)
    result = baler.compact(body, strategy=[hungry, "native:truncate"], host=host)
    assert attempts(result) == [("mine", "out-of-fuel"), ("native:truncate", "accepted")] and result.fell_back


def test_a_strategy_that_cannot_be_used_raises_a_strategy_error(body, host, tmp_path):
    (tmp_path / "text.wasm").write_text("hello")
    (tmp_path / "empty.wasm").write_text("")
    (tmp_path / "module.wasm").write_bytes(b"\0asm\x01\0\0\0")
    for strategy, message in [
        ("tierd", "no strategy is called `tierd`; known: "),
        (tmp_path / "nowhere.wasm", "cannot read the strategy"),
        (tmp_path, "is not a file"),
        (tmp_path / "text.wasm", "not WebAssembly"),
        (tmp_path / "empty.wasm", "the file is empty"),
        (tmp_path / "module.wasm", "core WebAssembly module"),
    ]:
        with pytest.raises(baler.StrategyError, match=message):
            baler.compact(body, strategy=strategy, host=host)
    with pytest.raises(baler.ConfigError, match="keep"):
        baler.compact(body, strategy=baler.Strategy("sliding-window", config={"keep": "many"}), host=host)
    with pytest.raises(baler.OptionError, match="`timeout`"):
        baler.Strategy("tiered", timeout=0)


def test_a_callable_is_a_strategy(body, host):
    def newest(request):
        """Keeps what must stay and the newest units."""
        units = request["units"]
        keep = [index for index, unit in enumerate(units) if "protected" in unit["traits"] or index > len(units) - 8]
        return [keep[0], keep[1], "Earlier steps looked at the code.", *keep[2:]]

    result = baler.compact(body, strategy=newest, host=host)
    assert attempts(result) == [("newest", "accepted")]
    assert sum(change.kind == "inserted" for change in result.changes) == 1
    assert baler.validate(result.body, host=host)
    told = baler.introspect(newest, host=host)
    assert told["introspection"]["description"] == "Keeps what must stay and the newest units."


def test_a_coroutine_function_is_a_strategy(body, host):
    async def nothing(request):
        return None

    result = baler.compact(body, strategy=nothing, host=host)
    assert result.receipt["why"] == "strategy-declined"


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        (lambda request: [], "invalid-plan"),
        (lambda request: [10_000], "invalid-plan"),
        (lambda request: [5, 4], "invalid-plan"),
        (lambda request: "all", "output-malformed"),
        (lambda request: [object()], "output-malformed"),
        (lambda request: [{"keep": "all"}], "output-malformed"),
        (lambda request: 1 / 0, "output-malformed"),
    ],
)
def test_a_callable_that_fails_is_replaced_by_the_next_strategy(body, host, plan, fault, caplog):
    result = baler.compact(body, strategy=baler.Strategy.of(plan, name="wrong"), host=host)
    assert attempts(result)[0] == ("wrong", fault) and result.is_compacted and result.fell_back
    assert baler.validate(result.body, host=host)


def test_the_exception_of_a_callable_is_logged(body, host, caplog):
    def broken(request):
        raise LookupError("the moss is gone")

    with caplog.at_level(logging.ERROR, "baler"):
        assert baler.compact(body, strategy=broken, host=host).is_compacted
    assert "the moss is gone" in caplog.text


def test_a_callable_that_hangs_is_left_behind(body, host):
    def slow(request):
        time.sleep(3)

    began = time.monotonic()
    result = baler.compact(body, strategy=baler.Strategy.of(slow, timeout=0.2), host=host)
    assert time.monotonic() - began < 2.5
    assert attempts(result)[0] == ("slow", "timeout") and result.is_compacted


#: A model's summary, which tells of the conversation: one that does not counts as no answer.
SUMMARY = "Many brackets have to parse; src/parser.rs counts their depth now. 终"


def test_a_callable_that_is_a_model_writes_the_summary(body, state):
    asked = []

    def model(request: baler.ModelRequest) -> str:
        asked.append(request)
        return SUMMARY

    host = baler.Host(state=state, model=model)
    result = baler.compact(body, strategy="summarize", host=host)
    assert asked and isinstance(asked[0].prompt, str) and asked[0].max_output_tokens > 0
    assert result.is_compacted and SUMMARY in json.dumps(result.messages, ensure_ascii=False)
    assert result.receipt["attempts"][0]["model"]["calls"] == len(asked)


@pytest.mark.parametrize("answer", [None, 5, "", "\ud800"])
def test_a_model_that_returns_nonsense_leads_to_the_next_strategy(body, state, answer):
    host = baler.Host(state=state, model=lambda request: answer)
    result = baler.compact(body, strategy="summarize", required=True, host=host)
    assert result.is_compacted and baler.validate(result.body, host=host)
    assert attempts(result)[0][1] != "accepted"


def test_a_model_that_raises_is_logged_and_leads_to_the_next_strategy(body, state, caplog):
    async def model(request):
        raise ConnectionError("the line is dead")

    host = baler.Host(state=state, model=model)
    with caplog.at_level(logging.ERROR, "baler"):
        result = baler.compact(body, strategy="summarize", required=True, host=host)
    assert result.is_compacted and "the line is dead" in caplog.text


def test_asynchronous_models_share_an_event_loop(body, state):
    """As a client does that a program makes once."""
    import asyncio

    lock, loops = asyncio.Lock(), set()

    async def model(request):
        async with lock:
            loops.add(asyncio.get_running_loop())
            await asyncio.sleep(0.01)
        return SUMMARY

    host = baler.Host(state=state, model=model)
    for _ in range(3):
        result = baler.compact(body, strategy="summarize", host=host)
        assert attempts(result)[0] == ("summarize", "accepted")
    assert len(loops) == 1


def test_faults_are_logged_with_the_strategy_and_the_rule(body, host, caplog):
    with caplog.at_level(logging.WARNING, "baler"):
        baler.compact(body, strategy=baler.Strategy.of(lambda request: [0], name="hasty"), host=host)
    assert "`hasty` failed" in caplog.text and "drops-protected" in caplog.text


def test_a_strategy_that_wants_a_model_needs_one(body, host, tmp_path):
    with pytest.raises(baler.StrategyError, match="the host has none"):
        baler.compact(body, strategy="summarize", host=host)
    file = tmp_path / "theirs.wasm"
    file.write_bytes(wasm("summarize"))
    asking = baler.Host(state=tmp_path / "state", model=lambda request: SUMMARY)
    with pytest.raises(baler.StrategyError, match="may_ask_model=True"):
        baler.compact(body, strategy=file, host=asking)
    trusted = baler.Strategy.load(file, may_ask_model=True)
    assert baler.compact(body, strategy=trusted, host=asking).is_compacted


def test_a_host_takes_a_list_of_strategies(body, state, tmp_path):
    import hashlib

    component = wasm("sliding-window")
    (tmp_path / "theirs.wasm").write_bytes(component)
    digest = hashlib.sha256(component).hexdigest()
    listing = f'[strategies.theirs]\nsource = {{ path = "theirs.wasm" }}\ndigest = "sha256:{digest}"\nconfig = {{ keep = {{ units = 3 }} }}\n'
    (tmp_path / "baler.toml").write_text(listing)
    host = baler.Host(state=state, project=tmp_path / "baler.toml")
    assert attempts(baler.compact(body, strategy="theirs", host=host)) == [("theirs", "accepted")]
    receipt = baler.compact(body, strategy="theirs", host=host).receipt
    assert receipt["project"] == {
        "content-hash": "sha256:" + hashlib.sha256(listing.encode()).hexdigest(),
        "trusted": True,
        "settings": ["strategies.theirs.config"],
        "withheld": [],
    }
    (tmp_path / "theirs.wasm").write_bytes(component + b"\0")
    host = baler.Host(state=state, project=tmp_path / "baler.toml")
    with pytest.raises(baler.StrategyError, match=digest):
        baler.compact(body, strategy="theirs", host=host)


def test_a_list_of_strategies_that_takes_a_name_of_baler_is_refused(state, tmp_path):
    (tmp_path / "baler.toml").write_text('[strategies.Tiered]\nsource = { path = "theirs.wasm" }\n')
    with pytest.raises(baler.OptionError, match="these names are reserved"):
        baler.Host(state=state, project=tmp_path / "baler.toml")


def test_another_file_with_the_name_of_a_shipped_strategy_keeps_its_ending(tmp_path):
    file = tmp_path / "tiered.wasm"
    file.write_bytes(wasm("trim"))
    assert baler.Strategy.load(file).name == "tiered.wasm"
    file.write_bytes(wasm("tiered"))
    assert baler.Strategy.load(file).name == "tiered"


def test_no_list_is_looked_for(body, state, tmp_path, monkeypatch):
    (tmp_path / "baler.toml").write_text("[policy]\nplans = { rewrite-outputs = false, excerpts = false }\n")
    monkeypatch.chdir(tmp_path)
    assert baler.compact(body, host=baler.Host(state=state)).receipt["project"] is None
