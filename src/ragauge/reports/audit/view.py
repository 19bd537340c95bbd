"""What the templates of the audit's page ask for; each part is made when it is asked for."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.audit import AuditedAnswer, AuditReport
from ragauge.reports import numbers
from ragauge.reports.audit import story
from ragauge.reports.audit.audited_view import AuditedView

ANSWERS_SHOWN = 200
"""A page with more would be slow to scroll."""


class Depth(Struct, frozen=True):
    """How many answers hold in a depth."""

    name: str
    held: str
    percent: str
    share: float | None
    """None where nothing was looked at."""
    words: str


class View(AuditedView[AuditReport]):
    """An audit, as the page tells it."""

    kind = "audit"
    parts = (
        "verdict",
        "bounds",
        "audit_codes",
        "audit_depths",
        "audit_answers",
        "advice",
        "metrics",
        "findings",
        "coverage",
    )

    @property
    def headline(self) -> tuple[str, str]:
        return story.verdict_words(self.report)

    @property
    def shares(self) -> list[tuple[str, str, int]]:
        """What became of the traces: how each share is drawn, its name, and its traces."""
        coverage = self.report.coverage
        wrong = len(story.wrong_answers(self.report))
        held = max(0, coverage.audited - coverage.refusals - wrong)
        told = [
            ("ok", "hold", held),
            ("refusal_ok", "refusals, which need no citation", coverage.refusals),
            ("no_hit", "do not hold", wrong),
            ("error", "errors, not audited", coverage.errors),
        ]
        return [share for share in told if share[2]]

    @property
    def codes_words(self) -> str:
        return "What was found, the worst first, each with the next step."

    @property
    def depths(self) -> list[Depth]:
        return [
            Depth(
                depth,
                story.held_of(one) if one else numbers.ABSENT,
                numbers.share(one.ok, one.checked) if one else numbers.ABSENT,
                one.ok / one.checked if one and one.checked else None,
                story.depth_words(depth, one),
            )
            for depth, one in story.depths_told(self.report)
        ]

    @property
    def answers(self) -> list[tuple[AuditedAnswer, str]]:
        """Answers that do not hold, with how each code is drawn."""
        rows = story.wrong_answers(self.report, ANSWERS_SHOWN)
        return [(row, "warned" if row.code in story.POINTER_HOLDS else "no_hit") for row in rows]

    @property
    def with_coverage(self) -> bool:
        return any(row.coverage is not None for row, _ in self.answers)

    @property
    def left_out(self) -> int:
        """Answers that do not hold and are not shown."""
        return len(story.wrong_answers(self.report)) - len(self.answers)

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report.coverage)
