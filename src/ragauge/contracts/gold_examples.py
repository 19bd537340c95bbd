"""Reports about gold sets as they look."""

from __future__ import annotations

from ragauge.contracts.annotation import (
    AgreementCoverage,
    AgreementReport,
    Annotator,
    ItemDisagreement,
    LabelShare,
    PairAgreement,
)
from ragauge.contracts.gold_parts import (
    ConvertReport,
    Demand,
    DrawnCell,
    Part,
    PartCell,
    PlanReport,
    SampleReport,
    SplitReport,
)
from ragauge.contracts.gold_report import DiffReport, GoldFinding, LintReport, Revision, Summary
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Verdict

_SET = "2f7d9a0c4be18d1c5a1b3a7f7a2e6f0d9c8b7a695847362514f3e2d1c0b9a887"
_PART = "9b1e4c7d2a5f8063b7c1d9e8f4a2605c3d7e1b9f8a6c4d2e0f1a3b5c7d9e8f60"

LINT = LintReport(
    passed=True,
    findings=(
        GoldFinding(
            "partial_stratum",
            "strata.country",
            "is missing on 1 of 2 questions (q2 first), which leaves them out of its slices; "
            "give it to all",
            "warning",
        ),
    ),
    finding_counts={"partial_stratum": 1},
    coverage={"gold": 2, "answerable": 1, "unanswerable": 1},
    errors=0,
    warnings=1,
    summary=Summary(
        answerable=1,
        unanswerable=1,
        with_citations=1,
        with_paraphrases=0,
        with_constraints=0,
        strata={"country": {"NL": 1}},
    ),
)

DIFF = DiffReport(
    passed=False,
    findings=(
        GoldFinding(
            "question_removed",
            "q2",
            "was removed, and the set is frozen; put it back, or pass --allow-removed",
            "error",
        ),
    ),
    finding_counts={"question_removed": 1},
    coverage={"old": 2, "gold": 2, "same": 0},
    errors=1,
    warnings=0,
    added=("q3",),
    removed=("q2",),
    changed=(),
    edited=(Revision("q1", ("strata",)),),
)

SPLIT = SplitReport(
    passed=True,
    findings=(),
    finding_counts={},
    coverage={"gold": 4, "cells": 1},
    errors=0,
    warnings=0,
    gold=_SET,
    seed=0,
    factors=("answerable",),
    parts=(
        Part(name="train", file="parts/train.jsonl", questions=3, share=0.75, sha256=_PART),
        Part(name="test", file="parts/test.jsonl", questions=1, share=0.25, sha256=_SET),
    ),
    balance={"answerable": {"true": {"train": 3, "test": 1}}},
    largest_deviation=0.0,
    cells=(PartCell(values={"answerable": "true"}, questions=4, parts={"train": 3, "test": 1}),),
)

SAMPLE = SampleReport(
    passed=True,
    findings=(),
    finding_counts={},
    coverage={"gold": 4, "sampled": 2, "cells": 1, "represented": 4},
    errors=0,
    warnings=0,
    gold=_SET,
    sample=_PART,
    file="sample.jsonl",
    seed=0,
    allocation="proportional",
    factors=("answerable",),
    balance={"answerable": {"true": (4, 2)}},
    weight_sum=4.0,
    cells=(DrawnCell(values={"answerable": "true"}, questions=4, taken=2, weight=2.0),),
)

CONVERT = ConvertReport(
    passed=True,
    findings=(
        GoldFinding(
            "made_qid",
            "gold.csv",
            "has no qid; numbered in the file's order, which must not change from now on",
            "warning",
        ),
    ),
    finding_counts={"made_qid": 4},
    coverage={"gold": 4, "answerable": 4},
    errors=0,
    warnings=4,
    read="CSV",
    file="gold.jsonl",
    gold=_SET,
    extra={"editor": 4},
)

PLAN = PlanReport(
    passed=False,
    findings=(GoldFinding("short_of_plan", "qa: questions", "260, wanted 300; 40 short", "error"),),
    finding_counts={"short_of_plan": 1},
    coverage={"gold": 260, "demands": 1, "met": 0, "files": 1},
    errors=1,
    warnings=0,
    plan="heritage",
    demands=(Demand(part="qa", what="questions", wanted="300", found="260", ok=False, short=40),),
    metadata=None,
)

_KAPPA = Score(
    value=0.5,
    n=4,
    of=4,
    ci=(-0.235, 1.0),
    signature="agreement.kappa|v1|unweighted|ci:fleiss-cohen-everitt|n:4",
)

AGREEMENT = AgreementReport(
    passed=False,
    metrics={"agreement.kappa": _KAPPA},
    gates=(
        Verdict(
            rule="agreement.kappa>0.85",
            metric="agreement.kappa",
            op=">",
            bound=0.85,
            value=0.5,
            n=4,
            ci=(-0.235, 1.0),
            verdict="fail",
            reason=None,
        ),
    ),
    kind="labels",
    field="label",
    level="nominal",
    weights="none",
    annotators={
        "A": Annotator(file="anna.jsonl", annotated=4, given={"archive": 2, "museum": 2}),
        "B": Annotator(file="ben.csv", annotated=4, given={"archive": 1, "museum": 3}),
    },
    pairs=(PairAgreement(a="A", b="B", n=4, percent=0.75, kappa=0.5),),
    labels={
        "archive": LabelShare(given=3, joined=2, agreement=2 / 3),
        "museum": LabelShare(given=5, joined=4, agreement=0.8),
    },
    disagreements=(
        ItemDisagreement(
            id="h002",
            labels={"A": "archive", "B": "museum"},
            where={"A": "anna.jsonl:2", "B": "ben.csv:3"},
        ),
    ),
    disagreement_count=1,
    findings=(),
    finding_counts={},
    coverage=AgreementCoverage(items=4, all=4, some=0, one=0),
    identity={"command": "gold agreement", "field": "label", "level": "nominal"},
)
