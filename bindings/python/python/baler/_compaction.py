"""Compactions, and the functions that make one."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Unpack, cast

from . import _calls, _host, _options, _strategy
from ._baler import NativeConversation, NativeResult, NativeStrategy
from ._errors import ArchiveError, OptionError
from ._options import CompactOptions, ReadOptions

log = logging.getLogger("baler")

#: The member of a request body that holds its messages, by wire format.
MEMBERS = {
    "openai-chat": "messages",
    "anthropic": "messages",
    "openai-responses": "input",
    "gemini": "contents",
    "bedrock-converse": "messages",
}


@dataclass(frozen=True, slots=True)
class Change:
    """Where a message of a result comes from."""

    #: `"kept"`: the message is unchanged. `"changed"`: parts of it were shortened or removed. `"inserted"`: a summary
    #: or a note.
    kind: Literal["kept", "changed", "inserted"]
    #: Its index among the messages before; `None` for an inserted one.
    index: int | None


@dataclass(frozen=True)
class Read:
    """A conversation that was read, and the form in which it was given."""

    host: _host.Host
    given: Any
    conversation: NativeConversation
    #: Whether the conversation is a repaired one, whose messages are others than those that were given.
    is_repaired: bool = False

    @property
    def items(self) -> list[Any] | None:
        """The messages as Python objects, if they were given as such."""
        given = self.given
        if self.is_repaired:
            return None
        if isinstance(given, Mapping):
            given = given.get(MEMBERS[self.conversation.format])
        if isinstance(given, (list, tuple)) and len(given) == self.conversation.message_count:
            return list(given)
        return None

    def in_form(self, document: str, messages: list[Any] | None = None) -> Any:
        """Returns a document in the form in which the conversation was given."""
        if isinstance(self.given, str):
            return document
        if isinstance(self.given, bytes):
            return document.encode()
        if messages is None:
            return json.loads(document)
        if isinstance(self.given, Mapping):
            return {**self.given, MEMBERS[self.conversation.format]: messages}
        return messages


def read(given: Any, options: Mapping[str, Any], call: Any) -> Read:
    """Reads a conversation from whatever was given."""
    if isinstance(given, (bytearray, memoryview)):
        given = bytes(given)
    host = options.get("host") or _host.shared()
    if not isinstance(host, _host.Host):
        raise TypeError(f"`host`: expected a baler.Host, found {type(host).__name__}")
    used = options.get("used")
    if used is not None and (isinstance(used, bool) or not isinstance(used, int) or not 0 < used < 2**32):
        raise OptionError(f"`used`: expected a number of tokens above 0, found {used!r}")
    given = _copied(given)
    conversation = host._native.read(given, _options.format_name(options), used, call)
    if options.get("repair"):
        repaired = conversation.repaired()
        # One that is repaired only in part is not used.
        if not repaired.is_broken and json.loads(repaired.violations)["repairs"]:
            return Read(host, given, repaired, is_repaired=True)
    return Read(host, given, conversation)


def _copied(given: Any) -> Any:
    """Copies the lists of what was given, which may change while a thread works. Messages stay the same objects."""
    if isinstance(given, dict):
        members = set(MEMBERS.values())
        return {
            name: list(value) if name in members and isinstance(value, list) else value for name, value in given.items()
        }
    return list(given) if isinstance(given, list) else given


class Compaction:
    """What came of a compaction: a conversation that the provider accepts, and the record of what was done."""

    def __init__(self, before: Read, native: NativeResult) -> None:
        self._before = before
        self._native = native
        items = before.items
        if items is not None:
            # What is kept is the same object, so nothing that only Python knows of it is lost. Takes the place of the
            # property of this name.
            self.__dict__["messages"] = [
                items[index] if text is None and index is not None else json.loads(text or "null")
                for _, index, text in native.messages
            ]

    @cached_property
    def changes(self) -> list[Change]:
        """Where each message of the result comes from."""
        kinds = cast(list[tuple[Literal["kept", "changed", "inserted"], int | None, str | None]], self._native.messages)
        return [Change(kind, index) for kind, index, _ in kinds]

    @property
    def is_compacted(self) -> bool:
        """Whether the conversation became smaller. If not, the receipt's `why` says why."""
        return self._native.is_compacted

    @cached_property
    def messages(self) -> list[Any]:
        """The messages of the result. Kept ones are the objects that were given."""
        document = json.loads(self._native.document)
        if isinstance(document, list):
            return document
        messages = document[MEMBERS[self._before.conversation.format]]
        if isinstance(messages, list):
            return messages
        # A single message may replace the list: a dictionary, or the text of a user message.
        return [messages if isinstance(messages, dict) else {"role": "user", "content": messages}]

    @cached_property
    def body(self) -> Any:
        """The result in the form in which the conversation was given: bytes, text, a request body, or messages."""
        if isinstance(self._before.given, bytes):
            return self._native.document_bytes
        return self._before.in_form(self._native.document, self.__dict__.get("messages"))

    @cached_property
    def receipt(self) -> dict[str, Any]:
        """What was done and why: counts, names, content hashes and codes, never text (`docs/receipt.schema.json`)."""
        receipt: dict[str, Any] = json.loads(self._native.receipt)
        return receipt

    @property
    def units(self) -> list[str]:
        """The outcome of each unit before: `"kept"`, `"rewritten"` or `"removed"`."""
        return self._native.units

    @property
    def fell_back(self) -> bool:
        """Whether another strategy than the first made the result, because the first failed."""
        return bool(self.receipt["fell-back"])

    def undo(self) -> Any:
        """Restores the conversation before from the archive, in the form in which it was given.

        Texts and bytes are identical to what was given; Python objects are equal to its JSON.
        """
        if self.receipt["outcome"] == "unchanged":
            return self._before.in_form(self._before.conversation.document)
        if not self.receipt.get("undo"):
            raise ArchiveError("the host has no archive, so what was removed is not stored; give `Host(archive=…)`")
        return self._before.in_form(self._before.host.undo(self.receipt))

    def __repr__(self) -> str:
        tokens = self.receipt["tokens"]
        why = f" ({self.receipt['why']})" if self.receipt.get("why") else ""
        over = f", over the budget of {tokens['budget']}" if tokens["after"] > tokens["budget"] else ""
        return f"<baler.Compaction {self.receipt['outcome']}{why}, {tokens['before']} → {tokens['after']} tokens{over}>"


