"""Number and date agreement: what an answer says in figures, and whether it stands anywhere.

Words can be said otherwise, a number cannot: one that stands in no context is the surest sign of
an invented fact that needs no model. The value says nothing of numbers that stand in the contexts
and are bound to the wrong thing.

Numbers are compared in one form (`12 thousand` is `12,000`, `twelve` is `12`), with their unit
where both have one; a date stands where the same or a more exact one does. List markers,
citation markers and small counting words, as in "one of them", claim nothing and are not counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.grounds import REFUSED
from ragauge.metrics.overlap_references import answer_of, of_answers
from ragauge.text.quantities import Kind, Quantity, quantities, supply, unsupported

NOTHING_TO_COMPARE = Absent("no context and no reference")
NO_NUMBER = NotApplicable("no number in the answer")
NO_DATE = NotApplicable("no date in the answer")
SHOWN = 10
"""Numbers that a reason lists."""


@of_answers("answers.number_agreement", version=2, rate=False)
def number_agreement(facts: AnswerFacts) -> Row | Absent:
    """Numbers of the answer that stand in its contexts, over its numbers.

    With units and identifiers: `5 km` does not stand where only `5 miles` does, nor `A320` where
    `A321` does. In the references where the row has no contexts, and the reason says so. The
    numbers of one answer stand or fall together, so that the interval is one over answers.

    >>> from ragauge.metrics.overlap_references import facts_of
    >>> number_agreement(facts_of("12 thousand books in 7 rooms", "It has 12,000 books."))
    Row(counts=(1, 2), reason='in the references, for want of contexts; not found: 7')
    """
    return _agreement(facts, ("number", "identifier"), NO_NUMBER)


@of_answers("answers.date_agreement", version=2, rate=False)
def date_agreement(facts: AnswerFacts) -> Row | Absent:
    """Dates and times of the answer that stand in its contexts, over its dates and times.

    `May 1800` stands where `3 May 1800` does and not the other way round; `03/05/1800` may be in
    May or in March. In the references where the row has no contexts, and the reason says so.

    >>> from ragauge.metrics.overlap_references import facts_of
    >>> date_agreement(facts_of("Since 1800-05-03, daily at 5 PM", "On 3 May 1800, at 17:00"))
    Row(counts=(2, 2), reason='in the references, for want of contexts')
    """
    return _agreement(facts, ("date", "time"), NO_DATE)


METRICS: tuple[Metric, ...] = (number_agreement, date_agreement)


def _agreement(facts: AnswerFacts, kinds: tuple[Kind, ...], none: Absent) -> Row | Absent:
    answer = answer_of(facts)
    if isinstance(answer, Absent):
        return answer
    if facts.refused:
        return REFUSED
    contexts = [context.text for context in facts.row.contexts or () if context.text.strip()]
    texts = contexts or [text for text in facts.row.references if text.strip()]
    if not texts:
        return NOTHING_TO_COMPARE
    said = [found for found in quantities(answer) if found.kind in kinds and not found.plain]
    if not said:
        return none
    lost = unsupported(said, supply(found for text in texts for found in quantities(text)))
    return Row((len(said) - len(lost), len(said)), _reason(lost, in_contexts=bool(contexts)))


def _reason(lost: Sequence[Quantity], in_contexts: bool) -> str | None:
    said = [] if in_contexts else ["in the references, for want of contexts"]
    if lost:
        shown = ", ".join(quantity.text for quantity in lost[:SHOWN])
        more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        said.append(f"not found: {shown}{more}")
    return "; ".join(said) or None
