"""Refusal: one predicate, several strengths.

`exact`: the complete text is the token. `near` is the token with a list marker, quotes, a final
stop or a claim field around it. `free` says in its own words that it does not answer; where that
is not certain it is an answer, and `undetermined` is only noted. By default (`auto`) all three
count as refusals.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from ragauge.contracts.gold import (
    DEFAULT_STRENGTH,
    DEFAULT_TOKENS,
    REFUSING,
    Refusal,
    Strength,
)
from ragauge.text.word_lists import read_toml

Language = Literal["en", "nl", "de", "fr", "es", "zh", "ja"]

_ALIKE = {"’": "'", "‘": "'", "ʼ": "'", "´": "'", "`": " ", "“": '"', "”": '"', "„": '"'}
_ALIKE |= {
    "«": '"',
    "»": '"',
    "「": '"',
    "」": '"',
    "，": ",",
    "：": ":",
    "；": ";",
    "？": "?",
}
_ALIKE |= {
    "！": "!",
    "。": ".",
    "、": ",",
    "（": "(",
    "）": ")",
    "–": "-",
    "—": "-",
    "\u00a0": " ",
}
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
    """Folded text; `places` has each character's place in the original, None if they agree."""

    text: str
    places: Sequence[int] | None = None


def fold_text(text: str) -> Folded:
    """The text in lower case, without accents, Markdown, and the words of long quotations.

    >>> fold_text("**L’été** 沒有").text
    "  l'ete   没有"
    """
    places = None
    if text.isascii():
        small = text.translate(_FOLDED).lower()
    else:
        if not unicodedata.is_normalized("NFC", text):
            places = [at for at, c in enumerate(text) if not unicodedata.combining(c)]
            text = "".join(_composed_kana(text, at) for at in places)
        # One character replaces one, so that places do not change.
        small = "".join(
            low if len(low := character.lower()) == 1 else character
            for character in text.translate(_FOLDED)
        )
    return Folded(_QUOTED.sub(_mask_quotation, small) if small.count('"') > 1 else small, places)


def plain(text: str) -> str:
    """The text without the marks around it, and without a label such as "answer:".

    >>> plain('- "unknown".'), plain("answer: unknown")
    ('unknown', 'unknown')
    """
    return _LABEL.sub("", text.strip(_EDGES)).strip(_EDGES)


def _composed_kana(text: str, at: int) -> str:
    """The character at a place; kana together with a sound mark, which changes the word."""
    if text[at + 1 : at + 2] in ("\u3099", "\u309a"):
        composed = unicodedata.normalize("NFC", text[at : at + 2])
        return composed if len(composed) == 1 else text[at]
    return text[at]


def _mask_quotation(quotation: re.Match[str]) -> str:
    """The quotation with its words hidden, unless the quotes are around the complete line."""
    text, start, end = quotation.string, quotation.start(), quotation.end()
    line = text[text.rfind("\n", 0, start) + 1 : start], text[end:].partition("\n")[0]
    if not plain("".join(line)):
        return quotation[0]
    return '"' + "x" * (len(quotation[0]) - 2) + '"'


_CONTINUED = re.compile(r"\n *\|")
_AS_FOLDED = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
"""For rules whose characters folding would change: the Japanese ones."""


def _pieces(text: str) -> tuple[str, ...]:
    """The pieces of words in a list; an underscore is a space."""
    return tuple(_CONTINUED.sub("|", text).translate(_AS_FOLDED).replace("_", " ").split("|"))


@cache
def cues() -> Mapping[Language, tuple[str, ...]]:
    """Pieces of words by language; a text without one of them does not refuse in it."""
    texts = read_toml(__package__, "cues.toml")
    return {language: _pieces(texts[language]) for language in get_args(Language)}


