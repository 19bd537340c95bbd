"""Numbers written in words, from one word or several that belong together."""

from __future__ import annotations

import re
from itertools import filterfalse
from typing import NamedTuple

from ragauge.text.quantities.number_words import NumberWord, number_word
from ragauge.text.quantities.quantity import Found, Reading, fraction, listed

_WORD = re.compile(r"[^\W\d_]+")
_SPACED = frozenset({" ", "-", "\n"})
_AND = frozenset({" and ", " et ", "-et-", " en ", " und "})
_AND_A = frozenset({" and a ", " and one-", " et ", " en een ", " and "})
_OF_A = frozenset({" a ", " of a ", " an ", " een ", " eine ", " "})
_YEARS_BEFORE = ("jaren ", "années ")
_ENGLISH_COUNTS = listed("one two three four five seven eight nine ten twelve twenty fifty")
_FEW_WORDS = 24
"""Up to so many different number words, each is looked for by itself."""


_MOST_REMEMBERED = 1 << 17
_LONGEST_REMEMBERED = 32
"""Characters of a word that is worth remembering."""
_NO_NUMBERS: set[str] = set()
"""Words with their punctuation that hold no number word: a cache, to be asked of many at once."""


class _Token(NamedTuple):
    start: int
    end: int
    entry: NumberWord


def word_numbers(folded: str) -> list[Found]:
    """The numbers in words of a lower-case text, in reading order."""
    found = []
    tokens = _tokens(folded)
    place = 0
    while place < len(tokens):
        number, place = _number(folded, tokens, place)
        if number is not None:
            found.append(number)
    return found


def _tokens(folded: str) -> list[_Token]:
    words = _number_words(folded)
    if not words:
        return []
    if len(words) > _FEW_WORDS:
        return [
            _Token(match.start(), match.end(), words[match[0]])
            for match in _WORD.finditer(folded)
            if match[0] in words
        ]
    tokens = []
    for word, entry in words.items():
        start = folded.find(word)
        while start >= 0:
            end = start + len(word)
            if _is_whole(folded, start, end):
                tokens.append(_Token(start, end, entry))
            start = folded.find(word, end)
    tokens.sort()
    return tokens


def _number_words(folded: str) -> dict[str, NumberWord]:
    """The different number words of a text; most words were seen before and are none."""
    found = {}
    if len(_NO_NUMBERS) > _MOST_REMEMBERED:
        _NO_NUMBERS.clear()
    for stretch in filterfalse(_NO_NUMBERS.__contains__, folded.split()):
        words = {word: entry for word in _WORD.findall(stretch) if (entry := number_word(word))}
        found.update(words)
        if not words and len(stretch) <= _LONGEST_REMEMBERED:
            _NO_NUMBERS.add(stretch)
    return found


def _is_whole(folded: str, start: int, end: int) -> bool:
    return not (
        (start and folded[start - 1].isalpha()) or (end < len(folded) and folded[end].isalpha())
    )


def _number(folded: str, tokens: list[_Token], place: int) -> tuple[Found | None, int]:
    """The number that starts at a token, and the place of the next one."""
    first = tokens[place]
    role, value, _ = first.entry
    if role == "decade":
        return Found(first.start, first.end, _decade(value)), place + 1
    if role == "share":
        return _share(folded, tokens, place)
    if role == "halves":
        return _halves(folded, tokens, place, value, first.start)
    if role == "ordinal":
        return _ordinal(folded, first), place + 1
    return _cardinal(folded, tokens, place)


def _share(folded: str, tokens: list[_Token], place: int) -> tuple[Found | None, int]:
    """A half, or half a million."""
    first = tokens[place]
    if place + 1 < len(tokens) and first.entry.value == 2:
        following = tokens[place + 1]
        between = folded[first.end : following.start]
        if between in _OF_A and following.entry.role == "scale":
            half = following.entry.value // 2
            return _made(first.start, following.end, str(half)), place + 2
    value = fraction(1, first.entry.value)
    percent = fraction(100, first.entry.value)
    readings: tuple[Reading, ...] = (("number", value, None), ("number", percent, "%"))
    return Found(first.start, first.end, readings, plain=True), place + 1


def _halves(
    folded: str, tokens: list[_Token], place: int, halves: int, start: int
) -> tuple[Found, int]:
    """One and a half, or one and a half million: so many halves, which end at this token."""
    end, following = tokens[place].end, tokens[place + 1 : place + 2]
    for scale in following:
        if scale.entry.role == "scale" and folded[end : scale.start] in _SPACED:
            return _made(start, scale.end, fraction(halves * scale.entry.value, 2)), place + 2
    return _made(start, end, fraction(halves, 2)), place + 1


