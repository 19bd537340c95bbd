"""A first score from traces alone: what can be said of answers without a gold set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct

from ragauge.contracts.gold import Gold, RefusalOptions
from ragauge.contracts.metric import Absent, Facts, Metric, Row
from ragauge.contracts.opt import takes
from ragauge.contracts.options import MIN_COVERAGE, AnswerOptions
from ragauge.contracts.report import ROWS_KEPT, Findings, Outcome, Rule
from ragauge.contracts.trace import Trace
from ragauge.contracts.trace_score import (
    Latency,
    TraceCoverage,
    TraceScored,
    TraceScoreReport,
)
from ragauge.gates.rules import parse_rules, user_rule
from ragauge.ingest.answers import Answered, Rejected, read_answers
from ragauge.ingest.fields import Columns, allowed_bad
from ragauge.ingest.records import Source
from ragauge.ingest.traces import blocks_of, decoded, read_trace, traces_of
from ragauge.metrics.facts import Reader, Reading
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find
from ragauge.runners.answers.gathering import Asking, gathered_facts
from ragauge.runners.evaluation import Evaluation, by_columns, identity_of
from ragauge.runners.observations import Gathered, Observing
from ragauge.stats.trend import percentile

OF_TRACES = ("quality.errors", "quality.compliance", "quality.in_scope")
"""What the facts of a trace say without a gold question."""
OF_ANSWERS = (
    *("answers.groundedness", "answers.grounded", "answers.number_agreement"),
    *("answers.date_agreement", "answers.citation_precision", "answers.citation_recall"),
)
"""What an answer says together with its contexts."""
WORST = ("answers.groundedness", "quality.in_scope", "answers.number_agreement")
"""What traces are ordered by, the lowest first."""
NOT_CITING = Absent("no trace cites anything")
NO_GOLD = Gold(qid="", question="", answerable=True)
"""Stands for the question of each trace: no metric here looks at what gold says."""
NOT_IN_THE_NUMBERS = ("workers", "gates", "min_coverage")


class TraceScoreOptions(RefusalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to score traces without a gold set."""

    gates: str | tuple[Rule, ...] | None = None
    inline: bool = False
    workers: Annotated[int, Meta(ge=1)] = 1
    max_bad: str = "0"
    min_coverage: Annotated[float, Meta(ge=0, le=1)] = MIN_COVERAGE


class _Seen(Struct, frozen=True):
    """One trace, and its record for those who measure its answer."""

    trace: Trace
    record: Mapping[str, Any]

    @property
    def qid(self) -> str | None:
        return self.trace.qid

    @property
    def q(self) -> str | None:
        return self.trace.q

    @property
    def extra(self) -> dict[str, Any]:
        return self.trace.extra


def _decoded(line: bytes) -> _Seen:
    record = decoded(line)
    return _Seen(read_trace(record), record)


