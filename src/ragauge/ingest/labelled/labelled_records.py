"""Records of labelled items, still undecided: from a file, a mapping, a sequence or a frame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from ragauge.errors import UsageError
from ragauge.ingest.fields import expected, quoted
from ragauge.ingest.heritage import MARKS, no_table
from ragauge.ingest.judgements import Records, records_of
from ragauge.ingest.lines import read_rows
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.ingest.tables import rows_of

if TYPE_CHECKING:
    from polars import DataFrame

    Source = str | Path | Sequence[Mapping[str, Any]] | Mapping[str, Any] | DataFrame

Role = Literal["gold", "predicted"]
TABLES = ("tsv", "csv")
FORMS = ("json", "jsonl", *TABLES)
IDS = ("id", "qid", "item_id")
ENTRY_FIELD = "type_classification.primary_type"
FIELDS: dict[Role, tuple[str, ...]] = {
    "gold": ("gold_type", "gold_label", "label", "type", "primary_type", ENTRY_FIELD),
    "predicted": (
        *("predicted_type", "predicted_label", "prediction", "pred_type", "predicted"),
        *("label", "type", "primary_type", ENTRY_FIELD),
    ),
}
"""Where the label stands: the first that any record of the file has."""
SECONDARY = ("secondary_types", "type_classification.secondary_types")
_STRATUM = "strata."
_COLUMNS = frozenset((*IDS, "text", *SECONDARY, *FIELDS["gold"], *FIELDS["predicted"]))
_END_OF_PLACE = re.compile(r"(: item \d+|: row \d+|: \".*\"|:\d+|\[\d+\])$")

Placed = tuple[str, dict[str, Any]]


def placed_records(
    source: Source, role: Role, problems: list[str], form: str | None = None
) -> Iterator[Placed]:
    """The records that are objects, each with its place; what is none becomes a problem.

    The form of a file is seen from its content, unless it is given.
    """
    if form not in (None, *FORMS):
        raise UsageError(f"format {quoted(str(form))} is none of {', '.join(FORMS)}")
    for place, record in _records(source, role, problems, form):
        if isinstance(record, dict):
            yield place, record
        elif isinstance(record, Mapping):
            yield place, dict(record)
        else:
            wanted = expected("an object with an id and a label", record)
            problems.append(f"{place}: record: {wanted}")


def file_of(place: str) -> str:
    """The name a place begins with.

    >>> file_of("gold.tsv:3"), file_of("gold.json: item 2"), file_of('labels.json: "a1"')
    ('gold.tsv', 'gold.json', 'labels.json')
    """
    return _END_OF_PLACE.sub("", place)


def _records(source: Source, role: Role, problems: list[str], form: str | None) -> Records:
    if isinstance(source, str | Path):
        return _of_file(str(source), problems, form)
    if isinstance(source, Mapping):
        return _of_mapping(role, source)
    if hasattr(source, "iter_rows"):
        rows: Iterable[Any] = source.iter_rows(named=True)
        return ((f"{role}: row {place}", row) for place, row in enumerate(rows, 1))
    members = cast("Sequence[Any]", source)
    return ((f"{role}[{place}]", record) for place, record in enumerate(members))


def _of_file(name: str, problems: list[str], form: str | None) -> Records:
    content = read_rows(name)
    if form in TABLES:
        return _table(name, content, problems)
    if form == "jsonl" or not _is_one_object(content):
        return records_of(name, content, problems, no_table if form else _table)
    return _of_object(name, content, problems)


def _of_object(name: str, content: bytes, problems: list[str]) -> Records:
    """The one record that a file is, or those it has by id."""
    try:
        whole = decode(content)
    except BadJson as fault:
        problems.append(f"{name}: {fault}")
        return iter(())
    if any(key in whole for key in (*IDS, "text", *MARKS)):
        return iter([(f"{name}:1", whole)])
    return _of_mapping(name, whole)


def _is_one_object(content: bytes) -> bool:
    """Whether a file is one object, not one a line: its first line is not closed, or its last."""
    first, _, rest = content.strip().partition(b"\n")
    return first.startswith(b"{") and not (rest and first.rstrip().endswith(b"}"))


def _of_mapping(name: str, labels: Mapping[str, Any]) -> Records:
    """Labels, or records, by id."""
    for id, value in labels.items():
        record = value if isinstance(value, Mapping) else {"label": value}
        yield f"{name}: {quoted(str(id))}", {**record, "id": id}


def _table(name: str, content: bytes, problems: list[str]) -> Records:
    """The rows of a CSV or TSV file; an empty cell is an absent field."""
    rows = rows_of(name, content, problems)
    place, header = next(rows, ("", []))
    columns = [_column(title.strip()) for title in header]
    twice = sorted({title for title in columns if columns.count(title) > 1})
    problems += [f"{place}: two columns are called {quoted(title)}; keep one" for title in twice]
    if twice:
        return
    for place, cells in rows:
        if len(cells) == len(columns):
            yield place, _row(columns, cells)
        else:
            problems.append(f"{place}: cells: {len(cells)}, but the header has {len(columns)}")


def _column(title: str) -> str:
    """A column's name: ours in any case, others as they are written."""
    return title.lower() if title.lower() in _COLUMNS else title


def _row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    strata: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not column.startswith(_STRATUM):
            record[column] = cell if cell.strip() else None
        elif cell.strip():
            strata[column.removeprefix(_STRATUM)] = cell.strip()
    return {**record, "strata": strata} if strata else record
