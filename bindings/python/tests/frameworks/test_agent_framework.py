"""Microsoft's Agent Framework with a scripted client."""

import asyncio

import pytest

import baler

pytest.importorskip("agent_framework")

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool  # noqa: E402

from baler.agent_framework import BalerStrategy, describe  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Checks the soil of two beds at a time."""

    def __init__(self, beds=16, **kwargs):
        super().__init__(**kwargs)
        self.beds, self.seen = beds, []

    def _inner_get_response(self, *, messages, options, stream=False, **kwargs):
        async def answer():
            self.seen.append(list(messages))
            results = [c for m in messages for c in m.contents if c.type == "function_result"]
            done = max([0, *(int(c.call_id) + 1 for c in results)])
            if done >= self.beds:
                return ChatResponse(messages=[Message("assistant", ["All beds are fine."])])
            calls = [Content.from_function_call(str(bed), "soil", arguments={"bed": bed}) for bed in (done, done + 1)]
            return ChatResponse(messages=[Message("assistant", calls)])

        return answer()


@tool
def soil(bed: int) -> str:
    """Measures the soil of a bed."""
    return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"


def test_a_strategy_excludes_what_is_not_shown(host):
    client, compactions = Scripted(), []
    strategy = BalerStrategy(host=host, at=450, on_compaction=compactions.append)
    agent = Agent(client, "You are a gardener.", tools=[soil], compaction_strategy=strategy)
    result = asyncio.run(agent.run(TASK))
    assert result.text == "All beds are fine." and compactions
    last = client.seen[-1]
    described = [describe(message) for message in last if message.role != "system"]
    found = baler.validate(described, format="anthropic", host=host)
    assert found, found.violations
    assert TASK in str(last[0].text) + str(last[1].text)
    assert baler.count(described, format="anthropic", host=host) < 900


def test_messages_are_excluded_and_not_deleted(host):
    messages = [Message("user", [TASK])]
    for bed in range(30):
        messages.append(Message("assistant", [Content.from_function_call(str(bed), "soil", arguments={"bed": bed})]))
        text = f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall"
        messages.append(Message("tool", [Content.from_function_result(str(bed), result=text)]))
    given = list(messages)
    assert asyncio.run(BalerStrategy(host=host, at=1_000)(messages))
    shown = [message for message in messages if not message.additional_properties.get("_excluded")]
    assert len(shown) < len(given) and shown[0] is given[0] and shown[-1] is given[-1]
    assert baler.validate([describe(message) for message in shown], format="anthropic", host=host)
    # A second call has nothing to do.
    assert not asyncio.run(BalerStrategy(host=host, at=1_000)(messages))
