"""Rules of one language: word lists and patterns, written to be read, compiled once.

In a pattern a blank stands for any blanks, `{name}` for one of the words of that name, `{g4}` for
up to four words of any kind, and `{w4}` for as many without a comma between. The text it meets is
folded: small letters without accents.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ragauge.text.refusals.folding import SIMPLIFIED

_GAP = re.compile(r"\{([gw])(\d+)\}")
_NAME = re.compile(r"\{([a-z_]+)\}")
_WORD = r"[^\s,.;:!?()]{1,30}"


class Rule(Struct, frozen=True):
    """Why a sentence with such words refuses; it is looked at where it holds a needed piece."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def found(self, text: str, start: int, end: int, sentence: str) -> re.Match[str] | None:
        """The words in the sentence; it comes with a blank around it, for pieces that ask one."""
        if not holds(sentence, self.needs):
            return None
        return self.pattern.search(text, start, end)


class Rules(Struct, frozen=True, kw_only=True):
    """What is asked of a sentence, in this order; None where a language has no such words."""

    whole: re.Pattern[str]
    """An answer that is nothing but this refuses."""
    cues: tuple[str, ...]
    """Pieces of words; a sentence that refuses holds one of them."""
    refuses: tuple[Rule, ...]
    may_refuse: tuple[Rule, ...]
    """A sentence with them says that something is not known: by the documents, or by anyone."""
    about_documents: re.Pattern[str]
    """A question with it asks what the documents say, so that "they do not" answers it."""
    preface: re.Pattern[str]
    """How a sentence begins that names the documents it goes by: based on the context."""
    lead: re.Pattern[str]
    """Words at the beginning of a sentence that say nothing: however, therefore."""
    aside: re.Pattern[str]
    """How a sentence begins that claims nothing: an apology, an offer, what the documents treat."""
    contrast: re.Pattern[str]
    """After it, a sentence turns to something else."""
    concession: re.Pattern[str]
    """How a sentence begins that grants something before it refuses: while, although."""
    yes_or_no: re.Pattern[str]
    asks_back: re.Pattern[str]
    """A question that asks what was meant."""
    several: re.Pattern[str]
    """How a sentence begins from which on it is listed what could be meant."""


class Sheet(Struct, frozen=True, kw_only=True):
    """The rules of a language as they are written."""

    cues: str
    """Pieces of words; a refusal holds one of them, or a question mark."""
    words: Mapping[str, str]
    whole: Sequence[str]
    needs: Mapping[str, str]
    """For each reason, pieces of words one of which its sentences hold: where they do
    not, the patterns cost nothing."""
    refuses: Mapping[str, Sequence[str]]
    may_refuse: Mapping[str, Sequence[str]]
    about_documents: Sequence[str]
    preface: Sequence[str]
    lead: Sequence[str]
    aside: Sequence[str]
    contrast: Sequence[str]
    concession: Sequence[str]
    yes_or_no: Sequence[str]
    asks_back: Sequence[str]
    several: Sequence[str]
    spaced: bool = True
    """Words stand between blanks."""


def compiled(sheet: Sheet) -> Rules:
    """The rules, ready to be asked."""

    def pattern(lines: Sequence[str], around: str = "{}") -> re.Pattern[str]:
        return re.compile(around.format("(?:" + "|".join(_written(sheet, lines)) + ")"))

    def rules(written: Mapping[str, Sequence[str]]) -> tuple[Rule, ...]:
        return tuple(
            Rule(why, pieces(sheet.needs[why].translate(SIMPLIFIED)), pattern(lines, within))
            for why, lines in written.items()
        )

    within = r"(?<![\w'-]){}(?![\w])" if sheet.spaced else "{}"
    start = r"{}(?![\w])" if sheet.spaced else "{}"
    return Rules(
        whole=pattern(sheet.whole),
        cues=pieces(sheet.cues.translate(SIMPLIFIED)),
        refuses=rules(sheet.refuses),
        may_refuse=rules(sheet.may_refuse),
        about_documents=pattern(sheet.about_documents, within),
        preface=pattern(sheet.preface, start + r"[ ,]*"),
        lead=pattern(sheet.lead, start + r"[ ,:]*"),
        aside=pattern(sheet.aside, start),
        contrast=pattern(sheet.contrast, within),
        concession=pattern(sheet.concession, start),
        yes_or_no=pattern(sheet.yes_or_no, r"{} *(?:[,.;:!-]|$)"),
        asks_back=pattern(sheet.asks_back, within),
        several=pattern(sheet.several, start),
    )


def holds(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether one of the pieces stands in the text; a loop, because it is asked so often."""
    for piece in pieces:  # noqa: SIM110 - `any` takes three times as long
        if piece in text:
            return True
    return False


def pieces(written: str) -> tuple[str, ...]:
    """Pieces of words apart; a low line stands for a blank.

    >>> pieces("not|no_")
    ('not', 'no ')
    """
    return tuple(written.replace("_", " ").split("|"))


def _written(sheet: Sheet, lines: Sequence[str]) -> list[str]:
    return [_expanded(sheet, line) for line in lines]


def _expanded(sheet: Sheet, line: str) -> str:
    """The regular expression of a pattern; words may be made of other words."""
    while _NAME.search(line):
        line = _NAME.sub(lambda name: f"(?:{sheet.words[name[1]]})", line)
    if not sheet.spaced:
        line = line.translate(SIMPLIFIED)
        return _GAP.sub(lambda gap: rf"[^.!?;,\n]{{0,{gap[2]}}}?", line)
    line = _GAP.sub(_gap, line)
    return line.replace(" ?", r"\s*").replace(" ", r"\s+")


def _gap(gap: re.Match[str]) -> str:
    comma = ",?" if gap[1] == "g" else ""
    return rf"(?:{comma}\s+{_WORD}){{0,{gap[2]}}}?{comma}"
