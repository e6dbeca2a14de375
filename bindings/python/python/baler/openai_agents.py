"""For the OpenAI Agents SDK (`openai-agents`): a filter of what its models are sent.

```python
config = RunConfig(call_model_input_filter=baler.openai_agents.Filter(context_window=400_000))
await Runner.run(agent, "Fix the build", session=session, run_config=config)
```

Sessions and results keep the whole history. `with_retry` wraps a model so that a request which it refuses as too long is
sent once more, smaller, and so that what it says of the sizes of its requests counts.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import AsyncIterator
from typing import Any, Unpack

from agents import Model
from agents.run_config import CallModelData, ModelInputData

from ._baler import says_too_long, to_json
from ._errors import Error
from ._newest import Newest
from ._view import Shown, Window, WindowOptions, applied_to_dicts
from .aio import run

#: Histories that are remembered, for retries and for what models say of their sizes.
HISTORIES = 16


class Filter:
    """Shows the model a view of the history that fits its context window. Options: `WindowOptions`.

    It remembers the views of the newest conversations. With `previous_response_id` or a conversation of the provider's,
    only new items pass here, which it leaves as they are.
    """

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        self._window = Window(**options)
        #: By the hash of what was sent: the history, and what was shown of it.
        self._sent: Newest[bytes, tuple[Any, Shown]] = Newest(HISTORIES)
        #: Whether answers pass here, too.
        self._sees_answers = False

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
        sent = None if shown.is_whole else applied_to_dicts(shown.native.messages, items)
        if sent is not None or self._sees_answers:
            with contextlib.suppress(Error):
                self._sent.put(_hash(sent or items), (items, shown))
        return sent

    def _smaller(self, frame: dict[str, Any], sent: Any) -> Any:
        """Returns less than was sent, and remembers that for later requests; `None` if nothing can be left out."""
        try:
            items, _ = self._sent.get(_hash(sent)) or (sent, None)
        except Error:
            return None
        return self._shown(frame, items, less=True)

    def _counted(self, sent: Any, answer: Any) -> None:
        """Notes what an answer says of the size of its request."""
        tokens = getattr(getattr(answer, "usage", None), "input_tokens", None)
        if not tokens or not isinstance(sent, list):
            return
        with contextlib.suppress(Error):
            if found := self._sent.get(_hash(sent)):
                found[1].note_count(tokens)

    def with_retry(self, model: Model) -> Model:
        """Wraps a model: a request that it refuses as too long is sent once more, smaller.

        What it says of the sizes of its requests takes the place of baler's estimate.
        """
        self._sees_answers = True
        return _Retrying(model, self)


class _Retrying(Model):
    def __init__(self, inner: Model, filter: Filter) -> None:
        self._inner, self._filter = inner, filter

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await self._answered(system_instructions, input, *args, **kwargs)
        except Exception as error:
            smaller = await self._smaller(error, system_instructions, input)
            if smaller is None:
                raise
        return await self._answered(system_instructions, smaller, *args, **kwargs)

    async def _answered(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        answer = await self._inner.get_response(system_instructions, input, *args, **kwargs)
        self._filter._counted(input, answer)
        return answer

    async def stream_response(
        self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[Any]:
        has_begun = False
        try:
            async for event in self._streamed(system_instructions, input, *args, **kwargs):
                has_begun = True
                yield event
            return
        except Exception as error:
            # What was passed on cannot be taken back.
            smaller = None if has_begun else await self._smaller(error, system_instructions, input)
            if smaller is None:
                raise
        async for event in self._streamed(system_instructions, smaller, *args, **kwargs):
            yield event

    async def _streamed(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        async for event in self._inner.stream_response(system_instructions, input, *args, **kwargs):
            # The last event has the whole answer.
            self._filter._counted(input, getattr(event, "response", None))
            yield event

    async def _smaller(self, error: Exception, instructions: Any, items: Any) -> Any:
        if not says_too_long(str(error)) or not isinstance(items, list):
            return None
        return await run(self._filter._smaller, {"model": "", "instructions": instructions}, items)

    async def close(self) -> None:
        await self._inner.close()


def _hash(items: Any) -> bytes:
    return hashlib.sha256(to_json(items, "").encode()).digest()


def _tools(agent: Any) -> list[dict[str, Any]]:
    functions = (tool for tool in agent.tools if hasattr(tool, "params_json_schema"))
    return [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
        for tool in functions
    ]
