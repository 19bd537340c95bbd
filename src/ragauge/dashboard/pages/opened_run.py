"""A run that a page is about, with what several of its tabs need; each is read when needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from msgspec import Struct

from ragauge.contracts.audit import OK, STATES
from ragauge.contracts.history import Run
from ragauge.contracts.kept import SpentOver
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.paging import UnitCounts
from ragauge.contracts.stability import STABILITIES
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Links, Page
from ragauge.dashboard.query import Query
from ragauge.dashboard.unit_list import units_tab
from ragauge.errors import InputRejected, UsageError
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Document, Target
from ragauge.reports.kinds.audit import POINTER_HOLDS
from ragauge.reports.kinds.score import BADGES
from ragauge.reports.rendering import document_of

TRACEABILITY = "traceability"
"""The tab that shows the codes of citations with their answers."""
REFRESH_S = 2
"""When a tab asks again for what is computed in the background."""
OTHER = "other"
"""The colour of labels that have none of their own."""


class OpenedRun:
    """A run, its report as far as a page shows it, and the way from here."""

    def __init__(self, material: Material, links: Links, query: Query) -> None:
        self.material, self.links, self.query = material, links, query
        self.run: Run = material.run(query.needed("run"))
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
    def document(self) -> Document | None:
        """The report as blocks; None where it has no page, or there is no report."""
        if self.report is None or "html" not in KINDS[type(self.report)].forms:
            return None
        return document_of(self.report)

    @property
    def kind(self) -> str:
        """The kind of the report, such as `score`; empty where nothing of it can be shown."""
        return KINDS[type(self.report)].folder if self.document else ""

    def part(self, *names: str) -> list[Block]:
        return self.document.part(*names) if self.document else []

    @cached_property
    def counts(self) -> UnitCounts:
        return self.material.pages.counts(self.run)

    @cached_property
    def spent_over(self) -> dict[str, SpentOver]:
        """What its answers took; empty where no trace says so."""
        return self.material.pages.spent_over(self.run)

    def view(self, *blocks: Block, to: doc.Links | None = None, **about: Any) -> Page:
        """A tab: what is below the head of the run's page."""
        to = to or RunTargets(self)
        return Page(title="", here="runs", blocks=blocks, links=self.links, to=to, **about)

    def worst_first(self, metric: str) -> str:
        """The order in which the units that a metric is worst for come first."""
        known = self.run.record.metrics.get(metric)
        return f"-{metric}" if known is not None and known.better == "lower" else metric


class Tab(Struct, frozen=True):
    """A part of a run's page."""

    name: str
    title: str
    view: Callable[[OpenedRun], Page]
    count: int | None = None


class RunTargets:
    """From blocks of a run's report to the pages around it."""

    def __init__(
        self, opened: OpenedRun, *, before: str = "", anchor: str = "", **fields: str
    ) -> None:
        """`before` is what unit ids begin with besides, `fields` those of the list they are in."""
        self._opened, self._before, self._anchor, self._fields = opened, before, anchor, fields

    def to(self, target: Target) -> str | None:
        kind, id = target
        links, run = self._opened.links, self._opened.run
        match kind:
            case "question":
                return self.question(id)
            case "metric":
                # The units with the worst value first; those that went wrong where none has one.
                if not run.record.units:
                    return None
                if id not in run.record.metrics:
                    return links.run(run.id, units_tab(run), right="wrong")
                order = self._opened.worst_first(id)
                return links.run(run.id, units_tab(run), sort=order, columns=id)
            case "run":
                return links.run(id)
            case "tab":
                return links.run(run.id, id)
            case "code":  # the answers with this code, which are listed by their worst one
                fields = {"code": id} if id in self._opened.counts.labels else {}
                return links.run(run.id, TRACEABILITY, **fields)
            case "here":
                return f"#{id}"

    def question(self, qid: str) -> str | None:
        opened = self._opened
        href = opened.links.question(opened.run.id, f"{self._before}{qid}", **self._fields)
        return f"{href}#{self._anchor}" if href and self._anchor and "#" not in href else href


def label_kind(kind: str, label: str | None) -> str:
    """The name of a colour for a label of a run of this kind, as the style sheet has it.

    >>> label_kind("score", "OVER_REFUSAL"), label_kind("audit", "ok"), label_kind("score", "<b>")
    ('over_refusal', 'ok', 'other')
    """
    match kind:
        case "score":
            return BADGES.get(label or "", OTHER)
        case "stability":
            return label if label in STABILITIES else OTHER
        case "trace_eval" if label in STATES:
            return str(label)
        case "audit" | "trace_eval":
            return "ok" if label == OK else "warned" if label in POINTER_HOLDS else "no_hit"
        case _:
            return {"right": "ok", "wrong": "no_hit"}.get(label or "", OTHER)


def label_name(kind: str, label: str | None) -> str:
    """A label as it is shown."""
    name = label or ""
    if kind == "stability":
        return name.replace("_", " ")
    return {"right": "correct", "wrong": "incorrect"}.get(name, name)
