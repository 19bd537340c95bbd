"""Answers as a reader goes through them: sentence by sentence, with what the contexts say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from ragauge.contracts.answers import SentenceSupport
from ragauge.contracts.evaluation import AnswerDetail, AnswerShown, EvidenceText, ShownSentence
from ragauge.reports.evaluation.families import FAMILY
from ragauge.reports.foreign import cut

SUPPORTED, PARTLY = 0.7, 0.4
"""From where on a sentence is marked as supported, and as supported in part."""
LONGEST_EVIDENCE = 320
LONGEST_SENTENCE = 1_000
LONGEST_WORD = 20
"""What is longer without a blank is no word, but a text whose words no blanks part."""
MISSING_NAMED = 12
"""Words and numbers of a sentence that are named, of those that stand in no context."""
WORST_BY = tuple(f"{FAMILY}{name}" for name in ("groundedness", "token_recall", "faithfulness"))
"""What answers are the worst of: the first that was measured."""
KIND_WORDS = {"qa": "QA", "summary": "summary", "data_to_text": "data to text"}

_LETTER = r"[^\W_\u2e80-\U0010ffff]"
"""A letter or digit of a script that parts words by blanks: Chinese and Japanese ones do not."""
_ENDS = tuple(".?!:;…)]”»\"'。！？：；）」』")

Marked = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it is marked."""


class Level(Struct, frozen=True):
    """How far a sentence is supported: a name for styles, a mark, and words."""

    name: str
    mark: str
    words: str


FULL = Level("full", "✓", "supported")
PART = Level("part", "~", "supported in part")
NONE = Level("none", "✗", "not supported")
SILENT = Level("silent", "·", "not scored")
LEVELS = (FULL, PART, NONE, SILENT)


class ToldSentence(Struct, frozen=True, kw_only=True):
    """A sentence of an answer; its words are marked that stand in no context."""

    level: Level
    score: float | None
    pieces: Marked
    missing: tuple[str, ...]
    reason: str
    evidence: EvidenceText | None
    """The best there is; None where no context comes near."""

    @property
    def is_weak(self) -> bool:
        return self.level in (NONE, PART)

    @property
    def value(self) -> str:
        return "" if self.score is None else f"{self.score:.2f}"

    @property
    def missing_words(self) -> str:
        """The words and numbers that stand in no context; of many the first."""
        named = list(self.missing[:MISSING_NAMED])
        more = len(self.missing) - len(named)
        return ", ".join([*named, f"{more} more"] if more else named)


class ToldAnswer(Struct, frozen=True, kw_only=True):
    """One answer with its numbers, and the sentences it is made of."""

    id: str
    question: str
    answer: str | None
    kind: str
    by: str
    """The metric that it is among the worst of."""
    value: float | None
    called: str
    """What its groundedness comes to at the threshold; empty where nobody asked."""
    values: tuple[tuple[str, float | None, str], ...]
    """All metrics: name, value, reason."""
    reason: str
    sentences: tuple[ToldSentence, ...]

    @property
    def level(self) -> Level:
        return level_of(self.value)

    @property
    def is_weak(self) -> bool:
        """Whether there is something to see: a sentence hardly supported, or a bad value."""
        if not self.sentences:
            return self.level != FULL
        return any(one.is_weak for one in self.sentences)

    @property
    def weakest(self) -> ToldSentence | None:
        """The sentence that is supported least; None where none is scored."""
        return next((one for one in self.some(1) if one.score is not None), None)

    def some(self, most: int) -> list[ToldSentence]:
        """At most so many sentences as they stand, the least supported of all."""
        scores = [2.0 if one.score is None else one.score for one in self.sentences]
        ranked = sorted(range(len(scores)), key=lambda place: (scores[place], place))
        return [self.sentences[place] for place in sorted(ranked[:most])]


def answers(detail: AnswerDetail) -> list[ToldAnswer]:
    """The answers that a report keeps, the worst first; none where no metric ranks them."""
    by = next((id for id in WORST_BY if any(id in one.values for one in detail.worst)), None)
    return [_answer(shown, by) for shown in detail.worst] if by else []


def title(told: Sequence[ToldAnswer]) -> str:
    if all(one.by == "groundedness" for one in told):
        return "Least grounded answers"
    return f"Answers with the lowest {told[0].by}"


