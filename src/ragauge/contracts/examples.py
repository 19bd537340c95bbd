"""Records as they look: shown in the schemas, and validated against them."""

from __future__ import annotations

from typing import Any

import msgspec

from ragauge.contracts import (
    answer_calibration_examples,
    audit_examples,
    calibration_examples,
    diagnosis_examples,
    drift_examples,
    evaluation_examples,
    gold_examples,
    history_examples,
    suite_examples,
    sweep_examples,
)
from ragauge.contracts.run import Variation
from ragauge.contracts.score import Coverage, QuestionRow, Score, ScoreReport
from ragauge.contracts.stability import (
    Explanation,
    FactorEffect,
    QuestionStability,
    Shown,
    StabilityCoverage,
    StabilityReport,
)
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

_SEEDS = FactorEffect(pairs=1, differ=1, rate=1.0)

_STABLE = Verdict(
    rule="stability.stable>=1",
    metric="stability.stable",
    op=">=",
    bound=1,
    value=0.0,
    n=1,
    ci=(0.0, 0.7935),
    verdict="fail",
    reason=None,
)

_STABILITY = StabilityReport(
    passed=False,
    profile="ours",
    metrics={
        "stability.acr": Score(value=0.5, n=1, of=1, signature="stability.acr|v1|n:1"),
    },
    gates=(_STABLE,),
    verdicts=(_STABLE,),
    totals={
        "questions": 1,
        "answerable": 1,
        "unanswerable": 0,
        "pass": 0,
        "fail": 1,
        "stable_pass": 0,
        "flaky": 1,
        "stable_fail": 0,
        "incomplete": 0,
        "not_evaluated": 0,
    },
    details={
        "q1": QuestionStability(
            verdict="flaky",
            answerable=True,
            planned=2,
            runs=2,
            errors=0,
            missing=0,
            saved=0,
            acr=0.5,
            cghc=1.0,
            success=0.5,
            css=1.0,
            css_all=1.0,
            css_pairwise=1.0,
            ned50=0.0455,
            agreement=0.0,
            rcr=1.0,
            refusal_rate=None,
            scu_cons=None,
            iaa=0.0,
            error_rate=0.0,
            ci={"acr": (0.0945, 0.9055), "cghc": (0.3424, 1.0), "error_rate": (0.0, 0.6576)},
            reasons={"refusal_rate": "answerable", "scu_cons": "no constraints"},
            failed=("acr 0.5 < 0.95",),
            factors={"seed": _SEEDS},
            explained_by=Explanation(
                factor="seed",
                about="outcome",
                rate=1.0,
                words="seed: 1 of 1 pairs differ; 0 is right in 1 of 1 runs, 1 in 0 of 1",
            ),
            prompts=1,
            noop=(),
            question="When was the museum founded?",
            examples=(
                Shown(
                    run_id="q1#seed=0;t=0;j=none;p=0",
                    variation=Variation(seed=0),
                    cell="+",
                    question_sent="When was the museum founded?",
                    claim="It was founded in 1800.",
                    cited=("rijksmuseum#history",),
                ),
                Shown(
                    run_id="q1#seed=1;t=0;j=none;p=0",
                    variation=Variation(seed=1),
                    cell="c",
                    question_sent="When was the museum founded?",
                    claim="It was founded in 1808.",
                    cited=("rijksmuseum#history",),
                ),
            ),
        )
    },
    columns=(Variation(seed=0), Variation(seed=1)),
    cells={"q1": "+c"},
    factors={"seed": _SEEDS},
    findings=(),
    finding_counts={},
    coverage=StabilityCoverage(
        gold=1,
        questions=1,
        planned=2,
        runs=2,
        errors=0,
        missing=0,
        saved=0,
        unknown=0,
        surplus=0,
        rejected=0,
    ),
    advice=(),
    identity={"command": "stability", "metrics": {"stability.acr": 1}},
)

EXAMPLES: dict[str, list[Any]] = {
    "answer-calibration-report": [
        msgspec.to_builtins(answer_calibration_examples.ANSWER_CALIBRATION)
    ],
    "audit-report": [msgspec.to_builtins(audit_examples.AUDIT)],
    "auditable-answer": [msgspec.to_builtins(audit_examples.ANSWER)],
    "trace-eval-report": [msgspec.to_builtins(audit_examples.TRACE_EVAL)],
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
    "calibration-report": [msgspec.to_builtins(calibration_examples.CALIBRATION)],
    "gold-agreement-report": [msgspec.to_builtins(gold_examples.AGREEMENT)],
    "gold-convert-report": [msgspec.to_builtins(gold_examples.CONVERT)],
    "gold-diff-report": [msgspec.to_builtins(gold_examples.DIFF)],
    "gold-lint-report": [msgspec.to_builtins(gold_examples.LINT)],
    "gold-plan-report": [msgspec.to_builtins(gold_examples.PLAN)],
    "gold-sample-report": [msgspec.to_builtins(gold_examples.SAMPLE)],
    "gold-split-report": [msgspec.to_builtins(gold_examples.SPLIT)],
    "comparison-report": [msgspec.to_builtins(history_examples.COMPARISON)],
    "consistency-report": [msgspec.to_builtins(sweep_examples.CONSISTENCY)],
    "diagnosis-report": [msgspec.to_builtins(diagnosis_examples.DIAGNOSIS)],
    "drift-report": [msgspec.to_builtins(drift_examples.DRIFT)],
    "eval-all-report": [msgspec.to_builtins(evaluation_examples.EVALUATION_OF_ALL)],
    "eval-report": [
        msgspec.to_builtins(evaluation_examples.EVALUATION),
        msgspec.to_builtins(evaluation_examples.EVALUATION_OF_ANSWERS),
    ],
    "history-report": [msgspec.to_builtins(history_examples.HISTORY)],
    "latency-report": [msgspec.to_builtins(sweep_examples.LATENCY)],
    "manifest": [msgspec.to_builtins(drift_examples.MANIFEST)],
    "run": [msgspec.to_builtins(history_examples.RUN)],
    "runs-export-report": [msgspec.to_builtins(history_examples.EXPORTED)],
    "runs-gc-report": [msgspec.to_builtins(history_examples.CLEANED)],
    "runs-import-report": [msgspec.to_builtins(history_examples.IMPORTED)],
    "runs-list-report": [msgspec.to_builtins(history_examples.LISTED)],
    "runs-rm-report": [msgspec.to_builtins(history_examples.REMOVED)],
    "runs-show-report": [msgspec.to_builtins(history_examples.SHOWN)],
    "runs-tag-report": [msgspec.to_builtins(history_examples.TAGGED)],
    "runs-verify-report": [msgspec.to_builtins(history_examples.VERIFIED)],
    "score-report": [msgspec.to_builtins(_REPORT)],
    "score-row": [msgspec.to_builtins(diagnosis_examples.SCORE_ROW)],
    "stability-report": [msgspec.to_builtins(_STABILITY)],
    "suite-report": [msgspec.to_builtins(suite_examples.SUITE)],
    "sweep-plan": [msgspec.to_builtins(sweep_examples.SWEEP_PLAN)],
    "sweep-report": [msgspec.to_builtins(sweep_examples.SWEEP)],
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
