"""The report of `ragauge eval all`: the summary of all tasks, then each task."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from ragauge.contracts.evaluation import TASKS, EvalAllReport, EvalReport, SummaryNumber
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, gate_suite
from ragauge.reports.document import Block, Cell, Column, Document, Table, names
from ragauge.reports.kinds import evaluation

TITLES = {
    "ner": "Entities",
    "types": "Types",
    "linking": "Links",
    "retrieval": "Retrieval",
    "qa": "Answers",
}


def document(report: EvalAllReport) -> Document:
    return Document("eval all", list(_blocks(report)))


def _blocks(report: EvalAllReport) -> Iterator[Block]:
    known = sum(one.value is not None for one in report.summary.values())
    measured = f"{known} of {phrasing.pluralize(len(report.summary), 'number')} measured"
    failed = len(report.failures)
    unfinished = failed and f"{phrasing.pluralize(failed, 'task')} could not be finished"
    gates = phrasing.gate_counts(report) or "no gates"
    text = doc.listed(measured, gates, unfinished, sep="; ")
    hint = phrasing.how_to_gate(report.passed, "--preset heritage or --gates 'f1_strict>=0.85'")
    word = phrasing.verdict_word(report.passed, report.gates)
    yield doc.Verdict(word, text, [f"model: {report.model}"], [hint] if hint else [])
    yield summary(report)
    if report.failures:
        yield doc.table(
            report.failures,
            {"task": lambda one: Cell(TITLES[one.task])},
            note=lambda one: one.error,
            title="Not finished",
            part="summary",
        )
    # The metrics keep their families here: each is of another task.
    ids = {gate.metric: gate.metric for gate in report.gates}
    yield from doc.gates(report.gates, report.metrics, ids)
    sections, items = [], []
    for name, one in tasks(report):
        word, text = evaluation.verdict_text(one)
        covered = doc.Text(evaluation.coverage_text(one.counts), "dim")
        # The gates of all tasks are above.
        figures = evaluation.figures(structs.replace(one, gates=()))
        inside = [doc.Text(text, "dim"), covered, *figures]
        sections.append(doc.Section(title=TITLES[name], remark=word, blocks=inside))
        badge = "ok" if word == "PASS" else "no_hit" if word == "FAIL" else "other"
        body = [covered, *evaluation.body(one)]
        items.append(doc.Item(name=TITLES[name], badge=(badge, word, ""), about=text, blocks=body))
    if items:
        more = doc.Text("--report FILE.html shows the tables and the errors of each task", "dim")
        yield doc.Only(frozenset({"text", "markdown"}), [*sections, more])
        yield doc.on_pages(doc.Items(title="Tasks", items=items))
    yield doc.findings(report)
    # Findings named after a task are shown with that task.
    overall = {name: n for name, n in report.coverage.items() if "." not in name}
    yield doc.coverage(evaluation.coverage_text(overall), report.identity)


def summary(report: EvalAllReport) -> Table:
    """The numbers of the summary, each with its metric, its gate, or why it is absent."""
    task_of = {id: name for name, one in tasks(report) for id in one.metrics}
    # Of several gates on a metric, one that does not hold is shown.
    shown = {one.metric for one in report.summary.values()}
    gates = [one for one in report.gates if one.metric in shown and not phrasing.restriction(one)]
    by_metric = {gate.metric: gate for gate in sorted(gates, key=lambda gate: not gate.holds)}

    def number(pair: tuple[str, SummaryNumber]) -> Cell:
        task = task_of.get(pair[1].metric)
        return names(pair[0], to=("tab", TITLES[task].lower()) if task else None)

    def gated(pair: tuple[str, SummaryNumber]) -> Cell:
        if (gate := by_metric.get(pair[1].metric)) is None:
            return Cell("")
        word = doc.gate_word(gate)
        return structs.replace(word, text=f"{phrasing.bound(gate)} {word.text}")

    def bar(pair: tuple[str, SummaryNumber]) -> Cell:
        value, gate = pair[1].value, by_metric.get(pair[1].metric)
        drawn = doc.Bar(value or 0.0, gated(pair).tone or "plain", gate.bound if gate else None)
        return doc.plot(None if value is None else drawn)

    table = doc.table(
        ranked(report),
        {
            "number": number,
            Column("value", right=True): lambda pair: doc.number(pair[1].value),
            Column("95 % interval", spare=2): lambda pair: doc.interval(pair[1].ci),
            Column("n", right=True, spare=1): lambda pair: doc.count(pair[1].n),
            "gate": gated,
            Column("metric", spare=3): lambda pair: names(
                pair[1].metric, to=("metric", pair[1].metric)
            ),
            Column("", plot=True): bar,
        },
        note=lambda pair: "" if pair[1].value is not None else pair[1].reason or "not measured",
        strong=lambda pair: gated(pair).tone == "bad",
        title="Summary",
        remark="a mark on a bar is the bound of its gate" if gates else "",
        part="summary",
    )
    return doc.without_empty_columns(table, ("value", "95 % interval"))


def ranked(report: EvalAllReport) -> list[tuple[str, SummaryNumber]]:
    """The numbers of the summary, in the order of a pipeline."""
    families = ("entities", "labels", "linking", "retrieval", "answers")

    def place(pair: tuple[str, SummaryNumber]) -> tuple[int, str]:
        return families.index(pair[1].metric.partition(".")[0]), pair[1].metric

    return sorted(report.summary.items(), key=place)


def tasks(report: EvalAllReport) -> list[tuple[str, EvalReport]]:
    """The tasks with a report, in the order of a pipeline."""
    return [(name, report.tasks[name]) for name in TASKS if name in report.tasks]


def cases(report: EvalAllReport) -> Iterator[Suite]:
    """A suite of tasks, in which unfinished ones are errors, and the suites of each task."""
    found = [Case(one.task, one.error, kind="error", type="failed") for one in report.failures]
    for name, one in tasks(report):
        text = evaluation.verdict_text(one)[1] if one.passed is False else ""
        found.append(Case(name, text, type="gates"))
    yield Suite("tasks", found)
    # The gates of a task that has a report are in its own suite.
    known = {gate.rule for one in report.tasks.values() for gate in one.gates}
    yield gate_suite(gate for gate in report.gates if gate.rule not in known)
    for name, one in tasks(report):
        yield from evaluation.cases(one, f" of {name}")
