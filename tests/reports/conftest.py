"""Small reports made by hand: one that fails in every way, one that passes."""

from collections import Counter

import pytest

from ragauge.contracts.report import Advice, Finding, Score, Verdict
from ragauge.contracts.score import (
    Change,
    Comparison,
    Coverage,
    LabelChange,
    QuestionRow,
    ScoreReport,
)

HOSTILE = "a | b ` c `` <script>alert(1)</script>\n@team \x1b[31mred\x1b]0;t\x07 ::add-mask::x =1+1"


def row(qid, label="OK", **facts):
    known = {
        "triage": "ok",
        "answerable": True,
        "status": "ok",
        "refusal": "none",
        "answered": True,
        "hit": True,
        "contained": True,
        "in_scope": True,
        "cited_count": 1,
        "cited_in_scope": 1,
        "gold_found": True,
        "gold_depth": 1,
        "citable": True,
        "traces": 1,
        "where": "runs/traces.jsonl:7",
    }
    return QuestionRow(qid=qid, label=label, **{**known, **facts})


def gate(metric, op, bound, value, verdict, rule=None, **facts):
    known = {"n": 4, "ci": (0.1, 0.9) if value is not None else None, "reason": None}
    return Verdict(
        rule=rule or f"{metric}{op}{bound:g}",
        metric=metric,
        op=op,
        bound=bound,
        value=value,
        verdict=verdict,
        **{**known, **facts},
    )


def sliced(value, n=20):
    return {"quality.over_refusal": Score(value=value, n=n, of=n)}


def report(**parts):
    """A passing report, with parts of it replaced."""
    questions = parts.pop("questions", (row("q1"), row("q2", "REFUSAL_OK", triage="refusal_ok")))
    known = {
        "passed": True,
        "metrics": {"quality.coverage": Score(value=1.0, n=2, of=2, ci=(0.34, 1.0))},
        "gates": (gate("quality.coverage", "=", 1, 1.0, "pass"),),
        "labels": dict(sorted(Counter(one.label for one in questions).items())),
        "triage": {},
        "strata": {},
        "questions": questions,
        "findings": (),
        "finding_counts": {},
        "coverage": Coverage(
            gold=2,
            traced=2,
            scored=2,
            missing=0,
            unknown=0,
            duplicate=0,
            errors=0,
            traces=2,
            rejected=0,
        ),
        "advice": (),
        "identity": {"command": "score"},
    }
    return ScoreReport(**{**known, **parts})


def failing(text=HOSTILE):
    """A report with something in every section; `text` stands wherever foreign text can."""
    rule = f"quality.over_refusal<=0.1@99 where language={text}"
    return report(
        passed=False,
        metrics={
            "quality.coverage": Score(value=0.75, n=4, of=4, ci=(0.3, 0.95)),
            "quality.over_refusal": Score(value=0.25, n=4, of=6, ci=(0.1, 0.9)),
            "quality.precision_strict": Score(value=None, n=0, of=6, reason="no retrieved ids"),
            "quality.in_scope": Score(value=None, n=0, of=6, reason=f"absent: {text}"),
        },
        gates=(
            gate("quality.over_refusal", "<=", 0.1, 0.25, "fail", rule=rule),
            gate("quality.coverage", "=", 1, 0.75, "fail", reason=text),
            gate(
                "quality.precision_strict", ">=", 0.8, None, "not_evaluated", reason="no ids", n=0
            ),
            gate(
                "quality.errors", "=", 0, None, "not_evaluated", reason="none", n=0, optional=True
            ),
            gate("quality.compliance", ">=", 0.98, 1.0, "pass"),
        ),
        strata={"language": {text: sliced(0.1), "nl": sliced(0.5), "fr": sliced(1.0, n=1)}},
        questions=(
            row("q1"),
            row(text, "ANS_NO_HIT", triage="generation_drift", claim=text, cited=(text, "p1#1")),
            row("q3", "OVER_REFUSAL", triage="retrieval_drift", refusal="exact", claim="no"),
            row("q4", "ERROR", triage=None, status="error", reason=text, where=f"{text}:3"),
            row("q5", "MISSING", triage=None, status="missing", where=None, traces=0),
        ),
        findings=(Finding("bad_line", f"{text}:4", text), Finding("bad_line", "a:5", "a:5: short")),
        finding_counts={"bad_line": 7, "surplus_traces": 1},
        advice=(
            Advice(
                id="a", title=text, evidence=text, confirm=text, action=text, questions=(text, "q3")
            ),
        ),
        baseline=Comparison(
            baseline=text,
            metrics={
                "quality.over_refusal": Change(
                    value=0.25, baseline=0.05, change=0.2, ci=(0.1, 0.3), n=4
                ),
                "quality.coverage": Change(value=1, baseline=1, change=0, ci=None, n=4),
                "quality.in_scope": Change(
                    value=None, baseline=1, change=None, ci=None, n=4, reason=text
                ),
            },
            changed=(
                LabelChange(qid="q9", was="ANS_NO_HIT", now="OK"),
                LabelChange(qid=text, was="OK", now="OVER_REFUSAL"),
            ),
            only_here=1,
            only_there=2,
        ),
    )


@pytest.fixture
def hostile_text():
    return HOSTILE


@pytest.fixture
def hostile():
    return failing()


@pytest.fixture
def plain():
    return failing("Dutch words")


@pytest.fixture
def passing():
    return report()


@pytest.fixture
def make():
    """Makers of a report, a question and a gate."""
    return {"report": report, "row": row, "gate": gate}
