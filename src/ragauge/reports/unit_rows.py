"""A row for each unit of an evaluation, for whoever goes on with them elsewhere."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragauge.contracts.score import UnitRows
from ragauge.errors import UsageError
from ragauge.reports import spreadsheet

ENDINGS = (".jsonl", ".csv", ".parquet")


def written(units: UnitRows, path: Path) -> bytes:
    """The rows in the form of the file's ending; an absent value is null or an empty cell."""
    columns, rows = _columns(units), _rows(units)
    match path.suffix.lower():
        case ".jsonl":
            import msgspec

            lines = (msgspec.json.encode(dict(zip(columns, row, strict=True))) for row in rows)
            return b"".join(line + b"\n" for line in lines)
        case ".csv":
            return spreadsheet.written(columns, rows).encode()
        case ".parquet":
            return _parquet(columns, list(rows))
    known = ", ".join(ENDINGS)
    raise UsageError(f'{path}: no rows have the ending "{path.suffix}"; known: {known}')


def _columns(units: UnitRows) -> list[str]:
    return ["unit", "right", *units.details, *sorted(units.measured)]


def _rows(units: UnitRows) -> Iterator[list[Any]]:
    values = [units.measured[id].values.tolist() for id in sorted(units.measured)]
    details = list(units.details.values())
    for place, unit in enumerate(units.ids):
        measured = [None if column[place] != column[place] else column[place] for column in values]
        told = [column[place] for column in details]
        yield [unit, units.right[place], *told, *measured]


def _parquet(columns: list[str], rows: list[list[Any]]) -> bytes:
    import polars as pl

    out = io.BytesIO()
    frame = pl.DataFrame(rows, schema=columns, orient="row", infer_schema_length=None)
    frame.write_parquet(out)
    return out.getvalue()
