"""Traces and the gold questions they belong to, by qid or by their words; and lines that belong to
none, or cannot be read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial

from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.report import Findings
from ragauge.contracts.trace import Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.lines import nothing_in
from ragauge.ingest.traces import BadLine, can_be_read_again, numbered_lines, whole_trace
from ragauge.text.canonical import same_question
from ragauge.text.visible import one_line, visible

SHOWN = 200
"""Characters of a qid that a message shows."""


class Join:
    """Places of gold questions, by qid and by question; None where two questions read alike."""

    def __init__(self, gold: Sequence[Gold]) -> None:
        self.by_qid = {question.qid: place for place, question in enumerate(gold)}
        self.by_question: dict[str, int | None] = {}
        for place, question in enumerate(gold):
            text = same_question(question.question)
            self.by_question[text] = None if text in self.by_question else place

    def place(self, trace: Trace) -> int | None:
        if trace.qid is not None:
            return self.by_qid.get(trace.qid)
        return self.by_question.get(same_question(trace.q or ""))

    def stray(self, trace: Trace) -> tuple[str, str]:
        """Why a trace has no place: the finding's code and message, which is safe to show."""
        if trace.qid is not None:
            return "unknown_question", f'qid "{one_line(trace.qid, SHOWN)}" is not in the gold set'
        # As the trace has it, runs of spaces included: that is what a reader searches the file for.
        written = visible(f"{trace.q or '':.60}".replace("\n", "\\n"))
        if same_question(trace.q or "") not in self.by_question:
            return "unknown_question", f'question "{written}" is not in the gold set'
        return (
            "ambiguous_question",
            f'question "{written}" appears twice in the gold set; give the trace a qid',
        )


Answers = Callable[[], Iterable[tuple[str, KeptAnswer]]]
"""Gives each answer with the id of its unit, where somebody wants to keep them."""


def answers_to(gold: Sequence[Gold], names: Sequence[str]) -> Answers | None:
    """What gives the traces of the gold set's questions, those of one in the order they stand.

    None where a file cannot be read twice, such as standard input.
    """
    return partial(_answers, gold, names) if can_be_read_again(names) else None


def _answers(gold: Sequence[Gold], names: Sequence[str]) -> Iterator[tuple[str, KeptAnswer]]:
    join = Join(gold)
    for name in names:
        for where, line in numbered_lines(name):
            try:
                trace = whole_trace(line)
            except BadLine:
                continue  # a finding of the run already
            place = join.place(trace)
            if place is not None:
                yield gold[place].qid, KeptAnswer(trace=trace, where=where)


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
