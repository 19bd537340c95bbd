"""The heat map of a sweep, question by run: a page of questions, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from ragauge.contracts.history import UnitRow
from ragauge.contracts.paging import UnitQuery
from ragauge.contracts.run import FACTORS
from ragauge.contracts.stability import STABILITIES, StabilityReport
from ragauge.dashboard import parts
from ragauge.dashboard.listing import Listed
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView, ToRun
from ragauge.dashboard.parts import Field
from ragauge.dashboard.unit_list import unit_query
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Section, Span, Text
from ragauge.reports.figures.heat_map import HeatMap, HeatRow, right_of, verdict_name
from ragauge.reports.kinds import stability

TAB = "heatmap"
RIGHT_RUNS = "stability.success"
"""The metric by which a question is worse than another of the same verdict."""
FIELDS = ("q", "label", "stratum")
ABOUT = (
    "a row is a question, the worst first; a column is a run, or several. Select a question to see "
    "its answers"
)


def view(opened: OpenedRun) -> TabView:
    """A page of the heat map, with the verdicts to choose from and what varies below it."""
    report: StabilityReport = opened.report
    asked, action = opened.asked, opened.links.run(opened.run.id, TAB)
    label = asked.choice("label", STABILITIES)
    order = RIGHT_RUNS if RIGHT_RUNS in opened.run.record.metrics else "place"
    query = structs.replace(unit_query(asked), sort=order, descending=False)
    # Words are looked for in all questions at once: once a verdict would take four times as long.
    all_at_once = label is not None or query.words
    rows, total = _worst_first(opened, query, (label,) if all_at_once else stability.WORST_FIRST)
    page = Listed(rows, total, asked.start, asked.limit, "")
    counts = stability.verdict_counts(report)
    verdicts = [(one, f"{verdict_name(one)} ({numbers.count(n)})") for one, n in counts]
    form = parts.form(
        action,
        Field(
            title="Search id and question",
            name="q",
            value=asked.exact("q"),
            kind="search",
            hint="id or words of the question",
        ),
        Field(
            title="Verdict",
            name="label",
            value=asked.exact("label"),
            kind="select",
            options=[("", "all"), *verdicts],
        ),
        replaces="heat",
        clear=action if any(asked.text(name) for name in FIELDS) else None,
    )
    inside = [*_drawn(opened, report, rows, order), parts.pager(page, opened.tab_address(TAB))]
    reasons = [
        (row, text) for row in rows if isinstance(text := row.detail.get("explained_by"), str)
    ]
    if reasons:
        to = _Rows(opened, rows, order)
        why = [
            [
                Span(row.unit, foreign=True, href=to.question(row.unit) or ""),
                *doc.theirs(f" {text}"),
            ]
            for row, text in reasons
        ]
        inside.append(Section(title="What flips them", blocks=[doc.Points(why)]))
    blocks: list[Block] = [
        Section(
            title="Heat map",
            remark=ABOUT,
            blocks=[form, Section(title="", blocks=inside, anchor="heat")],
            part="heatmap tight",
        ),
        *opened.part("factors"),
    ]
    return TabView(blocks=blocks, to=_Rows(opened, rows, order))


def _drawn(
    opened: OpenedRun, report: StabilityReport, rows: Sequence[UnitRow], order: str
) -> Iterator[Block]:
    """The rows of this page that can be drawn, and how many cannot."""
    drawn = []
    for place, row in enumerate(rows, opened.asked.start + 1):
        # The letters of a question's runs; of an older run those that its summary has.
        cells = row.detail.get("cells") or report.cells.get(row.unit)
        known = isinstance(cells, str) and len(cells) == len(report.columns)
        if known and row.label in STABILITIES:
            drawn.append(HeatRow(row.unit, place, row.label, str(cells), _factor(row)))
    if drawn:
        questions = numbers.counted(len(drawn), "question")
        runs = numbers.counted(len(report.columns), "run")
        about = f"Heat map of {questions} by {runs}; the download has the same letters"
        picture = HeatMap(columns=report.columns, rows=drawn, about=about)
        yield doc.Html(lambda at: picture.svg(_Rows(opened, rows, order)))
        heads = ("question", "verdict", "flips_with", "right", "of", *map(str, report.columns))
        yield doc.Data(
            "heatmap",
            heads,
            lambda: (
                (one.qid, one.verdict, one.factor, *right_of(one.cells), *one.cells)
                for one in drawn
            ),
        )
    elif not rows:
        yield parts.empty("No question matches")
    if undrawn := len(rows) - len(drawn):
        its = "its" if undrawn == 1 else "their"
        yield Text(
            f"{numbers.counted(undrawn, 'question')} of this page cannot be drawn: the run was "
            f"recorded without the outcomes of {its} runs. Its complete report has them.",
            "soft",
        )


class _Rows(ToRun):
    """From a row to its question, among those of the same verdict, the worst first."""

    def __init__(self, opened: OpenedRun, rows: Sequence[UnitRow], order: str) -> None:
        super().__init__(opened)
        given = {name: value for name in ("q", "stratum") if (value := opened.asked.exact(name))}
        self._lists = {
            row.unit: {"sort": order, **given, **({"label": row.label} if row.label else {})}
            for row in rows
        }

    def to(self, target: doc.Target) -> str | None:
        return None if target[0] == "here" else super().to(target)

    def question(self, qid: str) -> str | None:
        opened = self._opened
        return opened.links.question(opened.run.id, qid, **self._lists.get(qid, {}))


def _worst_first(
    opened: OpenedRun, query: UnitQuery, labels: Sequence[str | None]
) -> tuple[list[UnitRow], int]:
    """A page of questions, verdict after verdict, each from its worst question on."""
    rows: list[UnitRow] = []
    total = 0
    for label in labels:
        wanted = structs.replace(
            query,
            label=label,
            start=max(0, query.start - total),
            limit=max(1, query.limit - len(rows)),
        )
        found = opened.material.pages.units(opened.run, wanted)
        rows += found.rows[: query.limit - len(rows)]
        total += found.total
    # Rows of a page are together by verdict; those of none that we know come last.
    names: Sequence[str | None] = stability.WORST_FIRST
    rows.sort(key=lambda row: names.index(row.label) if row.label in names else len(names))
    return rows, total


def _factor(row: UnitRow) -> str:
    """The factor that flips a question, as its explanation names it; empty where there is none."""
    words = row.detail.get("explained_by")
    said = words if isinstance(words, str) else ""
    return next((factor for factor in FACTORS if f"differ in {factor} alone" in said), "")
