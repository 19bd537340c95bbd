"""Two documents, the manifest of their index, a gold set and traces, small enough to count by hand.

Each section is 100 characters: `keys` is 0–100 of the handbook, `access` 100–200, `safe` 200–300.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

SECTIONS = {
    "keys": "Keys are turned every year, by two people who sign for it in the blue book.",
    "access": "Nobody enters alone: the second person waits at the door until both are in.",
    "safe": "The safe opens at nine and closes at five, on working days and by appointment.",
}
HANDBOOK = "".join(f"{text:<99}\n" for text in SECTIONS.values())
FAQ = "May visitors take photographs? They may, without flash, in every room but the last.\n"
TEXTS = {"handbook": HANDBOOK, "faq": FAQ}


def rev_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


MANIFEST = {
    "hash": "2f7d9a",
    "text_preproc": "lowercase",
    "embedding": "ngram",
    "doc_revs": {name: rev_of(text) for name, text in TEXTS.items()},
}


def span(section: str, start: int, end: int) -> dict[str, Any]:
    return {"doc_id": "handbook", "section_id": section, "start": start, "end": end}


GOLD: list[dict[str, Any]] = [
    {
        "qid": "q1",
        "question": "How often are keys turned?",
        "answerable": True,
        "gold_claim": "every year",
        "gold_citations": ["c1"],
        "target_section": span("keys", 0, 100),
        "anchor": span("keys", 10, 60),
        "decoy": span("safe", 210, 260),
        "strata": {"tier": "front"},
    },
    {
        "qid": "q2",
        "question": "Who waits at the door?",
        "answerable": True,
        "gold_claim": "the second person",
        "target_section": span("access", 100, 200),
        "anchor": span("access", 120, 180),
        "decoy": span("safe", 200, 260),
        "strata": {"tier": "back"},
    },
    {"qid": "q3", "question": "What does a key cost?", "answerable": False},
]


def payload(id: str, start: int, end: int, place: int = 1, **changed: Any) -> dict[str, Any]:
    """A chunk of the handbook with its text; the section is that in which it begins."""
    made = {
        "doc_id": "handbook",
        "section_id": list(SECTIONS)[start // 100],
        "snippet_id": id,
        "source_url": "https://example.org/handbook",
        "offsets": {"start": start, "end": end, "unit": "char"},
        "tokens": end - start,
        "index_hash": "ngram:2f7d9a",
        "embed_model": "ngram",
        "analyzer": "lowercase",
        "rev": rev_of(HANDBOOK),
        "score_norm": 1 - place / 10,
        "k_pos": place,
        "text": HANDBOOK[start:end],
        **changed,
    }
    return {name: value for name, value in made.items() if value is not ...}


C1, C2 = payload("c1", 0, 40, 1, k_final=2), payload("c2", 30, 80, 2, k_final=1)
C3, C4 = payload("c3", 100, 170, 1), payload("c4", 150, 200, 2)


def trace(qid: str, cited: Iterable[Any], *retrieved: Any, **changed: Any) -> dict[str, Any]:
    """A trace of ours: what was retrieved, and an answer that cites some of it."""
    answer = {"citations": [*cited], "answer": f"So it is, says {qid}."}
    made = {"qid": qid, "answer_json": answer, "retrieved": [*retrieved], **changed}
    return {name: value for name, value in made.items() if value is not ...}


HOLDING = [
    trace("q1", ["c1"], C1, C2),
    trace("q2", ["c3"], C3),
    {"qid": "q3", "answer": "not in context", "retrieved": [C1, C2]},
]
"""Traces in which everything holds."""
TRACES = [
    HOLDING[0],
    HOLDING[1],
    trace("q2", ["c9"], {**C3, "k_final": 1}, {**C4, "k_final": 2}),
    HOLDING[2],
]
"""One of four cites what was not retrieved."""


class Files(NamedTuple):
    traces: Path
    gold: Path
    docs: Path
    manifest: Path


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    lines = (one if isinstance(one, str) else json.dumps(one) for one in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def written(folder: Path, traces: Iterable[Any] = TRACES, gold: Iterable[Any] = GOLD) -> Files:
    """The files of an audit."""
    docs = folder / "docs"
    docs.mkdir(exist_ok=True)
    for name, text in TEXTS.items():
        (docs / f"{name}.md").write_text(text, encoding="utf-8")
    manifest = folder / "index.json"
    manifest.write_text(json.dumps(MANIFEST))
    return Files(
        write_lines(folder / "traces.jsonl", traces),
        write_lines(folder / "gold.jsonl", gold),
        docs,
        manifest,
    )
