"""The numbers of an evaluation of answers, by what they rest on; absent ones by their reason."""

from __future__ import annotations

from collections.abc import Container, Iterator

from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail, EvalReport, HumanAgreement
from ragauge.contracts.report import Score
from ragauge.reports import numbers
from ragauge.reports.evaluation.scales import is_pooled, share_of
from ragauge.reports.evaluation.tables import Cell, Row, Table

FAMILY = "answers."
LEXICAL = "lexical_"
GROUNDED = ("groundedness", "grounded", "brief_faithfulness", "number_agreement", "date_agreement")
OVERLAP = (
    *("token_recall", "containment", "token_f1", "content_f1", "exact_match", "rouge1", "rouge2"),
    *("rougeL", "chrf", "edit_distance", "factual_accuracy"),
)
SIMILAR = ("semantic_similarity", "relevance")
CITED = ("citation_precision", "citation_recall", "misattributed")
JUDGED = (
    *("faithfulness", "answer_relevancy", "context_precision", "context_recall"),
    *("factual_correctness", "noise_sensitivity", "noise_sensitivity_irrelevant"),
    *("hallucination", "self_knowledge", "claim_precision", "claim_recall", "rubric"),
)
CHEAP = {
    "faithfulness": "groundedness",
    "answer_relevancy": "relevance",
    "factual_correctness": "token_f1",
    "claim_recall": "token_recall",
    "rubric": "token_recall",
}
"""The metric without a judge that looks at the same thing; else the judged one's lexical twin."""
ABSENT_NAMED = 8
"""Of the metrics that are absent for one reason, those that are named."""


class Measure(Struct, frozen=True):
    """A metric of answers, and what a reader should know beside its value."""

    id: str
    score: Score
    note: str = ""

    @property
    def name(self) -> str:
        return self.id.removeprefix(FAMILY)


class Family(Struct, frozen=True):
    """Metrics that rest on the same: the contexts, the reference, a judge."""

    title: str
    measures: tuple[Measure, ...]


def families(report: EvalReport) -> list[Family]:
    """The metrics with a value, in families; a family without any is left out."""
    there = {id: score for id, score in report.metrics.items() if score.value is not None}
    made = []
    for title, names in _grouped(report):
        found = [f"{FAMILY}{name}" for name in names]
        known = tuple(_measure(report, id) for id in found if id in there)
        if known:
            made.append(Family(title, known))
    told = {measure.id for family in made for measure in family.measures}
    others = tuple(Measure(id, there[id]) for id in sorted(there.keys() - told))
    return [*made, Family("Other", others)] if others else made


def remarks(report: EvalReport) -> list[str]:
    """What stands below the metrics: which are pooled, which absent, and who knows the judge."""
    return [*_pooled(report), *_absent(report), *_uncalibrated(report)]


def _pooled(report: EvalReport) -> Iterator[str]:
    """The metrics that are no mean of answers, where any has a value."""
    there = [id for id, score in sorted(report.metrics.items()) if score.value is not None]
    names = [id.removeprefix(FAMILY) for id in there if is_pooled(id)]
    if names:
        pooled = "over all numbers, citations or claims together, no mean of answers"
        yield f"{pooled}: {', '.join(names)}"


def _uncalibrated(report: EvalReport) -> Iterator[str]:
    """That nobody compared the judge with people, where it judged anything."""
    judged = (report.metrics.get(f"{FAMILY}{name}") for name in JUDGED)
    detail = report.detail
    known = not isinstance(detail, AnswerDetail) or detail.agreement
    if not known and any(score and score.value is not None for score in judged):
        yield "how far the judge agrees with people is not known: `ragauge calibrate judge` tells"


