"""Strategies: what decides what to keep."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ._baler import NativeStrategy, to_json
from ._threads import finished

log = logging.getLogger("baler")

#: The contract of questions and answers.
CONTRACT = "baler:compaction@0.1.0"

#: What a callable that is a strategy returns: `None` changes nothing. In a list, an `int` keeps the unit with this
#: index, a `str` inserts a summary there, and a `dict` is a piece as in `docs/serve.md`. Units that are not named are
#: removed.
Plan = Sequence[int | str | Mapping[str, Any]]

#: A callable that is a strategy. It gets the request of `docs/serve.md` as a dictionary.
PlanFunction = Callable[[dict[str, Any]], Plan | None]


class Strategy:
    """A strategy with its config and its limits.

    `compact` also takes a name (`"tiered"`), a path that ends in `.wasm`, or a callable. A `Strategy` is for a config,
    limits, or a file that is used often.
    """

    __slots__ = ("_native", "_rebuilds")

    #: How a copy is made in another process: a function and its arguments.
    _rebuilds: tuple[Callable[..., Strategy], tuple[Any, ...]]

    def __init__(
        self,
        name: str,
        *,
        config: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        fuel: int | None = None,
    ) -> None:
        """Names a strategy that ships with baler (`baler.strategies()`), or that the host's `baler.toml` lists.

        `config`: its options, checked against its schema (`baler.introspect`). `timeout`: seconds of a call.
        `memory`: bytes. `fuel`: instructions, about.
        """
        if not isinstance(name, str):
            raise TypeError(f"expected the name of a strategy as a str, found {type(name).__name__}")
        arguments = (name, _config(config), _limits(timeout, memory, fuel))
        self._native = NativeStrategy.named(*arguments)
        self._rebuilds = (_named, arguments)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        config: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        fuel: int | None = None,
        may_ask_model: bool = False,
    ) -> Strategy:
        """Reads a component from a `.wasm` file. It may come from anybody: it runs in a sandbox.

        `name`: its name in marks and receipts; default: the name of the file, with its extension if a
        strategy that ships with baler has the same name. `may_ask_model`: whether it may ask the
        host's model, with the conversation and at your cost. Other arguments as in `Strategy(…)`.
        """
        options = (_config(config), _limits(timeout, memory, fuel), may_ask_model)
        native = NativeStrategy.load(path, name, *options)
        return cls._of(native, (_component, (native.name, native.wasm, *options)))

    @classmethod
    def of(cls, function: PlanFunction, *, name: str | None = None, timeout: float | None = None) -> Strategy:
        """Makes a strategy of a callable, to try an idea out. Its plans are checked like those of any strategy.

        It runs in this process, without a sandbox. An exception is logged (logger `baler`) and counts as a fault: then
        the next strategy of the chain runs.
        """
        if not callable(function):
            raise TypeError(f"expected a callable, found {type(function).__name__}")
        label = name or str(getattr(function, "__name__", "python"))

        def answer(operation: str, request: str) -> str:
            try:
                return json.dumps(_answered(function, label, operation, request))
            except BaseException:
                log.exception("the strategy %r failed in `%s`", label, operation)
                raise

        native = NativeStrategy.callable(label, answer, None, _limits(timeout, None, None))
        return cls._of(native, (_callable, (function, label, timeout)))

    @classmethod
    def _of(cls, native: NativeStrategy, rebuilds: tuple[Callable[..., Strategy], tuple[Any, ...]]) -> Strategy:
        strategy = object.__new__(cls)
        strategy._native = native
        strategy._rebuilds = rebuilds
        return strategy

    def __reduce__(self) -> tuple[Callable[..., Strategy], tuple[Any, ...]]:
        """A copy in another process has the component itself, so it needs no file there."""
        return self._rebuilds

    @property
    def name(self) -> str:
        """The name in marks and receipts."""
        return self._native.name

    def __repr__(self) -> str:
        return f"<baler.Strategy {self.name}>"


def _named(*arguments: Any) -> Strategy:
    return Strategy._of(NativeStrategy.named(*arguments), (_named, arguments))


def _component(*arguments: Any) -> Strategy:
    return Strategy._of(NativeStrategy.component(*arguments), (_component, arguments))


def _callable(function: PlanFunction, name: str, timeout: float | None) -> Strategy:
    return Strategy.of(function, name=name, timeout=timeout)


#: What arguments called `strategy` take: a name, a path of a `.wasm` file, a callable, or a `Strategy`.
AnyStrategy = str | os.PathLike[str] | PlanFunction | Strategy


def chain(given: AnyStrategy | Sequence[AnyStrategy] | None, default: str) -> list[NativeStrategy]:
    """Returns the native strategies for an argument `strategy`."""
    if given is None:
        given = default
    if isinstance(given, (list, tuple)):
        return [native(one) for one in given]
    return [native(given)]


def native(given: Any) -> NativeStrategy:
    """Returns the native strategy for one that was given in any form."""
    if isinstance(given, Strategy):
        return given._native
    if isinstance(given, str) and not given.endswith(".wasm"):
        return Strategy(given)._native
    if isinstance(given, (str, os.PathLike)):
        return Strategy.load(given)._native
    if callable(given):
        return Strategy.of(given)._native
    raise TypeError(
        "`strategy`: expected a name, a .wasm file, a callable, a baler.Strategy, or a list of these, "
        f"found {type(given).__name__}"
    )


def _config(config: Mapping[str, Any] | None) -> str | None:
    return None if config is None else to_json(config, "config")


def _limits(timeout: float | None, memory: int | None, fuel: int | None) -> str:
    return to_json({"timeout": timeout, "memory": memory, "fuel": fuel}, "")


def _answered(function: PlanFunction, name: str, operation: str, request: str) -> dict[str, Any]:
    """Answers a question of the host, in the form of `docs/serve.md`."""
    if operation == "introspect":
        description = (function.__doc__ or "A Python callable.").strip().splitlines()[0]
        return {"name": name, "version": "0", "description": description}
    if operation == "should-compact":
        return {"decision": "host-decides"}
    plan = finished(function(json.loads(request)))
    if plan is None:
        return {"outcome": {"unchanged": "the callable returned None"}}
    if isinstance(plan, (str, bytes, Mapping)):
        raise TypeError(f"expected a list of units, texts and pieces, or None, found {type(plan).__name__}")
    return {"outcome": {"compacted": {"pieces": [_piece(piece) for piece in plan]}}}


def _piece(piece: Any) -> Any:
    if isinstance(piece, str):
        return {"insert": {"role": "user", "purpose": "summary", "placement": "alone", "text": piece}}
    if isinstance(piece, Mapping):
        return dict(piece)
    return {"keep": {"first": int(piece), "count": 1}}
