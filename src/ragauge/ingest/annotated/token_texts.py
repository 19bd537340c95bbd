"""Tokens and the text they make: laid out as a text, and found in one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ragauge.contracts.entities import Fragment
from ragauge.ingest.fields import quoted


def laid(tokens: Iterable[tuple[str, str]]) -> tuple[str, tuple[Fragment, ...]]:
    """A text of tokens, each with what stands after it, and the places of the tokens.

    What follows the last token is left out.

    >>> laid([("Rijksmuseum", ""), (",", " "), ("Ede", " ")])
    ('Rijksmuseum, Ede', ((0, 11), (11, 12), (13, 16)))
    """
    parts: list[str] = []
    places: list[Fragment] = []
    at = 0
    for token, after in tokens:
        places.append((at, at + len(token)))
        parts += (token, after)
        at += len(token) + len(after)
    return "".join(parts[:-1]), tuple(places)


def places_in(text: str, tokens: Sequence[str]) -> tuple[tuple[Fragment, ...] | None, str | None]:
    """Where each token stands in a text, in their order, and the first thing that is amiss.

    Text that no token covers is amiss, and the places stand; there are none where a token is not
    found.

    >>> places_in("de  Ede, Ede", ["de", "Ede", ",", "Ede"])
    (((0, 2), (4, 7), (7, 8), (9, 12)), None)
    >>> places_in("a b", ["a", "c"])
    (None, 'tokens[1]: "c" is not in the text after character 1')
    """
    places: list[Fragment] = []
    amiss: str | None = None
    at = 0
    for place, token in enumerate(tokens):
        start = text.find(token, at) if token else -1
        if start < 0:
            fact = f"{quoted(token)} is not in the text after character {at}"
            return None, f"tokens[{place}]: {fact}"
        if amiss is None and not (start == at or text[at:start].isspace()):
            skipped = quoted(text[at:start].strip())
            amiss = f"tokens[{place}]: {skipped} stands before {quoted(token)} and is no token"
        at = start + len(token)
        places.append((start, at))
    return tuple(places), amiss


def cut(text: str, edges: Iterable[int]) -> tuple[Fragment, ...]:
    """The words and single marks of a text, cut where an entity begins or ends.

    >>> cut("(Rijksmuseum)'s", [1, 5, 12])
    ((0, 1), (1, 5), (5, 12), (12, 13), (13, 14), (14, 15))
    """
    inside = sorted(set(edges))
    return tuple(
        piece
        for word in re.finditer(r"\w+|[^\w\s]", text)
        for piece in _pieces(word.span(), inside)
    )


def _pieces(word: Fragment, edges: Sequence[int]) -> Iterator[Fragment]:
    start, end = word
    for edge in edges:
        if start < edge < end:
            yield start, edge
            start = edge
    yield start, end
