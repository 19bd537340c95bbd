"""Faults of what is told about the retrieved chunks: the index they are from, their places."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from ragauge.contracts.system import Ask
from ragauge.demo.faults import luck


def stale(payloads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The payloads as an earlier index gave them, before the best document was revised."""
    if not payloads:
        return []
    revised = payloads[0]["doc_id"]
    return [
        {
            **one,
            "index_hash": _earlier(one["index_hash"]),
            "rev": _earlier(one["rev"]) if one["doc_id"] == revised else one["rev"],
        }
        for one in payloads
    ]


def _earlier(hash: str) -> str:
    """Another hash of the same length, always the same."""
    return hashlib.sha256(hash.encode()).hexdigest()[: len(hash)]


def drifted(payloads: Sequence[dict[str, Any]], ask: Ask) -> list[dict[str, Any]]:
    """The payloads with offsets of as many characters, a few too early."""
    by = 1 + int(8 * luck("offsets", "drifted_offsets", ask))
    return [{**one, "offsets": _moved(one["offsets"], by)} for one in payloads]


def _moved(offsets: dict[str, Any], by: int) -> dict[str, Any]:
    """Earlier by so many characters; later where the text begins too soon for that."""
    step = -by if offsets["start"] >= by else by
    return {**offsets, "start": offsets["start"] + step, "end": offsets["end"] + step}
