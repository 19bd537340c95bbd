"""The units of a report, the worst first, as people look at them.

A report shows the first ones and a summary keeps them; a selection has some of each kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct

from ragauge.contracts.audit import OK, AuditedAnswer, AuditReport, LambdaState
from ragauge.contracts.evaluation import EvalReport, QueryRow, RankingDetail
from ragauge.contracts.score import Comparison, LabelChange, QuestionRow, ScoreReport
from ragauge.contracts.stability import Stability, StabilityReport, right_of
from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalReport
from ragauge.errors import UsageError
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.metrics.retrieval import FAMILY, KINDS, id_of, parse, split_measures
from ragauge.metrics.table import known

Member = TypeVar("Member")


def some_of_each(groups: Iterable[Sequence[Member]], most: int | None) -> list[Member]:
    """The members of the groups in order; if `most` limits them, some of each group.

    >>> some_of_each(["aaaa", "b", "cc"], 5)
    ['a', 'a', 'b', 'c', 'c']
    """
    groups = list(groups)
    dealt = sorted(
        (turn, place) for place, group in enumerate(groups) for turn in range(len(group))
    )
    kept = Counter(place for _, place in dealt[:most])
    return [one for place, group in enumerate(groups) for one in group[: kept[place]]]


def by_kind(members: Iterable[Member], kind: Callable[[Member], str]) -> dict[str, list[Member]]:
    """The members of each kind, the kinds in the order in which they occur."""
    found: dict[str, list[Member]] = {}
    for one in members:
        found.setdefault(kind(one), []).append(one)
    return found


BAD_LABELS = (
    *("HALLUCINATION", "ANS_NO_HIT", "OVER_REFUSAL", "REFUSAL_MALFORMED", "ERROR", "MISSING"),
)
"""The worst first: what misleads a user before what disappoints one."""


def wrong_questions(report: ScoreReport, most: int | None = None) -> list[QuestionRow]:
    """The questions that went wrong, by label; if `most` limits them, some of each label."""
    found = by_kind(report.questions, lambda row: row.label)
    labels = dict.fromkeys((*BAD_LABELS, *sorted(found.keys() - GOOD_LABELS)))
    return some_of_each([found.get(label, []) for label in labels], most)


def changed_labels(comparison: Comparison) -> Sequence[LabelChange]:
    """The questions that changed label: what broke, then the rest, then what was fixed."""

    def rank(change: LabelChange) -> int:
        return (change.now in GOOD_LABELS) - (change.was in GOOD_LABELS)

    return sorted(comparison.changed, key=rank)


def wrong_answers(report: AuditReport, most: int | None = None) -> list[AuditedAnswer]:
    """The answers that do not hold; if `most` limits them, some of each code."""
    wrong = [row for row in report.answers if row.code != OK]
    if most is None:
        return wrong
    found = by_kind(wrong, lambda row: row.code)
    codes = dict.fromkeys((*(one.code for one in report.codes), *sorted(found)))
    return some_of_each([found.get(code, []) for code in codes], most)


WORST_FIRST: tuple[Stability, ...] = (
    *("stable_fail", "flaky", "incomplete", "not_evaluated", "stable_pass"),
)
NOT_UNSTABLE: tuple[Stability, ...] = ("stable_pass", "not_evaluated")  # no gate found fault


def swept_questions(report: StabilityReport) -> list[str]:
    """The questions, the worst first: by verdict, by the fraction of correct runs, by qid."""

    def badness(qid: str) -> tuple[int, float, str]:
        correct, of = right_of(report.cells[qid])
        return WORST_FIRST.index(report.details[qid].verdict), correct / of if of else 0, qid

    return sorted(report.details, key=badness)


def unstable(report: StabilityReport, most: int | None = None) -> list[str]:
    """The questions that do not pass, the worst first; at most so many, some of each verdict."""
    found = by_kind(swept_questions(report), lambda qid: report.details[qid].verdict)
    return some_of_each(
        (qids for verdict, qids in found.items() if verdict not in NOT_UNSTABLE), most
    )


def worst_of_each(report: StabilityReport, most: int) -> list[str]:
    """At most this many questions, the worst first: some of each bad verdict, then the others."""
    return list(dict.fromkeys((*unstable(report, most), *swept_questions(report))))[:most]


STATES: tuple[LambdaState, ...] = (
    *("chaotic", "divergent", "recursive", "incomplete", "convergent"),
)


def traced_questions(report: TraceEvalReport) -> list[TracedQuestion]:
    """The questions, those that do not converge first, then those that match least; ties by id."""

    def badness(one: TracedQuestion) -> tuple[int, int, float, str]:
        matched = one.matched / one.answered if one.answered and one.answerable else 1.0
        # An unknown state is no reason to be first.
        answer, retrieval = (
            STATES.index(state or "convergent") for state in (one.answer, one.retrieval)
        )
        return min(answer, retrieval), answer, matched, one.qid

    return sorted(report.questions, key=badness)


NDCG = "retrieval.ndcg@10"


class Ranking(Struct, frozen=True):
    """The metric by which queries are ranked."""

    id: str
    title: str
    lower: bool
    """Whether lower is better."""


def requested(report: EvalReport) -> dict[str, str]:
    """The ids of the metrics that --measures names, each as it is written there."""
    options: Any = report.identity.get("options")
    if report.task != "retrieval" or not isinstance(options, dict):
        return {}
    found = {}
    for name in split_measures(map(str, options.get("measures") or ())):
        with suppress(UsageError):  # a name of no metric
            found[id_of(name, options.get("rel") or 1)] = name
    return {id: name for id, name in found.items() if id in report.metrics}


def ranking(report: EvalReport) -> Ranking | None:
    """nDCG@10, or else the first metric that was requested or measured query by query."""
    rows: tuple[QueryRow, ...] = getattr(report.detail, "queries", ())
    measured, wanted = {id for row in rows for id in row.values}, requested(report)
    ids = (id for id in (NDCG, *wanted, *sorted(measured, key=by_table)) if id in measured)
    for id in ids:
        title, metric = {**wanted, NDCG: "nDCG@10"}.get(id, id.removeprefix(FAMILY)), known(id)
        return Ranking(id, title, metric is not None and metric.better == "lower")
    return None


def by_table(id: str) -> tuple[int, int, str]:
    """A sort key: metrics in the order of their table, with the deepest cut-off first."""
    try:
        kind, at = parse(id)
    except UsageError:
        return len(KINDS), 0, id
    return list(KINDS).index(kind), -(at.k or 0), id


def ranked_queries(report: EvalReport, detail: RankingDetail) -> list[QueryRow]:
    """All queries, the worst first; those without a relevant document last, ties by id."""
    by = ranking(report)

    def badness(row: QueryRow) -> tuple[bool, bool, float, str]:
        value = row.values.get(by.id) if by and row.relevant else None
        rank = -(value or 0.0) if by and by.lower else value or 0.0
        return not row.relevant, value is None, rank, row.query

    return sorted(detail.queries, key=badness)
