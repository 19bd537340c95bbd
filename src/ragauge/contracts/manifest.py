"""The manifest of an index: how it was made, so that what is read is known to be what was built."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
from msgspec import Struct


class Manifest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How an index was made: two with the same hash give the same results.

    What a manifest does not tell is None, and what is None is not compared.
    """

    index_type: str | None = None
    metric: str | None = None
    embedding: str | dict[str, Any] | None = None
    chunker: str | dict[str, Any] | None = None
    text_preproc: str | dict[str, Any] | None = None
    """The analyzer of the read path, as payloads name it."""
    doc_revs: dict[str, str] = {}
    """The revision of each document, by its id."""
    chunks: int | None = None
    source: str | None = None
    """Where the documents come from: the scheme of their addresses."""
    hash: str = ""
    files: dict[str, str] = {}
    """The sha256 of each file beside a saved manifest. They prove that the files belong together
    and are no part of the hash, as a model's last bits may differ from machine to machine."""
    extra: dict[str, Any] = {}
    """Keys Ragauge does not know, kept for when the manifest is written back."""

    def hashed(self) -> Manifest:
        """The manifest with the hash over how the index was made."""
        made = msgspec.structs.replace(self, hash="", files={})
        fields = msgspec.json.encode(made, order="sorted")
        return msgspec.structs.replace(self, hash=hashlib.sha256(fields).hexdigest()[:16])


def bare_hash(index_hash: str) -> str:
    """The hash without the name of its store.

    >>> bare_hash("faiss:2f7d9a"), bare_hash("2f7d9a")
    ('2f7d9a', '2f7d9a')
    """
    return index_hash.rpartition(":")[2]
