"""Strands agents with a scripted model."""

import pytest

import baler

pytest.importorskip("strands")

from strands import Agent, tool  # noqa: E402
from strands.models import Model  # noqa: E402
from strands.types.exceptions import ContextWindowOverflowException  # noqa: E402

from baler.strands import BalerConversationManager, describe  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Scripted(Model):
    """Checks the soil of two beds at a time, and refuses requests of more than `limit` characters."""

    def __init__(self, beds=20, limit=10**9):
        self.beds, self.limit, self.seen = beds, limit, []

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        self.seen.append([{**message} for message in messages])
        if len(str([message["content"] for message in messages])) > self.limit:
            raise ContextWindowOverflowException("too long")
        results = [part["toolResult"] for message in messages for part in message["content"] if "toolResult" in part]
        done = max([0, *(int(result["toolUseId"]) + 1 for result in results)])
        yield {"messageStart": {"role": "assistant"}}
        if done >= self.beds:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "All beds are fine."}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        for bed in (done, done + 1):
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": str(bed), "name": "soil"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"bed": {bed}}}'}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


@tool
def soil(bed: int) -> str:
    """Measures the soil of a bed."""
    return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"


def agent(model, host, **options):
    manager = BalerConversationManager(host=host, **options)
    return Agent(
        model=model,
        tools=[soil],
        system_prompt="You are a gardener.",
        conversation_manager=manager,
        callback_handler=None,
    )


def test_messages_stay_within_the_window(host):
    model, compactions = Scripted(), []
    built = agent(model, host, at=600, on_compaction=compactions.append)
    assert "All beds are fine." in str(built(TASK)) and 1 <= len(compactions) < 10
    for seen in model.seen:
        described = [describe(message) for message in seen]
        found = baler.validate(described, format="anthropic", host=host)
        assert found, found.violations
        assert baler.count(described, format="anthropic", host=host) < 1_000
        assert seen[0]["content"][0]["text"] == TASK


def test_an_overflow_makes_the_messages_fewer(host):
    model = Scripted(limit=3_000)
    assert "All beds are fine." in str(agent(model, host, context_window=1_000_000)(TASK))
    assert any(len(str([message["content"] for message in seen])) > model.limit for seen in model.seen)


def test_an_overflow_that_cannot_be_helped_is_raised(host):
    with pytest.raises(ContextWindowOverflowException):
        agent(Scripted(limit=1), host, context_window=1_000_000)(TASK)
