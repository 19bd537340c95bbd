"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.report import Score
from ragauge.contracts.score import Change, Comparison, QuestionRow, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.comment import LONGEST_ID, code, prose, table, without_empty
from ragauge.reports.score import story

QUESTIONS_SHOWN = 25
CHANGES_SHOWN = 20
VALUES_SHOWN = 8


def render(report: ScoreReport) -> str:
    names = story.metric_names(report)
    blocks = [
        *_verdict(report),
        *_gates(report, names),
        *_other_metrics(report, names),
        *_labels(report),
        *_strata(report, names),
        *comment.advice(report.advice),
        *_questions(report),
        *(_baseline(report, report.baseline, names) if report.baseline else ()),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(blocks, story.coverage_words(report.coverage))


def _verdict(report: ScoreReport) -> Iterator[str]:
    word, words = story.verdict_words(report)
    yield f"## Ragauge: {word}"
    yield comment.sentence(words)
    if hint := story.how_to_gate(report):
        yield comment.sentence(hint)


def _gates(report: ScoreReport, names: dict[str, str]) -> Iterator[str]:
    if report.gates:
        heads = (
            "gate",
            "value",
            envelope.interval_title(report.gates),
            "scored",
            "bound",
            "verdict",
            "note",
        )
        rows = [_gate(report, gate, names) for gate in report.gates]
        yield without_empty(heads, rows, right={1, 3})


def _gate(report: ScoreReport, gate: Verdict, names: dict[str, str]) -> list[str]:
    note = envelope.gate_note(gate)
    return [
        code(names[gate.metric]),
        numbers.value_beside(gate.value, gate.bound),
        numbers.interval(gate.ci),
        numbers.n_of(gate.n, envelope.scored_of(report.metrics, gate)),
        code(numbers.bound(gate)),
        comment.gate_verdict(gate),
        code(note) if note else "",
    ]


def _other_metrics(report: ScoreReport, names: dict[str, str]) -> Iterator[str]:
    others = story.other_metrics(report)
    if others:
        yield "### Other metrics" if report.gates else "### Metrics"
        rows = [comment.metric_cells(names[id], score) for id, score in others]
        heads = ("metric", "value", "95 % interval", "scored", "note")
        yield without_empty(heads, rows, right={1, 3})


def _labels(report: ScoreReport) -> Iterator[str]:
    labels = story.labels_in_order(report)
    if labels:
        total = sum(times for _, times in labels)
        rows = [(code(lb), numbers.count(n), numbers.share(n, total)) for lb, n in labels]
        yield "### Labels"
        yield table(("label", "questions", "share"), rows, right={1, 2})
    if refusals := story.refusal_words(report):
        yield comment.sentence(refusals)


def _strata(report: ScoreReport, names: dict[str, str]) -> Iterator[str]:
    for one in story.slices(report):
        (low_name, low), (high_name, high) = one.low, one.high
        yield f"### By {prose(one.stratum)}"
        yield (
            f"{code(names[one.metric])} from {numbers.value(low)} ({code(low_name)})"
            f" to {numbers.value(high)} ({code(high_name)})."
        )
        told = one.told[:VALUES_SHOWN]
        ids = list(told[0][2])
        rows = [
            [code(name), numbers.count(n), *(_sliced(scores.get(id)) for id in ids)]
            for name, n, scores in told
        ]
        heads = ["value", "n", *(code(names[id]) for id in ids)]
        yield table(heads, rows, right=range(1, len(heads)))


def _sliced(score: Score | None) -> str:
    if score is None or score.value is None:
        return numbers.ABSENT
    few = f" (n {score.n})" if score.n < story.FEW else ""
    return numbers.value(score.value) + few


def _questions(report: ScoreReport) -> Iterator[str]:
    everyone = story.wrong_questions(report)
    if not everyone:
        return
    wrong = story.wrong_questions(report, QUESTIONS_SHOWN)
    heads = ("question", "label", "triage", "where", "claim", "cited")
    title = f"{numbers.counted(len(everyone), 'question')} went wrong"
    if len(wrong) < len(everyone):
        title += f", {len(wrong)} shown"
    yield from comment.details(title, table(heads, [_question(row) for row in wrong]))


def _question(row: QuestionRow) -> list[str]:
    return [
        code(row.qid),
        code(row.label),
        code(row.triage),
        code(row.where),
        code(row.claim or row.reason),
        " ".join(code(id, LONGEST_ID) for id in row.cited or ()) or numbers.ABSENT,
    ]


def _baseline(report: ScoreReport, comparison: Comparison, names: dict[str, str]) -> Iterator[str]:
    yield f"### Against {code(comparison.baseline)}"
    yield f"{story.baseline_words(report, comparison)}."
    heads = ("metric", "was", "now", "change", "95 % interval", "", "note")
    rows = [_change(id, names[id], change) for id, change in comparison.metrics.items()]
    if rows:
        yield without_empty(heads, rows, right={1, 2, 3})
    changed = story.changed_labels(comparison)
    if changed:
        shown_rows = [
            (code(one.qid), code(one.was), code(one.now)) for one in changed[:CHANGES_SHOWN]
        ]
        more = len(changed) - len(shown_rows)
        tail = f", {len(shown_rows)} shown" if more else ""
        yield f"{numbers.counted(len(changed), 'question')} changed label{tail}:"
        yield table(("question", "was", "now"), shown_rows)


def _change(id: str, name: str, change: Change) -> list[str]:
    return [
        code(name),
        numbers.value(change.baseline),
        numbers.value(change.value),
        numbers.signed(change.change),
        numbers.signed_interval(change.ci),
        story.direction(id, change),
        code(change.reason) if change.reason else "",
    ]
