"""A row for each unit of an evaluation, for whoever goes on with them elsewhere."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.contracts.report import UnitRows
from ragauge.errors import UsageError
from ragauge.reports import spreadsheet

ENDINGS = (".jsonl", ".csv", ".parquet")


def written(units: UnitRows, path: Path) -> bytes:
    """The rows in the form of the file's ending; an absent value is null or an empty cell."""
    return table(dict.fromkeys(_columns(units)), _rows(units), path)


def table(columns: Mapping[str, type | None], rows: Iterable[Sequence[Any]], path: Path) -> bytes:
    """Rows under their columns, each of this type or of the one that is seen from its cells."""
    match path.suffix.lower():
        case ".jsonl":
            import msgspec

            lines = (msgspec.json.encode(dict(zip(columns, row, strict=True))) for row in rows)
            return b"".join(line + b"\n" for line in lines)
        case ".csv":
            return spreadsheet.written(list(columns), rows).encode()
        case ".parquet":
            return _parquet(columns, list(rows))
    raise UsageError(unknown_ending(path))


def unknown_ending(path: Path) -> str:
    """What is said of a file that no rows can be written to."""
    return f'{path}: no rows have the ending "{path.suffix}"; known: {", ".join(ENDINGS)}'


def _columns(units: UnitRows) -> list[str]:
    return ["unit", "right", *units.details, *sorted(units.measured)]


def _rows(units: UnitRows) -> Iterator[list[Any]]:
    values = [units.measured[id].values.tolist() for id in sorted(units.measured)]
    details = list(units.details.values())
    for place, unit in enumerate(units.ids):
        measured = [None if column[place] != column[place] else column[place] for column in values]
        told = [column[place] for column in details]
        yield [unit, units.right[place], *told, *measured]


def _parquet(columns: Mapping[str, type | None], rows: list[Sequence[Any]]) -> bytes:
    import polars as pl

    out = io.BytesIO()
    frame = pl.DataFrame(rows, schema=dict(columns), orient="row", infer_schema_length=None)
    frame.write_parquet(out)
    return out.getvalue()
