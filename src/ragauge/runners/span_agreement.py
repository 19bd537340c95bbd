"""Agreement on typed spans: F1, the same whoever is called gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from ragauge.contracts.annotation import (
    Annotation,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
)
from ragauge.contracts.finding import Finding
from ragauge.contracts.score import Score
from ragauge.runners.annotators import (
    COVERAGE,
    NOTHING_SHARED,
    SPAN_F1,
    Annotators,
    Codes,
    File,
    places_of,
    share_of,
    spans_of,
)
from ragauge.stats.agreement import mean_share, mean_share_interval

NO_SPANS = "nobody marked a span"


class Spans(Annotators):
    """Typed spans an item: two agree where start, end and type are the same."""

    main = SPAN_F1

    @property
    def scores(self) -> dict[str, Callable[[float], Score]]:
        return {SPAN_F1: self._span_f1, COVERAGE: self.coverage}

    @cached_property
    def _counts(self) -> tuple[Codes, Codes]:
        """Twice the spans that two share, and the spans that either has: items by pairs."""
        shared = np.zeros((len(self.ids), len(self.pairs)), dtype=np.int64)
        either = np.zeros_like(shared)
        for column, pair in enumerate(self.pairs):
            one, other = (self.given[letter] for letter in pair)
            for row, id in enumerate(self.ids):
                if id in one and id in other:
                    a, b = spans_of(one[id]), spans_of(other[id])
                    shared[row, column] = 2 * len(a & b)
                    either[row, column] = len(a) + len(b)
        return shared, either

    def _span_f1(self, confidence: float) -> Score:
        """F1 of strict spans, the same whoever is called gold; of more annotators, pairs' mean."""
        value, interval = mean_share(*self._counts), mean_share_interval(*self._counts, confidence)
        reason = NO_SPANS if self.shared else NOTHING_SHARED
        return self.scored(SPAN_F1, value, interval, reason, "strict", "ci:wilson-clustered")

    def pair(self, place: int, a: str, b: str) -> PairAgreement:
        shared, either = (int(counts[:, place].sum()) for counts in self._counts)
        n = len(self.given[a].keys() & self.given[b].keys())
        value = shared / either if either else None
        reason = None if either else NO_SPANS if n else NOTHING_SHARED
        return PairAgreement(a=a, b=b, n=n, span_f1=value, reason=reason)

    def labels(self) -> dict[str, LabelShare]:
        given: Counter[str] = Counter()
        joined: Counter[str] = Counter()
        for a, b in self.pairs:
            one, other = self.given[a], self.given[b]
            for id in one.keys() & other.keys():
                first, second = spans_of(one[id]), spans_of(other[id])
                given.update(span.type for spans in (first, second) for span in spans)
                joined.update(span.type for span in first & second for _ in range(2))
        return {type: share_of(given[type], joined[type]) for type in sorted(given)}

    def disagreement(self, id: str, by: dict[str, Annotation]) -> ItemDisagreement | None:
        every = [spans_of(one) for one in by.values()]
        all_have = frozenset.intersection(*every)
        if all(spans == all_have for spans in every):
            return None
        own = {letter: tuple(sorted(spans_of(one) - all_have)) for letter, one in by.items()}
        return ItemDisagreement(id=id, spans=own, where=places_of(by))

    def counted(self, file: File) -> dict[str, int]:
        types = Counter(span.type for one in file.values() for span in spans_of(one))
        return dict(sorted(types.items()))

    def own_findings(self) -> Iterator[Finding]:
        yield from self._other_texts()
        for pair in self.lacking(SPAN_F1) if len(self.pairs) > 1 else ():
            reason = f"left out of the mean F1: {pair.reason}"
            yield Finding("pair_without_f1", f"{pair.a} and {pair.b}", reason)

    def _other_texts(self) -> Iterator[Finding]:
        """Texts that differ: offsets into them do not mean the same."""
        for id in self.ids:
            read = [file[id] for file in self.given.values() if id in file]
            texts = {one.text for one in read if one.text is not None}
            if len(texts) > 1:
                message = f"{id}: its annotators had different texts, so offsets do not compare"
                yield Finding("texts_differ", read[0].where, message)
