"""Comparisons and lines over runs made by hand; `text` stands wherever foreign text can."""

from ragauge.contracts.comparison import (
    ChangePoint,
    Compared,
    ComparedRun,
    ComparedSlice,
    ComparisonCoverage,
    ComparisonReport,
    Flip,
    HistoryPoint,
    HistoryReport,
    Side,
)
from ragauge.contracts.report import Finding, Score
from ragauge.gates.rules import gate_verdict

WORSE, BETTER, SAME = "quality.precision_cited", "quality.over_refusal", "quality.errors"
UNSURE, ABSENT = "quality.compliance", "quality.precision_strict"


def compared(verdict, change, ci, p, **facts):
    known = {
        "better": "higher",
        "before": 0.9,
        "after": None if change is None else 0.9 + change,
        "p_adjusted": p,
        "n": 80,
        "n_zero": 60,
        "method": "McNemar, exact" if p is not None else "",
        "seed": None,
        "effect": 0.1,
        "margin": None,
        "sd": 0.3,
        "detectable": 0.095,
        "needed": None,
        "tested": p is not None,
        "reason": None,
    }
    return Compared(verdict=verdict, change=change, ci=ci, p=p, **{**known, **facts})


def metrics(text):
    absent = {"n": 0, "n_zero": 0, "sd": None, "detectable": None, "effect": None}
    same = {
        "n_zero": 80,
        "tested": False,
        "sd": 0.0,
        "detectable": None,
        "effect": None,
        "better": "lower",
    }
    return {
        WORSE: compared("worse", -0.061, (-0.101, -0.021), 0.0004),
        BETTER: compared("better", -0.1, (-0.2, -0.05), 0.03, better="lower"),
        UNSURE: compared("cannot_tell", 0.01, (-0.05, 0.07), 0.9, needed=3_120, margin=0.02),
        SAME: compared("cannot_tell", 0.0, (-0.03, 0.03), 1.0, reason="no pair differs", **same),
        ABSENT: compared("not_comparable", None, None, None, reason=text, before=None, **absent),
    }


def run(text, minute, **labels):
    return ComparedRun(
        id=f"{minute:02}" + "c0ffee" * 10 + "00",
        name=text,
        recorded_at=f"2026-11-15T21:{minute:02}:00.000000Z",
        commit="1a2b3c4d5e" * 4,
        dirty=minute == 45,
        branch=text,
        tags=(text,),
        labels=labels,
        passed=True,
    )


def flip(text, qid, way):
    good = Side(label="OK", claim=f"{text} in 1800", cited=(text, "p1#1"), why=None)
    bad = Side(label="ANS_NO_HIT", claim=f"{text} in 1808", cited=("p9#9",), why=text)
    was, now = (good, bad) if way == "broken" else (bad, good)
    return Flip(qid=qid, question=text, way=way, was=was, now=now)


def slices(text):
    told = [("nl", WORSE, -0.2, 0.001, "worse"), (text, WORSE, -0.1, 0.6, "cannot_tell")]
    few = compared("cannot_tell", None, None, None, n=4, reason="too few: 4 in both runs")
    return (
        *(
            ComparedSlice(
                stratum=text,
                value=value,
                metric=metric,
                compared=compared(verdict, change, (change - 0.1, change + 0.1), p),
            )
            for value, metric, change, p, verdict in told
        ),
        ComparedSlice(stratum=text, value=f"{text} few", metric=WORSE, compared=few),
    )


def comparison(text="plain words", gate="no-regression", **parts):
    """A comparison with something in every section."""
    found = parts.pop("compared", metrics(text))
    gates = tuple(gate_verdict(gate, id, one, named=False) for id, one in found.items() if gate)
    known = {
        "passed": all(one.holds for one in gates),
        "before": run(text, 1, model="small", index=text),
        "after": run(text, 45, model="large", index=text),
        "metrics": {
            id: Score(value=one.change, n=one.n, of=80, ci=one.ci, reason=one.reason)
            for id, one in found.items()
        },
        "gates": gates,
        "compared": found,
        "slices": slices(text),
        "flips": (flip(text, text, "broken"), flip(text, "q2", "mended")),
        "flip_counts": {"broken": 9, "mended": 1},
        "correction": "holm",
        "alpha": 0.05,
        "findings": (Finding("other_gold", text, text),),
        "finding_counts": {"other_gold": 3},
        "coverage": ComparisonCoverage(both=80, only_before=2, only_after=0, changed_meaning=1),
        "identity": {"command": "compare", "note": text},
    }
    return ComparisonReport(**{**known, **parts})


def line(text="plain words", runs=14, shift=7, **parts):
    """A line that falls at the eighth run, and is cut at the second."""
    points = tuple(
        HistoryPoint(
            run=f"{place:02}" + "beef" * 15 + "00",
            recorded_at=f"2026-11-{place + 1:02}T08:00:00.000000Z",
            value=None if place == 3 else 0.9 if place < shift else 0.8,
            ci=None if place == 3 else (0.7, 0.95),
            n=40,
            passed=place % 2 == 0,
            commit=None if place == 5 else "1a2b3c4d5e" * 4,
            dirty=place == 6,
            labels={"model": text},
            gold_sha256="a" * 64,
            version=1,
            reason=text if place == 3 else None,
        )
        for place in range(runs)
    )
    change = [
        ChangePoint(run=points[shift].run, at=shift, before=0.9, after=0.8, p=0.0002)
        for _ in points[shift : shift + 1]
    ]
    cut = points[min(1, runs - 1)].run
    known = {
        "metric": WORSE,
        "better": "higher",
        "metrics": {WORSE: Score(value=points[-1].value, n=40, of=40, ci=(0.7, 0.95))},
        "points": points,
        "change_points": tuple(change),
        "slope": -0.011,
        "slope_error": 0.002,
        "variation": 0.061,
        "findings": (
            Finding(
                "line_cut",
                cut[:12],
                "from here on the gold set is another",
            ),
            Finding("other_runs", text, text),
        ),
        "finding_counts": {"line_cut": 1, "other_runs": 2},
        "coverage": {
            "older": 0,
            "runs": runs,
            "valued": runs - 1,
            "segments": 2,
            "in_last_segment": runs - 1,
            "longest_segment": runs - 1,
        },
        "identity": {"name": text},
    }
    return HistoryReport(**{**known, **parts})
