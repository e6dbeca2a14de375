"""Compacts the requests of a provider's client on their way to the provider."""

from __future__ import annotations

from urllib.parse import urlsplit

from ._baler import format_of_path
from ._view import Shown, Window


def format_of(method: str, url: str) -> str | None:
    """Returns the wire format of a request; `None` if it holds no messages to compact."""
    return format_of_path(urlsplit(url).path) if method == "POST" else None


def fitted(window: Window, format: str, content: bytes, *, less: bool = False) -> tuple[bytes | None, Shown]:
    """Returns the request body to send in place of one, which is `None` if it is sent as it is, and what it shows.

    `less`: the provider refused what was sent for it as too long; then `None` if it cannot be made smaller.
    """
    shown = window.show(format, content, less=less)
    return None if shown.is_whole else shown.native.conversation.document.encode(), shown
