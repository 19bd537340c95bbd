"""The page of all runs: searched, filtered and sorted, the newest first."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.paging import PagedHistory, RunQuery
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import addresses, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.run_rows import RunRow, run_table
from ragauge.dashboard.rendering import render

SORTS = ("recorded_at", "name", "command", "passed", "units")
NEWEST = "-recorded_at"
GREEN = {"yes": True, "no": False}
FILTERS = ("q", "name", "command", "green", "label")


def page(material: Material, links: Links, asked: Asked) -> Page:
    """The runs that the address asks for, with what chooses them above."""
    pages = material.pages
    query = _query(asked, pages)
    found = pages.runs(query)
    table = run_table(pages, links, found.rows)
    body = render(
        "runs.html",
        table=table,
        listed=listed(found, asked, NEWEST),
        asked={name: asked.text(name) for name in FILTERS},
        labels=labels_asked(asked),
        is_filtered=any(asked.text(name) for name in FILTERS),
        commands=pages.commands(),
        names=pages.names(),
        newest=_newest(pages),
        compared=_compared(table.rows),
        address=addresses(asked, links.runs() or ""),
        links=links,
    )
    return Page(title="Runs", here="runs", body=body, figures={"runs": table.figures})


def labels_asked(asked: Asked) -> dict[str, str]:
    """The labels that runs must have, each given as `label=key=value`."""
    labels = {}
    for given in asked.texts("label"):
        key, equals, value = (part.strip() for part in given.partition("="))
        if not (key and equals and value):
            raise BadAddress(f'label: "{given[:40]}" is not key=value, such as model=small-3')
        labels[key] = value
    return labels


def _query(asked: Asked, pages: PagedHistory) -> RunQuery:
    sort, down = asked.order(NEWEST)
    if sort not in SORTS and sort not in pages.metrics():
        raise BadAddress(
            f'sort: "{sort[:80]}" is none of {", ".join(SORTS)}, and no run has a metric of that id'
        )
    green = asked.choice("green", tuple(GREEN))
    return RunQuery(
        words=asked.text("q"),
        name=asked.optional("name"),
        command=asked.optional("command"),
        green=GREEN[green] if green else None,
        labels=labels_asked(asked),
        sort=sort,
        descending=down,
        start=asked.start,
        limit=asked.limit,
    )


def _newest(pages: PagedHistory) -> str | None:
    """When the last run of all was recorded; None where there is none."""
    newest = pages.runs(RunQuery(limit=1)).rows
    return newest[0].record.recorded_at if newest else None


def _compared(rows: Sequence[RunRow]) -> tuple[str, str]:
    """The runs to compare unless others are chosen: the newest shown, and that of its kind before.

    Empty where there is none.
    """
    newest_first = sorted(rows, key=lambda row: row.run.record.recorded_at, reverse=True)
    for place, after in enumerate(newest_first):
        before = [row for row in newest_first[place + 1 :] if row.kind == after.kind]
        if before:
            return before[0].run.id, after.run.id
    return "", ""
