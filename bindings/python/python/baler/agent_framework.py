"""A compaction strategy for Microsoft's Agent Framework (`agent-framework-core` 1.15 or newer).

```python
agent = Agent(client, compaction_strategy=baler.agent_framework.BalerStrategy(context_window=400_000))
```

Messages that are not shown are excluded, not deleted; shortened ones are replaced by copies.
"""

from __future__ import annotations

import copy
import json
from typing import Any, Unpack

from agent_framework import Content, Message
from agent_framework._compaction import set_excluded

from ._blocks import Block, rebuilt, text_of
from ._view import Window, WindowOptions
from .aio import run

#: The reason of an exclusion.
REASON = "baler"


class BalerStrategy:
    """Compacts what an agent's client is sent. Options: `WindowOptions`.

    Instructions and tools are not part of the messages that the framework hands over: leave room for them in `at`.
    """

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        self._window = Window(**options)

    async def __call__(self, messages: list[Message]) -> bool:
        """Changes the list in place; returns whether it did."""
        return await run(self._compact, messages)

    def _compact(self, messages: list[Message]) -> bool:
        included = [place for place, message in enumerate(messages) if not _is_excluded(message)]
        history = [describe(messages[place]) for place in included]
        shown = self._window.show("anthropic", {"model": "", "messages": history})
        if shown.is_whole:
            return False
        placed = shown.native.messages
        kept = {index for _, index, _ in placed}
        changed: list[Message] = []
        before = 0
        for _, index, text in placed:
            described = json.loads(text or "{}")
            if index is None:
                changed.append(Message("user", [text_of(described)]))
                continue
            # Excluded messages stay where they are.
            place = included[index]
            changed.extend(messages[before:place])
            before = place + 1
            changed.append(_changed(messages[place], described) if described else messages[place])
        changed.extend(messages[before:])
        for index, place in enumerate(included):
            if index not in kept:
                set_excluded(messages[place], excluded=True, reason=REASON)
        messages[:] = changed
        return True


def _is_excluded(message: Message) -> bool:
    return bool(message.additional_properties.get("_excluded", False))


def describe(message: Message) -> dict[str, Any]:
    """Returns what counts of a message, as one of Anthropic Messages. It is never sent."""
    blocks = [block for block, _ in _parts(message) if block is not None]
    role = message.role if message.role in ("assistant", "system") else "user"
    return {"role": role, "content": blocks or [{"type": "text", "text": "…"}]}


def _parts(message: Message) -> list[tuple[Block | None, Content]]:
    return [(_block(content), content) for content in message.contents]


def _block(content: Content) -> Block | None:
    match content.type:
        case "text":
            return {"type": "text", "text": content.text} if content.text else None
        case "function_call":
            arguments = content.parse_arguments() or {}
            return {"type": "tool_use", "id": content.call_id, "name": content.name, "input": arguments}
        case "function_result":
            return {"type": "tool_result", "tool_use_id": content.call_id, "content": str(content.result)}
        case _:
            return None


def _changed(message: Message, described: dict[str, Any]) -> Message:
    other = copy.copy(message)
    other.additional_properties = dict(message.additional_properties)
    other.contents = rebuilt(_parts(message), described["content"], _with_text, Content.from_text)
    return other


def _with_text(content: Content, text: str) -> Content:
    if content.type == "function_result":
        assert content.call_id is not None
        return Content.from_function_result(content.call_id, result=text)
    return Content.from_text(text)
