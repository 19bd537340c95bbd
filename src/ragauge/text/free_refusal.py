"""Refusals in free words: "the documents do not say", in the seven languages of `text/refusals`.

First the words are looked for, sentence by sentence, by the rules of the language; then what else
the answer claims. Words that refuse and nothing else are a refusal; with a claim next to them it
stays undetermined, and a long answer that notes one gap is an answer. A question which of several
things was meant refuses too: it answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct, structs

from ragauge.text.refusals.cues import cued
from ragauge.text.refusals.folding import Folded, folded, plain
from ragauge.text.refusals.languages import CUES, SHEETS, Language, rules_of
from ragauge.text.refusals.rules import Rule, Rules, holds
from ragauge.text.refusals.spans import past, spans

Judgement = Literal["refusal", "answer", "undetermined"]

HEAD, TAIL = 1_500, 500
"""What is looked at of a long answer, in characters: who refuses does it first or last."""
WHOLE, HINTS = 80, 400
"""How long an answer can be that is nothing but "unknown"; and one that is nothing but "its date
is not known", which may be a refusal and may be the right answer."""
LETTERS_A_WORD = 6
SHORT_OF_A_CLAIM = 3
"""Words that are too few to claim anything."""
ANSWERED_BEFORE = 25
"""Words of claims before the first refusing ones, from which on these are a note to an answer."""
ANSWERED_ROUND = 60
"""Words of claims round them, where some stand before, that make them such a note, too."""

_LIST_MARK = re.compile(r"(?:^|\n)\s*(?:[-*•–+]|\d{1,2}[.)])?\s+$")


class Evidence(Struct, frozen=True):
    """Words of the answer, and where they stand in it."""

    text: str
    start: int
    end: int


class Verdict(Struct, frozen=True):
    """Whether an answer refuses, why it is thought so, and the words that say it."""

    verdict: Judgement
    reason: str
    evidence: tuple[Evidence, ...] = ()


ASKS = "asks what was meant"
NO_CUE = Verdict("answer", "no word of a refusal")


def free_refusal(
    text: str, language: Language | None = None, question: str | None = None
) -> Verdict:
    """Whether an answer says in its own words that it does not answer.

    Without a language, the words themselves show which rules apply. The question matters only
    where it is about what the documents say: "they do not mention it" answers it.

    >>> free_refusal("I'm sorry, but the documents don't say when it closed.").verdict
    'refusal'
    >>> free_refusal("De tekst vermeldt geen prijs, maar de toegang is op zondag gratis.").verdict
    'undetermined'
    >>> free_refusal("The museum does not charge admission.")
    Verdict(verdict='answer', reason='no words that refuse', evidence=())
    """
    if not cued(text):
        return NO_CUE
    if len(text) > HEAD + TAIL:
        seen, skipped = text[:HEAD] + "\n" + text[-TAIL:], len(text) - HEAD - TAIL
    else:
        seen, skipped = text, 0
    said = folded(seen)
    best = NO_CUE
    for rules in _rules_for(said.text, language):
        verdict = _Answer(said, rules, skipped, question).verdict()
        if verdict.verdict == "refusal":
            best = verdict
            break
        if verdict.verdict == "undetermined" or best is NO_CUE:
            best = verdict
    return _placed(best, text, said, skipped)


def _rules_for(text: str, language: Language | None) -> Iterator[Rules]:
    """The rules of the languages that the text has cues of, or asks a question in at its end."""
    asks, padded = text.rstrip(" \n\"')]").endswith("?"), f" {text} ".replace("\n", " ")
    # Chinese rules would read Japanese words that are written with the same characters.
    other: Language = "zh" if _KANA.search(text) else "ja"
    for name in [each for each in SHEETS if each != other] if language is None else (language,):
        if asks or holds(padded, CUES[name]):
            yield rules_of(name)


_KANA = re.compile("[\u3040-\u30ff]")


Found = tuple[str, re.Match[str]]
"""Why words count, and where they stand."""


class _Sentence(Struct, frozen=True):
    start: int
    end: int
    found: Found | None


