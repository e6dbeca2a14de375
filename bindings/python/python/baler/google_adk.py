"""A plugin for the Agent Development Kit (`google-adk` 2).

```python
app = App(name="garden", root_agent=agent, plugins=[baler.google_adk.BalerPlugin(context_window=1_000_000)])
```

Sessions keep all events; the model is sent a view of them.
"""

from __future__ import annotations

from typing import Any, Unpack

from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from ._baler import says_too_long
from ._view import Window, WindowOptions, applied
from .aio import run


class BalerPlugin(BasePlugin):
    """Sends models a view of the history that fits their context window. Options: `WindowOptions`.

    If a model refuses a request as too long, a smaller one is sent once.
    """

    def __init__(self, name: str = "baler", **options: Unpack[WindowOptions]) -> None:
        super().__init__(name)
        self._window = Window(**options)
        #: What was sent in the requests that run, by their identity: the history.
        self._histories: dict[int, list[types.Content]] = {}

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Runs before each request to a model."""
        history = list(llm_request.contents)
        self._histories[id(llm_request)] = history
        await run(self._show, llm_request, history)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Runs after each response."""
        # Requests have no identity in this hook; those that ended are forgotten with the next ones.
        while len(self._histories) > 64:
            self._histories.pop(next(iter(self._histories)))

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> Any:
        """Runs when a request failed."""
        history = self._histories.pop(id(llm_request), None)
        if history is None or not says_too_long(str(error)):
            return None
        if not await run(self._show, llm_request, history, less=True):
            return None
        agent = callback_context._invocation_context.agent
        answers = agent.canonical_model.generate_content_async(llm_request, stream=False)
        responses: list[LlmResponse] = [response async for response in answers]
        return responses[-1] if responses else None

    def _show(self, request: Any, history: list[types.Content], *, less: bool = False) -> bool:
        """Puts what is shown of a history into a request; returns whether that is not what it has already."""
        system = request.config.system_instruction if request.config else None
        body: dict[str, Any] = {"model": request.model or "", "contents": history}
        if isinstance(system, str):
            body["systemInstruction"] = {"parts": [{"text": system}]}
        shown = self._window.show("gemini", body, less=less)
        if shown.is_whole:
            return False
        request.contents = applied(shown.native.messages, history, types.Content.model_validate, _changed)
        return True


def _changed(_: types.Content, described: dict[str, Any]) -> types.Content:
    return types.Content.model_validate(described)
