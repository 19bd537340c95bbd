"""What the templates of every audited page ask for: gates, codes with their places, metrics."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from ragauge.contracts.audit import AuditFinding, AuditReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Advice, Score
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.audit import story
from ragauge.reports.audit.story import ToldCode
from ragauge.reports.page_view import PageView

Audited = TypeVar("Audited", AuditReport, TraceEvalReport)

PLACES_SHOWN = 25
"""Of each code; the first stand open."""


class AuditedView(PageView[Audited]):
    """A report about citations, as its page tells it."""

    @cached_property
    def names(self) -> dict[str, str]:
        return story.metric_names(self.report.metrics, self.report.gates)

    @property
    def bounds(self) -> list[tuple[Verdict, str, str, str, str]]:
        return envelope.bounds(self.report.gates, self.report.metrics, self.names)

    @property
    def interval_title(self) -> str:
        return envelope.interval_title(self.report.gates)

    @property
    def metrics_title(self) -> str:
        return "Other metrics" if self.report.gates else "Metrics"

    @property
    def metrics(self) -> list[tuple[str, str, Score]]:
        others = story.other_metrics(self.report.metrics, self.report.gates)
        return [(self.names[id], "", score) for id, score in others]

    @property
    def codes_first(self) -> bool:
        """Whether the codes are to be mended before all else."""
        return False

    @property
    @abstractmethod
    def codes_words(self) -> str:
        """What the codes are told for, in a sentence."""

    @property
    def codes(self) -> list[ToldCode]:
        return story.told_codes(self.report.codes, self.report.findings, PLACES_SHOWN)

    @property
    def open_places(self) -> int:
        return envelope.PLACES_SHOWN

    def message(self, finding: AuditFinding) -> str:
        return story.without_escapes(finding.message)

    @property
    def advice(self) -> Sequence[Advice]:
        return self.report.advice

    @property
    def findings(self) -> list[tuple[str, int, Sequence[Finding]]]:
        report = self.report
        return story.other_findings(report.codes, report.findings, report.finding_counts)
