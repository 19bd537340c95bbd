"""Foreign text made safe to show: ids, claims, paths and messages."""

from __future__ import annotations

import re

# Control characters, marks that reorder or hide text, and halves of characters.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet reads a cell that begins so as a formula; full-width ones in some locales."""


def visible(text: str) -> str:
    """The text with control and direction characters spelled out, so that they have no effect.

    >>> visible("red \\x1b[31mhat")
    'red \\\\x1b[31mhat'
    """
    return _INVISIBLE.sub(_escape, text)


def one_line(text: str, width: int) -> str:
    """The text on one line, cut to a width with an ellipsis.

    >>> one_line("a  long\\nstory", 7)
    'a long…'
    """
    return cut(flat(text), width)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


# What a UTF-8 file or an XML 1.0 document must not contain; a path can contain the former.
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
    """The text on one line, with invisible and unwritable characters spelled out."""
    return readable(" ".join(text.split()))


def readable(text: str) -> str:
    """The text with its lines, with invisible and unwritable characters spelled out."""
    return writable(visible(text))


def cut(text: str, most: int) -> str:
    """The text, cut to a width with an ellipsis.

    >>> cut("a long story", 7)
    'a long…'
    """
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def writable(text: str) -> str:
    """The text with what cannot be written as UTF-8 or XML spelled out."""
    return _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
