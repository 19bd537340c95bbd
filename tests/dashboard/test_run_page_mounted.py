"""The page of a run where it is mounted: links that lead somewhere, hostile texts, long lists."""

from __future__ import annotations

import http.client
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import cycle
from urllib.parse import urljoin, urlsplit

import pytest

from ragauge import open_history, record, stability
from ragauge.contracts.history import RunFilter
from ragauge.dashboard.material import Material
from tests.chromium import NARROW, WIDE, photographed
from tests.dashboard.hostile_run import TEXTS, hostile_history
from tests.dashboard.page_parts import Parts
from tests.dashboard.runs_of_every_kind import Recorder, lines
from tests.dashboard.served import Served, serving
from tests.dashboard.test_run_page import EACH, TABS, figures, opened

SCREENS = (("light", WIDE), ("dark", NARROW))
FOLLOWED = 3
"""Links of a tab that are followed, spread over all it has."""
HARMLESS = ("script", "iframe", "img", "base", "meta", "style", "object", "link")


@pytest.fixture(scope="module")
def mounted(every) -> Iterator[Served]:
    with serving(every.place) as made:
        yield made


@pytest.fixture(scope="module")
def ids(mounted) -> dict[str, str]:
    return {run.record.name: run.id for run in reversed(mounted.history.runs(RunFilter()))}


def answer(served: Served, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port)
    with closing(connection):
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


