"""Annotators over the same items: how far they agree, and where they do not."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from string import ascii_uppercase

import numpy as np
from msgspec import Struct

from ragauge.contracts.annotation import (
    AgreementReport,
    Annotation,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
)
from ragauge.contracts.report import Finding, Outcome, Score
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged
from ragauge.ingest.annotations import Annotations, in_order, read_annotations
from ragauge.ingest.fields import Columns
from ragauge.ingest.lines import STDIN
from ragauge.ingest.records import Source
from ragauge.runners.annotators import (
    ALPHA,
    COVERAGE,
    KAPPA,
    KAPPA_WEIGHTED,
    METRICS,
    NOTHING_SHARED,
    PERCENT,
    Annotators,
    File,
    places_of,
    rules_over_all,
    share_of,
)
from ragauge.runners.span_agreement import Spans
from ragauge.stats.agreement import (
    Confusion,
    Weights,
    kappa,
    kappa_interval,
    mean_kappa_interval,
    mean_share,
    mean_share_interval,
)
from ragauge.stats.krippendorff import Level, alpha, alpha_interval

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


def agreement(
    sources: Sequence[Source],
    *,
    field: str | None = None,
    columns: Columns | None = None,
    options: Options | None = None,
    gates: str | None = None,
) -> Outcome[AgreementReport]:
    """How far annotators agree, each of whom is a source; `gates` come before the defaults.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    options = options or Options()
    if len(sources) < 2:
        raise UsageError("agreement takes the files of two annotators or more")
    if len(sources) > (most := len(ascii_uppercase)):
        raise UsageError(f"{len(sources)} files; at most {most} are compared at once")
    names = Counter(str(one) for one in sources if isinstance(one, str | os.PathLike))
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        which = "standard input" if twice[0] == STDIN else twice[0]
        raise UsageError(f"{which} is named twice: name the file of each annotator once")
    if options.level == "nominal" and options.ordered:
        raise UsageError("nominal labels have no order: drop --weights and --order, or the level")
    if options.level == "interval" and options.order:
        raise UsageError("interval labels are numbers, which have their order: drop --order")
    twice = [label for label, times in Counter(options.order).items() if times > 1]
    if twice:
        raise UsageError(f'--order names "{twice[0]}" twice')
    # Agreement beyond chance can be below 0.
    ranges = {id: (-1 if "kappa" in id or "alpha" in id else 0, 1) for id in METRICS}
    own = rules_over_all(gates, {id: Ranged(id, ends) for id, ends in ranges.items()}, "annotators")
    read = read_annotations(sources, field, columns)
    compared: Annotators
    if read.kind == "labels":
        compared = Labels(read, options)
    elif options == Options():
        compared = Spans(read)
    else:
        raise UsageError(
            f"{read.field} holds spans, which have no level, weights or order: drop those options"
        )
    return compared.outcome(compared.rules(own))


class Labels(Annotators):
    """A label an item."""

    def __init__(self, read: Annotations, options: Options) -> None:
        super().__init__(read)
        self.level = options.level or ("ordinal" if options.ordered else "nominal")
        self.weights = self._weights = options.weights
        self.main = ALPHA if self.level == "interval" else KAPPA
        if self._weights != "none":
            self.main = KAPPA_WEIGHTED
        self._labels, self._spelled = in_order(read.files, self.level, options.order)
        # The place of each label, a row an annotator and a column an item; -1 for none.
        place = {label: number for number, label in enumerate(self._labels)}
        rows = []
        for file in self.given.values():
            found = (file.get(id) for id in self.ids)
            rows.append([place[self._label(one)] if one else -1 for one in found])
        self._codes = np.array(rows, dtype=np.int64).reshape(len(self.files), len(self.ids))
        # Whether two said the same, and whether both said anything: items by pairs.
        one, other = (np.array(rows) for rows in zip(*combinations(self._codes, 2), strict=True))
        of = ((one >= 0) & (other >= 0)).astype(np.int64)
        self._shares = (of * (one == other)).T, of.T
        size, self._tables = len(self._labels), list[Confusion]()
        if size <= MOST_LABELS:
            for one, other in combinations(self._codes, 2):
                both = (one >= 0) & (other >= 0)
                met = np.bincount(one[both] * size + other[both], minlength=size * size)
                counts = tuple(map(tuple, met.reshape(size, size).tolist()))
                self._tables.append(Confusion(self._labels, counts))

    def _label(self, annotation: Annotation) -> str:
        """The label as its order has it: numbers may be written in several ways."""
        return self._spelled[annotation.label or ""]

    @property
    def scores(self) -> dict[str, Callable[[float], Score]]:
        weighted = {KAPPA_WEIGHTED: partial(self._kappa, KAPPA_WEIGHTED, self._weights)}
        return {
            PERCENT: self._percent,
            KAPPA: partial(self._kappa, KAPPA, "none"),
            **(weighted if self._weights != "none" else {}),
            ALPHA: self._alpha,
            COVERAGE: self.coverage,
        }

    def _percent(self, confidence: float) -> Score:
        """The share of items with the same label from both; of more annotators, the pairs' mean."""
        value, interval = mean_share(*self._shares), mean_share_interval(*self._shares, confidence)
        made = "ci:wilson" if len(self.pairs) == 1 else "ci:wilson-clustered"
        return self.scored(PERCENT, value, interval, NOTHING_SHARED, made)

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
        reason = "everybody said the same throughout" if found.units else NOTHING_SHARED
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
            kappa=None if plain is None else float(plain),
            kappa_weighted=None if weighted is None else float(weighted),
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
        # Labels that differ in case or blanks alone: more likely a slip than an opinion.
        first: dict[str, str] = {}
        for label in sorted(self._labels):
            other = first.setdefault(" ".join(label.casefold().split()), label)
            if other != label:
                message = f'"{other}" and "{label}" differ in case or blanks alone; write one'
                yield Finding("labels_alike", "labels", message)
        for pair, table in zip(self.pairs, self._tables, strict=False):
            if len(self._tables) > 1 and kappa(table) is None:
                reason = f"left out of the mean κ: {self._why_no_kappa([table])}"
                yield Finding("pair_without_kappa", " and ".join(pair), reason)
