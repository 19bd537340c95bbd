"""The page of a metric over runs: its numbers, its chart, its words, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import statistics
import threading
from datetime import datetime
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from ragauge.dashboard.material import Missing
from ragauge.dashboard.page import Links
from ragauge.dashboard.pages import history
from ragauge.dashboard.query import BadAddress, Query
from ragauge.reports import phrasing
from ragauge.reports.kinds.history import MOST_LINES
from ragauge.runners.run_history import run_history
from tests.chromium import photographed
from tests.dashboard.page_parts import Parts, material_at
from tests.dashboard.raw import ask
from tests.dashboard.served import serving
from tests.reports.payloads import PAYLOADS
from tests.runners.recorded import HITS, PRECISION, ones, questions, record

SIZE = 40


def seconds(recorded_at: str) -> float:
    return datetime.fromisoformat(recorded_at).timestamp()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A page that waits until its line is made."""
    monkeypatch.setattr(history, "PATIENCE_S", 60.0)


@pytest.fixture
def material(tmp_path):
    with material_at(tmp_path) as made:
        yield made


def shown(material, *fields, **named):
    pairs = [*fields, *named.items()]
    return history.page(material, Links("/history", pairs), Query(pairs))


def parts(material, *fields, **named):
    return Parts(shown(material, *fields, **named).body)


def nights(material, wrong, **changed):
    """A run an hour with so many wrong answers each."""
    return [
        record(
            material.history,
            {HITS: ones(SIZE, range(count))},
            minute=60 * place,
            labels={"model": "a" if place < len(wrong) / 2 else "b"},
            **changed,
        )
        for place, count in enumerate(wrong)
    ]


WORSE = [2, 3, 2, 1, 2, 3, 2, 12, 13, 12, 11, 13, 12, 12]
"""Wrong answers of each night; from the eighth on there are many."""


def test_the_table_and_the_chart_have_the_numbers_of_the_records(material):
    made = nights(material, WORSE)
    found = parts(material, metric=HITS)
    newest_first = [run.record.metrics[HITS] for run in reversed(made)]
    assert found.column("value") == [phrasing.value(one.value) for one in newest_first]
    assert found.column("95 % interval") == [phrasing.interval(one.ci) for one in newest_first]
    assert found.column("run") == [run.shown for run in reversed(made)]
    assert found.column("labels") == [
        f"model={run.record.labels['model']}" for run in reversed(made)
    ]
    chart = found.chart
    assert chart["x"] == [seconds(run.record.recorded_at) for run in made]
    [series] = chart["series"]
    assert series["values"] == [run.record.metrics[HITS].value for run in made]
    assert series["low"] == [run.record.metrics[HITS].ci[0] for run in made]
    assert series["high"] == [run.record.metrics[HITS].ci[1] for run in made]
    assert chart["links"] == [f"/runs/{run.id}" for run in made]
    assert chart["gaps"] == []
    assert "higher is better" in found.text
    for run in made:
        assert f"/runs/{run.id}" in found.links


def test_a_change_of_level_is_told_in_words_and_marked(material):
    made = nights(material, WORSE)
    report = run_history(material.history, HITS)
    [change] = report.change_points
    assert change.run == made[7].id
    before = statistics.mean(1 - count / SIZE for count in WORSE[:7])
    after = statistics.mean(1 - count / SIZE for count in WORSE[7:])
    found = parts(material, metric=HITS)
    p = "< 0.001" if change.p < 0.001 else f"{change.p:.3f}"
    [row] = found.rows()
    assert row[:2] == [made[7].shown, "2026-11-01 15:00"]
    assert row[2:4] == [phrasing.value(before), phrasing.value(after)]
    assert row[5:7] == [p, "worse"]
    [mark] = found.chart["marks"]
    assert mark["x"] == seconds(made[7].record.recorded_at)
    assert mark["label"] == f"{phrasing.value(before)} → {phrasing.value(after)}"
    assert found.text.count("the level changes here") == 1
    assert f"{report.slope:+.4f} per run" in found.text
    assert f"σ/μ {100 * report.variation:.1f} %" in found.text
    [drawn] = found.labels
    assert "1 change point" in drawn, "the picture says it to who cannot see it"


def test_the_line_is_cut_where_something_else_is_measured(material):
    nights(material, [1, 2, 1])
    other = record(
        material.history,
        {HITS: ones(10, [0])},
        gold=questions(10),
        minute=900,
        labels={"model": "b"},
    )
    found = parts(material, metric=HITS)
    assert found.chart["gaps"] == [3]
    assert found.chart["marks"] == [
        {"x": seconds(other.record.recorded_at), "label": "not comparable before"}
    ]
    assert "from here on the gold set is another" in found.text
    drawn = str(shown(material, metric=HITS).body).partition("<pre>")[2].partition("</pre>")[0]
    assert "┊" in drawn, "the drawn line begins anew"


