"""Text as the rules read it: small letters without accents, marks and quotes out of the way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from msgspec import Struct

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
SIMPLIFIED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
"""For rules that are written with characters which folding changes: Japanese ones."""
_ALIKE |= dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True))


def _bare(character: str) -> str:
    return unicodedata.normalize("NFD", character)[0].lower()


_TABLE = {point: _bare(chr(point)) for point in range(0xC0, 0x250) if chr(point).isalpha()}
_TABLE |= {ord(character): other for character, other in _ALIKE.items()}

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
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        places = [at for at, c in enumerate(text) if not unicodedata.combining(c)]
        text = "".join(_voiced(text, at) for at in places)
    small = "".join(map(_small, text.translate(_TABLE))) if not text.isascii() else ""
    small = small or text.translate(_TABLE).lower()
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


def _small(character: str) -> str:
    """One character for one, so that places stay what they are."""
    low = character.lower()
    return low if len(low) == 1 else character


def _masked(quotation: re.Match[str]) -> str:
    """A quotation refuses nothing; a line that stands in quotes as a whole is none."""
    text, start, end = quotation.string, quotation.start(), quotation.end()
    line = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    if not plain("".join(line)):
        return quotation[0]
    return '"' + "x" * (len(quotation[0]) - 2) + '"'
