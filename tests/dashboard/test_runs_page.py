"""The page of all runs: what it shows of each, how it is searched, sorted and paged."""

from __future__ import annotations

import csv
import io
import json
from urllib.request import urlopen

import pytest

from ragauge.contracts.paging import MetricLine, Point
from ragauge.contracts.report import Verdict
from ragauge.dashboard.page import Links
from ragauge.dashboard.pages import runs
from ragauge.dashboard.pages.runs import LONGEST, OUTSIDE, TREND_RUNS, sparks
from ragauge.dashboard.query import BadAddress, Query
from ragauge.reports import phrasing
from tests.chromium import photographed
from tests.dashboard.page_parts import Parts, material_at
from tests.dashboard.raw import ask
from tests.dashboard.served import serving
from tests.reports.payloads import PAYLOADS
from tests.runners.recorded import HITS, PRECISION, ones, questions, record

SIZE = 20


@pytest.fixture
def material(tmp_path):
    with material_at(tmp_path) as made:
        yield made


def shown(material, *fields, **named):
    pairs = [*fields, *named.items()]
    return runs.page(material, Links("/", pairs), Query(pairs))


def parts(material, *fields, **named):
    return Parts(shown(material, *fields, **named).body)


def gates(*verdicts):
    return tuple(
        Verdict(
            rule="hits>=0.5",
            metric=HITS,
            op=">=",
            bound=0.5,
            value=0.7,
            n=SIZE,
            ci=None,
            verdict=verdict,
            reason=None,
        )
        for verdict in verdicts
    )


def nights(material, count, **changed):
    """A run an hour, of which the n-th has n wrong answers, until all are wrong."""
    return [
        record(
            material.history,
            {HITS: ones(SIZE, range(night)), PRECISION: ones(SIZE, range(2 * night))},
            minute=60 * night,
            labels={"model": "ab"[night % 2]},
            **changed,
        )
        for night in range(count)
    ]


def test_a_row_says_what_the_record_says(material):
    kept = record(
        material.history,
        {HITS: ones(SIZE, range(6)), PRECISION: ones(SIZE)},
        labels={"model": "small-3", "prompt": "v2"},
        gates=gates("pass", "fail", "pass"),
        passed=False,
        dirty=True,
    )
    material.history.tag(kept.id, "release")
    found = parts(material)
    heads = ["name", "verdict", "recorded (UTC)", "labels and tags", "samples"]
    assert found.tables[0][0] == [*heads, "precision_cited", "citation_hit_rate"]
    [cells] = found.rows()
    assert cells == [
        f"Select nightly {kept.shown} nightlyscore",
        "FAIL1 of 3 gates failed",
        "2026-11-01 08:00main@0000000*",
        "tag release model small-3 prompt v2",
        "20",
        "1.000",
        "0.700",
    ]
    assert "1 run of 1 name, the last recorded 2026-11-01 08:00 UTC" in found.text
    low, high = kept.record.metrics[HITS].ci
    title = f'title="{HITS} 0.700 {phrasing.interval((low, high))}, n 20 of 20"'
    assert title in shown(material).body
    assert f"/history?metric={HITS.replace('@', '%40')}&name=nightly&command=score" in found.links
    assert f"/runs/{kept.id}" in found.links
    assert not found.labels, "one run makes no line"


def test_a_run_that_failed_a_comparison_is_regressed(material):
    first, second = nights(material, 2)
    material.history.regressed(second.id, first.id)
    assert [cell.split("no")[0] for cell in parts(material).column("verdict")] == [
        "REGRESSED",
        "PASS",
    ]


def test_runs_are_sorted_filtered_searched_and_paged(material):
    nights(material, 6)
    record(
        material.history,
        {HITS: ones(SIZE)},
        name="other",
        command="audit",
        minute=999,
        passed=False,
    )

    def hits(*fields, **named):
        return parts(material, *fields, **named).column("citation_hit_rate")

    assert hits(name="nightly") == ["0.750", "0.800", "0.850", "0.900", "0.950", "1.000"]
    assert hits(name="nightly", sort="recorded_at") == hits(name="nightly")[::-1]
    assert hits(name="nightly", sort=f"-{HITS}", rows="2") == ["1.000", "0.950"]
    assert hits(name="nightly", sort=f"-{HITS}", rows="2", start="2") == ["0.900", "0.850"]
    assert hits(command="audit") == ["1.000"]
    assert hits(green="no") == ["1.000"]
    assert hits(q="NIGHT model=b") == ["0.750", "0.850", "0.950"]
    assert hits(label="model=a") == ["0.800", "0.900", "1.000"]
    assert "No run matches" in parts(material, ("label", "model=a"), ("label", "k=v")).text
    assert "audit (1)" in parts(material).options
    assert "score (6)" in parts(material).options


