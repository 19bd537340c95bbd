"""Identifiers: addresses on the web, mail, telephone, books, libraries, and codes."""

from __future__ import annotations

import re

from ragauge.text.quantities.quantity import Found, apart, listed
from ragauge.text.quantities.units import CURRENCY_BEFORE

_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"'()\[\]{}]++", re.IGNORECASE)
_MAIL = re.compile(r"(?<=[\w.+-])@[\w-]++(?:\.[\w-]++)++")
_MAIL_NAME = re.compile(r"[\w.+-]{1,64}$")
_DOI = re.compile(r"10\.[0-9]{4,9}/[^\s\"<>]++")
_PHONE = re.compile(r"\+[0-9](?:[ .()/-]{0,2}[0-9]){6,14}|\([0-9]{3}\) ?[0-9]{3}[- .][0-9]{4}")
_BOOK = re.compile(r"ISBN(?:-1[03])?:? ?((?:[0-9][- ]?){9}(?:(?:[0-9][- ]?){3})?[0-9Xx])")
_LIBRARY = re.compile(r"-[A-Z][A-Za-z]{1,10}(?![\w-])")
_COUNTRY = re.compile(r"(?:^|.*[^\w-])[A-Z]{2}", re.DOTALL)
_CODE = re.compile(r"[A-Za-z0-9]++(?:[-_][A-Za-z0-9]++|\.[0-9][A-Za-z0-9]*+)*+")
_CODE_TAIL = re.compile(r"(?:-[a-z]{3,})+$")
_CODE_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_LONGEST_CODE = 24
_NOT_CODES = listed("mid pre post early late under over non sub top")
_ADDRESS_HEAD = re.compile(r"^(?:https?://)?(?:www\.)?")
_SEPARATORS = re.compile(r"[\W_]+")
_TRAILING = ".,;:!?…"


def bare(written: str) -> str:
    """An identifier without case and separators.

    >>> bare("RTX-3090"), bare("978-3-16-148410-0")
    ('rtx3090', '9783161484100')
    """
    return written.lower() if written.isalnum() else _SEPARATORS.sub("", written).lower()


def identifiers(text: str) -> list[Found]:
    """Identifiers that a mark or a name gives away, by place; codes are seen at their digits."""
    found: list[Found] = []
    if "://" in text or "www." in text:
        found += [_address(match) for match in _ADDRESS.finditer(text)]
    if "@" in text:
        found += _mails(text)
    if "10." in text:
        found += [_trimmed(match) for match in _DOI.finditer(text)]
    if "+" in text or "(" in text:
        found += [_phone(match) for match in _PHONE.finditer(text)]
    if "ISBN" in text:
        found += [_book(match) for match in _BOOK.finditer(text)]
    if "-" in text:
        found += _libraries(text)
    return apart(found)


def code_before(text: str, start: int, floor: int) -> int | None:
    """Where a code begins whose letters stand against the digits at `start`; None without one."""
    begin = start
    limit = max(floor, start - _LONGEST_CODE)
    while begin > limit and text[begin - 1] in _CODE_SIGNS:
        begin -= 1
    while begin < start and text[begin] in "-_":
        begin += 1
    letters = text[begin:start].rstrip("-_")
    folded = letters.lower()
    if not letters or folded in CURRENCY_BEFORE or folded in _NOT_CODES:
        return None
    if text[start - 1] in "-_" and (letters == folded or letters.isdigit()):
        return None
    return begin


def code_at(text: str, begin: int) -> Found:
    """The code that begins here, without words that a dash ties to it: COVID-19-related."""
    match = _CODE.match(text, begin)
    written = _CODE_TAIL.sub("", match[0]) if match else text[begin]
    return _made(begin, begin + len(written), bare(written))


def _made(start: int, end: int, *values: str) -> Found:
    return Found(start, end, tuple(("identifier", value, None) for value in dict.fromkeys(values)))


def _address(match: re.Match[str]) -> Found:
    written = match[0].rstrip(_TRAILING)
    where = _ADDRESS_HEAD.sub("", written.lower())
    return _made(match.start(), match.start() + len(written), bare(where))


def _mails(text: str) -> list[Found]:
    found = []
    for match in _MAIL.finditer(text):
        name = _MAIL_NAME.search(text, max(0, match.start() - 64), match.start())
        if name:
            found.append(_made(name.start(), match.end(), bare(text[name.start() : match.end()])))
    return found


def _trimmed(match: re.Match[str]) -> Found:
    written = match[0].rstrip(_TRAILING + ")")
    return _made(match.start(), match.start() + len(written), bare(written))


def _phone(match: re.Match[str]) -> Found:
    """A telephone number, with and without what comes before the subscriber's own number."""
    digits = bare(match[0]).lstrip("0")
    return _made(match.start(), match.end(), digits, digits[-10:], digits[-9:])


def _book(match: re.Match[str]) -> Found:
    """A book number, with and without the prefix and the check digit of its length."""
    digits = bare(match[1])
    core = digits[3:-1] if len(digits) == 13 else digits[:-1]
    return _made(match.start(1), match.end(1), digits, core)


def _libraries(text: str) -> list[Found]:
    """Library codes such as NL-AmRM, which mix cases; US-China does not."""
    found = []
    for match in _LIBRARY.finditer(text):
        begin, code = match.start() - 2, match[0][1:]
        mixed = sum(sign.isupper() for sign in code) >= 2 and not code.isupper()
        if mixed and begin >= 0 and _COUNTRY.fullmatch(text, max(0, begin - 1), match.start()):
            found.append(_made(begin, match.end(), bare(text[begin : match.end()])))
    return found
