"""Readers of records by form, for the kinds that are not a `Shape` yet."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ragauge.ingest.fields import BadField, quoted, text
from ragauge.ingest.lines import MAX_LINE, OVERLONG
from ragauge.ingest.strict_json import BadJson, decode


def record_id(record: dict[str, Any], names: Sequence[str], remedy: str) -> str:
    """What a record is called, under the first of these names that it has; a number is a name.

    >>> record_id({"qid": 7}, ("id", "qid"), "name the item")
    '7'
    """
    for name in names:
        value = record.get(name)
        if value is None:
            continue
        if type(value) is int:
            return str(value)
        if not text(value, name).strip():
            raise BadField(name, "is empty")
        return str(value)
    raise BadField(names[0], f"missing; {remedy}")


Records = Iterator[tuple[str, Any]]
"""Each decoded record with its place."""
Reader = Callable[[str, bytes, list[str]], Records]
"""Reads the content of a named file; what is wrong with it goes into the list."""


def records_of(name: str, content: bytes, problems: list[str], table: Reader) -> Records:
    """Each record of a file, in whatever form its first character says it is.

    `table` reads what is not JSON: which columns there must be is the caller's to say.
    """
    first = content.lstrip()[:1]
    if first == b"[":
        return json_array(name, content, problems)
    return (json_lines if first in (b"{", b"") else table)(name, content, problems)


def no_table(name: str, content: bytes, problems: list[str]) -> Records:
    """The `table` of readers that take JSON alone."""
    problems.append(f"{name}: is not JSON; write one object a line")
    return iter(())


def json_whole(name: str, content: bytes, problems: list[str]) -> Records:
    """The one value that a file is."""
    try:
        yield name, decode(content)
    except BadJson as fault:
        problems.append(f"{name}: {fault}")


def json_array(name: str, content: bytes, problems: list[str]) -> Records:
    for _, members in json_whole(name, content, problems):
        for number, member in enumerate(members, 1):
            yield f"{name}: item {number}", member


def json_lines(name: str, content: bytes, problems: list[str]) -> Records:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            if len(line) > MAX_LINE:
                raise BadJson(OVERLONG)
            yield f"{name}:{number}", decode(line)
        except BadJson as fault:
            problems.append(f"{name}:{number}: {fault}")


def rows_of(name: str, content: bytes, problems: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The filled rows of CSV or TSV, each with the line it begins at.

    The first line shows what separates the cells.
    """
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        problems.append(f"{name}:{number}: is not UTF-8 text; save the table as UTF-8")
        return
    delimiter = max("\t,;", key=lines[0].count)
    complete_lines = (line.removesuffix("\r") + "\n" for line in lines)
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(complete_lines, delimiter=delimiter, strict=True)
    number = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"{name}:{number}", cells
            number = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"{name}:{number}: not a row of cells: {error}")


Header = Callable[[str, list[str], list[str]], bool]
"""Whether rows can be read under these columns; gets the header's place, and the problems."""
Cells = Callable[[Sequence[str], Sequence[str]], Any]
"""The record of a row, from the names of its columns and its cells; may raise BadField."""


def distinct_columns(place: str, columns: Sequence[str], problems: list[str]) -> bool:
    """Whether no two columns have one name."""
    twice = sorted({title for title in columns if columns.count(title) > 1})
    problems += [f"{place}: two columns are called {quoted(title)}; keep one" for title in twice]
    return not twice


def by_column(columns: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return dict(zip(columns, cells, strict=True))


def headed_rows(
    name: str,
    content: bytes,
    problems: list[str],
    *,
    column: Callable[[str], str] = str,
    header: Header = distinct_columns,
    row: Cells = by_column,
) -> Records:
    """The rows of a CSV or TSV file whose first line names the columns, each as a record.

    `column` gives our name for a title, `header` checks the columns, `row` makes the record.
    """
    rows = rows_of(name, content, problems)
    place, titles = next(rows, (name, []))
    columns = [column(title.strip()) for title in titles]
    if not header(place, columns, problems):
        return
    for place, cells in rows:
        try:
            if len(cells) != len(columns):
                raise BadField("cells", f"{len(cells)}, but the header has {len(columns)}")
            record = row(columns, cells)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        yield place, record