def test_the_way_to_other_pages_keeps_what_was_asked(material):
    nights(material, 5)
    found = parts(material, name="nightly", rows="2", start="2", sort=HITS)
    assert f"/?name=nightly&rows=2&sort={HITS}&start=4" in found.links
    assert f"/?name=nightly&rows=2&sort={HITS}" in [
        link.replace("&start=0", "") for link in found.links
    ]
    assert f"/?name=nightly&rows=2&sort=-{HITS}" in found.links, "the head turns the order"
    assert f"/?name=nightly&rows=2&sort={HITS}&label=model%3Da" in found.links
    assert "3–4 of 5" in found.text


def test_addresses_that_cannot_be_are_refused_in_words(material):
    nights(material, 1)
    for field, value in (
        ("sort", "colour"),
        ("green", "blue"),
        ("label", "model"),
        ("start", "-1"),
    ):
        with pytest.raises(BadAddress, match=field):
            shown(material, **{field: value})


def test_too_many_words_are_refused(tmp_path):
    with material_at(tmp_path) as material:
        [kept] = nights(material, 1)
    with serving(str(tmp_path / "store")) as served:
        for path in ("/", f"/gold/{kept.record.gold_sha256}", f"/runs/{kept.id}/questions"):
            for words, status in ((100, 200), (101, 400)):
                target = f"{path}?q={'+'.join(f'w{place}' for place in range(words))}"
                answer = ask(served.port, target)
                assert answer.status == status, path
                assert (b"101 words are given" in answer.body) == (status == 400)


def test_without_runs_it_says_how_to_record_one(material):
    found = parts(material)
    assert "No runs yet" in found.text
    assert "ragauge score gold.jsonl traces.jsonl --record" in found.text
    assert not found.tables


def test_without_a_match_or_beyond_the_last_page_it_says_so(material):
    nights(material, 2)
    assert "No run matches" in parts(material, q="nothing").text
    assert "/" in parts(material, q="nothing").links
    assert "There is no such page" in parts(material, start="50").text


def test_a_sparkline_tells_the_last_runs_up_to_its_own(material):
    made = nights(material, LONGEST + 3)
    body = parts(material)
    told = [label.removesuffix(OUTSIDE) for label in body.labels if label.startswith(HITS)]
    newest_first = [run.record.metrics[HITS].value for run in reversed(made)]
    assert len(told) == len(made) - (TREND_RUNS - 1), "the oldest have no line yet"
    for place, label in enumerate(told):
        led = newest_first[place : place + LONGEST][::-1]
        words = [phrasing.value(one) for one in (led[0], led[-1], min(led), max(led))]
        assert label == (
            f"{HITS} over {len(led)} runs up to this one: first {words[0]}, now {words[1]}, "
            f"lowest {words[2]}, highest {words[3]}"
        )


def test_sparklines_do_not_depend_on_what_else_is_shown(material):
    nights(material, 8)
    every = parts(material).labels
    assert parts(material, rows="3", start="2").labels == every[4:10]
    assert set(parts(material, label="model=a").labels) < set(every)


def test_a_sparkline_begins_where_something_else_is_measured(material):
    nights(material, 5)
    half = SIZE // 2
    changes = ({}, {"gold": questions(half)}, {"gold": questions(half), "versions": {HITS: 2}})
    for place, changed in enumerate(changes):
        for night in range(TREND_RUNS):
            size = half if changed else SIZE
            record(
                material.history,
                {HITS: ones(size, range(night))},
                minute=60 * (10 + TREND_RUNS * place + night),
                **changed,
            )
    told = [label for label in parts(material).labels if label.startswith(HITS)]
    lengths = [int(label.split(" over ")[1].split()[0]) for label in told]
    first = list(range(TREND_RUNS, 5 + TREND_RUNS + 1))
    assert lengths[::-1] == [*first, TREND_RUNS, TREND_RUNS]


def test_points_have_the_gold_set_and_the_version_of_their_run(material):
    made = [*nights(material, 2), record(material.history, {HITS: ones(4)}, versions={HITS: 3})]
    [line] = material.pages.lines([("score", "nightly")], [HITS], 9)
    told = {one.run: (one.gold_sha256, one.version) for one in line.points}
    assert told == {
        run.id: (run.record.gold_sha256, run.record.metrics[HITS].version) for run in made
    }


