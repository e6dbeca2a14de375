"""Transports for `httpx` and its successor `httpx2`, which have the same interface."""

from __future__ import annotations

from typing import Any, Unpack

from . import _wire
from ._overflow import STATUSES, is_overflow_response
from ._view import Window, WindowOptions
from .aio import run


def transports(module: Any) -> tuple[type, type]:
    """Returns the transports for a module: a synchronous and an asynchronous one."""

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
            self._requests = _wire.Requests(Window(**options))

        def handle_request(self, request: Any) -> Any:
            format = _wire.format_of(request.method, str(request.url))
            if format is None:
                return self._inner.handle_request(request)
            given = request.read()
            content = self._requests.fitted(format, given)
            response = self._inner.handle_request(request if content is given else rebuilt(request, content))
            if response.status_code not in STATUSES:
                return response
            if not is_overflow_response(response.status_code, response.read()):
                return response
            smaller = self._requests.fitted(format, given, overflow=True)
            if len(smaller) >= len(content):
                return response
            response.close()
            return self._inner.handle_request(rebuilt(request, smaller))

        def close(self) -> None:
            self._inner.close()

    class AsyncTransport(module.AsyncBaseTransport):  # type: ignore[misc,name-defined]
        """The same for asynchronous clients, under asyncio and trio."""

        def __init__(self, inner: Any = None, **options: Unpack[WindowOptions]) -> None:
            self._inner = inner or module.AsyncHTTPTransport()
            self._requests = _wire.Requests(Window(**options))

        async def handle_async_request(self, request: Any) -> Any:
            format = _wire.format_of(request.method, str(request.url))
            if format is None:
                return await self._inner.handle_async_request(request)
            given = await request.aread()
            content = await run(self._requests.fitted, format, given)
            response = await self._inner.handle_async_request(
                request if content is given else rebuilt(request, content)
            )
            if response.status_code not in STATUSES:
                return response
            if not is_overflow_response(response.status_code, await response.aread()):
                return response
            smaller = await run(self._requests.fitted, format, given, overflow=True)
            if len(smaller) >= len(content):
                return response
            await response.aclose()
            return await self._inner.handle_async_request(rebuilt(request, smaller))

        async def aclose(self) -> None:
            await self._inner.aclose()

    for transport in (Transport, AsyncTransport):
        transport.__module__ = f"baler.{module.__name__}"
        transport.__qualname__ = transport.__name__
    return Transport, AsyncTransport


#: Headers that belong to a body.
_OF_BODY = (b"content-length", b"transfer-encoding")
