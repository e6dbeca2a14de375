"""For the OpenAI Agents SDK (`openai-agents`): a filter of what its models are sent.

```python
config = RunConfig(call_model_input_filter=baler.openai_agents.Filter(context_window=400_000))
await Runner.run(agent, "Fix the build", session=session, run_config=config)
```

Sessions and results keep the whole history. `with_retry` wraps a model so that a request which it refuses as too long is
sent once more, smaller.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator
from typing import Any, Unpack

from agents import Model
from agents.run_config import CallModelData, ModelInputData

from ._baler import says_too_long, to_json
from ._errors import Error
from ._view import Window, WindowOptions, applied_to_dicts
from .aio import run

#: Histories of which views were shown that are remembered, for retries.
HISTORIES = 16


class Filter:
    """Shows the model a view of the history that fits its context window. Options: `WindowOptions`.

    It remembers the views of the newest conversations. With `previous_response_id` or a conversation of the provider's,
    only new items pass here, which it leaves as they are.
    """

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        self._window = Window(**options)
        #: The histories of which views were shown last, by what was shown.
        self._histories: OrderedDict[str, Any] = OrderedDict()

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Runs before each call of a model."""
        given = data.model_data
        model = data.agent.model if isinstance(data.agent.model, str) else ""
        frame = {"model": model, "instructions": given.instructions, "tools": _tools(data.agent)}
        shown = await run(self._shown, frame, given.input)
        return ModelInputData(input=given.input if shown is None else shown, instructions=given.instructions)

    def _shown(self, frame: dict[str, Any], items: Any, *, less: bool = False) -> Any:
        """Returns the items to send, as `Window.show`. Those that are shown as they are stay the same objects."""
        shown = self._window.show("openai-responses", {**frame, "input": items}, less=less)
        if shown.is_whole:
            return None
        sent = applied_to_dicts(shown.native.messages, items)
        self._histories[to_json(sent, "")] = items
        while len(self._histories) > HISTORIES:
            self._histories.popitem(last=False)
        return sent

    def _smaller(self, frame: dict[str, Any], sent: Any) -> Any:
        """Returns less than was sent, and remembers that for later requests; `None` if nothing can be left out."""
        try:
            items = self._histories.get(to_json(sent, ""), sent)
        except Error:
            return None
        return self._shown(frame, items, less=True)

    def with_retry(self, model: Model) -> Model:
        """Wraps a model: a request that it refuses as too long is sent once more, smaller."""
        return _Retrying(model, self)


class _Retrying(Model):
    def __init__(self, inner: Model, filter: Filter) -> None:
        self._inner, self._filter = inner, filter

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await self._inner.get_response(system_instructions, input, *args, **kwargs)
        except Exception as error:
            smaller = await self._smaller(error, system_instructions, input)
            if smaller is None:
                raise
        return await self._inner.get_response(system_instructions, smaller, *args, **kwargs)

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        has_begun = False
        try:
            async for event in self._inner.stream_response(system_instructions, input, *args, **kwargs):
                has_begun = True
                yield event
            return
        except Exception as error:
            # What was passed on cannot be taken back.
            smaller = None if has_begun else await self._smaller(error, system_instructions, input)
            if smaller is None:
                raise
        async for event in self._inner.stream_response(system_instructions, smaller, *args, **kwargs):
            yield event

    async def _smaller(self, error: Exception, instructions: Any, items: Any) -> Any:
        if not says_too_long(str(error)) or not isinstance(items, list):
            return None
        return await run(self._filter._smaller, {"model": "", "instructions": instructions}, items)

    async def close(self) -> None:
        await self._inner.close()


def _tools(agent: Any) -> list[dict[str, Any]]:
    functions = (tool for tool in agent.tools if hasattr(tool, "params_json_schema"))
    return [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
        for tool in functions
    ]
