"""Foreign text made safe to show."""

from __future__ import annotations

import re

# Control characters, the marks that reorder or hide what a reader sees, and halves of characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet takes a cell that begins so for a formula; full-width ones in some locales."""


def visible(text: str) -> str:
    """The text with control and direction characters spelled out, so that none takes effect.

    >>> visible("red \\x1b[31mhat")
    'red \\\\x1b[31mhat'
    """
    return _UNSEEN.sub(_spelled, text)


def one_line(text: str, width: int) -> str:
    """The text on one line, cut to a width with an ellipsis.

    >>> one_line("a  long\\nstory", 7)
    'a long…'
    """
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= width else flat[: width - 1].rstrip() + "…"


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
