"""Which sentences of the retrieved chunks answer a question, by rules that can be read.

A sentence has to be told of what is asked, and to offer what is asked for:

1. Every name of the question stands in its chunk or in the chunk's title. Names of places that
   something is in, and of peoples, may stand anywhere in the document. Where a name is a whole
   document's, it stands there whole. Who and when are told of a name that stands in the title, in
   the sentence itself, or before it: what is named later is another thing.
2. Every number of the question stands in the sentence, the one before, or the title.
3. Words such as `first` or `current` stand in the sentence beside what the question says them of,
   or in the title: without them it would be told of another thing. Who, when and how many
   are not told by a sentence of a `second` thing where the question speaks of none, nor, where all
   that is asked is how something came to be, by one that begins with another thing's name.
4. It offers the kind of thing asked for: a name that is not in the question for who, a year for
   when, a number before what it counts for how many, an amount of money for what it cost, a
   place that is not in the question for where. Of a king a king is told, of a painter a painter.
5. The question's other words are covered: weighed by how rare they are, at least the threshold's
   share. A word counts in full where it stands in the sentence, the title or the section's name,
   less in the sentence before or in another form, and half elsewhere in the chunk.

Of a comparison each side needs such a sentence; of a relationship one chunk has to hold the names
of both sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from ragauge.demo import grammar
from ragauge.demo.lexicon import Lexicon
from ragauge.demo.passages import HISTORIES, NEAR, Passage, Sentence
from ragauge.demo.question import BEGUN, Question
from ragauge.demo.words import RELATED, kin, word_set

BEFORE, ELSEWHERE, PARTLY = 0.75, 0.5, 0.8
"""What a word is worth in the sentence before, elsewhere in the chunk, and in another form."""
CURRENT = kin("current")
HALF, LIGHT = 0.5, 0.2
"""What the noun after `which` and a number weigh, and what a word that hardly narrows the question
down does: the first two are looked for by rules of their own."""


class Weighed:
    """A question with the weight of its words."""

    def __init__(self, question: Question, lexicon: Lexicon) -> None:
        self.question = question
        self.sides = tuple(Weighed(side, lexicon) for side in question.sides)
        self.names = (*question.names, *question.settings)
        self._idf, self._joined, self._alike = lexicon.idf, lexicon.joined, lexicon.alike
        light = question.light if question.asks_how else ()
        full = (*question.words, *question.numbers) or light or self.names
        most = sum(map(self._idf, full)) / len(full) if full else 0.0
        weights = {word: LIGHT * min(self._idf(word), most) for word in question.light}
        weights |= {word: self._idf(word) for word in full}
        halves = (*question.asked, *question.numbers, *(question.after & {*full}))
        self._weights = weights | {word: HALF * self._idf(word) for word in halves}
        self._total = sum(self._weights.values())

    def coverage(self, passage: Passage, sentence: Sentence) -> float:
        """The share of the question's words that the sentence covers in its place, by weight.

        A question of names alone is covered by a sentence that names them.
        """
        if not self._total:
            return 0.0
        worth = sum(
            weight * self._worth(word, passage, sentence) for word, weight in self._weights.items()
        )
        return worth / self._total

    def _worth(self, word: str, passage: Passage, sentence: Sentence) -> float:
        if word in sentence.words or word in passage.heading:
            return 1.0
        alike = self._alike(word) | RELATED.get(word, frozenset())
        if not alike.isdisjoint(sentence.words):
            return PARTLY
        begins = not BEGUN.isdisjoint(sentence.words) or passage.begins_with(sentence)
        if self.question.form == "compare" and word in BEGUN and begins:
            return ELSEWHERE
        if word == CURRENT and sentence.still_holds:
            return 1.0
        before = passage.before(sentence)
        if before and word in before.words:
            return 1.0 if word in self.question.after else BEFORE
        here = word in passage.words or not alike.isdisjoint(passage.words)
        return ELSEWHERE if here else 0.0

    def share(self, words: Iterable[str], there: frozenset[str]) -> float:
        """The share of some words that stands there, weighed by rarity."""
        weights = {word: self._idf(word) for word in words}
        total = sum(weights.values())
        here = sum(weight for word, weight in weights.items() if self.stands(word, there))
        return here / total if total else 0.0

    def stands(self, word: str, there: frozenset[str]) -> bool:
        """Whether a word stands there, by itself or joined into a longer one."""
        return word in there or not self._joined(word).isdisjoint(there)


PRONOUNS = word_set("it they he she het hij zij ze")
ONE_OF_ITS_KIND = ("person", "time", "number")
"""What has one answer, and another one for every other thing."""
NO_DEEDS = frozenset(
    map(kin, ("building", "collection", "large", "old", "current", "former", "law"))
)
LOCATED, ITSELF = kin("located"), frozenset(map(kin, PRONOUNS | grammar.KINDS))
"""That a thing lies somewhere, and what its own document calls it."""
OTHERS = frozenset(map(kin, grammar.OTHERS))
RULERS = frozenset(map(kin, grammar.RULERS))
COMING_TO_BE = BEGUN | {kin("designed")} | frozenset(map(kin, grammar.KINDS))
PAINTINGS = frozenset(map(kin, ("painting", "paintings", "schilderij", "schilderijen")))
CHANGES = frozenset(map(kin, ("bought", "sold", "given", "burned", "moved", "loaned", "damaged")))
"""What is counted in one of these is not what there is."""


def is_about(weighed: Weighed, passage: Passage) -> bool:
    """Rule 1, but for the sentence."""
    question = weighed.question
    whole = question.whole <= passage.named and question.whole_settings <= passage.around
    if not whole and question.form != "relate":  # who tells of two may call one by a shorter name
        return False
    return all(weighed.stands(word, passage.words) for word in question.names) and all(
        weighed.stands(word, passage.document) for word in question.settings
    )


def answers(weighed: Weighed, passage: Passage, sentence: Sentence) -> bool:
    """Rules 1 to 4, for one sentence of a chunk that is about the question's names."""
    question = weighed.question
    return (
        (passage.title | passage.near(sentence)).issuperset(question.numbers)  # rule 2
        and _is_told_of_the_names(weighed, passage, sentence)
        and _says_what_was_done(question, passage, sentence)
        and all(_side_by_side(*pair, passage, sentence) for pair in question.strict)
        and not _is_of_another(question, passage, sentence)
        and _tells(question, passage, sentence)
    )


