"""A cache of values computed from texts, limited by the characters of the texts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SizedLRU(Generic[Key, Value]):
    """A cache that drops the least recently used values beyond a number of characters.

    The newest value stays even if it alone is longer: it is about to be used again.

    >>> kept: SizedLRU[str, str] = SizedLRU(most_chars=6)
    >>> for name in ("one", "two", "three"):
    ...     kept.keep(name, name.upper(), chars=len(name))
    >>> kept.get("one"), kept.get("three")
    (None, 'THREE')
    """

    def __init__(self, most_chars: int) -> None:
        self._most_chars, self._chars = most_chars, 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Key, value: Value, chars: int, *, if_room: bool = False) -> None:
        """Keep a value; with `if_room`, only if nothing else has to be dropped for it.

        A caller that repeatedly reads more than fits then keeps the beginning. Otherwise each
        pass would leave only its end, and the next one would find nothing.
        """
        with self._lock:
            if key in self._kept or (if_room and self._chars + chars > self._most_chars):
                return
            self._kept[key] = (value, chars)
            self._chars += chars
            while self._chars > self._most_chars and len(self._kept) > 1:
                self._chars -= self._kept.popitem(last=False)[1][1]
