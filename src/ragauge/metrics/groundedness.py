"""Groundedness: how far the contexts support what an answer says, by its words.

It is lexical, and never called faithfulness: it sees words, numbers and the fields of records,
not meaning. `groundedness` is what to watch, `grounded` what to gate.
"""

from __future__ import annotations

import re
from functools import partial

from ragauge.contracts.answers import Groundedness
from ragauge.contracts.metric import SCALE, Absent, Metric, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.grounds import grounds_of
from ragauge.metrics.overlap_references import mean_of_answers, of_answers

WORDLESS = Absent("the answer has no sentence")
LONG = 4
"""Words of more letters than this count in the brief's measure."""

_SENTENCE_END = re.compile(r"[.!?]+")
_LONG_WORD = re.compile(rf"\b\w{{{LONG + 1},}}\b")

of_grounds = partial(of_answers, needs=("row", "refused", "groundedness", "missing"))
mean_of_grounds = partial(mean_of_answers, needs=("row", "refused", "groundedness", "missing"))


@mean_of_grounds("answers.groundedness", version=2)
def groundedness(facts: AnswerFacts) -> Row | Absent:
    """How well the contexts support the answer, from 0 to 1: the chance people call it grounded.

    A small logistic model over the answer's sentences, each laid against the window of the
    contexts that supports it best. The chance is for an even mix of good and bad answers; what it
    is worth on a set of yours, `ragauge calibrate groundedness` tells.
    """
    found = _found(facts)
    if isinstance(found, Absent):
        return found
    assert found.value is not None
    return Row((round(found.value * SCALE), 1), found.reason)


@of_grounds("answers.grounded", version=2)
def grounded(facts: AnswerFacts) -> Row | Absent:
    """Answers that reach the threshold of their kind and invent no number, over answers.

    A number or date that stands in no context makes an answer ungrounded, however much of the
    rest is supported: people hardly ever called such an answer grounded.
    """
    found = _found(facts)
    if isinstance(found, Absent):
        return found
    return Row((int(bool(found.grounded)), 1), found.reason)


@mean_of_answers("answers.brief_faithfulness", needs=("row", "refused"))
def brief_faithfulness(facts: AnswerFacts) -> Row | Absent:
    """Sentences with a word of five letters or more that stands anywhere in the contexts.

    For parity with an older measure only: against people it is close to chance, for a sentence
    about aliens passes once it names the museum. Use `groundedness`.

    >>> from ragauge.contracts.answers import AnswerRow, Context
    >>> contexts = (Context("1", "The Rijksmuseum is in Amsterdam."),)
    >>> says = "The Rijksmuseum was founded on Mars by aliens."
    >>> brief_faithfulness(AnswerFacts(row=AnswerRow(id="1", answer=says, contexts=contexts)))
    Row(counts=(1099511627776, 1), reason=None)
    """
    grounds = grounds_of(facts)
    if isinstance(grounds, Absent):
        return grounds
    known = " ".join(context.text for context in grounds).lower()
    said = (facts.row.answer or "").lower()
    sentences = [part for part in _SENTENCE_END.split(said) if part.strip()]
    if not sentences:
        return WORDLESS
    held = sum(any(word in known for word in _LONG_WORD.findall(part)) for part in sentences)
    return Row((round(held / len(sentences) * SCALE), 1))


def _found(facts: AnswerFacts) -> Groundedness | Absent:
    grounds = grounds_of(facts)
    if isinstance(grounds, Absent):
        return grounds
    if facts.groundedness is None:
        return Absent(facts.missing.get("groundedness", "groundedness was not asked for"))
    if facts.groundedness.value is None:
        return Absent(facts.groundedness.reason or "nothing to measure")
    return facts.groundedness


METRICS: tuple[Metric, ...] = (groundedness, grounded, brief_faithfulness)
