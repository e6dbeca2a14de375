"""Views: what a model is shown of a history that somebody else stores.

Frameworks store the whole history, and hand it over again before each request. A view says which of its messages are
shown, which are shown in another form, and which texts stand in place of what is not shown. The native part computes
it, recognises the history when it comes again, and shows it by the same view until it is too large again. Here the
view is applied to a framework's own objects.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

from . import _calls, _options, _strategy
from ._baler import NativeShown, NativeWindow
from ._compaction import Compaction, Read, read, tell_of_faults
from ._errors import Error, OptionError
from ._host import Host, shared

T = TypeVar("T")

log = logging.getLogger("baler")


class WindowOptions(TypedDict, total=False):
    """When a history is compacted, and to what size. `context_window` or `at` is required.

    - `context_window`: The model's context window, in tokens.
    - `at`: Tokens of a request from which on to compact: the provider's, once it has answered. Default: 80 % of the window.
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


class Shown:
    """What is shown of a history."""

    def __init__(self, native: NativeShown | None, *, is_whole: bool) -> None:
        #: Whether all of it is sent, as it is. With `less`, because nothing of what was refused can be left out.
        self.is_whole = is_whole
        self._native = native

    @property
    def native(self) -> NativeShown:
        """The messages, the request and the view; not of a history that could not be read."""
        assert self._native is not None, "a history that is whole"
        return self._native

    def note_count(self, tokens: object) -> None:
        """Notes the size of this request as the provider counted it.

        That is all tokens of the prompt, those from its cache included. For what the history grows to it takes the place
        of the host's estimate. What is not a positive number is ignored.
        """
        if self._native is not None and isinstance(tokens, int) and 0 < tokens < 1 << 62:
            self._native.note_count(tokens)


class Window:
    """Keeps what is shown of histories within a size, and remembers how the newest of them were shown.

    A history is known by its messages, so branches and sub-agents have views of their own. Safe to use from many
    threads.
    """

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        unknown = set(options) - set(WindowOptions.__annotations__)
        if unknown:
            raise OptionError(f"no option is called `{min(unknown)}`")
        self.host = options.get("host") or shared()
        if not isinstance(self.host, Host):
            raise TypeError(f"`host`: expected a baler.Host, found {type(self.host).__name__}")
        self._on_compaction = options.get("on_compaction")
        if self._on_compaction is not None and not callable(self._on_compaction):
            raise TypeError(f"`on_compaction`: expected a callable, found {type(self._on_compaction).__name__}")
        self._chain = _strategy.chain(options.get("strategy"), "tiered-model" if self.host.has_model else "tiered")
        sizes = {name: value for name, value in options.items() if name not in ("strategy", "host", "on_compaction")}
        # What is wrong is said here, and not at each request.
        self._native = NativeWindow(self.host._native, self._chain, _options.as_json(sizes), _calls.begin())

    def show(self, format: str, body: Any, *, less: bool = False, view: str | None = None) -> Shown:
        """Returns what to show of a history now.

        `body`: the request with the history, in a wire format. `less`: the provider refused what was shown before as
        too long. `view`: the one that was stored for this history. What fails is logged, and the history is sent as it
        is.
        """
        call = _calls.begin()
        try:
            history = self.host._native.read(body, format, None, call)
            if history.is_the_providers:
                return Shown(None, is_whole=True)
            shown = self._native.show(history, less, view, call)
        except Error as error:
            log.warning("a history is sent as it is: %s", error)
            return Shown(None, is_whole=True)
        if shown.compaction is not None:
            # What was shown before is needed only if it is shown still.
            self._tell(Compaction(Read(self.host, {}, shown.conversation), shown.compaction))
        is_smaller = shown.compaction is not None and shown.compaction.is_compacted
        return Shown(shown, is_whole=not (is_smaller if less else shown.has_view))

    def compact(self, format: str, body: Any, budget: int | float) -> Compaction:
        """Compacts a history now, to a budget as in `baler.compact`, whatever its size."""
        call = _calls.begin()
        before = read(body, {"format": format, "host": self.host}, call)
        goal = _options.as_json({**json.loads(self._native.goal), "budget": budget})
        compaction = Compaction(before, self.host._native.compact(before.conversation, self._chain, goal, call))
        self._tell(compaction)
        return compaction

    def _tell(self, compaction: Compaction) -> None:
        """Tells of a compaction, and why a request that is too large is not made smaller."""
        tell_of_faults(compaction)
        if self._on_compaction is not None:
            self._on_compaction(compaction)
        if compaction.is_compacted:
            return
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


#: A message of a result: `kept`, `changed` or `inserted`, its index before, and its JSON unless it is kept.
Placed = tuple[str, int | None, str | None]


def applied(
    messages: Iterable[Placed],
    history: Sequence[T],
    inserted: Callable[[dict[str, Any]], T],
    changed: Callable[[T, dict[str, Any]], T],
) -> list[T]:
    """Returns what is shown of a history of any type. Messages that are shown as they are stay the same objects.

    `inserted` makes a message of a text that stands in place of others, `changed` one of a message that is shown in
    another form; both get that form.
    """
    shown: list[T] = []
    for _, index, text in messages:
        if index is None:
            shown.append(inserted(json.loads(text or "{}")))
        else:
            shown.append(history[index] if text is None else changed(history[index], json.loads(text)))
    return shown


def applied_to_dicts(messages: Iterable[Placed], history: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns what is shown of a history that is in the wire format itself."""
    return applied(messages, history, lambda message: message, lambda _, message: message)
