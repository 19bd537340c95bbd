"""A run that a page is about, with what several of its tabs need; each is read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.audit import OK, STATES
from ragauge.contracts.history import Run
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.paging import UnitCounts
from ragauge.contracts.report import Report, Score
from ragauge.contracts.stability import STABILITIES
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.listing import Address, addresses
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Figures
from ragauge.dashboard.rendering import drawn
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.document import Document, NoLinks, Target, Verdict
from ragauge.reports.document import Links as ReportLinks
from ragauge.reports.formats.html import Sorting, written
from ragauge.reports.forms import document_of
from ragauge.reports.kinds.audit import POINTER_HOLDS
from ragauge.reports.kinds.score import BADGES

if TYPE_CHECKING:
    from markupsafe import Markup

QUESTIONS = "questions"
"""The tab that lists the units of a run."""
TRACEABILITY = "traceability"
"""The tab that shows the codes of citations with their answers."""
LOOK_AGAIN_S = 2
"""When a tab asks again for what is made in the background."""
OTHER = "other"
"""The colour of labels that have none of their own."""


class TabView(Struct, frozen=True, kw_only=True):
    """What stands below the tabs, and the figures behind it."""

    body: Markup
    data: Mapping[str, Callable[[], Figures]] = {}
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

    def part(self, *names: str) -> Markup:
        """The blocks of these names."""
        made = self.document
        return written(made.part(*names), name=made.name, links=self._to, language=made.language)


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

    def data(self, name: str, what: str) -> Markup:
        """The way to the figures of this name; `what` they are."""
        return drawn("figures", self.links, name, what, template="listing.html")

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
        links, run = self._opened.links, self._opened.run
        match kind:
            case "question":
                return self.question(id)
            case "metric":
                return self._metric(id)
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

    def _metric(self, id: str) -> str | None:
        """The units with the worst value first; those that went wrong where units have none."""
        links, run = self._opened.links, self._opened.run
        if not run.record.units:
            return None
        if id not in run.record.metrics:
            return links.run(run.id, QUESTIONS, right="wrong")
        return links.run(run.id, QUESTIONS, sort=self._opened.worst_first(id), columns=id)


def joined(*pieces: Markup | None) -> Markup:
    """The pieces that are there, one below the other."""
    from markupsafe import Markup

    return Markup("\n").join(piece for piece in pieces if piece and piece.strip())


def ends(ci: tuple[float, float] | None) -> tuple[float | None, float | None]:
    return ci or (None, None)


def slice_figures(slices: Mapping[str, Mapping[str, Mapping[str, Score]]]) -> Figures:
    """Scores by stratum, value and metric."""
    rows = [
        (stratum, value, id, one.value, *ends(one.ci), one.n, one.of)
        for stratum, values in sorted(slices.items())
        for value, scores in sorted(values.items())
        for id, one in sorted(scores.items())
    ]
    return Figures(("stratum", "value", "metric", "score", "low", "high", "n", "of"), rows)


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
    return name.replace("_", " ") if kind == "stability" else name


def drawn_labels(kind: str, counts: UnitCounts) -> list[tuple[str, str, int]]:
    """The labels that occur, as a stacked bar takes them: colour, name, and units.

    Units without a label are the last part; nothing is drawn where none has one.
    """
    labels = counts.labels
    told = [(label_kind(kind, label), label_name(kind, label), n) for label, n in labels.items()]
    without = counts.units - sum(labels.values())
    return [*told, (OTHER, "untold", without)] if told and without else told
