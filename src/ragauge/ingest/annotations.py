"""Annotations: a label or typed spans an item, from any source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any

from msgspec import Struct, structs

from ragauge.contracts.annotation import Annotation, Kind, TypedSpan
from ragauge.contracts.report import Findings
from ragauge.errors import UsageError
from ragauge.ingest.fields import (
    BadField,
    Columns,
    Field,
    Shape,
    an_id,
    anything,
    expected,
    kind,
    mappings,
    number,
    quoted,
    refuse,
    squeezed,
    text,
    value_at,
    whole,
)
from ragauge.ingest.records import Records, Source
from ragauge.stats.krippendorff import Level

_LARGEST_WHOLE = 2.0**53


def a_label(value: Any, field: str) -> str | None:
    """The label as text, None where it is blank."""
    if type(value) is str:
        return value.strip() or None
    if type(value) is bool:
        return str(value).lower()
    if type(value) in (int, float):
        return label_text(number(value, field))
    raise BadField(field, expected("text, a number or true or false", value))


def _spans(value: Any, field: str) -> list[TypedSpan]:
    if type(value) is not list:
        raise BadField(field, f"expected a list of spans, got {kind(value)}; spans need JSON")
    found: dict[TypedSpan, None] = {}
    for place, member in enumerate(mappings(value, field)):
        name = f"{field}[{place}]"
        start, end = (whole(member.get(key), f"{name}.{key}") for key in ("start", "end"))
        type_ = text(member.get("type", member.get("label")), f"{name}.type").strip()
        if not type_:
            raise BadField(f"{name}.type", "is empty")
        if not 0 <= start < end:
            raise BadField(name, f"goes from {start} to {end}; a span has 0 <= start < end")
        span = TypedSpan(start, end, type_)
        if span in found:
            raise BadField(name, f"{start} to {end} {type_} is there already; keep one")
        found[span] = None
    return list(found)


ANNOTATION = Shape(
    name="annotation",
    doc="What an annotator said of an item: a label, or spans.",
    fields=(
        Field(
            "id",
            an_id,
            "The item.",
            aliases=("qid",),
            missing="missing; name the item by id or qid",
        ),
        Field("label", a_label, "Its label: text, a number, or true or false."),
        Field(
            "ner_annotations",
            _spans,
            "Its spans: start, end and type.",
            aliases=("spans",),
            many=True,
        ),
        Field("text", anything, "What the spans are of."),
    ),
    keyed="label",
    keeps=True,
)


class Annotations(Struct, frozen=True, kw_only=True):
    """What each annotator said, by item, in the order of the sources."""

    kind: Kind
    field: str
    names: list[str]
    """What each source is called."""
    files: list[dict[str, Annotation]]
    findings: Findings
    unread: tuple[str, ...]


def read_annotations(
    sources: Sequence[Source], field: str | None = None, columns: Columns | None = None
) -> Annotations:
    """The annotations of each source; `field` may be a path: type_classification.primary_type.

    Where no field is named, labels are looked for before spans. Raises InputRejected with all
    that is wrong with any of them.
    """
    problems: list[str] = []
    id, label, spans, body = ANNOTATION.fields
    mapped = dict(columns or {})
    field = field or mapped.pop(label.name, None) or mapped.pop(spans.name, None)
    wanted = (*label.names, *spans.names) if field is None else (field,)
    every: list[tuple[Records, Sequence[str], Sequence[dict[str, Any]], dict[str, str]]] = []
    for count, source in enumerate(sources, 1):
        known = len(problems)
        records = Records(source, ANNOTATION, problems, name=f"annotator {count}", columns=mapped)
        places, objects = records.all_objects()
        for at, record in zip(places, objects, strict=True) if mapped else ():
            records.row(at, record)
        records.refuse_missed()
        if not objects and len(problems) == known:
            problems.append(f"{records.name}: holds no annotation; write one JSON object a line")
        keys = {squeezed(key): key for keys in records.keys for key in keys}
        spelled = {name: keys.get(squeezed(name), name) for name in wanted}
        there = {
            name: path
            for name, path in spelled.items()
            if squeezed(name) in keys
            or (
                squeezed(name.partition(".")[0]) in keys
                and any(value_at(record, path) is not None for record in objects)
            )
        }
        every.append((records, places, objects, there))
    found = [name for name in wanted if any(name in there for *_, there in every)]
    chosen = (found or wanted)[0]
    for records, _, objects, there in every:
        if objects and chosen not in there:
            fact = f"no record has the field {' or '.join(found[:1] or wanted)}"
            problems.append(f"{records.name}: {fact}; {records.there()}: name one with --field")
    values = (
        value_at(record, there[chosen])
        for _, _, objects, there in every
        if chosen in there
        for record in objects
    )
    of_spans = type(next((value for value in values if value is not None), None)) is list
    fields = (id, spans, body) if of_spans else (id, label)
    findings = Findings()
    unread = [name for records, *_ in every for name in records.note_unread(findings)]
    files = []
    for records, places, objects, there in every:
        said = structs.replace(fields[1], name=there.get(chosen, chosen), aliases=())
        shape = structs.replace(ANNOTATION, fields=(id, said, *fields[2:]))
        placed, read = records.lists(places, objects, shape)
        of_text = read.get(body.name) or repeat(None)
        given = zip(placed, read[id.name], read[said.name], of_text, strict=False)
        files.append(_annotations(given, chosen, problems))
    refuse(problems)
    return Annotations(
        kind="spans" if of_spans else "labels",
        field=chosen,
        names=[records.name for records, *_ in every],
        files=files,
        findings=findings,
        unread=tuple(dict.fromkeys(unread)),
    )


def _annotations(
    given: Iterable[tuple[str, str, Any, Any]], field: str, problems: list[str]
) -> dict[str, Annotation]:
    """By item what an annotator said: the place, the id, and a label, or spans and their text."""
    found: dict[str, Annotation] = {}
    for where, id, said, body in given:
        if said is None or type(said) is str:
            annotation = Annotation(id=id, label=said, where=where)
        else:
            text = body if type(body) is str else None
            annotation = Annotation(id=id, spans=frozenset(said), text=text, where=where)
            for place, span in enumerate(said):
                if text is not None and span.end > len(text):
                    fact = f"ends at {span.end}, past the text of {len(text)} characters"
                    problems.append(f"{where}: {field}[{place}]: {fact}")
        earlier = found.setdefault(id, annotation)
        if earlier is not annotation:
            fact = f"{quoted(id)} was annotated already at {earlier.where}; keep one"
            problems.append(f"{where}: id: {fact}")
    return found


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
