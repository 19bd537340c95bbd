"""Lexical groundedness: how far the contexts support an answer, and what of it they do not.

It compares words, numbers and the records' fields. It knows no synonyms and does not reason, so
it is a measure of support in the words of the contexts, and no proof of truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.answers import (
    AnswerKind,
    Context,
    Evidence,
    Groundedness,
    SentenceSupport,
)
from ragauge.text.grounding.alignment import Window
from ragauge.text.grounding.features import (
    Read,
    Sentence,
    content_places,
    probability,
    read_answer,
)
from ragauge.text.grounding.kinds import kind_of
from ragauge.text.grounding.model import Model, shipped
from ragauge.text.grounding.passages import Passages
from ragauge.text.grounding.reasons import answer_reason, sentence_reason
from ragauge.text.grounding.tokens import LIGHT

DIGITS = 6
"""Decimals of a score: more would be noise."""
NO_ANSWER = "the answer is empty"
NO_CLAIM = "the answer claims nothing"
NO_CONTEXT = "there is no context to compare with"


def groundedness(
    answer: str,
    contexts: Sequence[Context | str] | Passages,
    question: str | None = None,
    *,
    kind: AnswerKind | None = None,
    model: Model | None = None,
) -> Groundedness:
    """The score of an answer, its sentences with their evidence, and what no context supports.

    Contexts that serve several answers are analysed once as `Passages(contexts, question)`.

    >>> found = groundedness(
    ...     "It opened in 1808. Napoleon designed it.", ["The museum opened in 1808 in Amsterdam."]
    ... )
    >>> [one.unsupported_words for one in found.sentences], found.grounded
    ([(), ('Napoleon', 'designed')], False)
    """
    passages = contexts if isinstance(contexts, Passages) else Passages(contexts, question)
    told = kind or kind_of(answer, passages)
    chosen = (model or shipped()).kinds[told]
    reason = _nothing_to_measure(answer, passages)
    read = Read.nothing() if reason else read_answer(answer, passages)
    if not reason and not read.sentences:
        reason = NO_CLAIM
    odds = chosen.sentence_odds(read.sentences)
    sentences = tuple(
        _support(answer, read, one, score, passages)
        for one, score in zip(read.sentences, odds, strict=True)
    )
    value = None if reason else _rounded(chosen.answer_odds(read.sentences, odds))
    return Groundedness(
        value=value,
        reason=reason or answer_reason(sentences, read.sentences),
        kind=told,
        threshold=chosen.threshold,
        grounded=None if value is None else value >= chosen.threshold,
        sentences=sentences,
        unsupported_words=_distinct(sentences, "unsupported_words"),
        unsupported_numbers=_distinct(sentences, "unsupported_numbers"),
        model=(model or shipped()).id,
    )


def _nothing_to_measure(answer: str, passages: Passages) -> str | None:
    if not answer.strip():
        return NO_ANSWER
    return None if passages.lines else NO_CONTEXT


def _support(
    answer: str, read: Read, one: Sentence, odds: float, passages: Passages
) -> SentenceSupport:
    numbers = tuple(dict.fromkeys(number.text for number in one.numbers))
    return SentenceSupport(
        text=answer[one.start : one.end],
        start=one.start,
        end=one.end,
        score=_rounded(odds),
        evidence=_evidence(one.aligned.window, passages),
        unsupported_words=_missing_words(answer, read, one, numbers),
        unsupported_numbers=numbers,
        reason=sentence_reason(one, passages),
    )


def _evidence(window: Window | None, passages: Passages) -> Evidence | None:
    if window is None:
        return None
    lines = passages.lines[window.first : window.last]
    return Evidence(passages.chunks[window.chunk].id, lines[0].start, lines[-1].end)


def _missing_words(
    answer: str, read: Read, one: Sentence, numbers: tuple[str, ...]
) -> tuple[str, ...]:
    """The telling words of a sentence that stand in no context, as they are written.

    Numbers have a list of their own; words that claim little are left out.
    """
    found, told = read.tokens, " ".join(numbers)
    missing = [
        answer[found.starts[place] : found.ends[place]]
        for place, support in zip(content_places(found, one), one.aligned.supports, strict=True)
        if not support and found.kinds[place] != LIGHT
    ]
    return tuple(
        dict.fromkeys(word for word in missing if word not in told and not word[0].isdigit())
    )


def _distinct(sentences: Sequence[SentenceSupport], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for one in sentences for word in getattr(one, field)))


def _rounded(odds: float) -> float:
    return round(probability(odds), DIGITS)
