"""A hook for LiteLLM: its proxy, its router, and its asynchronous functions (`litellm` 1.90 or newer).

```python
litellm.callbacks = [baler.litellm.BalerLogger(context_window=200_000)]
```

For the proxy, name an instance in `callbacks` of its config. Synchronous `litellm.completion` has no hook that may
change a request: use `baler.compact` there.
"""

from __future__ import annotations

from typing import Any, Unpack

from litellm.integrations.custom_logger import CustomLogger

from ._newest import Newest
from ._view import Shown, Window, WindowOptions, applied_to_dicts
from .aio import run

#: Calls whose messages are compacted.
CALLS = frozenset({"completion", "acompletion", "text_completion", "anthropic_messages"})

#: What is shown in the calls that run, by both hooks of the proxy. LiteLLM tells only one of several loggers of an answer.
_shown: Newest[Any, list[Shown]] = Newest(256)


class BalerLogger(CustomLogger):
    """Compacts the messages of requests. Options: `WindowOptions`."""

    def __init__(self, **options: Unpack[WindowOptions]) -> None:
        super().__init__()
        self._window = Window(**options)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> Any:
        """Runs in the proxy, before a request is routed."""
        return await run(self._compacted, data, call_type)

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any]:
        """Runs in the router and in `acompletion`, once a deployment is chosen."""
        return await run(self._compacted, kwargs, call_type)

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, *times: Any, **others: Any
    ) -> None:
        """Runs after each answer, also one that was streamed."""
        tokens = getattr(getattr(response_obj, "usage", None), "prompt_tokens", None)
        for shown in _shown.pop(kwargs.get("litellm_call_id")) or ():
            shown.note_count(tokens)

    async def async_log_failure_event(self, kwargs: dict[str, Any], *_: Any, **others: Any) -> None:
        """Runs after each failure."""
        _shown.pop(kwargs.get("litellm_call_id"))

    def _compacted(self, request: dict[str, Any], call_type: Any) -> dict[str, Any]:
        messages = request.get("messages")
        kind = getattr(call_type, "value", call_type)
        if kind not in CALLS or not isinstance(messages, list):
            return request
        format = "anthropic" if kind == "anthropic_messages" else "openai-chat"
        frame = {name: request[name] for name in ("model", "tools", "system") if request.get(name)}
        shown = self._window.show(format, {**frame, "messages": messages})
        if call := request.get("litellm_call_id"):
            _shown.put(call, [*(_shown.get(call) or ()), shown])
        if shown.is_whole:
            return request
        return {**request, "messages": applied_to_dicts(shown.native.messages, messages)}
