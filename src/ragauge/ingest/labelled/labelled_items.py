"""Items with a label each: CSV or TSV, JSON Lines, a JSON array or mapping, records or a frame.

Gold and prediction are joined on the items' ids; where one of them has none, on the text, if no
text is there twice. Ids, labels and texts are trimmed and in NFC. Nothing is joined by position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import Struct

from ragauge.contracts.labels import LabelledItem
from ragauge.errors import UsageError
from ragauge.ingest.annotations import label_text
from ragauge.ingest.fields import BadField, expected, mapping, number, quoted, text, texts
from ragauge.ingest.heritage import MARKS
from ragauge.ingest.lines import read_rows
from ragauge.ingest.placed_records import (
    STRATUM,
    Records,
    file_of,
    headed_rows,
    is_one_object,
    json_whole,
    no_table,
    records_of,
)
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.text.canonical import composed

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
_COLUMNS = frozenset((*IDS, "text", *SECONDARY, *FIELDS["gold"], *FIELDS["predicted"]))

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


def _records(source: Source, role: Role, problems: list[str], form: str | None) -> Records:
    if isinstance(source, str | Path):
        name = str(source)
        content = read_rows(name)
        if form in TABLES:
            return _table(name, content, problems)
        if form == "jsonl" or not is_one_object(content, on_one_line=True):
            return records_of(name, content, problems, no_table if form else _table)
        return _of_object(name, content, problems)
    if isinstance(source, Mapping):
        return _of_mapping(role, source)
    if hasattr(source, "iter_rows"):
        rows: Iterable[Any] = source.iter_rows(named=True)
        return ((f"{role}: row {place}", row) for place, row in enumerate(rows, 1))
    members = cast("Sequence[Any]", source)
    return ((f"{role}[{place}]", record) for place, record in enumerate(members))


def _of_object(name: str, content: bytes, problems: list[str]) -> Records:
    """The one record that a file is, or those it has by id."""
    for _, whole in json_whole(name, content, problems):
        if any(key in whole for key in (*IDS, "text", *MARKS)):
            yield f"{name}:1", whole
        else:
            yield from _of_mapping(name, whole)


def _of_mapping(name: str, labels: Mapping[str, Any]) -> Records:
    """Labels, or records, by id."""
    for id, value in labels.items():
        record = value if isinstance(value, Mapping) else {"label": value}
        yield f"{name}: {quoted(str(id))}", {**record, "id": id}


def _table(name: str, content: bytes, problems: list[str]) -> Records:
    """The rows of a CSV or TSV file; an empty cell is an absent field."""

    def column(title: str) -> str:
        """Our names in any case, others as they are written."""
        return title.lower() if title.lower() in _COLUMNS else title

    return headed_rows(name, content, problems, column=column, row=_row)


def _row(columns: Sequence[str], cells: Sequence[str]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    strata: dict[str, str] = {}
    for column, cell in zip(columns, cells, strict=True):
        if not column.startswith(STRATUM):
            record[column] = cell if cell.strip() else None
        elif cell.strip():
            strata[column.removeprefix(STRATUM)] = cell.strip()
    return {**record, "strata": strata} if strata else record


Key = Literal["id", "text"]
Parts = dict[str, Callable[[dict[str, Any]], Any]]
"""For each field of an item how it is read from a record."""
_SEPARATORS = re.compile(r"[;|,]")


class Labelled(Struct, frozen=True, kw_only=True):
    """The items of gold and prediction, by the key they are joined on."""

    gold: dict[str, LabelledItem]
    predicted: dict[str, LabelledItem]
    key: Key
    records: int
    """All that were there, good or bad."""
    duplicates: int


def read_labelled(
    gold: Source,
    predicted: Source,
    problems: list[str],
    field: str | None = None,
    predicted_field: str | None = None,
    form: str | None = None,
) -> Labelled:
    """The items of both sides; what is wrong goes into the list.

    `field` names where the labels stand, with dots for a field inside another; where predictions
    have theirs elsewhere, `predicted_field` does.
    """
    placed = {
        "gold": list(placed_records(gold, "gold", problems, form)),
        "predicted": list(placed_records(predicted, "predicted", problems, form)),
    }
    key = _join_key(placed["gold"], placed["predicted"], problems)
    records = sum(map(len, placed.values()))
    if key is None:
        return Labelled(gold={}, predicted={}, key="id", records=records, duplicates=0)
    of_gold, twice = _items("gold", placed["gold"], key, field, problems)
    predicted_field = predicted_field or field
    items, again = _items("predicted", placed["predicted"], key, predicted_field, problems)
    return Labelled(
        gold=of_gold, predicted=items, key=key, records=records, duplicates=twice + again
    )


def _items(
    role: Role, placed: list[Placed], key: Key, field: str | None, problems: list[str]
) -> tuple[dict[str, LabelledItem], int]:
    """The items of one side by key, and how many have a key that an earlier one has."""
    keys = set[str]().union(*(record for _, record in placed))

    def has(field: str) -> bool:
        return field in keys or field.partition(".")[0] in keys

    wanted = FIELDS[role] if field is None else (field,)
    there = [name for name in wanted if has(name)]
    filled = (name for name in there if any(_at(record, name) is not None for _, record in placed))
    chosen = next(filled, None)
    if chosen is None:
        # A prediction may say nothing of any item, as long as it has a place to say it.
        if placed and not (role == "predicted" and there):
            known = ", ".join(map(quoted, sorted(keys)[:8])) or "nothing"
            fact = f"no record has {' or '.join(wanted)}; there is {known}: name the right one"
            problems.append(f"{file_of(placed[0][0])}: {fact} with --field")
            return {}, 0
        chosen = wanted[0]
    needed = role == "gold" and chosen != ENTRY_FIELD
    # What is read from each record, and how; nothing is looked for that no record has.
    parts: Parts = {
        "id": _text_key if key == "text" else _id,
        "label": lambda record: _label(_at(record, chosen), chosen, needed=needed),
    }
    for secondary in filter(has, SECONDARY):
        parts.setdefault("secondary", partial(_secondary, field=secondary))
    if "text" in keys:
        parts["text"] = _text
    if "strata" in keys:
        parts["strata"] = lambda record: (
            {} if record.get("strata") is None else mapping(record["strata"], "strata")
        )
    items: dict[str, LabelledItem] = {}
    duplicates = 0
    for place, record in placed:
        try:
            item = LabelledItem(**{name: of(record) for name, of in parts.items()}, where=place)
        except BadField:
            problems += [f"{place}: {fault}" for fault in _faults(record, parts)]
            continue
        earlier = items.setdefault(item.id, item)
        if earlier is not item:
            duplicates += 1
            remedy = "keep one" if key == "id" else "give the items ids"
            fact = f"{quoted(item.id)} stands at {earlier.where} already; {remedy}"
            problems.append(f"{place}: {key}: {fact}")
    return items, duplicates


def _faults(record: dict[str, Any], parts: Parts) -> list[str]:
    """All that is wrong with a record, each once."""
    found = []
    for of in parts.values():
        try:
            of(record)
        except BadField as fault:
            found.append(str(fault))
    return list(dict.fromkeys(found))


def _text_key(record: dict[str, Any]) -> str:
    found = _text(record)
    if not found:
        raise BadField("text", "missing; it is what gold and prediction are joined on")
    return found


def _id(record: dict[str, Any]) -> str:
    for name in IDS:
        value = record.get(name)
        if value is not None:
            id = str(value) if type(value) is int else composed(text(value, name)).strip()
            if not id:
                raise BadField(name, "is empty")
            return id
    raise BadField("id", "missing; other records have one")


def _label(value: Any, field: str, *, needed: bool) -> str | None:
    """The label as text; None where it is blank, which gold may not be."""
    if type(value) is bool:
        return str(value).lower()
    if type(value) is int or type(value) is float:
        return label_text(number(value, field))
    if value is not None and type(value) is not str:
        raise BadField(field, expected("text", value))
    label = composed(value or "").strip()
    if not label and needed:
        raise BadField(field, "missing; gold says what is right")
    return label or None


def _secondary(record: dict[str, Any], field: str) -> tuple[str, ...]:
    """Further labels that are right too: a list, or texts with ; | or , between them."""
    value = _at(record, field)
    if value is None:
        return ()
    if type(value) is str and not value.lstrip().startswith("["):
        value = _SEPARATORS.split(value)
    elif type(value) is str:
        try:
            value = decode(value.encode())
        except BadJson as fault:
            raise BadField(field, f"is no list: {fault}") from None
    labels = (composed(label).strip() for label in texts(value, field))
    return tuple(dict.fromkeys(label for label in labels if label))


def _text(record: dict[str, Any]) -> str | None:
    value = record.get("text")
    return None if value is None else composed(text(value, "text")).strip() or None


def _join_key(gold: list[Placed], predicted: list[Placed], problems: list[str]) -> Key | None:
    """What both sides have: ids, else texts; a problem for each side that has neither."""
    sides = [side for side in (gold, predicted) if side]
    for key, names in (("id", IDS), ("text", ("text",))):
        if all(any(_names(record, names) for _, record in side) for side in sides):
            return "id" if key == "id" else "text"
    lacking = [
        side for side in sides if not any(_names(record, (*IDS, "text")) for _, record in side)
    ]
    if lacking:
        fact = "no record has an id or a text; gold and prediction are never joined by position"
        problems += [f"{file_of(side[0][0])}: {fact}" for side in lacking]
    else:
        there = f"{file_of(gold[0][0])} and {file_of(predicted[0][0])}"
        problems.append(f"{there}: one has ids and the other texts; give both the same")
    return None


def _names(record: dict[str, Any], names: Iterable[str]) -> bool:
    return any(record.get(name) is not None for name in names)


def _at(record: Mapping[str, Any], field: str) -> Any:
    """The value of a field, or of one inside others by a path with dots; None without one."""
    if field in record:
        return record[field]
    outer, dot, inner = field.partition(".")
    held = record.get(outer)
    return _at(held, inner) if dot and isinstance(held, Mapping) else None
