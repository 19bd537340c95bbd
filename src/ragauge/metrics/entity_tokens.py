"""Tokens with their types, counted for many texts at once; equal to `token_counts` one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from ragauge.contracts.entities import EntityColumns, Fragment, TokenRule
from ragauge.metrics.entity_columns import Both

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

_BLANKS = tuple(code for code in range(0x3001) if chr(code).isspace())
"""What separates words: all of it is below the last of them, the ideographic space."""
_BLOCK = 1 << 22
"""Characters looked at together."""


class TokenColumns(Struct, frozen=True):
    """Where the tokens of many documents stand, in reading order, a row each."""

    documents: int
    doc: Array
    start: Array
    end: Array
    tokenised: Array
    """(documents,): whether its tokens are known."""


def token_columns(
    texts: Sequence[str | None], tokens: Sequence[Sequence[Fragment] | None]
) -> TokenColumns:
    """The tokens of each document: those its file gives, else the words of its text."""
    split = [
        place
        for place, (text, given) in enumerate(zip(texts, tokens, strict=True))
        if given is None and text is not None
    ]
    given = [place for place, known in enumerate(tokens) if known is not None]
    found = [*_words(texts, split), _given(tokens, given)]
    doc, start, end = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((end, start, doc)) if given else slice(None)
    tokenised = np.zeros(len(texts), dtype=bool)
    tokenised[split] = tokenised[given] = True
    return TokenColumns(len(texts), doc[order], start[order], end[order], tokenised)


def _given(
    tokens: Sequence[Sequence[Fragment] | None], places: Sequence[int]
) -> tuple[Array, Array, Array]:
    known = [tokens[place] or () for place in places]
    ends = np.fromiter(chain.from_iterable(chain.from_iterable(known)), dtype=np.int64)
    doc = np.repeat(np.array(places, dtype=np.int64), [len(one) for one in known])
    return doc, ends[0::2], ends[1::2]


def _words(texts: Sequence[str | None], places: Sequence[int]) -> list[tuple[Array, Array, Array]]:
    """The words of the texts at these places, block by block."""
    blocks: list[tuple[Array, Array, Array]] = []
    waiting: list[int] = []
    size = 0
    for place in places:
        waiting.append(place)
        size += len(texts[place] or "")
        if size >= _BLOCK:
            blocks.append(_words_of_block(texts, waiting))
            waiting, size = [], 0
    if waiting:
        blocks.append(_words_of_block(texts, waiting))
    return blocks


def _words_of_block(
    texts: Sequence[str | None], places: Sequence[int]
) -> tuple[Array, Array, Array]:
    """Words as runs of what is no blank, in the texts put one after the other."""
    parts = [texts[place] or "" for place in places]
    joined = "\n".join([*parts, ""]).encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(joined, dtype=np.uint32)
    blank = np.zeros(_BLANKS[-1] + 2, dtype=bool)
    blank[list(_BLANKS)] = True
    inside = ~blank[np.minimum(codes, len(blank) - 1)]
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    first, last = edges[0::2], edges[1::2]
    begins = np.cumsum([0, *(len(part) + 1 for part in parts[:-1])])
    text = np.searchsorted(begins, first, side="right") - 1
    return np.array(places, dtype=np.int64)[text], first - begins[text], last - begins[text]


def token_types(both: Both, tokens: TokenColumns, rule: TokenRule = "overlap") -> Array:
    """tp, fp and fn of each type in turn, over the tokens: (documents, 3 * types)."""
    if not len(tokens.doc):
        return np.zeros((both.documents, 3 * both.types), dtype=np.int64)
    extent = 1 + max(
        (int(ends.max()) for ends in (tokens.end, both.gold.end, both.predicted.end) if len(ends)),
        default=0,
    )
    gold = _held(both.gold, tokens, rule, extent)
    predicted = _held(both.predicted, tokens, rule, extent)
    found = np.intersect1d(gold, predicted, assume_unique=True)
    tp, fn, fp = (_counted(keys, both, tokens) for keys in (found, gold, predicted))
    return np.stack([tp, fp - tp, fn - tp], axis=-1).reshape(both.documents, 3 * both.types)


def _held(side: EntityColumns, tokens: TokenColumns, rule: TokenRule, extent: int) -> Array:
    """A number for each token, layer and type that goes together, each once, sorted."""
    row, start, end = _parts(side)
    base = side.doc[row] * extent
    starts = tokens.doc * extent + tokens.start
    if rule == "brief":
        low = np.searchsorted(starts, base + start)
    else:
        low = np.searchsorted(tokens.doc * extent + tokens.end, base + start, side="right")
    times = np.maximum(np.searchsorted(starts, base + end) - low, 0)
    part = np.repeat(np.arange(len(row)), times)
    token = low[part] + np.arange(len(part)) - np.repeat(np.cumsum(times) - times, times)
    entity = row[part]
    keys = (token * len(side.layers) + side.layer[entity]) * len(side.types) + side.type[entity]
    return np.unique(keys)


def _parts(side: EntityColumns) -> tuple[Array, Array, Array]:
    """Every stretch of every entity, with the entity's row."""
    row, start, end = np.arange(len(side.doc)), side.start, side.end
    if not side.fragments:
        return row, start, end
    whole = np.ones(len(row), dtype=bool)
    whole[list(side.fragments)] = False
    parts = np.array(
        [(place, *part) for place, parts in side.fragments.items() for part in parts],
        dtype=np.int64,
    )
    return (
        np.concatenate([row[whole], parts[:, 0]]),
        np.concatenate([start[whole], parts[:, 1]]),
        np.concatenate([end[whole], parts[:, 2]]),
    )


def _counted(keys: Array, both: Both, tokens: TokenColumns) -> Array:
    """How many of the tokens' keys fall on each document and type."""
    cells = both.documents * both.types
    token = keys // (both.types * len(both.gold.layers))
    cell = tokens.doc[token] * both.types + keys % both.types
    return np.bincount(cell, minlength=cells).reshape(both.documents, both.types)
