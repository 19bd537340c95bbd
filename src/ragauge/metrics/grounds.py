"""What an answer is held against, and the one rule for when there is nothing: for every metric.

An answer that was not given or refuses says nothing that could be supported. Contexts that the row
does not tell of are unknown. Where it tells that none was retrieved, no claim could be supported:
to call that 0 would blame the answer for what its retriever did, so that it is absent too, and
`context_recall` and the metrics of retrieval say whose fault it is.
"""

from __future__ import annotations

from ragauge.contracts.answers import Context
from ragauge.contracts.metric import Absent, NotApplicable
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.overlap_references import answer_of

REFUSED = NotApplicable("the answer is a refusal: it claims nothing")
CONTEXTS_UNKNOWN = Absent("the row tells nothing of contexts")
NOTHING_RETRIEVED = Absent("no context was retrieved")
BLANK_CONTEXTS = Absent("every context is blank")


def grounds_of(facts: AnswerFacts) -> tuple[Context, ...] | Absent:
    """The contexts that the answer is held against, or why it cannot be.

    >>> from ragauge.contracts.answers import AnswerRow
    >>> unknown, nothing = (AnswerRow(id="", answer="a", contexts=told) for told in (None, ()))
    >>> [grounds_of(AnswerFacts(row=row)).reason for row in (unknown, nothing)]
    ['the row tells nothing of contexts', 'no context was retrieved']
    """
    answer = answer_of(facts)
    if isinstance(answer, Absent):
        return answer
    if facts.refused:
        return REFUSED
    contexts = retrieved(facts)
    if isinstance(contexts, Absent):
        return contexts
    return contexts if any(context.text.strip() for context in contexts) else BLANK_CONTEXTS


def retrieved(facts: AnswerFacts) -> tuple[Context, ...] | Absent:
    """The contexts, of which there is one at least."""
    return told_contexts(facts) or NOTHING_RETRIEVED


def told_contexts(facts: AnswerFacts) -> tuple[Context, ...] | Absent:
    """The contexts, which may be none, where the row tells of them."""
    contexts = facts.row.contexts
    return CONTEXTS_UNKNOWN if contexts is None else contexts
