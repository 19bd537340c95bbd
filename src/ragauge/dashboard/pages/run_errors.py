"""The errors of an evaluation, paged by the server: by kind, by type, by words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.history import REPORT
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.listing import Listed
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView
from ragauge.dashboard.rendering import render
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.document import Target
from ragauge.reports.formats.html import written
from ragauge.reports.kinds.evaluation_errors import (
    Errors,
    ShownError,
    counts_table,
    errors_of,
    errors_table,
    kind_word,
)
from ragauge.reports.kinds.runs import stored_report

if TYPE_CHECKING:
    from ragauge.dashboard.pages.run_components import Component

TYPES_OFFERED = 40
LOOK_AGAIN_S = 2
FIELDS = ("q", "kind", "type")
SPAN = re.compile(r":\d+–\d+$")
"""What the key of a mention has behind its document."""


class ToUnits:
    """From an error to its document or mention, where the run has it as a unit."""

    def __init__(
        self, opened: OpenedRun, component: Component, errors: Sequence[ShownError]
    ) -> None:
        self._opened, self._before = opened, component.before
        units = [self._unit(one.name) for one in errors]
        self._known = opened.material.pages.ends([opened.run], units).get(opened.run.id, {})

    def to(self, target: Target) -> str | None:
        unit = self._unit(target[1])
        known = unit in self._known
        return self._opened.links.question(self._opened.run.id, unit) if known else None

    def _unit(self, name: str) -> str:
        return self._before + SPAN.sub("", name)


def view(opened: OpenedRun, component: Component) -> TabView:
    """A page of the errors that the address asks for, with the form that chooses them."""
    cut = errors_of(component.report)
    complete = _complete(opened, component, cut) if cut else None
    errors = complete or cut
    asked = opened.asked
    found = _found(errors.kept, asked) if errors else []
    shown = found[asked.start : asked.start + asked.limit]
    body = render(
        "run_errors.html",
        errors=errors,
        counts=written([counts_table(errors)]) if errors else "",
        listed=Listed(shown, len(found), asked.start, asked.limit, ""),
        table=written([errors_table(errors, shown)], links=ToUnits(opened, component, shown))
        if errors and shown
        else "",
        is_read=cut is None or complete is not None or len(cut.kept) == cut.total,
        kinds=[(kind, kind_word(kind), errors.counts[kind]) for kind in errors.kinds_seen]
        if errors
        else [],
        types=_types(errors),
        asked={name: asked.text(name) for name in FIELDS},
        is_filtered=any(asked.text(name) for name in FIELDS),
        action=opened.links.run(opened.run.id, component.tab),
        address=opened.tab_address(component.tab),
        links=opened.links,
    )
    waits = bool(cut and complete is None and len(cut.kept) < cut.total)
    return TabView(
        body=body,
        data={"errors": lambda: _figures(found)},
        refresh_s=LOOK_AGAIN_S if waits else None,
    )


def _complete(opened: OpenedRun, component: Component, cut: Errors) -> Errors | None:
    """All errors that the report keeps, read once in the background; None until they are there.

    The summary has some of each kind. Where the report is gone, they are all there is.
    """
    if len(cut.kept) == cut.total:
        return cut
    key = ("errors", opened.run.id, component.before)
    try:
        return opened.material.jobs.get(key, lambda: _read(opened, component) or cut)
    except (UsageError, InputRejected):
        return cut


def _read(opened: OpenedRun, component: Component) -> Errors | None:
    pages, run = opened.material.pages, opened.run
    size = pages.size(run, REPORT)
    if size is None:
        return None
    report = stored_report(pages.part(run, REPORT, 0, size), run.shown)
    if isinstance(report, EvalAllReport):
        report = report.tasks[component.before.removesuffix("/")]
    return errors_of(report) if isinstance(report, EvalReport) else None


def _found(errors: Sequence[ShownError], asked: Asked) -> list[ShownError]:
    words = asked.text("q").casefold().split()
    kind, type = asked.text("kind"), asked.text("type")
    return [
        one
        for one in errors
        if (not kind or one.kind == kind)
        and (not type or one.type == type)
        and (not words or _has(one, words))
    ]


def _has(one: ShownError, words: Sequence[str]) -> bool:
    words_of = [one.name, one.where, *(text for _, text in one.facts)]
    text = " ".join((*words_of, "".join(piece.text for piece in one.pieces))).casefold()
    return all(word in text for word in words)


def _types(errors: Errors | None) -> list[tuple[str, int]]:
    counts = Counter(one.type for one in errors.kept if one.type) if errors else Counter()
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:TYPES_OFFERED]


def _figures(errors: Sequence[ShownError]) -> Figures:
    rows = [
        (
            one.kind,
            one.name,
            one.type,
            "".join(piece.text for piece in one.pieces),
            tuple(f"{name} {text}" for name, text in one.facts),
            one.where,
        )
        for one in errors
    ]
    return Figures(("kind", "unit", "type", "text", "facts", "where"), rows)
