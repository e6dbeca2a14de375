"""An agent of Microsoft's Agent Framework with baler's strategy, and a scripted client."""

import asyncio

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message, tool
from garden import TASK, next_bed, soil

from baler.agent_framework import BalerStrategy

sizes = []


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """Stands for a client such as `OpenAIChatClient()`."""

    def _inner_get_response(self, *, messages, options, stream=False, **kwargs):
        async def answer():
            sizes.append(len(messages))
            results = [
                content for message in messages for content in message.contents if content.type == "function_result"
            ]
            bed = next_bed([int(result.call_id) for result in results])
            if bed is None:
                return ChatResponse(messages=[Message("assistant", ["All beds are fine."])])
            call = Content.from_function_call(str(bed), "soil", arguments={"bed": bed})
            return ChatResponse(messages=[Message("assistant", [call])])

        return answer()


client = Scripted()
client.function_invocation_configuration["max_iterations"] = 100
agent = Agent(client, tools=[tool(soil)], compaction_strategy=BalerStrategy(context_window=2_000))
print(asyncio.run(agent.run(TASK)).text)
print(f"{len(sizes)} requests, of which the longest had {max(sizes)} messages")
