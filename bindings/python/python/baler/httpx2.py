"""Compacts the requests of clients that use `httpx2`, whatever framework calls them.

```python
import httpx2
from baler.httpx2 import Transport

client = openai.OpenAI(http_client=httpx2.Client(transport=Transport(context_window=128_000)))
```
"""

import httpx2

from ._transport import transports

Transport, AsyncTransport = transports(httpx2)

__all__ = ["AsyncTransport", "Transport"]
