"""Entities in the shapes that JSON records have them in: objects, lists, and tags of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.contracts.entities import ONE_LAYER, Fragment
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.annotated.tagged_texts import Layer, TaggedToken, marked
from ragauge.ingest.annotated.tags import MARKS, bad_tag, scheme_of, tag_of
from ragauge.ingest.fields import BadField, expected

ENTITIES = ("entities", "spans", "ner_annotations")
LABELS = ("label", "labels")
"""Fields that hold entities only where they hold lists, as doccano writes them."""
TAGS = "ner_tags"
TRIPLE = ("start", "end", "type")
OFFSETS = {"start": "start_offset", "end": "end_offset"}
"""What doccano calls them."""


def entities_field(record: Mapping[str, Any]) -> str | None:
    """The field of a record that holds its entities.

    >>> entities_field({"label": [[0, 5, "PER"]]}), entities_field({"label": "positive"})
    ('label', None)
    """
    for name in ENTITIES:
        if record.get(name) is not None:
            return name
    for name in LABELS:
        value = record.get(name)
        if type(value) is list and all(type(one) in (list, tuple, dict) for one in value):
            return name
    return TAGS if record.get(TAGS) is not None else None


def entity_fields(value: Any, name: str) -> dict[str, Any]:
    """An entity by its fields, from an object or from start, end and type in a list.

    >>> entity_fields([0, 5, "PER"], "entities[0]")
    {'start': 0, 'end': 5, 'type': 'PER'}
    """
    if type(value) is dict:
        own = {name: value[key] for name, key in OFFSETS.items() if key in value}
        return {**own, **value}
    if type(value) not in (list, tuple):
        raise BadField(name, expected("an object, or [start, end, type]", value))
    if len(value) != len(TRIPLE):
        raise BadField(name, f"expected start, end and type, got a list of {len(value)}")
    return dict(zip(TRIPLE, value, strict=True))


def tagged_entities(
    record: Mapping[str, Any], body: str, tokens: Sequence[Fragment], where: str, reading: Reading
) -> list[Given]:
    """The entities that the tags of a record mark in its tokens; raises BadField."""
    written = record[TAGS]
    if type(written) is not list or not all(type(tag) is str for tag in written):
        raise BadField(TAGS, "expected a list of tags such as B-PER; write their names, no numbers")
    if len(written) != len(tokens):
        raise BadField(TAGS, f"there are {len(written)}, and {len(tokens)} tokens; give each a tag")
    told = scheme_of([written])
    # one sentence that begins with I tells nothing of the others: IOB2 is what such records hold
    form = "iob2" if told == "iob1" else told
    sentence: list[TaggedToken] = []
    for place, (tag, (start, end)) in enumerate(zip(written, tokens, strict=True)):
        found = tag_of(tag, MARKS[form])
        if found is None:
            raise BadField(f"{TAGS}[{place}]", bad_tag(tag, form))
        at = f"{where}: {TAGS}[{place}]"
        sentence.append(TaggedToken(body[start:end], " ", at, (found,)))
    return list(marked(reading, body, sentence, tokens, 0, Layer(ONE_LAYER, form)))
