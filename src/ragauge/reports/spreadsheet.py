"""Rows for a spreadsheet (RFC 4180), in which no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from ragauge.reports.foreign import readable
from ragauge.text.visible import FORMULA


def written(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """The rows with a header line; lines end with CR LF."""
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
    safe = readable(text)
    return f"'{safe}" if text.startswith(FORMULA) else safe
