"""Lexical groundedness: how far the contexts support an answer, and what they do not support.

It compares words, numbers and the fields of records. It knows no synonyms and does not reason, so
it measures support in the words of the contexts, not truth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragauge.contracts.answers import (
    ANSWER_KINDS,
    AnswerKind,
    Context,
    Evidence,
    Groundedness,
    SentenceSupport,
)
from ragauge.grounding.alignment import Window
from ragauge.grounding.features import (
    AnswerRead,
    Sentence,
    probability,
    read_answer,
)
from ragauge.grounding.model import Model, shipped
from ragauge.grounding.passages import Passages
from ragauge.grounding.tokens import LIGHT, STOP
from ragauge.refusals.predicate import refusal_in, refusal_tokens

DIGITS = 6
"""Decimals of a score: more would be noise."""
NO_ANSWER = "the answer is empty"
NO_CLAIM = "the answer claims nothing"
NO_CONTEXT = "there is no context to compare with"
REFUSED = "the answer is a refusal: it claims nothing"
_REFUSALS = refusal_tokens()
SUMMARY_WORDS = 40
"""A shorter text without a question is a claim rather than a summary."""
SOURCE_WORDS = 150
"""A shorter context is a retrieved passage rather than a document to summarise."""
_ASKS_FOR_SUMMARY = re.compile(
    r"\bsummar|\btl;?dr\b|\bsamenvat|\bvat\b.*\bsamen\b|zusammenfass|\bfass\w*\b.*\bzusammen\b"
    r"|\brésum|摘要|总结|總結|概括",
    re.I,
)
WELL_SUPPORTED = 0.85
"""A sentence with this fraction in one place is supported almost literally."""
MOST_LISTED = 5
_FAULTS = {
    "denied": "the record says no: {}",
    "untold": "the record tells nothing of {}",
    "untold_denied": "denied, though the record tells nothing of {}",
    "affirmed": "denied, though the record says yes: {}",
    "times": "no such time in the record: {}",
    "days": "every day, but the record has no {}",
}


def groundedness(
    answer: str,
    contexts: Sequence[Context | str] | Passages | str,
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
    if not isinstance(answer, str):
        raise TypeError(f"the answer is {type(answer).__name__}, expected str")
    passages = contexts if isinstance(contexts, Passages) else _passages(contexts, question)
    if kind is not None and kind not in ANSWER_KINDS:
        raise ValueError(f'there is no kind "{kind}"; there are {", ".join(ANSWER_KINDS)}')
    chosen_kind = kind or kind_of(answer, passages)
    chosen = (model or shipped()).kinds[chosen_kind]
    reason = _nothing_to_measure(answer, passages)
    read = AnswerRead.nothing() if reason else read_answer(answer, passages)
    if not reason and not read.sentences:
        reason = NO_CLAIM
    odds = chosen.sentence_odds(read.sentences)
    sentences = tuple(
        _support(answer, read, one, score, passages)
        for one, score in zip(read.sentences, odds, strict=True)
    )
    value = None if reason else rounded(chosen.answer_odds(read.sentences, odds))
    words = dict.fromkeys(word for one in sentences for word in one.unsupported_words)
    numbers = dict.fromkeys(number for one in sentences for number in one.unsupported_numbers)
    if not reason:  # the strongest evidence against an answer is its least supported sentence
        worst = min(range(len(sentences)), key=lambda place: (sentences[place].score or 0.0, place))
        against = sentences[worst].reason
        reason = against and f"sentence {worst + 1} of {len(sentences)}: {against}"
    return Groundedness(
        value=value,
        reason=reason,
        kind=chosen_kind,
        threshold=chosen.threshold,
        grounded=None if value is None else value >= chosen.threshold and not numbers,
        sentences=sentences,
        unsupported_words=tuple(words),
        unsupported_numbers=tuple(numbers),
        model=(model or shipped()).id,
        assumed=None if kind else assumed_kind(answer, passages),
        band=None if value is None else chosen.band_of(value),
    )


def sentence_scores(
    text: str, passages: Passages, kind: AnswerKind, model: Model, enough: int
) -> list[float]:
    """The scores of the sentences of a text; empty if it claims nothing.

    `enough` is that of `read_answer`: less than usual if the text is one of many.
    """
    if _nothing_to_measure(text, passages):
        return []
    odds = model.kinds[kind].sentence_odds(read_answer(text, passages, enough).sentences)
    return list(map(rounded, odds))


def _passages(contexts: Sequence[Context | str] | str, question: str | None) -> Passages:
    """The contexts, prepared; raises TypeError with the fact if they are not contexts."""
    if isinstance(contexts, str):
        return Passages([contexts], question)
    if not isinstance(contexts, Sequence):
        raise TypeError(f"the contexts are {type(contexts).__name__}, expected a list of texts")
    for place, one in enumerate(contexts):
        if not isinstance(one, str | Context):
            raise TypeError(f"contexts[{place}] is {type(one).__name__}, expected str or Context")
    return Passages(contexts, question)


def kind_of(answer: str, passages: Passages) -> AnswerKind:
    """The kind of an answer, judging by its contexts and its question.

    Contexts that are records make it data-to-text. A question that asks for a summary makes it a
    summary. So does a single long context without any question, if the answer is not short.
    Everything else is an answer to a question, with the question or without it.
    """
    if passages.record is not None:
        return "data_to_text"
    question = passages.question.strip()
    if question:
        return "summary" if _ASKS_FOR_SUMMARY.search(question) else "qa"
    return "summary" if _is_summary(answer, passages) else "qa"


def assumed_kind(answer: str, passages: Passages) -> str | None:
    """What was assumed about the kind without a question, and why; None if there is a question.

    >>> assumed_kind("In 1808.", Passages(["The museum opened in 1808."]))
    'no question: taken as an answer to a question, because the answer has fewer than 40 words'
    """
    if passages.record is not None or passages.question.strip():
        return None
    if _is_summary(answer, passages):
        reason = f"there is one context, of {SOURCE_WORDS} words or more"
        return f"no question: taken as a summary, because {reason}"
    if len(answer.split()) < SUMMARY_WORDS:
        reason = f"the answer has fewer than {SUMMARY_WORDS} words"
    elif len(passages.chunks) > 1:
        reason = "there are several contexts"
    else:
        reason = f"the context has fewer than {SOURCE_WORDS} words"
    return f"no question: taken as an answer to a question, because {reason}"


def _is_summary(answer: str, passages: Passages) -> bool:
    """Whether a text without a question looks like the summary of one document."""
    if len(passages.chunks) != 1 or len(answer.split()) < SUMMARY_WORDS:
        return False
    return sum(len(line.stems) for line in passages.lines) >= SOURCE_WORDS


def _nothing_to_measure(answer: str, passages: Passages) -> str | None:
    if not answer.strip():
        return NO_ANSWER
    if refusal_in(answer, _REFUSALS) != "none":
        return REFUSED
    return None if passages.lines else NO_CONTEXT


def rounded(odds: float) -> float:
    """The score of log-odds."""
    return round(probability(odds), DIGITS)


def evidence_of(window: Window | None, passages: Passages) -> Evidence | None:
    """Where the window is in its context."""
    if window is None:
        return None
    lines = passages.lines[window.first : window.last]
    return Evidence(passages.chunks[window.chunk].id, lines[0].start, lines[-1].end)


def _support(
    answer: str, read: AnswerRead, one: Sentence, odds: float, passages: Passages
) -> SentenceSupport:
    """A sentence with its evidence and its words that are in no context, as they are written.

    Numbers have a list of their own; words that claim little are left out. Adjacent characters of
    a script without spaces are one word.
    """
    numbers = tuple(dict.fromkeys(number.text for number in one.numbers))
    found, in_numbers = read.tokens, " ".join(numbers)
    spans: list[tuple[int, int]] = []
    content = [place for place in range(one.first, one.last) if found.kinds[place] != STOP]
    for place, support in zip(content, one.aligned.supports, strict=True):
        if support or found.kinds[place] == LIGHT:
            continue
        start, end = found.starts[place], found.ends[place]
        if spans and spans[-1][1] == start:
            start = spans.pop()[0]
        spans.append((start, end))
    missing = dict.fromkeys(answer[start:end] for start, end in spans)
    words = tuple(w for w in missing if w not in in_numbers and not w[0].isdigit())
    return SentenceSupport(
        text=answer[one.start : one.end],
        start=one.start,
        end=one.end,
        score=rounded(odds),
        evidence=evidence_of(one.aligned.window, passages),
        unsupported_words=words,
        unsupported_numbers=numbers,
        reason=_sentence_reason(one, passages, (*numbers, *words)),
    )


def _sentence_reason(one: Sentence, passages: Passages, missing: Sequence[str]) -> str | None:
    """The evidence against a sentence; None if there is none."""
    found = one.aligned
    reasons = [_FAULTS[slip.fault].format(slip.field) for slip in one.slips]
    if missing:
        reasons.append("not in the contexts: " + _joined(missing))
    weak = [
        passages.chunks[chunk].id
        for chunk in one.cited
        if found.by_chunk.get(chunk, 0.0) < found.in_window / 2
    ]
    if weak:
        reasons.append("cited but hardly supporting: " + _joined(weak))
    if found.window is None:
        reasons.append("no word of it stands in a context")
    elif found.in_window < WELL_SUPPORTED / 2:
        reasons.append(f"{100 * found.in_window:.0f} % of its words stand together in a context")
    elif found.supported - found.in_window > 1 - WELL_SUPPORTED:
        reasons.append("its words stand in the contexts, but not together")
    if found.misbound_numbers:
        reasons.append("a number of it belongs to something else there")
    if found.misbound_names:
        reasons.append("a name of it stands elsewhere, and another in its place")
    if found.denial_differs and not one.slips and found.in_window >= WELL_SUPPORTED / 2:
        reasons.append("it denies where the context does not, or the other way round")
    return "; ".join(dict.fromkeys(reasons)) or None


def _joined(words: Sequence[str]) -> str:
    kept = list(dict.fromkeys(words))
    more = f" and {len(kept) - MOST_LISTED} more" if len(kept) > MOST_LISTED else ""
    return ", ".join(kept[:MOST_LISTED]) + more
