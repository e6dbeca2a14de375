"""LangChain's agents with a scripted model."""

import asyncio

import pytest

import baler

pytest.importorskip("langchain")

from langchain.agents import create_agent  # noqa: E402
from langchain_core.exceptions import ContextOverflowError  # noqa: E402
from langchain_core.language_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402

from baler.langchain import BalerMiddleware, describe  # noqa: E402

TASK = "Check the soil of all beds. Never water the cacti. 仙人掌"


class Scripted(BaseChatModel):
    """Checks the soil of two beds at a time, and refuses requests of more than `limit` characters."""

    beds: int = 30
    limit: int = 10**9
    seen: list = []
    #: Counts what it is sent.
    count: object = None

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _answer(self, messages):
        answer = self._next(messages)
        if self.count:
            tokens = self.count(messages)
            answer.usage_metadata = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
        return answer

    def _next(self, messages):
        self.seen.append(list(messages))
        if sum(len(str(message.content)) for message in messages) > self.limit:
            raise ContextOverflowError("prompt is too long: 9 tokens > 8 maximum")
        done = sum(isinstance(message, ToolMessage) for message in messages)
        done = max([done, *(int(m.tool_call_id) + 1 for m in messages if isinstance(m, ToolMessage))])
        if done >= self.beds:
            return AIMessage("All beds are fine.")
        calls = [{"name": "soil", "args": {"bed": bed}, "id": str(bed)} for bed in (done, done + 1)]
        thinking = {"type": "thinking", "thinking": f"bed {done} is next", "signature": "c2ln"}
        return AIMessage([thinking, {"type": "text", "text": "Next."}], tool_calls=calls)

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    def _stream(self, messages, stop=None, run_manager=None, **kwargs):
        answer = self._answer(messages)
        chunk = AIMessageChunk(
            content=answer.content or "x", tool_calls=answer.tool_calls, usage_metadata=answer.usage_metadata
        )
        yield ChatGenerationChunk(message=chunk)


def soil(bed: int) -> str:
    """Measures the soil of a bed."""
    if bed == 7:
        raise ValueError("the probe of bed 7 is broken")
    return f"bed {bed}: soil 24 %, light 900 lx, measured at noon by the north wall, moss and ivy"


def agent(model, host, saver=None, **options):
    from langchain.agents.middleware import ToolRetryMiddleware

    middleware = [BalerMiddleware(host=host, **options), ToolRetryMiddleware(max_retries=0, on_failure="continue")]
    return create_agent(model, [soil], system_prompt="You are a gardener.", middleware=middleware, checkpointer=saver)


CONFIG = {"recursion_limit": 200, "configurable": {"thread_id": "garden"}}


def check(model, host, result, most=1_200):
    """What the model saw is valid and small, and the state has all of it."""
    messages = result["messages"]
    assert messages[0].content == TASK and messages[-1].content == "All beds are fine."
    assert sum(isinstance(message, ToolMessage) for message in messages) == model.beds
    assert all("_baler_view" not in key for key in result)
    for seen in model.seen:
        described = [describe(message) for message in seen]
        assert baler.validate(described, host=host), baler.validate(described, host=host).violations
        assert baler.count(described, host=host) < most * 1.6
        assert TASK in str(seen[1].content)
    assert len(model.seen[-1]) < len(messages)
    # Thinking that was made behind other messages is not shown; what came after the view is.
    last = model.seen[-1]
    first_changed = next(place for place, message in enumerate(last[1:]) if message is not messages[place])
    assert isinstance(last[first_changed + 1], (HumanMessage, AIMessage, ToolMessage))


def test_an_agent_sees_a_view_and_keeps_its_history(host):
    model = Scripted(seen=[])
    compactions = []
    result = agent(model, host, at=1_200, on_compaction=compactions.append).invoke(
        {"messages": [HumanMessage(TASK)]}, CONFIG
    )
    check(model, host, result)
    assert 1 <= len(compactions) < 8


def test_an_asynchronous_agent(host):
    model = Scripted(seen=[])
    result = asyncio.run(agent(model, host, at=1_200).ainvoke({"messages": [HumanMessage(TASK)]}, CONFIG))
    check(model, host, result)


