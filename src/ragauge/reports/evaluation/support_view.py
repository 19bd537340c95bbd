"""What the template of the least grounded answers asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

from ragauge.contracts.evaluation import EvidenceText
from ragauge.reports.evaluation import support
from ragauge.reports.evaluation.support import Level, Marked, ToldAnswer

BESIDE = 160
"""Characters of a context on each side of the evidence."""


class AnswersView(Struct, frozen=True):
    """The answers of a page, each to be opened; the first stand open."""

    told: Sequence[ToldAnswer]
    levels: ClassVar[tuple[Level, ...]] = support.LEVELS
    opened: ClassVar[int] = 3

    @property
    def title(self) -> str:
        return support.title(self.told)

    @property
    def are_parted(self) -> bool:
        """Whether anybody looked at sentences."""
        return any(one.sentences for one in self.told)

    @staticmethod
    def quoted(evidence: EvidenceText) -> Marked:
        return support.quoted(evidence, BESIDE)
