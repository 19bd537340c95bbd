"""A sample of any tool taken apart: its texts, scores and claims, and what else it says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.ingest.answered.shapes import (
    ANSWERS,
    CITED,
    CONTEXTS,
    CONVERSATIONS,
    IDS,
    QUESTIONS,
    REFERENCES,
    is_missing,
    own_id,
    row_of,
)
from ragauge.ingest.answered.written_lists import listed
from ragauge.ingest.fields import BadField, BadRecord, expected, quoted, text
from ragauge.ingest.strict_json import BadJson, decode
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


SAMPLE_IDS = ("sample_id", *IDS, "case_id", "test_id", "unit")
RETRIEVED = ("retrieved_ids", "retrieved_context_ids")
GOLD = ("gold_ids", "gold_citations", "reference_context_ids")
OTHER_ANSWERS = ("output", "generated_answer", "prediction")
OTHER_REFERENCES = ("expected", "expected_answer", "correct_answer", "ideal")
TEXTS = frozenset(
    (
        *(*SAMPLE_IDS, *QUESTIONS, *ANSWERS, *OTHER_ANSWERS, *CONTEXTS, *REFERENCES),
        *(*OTHER_REFERENCES, *CITED, *CONVERSATIONS, *RETRIEVED, *GOLD),
        *("answerable", "strata", "claims", "status"),
    )
)
"""Fields that are no scores, whatever they hold."""


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
    unmatched: bool
    """There are ids and passages, and not as many of the one as of the other."""


def sample_id(fields: Mapping[str, Any]) -> str | None:
    """What a sample is called; None where it has no name."""
    for name in SAMPLE_IDS:
        found = own_id({"id": fields.get(name)})
        if found is not None:
            return str(found).strip()
    return None


def texts_of(fields: Mapping[str, Any], id: str, place: str) -> Texts:
    """The texts and ids of a sample; raises BadRecord with every field that is wrong."""
    faults: list[BadField] = []
    known = {name: one for name, one in fields.items() if not is_missing(one)}
    for ours, names, others in (
        ("answer", ANSWERS, OTHER_ANSWERS),
        ("ground_truth", REFERENCES, OTHER_REFERENCES),
    ):
        other = next((known[name] for name in others if name in known), None)
        if other is not None and not any(name in known for name in names):
            known[ours] = other
    row, retrieved, gold, claims = AnswerRow(id=id, answer=None), None, None, None
    try:
        if isinstance(strata := known.get("strata"), str):  # the text of a table's cell
            try:
                known["strata"] = decode(strata.encode())
            except (BadJson, UnicodeEncodeError):
                raise BadField("strata", expected("an object", strata)) from None
        row = row_of(known, id, place)
    except BadRecord as fault:
        faults += fault.fields
    except BadField as fault:
        faults.append(fault)
    try:
        retrieved, gold = _ids(known, RETRIEVED), _ids(known, GOLD)
        claims = claims_of(known.get("claims"), None if row.contexts is None else len(row.contexts))
    except BadField as fault:
        faults.append(fault)
    if faults:
        raise BadRecord(faults)
    if retrieved is None and row.contexts is None:  # a trace has the ids of chunks alone
        chunks = next((known[name] for name in ("retrieved", "chunks") if name in known), None)
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
        unmatched=unmatched,
    )


def _ids(fields: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Ids in their order; None where no field tells them."""
    name = next((name for name in names if name in fields), None)
    if name is None:
        return None
    value = fields[name]
    written = isinstance(value, str) and not value.strip().startswith("[")
    ids = []
    for place, one in enumerate(split_ids(value) if written else listed(value, name)):
        id = str(one) if isinstance(one, int) else id_of(one)
        if not id:
            raise BadField(f"{name}[{place}]", expected("the id of a passage", one))
        ids.append(id)
    return tuple(ids)
