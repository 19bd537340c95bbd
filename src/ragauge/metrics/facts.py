"""Facts of a trace: parsed, made canonical and compared with the gold once, for every metric."""

from __future__ import annotations

import unicodedata
from typing import Literal

from msgspec import Struct

from ragauge.contracts.facts import Facts, Refusal
from ragauge.contracts.gold import Gold
from ragauge.contracts.trace import Trace
from ragauge.text.canonical import Canon, Phrases, phrases
from ragauge.text.citations import inline_markers, take_apart, unique
from ragauge.text.refusal import DEFAULT_TOKEN, Tokens, refusal_in, tokens

Strength = Literal["exact", "near"]

EMPTY_ANSWER = "the answer is empty"


class Reading(Struct, frozen=True):
    """How answers are read: part of every number's signature."""

    canon: Canon = "unicode"
    refusal: Strength = "exact"
    refusal_tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    inline: bool = False
    """Read markers such as [1] or [p1#2] inside the text as citations."""

    def signature(self) -> str:
        parts = [f"canon:{self.canon}", f"refusal:{self.refusal}"]
        if self.refusal_tokens != (DEFAULT_TOKEN,):
            parts.append("tokens:" + "/".join(self.refusal_tokens))
        return "|".join([*parts, "inline"] if self.inline else parts)


class Key(Struct, frozen=True):
    """A gold question made ready for comparison."""

    gold: Gold
    phrases: Phrases | None
    ids: frozenset[str]


class Reader:
    """Turns traces into facts, under one reading."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._tokens: Tokens = tokens(tuple(map(_composed, reading.refusal_tokens)))
        self._refusals = ("exact", "near") if reading.refusal == "near" else ("exact",)

    def key(self, gold: Gold) -> Key:
        texts = tuple(map(_composed, gold.phrases))
        made = phrases(texts, self.reading.canon) if texts else None
        return Key(gold, made, frozenset(map(_composed, gold.gold_citations)))

    def missing(self, key: Key) -> Facts:
        """The facts of a question nobody answered."""
        return Facts(key.gold.answerable, "missing", citable=bool(key.ids), gold=key.gold)

    def facts(self, key: Key, trace: Trace) -> Facts:
        """What the trace says about the question.

        >>> gold = Gold(qid="q1", question="What is X?", answerable=True,
        ...             gold_claim_substr=("constrained mapping",), gold_citations=("p1#1",))
        >>> reader = Reader(Reading())
        >>> answer = "- claim: X is a constrained mapping.\\n- citations: [p1#1]"
        >>> found = reader.facts(reader.key(gold), Trace(qid="q1", answer=answer))
        >>> found.answered, found.hit, found.contained, found.in_scope
        (True, True, True, None)
        """
        if trace.status == "error" or trace.error:
            return self._failed(key, trace)
        structured = trace.answer_json
        text = trace.answer if structured is None else structured.claim
        if not text or text.isspace():
            return self._failed(key, trace)
        if not text.isascii():
            text = _composed(text)
        refusal = refusal_in(text, self._tokens)
        if structured is None:
            claim, cited = text, trace.citations
            if refusal == "none":
                answer = take_apart(text)
                claim, cited = answer.claim, answer.citations if cited is None else cited
                refusal = self._refusal_in_claim(claim, text, cited)
        else:
            claim = text
            cited = trace.citations if structured.citations is None else structured.citations
        if self.reading.inline and refusal == "none":
            cited = unique([*(cited or ()), *inline_markers(claim, trace.retrieved_ids or ())])
        return self._compared(key, trace, claim, cited or (), refusal)

    def _refusal_in_claim(self, claim: str, text: str, cited: tuple[str, ...] | None) -> Refusal:
        """A refusal inside a claim field, beside an empty citation list, is a near one."""
        if cited or len(claim) == len(text):
            return "none"
        return "none" if refusal_in(claim, self._tokens) == "none" else "near"

    def _compared(
        self, key: Key, trace: Trace, claim: str, cited: tuple[str, ...], refusal: Refusal
    ) -> Facts:
        """The facts of an answer or a refusal, beside the gold."""
        answered = refusal not in self._refusals
        composed = _composed_ids(cited)
        cited = cited if composed is cited else unique(composed)
        retrieved = None if trace.retrieved_ids is None else _composed_ids(trace.retrieved_ids)
        ids = key.ids
        hit = contained = in_scope = found = depth = None
        if answered:
            if ids:
                hit = not ids.isdisjoint(cited)
            if key.phrases:
                contained = key.phrases.found_in(claim)
            if retrieved is not None:
                in_scope = sum([id in retrieved for id in cited])
        if retrieved is not None and ids:
            found = not ids.isdisjoint(retrieved)
            depth = _depth(ids, retrieved) if found else 0
        # By position, in the order of PATTERN: this runs once a trace.
        return Facts(
            key.gold.answerable,
            "ok",
            refusal,
            answered,
            len(cited),
            in_scope,
            hit,
            contained,
            found,
            depth,
            bool(ids),
            key.gold,
            trace,
            claim,
            cited,
        )

    def _failed(self, key: Key, trace: Trace) -> Facts:
        """The facts of an error record: neither an answer nor a refusal."""
        gold = key.gold
        return Facts(gold.answerable, "error", citable=bool(key.ids), gold=gold, trace=trace)


def error_reason(trace: Trace) -> str:
    """Why a trace is an error record."""
    return trace.error or (trace.reason if trace.status == "error" else None) or EMPTY_ANSWER


def _composed(text: str) -> str:
    """The text in NFC: an accent may be written as its own character, and means the same."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _composed_ids(ids: tuple[str, ...]) -> tuple[str, ...]:
    return ids if "".join(ids).isascii() else tuple(map(_composed, ids))


def _depth(ids: frozenset[str], retrieved: tuple[str, ...]) -> int:
    """How many of the first retrieved ids hold all the gold ids; 0 when they never do."""
    deepest = 0
    for id in ids:
        if id not in retrieved:
            return 0
        place = retrieved.index(id) + 1
        if place > deepest:
            deepest = place
    return deepest
