"""An agent's loop without a framework, with a model that is a function."""

from garden import TASK, next_bed, soil

import baler


def model(messages: list[dict]) -> dict:
    """Stands for a provider: looks at one bed after the other."""
    seen = [int(message["tool_call_id"]) for message in messages if message["role"] == "tool"]
    bed = next_bed(seen)
    if bed is None:
        return {"role": "assistant", "content": "All beds are fine."}
    call = {"id": str(bed), "type": "function", "function": {"name": "soil", "arguments": f'{{"bed": {bed}}}'}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


compactor = baler.Compactor([{"role": "user", "content": TASK}], context_window=2_000)
while True:
    compactor.step()  # before each request
    answer = model(compactor.messages)
    compactor.append(answer)
    if not answer.get("tool_calls"):
        break
    for call in answer["tool_calls"]:
        compactor.append({"role": "tool", "tool_call_id": call["id"], "content": soil(int(call["id"]))})

print(answer["content"])
print(f"{len(compactor.history)} messages, of which the model saw {len(compactor.messages)} in the end")
print(f"{compactor.compactions} compactions, {compactor.tokens} tokens")
