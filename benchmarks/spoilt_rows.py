"""Score rows of the spoilt pipeline, as a table of a judge that never errs would hold them.

No ids, no payloads, one wording and one run a question: what most people have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.spoilt import Corpus
from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.contracts.gold import Gold
from ragauge.diagnosis.cases import ObservedTrace
from ragauge.runners.diagnosis.diagnose import diagnose
from ragauge.text.sentences import sentences

CAUSES = {
    "narrow_recall": "cause.retrieval_misses",
    "no_rerank": "cause.retrieval_misses",
    "noise_injected": "cause.noise_gets_in",
    "ungrounded_generation": "cause.ungrounded",
    "over_refusal": "cause.refuses_with_evidence",
}
"""What scores can tell of a fault: that retrieval misses, but not why."""


def diagnosed(corpus: Corpus, faults: Sequence[str], draw: int) -> DiagnosisReport:
    runs = corpus.observed(faults, draw)
    asked = [run for siblings in runs for run in siblings if run.variation.seed == 10 * draw]
    warm = [run for run in asked if run.variation.temperature > 0 and run.gold.answerable]
    return diagnose([_row(run) for run in warm])


def _row(run: ObservedTrace) -> dict[str, Any]:
    gold, facts = run.gold, run.facts
    answered = bool(facts.answered)
    right = answered and bool(facts.contained)
    texts = [context.text for context in run.contexts or ()]
    return {
        "sample_id": run.id,
        "question": run.sent,
        "answer": facts.claim,
        "ground_truth": gold.gold_claim,
        "contexts": texts,
        "faithfulness": _faithfulness(facts.claim, texts) if answered else None,
        "answer_relevancy": 0.9 if right else 0.5 if answered else 0.0,
        "context_recall": _share(gold, run.retrieved or ()),
        "context_precision": _average_precision(gold, run.retrieved or ()),
        "factual_correctness": float(right),
        "noise_sensitivity": float(answered and not right and _is_from_noise(run)),
    }


def _faithfulness(claim: str, texts: Sequence[str]) -> float:
    said = [claim[span.start : span.end].rstrip(".") for span in sentences(claim)]
    held = [any(one.split(": ", 1)[-1] in text for text in texts) for one in said]
    return sum(held) / len(held)


def _share(gold: Gold, retrieved: Sequence[str]) -> float:
    return len(set(gold.gold_citations) & set(retrieved)) / len(set(gold.gold_citations))


def _average_precision(gold: Gold, retrieved: Sequence[str]) -> float:
    ranks = [rank for rank, id in enumerate(retrieved, 1) if id in gold.gold_citations]
    return sum(n / rank for n, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0


def _is_from_noise(run: ObservedTrace) -> bool:
    needed = run.gold.gold_citations
    others = [context.text for context in run.contexts or () if context.id not in needed]
    return any(run.facts.claim.rstrip(".") in text for text in others)
