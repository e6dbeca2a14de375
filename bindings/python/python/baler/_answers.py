"""What answers of providers say of the size of their requests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from ._baler import NativeUsage
from ._view import Shown


def counting(module: Any) -> Callable[[Any, Shown], Any]:
    """Returns a function for responses of a module, `httpx` or `httpx2`.

    It has a response note the size of its request once it was read, and returns the response. Its bytes pass as they come.
    """

    class Passing(module.SyncByteStream, module.AsyncByteStream):  # type: ignore[misc]
        """The body of a response. Clients close it when they have read all of it, or all that they want."""

        def __init__(self, response: Any, shown: Shown) -> None:
            self._stream, self._headers, self._shown = response.stream, response.headers, shown
            self._pieces: list[bytes] = []

        def __getattr__(self, name: str) -> Any:
            # Clients keep what they measure at the body.
            return getattr(self._stream, name)

        def __iter__(self) -> Iterator[bytes]:
            for piece in self._stream:
                self._pieces.append(piece)
                yield piece

        async def __aiter__(self) -> AsyncIterator[bytes]:
            stream = self._stream.__aiter__()
            try:
                async for piece in stream:
                    self._pieces.append(piece)
                    yield piece
            finally:
                if isinstance(stream, AsyncGenerator):
                    await stream.aclose()

        def close(self) -> None:
            self._note()
            self._stream.close()

        async def aclose(self) -> None:
            self._note()
            await self._stream.aclose()

        def _note(self) -> None:
            pieces, self._pieces = self._pieces, []
            with contextlib.suppress(Exception):
                # Bytes are compressed as the client asked for, so that its own decoders are those that fit.
                answer = module.Response(200, headers=self._headers, content=pieces)
                _note(self._shown, self._headers, answer.iter_bytes())

    def counted(response: Any, shown: Shown) -> Any:
        if response.is_success and not response.is_closed:
            response.stream = Passing(response, shown)
        elif response.is_success:
            with contextlib.suppress(module.ResponseNotRead):
                _note(shown, response.headers, [response.content])
        return response

    return counted


def _note(shown: Shown, headers: Any, pieces: Iterable[bytes]) -> None:
    usage = NativeUsage(headers.get("content-type", "").lower().startswith("text/event-stream"))
    for piece in pieces:
        usage.see(piece)
    shown.note_count(usage.end())
