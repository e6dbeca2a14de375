"""Google's Agent Development Kit with a scripted model."""

import asyncio

import pytest

import baler

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.agents.run_config import RunConfig, StreamingMode  # noqa: E402
from google.adk.apps.app import App  # noqa: E402
from google.adk.models.base_llm import BaseLlm  # noqa: E402
from google.adk.models.llm_response import LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from baler._baler import to_json  # noqa: E402
from baler.google_adk import BalerPlugin  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Scripted(BaseLlm):
    """Checks the soil of two beds at a time, and refuses requests of more than `limit` characters."""

    beds: int = 20
    limit: int = 10**9
    seen: list = []
    #: Counts what it is sent.
    count: object = None

    async def generate_content_async(self, llm_request, stream=False):
        self.seen.append(list(llm_request.contents))
        # Others ask meanwhile.
        await asyncio.sleep(0.01)
        if len(to_json(llm_request.contents, "")) > self.limit:
            raise RuntimeError(
                "400 INVALID_ARGUMENT. The input token count (9) exceeds the maximum number of tokens allowed (8)."
            )
        responses = [p.function_response for c in llm_request.contents for p in c.parts if p.function_response]
        done = max(
            [
                0,
                *(
                    int(response.response["result"].split()[1].rstrip(":")) + 1
                    for response in responses
                    if "bed" in str(response.response)
                ),
            ]
        )
        if done >= self.beds:
            parts = [types.Part(text="All beds are fine.")]
        else:
            parts = [
                types.Part(function_call=types.FunctionCall(name="soil", args={"bed": bed})) for bed in (done, done + 1)
            ]
            parts[0].thought_signature = b"\x01\x02"
        tokens = self.count(llm_request.contents) if self.count else None
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens)
        if stream:
            yield LlmResponse(content=types.Content(role="model", parts=parts[:1]), partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage if tokens else None)


def soil(bed: int) -> str:
    """Measures the soil of a bed."""
    return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"


def run(model, host, **options):
    return asyncio.run(go(model, BalerPlugin(host=host, **options)))


async def go(model, plugin, text=TASK, **config):
    agent = LlmAgent(name="gardener", model=model, instruction="You are a gardener.", tools=[soil])
    runner = InMemoryRunner(app=App(name="garden", root_agent=agent, plugins=[plugin]))
    session = await runner.session_service.create_session(app_name="garden", user_id="u")
    asked = {"user_id": "u", "session_id": session.id, "run_config": RunConfig(**config)}
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = [event async for event in runner.run_async(**asked, new_message=message)]
    stored = await runner.session_service.get_session(app_name="garden", user_id="u", session_id=session.id)
    return events, stored


def test_the_model_sees_a_view_and_the_session_keeps_all_events(host):
    model, compactions = Scripted(model="scripted", seen=[]), []
    events, stored = run(model, host, at=700, on_compaction=compactions.append)
    assert events[-1].content.parts[0].text == "All beds are fine." and compactions
    responses = [part for event in stored.events for part in event.content.parts if part.function_response]
    assert len(responses) == 20
    last = model.seen[-1]
    assert len(last) < len(stored.events) and last[0].parts[0].text == TASK
    for seen in model.seen:
        assert baler.validate(seen, format="gemini", host=host)


def test_an_overflow_leads_to_one_smaller_request(host):
    model = Scripted(model="scripted", seen=[], limit=3_500)
    events, _ = run(model, host, context_window=1_000_000)
    assert events[-1].content.parts[0].text == "All beds are fine."
    assert any(len(to_json(seen, "")) > model.limit for seen in model.seen)


def test_an_overflow_that_cannot_be_helped_is_raised(host):
    with pytest.raises(RuntimeError, match="INVALID_ARGUMENT"):
        run(Scripted(model="scripted", seen=[], limit=1), host, context_window=1_000_000)


@pytest.mark.parametrize("mode", [StreamingMode.NONE, StreamingMode.SSE])
def test_what_the_provider_counts_takes_the_place_of_the_estimate(host, mode):
    compactions = []
    # One plugin for two runs at once.
    plugin = BalerPlugin(host=host, at=3_000, on_compaction=compactions.append)
    few, many = (
        Scripted(model="m", beds=30, seen=[], count=lambda seen, times=times: times * baler.count(seen, host=host))
        for times in (1, 3)
    )

    async def main():
        return await asyncio.gather(
            go(many, plugin, streaming_mode=mode), go(few, plugin, f"{TASK} And the roses.", streaming_mode=mode)
        )

    for events, _ in asyncio.run(main()):
        assert events[-1].content.parts[0].text == "All beds are fine."
    assert len(few.seen[-1]) == 31 and len(many.seen[-1]) < 31
    # Half of `at`, in tokens of the host.
    (made,) = compactions
    assert made.is_compacted and made.receipt["tokens"]["budget"] < 750