def compact(conversation: Any, /, **options: Unpack[CompactOptions]) -> Compaction:
    """Fits a conversation into a budget.

    `conversation`: the messages or the whole request body of OpenAI Chat Completions, OpenAI Responses, Anthropic
    Messages or Gemini, as bytes, text, dictionaries, or objects of the providers' clients; or the session log of Claude
    Code, Codex, pi, gemini-cli, Cline, Roo Code, OpenCode, Copilot CLI or Factory Droid, as bytes or text. It is never
    changed. Options: `CompactOptions`.

    Whatever a strategy does, the result is a conversation that the provider accepts, or the same conversation with the
    reason. Kept messages are unchanged: the same objects, or the same bytes.
    """
    reading, others = _options.divide(options)
    call = _calls.begin(reading.get("timeout"))
    before = read(conversation, reading, call)
    default = "tiered-model" if before.host.has_model else "tiered"
    chain = _strategy.chain(others.pop("strategy", None), default)
    result = before.host._native.compact(before.conversation, chain, _options.as_json(others), call)
    compaction = Compaction(before, result)
    tell_of_faults(compaction)
    return compaction


def tell_of_faults(compaction: Compaction) -> None:
    """Tells which strategies failed, since the result alone does not show it."""
    if not log.isEnabledFor(logging.WARNING):
        return
    for attempt in compaction.receipt["attempts"]:
        result = attempt["result"]
        if result["result"] in ("accepted", "declined"):
            continue
        detail = result.get("fault") or result.get("failure") or result["result"]
        log.warning("the strategy `%s` failed (%s), so the next one was asked", attempt["strategy"], json.dumps(detail))


#: The share of the context window from which on a compaction is due.
DUE_SHARE = 0.8