def _ordinal(folded: str, token: _Token) -> Found:
    value = token.entry.value
    readings: tuple[Reading, ...] = (("number", str(value), None),)
    if value > 2 and folded[max(0, token.start - 2) : token.start] == "a ":
        readings = (("number", fraction(1, value), None), *readings)
    return Found(token.start, token.end, readings, plain=value <= 2)


def _cardinal(folded: str, tokens: list[_Token], place: int) -> tuple[Found, int]:
    """The number of this token and of those after it that continue it."""
    first = tokens[place]
    start, end, (_, _, common) = first
    total, group, least = _begun(first.entry)
    place += 1
    while place < len(tokens):
        token = tokens[place]
        between = folded[end : token.start] if token.start - end < 10 else ""
        role, value, _ = token.entry
        if role == "share" and value == 2 and between in _AND_A:
            if total and not group:  # un million et demi
                return _made(start, token.end, str(total + least // 2)), place + 1
            return _halves(folded, tokens, place, 2 * (total + group) + 1, start)
        if role == "share" or (role == "ordinal" and between in _SPACED and total == 0):
            share = _with_share(total + group, token.entry, between)
            if share is not None:
                return _made(start, token.end, share), place + 1
        continued = _continued(total, group, least, token.entry, between)
        if continued is None or _is_money(folded[start:end], folded[token.start : token.end]):
            break
        total, group, least = continued
        end, common = token.end, False
        place += 1
        if role == "ordinal":
            break
    value = total + group
    if 20 <= value <= 90 and folded.endswith(_YEARS_BEFORE, 0, start):
        return Found(start, end, _decade(value)), place
    readings: tuple[Reading, ...] = (("number", str(value), None),)
    tied = first.entry.role == "scale" and end == first.end and folded.endswith("-", 0, start)
    return Found(start, end, readings, plain=common or tied or value <= 2), place


def _is_money(count: str, word: str) -> bool:
    """Two cents are no two hundred, deux cents are."""
    return word in ("cent", "cents") and count in _ENGLISH_COUNTS


def _decade(value: int) -> tuple[Reading, ...]:
    """The nineties, most often those of the last century."""
    return (
        ("date", f"19{value}s", None),
        ("date", f"{value}s", None),
        ("date", f"18{value}s", None),
    )


def _begun(entry: NumberWord) -> tuple[int, int, int]:
    """The finished part, the part below the next scale, and the scale that was used last."""
    if entry.role == "scale" and entry.value >= 1000:
        return entry.value, 0, entry.value
    return 0, entry.value, 10**15


def _continued(
    total: int, group: int, least: int, entry: NumberWord, between: str
) -> tuple[int, int, int] | None:
    """The number with one more word, None where the word begins another number."""
    role, value, _ = entry
    if role in ("share", "halves", "decade"):
        return None
    if role == "scale" and value >= 1000:
        if between not in _SPACED or not group or value >= least:
            return None
        return total + group * value, 0, value
    if value == 100 or (role == "scale" and value == 12):
        if between not in _SPACED or not (0 < group < 100 or (total and not group)):
            return None
        return total, (group or 1) * value, least
    if between in _SPACED:
        grown = _below_hundred(group, value, total)
    elif between in _AND:
        grown = _after_and(total, group, value)
    else:
        grown = None
    return None if grown is None else (total, grown, least)


def _below_hundred(group: int, value: int, total: int) -> int | None:
    """A group with tens and ones: sixty five, soixante dix, dix sept, nineteen eighty."""
    tens = group % 100
    if group and not tens and value < 100:
        return group + value
    if not group:
        return value if total else None
    if tens == 10 and 7 <= value <= 9:
        return group + value
    if tens == 4 and value == 20:
        return group - 4 + 80
    if tens in (60, 80) and 10 <= value < 20:
        return group + value
    if tens >= 20 and not tens % 10 and value < 10:
        return group + value
    if not total and 11 <= group <= 20 and 10 <= value < 100:
        return group * 100 + value
    return None


def _after_and(total: int, group: int, value: int) -> int | None:
    if value in (1, 11) and 20 <= group % 100 <= 70 and not group % 10:
        return group + value
    if value < 100 and not group % 100 and (group or total):
        return group + value
    return None


def _with_share(count: int, entry: NumberWord, between: str) -> str | None:
    """Two thirds, three quarters, one third; two and a half."""
    under = entry.value
    if entry.role == "share" and between in _AND_A:
        return fraction(count * under + 1, under)
    if between not in _SPACED or count == 0:
        return None
    counted = entry.role == "share" and under > 2
    return fraction(count, under) if counted or (count == 1 and under != 2) else None


def _made(start: int, end: int, value: str) -> Found:
    return Found(start, end, (("number", value, None),), plain=False)
