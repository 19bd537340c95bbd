"""Traces in their dialects.

A    `{ts, q|question, chunks: [{id, …}], answer: text, ok, citations?}`
B    `{qid|q_id, q, retrieved_ids, answer_json: {claim, citations, constraints_echo?}, …}`
ours B plus what a sweep knows of the run: seed, temperature, jitter, status, retrieved, …
"""

from __future__ import annotations

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
    text,
    texts,
    whole,
)
from ragauge.text.citations import id_of, split_ids, unique

_NO_EXTRA: dict[str, Any] = {}


def read_trace(record: Any) -> Trace:
    """The trace a decoded line holds; raises BadField with the first field that is wrong."""
    if type(record) is not dict:
        raise BadField("line", expected("an object", record))
    get = record.get
    structured = get("answer_json")
    retrieved = get("retrieved_ids")
    return Trace(
        qid=_qid(record),
        q=_question(record),
        answer=_answer(record),
        answer_json=None if structured is None else _structured(structured),
        citations=_citations(get("citations"), "citations"),
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
    if type(answer) is str:
        return StructuredAnswer(claim=answer)
    if type(answer) is not dict:
        raise BadField("answer_json", expected("an object with claim and citations", answer))
    claim = answer.get("claim")
    field = "claim"
    if claim is None:
        claim, field = answer.get("answer"), "answer"
    echo = answer.get("constraints_echo")
    return StructuredAnswer(
        claim=None if claim is None else text(claim, f"answer_json.{field}"),
        citations=_citations(answer.get("citations"), "answer_json.citations"),
        constraints_echo=None if echo is None else texts(echo, "answer_json.constraints_echo"),
    )


def _citations(value: Any, field: str) -> tuple[str, ...] | None:
    """Cited ids, each once; text is read as a written list, objects by their id."""
    if value is None:
        return None
    if type(value) is str:
        return unique(split_ids(value))
    if type(value) is not list:
        raise BadField(field, f"expected a list of ids, got {kind(value)}")
    return unique(_ids(value, field))


def _ids(value: Any, field: str) -> Any:
    if type(value) is not list:
        raise BadField(field, f"expected a list of ids, got {kind(value)}")
    for member in value:
        if type(member) is not str or not member:
            return tuple(_id(member, f"{field}[{place}]") for place, member in enumerate(value))
    return tuple(value)


def _id(member: Any, field: str) -> str:
    id = id_of(member)
    if id is None:
        if type(member) is dict:
            raise BadField(field, "has no id; give it an id or a snippet_id")
        if member == "":
            raise BadField(field, "is empty")
        raise BadField(field, f"expected an id as text, got {kind(member)}")
    return id


def _retrieved(record: dict[str, Any]) -> tuple[str, ...] | None:
    """Retrieved ids from the payloads (ours) or the chunks (dialect A)."""
    for field in ("retrieved", "chunks"):
        members = record.get(field)
        if members is not None:
            if type(members) is not list:
                raise BadField(field, f"expected a list of chunks, got {kind(members)}")
            return tuple(
                [
                    id
                    if type(member) is dict and type(id := member.get("id")) is str and id
                    else _id(member, f"{field}[{place}]")
                    for place, member in enumerate(members)
                ]
            )
    return None


def _status(value: Any, field: str) -> str:
    if value not in ("ok", "error"):
        raise BadField(field, f'expected "ok" or "error", got {value!r:.30}')
    return str(value)


def _timestamp(value: Any, field: str) -> float | str:
    """Seconds since 1970; milliseconds are recognised by their size; text is kept."""
    if type(value) is str:
        return value
    stamp = number(value, field)
    return stamp / 1000 if stamp > 1e11 else stamp


def _number_or_text(value: Any, field: str) -> int | str:
    return value if type(value) is str else whole(value, field)


def _error(value: Any, field: str) -> str:
    if type(value) is dict:
        return str(value.get("message") or value)
    return text(value, field)


_OTHERS: dict[str, Check] = {
    "attempt": whole,
    "error": _error,
    "jitter": text,
    "labels": mapping,
    "latency_ms": number,
    "ok": boolean,
    "paraphrase": _number_or_text,
    "question_sent": text,
    "reason": text,
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
}
_READ = frozenset(
    [
        "qid",
        "q_id",
        "q",
        "question",
        "answer",
        "answer_json",
        "citations",
        "retrieved_ids",
        "chunks",
    ]
)


def _others(record: dict[str, Any]) -> dict[str, Any]:
    """The remaining fields, checked; unknown ones gathered under `extra`."""
    found: dict[str, Any] = {}
    for key in record.keys() - _READ:
        value = record[key]
        if value is None:
            continue
        check = _OTHERS.get(key)
        if check:
            found[key] = check(value, key)
        else:
            found.setdefault("extra", {})[key] = value
    return found


def trace_faults(record: Any) -> list[str]:
    """Every fault of a record that `read_trace` refused, not the first alone."""
    if type(record) is not dict:
        return [str(BadField("line", expected("an object", record)))]
    get = record.get
    checks = [
        lambda: _qid(record),
        lambda: _question(record),
        lambda: _answer(record),
        lambda: get("answer_json") is None or _structured(get("answer_json")),
        lambda: _citations(get("citations"), "citations"),
        lambda: _retrieved(record),
        lambda: get("retrieved_ids") is None or _ids(get("retrieved_ids"), "retrieved_ids"),
    ]
    checks += [lambda key=key: _others({key: record[key]}) for key in sorted(record)]
    faults = []
    for check in checks:
        try:
            check()
        except BadField as fault:
            faults.append(str(fault))
    return list(dict.fromkeys(faults))
