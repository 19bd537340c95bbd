"""Items with a label each, from any source.

Gold and prediction are joined on the items' ids; where one of them has none, on the text, if no
text is there twice. Ids, labels and texts are trimmed and in NFC. Nothing is joined by position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from ragauge.contracts.labels import LabelledItem
from ragauge.contracts.report import Findings
from ragauge.ingest.annotations import a_label
from ragauge.ingest.fields import (
    STRATA,
    BadField,
    Columns,
    Field,
    Shape,
    an_id,
    anything,
    mapping,
    quoted,
    squeezed,
    text,
    texts,
    value_at,
)
from ragauge.ingest.heritage import MARKS
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.records import Records, Source, columns_for
from ragauge.text.canonical import composed

Key = Literal["id", "text"]
ENTRY_FIELD = "type_classification.primary_type"
_SEPARATORS = re.compile(r"[;|,]")


def _name(value: Any, field: str) -> str:
    """What an item is called, in NFC and without spaces around it."""
    if type(value) is str and value.isascii() and (name := value.strip()):
        return name  # as most are, at a quarter of the cost
    return composed(an_id(value, field)).strip()


def _are_names(texts: Sequence[str]) -> bool:
    """Whether texts are what `_name` makes of them, as far as a look at all together shows it."""
    every = "\0".join(("", *texts, ""))
    return every.isascii() and "\0\0" not in every and len(every.split(None, 1)) == 1


def _label(value: Any, field: str) -> str | None:
    label = a_label(value, field)
    return None if label is None else composed(label)


def _gold_label(value: Any, field: str) -> str:
    label = _label(value, field)
    if label is None:
        raise BadField(field, NO_LABEL)
    return label


def _secondary(value: Any, field: str) -> tuple[str, ...]:
    """Further labels that are right too: a list, or texts with ; | or , between them."""
    if type(value) is str and not value.lstrip().startswith("["):
        value = _SEPARATORS.split(value)
    elif type(value) is str:
        try:
            value = decode(value.encode())
        except BadJson as fault:
            raise BadField(field, f"is not a list: {fault}") from None
    labels = (composed(label).strip() for label in texts(value, field))
    return tuple(dict.fromkeys(label for label in labels if label))


def _text(value: Any, field: str) -> str | None:
    return composed(text(value, field)).strip() or None


NO_LABEL = "missing; gold says what is right"
_SHARED = ("label", "type", "primary_type", ENTRY_FIELD)
_GOLD = ("gold_type", "gold_label")
_PREDICTED = ("predicted_type", "predicted_label", "prediction", "pred_type", "predicted")


def _item(name: str, label: Field, other: Field, doc: str) -> Shape:
    return Shape(
        name=name,
        doc=doc,
        fields=(
            Field(
                "id",
                _name,
                "The item; without ids, texts join.",
                aliases=("qid", "item_id"),
                same=_are_names,
            ),
            label,
            Field(
                "secondary_types",
                _secondary,
                "Further labels that are right too: a list, or text with ; | or , between them.",
                aliases=("type_classification.secondary_types",),
                many=True,
            ),
            Field("text", _text, "What has the label."),
            Field(STRATA, mapping, "Values by stratum, to show scores by."),
            other,
            *(
                Field(mark, anything, "Of a heritage entry; another task reads it.", many=True)
                for mark in MARKS
                if not ENTRY_FIELD.startswith(mark)
            ),
        ),
        keyed="label",
    )


GOLD_ITEM = _item(
    "labelled item",
    Field(_GOLD[0], _gold_label, "Its label; of an entry, none is.", (*_GOLD[1:], *_SHARED)),
    Field(_PREDICTED[0], anything, "What was predicted; not read of gold.", _PREDICTED[1:]),
    "An item with its correct label.",
)
PREDICTED_ITEM = _item(
    "predicted item",
    Field(_PREDICTED[0], _label, "The label predicted for it.", (*_PREDICTED[1:], *_SHARED)),
    Field(_GOLD[0], anything, "Its correct label; not read of predictions.", _GOLD[1:]),
    "An item with the label that was predicted for it.",
)


class Items(Mapping[str, LabelledItem]):
    """The items of one side by what they are joined on, as columns; each is made when asked for."""

    def __init__(
        self,
        at: dict[str, int],
        places: Sequence[str] = (),
        labels: Sequence[str | None] = (),
        secondary: Sequence[tuple[str, ...] | None] = (),
        texts: Sequence[str | None] = (),
        strata: Sequence[dict[str, Any] | None] = (),
    ) -> None:
        self.at = at
        """The row of each; of several with one key the first."""
        self.places, self.labels, self.texts = places, labels, texts
        # None where no item has any.
        self.secondary = secondary if any(secondary) else None
        self.strata = strata if any(strata) else None

    def __getitem__(self, id: str) -> LabelledItem:
        at = self.at[id]
        return LabelledItem(
            id=id,
            label=self.labels[at],
            secondary=(self.secondary and self.secondary[at]) or (),
            text=self.texts[at],
            strata=(self.strata and self.strata[at]) or {},
            where=self.places[at],
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self.at)

    def __len__(self) -> int:
        return len(self.at)


class Labelled(Struct, frozen=True, kw_only=True):
    """The items of gold and prediction, by the key they are joined on."""

    gold: Items
    predicted: Items
    key: Key
    records: int
    """All that were there, good or bad."""
    duplicates: int
    findings: Findings
    unread: tuple[str, ...]
    """The columns that no field reads."""


_OWN = {
    "predicted": structs.replace(
        PREDICTED_ITEM, fields=tuple(one for one in PREDICTED_ITEM.fields if one.name != _GOLD[0])
    ),
    "gold": structs.replace(
        GOLD_ITEM, fields=tuple(one for one in GOLD_ITEM.fields if one.name != _PREDICTED[0])
    ),
}
"""Each side without the label of the other, which is not read of it."""


class _Side:
    """The records of gold, or of predictions."""

    def __init__(
        self, name: str, source: Source, shape: Shape, columns: Columns, form: str | None,
        problems: list[str],
    ) -> None:  # fmt: skip
        self.shape, self.problems = shape, problems
        self.label = shape.fields[1]
        self.given = columns.get(self.label.name)
        self.records = Records(source, shape, problems, form=form, name=name, columns=columns)
        self.places, self.objects = self.records.all_objects()
        if columns.keys() - {self.label.name}:
            for place, record in zip(self.places, self.objects, strict=True):
                self.records.row(place, record)
            self.records.refuse_missed(but=self.label.name)

    def has(self, field: str) -> bool:
        rows = map(self.records.row, self.places, self.objects)
        return any(row[field] is not None for row in rows)

    def label_name(self) -> str | None:
        """What the labels are called here: the first name that any record has filled."""
        wanted = self.label.names if self.given is None else (self.given,)
        keys = {squeezed(key): key for keys in self.records.keys for key in keys}
        there = [keys.get(squeezed(name), name) for name in wanted]
        there = [name for name in there if keys.get(squeezed(name.partition(".")[0])) is not None]
        for name in there:
            if any(value_at(record, name) is not None for record in self.objects):
                return name
        # A prediction may say nothing of any item, as long as it has a place to say it.
        if there and self.shape is PREDICTED_ITEM:
            return there[0]
        fact = f"no record has {' or '.join(wanted)}; {self.records.there()}"
        self.problems.append(f"{self.records.name}: {fact}: name the right one with --field")
        return None

    def items(self, key: Key, other: Items | None = None) -> tuple[Items, int]:
        """The items by key, and how many have a key that an earlier one has.

        Where the other side has the same items in the same order, both have their rows in common.
        """
        label = self.label_name() if self.objects else None
        if label is None:
            return Items({}), 0
        ids, labels, secondary, texts, strata = self.shape.fields[:5]
        labels = structs.replace(labels, name=label, aliases=())
        if self.shape is GOLD_ITEM and label != ENTRY_FIELD:
            labels = structs.replace(labels, missing=NO_LABEL)
        else:
            labels = structs.replace(labels, check=_label)
        if key == "id":
            ids = structs.replace(ids, missing="missing; other records have one")
        else:
            fact = "missing; it is what gold and prediction are joined on"
            ids = texts = structs.replace(texts, check=_name, missing=fact, same=_are_names)
        fields = (ids, labels, secondary, texts, strata)
        places, found = self.records.lists(
            self.places,
            self.objects,
            structs.replace(self.shape, fields=tuple(dict.fromkeys(fields))),
        )
        keys, *columns = (found[field.name] for field in fields)
        same = other is not None and [*other.at] == keys
        at = other.at if other and same else dict(zip(keys, range(len(keys)), strict=True))
        duplicates = len(keys) - len(at)
        if duplicates:
            at = {}
            remedy = "keep one" if key == "id" else "give the items ids"
            for row, id in enumerate(keys):
                first = at.setdefault(id, row)
                if first != row:
                    fact = f"{quoted(id)} is at {places[first]} already; {remedy}"
                    self.problems.append(f"{places[row]}: {key}: {fact}")
        return Items(at, places, *columns), duplicates


def read_labelled(
    gold: Source,
    predicted: Source,
    problems: list[str],
    field: str | None = None,
    predicted_field: str | None = None,
    form: str | None = None,
    columns: Columns | None = None,
) -> Labelled:
    """The items of both sides; what is wrong goes into the list.

    `field` names where the labels are, with dots for a field inside another; where predictions
    have theirs elsewhere, `predicted_field` does. `columns` says it of all fields.
    """
    findings = Findings()
    mapped = columns_for(columns, **_OWN)
    for name, path in (("gold", field), ("predicted", predicted_field or field)):
        if path is not None:
            mapped[name][_OWN[name].fields[1].name] = path
    sides = [
        _Side("gold", gold, GOLD_ITEM, mapped["gold"], form, problems),
        _Side("predicted", predicted, PREDICTED_ITEM, mapped["predicted"], form, problems),
    ]
    unread = [name for side in sides for name in side.records.note_unread(findings)]
    key = _join_key([side for side in sides if side.objects], problems)
    items, twice = (Items({}), 0) if key is None else sides[0].items(key)
    said, again = (Items({}), 0) if key is None else sides[1].items(key, items)
    return Labelled(
        gold=items,
        predicted=said,
        key=key or "id",
        records=sum(len(side.objects) for side in sides),
        duplicates=twice + again,
        findings=findings,
        unread=tuple(dict.fromkeys(unread)),
    )


def _join_key(sides: list[_Side], problems: list[str]) -> Key | None:
    """What both sides have: ids, else texts; a problem for each side that has neither."""
    if all(side.has("id") for side in sides):
        return "id"
    if all(side.has("text") for side in sides):
        return "text"
    lacking = [side for side in sides if not side.has("id") and not side.has("text")]
    fact = "no record has an id or a text; gold and prediction are never joined by position"
    problems += [f"{side.records.name}: {fact}" for side in lacking]
    if not lacking:
        there = " and ".join(side.records.name for side in sides)
        problems.append(f"{there}: one has ids and the other texts; give both the same")
    return None
