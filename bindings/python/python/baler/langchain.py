"""Middleware for LangChain's agents (`langchain` 1.2.18 or newer), and so for LangGraph and deepagents.

```python
agent = create_agent(model, tools, middleware=[baler.langchain.BalerMiddleware(context_window=200_000)])
```

The state keeps the whole history; the model is shown a view of it, which is stored in the state's private part.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, NotRequired, Unpack

from langchain.agents.middleware.types import AgentMiddleware, AgentState, ExtendedModelResponse, PrivateStateAttr
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.types import Command

from ._blocks import text_of
from ._errors import Error
from ._overflow import is_overflow
from ._view import View, Window, WindowOptions, log
from .aio import run

#: Types of content blocks that hold thinking.
_THINKING = ("thinking", "redacted_thinking", "reasoning")


class BalerState(AgentState[Any]):
    """The state of an agent with the view, which is neither input nor output."""

    _baler_view: NotRequired[Annotated[str, PrivateStateAttr]]


class BalerMiddleware(AgentMiddleware[BalerState, Any, Any]):
    """Shows the model a view of the history that fits its context window. Options: `WindowOptions`.

    Without `context_window` and `at`, the window is that of the model's profile. If the model refuses a request as too
    long, a smaller one is sent once.
    """

    state_schema = BalerState

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        super().__init__()
        self._options = options
        self._windows: dict[int | None, Window] = {}
        if "context_window" in options or "at" in options:
            self._window(None)
        else:
            # What is wrong with the other options is said here. The window is known with the model.
            self._window(1_000_000)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Runs around each call of the model."""
        new = self._view(request)
        try:
            response = handler(self._shown(request, new))
        except Exception as error:
            if not _is_overflow(error):
                raise
            smaller = self._view(request, view=new, overflow=True)
            if smaller is None or smaller == new or smaller.futile:
                raise
            new = smaller
            response = handler(self._shown(request, new))
        return self._noted(request, response, new)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for agents that are run asynchronously."""
        new = await run(self._view, request)
        try:
            response = await handler(self._shown(request, new))
        except Exception as error:
            if not _is_overflow(error):
                raise
            smaller = await run(self._view, request, view=new, overflow=True)
            if smaller is None or smaller == new or smaller.futile:
                raise
            new = smaller
            response = await handler(self._shown(request, new))
        return self._noted(request, response, new)

    def _window(self, size: int | None) -> Window:
        if size not in self._windows:
            options: Any = self._options if size is None else {**self._options, "context_window": size}
            self._windows[size] = Window(**options)
        return self._windows[size]

    def _view(self, request: Any, *, view: View | None = None, overflow: bool = False) -> View | None:
        if view is None and (stored := request.state.get("_baler_view")):
            view = View.from_json(stored)
        size = None
        if "context_window" not in self._options and "at" not in self._options:
            size = (getattr(request.model, "profile", None) or {}).get("max_input_tokens")
        window = self._window(size)
        system = request.system_message
        instructions = [] if system is None else [describe(system)]
        history = [describe(message) for message in request.messages]
        frame = {"model": _name(request.model), "tools": [_tool(tool) for tool in request.tools]}
        try:
            return window.view("openai-chat", frame, history, view, instructions=instructions, overflow=overflow)
        except Error as error:
            log.warning("the history is shown as it is: %s", error)
            return view

    @staticmethod
    def _shown(request: Any, view: View | None) -> Any:
        return request if view is None else request.override(messages=shown(request.messages, view))

    @staticmethod
    def _noted(request: Any, response: Any, view: View | None) -> Any:
        stored = None if view is None else view.to_json()
        if stored is None or stored == request.state.get("_baler_view"):
            return response
        return ExtendedModelResponse(response, Command(update={"_baler_view": stored}))


def shown(messages: list[AnyMessage], view: View) -> list[AnyMessage]:
    """Returns what a view shows of LangChain's messages. Messages that are shown as they are stay the same objects."""
    if not view.is_of([describe(message) for message in messages]):
        return messages
    shown = view.shown(messages, lambda message: HumanMessage(text_of(message)), _changed)
    for place, is_behind in enumerate(view.is_behind_a_change()):
        if is_behind:
            shown[place] = _without_thinking(shown[place])
    return shown


def describe(message: BaseMessage) -> dict[str, Any]:
    """Returns what counts of a message, as one of OpenAI Chat Completions. It is never sent."""
    content = _content(message.content)
    match message:
        case SystemMessage():
            return {"role": "system", "content": content}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
        case AIMessage():
            described: dict[str, Any] = {"role": "assistant", "content": content or None}
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            if calls:
                described["tool_calls"] = [_call(call) for call in calls]
            elif not content:
                described["content"] = "…"
            return described
        case _:
            return {"role": "user", "content": content or "…"}


def _call(call: Any) -> dict[str, Any]:
    arguments = call["args"] if isinstance(call["args"], str) else json.dumps(call["args"], default=str)
    return {"id": call["id"] or "", "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _content(content: Any) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    blocks: list[dict[str, Any]] = []
    for block in content:
        if isinstance(block, str):
            blocks.append({"type": "text", "text": block})
        elif block.get("type") in ("text", "output_text"):
            blocks.append({"type": "text", "text": block.get("text", "")})
        elif block.get("type") in ("image", "image_url"):
            blocks.append({"type": "image_url", "image_url": {"url": "data:image/png;base64,"}})
    return blocks if len(blocks) != 1 or blocks[0]["type"] != "text" else blocks[0]["text"]


def _changed(message: AnyMessage, described: dict[str, Any]) -> AnyMessage:
    """Returns a copy of a message with the texts of `described`; blocks that are no texts stay."""
    text = text_of(described)
    if isinstance(message.content, str):
        return message.model_copy(update={"content": text})
    others = [block for block in message.content if isinstance(block, dict) and "text" not in block]
    return message.model_copy(update={"content": [*others, {"type": "text", "text": text}] if text else others})


def _without_thinking(message: AnyMessage) -> AnyMessage:
    if not isinstance(message, AIMessage) or isinstance(message.content, str):
        return message
    is_thinking = lambda block: isinstance(block, dict) and block.get("type") in _THINKING  # noqa: E731
    if not any(is_thinking(block) for block in message.content):
        return message
    return message.model_copy(update={"content": [block for block in message.content if not is_thinking(block)]})


def _tool(tool: Any) -> Any:
    """Returns what counts of a tool. Tools of the provider's own have forms that LangChain does not know."""
    try:
        return convert_to_openai_tool(tool)
    except (TypeError, ValueError):
        return tool if isinstance(tool, dict) else {}


def _name(model: Any) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else ""


def _is_overflow(error: Exception) -> bool:
    return isinstance(error, ContextOverflowError) or is_overflow(str(error))
