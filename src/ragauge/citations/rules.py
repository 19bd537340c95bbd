"""Rules over the citations of one answer: sections, units, repetition, order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import Any

from msgspec import Struct

from ragauge.citations.joining import cited_id
from ragauge.citations.payload import display_value, read_offsets
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation, Offsets, Unit
from ragauge.contracts.manifest import Manifest, bare_hash
from ragauge.text.canonical import composed

Section = tuple[str | None, str | None]
"""A document's id, if known, and a section's."""
Pairs = frozenset[frozenset[str]]
"""Sections that one segment may cite together, by `section_id` or `doc_id#section_id`."""


class Pointer(Struct, frozen=True, kw_only=True):
    """The readable fields of a citation; None for a field that cannot be read."""

    doc_id: str | None = None
    section_id: str | None = None
    snippet_id: str | None = None
    offsets: Offsets | None = None


def crossed_sections(
    citations: Sequence[Citation | Pointer], allowed: Pairs
) -> CitationFinding | None:
    """The first pair of sections that one segment may not cite together."""
    sections = {
        (one.doc_id and composed(one.doc_id), composed(one.section_id)): None
        for one in citations
        if one.section_id
    }
    for one, other in combinations(sections, 2):
        # Two of one name in documents that are not known may be one section, who can say.
        differ = one[1] != other[1] or None not in (one[0], other[0])
        names = ({section[1], _display_name(section)} for section in (one, other))
        if differ and allowed.isdisjoint(map(frozenset, product(*names))):
            got = f"{_display_name(one)} and {_display_name(other)}"
            return CitationFinding(
                code="cross_section_reuse",
                field="section_id",
                got=display_value(got),
                expected="one section",
            )
    return None


def _display_name(section: Section) -> str:
    return "#".join(part for part in section if part)


def mixed_units(
    citations: Sequence[Citation | Pointer], unit: Unit | None
) -> CitationFinding | None:
    """The answer's citations are not all in one unit, or not in that of the run."""
    units = [one.offsets.unit for one in citations if one.offsets]
    if len({*units, unit} - {None}) < 2:
        return None
    got = f"{units.count('char')} in characters, {units.count('token')} in tokens"
    expected = f"all in the run's unit, {unit}" if unit else "one unit"
    return CitationFinding(code="mixed_units", field="offsets.unit", got=got, expected=expected)


def repeated_citations(
    citations: Sequence[tuple[int, Citation | Pointer]],
) -> list[tuple[int, CitationFinding]]:
    """Citations of a span that an earlier one cites already, each with its place."""
    first: dict[tuple[str, Offsets], int] = {}
    found = []
    for place, one in citations:
        if one.snippet_id is None or one.offsets is None:
            continue
        before = first.setdefault((one.snippet_id, one.offsets), place)
        if before != place:
            same = f"the span of citations[{before}]"
            finding = CitationFinding(
                code="duplicate_citation",
                field="snippet_id",
                got=display_value(one.snippet_id),
                expected=same,
            )
            found.append((place, finding))
    return found


def out_of_order(chunks: Sequence[Any]) -> CitationFinding | None:
    """The first chunk that comes before one that the order law puts ahead of it.

    A list that a reranker has put in another order is judged by its places before that. Chunks
    without a normalised score have no order to break.
    """
    if len(chunks) < 2:
        return None
    try:
        scores = [_field(chunk, "score_norm") for chunk in chunks]
        if all(one > other for one, other in pairwise(scores)):
            return None
        broken = _first_broken(chunks)
        if broken and _in_order_before_reranking(chunks):
            return None
    except (TypeError, AttributeError):  # no score, or none that can be compared
        return None
    if broken is None:
        return None
    one, other = broken
    return CitationFinding(
        code="bad_order",
        field="score_norm",
        got=display_value(f"{_id(one)} before {_id(other)}"),
        expected="score_norm falling, then section_id, snippet_id, start rising",
    )


