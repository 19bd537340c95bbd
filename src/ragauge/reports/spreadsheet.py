"""Rows for whoever goes on with them elsewhere: CSV without formulas, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.contracts.report import UnitRows
from ragauge.errors import UsageError
from ragauge.text.visible import FORMULA, readable

ENDINGS = (".jsonl", ".csv", ".parquet")


def written(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """The rows as CSV with a header line (RFC 4180); lines end with CR LF."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(cell, columns))  # heads may be foreign too: the fields of a payload
    writer.writerows([cell(content) for content in row] for row in rows)
    return out.getvalue()


def cell(content: object) -> str:
    """A field as a cell: nothing for None, a list joined by blanks, a formula defused.

    >>> cell(True), cell(None), cell(("p1#1", "p2#4")), cell("=1+1"), cell(-0.25)
    ('true', '', 'p1#1 p2#4', "'=1+1", '-0.25')
    """
    match content:
        case None:
            return ""
        case bool():
            return "true" if content else "false"
        case int() | float():
            return str(content)
        case tuple():
            content = " ".join(str(one) for one in content)
    text = str(content)
    return f"'{readable(text)}" if text.startswith(FORMULA) else readable(text)


def table(columns: Mapping[str, type | None], rows: Iterable[Sequence[Any]], path: Path) -> bytes:
    """Rows in the form of the file's ending; each column of its type, or of that of its cells."""
    match path.suffix.lower():
        case ".jsonl":
            import msgspec

            lines = (msgspec.json.encode(dict(zip(columns, row, strict=True))) for row in rows)
            return b"".join(line + b"\n" for line in lines)
        case ".csv":
            return written(list(columns), rows).encode()
        case ".parquet":
            import polars as pl

            out = io.BytesIO()
            given, schema = list(rows), dict(columns)
            pl.DataFrame(given, schema, orient="row", infer_schema_length=None).write_parquet(out)
            return out.getvalue()
    raise UsageError(unknown_ending(path))


def unknown_ending(path: Path) -> str:
    return f'{path}: no rows have the ending "{path.suffix}"; known: {", ".join(ENDINGS)}'


def units_table(units: UnitRows, path: Path) -> bytes:
    """A row for each unit of an evaluation; an absent value is null or an empty cell."""
    ids = sorted(units.measured)
    columns = dict.fromkeys(["unit", "right", *units.details, *ids])
    values = [
        [None if value != value else value for value in units.measured[id].values.tolist()]
        for id in ids
    ]
    rows = zip(units.ids, units.right, *units.details.values(), *values, strict=True)
    return table(columns, rows, path)
