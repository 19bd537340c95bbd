"""Numbers that count nothing: identifiers, and the markers of lists and citations."""

from __future__ import annotations

import re

from ragauge.quantities.measures import AFTER, CURRENCY_BEFORE, unit_after
from ragauge.quantities.quantity import Found, apart, month_of
from ragauge.text.word_lists import word_set

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
_NOT_CODES = word_set("mid pre post early late under over non sub top")
_ADDRESS_HEAD = re.compile(r"^(?:https?://)?(?:www\.)?")
_SEPARATORS = re.compile(r"[\W_]+")
_TRAILING = ".,;:!?…"


def compact(written: str) -> str:
    """An identifier without case and separators.

    >>> compact("RTX-3090"), compact("978-3-16-148410-0")
    ('rtx3090', '9783161484100')
    """
    return written.lower() if written.isalnum() else _SEPARATORS.sub("", written).lower()


def identifiers(text: str) -> list[Found]:
    """Web and mail addresses, numbers of telephones, books and libraries, by place.

    A mark or a name shows them; codes are found at their digits.
    """
    found: list[Found] = []
    if "://" in text or "www." in text:
        for match in _ADDRESS.finditer(text):
            written = match[0].rstrip(_TRAILING)
            where = _ADDRESS_HEAD.sub("", written.lower())
            found.append(_identifier(match.start(), match.start() + len(written), compact(where)))
    if "@" in text:
        for match in _MAIL.finditer(text):
            name = _MAIL_NAME.search(text, max(0, match.start() - 64), match.start())
            if name:
                start, end = name.start(), match.end()
                found.append(_identifier(start, end, compact(text[start:end])))
    if "10." in text:
        for match in _DOI.finditer(text):
            written = match[0].rstrip(_TRAILING + ")")
            found.append(_identifier(match.start(), match.start() + len(written), compact(written)))
    if "+" in text or "(" in text:
        for match in _PHONE.finditer(text):  # with and without prefixes
            digits = compact(match[0]).lstrip("0")
            found.append(_identifier(*match.span(), digits, digits[-10:], digits[-9:]))
    if "ISBN" in text:
        for match in _BOOK.finditer(text):  # with and without the prefix and the check digit
            digits = compact(match[1])
            core = digits[3:-1] if len(digits) == 13 else digits[:-1]
            found.append(_identifier(*match.span(1), digits, core))
    if "-" in text:
        for match in _LIBRARY.finditer(text):  # NL-AmRM mixes cases, US-China does not
            begin, code = match.start() - 2, match[0][1:]
            mixed = sum(sign.isupper() for sign in code) >= 2 and not code.isupper()
            if mixed and begin >= 0 and _COUNTRY.fullmatch(text, max(0, begin - 1), match.start()):
                found.append(_identifier(begin, match.end(), compact(text[begin : match.end()])))
    return apart(found)


def _identifier(start: int, end: int, *values: str) -> Found:
    return Found(start, end, tuple(("identifier", value, None) for value in dict.fromkeys(values)))


def code_before(text: str, start: int, floor: int) -> int | None:
    """The start of a code whose letters touch the digits at `start`; None if there is none."""
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
    """The code that begins here, without words joined to it by a dash: COVID-19-related."""
    match = _CODE.match(text, begin)
    written = _CODE_TAIL.sub("", match[0]) if match else text[begin]
    return _identifier(begin, begin + len(written), compact(written))


