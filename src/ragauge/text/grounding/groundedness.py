"""Lexical groundedness: how far the contexts support an answer, and what of it they do not.

It compares words, numbers and the records' fields. It knows no synonyms and does not reason, so
it is a measure of support in the words of the contexts, and no proof of truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragauge.contracts.answers import (
    ANSWER_KINDS,
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
from ragauge.text.grounding.kinds import assumed_kind, kind_of
from ragauge.text.grounding.model import Model, shipped
from ragauge.text.grounding.passages import Passages
from ragauge.text.grounding.records import Slip
from ragauge.text.grounding.tokens import LIGHT
from ragauge.text.refusal import refusal_in
from ragauge.text.refusal import tokens as refusals

DIGITS = 6
"""Decimals of a score: more would be noise."""
NO_ANSWER = "the answer is empty"
NO_CLAIM = "the answer claims nothing"
NO_CONTEXT = "there is no context to compare with"
REFUSED = "the answer is a refusal: it claims nothing"
_REFUSALS = refusals()


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
    passages = _passages(answer, contexts, question)
    told = _kind(kind) or kind_of(answer, passages)
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
    numbers = _distinct(sentences, "unsupported_numbers")
    return Groundedness(
        value=value,
        reason=reason or answer_reason(sentences),
        kind=told,
        threshold=chosen.threshold,
        grounded=None if value is None else value >= chosen.threshold and not numbers,
        sentences=sentences,
        unsupported_words=_distinct(sentences, "unsupported_words"),
        unsupported_numbers=numbers,
        model=(model or shipped()).id,
        assumed=None if kind else assumed_kind(answer, passages),
        band=None if value is None else chosen.band_of(value),
    )


def sentence_scores(
    text: str, passages: Passages, kind: AnswerKind, model: Model, enough: int
) -> list[float]:
    """The scores alone of the sentences of a text; none where it claims nothing.

    `enough` is what `read_answer` takes: less than usual where a text is one of many.
    """
    if _nothing_to_measure(text, passages):
        return []
    odds = model.kinds[kind].sentence_odds(read_answer(text, passages, enough).sentences)
    return list(map(_rounded, odds))


def _passages(
    answer: object, contexts: Sequence[Context | str] | Passages | str, question: str | None
) -> Passages:
    """The contexts made ready; raises TypeError with the fact where they are none."""
    if not isinstance(answer, str):
        raise TypeError(f"the answer is {type(answer).__name__}, expected str")
    if isinstance(contexts, Passages):
        return contexts
    if isinstance(contexts, str):
        return Passages([contexts], question)
    if not isinstance(contexts, Sequence):
        raise TypeError(f"the contexts are {type(contexts).__name__}, expected a list of texts")
    for place, one in enumerate(contexts):
        if not isinstance(one, str | Context):
            raise TypeError(f"contexts[{place}] is {type(one).__name__}, expected str or Context")
    return Passages(contexts, question)


def _kind(kind: AnswerKind | None) -> AnswerKind | None:
    if kind is not None and kind not in ANSWER_KINDS:
        raise ValueError(f'there is no kind "{kind}"; there are {", ".join(ANSWER_KINDS)}')
    return kind


def _nothing_to_measure(answer: str, passages: Passages) -> str | None:
    if not answer.strip():
        return NO_ANSWER
    if refusal_in(answer, _REFUSALS) != "none":
        return REFUSED
    return None if passages.lines else NO_CONTEXT


def _support(
    answer: str, read: Read, one: Sentence, odds: float, passages: Passages
) -> SentenceSupport:
    numbers = tuple(dict.fromkeys(number.text for number in one.numbers))
    words = _missing_words(answer, read, one, numbers)
    return SentenceSupport(
        text=answer[one.start : one.end],
        start=one.start,
        end=one.end,
        score=_rounded(odds),
        evidence=_evidence(one.aligned.window, passages),
        unsupported_words=words,
        unsupported_numbers=numbers,
        reason=sentence_reason(one, passages, (*numbers, *words)),
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

    Numbers have a list of their own; words that claim little are left out. Characters of a script
    without blanks that follow each other are one word.
    """
    found, told = read.tokens, " ".join(numbers)
    spans: list[tuple[int, int]] = []
    for place, support in zip(content_places(found, one), one.aligned.supports, strict=True):
        if support or found.kinds[place] == LIGHT:
            continue
        start, end = found.starts[place], found.ends[place]
        if spans and spans[-1][1] == start:
            start = spans.pop()[0]
        spans.append((start, end))
    words = (answer[start:end] for start, end in spans)
    return tuple(dict.fromkeys(w for w in words if w not in told and not w[0].isdigit()))


def _distinct(sentences: Sequence[SentenceSupport], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for one in sentences for word in getattr(one, field)))


def _rounded(odds: float) -> float:
    return round(probability(odds), DIGITS)


WELL = 0.85
"""A sentence of which so much stands in one place is supported in so many words."""
SHOWN = 5

_FAULTS = {
    "denied": "the record says no: {}",
    "untold": "the record tells nothing of {}",
    "untold_denied": "denied, though the record tells nothing of {}",
    "affirmed": "denied, though the record says yes: {}",
    "times": "no such time in the record: {}",
    "days": "every day, but the record has no {}",
}


def sentence_reason(one: Sentence, passages: Passages, missing: Sequence[str]) -> str | None:
    """What speaks against a sentence; None where nothing does."""
    found = one.aligned
    said = [_slip(slip) for slip in one.slips]
    if missing:
        said.append("not in the contexts: " + _listed(missing))
    weak = [
        passages.chunks[chunk].id
        for chunk in one.cited
        if found.by_chunk.get(chunk, 0.0) < found.in_window / 2
    ]
    if weak:
        said.append("cited but hardly supporting: " + _listed(weak))
    if found.window is None:
        said.append("no word of it stands in a context")
    elif found.in_window < WELL / 2:
        said.append(f"{_percent(found.in_window)} of its words stand together in a context")
    elif found.supported - found.in_window > 1 - WELL:
        said.append("its words stand in the contexts, but not together")
    if found.misbound_numbers:
        said.append("a number of it belongs to something else there")
    if found.misbound_names:
        said.append("a name of it stands elsewhere, and another in its place")
    if found.denial_differs and not one.slips and found.in_window >= WELL / 2:
        said.append("it denies where the context does not, or the other way round")
    return "; ".join(dict.fromkeys(said)) or None


def answer_reason(sentences: Sequence[SentenceSupport]) -> str | None:
    """What speaks most against an answer: what speaks against its least supported sentence."""
    if not sentences:
        return None
    worst = min(range(len(sentences)), key=lambda place: (sentences[place].score or 0.0, place))
    reason = sentences[worst].reason
    return reason and f"sentence {worst + 1} of {len(sentences)}: {reason}"


def _slip(slip: Slip) -> str:
    return _FAULTS[slip.fault].format(slip.field)


def _listed(words: Sequence[str]) -> str:
    kept = list(dict.fromkeys(words))
    more = f" and {len(kept) - SHOWN} more" if len(kept) > SHOWN else ""
    return ", ".join(kept[:SHOWN]) + more


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
