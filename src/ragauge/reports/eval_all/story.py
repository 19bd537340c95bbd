"""What the evaluation of all components tells; the forms only write it down."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.evaluation import TASKS, EvalAllReport, EvalReport, SummaryNumber
from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.evaluation import story as evaluation
from ragauge.reports.evaluation.gates import gates_table, tone
from ragauge.reports.evaluation.tables import Cell, Row, Table, counted, named, number

TITLES = {
    "ner": "Entities",
    "types": "Types",
    "linking": "Links",
    "retrieval": "Retrieval",
    "qa": "Answers",
}


def verdict_words(report: EvalAllReport) -> tuple[str, str]:
    """PASS or FAIL, how many numbers of the summary there are, and what the gates did."""
    told = sum(one.value is not None for one in report.summary.values())
    words = [
        f"{numbers.count(told)} of {numbers.counted(len(report.summary), 'number')} measured",
        evaluation.gates_words(report.gates),
    ]
    if report.failures:
        failed = numbers.counted(len(report.failures), "task")
        words.append(f"{failed} could not be finished")
    return envelope.verdict_word(report.passed, report.gates), "; ".join(words)


def model_words(report: EvalAllReport) -> str:
    hint = envelope.how_to_gate(report.passed, "--preset heritage or --gates 'f1_strict>=0.85'")
    return f"model: {report.model}{f'. {hint}' if hint else ''}"


def summary(report: EvalAllReport) -> Table:
    """The numbers of the summary, each with its metric, its gate, or why it is absent."""
    told = ranked(report)
    gated = [_gates_of(report, one.metric) for _, one in told]
    bounded = ("gate",) if any(gated) else ()
    heads = ("number", "value", "95 % interval", "n", *bounded, "metric")
    rows = tuple(
        Row(
            (
                named(name),
                number(one.value),
                Cell(numbers.interval(one.ci), tone="soft"),
                counted(one.n),
                *([_gate_cell(gates)] if bounded else []),
                named(one.metric),
            ),
            share=one.value if one.value is not None and 0 <= one.value <= 1 else None,
            mark=_mark(gates),
            note="" if one.value is not None else one.reason or "not measured",
            strong=not all(gate.holds for gate in gates),
            tone=_tone(gates),
        )
        for (name, one), gates in zip(told, gated, strict=True)
    )
    return Table(
        title="Summary",
        heads=heads,
        rows=rows,
        right=frozenset({1, 3}),
        bar="value",
        spare=(len(heads) - 1, 2, 3),
    )


def ranked(report: EvalAllReport) -> list[tuple[str, SummaryNumber]]:
    """The numbers of the summary, in the order of a pipeline."""
    return sorted(report.summary.items(), key=lambda pair: _place(pair[1].metric))


def _gates_of(report: EvalAllReport, metric: str) -> list[Verdict]:
    """The gates that speak of a metric over the whole set."""
    return [
        gate for gate in report.gates if gate.metric == metric and not numbers.restriction(gate)
    ]


def _gate_cell(gates: Sequence[Verdict]) -> Cell:
    tones = {tone(gate) for gate in gates}
    worst = next((one for one in ("bad", "good", "soft") if one in tones), "")
    return Cell(", ".join(map(_gate_words, gates)), tone=worst)


def _gate_words(gate: Verdict) -> str:
    """The bound and the verdict; what is not applicable was held against nothing."""
    word = envelope.gate_word(gate)
    return word if gate.verdict == "not_applicable" else f"{numbers.bound(gate)} {word}"


def _tone(gates: Sequence[Verdict]) -> str:
    """The colour of a number's bar: as its gates decided, and plain where none did."""
    if not all(gate.holds for gate in gates):
        return "bad"
    return "good" if any(gate.verdict == "pass" for gate in gates) else "plain"


def _mark(gates: Sequence[Verdict]) -> float | None:
    return next((gate.bound for gate in gates if 0 <= gate.bound <= 1), None)


def failures(report: EvalAllReport) -> Table | None:
    """The tasks that could not be finished; None where all were."""
    if not report.failures:
        return None
    rows = tuple(
        Row((Cell(title(one.task)),), note=one.error, strong=True) for one in report.failures
    )
    return Table(title="Not finished", heads=("task",), rows=rows)


def tasks(report: EvalAllReport) -> list[tuple[str, EvalReport]]:
    """The tasks with a report, in the order of a pipeline."""
    known = [name for name in TASKS if name in report.tasks]
    others = sorted(set(report.tasks) - set(known))
    return [(name, report.tasks[name]) for name in [*known, *others]]


def title(name: str) -> str:
    return TITLES.get(name, name)


def other_gates(report: EvalAllReport) -> list[Verdict]:
    """The gates that no task's own report has."""
    told = {gate.rule for one in report.tasks.values() for gate in one.gates}
    return [gate for gate in report.gates if gate.rule not in told]


def gates_told(report: EvalAllReport) -> list[Verdict]:
    """The gates that explain the verdict: those that do not hold, and those of no task."""
    others = other_gates(report)
    return [gate for gate in report.gates if not gate.holds or gate in others]


def gates(report: EvalAllReport) -> Table | None:
    """The gates that explain the verdict, as a table; None where all hold within their tasks."""
    told = gates_told(report)
    left = len(report.gates) - len(told)
    about = f"{numbers.counted(left, 'more gate')} {_stand(left)} below, with their tasks"
    return gates_table(told, report.metrics, metric_names(report), about if left else "")


def _stand(times: int) -> str:
    return "holds, and stands" if times == 1 else "hold, and stand"


def other_metrics(report: EvalAllReport) -> list[tuple[str, Score]]:
    """The metrics that no task's own report has, such as those of answers."""
    told = {id for one in report.tasks.values() for id in one.metrics}
    told |= {gate.metric for gate in other_gates(report)}
    return sorted((id, score) for id, score in report.metrics.items() if id not in told)


def metric_names(report: EvalAllReport) -> dict[str, str]:
    """The metrics keep their families here: each is of another task."""
    gated = [gate.metric for gate in report.gates]
    return {id: id for id in dict.fromkeys([*report.metrics, *gated])}


def findings(report: EvalAllReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)


def coverage_words(report: EvalAllReport) -> str:
    """How much was evaluated, over all tasks; what has a task's name is told with that task."""
    whole = {name: n for name, n in report.coverage.items() if "." not in name}
    return evaluation.coverage_words(whole)


_FAMILIES = ("entities", "labels", "linking", "retrieval")


def _place(metric: str) -> tuple[int, str]:
    """Where a number stands: in the order of the tasks, answers last."""
    family = metric.partition(".")[0]
    place = _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)
    return place, metric
