"""Runs what callables return, in the thread that called them."""

import inspect
from typing import Any


def finished(value: Any) -> Any:
    """Returns the result of a coroutine, and everything else as it is.

    Callables are called in threads of baler's own, which have no event loop.
    """
    if inspect.iscoroutine(value):
        import asyncio

        return asyncio.run(value)
    return value
