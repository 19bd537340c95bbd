"""Spans a line, parted by tabs: document, start, end, type; and the form of neleval and TAC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragauge.contracts.entities import ONE_LAYER, AnnotatedText, Entity
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.annotated.tagged_texts import numbered_lines
from ragauge.ingest.fields import quoted
from ragauge.text.kb_ids import is_nil

COLUMNS = ("doc", "start", "end", "type", "text", "link")
"""Of a file without a header; the last two may be missing."""
NAMES = {
    "doc": ("doc", "doc_id", "document", "document_id", "id"),
    "start": ("start",),
    "end": ("end",),
    "type": ("type", "label"),
    "text": ("text", "surface", "mention"),
    "link": ("link", "qid", "wikidata_id"),
    "layer": ("layer",),
}
NEEDED = COLUMNS[:4]
NELEVAL_COLUMNS = 6
"""document, start, end (inclusive), id, score, type; more triples are further candidates."""


_Span = tuple[str, dict[str, str]]
"""The place of a line, and its cells by name."""


def read_spans(name: str, content: bytes, reading: Reading) -> None:
    """Read a table of spans, half-open; a line with nothing but a document marks one without."""
    lines = [
        (where, line.split("\t"))
        for where, line in numbered_lines(name, content, reading.problems)
        if line.strip()
    ]
    columns = header_of(lines[0][1]) if lines else None
    spans = list(_cells(lines[1:] if columns else lines, columns or COLUMNS, reading))
    _keep(spans, reading, inclusive=False)


def read_neleval(name: str, content: bytes, reading: Reading) -> None:
    """Read neleval's table, whose ends are inclusive."""
    spans: list[_Span] = []
    for where, line in numbered_lines(name, content, reading.problems):
        cells = line.split("\t")
        if not line.strip():
            continue
        if len(cells) < NELEVAL_COLUMNS:
            fact = f"has {len(cells)} columns; neleval has document, start, end, id, score, type"
            reading.problems.append(f"{where}: {fact}")
            continue
        named = dict(zip(("doc", "start", "end"), cells, strict=False))
        ids = [id for id in cells[3::3] if not is_nil(id)]
        spans.append((where, named | {"type": cells[5], "link": "|".join(ids) or "NIL"}))
    _keep(spans, reading, inclusive=True)


def header_of(cells: Sequence[str]) -> tuple[str, ...] | None:
    """The columns that a first line names, by our names; None where it is no header."""
    known = {alias: name for name, aliases in NAMES.items() for alias in aliases}
    columns = tuple(known.get(cell.strip().lower(), "") for cell in cells)
    return columns if set(NEEDED) <= set(columns) else None


def is_span(cells: Sequence[str]) -> bool:
    """Whether the cells of a line are those of a span without a header."""
    return len(cells) >= len(NEEDED) and all(_NUMBER.fullmatch(cell) for cell in cells[1:3])


def _cells(
    lines: Sequence[tuple[str, list[str]]], columns: Sequence[str], reading: Reading
) -> Iterator[_Span]:
    for where, cells in lines:
        named = {name: cell for name, cell in zip(columns, cells, strict=False) if name}
        marks = [name for name in NEEDED[1:] if named.get(name, "").strip()]
        if len(cells) > len(columns):
            fact = f"has {len(cells)} columns, and there are {len(columns)}"
            reading.problems.append(f"{where}: {fact}: {', '.join(columns)}")
        elif not named["doc"].strip():
            reading.problems.append(f"{where}: doc: is empty")
        elif marks and len(marks) < len(NEEDED) - 1:
            missing = [name for name in NEEDED if name not in ("doc", *marks)]
            reading.problems.append(f"{where}: {' and '.join(missing)}: missing")
        else:
            yield where, named


def _keep(spans: Sequence[_Span], reading: Reading, *, inclusive: bool) -> None:
    """Add the documents of spans, in the order in which each is met first; they have no text."""
    by_document: dict[str, list[Given]] = {}
    places: dict[str, str] = {}
    for where, cells in spans:
        document = cells["doc"].strip()
        places.setdefault(document, where)
        given = by_document.setdefault(document, [])
        if not cells.get("start", "").strip():
            continue
        wrong = [name for name in ("start", "end") if not _NUMBER.fullmatch(cells[name].strip())]
        for name in wrong:
            fact = f"expected a whole number, got {quoted(cells[name])}"
            reading.problems.append(f"{where}: {name}: {fact}")
        if wrong:
            continue
        link = cells.get("link", "").strip()
        entity = Entity(
            start=int(cells["start"]),
            end=int(cells["end"]) + inclusive,
            type=cells["type"].strip(),
            text=cells.get("text") or None,
            layer=cells.get("layer", ONE_LAYER),
            links=tuple(id for id in link.split("|") if not is_nil(id)) if link else None,
        )
        given.append(Given(entity, where))
    for id, given in by_document.items():
        reading.keep_counted(AnnotatedText(id=id, where=places[id]), given)


_NUMBER = re.compile(r"-?\d+")
