"""Views: what a model is shown of a history that somebody else stores.

Frameworks store the whole history, and hand it over again before each request. A view says which of its messages are
shown, which are shown in another form, and which texts stand in place of what is not shown. It is computed rarely, in
large steps, and repeated as it is in between: each change costs the provider's cache, and a provider may refuse
thinking that was made behind other messages.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack

from . import _calls, _options, _strategy
from ._baler import to_json
from ._compaction import DUE_SHARE, MEMBERS, Compaction, read, tell_of_faults
from ._errors import OptionError
from ._host import Host, shared

T = TypeVar("T")

log = logging.getLogger("baler")

#: The share of a refused request that its successor may have.
OVERFLOW_SHARE = 0.7

#: Messages that must arrive after a futile compaction before the next one is tried.
RETRY_AFTER = 4


class WindowOptions(TypedDict, total=False):
    """When a history is compacted, and to what size. `context_window` or `at` is required.

    - `context_window`: The model's context window, in tokens.
    - `at`: Tokens of a request from which on to compact. Default: 80 % of the window.
    - `budget`: Tokens that the result should fit in. Default: half of `at`.
    - `strategy`: What decides what to keep, as in `baler.compact`.
    - `host`: The host. Default: one with default options.
    - `pins`: What must not be removed: `"first-user"` (default) or `"none"`.
    - `policy`: What plans may do, as in `baler.toml`.
    - `on_compaction`: Is called with each compaction, for example to log its receipt.
    """

    context_window: int
    at: int
    budget: int
    strategy: _strategy.AnyStrategy | Sequence[_strategy.AnyStrategy] | None
    host: Host | None
    pins: str
    policy: Mapping[str, Any] | None
    on_compaction: Callable[[Compaction], None] | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A message of a view."""

    #: Its index in the history; `None` for an inserted text.
    index: int | None
    #: The message as it is shown; `None` if it is shown as it is in the history.
    message: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of the first messages of a history. All later ones are shown as they are."""

    #: Number of messages of the history that the view is about.
    count: int
    #: What is shown of these.
    entries: tuple[Entry, ...]
    #: Number of messages of the history at the last attempt that made nothing smaller; 0 if there is none.
    futile: int = 0
    #: Hash of the last of these messages, by which a history that was changed is noticed.
    last: str = ""

    def shown(
        self,
        history: Sequence[T],
        inserted: Callable[[dict[str, Any]], T],
        changed: Callable[[T, dict[str, Any]], T],
    ) -> list[T]:
        """Returns what is shown of a history of any type, by index.

        `inserted` makes a message of a text that stands in place of others, `changed` one of a message that is shown in
        another form; both get that form.
        """
        shown: list[T] = []
        for entry in self.entries:
            if entry.index is None:
                shown.append(inserted(entry.message or {}))
            elif entry.message is None:
                shown.append(history[entry.index])
            else:
                shown.append(changed(history[entry.index], entry.message))
        return [*shown, *history[self.count :]]

    def is_behind_a_change(self) -> list[bool]:
        """Returns for each entry whether anything before it is not shown as it is in the history.

        Providers may refuse thinking there, since it was made behind other messages.
        """
        behind: list[bool] = []
        is_changed = False
        for place, entry in enumerate(self.entries):
            is_changed = is_changed or entry.index != place
            behind.append(is_changed)
            is_changed = is_changed or entry.message is not None
        return behind

    def dicts(self, history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns what is shown of a history in the wire format."""
        return self.shown(history, lambda message: message, lambda _, message: message)

    def to_json(self) -> str:
        """Returns the view as JSON, to store it."""
        entries = [[entry.index, entry.message] for entry in self.entries]
        return json.dumps({"count": self.count, "futile": self.futile, "last": self.last, "entries": entries})

    @classmethod
    def from_json(cls, text: str) -> View:
        """Reads a view that `to_json` wrote."""
        read = json.loads(text)
        return cls(read["count"], tuple(Entry(*entry) for entry in read["entries"]), read["futile"], read["last"])

    def is_of(self, history: Sequence[Any]) -> bool:
        """Decides whether this is a view of a history: messages may have been taken back or edited since."""
        return self.count <= len(history) and self.last == _last(history[: self.count])


def plain(value: Any) -> Any:
    """Returns a message without what clients change from request to request: marks for the cache, and a text that is
    sometimes a list of one block.
    """
    if isinstance(value, dict):
        return {name: plain(member) for name, member in sorted(value.items()) if name != "cache_control"}
    if isinstance(value, list):
        members = [plain(member) for member in value]
        match members:
            case [{"type": "text", "text": str(text), **others}] if not others:
                return text
        return members
    return value


