"""Threads in which callables run."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


def start(function: Callable[..., Any], arguments: tuple[Any, ...], reply: Any) -> None:
    """Calls a function in a thread that a time limit can leave behind, and passes its result to `reply`."""

    def work() -> None:
        try:
            reply.returned(function(*arguments))
        except BaseException as error:
            reply.raised(error)

    threading.Thread(target=work, name="baler-callable", daemon=True).start()


def finished(value: Any) -> Any:
    """Returns the result of a coroutine, and everything else as it is.

    All coroutines run in one event loop, so that they can share clients and locks.
    """
    if not inspect.iscoroutine(value):
        return value
    import asyncio

    return asyncio.run_coroutine_threadsafe(value, _loop()).result()


_lock = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def _loop() -> asyncio.AbstractEventLoop:
    """Returns the event loop of this process, which runs in a thread of its own."""
    global _running
    import asyncio

    with _lock:
        if _running is None or _running[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="baler-loop", daemon=True).start()
            _running = (os.getpid(), loop)
        return _running[1]
