"""Files of annotated texts: which form one has is told from what it holds, not from its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ragauge.errors import UsageError
from ragauge.ingest.annotated.brat import read_brat
from ragauge.ingest.annotated.conllu import COLUMNS as CONLLU_COLUMNS
from ragauge.ingest.annotated.conllu import WORD, read_conllu
from ragauge.ingest.annotated.entity_reading import AS_IT_IS, SCHEMES, Reading, ReadingOptions
from ragauge.ingest.annotated.entity_records import read_records
from ragauge.ingest.annotated.hipe import is_header, read_hipe
from ragauge.ingest.annotated.iob import (
    DOCUMENT_START,
    LIKE_TAG,
    cells_of,
    is_comment,
    no_column,
    read_iob,
)
from ragauge.ingest.annotated.span_tables import (
    NELEVAL_COLUMNS,
    header_of,
    is_span,
    read_neleval,
    read_spans,
)
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.lines import read_whole
from ragauge.ingest.records import Row, refuse_columns


def read_entities(
    source: str | Path,
    options: ReadingOptions = AS_IT_IS,
    *,
    problems: list[str],
    input_format: str | None = None,
    columns: Columns | None = None,
) -> Reading:
    """The annotated texts of a file or folder; all that is wrong goes into `problems`.

    Raises UsageError for a format that does not exist, and what reading a file raises that cannot
    be opened at all.
    """
    asked = None
    if input_format is not None:
        asked = ALIASES.get(input_format.lower(), input_format.lower())
        if asked not in FORMS:
            raise UsageError(f"format {quoted(input_format)} is none of {', '.join(FORMS)}")
    if options.scheme not in SCHEMES:
        raise UsageError(f"scheme {quoted(options.scheme)} is none of {', '.join(SCHEMES)}")
    reading, known = Reading(problems, options), len(problems)
    _read(Path(source), asked, reading, columns)
    if not reading.documents and len(problems) == known:
        problems.append(f"{source}: holds no document")
    return reading


def entities_of(
    records: Iterable[Mapping[str, Any]],
    options: ReadingOptions = AS_IT_IS,
    *,
    problems: list[str],
    name: str = "record",
    columns: Columns | None = None,
) -> Reading:
    """The annotated texts of records at hand, shaped as in a JSON file; `name` says whose."""
    reading = Reading(problems, options)
    reading.form = "records"
    rows = (Row(f"{name} {at}", dict(one)) for at, one in enumerate(records, 1))
    read_records(rows, reading, columns=columns)
    return reading


def _read(source: Path, asked: str | None, reading: Reading, columns: Columns | None) -> None:
    if source.is_dir() and asked not in (None, "brat"):
        raise UsageError(f"{source}: is a folder, and only brat has folders; name a file")
    name, content = str(source), b""
    form: str | None = "brat"
    if not source.is_dir() and asked != "brat":
        content = read_whole(name)
        form = asked or form_of(name, content, reading.options.column, reading.problems)
    reading.form = form or ""
    if form == "records":
        read_records(content, reading, name, columns)
        return
    if form:
        refuse_columns(source, form, columns)
    if form == "brat":
        read_brat(source, reading)
    elif form == "hipe":
        reading.annotated = read_hipe(name, content, reading)
    elif form in READERS:
        READERS[form](name, content, reading)
    elif form:
        reading.form = read_iob(name, content, reading, asked)


READERS: dict[str, Callable[[str, bytes, Reading], None]] = {
    "conllu": read_conllu,
    "spans": read_spans,
    "neleval": read_neleval,
}
"""What reads each form that is one file and needs no further telling."""
ALIASES = {
    "jsonl": "records",
    "json": "records",
    "iobes": "bioes",
    "biolu": "bilou",
    "tsv": "spans",
}


FORMS: dict[str, str] = {
    "records": "JSON Lines or a JSON array: id, text, entities",
    "brat": "a folder of .ann and .txt, or an .ann",
    "iob1": "a token and its tag a line",
    "iob2": "a token and its tag a line",
    "bioes": "a token and its tag a line",
    "bilou": "a token and its tag a line",
    "conll2003": "four columns, -DOCSTART-",
    "conllu": "ten columns, NER= in the last",
    "hipe": "a header TOKEN NE-COARSE-LIT …",
    "spans": "document, start, end, type, parted by tabs",
    "neleval": "document, start, end (inclusive), id, score, type, parted by tabs",
}
"""The forms, each with how it is known."""
_LOOKED_AT = 200
"""Lines that are looked at; comments may stand before the first token."""
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[{\]])')
_ANNOTATION = re.compile(r"T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t.*|[ARE#]\d+\t\S+ \S+.*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def form_of(name: str, content: bytes, column: int | None, problems: list[str]) -> str | None:
    """The form of a file; None, and a problem that says what was looked at, where none fits."""
    head = content[: 1 << 16].decode(errors="replace")
    if _JSON.match(head):
        return "records"
    lines = re.split(r"\r\n|\r|\n", head)[:_LOOKED_AT]
    filled = [line for line in lines if line.strip()]
    if not filled:
        problems.append(f"{name}: is empty")
        return None
    if any(is_header(line) for line in filled):
        return "hipe"
    if _ANNOTATION.fullmatch(filled[0]):
        return "brat"
    first = next((line for line in filled if not is_comment(line)), filled[0])
    found = _form_of_cells(first, column)
    if found == "spans" and all(
        len(cells) >= NELEVAL_COLUMNS and _NUMBER.fullmatch(cells[4])
        for cells in (line.split("\t") for line in filled)
    ):
        fact = "looks like neleval, whose ends are inclusive; say whether it is neleval or spans"
        problems.append(f"{name}: {fact}, as the input format")
        return None
    if found is None and (outside := no_column(column, len(cells_of(first)))):
        problems.append(f"{name}: {outside}")
    elif found is None:
        known = "; ".join(f"{form} ({how})" for form, how in FORMS.items())
        fact = f"no known format: the first line is {quoted(first)}"
        problems.append(f"{name}: {fact}; name the input format, or write one of: {known}")
    return found


def _form_of_cells(line: str, column: int | None) -> str | None:
    """The form whose line this may be, by the number and the look of its cells."""
    cells = cells_of(line)
    if "\t" in line:
        if len(cells) == CONLLU_COLUMNS and WORD.fullmatch(cells[0]):
            return "conllu"
        if header_of(cells) or is_span(cells):
            return "spans"
    if cells[0] == DOCUMENT_START:
        return "iob"
    place = len(cells) - 1 if column is None else column - 1
    tagged = 0 < place < len(cells) and LIKE_TAG.fullmatch(cells[place])
    return "iob" if tagged else None