def _first_broken(chunks: Sequence[Any]) -> tuple[Any, Any] | None:
    """The first two neighbours that the order law puts the other way round."""
    for one, other in pairwise(chunks):
        first, second = _field(one, "score_norm"), _field(other, "score_norm")
        if first < second or (first == second and _tie_key(one) > _tie_key(other)):
            return one, other
    return None


def _in_order_before_reranking(chunks: Sequence[Any]) -> bool:
    """Whether the list is as a reranker left it, and was in order before that."""
    ranks = [_field(chunk, "k_pos") for chunk in chunks]
    final = [_field(chunk, "k_final") for chunk in chunks]
    told_of = any(place is not None for place in final) or any(
        _field(chunk, "rerank_score") is not None for chunk in chunks
    )
    if None in ranks or not told_of:
        return False
    if None not in final and final != sorted(final):
        return False
    before = [chunk for _, chunk in sorted(zip(ranks, chunks, strict=True), key=lambda p: p[0])]
    return _first_broken(before) is None


def _tie_key(chunk: Any) -> tuple[str, str, int]:
    offsets, _ = read_offsets(_field(chunk, "offsets"))
    return _field(chunk, "section_id"), _id(chunk), offsets.start if offsets else 0


def _id(chunk: Any) -> str:
    return cited_id(chunk) or ""


def _field(chunk: Any, name: str) -> Any:
    if type(chunk) is dict:
        return chunk.get(name)
    known = type(chunk) is not Citation and isinstance(chunk, Mapping)
    return chunk.get(name) if known else getattr(chunk, name)


class LiveIndex(Struct, frozen=True):
    """What every payload must agree with; None for what the manifest does not say."""

    hash: str | None
    analyzer: str | None
    embedding: str | None
    revs: Mapping[str, str]

    @classmethod
    def of(cls, manifest: Manifest | None) -> LiveIndex:
        live = manifest or Manifest()
        return cls(
            bare_hash(live.hash) or None,
            live.text_preproc if isinstance(live.text_preproc, str) else None,
            live.embedding if isinstance(live.embedding, str) else None,
            {composed(id): rev for id, rev in live.doc_revs.items()},
        )

    @property
    def compared(self) -> tuple[str, ...]:
        """The fields of a payload that are compared with this index."""
        display_value = {
            "index_hash": self.hash,
            "analyzer": self.analyzer,
            "embed_model": self.embedding,
            "rev": self.revs or None,
        }
        return tuple(name for name, value in display_value.items() if value is not None)

    def made(self, payload: Citation) -> bool:
        """Whether the payload comes from this index, as far as both say."""
        return (
            (self.hash is None or bare_hash(payload.index_hash) == self.hash)
            and (self.analyzer is None or payload.analyzer == self.analyzer)
            and (self.embedding is None or payload.embed_model == self.embedding)
            and (not self.revs or self.revs.get(composed(payload.doc_id)) == payload.rev)
        )

    def differences(self, fields: Mapping[str, Any]) -> Iterator[CitationFinding]:
        """What shows that a payload comes from another index, in the fields that can be read."""
        hash, analyzer = fields.get("index_hash"), fields.get("analyzer")
        if self.hash is not None and hash is not None and bare_hash(hash) != self.hash:
            yield _differs("mismatch_index_hash", "index_hash", hash, self.hash)
        if self.analyzer is not None and analyzer not in (None, self.analyzer):
            yield _differs("analyzer_mismatch", "analyzer", analyzer, self.analyzer)
        model = fields.get("embed_model")
        if self.embedding is not None and model not in (None, self.embedding):
            yield _differs("mismatch_embed_model", "embed_model", model, self.embedding)
        id, rev = fields.get("doc_id"), fields.get("rev")
        live = self.revs.get(composed(id)) if isinstance(id, str) else None
        if self.revs and id is not None and rev not in (None, live):
            none = f"a document of the index, which has no {id}"
            yield _differs("rev_mismatch", "rev", rev, live or none)


def _differs(code: str, field: str, got: Any, expected: str) -> CitationFinding:
    return CitationFinding(
        code=code, field=field, got=display_value(got), expected=display_value(expected)
    )
