"""Recorded runs and what is said of them, a comparison and a line of runs, for the schemas."""

from __future__ import annotations

from ragauge.contracts.archive import (
    Cleaned,
    Exported,
    Imported,
    Removed,
    RunList,
    Tagged,
    shown_run,
    verified,
)
from ragauge.contracts.comparison import (
    ChangePoint,
    Compared,
    ComparedRun,
    ComparisonCoverage,
    ComparisonReport,
    Flip,
    HistoryPoint,
    HistoryReport,
    Side,
)
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import Checked, GitState, RecordedMetric, Run, RunRecord, Seal
from ragauge.contracts.score import Score

_ID, _OTHER = "quality.precision_cited", "3f9a2c71d08b"
_HASH = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
_TIME, _COMMIT = "2026-11-15T21:45:44.123456Z", "5d2c9e0f6a3b1c4d7e8f90a1b2c3d4e5f6071829"

RUN = RunRecord(
    name="nightly",
    command="score",
    recorded_at=_TIME,
    passed=True,
    ragauge="0.1.0",
    git=GitState(commit=_COMMIT, branch="main", dirty=False),
    gold_sha256=_HASH,
    configuration={"command": "score", "options": {"refusal": "exact"}},
    configuration_sha256=_HASH,
    labels={"model": "small-3", "index": "2026-11"},
    metrics={
        _ID: RecordedMetric(
            value=1.0, n=1, of=1, ci=(0.2065, 1.0), version=1, better="higher", total="sums"
        )
    },
    gates=(),
    finding_counts={},
    coverage={"gold": 1, "scored": 1},
    identity={"command": "score"},
    units=1,
    units_sha256=_HASH,
    files={"report.json": Seal(sha256=_HASH, size=2_048)},
)

_KEPT = Run(id=RUN.id, record=RUN, tags=("released",))
_TAKEN = "tag 'released': names run 3f9a2c71d08b; `--move` lets it name another"

LISTED = RunList(store=".ragauge/history.sqlite", runs=(_KEPT,), more=False)
SHOWN = shown_run(_KEPT)
TAGGED = Tagged(tag="released", run=RUN.id)
REMOVED = Removed(runs=(_KEPT,))
EXPORTED = Exported(file="history.zip", size=4_096, runs=(RUN.id,))
IMPORTED = Imported(
    file="history.zip",
    imported=(RUN.id,),
    present=(),
    tags={},
    findings=(Finding("tag_not_set", RUN.id, _TAKEN),),
    finding_counts={"tag_not_set": 1},
    coverage={"runs": 1, "imported": 1},
)
VERIFIED = verified(
    Checked(whole=(), faults={RUN.id: ("report.json: the file is not there",)}, leftovers=())
)
CLEANED = Cleaned(removed=("gold set 9c56cc51b374",), bytes=0)

_RUN = ComparedRun(
    id=_OTHER,
    name="nightly",
    recorded_at=_TIME,
    commit=_COMMIT,
    dirty=False,
    branch="main",
    tags=("released",),
    labels={"model": "small-3"},
    passed=True,
)

COMPARISON = ComparisonReport(
    passed=True,
    before=_RUN,
    after=_RUN,
    metrics={_ID: Score(value=0.02, n=80, of=80, ci=(-0.03, 0.07))},
    gates=(),
    compared={
        _ID: Compared(
            verdict="cannot_tell",
            better="higher",
            before=0.8,
            after=0.82,
            change=0.02,
            ci=(-0.03, 0.07),
            p=0.69,
            p_adjusted=0.69,
            n=80,
            n_zero=74,
            method="McNemar, exact",
            seed=None,
            effect=0.17,
            sd=0.27,
            margin=None,
            detectable=0.09,
            needed=1_540,
            tested=True,
        )
    },
    slices=(),
    flips=(
        Flip(
            qid="q1",
            question="When was the museum founded?",
            way="mended",
            was=Side(label="OVER_REFUSAL", claim=None, cited=(), why=None),
            now=Side(
                label="OK",
                claim="It was founded in 1800.",
                cited=("rijksmuseum#history",),
                why=None,
            ),
        ),
    ),
    flip_counts={"broken": 0, "mended": 1},
    correction="holm",
    alpha=0.05,
    findings=(),
    finding_counts={},
    coverage=ComparisonCoverage(both=80, only_before=0, only_after=0, changed_meaning=0),
    identity={"command": "compare"},
)

HISTORY = HistoryReport(
    metric=_ID,
    better="higher",
    metrics={_ID: Score(value=0.82, n=80, of=80, ci=(0.72, 0.89))},
    points=(
        HistoryPoint(
            run=_OTHER,
            recorded_at=_TIME,
            value=0.82,
            ci=(0.72, 0.89),
            n=80,
            passed=True,
            commit=_COMMIT,
            dirty=False,
            labels={},
            gold_sha256=_HASH,
            version=1,
            reason=None,
        ),
    ),
    change_points=(ChangePoint(run=_OTHER, at=0, before=0.7, after=0.82, p=0.004),),
    slope=0.01,
    slope_error=0.002,
    variation=0.05,
    findings=(),
    finding_counts={},
    coverage={"runs": 1},
    identity={"command": "history"},
)
