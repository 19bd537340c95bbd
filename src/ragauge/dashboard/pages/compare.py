"""Compare: two runs next to each other with their questions, or the choice of two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from msgspec import structs

from ragauge.contracts.comparison import ComparisonReport, Flip, Way
from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.contracts.opt import chosen_options
from ragauge.contracts.options import CompareOptions
from ragauge.contracts.paging import Paged, RunQuery
from ragauge.contracts.unit_changes import ChangeQuery, Direction, UnitChange
from ragauge.dashboard import parts
from ragauge.dashboard.jobs import progress
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page, PageTargets, run_names
from ragauge.dashboard.parts import Field, Listed, addresses, listed, select
from ragauge.dashboard.query import BadAddress, Query
from ragauge.errors import RagaugeError, UsageError
from ragauge.metrics.names import short_name
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Span, Text
from ragauge.reports.kinds.comparison import CORRECTIONS, FLIPS, document, flip_items, table
from ragauge.reports.kinds.runs import when
from ragauge.reports.phrasing import count, pluralize
from ragauge.runners.compare import ALLOWANCES
from ragauge.runners.paired_units import changed_meaning

PATH = "/compare"
LAST_RUNS, PAIRS = 100, 12
MEANT = {"before": "to compare with", "after": "that is compared"}
NAMING_RUNS = (
    "A run is the beginning of its id, a tag, latest, green (the last that passed, and that no "
    "gate of a comparison failed), one of these on a branch such as green@main, or commit: with "
    "the beginning of a hash. Before, they mean a run of the same command and name, recorded "
    "earlier."
)
SLICED, VALUES = 4, 20
"""Where the address names no slices: so many strata, of those with at most so many values."""
NO_SLICES = "none"
OPENED = 3  # flipped questions that are shown unfolded
IN_FIELDS = {
    "`ragauge compare` with --allow ": "the address with allow=",
    "--margin ": "margin: ",
    "--slice ": "slices: ",
    "--metric ": "metrics: ",
}
"""Options of the command in the words of its refusals, and the fields that do the same."""
OFFERS = {
    "gold": "Compare the questions that mean the same in both",
    "versions": "Compare the metrics that were made the same way",
}
FIELDS = ("q", "way", "was", "now", "start")
"""What an address says of the questions, and not of the comparison."""
FLIP_COLUMNS = (
    *("unit", "question", "way"),
    *("was_label", "was_claim", "was_cited", "was_explained_by"),
    *("now_label", "now_claim", "now_cited", "now_explained_by"),
)


def page(material: Material, links: Links, query: Query) -> Page:
    """The comparison of the two runs an address names; a form where it does not name both."""
    before, after = query.text("before"), query.text("after")
    if not (before and after):
        return _page(links, "", *_form(material, links, query))
    now = material.run(after)
    try:
        # `green@main` and the like mean a run of the same kind, recorded earlier.
        was = material.history.find(before, like=now)
    except UsageError as error:
        raise Missing(*error.problems) from error
    how, flip = options(material, now, query), query.text("flip")
    title = f"{run_names(was)} and {now.shown}"
    header = parts.header([Span("Compare "), Span(title, foreign=True)])

    key, jobs = ("compare", was.id, now.id, how), material.jobs

    def made() -> ComparisonReport:
        from ragauge.runners.compare import compare_runs

        return compare_runs(was, now, material.history, how, progress)

    try:
        report = jobs.get(key, made)
    except RagaugeError as error:
        return _page(links, title, header, _refused(links, query, error))
    left_out: frozenset[str] | None = frozenset()
    if flip and was.record.gold_sha256 != now.record.gold_sha256:
        left_out = jobs.get(
            ("changed meaning", was.record.gold_sha256, now.record.gold_sha256),
            lambda: frozenset(changed_meaning(was, now, material.history)),
        )
    if report is None or left_out is None:
        waiting = _page(
            links, title, header, parts.computing("Comparing the runs", jobs.fraction(key))
        )
        return structs.replace(waiting, refresh_s=1)
    if not flip:
        return shown(report, how, links, query)
    changes = _changes(material, report, was, now, left_out, links, query)
    return shown(report, how, links, query, changes)


def _page(links: Links, title: str, *blocks: Block) -> Page:
    crumbs = [("Runs", links.runs()), ("Compare", links.compare()), (title, None)]
    crumbs = crumbs if title else [crumbs[0], ("Compare", None)]
    name = f"Compare {title}".strip()
    return Page(title=name, here="compare", blocks=blocks, links=links, crumbs=tuple(crumbs))


def _form(material: Material, links: Links, query: Query) -> Iterator[Block]:
    """The last runs to choose from."""
    yield parts.header("Compare two runs")
    runs = material.pages.runs(RunQuery(limit=LAST_RUNS)).rows
    if not runs:
        code = "ragauge score gold.jsonl traces.jsonl --record"
        yield parts.empty("No runs yet", "A comparison needs two recorded runs.", code)
        return
    given = {name: query.text(name) for name in MEANT}
    problems = []
    for name, reference in given.items() if any(given.values()) else ():
        try:
            if not reference:
                problems.append(f"{name}: is missing; choose the run {MEANT[name]}")
            else:
                material.run(reference)
        except Missing as error:
            problems += [f"{name}: {problem}" for problem in error.problems]
    if problems:
        yield _problem(problems)
    offered = []
    for run in runs:
        known = (run.record.name, run.record.command, when(run.record.recorded_at), *run.tags)
        offered.append((run.shown, ", ".join(known)))
    yield parts.form(
        links.compare(),
        Field("before", given["before"], "Before", "green@main", options=offered),
        Field("after", given["after"], "After", "latest", options=offered),
        button="Compare",
    )
    yield Text(NAMING_RUNS, "dim")


def _problem(problems: Iterable[str], *more: Block) -> Block:
    points = doc.Facts([("", doc.foreign(problem)) for problem in problems])
    return doc.Section(title="", blocks=[points, *more], part="problem")


def _refused(links: Links, query: Query, error: RagaugeError) -> Block:
    """Why the runs cannot be compared so, and what the address may allow."""
    problems = "\n".join(error.problems)
    for option, name in IN_FIELDS.items():
        problems = problems.replace(option, name)
    allowed, address = query.texts("allow"), addresses(query, PATH)
    offers = [
        Text([Span(words, href=address(allow=",".join([*allowed, what])))])
        for what, words in OFFERS.items()
        if f"--allow {what}" in str(error) and what not in allowed
    ]
    return _problem(problems.split("\n"), Text("The runs are not compared.", "strong"), *offers)


def options(material: Material, after: Run, query: Query) -> CompareOptions:
    """How the address asks to compare; raises BadAddress where that cannot be."""

    def words(name: str) -> tuple[str, ...]:
        """A field that may be given several times, or once with commas; each word once."""
        query.text(name)
        found = (word.strip() for text in query.texts(name) for word in text.split(","))
        return tuple(dict.fromkeys(word for word in found if word))

    slices, allow = words("slices"), words("allow")
    if not slices and after.record.gold_sha256 is not None:
        strata = material.pages.strata(after.record.gold_sha256)
        coarse = [name for name, values in strata.items() if 1 < len(values) <= VALUES]
        slices = tuple(sorted(coarse, key=lambda name: (len(strata[name]), name))[:SLICED])
    if unknown := [word for word in allow if word not in ALLOWANCES]:
        there = ", ".join(ALLOWANCES)
        raise BadAddress(*(f'allow: "{word[:40]}" is none of {there}' for word in unknown))
    given: dict[str, Any] = {
        "metrics": words("metrics"),
        "margins": words("margin"),
        "slices": () if slices == (NO_SLICES,) else slices,
        "allow": allow,
    }
    if correction := query.choice("correction", tuple(CORRECTIONS)):
        given["correction"] = correction
    if text := query.text("alpha"):
        try:
            given["alpha"] = float(text)
        except ValueError:
            given["alpha"] = 0.0
        if not 0 < given["alpha"] < 1:
            raise BadAddress(
                f'alpha: "{text[:40]}" is not a number between 0 and 1; write the fraction of '
                "false alarms you accept, such as 0.05"
            )
    try:
        return chosen_options(CompareOptions, "compare", given)
    except UsageError as error:
        raise BadAddress(*error.problems) from error


def shown(
    report: ComparisonReport,
    how: CompareOptions,
    links: Links,
    query: Query,
    questions: Block | None = None,
) -> Page:
    """The blocks of the comparison's report, with the questions in pages that can be searched."""
    # The report's own flips are not shown here, and marking where answers differ takes time.
    document_shown = document(structs.replace(report, flips=()))
    was, now = report.before or report.after, report.after
    blocks: list[Block] = [*document_shown.part("verdict", "compared")]
    if action := links.compare():
        swapped = Span("Swap them", href=links.compare(now.id, was.id) or "")
        blocks.append(Text([swapped, Span(" · "), Span("Compare others", href=action)]))
        fields = [
            Field("before", was.id),
            Field("after", now.id),
            Field("allow", ",".join(how.allow)),
            Field("metrics", ", ".join(how.metrics), "Metrics", "the headlines; or all"),
            Field("margin", ", ".join(how.margins), "Accepted loss", "precision_cited=0.02"),
            Field("slices", ", ".join(how.slices) or NO_SLICES, "Slices"),
            Field("alpha", f"{how.alpha:g}", "Alpha"),
            select("correction", how.correction, "Correction", CORRECTIONS.items()),
        ]
        form = parts.form(action, *fields, button="Compare again")
        blocks.append(doc.Section(title="Options", blocks=[form], folded=True))
    heads, rows = table(report)
    blocks += [
        *document_shown.part("metrics"),
        doc.Data("comparison", heads, lambda: rows),
        *document_shown.part("gates"),
        questions or _flips(report, links, query),
        *document_shown.part("slices", "findings", "coverage"),
    ]
    title = f"{was.name} {was.id[:ID_SHOWN]} and {now.id[:ID_SHOWN]}"

    def changed(metric: str) -> str | None:
        one, address = report.compared.get(metric), addresses(query, PATH)
        if one is None or one.change is None or not one.differs or not links.compare():
            return None
        return f"{address(**{**dict.fromkeys(FIELDS), 'flip': metric})}#flips"

    def question(unit: str) -> str | None:
        return links.question(now.id, unit, **{"with": was.id})

    to = PageTargets(metric=changed, question=question, run=links.run)
    return structs.replace(_page(links, title, *blocks), name=document_shown.name, to=to)


