"""A model's citation joined to the payload of what was retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from ragauge.citations.payload import (
    KNOWN,
    ReadFields,
    ReadPayload,
    as_mapping,
    complete,
    display_value,
    named_id,
    read_fields,
    read_payload,
)
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.manifest import bare_hash
from ragauge.text.canonical import composed

_CODES = {"analyzer": "analyzer_mismatch", "rev": "rev_mismatch"}
_KNOWN = frozenset(KNOWN)


def cited_id(citation: Any) -> str | None:
    """The id a citation names, whatever it is written as; None where it names none."""
    if isinstance(citation, str):
        return citation if citation.strip() else None
    written = as_mapping(citation)
    return named_id(written) if written is not None else None


class Retrieved:
    """What was retrieved, by its id, each once.

    An id is also known with blanks around it, or an accent as its own character.
    """

    def __init__(self, chunks: Sequence[Any]) -> None:
        self._by_id: dict[str, Any] = {}
        self._spelled: dict[str, str] = {}
        for chunk in chunks:
            id = cited_id(chunk)
            if id is not None and self._by_id.get(id) is None:
                self._by_id[id] = None if isinstance(chunk, str) else chunk
                self._spelled.setdefault(composed(id.strip()), id)

    def __len__(self) -> int:
        return len(self._by_id)

    def first(self, most: int) -> list[str]:
        """The first ids, in the order they were retrieved."""
        return list(islice(self._by_id, most))

    def as_retrieved(self, id: str) -> str | None:
        """The id as it was retrieved; None where it was not."""
        return id if id in self._by_id else self._spelled.get(composed(id.strip()))

    def chunk(self, id: str | None) -> Any:
        """The chunk of an id; None where nothing but the id is known of it."""
        return None if id is None else self._by_id.get(id)


def join_payload(citation: Any, chunk: Any) -> ReadPayload:
    """The payload of a citation with what the retrieved chunk knows; the chunk's word counts.

    Among the findings are faults of the citation's own fields, and where it says something else
    than the chunk.
    """
    own = {"snippet_id": citation} if isinstance(citation, str) else citation
    if chunk is None:
        return read_payload(own)
    written = as_mapping(own) or {}
    there = as_mapping(chunk) or {}
    if all(  # the citation says nothing of the payload that its chunk does not say alike
        value is None or (name in there and there[name] == value)
        for name, value in written.items()
        if name in _KNOWN
    ):
        return read_payload(chunk)
    said, known = read_fields(own), read_fields(chunk)
    whole = complete(ReadFields({**said.fields, **known.fields}, known.faults))
    told_already = {(fault.code, fault.field) for fault in known.faults}
    own_faults = [one for one in said.faults if (one.code, one.field) not in told_already]
    # Where a range of tokens gave the place as well, that was not said.
    repeated = {name: value for name, value in said.fields.items() if name in written}
    differ = disagreements(repeated, known.fields)
    return ReadPayload(whole.citation, [*own_faults, *whole.findings, *differ], whole.fields)


def disagreements(said: Mapping[str, Any], known: Mapping[str, Any]) -> list[CitationFinding]:
    """Fields that a citation and its chunk both have and that do not agree.

    Their id is not among them: it is what joins the two.
    """
    return [
        CitationFinding(
            code=_CODES.get(name, f"mismatch_{name}"),
            field=name,
            got=display_value(value),
            expected=display_value(known[name]),
        )
        for name, value in said.items()
        if name in known
        and name != "snippet_id"
        and _alike(name, value) != _alike(name, known[name])
    ]


def _alike(name: str, value: Any) -> Any:
    """A value in the form in which two of them count as the same."""
    if isinstance(value, str):
        return composed(bare_hash(value) if name == "index_hash" else value)
    return value
