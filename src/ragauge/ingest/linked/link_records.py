"""Records of links as they come: files of JSON or cells, records at hand, data frames."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ragauge.contracts.report import Findings
from ragauge.errors import UsageError
from ragauge.ingest.fields import BadField, expected, quoted
from ragauge.ingest.lines import read_whole
from ragauge.ingest.linked.link_fields import TABULAR, id_is_link
from ragauge.ingest.placed_records import (
    STRATUM,
    Reader,
    Records,
    boolean_cell,
    headed_rows,
    no_table,
    records_of,
)

_WHOLE = re.compile(r"[0-9]+")
_TAC_PLACE = re.compile(r"(.+):([0-9]+)-([0-9]+)")
_RANKS = {"rank", "score"}
_KEYS = ("doc", "doc_id", "document", "start", "end", "mention", "context", "type", "strata")


def read_table(name: str, content: bytes, problems: list[str]) -> Records:
    """Cells, with a header or as neleval and TAC write them: the first line tells."""
    first = content.split(b"\n", 1)[0].decode(errors="replace").rstrip("\r").split("\t")
    without_header = len(first) >= 3 and all(_WHOLE.fullmatch(cell) for cell in first[1:3])
    without_header = without_header or (len(first) >= 5 and bool(_TAC_PLACE.fullmatch(first[3])))
    return (_neleval if without_header else _with_header)(name, content, problems)


def _with_header(name: str, content: bytes, problems: list[str]) -> Records:
    return headed_rows(name, content, problems, column=str.lower, row=_row)


def _row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {TABULAR: True}
    strata: dict[str, Any] = {}
    for column, cell in zip(columns, map(str.strip, cells), strict=True):
        if column.startswith(STRATUM):
            strata[column.removeprefix(STRATUM)] = cell or None
        elif column in _CELLS:
            record[column] = _CELLS[column](cell, column) if cell else None
        else:
            record[column] = cell
    return {**record, "strata": strata} if strata else record


def _neleval(name: str, content: bytes, problems: list[str]) -> Records:
    """Rows without a header: document, start, end (inclusive), then id, score and type in turn.

    A row of TAC's own form has eight cells, the fourth of them `document:start-end`.
    """
    for number, line in enumerate(content.split(b"\n"), 1):
        place = f"{name}:{number}"
        if not line.strip():
            continue
        try:
            cells = line.decode().rstrip().split("\t")
            tac = _TAC_PLACE.fullmatch(cells[3]) if len(cells) >= 5 else None
            yield place, _tac(cells, tac) if tac else _annotation(cells)
        except UnicodeDecodeError:
            problems.append(f"{place}: line: is not UTF-8 text; save the table as UTF-8")
        except BadField as fault:
            problems.append(f"{place}: {fault}")


def _annotation(cells: Sequence[str]) -> dict[str, Any]:
    if len(cells) < 3:
        raise BadField("cells", f"{len(cells)}, but there are document, start, end and id")
    doc, start, end, *rest = cells
    record: dict[str, Any] = {
        "doc": doc,
        "start": _whole(start, "start"),
        "end": _whole(end, "end") + 1,
    }
    if len(rest) > 3 and len(rest) % 3:
        raise BadField("cells", "after the end come id, score and type, all three for each id")
    answers = [rest[at : at + 3] for at in range(0, len(rest), 3)]
    if not answers:
        return record
    candidates = [_scored(answer) for answer in answers]
    record["type"] = answers[0][2] if len(answers[0]) > 2 else None
    if len(candidates) > 1:
        return {**record, "candidates": candidates}
    return {**record, "link": candidates[0]["id"], "score": candidates[0]["score"]}


def _scored(answer: Sequence[str]) -> dict[str, Any]:
    score = answer[1].strip() if len(answer) > 1 else ""
    return {"id": answer[0], "score": _number(score, "score") if score else None}


def _tac(cells: Sequence[str], place: re.Match[str]) -> dict[str, Any]:
    _, _, mention, _, link, *rest = cells
    score = _number(rest[2], "confidence") if len(rest) > 2 and rest[2].strip() else None
    return {
        "doc": place[1],
        "start": int(place[2]),
        "end": int(place[3]) + 1,
        "mention": mention,
        "link": link,
        "score": score,
        "type": rest[0] if rest else None,
    }


def _whole(cell: str, field: str) -> int:
    if not _WHOLE.fullmatch(cell.strip()):
        raise BadField(field, f"expected a whole number, got {quoted(cell)}")
    return int(cell)


def _number(cell: str, field: str) -> float:
    try:
        return float(cell)
    except ValueError:
        raise BadField(field, f"expected a number, got {quoted(cell)}") from None


_CELLS: dict[str, Callable[[str, str], Any]] = {
    "start": _whole,
    "end": _whole,
    "rank": _whole,
    "score": _number,
    "nil": boolean_cell,
    **dict.fromkeys(_KEYS[:3] + _KEYS[5:8], lambda cell, _: cell),
}
"""Cells that are no plain text, or absent where they are empty; an empty id is NIL."""
TABLES: dict[str | None, Reader] = {"neleval": _neleval, "tsv": _with_header, "csv": _with_header}


def grouped_rows(records: Records, problems: list[str]) -> Iterator[tuple[str, Any]]:
    """Records, where rows that rank candidates of one mention have become one record.

    Such rows have a rank or a score; others stay as they are, and what repeats is a duplicate.
    """
    groups: dict[tuple[Any, ...], list[tuple[str, dict[str, Any]]]] = {}
    for place, record in records:
        ranked = type(record) is dict and TABULAR in record and _RANKS & record.keys()
        if ranked:
            groups.setdefault(_mention(record), []).append((place, record))
        else:
            yield place, record
    for rows in groups.values():
        yield rows[0][0], rows[0][1] if len(rows) == 1 else _merged(rows, problems)


def _mention(record: Mapping[str, Any]) -> tuple[Any, ...]:
    named = (*_KEYS[:-2], *(() if id_is_link(record) else ("id",)))
    return tuple(record.get(name) for name in named)


def _merged(rows: list[tuple[str, dict[str, Any]]], problems: list[str]) -> dict[str, Any]:
    ranks: dict[Any, str] = {}
    for place, row in rows:
        rank = row.get("rank")
        if rank is not None and rank in ranks:
            fact = f"{rank} stands at {ranks[rank]} already for this mention; keep one"
            problems.append(f"{place}: rank: {fact}")
        ranks[rank] = place
    if all(row.get("rank") is not None for _, row in rows):
        rows = sorted(rows, key=lambda one: one[1]["rank"])
    first = rows[0][1]
    key = {name: first.get(name) for name in (*_KEYS, TABULAR) if name in first}
    if not id_is_link(first) and "id" in first:
        key["id"] = first["id"]
    links = [{name: row[name] for name in row if name not in key} for _, row in rows]
    return {**key, "candidates": links}


if TYPE_CHECKING:
    import polars as pl

    Source = str | Path | Sequence[Mapping[str, Any]] | Sequence["Placed"] | pl.DataFrame

FORMATS = ("json", "jsonl", "tsv", "csv", "neleval", "hipe")


class Placed(Struct, frozen=True):
    """A record that another reader took from a file, and its place there."""

    where: str
    record: dict[str, Any]


class LinkReading(Struct, frozen=True):
    """How links are read, and what was met on the way."""

    problems: list[str] = msgspec.field(default_factory=list)
    """What is wrong, each with its place."""
    findings: Findings = msgspec.field(default_factory=Findings)
    input_format: str | None = None
    """One of FORMATS; the content tells where it is None."""
    bare: str | None = None
    """The knowledge base of ids that tell none by prefix or shape."""


def name_of(source: Source) -> str:
    """What messages call it."""
    return str(source) if isinstance(source, str | Path) else "records"


def records_in(source: Source, reading: LinkReading) -> Records:
    """Each record with its place, decoded but not checked; faults go into the reading."""
    if not isinstance(source, str | Path):
        return _of_memory(source, reading)
    name, chosen = str(source), reading.input_format
    if chosen is not None and chosen not in FORMATS:
        raise UsageError(f'input format "{chosen}": links are read as {", ".join(FORMATS)}')
    content = read_whole(name)
    if chosen in TABLES:
        return TABLES[chosen](name, content, reading.problems)
    return records_of(name, content, reading.problems, no_table if chosen else read_table)


def _of_memory(source: Any, reading: LinkReading) -> Records:
    rows = hasattr(source, "iter_rows")
    records = source.iter_rows(named=True) if rows else source
    for number, record in enumerate(records, 1):
        if isinstance(record, Placed):
            yield record.where, record.record
            continue
        place = f"{'row' if rows else 'record'} {number}"
        try:
            plain = msgspec.to_builtins(dict(record), enc_hook=_plain)
        except (TypeError, ValueError):
            reading.problems.append(f"{place}: {BadField('record', expected('an object', record))}")
            continue
        yield place, {**plain, TABULAR: True} if rows else plain


def _plain(value: Any) -> Any:
    """A value that JSON has no form for, such as a NumPy number, as Python's own."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(type(value).__name__)
