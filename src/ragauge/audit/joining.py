"""A model's citation joined to the payload of what was retrieved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragauge.audit.payload import KNOWN, read_offsets, told
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.manifest import bare_hash
from ragauge.text.citations import id_of

_CODES = {"analyzer": "analyzer_mismatch", "rev": "rev_mismatch"}
_KNOWN = frozenset(KNOWN)


def cited_id(citation: Any) -> str | None:
    """The id a citation names, whatever it is written as; None where it names none."""
    if isinstance(citation, str):
        return citation.strip() or None
    if isinstance(citation, Citation):
        return citation.snippet_id
    return id_of(citation) if isinstance(citation, dict) else None


def by_id(retrieved: Sequence[Any]) -> dict[str, Any]:
    """What was retrieved, by its id; None stands for a chunk of which only the id is known."""
    found: dict[str, Any] = {}
    for chunk in retrieved:
        id = cited_id(chunk)
        if id is not None:
            found.setdefault(id, None if isinstance(chunk, str) else chunk)
    return found


def joined(citation: Any, chunk: Any) -> Any:
    """The citation with what the retrieved chunk knows; the chunk's word counts."""
    if chunk is None:
        return citation
    if isinstance(chunk, Mapping) and isinstance(citation, Mapping):
        if all(name in chunk for name in citation if name in _KNOWN):
            return chunk
        own = {name: value for name, value in citation.items() if value is not None}
        return {**own, **{name: value for name, value in chunk.items() if value is not None}}
    return chunk


def disagreements(citation: Any, chunk: Any) -> list[CitationFinding]:
    """Fields that both have and that do not agree."""
    if not isinstance(citation, Mapping) or not isinstance(chunk, Mapping):
        return []
    return [
        CitationFinding(
            code=_CODES.get(name, f"mismatch_{name}"),
            field=name,
            got=told(value),
            expected=told(chunk[name]),
        )
        for name, value in citation.items()
        if name in _KNOWN and _disagree(name, value, chunk.get(name))
    ]


def _disagree(name: str, said: Any, known: Any) -> bool:
    if said is None or known is None or said == known:
        return False
    if name == "offsets":
        (mine, _), (yours, _) = read_offsets(said), read_offsets(known)
        return mine is not None and yours is not None and mine != yours
    if name == "index_hash" and isinstance(said, str) and isinstance(known, str):
        return bare_hash(said) != bare_hash(known)
    # Something that is not even of its kind is told as such, once.
    return type(said) is type(known) or {type(said), type(known)} == {int, float}
