"""A plugin for the Agent Development Kit (`google-adk` 2).

```python
app = App(name="garden", root_agent=agent, plugins=[baler.google_adk.BalerPlugin(context_window=1_000_000)])
```

Sessions keep all events; the model is sent a view of them.
"""

from __future__ import annotations

import json
from typing import Any, Unpack

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from ._baler import to_json
from ._errors import Error
from ._memory import Memory
from ._overflow import is_overflow
from ._view import View, Window, WindowOptions, log
from .aio import run


class BalerPlugin(BasePlugin):
    """Sends models a view of the history that fits their context window. Options: `WindowOptions`.

    If a model refuses a request as too long, a smaller one is sent once.
    """

    def __init__(self, name: str = "baler", **options: Unpack[WindowOptions]) -> None:
        super().__init__(name)
        self._window = Window(**options)
        self._memory = Memory()
        #: What was sent in the requests that run, by their identity: the history.
        self._histories: dict[int, list[types.Content]] = {}

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Runs before each request to a model."""
        history = list(llm_request.contents)
        self._histories[id(llm_request)] = history
        await run(self._show, llm_request, history, False)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Runs after each response."""
        # Requests have no identity in this hook; those that ended are forgotten with the next ones.
        while len(self._histories) > 64:
            self._histories.pop(next(iter(self._histories)))

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> Any:
        """Runs when a request failed."""
        history = self._histories.pop(id(llm_request), None)
        if history is None or not is_overflow(str(error)):
            return None
        before = len(_size(llm_request.contents))
        await run(self._show, llm_request, history, True)
        if len(_size(llm_request.contents)) >= before:
            return None
        agent = callback_context._invocation_context.agent
        answers = agent.canonical_model.generate_content_async(llm_request, stream=False)
        responses: list[LlmResponse] = [response async for response in answers]
        return responses[-1] if responses else None

    def _show(self, request: Any, history: list[types.Content], overflow: bool) -> None:
        try:
            view = self._view(request, history, overflow)
        except Error as error:
            log.warning("the history is sent as it is: %s", error)
            return
        if view is not None:
            request.contents = view.shown(history, types.Content.model_validate, _changed)

    def _view(self, request: Any, history: list[types.Content], overflow: bool) -> View | None:
        described = json.loads(to_json(history, "contents"))
        system = request.config.system_instruction if request.config else None
        frame: dict[str, Any] = {"model": request.model or ""}
        if isinstance(system, str):
            frame["systemInstruction"] = {"parts": [{"text": system}]}
        return self._memory.view(self._window, "gemini", frame, described, overflow=overflow)


def _changed(_: types.Content, described: dict[str, Any]) -> types.Content:
    return types.Content.model_validate(described)


def _size(contents: list[types.Content]) -> str:
    return to_json(contents, "contents")
