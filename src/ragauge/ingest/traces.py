"""Traces in their dialects.

A    `{ts, q|question, chunks: [{id, …}], answer: text, ok, citations?}`
B    `{qid|q_id, q, retrieved_ids, answer_json: {claim, citations, constraints_echo?}, …}`
ours B plus what a sweep knows of the run: seed, temperature, jitter, status, retrieved, …
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.ingest.fields import (
    BadField,
    Check,
    boolean,
    expected,
    kind,
    mapping,
    mappings,
    number,
    quoted,
    text,
    texts,
    whole,
)
from ragauge.text.citations import id_of, split_ids, unique


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
    if type(qid) is not str:
        raise BadField(field, expected("text", qid))
    if not qid.strip():
        raise BadField(field, "is empty")
    return qid


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
        return unique(split_ids(value))
    return unique(_ids(value, field))


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
    remedy = f'; write "{member}"' if type(member) is int else ""
    raise BadField(field, f"expected an id as text, got {kind(member)}{remedy}")


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
