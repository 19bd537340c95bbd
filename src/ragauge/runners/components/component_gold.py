"""What a model is evaluated with: heritage entries, and judged queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.finding import Finding, Findings
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import BadRecord, expected, quoted
from ragauge.ingest.heritage import entry_of, is_entry
from ragauge.ingest.lines import read_whole
from ragauge.ingest.ranked.queries import Query, QuerySource, read_queries
from ragauge.ingest.ranked.rankings import read_rankings
from ragauge.ingest.records import no_table, records_of
from ragauge.runners.components.component_runs import EntryRecord
from ragauge.runners.components.options import EvalOptions, refuse_bad

if TYPE_CHECKING:
    from ragauge.ingest.ranked.rankings import Given as Judgements

Entries = str | Path | Sequence[Mapping[str, Any]]


class ComponentGold(Struct, frozen=True, kw_only=True):
    """What the tasks are measured with."""

    entries: Sequence[EntryRecord]
    queries: Sequence[Query]
    """Those that were judged, in the order of the judgements."""
    judgements: Sequence[dict[str, Any]] | None
    failure: str | None
    """Why there are no judgements, though some were given."""


def gold_of(
    source: Entries,
    queries: QuerySource | None,
    qrels: Judgements | None,
    chosen: EvalOptions,
    findings: Findings,
) -> ComponentGold:
    """The entries, queries and judgements; raises InputRejected with what is wrong with entries.

    What is wrong with queries or judgements is retrieval's failure alone.
    """
    problems: list[str] = []
    entries = _entries(source, problems)
    refuse_bad(problems, len(entries), chosen)
    _note_bad(problems, findings)
    if not entries:
        raise InputRejected("the gold holds no heritage entry; nothing can be evaluated")
    if (qrels is None) != (queries is None):
        lacking = "queries" if queries is None else "qrels"
        raise UsageError(f"retrieval needs qrels and queries; give --{lacking} too")
    if qrels is None or queries is None:
        return ComponentGold(entries=entries, queries=(), judgements=None, failure=None)
    faults: list[str] = []
    try:
        asked_of, judgements = _judged(qrels, queries, faults, findings)
        refuse_bad(faults, len(judgements), chosen)
        _note_bad(faults, findings)
    except InputRejected as error:
        return ComponentGold(entries=entries, queries=(), judgements=None, failure=str(error))
    return ComponentGold(entries=entries, queries=asked_of, judgements=judgements, failure=None)


def _entries(source: Entries, problems: list[str]) -> list[EntryRecord]:
    if isinstance(source, str | Path):
        placed = records_of(str(source), read_whole(str(source)), problems, no_table)
    else:
        placed = ((f"gold: item {number}", one) for number, one in enumerate(source, 1))
    found: dict[str, EntryRecord] = {}
    for place, record in placed:
        plain = dict(record) if isinstance(record, Mapping) else record
        if not is_entry(plain):
            problems.append(f"{place}: record: {expected('a heritage entry', plain)}")
            continue
        try:
            entry = entry_of(plain)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        if entry.id in found:
            problems.append(f"{place}: id: {quoted(entry.id)} stands there already; keep one")
        found.setdefault(entry.id, EntryRecord(plain, entry))
    return list(found.values())


def _note_bad(problems: Sequence[str], findings: Findings) -> None:
    """Say what was left out because the user accepts so much of it."""
    for problem in problems:
        where, _, fact = problem.partition(": ")
        findings.add(Finding("bad_record", where, fact))


def _judged(
    qrels: Judgements, source: QuerySource, problems: list[str], findings: Findings
) -> tuple[list[Query], list[dict[str, Any]]]:
    """The queries that were judged and can be asked, and the judgements with their strata."""
    known = read_queries(source, problems)
    rows = read_rankings(qrels, "qrels", problems).frame
    judgements = [
        {"query": query, "document": document, "grade": grade, "strata": strata.strata}
        if (strata := known.get(query)) is not None
        else {"query": query, "document": document, "grade": grade}
        for query, document, grade in rows.select("query", "document", "value").iter_rows()
    ]
    judged = list(dict.fromkeys(row["query"] for row in judgements))
    for query in judged:
        if query not in known:
            fact = f"{quoted(query)} was judged, but nothing tells what it asks; it counts as empty"
            findings.add(Finding("unknown_query", query, fact))
    return [known[query] for query in judged if query in known], judgements
