"""Times validators written by hand, in plain Python, on the sample answers.

python -m benchmarks.peers.plain_citations five
python -m benchmarks.peers.plain_citations all

`five` is the short function that most would write: empty, missing, bad_offsets,
cross_section_reuse, missing_score. `all` has every rule that `CitationValidator` has on a whole
payload, and stops at the first that is broken.
"""

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from benchmarks.peers.sample_citations import LIVE, REFUSAL, Live, Payload
from benchmarks.peers.timed_citations import print_costs

NAMES = (
    *("doc_id", "section_id", "snippet_id", "source_url"),
    *("index_hash", "embed_model", "analyzer", "rev"),
)
REQUIRED = (*NAMES, "offsets", "tokens")
COUNTS = ("tokens", "k_pos", "k_final")
UNITS = ("char", "token")
NUMBERS = ("score_raw", "score_norm", "rerank_score")

Row = tuple[Any, ...]
"""doc_id, section_id, snippet_id, start, end, unit, index_hash, embed_model, analyzer, rev,
score_raw, score_norm, k_pos, k_final of a payload."""


def five_codes(answer: Any, retrieved: list[Payload] | None) -> str:
    """The worst of five codes, or ok; nothing is known of types, the index or the order."""
    citations = read(answer)["citations"]
    if retrieved is not None:
        known = {chunk["snippet_id"]: chunk for chunk in retrieved}
        citations = [known.get(one["snippet_id"], {}) | one for one in citations]
    if not citations:
        return "empty_citations"
    for one in citations:
        for name in REQUIRED:
            if name not in one:
                return f"missing_{name}"
    for one in citations:
        if one["offsets"]["start"] >= one["offsets"]["end"]:
            return "bad_offsets"
    if len({one["section_id"] for one in citations}) > 1:
        return "cross_section_reuse"
    for one in citations:
        if one.get("score_norm") is None and one.get("score_raw") is None:
            return "missing_score"
    return "ok"


def all_rules(answer: Any, retrieved: list[Payload] | None) -> str:
    """The first rule that is broken, or ok."""
    reply = read(answer)
    if refuses(reply["answer"]):
        return "ok"
    return verdict(reply["citations"], retrieved, LIVE)


def verdict(citations: list[Payload], retrieved: list[Payload] | None, live: Live) -> str:
    """The first rule that the citations of an answer or a segment break, or ok."""
    chunks = joined(citations, retrieved)
    if isinstance(chunks, str):
        return chunks
    for chunk in chunks:
        fault = type_fault(chunk)
        if fault:
            return fault
    return broken_rule(map(row_of, chunks), chunks if retrieved is None else retrieved, live)


def read(answer: Any) -> Any:
    return json.loads(answer) if isinstance(answer, str) else answer


def refuses(text: str) -> bool:
    return " ".join(text.split()).casefold() == REFUSAL


def joined(citations: list[Payload], retrieved: list[Payload] | None) -> list[Payload] | str:
    """The payloads of what is cited, or the code of what stands in the way."""
    if retrieved is None:
        return citations
    known = {chunk["snippet_id"]: chunk for chunk in retrieved}
    found = []
    for one in citations:
        chunk = known.get(one.get("snippet_id"))
        if chunk is None:
            return "not_retrieved"
        for name, value in one.items():
            if chunk.get(name) != value and name != "quote":
                return f"mismatch_{name}"
        found.append(chunk)
    return found


def type_fault(chunk: Mapping[str, Any]) -> str | None:
    """The first field that is missing or not of its kind."""
    for name in REQUIRED:
        if name not in chunk:
            return f"missing_{name}"
    for name in NAMES:
        if not isinstance(chunk[name], str) or not chunk[name].strip():
            return f"bad_type_{name}"
    for name in COUNTS:
        value = chunk.get(name, 0)
        if not (type(value) is int and value >= 0) and (value is not None or name == "tokens"):
            return f"bad_type_{name}"
    for name in NUMBERS:
        value = chunk.get(name)
        if value is not None and not (type(value) in (float, int) and math.isfinite(value)):
            return f"bad_type_{name}"
    if not 0 <= (chunk.get("score_norm") or 0) <= 1:
        return "bad_type_score_norm"
    page = chunk.get("page")
    if page is not None and type(page) is not int:
        return "bad_type_page"
    window, offsets = chunk.get("window"), chunk["offsets"]
    if window is not None and not two_counts(window, "pre", "post"):
        return "bad_type_window"
    in_units = two_counts(offsets, "start", "end") and offsets.get("unit", "char") in UNITS
    return None if in_units else "bad_type_offsets"


def two_counts(value: Any, one: str, other: str) -> bool:
    return isinstance(value, dict) and all(
        type(value.get(end)) is int and value[end] >= 0 for end in (one, other)
    )


def row_of(chunk: Mapping[str, Any]) -> Row:
    offsets = chunk["offsets"]
    return (
        chunk["doc_id"],
        chunk["section_id"],
        chunk["snippet_id"],
        offsets["start"],
        offsets["end"],
        offsets.get("unit", "char"),
        chunk["index_hash"],
        chunk["embed_model"],
        chunk["analyzer"],
        chunk["rev"],
        chunk.get("score_raw"),
        chunk.get("score_norm"),
        chunk.get("k_pos"),
        chunk.get("k_final"),
    )


def broken_rule(rows: Iterable[Row], listed: Sequence[Payload], live: Live) -> str:
    """The first rule beyond types that the citations of one answer break, or ok."""
    sections, spans, units = set(), set(), set()
    cited = 0
    reranked = any(chunk.get("k_final") is not None for chunk in listed)
    for doc, section, snippet, start, end, unit, hash, model, analyzer, rev, *places in rows:
        raw, norm, k_pos, k_final = places
        if start >= end:
            return "bad_offsets"
        if raw is None and norm is None:
            return "missing_score"
        if k_pos is None:
            return "missing_k_pos"
        if reranked and k_final is None:
            return "missing_k_final"
        if hash.rpartition(":")[2] != live.hash:
            return "mismatch_index_hash"
        if analyzer != live.analyzer:
            return "analyzer_mismatch"
        if live.revs.get(doc) != rev:
            return "rev_mismatch"
        if model != live.embed_model:
            return "mismatch_embed_model"
        sections.add((doc, section))
        spans.add((snippet, start, end, unit))
        units.add(unit)
        cited += 1
    if not cited:
        return "empty_citations"
    if len(units) > 1:
        return "mixed_units"
    if len(sections) > 1:
        return "cross_section_reuse"
    if len(spans) < cited:
        return "duplicate_citation"
    return "ok" if in_order(listed) else "bad_order"


def in_order(listed: Sequence[Payload]) -> bool:
    """Whether the list is by score, or was before a reranker moved it."""
    if any(chunk.get("score_norm") is None for chunk in listed) or falling(listed):
        return True
    if any(chunk.get("rerank_score") is None or chunk.get("k_pos") is None for chunk in listed):
        return False
    return falling(sorted(listed, key=lambda chunk: chunk["k_pos"]))


def falling(listed: Sequence[Payload]) -> bool:
    return all(order(one) <= order(other) for one, other in pairwise(listed))


def order(chunk: Payload) -> tuple[float, str, str, int]:
    place = chunk["offsets"]["start"]
    return -chunk["score_norm"], chunk["section_id"], chunk["snippet_id"], place


def main() -> None:
    if sys.argv[1:] == ["five"]:
        print_costs("by hand, five codes", five_codes)
    else:
        print_costs("by hand, the same rules", all_rules)


if __name__ == "__main__":
    main()
