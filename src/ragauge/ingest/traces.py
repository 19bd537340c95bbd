"""Traces in their dialects.

A    `{ts, q|question, chunks: [{id, …}], answer: text, ok, citations?}`
B    `{qid|q_id, q, retrieved_ids, answer_json: {claim, citations, constraints_echo?}, …}`
ours B plus what a sweep knows of the run: seed, temperature, jitter, status, retrieved, …
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, structs
from msgspec.structs import astuple, force_setattr

from ragauge.citations.answer import parse_answer
from ragauge.citations.joining import cited_id
from ragauge.contracts.audit import ParsedAnswer
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import (
    BadField,
    Check,
    Columns,
    Field,
    Shape,
    an_id,
    boolean,
    expected,
    kind,
    mapping,
    mappings,
    number,
    quoted,
    refuse,
    text,
    texts,
    whole,
)
from ragauge.ingest.lines import (
    BLOCK,
    MAX_LINE,
    STDIN,
    BadJson,
    Block,
    beginning,
    blocks,
    decode,
    head_of,
    nothing_in,
)
from ragauge.ingest.records import (
    MOST_KEYS,
    Records,
    Row,
    Source,
    frame_in,
    has_lines,
    is_frame,
    is_table,
)
from ragauge.ingest.written_lists import listed, passages
from ragauge.text.citations import id_of, inline_markers, split_ids


def written_ids(value: Any, field: str) -> Any:
    """Ids as a table's cell holds them: a list, or texts with marks between them."""
    if type(value) is not str:
        return value
    return list(split_ids(value)) if not value.lstrip().startswith("[") else listed(value, field)


def written_objects(value: Any, field: str) -> Any:
    """Objects, or texts, as a table's cell holds them."""
    return listed(value, field) if type(value) is str else value


def written_object(value: Any, field: str) -> Any:
    """An object as a table's cell holds it; other text is left as it is."""
    if type(value) is not str or not value.lstrip().startswith("{"):
        return value
    (found,) = listed(value, field)
    return found


def read_trace(record: Any) -> Trace:
    """The trace a decoded line holds; raises BadField with the first field that is wrong."""
    if type(record) is not dict:
        raise BadField("line", expected("an object", record))
    get = record.get
    # Well-formed fields are taken as they are; only others are looked at more closely.
    qid, q, answer, cited = get("qid"), get("q"), get("answer"), get("citations")
    structured, retrieved = get("answer_json"), get("retrieved_ids")
    if type(structured) is str:  # what should have been fields is text: read it as text
        return read_trace({**record, "answer": structured, "answer_json": None})
    return Trace(
        qid=qid if type(qid) is str and qid and not qid.isspace() else _qid(record),
        q=q if type(q) is str else _question(record),
        answer=answer if answer is None or type(answer) is str else _answer(record),
        answer_json=None if structured is None else _structured(structured),
        citations=None if cited is None else _citations(cited, "citations"),
        retrieved_ids=_retrieved(record) if retrieved is None else _ids(retrieved, "retrieved_ids"),
        **_others(record),
    )


def _qid(record: dict[str, Any]) -> str | None:
    qid = record.get("qid")
    field = "qid"
    if qid is None:
        qid, field = record.get("q_id"), "q_id"
    if qid is None:
        if record.get("q") is None and record.get("question") is None:
            raise BadField("qid", "missing, and there is no question to join by; add one of them")
        return None
    return an_id(qid, field)


def _question(record: dict[str, Any]) -> str | None:
    question = record.get("q")
    if question is None:
        question = record.get("question")
        return None if question is None else text(question, "question")
    return text(question, "q")


def _answer(record: dict[str, Any]) -> str | None:
    answer = record.get("answer")
    if answer is None or type(answer) is str:
        return answer
    if type(answer) is dict:
        raise BadField("answer", "expected text, got an object; fields belong in answer_json")
    raise BadField("answer", expected("text", answer))


def _structured(answer: Any) -> StructuredAnswer:
    if type(answer) is not dict:
        raise BadField("answer_json", expected("an object with claim and citations", answer))
    return StructuredAnswer(
        claim=_claim(answer),
        citations=_citations(answer.get("citations"), "answer_json.citations"),
        constraints_echo=_echo(answer),
        constraint_lock=_lock(answer),
    )


