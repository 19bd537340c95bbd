"""The page that compares two runs: what it asks for, says, refuses, and shows of each question."""

from __future__ import annotations

import csv
import io
import json
import threading
from html.parser import HTMLParser

import pytest
from msgspec import structs

from ragauge.dashboard.jobs import AtOnce
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page
from ragauge.dashboard.pages import compare
from ragauge.dashboard.query import BadAddress, Query
from ragauge.store.history import open_history
from tests.chromium import photographed
from tests.dashboard.hostile_run import TEXTS
from tests.runners.recorded import HITS, PRECISION, ones, questions, record

SIZE = 60
LONG_S = 30.0


@pytest.fixture
def material(tmp_path):
    history = open_history(str(tmp_path / "store"))
    made = Material(history, "here")
    yield made
    made.jobs.close()
    history.close()


@pytest.fixture
def patient(material):
    """A history whose pages wait until what they show is made."""
    material.jobs = AtOnce()


def asked(material: Material, **fields: str) -> Page:
    pairs = list(fields.items())
    return compare.page(material, Links("/compare", pairs), Query(pairs))


def rows_of(page: Page) -> list[dict]:
    """The metrics of a comparison, over all questions and in slices, as they are downloaded."""
    return json.loads(page.wanted("comparison.json")[0])


def two_runs(material: Material, **changed):
    """The first has q000 to q003 wrong, the second q002 to q019: sixteen broke, two were mended."""
    details = [{"claim": f"It is {n}.", "cited": [f"p{n}#1"]} for n in range(SIZE)]
    others = [{"claim": f"It was {n}.", "cited": [f"p{n}#1", "p9#9"]} for n in range(SIZE)]
    before = record(material.history, {HITS: ones(SIZE, range(4))}, details=details, minute=0)
    after = record(
        material.history, {HITS: ones(SIZE, range(2, 20))}, details=others, minute=1, **changed
    )
    return before, after


def test_without_two_runs_there_is_a_form_with_the_last_runs(material):
    two_runs(material)
    record(material.history, {HITS: ones(SIZE)}, name="other", minute=2)
    body = asked(material, before="green@main").body
    assert 'name="before" value="green@main" placeholder="green@main" list="known-before"' in body
    assert body.count("<option ") == 2 * 3


def test_without_runs_it_says_how_to_record_one(material):
    assert "--record" in asked(material).body


def test_while_it_is_made_the_page_asks_again_and_says_so(material):
    before, after = two_runs(material)
    began, may_end = threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        may_end.wait(LONG_S)

    material.jobs.get("something else", work, 0)
    assert began.wait(LONG_S), "else the worker may take up the comparison first"
    page = asked(material, before=before.id, after=after.id)
    assert page.refresh_s == 1
    assert 'aria-busy="true"' in page.body
    assert page.figures == {}
    may_end.set()


def test_the_verdict_the_numbers_and_the_flipped_questions_are_told(material, patient):
    before, after = two_runs(material)
    page = asked(material, before=before.id, after=after.id)
    body = page.body
    assert page.refresh_s is None
    assert "WORSE" in body
    assert "Broken: 16 questions, correct before, incorrect after." in body
    assert "Fixed: 2 questions, incorrect before, correct after." in body
    assert body.count("badge v-stable_fail") == 16
    assert body.count("badge v-stable_pass") == 2
    assert f'href="/runs/{after.id}/question?unit=q004&amp;with={before.id}"' in body
    assert f'href="/compare?before={after.id}&amp;after={before.id}"' in body
    assert "<bdi>It </bdi><mark><bdi>was</bdi></mark><bdi> 4.</bdi>" in body
    assert "<bdi>p4#1</bdi> <mark><bdi>p9#9</bdi></mark>" in body


def test_slices_are_the_coarse_strata_unless_others_are_asked_for(material, patient):
    before, after = two_runs(material)
    runs = {"before": before.id, "after": after.id}
    assert "By <bdi>country</bdi>" in asked(material, **runs).body
    assert "By <bdi>answerable</bdi>" in asked(material, **runs).body
    assert "By <bdi>country</bdi>" not in asked(material, **runs, slices="answerable").body
    assert "By <bdi>" not in asked(material, **runs, slices="none").body


def test_flipped_questions_are_searched_filtered_and_paged(material, patient):
    before, after = two_runs(material)

    def shown(**fields: str) -> list[str]:
        body = asked(material, before=before.id, after=after.id, **fields).body
        items = str(body).partition('id="flipped"')[2].partition("</section>")[0]
        return [piece[:4] for piece in items.split("question?unit=")[1:]]

    assert shown() == [f"q{n:03}" for n in (*range(4, 20), 0, 1)], "broken first, by id"
    assert shown(way="mended") == ["q000", "q001"]
    assert shown(rows="3", start="3") == ["q007", "q008", "q009"]
    assert shown(q="WHAT is 1 was") == [f"q{n:03}" for n in (*range(10, 20), 1)]
    assert shown(was="ANS_NO_HIT") == ["q000", "q001"]
    assert shown(was="nothing like that") == []
    assert shown(start="1000") == []
    for wrong in ({"way": "sideways"}, {"alpha": "much"}, {"correction": "x"}):
        with pytest.raises(BadAddress):
            shown(**wrong)


