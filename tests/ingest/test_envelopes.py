"""Files of tracing tools: what is taken from where, in each of their envelopes."""

from __future__ import annotations

import base64
import json
import sqlite3
import struct
from contextlib import closing

import polars as pl
import pytest

from ragauge.errors import InputRejected
from ragauge.ingest.envelopes.json_stream import elements
from ragauge.ingest.envelopes.otlp import spans_in_protobuf
from ragauge.ingest.envelopes.table import recognised
from ragauge.runners.importing import import_traces
from ragauge.runners.score_traces import score_traces
from tests.cli.command import ragauge

QUESTION, ANSWER, CONTEXT = "When was it founded?", "In 1800 [1].", "It was founded in 1800."
TRACE, ROOT, FETCH, CALL = "5b8aa5a2d2c872e8321cf37308d69df2", "a1" * 8, "b2" * 8, "c3" * 8
START = 1_750_000_000


def documents(prefix: str = "retrieval.documents") -> dict[str, object]:
    return {
        f"{prefix}.0.document.id": "d1",
        f"{prefix}.0.document.content": CONTEXT,
        f"{prefix}.0.document.score": 0.9,
        f"{prefix}.1.document.id": 7,
        f"{prefix}.1.document.content": "It is open on Sundays.",
    }


def message(path: str, role: str, text: str) -> dict[str, str]:
    return {f"{path}.0.message.role": role, f"{path}.0.message.content": text}


OPENINFERENCE = [
    (
        *(ROOT, "", 0, 800),
        {
            "openinference.span.kind": "CHAIN",
            "input.value": json.dumps({"question": QUESTION}),
            "output.value": ANSWER,
            "session.id": "s1",
        },
    ),
    (*(FETCH, ROOT, 10, 100), {"openinference.span.kind": "RETRIEVER"} | documents()),
    (
        *(CALL, ROOT, 110, 790),
        {"openinference.span.kind": "LLM", "llm.token_count.prompt": 90}
        | {"llm.token_count.completion": 7, "llm.model_name": "small-3"}
        | message("llm.input_messages", "user", QUESTION)
        | message("llm.output_messages", "assistant", ANSWER),
    ),
]
GENAI = [
    (
        *(CALL, "", 0, 800),
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "small-3",
            "gen_ai.usage.input_tokens": 90,
            "gen_ai.usage.output_tokens": 7,
            "gen_ai.conversation.id": "s1",
            "gen_ai.input.messages": json.dumps(
                [
                    {"role": "user", "parts": [{"type": "text", "content": "Hello"}]},
                    {"role": "assistant", "parts": [{"type": "text", "content": "Hi"}]},
                    {"role": "user", "parts": [{"type": "text", "content": QUESTION}]},
                ]
            ),
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
            ),
        },
    ),
    (
        *(FETCH, CALL, -200, -100),
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.documents": json.dumps(
                [
                    {"id": "d1", "score": 0.9, "content": CONTEXT},
                    {"id": "7", "score": 0.1, "content": "…"},
                ]
            ),
        },
    ),
]


def value_of(value: object, snake: bool) -> dict[str, object]:
    kind = {str: "string", bool: "bool", int: "int", float: "double"}[type(value)]
    return {f"{kind}_value" if snake else f"{kind}Value": str(value) if kind == "int" else value}


def otlp(spans, *, snake=False, ids=str) -> dict[str, object]:
    def named(name: str) -> str:
        if not snake:
            return name
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)

    def nanos(ms: int) -> str:
        return str((START * 1000 + ms) * 1_000_000)

    written = [
        {
            named("traceId"): ids(TRACE),
            named("spanId"): ids(id),
            named("parentSpanId"): ids(parent),
            "name": "span",
            named("startTimeUnixNano"): nanos(start),
            named("endTimeUnixNano"): nanos(end),
            "attributes": [
                {"key": key, "value": value_of(value, snake)} for key, value in attributes.items()
            ],
        }
        for id, parent, start, end, attributes in spans
    ]
    scopes = {named("scopeSpans"): [{"spans": written}]}
    return {named("resourceSpans"): [{"resource": {}, **scopes}]}