# The questions: those that flipped, or those whose value of a metric differs


def _flips(report: ComparisonReport, links: Links, query: Query) -> Block:
    """The questions that are correct in one run only, as far as the fields select them."""
    way = query.choice("way", get_args(Way))
    was, now, search = query.text("was"), query.text("now"), query.text("q").casefold().split()

    def is_wanted(flip: Flip) -> bool:
        texts = filter(None, (flip.qid, flip.question, flip.was.claim, flip.now.claim))
        known = " ".join(texts).casefold()
        sides = way in (None, flip.way) and was in ("", flip.was.label)
        return sides and now in ("", flip.now.label) and all(word in known for word in search)

    found = list(filter(is_wanted, report.flips))
    start = min(query.start, len(found))
    here = tuple(found[start : start + query.limit])
    counts, names = report.flip_counts, {way: word for way, ((_, word, _), _) in FLIPS.items()}
    words = [
        f"{names[way].capitalize()}: {pluralize(counts.get(way, 0), 'question')}, {meaning}."
        for way, (_, meaning) in FLIPS.items()
    ]
    if left := sum(counts.values()) - len(report.flips):
        words.append(f"The report has the first of each by id; {count(left)} are not listed.")
    inside: list[Block] = [*map(Text, words)]
    if report.flips:
        given = {side.label or "" for one in report.flips for side in (one.was, one.now)}
        labels = [("", "any"), *((label, label) for label in sorted(given - {""}))]
        fields = [
            select("way", way or "", "Way", [("", "both"), *names.items()]),
            select("was", was, "Before", labels),
            select("now", now, "After", labels),
        ]
        page = listed(Paged(rows=here, total=len(found), start=start), query, "way", PATH)
        items = doc.Items(items=flip_items(here, opened=OPENED))
        inside += _list(items, page, fields, links, query)
        inside.append(doc.Data("flips", FLIP_COLUMNS, lambda: map(_flip_row, report.flips)))
    return parts.section("Flipped questions", *inside, anchor="flips")


