"""What an audit tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from ragauge.contracts.audit import (
    DEPTHS,
    OK,
    AuditCoverage,
    AuditedAnswer,
    AuditFinding,
    AuditReport,
    CodeCount,
    DepthCount,
)
from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Score
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import count, counted

STDIN = "stdin"
_QUOTED_OBJECT = re.compile(r'"(\{\\"(?:[^"\\]|\\.)*\})"')
_ESCAPED = re.compile(r'\\(["\\])')
DEPTHS_ASK = {
    "marker": "every cited id was retrieved",
    "payload": "every payload is whole and consistent",
    "text": "the text stands where the offsets say",
    "support": "the cited text supports what is said, by its words",
}
POINTER_HOLDS = frozenset(
    {
        "missing_score",
        "missing_k_pos",
        "missing_k_final",
        "cite_after_answer",
        "duplicate_citation",
        "bad_order",
    }
)
"""Codes that leave the place a citation points at in no doubt: warnings, where the others are
errors."""


class ToldCode(Struct, frozen=True):
    """A code with its first places."""

    one: CodeCount
    places: Sequence[AuditFinding]
    more: int
    """Findings of it that are not among the places."""

    @property
    def warning(self) -> bool:
        return self.one.code in POINTER_HOLDS


def verdict_words(report: AuditReport) -> tuple[str, str]:
    """PASS or FAIL, and how many answers do not hold: the gates follow in a table."""
    return "PASS" if report.passed else "FAIL", _held_words(report)


def _held_words(report: AuditReport) -> str:
    coverage = report.coverage
    answers = coverage.audited - coverage.refusals
    if not answers:
        refusals = f", only {counted(coverage.refusals, 'refusal')}" if coverage.refusals else ""
        return f"no answer was audited{refusals}"
    wrong = len(wrong_answers(report))
    if not wrong:
        words = f"{_of_answers(answers, answers)} citations that hold, at depth {report.depth}"
        stopping = ", ".join(gate.metric for gate in report.gates if not gate.holds)
        return f"{words}; not so: {stopping}" if stopping else words
    least = "at least " if not _all_told(report) else ""
    words = f"{least}{_of_answers(wrong, answers)} citations that do not hold"
    if not report.passed:
        return words
    return f"{words}, and {'the gates allow it' if report.gates else 'no gate minds'}"


def _of_answers(n: int, of: int) -> str:
    return f"{count(n)} of {counted(of, 'answer')} {'has' if n == 1 else 'have'}"


def _all_told(report: AuditReport) -> bool:
    """Whether every answer that went wrong has a row: those stand first, so one that held tells."""
    if any(row.code == OK for row in report.answers):
        return True
    return len(report.answers) >= report.coverage.audited - report.coverage.refusals


def metric_names(metrics: Iterable[str], gates: Iterable[Verdict]) -> dict[str, str]:
    return envelope.short_names(dict.fromkeys([*metrics, *(gate.metric for gate in gates)]))


def other_metrics(
    metrics: Mapping[str, Score], gates: Sequence[Verdict]
) -> list[tuple[str, Score]]:
    """The metrics no gate speaks of."""
    gated = {gate.metric for gate in gates}
    return [(id, score) for id, score in metrics.items() if id not in gated]


def gate_words(gate: Verdict) -> str:
    """What a gate came to: `FAIL: x is 0.75 [0.70, 0.80] over 412, must be >= 0.95`."""
    value = numbers.value_beside(gate.value, gate.bound)
    told = f"{gate.metric} is {value} {numbers.interval(gate.ci)}".rstrip()
    note = envelope.gate_note(gate)
    return (
        f"{envelope.gate_word(gate)}: {told} over {count(gate.n)}, must be {numbers.bound(gate)}"
        f"{f' ({note})' if note else ''}"
    )


def told_codes(
    codes: Sequence[CodeCount],
    findings: Sequence[AuditFinding],
    most: int = envelope.PLACES_SHOWN,
) -> list[ToldCode]:
    """The codes that were found, the worst first, each with at most so many places."""
    kept: dict[str, list[AuditFinding]] = {one.code: [] for one in codes}
    for finding in findings:
        if finding.code in kept and len(kept[finding.code]) < most:
            kept[finding.code].append(finding)
    return [
        ToldCode(one, kept[one.code], max(0, one.findings - len(kept[one.code]))) for one in codes
    ]


def other_findings(
    codes: Sequence[CodeCount], findings: Sequence[AuditFinding], counts: Mapping[str, int]
) -> list[tuple[str, int, Sequence[Finding]]]:
    """What was found besides the codes of citations: lines that cannot be read, and the like."""
    told = {one.code for one in codes}
    others = {code: times for code, times in counts.items() if code not in told}
    return envelope.findings_by_code(findings, others)


def finding_words(finding: AuditFinding) -> str:
    """A finding in a line: its place, its question, and what was found.

    >>> finding_words(AuditFinding("missing_rev", "t.jsonl:17", "citations[2].rev", qid="q3"))
    't.jsonl:17 q3 citations[2].rev'
    """
    if finding.qid is None or finding.message.startswith(f"{finding.where}:"):
        return envelope.finding_text(finding)
    return " ".join(filter(None, (finding.where, finding.qid, finding.message)))


def without_escapes(message: str) -> str:
    r"""What was found, with an object in quotation marks as the object that it is.

    >>> without_escapes(r'offsets: "{\"end\":7}", expected "{\"end\":9}"')
    'offsets: {"end":7}, expected {"end":9}'
    """
    return _QUOTED_OBJECT.sub(lambda found: _ESCAPED.sub(r"\1", found[1]), message)


def place_of(where: str) -> tuple[str, int] | None:
    """The file and line of `path:line`; None where it is no place in a file.

    >>> place_of("runs/traces.jsonl:17"), place_of("stdin:17"), place_of("q3")
    (('runs/traces.jsonl', 17), None, None)
    """
    path, _, line = where.rpartition(":")
    known = path not in ("", STDIN) and line.isascii() and line.isdecimal() and int(line) > 0
    return (path, int(line)) if known else None


def depths_told(report: AuditReport) -> list[tuple[str, DepthCount | None]]:
    """Every depth in its order; None where it was not asked for."""
    return [(depth, report.depths.get(depth)) for depth in DEPTHS]


def held_of(one: DepthCount) -> str:
    return numbers.n_of(one.ok, one.checked) if one.checked else numbers.ABSENT


def depth_words(depth: str, one: DepthCount | None) -> str:
    """What a depth asks, or why it has no number."""
    if one is None:
        return f"not looked at; --depth {depth} does"
    return DEPTHS_ASK[depth] if one.checked else "nothing to look at"


def wrong_answers(report: AuditReport, most: int | None = None) -> list[AuditedAnswer]:
    """The answers that do not hold; where only some are shown, some of each code."""
    wrong = [row for row in report.answers if row.code != OK]
    if most is None:
        return wrong
    ranks = {one.code: place for place, one in enumerate(report.codes)}
    ranked = sorted(wrong, key=lambda row: (ranks.get(row.code, len(ranks)), row.code))
    groups = [list(rows) for _, rows in groupby(ranked, key=lambda row: row.code)]
    return envelope.some_of_each(groups, most)


def findings_by_answer(report: AuditReport) -> dict[tuple[str, str | None], list[AuditFinding]]:
    """The findings that are kept, by the place and the question of their answer."""
    found: dict[tuple[str, str | None], list[AuditFinding]] = {}
    for finding in report.findings:
        found.setdefault((finding.where, finding.qid), []).append(finding)
    return found


def answer_name(row: AuditedAnswer) -> str:
    return row.qid if row.qid is not None else row.where


def coverage_words(coverage: AuditCoverage) -> str:
    """How much was audited, in one line; what is zero is not said."""
    missing = coverage.missing or 0
    parts = [
        f"{count(coverage.audited)} of {counted(coverage.traces, 'trace')} audited",
        counted(coverage.audited - coverage.refusals, "answer"),
        coverage.refusals and counted(coverage.refusals, "refusal"),
        counted(coverage.citations, "citation"),
        coverage.errors and counted(coverage.errors, "error"),
        missing and f"{count(missing)} of {_gold(coverage)} without a trace",
        coverage.unknown and f"{count(coverage.unknown)} of unknown questions",
        coverage.rejected and counted(coverage.rejected, "rejected line"),
        coverage.gold is None and "no gold set: nothing was matched",
        _live(coverage.compared),
    ]
    return ", ".join(part for part in parts if part)


def _live(compared: tuple[str, ...] | None) -> str:
    """What the manifest of the live index told."""
    if compared is None:
        return "no manifest: nothing was held against a live index"
    told = ", ".join(compared) or "nothing it could be held against"
    return f"of the live index the manifest tells {told}"


def _gold(coverage: AuditCoverage) -> str:
    return counted(coverage.gold or 0, "gold question")