class _Answer:
    """An answer under the rules of one language."""

    def __init__(self, said: Folded, rules: Rules, skipped: int, question: str | None) -> None:
        self._text, self._rules, self._skipped, self._question = said.text, rules, skipped, question

    def verdict(self) -> Verdict:
        core = next((one for one in self._cores() if self._rules.whole.fullmatch(one)), None)
        if core is not None:
            at = self._text.find(core)
            return Verdict("refusal", "nothing but a refusal", (Evidence("", at, at + len(core)),))
        parts = list(spans(self._text, self._rules.lead))
        sentences = [_Sentence(*span, self._refusing(*span)) for span in parts]
        if any(one.found for one in sentences):
            return self._refused(sentences)
        if len(self._text) <= HINTS:
            hinted = [
                _Sentence(*span, self._first(self._rules.may_refuse, *span)) for span in parts
            ]
            if any(one.found for one in hinted):
                return self._hinted(hinted)
        if parts and self._asks_back(*parts[-1]):
            evidence = (Evidence("", *parts[-1]),)
            # From "there are several" on, it lists what could be meant.
            listed = (at for at, one in enumerate(parts) if self._lists(*one))
            if sum(self._claims(sentences)[: next(listed, None)]) < SHORT_OF_A_CLAIM:
                return Verdict("refusal", ASKS, evidence)
            return Verdict("undetermined", f"{ASKS}: but it claims something, too", evidence)
        return Verdict("answer", "no words that refuse")

    def _cores(self) -> Iterator[str]:
        """A short answer, and what it says after "sorry" or "well"."""
        core = plain(self._text)
        if len(core) <= WHOLE:
            yield core
            yield core[past(self._rules.lead, core, 0, len(core)) :]

    def _refusing(self, start: int, end: int) -> Found | None:
        """Words that refuse. What is not known "based on the documents" is not told by them."""
        preface = self._rules.preface.match(self._text, start, end)
        if preface is None:
            return self._first(self._rules.refuses, start, end)
        start = preface.end()
        found = self._first(self._rules.refuses, start, end)
        return found or self._first(self._rules.may_refuse, start, end)

    def _first(self, rules: Sequence[Rule], start: int, end: int) -> Found | None:
        """The first words of a sentence that a rule finds."""
        sentence = f" {self._text[start:end]} "
        if not holds(sentence, self._rules.cues):
            return None
        for rule in rules:
            match = rule.found(self._text, start, end, sentence)
            if match:
                return rule.why, match
        return None

    def _refused(self, sentences: Sequence[_Sentence]) -> Verdict:
        evidence, reasons = _evidence(sentences)
        words = self._claims(sentences)
        first = next(at for at, one in enumerate(sentences) if one.found)
        before, claimed = sum(words[:first]), sum(words) + self._skipped // LETTERS_A_WORD
        if "the documents" in reasons and self._asks_of_documents():
            why = f"{reasons}: but the question asks just that"
            return Verdict("undetermined", why, evidence)
        if claimed < SHORT_OF_A_CLAIM:
            return Verdict("refusal", reasons, evidence)
        if before >= ANSWERED_BEFORE or (before and claimed >= ANSWERED_ROUND):
            return Verdict("answer", f"{reasons}: a gap that a longer answer notes", evidence)
        return Verdict("undetermined", f"{reasons}: but it claims something beside", evidence)

    def _hinted(self, sentences: Sequence[_Sentence]) -> Verdict:
        evidence, reasons = _evidence(sentences)
        claims = zip(self._claims(sentences), sentences, strict=True)
        if sum(words for words, one in claims if not one.found) < SHORT_OF_A_CLAIM:
            return Verdict("undetermined", reasons, evidence)
        return Verdict("answer", f"{reasons}: noted in an answer", evidence)

    def _asks_of_documents(self) -> bool:
        if self._question is None:
            return False
        return self._rules.about_documents.search(folded(self._question).text) is not None

    def _claims(self, sentences: Sequence[_Sentence]) -> list[int]:
        """How many words each sentence claims something with.

        The points of a list belong to the words that lead to it.
        """
        claims, led = [], False
        for one in sentences:
            if led and _LIST_MARK.search(self._text, max(0, one.start - 6), one.start):
                claims.append(0)
                continue
            led = one.found is not None and self._text[: one.end].rstrip().endswith(":")
            claims.append(self._claimed(one))
        return claims

    def _claimed(self, one: _Sentence) -> int:
        if one.found is not None:
            match = one.found[1]
            before = self._claimed_before(one.start, match.start())
            return before + self._claimed_after(match.end(), one.end)
        empty = self._is_aside(one.start, one.end) or self._asks_back(one.start, one.end)
        return 0 if empty else self._words(one.start, one.end)

    def _claimed_before(self, start: int, end: int) -> int:
        """Words claimed before those that refuse: granted with "while", or turned from by "but"."""
        rules, text = self._rules, self._text
        if rules.yes_or_no.match(text, start, end):
            return SHORT_OF_A_CLAIM
        if self._is_aside(start, end):
            return 0
        turned = list(rules.contrast.finditer(text, start, end))
        if turned and self._words(turned[-1].end(), end) <= 2:
            return self._words(start, turned[-1].start())
        if rules.concession.match(text, start, end) and "," in text[start:end]:
            return self._words(start, end) - 1
        return 0

    def _claimed_after(self, start: int, end: int) -> int:
        """Words claimed after those that refuse, where the sentence turns to something else."""
        turned = self._rules.contrast.search(self._text, start, end)
        if turned is None:
            return 0
        start = past(self._rules.lead, self._text, turned.end(), end)
        if self._is_aside(start, end) or self._refusing(start, end):
            return 0
        return self._words(start, end)

    def _asks_back(self, start: int, end: int) -> bool:
        """Whether the sentence asks what was meant."""
        return self._rules.asks_back.search(self._text, start, end) is not None

    def _lists(self, start: int, end: int) -> bool:
        return self._rules.several.match(self._text, start, end) is not None

    def _is_aside(self, start: int, end: int) -> bool:
        return self._rules.aside.match(self._text, start, end) is not None

    def _words(self, start: int, end: int) -> int:
        """How many words are there; of Chinese and Japanese, two characters count as one."""
        text = self._text[start:end]
        return len(_WORD.findall(text)) + len(_CHINESE.findall(text)) // 2


_WORD = re.compile(r"[^\W\d_\u3040-\u30ff\u4e00-\u9fff][\w'-]*|\d+")
_CHINESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def _evidence(sentences: Sequence[_Sentence]) -> tuple[tuple[Evidence, ...], str]:
    """The words that were found, and why they count, each reason once."""
    known = [one.found for one in sentences if one.found is not None]
    places = tuple(Evidence("", match.start(), match.end()) for _, match in known)
    return places, "; ".join(dict.fromkeys(why for why, _ in known))


def _placed(verdict: Verdict, text: str, said: Folded, skipped: int) -> Verdict:
    """The verdict with the words as the answer wrote them, at their places in it."""

    def place(at: int) -> int:
        at = said.places[at] if said.places is not None and at < len(said.places) else at
        return at + skipped - 1 if skipped and at > HEAD else at

    def written(one: Evidence) -> Evidence:
        start = place(one.start)
        end = place(one.end - 1) + 1
        return Evidence(text[start:end], start, end)

    evidence = tuple(map(written, verdict.evidence))
    return structs.replace(verdict, evidence=evidence)
