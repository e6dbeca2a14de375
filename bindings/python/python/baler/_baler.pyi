"""
Native part of the package `baler`. Use `baler` instead: nothing here is stable.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import Any, SupportsFloat, SupportsIndex, final

__all__ = ["Cancel", "NativeCompactor", "NativeConversation", "NativeHost", "NativeResult", "NativeShown", "NativeStrategy", "NativeUsage", "NativeWindow", "compile_component", "format_of_path", "is_too_long", "says_too_long", "strategies", "to_json", "version"]

@final
class Cancel:
    """
    Ends a call from another thread.
    """
    def __new__(cls, /, seconds: SupportsFloat | SupportsIndex | None = None) -> Cancel:
        """
        Creates a handle for one call. `seconds`: time after which the host's own work ends.
        """
    def cancel(self, /) -> None:
        """
        Ends the call.
        """

@final
class NativeCompactor:
    """
    Keeps one conversation within its window over time. Calls from several threads take turns, without the
    interpreter's lock, which the one whose turn it is may need.
    """
    def append(self, /, messages: SupportsGetItem[int, str]) -> None:
        """
        Appends messages, each as JSON.
        """
    def compact_now(self, /, wish: str | None, cancel: Cancel) -> str:
        """
        Compacts now; returns JSON.
        """
    def compactions(self, /) -> int:
        """
        Number of compactions that changed the conversation.
        """
    def document(self, /) -> str:
        """
        The request body to send, as JSON.
        """
    def history(self, /) -> list[str]:
        """
        All messages that were ever appended, each as JSON.
        """
    def overflowed(self, /, cancel: Cancel) -> str:
        """
        Compacts after the provider refused the request as too long; returns JSON.
        """
    def reported(self, /, tokens: SupportsIndex) -> None:
        """
        Notes the tokens that the provider reported for its newest response.
        """
    @staticmethod
    def resume(host: NativeHost, saved: str, chain: SupportsGetItem[int, NativeStrategy], options: str, cancel: Cancel) -> NativeCompactor:
        """
        Continues from a text that `save` returned.
        """
    def save(self, /) -> str:
        """
        Returns all that `resume` needs, as a text.
        """
    @staticmethod
    def setting(setting: str) -> str:
        """
        Reads a user's setting with a preset; returns its strategy, config and options as JSON.
        """
    @staticmethod
    def start(host: NativeHost, conversation: NativeConversation, chain: SupportsGetItem[int, NativeStrategy], options: str, cancel: Cancel) -> NativeCompactor:
        """
        Creates a compactor for a conversation.
        """
    def step(self, /, cancel: Cancel) -> str:
        """
        Compacts if a compaction is due; returns JSON.
        """
    def tokens(self, /) -> int:
        """
        Tokens of the next request.
        """

@final
class NativeConversation:
    """
    A conversation that was read, divided into units and counted.
    """
    @property
    def document(self, /) -> str:
        """
        The request body or the list of messages, as JSON.
        """
    @property
    def format(self, /) -> str:
        """
        The wire format.
        """
    @property
    def is_broken(self, /) -> bool:
        """
        Whether a rule of the format is broken so that providers refuse the request.
        """
    @property
    def is_the_providers(self, /) -> bool:
        """
        Whether the provider has to see the request as it is: it stores the history, or is asked to compact it itself.
        """
    @property
    def message_count(self, /) -> int:
        """
        Number of messages.
        """
    @property
    def overhead(self, /) -> int:
        """
        Tokens of the system prompt, the tools and the like, which no compaction changes.
        """
    def repaired(self, /) -> NativeConversation:
        """
        Returns the conversation with its broken rules repaired as far as possible.
        """
    @property
    def tokenizer(self, /) -> str:
        """
        The vocabulary that counted the tokens.
        """
    @property
    def tokens(self, /) -> int:
        """
        Tokens of the whole request.
        """
    @property
    def units(self, /) -> str:
        """
        The units, as JSON.
        """
    @property
    def violations(self, /) -> str:
        """
        The broken rules and the repairs, as JSON.
        """

@final
class NativeHost:
    """
    Reads conversations, loads strategies and runs compactions.
    """
    def __new__(cls, /, options: str, model: Any | None) -> NativeHost:
        """
        Creates a host from options by name, as JSON. `model` is a callable or the name of a model.
        """
    def check(self, /, chain: SupportsGetItem[int, NativeStrategy], options: str, cancel: Cancel) -> None:
        """
        Loads strategies and reads options, to say what is wrong with them.
        """
    def compact(self, /, conversation: NativeConversation, chain: SupportsGetItem[int, NativeStrategy], options: str, cancel: Cancel) -> NativeResult:
        """
        Compacts a conversation with the strategies of `chain`, in order.
        """
    def expand(self, /, reference: str, cancel: Cancel) -> str:
        """
        Returns archived content by its reference.
        """
    def introspect(self, /, strategy: NativeStrategy, cancel: Cancel) -> str:
        """
        Asks a strategy to describe itself; returns JSON.
        """
    def read(self, /, document: Any, format: str | None, used: SupportsIndex | None, cancel: Cancel) -> NativeConversation:
        """
        Reads a conversation from bytes, a text, or Python objects.
        """
    def should_compact(self, /, conversation: NativeConversation, strategy: NativeStrategy | None, options: str, cancel: Cancel) -> bool:
        """
        Decides whether to compact now.
        """
    def undo(self, /, reference: str, cancel: Cancel) -> str:
        """
        Restores the conversation before a compaction, by the reference in its receipt.
        """

@final
class NativeResult:
    """
    The result of a compaction.
    """
    @property
    def document(self, /) -> str:
        """
        The result, as JSON.
        """
    @property
    def document_bytes(self, /) -> bytes:
        """
        The result, as UTF-8.
        """
    @property
    def is_compacted(self, /) -> bool:
        """
        Whether the conversation became smaller.
        """
    @property
    def messages(self, /) -> list[tuple[str, int | None, str | None]]:
        """
        The messages of the result, in order: `kept` or `changed` with an index among the messages before, or
        `inserted`; the last two with their JSON.
        """
    @property
    def receipt(self, /) -> str:
        """
        The receipt, as JSON.
        """
    @property
    def units(self, /) -> list[str]:
        """
        The outcome of each unit before: `kept`, `rewritten` or `removed`.
        """

@final
class NativeShown:
    """
    What is shown of a history.
    """
    @property
    def compaction(self, /) -> NativeResult | None:
        """
        The compaction that was made now; `None` if none was due.
        """
    @property
    def conversation(self, /) -> NativeConversation:
        """
        The request to send.
        """
    @property
    def has_view(self, /) -> bool:
        """
        Whether less than the whole history is shown.
        """
    @property
    def made_at(self, /) -> int:
        """
        Number of messages that the history had when the view was made; 0 without one.
        """
    @property
    def messages(self, /) -> list[tuple[str, int | None, str | None]]:
        """
        The messages that are shown, in order: `kept` or `changed` with an index in the history, or `inserted`; the last two
        with their JSON.
        """
    def note_count(self, /, tokens: SupportsIndex) -> None:
        """
        Notes the size of the request as its provider counted it: all tokens of the prompt. What cannot be is ignored.
        """
    @property
    def view(self, /) -> str | None:
        """
        The view by which the history is shown, as JSON; `None` if all of it is shown.
        """

@final
class NativeStrategy:
    """
    A strategy, with its config and its limits. Hosts load it when they first use it.
    """
    @staticmethod
    def callable(name: str, call: Any, config: str | None, limits: str) -> NativeStrategy:
        """
        Takes a callable: `(operation, request) -> answer`, both as JSON.
        """
    @staticmethod
    def component(name: str, wasm: bytes, config: str | None, limits: str, may_ask_model: bool) -> NativeStrategy:
        """
        Takes a component, as the bytes of its file.
        """
    @staticmethod
    def load(path: str | PathLike[str], name: str | None, config: str | None, limits: str, may_ask_model: bool) -> NativeStrategy:
        """
        Reads a component from a file.
        """
    @property
    def name(self, /) -> str:
        """
        The name in marks and receipts.
        """
    @staticmethod
    def named(name: str, config: str | None, limits: str) -> NativeStrategy:
        """
        Names a strategy that ships with baler, or that `baler.toml` lists.
        """
    @property
    def wasm(self, /) -> bytes | None:
        """
        The component; `None` if it has another source.
        """

@final
class NativeUsage:
    """
    Reads the size of a request, as the provider counted it, from the answer that passes.
    """
    def __new__(cls, /, is_stream: bool) -> NativeUsage:
        """
        Begins with an answer. `is_stream`: it is a stream of server-sent events.
        """
    def end(self, /) -> int | None:
        """
        Returns the tokens of the prompt after the last piece, those from a cache included; `None` if the answer does not
        say.
        """
    def see(self, /, piece: bytes) -> None:
        """
        Reads the next piece.
        """

@final
class NativeWindow:
    """
    Keeps what is shown of histories within a number of tokens.
    """
    def __new__(cls, /, host: NativeHost, chain: SupportsGetItem[int, NativeStrategy], options: str, cancel: Cancel) -> NativeWindow:
        """
        Creates a window from its options and those of a compaction, as JSON.
        """
    @property
    def goal(self, /) -> str:
        """
        The options of its compactions, as JSON.
        """
    def show(self, /, history: NativeConversation, less: bool, view: str | None, cancel: Cancel) -> NativeShown:
        """
        Returns what to show of a history now. `less`: the provider refused what was shown before as too long. `view`: one
        that was stored as JSON; what cannot be read is ignored.
        """

def compile_component(arguments: SupportsGetItem[int, str]) -> int | None:
    """
    Compiles the component on standard input, in a process that the host started for that. Returns the
    exit code of the process; `None` in every other process.
    """

def format_of_path(path: str) -> str | None:
    """
    Returns the wire format of conversations that are posted to a path; `None` if none are.
    """

def is_too_long(status: SupportsIndex, body: bytes) -> bool:
    """
    Decides whether a provider refused a request as too long for its model, by the status and the body of its answer.
    """

def says_too_long(text: str) -> bool:
    """
    Decides whether the text of an error says so.
    """

def strategies() -> list[tuple[str, bytes | None]]:
    """
    Returns the strategies that ship with baler, as pairs of a name and a component; without a component
    for those that are part of the host.
    """

def to_json(value: Any, place: str) -> str:
    """
    Returns a Python object as JSON text. `place` names the object in errors.
    """

def version() -> str:
    """
    Returns the version of the package.
    """