def test_a_label_divides_the_line(material):
    made = nights(material, WORSE)
    found = parts(material, metric=HITS, by="model")
    values = [run.record.metrics[HITS].value for run in made]
    assert [one["name"] for one in found.chart["series"]] == ["a", "b"]
    assert found.chart["series"][0]["values"] == values[:7] + [None] * 7
    assert found.chart["series"][1]["values"] == [None] * 7 + values[7:]
    assert found.chart["joined"] is True
    assert found.column("model") == ["a", "b"]
    assert found.column("runs") == ["7", "7"]
    assert found.column("mean") == [
        phrasing.value(statistics.mean(values[:7])),
        phrasing.value(statistics.mean(values[7:])),
    ]
    content = shown(material, metric=HITS, by="model").wanted("levels.json")[0]
    told = json.loads(content)
    assert [one["newest"] for one in told] == [values[6], values[13]]
    assert [one["lowest"] for one in told] == [min(values[:7]), min(values[7:])]
    assert set(shown(material, metric=HITS).figures) == {"points", "change-points"}


def test_mean_lowest_and_highest_are_of_the_runs_since_the_line_was_cut(material):
    nights(material, [1, 2, 30, 3])
    small = 10
    made = [
        record(
            material.history,
            {HITS: ones(small, range(night))},
            gold=questions(small),
            minute=900 + night,
            labels={"model": "b"},
        )
        for night in (1, 2, 3)
    ]
    found = parts(material, metric=HITS, by="model")
    values = [run.record.metrics[HITS].value for run in made]
    assert found.column("runs") == ["2", "3 of 5"]
    told = [phrasing.value(one) for one in (statistics.mean(values), min(values), max(values))]
    assert [found.column(name)[1] for name in ("mean", "lowest", "highest")] == told
    few = "too few runs to find a change of level: it takes 10 in a row"
    assert found.column("level") == [few, few]
    assert found.text.count("not run since the line was last cut") == 1
    content = shown(material, metric=HITS, by="model").wanted("levels.json")[0]
    _, b = json.loads(content)
    assert (b["runs"], b["lowest"]) == (3, min(values))


def test_each_value_of_a_label_moves_by_itself(material):
    """One value falls and another stays: together they would have levels that nobody ran."""
    falling = [2] * 7 + [12] * 7
    for place, count in enumerate(falling):
        for minute, (model, wrong) in enumerate((("falls", count), ("stays", 20 + place % 2))):
            record(
                material.history,
                {HITS: ones(SIZE, range(wrong))},
                minute=60 * place + minute,
                labels={"model": model},
            )
    found = parts(material, metric=HITS, by="model")
    assert found.column("level") == ["1 change point", "no change of level"]
    falls, stays = json.loads(shown(material, metric=HITS, by="model").wanted("levels.json")[0])
    assert falls["slope a run"] < -0.01 < stays["slope a run"] < 0.01
    assert [row[2:5] for row in found.rows()] == [["falls", "0.950", "0.700"]]
    [mark] = found.chart["marks"]
    assert mark["label"] == "0.950 → 0.700"
    assert found.column("change", 2)[1] == "0.000", "since the run before of the same model"
    assert "Each value is a line of its own" in found.text
    assert "σ/μ" not in found.labels[0]


def test_a_label_that_no_run_has_is_refused_with_those_there_are(material):
    nights(material, [1, 2])
    with pytest.raises(
        BadAddress, match='by: no run of this line has a label "nope"; they have model'
    ):
        shown(material, metric=HITS, by="nope")


def test_a_stray_run_does_not_hide_the_line_that_is_run_most(material):
    nights(material, [1, 2, 3])
    record(material.history, {PRECISION: ones(SIZE)}, name="stray", minute=999)
    found = parts(material)
    assert "citation_hit_rate over 3 runs of nightly" in found.text
    assert "Chosen among 2 lines for having the most of the last 4 runs" in found.text
    assert "/history?name=stray&command=score" in found.links
    stray = parts(material, name="stray", command="score")
    assert "precision_cited over 1 run of stray" in stray.text
    assert "Chosen among" not in stray.text


