"""The units of a run one by one: a form that chooses which, and a table that the server pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import SPENT, SpentOver
from ragauge.contracts.latency import shown_ms
from ragauge.contracts.paging import Paged
from ragauge.dashboard import parts
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.listing import Address, Listed, listed, sorts
from ragauge.dashboard.pages.opened_run import (
    QUESTIONS,
    OpenedRun,
    TabView,
    ToRun,
    label_kind,
    label_name,
)
from ragauge.dashboard.parts import Field
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.rightness import doubt, right_means
from ragauge.dashboard.unit_list import LIST_FIELDS, list_fields, unit_query
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Column, Span, Table, Text, Tone
from ragauge.reports.foreign import cut
from ragauge.reports.kinds import eval_all
from ragauge.reports.kinds import runs as story
from ragauge.reports.numbers import count

WORST = "right"
"""The order unless another is asked for: what went wrong first, then as it was recorded."""
SORTS = ("place", "unit", "label", "right", *SPENT)
CHOSEN = 3
"""Metrics that have a column unless others are chosen."""
MOST_COLUMNS = 12
LONGEST, LONGEST_ID = 200, 40
"""Characters of a text and of an id in a cell; pointing at it shows more."""
LONGEST_TITLE = 2_000
IDS_SHOWN = 6
VALUES_OFFERED = 40
"""Of a stratum, the most frequent; others are reached through the pages of the gold set."""
ENDED: dict[bool | None, tuple[str, Tone]] = {
    True: ("right", "good"),
    False: ("wrong", "bad"),
    None: ("", "soft"),
}


def view(opened: OpenedRun) -> TabView:
    """A page of the units, with the form above it."""
    return TabView(blocks=list(listing(opened, opened.asked, QUESTIONS)), to=ToRun(opened))


def listing(opened: OpenedRun, asked: Asked, tab: str) -> Iterator[Block]:
    """The form and the table, for any tab that has one."""
    found = units(opened, asked)
    page, address = listed(found, asked, WORST), opened.tab_address(tab)
    action = opened.links.run(opened.run.id, tab)
    yield _form(opened, asked, page, action)
    yield Text([Span("right", "strong"), Span(f": {right_means(opened.run.record.command)}.")])
    inside: list[Block] = [unit_table(opened, asked, found.rows, page, address)]
    if not found.rows:
        is_page = found.total > 0
        first = address(start=None) if is_page else action
        words = "Show the first page" if is_page else "Show all"
        title = "There is no such page" if is_page else "Nothing matches"
        inside.append(parts.empty(title, [Span(words, href=first or "")] if action else ""))
    inside.append(parts.pager(page, address))
    yield doc.Section(title="", blocks=inside, anchor="units")


def _form(opened: OpenedRun, asked: Asked, page: Listed, action: str | None) -> doc.Html:
    counts, given = opened.counts, {name: asked.exact(name) for name in LIST_FIELDS}
    labels = [
        (label, f"{label_name(opened.kind, label)} ({count(times)})")
        for label, times in counts.labels.items()
    ]
    if given["label"] and given["label"] not in counts.labels:
        labels.append((given["label"], f"{given['label']} (0)"))
    ends = (("wrong", counts.wrong), ("right", counts.right), ("untold", counts.untold))
    sha256 = opened.run.record.gold_sha256
    strata = {
        name: [
            (f"{name}={value}", f"{value} ({count(times)})")
            for value, times in sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))[
                :VALUES_OFFERED
            ]
        ]
        for name, values in sorted((opened.material.pages.strata(sha256) if sha256 else {}).items())
        if len(values) > 1
    }
    metrics = sorted(opened.run.record.metrics)
    fields = [
        Field(
            title="Search id and question",
            name="q",
            value=given["q"],
            kind="search",
            hint="id or words of the question",
        ),
        Field(
            title="Ended",
            name="right",
            value=given["right"],
            kind="select",
            hint=f"right: {right_means(opened.run.record.command)}",
            options=[("", "any way"), *((way, f"{way} ({count(n)})") for way, n in ends)],
        ),
        Field(name="sort", value=page.order if page.order != WORST else ""),
    ]
    if len(labels) > 1 or given["label"]:
        offered = [("", "all"), *labels]
        fields.append(
            Field(title="Label", name="label", value=given["label"], kind="select", options=offered)
        )
    if strata:
        fields.append(
            Field(
                title="Slice",
                name="stratum",
                value=given["stratum"],
                kind="select",
                options=[("", "all")],
                groups=strata,
            )
        )
    if metrics:
        fields.append(
            Field(
                title="Columns",
                name="columns",
                kind="boxes",
                options=[(id, id) for id in metrics],
                values=asked.texts("columns") or list(_columns(opened, asked)),
            )
        )
    filtered = any(asked.text(name) for name in LIST_FIELDS if name != "sort")
    return parts.form(action, *fields, replaces="units", clear=action if filtered else None)


def units(opened: OpenedRun, asked: Asked) -> Paged[UnitRow]:
    """The units that the address asks for; raises BadAddress."""
    known, query = opened.run.record.metrics, unit_query(asked, WORST)
    if query.sort not in SORTS and query.sort not in known:
        there = ", ".join((*SORTS, *sorted(known)))
        raise BadAddress(f'sort: "{query.sort[:80]}" is none of {there}')
    _columns(opened, asked)
    return opened.material.pages.units(opened.run, query)


def unit_table(
    opened: OpenedRun, asked: Asked, rows: Sequence[UnitRow], page: Listed, address: Address
) -> Table:
    """The units, each with the way to its own page, without columns that would be empty."""
    fields = {"sort": WORST} | list_fields(asked)
    ids = [row.unit for row in rows]
    gold, taken = _gold(opened, ids), opened.spent_over
    spent = opened.material.pages.spent(opened.run, ids) if taken else {}

    def unit(row: UnitRow) -> Cell:
        return _text(row.unit, LONGEST_ID, opened.links.question(opened.run.id, row.unit, **fields))

    def question(row: UnitRow) -> Cell:
        return _text(_question(gold.get(row.unit)))

    def label(row: UnitRow) -> Cell:
        name = label_name(opened.kind, row.label)
        return Cell(name, foreign=True, badge=label_kind(opened.kind, row.label) if name else "")

    def ended(row: UnitRow) -> Cell:
        word, tone = ENDED[row.right]
        return Cell(word, row.right, tone, drawn=drawn("ended", word, doubt(row)))

    def said(row: UnitRow) -> Cell:
        """What was said, or why nothing was; details are as they were recorded, so of any kind."""
        given = (row.detail.get(name) for name in ("error", "claim", "answer"))
        text = next((one for one in given if isinstance(one, str) and one), "")
        return _text(text, tone="bad" if row.detail.get("error") else "")

    def took(name: str) -> Callable[[UnitRow], Cell]:
        def cell(row: UnitRow) -> Cell:
            value = spent.get(row.unit, {}).get(name)
            return doc.number(value, spent_words(name, value))

        return cell

    def listed_ids(row: UnitRow, name: str) -> Cell:
        given = row.detail.get(name)
        every = [str(one) for one in given] if isinstance(given, list | tuple) else []
        shown = [(cut(id, LONGEST_ID), cut(id, LONGEST_TITLE)) for id in every[:IDS_SHOWN]]
        more = max(0, len(every) - IDS_SHOWN)
        return Cell(" ".join(every), drawn=drawn("ids", shown, more) if every else None)

    columns: dict[str | Column, Callable[[UnitRow], Cell]] = {
        sorts("unit", "unit", page, address): unit,
        Column("question", prose=True): question,
        sorts("label", "label", page, address): label,
        sorts("ended", "right", page, address): ended,
        Column("said", spare=1, prose=True): said,
        Column("cited", spare=2): lambda row: listed_ids(row, "cited"),
        Column("fails", spare=3): lambda row: listed_ids(row, "failed"),
    }
    for id, name in _columns(opened, asked).items():
        columns[sorts(name, id, page, address, right=True)] = _value(id)
    for name in taken:
        head = name.removesuffix("_ms")
        columns[sorts(head, name, page, address, right=True, spare=1)] = took(name)
    made = doc.table(rows, columns, paged=True, below=False, name=QUESTIONS)
    optional = ("question", "label", "said", "cited", "fails")
    return doc.filled(made, [one.title for one in made.columns if one.title not in optional])


def spent_words(name: str, value: float | None) -> str:
    """
    >>> spent_words("latency_ms", 812.4), spent_words("tokens", 1340.0), spent_words("cost", 0.0021)
    ('812 ms', '1,340', '0.0021')
    """
    if value is None:
        return ""
    return shown_ms(value) if name == "latency_ms" else f"{value:,.{0 if name == 'tokens' else 4}f}"


def spent_table(taken: Mapping[str, SpentOver]) -> Table:
    """Latency, tokens and cost over the samples whose traces say so."""

    def cell(name: str, value: float) -> Cell:
        return doc.number(value, spent_words(name, value))

    return doc.table(
        taken,
        {
            "": lambda name: Cell(name.removesuffix("_ms")),
            "p50": lambda name: cell(name, taken[name].p50),
            "p95": lambda name: cell(name, taken[name].p95),
            "total": lambda name: (
                doc.plot(None) if name == "latency_ms" else cell(name, taken[name].total)
            ),
            "samples": lambda name: doc.count(taken[name].n),
        },
        title="Latency, tokens and cost",
        remark="as the traces report them",
    )


def _value(id: str) -> Callable[[UnitRow], Cell]:
    return lambda row: doc.number(row.values.get(id))


def _text(text: str, most: int = LONGEST, href: str | None = "", tone: Tone = "") -> Cell:
    short = cut(text, most)
    hint = "" if short == text else cut(text, LONGEST_TITLE)
    return Cell(short, text or None, tone, foreign=True, href=href or "", hint=hint)


def _columns(opened: OpenedRun, asked: Asked) -> Mapping[str, str]:
    """The metrics that have a column, by their ids, with the names to show."""
    known, wanted = opened.run.record.metrics, asked.texts("columns")
    if unknown := [id for id in wanted if id not in known]:
        raise BadAddress(f'columns: this run has no metric "{unknown[0][:80]}"')
    if len(wanted) > MOST_COLUMNS:
        raise BadAddress(f"columns: {len(wanted)} are asked for, and there is room for 12")
    return story.short_names(dict.fromkeys(wanted) or metrics_shown(opened))


def metrics_shown(opened: OpenedRun) -> list[str]:
    """The metrics that have a column unless others are chosen: those of gates first.

    Of several tasks in one run it is the numbers of the summary: a unit has those of its own.
    """
    if isinstance(opened.report, EvalAllReport):
        wanted = dict.fromkeys(one.metric for _, one in eval_all.ranked(opened.report))
        if known := [id for id in wanted if id in opened.report.metrics]:
            return known[:MOST_COLUMNS]
    gated = gated_metrics(opened.run)
    return list(dict.fromkeys([*gated, *story.headlines([opened.run])]))[:CHOSEN]


def gated_metrics(run: Run) -> list[str]:
    """The metrics that a gate is on, those of gates that do not hold first."""
    gates = sorted(run.record.gates, key=lambda gate: gate.holds)
    return list(dict.fromkeys(one.metric for one in gates if one.metric in run.record.metrics))


def question_text(opened: OpenedRun, unit: str) -> str:
    """The question; empty where the gold set does not have it, or holds only the unit's id."""
    return _question(_gold(opened, [unit]).get(unit))


def _gold(opened: OpenedRun, units: Sequence[str]) -> dict[str, Gold]:
    sha256 = opened.run.record.gold_sha256
    return opened.material.pages.questions_with(sha256, units) if sha256 and units else {}


def _question(gold: Gold | None) -> str:
    return gold.question if gold is not None and gold.question != gold.qid else ""
