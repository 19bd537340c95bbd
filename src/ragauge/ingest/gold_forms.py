"""Gold sets in the forms other people keep them in: tables, SQuAD, ragas, heritage entries."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from io import StringIO
from typing import Any

import msgspec
from msgspec import structs

from ragauge.contracts.gold import Gold, GoldSet
from ragauge.contracts.gold_parts import Units
from ragauge.contracts.report import Finding, Findings
from ragauge.ingest.fields import (
    STRATA,
    STRATUM,
    BadField,
    Columns,
    mapping,
    mappings,
    quoted,
    refuse,
    squeezed,
    text,
)
from ragauge.ingest.gold import EXTRA, GOLD, SAY_IT, GoldRecords, free_cell
from ragauge.ingest.heritage import Entry, entry_at, is_entry, misplaced, unknown_types
from ragauge.ingest.records import Row, Source
from ragauge.text.visible import FORMULA

TEXTS = ("qid", "question", "gold_claim", "gold_answer")
LISTS = ("gold_claim_substr", "gold_citations", "constraints", "paraphrases")
_OWN = ("answerable", "target_section", "anchor", "decoy", "weight")
_FIRST = [field.name for field in GOLD.fields]
_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def table_of(records: Sequence[dict[str, Any]], delimiter: str) -> str:
    """Gold records as a table that reads back as the same records, with no cell a formula.

    Lists are joined by a bar and texts are written as they are, unless they would read back as
    something else, or a spreadsheet would take them for a formula: then they are written as
    JSON, which begins with a quote or a bracket. Keys that cannot be a column share the columns
    `strata` and `extra`.
    """
    keys = {key for record in records for key in record}
    strata = {STRATUM + name for record in records for name in record.get(STRATA) or ()}
    alike = Counter(map(squeezed, [*keys, *strata, EXTRA]))
    free = {
        key
        for key in keys | strata
        if alike[squeezed(key)] == 1 and key == key.strip() and "\n" not in key and _is_plain(key)
        if key in strata or not GOLD.reads((key,))
    }
    rows = [_row(record, free) for record in records]
    used = {column for row in rows for column in row}
    first = [name for name in _FIRST if name in used or name in ("qid", "question", "answerable")]
    columns = [*first, *sorted(used - {*first})]
    out = StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([row.get(column, "") for column in columns] for row in rows)
    return out.getvalue()


def _row(record: dict[str, Any], free: set[str]) -> dict[str, str]:
    """The cells of a record; `free` are the keys that can be a column of their own."""
    row: dict[str, str] = {}
    strata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in record.items():
        if key == STRATA:
            for name, member in (value or {}).items():
                if STRATUM + name in free:
                    row[STRATUM + name] = _written(member)
                else:
                    strata[name] = member
        elif key in _FIRST and value is None:
            row[key] = ""
        elif key in LISTS:
            bar = "|".join(value)
            clean = all(one and one == one.strip() and "|" not in one for one in value)
            plain = clean and _is_plain(bar) and not bar.startswith("[")
            row[key] = bar if plain else _json(value)
        elif key in TEXTS:
            row[key] = value if _is_plain(value) else _json(value)
        elif key in _OWN:
            row[key] = _json(value)
        elif key in free:
            row[key] = _written(value)
        else:
            extra[key] = value
    together = {STRATA: strata, EXTRA: extra}
    return row | {name: _json(members) for name, members in together.items() if members}


def _is_plain(text: str) -> bool:
    """Whether a text can be a cell as it is: no formula, not blank, nothing a reader drops."""
    blank = not text.strip()
    return not blank and not text.startswith((*FORMULA, '"')) and not _UNSEEN.search(text)


def _written(value: Any) -> str:
    """A value of any kind as a cell that reads back as the same value."""
    plain = type(value) is str and _is_plain(value) and free_cell(value, "") == value
    return value if plain else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_UNNAMED = structs.replace(
    GOLD,
    fields=(structs.replace(GOLD.field("qid"), missing=None), *GOLD.fields[1:]),
)
"""Questions that need not have an id."""


def read_any(
    source: Source, answerable: bool | None = None, columns: Columns | None = None
) -> tuple[GoldSet, str, Findings]:
    """The questions of a gold set in any form, the form, and what could not be taken along.

    `answerable` is for questions that do not say it themselves. Where no question has an id, they
    are numbered. Raises InputRejected with all that is wrong.
    """
    problems: list[str] = []
    records = _AnyRecords(source, _UNNAMED, problems, columns)
    rows = list(records.each())
    findings, name = records.findings, records.name
    for key, value in records.around.items():
        said = f"{quoted(key)}, which is {quoted(msgspec.json.encode(value).decode())}"
        fact = f"{said}, belongs to the complete set and is left behind"
        findings.add(Finding("not_carried", name, fact))
    unnamed = [row for row in rows if row["qid"] is None]
    if unnamed and len(unnamed) == len(rows):
        fact = "has no qid; numbered in the file's order, which must not change from now on"
        findings.add(Finding("made_qid", name, fact), len(rows))
        width = len(str(len(rows)))
        for number, row in enumerate(rows, 1):
            row.values["qid"] = f"q{number:0{width}}"
        unnamed = []
    problems += [f"{row.place}: qid: {GOLD.field('qid').missing}" for row in unnamed]
    known = len(problems)
    questions = [
        records.question(row, answerable)
        for row in records.once("qid", (row for row in rows if row["qid"] is not None))
    ]
    unsaid = sum(one.endswith(f": answerable: {SAY_IT}") for one in problems[known:])
    if unsaid:
        fact = f"{unsaid:,} do not say it; write true or false in each, or say it for all that do "
        others = [one for one in problems if not one.endswith(f": answerable: {SAY_IT}")]
        problems[:] = [f"{name}: answerable: {fact}not with --answerable true", *others]
    refuse(problems)
    form = "a table" if records.tabular else records.form
    return records.gold_set(questions), form, findings


class _AnyRecords(GoldRecords):
    """The records of questions in what holds them: articles of SQuAD, or heritage entries."""

    form = "JSON"
    """What the records were."""

    @cached_property
    def findings(self) -> Findings:
        """What cannot be taken along."""
        return Findings()

    def within(self, place: str, value: Any) -> Iterable[tuple[str, Any]]:
        if is_entry(value):
            self.form = "heritage entries"
            return _of_entry(place, value, self.problems, self.findings)
        if isinstance(value, Mapping) and "paragraphs" in value:
            self.form = "SQuAD"
            return _of_article(place, value, self.problems, self.findings)
        return super().within(place, value)


class _Units(GoldRecords):
    """Questions, or heritage entries as questions."""

    @cached_property
    def entries(self) -> dict[str, Gold]:
        """By place."""
        return {}

    def within(self, place: str, value: Any) -> Iterable[tuple[str, Any]]:
        if not is_entry(value):
            return super().within(place, value)
        entry = entry_at(place, value, self.problems)
        if entry is None:
            return ()
        self.entries[place] = Gold(
            qid=entry.id, question=entry.text, answerable=True, strata=entry.strata, extra=value
        )
        return ((place, {"qid": entry.id, "question": entry.text, "answerable": True}),)


def read_units(source: Source, columns: Columns | None = None) -> tuple[list[Gold], Units]:
    """What a gold set is split into or sampled by: its questions, or its heritage entries.

    An entry is a unit whose `extra` is the record as it was written. Raises InputRejected with
    all that is wrong.
    """
    problems: list[str] = []
    records = _Units(source, GOLD, problems, columns)
    entries = records.entries
    rows: list[tuple[Row, Gold]] = [
        (row, entries.get(row.place) or records.question(row)) for row in records.once("qid")
    ]
    if entries:
        fact = "record: is a question, and others are heritage entries; keep them in two files"
        problems += [f"{row.place}: {fact}" for row, _ in rows if row.place not in entries]
    refuse(problems)
    return records.gold_set(one for _, one in rows), "entries" if entries else "questions"


def _of_article(
    place: str, article: Mapping[str, Any], problems: list[str], findings: Findings
) -> Iterator[tuple[str, Any]]:
    """The questions about each paragraph of an article of SQuAD."""
    try:
        for number, paragraph in enumerate(_parts(article, "paragraphs")):
            where = f"{place}.paragraphs[{number}]"
            about = [_without(article, "paragraphs"), _without(paragraph, "qas")]
            asked = _parts(paragraph, "qas")
            if not asked:
                fact = "a paragraph without questions is left behind"
                findings.add(Finding("not_carried", where, fact))
            for turn, question in enumerate(asked):
                inner = f"{where}.qas[{turn}]"
                layers = _squad_question(question, paragraph.get("context"), findings)
                yield inner, _merged(inner, findings, *about, *layers)
    except BadField as fault:
        problems.append(f"{place}: {fault}")


def _parts(record: Any, name: str) -> tuple[dict[str, Any], ...]:
    return mappings(mapping(record, "record").get(name, []), name)


def _squad_question(
    asked: dict[str, Any], context: Any, findings: Findings
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What else a question says, and its gold record; its answers keep their places too."""
    answers = _parts(asked, "answers")
    for one in answers:
        start, wording = one.get("answer_start"), one.get("text")
        known = type(start) is int and type(context) is str
        if known and type(wording) is str and not context.startswith(wording, start):
            fact = f"answer {quoted(wording)} is not at {start} of its context"
            findings.add(Finding("misplaced_answer", str(asked.get("id")), fact))
    wordings = list(dict.fromkeys(text(one.get("text"), "answers.text") for one in answers))
    impossible = asked.get("is_impossible", False)
    record = {
        "qid": asked.get("id"),
        "question": asked.get("question"),
        "answerable": not impossible if type(impossible) is bool else impossible,
        "gold_claim_substr": [] if impossible is True else wordings,
    }
    return _without(asked, "id", "question", "is_impossible"), record


