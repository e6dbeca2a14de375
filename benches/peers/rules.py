"""The originals of the gallery's strategies: functions from messages to what each rule does with them.

An original returns the outcome of each message (True: it stays, False: it goes, a text: that stands for it), or None if it
changes nothing. Those that are not installed are left out.
"""

import importlib.util
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Size:
    """What baler counts: all tokens, those of the request without its messages, and those of each message."""

    tokens: int
    overhead: int
    messages: list[int]


@dataclass
class Case:
    """A config of a strategy, and its original with the same."""

    strategy: str
    config: Callable[[Size], dict]
    original: Callable[[list[dict], Size], list | None]
    #: The original's summary, given which messages stay and are not repeated in it.
    summary: Callable[[list[dict], list[bool]], str] | None = None


def cases(swe_agent: Path | None) -> list[Case]:
    found = []
    for of in (_langchain, _cliffcompaction, _openhands, lambda: _swe_agent(swe_agent)):
        try:
            found += of()
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)
    return found


def _langchain() -> list[Case]:
    from langchain.agents.middleware.context_editing import ClearToolUsesEdit
    from langchain_core.messages import convert_to_messages, trim_messages

    def numbered(messages):
        own = convert_to_messages(messages)
        for number, message in enumerate(own):
            message.id = str(number)
        return own

    def trim(config, share, by_tokens):
        def limit(size):
            return int(size.tokens * share) if by_tokens else int(len(size.messages) * share)

        def given(size):
            by = {} if by_tokens else {"token-counter": "messages"}
            return {"max-tokens": limit(size), **by, **{name.replace("_", "-"): value for name, value in config.items()}}

        def original(messages, size):
            own = numbered(messages)
            counter, most = len, limit(size)
            if by_tokens:
                counter = lambda some: sum(size.messages[int(message.id)] for message in some)
                # baler's overhead has the instructions in it, and what the request costs besides its messages.
                instructions = zip(size.messages, messages, strict=True)
                most += sum(n for n, message in instructions if message["role"] in ("system", "developer"))
                most -= size.overhead
            include = config.get("strategy") != "first"
            options = {name: value for name, value in config.items() if value}
            kept = trim_messages(own, max_tokens=most, token_counter=counter, include_system=include, **options)
            ids = {int(message.id) for message in kept}
            return [number in ids for number in range(len(messages))]

        return Case("langchain-trim", given, original)

    def clear(config):
        def original(messages, size):
            own = numbered(messages)
            names = {name.replace("-", "_"): value for name, value in config.items()}
            ClearToolUsesEdit(trigger=1, **names).apply(own, count_tokens=len)
            return [True if now.content == (was["content"] or "") else now.content for was, now in zip(messages, own)]

        return Case("langchain-clear-tool-uses", lambda size: config, original)

    return [
        trim({}, 0.5, by_tokens=True),
        trim({"start_on": ["human"]}, 0.5, by_tokens=True),
        trim({}, 0.3, by_tokens=False),
        trim({"start_on": ["human"], "end_on": ["human", "tool"]}, 0.6, by_tokens=False),
        trim({"strategy": "first"}, 0.5, by_tokens=False),
        clear({}),
        clear({"keep": 1, "exclude-tools": ["read"], "placeholder": "(gone)"}),
    ]


def _cliffcompaction() -> list[Case]:
    from cliffcompaction.cliff import compact
    from cliffcompaction.config import Config
    from cliffcompaction.dialects.base import SUMMARY_HEADER
    from cliffcompaction.dialects.openai_chat import DIALECT, summarize_message

    def case(**given):
        config = Config(**given)

        def original(messages, size):
            result = compact(messages, DIALECT, config)
            return result and [n < result.head_len or n >= result.cut for n in range(len(messages))]

        def summary(messages, stays):
            result = compact(messages, DIALECT, config)
            old = [m for n, m in enumerate(messages) if result.head_len <= n < result.cut and not stays[n]]
            parts = [part for message in old for part in summarize_message(message, config)]
            return "\n\n".join([SUMMARY_HEADER, "\n\n---\n\n".join(parts)])

        names = {name.replace("_", "-"): value for name, value in given.items()}
        return Case("cliffcompaction", lambda size: names, original, summary)

    return [case(), case(keep_recent=1, thought_max_chars=30, cmd_max_chars=10, result_max_chars=100)]


def _bare(root: Path, *names: str) -> None:
    """Makes packages importable without what their `__init__` would import."""
    for name in names:
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")))]
        sys.modules[name] = package


def _module(name: str, **attributes) -> types.ModuleType:
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(attributes)
    return module


