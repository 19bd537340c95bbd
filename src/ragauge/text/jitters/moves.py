"""The moves of `order`: which part of a question may go where.

A move sees a part of its kind, and gives the question's parts in their new order if moving it
is safe; none, and the question stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from ragauge.text.jitters.grammar import Grammar
from ragauge.text.jitters.lexicons import AUXILIARIES
from ragauge.text.jitters.lexicons import words as listed
from ragauge.text.jitters.protected import KEPT
from ragauge.text.jitters.sentences import lowered, raised

Span = tuple[int, int]
Parts = Sequence[Span | str]
"""Stretches of the question in their new order, with the marks that part them."""

_WORD = re.compile(r"\S+")
_HALVES = re.compile(r"([^,:;，：；]+)(?:[,:] |[，：])([^,:;，：；]+)")
_MARKS = re.compile("[,:;，：；]")


class Question:
    """A question without its mark, as it stands and as it is painted."""

    def __init__(self, text: str, painted: str) -> None:
        self.text = text
        self.painted = painted

    @cached_property
    def words(self) -> list[str]:
        """The painted words in lower case; a name is a run of KEPT."""
        return [self.painted[start:end].lower() for start, end in self._spans]

    @cached_property
    def halves(self) -> tuple[Span, Span] | None:
        """What stands before and after the only comma or colon."""
        match = _HALVES.fullmatch(self.painted)
        return (match.span(1), match.span(2)) if match else None

    @cached_property
    def whole(self) -> bool:
        """Whether no mark parts it."""
        return not _MARKS.search(self.painted)

    def phrase(self, first: int, last: int) -> Span:
        """The stretch from one word to the one before another."""
        return self._spans[first][0], self._spans[last - 1][1]

    def written(self, parts: Parts) -> str:
        """The question of these parts, the capital at its new beginning."""
        written = ""
        for part in parts:
            if isinstance(part, str):
                written += part
            else:
                written += " " * (written[-1:] not in ("", "，")) + self._spelled(part)
        fresh = not isinstance(parts[0], str) and self.painted[parts[0][0]] != KEPT
        return raised(written) if fresh and self.text[0].isupper() else written

    def _spelled(self, part: Span) -> str:
        text = self.text[slice(*part)]
        return lowered(text) if part[0] == 0 else text

    @cached_property
    def _spans(self) -> list[Span]:
        return [match.span() for match in _WORD.finditer(self.painted)]


class Move(Struct, frozen=True):
    """A kind of part, and where it goes."""

    seen: Callable[[Question, Grammar], bool]
    made: Callable[[Question, Grammar], Parts | None]


def _choice_seen(question: Question, grammar: Grammar) -> bool:
    if not question.halves or not grammar.either:
        return False
    asks, choice = (question.painted[slice(*half)].lower() for half in question.halves)
    chosen = asks.split(" ", 1)[0] in grammar.chooses or asks.startswith(("哪", "谁"))
    return chosen and grammar.either in re.split(r"\s|(?=还是)|(?<=还是)", choice)


def _choice_first(question: Question, grammar: Grammar) -> Parts | None:
    """`Which is older, the Prado or the Louvre` → `The Prado or the Louvre: which is older`."""
    if not question.halves:
        return None
    asks, choice = question.halves
    written = question.painted[slice(*choice)].lower()
    noun = written.split(" ", 1)[0] in grammar.articles or written[0] == KEPT
    chinese = grammar.either == "还是"
    return (choice, grammar.colon, asks) if noun or chinese else None


def _clause_seen(question: Question, grammar: Grammar) -> bool:
    if not question.halves or question.painted[question.halves[0][1]] != ",":
        return False
    clause = question.painted[slice(*question.halves[1])].lower()
    return clause.startswith(tuple(f"{word} " for word in grammar.joins))


def _clause_first(question: Question, grammar: Grammar) -> Parts | None:
    """`How is it kept, now that it is old` → `Now that it is old, how is it kept`."""
    return (question.halves[1], ",", question.halves[0]) if question.halves else None


def _aside(question: Question, grammar: Grammar) -> tuple[int, int] | None:
    """Where a phrase such as `according to …` begins, and its first free word."""
    for at in range(3, len(question.words)):
        for aside in grammar.asides:
            after = at + len(aside.split())
            if question.words[at:after] == aside.split():
                return at, after
    return None


def _aside_seen(question: Question, grammar: Grammar) -> bool:
    return question.whole and _aside(question, grammar) is not None


def _aside_first(question: Question, grammar: Grammar) -> Parts | None:
    """`How many does it hold compared with Kew` → `Compared with Kew, how many does it hold`."""
    at, after = _aside(question, grammar) or (0, 0)
    words = question.words
    if not grammar.bars.isdisjoint(words[after:]) or not _is_closed(words[after:], grammar):
        return None
    return question.phrase(at, len(words)), ",", question.phrase(0, at)


_LINKS = listed("of in at on from to and for by under with into van en uit te des und de du à et")
_LONGEST_PIECE = 4


def _is_closed(words: list[str], grammar: Grammar) -> bool:
    """Whether these are noun phrases to their end, with no verb left over: `the fire of 1814`,
    but not `the fire look`."""
    pieces: list[list[str]] = [[]]
    for word in words:
        if word in _LINKS:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return all(_is_noun(piece, grammar) for piece in pieces)


def _is_noun(piece: list[str], grammar: Grammar) -> bool:
    """Whether a name ends the words, or an article and one word, or a known time, are all."""
    if not piece or len(piece) > _LONGEST_PIECE:
        return False
    free = piece[1:] if piece[0] in grammar.articles else piece
    named = [at for at, word in enumerate(free) if KEPT in word]
    if named:
        return named == [len(free) - 1]
    return len(free) == 1 and (free != piece or free[0] in _TIMES)


_TIMES = listed("year years month months decade century day days period time era war")
_BARE = listed("receive open close have hold own keep attract count spend earn buy sell lose win")
_WHEN = listed("after before during")
_NEAR_WHEN = listed("from until just shortly soon long and or in on at of") | _TIMES


def _time_seen(question: Question, grammar: Grammar) -> bool:
    words = question.words
    asked = words[0] in ("how", "where", "why") and "did" in words[:6]
    return question.whole and asked and bool({*words} & (_WHEN | {"in"}))


def _time_first(question: Question, grammar: Grammar) -> Parts | None:
    """`How did it go on after the fire` → `After the fire, how did it go on`."""
    words = question.words
    at = next((i for i in range(4, len(words) - 1) if _begins_time(words, i, grammar)), None)
    if at is None or not grammar.relatives.isdisjoint(words[at:]):
        return None
    if words[at] in _WHEN and not _is_closed(words[at + 1 :], grammar):
        return None
    return question.phrase(at, len(words)), ",", question.phrase(0, at)


def _begins_time(words: list[str], at: int, grammar: Grammar) -> bool:
    """Whether a phrase of time begins here that belongs to the verb, not to a noun before it."""
    if words[at] in _WHEN:
        return words[at - 1] not in _NEAR_WHEN and words[at + 1] in grammar.articles
    return words[at] == "in" and words[at - 1] in _BARE and bool(_TIMES & {*words[at + 1 : at + 4]})


_STORED = listed("kept stored held shown housed displayed preserved exhibited")
_WHERE = listed("in at on inside under near")


def _stored(question: Question, grammar: Grammar) -> int | None:
    """Where the phrase begins that follows `is kept`, `are stored` and such."""
    words = question.words
    for at in range(2, len(words) - 1):
        if words[at - 1] in grammar.be and words[at] in _STORED and words[at + 1] in _WHERE:
            return at + 1
    return None


def _place_seen(question: Question, grammar: Grammar) -> bool:
    asked = question.words[0] == "what" or question.words[:2] == ["how", "many"]
    return question.whole and asked and _stored(question, grammar) is not None


def _place_first(question: Question, grammar: Grammar) -> Parts | None:
    """`What is kept in the tower` → `In the tower, what is kept`."""
    at = _stored(question, grammar) or 0
    words = question.words
    verbal = any(re.fullmatch(grammar.done, word) for word in words[at:])
    nouns = grammar.relatives.isdisjoint(words[at:]) and words[-1] not in grammar.trails
    safe = nouns and not verbal and not _goes_on(words[at:])
    return (question.phrase(at, len(words)), ",", question.phrase(0, at)) if safe else None


_LONGEST_PHRASE = 5


def _verb_after_phrase(question: Question, verbs: frozenset[str], grammar: Grammar) -> int:
    """The place of the verb after a question phrase of time or place; 0 where there is none."""
    words = question.words
    alone = words[0] in grammar.places
    if not question.whole or not (alone or _is_phrase(words, grammar)):
        return 0
    first, last = (1, 2) if alone else (2, _LONGEST_PHRASE)
    return next((at for at in range(first, min(last, len(words))) if words[at] in verbs), 0)


def _is_phrase(words: list[str], grammar: Grammar) -> bool:
    return words[0] in grammar.leads and len(words) > 2 and words[1] in grammar.asks


def _phrase_seen(question: Question, grammar: Grammar) -> bool:
    return bool(_verb_after_phrase(question, grammar.be | grammar.alone, grammar))


def _phrase_last(question: Question, grammar: Grammar) -> Parts | None:
    """`When was the Prado opened` → `The Prado was opened when`."""
    verb = _verb_after_phrase(question, grammar.be | grammar.alone, grammar)
    words, end = question.words, len(question.words)
    asked, said = question.phrase(0, verb), question.phrase(verb, verb + 1)
    if words[verb] in grammar.alone:
        verbal = any(re.fullmatch(grammar.done, word) for word in words[verb + 1 :])
        safe = not verbal and _is_noun_phrase(question, verb + 1, end, grammar)
        return (question.phrase(verb + 1, end), said, asked) if safe else None
    done = [at for at in range(verb + 1, end) if re.fullmatch(grammar.done, words[at])]
    if len(done) != 1 or not _is_noun_phrase(question, verb + 1, done[0], grammar):
        return None
    thing, rest = question.phrase(verb + 1, done[0]), question.phrase(done[0], end)
    if grammar.verb_last:
        return (thing, said, asked, rest) if done[0] == end - 1 else None
    safe = grammar.relatives.isdisjoint(words[done[0] :]) and not _goes_on(words[done[0] :])
    return (thing, said, rest, asked) if safe else None


def _goes_on(words: list[str]) -> bool:
    """Whether a name is followed by what may be the verb: `signed by Louis void`."""
    pairs = pairwise(words)
    return any(KEPT in word and after not in _LINKS for word, after in pairs)


def _is_noun_phrase(question: Question, first: int, last: int, grammar: Grammar) -> bool:
    """Whether the words are a noun phrase and nothing more, also within what seems a name."""
    words = question.words[first:last]
    if not words or words[-1] in grammar.trails | grammar.articles:
        return False
    spelled = question.text[slice(*question.phrase(first, last))].lower().split()
    named = grammar.verb_last or _has_article(words, grammar)
    ended = KEPT in words[-1] or not grammar.capital_nouns
    return named and ended and grammar.bars.isdisjoint(spelled) and _is_one(spelled, grammar)


def _is_one(spelled: list[str], grammar: Grammar) -> bool:
    """Whether no second noun phrase begins in it: `dem König das Schloss` are two."""
    pairs = pairwise(spelled)
    return all(after not in grammar.articles or word in _LINKS for word, after in pairs)


def _has_article(words: list[str], grammar: Grammar) -> bool:
    return words[0] in grammar.articles or words[0][0] == KEPT


def _owner_seen(question: Question, grammar: Grammar) -> bool:
    words = question.words
    asked = words[0] in grammar.places or _is_phrase(words, grammar)
    return question.whole and asked and not grammar.owners.isdisjoint(words[3:])


def _owner_last(question: Question, grammar: Grammar) -> Parts | None:
    """`Sinds wanneer draagt de KB haar naam` → `De KB draagt haar naam sinds wanneer`."""
    words, end = question.words, len(question.words)
    owner = next((at for at in range(3, end) if words[at] in grammar.owners), end)
    named = owner - 1
    subject = named - (words[named - 1] in grammar.articles)
    verb = subject - 1
    plain = words[named][0] == KEPT and grammar.bars.isdisjoint(words[owner:])
    phrase = 1 if words[0] in grammar.places else 2 if words[1] in grammar.places else 3
    ended = KEPT in words[-1] or not grammar.capital_nouns
    if not plain or not ended or verb != phrase or not 2 <= end - owner <= 3:
        return None
    if words[verb] in grammar.be | AUXILIARIES:
        return None
    rest = question.phrase(owner, end)
    return (
        question.phrase(subject, owner),
        question.phrase(verb, subject),
        rest,
        question.phrase(0, verb),
    )


def _count_verb(question: Question, grammar: Grammar) -> int:
    verbs = (at for at in range(2, len(question.words)) if question.words[at] in grammar.holds)
    return next(verbs, 0)


def _count_seen(question: Question, grammar: Grammar) -> bool:
    counted = question.words[0] == "hoeveel" and bool(grammar.holds)
    return question.whole and counted and _count_verb(question, grammar) > 0


def _count_last(question: Question, grammar: Grammar) -> Parts | None:
    """`Hoeveel boeken bezit de KB` → `De KB bezit hoeveel boeken`."""
    verb = _count_verb(question, grammar)
    holder = [word for word in question.words[verb + 1 :] if word not in grammar.articles]
    if len(holder) != 1 or holder[0][0] != KEPT:
        return None
    end = len(question.words)
    return question.phrase(verb + 1, end), question.phrase(verb, verb + 1), question.phrase(0, verb)


def _who_seen(question: Question, grammar: Grammar) -> bool:
    words = question.words
    if not question.whole or len(words) < 4:
        return False
    return words[0] in grammar.who and words[1] in grammar.be and words[2] in grammar.articles


def _who_last(question: Question, grammar: Grammar) -> Parts | None:
    """`Who is the director of the Prado` → `The director of the Prado is who`."""
    thing = question.words[2:]
    verbal = any(re.fullmatch(rf"{grammar.done}|\w+ing", word) for word in thing)
    named = thing[-1][0] == KEPT or "of" in thing
    end = len(question.words)
    if verbal or not named or not _is_noun_phrase(question, 2, end, grammar):
        return None
    return question.phrase(2, end), question.phrase(1, 2), question.phrase(0, 1)


MOVES = (
    Move(_choice_seen, _choice_first),
    Move(_clause_seen, _clause_first),
    Move(_aside_seen, _aside_first),
    Move(_time_seen, _time_first),
    Move(_place_seen, _place_first),
    Move(_phrase_seen, _phrase_last),
    Move(_owner_seen, _owner_last),
    Move(_count_seen, _count_last),
    Move(_who_seen, _who_last),
)
