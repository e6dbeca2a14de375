"""The examples of the pages run as they are."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

NEEDS = {
    "agent_framework_agent.py": "agent_framework",
    "clients.py": "openai",
    "google_adk_agent.py": "google.adk",
    "inspect_task.py": "inspect_ai",
    "langchain_agent.py": "langchain",
    "litellm_router.py": "litellm",
    "loop.py": "baler",
    "openai_agents_agent.py": "agents",
    "pydantic_ai_agent.py": "pydantic_ai",
    "strands_agent.py": "strands",
}


def test_every_example_is_run():
    assert {file.name for file in EXAMPLES.glob("*.py")} == {*NEEDS, "garden.py"}


@pytest.mark.parametrize("name", NEEDS)
def test_an_example_runs(name, state):
    try:
        is_installed = importlib.util.find_spec(NEEDS[name]) is not None
    except ModuleNotFoundError:
        is_installed = False
    if not is_installed:
        pytest.skip(f"{NEEDS[name]} is not installed")
    environment = {**os.environ, "BALER_STATE": str(state), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    ended = subprocess.run(
        [sys.executable, name], cwd=EXAMPLES, env=environment, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    lines = ended.stdout.strip().splitlines()
    answer = lines.index("All beds are fine.")
    # Without compaction the longest request has 121 messages. What Pydantic AI's scripted model says of its usage is low.
    numbers = [int(number) for number in re.findall(r"\d+", lines[answer + 1])]
    assert min(numbers) < 80, ended.stdout
