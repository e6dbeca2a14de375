"""LiteLLM's router with baler's hook, and a provider in this process."""

import asyncio

import litellm
from garden import TASK, next_bed, soil

from baler.litellm import BalerLogger

sizes = []


class Garden(litellm.CustomLLM):
    """Stands for a provider."""

    async def acompletion(self, *args, messages, model_response, **kwargs):
        sizes.append(len(messages))
        bed = next_bed([int(message["tool_call_id"]) for message in messages if message["role"] == "tool"])
        message = litellm.Message(content="All beds are fine." if bed is None else None)
        if bed is not None:
            function = {"name": "soil", "arguments": f'{{"bed": {bed}}}'}
            message = litellm.Message(
                content=None, tool_calls=[{"id": str(bed), "type": "function", "function": function}]
            )
        model_response.choices[0].message = message
        return model_response


litellm.custom_provider_map = [{"provider": "garden", "custom_handler": Garden()}]
litellm.callbacks = [BalerLogger(context_window=2_000)]


async def main():
    router = litellm.Router(
        model_list=[{"model_name": "m", "litellm_params": {"model": "garden/m", "api_key": "none"}}]
    )
    messages: list = [{"role": "user", "content": TASK}]
    while True:
        message = (await router.acompletion(model="m", messages=messages)).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": soil(int(call.id))})
    print(message.content)
    print(f"{len(messages)} messages; the longest request had {max(sizes)}")


asyncio.run(main())
