"""Gold sets as tables: CSV or TSV with a header, read and written so that nothing changes."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import Any

from ragauge.ingest.fields import BadField, mapping, quoted
from ragauge.ingest.gold import ALIASES, REQUIRED
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.tables import rows_of
from ragauge.text.visible import FORMULA

OTHER_QUESTIONS = ("input",)
"""What a question is called in sets that `ragauge gold convert` reads and no other command."""
TEXTS = ("qid", "question", "gold_claim", "gold_answer")
LISTS = ("gold_claim_substr", "gold_citations", "constraints", "paraphrases")
WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

Records = Iterator[tuple[str, Any]]
"""Each decoded record with its place."""
_STRATUM = "strata."


def read_table(name: str, content: bytes, problems: list[str]) -> Records:
    """The rows of a table as records; the header tells what separates its cells."""
    rows = rows_of(name, content, problems)
    place, header = next(rows, ("", []))
    columns = [_named(title.strip()) for title in header]
    twice = sorted(title for title, times in Counter(columns).items() if times > 1)
    problems += [f"{place}: two columns are called {quoted(title)}; keep one" for title in twice]
    if place and not {"question", *ALIASES["question"], *OTHER_QUESTIONS} & {*columns}:
        problems.append(f"{place}: no column is called question; the first line names the columns")
    if problems:
        return
    for place, cells in rows:
        if len(cells) != len(columns):
            problems.append(f"{place}: cells: {len(cells)}, but the header has {len(columns)}")
            continue
        try:
            yield place, _record(columns, cells)
        except BadField as fault:
            problems.append(f"{place}: {fault}")


def _named(title: str) -> str:
    """A column's name: ours in any case, others as they are written."""
    return title.lower() if title.lower() in _CELLS else title


def _record(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """A row as a record; an empty cell is an absent field."""
    record: dict[str, Any] = {}
    strata: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not cell.strip():
            continue
        if column.startswith(_STRATUM):
            strata[column.removeprefix(_STRATUM)] = _free(cell, column)
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


def _boolean_cell(cell: str, field: str) -> bool:
    meant = WORDS.get(cell.strip().lower())
    if meant is None:
        raise BadField(field, f"expected true or false, got {quoted(cell)}")
    return meant


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
                if _can_be_column(_STRATUM + name):
                    row[_STRATUM + name] = _written(member)
                else:
                    strata[name] = member
        elif key in LISTS:
            row[key] = _joined(value)
        elif key in TEXTS:
            row[key] = value if _stands(value) else _json(value)
        elif key in _OWN:
            row[key] = _json(value)
        elif key.startswith(_STRATUM) or key.lower() in _CELLS or not _can_be_column(key):
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


def _joined(members: Sequence[str]) -> str:
    bar = "|".join(members)
    clean = all(one and one == one.strip() and "|" not in one for one in members)
    return bar if clean and _stands(bar) and not bar.startswith("[") else _json(members)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


_JSON_STARTS = {*'"[{-0123456789tfn'}
_UNSEEN = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_CELLS: dict[str, Callable[[str, str], Any]] = {
    **dict.fromkeys(("qid", "question"), _text_cell),
    "answerable": _boolean_cell,
    **dict.fromkeys(TEXTS, _text_cell),
    **dict.fromkeys(LISTS, _list_cell),
    **dict.fromkeys(("target_section", "anchor", "decoy", "weight", "strata", "extra"), _free),
    **dict.fromkeys((*ALIASES["question"], *ALIASES["gold_answer"]), _text_cell),
    **dict.fromkeys(ALIASES["gold_citations"], _list_cell),
}
_OWN = ("answerable", "target_section", "anchor", "decoy", "weight")
