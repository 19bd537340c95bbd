"""The features of an answer, and of one sentence of it, that the coefficients weigh."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from math import exp, log, log1p
from typing import Generic, NamedTuple, TypeVar

from ragauge.grounding.alignment import Aligned, align
from ragauge.grounding.passages import ENOUGH, Passages, token_ranges
from ragauge.grounding.records import FAULTS, MOST_SLIPS, Slip, slips
from ragauge.grounding.tokens import Tokens, tokens
from ragauge.quantities import Quantity, is_supported, quantities, unsupported
from ragauge.quantities.identifiers import without_inline_markers

Found = TypeVar("Found")

SENTENCE_FEATURES = (
    "supported",
    "in_line",
    "in_window",
    "in_order",
    "bigrams",
    "missing",
    "worst_span",
    "missing_keys",
    "stray_keys",
    "misbound_numbers",
    "misbound_names",
    "missing_numbers",
    "denials",
    "cited",
    "weakest_citation",
    "citations",
    "length",
    *(f"record_{fault}" for fault in FAULTS),
)
"""The features of a sentence."""
ANSWER_FEATURES = (
    "weakest_sentence",
    "mean_sentence",
    "faults",
    "supported",
    "in_order",
    "bigrams",
    "worst_span",
    "missing_keys",
    "missing_numbers",
    "weakest_citation",
    "citations",
    "length",
)
"""The features of an answer: the log-odds of its sentences, and some of its own."""
_MEANS = ("supported", "in_order", "bigrams")
_LARGEST = 700.0


class Sentence(NamedTuple):
    """A sentence of the answer and what was found about it."""

    start: int
    end: int
    first: int
    last: int
    """Its tokens."""
    aligned: Aligned
    numbers: list[Quantity]
    """Those that no context has."""
    cited: tuple[int, ...]
    """Chunks that its markers name."""
    slips: list[Slip]


class AnswerRead(NamedTuple):
    """An answer, compared with its contexts."""

    tokens: Tokens
    sentences: list[Sentence]

    @classmethod
    def nothing(cls) -> AnswerRead:
        return cls(Tokens([], [], [], []), [])


def read_answer(answer: str, passages: Passages, enough: int = ENOUGH) -> AnswerRead:
    """The sentences of an answer that claim something, each aligned with the contexts.

    Above `enough` places, only the likeliest are compared.
    """
    plain = without_frame(answer)
    found = tokens(plain, passages.language)
    stated = quantities(plain)
    restated = _restated(stated, found, passages)
    cited = ByPlace(markers_in(answer))
    not_in_contexts = unsupported(stated, passages.supply) if stated else []
    missing = ByPlace([(one.start, one) for one in not_in_contexts])
    faults = slips(passages.record, plain, stated) if passages.record else ()
    faults_by_place = ByPlace([(slip.start, slip) for slip in faults])
    allowance = passages.allowance(found, enough)
    known: dict[tuple[object, ...], Aligned | None] = {}
    numbered = passages.numbered
    sentences = []
    for start, end, first, last in token_ranges(answer, found):
        if is_pleasantry(plain, start, end):
            continue
        stems, kinds = found.stems[first:last], found.kinds[first:last]
        key = (*stems, *kinds)
        if key not in known:
            known[key] = align(passages, stems, kinds, restated, allowance)
        aligned = known[key]
        if aligned is None:
            continue
        names = [name for named in cited.within(start, end) for name in named]
        sentences.append(
            Sentence(
                start,
                end,
                first,
                last,
                aligned,
                missing.within(start, end),
                tuple(dict.fromkeys(numbered[name] for name in names if name in numbered)),
                faults_by_place.within(start, end),
            )
        )
    return AnswerRead(found, sentences)


class ByPlace(Generic[Found]):
    """Things found in a text, in reading order, for lookup by place."""

    def __init__(self, found: Sequence[tuple[int, Found]]) -> None:
        self._starts = [start for start, _ in found]
        self._found = [one for _, one in found]

    def within(self, start: int, end: int) -> list[Found]:
        """Those that start in this stretch."""
        if not self._found:
            return []
        return self._found[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


def _restated(stated: Sequence[Quantity], found: Tokens, passages: Passages) -> frozenset[str]:
    """The words of numbers and dates that the contexts have in another form.

    "12 thousand" is supported by "12,000", though neither of its words is there.
    """
    return frozenset(
        stem
        for one in stated
        if is_supported(one, passages.supply)
        for stem in found.stems[
            bisect_left(found.starts, one.start) : bisect_left(found.starts, one.end)
        ]
        if stem not in passages.where
    )


def sentence_features(one: Sentence) -> list[float]:
    """The features of a sentence, in the order of SENTENCE_FEATURES."""
    found, faults = one.aligned, [slip.fault for slip in one.slips]
    return [
        found.supported,
        found.in_line,
        found.in_window,
        found.in_order,
        found.bigrams,
        log1p(found.missing),
        log1p(found.worst_span),
        log1p(found.missing_keys),
        log1p(found.stray_keys),
        log1p(found.misbound_numbers),
        log1p(found.misbound_names),
        log1p(len(one.numbers)),
        float(found.denial_differs),
        float(bool(one.cited)),
        _shortfall(one),
        log(max(len(one.cited), 1)),
        log(found.weight),
        *(float(min(faults.count(fault), MOST_SLIPS)) for fault in FAULTS),
    ]


def answer_features(sentences: Sequence[Sentence], odds: Sequence[float]) -> list[float]:
    """The features of an answer, in the order of ANSWER_FEATURES, from its sentences' log-odds."""
    aligned = [one.aligned for one in sentences]
    total = sum(one.weight for one in aligned)
    citing = [one for one in sentences if one.cited]
    cited = sum(one.aligned.weight for one in citing)
    return [
        min(odds),
        sum(odds) / len(odds),
        log1p(sum(1 - probability(one) for one in odds)),
        *(sum(one.weight * getattr(one, name) for one in aligned) / total for name in _MEANS),
        log1p(max(one.worst_span for one in aligned)),
        log1p(sum(one.missing_keys for one in aligned)),
        log1p(sum(len(one.numbers) for one in sentences)),
        sum(one.aligned.weight * _shortfall(one) for one in citing) / cited if cited else 0.0,
        log(max((len(one.cited) for one in citing), default=1)),
        log(total),
    ]


