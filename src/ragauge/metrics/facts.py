"""Facts of a trace, parsed, normalised and compared with gold once for every metric."""

from __future__ import annotations

import re
import zlib

from msgspec import Struct, structs

from ragauge.contracts.gold import (
    DEFAULT_STRENGTH,
    DEFAULT_TOKENS,
    LOCKED,
    REFUSING,
    Gold,
    Refusal,
    Strength,
    constraint_lock,
)
from ragauge.contracts.metric import Facts, Pattern, pattern_facts, pattern_of
from ragauge.contracts.options import Canon
from ragauge.contracts.run import ORIGINAL, RunFacts, Variation
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.refusals.predicate import (
    RefusalTokens,
    has_cue,
    refusal_in,
    refusal_in_free_words,
    refusal_tokens,
)
from ragauge.text.canonical import CANONS, Phrases, composed, phrases
from ragauge.text.citations import inline_markers, take_apart

EMPTY_ANSWER = "the answer is empty"
NOT_OK = 'the trace says "ok": false'


class Reading(Struct, frozen=True):
    """How answers are read, which is part of every score's signature."""

    canon: Canon = "unicode"
    refusal: Strength = DEFAULT_STRENGTH
    refusal_tokens: tuple[str, ...] = DEFAULT_TOKENS
    inline: bool = False
    """Read markers such as [1] or [p1#2] inside the text as citations."""

    def signature(self) -> str:
        parts = [f"canon:{self.canon}", f"refusal:{self.refusal}"]
        if self.refusal_tokens != DEFAULT_TOKENS:
            parts.append("tokens:" + "/".join(self.refusal_tokens))
        return "|".join([*parts, "inline"] if self.inline else parts)


class Key(Struct, frozen=True):
    """A gold question prepared for comparison."""

    gold: Gold
    phrases: Phrases | None
    ids: frozenset[str]


Parsed = tuple[Pattern, str, tuple[str, ...]]
"""A pattern, the claim, and the cited ids."""


