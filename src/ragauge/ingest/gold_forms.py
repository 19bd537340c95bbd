"""Gold sets in the forms other people keep them in: tables, SQuAD, ragas, heritage entries."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.gold import Gold, GoldMetadata
from ragauge.contracts.gold_parts import Units
from ragauge.contracts.report import Finding
from ragauge.errors import InputRejected, refuse
from ragauge.ingest.fields import BadField, BadRecord, mapping, mappings, quoted, text
from ragauge.ingest.gold import ALIASES, REQUIRED, gold_in, gold_of, is_metadata, metadata_of
from ragauge.ingest.heritage import MARKS, Entry, entry_of, is_entry, misplaced, unknown_types
from ragauge.ingest.lines import read_whole
from ragauge.ingest.placed_records import (
    STRATUM,
    Records,
    boolean_cell,
    distinct_columns,
    headed_rows,
    json_whole,
    records_of,
)
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.text.visible import FORMULA

OTHER_QUESTIONS = ("input",)
"""What a question is called in sets that `ragauge gold convert` reads and no other command."""
TEXTS = ("qid", "question", "gold_claim", "gold_answer")
LISTS = ("gold_claim_substr", "gold_citations", "constraints", "paraphrases")


def read_table(name: str, content: bytes, problems: list[str]) -> Records:
    """The rows of a table as records; columns have our names in any case, others as written."""

    def column(title: str) -> str:
        return title.lower() if title.lower() in _CELLS else title

    def header(place: str, columns: list[str], problems: list[str]) -> bool:
        known = distinct_columns(place, columns, problems)
        if {"question", *ALIASES["question"], *OTHER_QUESTIONS} & {*columns}:
            return known
        if columns:
            fact = "no column is called question; the first line names the columns"
            problems.append(f"{place}: {fact}")
        return False

    return headed_rows(name, content, problems, column=column, header=header, row=_record)


def _record(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """A row as a record; an empty cell is an absent field."""
    record: dict[str, Any] = {}
    strata: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not cell.strip():
            continue
        if column.startswith(STRATUM):
            strata[column.removeprefix(STRATUM)] = _free(cell, column)
        else:
            record[column] = _CELLS.get(column, _free)(cell, column)
    if strata:
        record["strata"] = strata | mapping(record.get("strata", {}), "strata")
    more = record.pop("extra", None)
    if more is not None:
        record |= more if type(more) is dict else {"extra": more}
    return record


def _free(cell: str, field: str) -> Any:
    """The JSON value a cell holds, else its text."""
    try:
        return decode(cell.encode()) if cell.lstrip()[:1] in _JSON_STARTS else cell
    except BadJson:
        return cell


def _text_cell(cell: str, field: str) -> str:
    """The text of a cell: as it stands, or out of JSON quotes."""
    value = _free(cell, field) if cell.startswith('"') else cell
    return value if type(value) is str else cell


def _list_cell(cell: str, field: str) -> list[Any]:
    value = _free(cell, field) if cell.startswith("[") else None
    return value if type(value) is list else [part.strip() for part in cell.split("|")]


def table_of(records: Sequence[dict[str, Any]], delimiter: str) -> str:
    """Gold records as a table that reads back as the same records, with no cell a formula.

    Lists are joined by a bar and texts stand as they are, unless they would read back as
    something else, or a spreadsheet would take them for a formula: then they are written as
    JSON, which begins with a quote or a bracket. Keys that cannot be a column stand together in
    the columns `strata` and `extra`.
    """
    rows = [_row(record) for record in records]
    used = {column for row in rows for column in row}
    first = [name for name in _CELLS if name in used or name in REQUIRED]
    columns = [*first, *sorted(used - {*first})]
    out = StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([row.get(column, "") for column in columns] for row in rows)
    return out.getvalue()


def _row(record: dict[str, Any]) -> dict[str, str]:
    row: dict[str, str] = {}
    strata: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in record.items():
        if key == "strata":
            for name, member in value.items():
                if _can_be_column(STRATUM + name):
                    row[STRATUM + name] = _written(member)
                else:
                    strata[name] = member
        elif key in LISTS:
            bar = "|".join(value)
            clean = all(one and one == one.strip() and "|" not in one for one in value)
            plain = clean and _stands(bar) and not bar.startswith("[")
            row[key] = bar if plain else _json(value)
        elif key in TEXTS:
            row[key] = value if _stands(value) else _json(value)
        elif key in _OWN:
            row[key] = _json(value)
        elif key.startswith(STRATUM) or key.lower() in _CELLS or not _can_be_column(key):
            extra[key] = value
        else:
            row[key] = _written(value)
    together = {"strata": strata, "extra": extra}
    return row | {name: _json(members) for name, members in together.items() if members}


def _can_be_column(key: str) -> bool:
    return key == key.strip() and _stands(key) and "\n" not in key


def _stands(text: str) -> bool:
    """Whether a text can be a cell as it is: no formula, not blank, nothing a reader drops."""
    blank = not text.strip()
    return not blank and not text.startswith((*FORMULA, '"')) and not _UNSEEN.search(text)


def _written(value: Any) -> str:
    """A value of any kind as a cell that reads back as the same value."""
    plain = type(value) is str and _stands(value) and _free(value, "") == value
    return value if plain else _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_JSON_STARTS = {*'"[{-0123456789tfn'}
_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_CELLS: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(("qid", "question"), _text_cell),
    "answerable": boolean_cell,
    **dict.fromkeys(TEXTS, _text_cell),
    **dict.fromkeys(LISTS, _list_cell),
    **dict.fromkeys(("target_section", "anchor", "decoy", "weight", "strata", "extra"), _free),
    **dict.fromkeys((*ALIASES["question"], *ALIASES["gold_answer"]), _text_cell),
    **dict.fromkeys(ALIASES["gold_citations"], _list_cell),
}
_OWN = ("answerable", "target_section", "anchor", "decoy", "weight")


WRAPPERS = ("data", "goldens", "test_cases", "samples", "questions", "examples")
"""Keys under which a dataset in one object keeps its questions."""
OTHER_QIDS = ("id", "question_id", "q_id")
Met = list[tuple[Finding, int]]
"""Findings, each with the number of times it was met."""
_UNSAID = f"answerable: {REQUIRED['answerable']}"


class Taken(Struct, frozen=True):
    """The questions of a file, the form they had, and what could not be taken along."""

    form: str
    questions: list[Gold]
    findings: Met
    """Each with the number of times it was met."""
    metadata: GoldMetadata | None = None


def read_any(name: str, answerable: bool | None = None) -> Taken:
    """The questions of a gold set in any form we read; InputRejected with all that is wrong.

    `answerable` is for questions that do not say it themselves.
    """
    problems: list[str] = []
    findings: Met = []
    metadata = None
    content = read_whole(name)
    if content.lstrip()[:1] in (b"{", b"["):
        decoded = list(_decoded(name, content, problems))
        if len(decoded) > 1 and is_metadata(decoded[0][1]):
            place, record = decoded.pop(0)
            metadata = metadata_of(record, place, problems)
        form, records = _of_json(name, decoded, problems, findings)
    else:
        form, records = "a table", read_table(name, content, problems)
    named = _with_qids(name, list(records), findings)
    questions: list[Gold] = []
    seen: dict[str, str] = {}
    unsaid = 0
    for place, record in named:
        silent = type(record) is dict and record.get("answerable") is None
        try:
            question = gold_of({**record, "answerable": answerable} if silent else record)
        except BadRecord as fault:
            told = [str(field) for field in fault.fields]
            unsaid += _UNSAID in told
            problems += [f"{place}: {field}" for field in told if field != _UNSAID]
            continue
        earlier = seen.setdefault(question.qid, place)
        if earlier != place:
            problems.append(f"{place}: qid: {quoted(question.qid)} stands already at {earlier}")
        questions.append(question)
    if unsaid:
        fact = f"{unsaid:,} do not say it; write true or false in each, or say it for all that do "
        problems.insert(0, f"{name}: answerable: {fact}not with --answerable true")
    refuse(problems)
    if not questions:
        raise InputRejected(f"{name}: holds no question")
    return Taken(form, questions, findings, metadata)


def read_units(name: str) -> tuple[list[Gold], Units]:
    """What a gold set is split into or sampled by: its questions, or its heritage entries.

    An entry is a unit whose `extra` is the record as it was written. Raises InputRejected with
    all that is wrong.
    """
    content = read_whole(name)
    if not any(mark.encode() in content for mark in MARKS):
        return gold_in(name, content), "questions"
    problems: list[str] = []
    records = list(_decoded(name, content, problems))
    if not any(is_entry(record) for _, record in records):
        return gold_in(name, content), "questions"
    units: dict[str, Gold] = {}
    for place, record in records:
        try:
            entry = entry_of(record)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        if entry.id in units:
            problems.append(f"{place}: id: {quoted(entry.id)} is in the file already")
        units[entry.id] = Gold(
            qid=entry.id, question=entry.text, answerable=True, strata=entry.strata, extra=record
        )
    refuse(problems)
    return list(units.values()), "entries"


def _with_qids(name: str, records: list[tuple[str, Any]], findings: Met) -> list[tuple[str, Any]]:
    """The records under our names for id and question; numbered where none of them has an id."""
    renamed = [(place, _renamed(record)) for place, record in records]
    members = [record for _, record in renamed if type(record) is dict]
    if not members or any(record.get("qid") is not None for record in members):
        return renamed
    fact = "has no qid; numbered in the file's order, which must not change from now on"
    findings.append((Finding("made_qid", name, fact), len(members)))
    width = len(str(len(members)))
    return [
        (place, {"qid": f"q{number:0{width}}", **record} if type(record) is dict else record)
        for number, (place, record) in enumerate(renamed, 1)
    ]


def _renamed(record: Any) -> Any:
    if type(record) is not dict:
        return record
    fields = dict(record)
    if fields.get("qid") is None:
        other = next((key for key in OTHER_QIDS if fields.get(key) is not None), None)
        if other is not None:
            value = fields.pop(other)
            fields["qid"] = str(value) if type(value) is int else value
    if not any(fields.get(key) is not None for key in ("question", *ALIASES["question"])):
        other = next((key for key in OTHER_QUESTIONS if fields.get(key) is not None), None)
        if other is not None:
            fields["question"] = fields.pop(other)
    return fields


def _of_json(
    name: str,
    records: list[tuple[str, Any]],
    problems: list[str],
    findings: Met,
) -> tuple[str, Records]:
    """What JSON records are, and the gold records in them."""
    if any(is_entry(record) for _, record in records):
        return "heritage entries", _heritage(records, problems, findings)
    if len(records) == 1 and type(records[0][1]) is dict:
        dataset = records[0][1]
        wrapper = next((key for key in WRAPPERS if type(dataset.get(key)) is list), None)
        if wrapper is not None:
            for key, value in dataset.items():
                if key != wrapper:
                    told = f"{quoted(key)}, which is {quoted(msgspec.json.encode(value).decode())}"
                    fact = f"{told}, belongs to the whole set and is left behind"
                    findings.append((Finding("not_carried", name, fact), 1))
            members = enumerate(dataset[wrapper])
            inner = [(f"{name}: {wrapper}[{place}]", member) for place, member in members]
            if any(type(member) is dict and "paragraphs" in member for _, member in inner):
                return "SQuAD", _squad(inner, problems, findings)
            return "JSON", iter(inner)
    return "JSON", iter(records)


def _decoded(name: str, content: bytes, problems: list[str]) -> Records:
    """The members of an array, an object a line, or one object over several lines."""
    start = content.lstrip()
    if start[:1] == b"[" or start.partition(b"\n")[0].rstrip().endswith(b"}"):
        return records_of(name, content, problems, read_table)
    return json_whole(name, content, problems)


def _squad(articles: Iterable[tuple[str, Any]], problems: list[str], findings: Met) -> Records:
    for place, article in articles:
        try:
            for number, paragraph in enumerate(_parts(article, "paragraphs")):
                where = f"{place}.paragraphs[{number}]"
                about = [_without(article, "paragraphs"), _without(paragraph, "qas")]
                asked = _parts(paragraph, "qas")
                if not asked:
                    fact = "a paragraph without questions is left behind"
                    findings.append((Finding("not_carried", where, fact), 1))
                for turn, question in enumerate(asked):
                    inner = f"{where}.qas[{turn}]"
                    layers = _squad_question(question, paragraph.get("context"), findings)
                    yield inner, _merged(inner, findings, *about, *layers)
        except BadField as fault:
            problems.append(f"{place}: {fault}")


def _parts(record: Any, name: str) -> tuple[dict[str, Any], ...]:
    return mappings(mapping(record, "record").get(name, []), name)


def _squad_question(
    asked: dict[str, Any], context: Any, findings: Met
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What else a question says, and its gold record; its answers keep their places too."""
    answers = _parts(asked, "answers")
    for one in answers:
        start, wording = one.get("answer_start"), one.get("text")
        known = type(start) is int and type(context) is str
        if known and type(wording) is str and not context.startswith(wording, start):
            fact = f"answer {quoted(wording)} is not at {start} of its context"
            findings.append((Finding("misplaced_answer", str(asked.get("id")), fact), 1))
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


