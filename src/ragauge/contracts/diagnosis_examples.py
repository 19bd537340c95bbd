"""A row of scores and a diagnosis as they look, for their schemas."""

from __future__ import annotations

from ragauge.contracts.answers import Context
from ragauge.contracts.diagnosis import (
    Action,
    AddressCounts,
    Cause,
    DiagnosisReport,
    Evidence,
    Intervention,
    MetricDiagnosis,
    Replay,
    Sample,
    ScoreRow,
    Slice,
    Threshold,
)
from ragauge.contracts.finding import Finding
from ragauge.contracts.score import Score

_RECALL = "context_recall"
_HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
_HISTORY = Context("rijksmuseum#collection", "The museum keeps paintings, prints and ship models.")

SCORE_ROW = ScoreRow(
    id="q07",
    question="When was the museum founded, and by whom?",
    answer="It was founded in 1834.",
    reference="It was founded in 1800, by Alexander Gogel.",
    contexts=(_HISTORY,),
    retrieved_ids=("rijksmuseum#collection",),
    gold_ids=("rijksmuseum#history",),
    answerable=True,
    values={_RECALL: 0.0, "faithfulness": 0.5},
    invalid={"semantic_similarity": "null"},
    strata={"country": "NL", "question_type": "temporal"},
    where="scores.jsonl:7",
)

_SAMPLE = Sample(
    id=SCORE_ROW.id,
    value=0.0,
    question=SCORE_ROW.question,
    answer=SCORE_ROW.answer,
    reference=SCORE_ROW.reference,
    contexts=SCORE_ROW.contexts,
    retrieved_ids=SCORE_ROW.retrieved_ids,
    symptoms=("missed", "invented"),
    where=SCORE_ROW.where,
)

_LOW = MetricDiagnosis(
    metric=_RECALL,
    severity="critical",
    value=0.4125,
    better="higher",
    n=38,
    of=40,
    invalid={"absent": 1, "null": 1},
    threshold=0.5,
    limits=Threshold(better="higher", warning=0.7, critical=0.5),
    beyond_warning=18,
    beyond_critical=15,
    reason=None,
    causes=("cause.pool_narrow",),
    worst=(_SAMPLE,),
)

_UNKNOWN = MetricDiagnosis(
    metric="semantic_similarity",
    severity="not_evaluable",
    value=None,
    better="higher",
    n=0,
    of=40,
    invalid={"null": 40},
    threshold=None,
    limits=Threshold(better="higher", warning=0.7, critical=0.5),
    beyond_warning=0,
    beyond_critical=0,
    reason="none of 40 values is a number",
    causes=(),
    worst=(),
)

_NARROW = Cause(
    id="cause.pool_narrow",
    title="The pool of candidates is too small",
    means="The passage stands in the index, and is cut off before anything looks at it.",
    standing="likely",
    explains=12.4,
    of=18,
    metrics=(_RECALL,),
    evidence=(
        Evidence(
            sign="shallow_pool",
            speaks="for",
            n=14,
            of=18,
            elsewhere=3,
            elsewhere_of=20,
            bits=2.2,
            text="no more than five passages were retrieved in 14 of 18 samples",
        ),
        Evidence(
            sign="found_in_other_wording",
            speaks="against",
            n=2,
            of=9,
            elsewhere=None,
            elsewhere_of=None,
            bits=-0.2,
            text="the passage is found when 2 of 9 questions are worded otherwise",
        ),
    ),
    why=None,
    confirm="Ask the samples below again with 50 candidates, and look for the gold passage.",
    actions=(
        Action(
            do="Retrieve 50 candidates before reranking.",
            knob="recall_top_k",
            costs="latency of the reranker",
            worsens=_RECALL.replace("recall", "precision"),
        ),
    ),
    samples=("q07", "q11"),
)

_REWRITING = Cause(
    id="cause.rewriting_shifts",
    title="Rewriting the query shifts its meaning",
    means="What is searched for is not what was asked.",
    standing="struck_out",
    explains=0.0,
    of=18,
    metrics=(_RECALL,),
    evidence=(),
    why="in none of 18 samples was the query rewritten",
    confirm="Compare the queries with the questions.",
    actions=(),
    samples=(),
)

DIAGNOSIS = DiagnosisReport(
    passed=False,
    language="en",
    metrics={
        _RECALL: Score(value=0.4125, n=38, of=40, ci=(0.341, 0.487)),
        "semantic_similarity": Score(value=None, n=0, of=40, reason=_UNKNOWN.reason),
    },
    gates=(),
    diagnoses=(_LOW, _UNKNOWN),
    causes=(_NARROW, _REWRITING),
    symptoms={"missed": 15, "invented": 3},
    addresses=AddressCounts(
        samples=38,
        source="lexical",
        answer={
            "grounded": 61,
            "self_knowledge": 4,
            "misled_by_relevant": 6,
            "misled_by_noise": 9,
            "invented": 20,
            "unjudged": 2,
        },
        reference={"said": 52, "unused": 11, "retriever_missed": 31, "unjudged": 0},
    ),
    slices=(
        Slice(
            metric=_RECALL,
            conditions={"country": "NL", "question_type": "temporal"},
            n=16,
            beyond=14,
            beyond_all=18,
            value=0.21,
            elsewhere=0.56,
            p=0.0004,
            text="critical only for country=NL and question_type=temporal: 14 of 18",
        ),
    ),
    replay=Replay(
        system={"url": "http://127.0.0.1:8080/ask"},
        of=18,
        chosen=10,
        calls=40,
        resumed=12,
        interventions=(
            Intervention(
                name="gold_in",
                asked=10,
                repaired=8,
                effective=10,
                failed=0,
                impossible=0,
                samples=("q07", "q11"),
                reason=None,
            ),
            Intervention(
                name="temperature_0",
                asked=0,
                repaired=0,
                effective=None,
                failed=0,
                impossible=10,
                samples=(),
                reason="the system takes no temperature",
            ),
        ),
        repaired_by={"q07": ("gold_in",), "q11": ("gold_in",)},
    ),
    unknown=("The rows have no seeds, so that chance in sampling cannot be told.",),
    findings=(Finding("bad_line", "scores.jsonl:41", "not JSON"),),
    finding_counts={"bad_line": 1},
    coverage={"rows": 40, "samples": 40, "went_wrong": 18},
    identity={"command": "diagnose", "ragauge": "0.1.0", "rows_sha256": _HASH},
)
