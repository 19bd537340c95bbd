"""How far annotators agree, and where they do not: labels, or typed spans and their tokens.

F1 of spans is the same whoever is called gold.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations
from string import ascii_uppercase
from typing import Literal

import numpy as np
from msgspec import Struct

from ragauge.contracts.annotation import (
    AgreementReport,
    Annotation,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
    TypedSpan,
)
from ragauge.contracts.entities import Entity, Fragment
from ragauge.contracts.report import Finding, Outcome, Score
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged
from ragauge.ingest.annotations import read_annotations
from ragauge.ingest.fields import Columns
from ragauge.ingest.lines import STDIN
from ragauge.ingest.records import Source
from ragauge.metrics.entity_matching import match_entities, outcomes, tokens_of
from ragauge.metrics.names import short_name
from ragauge.runners.annotators import (
    COVERAGE,
    METRICS,
    NOTHING_SHARED,
    SPAN_F1,
    SPAN_F1_PARTIAL,
    TOKEN_ALPHA,
    TOKEN_KAPPA,
    TOKEN_KAPPA_NO_O,
    Annotators,
    Codes,
    File,
    Labels,
    Options,
    places_of,
    rules_over_all,
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
from ragauge.stats.krippendorff import alpha

OUTSIDE = 0
"""The place of the label of a token that is in no span."""
NO_TEXT = "no item has one text for all its annotators, so there are no tokens"
NO_TOKEN_MARKED = "nobody marked a token"
NO_SPANS = "nobody marked a span"
Label = tuple[str, ...]
"""The types of the spans that a token has a character of, sorted; none for O."""
TextFits = Literal["one", "unknown", "differ", "short"]
UNFIT: dict[TextFits, tuple[str, str]] = {
    "differ": (
        "texts_differ",
        "its annotators had different texts, so offsets do not compare",
    ),
    "short": ("span_past_text", "a span ends past the text, so its tokens are not compared"),
    "unknown": ("no_text", "no file has its text, so its tokens are not compared"),
}
Spanned = frozenset[TypedSpan]


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


class Tokens(Struct, frozen=True, kw_only=True):
    """The tokens of all items that two annotators looked at, and what each called them."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    """The first is O; a token within spans of several types has them all, joined by +."""
    codes: Codes
    """The places of labels, a row an annotator and a column a token; -1 where one did not look."""
    clusters: Codes
    """The place of each token's item."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.items), len(self.labels)

    def pairs(self, *, without_outside: bool) -> list[PairCounts]:
        """The counts of each two annotators; maybe without the tokens that both call O."""
        pairs = []
        for one, other in combinations(self.codes, 2):
            looked = (one >= 0) & (other >= 0)
            if without_outside:
                looked &= (one != OUTSIDE) | (other != OUTSIDE)
            pairs.append(pair_counts(one[looked], other[looked], self.clusters[looked], self.shape))
        return pairs

    def throughout(self, codes: Codes) -> str:
        """Why these labels have no agreement beyond chance."""
        said = sorted({self.labels[place] for place in codes.tolist()})
        return f"everybody said {' or '.join(said)} throughout, and so would chance"


def tokens_said(given: Mapping[str, File], ids: Sequence[str]) -> Tokens:
    """The tokens of the items that two annotators looked at, where all had one text."""
    places: dict[Label, int] = {(): OUTSIDE}
    items: list[str] = []
    columns: list[list[int]] = []
    clusters: list[int] = []
    for id in ids:
        by = {letter: file[id] for letter, file in given.items() if id in file}
        if len(by) < 2 or text_fits(list(by.values())) != "one":
            continue
        tokens = tokens_of(next(one.text for one in by.values() if one.text is not None))
        if not tokens:
            continue
        said = [
            token_labels(tokens, spans_of(by[letter])) if letter in by else [None] * len(tokens)
            for letter in given
        ]
        columns += [
            [-1 if one is None else places.setdefault(one, len(places)) for one in row]
            for row in zip(*said, strict=True)
        ]
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


