"""Reports about citations as they look, for their schemas."""

from __future__ import annotations

from ragauge.contracts.audit import (
    AuditCoverage,
    AuditedAnswer,
    AuditFinding,
    AuditReport,
    CodeCount,
    DepthCount,
)
from ragauge.contracts.citation import AuditableAnswer, ModelCitation, Offsets
from ragauge.contracts.score import Score
from ragauge.contracts.trace_eval import (
    Recipe,
    TracedQuestion,
    TracedRun,
    TraceEvalCoverage,
    TraceEvalReport,
)
from ragauge.contracts.verdict import Verdict

_MATCH = "traceability.citation_match"
_SNIPPET = "hb24-sec-keys-0007"

ANSWER = AuditableAnswer(
    citations=(
        ModelCitation(
            snippet_id=_SNIPPET,
            section_id="policies/security/keys",
            source_url="https://example.org/handbook#security-keys",
            offsets=Offsets(start=2310, end=2688),
            tokens=188,
            quote="Keys are rotated every 90 days.",
        ),
    ),
    answer="Every 90 days.",
)

_CODE = CodeCount(
    code="mismatch_index_hash",
    depth="payload",
    answers=1,
    findings=1,
    means="The citation comes from another index than the live one.",
    tip="Rebuild the index, or fix the start-up order so that readers open the new one.",
)


def _gate(n: int, value: float, ci: tuple[float, float]) -> Verdict:
    return Verdict(
        rule=f"{_MATCH}>=0.95",
        metric=_MATCH,
        op=">=",
        bound=0.95,
        value=value,
        n=n,
        ci=ci,
        verdict="fail",
        reason=None,
    )


def _finding(where: str) -> AuditFinding:
    return AuditFinding(
        "mismatch_index_hash",
        where,
        'citations[0].index_hash: "2f7d9a", expected "8c01e2"',
        qid="q1",
        field="index_hash",
        item=0,
        got="2f7d9a",
        expected="8c01e2",
        tip=_CODE.tip,
    )


AUDIT = AuditReport(
    passed=False,
    depth="payload",
    metrics={_MATCH: Score(value=0.0, n=1, of=1, ci=(0.0, 0.7935))},
    gates=(_gate(1, 0.0, (0.0, 0.7935)),),
    codes=(_CODE,),
    depths={"marker": DepthCount(checked=1, ok=1), "payload": DepthCount(checked=1, ok=0)},
    answers=(
        AuditedAnswer(
            qid="q1",
            where="traces.jsonl:1",
            code="mismatch_index_hash",
            kind="answer",
            cited=(_SNIPPET,),
            findings=1,
            matched=False,
            coverage=0.81,
        ),
        AuditedAnswer(
            qid="q2", where="traces.jsonl:2", code="ok", kind="refusal", cited=(), findings=0
        ),
    ),
    findings=(_finding("traces.jsonl:1"),),
    finding_counts={"mismatch_index_hash": 1},
    coverage=AuditCoverage(
        traces=2,
        audited=2,
        refusals=1,
        errors=0,
        citations=1,
        rejected=0,
        unknown=0,
        gold=2,
        missing=0,
    ),
    advice=(),
    identity={"command": "audit", "depth": "payload", "metrics": {_MATCH: 1}},
)


def _run(seed: int, code: str, matched: bool) -> TracedRun:
    return TracedRun(
        run_id=f"q1#seed={seed};t=0.2;j=none;p=0",
        kind="answer",
        code=code,
        cited=(_SNIPPET,),
        matched=matched,
        coverage=0.81,
    )


TRACE_EVAL = TraceEvalReport(
    passed=False,
    recipe=Recipe(wordings=1),
    metrics={_MATCH: Score(value=0.5, n=2, of=2, ci=(0.0945, 0.9055))},
    gates=(_gate(2, 0.5, (0.0945, 0.9055)),),
    codes=(_CODE,),
    codes_first=True,
    states={"retrieval": {"convergent": 1}, "answer": {"convergent": 1}},
    questions=(
        TracedQuestion(
            qid="q1",
            question="How often are keys rotated?",
            answerable=True,
            retrieval="convergent",
            answer="convergent",
            broken=None,
            matched=1,
            answered=2,
            coverage=0.81,
            codes={"mismatch_index_hash": 1, "ok": 1},
            runs=(_run(0, "ok", True), _run(1, "mismatch_index_hash", False)),
        ),
    ),
    findings=(_finding("trace-eval.jsonl:2"),),
    finding_counts={"mismatch_index_hash": 1},
    coverage=TraceEvalCoverage(questions=1, planned=2, runs=2, failed=0, missing=0, short=0),
    advice=(),
    out="trace-eval.jsonl",
    identity={"command": "trace-eval", "metrics": {_MATCH: 1}},
)
