"""Gold sets: questions, and what a right answer to each of them holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from ragauge.contracts.gold import Chunk, Gold, GoldMetadata, GoldSet, Span
from ragauge.contracts.report import Findings
from ragauge.ingest.fields import (
    STRATA,
    STRATUM,
    BadField,
    Check,
    Columns,
    Field,
    Shape,
    all_filled,
    an_id,
    boolean,
    filled,
    mapping,
    quoted,
    refuse,
    slices,
    text,
    whole,
)
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.records import Records, Row, Source

LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e9
SAY_IT = "missing; write true or false"
EXTRA = "extra"
"""The column of a table that holds what cannot be a column."""
METADATA = GoldMetadata.__struct_fields__
EMPTY: dict[str, Any] = {"gold_answer": "", "gold_citations": [], "gold_claim_substr": []}
"""What fields that have other names hold where they hold nothing; a question always asks."""
CLOSE = 0.8
"""How much alike a misspelt key of the metadata is to the one that was meant."""
_JSON_STARTS = {*'"[{-0123456789tfn'}


def free_cell(cell: str, field: str) -> Any:
    """The JSON value a cell holds, else its text."""
    try:
        return decode(cell.encode()) if cell.lstrip()[:1] in _JSON_STARTS else cell
    except BadJson:
        return cell


def _text_cell(cell: str, field: str) -> str:
    """The text of a cell: as it is, or out of JSON quotes."""
    value = free_cell(cell, field) if cell.startswith('"') else cell
    return value if type(value) is str else cell


def _list_cell(cell: str, field: str) -> list[Any]:
    value = free_cell(cell, field) if cell.startswith("[") else None
    return value if type(value) is list else [part.strip() for part in cell.split("|")]


def _phrases(value: Any, field: str) -> tuple[str, ...]:
    """Texts, or answers with their places, as SQuAD has them by row and Hugging Face by column."""
    if type(value) is str:
        raise BadField(field, f"expected a list of texts, got text; write [{quoted(value)}]")
    found = value.get("text") if type(value) is dict else value
    if type(found) is list:
        found = [one.get("text") if type(one) is dict else one for one in found]
    return all_filled(found, field)


def _wording(value: Any, field: str) -> str | None:
    """An unanswerable question often has an empty one."""
    return None if value == "" else filled(value, field)


def _name(value: Any, field: str) -> str:
    """An id, which may be empty."""
    return str(value) if type(value) is int else text(value, field)


def _span(value: Any, field: str) -> Span:
    part = mapping(value, field)
    for name in ("doc_id", "section_id", "start", "end"):
        if name not in part:
            raise BadField(f"{field}.{name}", "missing")
    span = Span(
        _name(part["doc_id"], f"{field}.doc_id"),
        _name(part["section_id"], f"{field}.section_id"),
        whole(part["start"], f"{field}.start"),
        whole(part["end"], f"{field}.end"),
        None if part.get("rev") is None else text(part["rev"], f"{field}.rev"),
    )
    if span.start < 0:
        raise BadField(f"{field}.start", f"{span.start} is below zero")
    if span.start >= span.end:
        raise BadField(field, f"start {span.start} is not before end {span.end}")
    return span


def _weight(value: Any, field: str) -> float | None:
    # Beyond these bounds a sum of weights overflows, or one question no longer counts at all.
    if type(value) not in (int, float) or not LEAST_WEIGHT <= value <= MOST_WEIGHT:
        wanted = f"expected a number from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}"
        raise BadField(field, f"{wanted}, got {value!r:.40}; divide all weights by one number")
    return None if value == 1 else float(value)


def _ids(value: Any, field: str) -> tuple[str, ...]:
    numbers = type(value) is list and any(type(one) is int for one in value)
    return all_filled(
        [str(one) if type(one) is int else one for one in value] if numbers else value, field
    )


def _list(name: str, doc: str, *aliases: str, check: Check = all_filled) -> Field:
    return Field(name, check, doc, aliases=aliases, many=True, cell=_list_cell)


def _place(name: str, doc: str) -> Field:
    doc = f"{doc}: doc_id, section_id, start and end in characters, perhaps rev."
    return Field(name, _span, doc, cell=free_cell)


ANSWERS = "answers"
GOLD = Shape(
    name="gold question",
    doc="A question, whether it can be answered, and what a right answer holds.",
    fields=(
        Field(
            "qid",
            an_id,
            "Its id, which stays the same from run to run.",
            aliases=("id", "question_id", "q_id"),
            missing="missing; give each question an id of its own",
            cell=_text_cell,
        ),
        Field(
            "question",
            filled,
            "What is asked.",
            aliases=("q", "user_input", "input", "query"),
            missing="missing; write what was asked",
            cell=_text_cell,
        ),
        Field(
            "answerable",
            boolean,
            "Whether the documents answer it. Where there are `answers`, it may be absent: a "
            "question without any of them has none.",
        ),
        Field(
            "gold_claim_substr",
            _phrases,
            "Phrases, any of which makes the claim right.",
            aliases=(ANSWERS,),
            many=True,
            cell=_list_cell,
        ),
        Field("gold_claim", _wording, "The right claim, in words.", cell=_text_cell),
        Field(
            "gold_answer",
            _wording,
            "The right answer, in words.",
            aliases=("reference", "ground_truth", "expected_output"),
            cell=_text_cell,
        ),
        _list(
            "gold_citations",
            "Ids of chunks: citing any of them is a hit.",
            *("gold_ids", "reference_context_ids", "gold_relevant"),
            check=_ids,
        ),
        _list("constraints", "Sentences that the answer must repeat."),
        _list("paraphrases", "The question in other words."),
        _place("target_section", "The section that answers it"),
        _place("anchor", "The passage that answers it"),
        _place("decoy", "A passage that looks like the answer, and is not"),
        Field(STRATA, slices, "Anything to slice by, such as country or question_type."),
        Field(
            "weight",
            _weight,
            "How many questions of the population it represents, where the set is a sample.",
            cell=free_cell,
        ),
    ),
    wrappers=("data", "goldens", "test_cases", "samples", "questions", "examples"),
    keeps=True,
)
_NAMES = frozenset(name for field in GOLD.fields for name in field.names)


def read_gold(source: Source, columns: Columns | None = None) -> GoldSet:
    """The questions of a gold set, in its order; raises InputRejected with all that is wrong."""
    if isinstance(source, GoldSet):
        return source
    problems: list[str] = []
    records = GoldRecords(source, GOLD, problems, columns=columns)
    questions = [records.question(row) for row in records.once("qid")]
    refuse(problems)
    return records.gold_set(questions)


class GoldRecords(Records):
    """The records of a gold set, without what it says of itself."""

    metadata: GoldMetadata | None = None
    _begun = False

    def __init__(
        self, source: Source, shape: Shape, problems: list[str], columns: Columns | None = None
    ) -> None:
        super().__init__(source, shape, problems, name="gold", columns=columns)

    def within(self, place: str, value: Any) -> Iterable[tuple[str, Any]]:
        """The record, its cells as the values they were written from; nothing for metadata."""
        begun, self._begun = self._begun, True
        value = as_written(value)
        if not begun and is_metadata(value):
            self.metadata = metadata_of(value, place, self.problems)
            return ()
        return ((place, self._of_cells(value) if self.tabular else value),)

    def _of_cells(self, row: Mapping[str, str | None]) -> dict[str, Any]:
        fed = {name for _, names in self.shape.reads(tuple(row), self.columns) for name in names}
        record: dict[str, Any] = {}
        strata: dict[str, Any] = {}
        for title, cell in row.items():
            if title in fed and title not in (STRATA, STRATUM):
                record[title] = cell
            elif cell is not None and title.startswith(STRATUM):
                strata[title.removeprefix(STRATUM)] = free_cell(cell, title)
            elif cell is not None:
                record[title] = free_cell(cell, title)
        more, given = record.pop(EXTRA, None), record.get(STRATA)
        if strata and (given is None or type(given) is dict):
            record[STRATA] = strata | (given or {})
        return record | (more if type(more) is dict else {} if more is None else {EXTRA: more})

    def question(self, row: Row, answerable: bool | None = None) -> Gold:
        """The question of a checked row; `answerable` is for one that does not say it itself."""
        values, written = row.values, row.written
        if values.get("answerable") is None:
            if written.get("gold_claim_substr") == ANSWERS:
                answerable = bool(values["gold_claim_substr"])
            if answerable is None:
                self.reject(row, "answerable", SAY_IT)
            values["answerable"] = bool(answerable)
        extra: dict[str, Any] = {}
        if len(written) < len(row.record):
            read = {*written.values()}
            extra = {
                key: value
                for key, value in row.record.items()
                if key not in read and not key.startswith(STRATUM)
                if value is not None or key not in _NAMES
            }
        return Gold(**values, extra=extra)

    def gold_set(self, questions: Iterable[Gold]) -> GoldSet:
        """The questions with what is known of their set."""
        findings = Findings()
        unread = self.note_unread(findings)
        return GoldSet(questions, self.metadata, findings.kept(), unread)


def as_written(value: Any) -> Any:
    """A question that was read as a file has it; any other value as it is."""
    return (
        msgspec.json.decode(msgspec.json.encode(record_of(value))) if type(value) is Gold else value
    )


def record_of(question: Gold) -> dict[str, Any]:
    """A question's fields as a file has them.

    Reading them again gives the same question: where a key it does not know is another name of
    a field it leaves empty, the emptiness is written too, or the other name would fill it.
    """
    record: dict[str, Any] = msgspec.to_builtins(question)
    extra = record.pop("extra", {})
    for field, _ in GOLD.reads(tuple(extra)):
        record.setdefault(field.name, EMPTY.get(field.name))
    return {**record, **extra}


def is_metadata(record: Any) -> bool:
    """Whether a record says something of the set: it has no field of a question, and a known key.

    >>> is_metadata({"refusal": "exact"}), is_metadata({"qid": "q1", "name": "x"})
    (True, False)
    """
    if type(record) is not dict or GOLD.reads(tuple(map(str, record))):
        return False
    return any(get_close_matches(str(key), METADATA, n=1, cutoff=CLOSE) for key in record)


def metadata_of(record: dict[str, Any], place: str, problems: list[str]) -> GoldMetadata | None:
    """What the set says of itself; None, and problems, where it cannot be read."""
    known = len(problems)
    for key in record:
        if key not in METADATA:
            near = get_close_matches(key, METADATA, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(METADATA)}"
            problems.append(f"{place}: {key}: a gold set's metadata has no such key; {hint}")
    try:
        made = msgspec.convert(record, GoldMetadata)
    except msgspec.ValidationError as error:
        problems.append(f"{place}: {error}")
    return made if len(problems) == known else None


def _characters(value: Any, field: str) -> str:
    if value != "char":
        raise BadField(field, "gold spans are in characters; give chunks in characters")
    return "char"


CHUNK = Shape(
    name="chunk",
    doc="A chunk and its place in a document.",
    fields=(
        Field(
            "id",
            an_id,
            "Its id.",
            aliases=("snippet_id", "chunk_id"),
            missing="missing; a chunk has a snippet_id or an id",
        ),
        Field("doc_id", an_id, "Its document.", missing="missing; name the document it is from"),
        Field("start", whole, "Where it begins.", aliases=("offsets.start",), missing="missing"),
        Field("end", whole, "Where it ends.", aliases=("offsets.end",), missing="missing"),
        Field("unit", _characters, "`char`, if it is there.", aliases=("offsets.unit",)),
        Field("rev", text, "The revision of the document."),
    ),
    wrappers=("chunks", "retrieved"),
)


class _Chunks(Records):
    """Chunks, or those that traces have retrieved."""

    def within(self, place: str, value: Any) -> Iterable[tuple[str, Any]]:
        for name in ("retrieved", "chunks"):
            held = value.get(name) if isinstance(value, Mapping) else None
            if isinstance(held, list):
                return ((f"{place}: {name}[{at}]", one) for at, one in enumerate(held))
        return ((place, value),)


def read_chunks(source: Source, columns: Columns | None = None) -> list[Chunk]:
    """The places of the chunks in a file of chunks, or of traces with retrieved chunks.

    Raises InputRejected with all that is wrong.
    """
    problems: list[str] = []
    chunks = [
        Chunk(row["id"], row["doc_id"], row["start"], row["end"], row["rev"])
        for row in _Chunks(source, CHUNK, problems, name="chunks", columns=columns).each()
    ]
    refuse(problems)
    return chunks
