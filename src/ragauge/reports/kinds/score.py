"""The report of `ragauge score`: gates, metrics, labels, slices and questions of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Literal

from msgspec import Struct

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
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Bars, Block, Cell, Column, Document, Only, Row, Table, names
from ragauge.reports.formats import github, junit
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
BADGES = {
    "OK": "ok",
    "REFUSAL_OK": "refusal_ok",
    "HALLUCINATION": "hallucination",
    "ANS_NO_HIT": "no_hit",
    "OVER_REFUSAL": "over_refusal",
    "REFUSAL_MALFORMED": "malformed",
    "ERROR": "error",
    "MISSING": "missing",
}
"""How each label is drawn; any other is drawn as one."""
REFUSALS = {
    "exact": "with the exact token",
    "near": "with more around the token",
    "free": "in the system's own words",
    "undetermined": "undetermined",
}
FEW = 5
"""A value over fewer questions is chance: it is shown, but no difference is built on it."""
SEEN = 0.10
"""A difference between slices that a reader should see."""
STRATA_SHOWN, VALUES_SHOWN = 3, 30
QUESTIONS_SHOWN, CHANGES_SHOWN = 10, 20
MOST_QUESTIONS = 5_000
"""On a page: one with more would be slow to open."""


def document(report: ScoreReport) -> Document:
    return Document("score", list(_blocks(report)))


def table(report: ScoreReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each question, with the fields of its record."""
    fields = QuestionRow.__struct_fields__
    return fields, ([getattr(row, field) for field in fields] for row in report.questions)


def cases(report: ScoreReport) -> Iterator[junit.Suite]:
    """A suite of gates and one of questions.

    The gates alone decide: in a run that passed, no question turns CI red.
    """
    yield junit.gate_suite(report.gates)
    times = Counter(row.qid for row in report.questions)
    yield junit.Suite(
        "questions",
        (
            junit.Case(
                row.qid if times[row.qid] == 1 or not row.where else f"{row.qid} ({row.where})",
                None if row.label in GOOD_LABELS else _problem(row, report.passed is not False),
            )
            for row in report.questions
        ),
    )


def _problem(row: QuestionRow, passed: bool) -> junit.Problem:
    said = row.claim or row.reason or ""
    return junit.Problem(
        "skipped" if passed else "error" if row.label in NO_ANSWER else "failure",
        f"{row.label}: {said}" if said else row.label,
        row.label,
        junit.facts(
            {
                "triage": row.triage,
                "claim": row.claim,
                "cited": ", ".join(row.cited) if row.cited else None,
                "reason": row.reason,
                "where": row.where,
            }
        ),
    )


def notes(report: ScoreReport) -> Iterator[github.Notes]:
    """The verdict, the gates that stop the run, the questions that failed."""
    word, words = verdict_words(report)
    yield github.Notes([github.Note("notice", words, f"Ragauge {word}")])
    yield github.stopping_gates(report.gates)
    yield github.Notes(
        [
            github.Note("warning", _said(row), f"{row.label} {row.qid}", row.where or "")
            for row in wrong_questions(report, github.SHOWN)
        ],
        "question",
        len(wrong_questions(report)),
    )


def _said(row: QuestionRow) -> list[str]:
    cited = f"cited: {', '.join(row.cited)}" if row.cited else ""
    lines = [row.triage or "", github.cut(row.claim or row.reason or ""), cited]
    return lines if any(lines) else [row.label]


def _blocks(report: ScoreReport) -> Iterator[Block]:
    shown = metric_names(report)
    hint = envelope.how_to_gate(
        report.passed, "--preset ship or --gates 'precision_cited>=0.80,under_refusal<=0.05'"
    )
    yield doc.Verdict(*verdict_words(report), meaning=[hint] if hint else [])
    yield Bars(
        title="Labels",
        bars=[
            (
                BADGES.get(label, "other"),
                label,
                times,
                "good" if label in GOOD_LABELS else "bad",
            )
            for label, times in labels_in_order(report)
        ],
        after=refusal_words(report) or "",
        part="labels",
    )
    yield from doc.gates(report.gates, report.metrics, shown)
    gated = dict.fromkeys(gate.metric for gate in report.gates)
    others = {id: score for id, score in report.metrics.items() if id not in gated}
    if others:
        yield doc.scores(others, shown, title="Other metrics" if report.gates else "Metrics")
    for one in slices(report):
        yield _slice_table(one, shown)
    yield doc.Advices(report.advice)
    yield from _questions(report)
    if report.baseline:
        yield _baseline(report, report.baseline, shown)
    yield doc.findings(report)
    yield from doc.glossary(report.metrics, shown)
    yield doc.Coverage(coverage_words(report.coverage), report.identity)


