"""What a suite's report says, in words that every form uses."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from math import floor

from ragauge.contracts.comparison import Compared, ComparisonReport, Outlook
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.suite import CHANGE, SuiteReport, TaskReport
from ragauge.contracts.verdict import Verdict
from ragauge.gates.decide import TOLERANCE
from ragauge.gates.stability import STABLE
from ragauge.reports import envelope, numbers

STATUS_WORDS = {
    "passed": "pass",
    "ungated": "no quality gate",
    "failed": "FAIL",
    "error": "ERROR",
    "skipped": "skipped",
}
OUTLOOK_WORDS: dict[Outlook, str] = {
    "worse": "worse",
    "better": "better",
    "not_worse": "not worse",
    "cannot_tell": "cannot tell",
    "not_comparable": "not comparable",
}
PER_QUESTION = "per question"
_SHARE = re.compile(rf"{PER_QUESTION} (?P<share>\d+ of \d+)")
TOLD: tuple[Outlook, ...] = ("worse", "better", "not_worse")
"""Changes a reader wants to see even where no gate is on them."""


def verdict_words(report: SuiteReport) -> tuple[str, str]:
    """PASS or FAIL, and how many of the tasks came to what."""
    found = report.coverage
    ran = found.tasks - found.skipped
    parts = [f"{found.passed:,} of {numbers.counted(ran, 'task')} passed"]
    parts += [f"{found.ungated:,} without a quality gate"] if found.ungated else []
    parts += [f"{found.failed:,} failed"] if found.failed else []
    parts += [f"{found.error:,} could not be measured"] if found.error else []
    parts += [f"{found.skipped:,} not asked for"] if found.skipped else []
    words = f"suite {report.suite}: {', '.join(parts)}"
    return envelope.verdict_word(report.passed, report.gates), words


def gates_of(report: SuiteReport, task: TaskReport) -> list[Verdict]:
    """All gates of a task, those of its comparison too."""
    own = f"{task.name}/"
    return [gate for gate in report.gates if gate.metric.startswith(own)]


def own_gates(report: SuiteReport, task: TaskReport) -> list[Verdict]:
    """The gates on what a task measured."""
    change = f"{task.name}/{CHANGE}"
    return [gate for gate in gates_of(report, task) if not gate.metric.startswith(change)]


def moved(report: SuiteReport, task: TaskReport) -> list[tuple[str, Compared, Verdict | None]]:
    """What changed against the baseline, or must not: metrics by id, with the gate on each."""
    if task.comparison is None:
        return []
    own = f"{task.name}/{CHANGE}"
    gates = {gate.metric.removeprefix(own): gate for gate in gates_of(report, task)}
    each = [(id, one, gates.get(id)) for id, one in task.comparison.compared.items()]
    return [
        (id, one, gate)
        for id, one, gate in each
        if one.verdict in TOLD or (gate is not None and not gate.holds)
    ]


def gates_word(report: SuiteReport, task: TaskReport) -> str:
    """How many of a task's gates hold; nothing where none was decided."""
    gates = gates_of(report, task)
    return numbers.n_of(sum(gate.holds for gate in gates), len(gates)) if gates else ""


def stopping(report: SuiteReport, task: TaskReport) -> list[Verdict]:
    """The gates that stop a task; one that passed has enough of what the others demand."""
    if task.status in ("passed", "ungated"):
        return []
    return [gate for gate in gates_of(report, task) if not gate.holds]


def name_word(task: TaskReport, gate: Verdict) -> str:
    """What a gate is on; of a rule for each question, with what each must reach."""
    name = gate.metric.removeprefix(f"{task.name}/")
    return f"{name} {numbers.bound(gate)}" if _is_per_question(gate) else name


def value_word(gate: Verdict) -> str:
    """A gate's value; of a rule for each question, how many questions it holds for."""
    if gate.value is not None and _is_per_question(gate):
        return f"{numbers.n_of(round(gate.value * gate.n), gate.n)} hold"
    return numbers.value_beside(gate.value, gate.bound)


def demand_word(report: SuiteReport, task: TaskReport, gate: Verdict) -> str:
    """What decides a gate: its bound; of a rule for each question, how many may fail it.

    In a stability task that is `min_stable`'s to say, of all questions there are.
    """
    if not _is_per_question(gate):
        return numbers.bound(gate)
    for stable in gates_of(report, task):
        if stable.metric == f"{task.name}/{STABLE}":
            return f"at most {floor((1 - stable.bound) * stable.n + TOLERANCE):,} fail"
    share = _SHARE.match(numbers.restriction(gate))
    return f"{share['share']} hold" if share else "all hold"


def _is_per_question(gate: Verdict) -> bool:
    return numbers.restriction(gate).startswith(PER_QUESTION)


def run_word(task: TaskReport) -> str:
    return task.run[:ID_SHOWN] if task.run else ""


def against_words(comparison: ComparisonReport) -> str:
    """A line on the comparison: with which run, and how many metrics went which way."""
    if comparison.before is None:
        return "nothing to compare with yet"
    verdicts = Counter(one.verdict for one in comparison.compared.values())
    told = [f"{verdicts[name]} {words}" for name, words in OUTLOOK_WORDS.items() if verdicts[name]]
    flips = [f"{times:,} {way}" for way, times in sorted(comparison.flip_counts.items()) if times]
    questions = f"; questions {', '.join(flips)}" if flips else ""
    before = comparison.before
    return f"against {before.id[:ID_SHOWN]} ({before.name}): {', '.join(told)}{questions}"


def findings(report: SuiteReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)


def next_steps(report: SuiteReport) -> list[str]:
    """What a reader may want to do now."""
    runs = [task for task in report.tasks if task.run]
    failed = [task for task in runs if task.status == "failed"]
    store = report.identity.get("store")
    where = f" --store {shlex.quote(store)}" if store else ""
    steps = [f"ragauge runs show {run_word(task)}{where}" for task in (failed or runs)[:1]]
    if report.coverage.error:
        steps.append("mend what could not be measured, and start the same command again")
    return steps
