"""The citation payload: a pointer into a document that can be checked."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Offsets(Struct, frozen=True):
    """Where the snippet stands: half-open, counted in `unit`."""

    start: Count
    end: Count
    unit: Literal["char", "token"] = "char"


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
