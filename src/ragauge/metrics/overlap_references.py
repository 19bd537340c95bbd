"""An answer beside its references: which of them count, and which is nearest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.metric import SCALE, Absent, Better, NotApplicable, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.declare import metric, scaled_mean
from ragauge.text.words import words

NO_REFERENCE = Absent("no reference")
WORDLESS = Absent("no reference has a word")
PAIRLESS = NotApplicable("no reference has two words")
NO_ANSWER = Absent("no answer: the row has none")
EMPTY_ANSWER = Absent("no answer: it is empty")
MOST_PAIRS = 10**10
"""Pairs of a character of the answer and one of a reference. To compare two texts in order takes
time in proportion to it: here a second, and for texts of a megabyte minutes."""
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
"""A metric of an answer: by default a share of the answers."""
mean_of_answers = partial(of_answers, columns=("value", "of"), finish=scaled_mean)
"""One whose value is no share; over a set it is the mean of the answers'."""

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
    """The value of the best reference of at least so many words.

    Absent where texts that are to be compared in order are too long for it.
    """
    if in_order and any(is_too_long(facts.row.answer or "", text) for text in facts.row.references):
        return TOO_LONG
    found = _nearest(facts, compare, least_words, better)
    if isinstance(found, Absent):
        return found
    value, reason = found
    return Row((round(value * SCALE), 1), reason)


def any_of(facts: AnswerFacts, holds: Callable[[str, str], bool]) -> Row | Absent:
    """1 if it holds of a reference and the answer, else 0."""
    found = _nearest(facts, holds, 1, "higher")
    return found if isinstance(found, Absent) else Row((int(found[0]), 1), found[1])


def answer_of(facts: AnswerFacts) -> str | Absent:
    """The text of the answer; an empty one is none, as in every record."""
    answer = facts.row.answer
    if answer is None:
        return NO_ANSWER
    return answer if answer.strip() else EMPTY_ANSWER


def references_of(facts: AnswerFacts, least_words: int = 1) -> list[str] | Absent:
    """The different references of at least so many words, by letter."""
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
    """What is known of an answer that has these references and nothing else."""
    return AnswerFacts(row=AnswerRow(id="", answer=answer, references=references))


def _nearest(
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
    return value, _reason(facts, reference if len(references) > 1 else None)


def _reason(facts: AnswerFacts, reference: str | None) -> str | None:
    said = ["the answer is a refusal"] if facts.refused else []
    said += [f"nearest reference: {quoted(reference)}"] if reference is not None else []
    return "; ".join(said) or None
