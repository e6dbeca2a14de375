"""Threads in which callables run."""

import inspect
import threading
from collections.abc import Callable
from typing import Any


def start(function: Callable[..., Any], arguments: tuple[Any, ...], reply: Any) -> None:
    """Calls a function in a thread that a time limit can leave behind, and hands what comes of it to `reply`."""

    def work() -> None:
        try:
            reply.returned(function(*arguments))
        except BaseException as error:
            reply.raised(error)

    threading.Thread(target=work, name="baler-callable", daemon=True).start()


def finished(value: Any) -> Any:
    """Returns the result of a coroutine, and everything else as it is.

    Callables are called in threads of baler's own, which have no event loop.
    """
    if inspect.iscoroutine(value):
        import asyncio

        return asyncio.run(value)
    return value
