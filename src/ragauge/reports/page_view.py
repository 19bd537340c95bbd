"""What the templates of every page ask for; each kind of report adds its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from ragauge.contracts.audit import AuditReport
from ragauge.contracts.evaluation import EvalAllReport, EvalReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.reports import envelope

Reported = TypeVar(
    "Reported",
    ScoreReport,
    AuditReport,
    TraceEvalReport,
    EvalReport,
    EvalAllReport,
)


class PageView(ABC, Generic[Reported]):
    """A report, as its page tells it."""

    kind: str
    parts: ClassVar[tuple[str, ...]]
    """The fragments the page is made of, by the names of their templates."""
    finding_text = staticmethod(envelope.finding_text)

    def __init__(self, report: Reported) -> None:
        self.report: Reported = report

    def chosen(self) -> dict[str, Any]:
        """What a template is given besides the view."""
        return {}

    @property
    @abstractmethod
    def headline(self) -> tuple[str, str]:
        """The verdict in a word, and in a sentence."""

    @property
    @abstractmethod
    def coverage(self) -> str: ...

    @property
    def word(self) -> str:
        return self.headline[0]

    @property
    def words(self) -> str:
        return self.headline[1]

    @property
    def beside(self) -> str:
        """What stands below the verdict."""
        return ""

    @property
    def next_steps(self) -> Sequence[str]:
        return ()

    @property
    def findings(self) -> list[tuple[str, int, Sequence[Finding]]]:
        return envelope.findings_by_code(self.report.findings, self.report.finding_counts)

    @property
    def identity(self) -> list[tuple[str, str]]:
        return envelope.identity_words(self.report.identity)
