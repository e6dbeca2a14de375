"""The host: what all conversations of a program share."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from . import _baler, _calls, _state
from ._baler import NativeHost, to_json
from ._errors import HostError, OptionError
from ._threads import finished

log = logging.getLogger("baler")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a strategy asks a model."""

    #: The system prompt; `None` if there is none.
    instructions: str | None
    #: The user message.
    prompt: str
    #: The answer should have at most this many tokens.
    max_output_tokens: int


#: A callable that is a model. It may be a coroutine function, which runs in an event loop of baler's own.
ModelFunction = Callable[[ModelRequest], Any]


class _Default:
    def __repr__(self) -> str:
        return "the state folder of the program `baler`"


DEFAULT: Final = _Default()


class Host:
    """Reads conversations, loads strategies and runs compactions.

    A program needs one. Without one, the functions of this package share a host with default options. A host is safe
    to use from many threads and after a `fork`.
    """

    __slots__ = ("_native", "has_model")

    def __init__(
        self,
        *,
        state: str | os.PathLike[str] | _Default | None = DEFAULT,
        archive: str | os.PathLike[str] | None = None,
        archive_options: Mapping[str, str] | None = None,
        project: str | os.PathLike[str] | None = None,
        model: str | ModelFunction | None = None,
        model_window: int | None = None,
        model_max_output: int | None = None,
        model_calls: int | None = None,
        model_key: str | None = None,
        tokenizer: str | None = None,
        concurrent_calls: int | None = None,
        memory: int | None = None,
        wasi: bool = True,
        python: str | os.PathLike[str] | None = None,
    ) -> None:
        """Creates a host.

        `state`: folder for the secret key that seals summaries, for compiled strategies and for the default archive.
        Default: `$BALER_STATE`, else `$XDG_STATE_HOME/baler`, else `~/.local/state/baler`, which the program `baler`
        uses too. It holds texts of conversations, readable only by you; `baler archive` shows and clears it. `None`: no folder; then summaries of other processes are read as ordinary messages, each process
        compiles its strategies again, and removed content is lost unless `archive` is given.

        `archive`: where removed content is stored first, so that `Compaction.undo` and `Host.expand` can retrieve it:
        a folder, a URL such as `s3://bucket/prefix` (with `archive_options` such as `aws_access_key_id`), `"memory"`,
        or `"off"`. Default: the folder `archive` in the state folder.

        `project`: a `baler.toml` whose strategies can be named, and whose policy applies. Naming it means that you trust
        it; baler does not search for one. Receipts say which list was used and what it sets.

        `model`: what strategies may ask. A name such as `"openai:gpt-5-mini"`, whose key is read from the provider's
        usual variable (or from `model_key`: `"env:NAME"` or `"file:PATH"`), or a callable that takes a `ModelRequest`
        and returns a text. `model_window`, `model_max_output`: its limits in tokens. `model_calls`: questions per
        compaction, 16 by default.

        `tokenizer`: the vocabulary that counts, such as `"o200k_base"`, or `"characters"` for an estimate. Default:
        that of the model which the conversation names.

        `concurrent_calls`: strategies that run at once, 16 by default. `memory`: the most bytes that a strategy may
        ever have. `wasi`: whether components that import WASI may load (they get nothing from it). `python`: the
        interpreter that compiles strategies in a child process; default: the one that runs.
        """
        options = {
            "state": _folder(state),
            "archive": None if archive is None else os.fspath(archive),
            "archive_options": list(archive_options.items()) if archive_options else None,
            "project": None if project is None else os.fspath(project),
            "tokenizer": tokenizer,
            "concurrent_calls": concurrent_calls,
            "memory": memory,
            "wasi": wasi,
            "compiler": _compiler(python),
        }
        if model is not None:
            options |= {
                "model_window": model_window,
                "model_max_output": model_max_output,
                "model_calls": model_calls,
                "model_key": model_key,
            }
        elif any(value is not None for value in (model_window, model_max_output, model_calls, model_key)):
            raise OptionError("options of a model are given, and no `model`; give it, or leave them out")
        #: Whether strategies can ask a model.
        self.has_model = model is not None
        self._native = NativeHost(to_json(options, ""), _model(model))

    def expand(self, reference: str) -> str:
        """Returns archived content by the reference that a receipt or a placeholder in a conversation names."""
        return self._native.expand(reference, _calls.begin())

    def undo(self, receipt: Mapping[str, Any]) -> str:
        """Restores the conversation before a compaction, byte for byte, as JSON. `receipt`: that of the compaction."""
        reference = receipt.get("undo")
        if not isinstance(reference, str):
            raise OptionError("the receipt has no `undo`: nothing was removed, or the host had no archive")
        return self._native.undo(reference, _calls.begin())


def _folder(state: Any) -> str | None:
    if state is None:
        return None
    folder = _state.default_folder() if state is DEFAULT else state
    if folder is None:
        raise HostError("no variable names a state folder ($BALER_STATE, $HOME); give `state=`")
    return os.fspath(folder)


def _model(model: str | ModelFunction | None) -> Any:
    if model is None or isinstance(model, str):
        return model
    if not callable(model):
        raise TypeError(f"`model`: expected the name of a model or a callable, found {type(model).__name__}")

    def ask(instructions: str | None, prompt: str, max_output_tokens: int) -> Any:
        try:
            answer = finished(model(ModelRequest(instructions, prompt, max_output_tokens)))
            if not isinstance(answer, str):
                raise TypeError(f"expected a text from the model, found {type(answer).__name__}")
            return answer
        except BaseException:
            log.exception("the model failed")
            raise

    return ask


def _compiler(python: str | os.PathLike[str] | None) -> list[str]:
    """Returns the command that compiles components: Python itself, with the native part of this package."""
    if python is None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise HostError(
                "expected a Python interpreter, which compiles strategies, and this program is something else; give `python=`, the path of an interpreter"
            )
        python = sys.executable
    assert _baler.__file__ is not None
    script = Path(__file__).with_name("_compile.py")
    return [os.fspath(python), "-I", "-S", os.fspath(script), _baler.__file__]


_shared: Host | None = None


def shared() -> Host:
    """Returns the host with default options that calls without a host share."""
    global _shared
    if _shared is None:
        _shared = Host()
    return _shared


Format = Literal["auto", "openai-chat", "openai-responses", "anthropic", "gemini", "bedrock-converse"]