class Rule(Struct, frozen=True):
    """A pattern of words that refuse, tried on sentences that contain one of the needed pieces."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, text: str, start: int, end: int, sentence: str) -> re.Match[str] | None:
        """The matching words; the sentence has a space around it, for pieces that need one."""
        if not contains_any(sentence, self.needs):
            return None
        return self.pattern.search(text, start, end)


class Rules(Struct, frozen=True, kw_only=True):
    """The patterns of a language, in the order in which a sentence is checked."""

    complete_answer: re.Pattern[str]
    """An answer that is nothing else refuses."""
    cues: tuple[str, ...]
    refuses: tuple[Rule, ...]
    may_refuse: tuple[Rule, ...]
    """These say that something is not known, either by the documents or by anyone."""
    about_documents: re.Pattern[str]
    """A question that matches asks what the documents say, so "they do not" answers it."""
    preface: re.Pattern[str]
    """Opens a sentence that refers to its documents: based on the context."""
    lead: re.Pattern[str]
    """Opening words without content: however, therefore."""
    aside: re.Pattern[str]
    """Opens a sentence that claims nothing: an apology, an offer, what the documents cover."""
    contrast: re.Pattern[str]
    """After it, a sentence turns to something else."""
    concession: re.Pattern[str]
    """Opens a sentence that concedes something before it refuses: while, although."""
    yes_or_no: re.Pattern[str]
    asks_back: re.Pattern[str]
    """A question that asks what was meant."""
    several: re.Pattern[str]
    """Opens a list of what could be meant."""


_NAME = re.compile(r"\{([a-z_]+)\}")
_GAP = re.compile(r"\{([gw])(\d+)\}")
_WORD = r"[^\s,.;:!?()]{1,30}"


@cache
def rules_of(language: Language) -> Rules:
    """The rules of a language, read and compiled on first use."""
    sheet = read_toml(__package__, f"{language}.toml")
    words: Mapping[str, str] = sheet["words"]
    spaced = language not in ("zh", "ja")

    def expanded(line: str) -> str:
        """The regular expression of a pattern; named words may contain other named words."""
        while _NAME.search(line):
            line = _NAME.sub(lambda name: f"(?:{words[name[1]]})", line)
        line = _CONTINUED.sub("|", line)
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
        complete_answer=pattern(sheet["complete_answer"]),
        cues=cues()[language],
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


def contains_any(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether one of the pieces is in the text."""
    for piece in pieces:  # noqa: SIM110 - `any` takes three times as long
        if piece in text:
            return True
    return False


_REFUSAL_OF: dict[Decision, Refusal] = {
    "refusal": "free",
    "undetermined": "undetermined",
    "answer": "none",
}

