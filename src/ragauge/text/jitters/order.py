"""`order`: the same words, with a clause or the question phrase in another place.

A move is made only where the sentence leaves one reading of it: an English question with `did`
cannot be turned without other words, and a phrase that may belong to the noun before it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ragauge.text.jitters.grammar import GRAMMARS, Grammar
from ragauge.text.jitters.moves import MOVES, Question
from ragauge.text.jitters.protected import KEPT, masked
from ragauge.text.jitters.sentences import Edit, edited, sentences

_QUESTION = re.compile(r"(?P<body>[^?？]+?)[ \u00a0]?[?？]\Z")


def order(text: str, language: str) -> str:
    """The text with a part of each sentence moved, where one can be.

    >>> order("Which is older, the Prado or the Louvre?", "en")
    'The Prado or the Louvre: which is older?'
    >>> order("Define X with citations, in one sentence, please.", "en")
    'Define X in one sentence, with citations, please.'
    """
    grammar = GRAMMARS.get(language)
    if not grammar:
        return text
    painted = masked(text, language)
    edits = (_edit(text, painted, span, grammar) for span in sentences(painted))
    return edited(text, filter(None, edits))


def movable(text: str, language: str) -> bool:
    """Whether some sentence has a part of the kind `order` moves, be the move safe or not."""
    grammar = GRAMMARS.get(language)
    if not grammar:
        return False
    painted = masked(text, language)
    return any(_has_part(text, painted, span, grammar) for span in sentences(painted))


def _has_part(text: str, painted: str, span: tuple[int, int], grammar: Grammar) -> bool:
    question = _question(text, painted, span)
    if question and any(move.seen(question, grammar) for move in MOVES):
        return True
    return _swapped(text, painted, span, grammar) is not None


def _edit(text: str, painted: str, span: tuple[int, int], grammar: Grammar) -> Edit | None:
    question = _question(text, painted, span)
    moved = next(_moved(question, grammar), None) if question else None
    if question and moved:
        return span[0], span[0] + len(question.text), moved
    return _swapped(text, painted, span, grammar)


def _moved(question: Question, grammar: Grammar) -> Iterator[str]:
    for move in MOVES:
        if move.seen(question, grammar) and (parts := move.made(question, grammar)):
            yield question.written(parts)


def _question(text: str, painted: str, span: tuple[int, int]) -> Question | None:
    """The sentence as a question, None where it is none or is oddly written."""
    match = _QUESTION.match(painted, *span)
    if not match or not _plain(match["body"]):
        return None
    start, end = match.span("body")
    return Question(text[start:end], painted[start:end])


def _plain(body: str) -> bool:
    """Whether single blanks part the words, and the first word is no name and not in capitals."""
    first = body.split(" ", 1)[0]
    spaced = "  " not in body and not re.search(r"[^\S ]", body)
    return spaced and KEPT not in first and first[1:] == first[1:].lower()


def _swapped(text: str, painted: str, span: tuple[int, int], grammar: Grammar) -> Edit | None:
    """Two clauses that say how to answer, the second first; what stands around them stays."""
    for match in _clauses(grammar).finditer(text, *span):
        if KEPT not in (painted[match.start("one")], painted[match.start("two")]):
            return *match.span(), f"{match['two']}{match['between']}{match['one']}"
    return None


@cache
def _clauses(grammar: Grammar) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W\u3400-\u9fff])(?P<one>{grammar.manners})(?P<between>{grammar.joint})"
        rf"(?P<two>{grammar.manners})(?=[,.;:?!，。；：？！]|\s*\Z)"
    )
