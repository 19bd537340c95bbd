"""The report of `ragauge eval all`: the summary of all tasks, then each task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragauge.contracts.evaluation import TASKS, EvalAllReport, EvalReport, SummaryNumber
from ragauge.contracts.verdict import Verdict
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import (
    Bar,
    Block,
    Cell,
    Document,
    Item,
    Items,
    Only,
    Row,
    Section,
    Table,
    Text,
    Tone,
    names,
)
from ragauge.reports.formats import junit
from ragauge.reports.kinds import evaluation

TITLES = {
    "ner": "Entities",
    "types": "Types",
    "linking": "Links",
    "retrieval": "Retrieval",
    "qa": "Answers",
}
FAMILIES = ("entities", "labels", "linking", "retrieval")
"""The order of the summary; answers come last."""


def document(report: EvalAllReport) -> Document:
    return Document("eval all", list(_blocks(report)))


def _blocks(report: EvalAllReport) -> Iterator[Block]:
    hint = envelope.how_to_gate(report.passed, "--preset heritage or --gates 'f1_strict>=0.85'")
    yield doc.Verdict(*verdict_words(report), [f"model: {report.model}"], [hint] if hint else [])
    yield summary(report)
    if report.failures:
        yield Table(
            title="Not finished",
            columns=doc.columns("task"),
            rows=[Row((Cell(title(one.task)),), one.error, strong=True) for one in report.failures],
            part="summary",
        )
    # The metrics keep their families here: each is of another task.
    shown_names = {id: id for id in (*report.metrics, *(gate.metric for gate in report.gates))}
    others = other_gates(report)
    explaining = [gate for gate in report.gates if not gate.holds or gate in others]
    yield from doc.gates(explaining, report.metrics, shown_names)
    if explaining and (left := len(report.gates) - len(explaining)):
        yield Text(
            f"{numbers.counted(left, 'more gate')} with the tasks below", "dim", part="gates"
        )
    elsewhere = {id for one in report.tasks.values() for id in one.metrics}
    elsewhere |= {gate.metric for gate in others}
    scores = {id: one for id, one in sorted(report.metrics.items()) if id not in elsewhere}
    if scores:
        yield doc.scores(scores, shown_names, title="Other metrics")
    for name, one in tasks(report):
        word, words = evaluation.verdict_words(one)
        about = [Text(words, "dim"), Text(evaluation.coverage_words(one.coverage), "dim")]
        yield Only(
            frozenset({"text", "markdown"}),
            [Section(title=title(name), remark=word, blocks=[*about, *evaluation.figures(one)])],
        )
    if report.tasks:
        yield doc.in_text(
            Section(
                title="Errors and tables",
                blocks=[Text("--report FILE.html shows them for each task", "dim")],
            )
        )
        yield doc.on_pages(
            Items(
                title="Tasks",
                remark="open one for its tables and its errors",
                items=[_item(name, one) for name, one in tasks(report)],
                part="tasks",
            )
        )
    yield doc.findings(report)
    # What has a task's name is said with that task.
    overall = {name: n for name, n in report.coverage.items() if "." not in name}
    yield doc.Coverage(evaluation.coverage_words(overall), report.identity)


def _item(name: str, one: EvalReport) -> Item:
    word, words = evaluation.verdict_words(one)
    return Item(
        name=title(name),
        badge=("ok" if word == "PASS" else "no_hit" if word == "FAIL" else "other", word, ""),
        about=words,
        blocks=[Text(evaluation.coverage_words(one.coverage), "dim"), *evaluation.body(one)],
    )


def verdict_words(report: EvalAllReport) -> tuple[str, str]:
    """PASS or FAIL, how many numbers of the summary there are, and what the gates did."""
    known = sum(one.value is not None for one in report.summary.values())
    words = [
        f"{numbers.count(known)} of {numbers.counted(len(report.summary), 'number')} measured",
        evaluation.gates_words(report.gates),
    ]
    if report.failures:
        words.append(f"{numbers.counted(len(report.failures), 'task')} could not be finished")
    return envelope.verdict_word(report.passed, report.gates), "; ".join(words)


def summary(report: EvalAllReport) -> Table:
    """The numbers of the summary, each with its metric, its gates, or why it is absent."""
    given = ranked(report)
    gated = [
        [
            gate
            for gate in report.gates
            if gate.metric == one.metric and not numbers.restriction(gate)
        ]
        for _, one in given
    ]
    bounded = ("gate",) if any(gated) else ()
    task_of = {id: name for name, one in tasks(report) for id in one.metrics}

    def row(name: str, one: SummaryNumber, gates: Sequence[Verdict]) -> Row:
        task, failed = task_of.get(one.metric), not all(gate.holds for gate in gates)
        passed = any(gate.verdict == "pass" for gate in gates)
        tone: Tone = "bad" if failed else "good" if passed else "soft" if gates else ""
        bound = next((gate.bound for gate in gates if 0 <= gate.bound <= 1), None)
        bar = None
        if one.value is not None and 0 <= one.value <= 1:
            bar = Bar(one.value, tone if tone in ("bad", "good") else "plain", bound)
        return Row(
            (
                names(name, to=("tab", task) if task else None),
                doc.number(one.value),
                doc.interval(one.ci),
                doc.count(one.n, "" if one.n else "dim"),
                *([Cell(", ".join(map(_gate_words, gates)), tone=tone)] if bounded else []),
                names(one.metric, to=("metric", one.metric)),
                doc.plot(bar),
            ),
            "" if one.value is not None else one.reason or "not measured",
            strong=failed,
        )

    return Table(
        title="Summary",
        remark="the mark on a bar is the bound of its gate" if bounded else "",
        columns=doc.columns(
            *("number", "value", "95 % interval", "n", *bounded, "metric", "plot"),
            right=("value", "n"),
            plots=("plot",),
            spare=("metric", "95 % interval", "n"),
        ),
        rows=[row(name, one, gates) for (name, one), gates in zip(given, gated, strict=True)],
        part="summary",
    )


def ranked(report: EvalAllReport) -> list[tuple[str, SummaryNumber]]:
    """The numbers of the summary, in the order of a pipeline."""

    def place(pair: tuple[str, SummaryNumber]) -> tuple[int, str]:
        family = pair[1].metric.partition(".")[0]
        return FAMILIES.index(family) if family in FAMILIES else len(FAMILIES), pair[1].metric

    return sorted(report.summary.items(), key=place)


def _gate_words(gate: Verdict) -> str:
    """The bound and the verdict; one that is not applicable was compared with nothing."""
    word = envelope.gate_word(gate)
    return word if gate.verdict == "not_applicable" else f"{numbers.bound(gate)} {word}"


def tasks(report: EvalAllReport) -> list[tuple[str, EvalReport]]:
    """The tasks with a report, in the order of a pipeline."""
    known = [name for name in TASKS if name in report.tasks]
    others = sorted(set(report.tasks) - set(known))
    return [(name, report.tasks[name]) for name in [*known, *others]]


def title(name: str) -> str:
    return TITLES.get(name, name)


def other_gates(report: EvalAllReport) -> list[Verdict]:
    """The gates that no task's own report has."""
    known = {gate.rule for one in report.tasks.values() for gate in one.gates}
    return [gate for gate in report.gates if gate.rule not in known]


def cases(report: EvalAllReport) -> Iterator[junit.Suite]:
    """A suite of tasks, where what could not be finished is an error, and the suites of each."""
    found = [
        junit.Case(one.task, junit.Problem("error", one.error, "failed")) for one in report.failures
    ]
    for name, one in tasks(report):
        problem = junit.Problem("failure", evaluation.verdict_words(one)[1], "gates")
        found.append(junit.Case(name, problem if one.passed is False else None))
    yield junit.Suite("tasks", found)
    yield junit.gate_suite(other_gates(report))
    for name, one in tasks(report):
        yield from evaluation.cases(one, f" of {name}")
