"""TREC files: judgements (qrels) and runs, in columns where they are clean, else line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragauge.ingest.fields import BadField, quoted
from ragauge.ingest.ranked.ranking_rows import (
    GRADES_WITHIN,
    RankingRows,
    Role,
    RowsRead,
    number_of,
    rank_of,
)

if TYPE_CHECKING:
    import polars as pl

COLUMNS: dict[Role, tuple[str, ...]] = {
    "qrels": ("query", "iteration", "document", "value"),
    "run": ("query", "Q0", "document", "rank", "value", "tag"),
}
_SHAPE: dict[Role, str] = {
    "qrels": "4 of TREC judgements: query iteration document grade",
    "run": "6 of a TREC run: query Q0 document rank score tag",
}
_KEPT = ("query", "document", "value", "rank", "source")


def read_trec(
    name: str, content: bytes, role: Role, problems: list[str], first_line: int = 1
) -> RankingRows:
    """The rows of a TREC file; what is wrong with a line goes into `problems`."""
    frame = columnar(content, COLUMNS[role], role, exact=role == "qrels")
    if frame is not None:
        return RankingRows(name=name, frame=frame, first_line=first_line)
    return _line_by_line(name, content, role, problems, first_line)


def _line_by_line(
    name: str, content: bytes, role: Role, problems: list[str], first_line: int
) -> RankingRows:
    """Any run of blanks separates; lines that begin with `#` are comments."""
    read = RowsRead(role)
    width, value = len(COLUMNS[role]), COLUMNS[role].index("value")
    for number, line in enumerate(content.split(b"\n"), first_line):
        cells = line.split()
        if not cells or cells[0].startswith(b"#"):
            continue
        try:
            if len(cells) < width or (len(cells) > width and role == "qrels"):
                raise BadField("columns", f"{len(cells)}, not the {_SHAPE[role]}")
            query, document = _text(cells[0], "query"), _text(cells[2], "document")
            worth = number_of(cells[value].decode(errors="replace"), role, cell=True)
        except BadField as fault:
            problems.append(f"{name}:{number}: {fault}")
            continue
        rank = rank_of(cells[3].decode(errors="replace")) if role == "run" else None
        read.add(query, document, worth, number, rank)
    return read.rows(name)


def _text(cell: bytes, field: str) -> str:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        shown = quoted(cell.decode(errors="replace"))
        raise BadField(field, f"{shown} is not UTF-8 text; save the file as UTF-8") from None


def columnar(
    content: bytes, names: tuple[str, ...], role: Role, *, exact: bool
) -> pl.DataFrame | None:
    """The rows of a text in which nothing is odd, None where a careful reader has to look.

    One blank is between two cells, and there are as many cells on every line. Unless it has to be
    exact, columns beyond the named ones are passed over.
    """
    import numpy as np
    import polars as pl

    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    first = first_line(content)
    separator = b"\t" if b"\t" in first else b" "
    width = first.count(separator) + 1
    comments = b"#" in content and (content.startswith(b"#") or b"\n#" in content)
    if not first or width < len(names) or (exact and width > len(names)) or comments:
        return None
    codes = np.frombuffer(content, dtype=np.uint8)
    blank, ends = codes <= ord(" "), codes == ord("\n")
    lines = int(np.count_nonzero(ends)) + (not ends[-1])
    separators = lines * (width - 1)
    if np.count_nonzero(codes == separator[0]) != separators or blank[0]:
        return None
    in_all = np.count_nonzero(blank)
    if in_all != separators + lines - (not ends[-1]) or (blank[1:] & blank[:-1]).any():
        return None
    titles = [*names, *(f"beyond {place}" for place in range(len(names), width))]
    kinds: dict[str, Any] = dict.fromkeys(titles, pl.String)
    kinds |= {"value": pl.Int64 if role == "qrels" else pl.Float64}
    if "rank" in names:
        kinds["rank"] = pl.Int64
    wanted = {place for place, title in enumerate(titles) if title in _KEPT}
    # The last column shows that a line is not too short. It need not be read where it follows the
    # number, and all lines end with a sign that no number ends with: in a line that is too short,
    # the number would not be one.
    last = first[-1]
    alike = np.count_nonzero(ends[1:] & (codes[:-1] == last)) + (codes[-1] == last)
    closed = alike == lines and last not in b"0123456789."
    if not (closed and names.index("value") == width - 2):
        wanted.add(width - 1)
    try:
        frame = pl.read_csv(
            content,
            has_header=False,
            separator=separator.decode(),
            quote_char=None,
            schema=kinds,
            columns=sorted(wanted),
        ).rechunk()
    except pl.exceptions.PolarsError:
        return None
    if frame.height != lines or any(frame[name].null_count() for name in frame.columns):
        return None
    value = frame["value"]
    if role == "run":
        plain = bool(value.is_finite().all())
    else:
        plain = bool(value.is_between(-GRADES_WITHIN, GRADES_WITHIN, closed="none").all())
    return frame.select([name for name in _KEPT if name in frame.columns]) if plain else None


def first_line(content: bytes) -> bytes:
    """A text's first line; to split the text there would copy all of it."""
    end = content.find(b"\n")
    return content if end < 0 else content[:end]