def line(*values):
    """What the sparkline of the last run says; each value is next to its interval or None."""
    points = [
        Point(
            run=f"r{place}",
            recorded_at="2026",
            value=value,
            low=low,
            high=high,
            gold_sha256=None,
            version=1,
        )
        for place, (value, low, high) in enumerate(values)
    ]
    made = MetricLine(command="score", name="a", metric="m", better="higher", points=tuple(points))
    return sparks([made], {points[-1].run}).get((points[-1].run, "m"))


def test_a_sparkline_leaves_out_runs_without_a_value():
    ends = (None, None)
    assert line((0.1, *ends), (None, *ends), (0.2, *ends), (0.3, *ends))[0] == "▁▅█"
    assert line((0.1, *ends), (None, *ends), (0.2, *ends)) is None


def test_a_value_outside_the_interval_before_it_is_said_without_better_or_worse(material):
    led = [(0.5, 0.3, 0.7), (0.5, 0.4, 0.6)]
    for value, is_outside in ((0.61, True), (0.39, True), (0.6, False), (0.4, False)):
        assert line(*led, (value, value - 0.1, value + 0.1))[1].endswith(OUTSIDE) == is_outside
    assert "outside" not in line(*led, (0.5, None, None), (0.9, None, None))[1]
    for night in range(4):
        wrong = range(SIZE if night == 3 else 0)
        record(material.history, {HITS: ones(SIZE, wrong)}, minute=night)
    assert "outside the interval of the run before" in parts(material).labels[0]
    assert 'class="spark"' in shown(material).body, "in no tone"


def test_runs_without_a_common_metric_show_their_own(material):
    for minute, id in enumerate((HITS, "stability.stable", "retrieval.rr")):
        record(material.history, {id: ones(SIZE, [0])}, minute=minute, command=f"verb {minute}")
    found = parts(material)
    assert found.tables[0][0][-1] == "headlines"
    assert [row[-1] for row in found.rows()] == [
        "Reciprocal rank (rr) 0.950",
        "stable 0.950",
        "citation_hit_rate 0.950",
    ]


def test_a_metric_without_a_value_is_absent_with_its_reason(material):
    record(material.history, {HITS: [None] * SIZE, PRECISION: ones(SIZE)}, right=[None] * SIZE)
    record(material.history, {HITS: ones(SIZE), PRECISION: ones(SIZE)}, minute=1)
    assert parts(material).column("citation_hit_rate") == ["1.000", "–"]
    assert f'title="{HITS}: nothing to score"' in shown(material).body


def test_two_selected_runs_are_compared_the_older_one_first(material):
    first, second = nights(material, 2)
    body = shown(material).body
    assert 'action="/compare"' in body
    assert body.count('type="checkbox" form="compare" name="run"') == 2
    form = str(body).partition('<form class="filters" id="compare"')[2].partition("</form>")[0]
    assert "<table" not in form, "print hides forms"
    chosen = (("run", second.id), ("run", first.id))
    page = runs.compared(material, Links("/compare", chosen), Query(chosen))
    assert page.title == f"Compare nightly {first.shown} and {second.shown}"
    for some in (chosen[:1], (*chosen, ("run", first.id))):
        with pytest.raises(BadAddress, match="select two runs"):
            runs.compared(material, Links("/compare", some), Query(some))


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["fail"], "1 of 1 gate failed"),
        (["pass"], "1 of 1 gate holds"),
        (["pass"] * 8, "8 of 8 gates hold"),
        (["pass"] * 3 + ["fail"] * 5, "5 of 8 gates failed"),
        ([], "no gates"),
    ],
)
def test_gates_are_told_by_what_became_of_them(material, verdicts, words):
    nights(material, 1, gates=gates(*verdicts))
    assert parts(material).column("verdict")[0].endswith(words)


def test_the_table_is_printed_and_runs_are_chosen_on_a_narrow_screen(tmp_path, browser):
    with material_at(tmp_path) as material:
        made = nights(material, 2)
    with serving(str(tmp_path / "store")) as served:
        with browser.new_context(viewport={"width": 390, "height": 844}) as context:
            page = context.new_page()
            page.goto(served.at("/"))
            for run in made:
                page.get_by_label(f"Select nightly {run.shown}").check()
            page.get_by_role("button", name="Compare two selected runs").click()
            assert f"run={made[0].id}" in page.url
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(served.at("/"))
            page.emulate_media(media="print")
            assert page.locator("#runs table").is_visible()
            assert not page.get_by_role("button", name="Compare two selected runs").is_visible()


