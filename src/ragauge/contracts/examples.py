"""Records as they look: shown in the schemas, and validated against them."""

from __future__ import annotations

from typing import Any

import msgspec

from ragauge.contracts.score import Coverage, QuestionRow, Score, ScoreReport
from ragauge.contracts.verdict import Verdict

_SIGNATURE = "quality.precision_cited|v1|canon:unicode|refusal:exact|each:question|n:1"

_REPORT = ScoreReport(
    passed=True,
    metrics={
        "quality.precision_cited": Score(
            value=1.0, n=1, of=1, ci=(0.2065, 1.0), signature=_SIGNATURE
        )
    },
    gates=(
        Verdict(
            rule="quality.precision_cited>=0.8",
            metric="quality.precision_cited",
            op=">=",
            bound=0.8,
            value=1.0,
            n=1,
            ci=(0.2065, 1.0),
            verdict="pass",
            reason=None,
        ),
    ),
    labels={"OK": 1},
    triage={"ok": 1},
    strata={},
    questions=(
        QuestionRow(
            qid="q1",
            label="OK",
            triage="ok",
            answerable=True,
            status="ok",
            refusal="none",
            answered=True,
            hit=True,
            contained=True,
            in_scope=True,
            cited_count=1,
            cited_in_scope=1,
            gold_found=True,
            gold_depth=1,
            citable=True,
            traces=1,
            where="traces.jsonl:1",
        ),
    ),
    findings=(),
    finding_counts={},
    coverage=Coverage(
        gold=1,
        traced=1,
        scored=1,
        missing=0,
        unknown=0,
        duplicate=0,
        errors=0,
        traces=1,
        rejected=0,
    ),
    advice=(),
    identity={"command": "score", "metrics": {"quality.precision_cited": 1}},
)

EXAMPLES: dict[str, list[Any]] = {
    "citation": [
        {
            "doc_id": "rijksmuseum",
            "section_id": "history",
            "snippet_id": "rijksmuseum#history",
            "source_url": "https://example.org/rijksmuseum#history",
            "offsets": {"start": 120, "end": 388, "unit": "char"},
            "tokens": 52,
            "index_hash": "2f7d9a",
            "embed_model": "ngram-256",
            "analyzer": "unicode-lower",
            "rev": "3b91f2a",
            "score_norm": 0.78,
            "k_pos": 4,
            "k_final": 1,
        }
    ],
    "gold": [
        {
            "qid": "q1",
            "question": "When was the museum founded?",
            "answerable": True,
            "gold_claim_substr": ["1800"],
            "gold_citations": ["rijksmuseum#history"],
            "strata": {"language": "en"},
        },
        {"qid": "q2", "question": "Who cleans the windows?", "answerable": False},
    ],
    "score-report": [msgspec.to_builtins(_REPORT)],
    "trace": [
        {
            "qid": "q1",
            "q": "When was the museum founded?",
            "retrieved_ids": ["rijksmuseum#history"],
            "answer_json": {
                "claim": "It was founded in 1800.",
                "citations": ["rijksmuseum#history"],
            },
            "latency_ms": 812,
        },
        {"q": "Who cleans the windows?", "answer": "not in context", "ok": True},
    ],
}