def _merged(where: str, findings: Met, *layers: dict[str, Any]) -> dict[str, Any]:
    """One record of several; what a later one says otherwise is said."""
    record: dict[str, Any] = {}
    for layer in layers:
        for key in layer:
            if key in record and record[key] != layer[key]:
                fact = f"{quoted(key)} is said twice; the one nearer to the question is kept"
                findings.append((Finding("not_carried", where, fact), 1))
        record |= layer
    return record


def _heritage(records: Iterable[tuple[str, Any]], problems: list[str], findings: Met) -> Records:
    for place, record in records:
        try:
            entry = entry_of(record)
        except BadRecord as fault:
            problems += [f"{place}: {field}" for field in fault.fields]
            continue
        findings += [(one, 1) for one in (*misplaced(entry), *unknown_types(entry))]
        findings += [(one, 1) for one in _left_behind(entry)]
        for number, _ in enumerate(entry.pairs, 1):
            where = f"{place}: qa_pairs[{number - 1}]"
            yield where, _merged(entry.id, findings, *_asked(entry, number))


def _left_behind(entry: Entry) -> Iterator[Finding]:
    """What of an entry is about no question, and stays where it was."""
    parts = {
        "ner_annotations": len(entry.mentions),
        "type_classification": int(entry.primary_type is not None),
        "entity_linking": len(entry.links),
    }
    if not entry.pairs:
        yield Finding("not_carried", entry.id, "the entry asks nothing and is left behind")
        return
    held = [f"{name} ({count})" for name, count in parts.items() if count]
    if held:
        fact = f"{', '.join(held)} ask nothing and are left behind; keep the entries for them"
        yield Finding("not_carried", entry.id, fact)


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
