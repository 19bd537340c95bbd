"""A heritage dataset held against its plan: what is there of what was wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.gold_parts import Demand, PlanReport
from ragauge.contracts.gold_report import Severity, judged
from ragauge.contracts.report import Finding, Findings, Score
from ragauge.ingest.heritage import ENTITY_TYPES, custodian_types
from ragauge.ingest.heritage_dataset import Dataset, read_dataset
from ragauge.runners.annotators import BOUND, KAPPA
from ragauge.runners.gold_agreement import agreement

HERITAGE = "heritage"
MENTIONS = 100
"""Of each entity type."""
TYPED = 50
"""Texts of each custodian type."""
MOST_UNBALANCED = 2
"""The commonest type has at most so many times the texts of the rarest."""
LINKS = 500
NIL_PERCENT = (10, 20)
"""About 15 % of the mentions are nowhere known."""
QUERIES = 200
JUDGEMENTS = 50
"""For each query."""
PAIRS = 300
SEVERITIES: dict[str, Severity] = {
    "missing_part": "error",
    "short_of_plan": "error",
    "misplaced_span": "error",
    "grade_out_of_range": "error",
    "broken_iob2": "warning",
    "judged_twice": "warning",
    "unknown_answer_type": "warning",
    "unknown_language": "warning",
    "unknown_type": "warning",
}
MISSING = "missing"


def hold_against_plan(path: Path, *, strict: bool = False) -> PlanReport:
    """What a folder, or a file of heritage entries, has of the heritage plan, line by line.

    A part that is not there is an error, as is one that is too small.
    """
    held, met = read_dataset(path)
    compared = agreement(held.annotators).report if len(held.annotators) > 1 else None
    demands = tuple(_demands(held, compared))
    found = Findings()
    for finding in met:
        found.add(finding)
    for demand in demands:
        if not demand.ok:
            found.add(_lacking(demand))
    return PlanReport(
        **judged(found, SEVERITIES, strict),
        metrics={KAPPA: _kappa(compared)} if compared else {},
        coverage={
            "gold": held.qa or 0,
            "demands": len(demands),
            "met": sum(demand.ok for demand in demands),
            "files": held.files,
        },
        plan=HERITAGE,
        demands=demands,
        metadata=held.metadata,
    )


def _lacking(demand: Demand) -> Finding:
    where = f"{demand.part}: {demand.what}"
    if demand.found == MISSING:
        return Finding("missing_part", where, f"missing; the plan wants {demand.wanted}")
    short = f"; {demand.short:,} short" if demand.short else ""
    return Finding("short_of_plan", where, f"{demand.found}, wanted {demand.wanted}{short}")


def _demands(held: Dataset, compared: AgreementReport | None) -> Iterator[Demand]:
    yield from _each_type("ner", "mentions of", ENTITY_TYPES, held.ner, MENTIONS)
    custodians = custodian_types(held.typing or ())
    yield from _each_type("typing", "texts of", custodians, held.typing, TYPED)
    yield _balance(held.typing, custodians)
    yield _at_least("linking", "mentions", held.linked, LINKS)
    yield _nil_share(held)
    yield _at_least(
        "retrieval", "queries", None if held.judged is None else len(held.judged), QUERIES
    )
    yield _judgements(held.judged)
    yield _at_least("qa", "questions", held.qa, PAIRS)
    yield from _metadata(held.metadata)
    yield _agreement(held, compared)


def _at_least(part: str, what: str, found: int | None, wanted: int) -> Demand:
    short = max(0, wanted - (found or 0))
    told = MISSING if found is None else f"{found:,}"
    return Demand(part=part, what=what, wanted=f"{wanted:,}", found=told, ok=not short, short=short)


def _each_type(
    part: str, of: str, types: tuple[str, ...], counts: Counter[str] | None, wanted: int
) -> Iterator[Demand]:
    for name in types:
        yield _at_least(part, f"{of} {name}", None if counts is None else counts[name], wanted)


def _balance(counts: Counter[str] | None, custodians: tuple[str, ...]) -> Demand:
    wanted = f"at most {MOST_UNBALANCED} to 1"
    if counts is None:
        return Demand(part="typing", what="balance", wanted=wanted, found=MISSING, ok=False)
    each = [counts[name] for name in custodians]
    most, least = max(each), min(each)
    found = f"{most / least:.2g} to 1" if least else f"{most} to 0"
    ok = most <= MOST_UNBALANCED * least
    return Demand(part="typing", what="balance", wanted=wanted, found=found, ok=ok)


def _nil_share(held: Dataset) -> Demand:
    low, high = NIL_PERCENT
    wanted = f"{low} to {high} %"
    if not held.linked:
        return Demand(part="linking", what="NIL", wanted=wanted, found=MISSING, ok=False)
    percent = 100 * held.nil / held.linked
    ok = low * held.linked <= 100 * held.nil <= high * held.linked
    return Demand(part="linking", what="NIL", wanted=wanted, found=f"{percent:.1f} %", ok=ok)


def _judgements(judged: Counter[str] | None) -> Demand:
    """Of the query with the fewest judgements; short by what all queries lack together."""
    wanted = f"{JUDGEMENTS} a query"
    if not judged:
        return Demand(
            part="retrieval", what="judgements", wanted=wanted, found=MISSING, ok=False, short=None
        )
    short = sum(max(0, JUDGEMENTS - count) for count in judged.values())
    return Demand(
        part="retrieval",
        what="judgements",
        wanted=wanted,
        found=f"{min(judged.values()):,} at least",
        ok=not short,
        short=short,
    )


def _metadata(metadata: dict[str, Any] | None) -> Iterator[Demand]:
    for name, wanted in METADATA.items():
        found, ok = MISSING, False
        if metadata is not None and metadata.get(name) is not None:
            found, ok = _told(metadata[name]), _fits(name, metadata[name])
        yield Demand(part="metadata", what=name, wanted=wanted, found=found, ok=ok)


def _told(value: Any) -> str:
    return ", ".join(map(str, value)) if type(value) is list else str(value)


def _fits(name: str, value: Any) -> bool:
    if METADATA[name] == LIST:
        return type(value) is list and bool(value) and all(type(one) is str for one in value)
    if type(value) is not str or not value.strip():
        return False
    return name != "created_date" or _is_date(value)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _kappa(compared: AgreementReport) -> Score:
    absent = Score(value=None, n=0, of=0, reason="the files hold spans, not labels")
    return compared.metrics.get(KAPPA, absent)


def _agreement(held: Dataset, compared: AgreementReport | None) -> Demand:
    wanted = f"κ > {BOUND}"
    found, ok = MISSING, False
    if compared is not None:
        found, ok = _judged_kappa(compared)
    elif held.annotators:
        found = "one annotator"
    return Demand(part="annotators", what="agreement", wanted=wanted, found=found, ok=ok)


def _judged_kappa(compared: AgreementReport) -> tuple[str, bool]:
    """κ in words, and whether its gate lets it pass: a mean over some pairs does not."""
    score = _kappa(compared)
    if score.value is None:
        return score.reason or "", False
    gate = next(gate for gate in compared.gates if gate.metric == KAPPA)
    beside = f"; {gate.reason}" if gate.reason else ""
    return f"κ {score.value:.3f}, n {score.n:,}{beside}", gate.verdict == "pass"


LIST = "a list of texts"
METADATA = {
    "name": "a text",
    "created_date": "a date, such as 2025-01-31",
    "languages": LIST,
    "domains": LIST,
}
