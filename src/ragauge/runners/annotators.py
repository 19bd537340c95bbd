"""Annotators' files side by side and the report they come to; of labels, how far they agree."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from string import ascii_uppercase
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ragauge import __version__
from ragauge.contracts.annotation import (
    AgreementCoverage,
    AgreementReport,
    Annotation,
    Annotator,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
    TypedSpan,
)
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Op, Outcome, Rule, Score, Verdict
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged, merged, parse_rules
from ragauge.ingest.annotations import Annotations, in_order
from ragauge.metrics.names import metric_id, short_name
from ragauge.runners.evaluation import Evaluation, given_score, sha256_of
from ragauge.stats.agreement import (
    Confusion,
    Weights,
    kappa,
    kappa_interval,
    mean_kappa_interval,
    mean_share,
    mean_share_interval,
)
from ragauge.stats.intervals import Interval, wilson
from ragauge.stats.krippendorff import Level, alpha, alpha_interval

PERCENT, KAPPA = "agreement.percent", "agreement.kappa"
KAPPA_WEIGHTED, ALPHA = "agreement.kappa_weighted", "agreement.alpha"
SPAN_F1, SPAN_F1_PARTIAL = "agreement.span_f1", "agreement.span_f1_partial"
TOKEN_KAPPA, TOKEN_KAPPA_NO_O = "agreement.token_kappa", "agreement.token_kappa_no_o"
TOKEN_ALPHA, COVERAGE = "agreement.token_alpha", "agreement.coverage"
OF_SPANS = (SPAN_F1, SPAN_F1_PARTIAL, TOKEN_KAPPA, TOKEN_KAPPA_NO_O, TOKEN_ALPHA)
METRICS = (PERCENT, KAPPA, KAPPA_WEIGHTED, ALPHA, *OF_SPANS, COVERAGE)
MEANS = tuple(id for id in METRICS if id not in (ALPHA, TOKEN_ALPHA, COVERAGE))
"""Of more than two annotators, these are means over pairs."""
AT_ONCE = {
    **dict.fromkeys((PERCENT, KAPPA, KAPPA_WEIGHTED), ALPHA),
    **dict.fromkeys((TOKEN_KAPPA, TOKEN_KAPPA_NO_O), TOKEN_ALPHA),
}
"""What is no mean, where a mean cannot be judged."""

BOUND = 0.85
"""What annotators must reach before their labels are called gold."""
NOTHING_SHARED = "no item was annotated by two"

MOST_LABELS = 500
"""More different labels than this are no categories; a table of them is not made."""

Codes = NDArray[np.int64]
File = Mapping[str, Annotation]


def rules_over_all(gates: str | None, metrics: Mapping[str, Ranged], who: str) -> tuple[Rule, ...]:
    """The rules a user wrote for these metrics; raises UsageError where one is of a part only."""

    def known(name: str) -> Ranged:
        unknown = f'there is no metric "{name}" here'
        listed = f"there are {', '.join(map(short_name, metrics))}"
        return metrics[metric_id(name, metrics, unknown=unknown, listed=listed)]

    rules = () if gates is None else parse_rules(gates, known)
    for rule in rules:
        if rule.where or rule.per == "question":
            raise UsageError(
                f'gate "{rule}": {who} are compared over the whole set; drop what follows the bound'
            )
    return rules


def share_score(
    id: str, share: float | Fraction | None, n: int, of: int, reason: str, confidence: float
) -> Score:
    """A share of `n` as a score; `reason` says why there is none."""
    ci = None if share is None else wilson(float(share), n, confidence)
    return given_score(id, share, "ci:wilson", n=n, of=of, ci=ci, absent=reason)


def fingerprint(given: Iterable[tuple[Any, ...]]) -> str:
    """The hash of who was given what, whatever form it was written in."""
    return sha256_of(sorted(given))


class Annotators(ABC):
    """Annotators' files side by side; whatever order each had, the report is the same."""

    main: str
    """The metric that is gated where the user gates none of the kind."""
    level: Level | None = None
    weights: Weights | None = None

    def __init__(self, read: Annotations) -> None:
        self.files = dict(zip(ascii_uppercase, read.names, strict=False))
        self.read = read
        self.given: dict[str, File] = {
            letter: {id: one for id, one in file.items() if one.given}
            for letter, file in zip(self.files, read.files, strict=True)
        }
        self.ids = sorted({id for file in self.given.values() for id in file})
        self.pairs = list(combinations(self.files, 2))
        self.annotated = Counter(id for file in self.given.values() for id in file)
        self.shared = sum(times > 1 for times in self.annotated.values())

    @property
    @abstractmethod
    def scores(self) -> dict[str, Callable[[float], Score]]:
        """By metric, the score with its interval at a level of confidence."""

    @abstractmethod
    def pair(self, place: int, a: str, b: str) -> PairAgreement: ...

    @abstractmethod
    def labels(self) -> dict[str, LabelShare]: ...

    @abstractmethod
    def disagreement(self, id: str, by: dict[str, Annotation]) -> ItemDisagreement | None: ...

    @abstractmethod
    def counted(self, file: File) -> dict[str, int]:
        """How often each label or type was given."""

    @abstractmethod
    def own_findings(self) -> Iterator[Finding]: ...

    def rules(self, own: tuple[Rule, ...]) -> tuple[Rule, ...]:
        """The user's gates and what else holds: every item annotated by all, and a bound on the
        main metric unless the user has set one on any measure of agreement."""
        for rule in own:
            if rule.metric not in self.scores:
                reason = f"these files hold {self.read.kind}; gate on {short_name(self.main)}"
                if rule.metric == KAPPA_WEIGHTED and self.read.kind == "labels":
                    reason = "it takes --weights linear or quadratic"
                raise UsageError(f'gate "{rule}": {reason}')
        preset = [Rule(metric=COVERAGE, op="=", bound=1)]
        if all(rule.metric == COVERAGE for rule in own):
            op: Op = ">=" if self.main == SPAN_F1 else ">"
            preset.insert(0, Rule(metric=self.main, op=op, bound=BOUND))
        return merged(tuple(preset), own)

    def outcome(self, rules: tuple[Rule, ...]) -> Outcome[AgreementReport]:
        evaluation = Evaluation(given=self.scores, rules=rules, settle=self._settled)
        disagreements = []
        for id in self.ids:
            by = {letter: file[id] for letter, file in self.given.items() if id in file}
            if len(by) > 1 and (found := self.disagreement(id, by)):
                disagreements.append(found)
        every = len(self.files)
        report = evaluation.report(
            AgreementReport,
            Findings((*self.read.findings.kept(), *self._unannotated(), *self.own_findings())),
            {
                "command": "gold agreement",
                "ragauge": __version__,
                "field": self.read.field,
                "level": self.level,
                "weights": self.weights,
                "gates": [str(rule) for rule in rules],
                "annotations_sha256": {
                    letter: fingerprint(
                        (one.id, one.label, sorted(spans_of(one))) for one in file.values()
                    )
                    for letter, file in self.given.items()
                },
            },
            passed=evaluation.all_hold,
            kind=self.read.kind,
            field=self.read.field,
            level=self.level,
            weights=self.weights,
            annotators={
                letter: Annotator(
                    file=self.files[letter], annotated=len(file), given=self.counted(file)
                )
                for letter, file in self.given.items()
            },
            pairs=self.compared,
            labels=self.labels(),
            disagreements=tuple(disagreements[:ROWS_KEPT]),
            disagreement_count=len(disagreements),
            coverage=AgreementCoverage(
                items=len(self.ids),
                all=sum(times == every for times in self.annotated.values()),
                some=sum(1 < times < every for times in self.annotated.values()),
                one=len(self.ids) - self.shared,
                unread_columns=self.read.unread,
            ),
        )
        return evaluation.outcome(report)

    @cached_property
    def compared(self) -> tuple[PairAgreement, ...]:
        return tuple(self.pair(place, a, b) for place, (a, b) in enumerate(self.pairs))

    def lacking(self, id: str) -> list[PairAgreement]:
        """The pairs without a value, where the metric is a mean over those that have one."""
        if id not in MEANS:
            return []
        return [pair for pair in self.compared if getattr(pair, short_name(id)) is None]

    def _settled(self, rule: Rule, verdict: Verdict, mask: Any) -> Verdict:
        """The gate's verdict: none on a mean over some pairs, which is not the agreement of all."""
        lacking = self.lacking(rule.metric)
        if verdict.value is None or not lacking:
            return verdict
        every = len(self.pairs)
        who = ", ".join(f"{pair.a} and {pair.b}" for pair in lacking)
        reason = f"a mean of {every - len(lacking)} of {every} pairs, for {who} have none"
        if rule.metric in AT_ONCE:
            reason += f"; gate on {short_name(AT_ONCE[rule.metric])}, which takes all at once"
        return replace(verdict, verdict="not_evaluated", reason=reason)

    def coverage(self, confidence: float) -> Score:
        """The share of the items anybody annotated that all did."""
        of = len(self.ids)
        by_all = sum(times == len(self.files) for times in self.annotated.values())
        share = by_all / of if of else None
        return share_score(COVERAGE, share, of, of, "nothing was annotated", confidence)

    def scored(
        self,
        id: str,
        value: float | None,
        ci: Interval | None,
        reason: str | None,
        *made: str,
        n: int | None = None,
    ) -> Score:
        """A score over the shared items, or over `n` of them."""
        n = self.shared if n is None else n
        lacking, every = len(self.lacking(id)), len(self.pairs)
        some = [f"pairs:{every - lacking}/{every}"] if value is not None and lacking else []
        return given_score(id, value, *made, *some, n=n, of=len(self.ids), ci=ci, absent=reason)

    def _unannotated(self) -> Iterator[Finding]:
        """Items that some annotated, and items that are in a file without a word from anybody."""
        for id in self.ids:
            without = [letter for letter, file in self.given.items() if id not in file]
            if without:
                first = next(file[id] for file in self.given.values() if id in file)
                message = f"{id}: not annotated by {', '.join(without)}"
                yield Finding("annotated_by_some", first.where, message)
        listed = {id: one for file in self.read.files for id, one in file.items()}
        for id in sorted(listed.keys() - self.annotated.keys()):
            message = f"{id}: annotated by nobody, so it is in no agreement and no coverage"
            yield Finding("annotated_by_nobody", listed[id].where, message)


def spans_of(annotation: Annotation) -> frozenset[TypedSpan]:
    return annotation.spans or frozenset()


def places_of(by: Mapping[str, Annotation]) -> dict[str, str]:
    return {letter: one.where for letter, one in by.items()}


def share_of(given: int, joined: int) -> LabelShare:
    return LabelShare(given=given, joined=joined, agreement=joined / given if given else None)


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
