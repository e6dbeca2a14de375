"""Compacts the requests of a provider's client on their way to the provider."""

from __future__ import annotations

from urllib.parse import urlsplit

from ._view import Window

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


def format_of(method: str, url: str) -> str | None:
    """Returns the wire format of a request; `None` if it holds no messages to compact."""
    if method != "POST":
        return None
    path = urlsplit(url).path.rstrip("/")
    return next((format for end, format in _PATHS if path.endswith(end)), None)


def fitted(window: Window, format: str, content: bytes, *, less: bool = False) -> bytes | None:
    """Returns the request body to send in place of one; `None` if it is sent as it is.

    `less`: the provider refused what was sent for it as too long; then `None` if it cannot be made smaller.
    """
    shown = window.show(format, content, less=less)
    return None if shown is None else shown.conversation.document.encode()
