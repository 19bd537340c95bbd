"""Questions with their right answers: gold sets, lists of QA, or the pairs of heritage entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.ingest.answered.records import placed_records
from ragauge.ingest.answered.shapes import REFERENCES, own_id, row_of
from ragauge.ingest.fields import BadField, BadRecord, quoted, texts
from ragauge.ingest.gold import is_metadata, metadata_of
from ragauge.ingest.heritage import entry_of, is_entry
from ragauge.ingest.placed_records import Records

if TYPE_CHECKING:
    from ragauge.ingest.answered.records import Source

PHRASES = "gold_claim_substr"
TYPE = "question_type"
"""The stratum that says what kind of question it is."""


def read_questions(
    source: Source, problems: list[str], form: str | None = None
) -> dict[str, AnswerRow]:
    """The questions of a gold set by id, in its order: rows that still lack an answer.

    What is wrong with them goes into the list.
    """
    found: dict[str, AnswerRow] = {}
    for place, record in _asked(placed_records(source, problems, form, "gold"), problems):
        try:
            row = _question(record, place)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        if row.id in found:
            earlier = found[row.id].where
            problems.append(f"{place}: qid: {quoted(row.id)} stands already at {earlier}")
        found.setdefault(row.id, row)
    return found


def _asked(placed: Records, problems: list[str]) -> Records:
    """The records of single questions; an entry's pairs one by one."""
    for number, (place, record) in enumerate(placed):
        if number == 0 and is_metadata(record):
            metadata_of(record, place, problems)
            continue
        if not is_entry(record):
            yield place, record
            continue
        try:
            entry = entry_of(record)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        for at, pair in enumerate(entry.pairs):
            asked = {
                **pair.extra,
                "qid": f"{entry.id}#{at + 1}",
                "question": pair.question,
                "gold_answer": pair.answer,
                "answer_type": pair.answer_type,
                "supporting_facts": pair.supporting_facts,
                "strata": entry.strata,
            }
            yield f"{place}: qa_pairs[{at}]", asked


def _question(record: Any, place: str) -> AnswerRow:
    """A question as a row without an answer; what gold calls its answer is the reference."""
    fields = dict(record) if isinstance(record, dict) else record
    if isinstance(fields, dict):
        answer = fields.pop("answer", None)
        fields.pop("claims", None)  # Claims belong to the answer that is measured.
        if not any(fields.get(name) for name in REFERENCES):
            fields["gold_answer"] = answer
    id = own_id(fields)
    row = row_of(fields, "" if id is None else str(id), place)
    faults = []
    if id is None:
        faults.append(BadField("qid", "missing; give each question an id of its own"))
    if row.question is None:
        faults.append(BadField("question", "missing; write what was asked"))
    try:
        phrases = texts(fields.get(PHRASES) or [], PHRASES)
    except BadField as fault:
        faults.append(fault)
    if faults:
        raise BadRecord(faults)
    references = tuple(dict.fromkeys((*row.references, *phrases)))
    strata = dict(row.strata)
    kind = strata.pop("answer_type", None)
    if kind is not None:
        strata.setdefault(TYPE, kind)
    if row.answerable is not None:
        strata.setdefault("answerable", str(row.answerable).lower())
    return structs.replace(
        row,
        # The reference of an unanswerable question is no answer: many sets write the refusal there.
        references=() if row.answerable is False else references,
        strata=strata,
    )