def _last(history: Sequence[Any]) -> str:
    text = to_json(plain(history[-1]), "") if history else ""
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Window:
    """Decides when a history is compacted, and computes the view."""

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        unknown = set(options) - set(WindowOptions.__annotations__)
        if unknown:
            raise OptionError(f"no option is called `{min(unknown)}`")
        window, at = options.get("context_window"), options.get("at")
        if at is None and window is None:
            raise OptionError("expected `context_window`, the model's, or `at`, the tokens from which on to compact")
        for name in ("context_window", "at", "budget"):
            value = options.get(name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value <= 0):
                raise OptionError(f"`{name}`: expected a number of tokens above 0, found {value!r}")
        self.at = at or int((window or 0) * DUE_SHARE)
        self.budget = options.get("budget") or max(1, self.at // 2)
        if options.get("budget") and self.budget >= self.at:
            raise OptionError(f"`budget`: expected less than the {self.at} tokens from which on to compact")
        if window is not None and self.at > window:
            raise OptionError(f"`at`: expected at most the context window of {window} tokens, found {self.at}")
        self.host = options.get("host") or shared()
        if not isinstance(self.host, Host):
            raise TypeError(f"`host`: expected a baler.Host, found {type(self.host).__name__}")
        self._window = window
        self._chain = _strategy.chain(options.get("strategy"), "tiered-model" if self.host.has_model else "tiered")
        self._goal: dict[str, Any] = {"pins": options.get("pins"), "policy": options.get("policy")}
        self._on_compaction = options.get("on_compaction")
        if self._on_compaction is not None and not callable(self._on_compaction):
            raise TypeError(f"`on_compaction`: expected a callable, found {type(self._on_compaction).__name__}")
        # What is wrong is said here, and not at each request.
        goal = {**self._goal, "budget": self.budget, "context_window": window}
        self.host._native.check(self._chain, _options.as_json(goal), _calls.begin())

    def view(
        self,
        format: str,
        frame: Mapping[str, Any],
        history: Sequence[dict[str, Any]],
        view: View | None,
        *,
        instructions: Sequence[dict[str, Any]] = (),
        overflow: bool = False,
        budget: int | float | None = None,
    ) -> View | None:
        """Returns the view for the next request: the one before if it will do, else a new one.

        `frame`: the request body without its messages, of which model, tools and system text count. `history`: its
        messages, in the wire format. `instructions`: messages before the history, which are always shown. `overflow`:
        the provider refused the request as too long, so the next one must be smaller. `budget`: another one, as in
        `baler.compact`.
        """
        if view is not None and not view.is_of(history):
            view = None
        shown = [*instructions, *(history if view is None else view.dicts(history))]
        call = _calls.begin()
        body: dict[str, Any] = {**frame, MEMBERS[format]: shown}
        before = read(body, {"format": format, "host": self.host}, call)
        tokens = before.conversation.tokens
        is_due = tokens >= self.at
        if not overflow and (not is_due or self._is_futile(view, history)):
            return view
        most = budget or (min(self.budget, int(tokens * OVERFLOW_SHARE)) if overflow else self.budget)
        trigger = "overflow" if overflow else "threshold"
        options: dict[str, Any] = {**self._goal, "budget": most, "trigger": trigger, "context_window": self._window}
        native = self.host._native.compact(before.conversation, self._chain, _options.as_json(options), call)
        compaction = Compaction(before, native)
        tell_of_faults(compaction)
        if self._on_compaction is not None:
            self._on_compaction(compaction)
        known = view or View(0, (), last=_last(()))
        if not compaction.is_compacted:
            self._tell(compaction)
            return View(known.count, known.entries, len(history), known.last)
        entries = self._composed(known, compaction, len(instructions), len(history))
        return View(len(history), entries, 0, _last(history))

    @staticmethod
    def _tell(compaction: Compaction) -> None:
        """Tells why a request that is too large is not made smaller."""
        why = compaction.receipt.get("why")
        violations = compaction.receipt["violations"]
        if why == "invalid-input" and violations:
            first = violations[0]
            log.warning(
                "the history is sent whole, because it breaks a rule of its wire format: message %s: %s (%s); "
                "`baler.validate` lists all such places, `baler.repair` repairs them",
                first["message"],
                first["what"],
                first["rule"],
            )
        else:
            log.warning("the history is sent as it is (%s), although it is over the limit", why)

    @staticmethod
    def _is_futile(view: View | None, history: Sequence[Any]) -> bool:
        return view is not None and view.futile > 0 and len(history) < view.futile + RETRY_AFTER

    @staticmethod
    def _composed(view: View, compaction: Compaction, instructions: int, count: int) -> tuple[Entry, ...]:
        """Returns the entries that a compaction of what a view shows amounts to."""
        shown = [*view.entries, *(Entry(index) for index in range(view.count, count))]
        entries: list[Entry] = []
        for change, message in zip(compaction.changes, compaction.messages, strict=True):
            if change.index is None:
                entries.append(Entry(None, message))
            elif change.index >= instructions:
                before = shown[change.index - instructions]
                entries.append(before if change.kind == "kept" else Entry(before.index, message))
        return tuple(entries)
