"""Records of tracing services, one span or call each, as spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.ingest.envelopes.attributes import decoded_text, items, kind_of, span_of, tree_of
from ragauge.ingest.envelopes.otlp import attributes_of, span_from
from ragauge.ingest.envelopes.payloads import (
    answer_in,
    decoded,
    documents_in,
    messages_in,
    question_in,
)
from ragauge.ingest.envelopes.spans import Span, labelled

if TYPE_CHECKING:
    from sqlite3 import Connection

Record = Mapping[str, Any]
FAILED = "the span has the status ERROR"


def milliseconds(value: Any) -> float | None:
    """A time as milliseconds since 1970: from ISO text, seconds, or milliseconds.

    >>> milliseconds("1970-01-01T00:00:01Z"), milliseconds(1_750_000_000), milliseconds(None)
    (1000.0, 1750000000000, None)
    """
    if isinstance(value, datetime):
        return value.timestamp() * 1000
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp() * 1000
        except ValueError:
            return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    for size in (1e17, 1e14, 1e11):  # nanoseconds, microseconds, milliseconds
        if value > size:
            return value / {1e17: 1e6, 1e14: 1e3, 1e11: 1.0}[size]
    return value * 1000


def phoenix(record: Record) -> Span:
    """A span of Phoenix, or of the console exporter of OpenTelemetry's SDK."""
    nested = tree_of(record) if "context.trace_id" in record else record
    context, status = nested.get("context") or {}, nested.get("status") or {}
    status = status if isinstance(status, Mapping) else {}
    attributes = dict(nested.get("attributes") or {})
    kind = nested.get("span_kind")
    if kind and "openinference" not in attributes:
        attributes["openinference.span.kind"] = kind
    failed = "ERROR" in str(nested.get("status_code") or status.get("status_code") or "")
    message = nested.get("status_message") or status.get("description")
    parent = nested.get("parent_id")
    return span_of(
        attributes,
        trace=_hex(context.get("trace_id")),
        id=_hex(context.get("span_id") or nested.get("span_id")),
        parent=_hex(parent) if parent else None,
        name=str(nested.get("name") or ""),
        start_ms=milliseconds(nested.get("start_time")),
        end_ms=milliseconds(nested.get("end_time")),
        error=str(message or FAILED) if failed else None,
        events=[
            (str(one.get("name") or ""), one.get("attributes") or {})
            for one in items(nested.get("events"))
            if isinstance(one, Mapping)
        ],
    )


def _hex(id: Any) -> str:
    return str(id or "").removeprefix("0x")


def mlflow(record: Record) -> list[Span]:
    """The spans of a trace of MLflow, with what people expected of it."""
    info, data = record.get("info") or {}, decoded(record.get("data")) or record
    spans = []
    for one in items(data.get("spans")):
        if "context" in one:  # as MLflow 2 wrote them
            context = one["context"]
            span = span_of(
                attributes_of(one.get("attributes")),
                trace=str(context.get("trace_id") or ""),
                id=str(context.get("span_id") or ""),
                parent=one.get("parent_id"),
                name=str(one.get("name") or ""),
                start_ms=milliseconds(one.get("start_time")),
                end_ms=milliseconds(one.get("end_time")),
                error="the span has the status ERROR"
                if "ERROR" in str(one.get("status_code"))
                else None,
            )
        else:
            span = span_from({"parentSpanId": one.get("parent_span_id"), **one})
        span.trace = str(info.get("trace_id") or info.get("request_id") or span.trace)
        spans.append(span)
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    expected = [
        one["expectation"].get("value")
        for one in items(info.get("assessments"))
        if isinstance(one.get("expectation"), Mapping)
    ]
    texts = [answer_in(one) for one in expected]
    for span in spans:
        span.conversation = span.conversation or metadata.get("mlflow.trace.session")
        span.reference = next((one.text for one in texts if one), None)
    return spans