def as_base64(id: str) -> str:
    return base64.b64encode(bytes.fromhex(id)).decode()


def phoenix(spans, flat=True) -> list[dict[str, object]]:
    return [
        {
            "name": "span",
            "context": {"trace_id": TRACE, "span_id": id},
            "span_kind": attributes.get("openinference.span.kind"),
            "parent_id": parent or None,
            "start_time": f"2026-01-01T00:00:{(start + 1000) / 1000:06.3f}+00:00",
            "end_time": f"2026-01-01T00:00:{(end + 1000) / 1000:06.3f}+00:00",
            "status_code": "OK",
            "attributes": attributes,
        }
        for id, parent, start, end, attributes in spans
    ]


def phoenix_columns(spans) -> pl.DataFrame:
    rows = []
    for one in phoenix(spans):
        context, attributes = one.pop("context"), one.pop("attributes")
        texts = {f"attributes.{k}": v for k, v in attributes.items() if ".document" not in k}
        passages = [
            {"document.id": "d1", "document.content": CONTEXT, "document.score": 0.9},
            {"document.id": "7", "document.content": "…", "document.score": 0.1},
        ]
        if "retrieval.documents.0.document.id" in attributes:
            texts["attributes.retrieval.documents"] = passages
        rows.append({**one, **{f"context.{k}": v for k, v in context.items()}, **texts})
    return pl.DataFrame(rows, infer_schema_length=None)


MLFLOW = {
    "info": {"trace_id": "tr-1", "state": "OK", "trace_metadata": {"mlflow.trace.session": "s1"}},
    "data": {
        "spans": [
            {
                "trace_id": as_base64(TRACE),
                "span_id": as_base64(id),
                "parent_span_id": as_base64(parent) if parent else None,
                "name": "span",
                "start_time_unix_nano": (START * 1000 + start) * 1_000_000,
                "end_time_unix_nano": (START * 1000 + end) * 1_000_000,
                "status": {"code": "STATUS_CODE_OK"},
                "attributes": {key: json.dumps(value) for key, value in attributes.items()},
            }
            for id, parent, start, end, attributes in (
                (
                    *(ROOT, "", 0, 800),
                    {
                        "mlflow.spanType": "CHAIN",
                        "mlflow.spanInputs": {"query": QUESTION},
                        "mlflow.spanOutputs": ANSWER,
                    },
                ),
                (
                    *(FETCH, ROOT, 10, 100),
                    {
                        "mlflow.spanType": "RETRIEVER",
                        "mlflow.spanOutputs": [
                            {"page_content": CONTEXT, "metadata": {"doc_uri": "d1"}},
                            {"page_content": "…", "metadata": {"doc_uri": "7"}},
                        ],
                    },
                ),
                (
                    *(CALL, ROOT, 110, 790),
                    {
                        "mlflow.spanType": "CHAT_MODEL",
                        "mlflow.chat.tokenUsage": {"input_tokens": 90, "output_tokens": 7},
                    },
                ),
            )
        ]
    },
}
PASSAGES = [
    {"page_content": CONTEXT, "metadata": {"id": "d1"}},
    {"page_content": "…", "metadata": {"id": "7"}},
]


def at(ms: int) -> str:
    return f"2026-01-01T00:00:{(ms + 1000) / 1000:06.3f}+00:00"


def runs() -> list[dict[str, object]]:
    times = {"start_time": at(0), "end_time": at(800)}
    fetched = {"inputs": {"query": QUESTION}, "outputs": {"documents": PASSAGES}}
    said = {"messages": [[{"role": "user", "content": QUESTION}]]}
    generated = {"generations": [[{"text": ANSWER}]]}
    tokens = {"prompt_tokens": 90, "completion_tokens": 7, "total_cost": "0.01"}
    about = {"metadata": {"session_id": "s1"}}
    return [
        {"id": ROOT, "trace_id": ROOT, "parent_run_id": None, "run_type": "chain", "extra": about}
        | {"inputs": {"question": QUESTION}, "outputs": {"answer": ANSWER}, **times},
        {"id": FETCH, "trace_id": ROOT, "parent_run_id": ROOT, "run_type": "retriever"}
        | {**fetched, "start_time": at(10), "end_time": at(100)},
        {"id": CALL, "trace_id": ROOT, "parent_run_id": ROOT, "run_type": "llm", **tokens}
        | {"inputs": said, "outputs": generated, "start_time": at(110), "end_time": at(790)},
    ]


