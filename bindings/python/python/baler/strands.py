"""A conversation manager for Strands agents (`strands-agents` 1.50 or newer).

```python
agent = Agent(conversation_manager=baler.strands.BalerConversationManager(context_window=200_000))
```

It shortens the agent's own list of messages, before a request to the model and after one that was too long.
"""

from __future__ import annotations

import json
import weakref
from typing import Any, Unpack

from strands.agent.conversation_manager import ConversationManager
from strands.hooks.events import AfterModelCallEvent, BeforeModelCallEvent
from strands.hooks.registry import HookRegistry

from ._blocks import Block, rebuilt, text_of
from ._view import Shown, Window, WindowOptions, applied


class BalerConversationManager(ConversationManager):
    """Keeps an agent's messages within its model's context window. Options: `WindowOptions`."""

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        super().__init__()
        self._window = Window(**options)
        #: What agents ask their models now.
        self._asked: weakref.WeakKeyDictionary[Any, Shown] = weakref.WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Has the messages looked at before each request, also inside of a tool loop."""
        super().register_hooks(registry, **kwargs)
        registry.add_callback(BeforeModelCallEvent, self._ask)
        registry.add_callback(AfterModelCallEvent, self._count)

    def apply_management(self, agent: Any, **kwargs: Any) -> None:
        """Compacts the messages if they are too many."""
        self._reduce(agent)

    def reduce_context(self, agent: Any, e: Exception | None = None, **kwargs: Any) -> None:
        """Compacts the messages after the model refused them as too long. Raises `e` if they cannot become fewer."""
        if self._reduce(agent, less=True).is_whole and e is not None:
            # Strands would try again without end.
            raise e

    def _ask(self, event: BeforeModelCallEvent) -> None:
        self._asked[event.agent] = self._reduce(event.agent)

    def _count(self, event: AfterModelCallEvent) -> None:
        """Notes what the provider counted of a request. After a compaction, that counts from the next one on."""
        shown = self._asked.pop(event.agent, None)
        if shown is None or event.stop_response is None:
            return
        usage = (event.stop_response.message.get("metadata") or {}).get("usage") or {}
        # What came from the cache is in the total, whether the provider counts it as input or not.
        total, answer = usage.get("totalTokens"), usage.get("outputTokens")
        if isinstance(total, int) and isinstance(answer, int):
            shown.note_count(total - answer)

    def _reduce(self, agent: Any, *, less: bool = False) -> Shown:
        messages = agent.messages
        frame = {"model": _name(agent.model), "system": agent.system_prompt or "", "tools": _tools(agent)}
        history = [describe(message) for message in messages]
        shown = self._window.show("anthropic", {**frame, "messages": history}, less=less)
        if not shown.is_whole:
            placed = shown.native.messages
            self.removed_message_count += len(messages) - sum(index is not None for _, index, _ in placed)
            messages[:] = applied(placed, messages, _inserted, _changed)
        return shown


def _inserted(message: dict[str, Any]) -> Any:
    return {"role": message["role"], "content": [{"text": text_of(message)}]}


def describe(message: Any) -> dict[str, Any]:
    """Returns what counts of a message, as one of Anthropic Messages. It is never sent."""
    blocks = [block for block, _ in _parts(message) if block is not None]
    blocks.sort(key=lambda block: block["type"] != "tool_result")
    return {"role": message["role"], "content": blocks or [{"type": "text", "text": "…"}]}


def _parts(message: Any) -> list[tuple[Block | None, Any]]:
    return [(_block(part), part) for part in message["content"]]


def _block(part: Any) -> Block | None:
    match part:
        case {"text": str(text)}:
            return {"type": "text", "text": text} if text else None
        case {"toolUse": call}:
            return {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": call["input"] or {}}
        case {"toolResult": result}:
            texts = [item["text"] if "text" in item else json.dumps(item.get("json")) for item in result["content"]]
            is_error = result.get("status") == "error"
            text = "\n".join(texts)
            return {"type": "tool_result", "tool_use_id": result["toolUseId"], "content": text, "is_error": is_error}
        case {"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}}:
            return {"type": "thinking", "thinking": text, "signature": signature}
        case _:
            return None


def _changed(message: Any, described: dict[str, Any]) -> Any:
    parts = rebuilt(_parts(message), described["content"], _with_text, lambda text: {"text": text})
    return {**message, "content": parts}


def _with_text(part: Any, text: str) -> Any:
    if "toolResult" in part:
        return {"toolResult": {**part["toolResult"], "content": [{"text": text}]}}
    return {**part, "text": text}


def _name(model: Any) -> str:
    """Returns the name of a model, by which providers that bind thinking to earlier messages are known."""
    config = model.get_config() if hasattr(model, "get_config") else None
    name = config.get("model_id") if isinstance(config, dict) else None
    return name if isinstance(name, str) else ""


def _tools(agent: Any) -> list[dict[str, Any]]:
    specs = agent.tool_registry.get_all_tool_specs() if hasattr(agent, "tool_registry") else []
    return [
        {"name": spec["name"], "description": spec["description"], "input_schema": spec["inputSchema"].get("json", {})}
        for spec in specs
    ]
