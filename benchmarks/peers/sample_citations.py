"""Answers with five citations each, as a serving path has them, and what is to be said of them."""

import json
from typing import Any, NamedTuple

FIVE, TEN = 5, 10
REFUSAL = "not in context"
SAID = ("snippet_id", "section_id", "source_url", "offsets", "tokens")
"""The fields of a payload that the model repeats."""
WORDS = "Keys are rotated every ninety days, and the old ones are kept for another thirty. " * 4
CLAIM = "Keys are rotated every ninety days; the old ones stay valid for thirty more."

Payload = dict[str, Any]


class Live(NamedTuple):
    """The live index, which every payload must come from."""

    hash: str
    embed_model: str
    analyzer: str
    revs: dict[str, str]


LIVE = Live(
    "2f7d9a", "bge-large-en-v1.5:mean", "lowercase+ascii_fold", {"handbook_2024": "3b91f2a"}
)


class Case(NamedTuple):
    """An answer as it comes, what was retrieved, and the right verdict."""

    answer: Any
    retrieved: list[Payload] | None
    code: str


def payload(place: int) -> Payload:
    """The payload of the specification, with its text; scores fall and places rise."""
    start = 2_310 + 400 * place
    return {
        "doc_id": "handbook_2024",
        "section_id": "policies/security/keys",
        "snippet_id": f"hb24-sec-keys-{place:04}",
        "source_url": "https://example.org/handbook#security-keys",
        "offsets": {"start": start, "end": start + len(WORDS), "unit": "char"},
        "tokens": 68,
        "index_hash": f"faiss:{LIVE.hash}",
        "embed_model": LIVE.embed_model,
        "analyzer": LIVE.analyzer,
        "rev": LIVE.revs["handbook_2024"],
        "window": {"pre": 120, "post": 120},
        "page": 14,
        "score_raw": 0.8421 - 0.01 * place,
        "score_norm": 0.78 - 0.01 * place,
        "rerank_score": 0.97 - 0.01 * place,
        "k_pos": place + 1,
        "k_final": place + 1,
        "text": WORDS,
    }


def said(chunk: Payload) -> Payload:
    """What the model writes of a snippet: equal to the payload's fields, but never the same."""
    written: Payload = json.loads(json.dumps({name: chunk[name] for name in SAID}))
    return written


def reranked(chunks: list[Payload]) -> list[Payload]:
    """The chunks in an order of a reranker's: the second half first."""
    half = len(chunks) // 2
    return [
        chunk | {"rerank_score": 0.97 - 0.01 * place, "k_final": place + 1}
        for place, chunk in enumerate(chunks[half:] + chunks[:half])
    ]


def faulty() -> list[Payload]:
    """Five payloads: one lacks a field, one ends before it starts, one is of another section."""
    chunks = [payload(place) for place in range(FIVE)]
    del chunks[1]["index_hash"]
    chunks[2]["offsets"]["end"] = 10
    chunks[3]["section_id"] = "policies/travel"
    return chunks


def answered(citations: list[Payload]) -> Payload:
    return {"citations": citations, "answer": CLAIM}


def cases() -> dict[str, Case]:
    """The answers by name, each made anew."""
    five = [payload(place) for place in range(FIVE)]
    ten = [payload(place) for place in range(TEN)]
    turned = reranked(ten)
    cited = [said(chunk) for chunk in ten[:FIVE]]
    return {
        "five whole payloads": Case(answered(five), None, "ok"),
        "five of the model's, ten retrieved": Case(answered(cited), ten, "ok"),
        "the same, in a reranker's order": Case(answered(cited), turned, "ok"),
        "the same, as raw text": Case(json.dumps(answered(cited)), ten, "ok"),
        "a failing answer": Case(answered(faulty()), None, "missing_index_hash"),
    }