LANGFUSE = [
    {"id": "t1", "timestamp": at(0), "input": {"query": QUESTION}, "output": {"answer": ANSWER}}
    | {"sessionId": "s1", "latency": 0.8, "totalCost": 0.01},
    {"id": "o1", "traceId": "t1", "parentObservationId": None, "type": "RETRIEVER"}
    | {"input": QUESTION, "output": PASSAGES, "startTime": at(10), "endTime": at(100)},
    {"id": "o2", "traceId": "t1", "parentObservationId": None, "type": "GENERATION"}
    | {"input": [{"role": "user", "content": QUESTION}], "startTime": at(110), "endTime": at(790)}
    | {
        "output": {"role": "assistant", "content": ANSWER},
        "usageDetails": {"input": 90, "output": 7},
    },
]
BRAINTRUST = [
    {"id": "e1", "span_id": ROOT, "root_span_id": ROOT, "span_parents": None, "input": QUESTION}
    | {"output": ANSWER, "expected": "1800", "context": {"caller_filename": "app.py"}}
    | {"metrics": {"start": START, "end": START + 0.8}, "span_attributes": {"type": "task"}},
    {"id": "e2", "span_id": FETCH, "root_span_id": ROOT, "span_parents": [ROOT], "input": QUESTION}
    | {"output": PASSAGES, "metrics": {"start": START + 0.01, "end": START + 0.1}}
    | {"span_attributes": {"type": "function", "name": "retrieve"}},
    {"id": "e3", "span_id": CALL, "root_span_id": ROOT, "span_parents": [ROOT]}
    | {"input": [{"role": "user", "content": QUESTION}], "output": ANSWER}
    | {"metrics": {"start": START + 0.11, "end": START + 0.79, "prompt_tokens": 90}}
    | {"span_attributes": {"type": "llm"}},
    {"id": "e4", "span_id": "d4", "root_span_id": ROOT, "span_parents": [ROOT], "input": "other"}
    | {"output": "another", "span_attributes": {"type": "score"}, "metrics": {"start": START + 9}},
]
WEAVE = [
    {"id": ROOT, "trace_id": TRACE, "parent_id": None, "op_name": "weave:///a/b/op/answer:x"}
    | {"inputs": {"question": QUESTION}, "output": {"answer": ANSWER}}
    | {"started_at": at(0), "ended_at": at(800), "summary": {}},
    {"id": FETCH, "trace_id": TRACE, "parent_id": ROOT, "op_name": "weave:///a/b/op/retrieve:x"}
    | {"inputs": {"q": QUESTION}, "output": PASSAGES, "started_at": at(10), "ended_at": at(100)},
]


def lines(records) -> str:
    return "".join(json.dumps(one) + "\n" for one in records)


FILES = {
    "otlp.jsonl": ("otlp", lines([otlp(OPENINFERENCE)])),
    "otlp.json": ("otlp", json.dumps(otlp(OPENINFERENCE), indent=1)),
    "otlp-snake.json": ("otlp", json.dumps(otlp(OPENINFERENCE, snake=True))),
    "otlp-base64.json": ("otlp", json.dumps(otlp(OPENINFERENCE, ids=as_base64))),
    "genai.jsonl": ("otlp", lines([otlp(GENAI[:1]), otlp(GENAI[1:])])),
    "phoenix.jsonl": ("phoenix", lines(phoenix(OPENINFERENCE))),
    "console.json": (
        "phoenix",
        "\n".join(json.dumps(one, indent=1) for one in phoenix(OPENINFERENCE)),
    ),
    "mlflow.json": ("mlflow", json.dumps([MLFLOW])),
    "mlflow.jsonl": ("mlflow", lines([MLFLOW])),
    "langsmith.jsonl": ("langsmith", lines(runs())),
    "langsmith.json": ("langsmith", json.dumps({"runs": runs()})),
    "langfuse.jsonl": ("langfuse", lines(LANGFUSE)),
    "langfuse-trace.json": (
        "langfuse",
        json.dumps({**LANGFUSE[0], "observations": LANGFUSE[1:]}),
    ),
    "braintrust.jsonl": ("braintrust", lines(BRAINTRUST)),
    "weave.jsonl": ("weave", lines(WEAVE)),
}


