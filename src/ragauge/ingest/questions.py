"""Questions with their right answers: gold sets, lists of QA, or the pairs of heritage entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.gold import Gold
from ragauge.contracts.report import Findings
from ragauge.ingest.answers import (
    ANSWERABLE,
    CONTEXTS,
    FACTS,
    ID,
    KIND,
    MISSING,
    QUESTION,
    REFERENCES,
    SLICES,
    STRATA,
    TURNS,
    kind_of,
    references_in,
    strata_in,
)
from ragauge.ingest.fields import Columns, Field, Shape, quoted, texts
from ragauge.ingest.gold import as_written, is_metadata, metadata_of
from ragauge.ingest.heritage import MARKS, entry_at, is_entry
from ragauge.ingest.records import Records, Row, Source

PHRASES = "gold_claim_substr"
TYPE = "question_type"
"""The stratum that says what kind of question it is."""


def _phrases(value: Any, field: str) -> tuple[str, ...]:
    return texts(value or [], field)


ASKED = Shape(
    name="question",
    doc="A question with its right answers.",
    fields=(
        structs.replace(ID, missing="missing; give each question an id of its own"),
        TURNS,
        structs.replace(QUESTION, missing="missing; write what was asked"),
        REFERENCES,
        Field(
            "answer",
            references_in,
            "Right answers, where no other field has them.",
            aliases=("answers",),
            many=True,
        ),
        Field(PHRASES, _phrases, "Phrases, any of which makes an answer right.", many=True),
        *(CONTEXTS, FACTS, ANSWERABLE, KIND, *SLICES, STRATA),
    ),
    wrappers=("questions", "data", "goldens", "test_cases", "samples", "examples", "rows"),
    empty_cells=MISSING,
    elsewhere=frozenset((*Gold.__struct_fields__, *MARKS, "text", "gold_ids", "claims")),
)


class Questions(dict[str, AnswerRow]):
    """Questions by id, in their order: rows that still lack an answer."""

    unread: tuple[str, ...] = ()
    """The columns that no field reads."""


def read_questions(
    source: Source,
    problems: list[str],
    form: str | None = None,
    findings: Findings | None = None,
    columns: Columns | None = None,
) -> Questions:
    """The questions of a gold set; what is wrong with them goes into the list."""
    found = Questions()
    records = _Questions(source, ASKED, problems, form=form, name="gold", columns=columns)
    for row in records.each():
        blank = [name for name in ("id", "question") if row[name] is None]
        problems += [f"{row.place}: {name}: {ASKED.field(name).missing}" for name in blank]
        if not blank:
            question = _question(row)
            if question.id in found:
                first = found[question.id].where
                records.reject(row, "id", f"{quoted(question.id)} is at {first} already; keep one")
            found.setdefault(question.id, question)
    found.unread = records.note_unread(Findings() if findings is None else findings)
    return found


class _Questions(Records):
    def within(self, place: str, value: Any) -> Iterator[tuple[str, Any]]:
        """Single questions; an entry's pairs one by one, and no metadata of a gold set."""
        if not self.seen and is_metadata(value):
            metadata_of(value, place, self.problems)
            return
        if not is_entry(value):
            yield place, as_written(value)
            return
        entry = entry_at(place, value, self.problems)
        if entry is None:
            return
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


def _question(row: Row) -> AnswerRow:
    """A question as a row without an answer; what gold calls its answer is the reference."""
    answerable, strata = row["answerable"], strata_in(row)
    if "answer_type" in strata:
        type = strata.pop("answer_type")
        strata.setdefault(TYPE, type)
    if answerable is not None:
        strata.setdefault("answerable", str(answerable).lower())
    references = (*(row["references"] or row["answer"] or ()), *(row[PHRASES] or ()))
    return AnswerRow(
        id=str(row["id"]),
        answer=None,
        question=row["question"],
        contexts=row["contexts"],
        # The reference of an unanswerable question is no answer: many sets write the refusal there.
        references=() if answerable is False else tuple(dict.fromkeys(references)),
        facts=row["facts"] or (),
        answerable=answerable,
        kind=row["kind"] or (kind_of(row["task"]) if isinstance(row["task"], str) else None),
        strata=strata,
        where=row.place,
    )
