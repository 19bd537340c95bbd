"""Annotations: a label or typed spans an item, as JSON Lines, a JSON array, CSV or TSV."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec import Struct

from ragauge.contracts.annotation import Annotation, Kind, TypedSpan
from ragauge.errors import UsageError, refuse
from ragauge.ingest.fields import (
    BadField,
    expected,
    kind,
    mapping,
    mappings,
    number,
    quoted,
    text,
    whole,
)
from ragauge.ingest.lines import read_whole
from ragauge.ingest.placed_records import Records, headed_rows, record_id, records_of
from ragauge.stats.krippendorff import Level

IDS = ("id", "qid")
FIELDS = ("label", "ner_annotations", "spans")
"""Looked for in this order where the user names no field."""
_LARGEST_WHOLE = 2.0**53


class Annotations(Struct, frozen=True, kw_only=True):
    """What each annotator said, by item, in the order of the files."""

    kind: Kind
    field: str
    files: list[dict[str, Annotation]]


Placed = tuple[str, dict[str, Any]]


def read_annotations(names: Sequence[str], field: str | None = None) -> Annotations:
    """The annotations of each file; `field` may be a path, as in type_classification.primary_type.

    Raises InputRejected with all that is wrong with any of them.
    """
    problems: list[str] = []
    wanted = FIELDS if field is None else (field,)
    files = [_objects(name, wanted, problems) for name in names]
    there = [one for one in wanted if any(_has(file, one) for file in files)]
    chosen = (there or wanted)[0]
    for name, file in zip(names, files, strict=True):
        if file and not _has(file, chosen):
            keys = sorted({key for _, record in file for key in record if key not in IDS})
            listed = f"there are {', '.join(map(quoted, keys[:8]))}"
            listed = listed if keys else "there is nothing but ids"
            fact = f"no record has the field {' or '.join(there[:1] or wanted)}; {listed}"
            problems.append(f"{name}: {fact}: name one with --field")
    values = (_value(record, chosen) for file in files for _, record in file)
    first = next((value for value in values if value is not None and value is not _ABSENT), None)
    of_kind: Kind = "spans" if type(first) is list else "labels"
    found = [_annotations(file, chosen, of_kind, problems) for file in files]
    refuse(problems)
    return Annotations(kind=of_kind, field=chosen, files=found)


def label_text(value: float) -> str:
    """A number as a label.

    >>> label_text(1.0), label_text(2.5)
    ('1', '2.5')
    """
    if value == int(value) and abs(value) <= _LARGEST_WHOLE:
        return str(int(value))
    return repr(float(value))


def in_order(
    files: Sequence[Mapping[str, Annotation]], level: Level, order: tuple[str, ...]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The labels in their order, and for each as it was given the one it stands for.

    Numbers have their order; words take one from the user, where the level needs it.
    """
    given = [one for file in files for one in file.values() if one.label is not None]
    met = {one.label: one for one in given if one.label is not None}
    if level == "nominal":
        return tuple(sorted(met)), {label: label for label in met}
    if order:
        strange = [one for one in given if one.label not in order]
        _refuse(strange, f"is not among --order {','.join(order)}")
        return order, {label: label for label in order}
    numbers: dict[str, float] = {}
    for label in met:
        with suppress(ValueError):
            if math.isfinite(as_number := float(label)):
                numbers[label] = as_number
    words = [one for one in given if one.label not in numbers]
    if words and level == "ordinal":
        raise UsageError(
            f"the labels are no numbers ({', '.join(sorted(met)[:5])}), so their order is not "
            "known: say it, lowest first, as in --order low,middle,high"
        )
    _refuse(words, "is no number, as --level interval needs")
    spelled = {label: label_text(number) for label, number in numbers.items()}
    return tuple(sorted({*spelled.values()}, key=float)), spelled


def _refuse(wrong: Sequence[Annotation], fact: str) -> None:
    refuse([f"{one.where}: {quoted(one.label or '')} {fact}" for one in wrong])


