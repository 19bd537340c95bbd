"""Rules of one language, read from its TOML file and compiled once, and the text they meet.

In a pattern a blank stands for any blanks, `{name}` for one of the words of that name, `{g4}` for
up to four words of any kind, and `{w4}` for as many without a comma between; a line that begins
with a stroke goes on with the line before. The text is folded: small letters without accents, marks
and quotes out of the way.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal

from msgspec import Struct

Language = Literal["en", "nl", "de", "fr", "es", "zh", "ja"]

_ALIKE = {"’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": " ", "“": '"', "”": '"', "„": '"'}
_ALIKE |= {"«": '"', "»": '"', "「": '"', "」": '"', "，": ",", "：": ":", "；": ";", "？": "?"}
_ALIKE |= {"！": "!", "。": ".", "、": ",", "（": "(", "）": ")", "–": "-", "—": "-", "\u00a0": " "}
_ALIKE |= {"*": " ", "_": " ", "#": " ", ">": " ", "|": " ", "~": " ", "\t": " ", "ß": "s"}
_ALIKE |= {"œ": "o", "æ": "a", "ø": "o", "\u2028": "\n", "\u3000": " ", "İ": "i"}

_TRADITIONAL = (
    "沒無檔資訊說確關據內題問個這們給記載從對遺應該於為過還時詳數處閱請識認談論讀間嗎"
    "麼與並夠參獻節現點絕獲體難準發顯實證釋測斷預覽庫網頁單語總結種類較幫憾況讓會將當"
    "進歡迎聯繫繼續諮詢嘗試樣"
)
_SIMPLIFIED = (
    "没无档资讯说确关据内题问个这们给记载从对遗应该于为过还时详数处阅请识认谈论读间吗"
    "么与并够参献节现点绝获体难准发显实证释测断预览库网页单语总结种类较帮憾况让会将当"
    "进欢迎联系继续咨询尝试样"
)
_ALIKE |= dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True))
_FOLDED = {
    **{
        point: unicodedata.normalize("NFD", chr(point))[0].lower()
        for point in range(0xC0, 0x250)
        if chr(point).isalpha()
    },
    **{ord(character): other for character, other in _ALIKE.items()},
}

_QUOTED = re.compile(r'"[^"\n]{12,400}"')
_LABEL = re.compile(
    r"\A(?:final )?(?:answer|response|antwoord|antwort|reponse|claim|答案|回答|答)\s*[:\n]"
)
_EDGES = " \n.,;:!?\"'()[]{}-"


class Folded(Struct, frozen=True):
    """Folded text; `places` gives each character's place in the original, None where the same."""

    text: str
    places: Sequence[int] | None = None


def folded(text: str) -> Folded:
    """The text in small letters, without accents, Markdown, and the words of long quotations.

    >>> folded("**L’été** 沒有").text
    "  l'ete   没有"
    """
    places = None
    if text.isascii():
        small = text.translate(_FOLDED).lower()
    else:
        if not unicodedata.is_normalized("NFC", text):
            places = [at for at, c in enumerate(text) if not unicodedata.combining(c)]
            text = "".join(_voiced(text, at) for at in places)
        # One character for one, so that places stay what they are.
        small = "".join(
            low if len(low := character.lower()) == 1 else character
            for character in text.translate(_FOLDED)
        )
    return Folded(_QUOTED.sub(_masked, small) if small.count('"') > 1 else small, places)


def plain(text: str) -> str:
    """Without the marks around it, and without a word that says it is the answer.

    >>> plain('- "unknown".'), plain("answer: unknown")
    ('unknown', 'unknown')
    """
    return _LABEL.sub("", text.strip(_EDGES)).strip(_EDGES)


def _voiced(text: str, at: int) -> str:
    """The character there; kana with the sound mark that follows it, which changes the word."""
    if text[at + 1 : at + 2] in ("\u3099", "\u309a"):
        composed = unicodedata.normalize("NFC", text[at : at + 2])
        return composed if len(composed) == 1 else text[at]
    return text[at]


def _masked(quotation: re.Match[str]) -> str:
    """A quotation refuses nothing; a line that is in quotes from end to end is no quotation."""
    text, start, end = quotation.string, quotation.start(), quotation.end()
    line = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    if not plain("".join(line)):
        return quotation[0]
    return '"' + "x" * (len(quotation[0]) - 2) + '"'


_AS_FOLDED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
"""For rules that are written with characters which folding changes: Japanese ones."""


def _pieces(written: str) -> tuple[str, ...]:
    """Pieces of words apart; a low line stands for a blank."""
    return tuple(written.translate(_AS_FOLDED).replace("_", " ").split("|"))


