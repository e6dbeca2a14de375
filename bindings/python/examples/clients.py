"""The `openai` client with a transport that compacts its requests. A server in this process answers them."""

import json

import httpx2
import openai
from garden import TASK, next_bed, soil

from baler.httpx2 import Transport

sizes = []


def server(request: httpx2.Request) -> httpx2.Response:
    """Stands for the provider."""
    messages = json.loads(request.content)["messages"]
    sizes.append(len(messages))
    bed = next_bed([int(message["tool_call_id"]) for message in messages if message["role"] == "tool"])
    if bed is None:
        message = {"role": "assistant", "content": "All beds are fine."}
    else:
        function = {"name": "soil", "arguments": f'{{"bed": {bed}}}'}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": str(bed), "type": "function", "function": function}],
        }
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return httpx2.Response(
        200, json={"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )


# For the real provider, leave out the first argument.
transport = Transport(httpx2.MockTransport(server), context_window=2_000)
client = openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=transport))

messages: list = [{"role": "user", "content": TASK}]
while True:
    message = client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message
    messages.append(message)
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        messages.append(
            {"role": "tool", "tool_call_id": call.id, "content": soil(**json.loads(call.function.arguments))}
        )

print(message.content)
print(f"{len(messages)} messages; the longest request had {max(sizes)}")
