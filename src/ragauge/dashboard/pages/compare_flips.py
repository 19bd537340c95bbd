"""The questions that are right in one of two runs only, a page of them at a time."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from ragauge.contracts.comparison import ComparisonReport, Flip, Way
from ragauge.contracts.paging import Paged
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, Listed, addresses, listed
from ragauge.dashboard.page import Figures
from ragauge.reports.differences import Marked, marked_beside

PATH = "/compare"
WAYS: tuple[Way, ...] = ("broken", "mended")
ORDERS: dict[str, Callable[[Flip], str]] = {
    "unit": lambda flip: flip.qid,
    "question": lambda flip: (flip.question or "").casefold(),
    "way": lambda flip: flip.way,
    "was": lambda flip: flip.was.label or "",
    "now": lambda flip: flip.now.label or "",
}
COLUMNS = (
    *("unit", "question", "way"),
    *("was_label", "was_claim", "was_cited", "was_explained_by"),
    *("now_label", "now_claim", "now_cited", "now_explained_by"),
)


class FlipRow(Struct, frozen=True):
    """A flipped question as its row shows it."""

    flip: Flip
    href: str | None
    was: Marked
    now: Marked
    """What each run said, in pieces; marked is what the other did not say."""
    was_cited: tuple[tuple[str, bool], ...]
    now_cited: tuple[tuple[str, bool], ...]
    """Each id, and whether only this run cites it."""


class Flips(Struct, frozen=True):
    """A page of flipped questions with what they can be looked for by."""

    listed: Listed
    counts: dict[Way, int]
    untold: dict[Way, int]
    """How many of each way a comparison does not hold any more."""
    words: dict[str, str]
    labels: dict[str, tuple[str, ...]]


def flips(report: ComparisonReport, links: Links, asked: Asked) -> Flips:
    """The flipped questions that the fields ask for."""
    found = _ordered([flip for flip in report.flips if _wanted(flip, asked)], asked)
    start = min(asked.start, len(found))
    rows = tuple(_row(report, flip, links) for flip in found[start : start + asked.limit])
    kept = {way: sum(flip.way == way for flip in report.flips) for way in WAYS}
    return Flips(
        listed=listed(Paged(rows=rows, total=len(found), start=start), asked, "way"),
        counts=report.flip_counts,
        untold={way: report.flip_counts[way] - kept[way] for way in WAYS},
        words={name: asked.text(name) for name in ("q", "way", "was", "now", "sort")},
        labels={
            "was": tuple(sorted({flip.was.label for flip in report.flips if flip.was.label})),
            "now": tuple(sorted({flip.now.label for flip in report.flips if flip.now.label})),
        },
    )


def addresses_of(asked: Asked, links: Links) -> Address:
    """The way to the same comparison with other fields; None in a file, which has one view."""
    to = addresses(asked, PATH)
    return lambda **changed: to(**changed) if links.compare() else ""


def figures(report: ComparisonReport) -> Figures:
    """All the flipped questions that the comparison holds."""
    return Figures(COLUMNS, [_cells(flip) for flip in report.flips])


def _cells(flip: Flip) -> tuple[object, ...]:
    sides = [(side.label, side.claim, side.cited, side.why) for side in (flip.was, flip.now)]
    return (flip.qid, flip.question, flip.way, *sides[0], *sides[1])


def _wanted(flip: Flip, asked: Asked) -> bool:
    way = asked.choice("way", WAYS)
    labels = ((asked.text("was"), flip.was.label), (asked.text("now"), flip.now.label))
    if (way and flip.way != way) or any(want and want != label for want, label in labels):
        return False
    told = " ".join(
        filter(None, (flip.qid, flip.question, flip.was.claim, flip.now.claim))
    ).casefold()
    return all(word in told for word in asked.text("q").casefold().split())


def _ordered(found: list[Flip], asked: Asked) -> list[Flip]:
    sort, down = asked.order("way")
    if sort not in ORDERS:
        raise BadAddress(f'sort: "{sort[:40]}" is none of {", ".join(ORDERS)}')
    return sorted(found, key=ORDERS[sort], reverse=down)


def _row(report: ComparisonReport, flip: Flip, links: Links) -> FlipRow:
    was, now = flip.was, flip.now
    before = report.before.id if report.before else None
    return FlipRow(
        flip=flip,
        href=links.question(report.after.id, flip.qid, **{"with": before}),
        was=marked_beside(was.claim or "", now.claim or ""),
        now=marked_beside(now.claim or "", was.claim or ""),
        was_cited=tuple((id, id not in now.cited) for id in was.cited),
        now_cited=tuple((id, id not in was.cited) for id in now.cited),
    )
