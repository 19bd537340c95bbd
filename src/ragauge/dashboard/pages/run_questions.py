"""The units of a run one by one: with a form that chooses which, and the columns they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragauge.dashboard.asked import Asked
from ragauge.dashboard.pages.label_drawing import label_name
from ragauge.dashboard.pages.opened_run import QUESTIONS, OpenedRun, TabView
from ragauge.dashboard.pages.run_units import WORST, UnitTable, unit_table
from ragauge.dashboard.rendering import render
from ragauge.dashboard.rightness import right_means
from ragauge.dashboard.unit_list import LIST_FIELDS

if TYPE_CHECKING:
    from markupsafe import Markup

VALUES_OFFERED = 40
"""Of a stratum, the most frequent; others are reached through the pages of the gold set."""


def view(opened: OpenedRun) -> TabView:
    """A page of the units, with the form above it."""
    table = unit_table(opened, opened.asked)
    body = units_body(opened, table, opened.asked, QUESTIONS)
    return TabView(body=body, figures={"questions": table.figures})


def units_body(opened: OpenedRun, table: UnitTable, asked: Asked, tab: str) -> Markup:
    """The form and the table, for any tab that has one."""
    return render(
        "run_units.html",
        table=table,
        listed=table.listed,
        asked={name: asked.exact(name) for name in LIST_FIELDS},
        is_filtered=any(asked.text(name) for name in LIST_FIELDS if name != "sort"),
        labels=[
            (label, label_name(opened.kind, label), times)
            for label, times in opened.counts.labels.items()
        ],
        counts=opened.counts,
        strata=_strata(opened),
        metrics=sorted(opened.run.record.metrics),
        chosen=asked.texts("columns"),
        worst=WORST,
        right_means=right_means(opened.run.record.command),
        action=opened.links.run(opened.run.id, tab),
        address=opened.tab_address(tab),
        links=opened.links,
    )


def _strata(opened: OpenedRun) -> dict[str, list[tuple[str, int]]]:
    """What questions can be filtered by, each value with its questions, the most frequent first."""
    sha256 = opened.run.record.gold_sha256
    known = opened.material.pages.strata(sha256) if sha256 else {}
    ranked = {
        name: sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[:VALUES_OFFERED]
        for name, values in known.items()
    }
    return {name: values for name, values in sorted(ranked.items()) if len(values) > 1}
