"""One record of an answer, whoever wrote it: ours, ragas's, deepeval's, a score row or a trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ragauge.contracts.answers import AnswerClaim, AnswerKind, AnswerRow
from ragauge.contracts.gold import stratum_text
from ragauge.ingest.answered.written_lists import TEXTS, listed, passages
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    boolean,
    expected,
    kind,
    mapping,
    number,
    quoted,
    text,
)
from ragauge.ingest.placed_records import gathered
from ragauge.text.citations import id_of, split_ids, take_apart

STRATA = (
    *("group", "source", "source_id", "model", "language", "question_type", "answer_type"),
    "task",
)
"""Fields that slice the rows, besides those under `strata`."""
_KINDS: dict[str, AnswerKind] = {
    "qa": "qa",
    "questionanswering": "qa",
    "summary": "summary",
    "summarization": "summary",
    "summarisation": "summary",
    "datatotext": "data_to_text",
    "data2text": "data_to_text",
    "data2txt": "data_to_text",
}


def kind_of(word: str) -> AnswerKind | None:
    """The kind of answer that a word names; None for any other word.

    >>> kind_of("QA"), kind_of("Data2txt"), kind_of("data-to-text"), kind_of("poem")
    ('qa', 'data_to_text', 'data_to_text', None)
    """
    return _KINDS.get(re.sub(r"[\W_]+", "", word).casefold())


def answerable_of_row(record: dict[str, Any]) -> bool | None:
    value = record.get("answerable")
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    return None if value is None else boolean(value, "answerable")


def kind_of_row(record: dict[str, Any]) -> AnswerKind | None:
    """The kind that a row names; another tool's `task` is taken for it where it can be."""
    value = record.get("kind")
    if value is None:
        task = record.get("task")
        return kind_of(task) if isinstance(task, str) else None
    found = kind_of(text(value, "kind"))
    if found is None:
        known = ", ".join(dict.fromkeys(_KINDS.values()))
        raise BadField("kind", f"{quoted(value)} is none of {known}")
    return found


def label_of_row(record: dict[str, Any]) -> float | None:
    value = record.get("label")
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise BadField("label", expected("a number from 0 to 1", value)) from None
    found = float(value) if isinstance(value, bool) else number(value, "label")
    if not 0 <= found <= 1:
        raise BadField("label", f"{found} is not from 0 to 1")
    return found


def strata_of_row(record: dict[str, Any]) -> dict[str, str]:
    own = {} if "strata" not in record else mapping(record["strata"], "strata")
    slices = {
        name: record[name]
        for name in STRATA
        if isinstance(record.get(name), str | int) and record[name] != ""
    }
    found = {}
    for name, value in {**slices, **own}.items():
        if isinstance(value, list | dict):
            fact = f"expected text, a number or a boolean, got {kind(value)}"
            raise BadField(f"strata.{name}", fact)
        written = stratum_text(value)
        if written is not None:
            found[name] = written
    return found


IDS = ("id", "qid", "q_id", "sample_id", "row_id", "question_id")
QUESTIONS = ("question", "q", "user_input", "input", "query")
ANSWERS = ("answer", "response", "actual_output", "actualOutput", "answer_json", "claim")
CONTEXTS = (
    *("contexts", "retrieved_contexts", "retrieval_context", "retrievalContext", "context"),
    *("retrieved", "chunks", "documents", "passages", "retrieved_documents", "source_documents"),
)
REFERENCES = (
    *("references", "reference", "gold_answer", "gold_claim", "ground_truth", "ground_truths"),
    *("expected_output", "expectedOutput"),
)
FACTS = ("facts", "supporting_facts")
CITED = ("cited", "citations")
CONVERSATIONS = ("turns", "messages")
_MULTI_TURN = (
    "is a conversation of several turns; one answer a row is measured: write the last question "
    "and the last answer"
)
ONE_TEXT = ("answer", "response", "actual_output", "actualOutput")
"""Fields that hold the whole answer and nothing but it."""

Parts = dict[str, Callable[[dict[str, Any]], Any]]


def row_of(record: Any, id: str, where: str) -> AnswerRow:
    """The row a record is; raises BadRecord with every field that is wrong."""
    if not isinstance(record, Mapping):
        raise BadRecord([BadField("record", expected("an object with an answer", record))])
    fields = {name: value for name, value in record.items() if not is_missing(value)}
    known = gathered((name, partial(read, fields)) for name, read in _PARTS.items())
    return AnswerRow(id=id, where=where, **known)


def has_answer_field(record: Mapping[str, Any]) -> bool:
    """Whether a record has a place for an answer, filled or not."""
    return any(name in record for name in ANSWERS)


def is_conversation(record: Mapping[str, Any]) -> bool:
    """Whether a record holds messages in place of a question and its answer."""
    return any(isinstance(record.get(name), list) for name in (*CONVERSATIONS, *QUESTIONS))


