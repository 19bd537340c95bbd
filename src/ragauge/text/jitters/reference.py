"""The brief's own jitters, as it words them, for runs that are compared with its figures.

They protect nothing and know English only; no text is lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SPACED = re.compile(r"(?<!\s)[ \t]+([,:])[ \t]*")
_SYNONYMS = {"explain": "describe", "list": "enumerate", "compare": "contrast", "show": "display"}
_KNOWN = re.compile(rf"\b(?:{'|'.join(_SYNONYMS)})\b", re.IGNORECASE)
_CLAUSES = ("with citations, in one sentence", "in one sentence, with citations")


def none(text: str) -> str:
    return text


def ws(text: str) -> str:
    """
    >>> ws("a ,b")
    'a, b'
    """
    return _SPACED.sub(r"\1 ", text)


def punct(text: str) -> str:
    """
    >>> punct("Is A — B ok"), punct("What is X?")
    ('Is A - B ok?', 'What is X ?')
    """
    dashed = text.replace("—", "-").replace("–", "-")
    if dashed.endswith("?"):
        return f"{dashed[:-1].rstrip(' ')} ?"
    return f"{dashed}?" if dashed[-1:].isalnum() else dashed


def syn(text: str) -> str:
    """
    >>> syn("Explain Y.")
    'describe Y.'
    """
    return _KNOWN.sub(lambda found: _SYNONYMS[found[0].lower()], text)


def order(text: str) -> str:
    """
    >>> order("Define X with citations, in one sentence")
    'Define X in one sentence, with citations'
    """
    return text.replace(*_CLAUSES)


REFERENCE: dict[str, Callable[[str], str]] = {
    "none": none,
    "ws": ws,
    "punct": punct,
    "syn": syn,
    "order": order,
}
