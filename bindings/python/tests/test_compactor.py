"""One conversation over time."""

import pytest

import baler
import baler.aio

GARDEN = [{"role": "user", "content": "Check the soil of all beds. Never water the cacti. 仙人掌"}]


def answers(bed: int) -> tuple[dict, dict]:
    call = {"id": f"call_{bed}", "type": "function", "function": {"name": "soil", "arguments": f'{{"bed": {bed}}}'}}
    output = f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall"
    return (
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{bed}", "content": output},
    )


def test_an_agent_stays_within_its_window(host):
    compactor = baler.Compactor({"model": "gpt-4o", "messages": GARDEN}, host=host, context_window=2_000)
    for bed in range(60):
        step = compactor.step()
        assert step.is_compacted == bool([r for r in step.receipts if r["outcome"] == "compacted"])
        assert compactor.tokens < 2_000
        assert baler.validate(compactor.body, host=host)
        compactor.append(*answers(bed))
    assert compactor.compactions > 0
    assert compactor.messages[0] == GARDEN[0]
    assert len(compactor.history) == 121 and compactor.history[-1] == answers(59)[1]


def test_an_overflow_makes_the_request_smaller_each_time(host):
    compactor = baler.Compactor(GARDEN, host=host, context_window=100_000)
    for bed in range(40):
        compactor.append(*answers(bed))
    sizes = [compactor.tokens]
    for _ in range(2):
        assert compactor.overflow().pressure == "overflow"
        sizes.append(compactor.tokens)
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_compactor_continues_after_a_restart(host):
    compactor = baler.Compactor(GARDEN, host=host, context_window=2_000)
    for bed in range(40):
        compactor.append(*answers(bed))
        compactor.step()
    resumed = baler.Compactor.resume(compactor.save(), host=host, context_window=2_000)
    assert resumed.messages == compactor.messages and resumed.history == compactor.history
    resumed.append(*answers(40))
    assert len(resumed.history) == len(compactor.history) + 2
    with pytest.raises(baler.ConversationError):
        baler.Compactor.resume("{}", host=host)


def test_steps_are_asynchronous_too(host):
    import asyncio

    compactor = baler.Compactor(GARDEN, host=host, context_window=1_000)

    async def main():
        for bed in range(20):
            compactor.append(*answers(bed))
            await baler.aio.step(compactor)

    asyncio.run(main())
    assert compactor.compactions > 0


def test_wrong_messages_and_options_change_nothing(host):
    compactor = baler.Compactor(GARDEN, host=host, context_window=2_000)
    with pytest.raises(baler.ConversationError):
        compactor.append({"role": "wizard"})
    with pytest.raises(baler.ConversationError, match="lone surrogate"):
        compactor.append({"role": "user", "content": "\ud800"})
    assert compactor.history == GARDEN
    with pytest.raises(baler.OptionError, match="target-share"):
        baler.Compactor(GARDEN, host=host, context_window=2_000, target_share=2)
    with pytest.raises(baler.OptionError, match="no option is called `context_windw`; known: context_window"):
        baler.Compactor(GARDEN, host=host, context_windw=2_000)
    with pytest.raises(baler.OptionError, match="context-window"):
        baler.Compactor(GARDEN, host=host)


def test_a_preset_has_the_strategy_and_the_settings_of_an_earlier_system(host):
    turns = [
        {"role": role, "content": f"{role} {number}: the roses in bed {number} need water."}
        for number in range(9)
        for role in ("user", "assistant")
    ]
    compactor = baler.Compactor(turns[:14], host=host, preset="ptc-runner")
    # Seven turns: it compacts from eight on, whatever the tokens.
    assert compactor.step().pressure is None
    compactor.append(*turns[14:])
    step = compactor.step()
    assert step.pressure == "turns"
    assert step.receipts[0]["attempts"][0]["strategy"] == "coalesce"
    # Options take precedence.
    compactor = baler.Compactor(turns, host=host, preset="ptc-runner", triggers={"turns": 50})
    assert compactor.step().pressure is None
    with pytest.raises(baler.OptionError, match="one of planck, puck, ptc-runner, apeira"):
        baler.Compactor(turns, host=host, preset="plank")
