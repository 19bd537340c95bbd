"""The page of a run: its verdict, and a tab for each thing that its kind of report tells."""

from __future__ import annotations

from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links, run_names
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.opened_run import OpenedRun
from ragauge.dashboard.pages.run_head import head, whole_report
from ragauge.dashboard.pages.run_tabs import OVERVIEW, Tab, tabs
from ragauge.dashboard.rendering import render


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The run that the address names, opened at a tab; without one, at its overview."""
    opened = OpenedRun(material, links, asked)
    known = tabs(opened)
    chosen = _chosen(opened, known, asked.text("tab") or OVERVIEW)
    shown = chosen.view(opened)
    body = render(
        "run.html",
        head=head(opened, whole=chosen.name == OVERVIEW),
        tabs=[(one, links.run(opened.run.id, one.address)) for one in known],
        chosen=chosen,
        body=shown.body,
    )
    name = run_names(opened.run)
    return Page(
        title=name if chosen.name == OVERVIEW else f"{chosen.title} · {name}",
        here="runs",
        body=body,
        crumbs=_crumbs(opened, chosen),
        figures={**shown.figures, "report": lambda: whole_report(opened)},
        refresh_s=shown.refresh_s,
    )


def _chosen(opened: OpenedRun, known: list[Tab], name: str) -> Tab:
    found = next((one for one in known if one.name == name), None)
    if found is None:
        there = ", ".join(one.name for one in known)
        raise Missing(f'run {opened.run.shown} has no tab "{name[:80]}"; it has {there}')
    return found


def _crumbs(opened: OpenedRun, chosen: Tab) -> tuple[tuple[str, str | None], ...]:
    links = opened.links
    way = [("Runs", links.runs()), (run_names(opened.run), links.run(opened.run.id))]
    if chosen.name != OVERVIEW:
        way.append((chosen.title, None))
    return tuple(way)