def _without(record: Any, *keys: str) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def _merged(where: str, findings: Findings, *layers: dict[str, Any]) -> dict[str, Any]:
    """One record of several; what a later one says otherwise is said."""
    record: dict[str, Any] = {}
    for layer in layers:
        for key in layer:
            if key in record and record[key] != layer[key]:
                fact = f"{quoted(key)} is said twice; the one nearer to the question is kept"
                findings.add(Finding("not_carried", where, fact))
        record |= layer
    return record


def _of_entry(
    place: str, record: Any, problems: list[str], findings: Findings
) -> Iterator[tuple[str, Any]]:
    """The questions of a heritage entry."""
    entry = entry_at(place, record, problems)
    if entry is None:
        return
    for one in (*misplaced(entry), *unknown_types(entry)):
        findings.add(one)
    parts = {
        "ner_annotations": len(entry.mentions),
        "type_classification": int(entry.primary_type is not None),
        "entity_linking": len(entry.links),
    }
    held = ", ".join(f"{name} ({count})" for name, count in parts.items() if count)
    if not entry.pairs:
        fact = "the entry asks nothing and is left behind"
        findings.add(Finding("not_carried", entry.id, fact))
    elif held:
        fact = f"{held} ask nothing and are left behind; keep the entries for them"
        findings.add(Finding("not_carried", entry.id, fact))
    for number, _ in enumerate(entry.pairs, 1):
        asked = _merged(entry.id, findings, *_asked(entry, number))
        yield f"{place}: qa_pairs[{number - 1}]", asked


def _asked(entry: Entry, number: int) -> tuple[dict[str, Any], ...]:
    """What an entry says of one of its questions; its kind is a stratum, unless one is there."""
    pair = entry.pairs[number - 1]
    kind = {} if pair.answer_type is None else {"question_type": pair.answer_type}
    strata = kind | entry.strata
    record: dict[str, Any] = {
        "qid": f"{entry.id}#{number}",
        "question": pair.question,
        "gold_answer": pair.answer,
        "answerable": True if pair.answer and "answerable" not in pair.extra else None,
        "strata": strata,
        "text": entry.text,
        "supporting_facts": pair.supporting_facts,
    }
    if pair.answer_type != strata.get("question_type"):
        record["answer_type"] = pair.answer_type
    said = {key: value for key, value in record.items() if value is not None}
    return entry.extra, pair.extra, said