def _objects(name: str, wanted: Sequence[str], problems: list[str]) -> list[Placed]:
    """The records of a file that are objects, each with its place."""
    known = len(problems)
    found: list[Placed] = []
    table = partial(_table, wanted=wanted)
    for place, record in records_of(name, read_whole(name), problems, table):
        try:
            found.append((place, mapping(record, "record")))
        except BadField as fault:
            problems.append(f"{place}: {fault}")
    if not found and len(problems) == known:
        problems.append(f"{name}: holds no annotation; write one JSON object a line")
    return found


def _table(name: str, content: bytes, problems: list[str], wanted: Sequence[str]) -> Records:
    """The rows of a CSV or TSV file; an empty cell is no label."""
    named = {one.lower(): one for one in (*IDS, *wanted)}

    def header(place: str, columns: list[str], problems: list[str]) -> bool:
        faults = [
            f"{columns.count(column)} columns are called {column}; keep one"
            for column in sorted({*columns} & {*IDS, *wanted})
            if columns.count(column) > 1
        ]
        if columns and not {*columns} & {*IDS}:
            fact = "no column is called id or qid; the first line names the columns"
            faults.append(f"{fact}: id, label")
        problems += [f"{place}: {fault}" for fault in faults]
        return not faults

    def column(title: str) -> str:
        return named.get(title.lower(), title)

    return headed_rows(name, content, problems, column=column, header=header)


_ABSENT = object()


def _value(record: dict[str, Any], field: str) -> Any:
    """The value of a field, or of one inside others by a path with dots; _ABSENT without one."""
    if field in record:
        return record[field]
    outer, dot, inner = field.partition(".")
    held = record.get(outer)
    return _value(held, inner) if dot and type(held) is dict else _ABSENT


def _has(file: list[Placed], field: str) -> bool:
    return any(_value(record, field) is not _ABSENT for _, record in file)


def _annotations(
    file: list[Placed], field: str, of_kind: Kind, problems: list[str]
) -> dict[str, Annotation]:
    found: dict[str, Annotation] = {}
    for place, record in file:
        try:
            annotation = _annotation(record, field, of_kind, place)
        except BadField as fault:
            problems.append(f"{place}: {fault}")
            continue
        earlier = found.setdefault(annotation.id, annotation)
        if earlier is not annotation:
            twice = f"{quoted(annotation.id)} was annotated already at {earlier.where}; keep one"
            problems.append(f"{place}: id: {twice}")
    return found


def _annotation(record: dict[str, Any], field: str, of_kind: Kind, place: str) -> Annotation:
    id, value = record_id(record, IDS, "name the item by id or qid"), _value(record, field)
    if value is _ABSENT or value is None:
        return Annotation(id=id, where=place)
    if of_kind == "labels":
        return Annotation(id=id, label=_label(value, field), where=place)
    body = record.get("text")
    body = body if type(body) is str else None
    return Annotation(id=id, spans=_spans(value, field, body), text=body, where=place)


def _label(value: Any, field: str) -> str | None:
    """The label as text, None where it is blank."""
    if type(value) is bool:
        return str(value).lower()
    if type(value) is str:
        return value.strip() or None
    if type(value) in (int, float):
        return label_text(number(value, field))
    raise BadField(field, expected("text, a number or true or false", value))


def _spans(value: Any, field: str, body: str | None) -> frozenset[TypedSpan]:
    if type(value) is not list:
        raise BadField(field, f"expected a list of spans, got {kind(value)}; spans need JSON")
    found: set[TypedSpan] = set()
    for place, member in enumerate(mappings(value, field)):
        name = f"{field}[{place}]"
        span = _span(member, name)
        if body is not None and span.end > len(body):
            raise BadField(name, f"ends at {span.end}, past the text of {len(body)} characters")
        if span in found:
            raise BadField(name, f"{span.start} to {span.end} {span.type} stands there already")
        found.add(span)
    return frozenset(found)


def _span(member: dict[str, Any], name: str) -> TypedSpan:
    """A span; its type may be called `label`, as some tools do."""
    start, end = (whole(member.get(key), f"{name}.{key}") for key in ("start", "end"))
    type_ = text(member.get("type", member.get("label")), f"{name}.type").strip()
    if not type_:
        raise BadField(f"{name}.type", "is empty")
    if not 0 <= start < end:
        raise BadField(name, f"goes from {start} to {end}; a span has 0 <= start < end")
    return TypedSpan(start, end, type_)
