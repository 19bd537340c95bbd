"""Recorded runs as a person reads them."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ragauge.contracts import archive
from ragauge.contracts.archive import RunList, shown_run
from ragauge.contracts.history import (
    GitState,
    RecordedMetric,
    Run,
    RunRecord,
    Seal,
    canonical,
)
from ragauge.contracts.score import ScoreReport
from ragauge.dashboard.pages.runs import sparkline
from ragauge.errors import InputRejected
from ragauge.reports.kinds.runs import headlines
from ragauge.reports.rendering import render
from ragauge.store.recorded import stored_report
from tests.reports.payloads import PAYLOADS

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def metric(value: float | None) -> RecordedMetric:
    return RecordedMetric(value=value, n=80, of=80, version=1, better="higher", total="sums")


def run_of(day: int, /, **changed: object) -> Run:
    tags, regressions = changed.pop("tags", ()), changed.pop("regressions", ())
    fields = {
        "name": "nightly",
        "command": "score",
        "recorded_at": f"2026-11-{day:02}T21:45:44.123456Z",
        "passed": day % 2 == 0,
        "ragauge": "0.1.0",
        "git": GitState(commit="1a2b3c4d5e6f" + "0" * 28, branch="main", dirty=day == 3),
        "gold_sha256": "9" * 64,
        "configuration": {},
        "configuration_sha256": "8" * 64,
        "labels": {"model": "small-3", "index": "v2"},
        "metrics": {
            "quality.precision_cited": metric(day / 20),
            "quality.over_refusal": metric(None),
            "quality.citation_hit_rate": metric(0.5),
            "quality.under_refusal": metric(0.25),
            "quality.errors": metric(0.0),
        },
        "gates": (),
        "finding_counts": {},
        "coverage": {"gold": 80},
        "identity": {"command": "score"},
        "units": 80,
        "units_sha256": "7" * 64,
        "files": {"report.json": Seal(sha256="6" * 64, size=12345)},
    }
    record = RunRecord(**(fields | changed))
    id = hashlib.sha256(repr(record).encode()).hexdigest()  # a lone surrogate has no JSON
    return Run(id=id, record=record, tags=tags, regressions=regressions)


def listed(*runs: Run, more: bool = False) -> RunList:
    return RunList(store=".ragauge/history.sqlite", runs=runs, more=more)


def render_list(given: RunList, form: str = "text", **how: Any) -> str:
    return render(given, form, **how)


def render_head(run: Run, form: str = "text", **how: Any) -> str:
    return render(shown_run(run), form, **how)


SWEPT = run_of(
    5,
    name="sweep",
    command="stability",
    git=None,
    labels={},
    metrics={"stability.stable": metric(0.7), "stability.acr": metric(0.91)},
)


@pytest.mark.parametrize("width", [40, 80, 100, 160])
@pytest.mark.parametrize("color", [False, True])
def test_no_line_is_wider_than_the_screen(width, color):
    runs = [run_of(day, tags=("release-1.4", "good")) for day in (4, 3, 2, 1)]
    pages = [
        render_list(listed(SWEPT, *runs, more=True), color=color, width=width),
        render_head(runs[0], color=color, width=width),
    ]
    for line in "".join(pages).splitlines():
        assert cell_len(ESCAPE.sub("", line)) <= width


def test_runs_of_several_commands_share_the_columns_by_turns():
    heads = render_list(listed(run_of(2), SWEPT), width=100).splitlines()[3]
    assert heads.split()[5:] == ["precision_cited", "stable", "over_refusal", "acr"]
    assert "stable" in render_list(listed(run_of(2), SWEPT), width=80).splitlines()[3]


def test_answers_are_led_by_how_well_they_are_grounded():
    scored = ("brief_faithfulness", "chrf", "groundedness", "token_recall")
    run = run_of(2, metrics={f"answers.{name}": metric(0.5) for name in scored})
    assert headlines([run]) == ["answers.groundedness", "answers.token_recall"]


def test_a_metric_that_a_run_does_not_have_is_blank_and_an_absent_one_is_a_dash():
    lines = render_list(listed(run_of(2), SWEPT), width=100).splitlines()
    assert lines[4].split()[4:] == ["PASS", "0.100", "–"]
    assert lines[6].split()[4:] == ["FAIL", "0.700", "0.910"]


def test_more_runs_than_listed_are_told():
    text = render_list(listed(run_of(2), more=True))
    assert text.startswith("the newest 1 run in")
    assert "older runs: --limit" in text


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_sparkline_keeps_the_order_of_its_values(values):
    drawn = sparkline(values)
    assert len(drawn) == len(values)
    ranked = sorted(zip(values, drawn, strict=True))
    assert [mark for _, mark in ranked] == sorted(drawn)


def test_what_a_run_does_not_have_is_left_out():
    text = render_head(run_of(2, git=None, labels={}, gold_sha256=None, files={}))
    labels = [line.split(":")[0].strip() for line in text.splitlines()[1:]]
    assert labels == ["id", "recorded", "settings", "units"]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_foreign_text_takes_no_effect(payload):
    run = run_of(
        2,
        name=payload,
        labels={payload: payload},
        git=GitState(commit=payload, branch=payload, dirty=False),
        tags=(payload,),
    )
    for form in ("text", "markdown"):
        for text in (render_list(listed(run), form), render_head(run, form)):
            assert not set(text) & set("\x1b\x07\x9b\u202e\u2066\r")
            assert not any(line.startswith("::") for line in text.splitlines())


def test_a_stored_report_comes_back_as_its_kind(plain):
    assert stored_report(canonical(plain), "4f2a") == plain
    assert isinstance(stored_report(canonical(plain), "4f2a"), ScoreReport)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"schema": "ragauge.score/2"}', 'has the schema "ragauge.score/2", and this version'),
        (b'{"schema": "ragauge.score/1"}', "cannot be read"),
        (b"[" * 10_000, "cannot be read"),
        (b'{"schema": "\xff"}', "cannot be read"),
        (b"", "cannot be read"),
    ],
)
def test_a_report_that_cannot_be_read_is_told_in_words(content, words):
    with pytest.raises(InputRejected, match=words):
        stored_report(content, "4f2a")


def test_a_run_that_a_comparison_failed_says_so_and_one_that_failed_anyway_is_that():
    baseline = "0123456789ab" + "0" * 52
    regressed = run_of(2, regressions=(baseline,))
    head = render_head(regressed)
    assert head.startswith("REGRESSED  nightly, score")
    assert "regressed: against 0123456789ab\n" in head
    assert "REGRESSED" in render_list(listed(regressed))
    assert "\x1b[1;31mREGRESSED" in render_list(listed(regressed), color=True)
    assert render_head(run_of(3, regressions=(baseline,))).startswith("FAIL  ")
    assert "regressed" not in render_head(run_of(2))


DONE = {
    "tag": archive.Tagged(tag="release", run="4" * 64),
    "rm": archive.Removed(runs=(run_of(2),)),
    "export": archive.Exported(file="history.zip", size=1234, runs=("4" * 64,)),
    "import": archive.Imported(
        file="history.zip", imported=("4" * 64,) * 30, present=("5" * 64,), tags={"a": "4" * 64}
    ),
    "verify": archive.Verified(
        passed=False, whole=("4" * 64,), faults={"5" * 64: ("torn",)}, leftovers=("x.part",)
    ),
    "gc": archive.Cleaned(removed=("x.part",), bytes=1234),
    "list": listed(run_of(2), SWEPT),
    "show": shown_run(run_of(2)),
}


@pytest.mark.parametrize("command", DONE)
def test_what_every_command_did_can_be_read_as_text_and_as_markdown(command):
    report = DONE[command]
    assert render(report, "text", width=40)
    assert report.to_markdown().splitlines()[0].startswith(f"## Ragauge runs {command}")


def test_a_shown_run_has_its_metrics_in_markdown():
    assert "| `precision_cited` | 0.100 |" in shown_run(run_of(2)).to_markdown()
