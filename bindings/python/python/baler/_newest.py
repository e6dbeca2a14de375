"""What is remembered of requests until their answers come."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Newest(Generic[K, V]):
    """The values that were put last, by what names them. Safe to use from many threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[K, V] = {}
        self._lock = threading.Lock()

    def put(self, key: K, value: V) -> None:
        """Remembers a value, and forgets the oldest one if there are too many."""
        with self._lock:
            self._values.pop(key, None)
            self._values[key] = value
            if len(self._values) > self._most:
                del self._values[next(iter(self._values))]

    def get(self, key: K) -> V | None:
        """Returns a value; `None` if it was never put, or is forgotten."""
        with self._lock:
            return self._values.get(key)

    def pop(self, key: K) -> V | None:
        """Returns a value, and forgets it."""
        with self._lock:
            return self._values.pop(key, None)
