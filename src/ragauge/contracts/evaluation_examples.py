"""Evaluations of components as they look, for their schemas."""

from __future__ import annotations

from ragauge.contracts.answers import Evidence, SentenceSupport
from ragauge.contracts.evaluation import (
    AnswerDetail,
    AnswerScored,
    AnswerShown,
    EntityDetail,
    EntityError,
    EvalAllReport,
    EvalReport,
    EvidenceText,
    HumanAgreement,
    LevelScore,
    MatchCounts,
    ShownSentence,
    ShownSpan,
    SummaryNumber,
    TaskFailure,
    TokenCounts,
    TypeShare,
)
from ragauge.contracts.judge import Usage
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Verdict

_STRICT = "entities.f1_strict"
_HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
_SCORE = Score(value=0.5714, n=1, of=1, signature=f"{_STRICT}|v1|matching:best|n:1")
_GATE = Verdict(
    rule=f"{_STRICT}>=0.85",
    metric=_STRICT,
    op=">=",
    bound=0.85,
    value=0.5714,
    n=1,
    ci=None,
    verdict="fail",
    reason=None,
)

EVALUATION = EvalReport(
    passed=False,
    task="ner",
    metrics={_STRICT: _SCORE},
    gates=(_GATE,),
    per_type={"TMP": {"support": 1, "tp": 0, "fp": 1, "fn": 1, "f1": 0.0}},
    per_stratum={"language": {"nl": {_STRICT: _SCORE}}},
    detail=EntityDetail(
        matching="best",
        schemas={
            "strict": MatchCounts(
                correct=2,
                incorrect=1,
                partial=0,
                missed=1,
                spurious=0,
                precision=0.6667,
                recall=0.5,
                f1=0.5714,
            )
        },
        tokens=TokenCounts(tp=4, fp=0, fn=1, precision=1.0, recall=0.8, f1=0.8889),
        levels=(LevelScore(level=1, types=4, f1_strict=0.5714, f1_partial=0.8571),),
        layers={},
        distribution={"TMP": TypeShare(gold=1, predicted=1, ratio=1.0)},
        token_types={"TMP": TokenCounts(tp=1, fp=0, fn=0, precision=1.0, recall=1.0, f1=1.0)},
        error_counts={"boundary": 1, "missed": 1},
        errors=(
            EntityError(
                kind="boundary",
                document="heritage-001",
                gold=ShownSpan(start=60, end=64, type="TMP", text="1800"),
                predicted=ShownSpan(start=60, end=62, type="TMP", text="18"),
                before="werd opgericht in ",
                after=" en beheert",
                where="gold.jsonl:1",
            ),
        ),
    ),
    findings=(),
    finding_counts={},
    coverage={"documents": 1},
    identity={"command": "eval ner", "ragauge": "0.1.0", "gold_sha256": _HASH},
)

_GROUNDEDNESS = "answers.groundedness"

EVALUATION_OF_ANSWERS = EvalReport(
    passed=True,
    task="answers",
    metrics={
        _GROUNDEDNESS: Score(
            value=0.118, n=1, of=1, signature=f"{_GROUNDEDNESS}|v2|refusal:exact|n:1"
        ),
        "answers.faithfulness": Score(value=0.0, n=1, of=1),
        "answers.token_recall": Score(value=None, n=0, of=1, reason="no reference"),
    },
    gates=(),
    per_type={},
    per_stratum={},
    detail=AnswerDetail(
        judge="small-judge",
        embedder=None,
        groundedness="groundedness/1",
        kinds={"qa": 1},
        refusals=0,
        errors=0,
        worst=(
            AnswerShown(
                id="a1",
                question="When was the museum founded?",
                answer="It was founded in 1834.",
                kind="qa",
                values={_GROUNDEDNESS: 0.118, "answers.token_recall": None},
                reasons={"answers.token_recall": "no reference"},
                sentences=(
                    ShownSentence(
                        support=SentenceSupport(
                            text="It was founded in 1834.",
                            start=0,
                            end=23,
                            score=0.118,
                            evidence=Evidence("rijksmuseum#history", 11, 30),
                            unsupported_numbers=("1834",),
                            reason="1834 is in no context",
                        ),
                        evidence=EvidenceText(
                            chunk="rijksmuseum#history",
                            before="The museum ",
                            text="was founded in 1800",
                            after=" in The Hague.",
                        ),
                    ),
                ),
            ),
        ),
        answers=(
            AnswerScored(
                id="a1",
                question="When was the museum founded?",
                answer="It was founded in 1834.",
                kind="qa",
                right=False,
                values={_GROUNDEDNESS: 0.118, "answers.token_recall": None},
                reasons={"answers.token_recall": "no reference"},
                unsupported=("1834",),
            ),
        ),
        unsupported={"1834": 1},
        usage=Usage(calls=3, cached=1, prompt_tokens=1_204, completion_tokens=96, cost=0.0004),
        agreement=(
            HumanAgreement(
                metric="answers.faithfulness",
                judge="small-judge",
                n=412,
                sources=96,
                base_rate=0.617,
                auroc=0.842,
                auroc_ci=(0.801, 0.879),
                balanced_accuracy=0.771,
                kappa=0.548,
                ece=0.083,
                threshold=0.61,
                labels=f"labels.jsonl sha256:{_HASH}",
            ),
        ),
    ),
    findings=(),
    finding_counts={},
    coverage={"answers": 1, "scored": 1},
    identity={"command": "eval answers", "ragauge": "0.1.0", "gold_sha256": _HASH},
)

EVALUATION_OF_ALL = EvalAllReport(
    passed=False,
    model="regex",
    summary={
        "ner_f1_strict": SummaryNumber(metric=_STRICT, value=0.5714, n=1, ci=None, reason=None),
        "linking_hits_1": SummaryNumber(
            metric="linking.hits@1",
            value=None,
            n=0,
            ci=None,
            reason="the knowledge base could not be read",
        ),
    },
    metrics={_STRICT: _SCORE},
    gates=(_GATE,),
    tasks={"ner": EVALUATION},
    failures=(TaskFailure(task="linking", error="the knowledge base could not be read"),),
    findings=(),
    finding_counts={},
    coverage={"tasks": 2, "evaluated": 1, "failed": 1},
    identity={"command": "eval all", "ragauge": "0.1.0", "gold_sha256": _HASH},
)