@pytest.mark.parametrize("name", FILES)
def test_each_envelope_gives_the_same_trace(name, tmp_path):
    envelope, content = FILES[name]
    path, out = tmp_path / name, tmp_path / "traces.jsonl"
    path.write_text(content)
    manifest = import_traces([str(path)], out)
    (record,) = [json.loads(line) for line in out.read_text().splitlines()]
    assert (record["question"], record["answer"]) == (QUESTION, ANSWER)
    assert [one["id"] for one in record["retrieved"]] == record["retrieved_ids"] == ["d1", "7"]
    assert record["retrieved"][0]["text"] == CONTEXT
    assert record["citations"] == ["d1"]
    assert record["latency_ms"] == pytest.approx(800)
    assert (manifest.envelope, manifest.rows, manifest.without) == (envelope, 1, {})
    written = json.loads((tmp_path / "traces.jsonl.manifest.json").read_text())
    assert written["taken"].keys() >= {"question", "answer", "contexts", "ids", "citations"}
    if envelope not in ("weave", "braintrust"):
        assert record["usage"]["input_tokens"] == 90
        assert record["usage"]["output_tokens"] == 7
    if envelope not in ("weave", "braintrust"):
        assert (record["conversation"], record["turn"]) == ("s1", 1)
    # Every command that takes traces takes the file itself.
    report = score_traces(path).report
    assert report.coverage.with_contexts == report.coverage.with_citations == 1


def test_columns_of_phoenix_are_its_spans(tmp_path):
    path = tmp_path / "spans.parquet"
    phoenix_columns(OPENINFERENCE).write_parquet(path)
    assert recognised(str(path)).name == "phoenix"
    import_traces([str(path)], tmp_path / "out.jsonl")
    record = json.loads((tmp_path / "out.jsonl").read_text())
    assert (record["question"], record["retrieved_ids"]) == (QUESTION, ["d1", "7"])


def test_an_answer_that_was_not_captured_is_no_empty_answer(tmp_path):
    bare = [(CALL, "", 0, 800, {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 9})]
    path = tmp_path / "bare.jsonl"
    path.write_text(lines([otlp(bare)]))
    manifest = import_traces([str(path)], tmp_path / "out.jsonl")
    assert manifest.without["text_not_captured"] == 1
    record = json.loads((tmp_path / "out.jsonl").read_text())
    assert record["error"] == "the text of the answer was not captured"


def test_spans_of_a_trace_come_together_across_lines_and_files(tmp_path):
    one, two, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "out.jsonl"
    one.write_text(lines([otlp(OPENINFERENCE[2:]), otlp(OPENINFERENCE[:1])]))
    two.write_text(lines([otlp(OPENINFERENCE[1:2])]))
    manifest = import_traces([str(one), str(two)], out)
    assert (manifest.spans, manifest.rows) == (3, 1)
    assert json.loads(out.read_text())["retrieved_ids"] == ["d1", "7"]


