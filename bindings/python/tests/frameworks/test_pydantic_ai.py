"""Pydantic AI's agents with a scripted model."""

import asyncio
import contextlib
import dataclasses
import functools
import json

import pytest

import baler

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, ModelRetry  # noqa: E402
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import DeltaToolCall, FunctionModel  # noqa: E402
from pydantic_ai.usage import RequestUsage  # noqa: E402

from baler.pydantic_ai import Baler, describe  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Script:
    """Checks the soil of two beds at a time, and refuses requests of more than `limit` characters."""

    def __init__(self, beds=30, limit=10**9):
        self.beds, self.limit, self.seen = beds, limit, []

    def __call__(self, messages, info):
        self.seen.append(list(messages))
        if len(str([describe(message) for message in messages])) > self.limit:
            raise RuntimeError("prompt is too long: 9 tokens > 8 maximum")
        results = [
            part for message in messages for part in message.parts if part.part_kind in ("tool-return", "retry-prompt")
        ]
        done = max([0, *(int(part.tool_call_id) + 1 for part in results)])
        if done >= self.beds:
            return ModelResponse(parts=[TextPart("All beds are fine.")])
        calls = [ToolCallPart("soil", {"bed": bed}, tool_call_id=str(bed)) for bed in (done, done + 1)]
        return ModelResponse(parts=[ThinkingPart(f"bed {done} is next", signature="c2ln"), *calls])


async def streamed(script, messages, info):
    answer = script(messages, info)
    calls = {place: part for place, part in enumerate(answer.parts) if isinstance(part, ToolCallPart)}
    for place, call in calls.items():
        yield {place: DeltaToolCall(call.tool_name, json.dumps(call.args), tool_call_id=call.tool_call_id)}
    if not calls:
        yield answer.parts[0].content


class Counting(FunctionModel):
    """Says how many tokens it was sent, as `count` counts them."""

    def __init__(self, script, count):
        super().__init__(script, stream_function=functools.partial(streamed, script))
        self.count = count

    async def request(self, messages, *others):
        # Others ask meanwhile.
        await asyncio.sleep(0.01)
        answer = await super().request(messages, *others)
        return dataclasses.replace(answer, usage=RequestUsage(input_tokens=self.count(messages), output_tokens=1))

    @contextlib.asynccontextmanager
    async def request_stream(self, messages, *others):
        async with super().request_stream(messages, *others) as stream:
            # Others ask meanwhile.
            await asyncio.sleep(0.01)
            stream._usage = RequestUsage(input_tokens=self.count(messages), output_tokens=1)
            yield stream


def agent(script, host, **options):
    agent = Agent(
        FunctionModel(script),
        system_prompt="You are a gardener.",
        capabilities=[Baler(host=host, **options)],
        retries=3,
    )

    @agent.tool_plain
    def soil(bed: int) -> str:
        """Measures the soil of a bed."""
        if bed == 7:
            raise ModelRetry("the probe of bed 7 is broken")
        return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"

    return agent


def check(script, host, result, most=2_000):
    history = result.all_messages()
    assert result.output == "All beds are fine."
    assert sum(isinstance(part, ToolReturnPart) for message in history for part in message.parts) >= script.beds - 1
    assert len(script.seen[-1]) < len(history)
    for seen in script.seen:
        described = [describe(message) for message in seen]
        found = baler.validate(described, format="anthropic", host=host)
        assert found, found.violations
        assert baler.count(described, format="anthropic", host=host) < most
        assert TASK in str(seen[0])


def test_an_agent_sends_a_view_and_keeps_its_history(host):
    script, compactions = Script(), []
    result = agent(script, host, at=1_200, on_compaction=compactions.append).run_sync(TASK)
    check(script, host, result)
    assert 1 <= len(compactions) < 10
    # A run that continues starts with the view.
    before = len(compactions)
    agent_again = agent(script, host, at=1_200)
    agent_again.run_sync("And the herbs?", message_history=result.all_messages())
    assert before == len(compactions) and "And the herbs?" in str(script.seen[-1])


def test_an_asynchronous_agent(host):
    script = Script()
    check(script, host, asyncio.run(agent(script, host, at=1_200).run(TASK)))


def test_an_overflow_leads_to_one_smaller_request(host):
    script = Script(limit=5_000)
    result = agent(script, host, context_window=1_000_000).run_sync(TASK)
    assert result.output == "All beds are fine."
    refused = [seen for seen in script.seen if len(str([describe(message) for message in seen])) > script.limit]
    assert refused and len(refused) < len(script.seen) / 3


def test_an_overflow_that_cannot_be_helped_is_raised(host):
    with pytest.raises(RuntimeError, match="too long"):
        agent(Script(limit=1), host, context_window=1_000_000).run_sync(TASK)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_what_the_provider_counts_takes_the_place_of_the_estimate(host, is_streamed):
    compactions = []
    # One capability for two runs at once.
    shared = agent(Script(), host, at=3_000, on_compaction=compactions.append)

    async def go(script, text, times):
        described = lambda messages: [describe(message) for message in messages]  # noqa: E731
        model = Counting(script, lambda seen: times * baler.count(described(seen), format="anthropic", host=host))
        if not is_streamed:
            return (await shared.run(text, model=model)).output
        async with shared.run_stream(text, model=model) as result:
            return await result.get_output()

    few, many = Script(), Script()

    async def main():
        return await asyncio.gather(go(many, TASK, 3), go(few, f"{TASK} And the roses.", 1))

    assert asyncio.run(main()) == ["All beds are fine."] * 2
    assert len(few.seen[-1]) == 31 and len(many.seen[-1]) < 31
    # Half of `at`, in tokens of the host.
    (made,) = compactions
    assert made.is_compacted and made.receipt["tokens"]["budget"] < 750
