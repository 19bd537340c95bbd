"""Agreement on typed spans: F1, the same whoever is called gold, and κ and α of their tokens."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.annotation import (
    Annotation,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
    TypedSpan,
)
from ragauge.contracts.entities import Entity, Fragment
from ragauge.contracts.report import Finding, Score
from ragauge.metrics.entity_matching import matched, outcomes, tokens_of
from ragauge.metrics.names import short_name
from ragauge.runners.annotators import (
    COVERAGE,
    NOTHING_SHARED,
    SPAN_F1,
    SPAN_F1_PARTIAL,
    TOKEN_ALPHA,
    TOKEN_KAPPA,
    TOKEN_KAPPA_NO_O,
    Annotators,
    Codes,
    File,
    places_of,
    share_of,
    spans_of,
)
from ragauge.stats.agreement import (
    PairCounts,
    clustered_alpha_interval,
    clustered_kappa,
    clustered_kappa_interval,
    mean_share,
    mean_share_interval,
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


NO_SPANS = "nobody marked a span"
UNFIT: dict[TextFits, tuple[str, str]] = {
    "differ": (
        "texts_differ",
        "its annotators had different texts, so offsets do not compare",
    ),
    "short": ("span_past_text", "a span ends past the text, so its tokens are not compared"),
    "unknown": ("no_text", "no file has its text, so its tokens are not compared"),
}

Spanned = frozenset[TypedSpan]


class Spans(Annotators):
    """Typed spans an item: two agree where start, end and type are the same."""

    main = SPAN_F1

    @property
    def scores(self) -> dict[str, Callable[[float], Score]]:
        return {
            SPAN_F1: lambda confidence: self._span_f1(SPAN_F1, "strict", confidence),
            SPAN_F1_PARTIAL: lambda confidence: self._span_f1(
                SPAN_F1_PARTIAL, "partial", confidence
            ),
            TOKEN_KAPPA: lambda confidence: self._token_kappa(TOKEN_KAPPA, confidence),
            TOKEN_KAPPA_NO_O: lambda confidence: self._token_kappa(TOKEN_KAPPA_NO_O, confidence),
            TOKEN_ALPHA: self._token_alpha,
            COVERAGE: self.coverage,
        }

    @cached_property
    def _counts(self) -> dict[str, Codes]:
        """Twice the spans that two share, and the spans that either has: items by pairs."""
        size = (len(self.ids), len(self.pairs))
        found = {name: np.zeros(size, dtype=np.int64) for name in (SPAN_F1, SPAN_F1_PARTIAL, "of")}
        for column, pair in enumerate(self.pairs):
            one, other = (self.given[letter] for letter in pair)
            for row, id in enumerate(self.ids):
                if id in one and id in other:
                    a, b = spans_of(one[id]), spans_of(other[id])
                    same = len(a & b)
                    found[SPAN_F1][row, column] = 2 * same
                    found[SPAN_F1_PARTIAL][row, column] = 2 * (same + overlapping(a - b, b - a))
                    found["of"][row, column] = len(a) + len(b)
        return found

    def _span_f1(self, id: str, schema: str, confidence: float) -> Score:
        """F1 of spans, the same whoever is called gold; of more annotators, pairs' mean."""
        counts = self._counts[id], self._counts["of"]
        value, interval = mean_share(*counts), mean_share_interval(*counts, confidence)
        reason = NO_SPANS if self.shared else NOTHING_SHARED
        return self.scored(id, value, interval, reason, schema, "ci:wilson-clustered")

    @cached_property
    def _tokens(self) -> Tokens:
        return tokens_said(self.given, self.ids)

    @cached_property
    def _token_pairs(self) -> dict[str, list[PairCounts]]:
        return {
            TOKEN_KAPPA: self._tokens.pairs(),
            TOKEN_KAPPA_NO_O: self._tokens.pairs(without_outside=True),
        }

    def _token_kappa(self, id: str, confidence: float) -> Score:
        """Cohen's κ of tokens' labels; of more annotators, the mean of the pairs that have one."""
        value, interval = mean_kappa(self._token_pairs[id], confidence)
        reason = None if value is not None else self._why_no_kappa(id, self._token_pairs[id])
        n = len(self._tokens.items)
        return self.scored(id, value, interval, reason, "ci:delta-clustered", n=n)

    def _why_no_kappa(self, id: str, pairs: list[PairCounts]) -> str:
        if not self.shared:
            return NOTHING_SHARED
        return self._tokens.why_no_kappa(pairs, without_outside=id == TOKEN_KAPPA_NO_O)

    def _token_alpha(self, confidence: float) -> Score:
        """Krippendorff's α of tokens' labels, over all annotators at once."""
        value, interval = self._tokens.alpha(confidence)
        reason = self._tokens.why_no_alpha() if self.shared else NOTHING_SHARED
        n, made = len(self._tokens.items), ("nominal", "ci:jackknife-clustered")
        return self.scored(TOKEN_ALPHA, value, interval, reason, *made, n=n)

    def pair(self, place: int, a: str, b: str) -> PairAgreement:
        either = int(self._counts["of"][:, place].sum())
        shares = {
            short_name(id): int(self._counts[id][:, place].sum()) / either if either else None
            for id in (SPAN_F1, SPAN_F1_PARTIAL)
        }
        kappas = {id: clustered_kappa(pairs[place]) for id, pairs in self._token_pairs.items()}
        n = len(self.given[a].keys() & self.given[b].keys())
        return PairAgreement(
            a=a,
            b=b,
            n=n,
            **shares,
            **{short_name(id): value for id, value in kappas.items()},
            reason=None if either else NO_SPANS if n else NOTHING_SHARED,
            token_reasons={
                short_name(id): self._why_no_kappa(id, [self._token_pairs[id][place]])
                for id, value in kappas.items()
                if value is None
            },
        )

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
        return ItemDisagreement(id=id, spans=own, scores=self._item_scores(id), where=places_of(by))

    def _item_scores(self, id: str) -> dict[str, float]:
        row = slice(self._rows[id], self._rows[id] + 1)
        shares = {
            short_name(name): mean_share(self._counts[name][row], self._counts["of"][row])
            for name in (SPAN_F1, SPAN_F1_PARTIAL)
        }
        return {name: share for name, share in shares.items() if share is not None}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self.ids)}

    def counted(self, file: File) -> dict[str, int]:
        types = Counter(span.type for one in file.values() for span in spans_of(one))
        return dict(sorted(types.items()))

    def own_findings(self) -> Iterator[Finding]:
        yield from self._unfit_texts()
        if len(self.pairs) == 1:
            return
        for pair in self.lacking(SPAN_F1):
            reason = f"left out of the mean F1: {pair.reason}"
            yield Finding("pair_without_f1", f"{pair.a} and {pair.b}", reason)
        for id in (TOKEN_KAPPA, TOKEN_KAPPA_NO_O) if self._tokens.items else ():
            for pair in self.lacking(id):
                name = short_name(id)
                reason = f"left out of the mean {name}: {pair.token_reasons[name]}"
                yield Finding("pair_without_kappa", f"{pair.a} and {pair.b}", reason)

    def _unfit_texts(self) -> Iterator[Finding]:
        """Items whose tokens are not compared; where no file has a text, the metrics say so."""
        for id in self.ids:
            read = [file[id] for file in self.given.values() if id in file]
            fits = text_fits(read)
            known = self._tokens.items or fits != "unknown"
            if len(read) > 1 and known and fits in UNFIT:
                code, message = UNFIT[fits]
                yield Finding(code, read[0].where, f"{id}: {message}")


def overlapping(one: Spanned, other: Spanned) -> int:
    """How many spans of two annotators overlap with the same type, each counted once.

    They are paired as `eval ner` pairs them: as many pairs as can be, then as many of one type;
    that number is the same whichever annotator is called gold.

    >>> overlapping(frozenset({TypedSpan(0, 4, "TOP")}), frozenset({TypedSpan(2, 6, "TOP")}))
    1
    """
    if not one or not other:
        return 0
    first, second = _entities(one), _entities(other)
    pairs = matched(first, second)["ent_type"]
    return outcomes(first, second, pairs, "ent_type")["correct"]


def _entities(spans: Spanned) -> list[Entity]:
    return [Entity(start=one.start, end=one.end, type=one.type) for one in sorted(spans)]
