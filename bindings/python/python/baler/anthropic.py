"""Compacts the requests of the `anthropic` client (version 2 or newer), whatever framework calls it.

```python
client = anthropic.Anthropic(middleware=[baler.anthropic.Middleware(context_window=200_000)])
```
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Unpack
from urllib.parse import urlsplit

import anthropic
import httpx2

from . import _wire
from ._answers import counting
from ._baler import is_too_long, to_json
from ._errors import Error
from ._view import Shown, Window, WindowOptions, log
from .aio import run


class Middleware(anthropic.Middleware):
    """Compacts messages, and sends fewer if the provider refuses them as too long. Options: `WindowOptions`.

    Serves synchronous and asynchronous clients.
    """

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        self._window = Window(**options)

    def handle(self, request: Any, call_next: Callable[[Any], Any]) -> Any:
        """Runs for each attempt of a synchronous client."""
        if not _has_messages(request):
            return call_next(request)
        given = _content(request)
        if given is None:
            return call_next(request)
        content, shown = _wire.fitted(self._window, "anthropic", given)
        response = call_next(_with(request, content))
        if response.status_code < 400 or not is_too_long(response.status_code, response.http_response.read()):
            return _counted(response, shown)
        smaller, shown = _wire.fitted(self._window, "anthropic", given, less=True)
        return response if smaller is None else _counted(call_next(_with(request, smaller)), shown)

    async def handle_async(self, request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Runs for each attempt of an asynchronous client."""
        if not _has_messages(request):
            return await call_next(request)
        given = _content(request)
        if given is None:
            return await call_next(request)
        content, shown = await run(_wire.fitted, self._window, "anthropic", given)
        response = await call_next(_with(request, content))
        if response.status_code < 400 or not is_too_long(response.status_code, await response.http_response.aread()):
            return _counted(response, shown)
        smaller, shown = await run(_wire.fitted, self._window, "anthropic", given, less=True)
        return response if smaller is None else _counted(await call_next(_with(request, smaller)), shown)


_counting = counting(httpx2)


def _counted(response: Any, shown: Shown) -> Any:
    _counting(response.http_response, shown)
    return response


def _has_messages(request: Any) -> bool:
    path = urlsplit(str(request.url)).path
    return request.method.upper() == "POST" and path.endswith("/messages") and isinstance(request.json, dict)


def _content(request: Any) -> bytes | None:
    """Returns the body of a request; `None` if it cannot be written, so the client says what is wrong."""
    try:
        return to_json(request.json, "").encode()
    except Error as error:
        log.warning("a request is sent as it is: %s", error)
        return None


def _with(request: Any, content: bytes | None) -> Any:
    return request if content is None else request.copy(body=json.loads(content))
