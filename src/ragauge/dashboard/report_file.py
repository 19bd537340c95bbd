"""The one-file report: the views of a run, and around it, in a file that asks nobody for anything.

The views are those of the dashboard, written once each, with links that lead to places in the file.
The same history gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from msgspec import Struct

from ragauge.contracts.documents import Documents
from ragauge.contracts.history import History, Run, UnitRow
from ragauge.contracts.paging import LONGEST_PAGE, Paged, Rightness, UnitQuery
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.dashboard import assets, parts
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.file_limits import DOCUMENTS, LINES, LONGEST_DOCUMENTS, Limits
from ragauge.dashboard.file_links import DocumentPlace, FileLinks, place
from ragauge.dashboard.file_views import placed
from ragauge.dashboard.jobs import AtOnce
from ragauge.dashboard.links import run_names
from ragauge.dashboard.listing import Listed
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Page
from ragauge.dashboard.rendering import render
from ragauge.errors import UsageError
from ragauge.gates.decide import satisfies
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.foreign import cut
from ragauge.reports.kinds import runs as story
from ragauge.reports.templating import policy

if TYPE_CHECKING:
    from markupsafe import Markup

    from ragauge.dashboard.pages.opened_run import OpenedRun
    from ragauge.dashboard.pages.run import Tab

CITED = "cited"
"""The id of the span that a document is opened at."""
STYLE = Path(__file__).parent / "templates" / "report_file.css"
WORST: tuple[Rightness, ...] = ("wrong", "untold", "right")
assert set(WORST) == set(get_args(Rightness))
WORST_LISTED, LONGEST_ID = 10, 60
"""Questions of a gate, and the characters of their ids."""


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
        self._links.gates = {
            gate.metric: place("gate", number) for number, (gate, _) in enumerate(self._against, 1)
        }
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
    def _tabs(self) -> list[Tab]:
        from ragauge.dashboard.pages.run import tabs

        return tabs(self._opened)

    @property
    def _around(self) -> list[str]:
        """The parts around the run's own."""
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

    def _run_parts(self) -> Iterator[Part]:
        """The tabs of the run's page, the first with the verdict above it."""
        from ragauge.dashboard.pages.opened_run import QUESTIONS
        from ragauge.dashboard.pages.run import OVERVIEW, head

        for tab in self._tabs:
            view, step = tab.view(self._opened), 1
            blocks = list(view.blocks)
            if tab.name == OVERVIEW:
                blocks, step = [*head(self._opened), *blocks, *self._gates()], 0
            elif tab.name == QUESTIONS:
                blocks = list(self._questions())
            page = Page(title="", here="runs", blocks=blocks, links=self._links, to=view.to)
            body = page.html(doc.Place(tab.name, step, served=False))
            yield Part(tab.name, tab.title, body, tab.count)

    @cached_property
    def _against(self) -> list[tuple[Verdict, list[UnitRow]]]:
        """Each gate that does not hold, with the questions that would not hold it themselves."""
        opened, record = self._opened, self._run.record
        found = []
        for gate in {one.metric: one for one in record.gates if not one.holds}.values():
            if gate.metric not in record.metrics:
                continue
            order = opened.worst_first(gate.metric)
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

    def _gates(self) -> Iterator[doc.Block]:
        """For below the tables of the overview."""
        from ragauge.dashboard.pages.opened_run import QUESTIONS

        given = [
            (
                place("gate", number),
                gate.metric,
                numbers.bound(gate),
                [
                    (
                        cut(row.unit, LONGEST_ID),
                        numbers.value_beside(row.values[gate.metric], gate.bound),
                        self._links.question(self._run.id, row.unit),
                    )
                    for row in rows
                ],
            )
            for number, (gate, rows) in enumerate(self._against, 1)
        ]
        if given:
            yield parts.macro("against_gates", given, self._links.run(self._run.id, QUESTIONS))

    def _questions(self) -> Iterator[doc.Block]:
        """The questions as the run's page lists them, up to so many in one table."""
        from ragauge.dashboard.pages.run_questions import (
            MOST_COLUMNS,
            gated_metrics,
            metrics_shown,
            unit_table,
        )

        opened = self._opened
        units = first_units(self._material, self._run, self._limits.rows)
        # A reader of the file cannot choose columns: all that a gate is on are there.
        wanted = dict.fromkeys([*metrics_shown(opened), *gated_metrics(self._run)])
        asked = Asked([("columns", id) for id in wanted][:MOST_COLUMNS], opened.asked.path)
        if len(units.rows) < units.total:
            first = f"The first {numbers.count(len(units.rows))} of "
            first += f"{numbers.counted(units.total, 'question')}, what went wrong first. "
            more = "`ragauge report --rows` puts more into the file, and `ragauge serve` shows all."
            yield doc.Text(first + more, "soft")
        listed = Listed(units.rows, units.total, 0, len(units.rows), "right")
        yield unit_table(opened, asked, units.rows, listed, lambda **changed: "")

    def _other_parts(self) -> Iterator[Part]:
        record = self._run.record
        if self._before is not None:
            from ragauge.dashboard.pages import compare
            from ragauge.runners.compare import compare_runs

            # A run that cannot be compared so is refused, as the command does.
            was = self._material.history.find(self._before, like=self._run)
            asked = Asked((("rows", "200"),))
            how = compare.options(self._material, self._run, asked)
            report = compare_runs(was, self._run, self._material.history, how)
            page = compare.shown(report, how, self._links, asked)
            yield Part("compare", "Compare", placed(page, "compare"))
        if self._headlines:
            from ragauge.dashboard.pages import history

            views = []
            for number, metric in enumerate(self._headlines, 1):
                fields = (("metric", metric), ("name", record.name), ("command", record.command))
                page = history.page(self._material, self._links, Asked(fields))
                views.append((place("history", number), placed(page, f"history-{number}")))
            yield Part("history", "History", render("report_file_lines.html", views=views))
        if record.gold_sha256:
            from ragauge.dashboard.pages import gold

            asked = Asked((), {"sha256": record.gold_sha256})
            page = gold.page(self._material, self._links, asked)
            yield Part("gold", "Gold", placed(page, "gold"))

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
            known = {name: str(at) for name, at in spans.items() if at is not None}
            asked = Asked(tuple({**given, **known}.items()), {"run": self._run.id})
            page = document.page(self._material, self._links, asked)
            span = f"{wanted.start:,}–{wanted.end:,}" if wanted.end is not None else ""
            # A link to the document leads to what is cited in it, where that is marked.
            body = placed(page, f"document-{number}", step=2, places={CITED: id})
            marked = f'id="{id}"' in body
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
