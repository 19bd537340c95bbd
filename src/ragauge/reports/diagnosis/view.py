"""What the templates of the diagnosis' page ask for; each part is made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import count
from typing import Any, ClassVar

from ragauge.contracts.diagnosis import Cause, DiagnosisReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope
from ragauge.reports.diagnosis import addresses, causes, labels, parts, story
from ragauge.reports.diagnosis.addresses import Stack
from ragauge.reports.diagnosis.causes import ToldCause
from ragauge.reports.diagnosis.parts import ToldIntervention, ToldSample, ToldSlice
from ragauge.reports.diagnosis.verdict import verdict_words
from ragauge.reports.foreign import cut

OPENED = 3
"""Causes that are open on a screen; on paper all are."""
LONGEST = 4_000
"""Characters of a text: the JSON report has it whole."""


class View:
    """A diagnosis, as the page tells it, in the report's language."""

    parts: ClassVar[tuple[str, ...]] = (
        "diagnosis_verdict",
        "diagnosis_metrics",
        "diagnosis_causes",
        "diagnosis_untested",
        "diagnosis_struck_out",
        "diagnosis_slices",
        "diagnosis_symptoms",
        "diagnosis_addresses",
        "diagnosis_replay",
        "diagnosis_samples",
        "diagnosis_recorded",
        "diagnosis_unknown",
        "diagnosis_findings",
        "diagnosis_coverage",
    )
    opened = OPENED
    finding_text = staticmethod(envelope.finding_text)

    def __init__(self, report: DiagnosisReport) -> None:
        self.report = report
        self.say = labels.labels_of(report.language)

    def chosen(self) -> dict[str, Any]:
        """What a template is given besides the view."""
        return {}

    @property
    def headline(self) -> tuple[str, str]:
        return verdict_words(self.report)

    @property
    def lead(self) -> story.Lead:
        return story.lead(self.report)

    @property
    def is_low(self) -> bool:
        return story.is_low(self.report)

    @property
    def metrics(self) -> list[tuple[story.ToldMetric, Any, Score | None]]:
        """Each metric as it is told, with what it was diagnosed from and its score."""
        told = zip(story.metrics(self.report), self.report.diagnoses, strict=True)
        return [(row, one, self.report.metrics.get(one.metric)) for row, one in told]

    @cached_property
    def causes(self) -> list[ToldCause]:
        return causes.claimed(self.report)

    @property
    def no_cause(self) -> str:
        return story.why_no_cause(self.report)

    @cached_property
    def untested(self) -> list[ToldCause]:
        return causes.untested(self.report)

    @property
    def struck_out(self) -> list[tuple[str, list[tuple[int, Cause]]]]:
        """Why causes are struck out, and which, each with its number in the list."""
        numbers = count(1)
        groups = causes.struck_by_why(causes.struck_out(self.report))
        return [(why, [(next(numbers), one) for one in alike]) for why, alike in groups]

    @property
    def slices(self) -> list[ToldSlice]:
        return parts.slices(self.report)

    @property
    def symptoms(self) -> list[tuple[str, int]]:
        return parts.symptoms(self.report)

    @property
    def judged(self) -> str:
        return addresses.judge_words(self.report)

    @property
    def stacks(self) -> list[Stack]:
        return addresses.stacks(self.report)

    @property
    def replayed(self) -> str:
        found = self.report.replay
        return parts.replay_words(found, self.say) if found else ""

    @property
    def interventions(self) -> list[ToldIntervention]:
        return parts.interventions(self.report)

    @property
    def repaired_by(self) -> list[tuple[str, str]]:
        return parts.repaired_by(self.report)

    @cached_property
    def worst(self) -> list[tuple[str, list[tuple[int, ToldSample]]]]:
        """The samples of each metric, each with its number on the page."""
        found = parts.worst(self.report)
        starts = [sum(len(samples) for _, samples in found[:place]) for place in range(len(found))]
        return [
            (metric, list(enumerate(samples, start + 1)))
            for start, (metric, samples) in zip(starts, found, strict=True)
        ]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where a sample is first shown on the page, by its id."""
        shown = [(one.one.id, number) for _, samples in self.worst for number, one in samples]
        return dict(reversed(shown))

    @property
    def gates(self) -> list[tuple[Verdict, str]]:
        return [(gate, envelope.gate_note(gate)) for gate in self.report.gates]

    @property
    def other_metrics(self) -> list[tuple[str, Score]]:
        return story.other_metrics(self.report)

    @property
    def findings(self) -> list[tuple[str, int, Sequence[Finding]]]:
        return envelope.findings_by_code(self.report.findings, self.report.finding_counts)

    @property
    def coverage(self) -> str:
        return story.coverage_words(self.report)

    @property
    def identity(self) -> list[tuple[str, str]]:
        return envelope.identity_words(self.report.identity)

    @staticmethod
    def short(text: str) -> str:
        return cut(text, LONGEST)
