"""Audits traces with the standard library and rules written by hand, as a user would without us.

python -m benchmarks.audit_loop TRACES.jsonl MANIFEST.json [DOCUMENTS]

Prints how many answers fail. It stops at the first rule that an answer breaks, says no more than
its code, trusts the file to be clean JSON and holds no metrics: the least that tells which answers
to look at. With documents, the text at the offsets must be the snippet's.
"""

import json
import sys
from pathlib import Path
from typing import Any

from benchmarks.peers.plain_citations import refuses, verdict
from benchmarks.peers.sample_citations import Live, Payload


def failing(traces: Path, live: Live, documents: Path | None) -> int:
    texts: dict[str, str] = {}
    if documents:
        texts = {file.stem: file.read_text("utf-8") for file in documents.iterdir()}
    with traces.open("rb") as lines:
        return sum(code_of(json.loads(line), live, texts) != "ok" for line in lines)


def code_of(trace: Payload, live: Live, texts: dict[str, str]) -> str:
    reply = trace.get("answer_json") or trace["answer"]
    if isinstance(reply, str):
        if refuses(reply):
            return "ok"
        reply = json.loads(reply)
    retrieved = trace["retrieved"]
    for part in reply.get("segments") or [reply]:
        code = verdict(part["citations"], retrieved, live)
        if code == "ok" and texts:
            code = text_verdict(part["citations"], retrieved, texts)
        if code != "ok":
            return code
    return "ok"


def text_verdict(citations: list[Payload], retrieved: list[Payload], texts: dict[str, str]) -> str:
    known = {chunk["snippet_id"]: chunk for chunk in retrieved}
    for one in citations:
        chunk = known[one["snippet_id"]]
        place = chunk["offsets"]
        stands = texts[chunk["doc_id"]][place["start"] : place["end"]]
        if stands != chunk["text"] or one.get("quote", "") not in stands:
            return "span_text_mismatch"
    return "ok"


def read_live(manifest: Path) -> Live:
    made: dict[str, Any] = json.loads(manifest.read_text("utf-8"))
    hash = made["hash"].rpartition(":")[2]
    return Live(hash, made["embedding"], made["text_preproc"], made["doc_revs"])


def main() -> None:
    traces, manifest, *documents = map(Path, sys.argv[1:])
    print(failing(traces, read_live(manifest), documents[0] if documents else None))


if __name__ == "__main__":
    main()