CUES: dict[Language, tuple[str, ...]] = {
    "en": _pieces(
        "not|n't|no_|never|nowhere|unable|unknown|lack|insuffic|unclear|none|neither|n/a|imposs"
        "|fail|silent|unan|unspec|beyond_my|outside|missing|idk|dunno|dont_|cant_|sorry|please"
    ),
    "nl": _pieces("niet|geen|nergens|onbek|onvold|onduid|ontbre|onmogel|zwijg|nvt|n.v.t"),
    "de": _pieces(
        "nicht|kein|unbekannt|unklar|unzureich|ungenug|nirgend|_fehl|unmogl|schweig|k._a|k.a"
    ),
    "fr": _pieces(
        "_ne_|_n'|aucun|pas_|inconn|insuffisan|indetermin|impossible_d|s/o|sans_reponse|j'ignore"
        "|l'ignore|manqu|indispon"
    ),
    "es": _pieces(
        "no_|_ningun|_nada|desconoc|desconoz|_ignoro|insuficien|imposible|incapaz|_falta|_sin_"
        "|caren|carec|_n/d|por_favor|ni_idea|fuera_del"
    ),
    "zh": _pieces("不|没|未|无|难|缺"),
    "ja": _pieces("ません|ない|なかった|不|なし|ず|かね|くださ|お願い|無|无|未|なく"),
}
"""Pieces of words; a text without one, and without a question mark, does not refuse in that
language. They are not in the TOML files, so that only the languages of a text are read."""


class Rule(Struct, frozen=True):
    """Why a sentence with such words refuses; it is looked at where it holds a needed piece."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def found(self, text: str, start: int, end: int, sentence: str) -> re.Match[str] | None:
        """The words in the sentence; it comes with a blank around it, for pieces that need one."""
        if not holds(sentence, self.needs):
            return None
        return self.pattern.search(text, start, end)


class Rules(Struct, frozen=True, kw_only=True):
    """What a sentence is checked for, in this order."""

    whole: re.Pattern[str]
    """An answer that is nothing but this refuses."""
    cues: tuple[str, ...]
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


_CONTINUED = re.compile(r"\n *\|")
_NAME = re.compile(r"\{([a-z_]+)\}")
_GAP = re.compile(r"\{([gw])(\d+)\}")
_WORD = r"[^\s,.;:!?()]{1,30}"


@cache
def rules_of(language: Language) -> Rules:
    """The rules of a language, read and compiled when they are first needed."""
    import tomllib
    from importlib.resources import files

    written = files(__package__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    sheet = tomllib.loads(_CONTINUED.sub("|", written))
    words: Mapping[str, str] = sheet["words"]
    spaced = language not in ("zh", "ja")

    def expanded(line: str) -> str:
        """The regular expression of a pattern; words may be made of other words."""
        while _NAME.search(line):
            line = _NAME.sub(lambda name: f"(?:{words[name[1]]})", line)
        if not spaced:
            line = line.translate(_AS_FOLDED)
            return _GAP.sub(lambda gap: rf"[^.!?;,\n]{{0,{gap[2]}}}?", line)
        return _GAP.sub(_gap, line).replace(" ?", r"\s*").replace(" ", r"\s+")

    def pattern(lines: Sequence[str], around: str = "{}") -> re.Pattern[str]:
        return re.compile(around.format("(?:" + "|".join(map(expanded, lines)) + ")"))

    def rules(reasons: Sequence[Mapping[str, Any]]) -> tuple[Rule, ...]:
        return tuple(
            Rule(one["why"], _pieces(one["needs"]), pattern(one["patterns"], within))
            for one in reasons
        )

    within = r"(?<![\w'-]){}(?![\w])" if spaced else "{}"
    start = r"{}(?![\w])" if spaced else "{}"
    return Rules(
        whole=pattern(sheet["whole"]),
        cues=CUES[language],
        refuses=rules(sheet["refuses"]),
        may_refuse=rules(sheet["may_refuse"]),
        about_documents=pattern(sheet["about_documents"], within),
        preface=pattern(sheet["preface"], start + r"[ ,]*"),
        lead=pattern(sheet["lead"], start + r"[ ,:]*"),
        aside=pattern(sheet["aside"], start),
        contrast=pattern(sheet["contrast"], within),
        concession=pattern(sheet["concession"], start),
        yes_or_no=pattern(sheet["yes_or_no"], r"{} *(?:[,.;:!-]|$)"),
        asks_back=pattern(sheet["asks_back"], within),
        several=pattern(sheet["several"], start),
    )


def _gap(gap: re.Match[str]) -> str:
    comma = ",?" if gap[1] == "g" else ""
    return rf"(?:{comma}\s+{_WORD}){{0,{gap[2]}}}?{comma}"


def holds(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether one of the pieces is in the text; a loop, because it is called so often."""
    for piece in pieces:  # noqa: SIM110 - `any` takes three times as long
        if piece in text:
            return True
    return False
