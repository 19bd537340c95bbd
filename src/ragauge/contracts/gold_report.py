"""What is said about gold sets: their lint and their diff."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from ragauge.contracts.gold import Gold, GoldSet
from ragauge.contracts.report import Finding, Findings, Report, Score, Verdict

LINT_SCHEMA = "ragauge.gold-lint/1"
DIFF_SCHEMA = "ragauge.gold-diff/1"

Severity = Literal["error", "warning"]


class GoldFinding(Finding, frozen=True):
    """A finding about a gold set: an error fails it, a warning is worth a look."""

    severity: Severity


class Summary(Struct, frozen=True, kw_only=True):
    """What a gold set holds."""

    answerable: int
    unanswerable: int
    with_citations: int
    with_paraphrases: int
    with_constraints: int
    strata: dict[str, dict[str, int]]
    """For each stratum, how many questions have each value."""


class GoldReport(Report, frozen=True, kw_only=True):
    """What every report about gold sets has, in the common form of reports."""

    passed: bool = field(name="pass")
    metrics: dict[str, Score] = field(default_factory=dict)
    gates: tuple[Verdict, ...] = ()
    findings: tuple[GoldFinding, ...]
    coverage: dict[str, int | tuple[str, ...]]
    """Counts, and under `unread_columns` the fields of the set that look misspelt, if any."""
    errors: int
    warnings: int

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of the coverage."""
        return {name: one for name, one in self.coverage.items() if isinstance(one, int)}


class AnchorChunks(Struct, frozen=True, kw_only=True):
    """A gold span and the chunks that cover it."""

    qid: str
    span: Literal["anchor", "target_section"]
    doc_id: str
    start: int
    end: int
    chunks: tuple[str, ...] | None
    """The ids of all chunks that have a character of it, in order; None where none are known."""
    inside: str | None
    """The first chunk that has all of it."""
    covered: int | None
    """How many of its characters are in any chunk."""
    cut: bool | None
    """Whether windows from the beginning of the document cut it; None without window and stride."""


class LintReport(GoldReport, frozen=True, kw_only=True):
    """What `ragauge gold lint` says, versioned."""

    schema: str = LINT_SCHEMA
    summary: Summary
    locks: dict[str, str] | None = None
    """The constraint lock of each question that has constraints; None where not requested."""
    anchors: tuple[AnchorChunks, ...] | None = None
    """The gold spans of the set, where chunks or a window were given."""


class Revision(Struct, frozen=True):
    """A question that is not what it was, and the fields that differ."""

    qid: str
    fields: tuple[str, ...]


class DiffReport(GoldReport, frozen=True, kw_only=True):
    """What `ragauge gold diff` says, versioned."""

    schema: str = DIFF_SCHEMA
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Revision, ...]
    """Questions that mean something else now."""
    edited: tuple[Revision, ...]
    """Questions that were edited and still mean the same."""


def judged(
    found: Findings,
    errors: Collection[str],
    coverage: Mapping[str, int],
    sets: Sequence[Sequence[Gold]] = (),
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """What every report on gold sets has: the part that its findings decide, and its coverage.

    Findings with one of the codes of `errors` are errors, all others are warnings.
    """
    unread = dict.fromkeys(name for one in sets if isinstance(one, GoldSet) for name in one.unread)
    counts = dict(sorted(found.counts.items()))
    wrong = sum(count for code, count in counts.items() if code in errors)
    warnings = sum(counts.values()) - wrong
    return {
        "passed": not (wrong or (strict and warnings)),
        "findings": tuple(
            GoldFinding(
                one.code, one.where, one.message, "error" if one.code in errors else "warning"
            )
            for one in found.kept()
        ),
        "finding_counts": counts,
        "coverage": {**coverage, **({"unread_columns": tuple(unread)} if unread else {})},
        "errors": wrong,
        "warnings": warnings,
    }
