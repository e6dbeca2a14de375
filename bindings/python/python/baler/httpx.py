"""Compacts the requests of clients that use `httpx`, whatever framework calls them.

```python
import httpx
from baler.httpx import Transport

client = openai.OpenAI(http_client=httpx.Client(transport=Transport(context_window=128_000)))
```
"""

import httpx

from ._transport import transports

Transport, AsyncTransport = transports(httpx)

__all__ = ["AsyncTransport", "Transport"]