def test_figures_are_those_of_the_table(material):
    made = nights(material, 3, gates=gates("pass", "fail"))
    page = shown(material, figures="runs.csv")
    content, kind = page.wanted("runs.csv")
    assert kind.startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    objects = json.loads(page.wanted("runs.json")[0])
    assert [row["name"] for row in rows] == [f"nightly {run.id}" for run in reversed(made)]
    assert [one["name"] for one in objects] == [f"nightly {run.id}" for run in reversed(made)]
    table = parts(material)
    for row, one, run, cell in zip(
        rows, objects, reversed(made), table.column("citation_hit_rate"), strict=True
    ):
        assert float(row[HITS]) == one[HITS] == run.record.metrics[HITS].value
        assert phrasing.value(one[HITS]) == cell
        assert row["units"] == str(SIZE)
        assert row["labels and tags"] == f"model={run.record.labels['model']}"
    with pytest.raises(BadAddress):
        page.wanted("units.csv")


def hostile(material, text):
    kept = record(
        material.history,
        {HITS: ones(2), PRECISION: ones(2)},
        gold=questions(2),
        name=text,
        command=text,
        branch=text,
        labels={text: text},
    )
    record(material.history, {HITS: ones(2)}, gold=questions(2), name=text, command=text, minute=1)
    return kept


def test_foreign_text_adds_no_tag_and_no_attribute(tmp_path):
    shapes = {}
    for place, text in enumerate(("plain words", *PAYLOADS)):
        with material_at(tmp_path / str(place)) as material:
            hostile(material, writable(text))
            every = parts(material).shape
            asked = {"q": f"no {text}", "name": text, "label": f"a={text}"}
            shapes[text] = (every, parts(material, **asked).shape)
    for text, shape in shapes.items():
        assert shape == shapes["plain words"], text


def writable(text):
    """The text without what no record can hold."""
    return text.encode(errors="backslashreplace").decode()


def test_every_link_leads_to_a_page(tmp_path):
    with material_at(tmp_path) as material:
        nights(material, 3)
    with serving(str(tmp_path / "store")) as served:
        with urlopen(served.at("/")) as answer:
            found = Parts(answer.read().decode())
        for link in sorted({one for one in found.links if one.startswith("/")}):
            with urlopen(served.at(link)) as answer:
                assert answer.status == 200, link


def test_a_person_filters_sorts_chooses_and_compares(tmp_path, browser):
    with material_at(tmp_path) as material:
        made = nights(material, 5)
        record(material.history, {HITS: ones(SIZE)}, name="other", minute=-1)
    with serving(str(tmp_path / "store")) as served, browser.new_context() as context:
        page = context.new_page()
        problems = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(served.at("/"))
        rows = page.locator("#runs tbody tr")
        assert rows.count() == 6
        page.get_by_label("Search").fill("other")
        rows.nth(1).wait_for(state="detached")
        assert "q=other" in page.url, "the filter is in the address"
        assert rows.count() == 1
        page.goto(served.at("/"))
        page.locator("th a.sort", has_text="citation_hit_rate").click()
        assert rows.first.inner_text().count("0.800") == 1, "the worst first"
        page.get_by_role("link", name="model a").first.click()
        assert rows.count() == 3
        page.goto(served.at("/"))
        for run in (made[2], made[0], made[4]):
            page.get_by_label(f"Select nightly {run.shown}").check()
        page.get_by_role("button", name="Compare two selected runs").click()
        assert f"run={made[0].id}" in page.url and f"run={made[4].id}" in page.url
        photographed(page, "compared-from-runs")
        page.goto(served.at("/"))
        photographed(page, "runs")
        assert not problems


def test_it_works_without_scripts(tmp_path, browser):
    with material_at(tmp_path) as material:
        nights(material, 5)
    with (
        serving(str(tmp_path / "store")) as served,
        browser.new_context(java_script_enabled=False) as context,
    ):
        page = context.new_page()
        page.goto(served.at("/"))
        page.get_by_label("Label").fill("model=b")
        page.get_by_role("button", name="Apply").click()
        assert page.locator("#runs tbody tr").count() == 2
        page.get_by_role("link", name="Clear").click()
        assert page.locator("#runs tbody tr").count() == 5
