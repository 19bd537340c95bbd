"""The page of a run: its verdict, and a tab for each thing that its kind of report tells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.contracts.history import ID_SHOWN, REPORT, Run
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Figures, Page
from ragauge.dashboard.pages.opened_run import OpenedRun, drawn_labels
from ragauge.dashboard.pages.run_tabs import OVERVIEW, Tab, tabs
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


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The run that the address names, opened at a tab; without one, at its overview."""
    opened = OpenedRun(material, links, asked)
    run, known, wanted = opened.run, tabs(opened), asked.text("tab") or OVERVIEW
    chosen = next((one for one in known if one.name == wanted), None)
    if chosen is None:
        there = ", ".join(one.name for one in known)
        raise Missing(f'run {run.shown} has no tab "{wanted[:80]}"; it has {there}')
    shown, name = chosen.view(opened), run_names(run)
    title, crumbs = name, [("Runs", links.runs()), (name, links.run(run.id))]
    if chosen.name != OVERVIEW:
        title = f"{chosen.title} · {name}"
        crumbs.append((chosen.title, None))
    return Page(
        title=title,
        here="runs",
        drawn=below_head(opened, shown.body, known, chosen.name),
        crumbs=tuple(crumbs),
        data={**shown.data, "report": lambda: _whole_report(opened)},
        refresh_s=shown.refresh_s,
    )


def below_head(
    opened: OpenedRun, body: Markup, tabs: Sequence[Tab] = (), chosen: str = OVERVIEW
) -> Markup:
    """A tab below the verdict and who the run is; an overview also tells how it was made."""
    run, links = opened.run, opened.links
    before = _run_before(opened)
    return render(
        "run.html",
        body=body,
        tabs=[
            (one, links.run(run.id, "" if one.name == OVERVIEW else one.name), one.name == chosen)
            for one in tabs
        ],
        run=run,
        record=run.record,
        verdict=story.verdict(run),
        words=opened.fragments.words if opened.fragments else "",
        beside=opened.fragments.beside if opened.fragments else "",
        code=story.code(run.record.git),
        labels=sorted(run.record.labels.items()),
        shares=drawn_labels(opened.kind, opened.counts),
        regressed=[(id[:ID_SHOWN], links.compare(id, run.id)) for id in run.regressions],
        compare=links.compare(before.id, run.id) if before else None,
        before=before,
        history=_history(opened),
        gold=links.gold(run.record.gold_sha256) if run.record.gold_sha256 else None,
        report=links.figures("report", "json") if REPORT in run.record.files else None,
        facts=story.facts(run) if chosen == OVERVIEW else (),
        links=links,
    )


def _run_before(opened: OpenedRun) -> Run | None:
    """The last run of the same command and name that was recorded before this one."""
    try:
        return opened.material.history.find("latest", like=opened.run)
    except UsageError:
        return None


def _history(opened: OpenedRun) -> tuple[str, str | None]:
    """A metric and its history: that of a gate that does not hold, else the headline."""
    record = opened.run.record
    broken = (gate.metric for gate in record.gates if not gate.holds)
    known = [metric for metric in broken if metric in record.metrics]
    metric = next(iter([*known, *story.headlines([opened.run])]), "")
    links = opened.links
    return metric, links.history(metric, name=record.name, command=record.command) if metric else ""


def _whole_report(opened: OpenedRun) -> Figures:
    """The report as it was recorded, nothing cut."""
    content = opened.material.file(opened.run, REPORT)
    if content is None:
        raise BadAddress(f"figures: run {opened.run.shown} has no {REPORT}")
    return Whole((), (), content)