def _claim(answer: dict[str, Any]) -> str | None:
    claim = answer.get("claim")
    if type(claim) is str:
        return claim
    field = "claim"
    if claim is None:
        claim, field = answer.get("answer"), "answer"
    return None if claim is None else text(claim, f"answer_json.{field}")


def _echo(answer: dict[str, Any]) -> tuple[str, ...] | None:
    echo = answer.get("constraints_echo")
    return None if echo is None else texts(echo, "answer_json.constraints_echo")


def _lock(answer: dict[str, Any]) -> str | None:
    lock = answer.get("constraint_lock")
    return None if lock is None else text(lock, "answer_json.constraint_lock")


def _citations(value: Any, field: str) -> tuple[str, ...] | None:
    """Cited ids, each once; text is read as a written list, objects by their id."""
    if value is None:
        return None
    if type(value) is str:
        return tuple(dict.fromkeys(split_ids(value)))
    return tuple(dict.fromkeys(_ids(value, field)))


def _ids(value: Any, field: str) -> tuple[str, ...]:
    if type(value) is not list:
        raise BadField(field, f"expected a list of ids, got {kind(value)}")
    return tuple([_id(member, f"{field}[{place}]") for place, member in enumerate(value)])


def _id(member: Any, field: str) -> str:
    id = member if type(member) is str and member else id_of(member)
    if id is not None:
        return id
    if type(member) is dict:
        raise BadField(field, "has no id as text; give it an id or a snippet_id")
    if type(member) is str:
        raise BadField(field, "is empty")
    raise BadField(field, expected("an id as text", member))


def _retrieved(record: dict[str, Any]) -> tuple[str, ...] | None:
    """Retrieved ids from the payloads (ours) or the chunks (dialect A)."""
    for field in ("retrieved", "chunks"):
        members = record.get(field)
        if members is not None:
            if type(members) is not list:
                raise BadField(field, f"expected a list of chunks, got {kind(members)}")
            return tuple([_id(member, f"{field}[{at}]") for at, member in enumerate(members)])
    return None


def _status(value: Any, field: str) -> str:
    if value not in ("ok", "error"):
        got = quoted(value) if type(value) is str else kind(value)
        raise BadField(field, f'expected "ok" or "error", got {got}')
    return str(value)


def _timestamp(value: Any, field: str) -> float | str:
    """Seconds since 1970; milliseconds are recognised by their size; text is kept."""
    if type(value) is str:
        return value
    stamp = number(value, field)
    return stamp / 1000 if stamp > 1e11 else stamp


def _error(value: Any, field: str) -> str:
    if type(value) is dict:
        return str(value.get("message") or value)
    return text(value, field)


def _read_elsewhere(value: Any, field: str) -> None:
    """The check of a field that `read_trace` reads by itself."""


_CHECKS: dict[str, Check] = {
    "attempt": whole,
    "cited": mappings,
    "constraint_lock": text,
    "constraints_echo": texts,
    "error": _error,
    "jitter": text,
    "labels": mapping,
    "latency_ms": number,
    "ok": boolean,
    "paraphrase": lambda value, field: value if type(value) is str else whole(value, field),
    "question_sent": text,
    "reason": text,
    "repeat": whole,
    "retrieved": mappings,
    "run_id": text,
    "schema_version": whole,
    "seed": whole,
    "segments": mappings,
    "stage_ms": mapping,
    "status": _status,
    "temperature": number,
    "ts": _timestamp,
    "usage": mapping,
} | dict.fromkeys(
    (
        *("qid", "q_id", "q", "question", "answer", "answer_json", "citations"),
        *("retrieved_ids", "chunks"),
    ),
    _read_elsewhere,
)


def _others(record: dict[str, Any]) -> dict[str, Any]:
    """The remaining fields, checked; unknown ones gathered under `extra`."""
    found: dict[str, Any] = {}
    for key, check in _other_checks(tuple(record)):
        value = record[key]
        if check is None:
            found.setdefault("extra", {})[key] = value
        elif value is not None:
            found[key] = check(value, key)
    return found


