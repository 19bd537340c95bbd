"""Which sentences of the retrieved chunks answer a question, by rules that can be read.

Rules 1 to 4 are in `rules`: a sentence has to be told of what is asked, and to offer what is asked
for. And last:

5. The question's other words are covered: weighed by how rare they are, at least the threshold's
   share. A word counts in full where it stands in the sentence, the title or the section's name,
   less in the sentence before or in another form, and half elsewhere in the chunk.

Of a comparison each side needs such a sentence; of a relationship one chunk has to hold the names
of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ragauge.demo.coverage import Weighed
from ragauge.demo.kin import kin
from ragauge.demo.passages import HISTORIES, Passage, Sentence
from ragauge.demo.question import BEGUN, Question
from ragauge.demo.rules import PRONOUNS, answers, is_about

THRESHOLD = 0.6
OF_TWO, IN_TIME = 0.7, 0.5
"""The share of the threshold that is enough for one side, as the other has to be found too; and
where both sides have to bring a year and a beginning as well."""
FOCUS, TITLED, SUBJECT, HISTORY = 0.4, 0.2, 0.05, 0.1
"""What makes one covering sentence likelier than another: see `_focus`."""
EQUAL = 1e-9


class Evidence(Struct, frozen=True):
    """A sentence that answers, where it stands, and how well it covers the question."""

    passage: Passage
    sentence: Sentence
    score: float


def evidence(
    weighed: Weighed, passages: Sequence[Passage], threshold: float = THRESHOLD
) -> tuple[Evidence, ...]:
    """The sentences that answer, one for each side of the question; () is a refusal."""
    if not _says_enough(weighed.question):
        return ()
    if weighed.question.form == "compare":
        enough = IN_TIME if weighed.question.wants == "time" else OF_TWO
        return _of_sides(weighed, passages, enough * threshold)
    best = _best(weighed, passages, threshold)
    if best is None:
        return ()
    return _of_sides(weighed, [best.passage], threshold) if weighed.sides else (best,)


def _says_enough(question: Question) -> bool:
    """Whether there is more than names where the names alone do not say what is asked."""
    compares = question.form == "compare" and question.wants == "anything"
    said = question.words or question.light
    return bool(said) or not (compares or question.asks_how)


def _of_sides(
    weighed: Weighed, passages: Sequence[Passage], threshold: float
) -> tuple[Evidence, ...]:
    """Every side's sentence, each once; () where a side has none."""
    found = [_best(side, passages, threshold) for side in weighed.sides]
    distinct = {(one.passage.chunk.id, one.sentence.place): one for one in found if one is not None}
    return tuple(distinct.values()) if None not in found else ()


def _best(weighed: Weighed, passages: Sequence[Passage], threshold: float) -> Evidence | None:
    """The sentence that covers the question best; the better retrieved one where two are equal."""
    best: Evidence | None = None
    for passage in passages:
        if not is_about(weighed, passage):
            continue
        for sentence in passage.sentences:
            covered = weighed.coverage(passage, sentence)
            if covered < threshold or not answers(weighed, passage, sentence):
                continue
            score = covered + _focus(weighed, passage, sentence)
            if best is None or score > best.score + EQUAL:
                best = Evidence(passage, sentence, score)
    return best


def _focus(weighed: Weighed, passage: Passage, sentence: Sentence) -> float:
    """What makes one of several covering sentences the likelier answer.

    Most of it is for holding the question's words, names and numbers itself; some for a title that
    holds the names, and for speaking of that; and where only a beginning is asked for, for standing
    in a history.
    """
    question = weighed.question
    here = weighed.share([w for w in question.said if w not in question.after], sentence.words)
    first = sentence.plain.split()[:3]
    leads = first[0] in PRONOUNS or any(kin(word) in passage.title for word in first)
    begins = BEGUN.issuperset(question.words) and not HISTORIES.isdisjoint(passage.heading)
    titled = weighed.share(weighed.names, passage.heading)
    return FOCUS * here + TITLED * titled + SUBJECT * leads + HISTORY * begins
