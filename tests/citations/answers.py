"""Payloads and answers in which nothing is wrong, to be broken one thing at a time."""

from __future__ import annotations

from typing import Any

FIXTURE: dict[str, Any] = {
    "doc_id": "handbook_2024",
    "section_id": "policies/security/keys",
    "snippet_id": "hb24-sec-keys-0007",
    "source_url": "https://example.org/handbook#security-keys",
    "offsets": {"start": 2310, "end": 2688, "unit": "char"},
    "tokens": 188,
    "index_hash": "faiss:2f7d9a",
    "embed_model": "bge-large-en-v1.5:mean",
    "analyzer": "lowercase+ascii_fold",
    "rev": "3b91f2a",
    "window": {"pre": 120, "post": 120},
    "page": 14,
    "score_raw": 0.8421,
    "score_norm": 0.78,
    "rerank_score": 0.67,
    "k_pos": 18,
    "k_final": 3,
}
"""The payload of the specification, all 17 fields of it."""

REQUIRED = tuple(FIXTURE)[:10]
OPTIONAL = tuple(FIXTURE)[10:]
MODEL_SIDE = ("snippet_id", "section_id", "source_url", "offsets", "tokens")

NOT_OF_THEIR_KIND: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        (
            *("doc_id", "section_id", "snippet_id", "source_url"),
            *("index_hash", "embed_model", "analyzer", "rev"),
        ),
        (7, 0.5, True, ["a"], {"a": 1}),
    ),
    "offsets": ("2310-2688", 7, True, {"start": "2310", "end": 2688}, {"start": 1.0, "end": 2}),
    "tokens": (-1, "188", 188.5, True, [4, 9], {}),
    "window": ("120", 120, {"pre": 120}, {"pre": -1, "post": 0}, [120, 120]),
    "page": ("14", 14.5, True, [14]),
    "score_raw": ("0.8", True, [0.8], float("nan"), float("inf"), 10**400),
    "score_norm": ("0.8", True, -0.01, 1.01, float("nan")),
    "rerank_score": ("0.8", True, float("-inf"), {}),
    "k_pos": (-1, "18", 18.0, True),
    "k_final": (-1, "3", 3.5, [3]),
}
"""For each field, values that it cannot have."""


def chunk(number: int, **changed: Any) -> dict[str, Any]:
    """The payload of one of several retrieved chunks: in one section, the first the best."""
    start = 100 * number
    made = {
        **{name: FIXTURE[name] for name in REQUIRED},
        "snippet_id": f"c{number}",
        "offsets": {"start": start, "end": start + 80, "unit": "char"},
        "score_norm": 1 - number / 10,
        "k_pos": number,
        **changed,
    }
    return {name: value for name, value in made.items() if value is not ...}


def model_side(payload: dict[str, Any]) -> dict[str, Any]:
    """What a model writes of it."""
    return {name: payload[name] for name in MODEL_SIDE}


RETRIEVED = [chunk(1), chunk(2), chunk(3)]
ANSWER = {"citations": [model_side(chunk(1)), model_side(chunk(3))], "answer": "Every year."}
"""An answer that holds beside RETRIEVED."""