class Reader:
    """Turns traces into facts, under one reading."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._tokens: RefusalTokens = refusal_tokens(tuple(map(composed, reading.refusal_tokens)))
        self._empty_refuses = "" in self._tokens.folded
        self._inline = reading.inline
        self._refusals = REFUSING[reading.refusal]

    def key(self, gold: Gold) -> Key:
        texts = tuple(map(composed, gold.phrases))
        prepared = phrases(texts, self.reading.canon) if texts else None
        return Key(gold, prepared, frozenset(map(composed, gold.gold_citations)))

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
        pattern, claim, cited = self.read(key, trace)
        bare = pattern_facts(pattern)
        return structs.replace(bare, gold=key.gold, trace=trace, claim=claim, cited=cited)

    def read(self, key: Key, trace: Trace) -> Parsed:
        """The facts as a bare pattern, the claim and the cited ids, which most metrics need."""
        structured = trace.answer_json
        if structured is not None and not structured.claim:
            structured = None
        text = trace.answer if structured is None else structured.claim
        if trace.status == "error" or trace.error:
            return self._error_facts(key)
        if not text or text.isspace():
            if not self._empty_refuses or not answer_given(trace):
                return self._error_facts(key)
            return self._compare(key, trace, "", (), "exact")
        if not text.isascii():
            text = composed(text)
        refusal = refusal_in(text, self._tokens)
        claim, cited = text, trace.citations
        if structured is not None and structured.citations is not None:
            cited = structured.citations
        if refusal == "none" and (structured is None or cited is None):
            answer = take_apart(text)
            claim, cited = answer.claim, answer.citations if cited is None else cited
            refusal = self._refusal_in_claim(claim, text, cited)
        if self._inline and refusal == "none":
            cited = (*(cited or ()), *inline_markers(claim, trace.retrieved_ids or ()))
        if refusal == "none" and has_cue(claim):
            refusal = refusal_in_free_words(claim, key.gold.question)
        if trace.ok is False and refusal not in self._refusals:
            return self._error_facts(key)
        return self._compare(key, trace, claim, cited or (), refusal)

    def _error_facts(self, key: Key) -> Parsed:
        constrained = bool(key.gold.constraints)
        facts = Facts(key.gold.answerable, "error", citable=bool(key.ids), constrained=constrained)
        return pattern_of(facts), "", ()

    def _refusal_in_claim(self, claim: str, text: str, cited: tuple[str, ...] | None) -> Refusal:
        """`near` for a refusal inside a claim field with an empty citation list, else `none`."""
        if cited or len(claim) == len(text):
            return "none"
        return "none" if refusal_in(claim, self._tokens) == "none" else "near"

    def _compare(
        self,
        key: Key,
        trace: Trace,
        claim: str,
        cited: tuple[str, ...],
        refusal: Refusal,
    ) -> Parsed:
        """The facts of an answer or a refusal, compared with gold."""
        answered = refusal not in self._refusals
        if cited:
            if not "".join(cited).isascii():
                cited = tuple(map(composed, cited))
            if len(cited) > 1:
                cited = tuple(dict.fromkeys(cited))
        ids, constraints, retrieved = key.ids, key.gold.constraints, trace.retrieved_ids
        hit = contained = in_scope = found = depth = echoed = None
        if answered:
            if constraints:
                echoed = echoes(constraints, trace)
            if ids:
                hit = not ids.isdisjoint(cited)
            if key.phrases:
                contained = key.phrases.found_in(claim)
        if retrieved is not None:
            if not "".join(retrieved).isascii():
                retrieved = tuple(map(composed, retrieved))
            if answered:
                in_scope = 0
                for id in cited:
                    if id in retrieved:
                        in_scope += 1
            if ids:
                # How many of the first retrieved ids contain all gold ids; 0 if they never do.
                found, depth = not ids.isdisjoint(retrieved), 0
                for id in ids if found else ():
                    if id not in retrieved:
                        depth = 0
                        break
                    place = retrieved.index(id) + 1
                    if place > depth:
                        depth = place
        pattern = (
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
            bool(constraints),
            echoed,
        )
        return pattern, claim, cited


def answer_given(trace: Trace) -> bool:
    """Whether the trace has an answer, even an empty one; null is not an answer."""
    structured = trace.answer_json
    return trace.answer is not None or (structured is not None and structured.claim is not None)


def missing_facts(gold: Gold) -> Facts:
    """The facts of a question without a trace."""
    return Facts(
        gold.answerable,
        "missing",
        citable=bool(gold.gold_citations),
        constrained=bool(gold.constraints),
        gold=gold,
    )


def echoes(constraints: tuple[str, ...], trace: Trace) -> bool:
    """Whether a trace repeats exactly these constraints, in any order, surrounding spaces aside.

    If the trace has a lock, it must be that of the constraints, in their order or the echo's.

    >>> locked = ("X rejects null keys.", "Y is optional.")
    >>> echoes(locked, Trace(constraints_echo=("Y is optional.", "X rejects null keys. ")))
    True
    >>> echoes(locked, Trace(constraints_echo=locked, constraint_lock="0123456789abcdef"))
    False
    """
    fields = trace.answer_json or StructuredAnswer()
    echo = trace.constraints_echo if fields.constraints_echo is None else fields.constraints_echo
    if echo is None or sorted(map(str.strip, echo)) != sorted(map(str.strip, constraints)):
        return False
    lock = fields.constraint_lock or trace.constraint_lock
    other = (trace.extra or {}).get("lock")
    if lock is None and isinstance(other, str) and len(other) == LOCKED:
        lock = other
    return lock is None or lock in (constraint_lock(constraints), constraint_lock(echo))


def error_reason(trace: Trace) -> str:
    """Why a trace is an error record."""
    failed = trace.status == "error" or trace.ok is False
    own = trace.error or (trace.reason if failed else None)
    return own or (NOT_OK if trace.ok is False else EMPTY_ANSWER)


_RUN_ID = re.compile(
    r"#seed=(?P<seed>-?\d+);t=(?P<t>[-+.\de]+);j=(?P<j>[^;]*);p=(?P<p>\d+)(?:;r=(?P<r>\d+))?\Z",
    re.ASCII,
)


NAMED = 1_000_000
"""Numbers of named paraphrases begin here."""


def run_facts(reader: Reader, key: Key, trace: Trace, variation: Variation) -> RunFacts | None:
    """The run's facts; None if it has neither an answer nor a refusal."""
    facts = reader.facts(key, trace)
    if facts.answered is None:
        return None
    return RunFacts(
        variation,
        refused=not facts.answered,
        claim_right=facts.answered and bool(facts.contained),
        citations_right=(
            bool(facts.hit) and facts.in_scope is not False if facts.citable else not facts.cited
        ),
        echoed=facts.echoed,
        claim=CANONS[reader.reading.canon](facts.claim) if facts.answered else "",
        cited=frozenset(facts.cited),
        said=facts.claim if facts.answered else "",
        refusal=facts.refusal,
        retrieved=trace.retrieved_ids,
    )


def variation_of(trace: Trace) -> Variation:
    """The variation of a trace, from its fields, or from its run id if it has none of them.

    >>> variation_of(Trace(run_id="q#7#seed=3;t=0.2;j=ws;p=1"))
    Variation(paraphrase=1, jitter='ws', temperature=0.2, seed=3, repeat=0)
    """
    found = _RUN_ID.search(trace.run_id or "")
    if found and trace.seed is None and trace.jitter is None:
        return Variation(
            int(found["p"]), found["j"], float(found["t"]), int(found["seed"]), int(found["r"] or 0)
        )
    return Variation(
        _paraphrase_number(trace.paraphrase),
        trace.jitter or "none",
        trace.temperature or 0.0,
        trace.seed or 0,
        trace.repeat or 0,
    )


def _paraphrase_number(paraphrase: int | str | None) -> int:
    """The number of a paraphrase; a name, as other tools write it, gets a number by its hash."""
    if paraphrase is None:
        return ORIGINAL
    if isinstance(paraphrase, int):
        return paraphrase
    if paraphrase.isascii() and paraphrase.isdigit():
        return int(paraphrase)
    return NAMED + zlib.crc32(paraphrase.encode()) % NAMED