_CITATION = re.compile(r"\[\^?[0-9]{1,3}(?: ?[,;–-] ?[0-9]{1,3})*+\]")
_AFTER_MARKER = frozenset({"", " ", "\n", "\t", "*"})
_INLINE = re.compile(
    r"\((?P<bracketed>[0-9]{1,2})\)(?=\s)"
    r"|(?<![^\s(*:；，。])(?<![0-9]:)(?P<dotted>[0-9]{1,2})"
    r"(?:\.(?=[\s*]+\S|[^\W\d_])|、(?=\s*[^\W\d_]))"
)
_FIRST = ("(1)", "1.", "1、")
_OPENS_LIST = re.compile(
    r"(?:^|[:;,.!?(\n—–；，。-]|\b(?:are|includes?|including|follows|following|namely|steps|options))"
    r"[\s*]*$",
    re.IGNORECASE,
)
"""What comes before the first marker of a list in running text."""
_TAKES_NUMBER = re.compile(
    r"\b(?:in|of|to|at|by|from|than|and|or|with|for|is|was|were|number|no|room|page|chapter|part|"
    r"version|figure|table|type|level|grade|phase|day|week|op|im|um|van|von|de)\s*$",
    re.IGNORECASE,
)
"""Words before a number that ends a sentence, which is not a marker."""
_APART = 1_000
"""Characters between two markers of one list."""
_FAR = 40
"""A bracket opened this many characters before may still be open."""


def inline_markers(text: str) -> list[tuple[int, int]]:
    """The places of list markers in running text: (1) … (2) …, and 1. … 2. … after a colon.

    A list counts from 1 to at least 2. A number at the end of a sentence is not a marker.

    >>> text = "Ranked by: 1. Low 2. High. It opened in 2. Later (1) and (2) followed."
    >>> [text[start:end] for start, end in inline_markers(text)]
    ['1.', '2.', '(1)', '(2)']
    """
    found: list[tuple[int, int]] = []
    runs: dict[str, list[tuple[int, int]]] = {"bracketed": [], "dotted": []}
    for match in _INLINE.finditer(text):
        style = match.lastgroup or ""
        number, run = int(match[style]), runs[style]
        before = text[max(0, match.start() - _FAR) : match.start()]
        if style == "dotted" and _is_ordinal(text, match.end()):
            continue
        if number == 1 and (style == "bracketed" or _OPENS_LIST.search(before)):
            found += run if len(run) > 1 else []
            runs[style] = [match.span()]
        elif (
            run
            and number == len(run) + 1
            and match.start() - run[-1][1] <= _APART
            and (style == "bracketed" or not _TAKES_NUMBER.search(before))
        ):
            run.append(match.span())
    return sorted([*found, *(span for run in runs.values() if len(run) > 1 for span in run)])


def without_inline_markers(text: str) -> str:
    """The text with spaces in place of list markers, so that places do not change."""
    if not any(first in text for first in _FIRST):
        return text
    pieces, at = [], 0
    for start, end in inline_markers(text):
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join(pieces) + text[at:]


def marker_end(text: str, start: int, end: int, before: str) -> int:
    """The end of the citation or list marker at these digits; 0 if there is none.

    >>> marker_end("as said [1, 2].", 9, 10, "["), marker_end("1. Tea", 0, 1, " ")
    (14, 2)
    >>> marker_end("3. Mai", 0, 1, " "), marker_end("in 5.", 3, 4, " ")
    (0, 0)
    """
    if before == "[" or (before == "^" and text[max(0, start - 2)] == "["):
        match = _CITATION.match(text, start - 1 - (before == "^"))
        return match.end() if match else 0
    if end - start > 2:
        return 0
    follower = text[end : end + 1]
    if follower not in (".", ")", ":") or text[end + 1 : end + 2] not in _AFTER_MARKER:
        return 0
    head = text[max(0, start - 8) : start]
    _, newline, line = head.rpartition("\n")
    if (newline or len(head) == start) and not line.strip(" \t(*#>-•["):  # the head of its line
        return 0 if follower == "." and _is_ordinal(text, end + 1) else end + 1
    loose = follower == ")" and before == " " and "(" not in text[max(0, start - _FAR) : start]
    return end + 1 if loose else 0


def _is_ordinal(text: str, place: int) -> bool:
    """Whether a German month or century follows: 3. Mai, 20. Jahrhundert; May may be a verb."""
    name = AFTER.match(text, place)
    if name is None or name[2] in ("May", "March"):
        return False
    return month_of(name[2]) is not None or unit_after(text, place)[0] == "century"
