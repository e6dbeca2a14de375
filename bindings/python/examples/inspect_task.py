"""An Inspect task with baler's compaction strategy, and a scripted model."""

import tempfile

import garden
from inspect_ai import Task, eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelAPI, ModelOutput, get_model
from inspect_ai.tool import tool

from baler.inspect_ai import CompactionBaler


@tool
def soil():
    async def execute(bed: int) -> str:
        """Measures the soil of a bed.

        Args:
            bed: The number of the bed.
        """
        return garden.soil(bed)

    return execute


async def count(self, text):
    return len(text) // 4


# Inspect's mock model counts with a vocabulary from the network. Other models need no such line.
ModelAPI.count_text_tokens = count

outputs = [ModelOutput.for_tool_call("mockllm", "soil", {"bed": bed}) for bed in range(garden.BEDS)]
outputs.append(ModelOutput.for_tool_call("mockllm", "submit", {"answer": "All beds are fine."}))
compactions = []
agent = react(tools=[soil()], compaction=CompactionBaler(2_000, on_compaction=compactions.append))
task = Task([Sample(garden.TASK)], solver=agent)
with tempfile.TemporaryDirectory() as folder:
    log = eval(task, model=get_model("mockllm/model", custom_outputs=outputs), display="none", log_dir=folder)[0]
    print(log.samples[0].output.completion)
    print(f"{len(log.samples[0].messages)} messages in the sample; {len(compactions)} compactions")
