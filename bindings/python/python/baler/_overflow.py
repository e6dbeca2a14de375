"""Recognises errors by which providers refuse a request as too long for the model's context window."""

from __future__ import annotations

#: Statuses with which providers refuse such requests.
STATUSES = frozenset({400, 413, 422, 429, 500})

#: What providers, gateways and servers write, and their codes; `host/models/src/clients/too_long.rs` has the same.
_PHRASES = (
    "maximum context length",
    "exceed the configured limit of",
    "exceeds the context window",
    "request too large for",
    "prompt is too long",
    "exceed context limit",
    "maximum number of tokens allowed",
    "exceeds the available context size",
    "longer than the maximum model length",
    "longer than the model's context length",
    "input length exceeds",
    "too large for model with",
    "loaded with context length of only",
    "`inputs` must have less than",
    "max_new_tokens` must be <=",
    "maximum prompt length is",
    "reduce the length of the messages",
    "input is too long",
    "context_length_exceeded",
    "model_context_window_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "contextwindowexceeded",
)

#: Errors that mention lengths and mean something else: a rate, or one text.
_OTHERS = ("rate limit", "rate_limit", "string_above_max_length", "quota")


def is_overflow(text: str) -> bool:
    """Decides whether an error says that the request is too long for the context window."""
    lower = text.lower()
    return any(phrase in lower for phrase in _PHRASES) and not any(other in lower for other in _OTHERS)


def is_overflow_response(status: int, body: bytes) -> bool:
    """Decides whether a response of a provider says so."""
    return status in STATUSES and is_overflow(body[:65_536].decode("utf-8", "replace"))