def verdict_words(report: ScoreReport) -> tuple[str, str]:
    """PASS or FAIL, what the gates did, and how much was scored.

    `1 of 8 gates failed, 2 not evaluated; 78 of 80 questions scored`
    """
    coverage = report.coverage
    scored = f"{count(coverage.scored)} of {counted(coverage.gold, 'question')} scored"
    word = envelope.verdict_word(report.passed, report.gates)
    return word, "; ".join(filter(None, (envelope.gate_counts(report), scored)))


def metric_names(report: ScoreReport) -> dict[str, str]:
    compared = report.baseline.metrics if report.baseline else {}
    sliced = (id for by in report.strata.values() for scores in by.values() for id in scores)
    gated = (gate.metric for gate in report.gates)
    return envelope.short_names(dict.fromkeys(chain(report.metrics, gated, compared, sliced)))


def labels_in_order(report: ScoreReport) -> list[tuple[str, int]]:
    """The labels that occur: good ones first, then the worst; unknown ones last, by name."""
    known = [label for label in (*sorted(GOOD_LABELS), *BAD_LABELS) if label in report.labels]
    unknown = sorted(set(report.labels) - set(known))
    return [(label, report.labels[label]) for label in known + unknown if report.labels[label]]


def refusal_words(report: ScoreReport) -> str | None:
    """How many refusals there are of each kind, and which count as answers; None without any."""
    known = [kind for kind in REFUSALS if report.refusals.get(kind)]
    if not known:
        return None
    chosen = report.identity.get("options", {}).get("refusal")
    counting = REFUSING.get(chosen, REFUSING["exact"])

    def listed(kinds: Iterable[str]) -> str:
        return ", ".join(f"{count(report.refusals[kind])} {REFUSALS[kind]}" for kind in kinds)

    refused = listed(kind for kind in known if kind in counting)
    answered = listed(kind for kind in known if kind not in counting)
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


def _slice_table(one: Slice, shown: dict[str, str]) -> Table:
    """The values of a stratum with at least one score that is more than chance."""
    told = [value for value in one.values if any(s.n >= FEW for s in value[2].values())]
    ids = list(told[0][2])
    starred = any(0 < score.n < FEW for _, _, scores in told for score in scores.values())
    (low_name, low), (high_name, high) = one.low, one.high
    return Table(
        title="By",
        about=one.stratum,
        remark=f"{shown[one.metric]} from {numbers.value(low)} ({low_name}) "
        f"to {numbers.value(high)} ({high_name})",
        part="slices",
        columns=[
            Column("value"),
            Column("n", right=True),
            *(Column(shown[id], right=True, foreign=True, begins=True) for id in ids),
        ],
        rows=[
            Row((names(name), doc.count(n, "dim"), *(_sliced(scores.get(id)) for id in ids)))
            for name, n, scores in told
        ],
        shown=VALUES_SHOWN,
        total=len(one.values),
        after=f"* over fewer than {FEW} questions" if starred else "",
    )


def _sliced(score: Score | None) -> Cell:
    if score is None or score.value is None:
        return Cell(numbers.ABSENT, tone="dim")
    if score.n < FEW:
        return doc.number(score.value, f"{numbers.value(score.value)}*", "dim")
    return doc.number(score.value)


def wrong_questions(report: ScoreReport, most: int | None = None) -> list[QuestionRow]:
    """The questions that went wrong, by label; where only some are shown, some of each label."""
    seen = {row.label for row in report.questions} - set(GOOD_LABELS)
    labels = [label for label in BAD_LABELS if label in seen] + sorted(seen - set(BAD_LABELS))
    groups = [[row for row in report.questions if row.label == label] for label in labels]
    return envelope.some_of_each(groups, most)


def _questions(report: ScoreReport) -> Iterator[Block]:
    """A terminal shows some that went wrong, a page and a comment every question, worst first."""
    wrong = sum(times for label, times in report.labels.items() if label not in GOOD_LABELS)
    if wrong:
        yield doc.in_text(
            Table(
                title="Questions that went wrong",
                columns=doc.columns("question", "label", "triage", "where", spare=("where",)),
                rows=doc.Deferred(
                    lambda: list(map(_wrong, wrong_questions(report, QUESTIONS_SHOWN)))
                ),
                total=wrong,
                everything="--report FILE.html shows them all",
            )
        )
    if report.questions:
        yield Only(
            frozenset({"html", "markdown"}),
            [
                Table(
                    title="Questions",
                    remark="the worst first",
                    part="questions",
                    columns=doc.columns(
                        *("question", "label", "answered", "citation hit", "refusal", "claim"),
                        *("cited", "reason", "where"),
                        spare=("where", "reason", "cited"),
                    ),
                    rows=doc.Deferred(lambda: list(map(_question, _worst_first(report)))),
                    total=len(report.questions),
                )
            ],
            part="questions",
        )


