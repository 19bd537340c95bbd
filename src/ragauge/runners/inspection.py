"""What a file holds: its form, its kind of record, which column feeds which field, and what can
be computed from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ragauge.contracts.inspection import (
    ColumnSeen,
    InspectionCoverage,
    InspectionReport,
    Lacking,
)
from ragauge.contracts.report import Finding, Findings, Score
from ragauge.errors import InputRejected, RagaugeError, UsageError
from ragauge.ingest.answers import ANSWER
from ragauge.ingest.fields import Columns, Shape, did_you_mean
from ragauge.ingest.gold import GOLD
from ragauge.ingest.kinds import SHAPES
from ragauge.ingest.records import Records, Row, Source
from ragauge.ingest.traces import TRACE
from ragauge.metrics.table import reading
from ragauge.runners.answers.evaluate_answers import evaluate_answers
from ragauge.runners.score_traces import score_traces
from ragauge.text.visible import one_line

RECOGNISED_BY = 100
"""Records that show what kind they are."""
MEASURED = 200
"""Records on which it is tried what can be computed."""
SAMPLES = 3
SHOWN = 60
"""Characters of a value in a sample."""
PROBLEMS = 20
NOTHING = "nothing to score: "
NEEDED: dict[str, tuple[str, ...]] = {
    "gold_citations": ("precision_cited", "citation_hit_rate", "chr_shipped", "gold_retrieved@5"),
    "gold_claim_substr": ("claim_containment", "precision_strict"),
    "constraints": ("constraints_echoed",),
}
"""Fields of gold that metrics of a score need, any of the fields for reference wordings counting
as the phrases."""
UNKNOWN = Shape(name="record", fields=(), keeps=True, others=lambda key: True)
"""What is none of the kinds: its columns are shown all the same."""
WORDINGS = ("gold_claim_substr", "gold_claim", "gold_answer")


def inspect(
    source: Source, *, columns: Columns | None = None, kind: str | None = None
) -> InspectionReport:
    """What a source holds; `kind` says what its records are, where that is known.

    Raises InputRejected where it cannot be read at all, or holds nothing.
    """
    meant = [shape for shape in SHAPES if kind in (shape.name, shape.name.partition(" ")[0])]
    if kind is not None and not meant:
        raise UsageError(f"--as {kind}: {did_you_mean(kind, [shape.name for shape in SHAPES])}")
    fitting = meant[:1] or recognised(source, columns)
    shape = fitting[0] if fitting else UNKNOWN
    problems: list[str] = []
    known = {name: path for name, path in (columns or {}).items() if name in shape.by_name}
    records = Records(source, shape, problems, columns=known)
    filled: Counter[str] = Counter()
    feeds: dict[str, str] = {}
    samples: list[dict[str, str]] = []
    first: list[dict[str, Any]] = []
    for row in records.rows():
        filled.update(key for key, value in row.record.items() if value not in (None, "", [], {}))
        feeds.update({written: field for field, written in row.written.items()})
        if len(samples) < SAMPLES:
            samples.append(_sample(row, shape))
        if len(first) < MEASURED:
            first.append(row.record)
    if not records.seen:
        raise InputRejected(*problems or [f"{records.name}: holds no record"])
    keys = dict.fromkeys(key for keys in records.keys for key in keys)
    unread = records.unread() if fitting else {key: _meant(key) for key in keys}
    findings = Findings()
    if fitting:
        records.note_unread(findings)
    for problem in problems[:PROBLEMS]:
        findings.add(Finding("unreadable_record", records.name, problem))
    values, lacking = _metrics(shape, first, known, filled, feeds)
    return InspectionReport(
        file=records.name,
        form=records.read_as,
        kind=shape.name if fitting else None,
        others=tuple(one.name for one in fitting[1:]),
        columns=tuple(
            ColumnSeen(name=key, filled=filled[key], feeds=_fed(feeds, key), meant=unread.get(key))
            for key in keys
        ),
        samples=tuple(samples),
        computable=tuple(values),
        lacking=tuple(lacking),
        findings=tuple(findings.kept()),
        finding_counts=dict(sorted(findings.counts.items())),
        coverage=InspectionCoverage(
            rows=records.seen, unreadable=len(records.unreadable), unread_columns=tuple(unread)
        ),
    )


def recognised(source: Source, columns: Columns | None = None) -> list[Shape]:
    """The kinds that the first records of a source can be, the best first; none for all others.

    The best reads the most of their columns, and misses no field that it needs.
    """
    found = []
    for place, shape in enumerate(SHAPES):
        known = {name: path for name, path in (columns or {}).items() if name in shape.by_name}
        problems: list[str] = []
        records = Records(source, shape, problems, columns=known)
        try:
            rows = list(islice(records.rows(), RECOGNISED_BY))
        except RagaugeError:
            continue
        fed = {field for row in rows for field in row.values}
        read = {path.partition(".")[0] for row in rows for path in row.written.values()}
        if len(fed) > 1 and shape.needed <= fed:
            found.append((-len(read), place, shape))
    return [shape for *_, shape in sorted(found, key=lambda one: one[:2])]


def _meant(key: str) -> str | None:
    """The field of a kind of record that a column may be meant for."""
    return next((near for shape in SHAPES if (near := shape.near(key))), None)


def _fed(feeds: Mapping[str, str], key: str) -> str | None:
    """The field that a column feeds, itself or by something inside it."""
    inside = (field for path, field in feeds.items() if path.startswith((f"{key}.", f"{key}[")))
    return feeds.get(key) or next(inside, None)


def _sample(row: Row, shape: Shape) -> dict[str, str]:
    values = row.values if shape.fields else row.record
    return {
        name: one_line(
            value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode(),
            SHOWN,
        )
        for name, value in values.items()
    }


def _metrics(
    shape: Shape,
    first: Sequence[Mapping[str, Any]],
    columns: Columns,
    filled: Mapping[str, int],
    feeds: Mapping[str, str],
) -> tuple[list[str], list[Lacking]]:
    """What can be computed on the first records, and what is missing for the rest."""
    there = {field for key, field in feeds.items() if filled[key.partition(".")[0]]}
    if shape is GOLD:
        lacking = [
            Lacking(metric=f"quality.{name}", needs=f"{field} in the gold set")
            for field, names in NEEDED.items()
            if field not in there and not (field in WORDINGS and there & {*WORDINGS})
            for name in names
        ]
        absent = {one.metric for one in lacking}
        return [id for id in reading("facts") if id not in absent], lacking
    scores: Mapping[str, Score] = {}
    try:
        if shape is TRACE:
            scores = score_traces(first, columns=columns, max_bad="100%").report.metrics
        elif shape is ANSWER:
            report = evaluate_answers(
                first, columns=columns, max_bad="100%", intervals=False
            ).report
            scores = report.metrics
    except RagaugeError as error:
        return [], [Lacking(metric="all", needs=error.problems[0])]
    values = [id for id, score in scores.items() if score.value is not None]
    lacking = [
        Lacking(
            metric=id, needs=(score.reason or "nothing to compute it from").removeprefix(NOTHING)
        )
        for id, score in scores.items()
        if score.value is None
    ]
    if shape is TRACE:
        lacking += [
            Lacking(metric=id, needs="a gold set: ragauge score GOLD TRACES")
            for id in reading("facts")
            if id not in scores
        ]
    return values, lacking
