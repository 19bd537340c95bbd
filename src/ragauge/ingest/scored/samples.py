"""A sample of any tool taken apart: its texts, scores and claims, and what else it says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.ingest.answers import (
    ANSWER,
    ANSWER_TEXT,
    ANSWERABLE,
    CITED,
    CONTEXTS,
    ID,
    MISSING,
    QUESTION,
    REFERENCES,
    STATUS,
    STRATA,
    TURNS,
    answer_of,
    own_id,
    rival_answers,
    with_sources,
)
from ragauge.ingest.fields import (
    BadField,
    BadRecord,
    Field,
    Shape,
    anything,
    expected,
    quoted,
    squeezed,
    text,
)
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.records import Records
from ragauge.ingest.scored.columns import is_metric
from ragauge.ingest.written_lists import listed
from ragauge.text.citations import id_of, split_ids

JUDGE = "imported"
_OF_A_CLAIM = ("text", "chunks", "other")
_SIDES = ("answer", "reference")


def claims_of(value: Any, contexts: int | None) -> AnswerClaims | None:
    """The claims of a row, None where it has none; raises BadField for what is wrong first.

    `contexts` is how many passages the row has: every claim that was held against them has a
    verdict for each.

    >>> found = claims_of({"answer": [{"text": "It is red.", "chunks": [True], "other": None}]}, 1)
    >>> found.answer[0].chunks, found.reference
    ((True,), None)
    """
    told = value
    if isinstance(value, str):  # the text of a table's cell
        try:
            told = decode(value.encode()) if value.strip() else None
        except (BadJson, UnicodeEncodeError) as fault:
            raise BadField("claims", str(fault)) from None
    if told is None:
        return None
    if not isinstance(told, Mapping):
        raise BadField("claims", expected("an object with answer and reference", told))
    _refuse_unknown(told, _SIDES, "claims", "claims have answer and reference")
    answer, reference = (_side(told.get(side), f"claims.{side}") for side in _SIDES)
    claims = (*(answer or ()), *(reference or ()))
    lengths = {len(claim.chunks) for claim in claims if claim.chunks}
    chunks = contexts if contexts is not None else max(lengths, default=None)
    wrong = sorted(lengths - {chunks})
    if wrong:
        fact = f"a claim has {wrong[0]} verdicts in chunks, and there are {chunks} contexts"
        raise BadField("claims", f"{fact}; give one for each, null where it is not known")
    return AnswerClaims(judge=JUDGE, chunks=chunks, answer=answer, reference=reference)


def _side(value: Any, field: str) -> tuple[Claim, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise BadField(field, expected("a list of claims", value))
    return tuple(_claim(one, f"{field}[{place}]") for place, one in enumerate(value))


def _claim(value: Any, field: str) -> Claim:
    if not isinstance(value, Mapping):
        raise BadField(field, expected("an object with text, chunks and other", value))
    _refuse_unknown(value, _OF_A_CLAIM, field, "a claim has text, chunks and other")
    chunks = value.get("chunks")
    if not isinstance(chunks, list | None):
        raise BadField(f"{field}.chunks", expected("a list of true, false or null", chunks))
    return Claim(
        text=text(value.get("text"), f"{field}.text"),
        chunks=tuple(_verdict(one, f"{field}.chunks[{at}]") for at, one in enumerate(chunks or ())),
        other=_verdict(value.get("other"), f"{field}.other"),
    )


def _verdict(value: Any, field: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise BadField(field, expected("true, false or null", value))


def _refuse_unknown(told: Mapping[str, Any], known: tuple[str, ...], field: str, fact: str) -> None:
    unknown = [key for key in told if key not in known]
    if unknown:
        raise BadField(field, f"{quoted(str(unknown[0]))} is not known; {fact}")


def _ids(value: Any, field: str) -> tuple[str, ...]:
    written = isinstance(value, str) and not value.strip().startswith("[")
    ids = []
    for place, one in enumerate(split_ids(value) if written else listed(value, field)):
        id = str(one) if isinstance(one, int) else id_of(one)
        if not id:
            raise BadField(f"{field}[{place}]", expected("the id of a passage", one))
        ids.append(id)
    return tuple(ids)


SAMPLE = Shape(
    name="score row",
    doc="A sample with its scores, each in a column called after the metric.",
    imported=True,
    fields=(
        Field(
            "sample_id",
            own_id,
            "What the sample is called; else its number.",
            aliases=(
                *("id", *(name for name in ID.aliases if name != "sample_id")),
                *("case_id", "test_id", "unit"),
            ),
            says="text or whole number",
        ),
        *(TURNS, QUESTION),
        # A column of results may well be one of verdicts.
        structs.replace(
            ANSWER_TEXT, aliases=tuple(name for name in ANSWER_TEXT.aliases if name != "result")
        ),
        *(CONTEXTS, REFERENCES, CITED, ANSWERABLE, STATUS, STRATA),
        Field(
            "retrieved_ids",
            _ids,
            "Ids of what was retrieved, best first.",
            aliases=("retrieved_context_ids",),
            many=True,
        ),
        Field(
            "gold_ids",
            _ids,
            "Ids of what should have been retrieved.",
            aliases=("gold_citations", "reference_context_ids"),
            many=True,
        ),
        Field(
            "claims",
            anything,
            "The claims of answer and reference, with their verdicts.",
            many=True,
            says="object",
        ),
    ),
    wrappers=(*ANSWER.wrappers, "scores"),
    empty_cells=MISSING,
    own=("question", "answer"),
    others=is_metric,
    refused=tuple(
        (key, "conversations; single questions are diagnosed") for key, _ in ANSWER.refused
    ),
)
_TEXTS = frozenset(squeezed(name) for field in SAMPLE.fields for name in field.names)


@lru_cache(maxsize=4096)
def is_text(column: str) -> bool:
    """Whether a column is no score, whatever it holds."""
    return squeezed(column) in _TEXTS or column.startswith("strata.")


def adapted(record: Any) -> Any:
    """A record with what LangChain calls an answer and its passages under names of ours."""
    record = with_sources(record)
    if isinstance(record, Mapping) and "query" in record and isinstance(record.get("result"), str):
        return {"generated_answer" if key == "result" else key: record[key] for key in record}
    return record


class Parts(Struct, frozen=True, kw_only=True):
    """A sample as it was read, before its fields are checked."""

    place: str
    fields: Mapping[str, Any]
    """Its texts and ids, under the names that answers have."""
    scores: Mapping[str, list[Any]]
    """By the metric's name in the file, all that was measured."""
    others: Mapping[str, Any] = {}
    """What may be strata."""
    id: str | None = None
    """Where the form has a name for it that is not among the fields."""
    strata: Mapping[str, str] = {}
    """Those that the form itself has."""


