"""Which form a file of annotated texts has, told from its first lines."""

from __future__ import annotations

import re

from ragauge.ingest.annotated.conllu import COLUMNS as CONLLU_COLUMNS
from ragauge.ingest.annotated.conllu import WORD
from ragauge.ingest.annotated.hipe import is_header
from ragauge.ingest.annotated.iob import (
    DOCUMENT_START,
    LIKE_TAG,
    cells_of,
    is_comment,
    no_column,
)
from ragauge.ingest.annotated.span_tables import NELEVAL_COLUMNS, header_of, is_span
from ragauge.ingest.fields import quoted

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
    if found == "spans" and all(_like_neleval(line) for line in filled):
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


def _like_neleval(line: str) -> bool:
    cells = line.split("\t")
    return len(cells) >= NELEVAL_COLUMNS and bool(_NUMBER.fullmatch(cells[4]))
