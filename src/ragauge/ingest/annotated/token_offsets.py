"""Start and end that count tokens: when they do, and where they then stand in the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from ragauge.contracts.entities import Fragment
from ragauge.ingest.annotated.entity_reading import Given, Reading
from ragauge.ingest.fields import BadField


def counts_tokens(record: dict[str, Any], given: Sequence[Given], reading: Reading) -> bool:
    """Whether start and end count tokens: as asked, else where tokens are words and no entity
    has a surface by which characters could be checked."""
    if reading.options.offsets is not None:
        return reading.options.offsets == "tokens"
    words = all(type(token) is str for token in record["tokens"])
    return words and all(one.entity.text is None for one in given)


def in_characters(
    given: Sequence[Given], tokens: Sequence[Fragment], field: str, faults: list[BadField]
) -> list[Given]:
    """Entities that count tokens, half-open, at their places in the text."""
    found: list[Given] = []
    for place, one in enumerate(given):
        parts: list[Fragment] = []
        for first, end in one.entity.parts:
            if 0 <= first < end <= len(tokens):
                parts.append((tokens[first][0], tokens[end - 1][1]))
            else:
                fact = f"goes from token {first} to {end}, and there are {len(tokens)}"
                remedy = "; a span has 0 <= start < end" if first >= end else ""
                faults.append(BadField(f"{field}[{place}]", fact + remedy))
        if len(parts) == len(one.entity.parts):
            fragments = tuple(parts) if one.entity.fragments else ()
            start, end = parts[0][0], parts[-1][1]
            entity = replace(one.entity, start=start, end=end, fragments=fragments)
            found.append(Given(entity, one.where))
    return found
