"""Answers to be measured, whoever wrote them: ours, ragas's, deepeval's, LangChain's, or traces."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from ragauge.contracts.answers import AnswerClaim, AnswerKind, AnswerRow
from ragauge.contracts.gold import stratum_text
from ragauge.contracts.report import Finding, Findings
from ragauge.contracts.trace import Trace
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    Columns,
    Field,
    Shape,
    anything,
    boolean,
    expected,
    number,
    quoted,
    refuse,
    slices,
    squeezed,
    text,
    unlike,
)
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.records import Records, Row, Source
from ragauge.ingest.written_lists import listed, passages, text_of
from ragauge.text.citations import id_of, split_ids, take_apart

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
_MULTI_TURN = (
    "is a conversation of several turns; one answer a row is measured: write the last question "
    "and the last answer"
)
ONE_TEXT = ("answer", "response", "actual_output", "actualOutput")
"""Fields that hold the whole answer and nothing but it."""
_OF_TRACES = ("chunks", "retrieved_ids", "retrieved")
"""Fields that a trace has, in whose answer claim and citations are in one text."""
MISSING = frozenset(("", "nan", "NaN"))
"""What a table's cell holds where there is nothing: pandas writes so for a missing value."""


def own_id(value: Any, field: str) -> str | int | None:
    """What a row is called; None where that is nothing to call it by."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return value if isinstance(value, str) and value.strip() else None


def _question(value: Any, field: str) -> str | None:
    if isinstance(value, list):
        raise BadField(field, _MULTI_TURN)
    return text(value, field).strip() or None


def _no_turns(value: Any, field: str) -> None:
    if isinstance(value, list):
        raise BadField(field, _MULTI_TURN)


def _answer(value: Any, field: str) -> str | None:
    if not isinstance(value, Mapping):
        return text(value, field)
    claim = value.get("claim") or value.get("answer")
    return None if claim is None else text(claim, f"{field}.claim")


def _contexts(value: Any, field: str) -> Any:
    # A trace may hold the ids of its passages alone.
    if squeezed(field) in _OF_TRACES and isinstance(value, list):
        for one in value:
            if not isinstance(one, str) and (not isinstance(one, Mapping) or text_of(one) is None):
                return None
    return passages(value, field)


def references_in(value: Any, field: str) -> tuple[str, ...]:
    """The texts that are each a right answer; a text alone is one, whatever it looks like."""
    if isinstance(value, int | float):
        raise BadField(field, f"{expected('text', value)}; write it in quotes")
    if isinstance(value, Mapping) and isinstance(value.get("text"), list):  # as SQuAD has answers
        value = value["text"]
    alone = isinstance(value, str) and field != "references"
    return _filled([value] if alone else listed(value, field), field)


def _facts(value: Any, field: str) -> tuple[str, ...]:
    written = [
        one.get("text") or one.get("fact") if isinstance(one, dict) else one
        for one in listed(value, field)
    ]
    return _filled(written, field)


def _filled(values: list[Any], field: str) -> tuple[str, ...]:
    """The texts of a list that say something."""
    each = [text(one, f"{field}[{place}]") for place, one in enumerate(values)]
    return tuple(one for one in each if one.strip())


def _claims(value: Any, field: str) -> tuple[AnswerClaim, ...] | None:
    """The claims a row lists; an object is what `ragauge diagnose` reads, and is left to it."""
    if isinstance(value, Mapping):
        return None
    claims = []
    for place, one in enumerate(listed(value, field)):
        at = f"{field}[{place}]"
        if not isinstance(one, Mapping):
            claims.append(AnswerClaim(text(one, at)))
            continue
        name = "text" if "claim" not in one and "text" in one else "claim"
        verifiable = boolean(one.get("verifiable", True), f"{at}.verifiable")
        claims.append(AnswerClaim(text(one.get(name), f"{at}.{name}"), verifiable))
    return tuple(claims)


def _cited(value: Any, field: str) -> tuple[str, ...]:
    """Ids in a list, or in a text that has them in a row, in brackets or not."""
    try:
        found = listed(value, field)
    except BadField:
        if not isinstance(value, str):
            raise
        found = [value]
    if isinstance(value, str) and found == [value]:
        found = list(split_ids(value))
    ids = []
    for place, one in enumerate(found):
        id = str(one) if isinstance(one, int) else one if isinstance(one, str) else id_of(one)
        if not id:
            raise BadField(f"{field}[{place}]", expected("the id of a context", one))
        ids.append(id)
    return tuple(dict.fromkeys(ids))


def _answerable(value: Any, field: str) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    return boolean(value, field)


def kind_of(word: str) -> AnswerKind | None:
    """The kind of answer that a word names; None for any other word.

    >>> kind_of("QA"), kind_of("Data2txt"), kind_of("data-to-text"), kind_of("poem")
    ('qa', 'data_to_text', 'data_to_text', None)
    """
    return _KINDS.get(re.sub(r"[\W_]+", "", word).casefold())


def _kind(value: Any, field: str) -> AnswerKind:
    found = kind_of(text(value, field))
    if found is None:
        known = ", ".join(dict.fromkeys(_KINDS.values()))
        raise BadField(field, f"{quoted(value)} is none of {known}")
    return found


def _label(value: Any, field: str) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise BadField(field, expected("a number from 0 to 1", value)) from None
    found = float(value) if isinstance(value, bool) else number(value, field)
    if not 0 <= found <= 1:
        raise BadField(field, f"{found} is not from 0 to 1")
    return found


def _slice(value: Any, field: str) -> str | int | None:
    return value if isinstance(value, str | int) and value != "" else None


def _strata(value: Any, field: str) -> dict[str, Any]:
    if isinstance(value, str):  # the text of a table's cell
        try:
            value = decode(value.encode())
        except (BadJson, UnicodeEncodeError):
            raise BadField(field, expected("an object", value)) from None
    return slices(value, field)


ID = Field(
    "id",
    own_id,
    "What the row is called; else its number among the rows.",
    aliases=("qid", "q_id", "sample_id", "row_id", "question_id", "run_id"),
    says="text or whole number",
)
QUESTION = Field(
    "question",
    _question,
    "What the system was asked.",
    aliases=("q", "user_input", "input", "query"),
)
ANSWER_TEXT = Field(
    "answer",
    _answer,
    "What the system answered; empty or null where it gave no answer.",
    aliases=(
        *(*ONE_TEXT[1:], "answer_json", "claim"),
        *("generated_answer", "result", "output", "prediction"),
    ),
)
CONTEXTS = Field(
    "contexts",
    _contexts,
    "The passages that the answer could rest on: texts, or objects with an id and a text; also "
    "`sources`, where these are such objects.",
    aliases=(
        *("retrieved_contexts", "retrieval_context", "retrievalContext", "context", "retrieved"),
        *("chunks", "documents", "passages", "retrieved_documents", "source_documents"),
        *("retrieved_context", "source_nodes"),
    ),
    many=True,
)
REFERENCES = Field(
    "references",
    references_in,
    "Right answers, each of them enough.",
    aliases=(
        *("reference", "gold_answer", "gold_claim", "ground_truth", "ground_truths"),
        *("expected_output", "expectedOutput"),
        *("expected", "expected_answer", "correct_answer", "ideal"),
    ),
    many=True,
)
FACTS = Field(
    "facts", _facts, "What a right answer rests on.", aliases=("supporting_facts",), many=True
)
CITED = Field(
    "cited",
    _cited,
    "Ids of contexts that the answer cites, besides the markers in its text.",
    aliases=("citations", "answer_json.citations"),
    many=True,
    hints=("sources",),
)
ANSWERABLE = Field(
    "answerable", _answerable, "Whether the question can be answered.", says="true or false"
)
KIND = Field("kind", _kind, "What kind of text the answer is: qa, summary or data_to_text.")
LABEL = Field(
    "label", _label, "What people said of the answer, 0 to 1; for calibration.", says="number"
)
STATUS = Field(
    "status", anything, "`error` where the system failed: the row has no answer.", says="text"
)
TURNS = Field(
    "turns", _no_turns, "A conversation, which is refused.", aliases=("messages",), says="list"
)
STRATA = Field(
    "strata", _strata, "What the row is sliced by, besides the fields for it.", says="object"
)
SLICES = tuple(
    Field(name, _slice, "What the row is sliced by.")
    for name in (
        *("group", "source", "source_id", "model", "language", "question_type", "answer_type"),
        "task",
    )
)
_SLICED = frozenset(field.name for field in SLICES)
ANSWER = Shape(
    name="answer",
    doc="An answer with what it was made from and what it should say.",
    fields=(
        *(ID, TURNS, QUESTION, ANSWER_TEXT, CONTEXTS, REFERENCES, FACTS),
        Field("claims", _claims, "The claims of the answer; else its sentences.", many=True),
        *(CITED, ANSWERABLE, KIND, LABEL, STATUS, *SLICES, STRATA),
    ),
    wrappers=(
        *("testCases", "test_results", "testResults", "rows", "results", "data", "goldens"),
        *("test_cases", "samples", "questions", "examples"),
    ),
    empty_cells=MISSING,
    own=("answer",),
    imported=True,
    elsewhere=frozenset(Trace.__struct_fields__),
    refused=tuple(
        (key, "conversations; one answer a row is measured")
        for key in ("conversationalTestCases", "conversational_test_cases")
    ),
)


class Rejected(Struct, frozen=True, kw_only=True):
    """A row of the input that could not be taken, under the name it would have had."""

    unit: str
    given: str | int | None
    facts: tuple[str, ...]
    """What is wrong with it, field by field."""


class Answered(Struct, frozen=True, kw_only=True):
    """The rows of a file in its order."""

    rows: list[AnswerRow]
    """Each under an id of its own; one that is there twice gets a number."""
    given: list[str | int | None]
    """What each row calls itself, as it is written; None where it is called after its place."""
    rejected: dict[int, Rejected]
    """By their place among all rows of the input, counted from 0, those that are left out."""
    records: int
    """All that were there, good or bad."""
    duplicates: int
    unread: tuple[str, ...]
    """The columns that no field reads."""

    def every(self) -> list[AnswerRow | Rejected]:
        """All rows of the input in their order, those that are left out too."""
        taken = iter(self.rows)
        return [
            self.rejected.get(place) or next(taken)
            for place in range(len(self.rows) + len(self.rejected))
        ]


def with_sources(record: Any) -> Any:
    """A record whose `sources` are passages has them as contexts; names of sources are left."""
    if not isinstance(record, Mapping) or "sources" not in record:
        return record
    sources = record["sources"]
    if (
        isinstance(sources, list)
        and sources
        and all(isinstance(one, Mapping) and text_of(one) is not None for one in sources)
        and not any(record.get(name) is not None for name in CONTEXTS.names)
    ):
        return {"source_documents" if key == "sources" else key: record[key] for key in record}
    return record


def answers_in(
    source: Source,
    problems: list[str],
    *,
    shape: Shape = ANSWER,
    form: str | None = None,
    name: str = "rows",
    columns: Columns | None = None,
) -> Records:
    """The records of answers in a source, unchecked; `answer_of` makes the row of one."""
    return Records(
        source, shape, problems, form=form, name=name, columns=columns, adapt=with_sources
    )


def answer_of(records: Records, row: Row, id: str) -> AnswerRow:
    """The answer that a record is; raises BadRecord with every field that is wrong."""
    if row["status"] == "error":
        row.values.pop("answer", None)
    records.check(row)
    values = row.values
    answer, cited, kind = values.get("answer"), values.get("cited"), values.get("kind")
    if (
        answer is not None
        and row.written["answer"] == "answer"
        and not row.record.keys().isdisjoint(_OF_TRACES)
        and isinstance(row.record["answer"], str)
    ):
        taken = take_apart(answer)
        answer, cited = taken.claim, taken.citations if cited is None else cited
    if kind is None and isinstance(values.get("task"), str):
        kind = kind_of(values["task"])  # another tool's word for it, where it is one of ours
    return AnswerRow(
        id=id,
        answer=answer if answer is not None and answer.strip() else None,
        question=values.get("question"),
        contexts=values.get("contexts"),
        references=values.get("references", ()),
        facts=values.get("facts", ()),
        claims=values.get("claims"),
        answerable=values.get("answerable"),
        cited=cited,
        kind=kind,
        label=values.get("label"),
        strata=strata_in(row),
        where=row.place,
    )


def strata_in(row: Row) -> dict[str, str]:
    """What a checked row is sliced by."""
    strata = {name: value for name, value in row.values.items() if name in _SLICED}
    strata |= row.values.get("strata") or {}
    written = {name: stratum_text(value) for name, value in strata.items()}
    return {name: value for name, value in written.items() if value is not None}


def rival_answers(row: Row) -> tuple[str, ...]:
    """The fields whose answers differ, the one that is measured first; empty where none do."""
    there = [name for name in ONE_TEXT if isinstance(row.record.get(name), str)]
    filled = {name: one for name in there if (one := row.record[name].strip())}
    return tuple(filled) if len(set(filled.values())) > 1 else ()


def read_answers(
    source: Source,
    problems: list[str],
    findings: Findings,
    form: str | None = None,
    name: str = "rows",
    *,
    joined: bool = False,
    columns: Columns | None = None,
) -> Answered:
    """The rows of a source; what is wrong with them goes into the list.

    Rows that are joined to questions need no id, and one of a question may follow another: then
    neither is a finding.
    """
    begin = len(problems)
    records = answers_in(source, problems, form=form, name=name, columns=columns)
    found = list(records.rows())
    if not found and not records.unreadable:
        refuse(problems)
    total = len(found) + len(records.unreadable)
    reads = {field.name for keys in records.keys for field, _ in ANSWER.reads(keys, columns)}
    conversations = any(isinstance(row["question"], list) or row["turns"] for row in found)
    if found and "answer" not in reads and not conversations:
        fact = f"no row has an answer ({', '.join(ANSWER_TEXT.names[:8])}, …)"
        fact = f"{fact}; {records.there()}: name it with --map answer=COLUMN"
        problems.insert(begin, f"{records.name}: {fact}")
        total = 0
    places: dict[str, str] = {}
    rows: list[AnswerRow] = []
    names: list[str | int | None] = []
    rejected: dict[int, Rejected] = {}
    duplicates, left = 0, iter(found)
    for place in range(1, total + 1):
        lost = records.unreadable.get(place - 1)
        row = Row(lost.place, {}, {}, {}) if lost else next(left)
        given = own_id(row["id"], "id")
        known = str(place) if given is None else str(given)
        unit = unlike(known, places)
        places[unit] = row.place
        if lost:
            fact = lost.fact if lost.fact.startswith("record: ") else f"line: {lost.fact}"
            rejected[place - 1] = Rejected(unit=unit, given=None, facts=(fact,))
            continue
        try:
            answer = answer_of(records, row, unit)
        except BadRecord as fault:
            facts = tuple(map(str, fault.fields))
            rejected[place - 1] = Rejected(unit=unit, given=given, facts=facts)
            problems += [f"{row.place}: {fact}" for fact in facts]
            continue
        rows.append(answer)
        names.append(given)
        if given is None and not joined:
            fact = f"has no id; it is called {quoted(unit)}, after its place among the rows"
            findings.add(Finding("made_id", row.place, fact))
        elif unit != str(given) and not joined:
            duplicates += 1
            fact = f"{quoted(str(given))} is at {places[str(given)]} already"
            findings.add(Finding("duplicate_id", row.place, f"{fact}; this one counts as {unit}"))
        if answer.answer is None:
            fact = f"{quoted(unit)} has no answer: an error record, in no number that reads one"
            findings.add(Finding("no_answer", row.place, fact))
        if rivals := rival_answers(row):
            fact = f"{' and '.join(rivals)} of {quoted(unit)} differ; {rivals[0]} is measured"
            findings.add(Finding("rival_answers", row.place, fact))
    return Answered(
        rows=rows,
        given=names,
        rejected=rejected,
        records=records.seen,
        duplicates=duplicates,
        unread=records.note_unread(findings),
    )