class Spans(Annotators):
    """Typed spans an item: two agree where start, end and type are the same."""

    main = SPAN_F1

    @property
    def scores(self) -> dict[str, Callable[[float], Score]]:
        return {
            SPAN_F1: partial(self._span_f1, SPAN_F1, "strict"),
            SPAN_F1_PARTIAL: partial(self._span_f1, SPAN_F1_PARTIAL, "partial"),
            TOKEN_KAPPA: partial(self._token_kappa, TOKEN_KAPPA),
            TOKEN_KAPPA_NO_O: partial(self._token_kappa, TOKEN_KAPPA_NO_O),
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
            TOKEN_KAPPA: self._tokens.pairs(without_outside=False),
            TOKEN_KAPPA_NO_O: self._tokens.pairs(without_outside=True),
        }

    def _token_kappa(self, id: str, confidence: float) -> Score:
        """Cohen's κ of tokens' labels; of more annotators, the mean of the pairs that have one."""
        pairs = self._token_pairs[id]
        values = [value for pair in pairs if (value := clustered_kappa(pair)) is not None]
        value = sum(values) / len(values) if values else None
        interval = clustered_kappa_interval(pairs, confidence)
        reason = None if values else self._why_no_kappa(id, pairs)
        n = len(self._tokens.items)
        return self.scored(id, value, interval, reason, "ci:delta-clustered", n=n)

    def _why_no_kappa(self, id: str, pairs: list[PairCounts]) -> str:
        """Of pairs none of which has a κ."""
        if not self.shared:
            return NOTHING_SHARED
        used = [pair for pair in pairs if pair.n.any()]
        if not used:
            marked = id == TOKEN_KAPPA_NO_O and self._tokens.items
            return NO_TOKEN_MARKED if marked else NO_TEXT
        said = [pair.first.sum(axis=0).argmax() for pair in used]
        return self._tokens.throughout(np.array(said))

    def _token_alpha(self, confidence: float) -> Score:
        """Krippendorff's α of tokens' labels, nominal, over all annotators at once."""
        tokens = self._tokens
        value = alpha(np.where(tokens.codes < 0, math.nan, tokens.codes)).value
        interval = clustered_alpha_interval(tokens.codes, tokens.clusters, tokens.shape, confidence)
        reason = NO_TEXT if self.shared else NOTHING_SHARED
        if self.shared and tokens.items:
            reason = tokens.throughout(tokens.codes[tokens.codes >= 0])
        n, made = len(tokens.items), ("nominal", "ci:jackknife-clustered")
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
        row = slice(self._rows[id], self._rows[id] + 1)
        scores = {
            short_name(name): share
            for name in (SPAN_F1, SPAN_F1_PARTIAL)
            if (share := mean_share(self._counts[name][row], self._counts["of"][row])) is not None
        }
        return ItemDisagreement(id=id, spans=own, scores=scores, where=places_of(by))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {id: row for row, id in enumerate(self.ids)}

    def counted(self, file: File) -> dict[str, int]:
        types = Counter(span.type for one in file.values() for span in spans_of(one))
        return dict(sorted(types.items()))

    def own_findings(self) -> Iterator[Finding]:
        # Items whose tokens are not compared; where no file has a text, the metrics say so.
        for id in self.ids:
            read = [file[id] for file in self.given.values() if id in file]
            fits = text_fits(read)
            known = self._tokens.items or fits != "unknown"
            if len(read) > 1 and known and fits in UNFIT:
                code, message = UNFIT[fits]
                yield Finding(code, read[0].where, f"{id}: {message}")
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
    pairs = match_entities(first, second)["ent_type"]
    return outcomes(first, second, pairs, "ent_type")["correct"]


def _entities(spans: Spanned) -> list[Entity]:
    return [Entity(start=one.start, end=one.end, type=one.type) for one in sorted(spans)]
