"""What a record says a mention is linked to: ids by knowledge base, candidates, or NIL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ragauge.contracts.links import NIL_CANDIDATE, NIL_KB, Candidate, KbIds
from ragauge.ingest.fields import BadField, boolean, expected, mapping, number, quoted
from ragauge.text.kb_ids import NAMES, KbId, is_nil, kb_id, kb_name, names_kb

IdField = tuple[str, str | None, Any]
"""A field that holds ids: its name, its knowledge base where the name tells, its value."""
GENERIC = ("kb_id", "entity_id", "link", "links")
"""Fields that hold ids of whatever knowledge base."""
GOLD_GENERIC = ("gold", "gold_id", "gold_ids", "gold_kb_id")
PREDICTED_GENERIC = (
    *("prediction", "predicted", "predicted_id", "pred", "pred_id"),
    *("predicted_kb_id", "pred_kb_id"),
)
GOLD_NIL = "is_nil_gold"
TABULAR = "\0row"
"""Marks a record that was a row of a table: its `id` is what the mention is linked to."""
OF_BASE: dict[str, str] = {
    f"{name}{end}": base for name, base in NAMES.items() for end in ("", "_id", "_code", "_uri")
}
NAMES_OF_BASE = {
    base: tuple(name for name, other in OF_BASE.items() if other == base)
    for base in dict.fromkeys(NAMES.values())
}
ANSWER_OF_BASE = OF_BASE | {
    f"{said}_{name}": base for name, base in OF_BASE.items() for said in ("predicted", "pred")
}
GOLD_OF_BASE = {f"gold_{name}": base for name, base in OF_BASE.items()}


def says_link(record: Mapping[str, Any]) -> bool:
    """Whether a record has any field for what a mention is linked to."""
    return _says_answer(record) or _says_gold(record)


def has_gold_alone(record: Mapping[str, Any]) -> bool:
    """Whether what a mention is linked to stands in fields called gold_… and nowhere else."""
    return _says_gold(record) and not _says_answer(record)


def _says_answer(record: Mapping[str, Any]) -> bool:
    named = (*GENERIC, *PREDICTED_GENERIC, "ids", "nil", "candidates")
    return any(name in ANSWER_OF_BASE or name in named for name in record)


def _says_gold(record: Mapping[str, Any]) -> bool:
    return any(name in GOLD_OF_BASE or name in GOLD_GENERIC or name == GOLD_NIL for name in record)


def id_is_link(record: Mapping[str, Any]) -> bool:
    """Whether `id` is what the mention is linked to, and not the mention's own.

    It is where nothing else in the record is, and the mention has a place; in JSON it must look
    like an id of a knowledge base, too.
    """
    if "id" not in record or says_link(record) or record.get("start") is None:
        return False
    id = record["id"]
    if TABULAR in record or id is None:
        return True
    return type(id) is str and (is_nil(id) or names_kb(id))


def id_fields(
    record: Mapping[str, Any],
    of_base: Mapping[str, str],
    generic: Iterable[str],
    with_id: bool = False,
) -> Iterator[IdField]:
    """The fields that hold ids: name, knowledge base, value."""
    for name, value in record.items():
        if name in of_base:
            yield name, of_base[name], value
        elif name in generic:
            yield name, None, value
    if with_id:
        yield "id", None, record.get("id")


def ids_in(value: Any, field: str, kb: str | None, bare: str | None = None) -> Iterator[KbId]:
    """The ids of a field: one, several, or by knowledge base; none where it says NIL."""
    if type(value) is dict:
        for name, part in value.items():
            base = None if name in ("id", "ids") else OF_BASE.get(name, kb_name(name))
            yield from ids_in(part, f"{field}.{name}", base, bare)
    elif type(value) is list:
        for place, part in enumerate(value):
            yield from ids_in(part, f"{field}[{place}]", kb, bare)
    else:
        for part in written_id(value, field).split("|"):
            if not is_nil(part):
                try:
                    yield kb_id(part, kb, bare)
                except ValueError as fact:
                    raise BadField(field, f"{quoted(part)} {fact}") from None


def written_id(value: Any, field: str) -> str:
    """An id as text; VIAF and GeoNames ids are often numbers."""
    if value is None:
        return ""
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise BadField(field, expected("an id", value))
    return value


def grouped(ids: Iterable[KbId]) -> KbIds:
    """Ids by knowledge base.

    >>> grouped([("viaf", "1"), ("viaf", "1"), ("wikidata", "Q1")])
    {'viaf': frozenset({'1'}), 'wikidata': frozenset({'Q1'})}
    """
    found: dict[str, set[str]] = {}
    for kb, id in ids:
        found.setdefault(kb, set()).add(id)
    return {kb: frozenset(found[kb]) for kb in sorted(found)}


class Answer(Struct, frozen=True):
    """What a prediction says."""

    candidates: tuple[Candidate, ...]
    nil: bool | None
    ids: KbIds
    repeated: int


def gold_ids(record: Mapping[str, Any], bare: str | None) -> KbIds:
    """The ids of a gold record by knowledge base, empty where it is NIL.

    Where fields are called gold_…, only they count: the others may be a prediction beside.
    """
    fields = list(id_fields(record, GOLD_OF_BASE, GOLD_GENERIC))
    fields = fields or list(id_fields(record, OF_BASE, (*GENERIC, "ids"), id_is_link(record)))
    nil = record.get(GOLD_NIL)
    if nil is not None and boolean(nil, GOLD_NIL):
        fields = [("", None, None), *fields]
    if not fields:
        remedy = "give wikidata_id, viaf_id, isil_code, ids or gold; null where it is NIL"
        raise BadField("gold", f"missing; {remedy}")
    found = grouped(id for field, kb, value in fields for id in ids_in(value, field, kb, bare))
    if nil and found:
        raise BadField(GOLD_NIL, "is true, and there is an id; leave one out")
    return found


def answer(record: Mapping[str, Any], bare: str | None) -> Answer:
    """What a prediction says; a null id, an empty list and `nil: true` all say NIL."""
    if has_gold_alone(record):
        fields = list(id_fields(record, GOLD_OF_BASE, GOLD_GENERIC))
    else:
        generic = (*GENERIC, "ids", *PREDICTED_GENERIC)
        fields = list(id_fields(record, ANSWER_OF_BASE, generic, id_is_link(record)))
    said = None if record.get("nil") is None else boolean(record["nil"], "nil")
    ranked = record.get("candidates")
    if not fields and said is None and "candidates" not in record:
        raise BadField("candidates", "missing; give candidates, an id, or nil: true")
    if ranked is not None:
        candidates, repeated = distinct(in_order(_candidates(ranked, "candidates", bare)))
        candidates = _with_chosen(candidates, fields, bare)
    else:
        candidates, repeated = distinct(_chosen(fields, bare))
        if len(candidates) == 1 and record.get("score") is not None:
            only = candidates[0]
            score = number(record["score"], "score")
            candidates = (Candidate(only.id, only.kb, score, only.also),)
    given = [record[name] for name in PREDICTED_GENERIC if name in record]
    ids = (True for value in given for _ in ids_in(value, "prediction", None))
    if said is None and ((given and not any(ids)) or not candidates):
        said = True  # the answer next to ranked candidates is null, or there is none
    entity: KbIds = {}
    if candidates and candidates[0].kb != NIL_KB:
        # In one knowledge base the entity that was chosen may have several ids.
        of_entity = [one for one in fields if one[1] is not None or one[0] == "ids"]
        named = [id for field, kb, value in of_entity for id in ids_in(value, field, kb, bare)]
        entity = grouped([*candidates[0].ids, *named])
    return Answer(candidates, said, entity, repeated)


def in_order(candidates: list[Candidate]) -> list[Candidate]:
    """Candidates by score, ties by id descending, as trec_eval; as listed where one has no score.

    >>> [one.id for one in in_order([Candidate("Q1", "wikidata", 0.5),
    ...                              Candidate("Q2", "wikidata", 0.5)])]
    ['Q2', 'Q1']
    """
    scores = [one.score for one in candidates if one.score is not None]
    if len(scores) < len(candidates):
        return candidates
    by_id = sorted(candidates, key=lambda one: (one.id, one.kb), reverse=True)
    return sorted(by_id, key=lambda one: -(one.score or 0))


def distinct(candidates: Iterable[Candidate]) -> tuple[tuple[Candidate, ...], int]:
    """Each candidate at its best rank, and how many were named again."""
    found: dict[KbId, Candidate] = {}
    repeated = 0
    for one in candidates:
        repeated += (one.kb, one.id) in found
        found.setdefault((one.kb, one.id), one)
    return tuple(found.values()), repeated


def _candidates(value: Any, field: str, bare: str | None) -> list[Candidate]:
    if type(value) is not list:
        raise BadField(field, expected("a list of candidates", value))
    return [_candidate(part, f"{field}[{place}]", bare) for place, part in enumerate(value)]


def _candidate(value: Any, field: str, bare: str | None) -> Candidate:
    """A candidate: an id, an id with its score as a pair, or a mapping with both."""
    if type(value) is not dict:
        scored = type(value) is list and len(value) == 2
        id = written_id(value[0] if scored else value, field)
        score = number(value[1], f"{field}[1]") if scored else None
        return _of_ids(list(ids_in(id, field, None, bare)), score)
    part = mapping(value, field)
    score = None if part.get("score") is None else number(part["score"], f"{field}.score")
    named = list(id_fields(part, OF_BASE, (*GENERIC, "ids"), with_id="id" in part))
    if not named:
        raise BadField(f"{field}.id", "missing")
    ids = [id for name, kb, one in named for id in ids_in(one, f"{field}.{name}", kb, bare)]
    return _of_ids(ids, score)


def _of_ids(ids: list[KbId], score: float | None) -> Candidate:
    if not ids:
        return Candidate(NIL_CANDIDATE.id, NIL_KB, score)
    (kb, id), *also = dict.fromkeys(ids)
    return Candidate(id, kb, score, tuple(also))


def _chosen(fields: list[IdField], bare: str | None) -> list[Candidate]:
    """The answer without candidates: an entity with an id in each knowledge base, then the rest.

    A list in a field that names a knowledge base has the answer first; so has a list, or text
    joined by bars, in one that names none.
    """
    ranked: list[Candidate] = []
    ids: list[KbId] = []
    for field, kb, value in fields:
        if kb is not None or field == "ids":
            ids += ids_in(value, field, kb, bare)
        else:
            several = value.split("|") if type(value) is str else value
            several = several if type(several) is list else [several]
            ranked += in_order(_candidates(several, field, bare))
    firsts = dict(reversed(ids))
    entity = [(kb, id) for kb, id in dict.fromkeys(ids) if firsts[kb] == id]
    rest = [_of_ids([one], None) for one in dict.fromkeys(ids) if one not in entity]
    found = [_of_ids(entity, None), *rest, *ranked] if entity else ranked
    return found if any(one.kb != NIL_KB for one in found) else []


def _with_chosen(
    candidates: tuple[Candidate, ...], fields: list[IdField], bare: str | None
) -> tuple[Candidate, ...]:
    """Candidates, the first with the further ids that stand beside the list."""
    beside = [id for field, kb, value in fields for id in ids_in(value, field, kb, bare)]
    if not beside:
        return candidates
    if not candidates or candidates[0].kb == NIL_KB:
        raise BadField("candidates", "do not begin with the id given beside them; leave one out")
    first = candidates[0]
    clash = [id for kb, id in beside if kb == first.kb and id != first.id]
    if clash:
        fact = f"begin with {quoted(first.id)}, but the id beside them is {quoted(clash[0])}"
        raise BadField("candidates", f"{fact}; leave one out")
    also = tuple(dict.fromkeys((*first.also, *(id for id in beside if id != (first.kb, first.id)))))
    return (Candidate(first.id, first.kb, first.score, also), *candidates[1:])
