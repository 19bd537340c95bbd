"""The units of a run one by one: a form that chooses which, and a table that the server pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ragauge.contracts.evaluation import EvalAllReport
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import SPENT, SpentOver
from ragauge.contracts.latency import shown_ms
from ragauge.contracts.paging import Paged
from ragauge.dashboard import parts
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.opened_run import (
    OpenedRun,
    label_kind,
    label_name,
)
from ragauge.dashboard.parts import Field, Listed, draw_macro, listed, sorts
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import (
    LIST_FIELDS,
    QUESTIONS,
    correct_means,
    doubt,
    list_fields,
    unit_query,
    units_tab,
)
from ragauge.metrics.names import long_name
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Cell, Column, Span, Table, Text, Tone
from ragauge.reports.kinds import eval_all
from ragauge.reports.kinds import runs as story
from ragauge.reports.phrasing import count, short_names
from ragauge.text.visible import cut

CellOf = Callable[[UnitRow], Cell]

WORST = "right"
"""The order unless another is requested: what went wrong first, then as it was recorded."""
SORTS = ("place", "unit", "label", "right", *SPENT)
CHOSEN, MOST_COLUMNS = 3, 12
"""Metrics that have a column unless others are chosen, and at most."""
LONGEST, LONGEST_ID, LONGEST_TITLE = 200, 40, 2_000
"""Characters of a text and of an id in a cell, and of the hint that shows more."""
IDS_SHOWN = 6
VALUES_OFFERED = 40
"""Of a stratum, the most frequent; others are reached through the pages of the gold set."""
WAYS: Mapping[str, str] = {"wrong": "incorrect", "right": "correct", "untold": "unknown"}
RESULTS: dict[bool | None, tuple[str, Tone]] = {
    True: ("correct", "good"),
    False: ("incorrect", "bad"),
    None: ("", "soft"),
}


def view(opened: OpenedRun) -> Page:
    """A page of the units, with the form above it."""
    return opened.view(*listing(opened, opened.query, units_tab(opened.run)))


def listing(opened: OpenedRun, query: Query, tab: str) -> Iterator[Block]:
    """The form and the table, for any tab that has one."""
    found = units(opened, query)
    action = opened.links.run(opened.run.id, tab)
    page = listed(found, opened.query, WORST, action or "")
    yield _form(opened, query, page, action)
    yield Text([Span("correct", "strong"), Span(f": {correct_means(opened.run.record.command)}.")])
    table = unit_table(opened, query, page)
    yield parts.results("units", page, "sample", action, table)
    if not found.rows:
        yield table  # it is not shown, and can be downloaded all the same


def _form(opened: OpenedRun, query: Query, page: Listed, action: str | None) -> doc.Html:
    counts, given = opened.counts, {name: query.exact(name) for name in LIST_FIELDS}
    hint = "id or words of the question"
    fields = [
        Field("q", given["q"], "Search id and question", hint, kind="search"),
        Field("sort", page.order if page.order != WORST else ""),
    ]

    def select(title: str, name: str, options: parts.Options, **about: Any) -> None:
        offered = [("", "all"), *options]
        fields.append(parts.select(name, given[name], title, offered, **about))

    means = f"correct: {correct_means(opened.run.record.command)}"
    choices = [(way, f"{word} ({count(getattr(counts, way))})") for way, word in WAYS.items()]
    select("Result", "right", choices, hint=means)
    labels = {**counts.labels, **({given["label"]: 0} if given["label"] else {}), **counts.labels}
    if len(labels) > 1 or given["label"]:
        names = {label: label_name(opened.kind, label) for label in labels}
        select("Label", "label", [(one, f"{names[one]} ({count(n)})") for one, n in labels.items()])
    sha256 = opened.run.record.gold_sha256
    strata = opened.material.pages.strata(sha256) if sha256 else {}
    groups = {
        name: [
            (f"{name}={value}", f"{value} ({count(values[value])})")
            for value in sorted(values, key=lambda one: (-values[one], one))[:VALUES_OFFERED]
        ]
        for name, values in sorted(strata.items())
        if len(values) > 1
    }
    if groups:
        select("Slice", "stratum", (), groups=groups)
    if metrics := sorted(opened.run.record.metrics):
        chosen = query.texts("columns") or list(_columns(opened, query))
        boxes = [(id, id) for id in metrics]
        fields.append(
            Field(title="Columns", name="columns", kind="boxes", options=boxes, values=chosen)
        )
    filtered = any(query.text(name) for name in LIST_FIELDS if name != "sort")
    return parts.form(action, *fields, replaces="units", clear=action if filtered else None)


def units(opened: OpenedRun, query: Query) -> Paged[UnitRow]:
    """The units that the address requests; raises BadAddress."""
    known, filters = opened.run.record.metrics, unit_query(query, WORST)
    if filters.sort not in SORTS and filters.sort not in known:
        there = ", ".join((*SORTS, *sorted(known)))
        raise BadAddress(f'sort: "{filters.sort[:80]}" is none of {there}')
    _columns(opened, query)
    return opened.material.pages.units(opened.run, filters)


def unit_table(opened: OpenedRun, query: Query, page: Listed) -> Table:
    """The units, each with the way to its own page, without columns that would be empty."""
    rows: Sequence[UnitRow] = page.rows
    fields = {"sort": WORST} | list_fields(query)
    units = [row.unit for row in rows]
    gold, taken = _gold(opened, units), opened.spent_over
    spent = opened.material.pages.spent(opened.run, units) if taken else {}

    def unit(row: UnitRow) -> Cell:
        return _text(row.unit, LONGEST_ID, opened.links.question(opened.run.id, row.unit, **fields))

    def label(row: UnitRow) -> Cell:
        name = label_name(opened.kind, row.label)
        return Cell(name, foreign=True, badge=label_kind(opened.kind, row.label) if name else "")

    def result(row: UnitRow) -> Cell:
        word, tone = RESULTS[row.right]
        return Cell(word, row.right, tone, drawn=draw_macro("ended", word, doubt(row)))

    def answer(row: UnitRow) -> Cell:
        """The answer, or why there is none; details are as they were recorded, so of any kind."""
        given = (row.detail.get(name) for name in ("error", "claim", "answer"))
        text = next((one for one in given if isinstance(one, str) and one), "")
        return _text(text, tone="bad" if row.detail.get("error") else "")

    def ids(name: str) -> CellOf:
        def cell(row: UnitRow) -> Cell:
            given = row.detail.get(name)
            every = [str(one) for one in given] if isinstance(given, list | tuple) else []
            shown = [(cut(id, LONGEST_ID), cut(id, LONGEST_TITLE)) for id in every[:IDS_SHOWN]]
            more = max(0, len(every) - IDS_SHOWN)
            return Cell(" ".join(every), drawn=draw_macro("ids", shown, more) if every else None)

        return cell

    def value(id: str) -> CellOf:
        return lambda row: doc.number(row.values.get(id))

    def took(name: str) -> CellOf:
        return lambda row: spent_cell(name, spent.get(row.unit, {}).get(name))

    columns: dict[str | Column, CellOf] = {
        sorts("id", "unit", page): unit,
        Column("question", prose=True): lambda row: _text(_question(gold.get(row.unit))),
        sorts("label", "label", page): label,
        sorts("result", "right", page): result,
        Column("answer", spare=1, prose=True): answer,
        Column("cited", spare=2): ids("cited"),
        Column("fails", spare=3): ids("failed"),
    }
    for id, name in _columns(opened, query).items():
        columns[sorts(name, id, page, right=True)] = value(id)
    for name in taken:
        head = name.removesuffix("_ms")
        columns[sorts(head, name, page, right=True, spare=1)] = took(name)
    made = doc.table(rows, columns, paged=True, below=False, name=QUESTIONS)
    optional = ("question", "label", "answer", "cited", "fails")
    return parts.carded(
        doc.without_empty_columns(
            made, [one.title for one in made.columns if one.title not in optional]
        )
    )


def spent_cell(name: str, value: float | None) -> Cell:
    """
    >>> [spent_cell(*one).text for one in (("latency_ms", 812.4), ("tokens", 1340.0), ("cost", 0))]
    ['812 ms', '1,340', '0.0000']
    """
    if value is None:
        return Cell("")
    words = (
        shown_ms(value) if name == "latency_ms" else f"{value:,.{0 if name == 'tokens' else 4}f}"
    )
    return doc.number(value, words)


def spent_table(taken: Mapping[str, SpentOver]) -> Table:
    """Latency, tokens and cost over the samples whose traces say so."""
    return doc.table(
        taken,
        {
            "": lambda name: Cell(name.removesuffix("_ms")),
            "p50": lambda name: spent_cell(name, taken[name].p50),
            "p95": lambda name: spent_cell(name, taken[name].p95),
            "total": lambda name: spent_cell(
                name, None if name == "latency_ms" else taken[name].total
            ),
            "samples": lambda name: doc.count(taken[name].n),
        },
        title="Latency, tokens and cost",
        remark="as the traces report them",
    )


def _text(text: str, most: int = LONGEST, href: str | None = "", tone: Tone = "") -> Cell:
    short = cut(text, most)
    hint = "" if short == text else cut(text, LONGEST_TITLE)
    return Cell(short, text or None, tone, foreign=True, href=href or "", hint=hint)


def _columns(opened: OpenedRun, query: Query) -> Mapping[str, str]:
    """The metrics that have a column, by their ids, with the names to show."""
    known, wanted = opened.run.record.metrics, query.texts("columns")
    if unknown := [id for id in wanted if id not in known]:
        raise BadAddress(f'columns: this run has no metric "{unknown[0][:80]}"')
    if len(wanted) > MOST_COLUMNS:
        raise BadAddress(f"columns: {len(wanted)} are requested; at most {MOST_COLUMNS} fit")
    shown = short_names(dict.fromkeys(wanted) or metrics_shown(opened))
    return {id: long_name(id, name) for id, name in shown.items()}


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
