"""Chance without a state: what falls to a question depends on its words and on nothing before."""

from __future__ import annotations

import hashlib

_ALL = 2**64


def chance(*of: object) -> float:
    """A number from 0 up to 1 that is always the same for the same things.

    >>> chance("failing", "who", 3) == chance("failing", "who", 3) != chance("failing", "who", 4)
    True
    """
    text = "\\x1f".join(map(str, of)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") / _ALL
