"""The one-file report: the views of a run, and around it, in a file that asks nobody for anything.

The views are those of the dashboard, made once each, with links that lead to places in the file.
The same history gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct, structs

from ragauge.contracts.documents import Documents
from ragauge.contracts.history import History, Run, UnitRow
from ragauge.contracts.paging import LONGEST_PAGE, Paged, Rightness, UnitQuery
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.dashboard import assets
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.file_limits import DOCUMENTS, LINES, LONGEST_DOCUMENTS, Limits
from ragauge.dashboard.file_links import DocumentPlace, FileLinks, place
from ragauge.dashboard.file_views import ids_in, placed
from ragauge.dashboard.jobs import AtOnce
from ragauge.dashboard.links import run_names
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages.opened_run import QUESTIONS
from ragauge.dashboard.rendering import render
from ragauge.errors import UsageError
from ragauge.gates.decide import satisfies
from ragauge.reports import numbers
from ragauge.reports.foreign import cut
from ragauge.reports.kinds import runs as story
from ragauge.reports.templating import policy

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragauge.contracts.documents import Documents
    from ragauge.contracts.paging import Paged
    from ragauge.dashboard.pages.opened_run import OpenedRun
    from ragauge.dashboard.pages.run_questions import UnitTable

CITED = "cited"
"""The id of the span that a document is opened at."""
STYLE = Path(__file__).parent / "templates" / "report_file.css"


def report_file(
    history: History,
    reference: str,
    *,
    before: str | None = None,
    documents: Documents | None = None,
    limits: Limits | None = None,
) -> str:
    """The report of a run as the text of an HTML file; with `before`, compared with that run."""
    material = FileMaterial(history, documents)
    run = history.find(reference)
    return _File(material, run, before, limits or Limits()).text()


class _File:
    """A run on the way to a file."""

    def __init__(self, material: Material, run: Run, before: str | None, limits: Limits) -> None:
        self._material, self._run, self._before, self._limits = material, run, before, limits
        self._room = LONGEST_DOCUMENTS
        self._no_room: set[tuple[str, str]] = set()
        """Documents that an answer cites and the file has no room for."""
        self._units: Paged[Any] = first_units(material, run, limits.whole)
        units = [row.unit for row in self._units.rows]
        self._links = FileLinks(run.id, units, self._opens)

    def text(self) -> str:
        """The whole file. Questions come first, so that their documents are not left out."""
        from markupsafe import Markup

        names = [tab.name for tab in self._tabs]
        self._links.parts = frozenset([*names, *self._around])
        self._links.lines = tuple(self._headlines)
        self._links.gates = {one.metric: one.id for one in self._against}
        self._links.downloads = False
        questions = self._question_views()
        self._links.downloads = True
        parts = [*self._run_parts(), *self._other_parts()]
        self._links.downloads = self._links.takes_documents = False
        documents = self._document_views()
        scripts = self._scripts(parts)
        style = f"{assets.style()}\n{STYLE.read_text('utf-8')}"
        made = render(
            "report_file.html",
            title=f"{run_names(self._run)} · {story.verdict(self._run)} · Ragauge",
            policy=policy(style, *scripts),
            style=Markup(style),  # ours, as are the scripts
            scripts=[Markup(script) for script in scripts],
            parts=parts,
            questions=questions,
            left_out=self._units.total - len(questions),
            documents=documents,
            documents_left_out=len(self._no_room),
        )
        return f"{str(made).rstrip()}\n"

    @cached_property
    def _opened(self) -> OpenedRun:
        from ragauge.dashboard.pages.opened_run import OpenedRun

        asked = Asked((("rows", "200"),), {"run": self._run.id})
        return OpenedRun(self._material, self._links, asked)

    @cached_property
    def _against(self) -> list[Against]:

        return against_gates(self._opened)

    @cached_property
    def _tabs(self) -> list[Any]:
        from ragauge.dashboard.pages.run_tabs import tabs

        return tabs(self._opened)

    @property
    def _around(self) -> list[str]:
        """The parts beside the run's own."""
        there = {
            "compare": self._before is not None,
            "history": bool(self._headlines),
            "gold": self._run.record.gold_sha256 is not None,
        }
        return [name for name, is_there in there.items() if is_there]

    @cached_property
    def _headlines(self) -> list[str]:
        """The metrics whose history is drawn: none where this is the only run that has one."""
        kind = (self._run.record.command, self._run.record.name)
        headlines = story.headlines([self._run])[:LINES]
        lines = self._material.pages.lines([kind], headlines, 2)
        return [id for id in headlines if any(len(x.points) > 1 for x in lines if x.metric == id)]

    def _run_parts(self) -> list[Part]:
        """The tabs of the run's page, the first with the verdict above it."""
        from ragauge.dashboard.pages.run import below_head

        parts = []
        for tab in self._tabs:
            if tab.name == "questions":
                parts.append(self._list_of_units(tab))
                continue
            view, step, places = tab.view(self._opened), 1, {}
            if not parts:
                body = view.body + told(self._opened, self._against)
                view, step = structs.replace(view, body=below_head(self._opened, body)), 0
                places = {one.id: one.id for one in self._against}
            parts.append(Part(tab.name, tab.title, placed(view, tab.name, step, places), tab.count))
        return parts

    def _list_of_units(self, tab: Any) -> Part:
        made: Units = listed_units(self._opened, self._limits.rows)
        return Part(tab.name, tab.title, made.told() + placed(made, tab.name), tab.count)

    def _other_parts(self) -> list[Part]:
        made = []
        if self._before is not None:
            made.append(Part("compare", "Compare", self._comparison(self._before)))
        if self._headlines:
            made.append(Part("history", "History", self._history()))
        if self._run.record.gold_sha256:
            made.append(Part("gold", "Gold", self._gold(self._run.record.gold_sha256)))
        return made

    def _comparison(self, before: str) -> Markup:
        """The comparison; a run that cannot be compared so is refused, as the command does."""
        from ragauge.dashboard.pages import compare
        from ragauge.dashboard.pages.compare_choice import chosen

        was = self._material.history.find(before, like=self._run)
        asked = Asked((("rows", "200"),))
        choice = chosen(self._material, was, self._run, asked)
        report = choice.made(self._material.history)
        return placed(compare.shown(report, self._links, asked, choice), "compare")

    def _history(self) -> Markup:
        from ragauge.dashboard.pages import history

        record = self._run.record
        views = []
        for number, metric in enumerate(self._headlines, 1):
            fields = (("metric", metric), ("name", record.name), ("command", record.command))
            page = history.page(self._material, self._links, Asked(fields))
            views.append((place("history", number), placed(page, f"history-{number}")))
        return render("report_file_lines.html", views=views)

    def _gold(self, sha256: str) -> Markup:
        from ragauge.dashboard.pages import gold_set

        page = gold_set.page(self._material, self._links, Asked((), {"sha256": sha256}))
        return placed(page, "gold")

    def _question_views(self) -> list[View]:
        from ragauge.dashboard.pages import question
        from ragauge.dashboard.pages.run_questions import question_text

        views = []
        rows = {row.unit: row for row in self._units.rows}
        for number, (unit, id) in enumerate(self._links.questions.items(), 1):
            asked = Asked((("unit", unit),), {"run": self._run.id})
            page = question.page(self._material, self._links, asked)
            words = question_text(self._opened, unit)
            label = rows[unit].label or ""
            views.append(View(id, unit, words, label, placed(page, f"question-{number}", step=2)))
        return views

    def _document_views(self) -> list[View]:
        from ragauge.dashboard.pages import document

        views = []
        for number, (wanted, id) in enumerate(self._links.documents.items(), 1):
            given = {"doc": wanted.doc_id, "rev": wanted.rev, "unit": wanted.unit}
            spans = {"start": wanted.start, "end": wanted.end}
            told = {name: str(at) for name, at in spans.items() if at is not None}
            asked = Asked(tuple({**given, **told}.items()), {"run": self._run.id})
            page = document.page(self._material, self._links, asked)
            span = f"{wanted.start:,}–{wanted.end:,}" if wanted.end is not None else ""
            # A link to the document leads to what is cited in it, where that is marked.
            marked = CITED in ids_in(str(page.body))
            places = {CITED: id} if marked else {}
            body = placed(page, f"document-{number}", step=2, places=places)
            views.append(View(None if marked else id, wanted.doc_id, span, "", body))
        return views

    def _opens(self, wanted: DocumentPlace) -> bool:
        """Whether a document can be had, and has room."""
        try:
            found = self._material.document(self._run, wanted.doc_id, wanted.rev)
        except UsageError:
            return False
        if found is None:
            return False
        if len(self._links.documents) >= DOCUMENTS or len(found.text) > self._room:
            self._no_room.add((wanted.doc_id, wanted.rev))
            return False
        self._room -= len(found.text)
        return True

    def _scripts(self, parts: list[Part]) -> list[str]:
        """What the file needs: charts only where there is one."""
        drawn = any("data-chart" in part.body for part in parts)
        return [assets.script(name) for name in ("script", *(("uplot", "charts") if drawn else ()))]


