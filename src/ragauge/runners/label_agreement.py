"""Agreement on labels: percent, κ and α."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from string import ascii_uppercase

import numpy as np
from msgspec import Struct

from ragauge.contracts.annotation import (
    Annotation,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
)
from ragauge.contracts.report import Finding, Score
from ragauge.ingest.annotations import Annotations, in_order
from ragauge.runners.annotators import (
    ALPHA,
    COVERAGE,
    KAPPA,
    KAPPA_WEIGHTED,
    NOTHING_SHARED,
    PERCENT,
    Annotators,
    Codes,
    File,
    places_of,
    share_of,
)
from ragauge.stats.agreement import (
    Confusion,
    Weights,
    kappa,
    kappa_interval,
    mean_kappa_interval,
    mean_share,
    mean_share_interval,
)
from ragauge.stats.krippendorff import Alpha, Level, alpha, alpha_interval

MOST_LABELS = 500
"""More different labels than this are no categories; a table of them is not made."""


class Options(Struct, frozen=True, kw_only=True):
    """How labels are compared."""

    level: Level | None = None
    weights: Weights = "none"
    order: tuple[str, ...] = ()

    @property
    def ordered(self) -> bool:
        return bool(self.order) or self.weights != "none"


class Labels(Annotators):
    """A label an item."""

    def __init__(self, read: Annotations, options: Options) -> None:
        super().__init__(read)
        self.level = options.level or ("ordinal" if options.ordered else "nominal")
        self.weights = self._weights = options.weights
        self.main = self._main()
        self._labels, self._spelled = in_order(read.files, self.level, options.order)
        self._codes = self._coded()
        few = len(self._labels) <= MOST_LABELS
        self._tables = [self._table(*pair) for pair in self.pairs] if few else []

    def _main(self) -> str:
        if self._weights != "none":
            return KAPPA_WEIGHTED
        return ALPHA if self.level == "interval" else KAPPA

    def _coded(self) -> Codes:
        """The place of each label, a row an annotator and a column an item; -1 for none."""
        place = {label: number for number, label in enumerate(self._labels)}
        rows = []
        for file in self.given.values():
            found = (file.get(id) for id in self.ids)
            rows.append([place[self._label(one)] if one else -1 for one in found])
        return np.array(rows, dtype=np.int64).reshape(len(self.files), len(self.ids))

    def _label(self, annotation: Annotation) -> str:
        """The label as its order has it: numbers may be written in several ways."""
        return self._spelled[annotation.label or ""]

    def _table(self, a: str, b: str) -> Confusion:
        one, other = (self._codes[ascii_uppercase.index(letter)] for letter in (a, b))
        both, size = (one >= 0) & (other >= 0), len(self._labels)
        met = np.bincount(one[both] * size + other[both], minlength=size * size)
        return Confusion(self._labels, tuple(map(tuple, met.reshape(size, size).tolist())))

    @property
    def scores(self) -> dict[str, Callable[[float], Score]]:
        weighted = {KAPPA_WEIGHTED: self._kappa_weighted} if self._weights != "none" else {}
        return {
            PERCENT: self._percent,
            KAPPA: self._kappa_plain,
            **weighted,
            ALPHA: self._alpha,
            COVERAGE: self.coverage,
        }

    @cached_property
    def _shares(self) -> tuple[Codes, Codes]:
        """Whether two said the same, and whether both said anything: items by pairs."""
        one, other = (np.array(rows) for rows in zip(*combinations(self._codes, 2), strict=True))
        of = ((one >= 0) & (other >= 0)).astype(np.int64)
        return (of * (one == other)).T, of.T

    def _percent(self, confidence: float) -> Score:
        """The share of items with the same label from both; of more annotators, the pairs' mean."""
        value, interval = mean_share(*self._shares), mean_share_interval(*self._shares, confidence)
        made = "ci:wilson" if len(self.pairs) == 1 else "ci:wilson-clustered"
        return self.scored(PERCENT, value, interval, NOTHING_SHARED, made)

    def _kappa_plain(self, confidence: float) -> Score:
        return self._kappa(KAPPA, "none", confidence)

    def _kappa_weighted(self, confidence: float) -> Score:
        return self._kappa(KAPPA_WEIGHTED, self._weights, confidence)

    def _kappa(self, id: str, weights: Weights, confidence: float) -> Score:
        """Agreement beyond chance; of more annotators, the mean of the pairs that have a κ."""
        values = [one for table in self._tables if (one := kappa(table, weights)) is not None]
        made = ["unweighted" if weights == "none" else weights, "ci:fleiss-cohen-everitt"]
        if not values:
            return self.scored(id, None, None, self._why_no_kappa(self._tables), *made)
        if len(self._tables) == 1:
            interval = kappa_interval(self._tables[0], confidence, weights)
        else:
            whole = len(values) == len(self._tables)
            made += [f"pairs:{len(values)}"] if whole else []  # else `scored` says of how many
            places = combinations(range(len(self.files)), 2)
            pairs = [(*pair, table) for pair, table in zip(places, self._tables, strict=True)]
            interval = mean_kappa_interval(self._codes, pairs, confidence, weights)
        return self.scored(id, float(sum(values) / len(values)), interval, None, *made)

    def _why_no_kappa(self, tables: Sequence[Confusion]) -> str:
        if not self._tables:
            return (
                f"{len(self._labels):,} different labels are no categories; where they are "
                "numbers, --level interval gives α"
            )
        used = [table for table in tables if table.n]
        if not used:
            return NOTHING_SHARED
        said = {table.labels[table.same.index(table.n)] for table in used}
        return f"everybody said {' or '.join(sorted(said))} throughout, and so would chance"

    def _alpha(self, confidence: float) -> Score:
        """Krippendorff's α over all annotators at once, with whatever is missing."""
        assert self.level
        numbers = map(float, self._labels if self.level == "interval" else range(len(self._labels)))
        ratings = np.array([*numbers, math.nan])[self._codes]
        found = alpha(ratings, self.level)
        interval = alpha_interval(ratings, self.level, confidence)
        reason = _why_no_alpha(found)
        return self.scored(ALPHA, found.value, interval, reason, self.level, "ci:jackknife")

    def pair(self, place: int, a: str, b: str) -> PairAgreement:
        yes, of = (int(counts[:, place].sum()) for counts in self._shares)
        table = self._tables[place] if self._tables else None
        plain = kappa(table) if table else None
        weighted = kappa(table, self._weights) if table and self._weights != "none" else None
        return PairAgreement(
            a=a,
            b=b,
            n=of,
            percent=yes / of if of else None,
            kappa=_number(plain),
            kappa_weighted=_number(weighted),
            reason=self._why_no_kappa([table] if table else []) if plain is None else None,
        )

    def labels(self) -> dict[str, LabelShare]:
        if self.level == "interval" or not self._tables:
            return {}
        given = np.sum([(table.first, table.second) for table in self._tables], axis=(0, 1))
        joined = 2 * np.sum([table.same for table in self._tables], axis=0)
        counts = zip(self._labels, given.tolist(), joined.tolist(), strict=True)
        return {label: share_of(*pair) for label, *pair in counts}

    def disagreement(self, id: str, by: dict[str, Annotation]) -> ItemDisagreement | None:
        if len({self._label(one) for one in by.values()}) == 1:
            return None
        labels = {name: self._label(by[name]) if name in by else None for name in self.files}
        return ItemDisagreement(id=id, labels=labels, where=places_of(by))

    def counted(self, file: File) -> dict[str, int]:
        if self.level == "interval" or not self._tables:
            return {}
        return dict(sorted(Counter(map(self._label, file.values())).items()))

    def own_findings(self) -> Iterator[Finding]:
        yield from self._alike()
        for pair, table in zip(self.pairs, self._tables, strict=False):
            if len(self._tables) > 1 and kappa(table) is None:
                reason = f"left out of the mean κ: {self._why_no_kappa([table])}"
                yield Finding("pair_without_kappa", " and ".join(pair), reason)

    def _alike(self) -> Iterator[Finding]:
        """Labels that differ in case or blanks alone: more likely a slip than an opinion."""
        first: dict[str, str] = {}
        for label in sorted(self._labels):
            other = first.setdefault(" ".join(label.casefold().split()), label)
            if other != label:
                message = f'"{other}" and "{label}" differ in case or blanks alone; write one'
                yield Finding("labels_alike", "labels", message)


def _why_no_alpha(found: Alpha) -> str | None:
    if found.value is not None:
        return None
    return "everybody said the same throughout" if found.units else NOTHING_SHARED


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
