"""Recognises errors by which providers refuse a request as too long for the model's context window."""

from __future__ import annotations

import re

#: Statuses with which providers refuse such requests.
STATUSES = frozenset({400, 413, 422, 500})

#: What the providers write. The first group is for numbers; no provider has a code that all errors of this kind share.
_WORDS = re.compile(
    r"context_length_exceeded|model_context_window_exceeded|exceed_context_size_error|ContextWindowExceeded"
    r"|request_too_large|maximum context length|prompt is too long|exceeds the context window"
    r"|input token count .{0,40}exceeds the maximum|input tokens exceed the configured limit"
    r"|input is too long for requested model|maximum prompt length is|reduce the length of the messages"
    r"|prompt too long|context window exceeded|too many tokens",
    re.IGNORECASE,
)

#: Errors that mention lengths and mean something else: a rate, one text, or the length of the answer.
_OTHERS = re.compile(
    r"rate.?limit|string_above_max_length|tokens per min|`?max_tokens`? exceed|max_tokens is too large|quota",
    re.IGNORECASE,
)


def is_overflow(text: str) -> bool:
    """Decides whether an error says that the request is too long for the context window."""
    return bool(_WORDS.search(text)) and not _OTHERS.search(text)


def is_overflow_response(status: int, body: bytes) -> bool:
    """Decides whether a response of a provider says so."""
    return status in STATUSES and is_overflow(body[:65_536].decode("utf-8", "replace"))
