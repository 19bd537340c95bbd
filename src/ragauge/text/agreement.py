"""Agreement: how far the claims of repeated runs say the same thing.

Edit distance compares the wording; this compares the content. It knows no synonyms and no grammar
except negation, so it compares the runs of one question and does not measure truth.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

from ragauge.text.canonical import UNSPACED

_FUNCTION = """
    a an the and or but of in on at to for from by with as that this it its i is are was were be
    been has have had do does did he she they his her their also s t

    de het een en of van op te aan voor met door bij uit die dat dit ik zijn werd wordt ook

    der die das den dem des ein eine einer eines einem einen und oder von zu im am auf mit durch
    für ist sind wurde es ich auch

    le la les l un une et ou du d à au aux dans sur par pour avec que qui qu ce cette est sont je j
    il elle aussi
"""
"""Words of en, nl, de and fr without content; not `war` and `hat`, which have one in English."""
_NEGATING = """
    no not none never neither nor cannot nee niet geen nooit nein nicht kein keine keinen keinem
    keiner nie non ne pas jamais aucun aucune 不 没 沒
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
NEGATIONS = frozenset(_NEGATING.split())
AFFIRMATIONS = frozenset({"yes", "ja", "oui", "是的"})
_YES_NO = NEGATIONS | AFFIRMATIONS

_MARKS = "\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0981-\u0dff"
"""Accents and the vowel signs of Indian scripts, which Python does not count as part of a word."""
_SENTENCE_ENDS = frozenset(".:!?\n。")
_CLAUSE_ENDS = _SENTENCE_ENDS | frozenset(",;()、")
_PIECE = re.compile(
    rf"\d+(?:[.,]\d+)+|[^\W_{UNSPACED}]+(?:[{_MARKS}]+[^\W_{UNSPACED}]*)*"
    rf"|[不没沒]|(?:(?![不没沒])[{UNSPACED}])+|[{''.join(sorted(_CLAUSE_ENDS))}]"
)
_ASCII_PIECE = re.compile(r"\d+(?:[.,]\d+)+|[A-Za-z0-9]+|[.:!?\n,;()]")
"""The same for ASCII, five times as fast."""
_UNSPACED_PIECE = re.compile(f"[{UNSPACED}]")
_THOUSANDS = re.compile(r"(?<=\d)[.,](?=\d{3}(?!\d))")
_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


class _WordSets(NamedTuple):
    """A claim as sets of words; a negated word counts as a different word."""

    words: set[str]
    bearing: set[str]
    """Those that carry the answer: new names and numbers, yes and no."""


class _Bits(NamedTuple):
    """The same two sets, with a bit for each word of the claims."""

    words: int
    bearing: int


