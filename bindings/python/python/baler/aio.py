"""The same functions for asynchronous programs, under asyncio and trio.

Each runs in a thread of its own, so the event loop goes on. Cancelling the task ends the work.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, Unpack

from . import _calls, _compaction
from ._compaction import Compaction, Repaired, Validation
from ._compactor import Compactor, Step
from ._options import CompactOptions, ReadOptions

P = ParamSpec("P")
R = TypeVar("R")


async def run(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs a function of baler in a thread of its own.

    Such as `await run(compactor.compact, "keep the plan")`.
    """
    calls = _calls.Calls()
    token = _calls.current.set(calls)
    try:
        if _is_trio():
            import trio

            work = lambda: function(*args, **kwargs)  # noqa: E731
            return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
        return await asyncio.to_thread(function, *args, **kwargs)
    except BaseException:
        calls.cancel()
        raise
    finally:
        _calls.current.reset(token)


def _is_trio() -> bool:
    if "trio" not in sys.modules:
        return False
    import trio

    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return False
    return True


async def compact(conversation: Any, /, **options: Unpack[CompactOptions]) -> Compaction:
    """As `baler.compact`."""
    return await run(_compaction.compact, conversation, **options)


async def should_compact(conversation: Any, /, **options: Unpack[CompactOptions]) -> bool:
    """As `baler.should_compact`."""
    return await run(_compaction.should_compact, conversation, **options)


async def validate(conversation: Any, /, **options: Unpack[ReadOptions]) -> Validation:
    """As `baler.validate`."""
    return await run(_compaction.validate, conversation, **options)


async def repair(conversation: Any, /, **options: Unpack[ReadOptions]) -> Repaired:
    """As `baler.repair`."""
    return await run(_compaction.repair, conversation, **options)


async def count(conversation: Any, /, **options: Unpack[ReadOptions]) -> int:
    """As `baler.count`."""
    return await run(_compaction.count, conversation, **options)


async def step(compactor: Compactor, /) -> Step:
    """As `Compactor.step`."""
    return await run(compactor.step)


async def overflow(compactor: Compactor, /) -> Step:
    """As `Compactor.overflow`."""
    return await run(compactor.overflow)