def langsmith(record: Record) -> Span:
    """A run of LangSmith."""
    kind = kind_of(record.get("run_type"))
    inputs, outputs = decoded(record.get("inputs")), decoded(record.get("outputs"))
    extra = decoded(record.get("extra")) or {}
    metadata = extra.get("metadata") if isinstance(extra, Mapping) else None
    metadata = metadata if isinstance(metadata, Mapping) else {}
    return _span(
        record,
        kind,
        inputs,
        outputs,
        trace=str(record.get("trace_id") or record.get("id") or ""),
        id=str(record.get("id") or ""),
        parent=record.get("parent_run_id"),
        error=record.get("error"),
        usage={
            "input_tokens": record.get("prompt_tokens"),
            "output_tokens": record.get("completion_tokens"),
            "total_tokens": record.get("total_tokens"),
            "cost": record.get("total_cost"),
        },
        times=("start_time", "end_time"),
        conversation=metadata.get("session_id") or metadata.get("thread_id"),
        model=metadata.get("ls_model_name"),
    )


def langfuse(record: Record) -> list[Span]:
    """An observation of Langfuse; or a trace with the observations that it holds, if any."""
    if "traceId" in record or "trace_id" in record:
        return [_observation(record)]
    trace = str(record.get("id") or "")
    root = _span(
        record,
        "chain",
        decoded(record.get("input")),
        decoded(record.get("output")),
        trace=trace,
        id=trace,
        parent=None,
        error=None,
        usage={},
        times=("timestamp", "endTime"),
        conversation=record.get("sessionId"),
        model=None,
    )
    latency = record.get("latency")
    if isinstance(latency, int | float) and root.start_ms is not None:
        root.end_ms = root.start_ms + latency * 1000
    held = [one for one in items(record.get("observations")) if isinstance(one, Mapping)]
    spans = [root, *(_observation({"traceId": trace, **one}) for one in held)]
    if not any(one.usage for one in spans) and isinstance(record.get("totalCost"), int | float):
        root.usage = {"cost": record["totalCost"]}
    return spans


def _observation(record: Record) -> Span:
    trace = str(record.get("traceId") or record.get("trace_id") or "")
    parent = record.get("parentObservationId") or record.get("parent_observation_id")
    usage = decoded(record.get("usageDetails")) or decoded(record.get("usage")) or {}
    cost = decoded(record.get("costDetails")) or {}
    failed = record.get("level") == "ERROR"
    return _span(
        record,
        kind_of(record.get("type")),
        decoded(record.get("input")),
        decoded(record.get("output")),
        trace=trace,
        id=str(record.get("id") or ""),
        parent=str(parent or trace),  # the trace itself is the root
        error=str(record.get("statusMessage") or "an observation failed") if failed else None,
        usage={
            "input_tokens": usage.get("input"),
            "output_tokens": usage.get("output"),
            "total_tokens": usage.get("total"),
            "cost": cost.get("total", record.get("totalCost")),
        },
        times=("startTime", "endTime"),
        conversation=None,
        model=record.get("model"),
    )


def braintrust(record: Record) -> Span:
    """An event of Braintrust; `context` is the caller's source line there, not a passage."""
    parents, measured = record.get("span_parents") or (), record.get("metrics") or {}
    about = record.get("span_attributes") or {}
    kind = kind_of(about.get("type"), about.get("name"))
    span = _span(
        {**record, "start_time": measured.get("start"), "end_time": measured.get("end")},
        "retriever" if "retriev" in str(about.get("name")).lower() else kind,
        decoded(record.get("input")),
        decoded(record.get("output")),
        trace=str(record.get("root_span_id") or ""),
        id=str(record.get("span_id") or record.get("id") or ""),
        parent=parents[0] if parents else None,
        error=record.get("error"),
        usage={
            "input_tokens": measured.get("prompt_tokens"),
            "output_tokens": measured.get("completion_tokens"),
            "total_tokens": measured.get("tokens"),
        },
        times=("start_time", "end_time"),
        conversation=None,
        model=(record.get("metadata") or {}).get("model"),
    )
    expected = answer_in(record.get("expected"))
    span.reference = expected.text if expected else None
    if about.get("type") in ("score", "eval") and parents:  # scorers repeat input and output
        span.question = span.answer = span.documents = None
    return span


def weave(record: Record) -> Span:
    """A call of Weave."""
    summary = record.get("summary") or {}
    usage = [one for one in (summary.get("usage") or {}).values() if isinstance(one, Mapping)]
    name = str(record.get("op_name") or "")
    called = name.rpartition("/op/")[2].partition(":")[0] or name
    kind = "retriever" if "retriev" in called.lower() else "llm" if usage else "other"
    return _span(
        record,
        kind,
        record.get("inputs"),
        record.get("output"),
        trace=str(record.get("trace_id") or ""),
        id=str(record.get("id") or ""),
        parent=record.get("parent_id"),
        error=record.get("exception"),
        usage={
            "input_tokens": _total(usage, "prompt_tokens", "input_tokens"),
            "output_tokens": _total(usage, "completion_tokens", "output_tokens"),
        },
        times=("started_at", "ended_at"),
        conversation=None,
        model=next(iter(summary.get("usage") or {}), None),
    )