@takes(TraceScoreOptions, "score")
def score_traces(
    traces: Source | Sequence[str | Path],
    *,
    columns: Columns | None = None,
    options: TraceScoreOptions,
) -> Outcome[TraceScoreReport]:
    """The outcome of scoring traces without a gold set; every trace is a unit of its own.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    options = options.settled()
    given = options.gates or ()
    if isinstance(given, str):
        rules = parse_rules(given, _metric)
    else:
        rules = tuple(user_rule(rule, _metric) for rule in given)
    sources = traces_of(traces, columns)
    noted = Gathered()
    observing = Observing([], _decoded)
    placed = [(where, one) for where, one, _ in observing.with_places(blocks_of(sources), noted)]
    noted.refuse_bad(allowed_bad(options.max_bad))
    if not placed:
        noted.refuse_nothing(sources, "traces")
    seen, findings = [one for _, one in placed], noted.findings
    reader = Reader(Reading("unicode", options.strength, options.tokens, options.inline))
    key = reader.key(NO_GOLD)
    facts = [reader.facts(key, one.trace) for one in seen]
    of_rows = Findings()
    answered = read_answers([one.record for one in seen], [], of_rows, joined=True)
    for finding in of_rows.kept():
        if finding.code != "unread_columns":  # that is said of the traces themselves
            findings.add(finding)
    metrics = {id: find(id) for id in (*OF_TRACES, *OF_ANSWERS)}
    rows = {**_of_traces(facts, metrics), **_of_answers(answered, metrics, options, findings)}
    units = [one.unit if isinstance(one, Rejected) else one.id for one in answered.every()]
    sums = {id: Sums.of(metric, rows[id]) for id, metric in metrics.items()}
    evaluation = Evaluation(
        ids=units,
        sums=sums,
        rules=rules,
        slicing=by_columns({}),
        signature=reader.reading.signature(),
        min_coverage=options.min_coverage,
    )
    values = {id: one.values() for id, one in sums.items()}
    refusals = Counter(one.refusal for one in facts if one.refusal != "none")
    times = sorted(t.latency_ms for one in seen if (t := one.trace).latency_ms is not None)
    report = evaluation.report(
        TraceScoreReport,
        findings,
        identity_of("score traces", options, metrics.values(), (), without=NOT_IN_THE_NUMBERS),
        refusals=dict(sorted(refusals.items())),
        latency=_latency(times),
        traces=tuple(_worst(placed, facts, units, rows, values)),
        coverage=TraceCoverage(
            traces=len(seen),
            answered=sum(bool(one.answered) for one in facts),
            refused=sum(one.answered is False for one in facts),
            errors=sum(one.status == "error" for one in facts),
            with_contexts=sum(bool(row.contexts) for row in answered.rows),
            with_citations=sum(one.cited_count > 0 for one in facts),
            rejected=noted.rejected,
            unread_columns=noted.unread(sources),
        ),
    )
    right = [None if one.answered is None else one.status != "error" for one in facts]
    return evaluation.outcome(report, right=right, labels=[one.status for one in facts])


def _metric(name: str) -> Metric:
    return find(name, "facts") if name in {id.partition(".")[2] for id in OF_TRACES} else find(name)


def _of_traces(
    facts: Sequence[Facts], metrics: Mapping[str, Metric]
) -> dict[str, list[Row | Absent]]:
    rows = {id: [metrics[id](one) for one in facts] for id in OF_TRACES}
    if not any(one.cited_count for one in facts):
        # A system that never cites did not promise to.
        rows["quality.compliance"] = [NOT_CITING] * len(facts)
    return rows


def _of_answers(
    answered: Answered,
    metrics: Mapping[str, Metric],
    options: TraceScoreOptions,
    findings: Findings,
) -> dict[str, list[Row | Absent]]:
    """What is measured of each answer; of one that could not be read, why not."""
    wanted = {id: metrics[id] for id in OF_ANSWERS}
    chosen = AnswerOptions(
        refusal=options.strength, refusal_tokens=options.tokens, workers=options.workers
    )
    found = gathered_facts(answered.rows, chosen, wanted, findings, Asking(), None).rows
    read = {id: iter(column) for id, column in found.items()}
    return {
        id: [
            Absent("; ".join(one.facts)) if isinstance(one, Rejected) else next(read[id])
            for one in answered.every()
        ]
        for id in wanted
    }


def _latency(times: Sequence[float]) -> Latency | None:
    p50, p95 = percentile(times, 50), percentile(times, 95)
    if p50 is None or p95 is None:
        return None
    return Latency(p50_ms=p50, p95_ms=p95, n=len(times))


def _worst(
    placed: Sequence[tuple[str, _Seen]],
    facts: Sequence[Facts],
    units: Sequence[str],
    rows: Mapping[str, Sequence[Row | Absent]],
    values: Mapping[str, Any],
) -> list[TraceScored]:
    """The traces as a report shows them, those with the lowest values first."""

    def rank(place: int) -> tuple[float, ...]:
        found = [float(values[id][place]) for id in WORST]
        return (*(2.0 if np.isnan(value) else value for value in found), place)

    shown = []
    for place in sorted(range(len(placed)), key=rank)[:ROWS_KEPT]:
        where, seen = placed[place]
        each = {id: float(column[place]) for id, column in values.items()}
        why = {id: column[place].reason for id, column in rows.items()}
        shown.append(
            TraceScored(
                id=units[place],
                where=where,
                question=seen.trace.q,
                answer=facts[place].claim or None,
                status=facts[place].status,
                refusal=facts[place].refusal,
                values={id: None if np.isnan(value) else value for id, value in each.items()},
                reasons={id: reason for id, reason in why.items() if reason},
            )
        )
    return shown