def _openhands() -> list[Case]:
    # Its condensers need few of its modules, and none of its three hundred dependencies but pydantic.
    spec = importlib.util.find_spec("openhands")
    if spec is None:
        raise ImportError("no package `openhands`: openhands-ai 1.6.0 needs Python 3.12")
    from pydantic import BaseModel

    root = Path(next(iter(spec.submodule_search_locations))).parent
    packages = ["", ".core", ".core.config", ".events", ".llm", ".memory", ".memory.condenser", ".memory.condenser.impl"]
    _bare(root, *(f"openhands{package}" for package in packages))
    for name in ("controller", "controller.state"):
        _module(f"openhands.{name}", __path__=[])
    _module("litellm", ModelResponse=type("ModelResponse", (BaseModel,), {}))
    _module("openhands.controller.state.state", State=object)
    _module("openhands.llm.llm_registry", LLMRegistry=object)
    _module("openhands.core.config.llm_config", LLMConfig=dict)
    logger = _module("openhands.core.logger", openhands_logger=None)
    sys.modules["openhands.core"].logger = logger
    from openhands.events.action.mcp import MCPAction
    from openhands.events.action.message import MessageAction
    from openhands.events.observation.mcp import MCPObservation
    from openhands.memory.condenser.impl.amortized_forgetting_condenser import AmortizedForgettingCondenser
    from openhands.memory.condenser.impl.observation_masking_condenser import ObservationMaskingCondenser
    from openhands.memory.condenser.impl.recent_events_condenser import RecentEventsCondenser
    from openhands.memory.view import View

    def events_of(messages):
        """Returns the events, and for each message the numbers of its events. A call is followed by its observation."""
        events, numbers = [], [[] for _ in messages]
        places = {message.get("tool_call_id"): place for place, message in enumerate(messages)}

        def add(place, event):
            event._id = len(events)
            numbers[place].append(len(events))
            events.append(event)

        for place, message in enumerate(messages):
            if message["role"] == "tool":
                continue
            for call in message.get("tool_calls") or []:
                add(place, MCPAction(name=call["function"]["name"]))
                output = places[call["id"]]
                add(output, MCPObservation(content=messages[output]["content"]))
            if not message.get("tool_calls"):
                add(place, MessageAction(content=message["content"] or ""))
        return events, numbers

    def condensed(make):
        def original(messages, size):
            events, numbers = events_of(messages)
            result = make().condense(View(events=events))
            if not isinstance(result, View):
                forgotten = View.from_events([*events, result.action])
                kept = {event.id for event in forgotten.events}
            else:
                kept = {event.id for event in result.events}
            outcome = [any(number in kept for number in own) for own in numbers]
            # As its `ConversationMemory` does: no call without its observations, and none of these without the call.
            for place, message in enumerate(messages):
                ids = [call["id"] for call in message.get("tool_calls") or []]
                step = [place, *(n for n, other in enumerate(messages) if other.get("tool_call_id") in ids)]
                if ids and not all(outcome[n] for n in step):
                    for n in step:
                        outcome[n] = False
            return outcome

        return original

    def masked(window):
        def original(messages, size):
            events, numbers = events_of(messages)
            after = ObservationMaskingCondenser(window).condense(View(events=events)).events
            return [
                after[own[-1]].content if message["role"] == "tool" and after[own[-1]] is not events[own[-1]] else True
                for message, own in zip(messages, numbers)
            ]

        return original

    def case(strategy, config, original):
        return Case(strategy, lambda size: config, original)

    def recent(keep, most):
        config = {"keep-first": keep, "max-events": most}
        return case("openhands-recent", config, condensed(lambda: RecentEventsCondenser(keep, most)))

    def amortized(keep, most):
        config = {"keep-first": keep, "max-size": most}
        return case("openhands-amortized", config, condensed(lambda: AmortizedForgettingCondenser(most, keep)))

    masks = [case("openhands-mask", {"attention-window": window}, masked(window)) for window in (5, 20)]
    return [recent(1, 10), recent(5, 21), amortized(1, 20), amortized(4, 31), *masks]


def _swe_agent(checkout: Path | None) -> list[Case]:
    if checkout is None or not (checkout / "sweagent").is_dir():
        raise ImportError("no SWE-agent: give a checkout of github.com/SWE-agent/SWE-agent by --swe-agent")
    _bare(checkout, "sweagent", "sweagent.agent")
    from sweagent.agent.history_processors import LastNObservations

    def case(config):
        def original(messages, size):
            roles = [message["role"] for message in messages]
            task = roles.index("user") if "user" in roles else -1
            types = {"system": "system_prompt", "developer": "system_prompt", "assistant": "action", "tool": "observation", "user": "user"}
            history = [
                {**message, "message_type": "observation" if place == task else types[message["role"]]}
                for place, message in enumerate(messages)
            ]
            after = LastNObservations(**config)(history)
            return [True if now["content"] == was["content"] else now["content"] for was, now in zip(messages, after)]

        return Case("swe-agent-observations", lambda size: config, original)

    return [case({"n": 5}), case({"n": 3, "polling": 4})]
