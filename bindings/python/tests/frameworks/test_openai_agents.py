"""The OpenAI Agents SDK with a scripted model."""

import asyncio
import json

import pytest

import baler

agents = pytest.importorskip("agents")

from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool  # noqa: E402
from agents.models.interface import Model  # noqa: E402
from agents.run_config import RunConfig  # noqa: E402
from agents.testing import assistant_message, function_call  # noqa: E402
from openai.types.responses import Response, ResponseCompletedEvent  # noqa: E402

from baler.openai_agents import Filter  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Scripted(Model):
    """Checks the soil of two beds at a time, and refuses requests of more than `limit` characters."""

    def __init__(self, beds=30, limit=10**9, count=lambda items: 0):
        self.beds, self.limit, self.count, self.seen = beds, limit, count, []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        # Others ask meanwhile.
        await asyncio.sleep(0.01)
        self.seen.append(list(input))
        if len(json.dumps(input)) > self.limit:
            raise RuntimeError("Error code: 400 - {'error': {'code': 'context_length_exceeded'}}")
        done = max([0, *(int(item["call_id"]) + 1 for item in input if item.get("type") == "function_call_output")])
        if done >= self.beds:
            output = [assistant_message("All beds are fine.")]
        else:
            output = [function_call("soil", {"bed": bed}, call_id=str(bed)) for bed in (done, done + 1)]
        return ModelResponse(output=output, usage=Usage(input_tokens=self.count(input)), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kwargs):
        answer = await self.get_response(system_instructions, input)
        details = {
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        usage = {"input_tokens": answer.usage.input_tokens, "output_tokens": 1, "total_tokens": 1, **details}
        given = {"id": "r", "created_at": 0, "model": "m", "object": "response", "output": answer.output}
        settings = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        response = Response.model_validate({**given, **settings, "usage": usage})
        yield ResponseCompletedEvent(response=response, sequence_number=0, type="response.completed")


@function_tool
def soil(bed: int) -> str:
    """Measures the soil of a bed."""
    return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"


def run(model, filter, session=None, text=TASK):
    agent = Agent(name="gardener", instructions="You are a gardener.", tools=[soil], model=model)
    config = RunConfig(call_model_input_filter=filter, tracing_disabled=True)
    return Runner.run_sync(agent, text, session=session, run_config=config, max_turns=100)


def test_the_model_sees_a_view_and_the_session_keeps_the_history(host, tmp_path):
    model, compactions = Scripted(), []
    filter = Filter(host=host, at=1_200, on_compaction=compactions.append)
    session = SQLiteSession("garden", tmp_path / "sessions.db")
    result = run(model, filter, session)
    assert result.final_output == "All beds are fine." and 1 <= len(compactions) < 8
    stored = asyncio.run(session.get_items())
    outputs = [item for item in stored if item.get("type") == "function_call_output"]
    assert len(outputs) == 30 and len(model.seen[-1]) < len(stored)
    for seen in model.seen:
        assert baler.validate(seen, format="openai-responses", host=host)
        assert baler.count(seen, format="openai-responses", host=host) < 1_900
        assert TASK in json.dumps(seen[0], ensure_ascii=False)
    # A second run continues from the view.
    before = len(compactions)
    run(model, filter, session, "And the herbs?")
    assert len(compactions) == before and "And the herbs?" in json.dumps(model.seen[-1])
    assert len(model.seen[-1]) < len(stored)


def test_an_overflow_leads_to_one_smaller_request(host):
    filter = Filter(host=host, context_window=1_000_000)
    model = Scripted(limit=6_000)
    assert run(filter.with_retry(model), filter).final_output == "All beds are fine."
    refused = [seen for seen in model.seen if len(json.dumps(seen)) > model.limit]
    # Each refusal is followed by a smaller request, and what was refused is not sent again.
    assert refused and len(refused) < len(model.seen) / 4
    assert baler.validate(model.seen[-1], format="openai-responses", host=host)


def test_an_overflow_that_cannot_be_helped_is_raised(host):
    filter = Filter(host=host, context_window=1_000_000)
    with pytest.raises(RuntimeError, match="context_length_exceeded"):
        run(filter.with_retry(Scripted(limit=1)), filter)


def test_items_that_are_shown_as_they_are_stay_the_same_objects(host):
    from agents.run_config import CallModelData, ModelInputData

    items = [{"role": "user", "content": TASK}]
    for bed in range(30):
        items.append({"type": "function_call", "call_id": str(bed), "name": "soil", "arguments": "{}"})
        items.append(
            {"type": "function_call_output", "call_id": str(bed), "output": f"bed {bed}: soil 24 %, light 900 lx"}
        )
    data = CallModelData(ModelInputData(items, None), Agent(name="gardener"), None)
    shown = asyncio.run(Filter(host=host, at=800)(data)).input
    assert len(shown) < len(items) and shown[0] is items[0] and shown[-1] is items[-1]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_what_the_provider_counts_takes_the_place_of_the_estimate(host, is_streamed):
    compactions = []
    # One filter for two runs at once.
    filter = Filter(host=host, at=4_000, on_compaction=compactions.append)
    config = RunConfig(call_model_input_filter=filter, tracing_disabled=True)

    async def go(model, text):
        agent = Agent(name="gardener", tools=[soil], model=filter.with_retry(model))
        if not is_streamed:
            return await Runner.run(agent, text, run_config=config, max_turns=100)
        result = Runner.run_streamed(agent, text, run_config=config, max_turns=100)
        async for _ in result.stream_events():
            pass
        return result

    few, many = (
        Scripted(count=lambda items, times=times: times * baler.count(items, format="openai-responses", host=host))
        for times in (1, 3)
    )

    async def main():
        return await asyncio.gather(go(many, TASK), go(few, f"{TASK} And the roses."))

    assert [result.final_output for result in asyncio.run(main())] == ["All beds are fine."] * 2
    assert len(few.seen[-1]) == 61 and len(many.seen[-1]) < 61
    # Half of `at`, in tokens of the host.
    (made,) = compactions
    assert made.is_compacted and made.receipt["tokens"]["budget"] < 1_000
