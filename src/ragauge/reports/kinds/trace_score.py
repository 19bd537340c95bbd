"""The report of `ragauge score` without a gold set, from traces alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragauge.contracts.trace_score import TraceScored, TraceScoreReport
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Document, names
from ragauge.reports.kinds.score import REFUSALS
from ragauge.reports.phrasing import count, pluralize

MISSING = (
    "Whether answers are correct, whether the right passages were found and cited, and whether "
    "refusals were due: for that, write a gold set and run `ragauge score GOLD TRACES`."
)


def document(report: TraceScoreReport) -> Document:
    return Document("score", list(_blocks(report)))


def table(report: TraceScoreReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each trace, with its values."""
    fields = ("id", "where", "question", "answer", "status", "refusal")
    ids = tuple(report.metrics)
    rows = (
        [*(getattr(one, field) for field in fields), *(one.values.get(id) for id in ids)]
        for one in report.traces
    )
    return (*fields, *ids), rows


def _blocks(report: TraceScoreReport) -> Iterator[Block]:
    shown = phrasing.metric_names(report)
    hint = phrasing.how_to_gate(report.passed, "--gates 'groundedness>=0.6,in_scope>=0.95'")
    scored = f"{pluralize(report.coverage.traces, 'trace')} looked at, without a gold set"
    text = doc.listed(phrasing.gate_counts(report), scored, sep="; ")
    word = phrasing.verdict_word(report.passed, report.gates)
    yield doc.Verdict(word, text, meaning=[hint] if hint else [])
    yield _answers(report)
    yield from doc.gates(report.gates, report.metrics, shown)
    yield from doc.other_scores(report, shown)
    low = [one for one in report.traces if _why(one)]
    if low:
        yield doc.table(
            low[:10],
            {
                "trace": lambda one: names(one.id),
                "groundedness": lambda one: doc.number(one.values["answers.groundedness"]),
                "in_scope": lambda one: doc.number(one.values["quality.in_scope"]),
                "why": lambda one: names(_why(one)),
            },
            title="Lowest first",
            total=len(low),
        )
    yield doc.Section(title="What a gold set would add", blocks=[doc.Text(MISSING)], part="advice")
    yield doc.findings(report)
    yield from doc.glossary(report.metrics, shown)
    covered, latency = report.coverage, report.latency
    took = latency and f"p50 {latency.p50_ms:,.0f} ms, p95 {latency.p95_ms:,.0f} ms"
    text = doc.listed(
        pluralize(covered.traces, "trace"),
        f"{count(covered.with_contexts)} with contexts",
        f"{count(covered.with_citations)} with citations",
        f"latency {took} ({pluralize(latency.n, 'trace')})" if latency else "",
        covered.rejected and pluralize(covered.rejected, "rejected line"),
    )
    yield doc.coverage(text, report.identity)


def _answers(report: TraceScoreReport) -> doc.Bars:
    """How many traces answered, refused and failed, and how the refusals were worded."""
    covered = report.coverage
    bars: list[tuple[str, str, int, doc.Tone]] = [
        ("ok", "answered", covered.answered, "good"),
        ("refusal_ok", "refused", covered.refused, "soft"),
        ("error", "error", covered.errors, "bad"),
    ]
    kinds = [f"{count(n)} {REFUSALS[kind]}" for kind, n in report.refusals.items()]
    return doc.Bars(
        title="Answers",
        heads=("outcome", "traces", "fraction"),
        bars=[bar for bar in bars if bar[2]],
        after=f"refusals: {', '.join(kinds)}" if kinds else "",
        part="labels",
    )


def _why(one: TraceScored) -> str:
    """The reasons of the metrics with a value below 1."""
    reasons = [
        reason
        for id, reason in one.reasons.items()
        if (value := one.values.get(id)) is not None and value < 1
    ]
    return "; ".join(dict.fromkeys(reasons)) or ("error" if one.status == "error" else "")
