"""Conversations for comparing rules, as messages of OpenAI Chat Completions: the project's examples, and generated ones."""

import json
import random
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORDS = "gauge tide lock ferry chart buoy sluice harbour log pilot depth knot drift crane pier".split()


def conversations(generated: int) -> list[tuple[str, list[dict]]]:
    """Returns named conversations that end as a request does: with outputs, or with words of the user."""
    files = sorted((ROOT / "examples/conversations").glob("*.openai.json"))
    examples = [(file.stem, json.loads(file.read_text())["messages"]) for file in files]
    return examples + [(f"generated {seed}", _generated(random.Random(seed))) for seed in range(generated)]


def _generated(chance: random.Random) -> list[dict]:
    messages: list[dict] = []
    if chance.random() < 0.8:
        messages.append({"role": "system", "content": _text(chance, 30)})
    calls = 0
    for turn in range(turns := chance.randint(1, 5)):
        messages.append({"role": "user", "content": _text(chance, chance.randint(3, 60))})
        for _ in range(chance.randint(1, 30)):
            step = []
            for _ in range(chance.choice([1, 1, 1, 2, 3])):
                calls += 1
                function = {"name": chance.choice(["bash", "read", "submit"]), "arguments": json.dumps({"at": _text(chance, 4)})}
                step.append({"id": f"call-{calls}", "type": "function", "function": function})
            text = _text(chance, chance.randint(1, 40)) if chance.random() < 0.5 else None
            messages.append({"role": "assistant", "content": text, "tool_calls": step})
            for call in step:
                output = _text(chance, chance.choice([2, 20, 100, 400, 2_000]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})
        if turn < turns - 1:
            messages.append({"role": "assistant", "content": _text(chance, 30)})
    return messages


def _text(chance: random.Random, words: int) -> str:
    return "".join(chance.choice(WORDS) + chance.choice("   \n") for _ in range(words)).strip()