def test_the_view_survives_a_checkpoint(host):
    saver, model, compactions = InMemorySaver(), Scripted(seen=[]), []
    first = agent(model, host, saver, at=1_200).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)
    check(model, host, first)
    before = len(model.seen[-1])
    again = agent(model, host, saver, at=1_200, on_compaction=compactions.append)
    second = again.invoke({"messages": [HumanMessage("And the herbs?")]}, CONFIG)
    assert compactions == [] and len(model.seen[-1]) == before + 2
    assert len(second["messages"]) == len(first["messages"]) + 2
    # A history that was changed gets a new view.
    from langchain_core.messages import RemoveMessage

    again.update_state(CONFIG, {"messages": [RemoveMessage(id=message.id) for message in second["messages"][1:4]]})
    third = again.invoke({"messages": [HumanMessage("And the roses?")]}, CONFIG)
    assert third["messages"][-1].content and baler.validate([describe(m) for m in model.seen[-1]], host=host)


def test_thinking_is_shown_only_behind_the_messages_it_was_made_behind(host):
    model = Scripted(seen=[])
    agent(model, host, at=1_200).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)

    def thinks(message):
        return isinstance(message, AIMessage) and "thinking" in str(message.content)

    compacted = [n for n in range(1, len(model.seen) - 1) if len(model.seen[n]) < len(model.seen[n - 1])]
    assert compacted
    for n in compacted:
        before, now, later = model.seen[n - 1 : n + 2]
        change = next(place for place, message in enumerate(now) if message is not before[place])
        behind = [message for message in now[change + 1 :] if isinstance(message, AIMessage)]
        assert behind and not any(thinks(message) for message in behind)
        # What the model thought since then is shown.
        assert [thinks(m) for m in later if isinstance(m, AIMessage)][-1]


def test_nothing_of_it_is_streamed(host):
    model = Scripted(seen=[])
    events = list(
        agent(model, host, at=1_200).stream({"messages": [HumanMessage(TASK)]}, CONFIG, stream_mode="messages")
    )
    texts = "".join(str(message.content) for message, _ in events)
    assert "All beds are fine." in texts and "baler" not in texts


@pytest.mark.parametrize("is_async", [False, True])
def test_an_overflow_leads_to_one_smaller_request(host, is_async):
    model = Scripted(seen=[], limit=2_500)
    built = agent(model, host, context_window=1_000_000)
    given = {"messages": [HumanMessage(TASK)]}
    result = asyncio.run(built.ainvoke(given, CONFIG)) if is_async else built.invoke(given, CONFIG)
    assert result["messages"][-1].content == "All beds are fine."
    assert baler.validate([describe(message) for message in model.seen[-1]], host=host)


def test_an_overflow_that_cannot_be_helped_is_raised(host):
    with pytest.raises(ContextOverflowError):
        agent(Scripted(seen=[], limit=1), host, context_window=1_000_000).invoke(
            {"messages": [HumanMessage(TASK)]}, CONFIG
        )


def test_the_window_is_that_of_the_models_profile(host):
    model = Scripted(seen=[], profile={"max_input_tokens": 1_500})
    check(model, host, agent(model, host).invoke({"messages": [HumanMessage(TASK)]}, CONFIG))
    with pytest.raises(baler.OptionError, match="context_window"):
        agent(Scripted(seen=[]), host).invoke({"messages": [HumanMessage(TASK)]}, CONFIG)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
def test_what_the_provider_counts_takes_the_place_of_the_estimate(host, way):
    def compactions(count):
        made = []
        model = Scripted(seen=[], count=count)
        built = agent(model, host, at=4_000, on_compaction=made.append)
        given = {"messages": [HumanMessage(TASK)]}
        if way == "stream":
            list(built.stream(given, CONFIG, stream_mode="messages"))
        else:
            asyncio.run(built.ainvoke(given, CONFIG)) if way == "ainvoke" else built.invoke(given, CONFIG)
        return made

    assert compactions(None) == []
    (made,) = compactions(lambda messages: 3 * baler.count([describe(message) for message in messages], host=host))
    # Half of `at`, in tokens of the host.
    assert made.is_compacted and made.receipt["tokens"]["budget"] < 1_000
