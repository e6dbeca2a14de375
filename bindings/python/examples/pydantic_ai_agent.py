"""A Pydantic AI agent with baler's capability, and a scripted model."""

from garden import TASK, next_bed, soil
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import UsageLimits

from baler.pydantic_ai import Baler

sizes = []


def scripted(messages, info):
    """Stands for a model such as `"anthropic:claude-sonnet-5-5"`."""
    sizes.append(len(messages))
    returns = [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]
    bed = next_bed([int(part.tool_call_id) for part in returns])
    part = TextPart("All beds are fine.") if bed is None else ToolCallPart("soil", {"bed": bed}, tool_call_id=str(bed))
    return ModelResponse(parts=[part])


agent = Agent(FunctionModel(scripted), tools=[soil], capabilities=[Baler(context_window=2_000)])
result = agent.run_sync(TASK, usage_limits=UsageLimits(request_limit=100))

print(result.output)
print(f"{len(result.all_messages())} messages in the result; the longest request had {max(sizes)}")
