"""Calls that another task can cancel."""

from contextvars import ContextVar

from ._baler import Cancel


class Calls:
    """The calls of one asynchronous operation, which runs in a thread of its own."""

    def __init__(self) -> None:
        self._running: list[Cancel] = []
        self._is_cancelled = False

    def add(self, call: Cancel) -> None:
        """Notes a call that begins."""
        self._running.append(call)
        if self._is_cancelled:
            call.cancel()

    def cancel(self) -> None:
        """Ends the calls that run, and those that begin later."""
        self._is_cancelled = True
        for call in self._running:
            call.cancel()


current: ContextVar[Calls | None] = ContextVar("baler_calls", default=None)


def begin(timeout: float | None = None) -> Cancel:
    """Returns the handle of a call that begins now."""
    call = Cancel(timeout)
    if (calls := current.get()) is not None:
        calls.add(call)
    return call
