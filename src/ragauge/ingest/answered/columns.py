"""Rows that a JSON object holds column by column, as pandas and datasets write tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragauge.ingest.answered.shapes import ONE_TEXT
from ragauge.ingest.fields import quoted
from ragauge.ingest.judgements import Records


def is_in_columns(record: Any) -> bool:
    """Whether an object is a table: its answer is a column, or it names its columns.

    >>> is_in_columns({"answer": ["a", "b"]}), is_in_columns({"answer": {"0": "a"}})
    (True, True)
    >>> is_in_columns({"answer": "a", "contexts": ["b"]})
    False
    """
    if not isinstance(record, Mapping):
        return False
    answers = next((record[name] for name in ONE_TEXT if record.get(name) is not None), None)
    return isinstance(answers, list) or _is_keyed(record, answers) or _is_split(record)


def columns_of(name: str, record: Mapping[str, Any], problems: list[str]) -> Records:
    """The rows of such an object; nothing but a problem where its columns do not fit together."""
    columns, rows = _split(record) if _is_split(record) else _plain(record)
    uneven = [title for title, one in zip(columns, rows, strict=False) if not isinstance(one, list)]
    lengths = {len(one) for one in rows if isinstance(one, list)}
    if uneven or len(lengths) > 1:
        titles = ", ".join(map(quoted, uneven or columns))
        fact = "is no list of cells" if uneven else f"have {_numbers(lengths)} cells"
        problems.append(f"{name}: columns: {titles} {fact}; give each one cell a row")
        return iter(())
    return _rows(name, columns, rows)


def _rows(name: str, columns: Sequence[str], cells: Sequence[list[Any]]) -> Iterator[Any]:
    for number, row in enumerate(zip(*cells, strict=True), 1):
        yield f"{name}: row {number}", dict(zip(columns, row, strict=True))


def _is_keyed(record: Mapping[str, Any], answers: Any) -> bool:
    """Whether every column is an object by row, all with the same rows: pandas's own form."""
    return isinstance(answers, Mapping) and all(
        isinstance(column, Mapping) and column.keys() == answers.keys()
        for column in record.values()
    )


def _is_split(record: Mapping[str, Any]) -> bool:
    """Whether columns, index and cells stand apart: pandas's form `split`."""
    columns, cells = record.get("columns"), record.get("data")
    return (
        isinstance(columns, list)
        and isinstance(cells, list)
        and all(isinstance(row, list) and len(row) == len(columns) for row in cells)
    )


def _plain(record: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    keyed = all(isinstance(column, Mapping) for column in record.values())
    return list(record), [list(column.values()) if keyed else column for column in record.values()]


def _split(record: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    columns = [str(title) for title in record["columns"]]
    return columns, [[row[place] for row in record["data"]] for place in range(len(columns))]


def _numbers(lengths: set[int]) -> str:
    return " and ".join(map(str, sorted(lengths)))
