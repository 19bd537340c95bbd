"""Gold sets as judgements and traces as runs: `eval retrieval` takes what `score` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ragauge.citations.joining import cited_id
from ragauge.contracts.gold import Gold, GoldSet, stratum_text
from ragauge.contracts.report import Finding
from ragauge.contracts.trace import Trace
from ragauge.ingest.fields import Shape, quoted, squeezed
from ragauge.ingest.gold import GOLD, GoldRecords
from ragauge.ingest.ranked.ranking_rows import RankingRows, RowsRead
from ragauge.ingest.ranked.rankings import DOCUMENT, add_documents, place_and_line
from ragauge.ingest.records import Source
from ragauge.ingest.traces import TRACE, blocks_of, first_records, full_trace, traces_of
from ragauge.runners.observations import Gathered, Observing
from ragauge.text.canonical import composed

CITATIONS = GOLD.by_name["gold_citations"]
GRADED = ("judgements", "qrels", "relevance")
"""Where a gold question may keep the grades of its documents."""
_OF_GOLD = {"answerable", "gold_citations", "gold_claim", "gold_claim_substr", "gold_answer"}
_OF_TRACES = {"retrieved_ids", "answer", "answer_json", "status", "error", "latency_ms"}
_OF_RANKINGS = {*DOCUMENT, "results", "docs"}
"""Keys of records that are judgements or results already."""
UNANSWERABLE = "unanswerable_question"


def holds_gold(source: Source) -> bool:
    """Whether the beginning of a source shows questions of a gold set, by their ids."""
    known = _fields_shown(source, GOLD)
    return isinstance(source, GoldSet) or any("qid" in one and one & _OF_GOLD for one in known)


def holds_traces(source: Source) -> bool:
    """Whether the beginning of a source shows traces."""
    known = _fields_shown(source, TRACE)
    return any(one & {"qid", "q"} and one & _OF_TRACES for one in known)


def _fields_shown(source: Source, shape: Shape) -> Iterator[set[str]]:
    """The fields that each of the first records has, unless it is a row of judgements or a run."""
    for record in first_records(source):
        keys = tuple(map(str, record))
        if _OF_RANKINGS.isdisjoint(map(squeezed, keys)):
            yield {field.name for field, _ in shape.reads(keys)}


class _Graded(GoldRecords):
    """Gold questions, whose citations may have grades: these are kept in place of the ids."""

    def within(self, place: str, value: Any) -> Iterable[tuple[str, Any]]:
        for where, record in super().within(place, value):
            graded = {
                key: held
                for key in (CITATIONS.names if isinstance(record, Mapping) else ())
                if isinstance(held := record.get(key), Mapping)
                or (isinstance(held, list) and any(isinstance(one, Mapping) for one in held))
            }
            kept = dict.fromkeys(GRADED[:1], next(iter(graded.values()), None))
            yield where, {**kept, **record, **dict.fromkeys(graded)} if graded else record


def gold_rows(gold: Source, problems: list[str]) -> tuple[RankingRows, GoldSet]:
    """The judgements of a gold set, and its questions; faults go into the list.

    A gold citation has the grade 1, unless the question keeps grades. An unanswerable question has
    nothing to find: it is left out, and a finding says so.
    """
    placed: list[tuple[str, Gold]]
    name = "gold"
    if isinstance(gold, GoldSet):
        placed = [(f"gold: item {number}", one) for number, one in enumerate(gold, 1)]
        questions = gold
    else:
        records = _Graded(gold, GOLD, problems)
        # A set that judges retrieval alone need not say it; where there are answers, they do.
        rows = records.once("qid")
        placed = [(row.place, records.question(row, answerable=True)) for row in rows]
        questions, name = records.gold_set(one for _, one in placed), records.name
    read, template = RowsRead("qrels"), "{name}:{line}"
    for where, question in placed:
        template, line = place_and_line(name, where)
        qid = question.qid
        if not question.answerable:
            fact = f"{quoted(qid)}: is unanswerable: there is nothing to find; it is left out"
            read.findings.add(Finding(UNANSWERABLE, where, fact))
            continue
        texts = {key: stratum_text(value) for key, value in question.strata.items()}
        read.strata[qid] = {key: text for key, text in texts.items() if text is not None}
        grades = (question.extra.get(key) for key in GRADED)
        graded = next((one for one in grades if isinstance(one, Mapping | list)), None)
        documents = list(question.gold_citations) if graded is None else graded
        add_documents(read, qid, documents, line, where, problems, CITATIONS.name)
    for finding in questions.findings:
        read.findings.add(finding)
    return read.rows(name, template), questions


def trace_rows(traces: Source, gold: Sequence[Gold], problems: list[str]) -> RankingRows:
    """What traces say was retrieved, best first; faults go into the list.

    With a gold set, traces belong to its questions as in `score`. Of several traces of a question
    the first that says what was retrieved is its ranking, and a finding says so.
    """
    read, noted, name = RowsRead("run"), Gathered(), traces_of(traces)[0].name
    observed = Observing(gold, full_trace).with_places(blocks_of(traces), noted)
    again: dict[str, list[str]] = {}
    silent: dict[str, str] = {}
    for where, trace, place in observed:
        question = None if place is None or not gold else gold[place]
        query = question.qid if question else trace.qid or trace.q or ""
        if question and not question.answerable:
            continue
        if trace.retrieved_ids is None:
            silent.setdefault(query, where)
        elif query in again:
            again[query].append(where)
        else:
            again[query] = []
            results, agree = _results(trace)
            if not agree:
                fact = f"{quoted(query)}: rank and score disagree; the order of the trace decides"
                read.findings.add(Finding("rank_score_disagree", where, fact))
            line = int(where.rpartition(":")[2])
            add_documents(read, query, results, line, where, problems, "retrieved_ids")
    for query, places in again.items():
        if places:
            fact = f"{quoted(query)}: {len(places) + 1:,} traces; the first is its ranking"
            read.findings.add(Finding("repeated_query", places[0], fact))
    for query, where in silent.items():
        if query not in again:
            fact = f"{quoted(query)}: no trace says what was retrieved; it counts as missing"
            read.findings.add(Finding("nothing_told", where, fact))
    bad = [one for one in noted.findings.kept() if one.code == "bad_line"]
    problems += [f"{one.where}: {one.message}" for one in bad]
    more = noted.findings.counts.get("bad_line", 0) - len(bad)
    problems += [f"{name}: a line cannot be read"] * more
    return read.rows(name)


def _results(trace: Trace) -> tuple[list[Any], bool]:
    """The retrieved ids in their order, and whether the scores of their chunks agree with it.

    Only scores that fall from one to the next are given along: the order is what `score` goes by.
    """
    chunks = {cited_id(chunk): chunk for chunk in trace.retrieved or ()}
    ids = trace.retrieved_ids or ()
    scores = [chunks[id].get("score") if id in chunks else None for id in ids]
    known: list[Any] = [one for one in scores if type(one) in (int, float)]
    agree = all(one >= after for one, after in pairwise(known))
    falling = len(known) == len(ids) and all(one > after for one, after in pairwise(known))
    given = scores if falling else [None] * len(ids)
    return [{"id": composed(id), "score": one} for id, one in zip(ids, given, strict=True)], agree
