"""What the metrics of an answer share: its facts, its references, and its contexts.

A missing answer or a refusal says nothing that could be supported. If the row has no field for
contexts, they are unknown. If none was retrieved, no claim could be supported: to call that 0 would
blame the answer for its retriever, so that is absent too, and `context_recall` and the metrics of
retrieval show whose fault it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from ragauge.contracts.answers import AnswerRow, CitationSupport, Context, Groundedness
from ragauge.contracts.claims import AnswerClaims, RubricScore
from ragauge.contracts.metric import (
    Absent,
    Better,
    NotApplicable,
    Row,
    metric,
    scaled_mean,
    value_row,
)
from ragauge.text.words import words


class AnswerFacts(Struct, frozen=True, kw_only=True):
    """One answer with what supporters, embedders and judges found.

    A field that is None was not requested or could not be computed; `missing` has the reason.
    """

    row: AnswerRow
    refused: bool = False
    """Whether the answer is a refusal, by the chosen predicate."""
    groundedness: Groundedness | None = None
    citations: CitationSupport | None = None
    """Which cited context supports which sentence."""
    claims: AnswerClaims | None = None
    """By an LLM judge."""
    lexical_claims: AnswerClaims | None = None
    """By the sentence supporter."""
    rubric: RubricScore | None = None
    similarity: float | None = None
    """Cosine of the answer and its nearest reference."""
    relevance: float | None = None
    """Cosine of the question and the answer."""
    missing: Mapping[str, str] = {}
    """Why a requested field is None, by the field's name."""


NO_REFERENCE = Absent("no reference")
WORDLESS = Absent("no reference has a word")
PAIRLESS = NotApplicable("no reference has two words")
NO_ANSWER = Absent("no answer: the row has none")
EMPTY_ANSWER = Absent("no answer: it is empty")
MOST_PAIRS = 10**10
"""Pairs of a character of the answer and one of a reference. The time to compare two texts in
order is proportional to it: a second at this limit, and minutes for texts of a megabyte."""
TOO_LONG = Absent(
    "too long to compare in order: answer and reference have more than 100,000 x 100,000 characters"
)
SHOWN = 60
"""Characters of a text that a reason quotes."""

of_answers = partial(
    metric,
    version=1,
    better="higher",
    bounds=(0, 1),
    unit="answer",
    reads="answers",
    needs=("row", "refused"),
)
"""A metric of an answer: by default a fraction of the answers."""
mean_of_answers = partial(of_answers, columns=("value", "of"), finish=scaled_mean)
"""A metric whose value is not a fraction; over a set it is the mean over answers."""

Compare = Callable[[str, str], float]
"""A number for a reference and an answer."""


def nearest(
    facts: AnswerFacts,
    compare: Compare,
    *,
    least_words: int = 1,
    better: Better = "higher",
    in_order: bool = False,
) -> Row | Absent:
    """The value for the best reference with at least so many words.

    Absent if texts to be compared in order are too long for that.
    """
    if in_order and any(is_too_long(facts.row.answer or "", text) for text in facts.row.references):
        return TOO_LONG
    found = _best_reference(facts, compare, least_words, better)
    if isinstance(found, Absent):
        return found
    return value_row(*found)


def holds_for_any(facts: AnswerFacts, holds: Callable[[str, str], bool]) -> Row | Absent:
    """1 if the predicate holds for a reference and the answer, else 0."""
    found = _best_reference(facts, holds, 1, "higher")
    return found if isinstance(found, Absent) else Row((int(found[0]), 1), found[1])


def answer_of(facts: AnswerFacts) -> str | Absent:
    """The text of the answer; an empty one counts as missing, as in every record."""
    answer = facts.row.answer
    if answer is None:
        return NO_ANSWER
    return answer if answer.strip() else EMPTY_ANSWER


def references_of(facts: AnswerFacts, least_words: int = 1) -> list[str] | Absent:
    """The distinct references with at least so many words, sorted."""
    written = sorted({text for text in facts.row.references if text.strip()})
    if not written:
        # An unanswerable question has no reference, and a refusal is the answer to it.
        return NotApplicable(NO_REFERENCE.reason) if facts.refused else NO_REFERENCE
    enough = [text for text in written if not least_words or len(words(text)) >= least_words]
    return enough or (WORDLESS if least_words == 1 else PAIRLESS)


def is_too_long(answer: str, reference: str) -> bool:
    """Whether two texts are too long to be compared in order."""
    return len(answer) * len(reference) > MOST_PAIRS


def quoted(text: str) -> str:
    """The beginning of a text, for a reason."""
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= SHOWN else f'"{line[:SHOWN].rstrip()}…"'


def facts_of(answer: str | None, *references: str) -> AnswerFacts:
    """The facts of an answer that has these references and nothing else."""
    return AnswerFacts(row=AnswerRow(id="", answer=answer, references=references))


def _best_reference(
    facts: AnswerFacts, compare: Compare, least_words: int, better: Better
) -> tuple[float, str | None] | Absent:
    references = references_of(facts, least_words)
    answer = answer_of(facts)
    if isinstance(references, Absent):
        return references
    if isinstance(answer, Absent):
        return answer
    pick = max if better == "higher" else min
    value, reference = pick((compare(reference, answer), reference) for reference in references)
    reasons = ["the answer is a refusal"] if facts.refused else []
    reasons += [f"nearest reference: {quoted(reference)}"] if len(references) > 1 else []
    return value, "; ".join(reasons) or None


REFUSED = NotApplicable("the answer is a refusal: it claims nothing")
CONTEXTS_UNKNOWN = Absent("the row tells nothing of contexts")
NOTHING_RETRIEVED = Absent("no context was retrieved")
BLANK_CONTEXTS = Absent("every context is blank")


def contexts_to_check(facts: AnswerFacts) -> tuple[Context, ...] | Absent:
    """The contexts that the answer is compared with, or why it cannot be.

    >>> from ragauge.contracts.answers import AnswerRow
    >>> unknown, nothing = (AnswerRow(id="", answer="a", contexts=given) for given in (None, ()))
    >>> [contexts_to_check(AnswerFacts(row=row)).reason for row in (unknown, nothing)]
    ['the row tells nothing of contexts', 'no context was retrieved']
    """
    answer = answer_of(facts)
    if isinstance(answer, Absent):
        return answer
    if facts.refused:
        return REFUSED
    contexts = retrieved_contexts(facts)
    if isinstance(contexts, Absent):
        return contexts
    return contexts if any(context.text.strip() for context in contexts) else BLANK_CONTEXTS


def retrieved_contexts(facts: AnswerFacts) -> tuple[Context, ...] | Absent:
    """The contexts, if there is at least one."""
    return known_contexts(facts) or NOTHING_RETRIEVED


def known_contexts(facts: AnswerFacts) -> tuple[Context, ...] | Absent:
    """The contexts, possibly none, if the row has the field."""
    contexts = facts.row.contexts
    return CONTEXTS_UNKNOWN if contexts is None else contexts


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