def rival_answers(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields whose answers differ, the one that is measured first; empty where none do.

    >>> rival_answers({"response": "b", "answer": "a"}), rival_answers({"answer": "a"})
    (('answer', 'response'), ())
    """
    told = {name: record.get(name) for name in ONE_TEXT}
    texts = {name: one.strip() for name, one in told.items() if isinstance(one, str)}
    filled = {name: one for name, one in texts.items() if one}
    return tuple(filled) if len(set(filled.values())) > 1 else ()


def is_missing(value: Any) -> bool:
    """None, or what a frame of numbers has in its place."""
    return value is None or (isinstance(value, float) and value != value)


def own_id(record: Any) -> str | int | None:
    """What a record calls itself; None where it has no name."""
    if not isinstance(record, Mapping):
        return None
    for name in IDS:
        value = record.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and value.strip():
            return value
    return None


def _first(record: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, str]:
    name = next((name for name in names if name in record), names[0])
    return record.get(name), name


def _question(record: dict[str, Any]) -> str | None:
    for name in CONVERSATIONS:
        if isinstance(record.get(name), list):
            raise BadField(name, _MULTI_TURN)
    value, name = _first(record, QUESTIONS)
    if isinstance(value, list):
        raise BadField(name, _MULTI_TURN)
    return None if value is None else text(value, name).strip() or None


def _answer(record: dict[str, Any]) -> str | None:
    """The answer's text; None for an empty one, and where the system says that it failed."""
    value, name = _first(record, ANSWERS)
    if record.get("status") == "error" or value is None:
        return None
    if isinstance(value, dict):
        claim = value.get("claim") or value.get("answer")
        if claim is None:
            return None
        value, name = claim, f"{name}.claim"
    elif name == "answer" and isinstance(value, str) and _is_trace(record):
        value = take_apart(value).claim
    return value if text(value, name).strip() else None


def _is_trace(record: dict[str, Any]) -> bool:
    """Whether the answer is in a trace, where claim and citations stand in one text."""
    return "chunks" in record or "retrieved_ids" in record or "retrieved" in record


def _contexts(record: dict[str, Any]) -> Any:
    value, name = _first(record, CONTEXTS)
    if value is None:
        return None
    # A trace may hold the ids of its passages alone.
    if name in ("retrieved", "chunks") and isinstance(value, list):
        for one in value:
            has_text = isinstance(one, Mapping) and any(one.get(key) is not None for key in TEXTS)
            if not has_text and not isinstance(one, str):
                return None
    return passages(value, name)


def _references(record: dict[str, Any]) -> tuple[str, ...]:
    value, name = _first(record, REFERENCES)
    if value is None:
        return ()
    if isinstance(value, str) and name != "references":
        return tuple(_filled([value], name))
    if isinstance(value, int | float):
        raise BadField(name, f"{expected('text', value)}; write it in quotes")
    return tuple(_filled(listed(value, name), name))


def _facts(record: dict[str, Any]) -> tuple[str, ...]:
    value, name = _first(record, FACTS)
    if value is None:
        return ()
    written = [
        one.get("text") or one.get("fact") if isinstance(one, dict) else one
        for one in listed(value, name)
    ]
    return tuple(_filled(written, name))


def _claims(record: dict[str, Any]) -> tuple[AnswerClaim, ...] | None:
    """The claims a row lists; an object is what `ragauge diagnose` reads, and is left to it."""
    value = record.get("claims")
    if value is None or isinstance(value, Mapping):
        return None
    claims = []
    for place, one in enumerate(listed(value, "claims")):
        field = f"claims[{place}]"
        if not isinstance(one, Mapping):
            claims.append(AnswerClaim(text(one, field)))
            continue
        name = "text" if "claim" not in one and "text" in one else "claim"
        verifiable = boolean(one.get("verifiable", True), f"{field}.verifiable")
        claims.append(AnswerClaim(text(one.get(name), f"{field}.{name}"), verifiable))
    return tuple(claims)


def _filled(values: list[Any], field: str) -> list[str]:
    """The texts of a list that say something."""
    each = [text(one, f"{field}[{place}]") for place, one in enumerate(values)]
    return [one for one in each if one.strip()]


def _cited(record: dict[str, Any]) -> tuple[str, ...] | None:
    value, name = _first(record, CITED)
    structured = record.get("answer_json")
    if value is None and isinstance(structured, dict):
        value, name = structured.get("citations"), "answer_json.citations"
    if value is None:
        answer = record.get("answer")
        traced = isinstance(answer, str) and _is_trace(record)
        return take_apart(answer).citations if traced and isinstance(answer, str) else None
    ids = []
    for place, one in enumerate(_cited_list(value, name)):
        id = str(one) if isinstance(one, int) else one if isinstance(one, str) else id_of(one)
        if not id:
            raise BadField(f"{name}[{place}]", expected("the id of a context", one))
        ids.append(id)
    return tuple(dict.fromkeys(ids))


def _cited_list(value: Any, field: str) -> list[Any]:
    """Ids as a list, or as a text that has them in a row, in brackets or not."""
    try:
        found = listed(value, field)
    except BadField:
        if isinstance(value, str):
            return list(split_ids(value))
        raise
    return list(split_ids(value)) if isinstance(value, str) and found == [value] else found


_PARTS: Parts = {
    "question": _question,
    "answer": _answer,
    "contexts": _contexts,
    "references": _references,
    "facts": _facts,
    "claims": _claims,
    "cited": _cited,
    "answerable": answerable_of_row,
    "kind": kind_of_row,
    "label": label_of_row,
    "strata": strata_of_row,
}