@pytest.mark.parametrize(("name", "tab"), EACH)
def test_links_lead_somewhere(mounted, ids, name, tab):
    path = f"/runs/{ids[name]}" + ("" if tab == "overview" else f"/{tab}")
    status, body = answer(mounted, path)
    assert status == 200
    ways = {urljoin(path, link) for link in Parts(body).links if not link.startswith("#")}
    inside = sorted({urlsplit(way)._replace(fragment="").geturl() for way in ways})
    assert all(way.startswith("/") for way in inside)
    for way in inside[:: max(1, len(inside) // FOLLOWED)]:
        assert answer(mounted, way)[0] == 200, way


@pytest.mark.parametrize(("name", "tab"), EACH)
def test_anchors_are_there(mounted, ids, name, tab):
    _, body = answer(mounted, f"/runs/{ids[name]}" + ("" if tab == "overview" else f"/{tab}"))
    places = set(re.findall(r'\sid="([^"]+)"', body))
    assert {link[1:] for link in Parts(body).links if link.startswith("#")} <= places
    assert len(re.findall(r'\sid="([^"]+)"', body)) == len(places)


def test_an_unknown_tab_is_not_here(mounted, ids):
    status, body = answer(mounted, f"/runs/{ids['nightly']}/nothing")
    assert status == 404
    assert "it has overview, quality, questions, diagnosis" in body


# Hostile texts: in a score, in a sweep, in the texts of components.


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Iterator[Material]:
    folder = tmp_path_factory.mktemp("hostile")
    place, *_ = hostile_history(folder, TEXTS)
    recorder = Recorder(folder)
    assert recorder.place == place
    _sweep(folder, place)
    entities = [
        {
            "id": f"{n} {text}",
            "text": f"{text} x",
            "entities": [{"start": 0, "end": 1, "type": text[:60]}],
        }
        for n, text in enumerate(TEXTS)
    ]
    found = [one | {"entities": [{"start": 0, "end": 1, "type": "M"}]} for one in entities]
    recorder.run(
        *("eval", "ner", lines(folder / "n.jsonl", entities), lines(folder / "n2.jsonl", found)),
        name="ner",
        label=f"model={TEXTS[0]}",
    )
    with closing(open_history(place)) as history:
        material = Material(history, "here")
        yield material
        material.jobs.close()


def _sweep(folder, place) -> None:
    """Each question asked twice, and answered right once."""
    gold, runs = folder / "gold.jsonl", folder / "runs.jsonl"
    told = [json.loads(line) for line in gold.read_text().splitlines()]
    lines(
        runs,
        (
            {
                "qid": one["qid"],
                "q": one["question"],
                "run_id": f"{one['qid']}#{seed}",
                "variation": {"seed": seed, "temperature": 0.0, "jitter": "none"},
                "seed": seed,
                "answer_json": {
                    "claim": one["gold_claim"] if seed else one["qid"],
                    "citations": one["gold_citations"] if seed else [one["qid"]],
                },
            }
            for one in told
            for seed in (0, 1)
        ),
    )
    with closing(open_history(place)) as history:
        record(stability(gold, runs), history, name=TEXTS[1], labels={"model": TEXTS[2]})


HOSTILE = {
    "score": ["", "quality", "questions", "diagnosis"],
    "stability": ["", "heat-map", "questions", "diagnosis"],
    "eval ner": ["", "components", "errors", "questions", "diagnosis"],
}


@pytest.mark.parametrize(
    ("command", "tab"), [(command, tab) for command, tabs in HOSTILE.items() for tab in tabs]
)
def test_hostile_texts_stay_texts(hostile, command, tab):
    run = hostile.history.runs(RunFilter(command=command))[0]
    for query in ("", f"q={TEXTS[0]}", "right=wrong&rows=200") if tab == "questions" else ("",):
        page = opened(hostile, run, tab, query)
        shape = Parts(page.body).shape
        assert not [tag for tag, _ in shape if tag in HARMLESS]
        names = {name for _, attributes in shape for name in attributes}
        assert not [name for name in names if name.startswith("on") or name in ("style", "srcdoc")]
        assert not [link for link in Parts(page.body).links if not link.startswith(("/", "#"))]
        assert "window.hit=1" in page.body or tab not in ("questions", "heat-map")
        assert "\u202e" not in page.body and "\x1b" not in page.body
        for figure in set(page.figures) - {"report"}:
            for row in figures(page, figure):
                assert not [cell for cell in row.values() if cell and cell[0] in "=@"]


# More than a summary keeps.


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> Iterator[Material]:
    folder = tmp_path_factory.mktemp("long")
    recorder = Recorder(folder)
    gold = [
        {"id": f"d{n}", "text": "Ada met Bob.", "entities": [{"start": 0, "end": 3, "type": "AGT"}]}
        for n in range(260)
    ]
    seen = [one | {"entities": [{"start": 8, "end": 11, "type": "AGT"}]} for one in gold]
    files = lines(folder / "gold.jsonl", gold), lines(folder / "seen.jsonl", seen)
    recorder.run("eval", "ner", *files, name="ner")
    qrels, ranks = folder / "qrels.txt", folder / "run.txt"
    qrels.write_text("".join(f"q{n} 0 d 1\n" for n in range(250)))
    rows = [(n, "d" if n % 5 == 0 else "x", "d" if n % 5 else "x") for n in range(250)]
    ranks.write_text("".join(f"q{n} Q0 {a} 1 2 t\nq{n} Q0 {b} 2 1 t\n" for n, a, b in rows))
    recorder.run("eval", "retrieval", qrels, ranks, name="retrieval")
    with closing(open_history(recorder.place)) as history:
        material = Material(history, "here")
        yield material
        material.jobs.close()


def test_errors_beyond_the_summary_are_read(long):
    (run,) = long.history.runs(RunFilter(name="ner"))
    assert len(long.report(run).detail.errors) <= 200
    page = opened(long, run, "errors", "rows=200&start=400")
    assert Counter(row["kind"] for row in figures(page, "errors")) == {
        "missed": 260,
        "spurious": 260,
    }
    assert "401–520 of 520" in Parts(page.body).text


def test_the_spread_is_that_of_all_queries(long):
    (run,) = long.history.runs(RunFilter(name="retrieval"))
    assert len(long.report(run).detail.queries) == 200
    page = opened(long, run, "components")
    told = [int(row["queries"]) for row in figures(page, "spread")]
    assert sum(told) == 250
    assert (told[9], told[6]) == (50, 200)  # 1 at the first rank, 0.63 at the second
    assert len(figures(opened(long, run, "questions", "rows=200&start=100"), "questions")) == 150


# As a person goes through it.


def test_from_a_failing_gate_to_a_question(mounted, ids, browser):
    page = browser.new_page(viewport=dict(zip(("width", "height"), WIDE, strict=True)))
    page.goto(mounted.at(f"/runs/{ids['nightly']}"))
    assert page.locator("h1 .word").inner_text() == "FAIL"
    photographed(page, "run-overview", whole=True)
    page.locator("tr.broken a").first.click()
    page.wait_for_url("**/questions?*")
    rows = page.locator("#units tbody tr")
    assert rows.count() == 50
    page.get_by_label("Search").fill("nachtwacht")
    page.wait_for_url("**q=nachtwacht*")
    page.locator("#units tbody tr").filter(has_text="Nachtwacht").first.wait_for()
    page.locator("#units tbody a").first.click()
    page.wait_for_url("**/question?*q=nachtwacht*")
    page.close()


@pytest.mark.parametrize("name", TABS)
def test_nothing_keeps_anybody_out(mounted, ids, browser, name):
    from axe_playwright_python.base import AXE_SCRIPT

    for tab, (scheme, (width, height)) in zip(TABS[name], cycle(SCREENS), strict=False):
        if tab == "diagnosis":
            opened(mounted.material, ids[name], tab)  # so that it is made
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(mounted.at(f"/runs/{ids[name]}" + ("" if tab == "overview" else f"/{tab}")))
        photographed(page, f"run-{name}-{tab}")
        page.evaluate(AXE_SCRIPT)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        told = [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in bad]
        assert not told, (tab, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()