def should_compact(conversation: Any, /, **options: Unpack[CompactOptions]) -> bool:
    """Decides whether to compact now.

    `budget`: the size from which on to compact: tokens, or a share of `context_window`. Default: 80 % of the window.
    `strategy`: asks this strategy; without one, the size decides.
    """
    reading, others = _options.divide(options)
    call = _calls.begin(reading.get("timeout"))
    others["budget"] = _threshold(others.get("budget"), others.get("context_window"))
    given = others.pop("strategy", None)
    strategy: NativeStrategy | None = None if given is None else _strategy.native(given)
    before = read(conversation, reading, call)
    return before.host._native.should_compact(before.conversation, strategy, _options.as_json(others), call)


def _threshold(budget: Any, window: Any) -> int:
    if isinstance(budget, int) and not isinstance(budget, bool):
        return budget
    share = DUE_SHARE if budget is None else budget
    if isinstance(share, str):
        text = share.strip()
        try:
            if not text.endswith("%"):
                return int(text)
            share = float(text[:-1]) / 100
        except ValueError:
            raise OptionError(f'`budget`: expected tokens, or a share such as "80%", found {budget!r}') from None
    if not isinstance(window, int) or isinstance(window, bool) or window <= 0:
        raise OptionError("`budget`: expected tokens; a share is one of `context_window`, which is missing")
    if not isinstance(share, float) or not 0 < share <= 1:
        raise OptionError(f"`budget`: expected a share above 0 and at most 1, found {budget!r}")
    return max(1, int(window * share))


@dataclass(frozen=True, slots=True)
class Violation:
    """A place where a conversation breaks a rule of its wire format."""

    #: The rule, such as `"CHAT-1"` (`docs/wire-formats.md`).
    rule: str
    #: `"error"`: a provider is known to refuse the request. Otherwise `"warning"`.
    severity: Literal["error", "warning"]
    #: Number of the message, from 1; 0 for the conversation as a whole.
    message: int
    #: What is wrong.
    what: str
    #: What to do.
    remedy: str


@dataclass(frozen=True, slots=True)
class Validation:
    """The rules that a conversation breaks."""

    #: The wire format.
    format: str
    #: Number of places at which a provider is known to refuse the request.
    errors: int
    #: Number of places at which no refusal is known.
    warnings: int
    #: The first of these places.
    violations: list[Violation]

    @property
    def is_valid(self) -> bool:
        """Whether there are no errors."""
        return self.errors == 0

    def __bool__(self) -> bool:
        return self.is_valid


def validate(conversation: Any, /, **options: Unpack[ReadOptions]) -> Validation:
    """Checks a conversation against the rules of its wire format."""
    call = _calls.begin(options.get("timeout"))
    return _validation(read(conversation, options, call).conversation)


def _validation(conversation: NativeConversation) -> Validation:
    found = json.loads(conversation.violations)
    violations = [Violation(**violation) for violation in found["violations"]]
    return Validation(conversation.format, found["errors"], found["warnings"], violations)


@dataclass(frozen=True, slots=True)
class Repaired:
    """A conversation after its repair."""

    #: In the form in which it was given.
    body: Any
    #: What was changed: `rule`, `message` (its number before, from 1) and `what`.
    repairs: list[dict[str, Any]]
    #: The rules that are still broken.
    validation: Validation


def repair(conversation: Any, /, **options: Unpack[ReadOptions]) -> Repaired:
    """Repairs broken rules of the wire format, as far as possible. Signed and encrypted content is never edited."""
    call = _calls.begin(options.get("timeout"))
    before = read(conversation, {**options, "repair": False}, call)
    repaired = before.conversation.repaired()
    repairs = json.loads(repaired.violations)["repairs"]
    body = before.in_form(repaired.document) if repairs else before.given
    return Repaired(body, repairs, _validation(repaired))


def count(conversation: Any, /, **options: Unpack[ReadOptions]) -> int:
    """Counts the tokens of a request, with its system prompt and tools."""
    call = _calls.begin(options.get("timeout"))
    return read(conversation, options, call).conversation.tokens


def introspect(strategy: Any, /, *, host: _host.Host | None = None) -> dict[str, Any]:
    """Returns what a strategy says of itself (name, description, schema of its config) and what baler knows of it
    (content hash, contract, permissions).
    """
    native = _strategy.native(strategy)
    told = (host or _host.shared())._native.introspect(native, _calls.begin())
    result: dict[str, Any] = json.loads(told)
    return result