def agreement(question: str, claims: Sequence[str]) -> float | None:
    """How far the claims agree, from 0 to 1, whatever their order; None under two claims.

    The agreement of two claims is the fraction of the shorter one's words that the other has too,
    times the same fraction of the words that carry the answer: names, numbers, yes and no that
    are not in the question. From a negation to the end of its clause, a word counts as a
    different word. The result is the mean over all pairs.

    >>> agreement("Who played Ben Stone?", ["Ben Stone was played by Moriarty.", "Moriarty."])
    1.0
    >>> agreement("When did it air?", ["It did air in 2006.", "It did air in 2011."])
    0.0
    >>> agreement("Null keys?", ["X takes null keys.", "X does not take null keys."])
    0.25
    """
    if len(claims) < 2:
        return None
    in_question = {piece.casefold() for piece in _pieces(question)}
    counts = Counter(_as_bits([_word_sets(claim, in_question) for claim in claims]))
    identical = sum(count * (count - 1) // 2 for count in counts.values())
    different = (
        counts[one] * counts[other] * _pair_agreement(one, other)
        for one, other in combinations(sorted(counts), 2)
    )
    pairs = len(claims) * (len(claims) - 1) // 2
    return math.fsum((identical, *different)) / pairs


def _as_bits(read: list[_WordSets]) -> list[_Bits]:
    """The sets as integers with a bit for each word, because there are many pairs to compare.

    A name that starts a sentence is known as one if another claim has it inside one.
    """
    bearing = set().union(*(claim.bearing for claim in read))
    vocabulary = sorted(set().union(*(claim.words for claim in read)))
    bit = {word: 1 << place for place, word in enumerate(vocabulary)}
    return [
        _Bits(sum(map(bit.__getitem__, words)), sum(map(bit.__getitem__, words & bearing)))
        for words in (claim.words for claim in read)
    ]


def _pair_agreement(one: _Bits, other: _Bits) -> float:
    """The agreement of two claims; one without words that carry an answer contradicts nothing."""
    if not one.words or not other.words:
        return float(one.words == other.words)
    agreed = _overlap(one.words, other.words)
    if agreed and one.bearing and other.bearing:
        agreed *= _overlap(one.bearing, other.bearing)
    return agreed


def _overlap(one: int, other: int) -> float:
    """The fraction of the smaller set that is in the larger one."""
    return (one & other).bit_count() / min(one.bit_count(), other.bit_count())


def _word_sets(claim: str, in_question: set[str]) -> _WordSets:
    """The words of a claim; its function words if it has no others."""
    pieces = _pieces(claim)
    if claim.isascii():
        folded = [piece.lower() for piece in pieces]
        if NEGATIONS.isdisjoint(folded):
            return _plain_word_sets(pieces, folded, in_question)
    return _word_sets_by_piece(pieces, in_question)


def _plain_word_sets(pieces: list[str], folded: list[str], in_question: set[str]) -> _WordSets:
    """The same for ASCII without a negation, like most claims: only names need a closer look."""
    words = set(folded).difference(FUNCTION_WORDS, _CLAUSE_ENDS)
    bearing = words & AFFIRMATIONS
    for place, piece in enumerate(pieces):
        if not (piece.isalpha() and piece.islower()):
            word = folded[place]
            if word in words and _is_name(piece, _starts(pieces, place)):
                bearing.add(word)
    return _WordSets(words or set(folded).difference(_CLAUSE_ENDS), bearing - in_question)


def _starts(pieces: list[str], place: int) -> bool:
    """Whether a sentence starts here: at the beginning, or after the end of another."""
    while place and pieces[place - 1] in _CLAUSE_ENDS:
        place -= 1
        if pieces[place] in _SENTENCE_ENDS:
            return True
    return not place


def _word_sets_by_piece(pieces: list[str], in_question: set[str]) -> _WordSets:
    """The words of a claim, piece by piece.

    From a negation to the end of its clause, a word counts as a different word.
    """
    words: set[str] = set()
    bearing: set[str] = set()
    function_words: set[str] = set()
    starts, negated = True, False
    for piece in pieces:
        if piece in _CLAUSE_ENDS:
            starts, negated = starts or piece in _SENTENCE_ENDS, False
            continue
        word = piece.casefold()
        if word in FUNCTION_WORDS:
            function_words.add(word)
        else:
            is_yes_no = word in _YES_NO
            forms = (word,) if is_yes_no else _forms(word, negated)
            words.update(forms)
            if (is_yes_no or _is_name(piece, starts)) and word not in in_question:
                bearing.update(forms)
            negated = negated or word in NEGATIONS
        starts = False
    return _WordSets(words or function_words, bearing)


def _pieces(text: str) -> list[str]:
    """The words, numbers and clause ends of a text, in order."""
    if text.isascii():
        if "'" in text:
            text = _SHORT_NOT.sub(" not", text)
        return _ASCII_PIECE.findall(_THOUSANDS.sub("", text))
    text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    return _PIECE.findall(_THOUSANDS.sub("", _SHORT_NOT.sub(" not", text)))


def _forms(word: str, negated: bool) -> tuple[str, ...]:
    """The forms in which a word is compared: pairs of characters in scripts without spaces."""
    forms: tuple[str, ...] = (word,)
    if not word.isascii() and len(word) > 2 and _UNSPACED_PIECE.match(word):
        forms = tuple(map("".join, pairwise(word)))
    return tuple(f"not {form}" for form in forms) if negated else forms


def _is_name(piece: str, starts: bool) -> bool:
    """Whether a word is a number, or has a capital that is not due to the start of a sentence."""
    if piece[0].isupper():
        return not starts or (len(piece) > 1 and piece.isupper())
    return not piece.isalpha() and any(map(str.isdigit, piece))
