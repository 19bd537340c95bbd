"""What was made of texts, kept while it is used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


class Recent(Generic[Key, Made]):
    """What was used lately, up to a number of characters; the longest unused goes first.

    The newest stays even where it alone is longer than that: it is about to be used again.

    >>> kept: Recent[str, str] = Recent(most_chars=6)
    >>> for name in ("one", "two", "three"):
    ...     kept.keep(name, name.upper(), chars=len(name))
    >>> kept.get("one"), kept.get("three")
    (None, 'THREE')
    """

    def __init__(self, most_chars: int) -> None:
        self._most_chars, self._chars = most_chars, 0
        self._kept: OrderedDict[Key, tuple[Made, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Made | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def keep(self, key: Key, made: Made, chars: int, *, if_room: bool = False) -> None:
        """Keep it; with `if_room` only where nothing else has to go for it.

        Whoever walks through more than there is room for keeps the beginning so, and not, after
        each walk, only the end.
        """
        with self._lock:
            if key in self._kept or (if_room and self._chars + chars > self._most_chars):
                return
            self._kept[key] = (made, chars)
            self._chars += chars
            while self._chars > self._most_chars and len(self._kept) > 1:
                self._chars -= self._kept.popitem(last=False)[1][1]
