"""A host of the tests' own, and a small conversation."""

import json
from pathlib import Path

import pytest

import baler

CONVERSATIONS = Path(__file__).parents[3] / "examples/conversations"


@pytest.fixture(scope="session")
def state(tmp_path_factory) -> Path:
    """A state folder that all tests share, so that each strategy is compiled once."""
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="session")
def host(state) -> baler.Host:
    return baler.Host(state=state)


@pytest.fixture
def body() -> dict:
    """The conversation of an agent that fixes a bug, in the form of OpenAI Chat Completions."""
    return json.loads((CONVERSATIONS / "fix-a-bug.openai.json").read_text())


@pytest.fixture
def raw() -> bytes:
    return (CONVERSATIONS / "fix-a-bug.openai.json").read_bytes()
