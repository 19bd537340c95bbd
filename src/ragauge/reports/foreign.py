"""Foreign text on its way to a reader: qids, claims, ids, paths, messages."""

from __future__ import annotations

import re

from ragauge.text.visible import visible

# What no UTF-8 file or no XML 1.0 document may hold: a path can bring the former.
_UNWRITABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")

# A CI server obeys lines of a log: GitHub `::name` at a line's start and `##[name]` anywhere,
# Azure `##vso[…]`, TeamCity `##teamcity[…]`. A model must not be able to speak to it.
_LOG_COMMAND = re.compile(r"(?<!\S):(?=:[A-Za-z])|#(?=#\w*\[)")


def shown(text: str, most: int | None = None) -> str:
    r"""The text on one line, with nothing in it that a terminal or a CI log would obey.

    >>> shown("one\n::add-mask::two \x1b[1m")
    'one \\x3a:add-mask::two \\x1b[1m'
    """
    safe = _LOG_COMMAND.sub(lambda found: f"\\x{ord(found[0]):02x}", flat(text))
    return safe if most is None else cut(safe, most)


def flat(text: str) -> str:
    """The text on one line, with what is unseen or unwritable spelled out."""
    return readable(" ".join(text.split()))


def readable(text: str) -> str:
    """The text, lines and all, with what is unseen or unwritable spelled out."""
    return writable(visible(text))


def cut(text: str, most: int) -> str:
    """
    >>> cut("a long story", 7)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def writable(text: str) -> str:
    """The text with what cannot be written as UTF-8 or XML spelled out."""
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
