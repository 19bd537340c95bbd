"""An answer read as its run read it: is it one, a refusal or an error, and what does it claim."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ragauge.citations.offsets import OffsetReading
from ragauge.contracts.facts import Facts
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run
from ragauge.contracts.trace import Trace
from ragauge.dashboard.pages.question_citations import answer_text
from ragauge.metrics.facts import Reader as FactReader
from ragauge.metrics.facts import Reading, error_reason

Reader = FactReader


class ReadAnswer(Struct, frozen=True, kw_only=True):
    """What an answer is."""

    kind: str
    error: str
    claim: str
    contained: bool | None
    facts: Facts


def reader_of(run: Run) -> Reader:
    """A reader with the options that the run was made with; with the usual ones where it has none.

    What is not written in a run's identity did not matter to it.
    """
    options = run.record.configuration.get("options")
    given = options if isinstance(options, dict) else {}
    kept = {
        name: given[name]
        for name in Reading.__struct_fields__
        if name in given and given[name] is not None
    }
    try:
        return Reader(msgspec.convert(kept, Reading))
    except msgspec.ValidationError:
        return Reader(Reading())


def offset_reading(run: Run) -> OffsetReading:
    """What the run's offsets count: characters, unless its options say otherwise."""
    options = run.record.configuration.get("options")
    given: Any = options.get("offsets_in") if isinstance(options, dict) else None
    try:
        return msgspec.convert({"chars_in": given}, OffsetReading) if given else OffsetReading()
    except msgspec.ValidationError:
        return OffsetReading()


def read_answer(reader: Reader, gold: Gold | None, trace: Trace) -> ReadAnswer:
    """What the answer is; without a gold question nothing is sought in its claim."""
    asked = gold or Gold(qid="", question=trace.q or "", answerable=True)
    facts = reader.facts(reader.key(asked), trace)
    kind = "error" if facts.status == "error" else "answer" if facts.answered else "refusal"
    return ReadAnswer(
        kind=kind,
        error=error_reason(trace) if kind == "error" else "",
        claim=facts.claim or answer_text(trace),
        contained=facts.contained,
        facts=facts,
    )
