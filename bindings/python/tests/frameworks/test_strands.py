"""Strands agents with a scripted model."""

import asyncio

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

    def __init__(self, beds=20, limit=10**9, count=None):
        self.beds, self.limit, self.count, self.seen = beds, limit, count, []

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        async for event in self.answer(messages):
            yield event
        # Others ask meanwhile.
        await asyncio.sleep(0.01)
        if self.count:
            tokens = self.count(messages)
            usage = {"inputTokens": 9, "cacheReadInputTokens": tokens - 9, "outputTokens": 7, "totalTokens": tokens + 7}
            yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}

    async def answer(self, messages):
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
    return managed(model, BalerConversationManager(host=host, **options))


def managed(model, manager):
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


def test_what_the_provider_counts_takes_the_place_of_the_estimate(host):
    compactions = []
    # One manager for two agents at once.
    manager = BalerConversationManager(host=host, at=2_500, on_compaction=compactions.append)

    def counted(times):
        described = lambda messages: [describe(message) for message in messages]  # noqa: E731
        return lambda seen: times * baler.count(described(seen), format="anthropic", host=host)

    few, many = Scripted(30, count=counted(1)), Scripted(30, count=counted(3))

    async def main():
        first, second = managed(many, manager), managed(few, manager)
        return await asyncio.gather(first.invoke_async(TASK), second.invoke_async(f"{TASK} And the roses."))

    for result in asyncio.run(main()):
        assert "All beds are fine." in str(result)
    assert len(few.seen[-1]) == 31 and len(many.seen[-1]) < 31
    # Half of `at`, in tokens of the host.
    assert compactions and all(made.is_compacted for made in compactions)
    assert compactions[0].receipt["tokens"]["budget"] < 625
