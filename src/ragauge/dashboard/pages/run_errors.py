"""The errors of an evaluation, paged by the server: by kind, by type, by words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.history import REPORT
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.listing import Listed
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView
from ragauge.dashboard.rendering import render
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.evaluation.errors import Browser, ToldError, kind_word
from ragauge.reports.evaluation.parts import browser_of
from ragauge.reports.kinds.runs import stored_report

if TYPE_CHECKING:
    from ragauge.dashboard.pages.run_components import Component

TYPES_OFFERED = 40
LOOK_AGAIN_S = 2
FIELDS = ("q", "kind", "type")
SPAN = re.compile(r":\d+–\d+$")
"""What the key of a mention has behind its document."""


class ShownError(Struct, frozen=True):
    """An error, with the way to its document or mention."""

    one: ToldError
    kind_word: str
    href: str | None


def view(opened: OpenedRun, component: Component) -> TabView:
    """A page of the errors that the address asks for, with the form that chooses them."""
    cut = browser_of(component.report)
    whole = _whole(opened, component, cut) if cut else None
    browser = whole or cut
    asked = opened.asked
    found = _found(browser.errors, asked) if browser else []
    shown = found[asked.start : asked.start + asked.limit]
    body = render(
        "run_errors.html",
        browser=browser,
        listed=Listed(shown, len(found), asked.start, asked.limit, ""),
        errors=_shown(opened, component, shown),
        kept=len(browser.errors) if browser else 0,
        is_read=cut is None or whole is not None or len(cut.errors) == cut.total,
        kinds=_kinds(browser),
        types=_types(browser),
        asked={name: asked.text(name) for name in FIELDS},
        is_filtered=any(asked.text(name) for name in FIELDS),
        action=opened.links.run(opened.run.id, component.tab),
        address=opened.tab_address(component.tab),
        links=opened.links,
    )
    waits = bool(cut and whole is None and len(cut.errors) < cut.total)
    return TabView(
        body=body,
        figures={"errors": lambda: _figures(found)},
        refresh_s=LOOK_AGAIN_S if waits else None,
    )


def _shown(
    opened: OpenedRun, component: Component, errors: Sequence[ToldError]
) -> list[ShownError]:
    """The errors of a page; a link only where the run has what an error is in as a unit."""
    units = [component.before + SPAN.sub("", one.name) for one in errors]
    known = opened.material.pages.ends([opened.run], units).get(opened.run.id, {})
    return [
        ShownError(
            one,
            kind_word(one.kind),
            opened.links.question(opened.run.id, unit) if unit in known else None,
        )
        for one, unit in zip(errors, units, strict=True)
    ]


def _whole(opened: OpenedRun, component: Component, cut: Browser) -> Browser | None:
    """All errors that the report keeps, read once in the background; None until they are there.

    The summary has some of each kind. Where the report is gone, they are all there is.
    """
    if len(cut.errors) == cut.total:
        return cut
    key = ("errors", opened.run.id, component.before)
    try:
        return opened.material.jobs.get(key, lambda: _read(opened, component) or cut)
    except (UsageError, InputRejected):
        return cut


def _read(opened: OpenedRun, component: Component) -> Browser | None:
    pages, run = opened.material.pages, opened.run
    size = pages.size(run, REPORT)
    if size is None:
        return None
    report = stored_report(pages.part(run, REPORT, 0, size), run.shown)
    if isinstance(report, EvalAllReport):
        report = report.tasks[component.before.removesuffix("/")]
    return browser_of(report) if isinstance(report, EvalReport) else None


def _found(errors: Sequence[ToldError], asked: Asked) -> list[ToldError]:
    words = asked.text("q").casefold().split()
    kind, type = asked.text("kind"), asked.text("type")
    return [
        one
        for one in errors
        if (not kind or one.kind == kind)
        and (not type or one.type == type)
        and (not words or _has(one, words))
    ]


def _has(one: ToldError, words: Sequence[str]) -> bool:
    told = [one.name, one.where, *(text for _, text in one.facts)]
    text = " ".join((*told, "".join(piece.text for piece in one.pieces))).casefold()
    return all(word in text for word in words)


def _kinds(browser: Browser | None) -> list[tuple[str, str, int]]:
    if browser is None:
        return []
    return [(kind, kind_word(kind), browser.counts[kind]) for kind in browser.kinds_seen()]


def _types(browser: Browser | None) -> list[tuple[str, int]]:
    counts = Counter(one.type for one in browser.errors if one.type) if browser else Counter()
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:TYPES_OFFERED]


def _figures(errors: Sequence[ToldError]) -> Figures:
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
