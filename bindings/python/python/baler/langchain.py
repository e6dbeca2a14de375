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

from ._baler import NativeShown, says_too_long
from ._blocks import text_of
from ._view import Shown, Window, WindowOptions, applied
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
        shown = self._show(request)
        try:
            response = handler(_with(request, shown))
        except Exception as error:
            if not _is_overflow(error) or (shown := self._show(request, less=True)).is_whole:
                raise
            response = handler(_with(request, shown))
        return _noted(request, response, shown)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The same for agents that are run asynchronously."""
        shown = await run(self._show, request)
        try:
            response = await handler(_with(request, shown))
        except Exception as error:
            if not _is_overflow(error) or (shown := await run(self._show, request, less=True)).is_whole:
                raise
            response = await handler(_with(request, shown))
        return _noted(request, response, shown)

    def _window(self, size: int | None) -> Window:
        if size not in self._windows:
            options: Any = self._options if size is None else {**self._options, "context_window": size}
            self._windows[size] = Window(**options)
        return self._windows[size]

    def _show(self, request: Any, *, less: bool = False) -> Shown:
        size = None
        if "context_window" not in self._options and "at" not in self._options:
            size = (getattr(request.model, "profile", None) or {}).get("max_input_tokens")
        body = {
            "model": _name(request.model),
            "tools": [_tool(tool) for tool in request.tools],
            "messages": [describe(message) for message in _all(request)],
        }
        # What was refused is not shown again.
        stored = None if less else request.state.get("_baler_view")
        return self._window(size).show("openai-chat", body, less=less, view=stored)


def _all(request: Any) -> list[AnyMessage]:
    """Returns the messages of a request, with the one that LangChain puts before them."""
    return [*([request.system_message] if request.system_message else []), *request.messages]


def _with(request: Any, shown: Shown) -> Any:
    if shown.is_whole:
        return request
    placed = _without_thinking_behind_changes(shown.native, _all(request))
    messages = applied(shown.native.messages, placed, lambda message: HumanMessage(text_of(message)), _changed)
    return request.override(messages=[message for message in messages if message is not request.system_message])


def _noted(request: Any, response: Any, shown: Shown) -> Any:
    """Notes what an answer says of the size of its request, and returns it with the view to store."""
    for message in response.result:
        shown.note_count((getattr(message, "usage_metadata", None) or {}).get("input_tokens"))
    if shown.is_whole or shown.native.view == request.state.get("_baler_view"):
        return response
    return ExtendedModelResponse(response, Command(update={"_baler_view": shown.native.view}))


def _without_thinking_behind_changes(shown: NativeShown, messages: list[AnyMessage]) -> list[AnyMessage]:
    """Returns the messages without thinking that was made behind others than are shown now: providers may refuse it."""
    without = list(messages)
    is_changed = False
    for place, (kind, index, _) in enumerate(shown.messages):
        is_changed = is_changed or index != place
        if is_changed and index is not None and index < shown.made_at:
            without[index] = _without_thinking(messages[index])
        is_changed = is_changed or kind != "kept"
    return without


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
    return isinstance(error, ContextOverflowError) or says_too_long(str(error))