def _is_told_of_the_names(weighed: Weighed, passage: Passage, sentence: Sentence) -> bool:
    """Rule 1 for who, when and how many: in a chunk there may be more than one of them.

    What is counted says enough of whom; but another document must name its like in the sentence.
    """
    question = weighed.question
    only_how = question.asks_how and not question.words
    if question.wants not in ONE_OF_ITS_KIND and not only_how:
        return True
    before = passage.before(sentence) if sentence.rests_on_last else None
    named = {passage.name} | sentence.named | (before.named if before else frozenset())
    if not question.whole <= named:
        return False
    so_far = passage.heading | passage.until(sentence)
    is_count = question.wants == "number"
    return is_count or all(weighed.stands(word, so_far) for word in question.names)


def _says_what_was_done(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Whether the sentence, or the one it rests on, says what the doer or time is asked of."""
    if question.asks_how and not question.words:  # how it came is told where it came
        return not sentence.words.isdisjoint(question.light)
    if question.form == "compare" or question.wants not in ("person", "time"):
        return True
    asked = {word for word in question.words if word.endswith("*")} - NO_DEEDS
    asked |= {other for word in asked for other in RELATED.get(word, ())}
    before = passage.before(sentence) if sentence.rests_on_last else None
    said = [
        one.done if question.wants == "person" else one.words
        for one in (before or sentence, sentence)
    ]
    return not asked or not asked.isdisjoint(said[0] | said[1])


def _is_of_another(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Whether it is told of a second thing of the kind, or of a thing with a name of its own."""
    if question.wants not in ONE_OF_ITS_KIND:
        return False
    said = {*question.said, *question.light}
    pairs = pairwise(sentence.sequence)
    if any(one in OTHERS and one not in said and other in said for one, other in pairs):
        return True
    thing = sentence.leading_thing
    of_itself = COMING_TO_BE.issuperset(question.words) and question.wants in ("person", "time")
    return of_itself and bool(thing) and thing.isdisjoint(passage.title | said)


def _tells(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Rule 4."""
    said = {*question.names, *question.settings, *question.words}
    match question.wants:
        case "person":
            return not sentence.people <= said and _holds(question.office, passage, sentence)
        case "time":
            if not (sentence.tells_year if question.asks_year else sentence.tells_time):
                return False
            if question.form != "compare" or BEGUN.isdisjoint(question.words):
                return True
            # A comparison of beginnings has to find one here.
            return not BEGUN.isdisjoint(sentence.words) or passage.begins_with(sentence)
        case "number":
            if question.counted is None:
                return bool(sentence.numbers)
            # At rest, where the question says no more.
            at_rest = len(question.words) > 1 or CHANGES.isdisjoint(sentence.words)
            return question.counted in sentence.counts and at_rest
        case "amount":
            return sentence.tells_amount
        case "place":
            return _lies(question, passage, sentence)
        case "reason":
            return sentence.tells_reason
        case "anything":
            return True


def _side_by_side(word: str, follows: str | None, passage: Passage, sentence: Sentence) -> bool:
    """Whether a word such as `first` is said here of what the question says it of."""
    lasts = word == CURRENT and sentence.still_holds and follows in sentence.words
    if word in passage.title or lasts:
        return True
    before = passage.before(sentence) if sentence.rests_on_last else None
    sequence = (*(before.sequence if before else ()), *sentence.sequence)
    places = [place for place, one in enumerate(sequence) if one == word]
    if follows is None or (word == CURRENT and follows in passage.title):
        return bool(places)
    return any(follows in sequence[place : place + NEAR] for place in places)


def _holds(office: str | None, passage: Passage, sentence: Sentence) -> bool:
    """Whether there is a person here who is what the question says."""
    if office in RULERS:
        return office in sentence.words or sentence.names_ruler
    paints = office == kin("painter") and not PAINTINGS.isdisjoint(sentence.words)
    return office is None or office in passage.words or paints


def _lies(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Whether a place is told that is not in the question.

    Where a thing is, with nothing more asked, its own document tells by a place's name, in a
    sentence that begins with the thing or says that it lies there.
    """
    said = {*question.said}
    if question.words:
        return not sentence.places <= said
    if not passage.title.issuperset(question.names) or sentence.named_places <= said:
        return False
    first = {*sentence.sequence[:NEAR]}
    of_it = LOCATED in sentence.words and not first.isdisjoint(ITSELF)
    return of_it or not first.isdisjoint(said)


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
    question = weighed.question
    # Names alone do not say what is asked of two, or how.
    compares = question.form == "compare" and question.wants == "anything"
    if (compares or question.asks_how) and not (question.words or question.light):
        return ()
    if question.form == "compare":
        enough = IN_TIME if question.wants == "time" else OF_TWO
        return _of_sides(weighed, passages, enough * threshold)
    best = _best(weighed, passages, threshold)
    if best is None:
        return ()
    return _of_sides(weighed, [best.passage], threshold) if weighed.sides else (best,)


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
