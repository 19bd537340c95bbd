"""The one-file report: the views of a run, and around it, in a file that asks nobody for anything.

The views are those of the dashboard, with links that lead to places in the file. The same history
gives the same bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct

from ragauge.contracts.documents import Documents
from ragauge.contracts.history import History, Run, UnitRow
from ragauge.contracts.paging import LONGEST_PAGE, Paged, Rightness, UnitQuery
from ragauge.contracts.report import Rule, Verdict
from ragauge.dashboard import assets
from ragauge.dashboard.file_limits import Limits
from ragauge.dashboard.jobs import AtOnce
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import FORMS, DocumentPlace, Field, Links, Page, download, run_names
from ragauge.dashboard.pages import compare, document, gold, history, question
from ragauge.dashboard.pages.opened_run import OpenedRun
from ragauge.dashboard.pages.run import OVERVIEW, head, tabs
from ragauge.dashboard.pages.run_questions import (
    MOST_COLUMNS,
    gated_metrics,
    metrics_shown,
    question_text,
    unit_table,
)
from ragauge.dashboard.parts import Listed, render
from ragauge.dashboard.query import Query
from ragauge.dashboard.unit_list import units_tab
from ragauge.errors import UsageError
from ragauge.gates.rules import satisfies
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Data, Span, Table
from ragauge.reports.formats.html import Sorting
from ragauge.reports.kinds import runs as story
from ragauge.reports.templating import policy
from ragauge.runners.compare import compare_runs
from ragauge.text.visible import cut

if TYPE_CHECKING:
    from markupsafe import Markup


CITED = "cited"
"""The id of the span that a document is opened at."""
STYLE = Path(__file__).parent / "templates" / "report_file.css"
WORST: tuple[Rightness, ...] = ("wrong", "untold", "right")
assert set(WORST) == set(get_args(Rightness))
WORST_LISTED, LONGEST_ID = 10, 60
"""Questions of a gate, and the characters of their ids."""
LARGEST_DATA = 200_000
"""Bytes of data that the file takes along; larger ones are had from the dashboard."""
DOCUMENTS, LONGEST_DOCUMENTS = 150, 1_500_000
"""Documents opened at a span, and the characters of all of them; later ones are left out."""
LINES = 3
"""Headline metrics whose history is drawn."""
AROUND = {"compare": "Compare", "history": "History", "gold": "Gold"}


def place_of(kind: str, number: int | None = None) -> str:
    """The id of a place in the file; no view has an id that begins so.

    >>> place_of("quality"), place_of("question", 3)
    ('at.quality', 'at.question.3')
    """
    return f"at.{kind}" if number is None else f"at.{kind}.{number}"


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
    return _File(material, history.find(reference), before, limits or Limits()).text()


class FileMaterial(Material):
    """A history that is read for one file: a report that many views need is decoded once."""

    def __init__(self, history: History, documents: Documents | None = None) -> None:
        super().__init__(history, "", documents)
        self.jobs = AtOnce()
        self._reports: dict[str, Any] = {}

    def report(self, run: Run) -> Any:
        if run.id not in self._reports:
            self._reports[run.id] = super().report(run)
        return self._reports[run.id]


class FileLinks(Links):
    """The way to each view of one run. Documents are noted as views lead to them."""

    def __init__(
        self, run: str, units: Iterable[str], opens: Callable[[DocumentPlace], bool]
    ) -> None:
        """`opens` says whether a document can be had, and has room in the file."""
        self._run, self._opens = run, opens
        self.sorting = Sorting()
        self.questions = {unit: place_of("question", at) for at, unit in enumerate(units, 1)}
        self.documents: dict[DocumentPlace, str] = {}
        """The documents that views led to, each with its place in the file."""
        self.parts: frozenset[str] = frozenset()
        """The names of the parts that the file has."""
        self.lines: tuple[str, ...] = ()
        """The metrics whose history is in the file."""
        self.gates: dict[str, str] = {}
        """The metrics of which a gate does not hold, each with the place of its questions."""
        self.takes_documents = True
        """Whether a document that no view led to before still comes into the file."""
        self.downloads = True
        """Whether views get the data of their tables and pictures to keep."""

    def runs(self, **fields: Field) -> None:
        return None

    def run(self, run: str, tab: str = "", **fields: Field) -> str | None:
        if run != self._run:
            return None
        gate = self.gates.get(str(fields.get("columns")))
        return f"#{gate}" if gate else self._part(tab or "overview")

    def question(self, run: str, unit: str, **fields: Field) -> str | None:
        at = self.questions.get(unit) if run == self._run else None
        return f"#{at}" if at else None

    def document(self, run: str, place: DocumentPlace) -> str | None:
        if run != self._run:
            return None
        if place not in self.documents:
            if not (self.takes_documents and self._opens(place)):
                return None
            self.documents[place] = place_of("document", len(self.documents) + 1)
        return f"#{self.documents[place]}"

    def compare(self, before: str = "", after: str = "") -> str | None:
        return self._part("compare") if before and after == self._run else None

    def history(self, metric: str = "", **fields: Field) -> str | None:
        if not metric:
            return self._part("history")
        drawn = metric in self.lines
        return f"#{place_of('history', self.lines.index(metric) + 1)}" if drawn else None

    def gold(self, sha256: str = "", **fields: Field) -> str | None:
        return self._part("gold") if sha256 else None

    def file(self, name: str) -> None:
        return None  # the file is the whole report already

    def exports(self, name: str, block: Table | Data) -> Iterator[tuple[str, str]]:
        """Addresses that hold the data; nothing where they would be too long."""
        for form, kind in FORMS.items() if self.downloads else ():
            content = download(block, form)
            if len(content) <= LARGEST_DATA:
                encoded = base64.b64encode(content).decode()
                yield f"{name}.{form}", f"data:{kind.replace(' ', '')};base64,{encoded}"

    def _part(self, name: str) -> str | None:
        return f"#{place_of(name)}" if name in self.parts else None


class Part(Struct, frozen=True):
    """A part of the file, which its bar leads to."""

    name: str
    title: str
    body: Markup
    count: int | None = None

    @property
    def id(self) -> str:
        return place_of(self.name)


class View(Struct, frozen=True):
    """A question or a document, closed until somebody opens it."""

    id: str | None
    """None where a place inside it has the name that links use."""
    name: str
    words: str
    label: str
    body: Markup


class _File:
    """A run on the way to a file."""

    def __init__(self, material: Material, run: Run, before: str | None, limits: Limits) -> None:
        self._material, self._run, self._before, self._limits = material, run, before, limits
        self._room = LONGEST_DOCUMENTS
        self._no_room: set[tuple[str, str]] = set()
        """Documents that an answer cites and the file has no room for."""
        self._units: Paged[UnitRow] = first_units(material, run, limits.whole)
        units = [row.unit for row in self._units.rows]
        self._links = FileLinks(run.id, units, self._opens)

    def text(self) -> str:
        """The whole file. Questions come first, so that their documents are not left out."""
        from markupsafe import Markup

        links, self._tabs = self._links, tabs(self._opened)
        around = (self._before, self._headlines, self._run.record.gold_sha256)
        there = [name for name, given in zip(AROUND, around, strict=True) if given]
        links.parts = frozenset([*(tab.name for tab in self._tabs), *there])
        links.lines = tuple(self._headlines)
        links.gates = {
            gate.metric: place_of("gate", number)
            for number, (gate, _) in enumerate(self._against, 1)
        }
        links.downloads = False
        questions = list(self._question_views())
        links.downloads = True
        parts = [
            *self._run_parts(),
            *(Part(name, AROUND[name], getattr(self, f"_{name}")()) for name in there),
        ]
        links.downloads = links.takes_documents = False
        documents = list(self._document_views())
        drawn = any("data-chart" in part.body for part in parts)
        scripts = [assets.script(one) for one in ("script", *(("uplot", "charts") * drawn))]
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
        query = Query((("rows", "200"),), {"run": self._run.id})
        return OpenedRun(self._material, self._links, query)

    @cached_property
    def _headlines(self) -> list[str]:
        """The metrics whose history is drawn: none where this is the only run that has one."""
        kind = (self._run.record.command, self._run.record.name)
        headlines = story.headlines([self._run])[:LINES]
        lines = self._material.pages.lines([kind], headlines, 2)
        return [id for id in headlines if any(len(x.points) > 1 for x in lines if x.metric == id)]

    @cached_property
    def _against(self) -> list[tuple[Verdict, list[UnitRow]]]:
        """Each gate that does not hold, with the questions that would not hold it themselves."""
        record, found = self._run.record, []
        for gate in {one.metric: one for one in record.gates if not one.holds}.values():
            if gate.metric not in record.metrics:
                continue
            order = self._opened.worst_first(gate.metric)
            query = UnitQuery(
                sort=order.removeprefix("-"), descending=order.startswith("-"), limit=WORST_LISTED
            )
            rule = Rule(metric=gate.metric, op=gate.op, bound=gate.bound)
            rows = [
                row
                for row in self._material.pages.units(self._run, query).rows
                if (value := row.values.get(gate.metric)) is not None and not satisfies(rule, value)
            ]
            found += [(gate, rows)] if rows else []
        return found

    def _run_parts(self) -> Iterator[Part]:
        """The tabs of the run's page, the first with the verdict above it."""
        for tab in self._tabs:
            view, step = tab.view(self._opened), 1
            blocks = list(view.blocks)
            if tab.name == OVERVIEW:
                blocks, step = [*head(self._opened), *blocks, *self._gates()], 0
            elif tab.name == units_tab(self._run):
                blocks = list(self._questions())
            page = Page(title="", here="runs", blocks=blocks, links=self._links, to=view.to)
            names = {
                place_of("gate", at): place_of("gate", at) for at, _ in enumerate(self._against, 1)
            }
            yield Part(tab.name, tab.title, placed(page, tab.name, step, names), tab.count)

    def _gates(self) -> Iterator[doc.Block]:
        """The questions that speak against each gate, below the tables of the overview."""

        def speaking(gate: Verdict, rows: list[UnitRow]) -> Iterator[Span]:
            for row in rows:
                href = self._links.question(self._run.id, row.unit) or ""
                yield Span(cut(row.unit, LONGEST_ID), foreign=True, href=href)
                yield Span(
                    f" {phrasing.value_against(row.values[gate.metric], gate.bound)} ", "soft"
                )

        if self._against:
            yield doc.Section(
                title="Questions that fail the gates",
                remark="for each gate that does not hold, the worst questions first",
                blocks=[
                    doc.Section(
                        title=f"{gate.metric} {phrasing.bound(gate)}",
                        blocks=[doc.Text(list(speaking(gate, rows)))],
                        anchor=place_of("gate", number),
                    )
                    for number, (gate, rows) in enumerate(self._against, 1)
                ],
            )

    def _questions(self) -> Iterator[doc.Block]:
        """The questions as the run's page lists them, up to so many in one table."""
        opened = self._opened
        units = first_units(self._material, self._run, self._limits.rows)
        # A reader of the file cannot choose columns: all that a gate is on are there.
        wanted = dict.fromkeys([*metrics_shown(opened), *gated_metrics(self._run)])
        query = Query([("columns", id) for id in wanted][:MOST_COLUMNS], opened.query.path)
        if len(units.rows) < units.total:
            first = f"The first {phrasing.count(len(units.rows))} of "
            first += f"{phrasing.pluralize(units.total, 'question')}, what went wrong first. "
            more = "`ragauge report --rows` puts more into the file, and `ragauge serve` shows all."
            yield doc.Text(first + more, "soft")
        size = len(units.rows)
        page = Listed(units.rows, units.total, 0, size, "right", lambda **changed: "")
        yield unit_table(opened, query, page)

    def _compare(self) -> Markup:
        # A run that cannot be compared so is refused, as the command does.
        history, query = self._material.history, Query((("rows", "200"),))
        was = history.find(self._before or "", like=self._run)
        how = compare.options(self._material, self._run, query)
        report = compare_runs(was, self._run, history, how)
        return placed(compare.shown(report, how, self._links, query), "compare")

    def _history(self) -> Markup:
        from markupsafe import Markup

        def line(number: int, metric: str) -> Markup:
            record = self._run.record
            fields = (("metric", metric), ("name", record.name), ("command", record.command))
            page = history.page(self._material, self._links, Query(fields))
            section = Markup('<section id="{}">\n{}\n</section>\n')
            return section.format(place_of("history", number), placed(page, f"history-{number}"))

        return Markup("").join(line(*one) for one in enumerate(self._headlines, 1))

    def _gold(self) -> Markup:
        query = Query((), {"sha256": self._run.record.gold_sha256 or ""})
        return placed(gold.page(self._material, self._links, query), "gold")

    def _question_views(self) -> Iterator[View]:
        labels = {row.unit: row.label or "" for row in self._units.rows}
        for number, (unit, id) in enumerate(self._links.questions.items(), 1):
            query = Query((("unit", unit),), {"run": self._run.id})
            page = question.page(self._material, self._links, query)
            words = question_text(self._opened, unit)
            yield View(id, unit, words, labels[unit], placed(page, f"question-{number}", 2))

    def _document_views(self) -> Iterator[View]:
        for number, (wanted, id) in enumerate(self._links.documents.items(), 1):
            given = {"doc": wanted.doc_id, "rev": wanted.rev, "unit": wanted.unit}
            spans = {"start": wanted.start, "end": wanted.end}
            known = {name: str(at) for name, at in spans.items() if at is not None}
            query = Query(tuple({**given, **known}.items()), {"run": self._run.id})
            page = document.page(self._material, self._links, query)
            span = f"{wanted.start:,}–{wanted.end:,}" if wanted.end is not None else ""
            # A link to the document leads to what is cited in it, where that is marked.
            body = placed(page, f"document-{number}", 2, {CITED: id})
            marked = f'id="{id}"' in body
            yield View(None if marked else id, wanted.doc_id, span, "", body)

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


def placed(
    page: Page, prefix: str, step: int = 1, names: Mapping[str, str] | None = None
) -> Markup:
    """A view for its place in the file: its ids get a prefix, and its headings step down."""
    return page.html(doc.Place(prefix, step, served=False, names=names or {}))


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
