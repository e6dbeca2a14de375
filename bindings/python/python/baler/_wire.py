"""Compacts the requests of a provider's client on their way to the provider."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ._compaction import MEMBERS
from ._errors import Error
from ._memory import Memory
from ._view import Window, log

#: Ends of paths to which messages are posted, with their wire formats.
_PATHS = (
    ("/chat/completions", "openai-chat"),
    ("/responses", "openai-responses"),
    ("/messages", "anthropic"),
    (":generateContent", "gemini"),
    (":streamGenerateContent", "gemini"),
    ("/converse", "bedrock-converse"),
    ("/converse-stream", "bedrock-converse"),
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
        self._memory = Memory()

    def fitted(self, format: str, content: bytes, *, overflow: bool = False) -> bytes:
        """Returns the request body to send. What cannot be compacted is returned as it is.

        `overflow`: the provider refused the body that was returned before as too long.
        """
        if not overflow and self._memory.is_empty() and self._is_small(content):
            return content
        try:
            return self._fitted(format, content, overflow)
        except (Error, RecursionError) as error:
            log.warning("a request is sent as it is: %s", error)
            return content

    def _fitted(self, format: str, content: bytes, overflow: bool) -> bytes:
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            return content
        if not isinstance(body, dict) or _is_stored(body):
            return content
        history = body.get(MEMBERS[format])
        if not isinstance(history, list) or not all(isinstance(message, dict) for message in history):
            return content
        frame = {name: value for name, value in body.items() if name != MEMBERS[format]}
        # A small request is of interest only if a view of its history was shown before.
        only_known = not overflow and self._is_small(content)
        shown = self._memory.shown(self.window, format, frame, history, overflow=overflow, only_known=only_known)
        if shown is history:
            return content
        body[MEMBERS[format]] = shown
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()

    def _is_small(self, content: bytes) -> bool:
        """Decides without counting whether a request is far from being compacted: every token of a text has a byte at
        least. Pictures have tokens however short their address is.
        """
        return len(content) < self.window.at and not any(word in content for word in (b"image", b"inline", b"media"))


def _is_stored(body: Mapping[str, Any]) -> bool:
    thread = body.get("thread")
    is_continued = isinstance(thread, dict) and thread.get("type") == "continue"
    return is_continued or any(body.get(name) for name in _STORED)