def test_options_are_fields_of_the_address(material, patient):
    before, after = two_runs(material)
    runs = {"before": before.id, "after": after.id}
    body = asked(material, **runs, margin="citation_hit_rate=0.5", alpha="0.1").body
    assert "NOT WORSE" in body
    assert "90 % interval" in body
    assert 'value="citation_hit_rate=0.5"' in body
    with pytest.raises(BadAddress):
        asked(material, **runs, alpha="7")


def test_a_metric_leads_to_the_questions_it_tells_apart(material, patient):
    """Of 0 and 1 those that differ; of others the largest change first, whichever way."""
    was = [0.5] * SIZE
    now = [0.5 + (place - 2) / 10 if place < 5 else 0.5 for place in range(SIZE)]
    before = record(material.history, {HITS: ones(SIZE), PRECISION: was}, minute=0)
    after = record(
        material.history, {HITS: ones(SIZE, range(3)), PRECISION: [None, *now[1:]]}, minute=1
    )
    runs = {"before": before.id, "after": after.id, "metrics": "all"}

    def shown(**fields: str) -> list[str]:
        table = str(asked(material, **runs, **fields).body).partition('id="flipped"')[2]
        return [piece[:4] for piece in table.partition("</table>")[0].split("?unit=")[1:]]

    body = asked(material, **runs, q="no such").body
    assert f"metrics=all&amp;flip={PRECISION}#flips" in body, "a search is not taken along"
    assert shown(flip=HITS) == ["q000", "q001", "q002"]
    assert shown(flip="precision_cited") == ["q004", "q001", "q003", "q000"]
    assert shown(flip=PRECISION, way="up") == ["q004", "q003"]
    assert shown(flip=PRECISION, way="one-sided") == ["q000"]
    assert shown(flip=PRECISION, q="is 1") == ["q001"]
    assert shown(flip=PRECISION, rows="1", start="1") == ["q001"]
    page = asked(material, **runs, flip=PRECISION)
    assert "Up in 2 questions, down in 1, the same in 56; higher is better" in page.body
    assert f"question?unit=q004&amp;with={before.id}" in page.body
    told = json.loads(page.wanted("changes.json")[0])
    assert [one["change"] for one in told] == [
        pytest.approx(0.2),
        pytest.approx(-0.1),
        *[pytest.approx(0.1), None],
    ]
    with pytest.raises(BadAddress, match='flip: "colour" is not compared; there are quality'):
        shown(flip="colour")


def test_questions_that_mean_something_else_are_not_told_apart(material, patient):
    before, _ = two_runs(material)
    gold = questions(SIZE)
    gold[10] = structs.replace(gold[10], gold_citations=("elsewhere",))
    other = record(material.history, {HITS: ones(SIZE, range(20))}, gold=gold, minute=6)
    page = asked(material, before=before.id, after=other.id, allow="gold", flip=HITS)
    assert "down in 15, the same in 44" in page.body
    assert "unit=q010" not in page.body


def test_slices_say_how_p_and_intervals_are_corrected(material, patient):
    before, after = two_runs(material)
    runs = {"before": before.id, "after": after.id}
    page = asked(material, **runs)
    words = "p is adjusted by Holm over all slices; the intervals are wider"
    assert page.body.count(words) == 1
    assert all(words in one["note"] for one in rows_of(page) if one["stratum"])
    assert words not in asked(material, **runs, correction="none").body


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"alpha": "9"}, 'alpha: "9" is not a number between 0 and 1; write'),
        ({"alpha": "nan"}, 'alpha: "nan" is not a number between 0 and 1; write'),
        ({"alpha": "much"}, 'alpha: "much" is not a number between 0 and 1; write'),
        ({"allow": "gold,all"}, 'allow: "all" is none of gold, versions'),
    ],
)
def test_fields_that_cannot_be_are_refused_in_words(material, patient, fields, words):
    before, after = two_runs(material)
    with pytest.raises(BadAddress, match=words):
        asked(material, before=before.id, after=after.id, **fields)


def test_an_address_with_one_run_says_what_is_missing(material):
    before, _ = two_runs(material)
    body = asked(material, before="zz").body
    assert "before: zz: names no run" in body
    assert "after: is missing; choose the run that is compared" in body
    body = asked(material, after=before.shown).body
    assert "before: is missing; choose the run to compare with" in body
    assert "after: " not in body
    assert "is missing" not in asked(material).body


