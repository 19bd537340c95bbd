"""The questions that speak against the gates of a run, for the one file: its tables do not sort
themselves by a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.history import UnitRow
from ragauge.contracts.paging import UnitQuery
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.dashboard.file_links import place
from ragauge.dashboard.pages.opened_run import QUESTIONS
from ragauge.dashboard.rendering import render
from ragauge.gates.decide import satisfies
from ragauge.reports import numbers
from ragauge.reports.foreign import cut

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragauge.dashboard.pages.opened_run import OpenedRun

WORST_LISTED = 10
"""Questions of a gate."""
LONGEST_ID = 60


class Against(Struct, frozen=True):
    """A gate that does not hold, with the questions that have the worst values."""

    id: str
    metric: str
    bound: str
    questions: tuple[tuple[str, str, str | None], ...]
    """A question, its value, and the way to it."""


def against_gates(opened: OpenedRun) -> list[Against]:
    """Every metric of which a gate does not hold, where questions have a value of their own."""
    broken = {gate.metric: gate for gate in opened.run.record.gates if not gate.holds}
    known = [gate for metric, gate in broken.items() if metric in opened.run.record.metrics]
    found = [_against(opened, gate, number) for number, gate in enumerate(known, 1)]
    return [one for one in found if one.questions]


def told(opened: OpenedRun, gates: list[Against]) -> Markup:
    """The lists, for under the tables of the overview."""
    all_questions = opened.links.run(opened.run.id, QUESTIONS)
    return render("report_file_gates.html", gates=gates, all_questions=all_questions)


def _against(opened: OpenedRun, gate: Verdict, number: int) -> Against:
    order = opened.worst_first(gate.metric)
    query = UnitQuery(
        sort=order.removeprefix("-"), descending=order.startswith("-"), limit=WORST_LISTED
    )
    rows = opened.material.pages.units(opened.run, query).rows
    return Against(
        id=place("gate", number),
        metric=gate.metric,
        bound=numbers.bound(gate),
        questions=tuple(_question(opened, row, gate) for row in rows if _is_against(row, gate)),
    )


def _is_against(row: UnitRow, gate: Verdict) -> bool:
    """Whether the question by itself would not hold the gate; unknown where it has no value."""
    value = row.values.get(gate.metric)
    rule = Rule(metric=gate.metric, op=gate.op, bound=gate.bound)
    return value is not None and not satisfies(rule, value)


def _question(opened: OpenedRun, row: UnitRow, gate: Verdict) -> tuple[str, str, str | None]:
    value = numbers.value_beside(row.values[gate.metric], gate.bound)
    href = opened.links.question(opened.run.id, row.unit)
    return cut(row.unit, LONGEST_ID), value, href
