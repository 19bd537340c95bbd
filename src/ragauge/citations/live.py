"""The live index, as its manifest tells, and what a payload of another one gives away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from ragauge.citations.payload import told
from ragauge.contracts.audit import CitationFinding
from ragauge.contracts.citation import Citation
from ragauge.contracts.manifest import Manifest, bare_hash
from ragauge.text.canonical import composed


class LiveIndex(Struct, frozen=True):
    """What every payload must agree with; None where the manifest does not tell."""

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
        """The fields of a payload that are held against this index."""
        told = {
            "index_hash": self.hash,
            "analyzer": self.analyzer,
            "embed_model": self.embedding,
            "rev": self.revs or None,
        }
        return tuple(name for name, value in told.items() if value is not None)

    def made(self, payload: Citation) -> bool:
        """Whether the payload comes from this index, as far as both tell."""
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
    return CitationFinding(code=code, field=field, got=told(got), expected=told(expected))
