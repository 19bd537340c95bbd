"""Whether a sentence is told of what a question asks, and offers what it asks for.

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
"""

from __future__ import annotations

from itertools import pairwise

from ragauge.demo import grammar
from ragauge.demo.coverage import CURRENT, Weighed
from ragauge.demo.kin import RELATED, kin
from ragauge.demo.passages import NEAR, Passage, Sentence
from ragauge.demo.question import BEGUN, Question
from ragauge.demo.words import word_set

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
        _holds_numbers(question, passage, sentence)
        and _is_told_of_the_names(weighed, passage, sentence)
        and _says_what_was_done(question, passage, sentence)
        and all(_side_by_side(*pair, passage, sentence) for pair in question.strict)
        and not _is_of_another(question, passage, sentence)
        and _tells(question, passage, sentence)
    )


def _holds_numbers(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Rule 2."""
    return (passage.title | passage.near(sentence)).issuperset(question.numbers)


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
            told = sentence.tells_year if question.asks_year else sentence.tells_time
            return told and _begins(question, passage, sentence)
        case "number":
            return _counts(question, sentence)
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


def _begins(question: Question, passage: Passage, sentence: Sentence) -> bool:
    """Whether a comparison of beginnings finds one here."""
    if question.form != "compare" or BEGUN.isdisjoint(question.words):
        return True
    return not BEGUN.isdisjoint(sentence.words) or passage.begins_with(sentence)


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


def _counts(question: Question, sentence: Sentence) -> bool:
    """Whether a number counts what it should, and at rest where the question says no more."""
    if question.counted is None:
        return bool(sentence.numbers)
    at_rest = len(question.words) > 1 or CHANGES.isdisjoint(sentence.words)
    return question.counted in sentence.counts and at_rest
