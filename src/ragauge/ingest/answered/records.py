"""Records of answers: JSON Lines, a JSON array or object, CSV, TSV, Parquet, or what is at hand."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answered.shapes import ONE_TEXT, has_answer_field
from ragauge.ingest.fields import quoted
from ragauge.ingest.gold_forms import WRAPPERS
from ragauge.ingest.lines import MAX_LINE, open_bytes, read_rows, refuse_expansion
from ragauge.ingest.placed_records import (
    STRATUM,
    Cells,
    Records,
    distinct_columns,
    file_of,
    headed_rows,
    is_one_object,
    json_whole,
    records_of,
)


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
    if _is_split(record):
        columns = [str(title) for title in record["columns"]]
        cells = [[row[place] for row in record["data"]] for place in range(len(columns))]
    else:
        keyed = all(isinstance(column, Mapping) for column in record.values())
        columns = list(record)
        cells = [list(column.values()) if keyed else column for column in record.values()]
    uneven = [
        title for title, one in zip(columns, cells, strict=False) if not isinstance(one, list)
    ]
    lengths = {len(one) for one in cells if isinstance(one, list)}
    if uneven or len(lengths) > 1:
        titles = ", ".join(map(quoted, uneven or columns))
        counts = " and ".join(map(str, sorted(lengths)))
        fact = "is no list of cells" if uneven else f"have {counts} cells"
        problems.append(f"{name}: columns: {titles} {fact}; give each one cell a row")
        return iter(())
    rows = enumerate(zip(*cells, strict=True), 1)
    return ((f"{name}: row {at}", dict(zip(columns, row, strict=True))) for at, row in rows)


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


if TYPE_CHECKING:
    from polars import DataFrame

    Source = str | Path | Sequence[Mapping[str, Any]] | DataFrame

FORMS = ("json", "jsonl", "csv", "tsv", "parquet")
HELD_IN = ("testCases", "test_results", "testResults", "rows", "results", *WRAPPERS)
"""Keys under which a file that is one object keeps its rows."""
INNER = ("testRunData", "test_run_data")
"""Keys under which a file keeps the object that holds its rows."""
MISSING = ("", "nan", "NaN")
"""What a table's cell holds where there is nothing: pandas writes so for a missing value."""
_CELL = 16
"""Bytes that a cell of a table takes in memory, whatever it holds."""
CONVERSATIONS = ("conversationalTestCases", "conversational_test_cases")


def placed_records(source: Source, problems: list[str], form: str | None, name: str) -> Records:
    """Each record of a source with its place; what cannot be decoded goes into the list."""
    if form not in (None, *FORMS):
        raise UsageError(f"format {quoted(str(form))} is none of {', '.join(FORMS)}")
    if isinstance(source, str | Path):
        name = str(source)
        if form == "parquet" or (form is None and name.endswith(".parquet")):
            return _of_frame(name, _parquet(name))
        content = read_rows(name)
        if form in ("csv", "tsv"):
            return headed_table(name, content, problems)
        if form == "json" or (form is None and is_one_object(content)):
            return _whole(name, content, problems)
        placed = records_of(name, content, problems, _no_json if form else headed_table)
        return _each_unwrapped(placed, problems)
    if hasattr(source, "iter_rows"):
        return _of_frame(name, cast("DataFrame", source))
    if isinstance(source, Mapping):
        return _each_unwrapped([(name, dict(source))], problems)
    members = cast("Sequence[Any]", source)
    return ((f"{name}: item {number}", one) for number, one in enumerate(members, 1))


def _of_frame(name: str, frame: DataFrame) -> Records:
    rows = frame.iter_rows(named=True)
    return ((f"{name}: row {number}", row) for number, row in enumerate(rows, 1))


def _no_json(name: str, content: bytes, problems: list[str]) -> Records:
    problems.append(f"{name}: is not JSON, as --input-format says; name the right format")
    return iter(())


def _parquet(name: str) -> DataFrame:
    import polars as pl

    try:
        with open_bytes(name) as file:
            size, columns = os.fstat(file.fileno()).st_size, len(pl.read_parquet_schema(file))
        rows = pl.scan_parquet(name).select(pl.len()).collect().item()
        refuse_expansion(name, rows * columns * _CELL, size)
        frame = pl.read_parquet(name)
    except (pl.exceptions.PolarsError, OSError) as error:
        fact = str(error).partition("\n")[0]
        raise InputRejected(f"{name}: cannot be read as Parquet: {fact}") from None
    held = 0  # polars keeps a text that is repeated once, rows hold it each time
    for column in frame.iter_columns():
        texts = column.explode() if column.dtype == pl.List(pl.String) else column
        if texts.dtype == pl.String:
            lengths = texts.str.len_bytes()
            held += int(lengths.sum())
            if (cast("int | None", lengths.max()) or 0) > MAX_LINE:
                place = f"{name}: {quoted(column.name)}"
                raise InputRejected(f"{place}: a value is longer than {MAX_LINE >> 20} MiB")
    refuse_expansion(name, held, size)
    return frame


def _whole(name: str, content: bytes, problems: list[str]) -> Records:
    for _, whole in json_whole(name, content, problems):
        if isinstance(whole, list):
            yield from ((f"{name}: item {number}", one) for number, one in enumerate(whole, 1))
        else:
            yield from _each_unwrapped([(name, whole)], problems)


def _each_unwrapped(placed: Iterator[tuple[str, Any]] | list[Any], problems: list[str]) -> Records:
    for place, record in placed:
        if is_in_columns(record):
            yield from columns_of(file_of(place), record, problems)
        elif isinstance(record, dict) and not has_answer_field(record):
            yield from _unwrapped(place, record, problems)
        else:
            yield place, record


def _unwrapped(place: str, record: Mapping[str, Any], problems: list[str]) -> Records:
    """The rows that an object holds; itself, where it holds none."""
    record = next((record[key] for key in INNER if isinstance(record.get(key), dict)), record)
    for key in CONVERSATIONS:
        if record.get(key):
            fact = f"{len(record[key]):,} conversations; one answer a row is measured"
            problems.append(f"{file_of(place)}: {key}: {fact}")
    held = next((key for key in HELD_IN if isinstance(record.get(key), list)), None)
    if held is None:
        yield place, record
        return
    for number, one in enumerate(record[held], 1):
        yield f"{file_of(place)}: item {number}", one


def headed_table(
    name: str, content: bytes, problems: list[str], row: Cells | None = None
) -> Records:
    """The rows of a CSV or TSV file; an empty cell is an absent field."""

    def header(place: str, columns: list[str], problems: list[str]) -> bool:
        return distinct_columns(name, columns, problems)

    return headed_rows(name, content, problems, header=header, row=row or _row)


def _row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    strata: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=True):
        own, _, stratum = column.partition(STRATUM)
        if not own and stratum:
            strata[stratum] = cell.strip()
        else:
            record[column] = None if cell.strip() in MISSING else cell
    return {**record, "strata": strata} if strata else record