def probability(odds: float) -> float:
    """The probability of log-odds."""
    return 1 / (1 + exp(-odds)) if odds > -_LARGEST else 0.0


def _shortfall(one: Sentence) -> float:
    """How far the weakest cited context falls short of the complete sentence.

    A sentence that cites three contexts claims that each of them supports it.
    """
    if not one.cited:
        return 0.0
    return 1 - min(one.aligned.by_chunk.get(chunk, 0.0) for chunk in one.cited)


_MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*\]|【(\d{1,3})[^】]{0,20}】")
_WORDED_MARKER = re.compile(
    r"[(\[](?:see |as per |from )?(?:passages?|contexts?|documents?|sources?)\s*"
    r"#?\d{1,3}(?:(?:\s*[,&]\s*|\s+and\s+)(?:passages?\s*)?\d{1,3})*[)\]]",
    re.I,
)
_PRESENTS = r"(?:here(?:['’]s| is| are)|(?:a )?summary\b)"
_TO_LINE_END = r"[^\n]{0,200}?:[ \t]*(?=\n)"
_LEAD_IN = re.compile(
    rf"^[ \t]*(?:(?:sure|certainly|of course)\b"
    rf"(?:{_TO_LINE_END}|[!,.]*[ \t]*(?:{_PRESENTS}[^\n.!?]{{0,160}}?:)?)"
    rf"|{_PRESENTS}(?:{_TO_LINE_END}|[^\n.!?]{{0,160}}?(?::|(?=\n))))",
    re.I | re.M,
)
"""What an assistant says before the answer begins, which claims nothing. The rest of the same line
does."""
_PLEASANTRY = re.compile(
    r"\s*(?:yes|no|ja|nee|nein|oui|non|thanks?|thank you|bedankt|danke|merci"
    r"|(?:i )?hope (?:this|that|it) helps|you['’]re welcome|happy to help"
    r"|(?:please )?(?:let me know|feel free)\b[^.!?]{0,120}"
    r"|是的?|不是|谢谢|希望对你有帮助)\s*+[.!。！]*+\s*+",
    re.I,
)
"""Pleasantries, or a bare yes or no: they claim nothing by themselves."""
_LENGTH = re.compile(
    r"\(?\b(?:within|in|under) \d+ words(?: or (?:less|fewer))?\)?"
    r"|\(?\b\d+ words or (?:less|fewer)\)?",
    re.I,
)
"""The requested length of the answer."""
_LIST_MARK = re.compile(r"^[ \t]*(?:\(?\d{1,2}[.)]|[-*•])(?=\s)", re.M)


def markers_in(answer: str) -> list[tuple[int, list[str]]]:
    """The place of each citation marker, and the names in it.

    >>> markers_in("It opened [1]. It closed [2-4, 7].")
    [(10, ['1']), (25, ['2', '3', '4', '7'])]
    """
    return [(match.start(), _numbers(match)) for match in _MARKER.finditer(answer)]


def without_frame(answer: str) -> str:
    """The answer with spaces for markers, lead-ins and list marks, so that places do not change."""
    answer = without_inline_markers(answer)
    for pattern in (_MARKER, _WORDED_MARKER, _LEAD_IN, _LIST_MARK):
        answer = pattern.sub(_blank, answer)
    return _LENGTH.sub(_blank, answer) if "words" in answer.lower() else answer


def is_pleasantry(plain: str, start: int, end: int) -> bool:
    """Whether this stretch is only a pleasantry, or a bare yes or no."""
    return _PLEASANTRY.fullmatch(plain, start, end) is not None


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _numbers(match: re.Match[str]) -> list[str]:
    """The numbers a marker names, `[2-4]` spelled out."""
    named: list[str] = []
    for part in re.split(r"\s*[,;]\s*", match[1] or match[2]):
        first, _, last = re.sub(r"\s*[–-]\s*", "-", part).partition("-")
        if last and int(first) < int(last) <= int(first) + 20:
            named.extend(map(str, range(int(first), int(last) + 1)))
        else:
            named.extend(filter(None, (first, last)))
    return named
