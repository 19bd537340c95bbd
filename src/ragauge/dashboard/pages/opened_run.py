"""A run that a page is about, with what several of its tabs need; each is read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.history import Run
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.paging import UnitCounts
from ragauge.contracts.report import Report
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, addresses
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.document import Document, NoLinks, Target, Verdict
from ragauge.reports.document import Links as ReportLinks
from ragauge.reports.formats.html import Sorting
from ragauge.reports.forms import document_of

if TYPE_CHECKING:
    from markupsafe import Markup

QUESTIONS = "questions"
"""The tab that lists the units of a run."""
TRACEABILITY = "traceability"
"""The tab that shows the codes of citations with their answers."""


class TabView(Struct, frozen=True, kw_only=True):
    """What stands below the tabs, and the figures behind it."""

    body: Markup
    figures: Mapping[str, Callable[[], Figures]] = {}
    refresh_s: int | None = None


class Fragments:
    """The parts of a report that is at hand as a record, with links to what is around them."""

    def __init__(self, report: Report, to: ReportLinks | None = None) -> None:
        self.kind = KINDS[type(report)].folder
        self.document: Document = document_of(report)
        self._to = to or NoLinks()
        (self._verdict,) = (one for one in self.document.blocks if isinstance(one, Verdict))

    @property
    def words(self) -> str:
        """The sentence of the verdict."""
        return self._verdict.text

    @property
    def beside(self) -> str:
        """What is below the verdict."""
        return " ".join((*self._verdict.notes, *self._verdict.meaning))

    def part(self, name: str) -> Markup:
        """The blocks of this name; all of them for the name of the kind."""
        from ragauge.reports.formats.html import written

        given = self.document.blocks if name == self.kind else self.document.part(name)
        return written(
            given, name=self.document.name, links=self._to, language=self.document.language
        )


class OpenedRun:
    """A run, its report as far as a page shows it, and the way from here."""

    def __init__(self, material: Material, links: Links, asked: Asked) -> None:
        self.material, self.links, self.asked = material, links, asked
        self.run: Run = material.run(asked.needed("run"))
        self.report: Any = None
        self.no_report = ""
        """Why there is no report to show."""
        try:
            self.report = material.report(self.run)
        except (UsageError, InputRejected) as error:
            self.no_report = str(error)
        if self.report is None and not self.no_report:
            self.no_report = "it was recorded without a report"

    @cached_property
    def fragments(self) -> Fragments | None:
        """The parts of the report's page; None where it has no page, or there is no report."""
        if self.report is None or "html" not in KINDS[type(self.report)].forms:
            return None
        return Fragments(self.report, ToRun(self))

    @property
    def kind(self) -> str:
        """The kind of the report, such as `score`; empty where nothing of it can be shown."""
        return self.fragments.kind if self.fragments else ""

    @cached_property
    def counts(self) -> UnitCounts:
        return self.material.pages.counts(self.run)

    def tab_address(self, tab: str) -> Address:
        """From changed fields to the address of a tab as it is asked for now."""
        return addresses(self.asked, self.links.run(self.run.id, tab) or "")

    def worst_first(self, metric: str) -> str:
        """The order in which the units that a metric speaks against come first."""
        known = self.run.record.metrics.get(metric)
        return f"-{metric}" if known is not None and known.better == "lower" else metric


class ToRun:
    """From a fragment of a run's report to the pages around it."""

    def __init__(
        self, opened: OpenedRun, *, before: str = "", anchor: str = "", **fields: str
    ) -> None:
        """`before` is what unit ids begin with besides, `fields` those of the list they are in."""
        self._opened, self._before, self._anchor, self._fields = opened, before, anchor, fields

    @property
    def sorting(self) -> Sorting:
        return self._opened.links.sorting

    def to(self, target: Target) -> str | None:
        kind, id = target
        match kind:
            case "question":
                return self.question(id)
            case "metric":
                return self.metric(id)
            case "tab":
                return self._opened.links.run(self._opened.run.id, id)
            case "code":
                return self._code(id)
            case "here":
                return f"#{id}"

    def question(self, qid: str) -> str | None:
        opened = self._opened
        href = opened.links.question(opened.run.id, f"{self._before}{qid}", **self._fields)
        return f"{href}#{self._anchor}" if href and self._anchor and "#" not in href else href

    def _code(self, code: str) -> str | None:
        """The answers with this code; they are listed by their worst one."""
        opened = self._opened
        fields = {"code": code} if code in opened.counts.labels else {}
        return opened.links.run(opened.run.id, TRACEABILITY, **fields)

    def metric(self, id: str) -> str | None:
        """The units with the worst value first; those that went wrong where units have none."""
        opened = self._opened
        run = opened.run
        if not run.record.units:
            return None
        if id not in run.record.metrics:
            return opened.links.run(run.id, QUESTIONS, right="wrong")
        order = opened.worst_first(id)
        return opened.links.run(run.id, QUESTIONS, sort=order, columns=id)
