"""A Strands agent with baler's conversation manager, and a scripted model."""

from garden import TASK, next_bed, soil
from strands import Agent, tool
from strands.models import Model

from baler.strands import BalerConversationManager

sizes = []


class Scripted(Model):
    """Stands for a model of Bedrock's or another provider's."""

    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, messages, tool_specs=None, system_prompt=None, **kwargs):
        sizes.append(len(messages))
        results = [part["toolResult"] for message in messages for part in message["content"] if "toolResult" in part]
        bed = next_bed([int(result["toolUseId"]) for result in results])
        yield {"messageStart": {"role": "assistant"}}
        if bed is None:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "All beds are fine."}}}
        else:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": str(bed), "name": "soil"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"bed": {bed}}}'}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if bed is None else "tool_use"}}


manager = BalerConversationManager(context_window=2_000)
agent = Agent(model=Scripted(), tools=[tool(soil)], conversation_manager=manager, callback_handler=None)
print(str(agent(TASK)).strip())
print(f"{len(sizes)} requests, of which the longest had {max(sizes)} messages")
