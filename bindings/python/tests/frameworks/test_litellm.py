"""LiteLLM's asynchronous functions and its router, with a mocked response."""

import asyncio

import pytest

import baler

litellm = pytest.importorskip("litellm")

from baler.litellm import BalerLogger, _shown  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


def history(beds=30):
    messages = [{"role": "system", "content": "You are a gardener."}, {"role": "user", "content": TASK}]
    for bed in range(beds):
        call = {"id": f"call_{bed}", "type": "function", "function": {"name": "soil", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall"
        messages.append({"role": "tool", "tool_call_id": f"call_{bed}", "content": text})
    return messages


class Seen(litellm.CustomLLM):
    def __init__(self):
        super().__init__()
        self.requests, self.counted = [], 1

    async def acompletion(self, *args, **kwargs):
        self.requests.append(kwargs["messages"])
        answer = litellm.ModelResponse(choices=[{"message": {"role": "assistant", "content": "Done."}}])
        answer.usage = litellm.Usage(prompt_tokens=self.counted, completion_tokens=1, total_tokens=self.counted + 1)
        return answer

    async def astreaming(self, *args, **kwargs):
        self.requests.append(kwargs["messages"])
        usage = {"prompt_tokens": self.counted, "completion_tokens": 1, "total_tokens": self.counted + 1}
        chunk = {"index": 0, "is_finished": False, "finish_reason": "", "tool_use": None, "usage": None}
        yield {**chunk, "text": "Done."}
        yield {**chunk, "text": "", "is_finished": True, "finish_reason": "stop", "usage": usage}


@pytest.fixture
def seen(host, monkeypatch):
    seen = Seen()
    monkeypatch.setattr(litellm, "custom_provider_map", [{"provider": "garden", "custom_handler": seen}])
    litellm.utils.custom_llm_setup()
    monkeypatch.setattr(litellm, "callbacks", [BalerLogger(host=host, at=1_000)])
    return seen


def test_the_router_sends_a_view(host, seen):
    async def main():
        router = litellm.Router(
            model_list=[{"model_name": "g", "litellm_params": {"model": "garden/m", "api_key": "k"}}]
        )
        return await router.acompletion(model="g", messages=history())

    answer = asyncio.run(main())
    assert answer.choices[0].message.content == "Done."
    sent = seen.requests[-1]
    assert len(sent) < len(history()) and sent[1]["content"] == TASK
    assert baler.validate(sent, host=host)


def test_the_proxys_hook_changes_messages_only(host):
    logger = BalerLogger(host=host, at=1_000)
    data = {"model": "gpt-4o", "messages": history(), "metadata": {"user": "u"}}
    changed = asyncio.run(logger.async_pre_call_hook(None, None, data, "acompletion"))
    assert len(changed["messages"]) < len(data["messages"]) and changed["metadata"] is data["metadata"]
    assert asyncio.run(logger.async_pre_call_hook(None, None, data, "aembedding")) is data
    broken = {**data, "messages": [{"role": "wizard"}] * 900}
    assert asyncio.run(logger.async_pre_call_hook(None, None, broken, "acompletion")) is broken


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("counted", [1, 5_990])
def test_what_the_provider_counts_takes_the_place_of_the_estimate(host, seen, monkeypatch, counted, is_streamed):
    monkeypatch.setattr(litellm, "callbacks", [BalerLogger(host=host, at=6_000)])
    seen.counted = counted
    _shown._values.clear()

    async def main():
        for beds in (40, 41):
            answer = await litellm.acompletion(model="garden/m", messages=history(beds), stream=is_streamed)
            if is_streamed:
                assert "".join([chunk.choices[0].delta.content or "" async for chunk in answer]) == "Done."
            # LiteLLM tells of answers a little later.
            for _ in range(100):
                await asyncio.sleep(0.05)
                if not _shown._values:
                    break

    asyncio.run(main())
    first, second = seen.requests
    assert len(first) == 82 and (len(second) == 84 if counted == 1 else len(second) < 64)