def _worst_first(report: ScoreReport) -> list[QuestionRow]:
    good = (row for row in report.questions if row.label in GOOD_LABELS)
    return list(islice(chain(wrong_questions(report), good), MOST_QUESTIONS))


def _wrong(row: QuestionRow) -> Row:
    return Row(
        (
            names(row.qid, "strong"),
            Cell(row.label),
            Cell(row.triage or "", tone="dim"),
            names(row.where or "", "dim"),
        ),
        _answer(row),
    )


def _answer(row: QuestionRow) -> str:
    """What was said, what was cited and why it failed, on one line."""
    # An exact refusal says no more than its label.
    said = (row.claim if row.refusal != "exact" else "") or row.reason or ""
    return "  ".join(filter(None, (said, f"[{', '.join(row.cited)}]" if row.cited else "")))


def _question(row: QuestionRow) -> Row:
    return Row(
        (
            names(row.qid, "strong", ("question", row.qid)),
            Cell(row.label, row.label, badge=BADGES.get(row.label, "other")),
            _yes(row.answered),
            _yes(row.hit),
            Cell("" if row.refusal == "none" else row.refusal, row.refusal, "dim"),
            names(row.claim or ""),
            names(" ".join(row.cited or ()), "dim"),
            names(row.reason or row.triage or "", "dim"),
            names(row.where or "", "dim"),
        )
    )


def _yes(value: bool | None) -> Cell:
    return Cell(numbers.ABSENT if value is None else "yes" if value else "no", value)


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
TONES: dict[Direction, doc.Tone] = {"better": "good", "worse": "bad", "unclear": "dim"}


def direction(id: str, change: Change) -> Direction:
    """Whether a change is for the better: unclear where its interval holds zero."""
    from ragauge.metrics.table import find

    if not change.change:
        return ""
    if change.ci is not None and change.ci[0] <= 0 <= change.ci[1]:
        return "unclear"
    try:
        better = find(id).better
    except UsageError:  # a report outlives the plug-in that made its numbers
        return "changed"
    return "better" if (change.change > 0) == (better == "higher") else "worse"


def _baseline(report: ScoreReport, compared: Comparison, shown: dict[str, str]) -> doc.Section:
    moved = {id: change for id, change in compared.metrics.items() if change.change != 0}
    same = [shown[id] for id in compared.metrics if id not in moved]
    changed = changed_labels(compared)
    inside: list[Block] = [doc.Text(compared.note, "dim", foreign=True)] if compared.note else []
    if moved:
        heads = ("metric", "was", "now", "change", "95 % interval", "direction")
        inside.append(
            Table(
                columns=doc.columns(*heads, right=("was", "now", "change")),
                rows=[_change(id, shown[id], change) for id, change in moved.items()],
            )
        )
    if same:
        inside.append(doc.Text(f"unchanged: {', '.join(same)}", "dim"))
    if changed:
        inside.append(
            Table(
                remark=f"{counted(len(changed), 'question')} changed label",
                columns=doc.columns("question", "was", "now"),
                rows=doc.rows(
                    [names(one.qid, "strong", ("question", one.qid)), Cell(one.was), Cell(one.now)]
                    for one in changed
                ),
                shown=CHANGES_SHOWN,
            )
        )
    return doc.Section(
        title="Against",
        about=compared.baseline,
        remark=overlap_words(report, compared),
        blocks=inside,
        part="baseline",
    )


def _change(id: str, name: str, change: Change) -> Row:
    way = direction(id, change)
    return Row(
        (
            names(name, to=("metric", id)),
            doc.number(change.baseline),
            doc.number(change.value),
            doc.number(change.change, numbers.signed(change.change)),
            Cell(numbers.signed_interval(change.ci), change.ci, "dim"),
            Cell(way, way, TONES.get(way, "")),
        ),
        change.reason or "",
    )


def changed_labels(comparison: Comparison) -> Sequence[LabelChange]:
    """The questions that changed label: what broke, then the rest, then what was fixed."""

    def rank(change: LabelChange) -> int:
        return (change.now in GOOD_LABELS) - (change.was in GOOD_LABELS)

    return sorted(comparison.changed, key=rank)


def overlap_words(report: ScoreReport, comparison: Comparison) -> str:
    """How many questions the two runs share."""
    here = len({row.qid for row in report.questions})
    parts = [
        f"{counted(here - comparison.only_here, 'question')} in both",
        comparison.only_here and f"{count(comparison.only_here)} only here",
        comparison.only_there and f"{count(comparison.only_there)} only there",
    ]
    return ", ".join(part for part in parts if part)
