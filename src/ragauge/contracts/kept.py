"""What a run keeps for its readers: the answers themselves, the documents they cite, a summary."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.trace import Trace

ANSWERS, DOCUMENTS, SUMMARY = "answers.jsonl.zst", "documents.jsonl.zst", "summary.json"
"""Files of a run. The first two are packed by key: `zstd -d` reads them, and one key can be read
alone: the answers to a question by its unit id, a frozen document by `document_key`. The summary
is the report with its long lists cut to what a page shows."""


class KeptAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer as the system gave it, with what the run found in it."""

    trace: Trace
    where: str | None = None
    """Its file and line."""
    cell: str | None = None
    """Of a sweep: how it ended, one of the letters of CELLS."""
    code: str | None = None
    """Of an audit: the worst that was found, or `ok`."""
    findings: tuple[CitationFinding, ...] = ()

    @property
    def references(self) -> tuple[str, ...]:
        """The reference answers that came with the answer, as evaluations of answers keep them."""
        given = self.trace.extra.get("references")
        several = given if isinstance(given, list | tuple) else (given,)
        return tuple(one for one in several if isinstance(one, str) and one.strip())


Spent = dict[str, float]
"""What an answer took, by the names in SPENT, as far as its trace says."""
SPENT = ("latency_ms", "tokens", "cost")
_TOKENS: tuple[tuple[str, ...], ...] = (
    ("total_tokens",),
    ("prompt_tokens", "completion_tokens"),
    ("input_tokens", "output_tokens"),
)
_COSTS = ("cost", "total_cost", "cost_usd")


class SpentOver(Struct, frozen=True, kw_only=True):
    """What the units of a run took: half of those that say so at most `p50`, all but 5 % `p95`."""

    n: int
    p50: float
    p95: float
    total: float


class _Trace(Struct):
    latency_ms: Any = None
    usage: Any = None
    extra: Any = None


class _Line(Struct):
    trace: _Trace


_line = msgspec.json.Decoder(_Line)


def spent_by(line: bytes) -> Spent:
    """What the answer in a line of ANSWERS took; all but this is skipped.

    >>> spent_by(b'{"trace": {"latency_ms": 812, "usage": {"input_tokens": 900, "cost": 0.01}}}')
    {'latency_ms': 812.0, 'tokens': 900.0, 'cost': 0.01}
    """
    return spent(_line.decode(line).trace)


def spent(trace: Trace | _Trace) -> Spent:
    usage = trace.usage if isinstance(trace.usage, dict) else {}
    extra = trace.extra if isinstance(trace.extra, dict) else {}
    tokens = (_summed(usage, names) for names in _TOKENS)
    costs = (_number(given.get(name)) for given in (usage, extra) for name in _COSTS)
    found = {
        "latency_ms": _number(trace.latency_ms),
        "tokens": next((one for one in tokens if one is not None), None),
        "cost": next((one for one in costs if one is not None), None),
    }
    return {name: value for name, value in found.items() if value is not None}


def _summed(usage: dict[str, Any], names: tuple[str, ...]) -> float | None:
    known = [one for name in names if (one := _number(usage.get(name))) is not None]
    return sum(known) if known else None


def _number(given: Any) -> float | None:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return float(given) if is_number and 0 <= given < math.inf else None


def document_key(doc_id: str, rev: str) -> str:
    """What a document is found by."""
    return f"{doc_id}\n{rev}"
