"""The tokens of texts that annotators marked spans in, each with a label from each annotator."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.annotation import Annotation, TypedSpan
from ragauge.contracts.entities import Fragment
from ragauge.metrics.entity_facts import tokens_of
from ragauge.runners.annotators import Codes, File, spans_of
from ragauge.stats.clustered_agreement import (
    PairCounts,
    clustered_alpha_interval,
    clustered_kappa,
    clustered_kappa_interval,
    pair_counts,
)
from ragauge.stats.intervals import Interval
from ragauge.stats.krippendorff import alpha

OUTSIDE = 0
"""The place of the label of a token that is in no span."""
NO_TEXT = "no item has one text for all its annotators, so there are no tokens"
NO_TOKEN_MARKED = "nobody marked a token"

Label = tuple[str, ...]
"""The types of the spans that a token has a character of, sorted; none for O."""


Measured = tuple[float | None, Interval | None]
TextFits = Literal["one", "unknown", "differ", "short"]


class Tokens(Struct, frozen=True, kw_only=True):
    """The tokens of all items that two annotators looked at, and what each called them."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    """The first is O; a token within spans of several types has them all, joined by +."""
    codes: Codes
    """The places of labels, a row an annotator and a column a token; -1 where one did not look."""
    clusters: Codes
    """The place of each token's item."""

    def pairs(self, *, without_outside: bool = False) -> list[PairCounts]:
        """The counts of each two annotators; maybe without the tokens that both call O."""
        return [self._pair(*pair, without_outside) for pair in combinations(self.codes, 2)]

    def _pair(self, one: Codes, other: Codes, without_outside: bool) -> PairCounts:
        looked = (one >= 0) & (other >= 0)
        if without_outside:
            looked &= (one != OUTSIDE) | (other != OUTSIDE)
        shape = len(self.items), len(self.labels)
        return pair_counts(one[looked], other[looked], self.clusters[looked], shape)

    def alpha(self, confidence: float) -> Measured:
        """Krippendorff's α, nominal, over all annotators at once."""
        value = alpha(np.where(self.codes < 0, math.nan, self.codes)).value
        shape = len(self.items), len(self.labels)
        return value, clustered_alpha_interval(self.codes, self.clusters, shape, confidence)

    def why_no_alpha(self) -> str:
        return self._throughout(self.codes[self.codes >= 0]) if self.items else NO_TEXT

    def why_no_kappa(self, pairs: Sequence[PairCounts], *, without_outside: bool = False) -> str:
        """Of pairs none of which has a κ."""
        used = [pair for pair in pairs if pair.n.any()]
        if not used:
            return NO_TOKEN_MARKED if without_outside and self.items else NO_TEXT
        return self._throughout(np.array([pair.first.sum(axis=0).argmax() for pair in used]))

    def _throughout(self, codes: Codes) -> str:
        said = sorted({self.labels[place] for place in codes.tolist()})
        return f"everybody said {' or '.join(said)} throughout, and so would chance"


def mean_kappa(pairs: Sequence[PairCounts], confidence: float) -> Measured:
    """Cohen's κ, of more than two annotators the mean of the pairs that have one."""
    values = [value for pair in pairs if (value := clustered_kappa(pair)) is not None]
    value = sum(values) / len(values) if values else None
    return value, clustered_kappa_interval(pairs, confidence)


def tokens_said(given: Mapping[str, File], ids: Sequence[str]) -> Tokens:
    """The tokens of the items that two annotators looked at, where all had one text."""
    places: dict[Label, int] = {(): OUTSIDE}
    items: list[str] = []
    columns: list[list[int]] = []
    clusters: list[int] = []
    for id in ids:
        by = {letter: file[id] for letter, file in given.items() if id in file}
        tokens = _tokens(list(by.values())) if len(by) > 1 else ()
        if tokens:
            said = [
                token_labels(tokens, spans_of(by[letter])) if letter in by else [None] * len(tokens)
                for letter in given
            ]
            columns += [[_place(places, one) for one in row] for row in zip(*said, strict=True)]
            clusters += [len(items)] * len(tokens)
            items.append(id)
    return Tokens(
        items=tuple(items),
        labels=tuple("+".join(label) or "O" for label in places),
        codes=np.array(columns, dtype=np.int64).reshape(len(columns), len(given)).T,
        clusters=np.array(clusters, dtype=np.int64),
    )


def text_fits(read: Sequence[Annotation]) -> TextFits:
    """Whether annotators had one text, as far as their files have it, and it holds their spans."""
    texts = {one.text for one in read if one.text is not None}
    if len(texts) != 1:
        return "differ" if texts else "unknown"
    last = max((span.end for one in read for span in spans_of(one)), default=0)
    return "one" if last <= len(texts.pop()) else "short"


def token_labels(tokens: Sequence[Fragment], spans: Iterable[TypedSpan]) -> list[Label]:
    """The types that each token has a character of.

    >>> token_labels(tokens_of("In (Den Haag)"), [TypedSpan(4, 12, "TOP"), TypedSpan(4, 7, "ART")])
    [(), ('ART', 'TOP'), ('TOP',)]
    """
    ends = [end for _, end in tokens]
    held: list[set[str]] = [set() for _ in tokens]
    for span in spans:
        place = bisect_right(ends, span.start)
        while place < len(tokens) and tokens[place][0] < span.end:
            held[place].add(span.type)
            place += 1
    return [tuple(sorted(types)) for types in held]


def _tokens(read: Sequence[Annotation]) -> tuple[Fragment, ...]:
    if text_fits(read) != "one":
        return ()
    return tokens_of(next(one.text for one in read if one.text is not None))


def _place(places: dict[Label, int], label: Label | None) -> int:
    return -1 if label is None else places.setdefault(label, len(places))
