"""Fits an AI agent's conversation into its model's context window.

```python
import baler

result = baler.compact(messages, budget=100_000)    # what OpenAI, Anthropic and Gemini take
messages = result.messages                          # kept messages are the same objects
```

A *strategy* decides what to keep: one that ships with baler, a `.wasm` file of anybody in a sandbox, or a Python
callable. Whatever it does, the result is a conversation that the provider accepts, or the same conversation with the
reason. Removed content is archived first, so that `Compaction.undo` restores it.

- `compact`, `should_compact`, `validate`, `repair`, `count`, `introspect`: for one conversation at a time. Their options:
  `CompactOptions`, `ReadOptions`.
- `Compactor`: for the loop of an agent. Its options: `CompactorOptions`. Those of transports and adapters:
  `WindowOptions`.
- `Host`: the archive, a model, a `baler.toml`, the state folder.
- `Strategy`: a strategy with its config and limits.
- `baler.aio`: the same for asyncio and trio.
"""

import importlib
from typing import Any

from ._baler import strategies as _strategies
from ._baler import version as _version
from ._compaction import (
    Change,
    Compaction,
    Repaired,
    Validation,
    Violation,
    compact,
    count,
    introspect,
    repair,
    should_compact,
    validate,
)
from ._compactor import Compactor, CompactorOptions, Step
from ._errors import (
    ArchiveError,
    CancelledError,
    ConfigError,
    ConversationError,
    Error,
    HostError,
    OptionError,
    StrategyError,
)
from ._host import Host, ModelRequest
from ._options import CompactOptions, ReadOptions
from ._strategy import Strategy
from ._view import WindowOptions

__version__: str = _version()


def strategies() -> list[str]:
    """Returns the names of the strategies that ship with baler."""
    return [name for name, _ in _strategies()]


#: Modules that are loaded when they are first used: most need another package.
_LAZY = frozenset(
    {
        "agent_framework",
        "aio",
        "anthropic",
        "google_adk",
        "httpx",
        "httpx2",
        "inspect_ai",
        "langchain",
        "litellm",
        "openai_agents",
        "pydantic_ai",
        "ray",
        "strands",
    }
)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"baler.{name}")
    raise AttributeError(f"module 'baler' has no attribute {name!r}")


__all__ = [
    "ArchiveError",
    "CancelledError",
    "Change",
    "CompactOptions",
    "Compaction",
    "Compactor",
    "CompactorOptions",
    "ConfigError",
    "ConversationError",
    "Error",
    "Host",
    "HostError",
    "ModelRequest",
    "OptionError",
    "ReadOptions",
    "Repaired",
    "Step",
    "Strategy",
    "StrategyError",
    "Validation",
    "Violation",
    "WindowOptions",
    "compact",
    "count",
    "introspect",
    "repair",
    "should_compact",
    "strategies",
    "validate",
]
