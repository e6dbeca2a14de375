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
from ._newest import Newest
from ._view import Shown, Window, WindowOptions, applied
from .aio import run


class BalerPlugin(BasePlugin):
    """Sends models a view of the history that fits their context window. Options: `WindowOptions`.

    If a model refuses a request as too long, a smaller one is sent once.
    """

    def __init__(self, name: str = "baler", **options: Unpack[WindowOptions]) -> None:
        super().__init__(name)
        self._window = Window(**options)
        #: Of the requests that run, by the identity of the invocation that makes them: the history, and what is shown of it.
        self._asked: Newest[int, tuple[list[types.Content], Shown]] = Newest(64)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Runs before each request to a model."""
        history = list(llm_request.contents)
        shown = await run(self._show, llm_request, history)
        self._asked.put(_invocation(callback_context), (history, shown))

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Runs after each response, and each part of one that is streamed."""
        usage = llm_response.usage_metadata
        if llm_response.partial or usage is None:
            return
        if asked := self._asked.pop(_invocation(callback_context)):
            asked[1].note_count(usage.prompt_token_count)

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> Any:
        """Runs when a request failed."""
        asked = self._asked.pop(_invocation(callback_context))
        if asked is None or not says_too_long(str(error)):
            return None
        history, _ = asked
        shown = await run(self._show, llm_request, history, less=True)
        if shown.is_whole:
            return None
        self._asked.put(_invocation(callback_context), (history, shown))
        agent = callback_context._invocation_context.agent
        answers = agent.canonical_model.generate_content_async(llm_request, stream=False)
        responses: list[LlmResponse] = [response async for response in answers]
        return responses[-1] if responses else None

    def _show(self, request: Any, history: list[types.Content], *, less: bool = False) -> Shown:
        """Puts what is shown of a history into a request."""
        system = request.config.system_instruction if request.config else None
        body: dict[str, Any] = {"model": request.model or "", "contents": history}
        if isinstance(system, str):
            body["systemInstruction"] = {"parts": [{"text": system}]}
        shown = self._window.show("gemini", body, less=less)
        if not shown.is_whole:
            request.contents = applied(shown.native.messages, history, types.Content.model_validate, _changed)
        return shown


def _invocation(callback_context: Any) -> int:
    """Returns the identity of an invocation, which asks its model one thing at a time. Responses come without the request."""
    return id(callback_context._invocation_context)


def _changed(_: types.Content, described: dict[str, Any]) -> types.Content:
    return types.Content.model_validate(described)
