"""A compaction strategy for Inspect (`inspect_ai` 0.3.270 or newer).

```python
agent = react(compaction=baler.inspect_ai.CompactionBaler())
```

The sample's history keeps all messages.
"""

from __future__ import annotations

import json
from typing import Any, Unpack

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    CompactionStrategy,
    Model,
)
from inspect_ai.tool import ToolInfo

from ._blocks import text_of
from ._view import Window, WindowOptions, applied
from .aio import run


class CompactionBaler(CompactionStrategy):
    """Compacts what the model is sent once it is over `threshold`.

    `threshold`: tokens, or a share of the model's context window. `budget`: tokens of the result; default: half of what
    there is. Other options: `WindowOptions`.
    """

    def __init__(
        self, threshold: int | float = 0.9, *, budget: int | None = None, **options: Unpack[WindowOptions]
    ) -> None:
        super().__init__(type="edit", threshold=threshold, memory=False)
        self._budget = budget
        # Inspect decides when.
        self._window = Window(**{**options, "at": options.get("at", 2)})

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Returns what to send, and no message for the history."""
        return await run(self._compacted, model.name, messages, tools), None

    def _compacted(self, name: str, messages: list[ChatMessage], tools: list[ToolInfo]) -> list[ChatMessage]:
        history = [describe(message) for message in messages]
        described = [
            {"type": "function", "function": tool.model_dump(mode="json", exclude_none=True)} for tool in tools
        ]
        body = {"model": name, "tools": described, "messages": history}
        shown = self._window.compact("openai-chat", body, self._budget or 0.5)._native.messages
        return applied(shown, messages, lambda message: ChatMessageUser(content=text_of(message)), _changed)


def describe(message: ChatMessage) -> dict[str, Any]:
    """Returns what counts of a message, as one of OpenAI Chat Completions. It is never sent."""
    match message:
        case ChatMessageSystem():
            return {"role": "system", "content": message.text}
        case ChatMessageTool():
            text = message.error.message if message.error else message.text
            return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": text}
        case ChatMessageAssistant():
            described: dict[str, Any] = {"role": "assistant", "content": message.text or None}
            if message.tool_calls:
                described["tool_calls"] = [_call(call) for call in message.tool_calls]
            elif not message.text:
                described["content"] = "…"
            return described
        case _:
            return {"role": "user", "content": message.text or "…"}


def _call(call: Any) -> dict[str, Any]:
    function = {"name": call.function, "arguments": json.dumps(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _changed(message: ChatMessage, described: dict[str, Any]) -> ChatMessage:
    update: dict[str, Any] = {"content": text_of(described)}
    if isinstance(message, ChatMessageTool):
        update["error"] = None
    return message.model_copy(update=update)
