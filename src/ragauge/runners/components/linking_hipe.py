"""Links from HIPE tables: read by their columns, and placed by tokens, which both sides share."""

from __future__ import annotations

from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.contracts.entities import Entity
from ragauge.contracts.finding import Finding
from ragauge.ingest.annotated.entity_files import EntityFile, read_entities
from ragauge.ingest.annotated.hipe import is_hipe
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import STDIN, read_whole
from ragauge.ingest.linked.link_records import LinkReading, Placed
from ragauge.runners.components.entity_alignment import by_order
from ragauge.runners.components.entity_marked import Marked
from ragauge.runners.components.entity_sources import of_file
from ragauge.text.kb_ids import is_nil

if TYPE_CHECKING:
    from ragauge.ingest.linked.link_records import Source


def hipe_links(
    gold: Source, predicted: Source, layer: str, reading: LinkReading
) -> tuple[Source, Source, bool]:
    """The two sides, HIPE tables as records of linked documents; and whether gold is one.

    Of two tables the places count tokens, which must be the same; next to another format they
    count the characters of the text that the tokens make. Of a gold mention the first link counts.
    """
    known = _read(gold, layer, reading, split=False)
    said = _read(predicted, layer, reading, split=True)
    sides = [None if one is None else of_file(one) for one in (known, said)]
    if sides[0] is not None and sides[1] is not None:
        sides = list(by_order(sides[0], sides[1]))
        reading.problems.extend(_other_tokens(*sides))  # type: ignore[arg-type]
    for side in sides:
        for finding in side.findings if side else ():
            reading.findings.add(finding)
    in_tokens = None not in sides
    if known is not None and sides[0] is not None:
        gold = _records(known, sides[0], in_tokens, reading, is_gold=True)
    if said is not None and sides[1] is not None:
        predicted = _records(said, sides[1], in_tokens, reading, is_gold=False)
    return gold, predicted, known is not None


def _read(source: Source, layer: str, reading: LinkReading, *, split: bool) -> EntityFile | None:
    """The linked entities of a HIPE table; None where the source is none."""
    if not isinstance(source, str | Path) or str(source) == STDIN:
        return None
    if reading.input_format not in (None, "hipe"):
        return None
    if reading.input_format is None and not is_hipe(read_whole(str(source))):
        return None
    return read_entities(
        source, problems=reading.problems, input_format="hipe", links=layer, split_links=split
    )


def _other_tokens(gold: Marked, predicted: Marked) -> list[str]:
    """What is wrong with documents whose tokens are not those of gold."""
    known = {id: place for place, id in enumerate(gold.ids)}
    problems = []
    for place, id in enumerate(predicted.ids):
        if id not in known:
            continue
        ours, theirs = _words(gold, known[id]), _words(predicted, place)
        unlike = [at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len({*pair}) > 1]
        if len(ours) != len(theirs):
            fact = f"has {len(theirs):,} tokens in {quoted(id)}, and gold {len(ours):,}"
        elif unlike:
            at = unlike[0]
            fact = f"token {at + 1:,} of {quoted(id)} is {quoted(theirs[at])}, in gold "
            fact += quoted(ours[at])
        else:
            continue
        remedy = "links of HIPE tables are compared token by token"
        problems.append(f"{predicted.where(place)}: {fact}; {remedy}")
    return problems


def _words(side: Marked, place: int) -> list[str]:
    text, tokens = side.texts[place] or "", side.tokens[place] or ()
    return [text[start:end] for start, end in tokens]


def _records(
    file: EntityFile, side: Marked, in_tokens: bool, reading: LinkReading, *, is_gold: bool
) -> list[Placed]:
    """A record for each document, with its linked entities."""
    entities = [entity for document in file.documents for entity in document.entities]
    found: list[Placed] = [
        Placed(
            side.where(place),
            {"doc_id": id, "entities": [], "strata": dict(side.strata[place])},
        )
        for place, id in enumerate(side.ids)
    ]
    columns = side.columns
    for row, doc in enumerate(columns.doc.tolist()):
        start, end = int(columns.start[row]), int(columns.end[row])
        mention = (side.texts[doc] or "")[start:end]
        if in_tokens:
            tokens = side.tokens[doc] or ()
            start, end = bisect_left(tokens, (start, 0)), bisect_left(tokens, (end, 0))
        said = _gold_link(entities[row]) if is_gold else _alternatives(entities[row])
        entity = {"start": start, "end": end, "type": entities[row].type, "mention": mention}
        found[doc].record["entities"].append({**entity, **said})
        links = entities[row].links or ()
        if is_gold and len(links) > 1:
            fact = f"{quoted(mention)} has {len(links)} links in gold; only the first counts"
            reading.findings.add(Finding("gold_alternatives", side.where(doc), fact))
    return found


def _gold_link(entity: Entity) -> dict[str, Any]:
    """The first link of gold, as the scorer takes it; nothing where the cell is empty."""
    if entity.links is None:
        return {}
    first = next(iter(entity.links), None)
    return {"gold": None if first is None or is_nil(first) else first}


def _alternatives(entity: Entity) -> dict[str, Any]:
    return {} if entity.links is None else {"candidates": list(entity.links)}
