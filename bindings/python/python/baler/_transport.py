"""Transports for `httpx` and its successor `httpx2`, which have the same interface."""

from __future__ import annotations

from typing import Any, Unpack

from . import _wire
from ._answers import counting
from ._baler import is_too_long
from ._view import Window, WindowOptions
from .aio import run


def transports(module: Any) -> tuple[type, type]:
    """Returns the transports for a module: a synchronous and an asynchronous one."""
    counted = counting(module)

    def rebuilt(request: Any, content: bytes) -> Any:
        headers = [(name, value) for name, value in request.headers.raw if name.lower() not in _OF_BODY]
        return module.Request(
            request.method, request.url, headers=headers, content=content, extensions=request.extensions
        )

    class Transport(module.BaseTransport):  # type: ignore[misc,name-defined]
        """Compacts requests to model providers, and sends a smaller one if the provider refuses one as too long.

        `inner`: the transport that sends them. Options: `WindowOptions`. Responses pass unchanged, streams included.
        """

        def __init__(self, inner: Any = None, **options: Unpack[WindowOptions]) -> None:
            self._inner = inner or module.HTTPTransport()
            self._window = Window(**options)

        def handle_request(self, request: Any) -> Any:
            format = _wire.format_of(request.method, str(request.url))
            if format is None:
                return self._inner.handle_request(request)
            given = request.read()
            content, shown = _wire.fitted(self._window, format, given)
            response = self._inner.handle_request(request if content is None else rebuilt(request, content))
            if response.status_code < 400 or not is_too_long(response.status_code, response.read()):
                return counted(response, shown)
            smaller, shown = _wire.fitted(self._window, format, given, less=True)
            if smaller is None:
                return response
            response.close()
            return counted(self._inner.handle_request(rebuilt(request, smaller)), shown)

        def close(self) -> None:
            self._inner.close()

    class AsyncTransport(module.AsyncBaseTransport):  # type: ignore[misc,name-defined]
        """The same for asynchronous clients, under asyncio and trio."""

        def __init__(self, inner: Any = None, **options: Unpack[WindowOptions]) -> None:
            self._inner = inner or module.AsyncHTTPTransport()
            self._window = Window(**options)

        async def handle_async_request(self, request: Any) -> Any:
            format = _wire.format_of(request.method, str(request.url))
            if format is None:
                return await self._inner.handle_async_request(request)
            given = await request.aread()
            content, shown = await run(_wire.fitted, self._window, format, given)
            response = await self._inner.handle_async_request(request if content is None else rebuilt(request, content))
            if response.status_code < 400 or not is_too_long(response.status_code, await response.aread()):
                return counted(response, shown)
            smaller, shown = await run(_wire.fitted, self._window, format, given, less=True)
            if smaller is None:
                return response
            await response.aclose()
            return counted(await self._inner.handle_async_request(rebuilt(request, smaller)), shown)

        async def aclose(self) -> None:
            await self._inner.aclose()

    for transport in (Transport, AsyncTransport):
        transport.__module__ = f"baler.{module.__name__}"
        transport.__qualname__ = transport.__name__
    return Transport, AsyncTransport


#: Headers that belong to a body.
_OF_BODY = (b"content-length", b"transfer-encoding")
