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

_TEXTS = ("text", "tool_result", "tool_use")

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
    left = [(place, block, part) for place, (block, part) in enumerate(parts) if block is not None]
    found = [_taken(left, block, _is_same) for block in blocks]
    # Parts have the order that they had, with those that are not described where they were.
    placed: list[tuple[float, P]] = [(place, part) for place, (block, part) in enumerate(parts) if block is None]
    last = -1.0
    for block, taken in zip(blocks, found, strict=True):
        if taken is not None:
            last, part = taken
        else:
            # Its text is another. One that describes no part was inserted.
            taken = _taken(left, block, _is_alike)
            text = text_of(block)
            if taken is None:
                last, part = last + 0.01, inserted(text)
            else:
                last, part = taken[0], with_text(taken[1], text)
        placed.append((last, part))
    return [part for _, part in sorted(placed, key=lambda one: one[0])]


def _taken(
    left: list[tuple[int, Block, P]], new: Block, is_it: Callable[[Block, Block], bool]
) -> tuple[float, P] | None:
    for index, (place, old, part) in enumerate(left):
        if is_it(old, new):
            del left[index]
            return float(place), part
    return None


def _is_same(old: Block, new: Block) -> bool:
    # What has no text, such as thinking, is the same only if all of it is.
    return old == new or (new.get("type") in _TEXTS and _is_alike(old, new) and text_of(old) == text_of(new))


def _is_alike(old: Block, new: Block) -> bool:
    kind = new.get("type")
    return old.get("type") == kind and (kind not in _IDS or old.get(_IDS[kind]) == new.get(_IDS[kind]))


def text_of(block: Block) -> str:
    """Returns the text of a block (a text, or a tool result) or of a whole described message."""
    text = block.get("text", block.get("content", ""))
    if isinstance(text, list):
        return "".join(part.get("text", "") for part in text)
    return text if isinstance(text, str) else ""