def _flip_row(flip: Flip) -> Sequence[object]:
    (was, now) = ((one.label, one.claim, one.cited, one.why) for one in (flip.was, flip.now))
    return (flip.qid, flip.question, flip.way, *was, *now)


def _list(
    found: Block, page: Listed, fields: Sequence[Field], links: Links, query: Query
) -> list[Block]:
    """A page of questions, with the fields to search and filter them by."""
    changed = {"figures", "order", "q", "start", *(one.name for one in fields)}
    kept = [Field(name, value) for name, value in query.fields if name not in changed]
    search = Field("q", query.text("q"), "Search", kind="search")
    action = f"{PATH}#flips" if links.compare() else None
    form = parts.form(action, search, *fields, *kept, replaces="flipped")
    return [form, parts.results("flipped", page, "question", None, found)]


def _changes(
    material: Material,
    report: ComparisonReport,
    was: Run,
    now: Run,
    left_out: frozenset[str],
    links: Links,
    query: Query,
) -> Block:
    """The questions whose value of one metric differs, the largest changes first."""
    named = query.text("flip")
    matching = [id for id in report.compared if named in (id, short_name(id))]
    if named not in matching and len(matching) != 1:
        there = ", ".join(report.compared)
        raise BadAddress(f'flip: "{named[:80]}" is not compared; there are {there}')
    metric = named if named in matching else matching[0]
    better, directions = report.compared[metric].better, get_args(Direction)
    way = query.choice("way", directions)
    filters = ChangeQuery(
        metric=metric,
        words=query.text("q"),
        way=way,
        left_out=left_out,
        start=query.start,
        limit=query.limit,
    )
    found = material.pages.changes(was, now, filters)
    gold, units = now.record.gold_sha256, [one.after.unit for one in found.page.rows]
    texts = material.pages.questions_with(gold, units) if gold else {}

    def change(one: UnitChange) -> Cell:
        before, after = one.before.values.get(metric), one.after.values.get(metric)
        if before is None or after is None:
            return doc.number(None)
        good = (after > before) == (better == "higher")
        return doc.signed(after - before, "good" if good else "bad")

    def note(one: UnitChange) -> str:
        known = texts.get(one.after.unit)
        return known.question if known else ""

    questions = doc.table(
        found.page.rows,
        {
            "question": lambda one: doc.names(one.after.unit, to=("question", one.after.unit)),
            "before": lambda one: doc.number(one.before.values.get(metric)),
            "after": lambda one: doc.number(one.after.values.get(metric)),
            "change": change,
            "was": lambda one: doc.names(one.before.label or ""),
            "now": lambda one: doc.names(one.after.label or ""),
        },
        note=note,
        paged=True,
        name="changes",
    )
    back = addresses(query, PATH)(**dict.fromkeys((*FIELDS, "flip")))
    to_flips = Span("Show the questions that broke or were fixed", href=f"{back}#flips")
    inside: list[Block] = [Text([to_flips])]
    if found.rose or found.fell or found.same or found.one_sided:
        words = (
            f"Up in {pluralize(found.rose, 'question')}, down in {count(found.fell)}, the same in "
            f"{count(found.same)}; {better} is better. The largest changes are first."
        )
        if found.one_sided:
            words += (
                f" {count(found.one_sided)} have a value in one of the runs only and are last: "
                "they count in its total and not in the other's."
            )
        fields = [
            select(
                "way", way or "", "Way", [("", "both"), *zip(directions, directions, strict=True)]
            )
        ]
        page = listed(found.page, query.but(sort=None), "change", PATH)
        inside += [Text(words), *_list(parts.carded(questions), page, fields, links, query)]
    else:
        inside.append(Text("The runs have no values of this metric question by question."))
    return doc.Section(title="Questions changed by", about=metric, blocks=inside, anchor="flips")