class Texts(Struct, frozen=True, kw_only=True):
    """The fields of a sample, checked."""

    row: AnswerRow
    retrieved_ids: tuple[str, ...] | None
    gold_ids: tuple[str, ...] | None
    claims: AnswerClaims | None
    rivals: tuple[str, ...]
    """The fields whose answers differ, the one that is read first."""
    unmatched: bool
    """There are ids and passages, and not as many of the one as of the other."""


def sample_id(fields: Mapping[str, Any]) -> str | None:
    """What a sample is called; None where it has no name."""
    named = (names for field, names in SAMPLE.reads(tuple(fields)) if field.name == "sample_id")
    ids = (own_id(fields[name], name) for name in next(named, ()))
    return next((str(id).strip() for id in ids if id is not None), None)


def texts_of(records: Records, fields: Mapping[str, Any], place: str) -> Texts:
    """The texts and ids of a sample; raises BadRecord with every field that is wrong."""
    faults: list[BadField] = []
    sample = records.row(place, fields)
    given = sample.values.pop("claims", None)
    row, claims = AnswerRow(id="", answer=None), None
    try:
        row = answer_of(records, sample, "")
    except BadRecord as fault:
        faults += fault.fields
    try:
        claims = claims_of(given, None if row.contexts is None else len(row.contexts))
    except BadField as fault:
        faults.append(fault)
    if faults:
        raise BadRecord(faults)
    retrieved, gold = sample["retrieved_ids"], sample["gold_ids"]
    if retrieved is None and row.contexts is None:  # a trace has the ids of chunks alone
        chunks = sample.record.get(sample.written.get("contexts", ""))
        ids = [id_of(one) for one in chunks] if isinstance(chunks, list) else []
        retrieved = tuple(id for id in ids if id) if ids and all(ids) else None
    # Ids and passages are brought together: passages that have only places get ids.
    contexts, unmatched = row.contexts, False
    nameless = all(one.id == str(place) for place, one in enumerate(contexts or (), 1))
    if contexts and retrieved is None and not nameless:
        retrieved = tuple(context.id for context in contexts)
    elif contexts and retrieved is not None and nameless:
        unmatched = len(contexts) != len(set(retrieved)) or len(contexts) != len(retrieved)
        if not unmatched:
            pairs = zip(retrieved, contexts, strict=True)
            row = structs.replace(row, contexts=tuple(Context(id, one.text) for id, one in pairs))
    return Texts(
        row=row,
        retrieved_ids=retrieved,
        gold_ids=None if gold is None else tuple(dict.fromkeys(gold)),
        claims=claims,
        rivals=rival_answers(sample),
        unmatched=unmatched,
    )
