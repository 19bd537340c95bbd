"""A component's evaluation: matrices, tables by type, spread, slices, errors, grounded answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail, EvalReport, LabelDetail
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages import run_errors, run_spread
from ragauge.dashboard.pages.opened_run import QUESTIONS, Fragments, OpenedRun, TabView, ToRun
from ragauge.dashboard.pages.type_scatter import scatter
from ragauge.dashboard.rendering import render
from ragauge.reports.kinds.evaluation_errors import errors_of
from ragauge.reports.kinds.evaluation_tables import matrices

if TYPE_CHECKING:
    from markupsafe import Markup

FIRST = ("gates", "metrics")
"""What the tab of a task begins with; a run of one task has these in its overview."""
CONTENTS = {
    "advice": "Advice",
    "first": "Gates and metrics",
    "matrix": "Matrix",
    "types": "Precision and recall by type",
    "spread": "Spread of the queries",
    "tables": "Tables",
    "strata": "Slices",
    "errors": "Errors",
    "answers": "Answers",
    "findings": "Findings",
}
"""The parts of a tab in their order, as its list of contents names them."""


class Component(Struct, frozen=True, kw_only=True):
    """The evaluation of one task, alone in its run or one of several."""

    report: EvalReport
    fragments: Fragments
    tab: str
    before: str = ""
    """What the ids of its units begin with besides."""


def view(opened: OpenedRun) -> TabView:
    """All tables and pictures of a run of one task."""
    return _shown(opened, _alone(opened, "components"))


def errors_view(opened: OpenedRun) -> TabView:
    """The errors of a run of one task, to go through."""
    return run_errors.view(opened, _alone(opened, "errors"))


def answers_view(opened: OpenedRun) -> TabView:
    """The least grounded answers, sentence by sentence."""
    component = _alone(opened, "support")
    body = render("run_answers.html", body=component.fragments.part("grounds"), links=opened.links)
    return TabView(body=body, data={"answers": lambda: _answer_figures(component.report)})


def task_view(opened: OpenedRun, task: str) -> TabView:
    """One task of several: its numbers first, then its tables, errors and answers."""
    from markupsafe import Markup

    before = f"{task}/"
    report = opened.report.tasks[task]
    fragments = Fragments(report, ToRun(opened, before=before))
    component = Component(report=report, fragments=fragments, tab=task, before=before)
    numbers = Markup("\n").join(fragments.part(name) for name in FIRST)
    return _shown(opened, component, numbers, with_all=True)


def errors_total(report: EvalReport) -> int:
    """How many errors there are to go through, also of those that are not kept."""
    found = errors_of(report)
    return found.total if found else 0


def has_answers(report: EvalReport) -> bool:
    return isinstance(report.detail, AnswerDetail) and bool(report.detail.worst)


def _alone(opened: OpenedRun, tab: str) -> Component:
    return Component(
        report=opened.report, fragments=Fragments(opened.report, ToRun(opened)), tab=tab
    )


def _shown(
    opened: OpenedRun,
    component: Component,
    first: Markup | None = None,
    *,
    with_all: bool = False,
) -> TabView:
    part, report = component.fragments.part, component.report
    spread = run_spread.spread(opened, report, component.before)
    types = scatter(report.per_type)
    errors = run_errors.view(opened, component) if with_all and errors_total(report) else None
    parts = {
        "advice": part("advice") if with_all else None,
        "first": first,
        "matrix": part("confusion"),
        "types": types,
        "spread": spread,
        "tables": part("tables"),
        "strata": part("slices"),
        "errors": errors.body if errors else None,
        "answers": part("grounds") if with_all and has_answers(report) else None,
        "findings": part("findings") if with_all else None,
    }
    body = render(
        "run_components.html",
        **parts,
        contents=[(name, title) for name, title in CONTENTS.items() if _is_there(parts[name])],
        has_types=bool(report.per_type),
        has_strata=bool(report.per_stratum),
        units=opened.links.run(opened.run.id, QUESTIONS, q=component.before) if with_all else None,
        links=opened.links,
    )
    busy = [one.refresh_s for one in (spread, errors) if one and one.refresh_s]
    return TabView(
        body=body,
        data=_figures(report, spread) | dict(errors.data if errors else {}),
        refresh_s=min(busy, default=None),
    )


def _is_there(part: Any) -> bool:
    return bool(part.strip() if isinstance(part, str) else part)


def _figures(
    report: EvalReport, spread: run_spread.Spread | None
) -> dict[str, Callable[[], Figures]]:
    found: dict[str, Callable[[], Figures]] = {}
    if isinstance(detail := report.detail, LabelDetail):
        found["matrix"] = lambda: _matrix_figures(detail)
    if report.per_type:
        found["types"] = lambda: _type_figures(report)
    if report.per_stratum:
        found["slices"] = lambda: _slice_figures(report)
    if isinstance(report.detail, AnswerDetail):
        found["answers"] = lambda: _answer_figures(report)
    if spread and spread.tenths:
        found["spread"] = spread.figures
    return found


def _matrix_figures(detail: LabelDetail) -> Figures:
    rows = [
        (matrix.title, gold, predicted, times)
        for matrix in matrices(detail)
        for gold, counts in zip(matrix.labels, matrix.counts, strict=True)
        for predicted, times in zip(matrix.labels, counts, strict=True)
    ]
    return Figures(("matrix", "gold", "predicted", "items"), rows)


def _type_figures(report: EvalReport) -> Figures:
    columns = sorted({name for one in report.per_type.values() for name in one})
    rows = [
        (type, *(one.get(name) for name in columns))
        for type, one in sorted(report.per_type.items())
    ]
    return Figures(("type", *columns), rows)


def _slice_figures(report: EvalReport) -> Figures:
    rows = [
        (stratum, value, id, one.value, *(one.ci or (None, None)), one.n, one.of)
        for stratum, values in sorted(report.per_stratum.items())
        for value, scores in sorted(values.items())
        for id, one in sorted(scores.items())
    ]
    return Figures(("stratum", "value", "metric", "score", "low", "high", "n", "of"), rows)


def _answer_figures(report: EvalReport) -> Figures:
    """A row for each sentence that is shown; one for an answer without any."""
    detail: Any = report.detail
    rows: list[tuple[object, ...]] = []
    for answer in detail.worst:
        about = (answer.id, answer.question, answer.answer)
        if not answer.sentences:
            rows.append((*about, None, None, None, None))
        for number, one in enumerate(answer.sentences, 1):
            chunk = one.evidence.chunk if one.evidence else None
            rows.append((*about, number, one.support.text, one.support.score, chunk))
    columns = ("id", "question", "answer", "sentence", "text", "support", "evidence")
    return Figures(columns, rows)
