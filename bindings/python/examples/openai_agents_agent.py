"""An agent of the OpenAI Agents SDK with baler's filter, and a scripted model."""

from agents import Agent, ModelResponse, Runner, Usage, function_tool
from agents.models.interface import Model
from agents.run_config import RunConfig
from agents.testing import assistant_message, function_call
from garden import TASK, next_bed, soil

from baler.openai_agents import Filter

sizes = []


class Scripted(Model):
    """Stands for a model such as `"gpt-5-mini"`."""

    async def get_response(self, system_instructions, input, *args, **kwargs):
        sizes.append(len(input))
        bed = next_bed([int(item["call_id"]) for item in input if item.get("type") == "function_call_output"])
        answer = (
            assistant_message("All beds are fine.")
            if bed is None
            else function_call("soil", {"bed": bed}, call_id=str(bed))
        )
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


filter = Filter(context_window=2_000)
agent = Agent(name="gardener", tools=[function_tool(soil)], model=filter.with_retry(Scripted()))
config = RunConfig(call_model_input_filter=filter, tracing_disabled=True)
result = Runner.run_sync(agent, TASK, run_config=config, max_turns=100)

print(result.final_output)
print(f"{len(result.to_input_list())} items in the result; the longest request had {max(sizes)}")
