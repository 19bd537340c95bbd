"""The heat map of a sweep, question by run: a page of questions, the worst first."""

from __future__ import annotations

from msgspec import structs

from ragauge.contracts.stability import STABILITIES, StabilityReport, right_of
from ragauge.dashboard import parts
from ragauge.dashboard.pages.opened_run import OpenedRun, TabView, ToRun
from ragauge.dashboard.parts import Field, Listed
from ragauge.dashboard.unit_list import list_fields, unit_query
from ragauge.metrics.worst_first import WORST_FIRST
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Column, Section
from ragauge.reports.figures.heat_map import HeatMap, HeatRow, verdict_name
from ragauge.reports.kinds import stability

TAB = "heatmap"
CORRECT_RUNS = "stability.success"
ABOUT = "a row is a question, the fewest correct runs first; a column is a run, or several"


def view(opened: OpenedRun) -> TabView:
    """A page of the heat map, with the verdicts to choose from and what varies below it."""
    report: StabilityReport = opened.report
    asked, action = opened.asked, opened.links.run(opened.run.id, TAB)
    asked.choice("label", STABILITIES)
    order = CORRECT_RUNS if CORRECT_RUNS in opened.run.record.metrics else "place"
    query = structs.replace(unit_query(asked), sort=order, descending=False)
    found = opened.material.pages.units(opened.run, query)
    # Rows of a page are together by verdict; those of none that we know come last.
    ranks: dict[str | None, int] = {one: rank for rank, one in enumerate(WORST_FIRST)}
    rows = sorted(found.rows, key=lambda row: ranks.get(row.label, len(ranks)))
    counts = stability.verdict_counts(report)
    verdicts = [(one, f"{verdict_name(one)} ({numbers.count(n)})") for one, n in counts]
    form = parts.form(
        action,
        Field("q", asked.exact("q"), "Search id and question", kind="search"),
        parts.select("label", asked.exact("label"), "Verdict", [("", "all"), *verdicts]),
        replaces="heat",
        clear=action if any(map(asked.text, ("q", "label", "stratum"))) else None,
    )
    to = ToRun(opened, **{**list_fields(asked), "sort": order})
    # The letters of a question's runs; of an older run those that its summary has.
    cells = {row.unit: row.detail.get("cells") or report.cells.get(row.unit, "") for row in rows}
    drawn = [
        HeatRow(row.unit, row.label, str(cells[row.unit]))
        for row in rows
        if row.label in STABILITIES and len(cells[row.unit]) == len(report.columns)
    ]
    page = Listed(rows, found.total, asked.start, asked.limit, "")
    inside: list[Block] = []
    if drawn:
        heat_map = HeatMap(report.columns, drawn, len(rows))
        inside.append(doc.Html(lambda at: heat_map.html(to)))
        heads = ("question", "verdict", "right", "of", *map(str, report.columns))
        letters = [(one.qid, one.verdict, *right_of(one.cells), *one.cells) for one in drawn]
        inside.append(doc.Data("heatmap", heads, lambda: letters))
    elif rows:
        inside.append(doc.Text("The run was recorded without the outcomes of its runs.", "soft"))
    else:
        inside.append(parts.no_rows(page, "question", opened.tab_address(TAB), action or ""))
    inside.append(parts.pager(page, opened.tab_address(TAB)))
    if explained := [row for row in rows if row.detail.get("explained_by")]:
        why = doc.table(
            explained,
            {
                "question": lambda row: doc.names(row.unit, to=("question", row.unit)),
                Column("explained by", prose=True): lambda row: doc.names(
                    str(row.detail["explained_by"])
                ),
            },
            title="What changes the outcome",
        )
        inside.append(why)
    found_here = [form, Section(blocks=inside, anchor="heat")]
    picture = Section(title="Heat map", remark=ABOUT, blocks=found_here, part="heatmap tight")
    return TabView(blocks=[picture, *opened.part("factors")], to=to)