class FileMaterial(Material):
    """A history that is read for one file: a report that many views ask for is decoded once."""

    def __init__(self, history: History, documents: Documents | None = None) -> None:
        super().__init__(history, "", documents)
        self.jobs = AtOnce()
        self._reports: dict[str, Any] = {}

    def report(self, run: Run) -> Any:
        if run.id not in self._reports:
            self._reports[run.id] = super().report(run)
        return self._reports[run.id]


class Part(Struct, frozen=True):
    """A part of the file, which its bar leads to."""

    name: str
    title: str
    body: Markup
    count: int | None = None

    @property
    def id(self) -> str:
        return place(self.name)


class View(Struct, frozen=True):
    """A question or a document, closed until somebody opens it."""

    id: str | None
    """None where a place inside it has the name that links use."""
    name: str
    words: str
    label: str
    body: Markup


WORST: tuple[Rightness, ...] = ("wrong", "untold", "right")
assert set(WORST) == set(get_args(Rightness))


class Units(Struct, frozen=True):
    """The table of questions, and how many it leaves out."""

    body: Markup
    shown: int
    total: int
    data: Mapping[str, Callable[[], Figures]] = {}

    def told(self) -> Markup:
        return render("report_file_units.html", shown=self.shown, total=self.total)


def first_units(material: Material, run: Run, most: int) -> Paged[UnitRow]:
    """The first units of a run, those that went wrong before all others."""
    found: list[UnitRow] = []
    total = 0
    for right in WORST:
        start = 0
        while True:
            limit = max(1, min(LONGEST_PAGE, most - len(found)))
            page = material.pages.units(run, UnitQuery(right=right, start=start, limit=limit))
            found += page.rows[: most - len(found)]
            start += len(page.rows)
            if not page.rows or len(found) >= most or start >= page.total:
                total += page.total
                break
    return Paged(rows=tuple(found), total=total, start=0)