def _total(usage: list[Mapping[str, Any]], *names: str) -> float | None:
    """What all models used together; None where nothing was measured."""
    found = [one[name] for one in usage for name in names if _is_number(one.get(name))]
    return sum(map(float, found)) if found else None


def trulens_table(name: str) -> str | None:
    """The table of records in a database of TruLens 1.x, whose prefix anyone may choose."""
    with closing(_database(name)) as database:
        try:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return next((table for (table,) in tables if table.endswith("records")), None)
        except database.DatabaseError:
            return None


def trulens_records(name: str) -> Iterator[tuple[str, Record]]:
    """The records in a database of TruLens 1.x, with their places."""
    with closing(_database(name)) as database:
        rows = database.execute(f'SELECT * FROM "{trulens_table(name)}"')
        columns = [one[0] for one in rows.description]
        for number, row in enumerate(rows, 1):
            yield f"{name}: record {number}", dict(zip(columns, row, strict=True))


def _database(name: str) -> Connection:
    import sqlite3

    return sqlite3.connect(f"{Path(name).resolve().as_uri()}?mode=ro", uri=True)


def trulens(record: Record) -> list[Span]:
    """A record of TruLens 1.x: its calls as spans of one trace."""
    held = decoded(record.get("record_json")) or {}
    trace = str(record.get("record_id") or held.get("record_id") or "")
    spent = decoded(record.get("cost_json")) or {}
    timed = decoded(record.get("perf_json")) or {}
    root = _span(
        {**record, "start_time": timed.get("start_time"), "end_time": timed.get("end_time")},
        "chain",
        decoded(decoded_text(record.get("input"))),
        decoded(decoded_text(record.get("output"))),
        trace=trace,
        id=trace,
        parent=None,
        error=held.get("main_error"),
        usage={
            "input_tokens": spent.get("n_prompt_tokens"),
            "output_tokens": spent.get("n_completion_tokens"),
            "cost": spent.get("cost"),
        },
        times=("start_time", "end_time"),
        conversation=None,
        model=None,
    )
    spans = [root]
    for number, call in enumerate(items(held.get("calls"))):
        method = str(((call.get("stack") or [{}])[-1].get("method") or {}).get("name") or "")
        documents = documents_in(call.get("rets"))
        if documents is not None and "retriev" in method.lower():
            perf = call.get("perf") or {}
            spans.append(
                Span(
                    trace=trace,
                    id=f"{trace}#{number}",
                    parent=trace,
                    name=method,
                    kind="retriever",
                    start_ms=milliseconds(perf.get("start_time")),
                    end_ms=milliseconds(perf.get("end_time")),
                    documents=documents,
                    documents_path="calls[*].rets",
                )
            )
    return spans


def _span(
    record: Record,
    kind: Any,
    inputs: Any,
    outputs: Any,
    *,
    trace: str,
    id: str,
    parent: Any,
    error: Any,
    usage: Mapping[str, Any],
    times: tuple[str, str],
    conversation: Any,
    model: Any,
) -> Span:
    """A span from what a call was given and what it gave back."""
    documents = documents_in(outputs) if kind in ("retriever", "reranker") else None
    retrieving = documents is not None
    return Span(
        trace=trace,
        id=id,
        parent=str(parent) if parent else None,
        name=str(record.get("name") or ""),
        kind=kind,
        start_ms=milliseconds(record.get(times[0])),
        end_ms=milliseconds(record.get(times[1])),
        question=question_in(inputs),
        answer=None if retrieving else answer_in(outputs),
        documents=documents,
        documents_path="output" if retrieving else "",
        sent=messages_in(inputs),
        replied=messages_in(outputs),
        usage={name: float(value) for name, value in usage.items() if _is_number(value)},
        error=str(error) if error else None,
        conversation=str(conversation) if conversation else None,
        labels=labelled({"model": model}),
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, str):  # LangSmith writes costs as texts
        try:
            return float(value) == float(value)
        except ValueError:
            return False
    return isinstance(value, int | float) and not isinstance(value, bool)
