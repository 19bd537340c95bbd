"""What a report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Literal

from msgspec import Struct

from ragauge.contracts.finding import Finding
from ragauge.contracts.refusal import REFUSING
from ragauge.contracts.report import Score
from ragauge.contracts.score import (
    Change,
    Comparison,
    Coverage,
    LabelChange,
    QuestionRow,
    ScoreReport,
)
from ragauge.errors import UsageError
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.reports import envelope
from ragauge.reports.numbers import count, counted

BAD_LABELS = (
    "HALLUCINATION",
    "ANS_NO_HIT",
    "OVER_REFUSAL",
    "REFUSAL_MALFORMED",
    "ERROR",
    "MISSING",
)
"""The worst first: what misleads a user before what merely disappoints one."""
NO_ANSWER = ("ERROR", "MISSING")

FEW = 5
"""A value over fewer questions is chance: it is shown, but no difference is built on it."""
SEEN = 0.10
"""A difference between slices that a reader should see."""
STRATA_SHOWN = 3


def verdict_words(report: ScoreReport) -> tuple[str, str]:
    """PASS or FAIL, what the gates did, and how much was scored.

    `1 of 8 gates failed, 2 not evaluated; 78 of 80 questions scored`
    """
    coverage = report.coverage
    scored = f"{count(coverage.scored)} of {counted(coverage.gold, 'question')} scored"
    word = envelope.verdict_word(report.passed, report.gates)
    return word, "; ".join(filter(None, (_gate_words(report), scored)))


def how_to_gate(report: ScoreReport) -> str:
    return envelope.how_to_gate(
        report.passed, "--preset ship or --gates 'precision_cited>=0.80,under_refusal<=0.05'"
    )


def _gate_words(report: ScoreReport) -> str:
    if not report.gates:
        return ""
    total = counted(len(report.gates), "gate")
    failed = sum(gate.verdict == "fail" for gate in report.gates)
    unknown = sum(gate.verdict == "not_evaluated" for gate in report.gates)
    if failed:
        words = f"{count(failed)} of {total} failed"
    elif report.passed is not False:
        holding = len(report.gates) - unknown
        words = f"{count(holding)} of {total} {'holds' if len(report.gates) == 1 else 'hold'}"
    else:
        return f"{count(unknown)} of {total} not evaluated"
    return f"{words}, {count(unknown)} not evaluated" if unknown else words


def metric_names(report: ScoreReport) -> dict[str, str]:
    compared = report.baseline.metrics if report.baseline else {}
    sliced = (id for by in report.strata.values() for scores in by.values() for id in scores)
    gated = (gate.metric for gate in report.gates)
    return envelope.short_names(dict.fromkeys(chain(report.metrics, gated, compared, sliced)))


def other_metrics(report: ScoreReport) -> list[tuple[str, Score]]:
    """The metrics no gate speaks of."""
    gated = {gate.metric for gate in report.gates}
    return [(id, score) for id, score in report.metrics.items() if id not in gated]


def labels_in_order(report: ScoreReport) -> list[tuple[str, int]]:
    """The labels that occur: good ones first, then the worst; unknown ones last, by name."""
    known = [label for label in (*sorted(GOOD_LABELS), *BAD_LABELS) if label in report.labels]
    unknown = sorted(set(report.labels) - set(known))
    return [(label, report.labels[label]) for label in known + unknown if report.labels[label]]


REFUSALS = {
    "exact": "with the exact token",
    "near": "with more around the token",
    "free": "in the system's own words",
    "undetermined": "undetermined",
}


def refusal_words(report: ScoreReport) -> str | None:
    """How many refusals there are of each kind, and which count as answers; None without any."""
    known = [kind for kind in REFUSALS if report.refusals.get(kind)]
    if not known:
        return None
    chosen = report.identity.get("options", {}).get("refusal")
    counting = REFUSING.get(chosen, REFUSING["exact"])

    def told(kinds: Iterable[str]) -> str:
        return ", ".join(f"{count(report.refusals[kind])} {REFUSALS[kind]}" for kind in kinds)

    refused = told(kind for kind in known if kind in counting)
    answered = told(kind for kind in known if kind not in counting)
    words = f"refusals: {refused or 'none'}"
    return f"{words}; counted as answers: {answered}" if answered else words


class Slice(Struct, frozen=True, kw_only=True):
    """A stratum in which the headline metrics differ, and where they differ most."""

    stratum: str
    metric: str
    low: tuple[str, float]
    high: tuple[str, float]
    values: tuple[tuple[str, int, dict[str, Score]], ...]
    """Each value of the stratum, its questions and its scores; the most frequent value first."""

    @property
    def told(self) -> list[tuple[str, int, dict[str, Score]]]:
        """The values with at least one score that is more than chance."""
        return [value for value in self.values if any(s.n >= FEW for s in value[2].values())]

    @property
    def spread(self) -> float:
        return self.high[1] - self.low[1]


def slices(report: ScoreReport) -> list[Slice]:
    """The strata a reader should see, the largest difference first; ties by name."""
    found = [one for name, by in report.strata.items() if (one := _slice(name, by))]
    found.sort(key=lambda one: (-one.spread, one.stratum))
    return found[:STRATA_SHOWN]


def _slice(stratum: str, by: dict[str, dict[str, Score]]) -> Slice | None:
    widest: Slice | None = None
    values = [(name, max(s.of for s in scores.values()), scores) for name, scores in by.items()]
    values.sort(key=lambda value: (-value[1], value[0]))
    for id in dict.fromkeys(id for scores in by.values() for id in scores):
        known = [
            (score.value, name)
            for name, scores in by.items()
            if (score := scores.get(id)) and score.value is not None and score.n >= FEW
        ]
        if not known:
            continue
        (low, low_name), (high, high_name) = min(known), max(known)
        if high - low >= SEEN and (widest is None or high - low > widest.spread):
            widest = Slice(
                stratum=stratum,
                metric=id,
                low=(low_name, low),
                high=(high_name, high),
                values=tuple(values),
            )
    return widest


def wrong_questions(report: ScoreReport, most: int | None = None) -> list[QuestionRow]:
    """The questions that went wrong, by label; where only some are shown, some of each label."""
    groups = [
        [row for row in report.questions if row.label == label] for label in _bad_labels(report)
    ]
    return envelope.some_of_each(groups, most)


def _bad_labels(report: ScoreReport) -> list[str]:
    seen = {row.label for row in report.questions} - set(GOOD_LABELS)
    return [label for label in BAD_LABELS if label in seen] + sorted(seen - set(BAD_LABELS))


def findings(report: ScoreReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)


def coverage_words(coverage: Coverage) -> str:
    """How much was scored, in one line; what is zero is not said."""
    parts = [
        f"{count(coverage.scored)} of {counted(coverage.gold, 'gold question')} scored",
        f"from {counted(coverage.traces, 'trace')}",
        coverage.missing and f"{count(coverage.missing)} without a trace",
        coverage.errors and counted(coverage.errors, "error"),
        coverage.duplicate and counted(coverage.duplicate, "surplus trace"),
        coverage.unknown and f"{count(coverage.unknown)} of unknown questions",
        coverage.rejected and counted(coverage.rejected, "rejected line"),
    ]
    return ", ".join(part for part in parts if part)


Direction = Literal["better", "worse", "unclear", "changed", ""]


def direction(id: str, change: Change) -> Direction:
    """Whether a change is for the better: unclear where its interval holds zero."""
    if not change.change:
        return ""
    if change.ci is not None and change.ci[0] <= 0 <= change.ci[1]:
        return "unclear"
    better = _better(id)
    if better is None:
        return "changed"
    return "better" if (change.change > 0) == (better == "higher") else "worse"


def _better(id: str) -> str | None:
    from ragauge.metrics.table import find

    try:
        return find(id).better
    except UsageError:  # a report outlives the plug-in that made its numbers
        return None


def changed_labels(comparison: Comparison) -> list[LabelChange]:
    """The questions that changed label: what broke, then the rest, then what was mended."""

    def rank(change: LabelChange) -> int:
        return (change.now in GOOD_LABELS) - (change.was in GOOD_LABELS)

    return sorted(comparison.changed, key=rank)


def baseline_words(report: ScoreReport, comparison: Comparison) -> str:
    """How the two runs overlap, and what keeps them from being comparable."""
    words = overlap_words(report, comparison)
    return f"{words}; {comparison.note}" if comparison.note else words


def overlap_words(report: ScoreReport, comparison: Comparison) -> str:
    """How many questions the two runs share."""
    here = len({row.qid for row in report.questions})
    parts = [
        f"{counted(here - comparison.only_here, 'question')} in both",
        comparison.only_here and f"{count(comparison.only_here)} only here",
        comparison.only_there and f"{count(comparison.only_there)} only there",
    ]
    return ", ".join(part for part in parts if part)