@lru_cache(maxsize=1024)  # most lines of a file have the same keys
def _other_checks(keys: tuple[str, ...]) -> tuple[tuple[str, Check | None], ...]:
    checks = ((key, _CHECKS.get(key)) for key in keys)
    return tuple((key, check) for key, check in checks if check is not _read_elsewhere)


def trace_faults(record: Any) -> list[str]:
    """Every fault of a record that `read_trace` refused, not the first alone."""
    if type(record) is not dict:
        return [str(BadField("line", expected("an object", record)))]
    faults = []
    for check in _each_check(record):
        try:
            check()
        except BadField as fault:
            faults.append(str(fault))
    return list(dict.fromkeys(faults))


def _each_check(record: dict[str, Any]) -> Iterator[Callable[[], Any]]:
    get = record.get
    yield lambda: _qid(record)
    yield lambda: _question(record)
    structured = get("answer_json")
    if type(structured) is dict:
        yield lambda: _claim(structured)
        yield lambda: _citations(structured.get("citations"), "answer_json.citations")
        yield lambda: _echo(structured)
        yield lambda: _lock(structured)
    elif structured is not None and type(structured) is not str:
        yield lambda: _structured(structured)
    if type(structured) is not str:
        yield lambda: _answer(record)
    yield lambda: _citations(get("citations"), "citations")
    if get("retrieved_ids") is None:
        yield lambda: _retrieved(record)
    else:
        yield lambda: _ids(get("retrieved_ids"), "retrieved_ids")
    for key in sorted(record):
        yield partial(_others, {key: record[key]})


Id = Annotated[str, Meta(min_length=1)]
Ids = tuple[Id, ...]
Number = int | float


