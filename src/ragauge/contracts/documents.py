"""Frozen documents: the text a revision had, wherever it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct


class FrozenDocument(Struct, frozen=True):
    """A document as one revision had it."""

    doc_id: str
    rev: str
    text: str
    proven: bool
    """The revision is the hash of these bytes, or names where they are kept; otherwise the text
    may be a later one."""


class Documents(Protocol):
    """Where frozen documents are found. Finding one twice is cheap."""

    def find(self, doc_id: str, rev: str) -> FrozenDocument | None:
        """The document as that revision had it; None where it is not there."""

    def others(self, doc_id: str) -> Iterator[FrozenDocument]:
        """Every other document, ordered by id: where a quote may really stand."""