def test_of_many_versions_the_last_are_drawn(material):
    for place in range(MOST_LINES + 3):
        record(
            material.history,
            {HITS: ones(SIZE, [place])},
            minute=place,
            labels={"model": f"m{place}"} if place else {},
        )
    found = parts(material, metric=HITS, by="model")
    drawn = [one["name"] for one in found.chart["series"]]
    assert drawn == [f"m{place}" for place in range(3, MOST_LINES + 3)]
    assert found.column("model")[:3] == ["no model", "m1", "m2"]
    assert "3 more are not drawn" in found.text


def test_only_the_runs_that_are_asked_for_are_in_the_line(material):
    nights(material, [1, 2, 3, 4])
    record(material.history, {HITS: ones(SIZE)}, name="other", command="audit", minute=999)
    chosen = parts(material, metric=HITS)
    assert len(chosen.rows()) == 4, "the line run most lately, and not the stray newest"
    assert "Chosen among 2 lines for having the most of the last 5 runs" in chosen.text
    nightly = parts(material, metric=HITS, name="nightly")
    assert len(nightly.rows()) == 4
    assert "Other lines: other (audit) 1" in nightly.text
    assert f"/history?metric={HITS}&name=other&command=audit" in nightly.links
    assert len(parts(material, metric=HITS, name="nightly", last="2").rows()) == 2
    assert len(parts(material, metric=HITS, name="nightly", label="model=b").rows()) == 2
    assert len(parts(material, metric=HITS, command="score", branch="main").rows()) == 4


def test_what_no_run_matches_is_said_with_the_way_on(material):
    nights(material, [1])
    found = parts(material, metric=HITS, branch="nowhere")
    assert "No run matches" in found.text
    assert "--record" in found.text
    assert f"/history?metric={HITS}" in found.links


def test_unknown_metrics_and_bad_addresses_are_refused_in_words(material):
    nights(material, [1])
    with pytest.raises(Missing, match="no run has a metric"):
        shown(material, metric="quality.hit")
    with pytest.raises(BadAddress, match="key=value"):
        shown(material, metric=HITS, label="model")
    with pytest.raises(BadAddress, match="last"):
        shown(material, metric=HITS, last="many")


def test_without_a_metric_the_newest_headline_is_told(material):
    record(material.history, {PRECISION: ones(SIZE), HITS: ones(SIZE)})
    record(material.history, {"retrieval.rr": ones(SIZE)}, command="eval retrieval", minute=1)
    assert shown(material).title == "retrieval.rr over runs"
    assert shown(material, command="score").title == f"{PRECISION} over runs"


def test_without_runs_it_says_how_to_record_one(material):
    found = parts(material)
    assert "No runs yet" in found.text
    assert "--record" in found.text


def test_one_run_makes_a_page_too(material):
    nights(material, [3])
    found = parts(material, metric=HITS)
    assert "over 1 run of nightly" in found.text
    assert "Too few runs to find a change of level" in found.text
    assert found.column("value") == ["0.925"]


def test_a_metric_without_any_value_is_told_with_its_reason(material):
    record(material.history, {HITS: [None] * SIZE, PRECISION: ones(SIZE)}, right=[None] * SIZE)
    found = parts(material, metric=HITS)
    assert "No run has a value" in found.text
    assert found.chart is None
    assert found.column("value") == ["–"]
    assert "nothing to score" in found.text


def test_a_run_without_a_value_breaks_the_line(material):
    nights(material, [1, 2])
    record(material.history, {HITS: [None] * SIZE}, right=[None] * SIZE, minute=61)
    found = parts(material, metric=HITS)
    assert found.chart["series"][0]["values"][-1] is None
    assert found.column("value")[0] == "–"


def test_runs_that_failed_a_comparison_are_regressed(material):
    first, second = nights(material, [1, 9])
    record(material.history, {HITS: ones(SIZE)}, minute=999, passed=False)
    material.history.regressed(second.id, first.id)
    assert parts(material, metric=HITS).column("verdict") == ["FAIL", "REGRESSED", "PASS"]


def test_figures_are_those_of_the_table(material):
    made = nights(material, WORSE)
    page = shown(material, metric=HITS, figures="points.csv")
    rows = list(csv.DictReader(io.StringIO(page.wanted("points.csv")[0].decode())))
    objects = json.loads(page.wanted("points.json")[0])
    for row, one, run in zip(rows, objects, made, strict=True):
        score = run.record.metrics[HITS]
        assert row["run"] == one["run"] == run.id
        assert float(row["value"]) == one["value"] == score.value
        assert (one["low"], one["high"], one["n"]) == (*score.ci, SIZE)
        assert row["labels"] == f"model={run.record.labels['model']}"
        assert one["change_point"] == (run is made[7])