def listed_units(opened: OpenedRun, most: int) -> Units:
    """The units as the run's page lists them, up to so many in one table."""
    from ragauge.dashboard.pages.opened_run import QUESTIONS
    from ragauge.dashboard.pages.run_questions import units_body

    table = _whole_table(opened, most)
    body = units_body(opened, table, opened.asked, QUESTIONS)
    return Units(body, len(table.rows), table.listed.total, {"questions": table.figures})


def _whole_table(opened: OpenedRun, most: int) -> UnitTable:
    from ragauge.dashboard.pages.run_questions import (
        MOST_COLUMNS,
        gated_metrics,
        metrics_shown,
        unit_table,
    )

    # A reader of the file cannot choose columns: all that a gate speaks of are there.
    wanted = dict.fromkeys([*metrics_shown(opened), *gated_metrics(opened.run)])
    columns = [("columns", id) for id in wanted][:MOST_COLUMNS]

    def page(start: int) -> UnitTable:
        limit = max(1, min(LONGEST_PAGE, most - start))
        fields = (("start", str(start)), ("rows", str(limit)), *columns)
        return unit_table(opened, Asked(fields, opened.asked.path))

    table = page(0)
    rows = list(table.rows)
    while len(rows) < min(most, table.listed.total) and (more := page(len(rows)).rows):
        rows += more
    listed = structs.replace(table.listed, rows=[one.row for one in rows], size=len(rows))
    return structs.replace(table, rows=rows, listed=listed)


WORST_LISTED = 10
"""Questions of a gate."""
LONGEST_ID = 60


class Against(Struct, frozen=True):
    """A gate that does not hold, with the questions that have the worst values."""

    id: str
    metric: str
    bound: str
    questions: tuple[tuple[str, str, str | None], ...]
    """A question, its value, and the way to it."""


def against_gates(opened: OpenedRun) -> list[Against]:
    """Every metric of which a gate does not hold, where questions have a value of their own."""
    broken = {gate.metric: gate for gate in opened.run.record.gates if not gate.holds}
    known = [gate for metric, gate in broken.items() if metric in opened.run.record.metrics]
    found = [_against(opened, gate, number) for number, gate in enumerate(known, 1)]
    return [one for one in found if one.questions]


def told(opened: OpenedRun, gates: list[Against]) -> Markup:
    """The lists, for under the tables of the overview."""
    all_questions = opened.links.run(opened.run.id, QUESTIONS)
    return render("report_file_gates.html", gates=gates, all_questions=all_questions)


def _against(opened: OpenedRun, gate: Verdict, number: int) -> Against:
    order = opened.worst_first(gate.metric)
    query = UnitQuery(
        sort=order.removeprefix("-"), descending=order.startswith("-"), limit=WORST_LISTED
    )
    rows = opened.material.pages.units(opened.run, query).rows
    return Against(
        id=place("gate", number),
        metric=gate.metric,
        bound=numbers.bound(gate),
        questions=tuple(_question(opened, row, gate) for row in rows if _is_against(row, gate)),
    )


def _is_against(row: UnitRow, gate: Verdict) -> bool:
    """Whether the question by itself would not hold the gate; unknown where it has no value."""
    value = row.values.get(gate.metric)
    rule = Rule(metric=gate.metric, op=gate.op, bound=gate.bound)
    return value is not None and not satisfies(rule, value)


def _question(opened: OpenedRun, row: UnitRow, gate: Verdict) -> tuple[str, str, str | None]:
    value = numbers.value_beside(row.values[gate.metric], gate.bound)
    href = opened.links.question(opened.run.id, row.unit)
    return cut(row.unit, LONGEST_ID), value, href
