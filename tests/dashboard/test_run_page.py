"""The page of a run: every tab of every kind, its numbers beside a plain reading of the record."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from msgspec import structs

import ragauge
from ragauge import open_history
from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.history import REPORT, History, NewRun, Run, RunFilter, UnitRow
from ragauge.contracts.kept import SPENT
from ragauge.contracts.stability import StabilityReport
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page
from ragauge.dashboard.pages import run as run_page
from ragauge.dashboard.pages.run_questions import LONGEST, LONGEST_ID
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import doubt
from ragauge.metrics.worst_first import swept_questions
from ragauge.reports import phrasing
from ragauge.reports.document import Table
from ragauge.reports.kinds import stability as stability_story
from ragauge.reports.rendering import document_of
from ragauge.runners.diagnosis.diagnose import diagnose_run
from ragauge.store.recorded import stored_report
from ragauge.text.visible import cut
from tests.conftest import ANSWERS, GOLD
from tests.dashboard.page_parts import Parts, material_at

TABS = {
    "nightly": ["overview", "quality", "questions", "diagnosis"],
    "steady": ["overview", "heat-map", "questions", "diagnosis"],
    "citations": ["overview", "traceability", "questions", "diagnosis"],
    "traced": ["overview", "traceability", "questions", "diagnosis"],
    "ner": ["overview", "components", "errors", "documents", "diagnosis"],
    "types": ["overview", "components", "items", "diagnosis"],
    "linking": ["overview", "components", "errors", "mentions", "diagnosis"],
    "retrieval": ["overview", "components", "questions", "diagnosis"],
    "qa": ["overview", "components", "support", "questions", "diagnosis"],
    "answers": ["overview", "components", "support", "questions", "diagnosis"],
    "parts": [
        *("overview", "entities", "types", "links", "retrieval", "answers", "samples", "diagnosis"),
    ],
}
EACH = [(name, tab) for name, tabs in TABS.items() for tab in tabs]


@pytest.fixture(scope="module")
def material(every) -> Iterator[Material]:
    with closing(open_history(every.place)) as history:
        made = Material(history, "here")
        yield made
        made.jobs.close()


@pytest.fixture(scope="module")
def runs(material) -> dict[str, Run]:
    """The last run of each name."""
    return {run.record.name: run for run in reversed(material.history.runs(RunFilter()))}


def opened(material: Material, run: Run | str, tab: str = "", query: str = "") -> Page:
    """A tab as its address gives it; one that is still being made is asked for again."""
    id = run if isinstance(run, str) else run.id
    fields = parse_qsl(query, keep_blank_values=True)
    path = {"run": id} | ({"tab": tab} if tab and tab != "overview" else {})
    links = Links(f"/runs/{id}" + (f"/{tab}" if "tab" in path else ""), fields)
    while (page := run_page.page(material, links, Query(fields, path))).refresh_s:
        pass  # a job waits a while before it says that it is not done
    return page


def whole(history: History, run: Run):
    with history.file(run, REPORT) as path:
        return stored_report(path.read_bytes(), run.shown)


def figures(page: Page, name: str) -> list[dict[str, str]]:
    content, _ = page.wanted(f"{name}.csv")
    return list(csv.DictReader(io.StringIO(content.decode())))


def main_table(parts: Parts, head: str = "id") -> list[list[str]]:
    return next(table for table in parts.tables if table and head in table[0])


@pytest.mark.parametrize(("name", "tab"), EACH)
def test_every_tab_of_every_kind_is_there_and_knows_the_others(material, runs, name, tab):
    page = opened(material, runs[name], tab)
    nav = str(page.body).partition('<nav class="tabs"')[2].partition("</nav>")[0]
    told = [urlsplit(way).path.split("/")[3:] or ["overview"] for way in Parts(nav).links]
    assert [one for (one,) in told] == TABS[name]
    assert nav.count('aria-current="page"') == 1
    verdict = {True: "PASS", False: "FAIL", None: "No quality gate"}[runs[name].record.passed]
    assert re.search(rf'<h1><span class="word [a-z]+">{verdict}</span>', str(page.body))
    for figure in page.figures:
        if figure == "report":
            continue
        objects = msgspec.json.decode(page.wanted(f"{figure}.json")[0])
        assert len(objects) == len(figures(page, figure))


@pytest.mark.parametrize("name", TABS)
def test_an_overview_has_the_numbers_of_the_record(material, runs, name):
    record = runs[name].record
    page = opened(material, runs[name])
    told = {row["metric"]: row for row in figures(page, "metrics")}
    assert told.keys() == record.metrics.keys()
    for id, score in record.metrics.items():
        value = told[id]["value"]
        assert (float(value) if value else None) == score.value
        assert int(told[id]["n"]) == score.n
    text = Parts(page.body).text
    for gate in record.gates:  # of several tasks, those that hold stand in their tabs
        assert phrasing.bound(gate) in text or (name == "parts" and gate.holds)
    assert [row["verdict"] for row in figures(page, "gates")] == [
        gate.verdict for gate in record.gates
    ]
    counts = Counter(row.label for row in material.history.units(runs[name].id) if row.label)
    for label, times in counts.items():
        shown = label.replace("_", " ") if name == "steady" else label
        shown = {"right": "correct", "wrong": "incorrect"}.get(shown, shown)
        assert f"{shown} {times} " in text


def test_the_head_leads_to_what_is_near(material, runs):
    last, first = material.history.runs(RunFilter(name="nightly"))
    links = Parts(opened(material, last).body).links
    assert f"/compare?before={first.id}&after={last.id}" in links
    assert f"/gold/{last.record.gold_sha256}" in links
    assert any(link.startswith("/history?metric=quality.precision_cited") for link in links)
    assert "The first run of its command and name" in opened(material, first).body
    links = Parts(opened(material, first).body).links
    assert not any(link.startswith("/compare?") for link in links)


def test_a_run_is_named_as_people_name_runs(material, runs):
    run = material.history.runs(RunFilter())[0]
    for reference in (run.id, run.id[:6], "latest"):
        assert run.id in opened(material, reference).body
    with pytest.raises(Missing):
        opened(material, "nobody")


def test_a_tab_that_is_not_there_is_answered_with_those_that_are(material, runs):
    with pytest.raises(Missing, match="it has overview, quality, questions, diagnosis"):
        opened(material, runs["nightly"], "heat-map")


def test_the_whole_report_is_given_as_it_was_recorded(material, runs):
    for name in ("nightly", "parts"):
        content, kind = opened(material, runs[name]).wanted("report.json")
        with material.history.file(runs[name], REPORT) as path:
            assert (content, kind) == (path.read_bytes(), "application/json")
    with pytest.raises(BadAddress):
        opened(material, runs["nightly"]).wanted("report.csv")


# The units of a run, beside a plain reading of all of them.


def plain_units(history: History, run: Run, **wanted: object) -> list[UnitRow]:
    """What the store pages: filtered and sorted one by one."""
    gold = {one.qid: one for one in history.gold(run.record.gold_sha256)}
    rows = list(history.units(run.id))
    if words := wanted.get("q"):
        rows = [r for r in rows if words in f"{r.unit} {gold[r.unit].question}".casefold()]
    if label := wanted.get("label"):
        rows = [row for row in rows if row.label == label]
    if "right" in wanted:
        rows = [row for row in rows if row.right is wanted["right"]]
    if stratum := wanted.get("stratum"):
        key, value = stratum
        rows = [row for row in rows if gold[row.unit].strata.get(key) == value]
    sort, down = wanted.get("sort", ("right", False))

    def value(row: UnitRow) -> object:
        return getattr(row, sort) if sort in ("right", "unit", "label") else row.values.get(sort)

    known = sorted((row for row in rows if value(row) is not None), key=value, reverse=down)
    if down:  # ties stay in the order they were recorded
        known = sorted(sorted(known, key=rows.index), key=value, reverse=True)
    return [*known, *(row for row in rows if value(row) is None)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", {}),
        ("q=museum", {"q": "museum"}),
        ("label=OVER_REFUSAL", {"label": "OVER_REFUSAL"}),
        ("right=wrong", {"right": False}),
        ("right=right&sort=-unit", {"right": True, "sort": ("unit", True)}),
        ("stratum=language%3Dnl", {"stratum": ("language", "nl")}),
        ("sort=quality.precision_cited", {"sort": ("quality.precision_cited", False)}),
        ("sort=-quality.over_refusal&q=the", {"q": "the", "sort": ("quality.over_refusal", True)}),
        ("q=nothing+is+like+this", {"q": "nothing is like this"}),
    ],
)
def test_units_are_those_of_a_plain_reading(material, runs, query, wanted):
    run = runs["nightly"]
    expected = plain_units(material.history, run, **wanted)
    seen: list[str] = []
    while True:
        page = opened(material, run, "questions", f"{query}&rows=7&start={len(seen)}")
        rows = figures(page, "questions")
        seen += [row["unit"] for row in rows]
        if len(rows) < 7:
            break
        shown = Parts(page.body)
        assert [row[0] for row in main_table(shown)[1:]] == [row["unit"] for row in rows]
        assert f"of {len(expected)}" in shown.text
    assert seen == [row.unit for row in expected]


def test_a_unit_shows_what_was_recorded_of_it(material, runs):
    run = runs["nightly"]
    gold = {one.qid: one for one in material.history.gold(run.record.gold_sha256)}
    page = opened(material, run, "questions", "columns=quality.in_scope&rows=200&sort=place")
    table = main_table(Parts(page.body))
    assert table[0] == ["id", "question", "label", "result", "answer", "cited", "in_scope"]
    for row, shown in zip(material.history.units(run.id), table[1:], strict=True):
        unit, question, label, ended, said, cited, value = shown
        assert (unit, label) == (row.unit, row.label)
        assert question == " ".join(gold[row.unit].question.split())
        told = f"correct no gold phrase: {doubt(row)}" if doubt(row) else "correct"
        assert ended == (told if row.right else "incorrect")
        assert said == cut(" ".join((row.detail["claim"] or "").split()), LONGEST)
        assert cited.split() == [cut(id, LONGEST_ID) for id in row.detail["cited"]]
        assert value == phrasing.value(row.values.get("quality.in_scope"))


def test_what_answers_took_is_shown_where_traces_say_so(tmp_path):
    took = [(900.0, 40, 0.02), (100.0, 60, None), (None, None, None), (500.0, 20, 0.01)]
    lines = [
        {"q": one["q"], "answer": answer, "latency_ms": ms}
        | {"usage": {"total_tokens": tokens, "cost": cost}}
        for one, answer, (ms, tokens, cost) in zip(GOLD, ANSWERS, took, strict=True)
    ]
    gold, traces = tmp_path / "gold.json", tmp_path / "traces.jsonl"
    gold.write_text(json.dumps(GOLD))
    traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = ragauge.score(gold, traces, keep_answers=True)
    with material_at(tmp_path) as material:
        run = ragauge.record(outcome, material.history)
        listed = Parts(opened(material, run, "questions", "sort=-latency_ms").body)
        table = main_table(listed)
        assert table[0][-3:] == ["latency", "tokens", "cost"]
        assert [row[-3:] for row in table[1:]] == [
            ["900 ms", "40", "0.0200"],
            ["500 ms", "20", "0.0100"],
            ["100 ms", "60", ""],
            ["", "", ""],
        ]
        over = main_table(Parts(opened(material, run).body), "p95")
        assert over[1:] == [
            ["latency", "500 ms", "860 ms", "", "3"],
            ["tokens", "40", "58", "120", "3"],
            ["cost", "0.0150", "0.0195", "0.0300", "2"],
        ]


def test_a_unit_leads_to_its_page_and_takes_the_list_along(material, runs):
    run = runs["nightly"]
    query = "right=wrong&label=ANS_NO_HIT&stratum=language%3Dnl&q=de"
    page = opened(material, run, "questions", query)
    ways = [link for link in Parts(page.body).links if "/question?" in link]
    assert ways
    for way in ways:
        fields = dict(parse_qsl(urlsplit(way).query))
        assert fields.pop("unit")
        assert fields == dict(parse_qsl(query)) | {"sort": "right"}


def test_choices_have_their_counts(material, runs):
    run = runs["nightly"]
    options = Parts(opened(material, run, "questions").body).options
    labels = Counter(row.label for row in material.history.units(run.id))
    for label, times in labels.items():
        assert f"{label} ({times})" in options
    ends = Counter(row.right for row in material.history.units(run.id))
    results = {f"incorrect ({ends[False]})", f"correct ({ends[True]})", "unknown (0)"}
    assert results <= set(options)
    language = Counter(
        one.strata["language"] for one in material.history.gold(run.record.gold_sha256)
    )
    assert f"nl ({language['nl']})" in options


@pytest.mark.parametrize(
    "query",
    [
        "sort=quality.nothing",
        "columns=quality.nothing",
        "right=perhaps",
        "stratum=language",
        "start=-1",
        "&".join(["columns=quality.errors"] * 13),
    ],
)
def test_what_cannot_be_asked_for_is_said(material, runs, query):
    with pytest.raises(BadAddress):
        opened(material, runs["nightly"], "questions", query)


def test_a_failing_gate_leads_to_the_questions_that_fail_it(material, runs):
    run = runs["nightly"]
    failed = next(gate for gate in run.record.gates if not gate.holds)
    links = Parts(opened(material, run).body).links
    way = next(
        link
        for link in links
        if "/questions?" in link and dict(parse_qsl(urlsplit(link).query))["sort"] == failed.metric
    )
    rows = figures(opened(material, run, "questions", urlsplit(way).query), "questions")
    values = [row.values.get(failed.metric) for row in material.history.units(run.id)]
    worst = sorted(value for value in values if value is not None)
    assert [float(row[failed.metric]) for row in rows if row[failed.metric]] == worst[:50]


def test_a_gate_on_what_should_be_low_leads_to_the_highest_first(material, runs):
    links = Parts(opened(material, runs["nightly"]).body).links
    assert any("sort=-quality.under_refusal" in link for link in links)


# The heat map.


def test_the_heat_map_has_the_order_and_letters_of_the_report(material, runs):
    run = runs["steady"]
    report = whole(material.history, run)
    assert isinstance(report, StabilityReport)
    page = opened(material, run, "heat-map")
    told = msgspec.json.decode(page.wanted("heatmap.json")[0])
    assert [row["question"] for row in told] == swept_questions(report)
    heads = [str(column) for column in report.columns]
    for row in told:
        cells = report.cells[row["question"]]
        assert "".join(row[head] for head in heads) == cells
        assert int(row["right"]) == cells.count("+")
    reasons = {qid: why.words for qid, one in report.details.items() if (why := one.explained_by)}
    assert reasons and reasons == {
        row["question"]: row["explained by"] for row in figures(page, "what-changes-the-outcome")
    }
    assert [row["factor"] for row in figures(page, "what-varies")] == [
        name for name, _ in stability_story.factor_effects(report.factors)
    ]
    ways = [link for link in Parts(page.body).links if "/question?" in link]
    assert {dict(parse_qsl(urlsplit(way).query))["unit"] for way in ways} == set(report.cells)


def test_the_heat_map_is_paged_and_filtered(material, runs):
    run = runs["steady"]
    ranked = swept_questions(whole(material.history, run))
    seen, most = [], 0.0
    for start in range(0, len(ranked), 5):
        page = opened(material, run, "heat-map", f"rows=5&start={start}")
        rows = figures(page, "heatmap")
        seen += [row["question"] for row in rows]
        correct = [int(row["right"]) / int(row["of"]) for row in rows]
        assert min(correct) >= most
        most = max(correct)
    assert sorted(seen) == sorted(ranked)
    labels = {row.unit: row.label for row in material.history.units(run.id)}
    page = opened(material, run, "heat-map", "label=flaky")
    assert [row["question"] for row in figures(page, "heatmap")] == [
        qid for qid in ranked if labels[qid] == "flaky"
    ]
    page = opened(material, run, "heat-map", "q=rijksmuseum")
    gold = material.history.gold(run.record.gold_sha256)
    wanted = {one.qid for one in gold if "rijksmuseum" in one.question.casefold()}
    assert {row["question"] for row in figures(page, "heatmap")} == wanted
    assert "No question matches" in opened(material, run, "heat-map", "q=nothing+like+it").body
    with pytest.raises(BadAddress):
        opened(material, run, "heat-map", "label=OK")


# Citations.


def test_codes_lead_to_their_places_and_their_answers(material, runs):
    run = runs["citations"]
    report = whole(material.history, run)
    page = opened(material, run, "traceability")
    assert [(row["code"], int(row["answers"])) for row in figures(page, "codes")] == [
        (one.code, one.answers) for one in report.codes
    ]
    places = [link for link in Parts(page.body).links if link.endswith("#answer")]
    asked = [dict(parse_qsl(urlsplit(link).query))["unit"] for link in places]
    assert asked == [one.qid for one in report.findings][: len(asked)]
    code = report.codes[0].code
    assert f"/runs/{run.id}/traceability?code={code}" in Parts(page.body).links
    chosen = figures(opened(material, run, "traceability", f"code={code}&rows=200"), "questions")
    units = [row.unit for row in material.history.units(run.id) if row.label == code]
    assert [row["unit"] for row in chosen] == units
    assert [
        (row["depth"], int(row["answers"])) for row in figures(page, "depths") if row["answers"]
    ] == [(name, one.ok) for name, one in report.depths.items()]


def test_the_states_of_lambda(material, runs):
    report = whole(material.history, runs["traced"])
    page = opened(material, runs["traced"], "traceability")
    told = {row["state"]: int(row["answers"]) for row in figures(page, "convergence")}
    assert {state: n for state, n in told.items() if n} == {
        state: n for state, n in report.states["answer"].items() if n
    }
    assert "No citation has a finding" in page.body
    asked = opened(material, runs["traced"], "traceability", "code=recursive")
    labels = [row.label for row in material.history.units(runs["traced"].id)]
    assert len(figures(asked, "questions")) == labels.count("recursive")


# Components.


def test_errors_are_filtered_by_kind_type_and_words(material, runs):
    run = runs["ner"]
    errors = whole(material.history, run).detail.errors
    page = opened(material, run, "errors")
    assert len(figures(page, "errors")) == len(errors) == 8
    for kind, times in Counter(one.kind for one in errors).items():
        found = figures(opened(material, run, "errors", f"kind={kind}"), "errors")
        assert [row["kind"] for row in found] == [kind] * times
    words = figures(opened(material, run, "errors", "q=DROST+d1"), "errors")
    assert words and all("d1" in row["unit"] or "d1" in row["where"] for row in words)
    first = Parts(opened(material, run, "errors", "rows=3").body)
    assert "1–3 of 8" in first.text
    assert any(f"/runs/{run.id}/question?unit=d1" == link for link in first.links)
    assert "No error matches" in opened(material, run, "errors", "q=nothing+like+it").body


def test_types_have_bars_of_precision_and_recall(material, runs):
    report = whole(material.history, runs["ner"])
    assert isinstance(report, EvalReport)
    [table] = [
        block
        for block in document_of(report).part("tables")
        if isinstance(block, Table) and block.title == "Types"
    ]
    rates = ("precision_strict", "recall_strict")
    for row in table.rows:
        one = report.per_type[row.cells[0].text]
        bars = [
            cell.plot and cell.plot.fraction
            for cell, column in zip(row.cells, table.columns, strict=True)
            if column.plot
        ]
        assert bars == [one[rate] for rate in rates]
        texts = [cell.text for cell in row.cells]
        assert {phrasing.value(one[rate]) for rate in rates} <= {*texts}
    body = str(opened(material, runs["ner"], "components").body)
    assert body.count('<svg class="bar"') >= 2 * len(table.rows)


def test_the_matrix_sums_to_its_items(material, runs):
    report = whole(material.history, runs["types"])
    rows = figures(opened(material, runs["types"], "components"), "confusion-matrix")
    labels = report.detail.labels
    counts = dict(zip(labels, report.detail.matrix, strict=True))
    assert sum(int(row["n"]) for row in rows) == 7
    for row in rows:
        written = [int(row.get(label, 0)) for label in labels]
        assert written == list(counts[row["gold"]])


def test_the_spread_counts_every_query(material, runs):
    rows = figures(opened(material, runs["retrieval"], "components"), "spread")
    values = [
        row.values["retrieval.ndcg@10"] for row in material.history.units(runs["retrieval"].id)
    ]
    tenths = Counter(min(9, int(round(value * 10, 9))) for value in values)
    assert [int(row["queries"]) for row in rows] == [tenths[n] for n in range(10)]


def test_answers_lead_to_their_pages(material, runs):
    for name in ("qa", "answers"):
        report = whole(material.history, runs[name])
        links = Parts(opened(material, runs[name], "support").body).links
        for answer in report.detail.worst:
            assert f"/runs/{runs[name].id}/question?unit={answer.id}" in links


def test_the_units_of_a_task_are_named_with_it(material, runs):
    run = runs["parts"]
    units = {row.unit for row in material.history.units(run.id)}
    for task, tab in (("ner", "entities"), ("linking", "links"), ("qa", "answers")):
        links = Parts(opened(material, run, tab, "rows=200").body).links
        asked = [dict(parse_qsl(urlsplit(link).query)) for link in links if "/question?" in link]
        assert asked
        assert {one["unit"] for one in asked} <= {unit for unit in units if unit.startswith(task)}


# The diagnosis.


def test_a_diagnosis_is_that_of_the_command(material, runs):
    run = runs["nightly"]
    report = diagnose_run(material.history, run)
    page = opened(material, run, "diagnosis")
    assert [row["cause"] for row in figures(page, "causes")] == [one.id for one in report.causes]
    text = Parts(page.body).text
    claimed = [one for one in report.causes if one.standing != "struck_out"]
    assert all(" ".join(one.title.split()) in text for one in claimed)
    assert 'lang="zh' in opened(material, run, "diagnosis", "lang=zh").body
    with pytest.raises(BadAddress):
        opened(material, run, "diagnosis", "lang=fr")


# Runs of earlier versions, and runs of which a file is gone.


def copied(history: History, run: Run, into: History, *, without: tuple[str, ...]) -> Run:
    """The run as an earlier version recorded it: its report alone, and less in its units."""
    units = [
        structs.replace(row, detail={k: v for k, v in row.detail.items() if k not in without})
        for row in history.units(run.id)
    ]
    from ragauge.contracts.history import sealed_units

    record = structs.replace(
        run.record,
        units_sha256=sealed_units(units),
        files={REPORT: run.record.files[REPORT]},
    )
    sha256 = run.record.gold_sha256
    gold = history.gold(sha256) if sha256 else ()
    with ExitStack() as stack:
        files = {REPORT: stack.enter_context(history.file(run, REPORT))}
        return into.record(NewRun(record=record, units=units, gold=gold, files=files))


@pytest.fixture(scope="module")
def older(material, runs, tmp_path_factory) -> Iterator[tuple[Material, dict[str, Run]]]:
    place = str(tmp_path_factory.mktemp("older") / "store")
    with closing(open_history(place)) as history:
        kept = {
            name: copied(material.history, run, history, without=("cells", "failed"))
            for name, run in runs.items()
        }
        made = Material(history, "here")
        yield made, kept
        made.jobs.close()


@pytest.mark.parametrize(("name", "tab"), EACH)
def test_a_run_with_a_report_alone_has_the_same_tabs(older, material, runs, name, tab):
    made, kept = older
    was, now = opened(made, kept[name], tab), opened(material, runs[name], tab)
    for figure in now.figures:
        if figure not in ("report", "slices", "latency-tokens-and-cost"):
            # What a question fails by itself, and what answers took, the older run does not keep.
            kept_now = [
                {k: v for k, v in row.items() if k not in ("fails", *SPENT)}
                for row in figures(now, figure)
            ]
            assert figures(was, figure) == kept_now


def test_a_report_that_is_gone_is_said_and_the_record_shown(every, runs, tmp_path):
    shutil.copytree(Path(every.place), tmp_path / "store")
    for name in ("report.json", "summary.json"):
        for path in (tmp_path / "store").rglob(name):
            path.unlink()
    with closing(open_history(str(tmp_path / "store"))) as history:
        material = Material(history, "here")
        run = runs["nightly"]
        page = opened(material, run)
        parts = Parts(page.body)
        assert "The report of this run cannot be shown:" in parts.text
        assert all(metric in parts.text for metric in run.record.metrics)
        assert len(figures(opened(material, run, "questions"), "questions")) == 50
        with pytest.raises(Missing, match="it has overview, questions"):
            opened(material, run, "quality")
        material.jobs.close()
