"""Inspect with its mock model."""

import asyncio

import pytest

import baler

pytest.importorskip("inspect_ai")

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser, get_model  # noqa: E402
from inspect_ai.tool import ToolCall, ToolCallError  # noqa: E402

from baler.inspect_ai import CompactionBaler, describe  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


def history():
    messages = [ChatMessageSystem(content="You are a gardener."), ChatMessageUser(content=TASK)]
    for bed in range(30):
        calls = [ToolCall(id=f"{bed}-{place}", function="soil", arguments={"bed": bed}) for place in "ab"]
        messages.append(ChatMessageAssistant(content="Next.", tool_calls=calls))
        for call in calls:
            error = ToolCallError("timeout", "the probe is slow") if bed == 7 else None
            text = f"bed {call.id}: soil 24 %, light 900 lx, measured at noon by the north wall"
            messages.append(ChatMessageTool(content=text, tool_call_id=call.id, function="soil", error=error))
    return messages


def test_a_strategy_returns_what_to_send(host):
    messages = history()
    sent, message = asyncio.run(CompactionBaler(host=host).compact(get_model("mockllm/model"), messages, []))
    assert message is None and len(messages) == 92
    assert sent[0] is messages[0] and sent[1] is messages[1] and sent[-1] is messages[-1]
    described = [describe(message) for message in sent]
    assert baler.validate(described, host=host)
    assert baler.count(described, host=host) < 0.6 * baler.count([describe(message) for message in messages], host=host)


def test_a_budget_is_kept(host):
    sent, _ = asyncio.run(
        CompactionBaler(5_000, budget=900, host=host).compact(get_model("mockllm/model"), history(), [])
    )
    assert baler.count([describe(message) for message in sent], host=host) <= 900


def test_an_agent_with_the_strategy(host, monkeypatch):
    from inspect_ai import Task, eval
    from inspect_ai.agent import react
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelAPI, ModelOutput
    from inspect_ai.tool import tool

    @tool
    def soil():
        async def execute(bed: int) -> str:
            """Measures the soil of a bed.

            Args:
                bed: The number of the bed.
            """
            return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"

        return execute

    async def count(self, text):
        return len(text) // 4

    # The real one fetches a vocabulary.
    monkeypatch.setattr(ModelAPI, "count_text_tokens", count)
    outputs = [ModelOutput.for_tool_call("mockllm", "soil", {"bed": bed}) for bed in range(20)]
    outputs.append(ModelOutput.for_tool_call("mockllm", "submit", {"answer": "All beds are fine."}))
    compactions = []
    compaction = CompactionBaler(900, host=host, on_compaction=compactions.append)
    agent = react(tools=[soil()], compaction=compaction)
    log = eval(
        Task([Sample(TASK)], solver=agent),
        model=get_model("mockllm/model", custom_outputs=outputs),
        display="none",
        log_dir="/tmp",
    )[0]
    assert log.status == "success", log.error
    assert compactions
    # The sample keeps all that was said.
    assert sum(message.role == "tool" for message in log.samples[0].messages) >= 20
