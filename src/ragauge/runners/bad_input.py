"""Input that cannot be scored as asked: too many bad lines, or nothing that belongs to the gold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

from ragauge.contracts.report import Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.lines import nothing_in


def allowed_bad(text: str) -> Callable[[int], int | Fraction]:
    """How many bad lines a number of lines may hold: `N`, or `P%` of them."""
    written = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)%", text, re.ASCII)
    if not written or float(written[2] or 0) > 100:
        raise UsageError(f'--max-bad "{text}" is neither a count nor a percentage such as 1%')
    if written[1]:
        return lambda lines: int(written[1])
    return lambda lines: Fraction(written[2]) / 100 * lines


def refuse_bad_lines(findings: Findings, rejected: int, allowed: int | Fraction) -> None:
    """Raise InputRejected with the bad lines, where they are more than allowed."""
    if rejected > allowed:
        bad = [finding for finding in findings.kept() if finding.code == "bad_line"]
        problems = [f"{finding.where}: {finding.message}" for finding in bad]
        raise InputRejected(*problems, more=findings.counts["bad_line"] - len(bad))


def refuse_nothing(names: Sequence[str], findings: Findings, seen: int, what: str) -> None:
    """Raise InputRejected because none of the lines seen can be scored."""
    empty = nothing_in(names[0]) if len(names) == 1 else None
    fact = f"none of the {seen:,} {what} belongs to a gold question" if seen else f"no {what}"
    fact = f"{fact}; {empty}" if empty else fact
    first = [f"{finding.where}: {finding.message}" for finding in findings.kept()[:3]]
    raise InputRejected(f"{', '.join(names)}: nothing to score: {fact}", *first)
