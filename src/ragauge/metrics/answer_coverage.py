"""Coverage of answers: how many of the rows have one at all."""

from __future__ import annotations

from ragauge.contracts.metric import Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.declare import metric


@metric(
    "answers.coverage",
    version=1,
    better="higher",
    bounds=(0, 1),
    unit="answer",
    reads="answers",
    needs=("row",),
)
def coverage(facts: AnswerFacts) -> Row:
    """Rows with an answer, over rows.

    A refusal is an answer here; an empty or null one is an error record, and so is a question
    without a prediction.

    >>> from ragauge.contracts.answers import AnswerRow
    >>> coverage(AnswerFacts(row=AnswerRow(id="a1", answer=None)))
    Row(counts=(0, 1), reason='no answer')
    """
    answered = facts.row.answer is not None
    return Row((int(answered), 1), None if answered else "no answer")


METRICS = (coverage,)
