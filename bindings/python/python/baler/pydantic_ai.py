"""A capability for Pydantic AI's agents (`pydantic-ai-slim` 2.64 or newer).

```python
agent = Agent("anthropic:claude-sonnet-4-5", capabilities=[baler.pydantic_ai.Baler(context_window=200_000)])
```

The run's messages keep the whole history; the model is sent a view of it.
"""

from __future__ import annotations

import copy
import dataclasses
from typing import Any, Unpack

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest
from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ._baler import says_too_long
from ._blocks import Block, rebuilt, text_of
from ._view import Shown, Window, WindowOptions, applied
from .aio import run


class Baler(AbstractCapability[Any]):
    """Sends the model a view of the history that fits its context window. Options: `WindowOptions`.

    If the model refuses a request as too long, a smaller one is sent once.
    """

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        self._window = Window(**options)
        #: What is shown in the request that a run makes now.
        self._shown: Shown | None = None

    async def for_run(self, ctx: Any) -> Baler:
        """Returns the instance for one run, in which requests follow each other."""
        return copy.copy(self)

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Runs before each attempt of a request."""
        messages = request_context.messages
        body = {**_frame(request_context), "messages": [describe(message) for message in messages]}
        shown = await run(self._window.show, "anthropic", body, less=request_context.attempt > 1)
        self._shown = shown
        if shown.is_whole:
            return request_context
        sent = applied(shown.native.messages, messages, _inserted, _changed)
        return dataclasses.replace(request_context, messages=sent)

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: ModelResponse) -> ModelResponse:
        """Runs after each answer, also one that was streamed."""
        if self._shown is not None:
            self._shown.note_count(_prompt(response))
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> ModelResponse:
        """Runs when an attempt failed."""
        if request_context.attempt == 1 and says_too_long(str(error)):
            raise RetryModelRequest
        raise error


def _prompt(response: ModelResponse) -> Any:
    """Returns what a provider says of the size of a request. An answer can have the sum of several, and says so."""
    noted = (response.metadata or {}).get("__pydantic_ai__") or {}
    return noted.get("context_input_tokens", response.usage.input_tokens)


def _frame(request_context: Any) -> dict[str, Any]:
    parameters = request_context.model_request_parameters
    tools = [*parameters.function_tools, *parameters.output_tools]
    system = "\n\n".join(part.content for part in getattr(parameters, "instruction_parts", None) or [])
    described = [
        {"name": tool.name, "description": tool.description or "", "input_schema": tool.parameters_json_schema}
        for tool in tools
    ]
    return {"model": request_context.model.model_name, "system": system, "tools": described}


def describe(message: ModelMessage) -> dict[str, Any]:
    """Returns what counts of a message, as one of Anthropic Messages. It is never sent."""
    blocks = [block for block, _ in _parts(message) if block is not None]
    # Results come first, as the format has it.
    blocks.sort(key=lambda block: block["type"] != "tool_result")
    role = "assistant" if isinstance(message, ModelResponse) else "user"
    return {"role": role, "content": blocks or [{"type": "text", "text": "…"}]}


def _parts(message: ModelMessage) -> list[tuple[Block | None, Any]]:
    return [(_block(part), part) for part in message.parts]


def _block(part: Any) -> Block | None:
    match part:
        case ToolReturnPart():
            return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": part.model_response_str()}
        case RetryPromptPart() if part.tool_name is not None:
            text = part.model_response()
            return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": text, "is_error": True}
        case RetryPromptPart():
            return {"type": "text", "text": part.model_response()}
        case ToolCallPart():
            return {"type": "tool_use", "id": part.tool_call_id, "name": part.tool_name, "input": part.args_as_dict()}
        case ThinkingPart() if part.content and part.signature:
            return {"type": "thinking", "thinking": part.content, "signature": part.signature}
        case UserPromptPart() if not isinstance(part.content, str):
            texts = [item for item in part.content if isinstance(item, str)]
            return {"type": "text", "text": "\n".join(texts)} if len(texts) == len(part.content) and texts else None
        case TextPart() | UserPromptPart() | SystemPromptPart() | CompactionPart():
            return {"type": "text", "text": part.content} if part.content else None
        case _:
            return None


def _inserted(message: dict[str, Any]) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(text_of(message))])


def _changed(message: ModelMessage, described: dict[str, Any]) -> ModelMessage:
    parts = rebuilt(_parts(message), described["content"], _with_text, UserPromptPart)
    return dataclasses.replace(message, parts=parts)


def _with_text(part: Any, text: str) -> Any:
    if isinstance(part, RetryPromptPart) and part.tool_name is not None:
        return ToolReturnPart(tool_name=part.tool_name, content=text, tool_call_id=part.tool_call_id)
    return dataclasses.replace(part, content=text)