def test_while_the_line_is_made_the_page_asks_again(material, monkeypatch):
    nights(material, [1])
    monkeypatch.setattr(material.jobs, "get", lambda *asked: None)
    page = shown(material, metric=HITS)
    assert page.refresh_s == 1
    assert 'aria-busy="true"' in page.body
    assert page.figures == {}


def test_who_asks_for_figures_too_early_is_told_to_ask_again(tmp_path, monkeypatch):
    """A turn of the server is not spent on waiting."""
    monkeypatch.setattr(history, "PATIENCE_S", 0.01)
    go_on = threading.Event()

    def slow(*asked):
        go_on.wait()
        return run_history(*asked)

    monkeypatch.setattr(history, "run_history", slow)
    with material_at(tmp_path) as material:
        nights(material, [1, 2])
    with serving(str(tmp_path / "store")) as served:
        target = f"/history?metric={quote(HITS)}&figures=points.json"
        early = ask(served.port, target)
        assert (early.status, early.header("retry-after")) == (503, "1")
        monkeypatch.setattr(history, "PATIENCE_S", 60.0)
        go_on.set()
        assert len(json.loads(ask(served.port, target).body)) == 2


def test_a_new_run_is_in_the_line_at_once(material):
    nights(material, [1, 2])
    assert len(parts(material, metric=HITS).rows()) == 2
    record(material.history, {HITS: ones(SIZE)}, minute=999)
    assert len(parts(material, metric=HITS).rows()) == 3
    material.history.remove([material.history.find("latest").id])
    assert len(parts(material, metric=HITS).rows()) == 2


def test_foreign_text_adds_no_tag_and_no_attribute(tmp_path):
    shapes, charts = {}, {}
    for place, given in enumerate(("plain words", *PAYLOADS)):
        text = given.encode(errors="backslashreplace").decode()
        with material_at(tmp_path / str(place)) as material:
            for minute in range(2):
                record(
                    material.history,
                    {HITS: ones(4)},
                    gold=questions(4),
                    name=text,
                    branch=text,
                    labels={"key": text, f"z{text}": "value"},
                    minute=minute,
                )
            record(material.history, {HITS: ones(4)}, name=text, command="x", minute=-1)
            found = parts(material, metric=HITS, by="key")
            shapes[given], charts[given] = found.shape, found.chart
            unmatched = parts(material, metric=HITS, branch=f"no {text}"[:4000])
            shapes[given] += unmatched.shape
    for given, shape in shapes.items():
        assert shape == shapes["plain words"], given
        assert charts[given]["x"] == charts["plain words"]["x"]


def test_every_link_leads_to_a_page_and_unknown_metrics_are_not_here(tmp_path):
    with material_at(tmp_path) as material:
        nights(material, [1, 2, 3])
        record(material.history, {HITS: ones(SIZE)}, name="other", minute=-1)
    with serving(str(tmp_path / "store")) as served:
        with urlopen(served.at(f"/history?metric={quote(HITS)}&name=nightly&by=model")) as answer:
            found = Parts(answer.read().decode())
        for link in sorted({one for one in found.links if one.startswith("/")}):
            with urlopen(served.at(link)) as answer:
                assert answer.status == 200, link
        with pytest.raises(OSError, match="404"):
            urlopen(served.at("/history?metric=none.such"))


def test_the_chart_is_drawn_and_walked_by_keyboard_and_without_scripts_a_picture_stays(
    tmp_path, browser
):
    with material_at(tmp_path) as material:
        made = nights(material, WORSE)
    path = f"/history?metric={quote(HITS)}&by=model"
    with serving(str(tmp_path / "store")) as served:
        # The first who asks may be told to wait; the page asks again by itself.
        with browser.new_context() as context:
            page = context.new_page()
            problems = []
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.goto(served.at(path))
            page.locator(".chart canvas").wait_for()
            page.locator(".chart-stage").focus()
            page.keyboard.press("End")
            page.get_by_text(made[-1].shown).first.wait_for(state="attached")
            with page.expect_navigation():
                page.keyboard.press("Enter")
            assert page.url.endswith(f"/runs/{made[-1].id}")
            page.goto(served.at(path))
            page.locator(".chart canvas").wait_for()
            photographed(page, "history")
            assert not problems
        with browser.new_context(java_script_enabled=False) as context:
            page = context.new_page()
            page.goto(served.at(path))
            picture = page.locator(".chart [role=img] pre")
            assert picture.is_visible()
            assert picture.text_content().count("●") == len(WORSE) + 1  # one in the key
