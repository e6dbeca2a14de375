"""LiteLLM's asynchronous functions and its router, with a mocked response."""

import asyncio

import pytest

import baler

litellm = pytest.importorskip("litellm")

from baler.litellm import BalerLogger  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


def history():
    messages = [{"role": "system", "content": "You are a gardener."}, {"role": "user", "content": TASK}]
    for bed in range(30):
        call = {"id": f"call_{bed}", "type": "function", "function": {"name": "soil", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        text = f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall"
        messages.append({"role": "tool", "tool_call_id": f"call_{bed}", "content": text})
    return messages


class Seen(litellm.CustomLLM):
    def __init__(self):
        super().__init__()
        self.requests = []

    async def acompletion(self, *args, **kwargs):
        self.requests.append(kwargs["messages"])
        return litellm.completion(model="gpt-4o", messages=[{"role": "user", "content": "x"}], mock_response="Done.")


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
