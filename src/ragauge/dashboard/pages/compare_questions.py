"""The questions of a comparison: those that flipped, or those whose value of a metric differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct, structs

from ragauge.contracts.comparison import ComparisonReport, Flip, Way
from ragauge.contracts.paging import Paged
from ragauge.contracts.unit_changes import ChangeQuery, Direction
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, Listed, addresses, listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.compare_choice import Choice
from ragauge.metrics.names import short_name
from ragauge.reports.document import Cell, Items, Row, Table, Target, columns, names, number
from ragauge.reports.formats.html import Sorting, written
from ragauge.reports.kinds.comparison import FLIPS, flip_items
from ragauge.reports.numbers import count, counted, signed
from ragauge.runners.paired_units import changed_meaning
from ragauge.text.natural import natural

if TYPE_CHECKING:
    from markupsafe import Markup

PATH = "/compare"
FIELDS = ("q", "way", "was", "now", "sort", "start")
"""What an address says of the questions, and not of the comparison."""
WAYS: tuple[Way, ...] = ("broken", "mended")
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
ORDERS: dict[str, tuple[str, Callable[[Flip], Any]]] = {
    "way": ("broken first", lambda flip: flip.way),
    "unit": ("id", lambda flip: natural(flip.qid)),
    "question": ("question", lambda flip: (flip.question or "").casefold()),
    "was": ("label before", lambda flip: flip.was.label or ""),
    "now": ("label after", lambda flip: flip.now.label or ""),
}
FLIP_COLUMNS = (
    *("unit", "question", "way"),
    *("was_label", "was_claim", "was_cited", "was_explained_by"),
    *("now_label", "now_claim", "now_cited", "now_explained_by"),
)


class Changed(Struct, frozen=True):
    """A question in both runs."""

    unit: str
    question: str | None
    metric: str
    before: float | None
    after: float | None
    change: float | None
    """None where the metric applies to the question in one run only."""
    was_label: str
    now_label: str


class Select(Struct, frozen=True):
    """A field of the form, and what can be chosen in it."""

    name: str
    title: str
    options: Sequence[tuple[str, str]]
    """Each value with its text."""
    chosen: str


class Questions(Struct, frozen=True):
    """A page of questions with the fields to search and filter them by."""

    name: str
    """Of the figures."""
    metric: str
    """Empty for the questions that flipped."""
    words: Sequence[str]
    selects: Sequence[Select]
    search: str
    listed: Listed
    body: Markup
    there: bool
    """Whether there are questions at all, before the filters."""
    figures: Callable[[], Figures]


class CompareLinks:
    """From the metrics of a comparison to the questions that differ, and from these to pages."""

    def __init__(self, report: ComparisonReport, links: Links, asked: Asked) -> None:
        self._report, self._links = report, links
        self._address = address_of(asked, links)

    @property
    def sorting(self) -> Sorting:
        return self._links.sorting

    def to(self, target: Target) -> str | None:
        kind, id = target
        if kind == "question":
            before = self._report.before.id if self._report.before else None
            return self._links.question(self._report.after.id, id, **{"with": before})
        one = self._report.compared.get(id) if kind == "metric" else None
        if one is None or one.change is None or not one.differs:
            return None
        to = self._address(**{**dict.fromkeys(FIELDS), "flip": id})
        return f"{to}#flips" if to else None


def address_of(asked: Asked, links: Links) -> Address:
    """The address of the same comparison with other fields; empty in a file, which has one view."""
    to = addresses(asked, PATH)
    return lambda **changed: to(**changed) if links.compare() else ""


def flips(report: ComparisonReport, links: Links, asked: Asked) -> Questions:
    """The questions that are correct in one run only, as far as the fields select them."""
    sort, down = asked.order("way")
    if sort not in ORDERS:
        raise BadAddress(f'sort: "{sort[:40]}" is none of {", ".join(ORDERS)}')
    found = [flip for flip in report.flips if _is_wanted(flip, asked)]
    found.sort(key=ORDERS[sort][1], reverse=down)
    start = min(asked.start, len(found))
    rows = found[start : start + asked.limit]
    items = Items(items=flip_items(rows, opened=len(rows)))
    counts = report.flip_counts
    kept = {way: sum(flip.way == way for flip in report.flips) for way in WAYS}
    words = [
        f"{word.capitalize()}: {counted(counts[way], 'question')}, {meaning}."
        for way, ((_, word, _), meaning) in FLIPS.items()
    ]
    untold = [(counts[way] - kept[way], FLIPS[way][0][1]) for way in WAYS]
    if any(times for times, _ in untold):
        left = " and ".join(f"{count(times)} {word}" for times, word in untold)
        words.append(f"The report holds the first of each by id; {left} are not listed.")

    def labels(side: str, title: str) -> Select:
        given = sorted({getattr(flip, side).label or "" for flip in report.flips} - {""})
        return _select(side, title, [("", "any"), *((one, one) for one in given)], asked)

    return Questions(
        name="flips",
        metric="",
        words=words,
        selects=[
            _select(
                "way", "Way", [("", "both"), *((way, FLIPS[way][0][1]) for way in WAYS)], asked
            ),
            labels("was", "Before"),
            labels("now", "After"),
            _select("sort", "Order", [(name, text) for name, (text, _) in ORDERS.items()], asked),
        ],
        search=asked.text("q"),
        listed=listed(Paged(rows=tuple(rows), total=len(found), start=start), asked, "way"),
        body=written([items], links=CompareLinks(report, links, asked)),
        there=any(counts.values()),
        figures=lambda: Figures(FLIP_COLUMNS, map(_cells, report.flips)),
    )


def _is_wanted(flip: Flip, asked: Asked) -> bool:
    way = asked.choice("way", WAYS)
    labels = ((asked.text("was"), flip.was.label), (asked.text("now"), flip.now.label))
    if (way and flip.way != way) or any(want and want != label for want, label in labels):
        return False
    texts = filter(None, (flip.qid, flip.question, flip.was.claim, flip.now.claim))
    known = " ".join(texts).casefold()
    return all(word in known for word in asked.text("q").casefold().split())


def _select(name: str, title: str, options: Sequence[tuple[str, str]], asked: Asked) -> Select:
    return Select(name, title, options, asked.text(name))


def _cells(flip: Flip) -> tuple[object, ...]:
    sides = [(side.label, side.claim, side.cited, side.why) for side in (flip.was, flip.now)]
    return (flip.qid, flip.question, flip.way, *sides[0], *sides[1])


def changes(
    material: Material,
    report: ComparisonReport,
    links: Links,
    asked: Asked,
    choice: Choice,
) -> Questions | None:
    """The questions whose value of one metric differs, the largest changes first.

    None while two gold sets are read, once, for the questions that mean something else in each run
    and are left out. Raises BadAddress where the metric is not compared.
    """
    was, now = choice.before, choice.after
    left_out: frozenset[str] | None = frozenset()
    if was.record.gold_sha256 != now.record.gold_sha256:
        left_out = material.jobs.get(
            ("changed meaning", was.record.gold_sha256, now.record.gold_sha256),
            lambda: frozenset(changed_meaning(was, now, material.history)),
        )
    if left_out is None:
        return None
    metric = _metric(report, asked.text("flip"))
    better = report.compared[metric].better
    query = ChangeQuery(
        metric=metric,
        words=asked.text("q"),
        way=asked.choice("way", DIRECTIONS),
        left_out=left_out,
        start=asked.start,
        limit=asked.limit,
    )
    found = material.pages.changes(was, now, query)
    gold, units = now.record.gold_sha256, [one.after.unit for one in found.page.rows]
    texts = material.pages.questions_with(gold, units) if gold else {}
    rows = []
    for one in found.page.rows:
        before, after = one.before.values.get(metric), one.after.values.get(metric)
        known = texts.get(one.after.unit)
        rows.append(
            Changed(
                unit=one.after.unit,
                question=known.question if known else None,
                metric=metric,
                before=before,
                after=after,
                change=None if before is None or after is None else after - before,
                was_label=one.before.label or "",
                now_label=one.after.label or "",
            )
        )
    table = Table(
        columns=columns(
            *("question", "before", "after", "change", "was", "now"),
            right=("before", "after", "change"),
        ),
        rows=[
            Row(
                (
                    names(one.unit, to=("question", one.unit)),
                    number(one.before),
                    number(one.after),
                    Cell("one run only", tone="soft")
                    if one.change is None
                    else number(
                        one.change,
                        signed(one.change),
                        "good" if (one.change > 0) == (better == "higher") else "bad",
                    ),
                    names(one.was_label),
                    names(one.now_label),
                ),
                one.question or "",
            )
            for one in rows
        ],
        paged=True,
    )
    there = bool(found.rose or found.fell or found.same or found.one_sided)
    words = "The runs have this metric over all questions, and not question by question."
    if there:
        words = (
            f"Up in {counted(found.rose, 'question')}, down in {count(found.fell)}, the same in "
            f"{count(found.same)}; {better} is better. The largest changes are first, in either "
            "direction."
        )
    one_sided = (
        f"The metric applies to {counted(found.one_sided, 'question')} in one of the runs only. "
        "They are last: they count in its total and not in the other's."
    )
    ways = [("", "both"), *((way, way) for way in DIRECTIONS)]
    page = Paged(rows=tuple(rows), total=found.page.total, start=found.page.start)
    return Questions(
        name="changes",
        metric=metric,
        words=[words, one_sided] if found.one_sided else [words],
        selects=[_select("way", "Way", ways, asked)],
        search=asked.text("q"),
        listed=listed(page, asked.but(sort=None), "change"),
        body=written([table], links=CompareLinks(report, links, asked)),
        there=there,
        figures=lambda: Figures(Changed.__struct_fields__, map(structs.astuple, rows)),
    )


def _metric(report: ComparisonReport, named: str) -> str:
    found = [id for id in report.compared if named in (id, short_name(id))]
    if named in found or len(found) == 1:
        return named if named in found else found[0]
    there = ", ".join(report.compared)
    raise BadAddress(f'flip: "{named[:80]}" is not compared; there are {there}')