_DRESSING = re.compile(
    r"""^(?:[-*•–]\s+|\d+[.)]\s+)?      # a list marker
        (?:claim|answer)?\s*[:：]?\s*   # a claim field
        ["'“”‘’«»„`*_]*\s*              # opening quotes or emphasis
        (?P<core>.*?)
        \s*["'“”‘’«»„`*_]*              # closing quotes, before or after the stop
        \s*[.!。！…]*
        \s*["'“”‘’«»„`*_]*$""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


_DRESSING_WORDS = 4
_DRESSING_CHARACTERS = 40


class RefusalTokens(Struct, frozen=True):
    """The refusal tokens of a run, normalized, and the lengths that no refusal exceeds."""

    folded: frozenset[str]
    most_words: int
    most_characters: int


def refusal_tokens(texts: tuple[str, ...] = DEFAULT_TOKENS) -> RefusalTokens:
    folded = frozenset(normalized(text) for text in texts)
    words = max((len(text.split()) for text in folded), default=0)
    characters = max(map(len, folded), default=0)
    return RefusalTokens(folded, words + _DRESSING_WORDS, characters + _DRESSING_CHARACTERS)


def normalized(text: str) -> str:
    """The text trimmed and case-folded, with single spaces.

    >>> normalized("  Not in\\n context ")
    'not in context'
    """
    return " ".join(text.casefold().split())


def refusal_in(text: str, known: RefusalTokens) -> Refusal:
    """How the text refuses: "exact", "near", or "none".

    >>> texts = "Not in context", "- “not in context.”", "It is not."
    >>> [refusal_in(text, refusal_tokens()) for text in texts]
    ['exact', 'near', 'none']
    """
    if len(text.split(None, known.most_words)) > known.most_words:
        return "none"
    folded = normalized(text)
    if folded in known.folded:
        return "exact"
    if len(folded) > known.most_characters:
        return "none"
    match = _DRESSING.match(folded)
    return "near" if match and match["core"] in known.folded else "none"


def refusal_in_free_words(text: str, question: str | None = None) -> Refusal:
    """How a text that is not the token refuses: "free", "undetermined", or "none".

    >>> refusal_in_free_words("Sorry, I don't have that information.")
    'free'
    """
    return _REFUSAL_OF[free_refusal(text, question=question).verdict]


def is_refusal(
    text: str,
    strength: Strength = DEFAULT_STRENGTH,
    known: RefusalTokens | None = None,
    question: str | None = None,
) -> bool:
    """Whether an answer counts as a refusal at a strength of the predicate.

    >>> [is_refusal("The documents do not say.", strength) for strength in REFUSING]
    [True, False, False, True]
    """
    refusal = refusal_in(text, known or refusal_tokens())
    if refusal == "none" and "free" in REFUSING[strength]:
        refusal = refusal_in_free_words(text, question)
    return refusal in REFUSING[strength]


Decision = Literal["refusal", "answer", "undetermined"]

HEAD_CHARS, TAIL_CHARS = 1_500, 500
"""The characters that are read of a long answer: refusals come first or last."""
MAX_BARE_CHARS, MAX_HINT_CHARS = 80, 400
"""The longest answer that can be nothing but "unknown"; and the longest that can be nothing but
"its date is not known", which may be a refusal or the correct answer."""
LETTERS_PER_WORD = 6
MIN_CLAIM_WORDS = 3
"""Fewer words claim nothing."""
MIN_WORDS_BEFORE = 25
"""With this many claimed words before it, a refusal is a note within an answer."""
MIN_WORDS_AROUND = 60
"""So it is with this many around it, if some of them come before it."""
ASKS_BACK = "asks what was meant"

_INFORMATION = (
    r"(?=.{0,60}(?:info|detail|mention|data|answer|referen|knowledge|specific|context|expla"
    r"|discuss|descri|document|figure|material|evidence|indicat|record|sign|proof|confirm|guid"
    r"|source|passage|text|content|statement|instruct|list|section|defini|reason|example|idea"
    r"|clue|result|knows|match|response|article|way))"
)
_SPANISH = (
    r"(?:lo s|s[eé]|ten[eg]|pu[ed]|pod|hay|disp|enc|con|prop|apar|est|es p|es s|fig|perm|inc|esp"
    r"|ind|dic|exis|sab|ofre|he|ha |me|da|fac|apl|proc|resp|acl|det|prec|soy|ent|hac|hab|trat|cubr"
    r"|bas)"
)
_CUE = re.compile(
    r"n(?:ot\b|othing|['’][taeiouyhéê]|iet|icht|ever|/a|able|kno|clea|answ|spec|bek|kla|suf|conn"
    rf"|vol|tbre|(?<=\bn)(?:o {_INFORMATION}|o {_SPANISH}|one|or |e |either|owhere|ergens|irgend"
    r"|ulle part|ing[uú]n|i idea|/d)"
    r"|o[cz](?<=descono.)|(?<=geen)|(?<=kein)|(?<=aucun)"
    r"|(?<=ign)or|(?<=silen)|(?<=to men)tion|(?<=beyon)d my)"
)
_EAST_ASIAN = re.compile("[不没沒无無未难難缺？]|ません|ない|なし|かねま|ください|お願い")

_KANA = re.compile("[\u3040-\u30ff]")
_SENTENCE_END = re.compile(
    r"[.!?;\n](?:[\"')\]]*\s+|(?<=\n)|(?<=[\u3040-\u30ff\u4e00-\u9fff][.!?;]))"
)
_LETTERS = re.compile(r"[^\W_]")
_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:[-*•–+]|\d{1,2}[.)])?\s+$")
_WORDS = re.compile(r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff][\w'-]*|\d+")
_CHINESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


class Evidence(Struct, frozen=True):
    """Words of the answer, and their place in it."""

    text: str
    start: int
    end: int


class Verdict(Struct, frozen=True):
    """Whether an answer refuses, the reason, and the words that show it."""

    verdict: Decision
    reason: str
    evidence: tuple[Evidence, ...] = ()


NO_CUE = Verdict("answer", "no word of a refusal")


def has_cue(text: str) -> bool:
    """Whether a text needs a closer look: most answers have no word of a refusal.

    This runs for every answer, so nearly all of it depends on one letter, which a regular
    expression finds as fast as memory can be read.

    >>> has_cue("It opened in 1885."), has_cue("It is not known.")
    (False, True)
    """
    low = text.lower()
    if _CUE.search(low) or "?" in low or "pas " in low or "impos" in low or "lack" in low:
        return True
    if "idk" in low or "dunno" in low or "please" in low or "por favor" in low or "outside" in low:
        return True
    return not low.isascii() and _EAST_ASIAN.search(low) is not None


def free_refusal(
    text: str, language: Language | None = None, question: str | None = None
) -> Verdict:
    """Whether an answer says in its own words that it does not answer.

    Without a language, the words show which rules apply. The question matters only if it asks what
    the documents say: then "they do not mention it" answers it.

    >>> free_refusal("I'm sorry, but the documents don't say when it closed.").verdict
    'refusal'
    >>> free_refusal("De tekst vermeldt geen prijs, maar de toegang is op zondag gratis.").verdict
    'undetermined'
    >>> free_refusal("The museum does not charge admission.")
    Verdict(verdict='answer', reason='no words that refuse', evidence=())
    """
    if not has_cue(text):
        return NO_CUE
    skipped = max(0, len(text) - HEAD_CHARS - TAIL_CHARS)
    excerpt = text[:HEAD_CHARS] + "\n" + text[-TAIL_CHARS:] if skipped else text
    folded = fold_text(excerpt)
    best = NO_CUE
    for rules in _rules_for(folded.text, language):
        verdict = _Answer(folded, rules, skipped, question).verdict()
        if verdict.verdict == "refusal":
            best = verdict
            break
        if verdict.verdict == "undetermined" or best is NO_CUE:
            best = verdict

    def place(at: int) -> int:
        at = folded.places[at] if folded.places is not None and at < len(folded.places) else at
        return at + skipped - 1 if skipped and at > HEAD_CHARS else at

    places = [(place(one.start), place(one.end - 1) + 1) for one in best.evidence]
    evidence = tuple(Evidence(text[start:end], start, end) for start, end in places)
    return structs.replace(best, evidence=evidence)


def _rules_for(text: str, language: Language | None) -> Iterator[Rules]:
    """The rules of the languages that the text has cues of; of all, if it ends with a question."""
    asks, padded = text.rstrip(" \n\"')]").endswith("?"), f" {text} ".replace("\n", " ")
    # Chinese rules would match Japanese words that are written with the same characters.
    other: Language = "zh" if _KANA.search(text) else "ja"
    for name in [each for each in cues() if each != other] if language is None else (language,):
        if asks or contains_any(padded, cues()[name]):
            yield rules_of(name)


Found = tuple[str, re.Match[str]]
"""The reason why words count, and their place."""


class _Sentence(Struct, frozen=True):
    start: int
    end: int
    found: Found | None


class _Answer:
    """An answer under the rules of one language; places are those in the folded text."""

    def __init__(self, folded: Folded, rules: Rules, skipped: int, question: str | None) -> None:
        self._text, self._rules = folded.text, rules
        self._skipped, self._question = skipped, question

    def verdict(self) -> Verdict:
        rules, text = self._rules, self._text
        core = plain(text)
        cores: tuple[str, ...] = ()
        if len(core) <= MAX_BARE_CHARS:  # complete, and without an opening "sorry" or "well"
            cores = core, core[self._skip_lead(core, 0, len(core)) :]
        alone = next((one for one in cores if rules.complete_answer.fullmatch(one)), None)
        if alone is not None:
            at, core = text.find(alone), alone
            return Verdict("refusal", "nothing but a refusal", (Evidence("", at, at + len(core)),))
        spans = list(self._spans())
        sentences = [_Sentence(*span, self._find_refusal(*span)) for span in spans]
        if any(one.found for one in sentences):
            return self._weigh(sentences)
        if len(text) <= MAX_HINT_CHARS:
            hinted = [_Sentence(*span, self._first(rules.may_refuse, *span)) for span in spans]
            if any(one.found for one in hinted):
                evidence, reasons = _evidence(hinted)
                claims = zip(self._claimed_words(hinted), hinted, strict=True)
                if sum(words for words, one in claims if not one.found) < MIN_CLAIM_WORDS:
                    return Verdict("undetermined", reasons, evidence)
                return Verdict("answer", f"{reasons}: noted in an answer", evidence)
        if spans and rules.asks_back.search(text, *spans[-1]):
            evidence = (Evidence("", *spans[-1]),)
            # From "there are several" on, it lists what could be meant.
            listed = (at for at, span in enumerate(spans) if rules.several.match(text, *span))
            if sum(self._claimed_words(sentences)[: next(listed, None)]) < MIN_CLAIM_WORDS:
                return Verdict("refusal", ASKS_BACK, evidence)
            return Verdict("undetermined", f"{ASKS_BACK}: but it claims something, too", evidence)
        return Verdict("answer", "no words that refuse")

    def _weigh(self, sentences: Sequence[_Sentence]) -> Verdict:
        evidence, reasons = _evidence(sentences)
        words = self._claimed_words(sentences)
        first = next(at for at, one in enumerate(sentences) if one.found)
        before, claimed = sum(words[:first]), sum(words) + self._skipped // LETTERS_PER_WORD
        if "the documents" in reasons and self._question is not None:
            asked = fold_text(self._question).text
            if self._rules.about_documents.search(asked):
                why = f"{reasons}: but the question asks just that"
                return Verdict("undetermined", why, evidence)
        if claimed < MIN_CLAIM_WORDS:
            return Verdict("refusal", reasons, evidence)
        if before >= MIN_WORDS_BEFORE or (before and claimed >= MIN_WORDS_AROUND):
            return Verdict("answer", f"{reasons}: a gap that a longer answer notes", evidence)
        return Verdict("undetermined", f"{reasons}: but it claims something beside", evidence)

    def _spans(self) -> Iterator[tuple[int, int]]:
        """The sentences, roughly, each from its first word with content.

        An abbreviation may end a sentence too early, which does not affect the rules. Splitting
        correctly (`text/sentences.py`) takes about twenty times as long.
        """
        text, start = self._text, 0
        for mark in _SENTENCE_END.finditer(text):
            end = mark.start() + 1
            if _LETTERS.search(text, start, end):
                yield self._skip_lead(text, start, end), end
                start = mark.end()
        if _LETTERS.search(text, start):
            yield self._skip_lead(text, start, len(text)), len(text)

    def _skip_lead(self, text: str, start: int, end: int) -> int:
        """Where a sentence begins after its marks and its opening words without content."""
        while start < end and not text[start].isalnum():
            start += 1
        for _ in range(3):
            match = self._rules.lead.match(text, start, end)
            if match is None or match.end() == start:
                break
            start = match.end()
        return start

    def _find_refusal(self, start: int, end: int) -> Found | None:
        """The words that refuse; after "based on the documents", "is not known" refuses too."""
        preface = self._rules.preface.match(self._text, start, end)
        if preface is None:
            return self._first(self._rules.refuses, start, end)
        start = preface.end()
        found = self._first(self._rules.refuses, start, end)
        return found or self._first(self._rules.may_refuse, start, end)

    def _first(self, rules: Sequence[Rule], start: int, end: int) -> Found | None:
        """The match of the first rule that finds words in a sentence."""
        sentence = f" {self._text[start:end]} "
        if not contains_any(sentence, self._rules.cues):
            return None
        for rule in rules:
            match = rule.search(self._text, start, end, sentence)
            if match:
                return rule.why, match
        return None

    def _claimed_words(self, sentences: Sequence[_Sentence]) -> list[int]:
        """The number of words in each sentence that claim something.

        The items of a list belong to the words that introduce it.
        """
        text, claims, led = self._text, [], False
        for start, end, found in ((one.start, one.end, one.found) for one in sentences):
            if led and _LIST_MARK.search(text, max(0, start - 6), start):
                claims.append(0)
                continue
            led = found is not None and text[:end].rstrip().endswith(":")
            if found is not None:
                match = found[1]
                before = self._words_claimed_before(start, match.start())
                claims.append(before + self._words_claimed_after(match.end(), end))
            elif self._is_aside(start, end) or self._rules.asks_back.search(text, start, end):
                claims.append(0)
            else:
                claims.append(self._word_count(start, end))
        return claims

    def _words_claimed_before(self, start: int, end: int) -> int:
        """The words claimed before those that refuse: after "while", or before "but"."""
        rules, text = self._rules, self._text
        if rules.yes_or_no.match(text, start, end):
            return MIN_CLAIM_WORDS
        if self._is_aside(start, end):
            return 0
        turned = list(rules.contrast.finditer(text, start, end))
        if turned and self._word_count(turned[-1].end(), end) <= 2:
            return self._word_count(start, turned[-1].start())
        if rules.concession.match(text, start, end) and "," in text[start:end]:
            return self._word_count(start, end) - 1
        return 0

    def _words_claimed_after(self, start: int, end: int) -> int:
        """The words claimed after those that refuse, if the sentence turns to something else."""
        turned = self._rules.contrast.search(self._text, start, end)
        if turned is None:
            return 0
        start = self._skip_lead(self._text, turned.end(), end)
        if self._is_aside(start, end) or self._find_refusal(start, end):
            return 0
        return self._word_count(start, end)

    def _is_aside(self, start: int, end: int) -> bool:
        return self._rules.aside.match(self._text, start, end) is not None

    def _word_count(self, start: int, end: int) -> int:
        """The number of words; in Chinese and Japanese, two characters count as one."""
        text = self._text[start:end]
        return len(_WORDS.findall(text)) + len(_CHINESE.findall(text)) // 2


def _evidence(sentences: Sequence[_Sentence]) -> tuple[tuple[Evidence, ...], str]:
    """The words that were found, and the reasons why they count, each reason once."""
    known = [one.found for one in sentences if one.found is not None]
    places = tuple(Evidence("", match.start(), match.end()) for _, match in known)
    return places, "; ".join(dict.fromkeys(why for why, _ in known))
