"""Applies a change of a described message to the parts of a framework's message.

Frameworks whose messages have parts are described as Anthropic Messages, block by block. When a message was changed,
each block of its new form is matched with the part that it describes, so that parts which did not change stay the same
objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

P = TypeVar("P")

#: A block of a described message.
Block = dict[str, Any]

_IDS = {"tool_use": "id", "tool_result": "tool_use_id"}


def rebuilt(
    parts: Sequence[tuple[Block | None, P]],
    blocks: Sequence[Block] | str,
    with_text: Callable[[P, str], P],
    inserted: Callable[[str], P],
) -> list[P]:
    """Returns the parts of a message that was changed.

    `parts`: its parts before, each with its block; without one if nothing of it is described, and then it stays.
    `blocks`: the content of its new form. `with_text` returns a copy of a part with another text; `inserted` makes a
    part of a text that is new.
    """
    if isinstance(blocks, str):
        blocks = [{"type": "text", "text": blocks}]
    left = [(block, part) for block, part in parts if block is not None]
    found: list[P | None] = [_taken(left, block, _is_same) for block in blocks]
    result = [part for block, part in parts if block is None]
    for block, part in zip(blocks, found, strict=True):
        if part is None:
            # Its text is another. One that describes no part was inserted.
            part = _taken(left, block, _is_alike)
            text = text_of(block)
            part = inserted(text) if part is None else with_text(part, text)
        result.append(part)
    return result


def _taken(left: list[tuple[Block, P]], new: Block, is_it: Callable[[Block, Block], bool]) -> P | None:
    for place, (old, part) in enumerate(left):
        if is_it(old, new):
            del left[place]
            return part
    return None


def _is_same(old: Block, new: Block) -> bool:
    return old == new or (_is_alike(old, new) and text_of(old) == text_of(new))


def _is_alike(old: Block, new: Block) -> bool:
    kind = new.get("type")
    return old.get("type") == kind and (kind not in _IDS or old.get(_IDS[kind]) == new.get(_IDS[kind]))


def text_of(block: Block) -> str:
    """Returns the text of a block: that of a text, or of a tool result."""
    text = block.get("text", block.get("content", ""))
    if isinstance(text, list):
        return "".join(part.get("text", "") for part in text)
    return text if isinstance(text, str) else ""
