"""What a run came to: its trace read beside the gold question, ready for stability."""

from __future__ import annotations

import re
import zlib

from ragauge.contracts.facts import Facts
from ragauge.contracts.run import ORIGINAL, RunFacts, Variation
from ragauge.contracts.trace import Trace
from ragauge.metrics.facts import Key, Reader
from ragauge.text.canonical import CANONS

_RUN_ID = re.compile(
    r"#seed=(?P<seed>-?\d+);t=(?P<t>[-+.\de]+);j=(?P<j>[^;]*);p=(?P<p>\d+)(?:;r=(?P<r>\d+))?\Z",
    re.ASCII,
)


NAMED = 1_000_000
"""Numbers of paraphrases that have a name begin here."""


def run_facts(reader: Reader, key: Key, trace: Trace, variation: Variation) -> RunFacts | None:
    """The run's facts, or None where it brought neither an answer nor a refusal."""
    facts = reader.facts(key, trace)
    if facts.answered is None:
        return None
    return RunFacts(
        variation,
        refused=not facts.answered,
        claim_right=facts.answered and bool(facts.contained),
        citations_right=_citations_right(facts),
        echoed=facts.echoed,
        claim=CANONS[reader.reading.canon](facts.claim) if facts.answered else "",
        cited=frozenset(facts.cited),
        said=facts.claim if facts.answered else "",
        refusal=facts.refusal,
        retrieved=trace.retrieved_ids,
    )


def variation_of(trace: Trace) -> Variation:
    """What a trace varied, by its own fields, or by its run id where it has none of them.

    >>> variation_of(Trace(run_id="q#7#seed=3;t=0.2;j=ws;p=1"))
    Variation(paraphrase=1, jitter='ws', temperature=0.2, seed=3, repeat=0)
    """
    told = _RUN_ID.search(trace.run_id or "")
    if told and trace.seed is None and trace.jitter is None:
        return Variation(
            int(told["p"]), told["j"], float(told["t"]), int(told["seed"]), int(told["r"] or 0)
        )
    return Variation(
        _number(trace.paraphrase),
        trace.jitter or "none",
        trace.temperature or 0.0,
        trace.seed or 0,
        trace.repeat or 0,
    )


def _citations_right(facts: Facts) -> bool:
    if not facts.citable:
        return not facts.cited
    return bool(facts.hit) and facts.in_scope is not False


def _number(paraphrase: int | str | None) -> int:
    """A paraphrase by its number; a name, as other tools write, gets one that depends on it."""
    if paraphrase is None:
        return ORIGINAL
    if isinstance(paraphrase, int):
        return paraphrase
    if paraphrase.isascii() and paraphrase.isdigit():
        return int(paraphrase)
    return NAMED + zlib.crc32(paraphrase.encode()) % NAMED
