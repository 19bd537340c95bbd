"""A finding: something a reader should know, with its place."""

from __future__ import annotations

from msgspec import Struct

PLACES_KEPT = 100
"""A code's first places stand in the report; beyond that only its count grows."""


class Finding(Struct, frozen=True):
    code: str
    where: str
    message: str


class Findings:
    """Findings in the order they were met: a count and the first places of each code."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._kept: dict[str, list[Finding]] = {}

    def add(self, finding: Finding, times: int = 1) -> None:
        self.counts[finding.code] = self.counts.get(finding.code, 0) + times
        kept = self._kept.setdefault(finding.code, [])
        if len(kept) < PLACES_KEPT:
            kept.append(finding)

    def count(self, code: str, times: int) -> None:
        """Count what was met beyond the places that are kept."""
        if times:
            self.counts[code] = self.counts.get(code, 0) + times

    def kept(self) -> list[Finding]:
        return [finding for code in sorted(self._kept) for finding in self._kept[code]]