def level_of(score: float | None) -> Level:
    """
    >>> level_of(0.9).words, level_of(0.41).mark, level_of(None).mark
    ('supported', '~', '·')
    """
    if score is None:
        return SILENT
    return FULL if score >= SUPPORTED else PART if score >= PARTLY else NONE


def marked_words(text: str, words: Iterable[str]) -> Marked:
    """The text in pieces, with every occurrence of the words marked, in whatever case.

    >>> marked_words("Built in 1834, in Berlin.", ["1834", "berlin"])
    (('Built in ', False), ('1834', True), (', in ', False), ('Berlin', True), ('.', False))
    """
    wanted = sorted({word for word in words if word.strip()}, key=lambda word: (-len(word), word))
    if not wanted:
        return ((text, False),)
    pattern = "|".join(_whole(word) for word in wanted)
    pieces = re.split(f"({pattern})", text, flags=re.IGNORECASE)
    return tuple((piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece)


def quoted(evidence: EvidenceText, beside: int) -> Marked:
    """The evidence, marked, with at most so many characters on each side of it."""
    before, after = " ".join(evidence.before.split()), " ".join(evidence.after.split())
    if len(before) > beside:
        before = f"…{_from_word(before[len(before) + 1 - beside :])}"
    if len(after) > beside:
        after = _to_word(after, beside)
    elif after and not after.endswith(_ENDS):
        after = f"{after}…"
    blank_before = " " if before and evidence.before[-1:].isspace() else ""
    blank_after = " " if after and evidence.after[:1].isspace() else ""
    pieces = (
        (f"{before}{blank_before}", False),
        (cut(evidence.text, LONGEST_EVIDENCE), True),
        (f"{blank_after}{after}", False),
    )
    return tuple(piece for piece in pieces if piece[0])


def _from_word(text: str) -> str:
    """The text from its first blank on: what stands before is half a word, if blanks part words."""
    half, blank, rest = text.partition(" ")
    return f" {rest}" if blank and len(half) < LONGEST_WORD else text


def _to_word(text: str, most: int) -> str:
    rest, blank, half = text[: most - 1].rpartition(" ")
    return f"{rest} …" if blank and len(half) < LONGEST_WORD else cut(text, most)


def _answer(shown: AnswerShown, by: str) -> ToldAnswer:
    grounded = shown.values.get(f"{FAMILY}grounded")
    return ToldAnswer(
        id=shown.id,
        question=shown.question or "",
        answer=shown.answer,
        kind=KIND_WORDS.get(shown.kind or "", shown.kind or ""),
        by=by.removeprefix(FAMILY),
        value=shown.values.get(by),
        called="" if grounded is None else "grounded" if grounded >= 1 else "not grounded",
        values=tuple(
            (id.removeprefix(FAMILY), value, shown.reasons.get(id, ""))
            for id, value in sorted(shown.values.items())
        ),
        reason=shown.reasons.get(by, ""),
        sentences=tuple(map(_sentence, shown.sentences)),
    )


def _sentence(shown: ShownSentence) -> ToldSentence:
    support = shown.support
    missing = missing_from(support)
    return ToldSentence(
        level=level_of(support.score),
        score=support.score,
        pieces=_shortened(marked_words(support.text.strip(), missing), LONGEST_SENTENCE),
        missing=missing,
        reason=support.reason or "",
        evidence=shown.evidence,
    )


def missing_from(support: SentenceSupport) -> tuple[str, ...]:
    """Numbers first: a wrong one is seen at once."""
    return tuple(dict.fromkeys([*support.unsupported_numbers, *support.unsupported_words]))


def _shortened(pieces: Marked, most: int) -> Marked:
    """The pieces up to a length, the last one cut."""
    kept, room = [], most
    for text, marked in pieces:
        if room > 0:
            kept.append((cut(text, room), marked))
        room -= len(text)
    return tuple(kept)


def _whole(word: str) -> str:
    """A pattern for the word where it is no part of a longer one, as far as blanks part words."""
    start = f"(?<!{_LETTER})" if re.match(_LETTER, word[0]) else ""
    end = f"(?!{_LETTER})" if re.match(_LETTER, word[-1]) else ""
    return f"{start}{re.escape(word)}{end}"
