"""A history whose citations can be followed by hand: small documents, odd traces, hostile texts."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

from ragauge import audit, open_history, record, score
from ragauge.contracts.history import Run
from tests.reports.payloads import PAYLOADS

DOCUMENTS = {
    "plain": "# Title\n\nOpened in 1885.\n\nCuypers designed it.\n",
    "crlf": "# Title\r\n\r\nOpened in 1885.\r\nCuypers designed it.\r\n",
    "astral": "# 🏛 Musée\n\nL’été 𝒳: Cafe\u0301 «Noir» 🏛🏛 ouvrit en 1885.\nFin 🏛.",
    "markup": "# <b>&amp;\n\n<script>window.hit=1</script> \"quoted\" & 'single'\n",
    "blank": "\n\n  indented\n\n\ttabbed\x0bfeed\n",
}
QUESTION = "When did it open?"


def rev_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def payload(
    doc_id: str, start: int, end: int, text: str | None = None, **more: Any
) -> dict[str, Any]:
    """A whole payload of a span; its text is what stands there, unless another is given."""
    whole = DOCUMENTS[doc_id]
    return {
        "doc_id": doc_id,
        "section_id": "s",
        "snippet_id": f"{doc_id}#{start}",
        "source_url": f"https://example.org/{doc_id}",
        "offsets": {"start": start, "end": end, "unit": "char"},
        "tokens": 4,
        "index_hash": "i1",
        "embed_model": "e",
        "analyzer": "a",
        "rev": rev_of(whole),
        "text": whole[start:end] if text is None else text,
        **more,
    }


def trace(qid: str, chunks: list[Any], answer: str = "It opened in 1885.", **more: Any) -> Any:
    ids = [one["snippet_id"] for one in chunks if isinstance(one, dict) and "snippet_id" in one]
    return {
        "qid": qid,
        "q": QUESTION,
        "answer": answer,
        "citations": ids,
        "retrieved": chunks,
        **more,
    }


def gold(qid: str, **more: Any) -> dict[str, Any]:
    return {
        "qid": qid,
        "question": QUESTION,
        "answerable": True,
        "gold_claim_substr": ["1885"],
        "gold_citations": ["plain#9"],
        **more,
    }


def written(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def documents_at(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in DOCUMENTS.items():
        (folder / f"{name}.md").write_bytes(text.encode())
    return folder


class CitedHistory:
    """A store in a folder, and a way to record runs into it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder / "store")
        self.documents = documents_at(folder / "documents")

    def audited(self, traces: list[Any], golds: list[Any], **options: Any) -> Run:
        path, more = self._files(traces, golds)
        outcome = audit(path, gold=str(more), docs=str(self.documents), **options)
        return self._recorded(outcome)

    def scored(self, traces: list[Any], golds: list[Any], *, keep: bool = True) -> Run:
        path, more = self._files(traces, golds)
        return self._recorded(score(more, path, keep_answers=keep), keep=keep)

    def _files(self, traces: list[Any], golds: list[Any]) -> tuple[Path, Path]:
        return (
            written(self.folder / "traces.jsonl", traces),
            written(self.folder / "gold.jsonl", golds),
        )

    def _recorded(self, outcome: Any, *, keep: bool = True) -> Run:
        with closing(open_history(self.place)) as history:
            return record(outcome, history, name="cited", keep=keep)


def hostile() -> tuple[list[Any], list[Any]]:
    """Traces and gold with a payload in every field there is, one payload a question."""
    traces, golds = [], []
    for number, bad in enumerate(one for one in PAYLOADS if "\ud800" not in one):
        qid = f"{number} {bad[:200]}"
        chunk = payload("plain", 9, 24, bad, snippet_id=f"{bad}#1", section_id=bad, source_url=bad)
        odd = {bad: bad, "score_raw": bad, "score_norm": [[bad]], "rerank_score": {"a": bad}}
        chunk |= odd | {"analyzer": bad, "page": bad, "window": bad, "my_score": bad}
        more = {"id": f"{bad}#2", "text": f"{bad} opened in 1885", "offsets": bad, "rev": bad}
        segment = {
            "text": bad,
            "citations": [chunk["snippet_id"], {"snippet_id": bad, "quote": bad}],
        }
        cited = [{"snippet_id": chunk["snippet_id"], "quote": bad}, {"id": bad}]
        traces.append(
            {
                "qid": qid,
                "q": bad,
                "question_sent": bad,
                "answer": f"{bad} It opened in 1885 [1]. {bad} [{bad}#2]\nSources: [{bad}]",
                "retrieved": [chunk, more],
                "segments": [segment],
                "cited": cited,
                "run_id": bad,
                "jitter": bad,
                "labels": {bad: bad},
                "stage_ms": {bad: 1.0},
            }
        )
        golds.append(
            gold(
                qid,
                question=f"{number} {bad}",
                gold_claim_substr=[bad, "1885"],
                gold_claim=bad,
                gold_answer=bad,
                gold_citations=[chunk["snippet_id"], bad],
                constraints=[bad],
                paraphrases=[bad],
                strata={bad[:50]: bad},
                anchor={"doc_id": bad, "section_id": bad, "start": 1, "end": 2, "rev": bad},
            )
        )
    return traces, golds
