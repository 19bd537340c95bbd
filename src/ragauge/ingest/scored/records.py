"""Records of scores with their places: from files of any form, and from what a program holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge.errors import UsageError
from ragauge.ingest.answered.records import (
    CONVERSATIONS,
    HELD_IN,
    INNER,
    MISSING,
    columns_of,
    headed_table,
    is_in_columns,
    placed_records,
)
from ragauge.ingest.answered.shapes import ANSWERS, QUESTIONS
from ragauge.ingest.lines import read_whole
from ragauge.ingest.placed_records import Records, is_one_object, json_whole, no_table, records_of
from ragauge.ingest.scored.columns import is_metric, is_surely_metric
from ragauge.ingest.scored.samples import TEXTS

_SUSPECT = re.compile(rb"NaN|Infinity|[eE]\+?\d{3}|\d{300}")
_TOKENS = re.compile(
    rb'"(?:[^"\\\n]++|\\.)*+"?'
    rb"|-?\bInfinity\b|\bNaN\b|-?\d[\d.]*[eE]\+?\d{3,}|-?\d{300,}(?:\.\d+)?(?:[eE]\+?\d+)?"
)
_PRIVATE = range(0xE000, 0xF900)
"""Characters without a meaning of their own; a file hardly has one of them, never all."""


class Marks(Struct, frozen=True):
    """The texts that stand for tokens, each of which the file does not hold itself."""

    nan: str
    infinite: str


def marked(content: bytes) -> tuple[bytes, Marks | None]:
    r"""The content with a text in place of every number that is none; None where there is none.

    Strict JSON goes on from there: every other fault is still found, at the same column.

    >>> content, marks = marked(b'{"a": NaN, "b": "NaN"}')
    >>> content.decode().count(marks.nan), len(content.decode())
    (1, 22)
    """
    if not _SUSPECT.search(content):
        return content, None
    free = _free(content)
    marks = Marks(next(free), next(free))

    def replaced(found: re.Match[bytes]) -> bytes:
        token = found[0]
        if token.startswith(b'"'):
            return token
        if token != b"NaN" and not token.endswith(b"Infinity") and abs(float(token)) < float("inf"):
            return token
        mark = marks.nan if token == b"NaN" else marks.infinite
        return f'"{mark}"'.ljust(len(token)).encode()

    return _TOKENS.sub(replaced, content), marks


def unmarked(value: Any, marks: Marks) -> Any:
    """The value with numbers in place of the marks."""
    if isinstance(value, str):
        return {marks.nan: float("nan"), marks.infinite: float("inf")}.get(value, value)
    if isinstance(value, list):
        return [unmarked(one, marks) for one in value]
    if isinstance(value, dict):
        return {key: unmarked(one, marks) for key, one in value.items()}
    return value


def misplaced(value: Any, field: str) -> tuple[str, str] | None:
    """Where a number that is none stands within a value, and which; None where there is none.

    >>> misplaced({"a": ["x", float("nan")]}, "strata")
    ('strata.a[1]', 'NaN')
    """
    if isinstance(value, float) and not abs(value) < float("inf"):
        return field, "Infinity" if value == value else "NaN"
    if isinstance(value, dict):
        places = ((f"{field}.{key}", one) for key, one in value.items())
    elif isinstance(value, list):
        places = ((f"{field}[{place}]", one) for place, one in enumerate(value))
    else:
        return None
    return next((found for name, one in places if (found := misplaced(one, name))), None)


def _free(content: bytes) -> Iterator[str]:
    """Private characters that a file has neither as they are nor escaped."""
    escapes = {match.lower() for match in re.findall(rb"\\u[eEfF][0-9a-fA-F]{3}", content)}
    for code in _PRIVATE:
        if chr(code).encode() not in content and b"\\u%04x" % code not in escapes:
            yield chr(code)


_HELD_IN = (*HELD_IN, "scores")


class Source(Struct, frozen=True):
    """The records of a file, and whether JSON tells their numbers from their gaps."""

    records: list[tuple[str, Any]]
    is_json: bool


def read_records(name: str, problems: list[str]) -> Source:
    """All records of a file; what cannot be decoded goes into the list."""
    if name.lower().endswith((".parquet", ".pq")):
        return Source(list(placed_records(name, problems, "parquet", name)), False)
    content = read_whole(name)
    if content.lstrip()[:1] not in (b"{", b"[", b""):
        return Source(list(headed_table(name, content, problems, _row)), False)
    content, marks = marked(content)
    # Where the second line begins an object, the first is a broken one: each has its own fault.
    second = content.strip().partition(b"\n")[2].lstrip()[:1]
    if is_one_object(content) and second != b"{":
        placed = json_whole(name, content, problems)
    else:
        placed = records_of(name, content, problems, no_table)
    records = list(_unwrapped(placed, name, problems))
    if marks is not None:
        records = [(place, unmarked(record, marks)) for place, record in records]
    return Source(records, True)


def held_records(held: Any, name: str, problems: list[str]) -> Source:
    """The records of what a program holds: dicts, a frame, or an object that holds rows."""
    if hasattr(held, "iter_rows"):
        rows: Iterable[Any] = held.iter_rows(named=True)
    elif hasattr(held, "to_dict") and hasattr(held, "columns"):
        rows = held.to_dict("records")
    elif hasattr(held, "to_pylist"):
        rows = held.to_pylist()
    elif hasattr(held, "to_pandas"):
        return held_records(held.to_pandas(), name, problems)
    elif isinstance(held, Mapping):
        return Source(list(_unwrapped(iter([(name, dict(held))]), name, problems)), False)
    elif isinstance(held, str | Path) or not isinstance(held, Iterable):
        fact = f"expected dicts or a frame, got {type(held).__name__}"
        raise UsageError(f"{name}: {fact}; a file is read by read_scores")
    else:
        rows = held
    return Source([(f"{name}: row {number}", row) for number, row in enumerate(rows, 1)], False)


def _unwrapped(placed: Records, name: str, problems: list[str]) -> Records:
    """The rows that objects hold; an object itself, where it holds none."""
    for place, record in placed:
        one_row = isinstance(record, dict) and any(
            isinstance(record.get(key), str) for key in (*QUESTIONS, *ANSWERS)
        )
        if one_row or not isinstance(record, dict):
            yield place, record
        elif is_in_columns(record) or _is_columnar(record):
            yield from columns_of(name, record, problems)
        else:
            yield from _held(place, record, name, problems)


def _held(place: str, record: dict[str, Any], name: str, problems: list[str]) -> Records:
    inner = next((record[key] for key in INNER if isinstance(record.get(key), dict)), record)
    results = inner.get("results")
    inner = results if isinstance(results, dict) else inner
    for key in CONVERSATIONS:
        if isinstance(inner.get(key), list) and inner[key]:
            fact = f"{len(inner[key]):,} conversations; single questions are diagnosed"
            problems.append(f"{name}: {key}: {fact}")
    rows = next((inner[key] for key in _HELD_IN if _holds_rows(inner, key)), _only_scored(inner))
    if rows is not None:
        yield from ((f"{name}: item {number}", row) for number, row in enumerate(rows, 1))
    elif _is_by_row(record):
        yield from ((f"{name}: row {key}", row) for key, row in record.items())
    else:
        yield place, record


def _holds_rows(record: Mapping[str, Any], key: str) -> bool:
    held = record.get(key)
    return isinstance(held, list) and (not held or any(isinstance(one, dict) for one in held))


def _only_scored(record: Mapping[str, Any]) -> list[Any] | None:
    """The one list of rows with scores that an object holds, under whatever name."""
    lists = [
        held
        for key, held in record.items()
        if _holds_rows(record, key)
        and any(is_surely_metric(name) for one in held if isinstance(one, dict) for name in one)
    ]
    return lists[0] if len(lists) == 1 else None


def _is_columnar(record: Mapping[str, Any]) -> bool:
    """Whether an object without answers is a table: each of its fields is a column."""
    columns = list(record.values())
    if not any(_is_column(name) for name in record):
        return False
    if all(isinstance(one, list) for one in columns):
        return any(is_metric(name) for name in record)
    return all(isinstance(one, dict) and one.keys() == columns[0].keys() for one in columns)


def _is_by_row(record: Mapping[str, Any]) -> bool:
    """Whether an object holds a row under each of its keys: pandas's form `index`."""
    return bool(record) and all(
        isinstance(row, dict) and not _is_column(key) and any(map(_is_column, row))
        for key, row in record.items()
    )


def _is_column(name: str) -> bool:
    return name in TEXTS or is_metric(name)


def _row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    """The cells as they are written; only texts can be missing, for a gap among scores counts."""
    return {
        column: None if column in TEXTS and cell.strip() in MISSING else cell
        for column, cell in zip(columns, cells, strict=True)
    }
