"""Remembers views by the content of the histories that they are of."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from ._baler import to_json
from ._view import View, Window, plain

#: Views that are remembered. One that was forgotten is computed anew.
VIEWS = 256


class Memory:
    """Views of the newest conversations of a program. A conversation is known by its first messages, so branches and
    sub-agents have views of their own. Safe to use from many threads.
    """

    def __init__(self) -> None:
        self._views: OrderedDict[bytes, View] = OrderedDict()
        self._lock = threading.Lock()

    def is_empty(self) -> bool:
        """Decides whether no view is remembered."""
        return not self._views

    def shown(
        self,
        window: Window,
        format: str,
        frame: Mapping[str, Any],
        history: Sequence[dict[str, Any]],
        *,
        overflow: bool = False,
        only_known: bool = False,
    ) -> Sequence[dict[str, Any]]:
        """Returns what a history in a wire format is shown as; the history itself if all of it is."""
        view = self.view(window, format, frame, history, overflow=overflow, only_known=only_known)
        return history if view is None else view.dicts(history)

    def view(
        self,
        window: Window,
        format: str,
        frame: Mapping[str, Any],
        history: Sequence[dict[str, Any]],
        *,
        overflow: bool = False,
        only_known: bool = False,
    ) -> View | None:
        """Returns the view of a history, as `Window.view`. `only_known`: `None` if no view of it is remembered."""
        prefixes = _prefixes(frame, history)
        known = self._known(prefixes)
        if known is None and only_known:
            return None
        new = window.view(format, frame, history, known, overflow=overflow)
        if new is not None and new is not known:
            # A history of which nothing could be left out is known by all of it: others begin like it.
            self._remember(prefixes[new.count or len(history)], new)
        return new

    def _known(self, prefixes: list[bytes]) -> View | None:
        with self._lock:
            for prefix in reversed(prefixes):
                if (view := self._views.get(prefix)) is not None:
                    self._views.move_to_end(prefix)
                    return view
        return None

    def _remember(self, prefix: bytes, view: View) -> None:
        with self._lock:
            self._views[prefix] = view
            self._views.move_to_end(prefix)
            while len(self._views) > VIEWS:
                self._views.popitem(last=False)


def fingerprint(messages: Sequence[dict[str, Any]]) -> bytes:
    """Returns a hash of messages, which are the same in each request."""
    return _prefixes({}, messages)[-1]


def _prefixes(frame: Mapping[str, Any], history: Sequence[dict[str, Any]]) -> list[bytes]:
    """Returns a hash of the first 0, 1, 2 … messages. The same messages have the same hash in each request."""
    system = plain(frame.get("system") or frame.get("instructions"))
    state = hashlib.blake2b(to_json([system], "").encode(), digest_size=16)
    prefixes = [state.digest()]
    for message in history:
        state.update(to_json(plain(message), "").encode())
        prefixes.append(state.digest())
    return prefixes
