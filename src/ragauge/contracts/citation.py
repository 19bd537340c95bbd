"""The citation payload: a pointer into a document that can be checked."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Unit = Literal["char", "token"]


class Offsets(Struct, frozen=True):
    """Where the snippet stands: half-open, counted in `unit`."""

    start: Count
    end: Count
    unit: Unit = "char"


class Window(Struct, frozen=True):
    """How much text around the snippet was shown to the model."""

    pre: Count
    post: Count


class Citation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a retriever knows of a snippet, whole: enough to find it again and check it."""

    doc_id: str
    section_id: str
    snippet_id: str
    source_url: str
    offsets: Offsets
    tokens: Count
    index_hash: str
    embed_model: str
    analyzer: str
    rev: str
    window: Window | None = None
    page: int | None = None
    score_raw: float | None = None
    score_norm: Share | None = None
    rerank_score: float | None = None
    k_pos: Count | None = None
    k_final: Count | None = None


class ModelCitation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the model writes of a citation; the rest comes from what was retrieved."""

    snippet_id: str
    """Copied from the snippet that was shown, letter for letter."""
    section_id: str
    source_url: str
    offsets: Offsets
    tokens: Count
    quote: str | None = None
    """The words the answer rests on, as they stand in the snippet."""


class Segment(Struct, frozen=True, kw_only=True):
    """A part of an answer with the citations it rests on."""

    text: str
    citations: tuple[ModelCitation, ...]


class AuditableAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The reply a model is asked for: citations first, then the answer they carry."""

    citations: tuple[ModelCitation, ...]
    answer: str
    segments: tuple[Segment, ...] = ()
    """An answer that draws on several sections says part by part what it rests on."""
