"""The compactor: one conversation over time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

from . import _calls, _host, _options, _strategy
from ._baler import NativeCompactor, NativeStrategy, to_json
from ._compaction import MEMBERS, read
from ._errors import OptionError


class CompactorOptions(TypedDict, total=False):
    """When a compactor compacts, and what it aims at.

    - `context_window`: The model's context window, in tokens.
    - `triggers`: When to compact: `share` of the window (0.8 by default), `tokens`, `reserve`, `messages`,
      `turns`, `bytes`.
    - `target_share`: Target size, as a share of what is between the smallest possible result and the trigger.
      Default: 0.5.
    - `target_tokens`: Target size in tokens. It takes precedence over the share.
    - `ask_strategy`: Whether each step asks the strategy whether to compact now. Default: True.
    - `retry_after`: Number of messages that must be appended after a futile compaction before the next attempt.
      Default: 4.
    - `policy`: What plans may do, as in `baler.toml`.
    - `preset`: The settings of an earlier system: `planck`, `puck`, `ptc-runner` or `apeira` (`docs/compactor.md`). Other
      options take precedence over them, and `strategy` over its strategy.
    """

    context_window: int
    triggers: Mapping[str, float | int | None]
    target_share: float
    target_tokens: int
    ask_strategy: bool
    retry_after: int
    policy: Mapping[str, Any]
    preset: str


@dataclass(frozen=True, slots=True)
class Step:
    """What a step did."""

    #: Whether the conversation became smaller.
    is_compacted: bool
    #: Why a compaction was due, such as `"window"`; `None` if none was.
    pressure: str | None
    #: Whether one was due but not attempted, because the last attempt was futile and little has changed since.
    held: bool
    #: The receipts of the compactions that ended in this step.
    receipts: list[dict[str, Any]]


class Compactor:
    """Keeps one conversation of an agent within its model's window.

    Append what arrives, call `step` before each request to the model, and send `messages`. After an error of the
    provider that the request is too long, call `overflow` and send again. Safe to use from several threads, which take
    turns: a strategy or model that is a callable must not use the compactor that asks it. In a forked process, continue
    with `Compactor.resume(compactor.save())`.
    """

    __slots__ = ("_format", "_native")

    def __init__(
        self,
        conversation: Any,
        /,
        *,
        strategy: _strategy.AnyStrategy | Sequence[_strategy.AnyStrategy] | None = None,
        host: _host.Host | None = None,
        format: _host.Format = "auto",
        **options: Unpack[CompactorOptions],
    ) -> None:
        """Starts with a conversation: messages or a request body, as `compact` takes them."""
        host = host or _host.shared()
        call = _calls.begin()
        before = read(conversation, {"host": host, "format": format}, call)
        chain, settings = _chosen(strategy, host, options)
        self._native = NativeCompactor.start(host._native, before.conversation, chain, settings, call)
        self._format = before.conversation.format

    @classmethod
    def resume(
        cls,
        saved: str,
        /,
        *,
        strategy: _strategy.AnyStrategy | Sequence[_strategy.AnyStrategy] | None = None,
        host: _host.Host | None = None,
        **options: Unpack[CompactorOptions],
    ) -> Compactor:
        """Continues from a text that `save` returned, with the same strategy and options."""
        host = host or _host.shared()
        call = _calls.begin()
        chain, settings = _chosen(strategy, host, options)
        compactor = object.__new__(cls)
        compactor._native = NativeCompactor.resume(host._native, saved, chain, settings, call)
        compactor._format = json.loads(saved)["format"]
        return compactor

    def append(self, *messages: Any) -> None:
        """Appends messages, such as an answer and the outputs of its calls: dictionaries or objects of a client."""
        self._native.append([to_json(message, "") for message in messages])

    def reported(self, tokens: int) -> None:
        """Notes the tokens that the provider reported for its newest response, input and output together."""
        self._native.reported(tokens)

    def step(self) -> Step:
        """Compacts if a compaction is due. Call it before each request to the model."""
        return _step(self._native.step(_calls.begin()))

    def overflow(self) -> Step:
        """Compacts after the provider refused the request as too long. Each call aims lower."""
        return _step(self._native.overflowed(_calls.begin()))

    def compact(self, instructions: str | None = None) -> Step:
        """Compacts now. `instructions`: what to keep in mind, for strategies that ask a model."""
        return _step(self._native.compact_now(instructions, _calls.begin()))

    @property
    def body(self) -> Any:
        """The request body to send, or the messages, if these were given."""
        return json.loads(self._native.document())

    @property
    def messages(self) -> list[Any]:
        """The messages to send."""
        body = self.body
        if isinstance(body, list):
            return body
        messages: list[Any] = body[MEMBERS[self._format]]
        return messages

    @property
    def history(self) -> list[Any]:
        """All messages that were ever appended, unchanged."""
        return [json.loads(message) for message in self._native.history()]

    @property
    def tokens(self) -> int:
        """Tokens of the next request."""
        return self._native.tokens()

    @property
    def compactions(self) -> int:
        """Number of compactions that changed the conversation."""
        return self._native.compactions()

    def save(self) -> str:
        """Returns all that `resume` needs, as a text to store."""
        return self._native.save()

    def __repr__(self) -> str:
        return f"<baler.Compactor {self.tokens} tokens, {self.compactions} compactions>"


def _chosen(
    strategy: _strategy.AnyStrategy | Sequence[_strategy.AnyStrategy] | None,
    host: _host.Host,
    options: CompactorOptions,
) -> tuple[list[NativeStrategy], str]:
    """Returns the chain, and the options as JSON."""
    default: _strategy.AnyStrategy = "tiered-model" if host.has_model else "tiered"
    own = dict(options)
    preset = own.pop("preset", None)
    settings = _kebab(own)
    if preset is not None:
        read = json.loads(NativeCompactor.setting(json.dumps({"preset": preset, "compactor": json.loads(settings)})))
        settings = json.dumps(read["options"])
        default = _strategy.Strategy(read["strategy"], config=json.loads(read["config"]))
    return _strategy.chain(default if strategy is None else strategy, "tiered"), settings


def _kebab(options: Mapping[str, Any]) -> str:
    unknown = set(options) - set(CompactorOptions.__annotations__)
    if unknown:
        raise OptionError(f"no option is called `{min(unknown)}`; known: {', '.join(CompactorOptions.__annotations__)}")
    return _options.as_json({name.replace("_", "-"): value for name, value in options.items()})


def _step(told: str) -> Step:
    step = json.loads(told)
    return Step(step["is-compacted"], step["pressure"], step["held"], step["receipts"])
