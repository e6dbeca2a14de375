"""Compacts the requests of a provider's client on their way to the provider."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ._compaction import MEMBERS
from ._errors import Error
from ._view import View, Window

log = logging.getLogger("baler")

#: Views that are remembered. One that was forgotten is computed anew.
VIEWS = 256

#: Ends of paths to which messages are posted, with their wire formats.
_PATHS = (
    ("/chat/completions", "openai-chat"),
    ("/responses", "openai-responses"),
    ("/messages", "anthropic"),
    (":generateContent", "gemini"),
    (":streamGenerateContent", "gemini"),
)

#: Members of a request that say that the provider holds the history. Then the messages are only what is new.
_STORED = ("previous_response_id", "conversation", "previous_interaction_id")


def format_of(method: str, url: str) -> str | None:
    """Returns the wire format of a request; `None` if it holds no messages to compact."""
    if method != "POST":
        return None
    path = urlsplit(url).path.rstrip("/")
    return next((format for end, format in _PATHS if path.endswith(end)), None)


class Requests:
    """Compacts requests. It remembers what earlier requests of a conversation were compacted to, by their content."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self._views: OrderedDict[bytes, View] = OrderedDict()
        self._lock = threading.Lock()

    def fitted(self, format: str, content: bytes, *, overflow: bool = False) -> bytes:
        """Returns the request body to send. What cannot be compacted is returned as it is.

        `overflow`: the provider refused the body that was returned before as too long.
        """
        if not overflow and not self._views and self._is_small(content):
            return content
        try:
            return self._fitted(format, content, overflow)
        except Error as error:
            log.warning("a request is sent as it is: %s", error)
            return content

    def _fitted(self, format: str, content: bytes, overflow: bool) -> bytes:
        try:
            body = json.loads(content)
        except ValueError:
            return content
        if not isinstance(body, dict) or _is_stored(body):
            return content
        history = body.get(MEMBERS[format])
        if not isinstance(history, list) or not all(isinstance(message, dict) for message in history):
            return content
        frame = {name: value for name, value in body.items() if name != MEMBERS[format]}
        prefixes = _prefixes(frame, history)
        view = self._known(prefixes)
        if view is None and not overflow and self._is_small(content):
            return content
        new = self.window.view(format, frame, history, view, overflow=overflow)
        if new is not None and new is not view:
            self._remember(prefixes[new.count], new)
        if new is None:
            return content
        body[MEMBERS[format]] = new.shown(history, lambda entry: entry.message or {})
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    def _is_small(self, content: bytes) -> bool:
        """Decides without counting whether a request is far from being compacted: every token has a byte at least."""
        return len(content) < self.window.at

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


def _is_stored(body: Mapping[str, Any]) -> bool:
    thread = body.get("thread")
    is_continued = isinstance(thread, dict) and thread.get("type") == "continue"
    return is_continued or any(body.get(name) for name in _STORED)


def _prefixes(frame: Mapping[str, Any], history: list[dict[str, Any]]) -> list[bytes]:
    """Returns a hash of the first 0, 1, 2 … messages. The same messages have the same hash in each request."""
    state = hashlib.blake2b(json.dumps([frame.get("model"), _plain(frame.get("system"))]).encode(), digest_size=16)
    prefixes = [state.digest()]
    for message in history:
        state.update(json.dumps(_plain(message), sort_keys=True).encode())
        prefixes.append(state.digest())
    return prefixes


def _plain(value: Any) -> Any:
    """Returns a message without what clients change from request to request: marks for the cache, and a text that is
    sometimes a list of one block."""
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items() if name != "cache_control"}
    if isinstance(value, list):
        plain = [_plain(member) for member in value]
        match plain:
            case [{"type": "text", "text": str(text), **others}] if not others:
                return text
        return plain
    return value
