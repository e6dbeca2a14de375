"""Options of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._baler import to_json
from ._errors import ConversationError, OptionError

if TYPE_CHECKING:
    from ._host import Format, Host
    from ._strategy import AnyStrategy


class ReadOptions(TypedDict, total=False):
    """How a conversation is read.

    - `format`: The wire format. Default: `"auto"`, which detects it.
    - `used`: Tokens that the provider reported for this conversation: input and output of its last response.
      Counts are corrected to agree with it.
    - `repair`: Repair broken rules of the wire format first. Default: False.
    - `timeout`: Seconds after which the call ends. Default: no limit but those of the strategies.
    - `host`: The host. Default: one with default options, which all calls without a host share.
    """

    format: Format
    used: int | None
    repair: bool
    timeout: float | None
    host: Host | None


class CompactOptions(ReadOptions, total=False):
    """What a compaction should achieve.

    - `budget`: Tokens that the result should fit in, everything included, such as `8000`; or a share such as
      `"50%"` or `0.5`: the overhead (system prompt, tools, instructions), which always stays, and that share of
      all other tokens. Default: `"50%"`.
    - `strategy`: What decides what to keep: a name, a `.wasm` file, a callable, a `Strategy`, or a list of
      these, each the fallback of the one before. Default: `"tiered"`; with a model `"tiered-model"`.
    - `pins`: What must not be removed, besides instructions, the user's words, pending calls and tool
      outputs that the model has not seen: `"first-user"` (default), `"none"`, or indices of units that stay besides the first user message.
    - `max_bytes`: The most bytes of the result. Default: the provider's limit.
    - `max_media`: The most images, documents and other media of the result. Default: the provider's limit.
    - `context_window`: The context window of the model that the conversation is for, in tokens. Some strategies
      read it.
    - `trigger`: Why: `"threshold"` (default), `"overflow"`, `"manual"` or `"scheduled"`.
    - `instructions`: What to keep in mind, for strategies that ask a model, such as `"keep the API design"`.
    - `context`: What your program knows and the conversation does not say, for strategies that read it.
    - `required`: Compact even if a strategy declines. Default: False.
    - `verify`: Ask each strategy twice, and use its plan only if both answers are the same. Default: False.
    - `free_text`: Put the strategies' free-text messages into the receipt. They are untrusted and may quote the
      conversation. Default: False.
    - `policy`: What plans may do, as in `baler.toml`. Default: what the host's `baler.toml` says.
    """

    budget: int | float | str
    strategy: AnyStrategy | Sequence[AnyStrategy] | None
    pins: Literal["first-user", "none"] | Sequence[int]
    max_bytes: int | None
    max_media: int | None
    context_window: int | None
    trigger: Literal["threshold", "overflow", "manual", "scheduled"]
    instructions: str | None
    context: Any
    required: bool
    verify: bool
    free_text: bool
    policy: Mapping[str, Any] | None


OF_READING = ("format", "used", "repair", "timeout", "host")


def divide(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the options of reading, and all others."""
    reading = {name: options[name] for name in OF_READING if name in options}
    return reading, {name: value for name, value in options.items() if name not in reading}


def as_json(options: Mapping[str, Any]) -> str:
    """Returns options for the native part."""
    try:
        return to_json(dict(options), "")
    except ConversationError as error:
        raise OptionError(str(error)) from error.__cause__


def format_name(options: Mapping[str, Any]) -> str | None:
    """Returns the wire format that was named; `None` to detect it."""
    name = options.get("format", "auto")
    if name is not None and not isinstance(name, str):
        raise OptionError(f"`format`: expected the name of a wire format, found {type(name).__name__}")
    return None if name in (None, "auto") else name
