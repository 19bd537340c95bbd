"""What `ragauge import` reports: which envelope a file was, and what became of its fields."""

from __future__ import annotations

from msgspec import Struct


class ImportManifest(Struct, frozen=True, kw_only=True):
    """How traces of another tool were read."""

    envelope: str
    files: tuple[str, ...]
    spans: int
    traces: int
    rows: int
    taken: dict[str, str]
    """For each of our fields where its value was found, the commonest place first."""
    without: dict[str, int]
    """Rows that lack a question, an answer, contexts, ids, or whose text was not captured."""
    several_retrievers: int
    several_roots: int
    roots_missing: int
    repeated_spans: int
    looks_truncated: str | None = None
    """Why the file may have been cut off; None where it looks complete."""
