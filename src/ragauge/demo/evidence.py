"""Whether the retrieved chunks answer a question, by rules that can be read.

A sentence answers when all of this holds:

1. Every name of the question stands in its chunk or in the chunk's title. Names of places that
   something is in, and of peoples, may stand anywhere in the document.
2. Every number of the question stands in the sentence, the one before, or the title.
3. Words such as `first` or `current` stand in the sentence beside what the question says them of,
   or in the title: without them it would be told of another thing.
4. It offers the kind of thing asked for: a name that is not in the question for who, a year for
   when, a number beside what is counted for how many, an amount of money for what it cost.
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
from ragauge.demo.passages import Passage, Sentence
from ragauge.demo.question import BEGUN, Question
from ragauge.demo.words import word_set

THRESHOLD = 0.6
OF_TWO, IN_TIME = 0.7, 0.5
"""The share of the threshold that is enough for one side, as the other has to be found too; and
where both sides have to bring a year and a beginning as well."""
FOCUS, TITLED, SUBJECT, HISTORY = 0.4, 0.2, 0.05, 0.1
"""What makes one covering sentence likelier than another: see `_focus`."""
HISTORIES = frozenset(map(kin, ("history", "geschiedenis", "origin")))
PRONOUNS = word_set("it they he she het hij zij ze")
NEAR = 4
"""Words from a number to what it counts, or from `first` to what is first, at most."""
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
    return bool(question.words) or not (compares or question.asks_how)


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
        if not _is_about(weighed, passage):
            continue
        for sentence in passage.sentences:
            covered = weighed.coverage(passage, sentence)
            if covered < threshold or not _tells(weighed.question, passage, sentence):
                continue
            score = covered + _focus(weighed, passage, sentence)
            if best is None or score > best.score + EQUAL:
                best = Evidence(passage, sentence, score)
    return best


def _is_about(weighed: Weighed, passage: Passage) -> bool:
    """Rule 1."""
    question = weighed.question
    return all(weighed.stands(word, passage.words) for word in question.names) and all(
        weighed.stands(word, passage.document) for word in question.settings
    )


def _tells(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Rules 2 to 4."""
    before = passage.before(sentence)
    near = passage.title | sentence.words | (before.words if before else frozenset())
    if not near.issuperset(question.numbers):
        return False
    if not all(_side_by_side(*pair, passage, sentence) for pair in question.strict):
        return False
    match question.wants:
        case "person":
            return not sentence.people <= {*question.names, *question.settings, *question.words}
        case "time":
            return sentence.tells_time and _begins(question, sentence)
        case "number":
            return _counts(question.counted, sentence)
        case "amount":
            return sentence.tells_amount
        case "place":
            return sentence.tells_place
        case "reason":
            return sentence.tells_reason
        case "anything":
            return True


def _side_by_side(word: str, follows: str | None, passage: Passage, sentence: Sentence) -> bool:
    """Whether a word such as `first` is said here of what the question says it of."""
    if word in passage.title:
        return True
    before = passage.before(sentence) if sentence.rests_on_last else None
    sequence = (*(before.sequence if before else ()), *sentence.sequence)
    places = [place for place, one in enumerate(sequence) if one == word]
    if follows is None:
        return bool(places)
    return any(follows in sequence[place : place + NEAR] for place in places)


def _begins(question: Question, sentence: Sentence) -> bool:
    """Whether a comparison of beginnings finds one here."""
    if question.form != "compare" or BEGUN.isdisjoint(question.words):
        return True
    return not BEGUN.isdisjoint(sentence.words)


def _counts(counted: str | None, sentence: Sentence) -> bool:
    """Whether a number stands beside what it should count."""
    if counted is None:
        return bool(sentence.numbers)
    return any(
        counted in sentence.sequence[max(0, place - NEAR) : place + NEAR + 1]
        for place in sentence.numbers
    )


def _focus(weighed: Weighed, passage: Passage, sentence: Sentence) -> float:
    """What makes one of several covering sentences the likelier answer.

    Most of it is for holding the question's words, names and numbers itself; some for a title that
    holds the names, and for speaking of that; and where only a beginning is asked for, for standing
    in a history.
    """
    question = weighed.question
    here = weighed.share(question.said, sentence.words)
    first = sentence.plain.split()[:3]
    leads = first[0] in PRONOUNS or any(kin(word) in passage.title for word in first)
    begins = BEGUN.issuperset(question.words) and not HISTORIES.isdisjoint(passage.heading)
    titled = weighed.share(weighed.names, passage.title)
    return FOCUS * here + TITLED * titled + SUBJECT * leads + HISTORY * begins
