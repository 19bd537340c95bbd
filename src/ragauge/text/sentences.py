"""Sentences: where each of them is in a text, and which lines a sentence may span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragauge.text.canonical import UNSPACED
from ragauge.text.stop_words import STOP_WORDS
from ragauge.text.word_lists import read_toml, word_set

_STOP = re.compile(r"\.(?:[ \u00a0]\.)+|[.!?…。！？｡؟।]+")
"""A run of stops; an ellipsis may contain spaces."""
_WIDE = frozenset("。！？｡")
"""Stops of scripts without spaces: nothing needs to follow them."""
_CLOSING = re.compile(
    r"""(?:[”’»)\]}*_`」』）】》〉"'¹²³⁰-⁹]+
        |\s?(?:\[(?=[^\]]{0,40}\d)[^\[\]\n.!?]{1,40}\]|【[^【】\n]{1,40}】)
        |[ ]\((?i:passages?|sources?|documents?|context|chunks?|bron|quelle)[ ][^()\n]{0,30}\d\)
        |[ ](?:''?|[)\]”’»])(?=\s|$))+""",
    re.VERBOSE,
)
"""What belongs to the sentence after its stop: quotes, brackets, citation markers, notes."""
_TITLE_ENDS = frozenset("》〉")
_AFTER = re.compile(
    r"""(\s*)([-–—,;:]?)["'“”‘’«»„(\[{*_`¿¡「『（【《\s]{0,8}(\w?)(\w{0,20})(\.?)"""
)
"""The space, the punctuation and the first word after a stop."""
_BEFORE = re.compile(
    rf"""(?:^|(?<=[\s("'“‘«„\[/*_–—{UNSPACED}-]))
        ((?:[^\W\d_]{{1,2}}\.|[^\W\d_]\.[ ]){{0,3}})   # z. in "z. B", e. in "e.g"
        ([\w°]*)$""",
    re.VERBOSE,
)
_COUNT = re.compile(r"\d[ \u00a0]$")
_INSIDE = re.compile("[a-z0-9/,;:=&%@-]")
"""What follows a stop inside a number, an address or a list of abbreviations."""
_LOOK_BACK = 24
_ROMAN = re.compile("[IVXLC]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(r"\w")
_INNER_CAPITAL = re.compile(r"\w*[A-Z]")
_SLOPPY = frozenset(["it", "he", "she", "they", "there", "these", "we"])
"""Words that start a sentence even where the writer forgot the capital."""

_NUMERAL = "[0-9]{1,3}(?:\\.[0-9]{1,3}){0,4}"
_MONTH = "(?:jan|feb|mrt|mär|maart|apr|mai|mei|jun|jul|aug|sep|okt|oct|nov|dez|dec|jahrh|jh)"
"""After these, as in "am 12. Mai", the number does not number a list."""
_MARKER = re.compile(
    rf"""(?:>\s{{0,3}}){{0,4}}
    (?:\#{{1,6}}\s+)?
    (?:(?:[-*+•◦‣▪●○■–—]|[①-⑳])\s+
      |[*_]{{0,3}}(?:\(?{_NUMERAL}[.)）]|{_NUMERAL}、|（?[一二三四五六七八九十]{{1,3}}[、）])
        (?:\s+(?!{_MONTH})|(?=(?-i:[^\W\d_a-z])))
      |\(?[a-z]\)\s+
      |\(?[ivx]{{1,5}}[.)]\s+(?!\w\.)
    )?""",
    re.VERBOSE | re.IGNORECASE,
)
"""What may come before the text of a line: quotation, heading, list marker."""
_PAIR = re.compile(r"[*_]{0,3}[^\W_][^:：.!?|]{0,40}(?::[*_]{0,3}\s|：)\s*\S")
"""`Opening hours: 9 to 5`, as records and forms are written."""
_RULE = re.compile(r"[-=*_~`+|:\s]{3,}")
_LAST_WORD = re.compile(r"[^\W\d_]{1,12}$")

_ENDS = frozenset(".!?…。！？:：;；|")
_CLOSERS = "\"'”’»)]}*_`」』）】》"
_LONG = 60
"""A line of this many characters was wrapped, so the sentence may go on."""
_LONG_UNSPACED = 30
_RUNS_ON = STOP_WORDS["en"] | STOP_WORDS["nl"] | STOP_WORDS["de"] | STOP_WORDS["fr"]


class Span(NamedTuple):
    """The place of a sentence: `text[start:end]`."""

    start: int
    end: int


class _Stop(NamedTuple):
    """A run of stops with the text around it."""

    mark: str
    closing: str
    spaced_before: bool
    """Whether a space comes before it, as in tokenised text."""
    dotted: str
    """Short pieces before the last word, "z." in "z. B."."""
    word: str
    """The word before it; empty after a bracket or a symbol."""
    after_number: bool
    """Whether a number comes before that word, which may then be a unit."""
    spaced_after: bool
    """Whether a space, or nothing at all, follows."""
    joint: str
    """A dash or comma after the space."""
    next: str
    """The first word that follows."""
    next_stops: bool
    """Whether that word has a stop of its own, as initials have."""

    @property
    def next_is_lower(self) -> bool:
        """Whether what follows starts in lower case; iPhone does not."""
        return self.next[:1].islower() and _INNER_CAPITAL.match(self.next) is None

    @property
    def is_ellipsis(self) -> bool:
        return self.mark[0] == "…" or (len(self.mark) > 1 and self.mark[1] in ". …")

    @property
    def is_code(self) -> bool:
        """Whether the word is a unit, as in "5 mw", or an abbreviated place, as in CA."""
        capitals = len(self.word) > 1 and self.word.isupper()
        return self.after_number or (capitals and not self.next.isupper())


def sentences(text: str) -> list[Span]:
    """The sentences of a text in order; every character except spaces is in one of them.

    List entries, headings, table rows and lines such as `Price: 10` are sentences of their own.
    A quote, a bracket or a citation marker after the stop belongs to the sentence it closes.

    >>> text = "Dr. Ruys came in 1800.[1] It cost 3.14 guilders, e.g. “So!” Then he left."
    >>> [text[start:end] for start, end in sentences(text)]
    ['Dr. Ruys came in 1800.[1]', 'It cost 3.14 guilders, e.g. “So!”', 'Then he left.']
    """
    spans: list[Span] = []
    for block in _blocks(text):
        if block.is_row:
            spans.append(Span(block.start, block.end))
        else:
            spans.extend(_in_block(text, block))
    return spans


def _in_block(text: str, block: Block) -> Iterator[Span]:
    """The sentences of one block; a stretch without a word joins the sentence before it."""
    start = block.start
    ends = list(_ends(text, block))
    if ends and _WORD.search(text, ends[-1], block.end) is None:
        ends.pop()
    for end in (*ends, block.end):
        yield Span(start, end)
        start = end
        while start < block.end and text[start].isspace():
            start += 1


def _ends(text: str, block: Block) -> Iterator[int]:
    """The ends of sentences in a block. Each character is read a bounded number of times."""
    caseless = text[block.start : block.end].islower()
    first = _WORD.search(text, block.text_start, block.end)
    quotes, counted_to = 0, block.start
    for match in _STOP.finditer(text, block.text_start, block.end):
        if first is None:
            return
        if match.start() < first.end() or _INSIDE.match(text, match.end(), block.end):
            continue
        quotes += text.count('"', counted_to, match.start())
        counted_to = match.start()
        stop, end = _read_stop(text, match, block, quotes % 2 == 1)
        if _is_number(stop) and match.start() - len(stop.word) == first.start():
            continue
        at = match.start() - len(stop.word)
        if _is_number(stop) and text[max(0, at - 2) : at] in (": ", "; "):
            end = at - 1  # a list begins in the running line, as in "Steps: 1. Go"
        elif not _is_end(stop, caseless):
            continue
        yield end
        first = _WORD.search(text, end, block.end)


def _read_stop(text: str, match: re.Match[str], block: Block, quoted: bool) -> tuple[_Stop, int]:
    """The stop with its surroundings, and the place where its sentence would end."""
    at, end = match.span()
    before = text[max(block.text_start, at - _LOOK_BACK) : at]
    closing = _closing(text, end, block.end, match[0], quoted)
    end += len(closing)
    word = _BEFORE.search(before)
    after = _AFTER.match(text, end, block.end)
    spaced_after, joint, initial, others, stops = after.groups() if after else ("",) * 5
    stop = _Stop(
        mark=match[0],
        closing=closing,
        spaced_before=before[-1:].isspace(),
        dotted=word[1] if word else "",
        word=word[2] if word else "",
        after_number=bool(word and _COUNT.search(before, 0, word.start(1))),
        spaced_after=bool(spaced_after) or end == block.end,
        joint=joint,
        next=initial + others,
        next_stops=bool(stops),
    )
    return stop, end


def _closing(text: str, at: int, limit: int, mark: str, quoted: bool) -> str:
    """The text after the stop that still belongs to its sentence."""
    match = _CLOSING.match(text, at, limit)
    closing = match[0] if match else ""
    if closing[:1] == '"' and mark[-1] in _WIDE and not quoted:
        return ""
    if not closing and quoted and text.startswith(' " ', at):
        return ' "'
    return closing


def _is_number(stop: _Stop) -> bool:
    """Whether this may be the "1." before an entry of a list."""
    return stop.mark == "." and stop.word.isdigit() and len(stop.word) <= 3 and stop.spaced_after


def _is_end(stop: _Stop, caseless: bool) -> bool:
    """Whether a sentence ends at the stop; `caseless` text has no capitals to go by."""
    if stop.mark[-1] in _WIDE:
        return stop.closing[-1:] not in _TITLE_ENDS
    if not stop.spaced_after:
        return _is_end_unspaced(stop)
    if stop.joint and (stop.joint in ",;:" or not stop.next[:1].isupper()):
        return False
    if stop.is_ellipsis:
        return not stop.next_is_lower
    if stop.mark != ".":
        bare = "?" in stop.mark and not stop.closing and not stop.spaced_before
        return bare or caseless or not stop.next_is_lower
    if stop.spaced_before:
        return ")" not in stop.closing or not stop.next_is_lower
    return _is_end_at_full_stop(stop, caseless)


def _is_end_unspaced(stop: _Stop) -> bool:
    """Whether a sentence ends without a space: in Chinese, or because it was forgotten."""
    if stop.is_ellipsis:
        return False
    if _UNSPACED.match(stop.next):
        return _UNSPACED.match(stop.word[-1:]) is not None or stop.mark in "?!"
    plain = stop.next[1:].islower() and stop.next[:1].isupper() and not stop.next_stops
    return plain and len(stop.word) > 2 and stop.next.casefold() in STARTERS


def _is_end_at_full_stop(stop: _Stop, caseless: bool) -> bool:
    """Whether a sentence ends at a single full stop with a space after it."""
    word, after = stop.word.casefold(), stop.next.casefold()
    key = "".join(filter(str.isalpha, stop.dotted.casefold())) + word
    if (word in LEADING and not stop.is_code) or (stop.dotted and key in DOTTED):
        return False
    shortened = len(word) == 1 or bool(stop.dotted) or word in NAMING or word in NUMBERED
    if stop.next_is_lower:
        return not shortened and (caseless or (len(word) > 3 and after in _SLOPPY))
    if word.isdigit():
        return len(word) > 2 or after not in ORDINAL_NOUNS
    if word in NUMBERED and (after.isdigit() or _ROMAN.fullmatch(stop.next)):
        return False
    return _is_end_at_name(stop, word, after, key)


def _is_end_at_name(stop: _Stop, word: str, after: str, key: str) -> bool:
    """Whether a sentence ends before a capital or a number: not within J. R. R. Tolkien."""
    if stop.after_number or key in ("am", "pm"):
        return True
    starts = not (stop.next_stops and len(after) == 1)
    if len(word) == 1 and word.isalpha() and not _UNSPACED.match(word) and not stop.dotted:
        return starts and after in STARTERS_NO_NAME
    if stop.dotted and " " in stop.dotted:
        return starts and after in STARTERS_NO_NAME
    if stop.dotted or key in NAMING:
        return starts and after in STARTERS
    return True


class Block(NamedTuple):
    """A stretch of text in which sentences run on, and where its text starts after a marker."""

    start: int
    text_start: int
    end: int
    is_row: bool
    """Whether it is a row of a table, which is one sentence whatever it contains."""


class _Line(NamedTuple):
    start: int
    end: int
    text: str
    marker: int
    """The length of the heading or list marker; 0 if the line has none."""
    is_row: bool
    is_pair: bool


def _blocks(text: str) -> Iterator[Block]:
    """The blocks of a text in order: paragraphs, list entries, headings, rows."""
    first: _Line | None = None
    last: _Line | None = None
    for line in (*_lines(text), None):
        if first is not None and last is not None and (line is None or not _goes_on(last, line)):
            yield Block(first.start, first.start + first.marker, last.end, first.is_row)
            first = None
        if line is not None and first is None:
            first = line
        last = line


def _lines(text: str) -> Iterator[_Line | None]:
    """Each line of the text without its margins; None for an empty one."""
    at = 0
    for raw in text.splitlines(keepends=True):
        line = raw.strip()
        if line:
            start = at + len(raw) - len(raw.lstrip())
            is_row = line[0] == "|" or line.count("|") > 1 or _RULE.fullmatch(line) is not None
            match = None if is_row else _MARKER.match(line)
            marker = match.end() if match else 0
            pair = not marker and len(line) < _LONG and _PAIR.match(line) is not None
            yield _Line(start, start + len(line), line, marker, is_row, pair or "\t" in line)
        else:
            yield None
        at += len(raw)


def _goes_on(line: _Line, after: _Line) -> bool:
    """Whether a sentence may run from one line into the line after it."""
    if line.marker or line.is_row or line.is_pair or after.marker or after.is_row or after.is_pair:
        return False
    first = after.text.lstrip("\"'“”‘’«»„([{*_`¿¡「『（【《")[:1]  # no quote, bracket or emphasis
    if first.islower():
        return line.text[-1] not in ":："
    ending = line.text.rstrip(_CLOSERS)[-1:]
    if ending in _ENDS:
        # The sentence ends here: whether the next is in the same paragraph does not matter.
        return False
    word = _LAST_WORD.search(line.text)
    if ending in (",", "，", "、") or (word and word[0] in _RUNS_ON):
        return True
    wide = _LONG_UNSPACED if _UNSPACED.match(ending) else _LONG
    return len(line.text) >= wide


_FILE = read_toml(__package__, "abbreviations.toml")
LEADING, DOTTED, NAMING, NUMBERED, ORDINAL_NOUNS = (
    word_set(_FILE[name]) for name in ("leading", "dotted", "naming", "numbered", "ordinal_nouns")
)
STARTERS = frozenset().union(*STOP_WORDS.values()) | word_set(
    "no not never nee niet geen nein nicht kein keine non yes ja oui"
)
"""Plain words: with a capital, they start a sentence and are not a name."""
STARTERS_NO_NAME = STARTERS - word_set(
    "de den der des die du la le les l d al el van von ten ter will an"
)
"""Those of them that are not part of a name either, for the word after an initial."""