def _absent(report: EvalReport) -> Iterator[str]:
    """The metrics without a value, by the reason they have none.

    A reason such as the lack of a reference concerns many metrics alike, and is said once.
    """
    by_reason: dict[str, list[str]] = {}
    for id, score in sorted(report.metrics.items()):
        if score.value is None:
            by_reason.setdefault(score.reason or "no reason is told", []).append(id)
    for reason, ids in sorted(by_reason.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        names = [id.removeprefix(FAMILY) for id in ids[:ABSENT_NAMED]]
        more = [f"{len(ids) - ABSENT_NAMED} more"] if len(ids) > ABSENT_NAMED else []
        yield f"absent: {', '.join([*names, *more])}: {reason}"


def metrics_table(report: EvalReport) -> Table | None:
    """The metrics with their intervals and coverage, a line above each family; None without any."""
    rows: list[Row] = []
    for family in families(report):
        rows.append(Row((Cell(family.title), Cell(""), Cell(""), Cell("")), strong=True))
        rows += map(_row, family.measures)
    if not rows:
        return None
    return Table(
        title="Metrics",
        heads=("metric", "value", "95 % interval", "scored"),
        rows=tuple(rows),
        right=frozenset({1, 3}),
        bar="value",
    )


def headline_table(report: EvalReport, first: Container[str]) -> Table | None:
    """The metrics that the verdict names, and those of a judge; None without any.

    A gate has said all that is to be said of its own, unless there is something beside it.
    """
    known = [one for family in families(report) for one in family.measures]
    gated = {gate.metric for gate in report.gates}
    wanted = [one for one in known if one.id in first or one.name in JUDGED]
    told = [one for one in wanted if one.note or one.id not in gated]
    if not told:
        return None
    return Table(
        title="Metrics",
        heads=("metric", "value", "95 % interval", "scored"),
        rows=tuple(map(_row, told)),
        right=frozenset({1, 3}),
    )


def _row(measure: Measure) -> Row:
    score = measure.score
    return Row(
        (
            Cell(measure.name),
            Cell(numbers.value(score.value)),
            Cell(numbers.interval(score.ci), tone="soft"),
            Cell(numbers.n_of(score.n, score.of), tone="soft"),
        ),
        share=share_of(measure.id, score.value),
        note=measure.note,
        tone="plain",
        inner=True,
    )


def _grouped(report: EvalReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    judge = report.detail.judge if isinstance(report.detail, AnswerDetail) else None
    asked = judge not in (None, "lexical")
    yield "Groundedness", GROUNDED
    yield "Overlap with the reference", OVERLAP
    yield "Similarity", SIMILAR
    yield "Citations", CITED
    yield f"Judged by {judge}" if asked else "Judged", JUDGED
    yield "Judged by words alone", tuple(f"{LEXICAL}{name}" for name in JUDGED)
    yield "Answered at all", ("coverage",)


def _measure(report: EvalReport, id: str) -> Measure:
    return Measure(id, report.metrics[id], "; ".join(_beside(report, id)))


def _beside(report: EvalReport, id: str) -> Iterator[str]:
    """Notes next to a value: counts of claims, the cheap metric, and how far people agree."""
    name = id.removeprefix(FAMILY)
    twins = [CHEAP.get(name), f"{LEXICAL}{name}"] if name in JUDGED else []
    known = [(twin, report.metrics.get(f"{FAMILY}{twin}")) for twin in twins]
    cheap = [(twin, score.value) for twin, score in known if score and score.value is not None]
    yield from (f"beside it {twin} {numbers.value(value)}" for twin, value in cheap[:1])
    detail = report.detail
    if name == "factual_accuracy" and isinstance(detail, AnswerDetail) and detail.factual_claims:
        counts = (f"{numbers.count(n)} {verdict}" for verdict, n in detail.factual_claims.items())
        yield f"claims: {', '.join(counts)}"
    for one in detail.agreement if isinstance(detail, AnswerDetail) else ():
        if one.metric in (id, name):
            yield f"people: {agreement_words(one)}"


def agreement_words(one: HumanAgreement) -> str:
    """AUROC never stands alone: beside it what it is worth at the threshold, and the base rate.

    >>> agreement_words(HumanAgreement(metric="faithfulness", judge="m", n=412, sources=96,
    ...     base_rate=0.62, auroc=0.84, auroc_ci=(0.8, 0.88), balanced_accuracy=0.77,
    ...     kappa=0.55, ece=0.08, threshold=0.5, labels="labels.jsonl"))
    'AUROC 0.840 [0.800, 0.880], balanced accuracy 0.770, base rate 0.620, κ 0.550, ECE 0.080'
    """
    told = (
        f"AUROC {numbers.value(one.auroc)} {numbers.interval(one.auroc_ci)}".strip(),
        f"balanced accuracy {numbers.value(one.balanced_accuracy)}",
        f"base rate {numbers.value(one.base_rate)}",
        f"κ {numbers.value(one.kappa)}",
        f"ECE {numbers.value(one.ece)}",
    )
    return ", ".join(told)