class _Chunk(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    id: Id
    text: str | None = None
    title: str | None = None
    url: str | None = None
    source: str | None = None
    doc_id: str | None = None
    section_id: str | None = None
    score: Number | None = None
    rank: Number | None = None


class _Answer(StructuredAnswer, frozen=True, forbid_unknown_fields=True, gc=False):
    claim: str
    citations: Ids | None = None


class _Line(Trace, frozen=True, forbid_unknown_fields=True, gc=False):
    """A trace with the keys that dialect A has besides; a key at its default is not plain."""

    qid: Id | None = None
    answer_json: _Answer | None = None
    citations: Ids | None = None
    retrieved_ids: Ids | None = None
    status: Literal["ok", "error"] | None = None  # type: ignore[assignment]
    latency_ms: Number | None = None
    stage_ms: dict[str, Number] | None = None
    labels: dict[str, str | Number | bool] | None = None
    # What may nest without end is left to the reader that looks for it.
    retrieved: None = None
    segments: None = None
    cited: None = None
    usage: None = None
    extra: None = None  # type: ignore[assignment]
    question: str | None = None
    chunks: list[_Chunk] | None = None


_decode = msgspec.json.Decoder(_Line).decode
_encode = msgspec.json.Encoder().encode
_FIELDS = len(_Line.__struct_fields__)


_text_of, _id_of = attrgetter("text"), attrgetter("id")


def read_plain(line: bytes) -> Trace | None:
    """The trace of a plain line, None where the line is anything else.

    A key written twice is decoded once, so that the line has more colons than its value needs;
    only a colon written as an escape could make up for it.
    """
    if len(line) > MAX_LINE:
        return None
    try:
        found = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    # The colons of the line's keys, and those of the texts that most often have some.
    keys, texts = _FIELDS - astuple(found).count(None), 0
    q, answer, structured, chunks = found.q, found.answer, found.answer_json, found.chunks
    if q is not None:
        texts += q.count(":")
    if answer is not None:
        texts += answer.count(":")
    if structured is not None:
        keys += 1 if structured.citations is None else 2
        texts += structured.claim.count(":")
    if chunks:
        # A list of C's own making: this runs for every trace.
        keys += 2 * len(chunks) - list(map(_text_of, chunks)).count(None)
    colons = line.count(b":")
    if colons != keys + texts and colons != _encode(found).count(b":"):
        return None
    if colons != keys and b"\\u003" in line:
        return None
    qid = found.qid
    if qid is not None and qid.isspace():
        return None
    if q is None:
        if qid is None and found.question is None:
            return None
        force_setattr(found, "q", found.question)
    if chunks is not None and found.retrieved_ids is None:
        force_setattr(found, "retrieved_ids", tuple(map(_id_of, chunks)))
    return found


BadLine = (BadJson, BadField)


def trace_in(line: bytes) -> Trace:
    """The trace a line holds; raises one of BadLine."""
    return read_plain(line) or read_trace(decoded(line))


def decoded(line: bytes) -> Any:
    """The line's JSON, strictly read, its fields under our names."""
    if len(line) > MAX_LINE:
        raise BadJson(f"the line is longer than {MAX_LINE >> 20} MiB")
    record = decode(line)
    return with_ids_as_text(with_our_names(record)) if type(record) is dict else record


_IDS = ("id", "snippet_id", "chunk_id")


def with_ids_as_text(record: dict[str, Any]) -> dict[str, Any]:
    """The record with whole numbers as texts where it lists ids, or objects that have one."""

    def as_text(member: Any) -> Any:
        if type(member) is int:
            return str(member)
        if type(member) is not dict or not any(type(member.get(name)) is int for name in _IDS):
            return member
        ids = {name: str(id) for name in _IDS if type(id := member.get(name)) is int}
        return {**member, **ids}

    found: dict[str, Any] = {}
    for name in _LISTED:
        members = record.get(name)
        if type(members) is list and any(type(one) is not str for one in members):
            found[name] = [as_text(one) for one in members]
    structured = record.get("answer_json")
    if type(structured) is dict and type(structured.get("citations")) is list:
        cited = [as_text(one) for one in structured["citations"]]
        found["answer_json"] = {**structured, "citations": cited}
    return {**record, **found} if found else record


_LISTED = ("citations", "cited", "retrieved_ids", "retrieved", "chunks")
RETRIEVED = (
    *("contexts", "retrieved_contexts", "retrieved_context", "retrieval_context"),
    *("source_documents", "source_nodes", "documents", "passages"),
)
"""What other tools call the chunks that were retrieved: texts, or objects that have one."""
TRACE = Shape(
    name="trace",
    doc="One run of a system: a question, its answer, and what was retrieved and cited.",
    wrappers=("traces", "rows", "results", "data"),
    imported=True,
    # Read elsewhere: by echoes, diagnose and the history; and what evaluations of answers read.
    elsewhere=frozenset(
        (
            *("lock", "query_rewritten", "search_query", "cost", "total_cost", "cost_usd"),
            *("reference", "references", "ground_truth", "ground_truths"),
        )
    ),
    fields=(
        Field("qid", an_id, "The gold question's id.", aliases=("q_id", "question_id")),
        Field(
            "q",
            text,
            "The question; a trace without a qid is joined by it.",
            aliases=("question", "query", "user_input", "input"),
        ),
        Field(
            "answer",
            text,
            "The answer as text.",
            aliases=("response", "generated_answer", "actual_output", "output", "result"),
        ),
        Field("answer_json", written_object, "Its fields: claim, citations.", says="object"),
        Field(
            "citations",
            written_ids,
            "The ids that the answer cites.",
            many=True,
            hints=("sources", "cites"),
        ),
        Field("retrieved_ids", written_ids, "Ids of what was retrieved, best first.", many=True),
        Field(
            "retrieved",
            written_objects,
            "What was retrieved, best first: an id and a text each.",
            aliases=("chunks", *RETRIEVED),
            many=True,
        ),
        Field("cited", written_objects, "The citations as objects.", many=True),
        Field("segments", written_objects, "Parts of the answer with citations.", many=True),
        Field("constraints_echo", written_ids, "The constraints as repeated.", many=True),
        Field("constraint_lock", text, "The lock of the constraints."),
        Field("ok", boolean, "Whether the call went well."),
        Field("status", text, "`ok` or `error`."),
        Field("error", text, "Why the call failed."),
        Field("reason", text, "Why the system refused."),
        Field("ts", text, "When: seconds since 1970, or text."),
        Field("latency_ms", number, "How long it took."),
        Field("stage_ms", written_object, "How long each stage took.", says="object"),
        Field("usage", written_object, "Tokens and cost.", says="object"),
        Field(
            "labels",
            written_object,
            "What differs between runs, such as the model.",
            says="object",
        ),
        Field("run_id", text, "The run of a sweep."),
        Field("seed", whole, "The seed of the run."),
        Field("temperature", number, "The temperature of the run."),
        Field("jitter", text, "How the question was reworded."),
        Field("paraphrase", text, "Which paraphrase was sent."),
        Field("repeat", whole, "Which time the same was sent."),
        Field("attempt", whole, "Which attempt succeeded."),
        Field("question_sent", text, "The question as it was sent."),
        Field("schema_version", whole, "The version of this form."),
    ),
)


def with_our_names(record: dict[str, Any]) -> dict[str, Any]:
    """A record of a trace with what other tools call our fields under our names.

    >>> with_our_names({"question": "Who?", "response": "Me.", "contexts": ["I did."]})
    {'question': 'Who?', 'answer': 'Me.', 'retrieved': [{'id': '1', 'text': 'I did.'}]}
    """
    renames = _renames(tuple(record))
    if not renames:
        return record
    found = dict(record)
    for field, keys in renames:
        if found.get(field) is None:
            key = next((key for key in keys if found.get(key) is not None), None)
            if key is not None:
                value = found.pop(key)
                found[field] = _passages(value, key) if field == "retrieved" else value
    return found


@lru_cache(maxsize=1024)  # most lines of a file have the same keys
def _renames(keys: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The fields that a record has under names which `read_trace` does not know, with these."""
    known = _CHECKS.keys()
    found = []
    for field, names in TRACE.reads(keys):
        others = tuple(name for name in names if name not in known)
        if others and not any(name in known and name in keys for name in names):
            found.append((field.name, others))
    # Ids say best what was retrieved; texts without ids would be told apart by their places alone.
    ids = "retrieved_ids" in keys
    return tuple(one for one in found if not (ids and one[0] == "retrieved"))


def _passages(value: Any, field: str) -> Any:
    """Passages as objects with an id each; what cannot be read as such is left to its check."""
    try:
        found = passages(value, field)
    except BadField:
        return value
    given = listed(value, field)
    return [
        {**(one if isinstance(one, dict) else {}), "id": context.id, "text": context.text}
        for one, context in zip(given, found, strict=True)
    ]


def faults_of(line: bytes, fault: Exception) -> list[str]:
    """Everything wrong with a line: one fault of its JSON, or each of its fields'."""
    return [str(fault)] if isinstance(fault, BadJson) else trace_faults(decoded(line))


def can_be_read_again(names: Sequence[str]) -> bool:
    """Whether files are still there when they have been read; a pipe is empty then."""
    return all(Path(name).is_file() for name in names)


def full_trace(line: bytes) -> Trace:
    """The trace a line holds, with its chunks and citations; raises one of BadLine."""
    record = decoded(line)
    return with_payloads(read_trace(record), record)


def audited_trace(record: dict[str, Any], made: Auditable) -> Trace:
    """The trace of a line that could be audited: as far as it tells, where fields are amiss."""
    try:
        return with_payloads(read_trace(record), record)
    except BadField:
        listed = made.answer.citations
        ids = [cited_id(one) for one in listed or ()]
        return structs.replace(
            made.trace,
            citations=None if listed is None else tuple(id for id in ids if id is not None),
            cited=tuple(one for one in listed or () if type(one) is dict) or None,
            retrieved_ids=made.retrieved_ids,
            retrieved=tuple(one for one in made.retrieved or () if type(one) is dict) or None,
        )


def with_payloads(trace: Trace, record: dict[str, Any]) -> Trace:
    """The trace with the chunks and the citations that its record has as objects."""
    more = {"retrieved": _objects(record.get("chunks"))} if trace.retrieved is None else {}
    if trace.cited is None:
        structured = record.get("answer_json")
        structured = structured if type(structured) is dict else {}
        more["cited"] = _objects(record.get("citations")) or _objects(structured.get("citations"))
    found = {name: objects for name, objects in more.items() if objects}
    return structs.replace(trace, **found) if found else trace


def _objects(members: Any) -> tuple[dict[str, Any], ...]:
    """A list of objects; nothing where one of its members is none, such as an id."""
    whole = type(members) is list and all(type(member) is dict for member in members)
    return tuple(members) if whole else ()


_LISTS = ("citations", "retrieved", "retrieved_ids", "chunks", "segments")
"""Fields whose members an audit looks at by itself."""


class Auditable(Struct, frozen=True):
    """A trace with its answer taken apart and what was retrieved, nothing of it checked."""

    trace: Trace
    answer: ParsedAnswer
    retrieved: Sequence[Any] | None
    """Payloads or ids, best first; None where the trace does not tell."""

    @property
    def qid(self) -> str | None:
        return self.trace.qid

    @property
    def q(self) -> str | None:
        return self.trace.q

    @property
    def extra(self) -> dict[str, Any]:
        return self.trace.extra

    @property
    def retrieved_ids(self) -> tuple[str, ...] | None:
        if self.retrieved is None:
            return None
        return tuple(id for chunk in self.retrieved if (id := cited_id(chunk)) is not None)


def read_auditable(record: Any, *, inline: bool = False, trace: Trace | None = None) -> Auditable:
    """The auditable trace of a decoded line; raises BadField with the first field that is wrong.

    With `inline`, markers in the text such as [1] or [p1#2] are citations, too. `trace` is what
    was read of the record before.
    """
    if type(record) is not dict:
        raise BadField("line", expected("an object", record))
    trace = trace or read_trace(_without_lists(record))
    made = Auditable(trace, _parsed_answer(record), _payloads(record))
    return with_inline(made) if inline else made


def auditable_faults(record: Any) -> list[str]:
    """Every fault of a record that `read_auditable` refused."""
    if type(record) is not dict:
        return trace_faults(record)
    faults = trace_faults(_without_lists(record))
    return faults + [f"{field}: {fact}" for field, fact in _list_faults(record)]


def _without_lists(record: dict[str, Any]) -> dict[str, Any]:
    bare = {name: value for name, value in record.items() if name not in _LISTS}
    structured = bare.get("answer_json")
    if type(structured) is dict:
        kept = ("claim", "answer", "constraints_echo", "constraint_lock")
        bare["answer_json"] = {name: structured[name] for name in kept if name in structured}
    return bare


def _list_faults(record: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (name, f"expected a list, got {kind(record[name])}")
        for name in _LISTS
        if name != "citations" and record.get(name) is not None and type(record[name]) is not list
    ]


def _payloads(record: dict[str, Any]) -> Sequence[Any] | None:
    """What was retrieved: payloads where the trace has them, and ids for the rest."""
    for field, fact in _list_faults(record):
        raise BadField(field, fact)
    chunks = record.get("retrieved")
    if chunks is None:
        chunks = record.get("chunks")
    ids = record.get("retrieved_ids")
    if chunks is None or ids is None:
        return chunks if chunks is not None else ids
    known = {cited_id(chunk) for chunk in chunks}
    return [*chunks, *(id for id in ids if cited_id(id) not in known)]


def _parsed_answer(record: dict[str, Any]) -> ParsedAnswer:
    """The answer, from its text or its fields; a list in a field of the trace beats both."""
    structured, text = record.get("answer_json"), record.get("answer")
    reply: str | Mapping[str, Any] = structured if structured is not None else text or ""
    parsed = parse_answer(reply)
    if not parsed.answer and structured is not None and type(text) is str:
        parsed = structs.replace(parsed, answer=text)
    own: dict[str, Any] = {}
    listed = record.get("citations") if record.get("cited") is None else record["cited"]
    if listed is not None:
        fields = parse_answer({"answer": "", "citations": listed})
        own |= {"citations": fields.citations, "cites_first": None}
    if record.get("segments"):
        own["segments"] = parse_answer({"answer": "", "segments": record["segments"]}).segments
    return structs.replace(parsed, **own) if own else parsed


def with_inline(made: Auditable) -> Auditable:
    """The trace with the markers in its answer's text among its citations."""
    marked = inline_markers(made.answer.answer, made.retrieved_ids or ())
    listed = [*(made.answer.citations or ())]
    known = {cited_id(one) for one in listed}
    citations = [*listed, *(id for id in marked if id not in known)]
    first = True if marked else made.answer.cites_first
    answer = structs.replace(made.answer, citations=citations, cites_first=first)
    return structs.replace(made, answer=answer)


SEEN = 1 << 16
"""Bytes of a file that show what it holds."""


class Traces:
    """One source of traces; `columns` says for our fields where this source has them."""

    def __init__(self, source: Source, columns: Columns | None = None) -> None:
        self._source, self.columns = source, dict(columns or {})
        self.is_file = isinstance(source, str | os.PathLike)
        self.name = str(source) if self.is_file else "traces"
        for field in self.columns:
            TRACE.field(field)

    @cached_property
    def again(self) -> bool:
        """Whether it can be read a second time; a pipe or a generator is empty then."""
        if self.is_file:
            return self.name != STDIN and Path(self.name).exists() and not self._is_pipe
        return hasattr(self._source, "__len__") or hasattr(self._source, "iter_rows")

    @cached_property
    def _is_pipe(self) -> bool:
        return not Path(self.name).is_dir() and head_of(self.name) is None

    def nothing(self) -> str | None:
        """That the source is empty, where it is a file that is."""
        return nothing_in(self.name) if self.is_file else None

    def blocks(self) -> Iterator[Block]:
        """Its traces, a line each, in blocks that depend on the source alone."""
        # Imported where a file is opened: processes that score its blocks never need it.
        from ragauge.ingest.envelopes.table import recognised, traces_in

        source, name = self._source, "stdin" if self.name == STDIN else self.name
        if self.is_file and (envelope := recognised(self.name)):
            source = traces_in([self.name], envelope)
        elif self.is_file and not self.columns and not self._is_frame():
            stream = blocks(self.name)
            first = next(stream, None)
            if first is None:
                return
            if _has_lines(first.read()):
                yield first
                yield from stream
                return
            source = b"".join(block.read() for block in chain((first,), stream))
        problems: list[str] = []
        records = Records(source, TRACE, problems, columns=self.columns, name=name)
        held, at, mapped = bytearray(), 0, set[str]()
        for place, value in records.placed():
            if isinstance(value, Mapping):
                row = records.row(place, value)
                records.keys[tuple(row.record)] += 1
                mapped.update(row.written)
                held += _encode(self._named(row, records.tabular)) + b"\n"
            else:
                held += _encode(value) + b"\n"
            if len(held) >= BLOCK:
                yield Block(name, at, len(held), bytes(held))
                at, held = at + len(held), bytearray()
        if held:
            yield Block(name, at, len(held), bytes(held))
        problems += [
            f"{name}: {field}: no trace has {quoted(column)}; {records.there()}"
            for field, column in self.columns.items()
            if records.keys and field not in mapped
        ]
        refuse(problems)

    def _is_frame(self) -> bool:
        path = Path(self.name)
        return self.name != STDIN and (path.is_dir() or is_frame(head_of(self.name) or b""))

    def _named(self, row: Row, tabular: bool) -> dict[str, Any]:
        """A record with mapped columns under our names, and a table's cells as what they hold."""
        values = dict(row.record)
        for field in TRACE.fields:
            written = row.written.get(field.name)
            if written is None:
                continue
            value = row[field.name]
            if tabular:
                with suppress(BadField):  # which the reader of traces will say, with its place
                    value = field.read(value, written, cell=True)
            if field.name in self.columns:
                values.pop(written, None)
                written = RETRIEVED[0] if field.name == "retrieved" else field.name
            values[written] = value
        return with_our_names(values)


def _has_lines(content: bytes) -> bool:
    """Whether a file that begins so is JSON Lines, some of which may be broken."""
    head = content[:SEEN].strip()
    if not head.startswith((b"{", b"[")):
        cells = re.split("[,;\t]", head.partition(b"\n")[0].strip().decode("utf-8", "replace"))
        return not TRACE.reads(tuple(cells))
    if head.startswith(b"[") or has_lines(head):
        return has_lines(head)
    with suppress(BadJson):
        value = decode(content)
        if b"\n" in head:
            return False
        holds = any(isinstance(value.get(key), list) for key in TRACE.wrappers)
        return not (holds or (len(value) > 1 and is_table(value, TRACE)))
    return True


def traces_of(given: Source, columns: Columns | None = None) -> list[Traces]:
    """The sources that somebody means: one, or several paths."""
    if isinstance(given, list | tuple) and all(
        isinstance(one, str | os.PathLike | Traces) for one in given
    ):
        return [one if isinstance(one, Traces) else Traces(one, columns) for one in given]
    return [given if isinstance(given, Traces) else Traces(given, columns)]


def blocks_of(given: Source) -> Iterator[Block]:
    """The blocks of all sources, in their order."""
    return (block for source in traces_of(given) for block in source.blocks())


LOOKED_AT = 5
"""Records of a file that show what it holds."""
TRACE_FIELDS = frozenset(
    (
        *("answer", "answer_json", "response", "generated_answer", "actual_output"),
        *("retrieved", "retrieved_ids", "chunks", "status", "error", "run_id", "latency_ms"),
    )
)
"""Fields that a trace has and a gold question has not."""
GOLD_FIELDS = frozenset(
    ("answerable", "gold_citations", "gold_claim", "gold_claim_substr", "gold_answer")
)


def first_records(source: Source, most: int = LOOKED_AT) -> list[Mapping[str, Any]]:
    """The first records of a source, where its beginning shows them; of a frame, its columns."""
    if isinstance(source, list | tuple):
        return [one for one in source[:most] if isinstance(one, Mapping)]
    if isinstance(source, Mapping):
        return _held(source, most)
    if isinstance(source, str | os.PathLike):
        name, path = str(source), Path(source)
        head = b"" if name == STDIN else beginning(name)
        if not path.is_dir() and not is_frame(head) and path.suffix != ".parquet":
            return _begun(head, most)
    framed = frame_in(source)
    if framed is None:
        return []
    titles = getattr(framed[1], "column_names", None) or framed[1].columns
    return [dict.fromkeys(map(str, titles))]


def _begun(head: bytes, most: int) -> list[Mapping[str, Any]]:
    """The first records of a text, the last of which may be cut."""
    begin = head.lstrip()[:1]
    if begin not in (b"{", b"[") or has_lines(head):
        complete = head.rpartition(b"\n")[0] if len(head) >= SEEN - 3 else head
        form = "jsonl" if begin in (b"{", b"[") else "csv"
        return [one for _, one in islice(Records(complete, TRACE, [], form=form).objects(), most)]
    text = head.decode("utf-8", "replace")
    listed = re.search(r"\[\s*\{", text)
    for start in (text.find("{"), listed.end() - 1 if listed else -1):
        found: list[Mapping[str, Any]] = []
        rest = text[start:] if start >= 0 else ""
        while rest.startswith("{") and len(found) < most:
            try:
                record, end = json.JSONDecoder().raw_decode(rest)
            except (ValueError, RecursionError):
                break
            found.append(record)
            rest = rest[end:].lstrip(" \t\r\n,")
        if found:
            return _held(found[0], most) if begin == b"{" and len(found) == 1 else found
    return []


def _held(value: Mapping[str, Any], most: int) -> list[Mapping[str, Any]]:
    """The first records that an object holds, and itself, unless it is a table of very many."""
    if len(value) > MOST_KEYS:
        return []
    lists = [one for one in value.values() if isinstance(one, list)]
    return [value, *(one for held in lists for one in held[:most] if isinstance(one, Mapping))]


def kind_of_file(name: str) -> Literal["gold", "traces"] | None:
    """Whether a file holds a gold set or traces; None where its beginning does not show it."""
    keys = {key.strip() for record in first_records(name) for key in record}
    if keys & TRACE_FIELDS:
        return "traces"
    return "gold" if keys & GOLD_FIELDS else None


def gold_and_traces(files: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Which of the files of a score is the gold set, if any, and which are the traces.

    The gold set is the first. Raises InputRejected where the files are in another order.
    """
    known = [kind_of_file(name) for name in files]
    if len(files) == 1:
        if known == ["gold"]:
            fact = f"{files[0]}: is a gold set; name the traces after it"
            raise UsageError(f"{fact}: ragauge score {files[0]} TRACES")
        return None, tuple(files)
    if known[0] == "traces" and "gold" in known[1:]:
        gold = files[known.index("gold")]
        others = [name for name in files if name != gold]
        raise InputRejected(
            f"{files[0]} holds traces and {gold} a gold set; the gold set is named first: "
            f"ragauge score {gold} {' '.join(others)}"
        )
    if all(one == "traces" for one in known):
        return None, tuple(files)
    if known[0] == known[1] == "gold":
        raise InputRejected(f"{files[1]}: is a gold set, too; name the traces after {files[0]}")
    return files[0], tuple(files[1:])
