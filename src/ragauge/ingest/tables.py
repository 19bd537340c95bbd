"""Rows of cells: CSV or TSV, whose first line tells what separates them."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from ragauge.ingest.lines import MAX_LINE


def rows_of(name: str, content: bytes, problems: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The filled rows, each with the line it begins at; what cannot be read becomes a problem."""
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        problems.append(f"{name}:{number}: is not UTF-8 text; save the table as UTF-8")
        return
    delimiter = max("\t,;", key=lines[0].count)
    whole_lines = (line.removesuffix("\r") + "\n" for line in lines)
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(whole_lines, delimiter=delimiter, strict=True)
    number = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield f"{name}:{number}", cells
            number = reader.line_num + 1
    except csv.Error as error:
        problems.append(f"{name}:{number}: not a row of cells: {error}")