def test_what_an_import_cannot_read_is_named(tmp_path):
    gold, spans = tmp_path / "gold.jsonl", tmp_path / "spans.jsonl"
    gold.write_text('{"qid": "q1", "question": "?", "answerable": true}\n')
    spans.write_text(lines([otlp(OPENINFERENCE)]))
    done = ragauge("import", gold, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 3 and b"is none of the files that can be imported" in done.stderr
    done = ragauge("gold", "lint", spans)
    assert done.returncode == 3 and b"holds OpenTelemetry traces (OTLP)" in done.stderr
    done = ragauge("import", spans, "--as", "phonix", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2 and b"did you mean phoenix?" in done.stderr
    mixed = tmp_path / "runs.jsonl"
    mixed.write_text(lines(runs()))
    with pytest.raises(InputRejected, match="the files are of several tools"):
        import_traces([str(spans), str(mixed)], tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_elements_are_found_wherever_chunks_break():
    spans = [{"name": 'a "quoted" ] \\', "n": [1, {"deep": [{}]}]}, {"name": "b"}, {"name": "c"}]
    document = {"x": [1, {"spans": 3}], "groups": [{"spans": spans[:2]}, {"spans": spans[2:]}]}
    for indent in (None, 1):
        content = json.dumps(document, indent=indent).encode()
        for size in range(1, len(content)):
            chunks = [content[at : at + size] for at in range(0, len(content), size)]
            found = list(elements("f", chunks, {"spans"}))
            assert [json.loads(one) for _, one in found] == spans
            for line, one in found:
                assert content[: content.index(one)].count(b"\n") + 1 == line


def varint(value: int) -> bytes:
    low = value & 127
    return bytes((low,)) if value < 128 else bytes((low | 128,)) + varint(value >> 7)


def field(number: int, value: bytes | int | str) -> bytes:
    """A field of a protobuf message: a text, a message, or a time."""
    if isinstance(value, int):
        return varint(number << 3 | 1) + value.to_bytes(8, "little")
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def any_value(value: object) -> bytes:
    if isinstance(value, float):
        return field(4, int.from_bytes(struct.pack("<d", value), "little"))
    if isinstance(value, int):
        return varint(3 << 3) + varint(value)
    return field(1, str(value))


def protobuf(spans) -> bytes:
    written = b""
    for id, parent, start, end, attributes in spans:
        span = field(1, bytes.fromhex(TRACE)) + field(2, bytes.fromhex(id))
        span += field(4, bytes.fromhex(parent)) + field(5, "span")
        for number, ms in ((7, start), (8, end)):
            span += field(number, (START * 1000 + ms) * 1_000_000)
        for key, value in attributes.items():
            span += field(9, field(1, key) + field(2, any_value(value)))
        written += field(2, span)
    return field(1, field(1, b"") + field(2, written))


def test_protobuf_is_read_as_json_is(tmp_path):
    path, out = tmp_path / "spans.binpb", tmp_path / "out.jsonl"
    path.write_bytes(protobuf(OPENINFERENCE))
    manifest = import_traces([str(path)], out)
    record = json.loads(out.read_text())
    assert manifest.envelope == "otlp-protobuf"
    assert (record["question"], record["answer"]) == (QUESTION, ANSWER)
    assert record["retrieved"][0] == {"id": "d1", "text": CONTEXT, "score": 0.9}
    assert (record["latency_ms"], record["usage"]["input_tokens"]) == (800, 90)


def test_a_database_of_trulens_is_read(tmp_path):
    path, out = tmp_path / "default.sqlite", tmp_path / "out.jsonl"
    call = {"stack": [{"method": {"name": "retrieve"}}], "rets": [CONTEXT, "…"]}
    row = {
        "record_id": "r1",
        "input": json.dumps(QUESTION),
        "output": json.dumps("In 1800."),
        "record_json": json.dumps({"calls": [call]}),
        "cost_json": json.dumps({"n_prompt_tokens": 90, "n_completion_tokens": 7, "cost": 0.01}),
        "perf_json": json.dumps({"start_time": at(0), "end_time": at(800)}),
    }
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE trulens_records ({', '.join(row)})")
        marks = ", ".join("?" * len(row))
        database.execute(f"INSERT INTO trulens_records VALUES ({marks})", list(row.values()))
        database.commit()
    manifest = import_traces([str(path)], out)
    record = json.loads(out.read_text())
    assert (manifest.envelope, record["question"], record["answer"]) == (
        *("trulens", QUESTION),
        "In 1800.",
    )
    assert [one["text"] for one in record["retrieved"]] == [CONTEXT, "…"]
    assert record["usage"]["cost"] == 0.01 and record["latency_ms"] == pytest.approx(800)


def test_protobuf_that_was_cut_off_is_refused():
    with pytest.raises(InputRejected, match=r"spans\.pb: is not OpenTelemetry traces"):
        list(spans_in_protobuf(b"\x0a\xff\x01", "spans.pb"))
