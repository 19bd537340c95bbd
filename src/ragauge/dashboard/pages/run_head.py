"""The head of a run's page: the verdict first, who the run is, and the way to what is near it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.history import ID_SHOWN, REPORT, Run
from ragauge.dashboard.asked import BadAddress
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.label_drawing import drawn_labels
from ragauge.dashboard.pages.opened_run import OpenedRun
from ragauge.dashboard.rendering import render
from ragauge.errors import UsageError
from ragauge.reports.kinds import runs as story

if TYPE_CHECKING:
    from markupsafe import Markup


class Whole(Figures, frozen=True):
    """A file of a run that is JSON already, given as it is."""

    content: bytes = b""

    def form(self, name: str) -> bytes:
        if name != "json":
            raise BadAddress(f"figures: the whole report is JSON; there is no {name} of it")
        return self.content


def head(opened: OpenedRun, *, whole: bool) -> Markup:
    """The verdict and who the run is; with `whole` also what is known of its making."""
    run = opened.run
    before = run_before(opened)
    return render(
        "run_head.html",
        run=run,
        record=run.record,
        verdict=story.verdict(run),
        words=opened.fragments.words if opened.fragments else "",
        beside=opened.fragments.beside if opened.fragments else "",
        code=story.code(run.record.git),
        labels=sorted(run.record.labels.items()),
        shares=drawn_labels(opened.kind, opened.counts),
        regressed=[(id[:ID_SHOWN], opened.links.compare(id, run.id)) for id in run.regressions],
        compare=opened.links.compare(before.id, run.id) if before else None,
        before=before,
        history=_history(opened),
        gold=opened.links.gold(run.record.gold_sha256) if run.record.gold_sha256 else None,
        report=opened.links.figures("report", "json") if REPORT in run.record.files else None,
        facts=story.facts(run) if whole else (),
        links=opened.links,
    )


def run_before(opened: OpenedRun) -> Run | None:
    """The last run of the same command and name that was recorded before this one."""
    try:
        return opened.material.history.find("latest", like=opened.run)
    except UsageError:
        return None


def whole_report(opened: OpenedRun) -> Figures:
    """The report as it was recorded, nothing cut."""
    pages, run = opened.material.pages, opened.run
    size = pages.size(run, REPORT)
    if size is None:
        raise BadAddress(f"figures: run {run.shown} has no {REPORT}")
    return Whole((), (), pages.part(run, REPORT, 0, size))


class Way(Struct, frozen=True):
    """A metric and the page of its history."""

    metric: str
    href: str


def _history(opened: OpenedRun) -> Way | None:
    """The metric a reader asks after: that of a gate that does not hold, else the headline."""
    record = opened.run.record
    broken = (gate.metric for gate in record.gates if not gate.holds)
    known = [metric for metric in broken if metric in record.metrics]
    metric = next(iter([*known, *story.headlines([opened.run])]), None)
    if metric is None:
        return None
    href = opened.links.history(metric, name=record.name, command=record.command)
    return Way(metric, href) if href else None
