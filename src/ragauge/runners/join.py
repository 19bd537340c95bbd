"""The gold question a trace belongs to: by its qid, or by its words where it has none."""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.gold import Gold
from ragauge.contracts.trace import Trace
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