def test_figures_are_those_of_the_report(material, patient):
    before, after = two_runs(material)
    page = asked(material, before=before.id, after=after.id)
    content, kind = page.wanted("flips.csv")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert kind.startswith("text/csv")
    assert len(rows) == 18
    assert (rows[0]["unit"], rows[0]["way"], rows[0]["now_claim"]) == (
        "q004",
        "broken",
        "It was 4.",
    )
    metric, *slices = rows_of(page)
    assert (metric["metric"], metric["verdict"], metric["n"]) == (HITS, "worse", SIZE)
    assert {one["stratum"] for one in slices} == {"answerable", "country"}


def test_references_mean_a_run_of_the_same_kind_recorded_before(material, patient):
    before, after = two_runs(material)
    record(material.history, {HITS: ones(SIZE)}, name="other", minute=-5)
    assert before.shown in asked(material, before="latest", after=after.id[:12]).title
    with pytest.raises(Missing):
        asked(material, before="green@nowhere", after=after.id)
    with pytest.raises(Missing):
        asked(material, before=before.id, after="no such run")


def test_other_commands_and_gold_sets_are_refused_in_words(material, patient):
    before, _ = two_runs(material)
    swept = record(material.history, {HITS: ones(SIZE)}, command="stability", minute=5)
    page = asked(material, before=before.id, after=swept.id)
    assert "only runs of one command can be compared" in page.body
    assert "The runs are not compared" in page.body
    gold = [structs.replace(one, gold_citations=("elsewhere",)) for one in questions(SIZE)[:20]]
    other = record(material.history, {HITS: ones(20)}, gold=gold, minute=6)
    refused = asked(material, before=before.id, after=other.id).body
    assert "the gold sets differ" in refused
    assert "the address with allow=gold compares these" in refused
    assert "allow=gold" in refused.partition('href="')[2]
    assert "--" not in refused


def test_what_is_allowed_is_compared(material, patient):
    before, _ = two_runs(material)
    gold = questions(SIZE)
    gold[0] = structs.replace(gold[0], gold_citations=("elsewhere",))
    other = record(material.history, {HITS: ones(SIZE, range(20))}, gold=gold, minute=6)
    body = asked(material, before=before.id, after=other.id, allow="gold").body
    assert "the gold sets differ, as allowed" in body
    assert 'name="allow" value="gold"' in body


class Skeleton(HTMLParser):
    """The tags of a page with the names of their attributes, and nothing of what they hold."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.feed(body)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *(name for name, _ in attrs)))


def of_foreign_text(material: Material, text: str) -> list[tuple[str, ...]]:
    """What the comparison of two runs that hold this text everywhere is made of."""
    gold = questions(SIZE)
    gold[0] = structs.replace(gold[0], question=text, strata={"country": text[:200]})
    common = {
        "gold": gold,
        "details": [{"claim": text, "cited": [text]}] * SIZE,
        "labels_of": [text] * SIZE,
        "name": text[:50],
    }
    before = record(material.history, {HITS: ones(SIZE)}, minute=0, **common)
    after = record(
        material.history,
        {HITS: ones(SIZE, range(3))},
        minute=1,
        labels={"model": text[:100]},
        **common,
    )
    return Skeleton(asked(material, before=before.id, after=after.id, q=text).body).tags


def test_foreign_text_adds_no_tag_and_no_attribute(material, patient):
    plain = of_foreign_text(material, "plain words")
    assert ("details", "class", "open") in plain
    for payload in TEXTS:
        assert of_foreign_text(material, payload) == plain, payload


def test_two_runs_are_compared_as_a_person_would(served, demo, browser):
    context = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(served.at("/compare"))
    page.get_by_label("Before").fill(demo.runs["a"].shown)
    page.get_by_label("After").fill(demo.runs["c"].shown)
    page.get_by_role("button", name="Compare").click()
    flipped = page.get_by_role("heading", name="Flipped questions")
    flipped.wait_for(timeout=60_000)
    photographed(page, "compare", whole=True)
    rows = page.locator("#flipped details")
    all_rows = rows.count()
    with page.expect_response(lambda response: "q=" in response.url):
        page.get_by_label("Search").fill("museum")
    page.wait_for_function(
        "n => document.querySelectorAll('#flipped details').length < n", arg=all_rows
    )
    assert "q=museum" in page.url
    page.locator("#flipped details a").first.click()
    page.wait_for_url(lambda url: "/question?" in url)
    assert said == []
    context.close()


def test_a_comparison_is_read_without_scripts(served, demo, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served.at(f"/compare?before={demo.runs['a'].id}&after={demo.runs['c'].id}"))
    page.get_by_role("heading", name="Flipped questions").wait_for(timeout=60_000)
    page.locator("#flips form").get_by_label("Way").select_option("broken")
    page.locator("#flips form").get_by_role("button", name="Apply").click()
    page.wait_for_url(lambda url: "way=broken" in url)
    assert page.locator("#flipped .v-stable_pass").count() == 0
    page.get_by_role("link", name="Swap them").click()
    page.wait_for_url(lambda url: f"before={demo.runs['c'].id}" in url)
    context.close()
