"""A heritage dataset held against its plan: what is there of what was wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.gold_parts import Demand, PlanReport
from ragauge.contracts.gold_report import judged
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
LIST = "a list of texts"
METADATA = {
    "name": "a text",
    "created_date": "a date, such as 2025-01-31",
    "languages": LIST,
    "domains": LIST,
}
ERRORS = ("missing_part", "short_of_plan", "misplaced_span", "grade_out_of_range")
MISSING = "missing"


def hold_against_plan(path: Path, *, strict: bool = False) -> PlanReport:
    """What a folder, or a file of heritage entries, has of the heritage plan, line by line.

    A part that is not there is an error, as is one that is too small.
    """
    held = read_dataset(path)
    compared = agreement(held.annotators).report if len(held.annotators) > 1 else None
    demands = tuple(_demands(held, compared))
    found = Findings(held.findings)
    for demand in demands:
        where = f"{demand.part}: {demand.what}"
        if demand.found == MISSING:
            found.add(Finding("missing_part", where, f"missing; the plan wants {demand.wanted}"))
        elif not demand.ok:
            short = f"; {demand.short:,} short" if demand.short else ""
            message = f"{demand.found}, wanted {demand.wanted}{short}"
            found.add(Finding("short_of_plan", where, message))
    return PlanReport(
        **judged(
            found,
            ERRORS,
            {
                "gold": held.qa or 0,
                "demands": len(demands),
                "met": sum(demand.ok for demand in demands),
                "files": held.files,
            },
            strict=strict,
        ),
        metrics={KAPPA: _kappa(compared)} if compared else {},
        plan=HERITAGE,
        demands=demands,
        metadata=held.metadata,
    )


def _demands(held: Dataset, compared: AgreementReport | None) -> Iterator[Demand]:
    for name in ENTITY_TYPES:
        found = None if held.ner is None else held.ner[name]
        yield _at_least("ner", f"mentions of {name}", found, MENTIONS)
    custodians = custodian_types(held.typing or ())
    for name in custodians:
        found = None if held.typing is None else held.typing[name]
        yield _at_least("typing", f"texts of {name}", found, TYPED)
    told, ok = MISSING, False
    if held.typing is not None:
        each = [held.typing[name] for name in custodians]
        most, least = max(each), min(each)
        told = f"{most / least:.2g} to 1" if least else f"{most} to 0"
        ok = most <= MOST_UNBALANCED * least
    wanted = f"at most {MOST_UNBALANCED} to 1"
    yield Demand(part="typing", what="balance", wanted=wanted, found=told, ok=ok)
    yield _at_least("linking", "mentions", held.linked, LINKS)
    (low, high), told, ok = NIL_PERCENT, MISSING, False
    if held.linked:
        told = f"{100 * held.nil / held.linked:.1f} %"
        ok = low * held.linked <= 100 * held.nil <= high * held.linked
    wanted = f"{low} to {high} %"
    yield Demand(part="linking", what="NIL", wanted=wanted, found=told, ok=ok)
    queries = None if held.judged is None else len(held.judged)
    yield _at_least("retrieval", "queries", queries, QUERIES)
    # Of the query with the fewest judgements; short by what all queries lack together.
    counts = (held.judged or Counter()).values()
    short = sum(max(0, JUDGEMENTS - count) for count in counts) if counts else None
    yield Demand(
        part="retrieval",
        what="judgements",
        wanted=f"{JUDGEMENTS} a query",
        found=f"{min(counts):,} at least" if counts else MISSING,
        ok=short == 0,
        short=short,
    )
    yield _at_least("qa", "questions", held.qa, PAIRS)
    for name, wanted in METADATA.items():
        value = (held.metadata or {}).get(name)
        told = ", ".join(map(str, value)) if type(value) is list else str(value)
        yield Demand(
            part="metadata",
            what=name,
            wanted=wanted,
            found=MISSING if value is None else told,
            ok=_fits(name, value),
        )
    told, ok = "one annotator" if held.annotators else MISSING, False
    if compared is not None:
        kappa = _kappa(compared)
        told = kappa.reason or ""
        if kappa.value is not None:
            # A mean over some pairs has a value, and its gate does not let it pass.
            gate = next(gate for gate in compared.gates if gate.metric == KAPPA)
            beside = f"; {gate.reason}" if gate.reason else ""
            told = f"κ {kappa.value:.3f}, n {kappa.n:,}{beside}"
            ok = gate.verdict == "pass"
    yield Demand(part="annotators", what="agreement", wanted=f"κ > {BOUND}", found=told, ok=ok)


def _at_least(part: str, what: str, found: int | None, wanted: int) -> Demand:
    short = max(0, wanted - (found or 0))
    told = MISSING if found is None else f"{found:,}"
    return Demand(part=part, what=what, wanted=f"{wanted:,}", found=told, ok=not short, short=short)


def _fits(name: str, value: Any) -> bool:
    if METADATA[name] == LIST:
        return type(value) is list and bool(value) and all(type(one) is str for one in value)
    if type(value) is not str or not value.strip():
        return False
    if name == "created_date":
        try:
            date.fromisoformat(value[:10])
        except ValueError:
            return False
    return True


def _kappa(compared: AgreementReport) -> Score:
    absent = Score(value=None, n=0, of=0, reason="the files hold spans, not labels")
    return compared.metrics.get(KAPPA, absent)
