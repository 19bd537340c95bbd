"""The one-file report: whole, alone, the same every time, and never obeying foreign text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from contextlib import closing
from html.parser import HTMLParser

import pytest

from ragauge.contracts.documents import FrozenDocument
from ragauge.dashboard import parts
from ragauge.dashboard.file_limits import Limits
from ragauge.dashboard.page import DocumentPlace, Page
from ragauge.dashboard.report_file import FileLinks, placed, report_file
from ragauge.errors import InputRejected, UsageError
from ragauge.reports import document as doc
from ragauge.store.history import open_history
from tests.chromium import NARROW, WIDE, photographed
from tests.dashboard.hostile_run import TEXTS, hostile_history
from tests.runners.recorded import HITS, ones, record

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective));
"""
BEFORE_DATA = 500_000
FEW = Limits(rows=2_000, whole=4)


class Read(HTMLParser):
    """The ids of a file, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.named: list[str] = []
        self.headings: list[int] = []
        self.tags: Counter[str] = Counter()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags[tag] += 1
        if "id" in given:
            self.ids[given["id"]] += 1
        if "href" in given:
            self.links.append(given["href"])
        for name in ("for", "aria-labelledby", "aria-describedby", "aria-controls"):
            self.named += (given.get(name) or "").split()
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))


def made(place, reference, **options) -> str:
    with closing(open_history(place, create=False)) as history:
        return report_file(history, reference, **options)


@pytest.fixture(scope="module")
def scored(demo) -> str:
    """A run compared with another, with all its questions."""
    return made(demo.place, demo.runs["c"].id, before=demo.runs["a"].id)


@pytest.fixture(scope="module")
def audited(demo) -> str:
    return made(demo.place, demo.runs["audit"].id, limits=FEW)


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a file from disk, watching what it says, asks and tries."""
    contexts = []

    def open_file(text, size=WIDE, scheme="light", **more):
        file = tmp_path / f"{len(contexts)}.html"
        file.write_text(text)
        viewport = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, **more)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(WATCH)
        heard: list[str] = []
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(file.as_uri())
        assert heard == [file.as_uri()], "only the file itself is asked for"
        return page, heard

    yield open_file
    for context in contexts:
        context.close()


# A view in its place


def test_ids_and_what_names_them_get_a_beginning_of_their_own():
    to_anchor = doc.Text([doc.Span("up", to=("here", "top"))])
    blocks = [doc.Section(title="A & B", blocks=[to_anchor], anchor="top")]
    page = Page(title="", here=None, blocks=blocks, links=FileLinks("r", [], lambda wanted: False))
    body = placed(page, "q1", 1)
    assert 'id="q1-top"' in body and 'href="#q1-top"' in body and "<h3>A &amp; B</h3>" in body
    known = placed(page, "q1", 5, {"top": "at.document.1"})
    assert 'id="at.document.1"' in known and 'href="#at.document.1"' in known and "<h6>" in known


def test_what_needs_a_server_is_not_in_the_file():
    field = parts.Field(name="q", title="Search")
    blocks = [parts.form("/x", field), parts.tabs([("Overview", None, "/x", True)])]
    page = Page(title="", here=None, blocks=blocks, links=FileLinks("r", [], lambda wanted: False))
    assert str(placed(page, "p")).strip() == ""


def test_data_comes_along_unless_it_is_large():
    def downloads(rows: int) -> str:
        table = doc.table(range(rows), {"word": lambda n: doc.names("=cmd" * 30)}, title="Few")
        links = FileLinks("r", [], lambda wanted: False)
        return placed(Page(title="", here=None, blocks=[table], links=links), "p")

    assert 'href="data:text/csv;charset=utf-8;base64,' in downloads(1)
    assert "data:" not in downloads(3_000)


def test_links_lead_to_what_is_in_the_file():
    links = FileLinks("r1", ["q 1", "q 2"], lambda wanted: wanted.doc_id != "gone")
    links.parts = frozenset({"overview", "quality"})
    links.lines = ("a.b",)
    assert links.question("r1", "q 2") == "#at.question.2"
    assert links.question("r1", "q 3") is None
    assert links.question("r2", "q 2") is None
    assert (links.run("r1"), links.run("r1", "quality")) == ("#at.overview", "#at.quality")
    assert (links.run("r1", "heat"), links.run("r2")) == (None, None)
    assert (links.history("a.b"), links.history("a.c")) == ("#at.history.1", None)
    assert (links.runs(), links.gold("x"), links.compare()) == (None, None, None)
    assert links.document("r1", DocumentPlace("d", "1", 0, 5)) == "#at.document.1"
    assert links.document("r1", DocumentPlace("gone", "1")) is None
    assert links.document("r1", DocumentPlace("d", "1", 6, 9)) == "#at.document.2"
    assert links.document("r1", DocumentPlace("d", "1", 0, 5)) == "#at.document.1"
    links.takes_documents = False
    assert links.document("r1", DocumentPlace("d", "2")) is None
    assert [*links.documents] == [
        DocumentPlace("d", "1", 0, 5, ""),
        DocumentPlace("d", "1", 6, 9, ""),
    ]


# The file


def test_every_id_is_there_once_and_every_link_leads_somewhere(scored, audited, demo):
    swept = made(demo.place, demo.runs["stability"].id, limits=FEW)
    evaluated = made(demo.place, demo.runs["eval qa"].id, limits=FEW)
    for text in (scored, audited, swept, evaluated):
        read = Read(text)
        assert [id for id, times in read.ids.items() if times > 1] == []
        inside = [href for href in read.links if href.startswith("#")]
        assert len(inside) > 20
        assert {href[1:] for href in inside} <= {*read.ids}
        assert set(read.named) <= {*read.ids}
        others = [href for href in read.links if not href.startswith(("#", "data:"))]
        assert others == []
        assert read.tags["form"] == 0
        assert read.headings.count(1) == 1


def test_the_parts_are_those_of_the_dashboard(scored, audited):
    assert set(re.findall(r'class="part" id="at\.([a-z]+)"', scored)) == {
        *("overview", "quality", "questions", "diagnosis"),
        *("compare", "history", "gold", "views"),
    }
    assert {"traceability", "documents"} <= set(re.findall(r'class="part" id="at\.(\w+)"', audited))


def test_the_same_history_gives_the_same_bytes(scored, demo):
    assert made(demo.place, demo.runs["c"].id, before=demo.runs["a"].id) == scored


def test_a_file_is_small_before_its_data(tmp_path):
    with closing(open_history(str(tmp_path / "store"))) as history:
        run = record(history, {HITS: ones(1)}, minute=0)
        record(history, {HITS: ones(1)}, minute=1)
        text = report_file(history, run.id)
        assert len(text.encode()) < BEFORE_DATA


def test_what_is_left_out_is_told_and_the_wrong_ones_are_in(tmp_path):
    with closing(open_history(str(tmp_path / "store"))) as history:
        run = record(history, {HITS: ones(30, (7, 21))}, minute=0)
        text = report_file(history, run.id, limits=Limits(rows=10, whole=3))
    assert re.findall(r'<span class="qid"><bdi>(q\d+)</bdi>', text) == ["q007", "q021", "q000"]
    assert "27 more are not in this file" in text
    assert "The first 10 of 30 questions" in text
    part = text.partition('id="at.questions"')[2].partition('class="part"')[0]
    assert part.count('<th scope="row">') == 10


def test_a_large_run_is_read_page_by_page(tmp_path):
    with closing(open_history(str(tmp_path / "store"))) as history:
        run = record(history, {HITS: ones(450, range(200, 430))}, minute=0)
        text = report_file(history, run.id, limits=Limits(rows=430, whole=205))
    part = text.partition('id="at.questions"')[2].partition('class="part"')[0]
    assert len(set(re.findall(r"<bdi>(q\d{3})</bdi>", part))) == 430
    views = re.findall(r'<span class="qid"><bdi>(q\d+)</bdi>', text)
    assert views == [f"q{n}" for n in range(200, 405)]


def test_runs_that_cannot_be_compared_and_runs_that_are_not_there_are_refused(demo):
    with pytest.raises(InputRejected, match="only runs of one command can be compared"):
        made(demo.place, demo.runs["c"].id, before=demo.runs["stability"].id)
    with pytest.raises(UsageError):
        made(demo.place, "no such run")


def test_a_failing_gate_leads_to_the_questions_that_fail_it(scored, demo):
    run = demo.runs["c"]
    failed = [one for one in run.record.gates if not one.holds]
    assert failed
    table = scored.partition('id="at.questions"')[2].partition("</thead>")[0]
    with closing(open_history(demo.place, create=False)) as history:
        units = {row.unit: row.values for row in history.units(run.id)}
    for gate in failed:
        name = re.escape(gate.metric.partition(".")[2])
        assert re.search(rf"<bdi>{name}</bdi>", table), "the table has its column"
        [place] = set(re.findall(rf'href="#(at\.gate\.\d+)"><bdi>{name}</bdi>', scored))
        listed = scored.partition(f'id="{place}">')[2].partition("</section>")[0]
        named = re.findall(r'href="#at\.question\.\d+"><bdi>([^<]+)</bdi>', listed)
        assert named and all(units[unit][gate.metric] != gate.bound for unit in named)


def test_documents_without_room_are_counted(demo, monkeypatch):
    class Long:
        def find(self, doc_id, rev):
            return FrozenDocument(doc_id, rev, "word " * 20_000, proven=False)

        def others(self, doc_id):
            return iter(())

    monkeypatch.setattr("ragauge.dashboard.report_file.LONGEST_DOCUMENTS", 150_000)
    text = made(demo.place, demo.runs["a"].id, documents=Long())
    told = re.search(r"(\d+) more documents? (?:is|are) cited and not", text)
    assert told and int(told[1]) > 0
    assert text.count("word word") > 0


def test_documents_of_the_user_are_opened_too(demo):
    class Anything:
        def find(self, doc_id, rev):
            return FrozenDocument(doc_id, rev, f"The words of {doc_id}.\n" * 40, proven=False)

        def others(self, doc_id):
            return iter(())

    bare = made(demo.place, demo.runs["a"].id, limits=FEW)
    assert 'id="at.documents"' not in bare
    text = made(demo.place, demo.runs["a"].id, limits=FEW, documents=Anything())
    assert 'id="at.documents"' in text
    assert "The words of rijksmuseum." in text


# In the browser


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_it_opens_from_disk_in_silence_and_fits(size, scored, audited, opened):
    for name, text in (("scored", scored), ("audited", audited)):
        page, heard = opened(text, size)
        page.locator("#content").wait_for()
        assert len(heard) == 1
        assert page.evaluate("violations") == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        photographed(page, f"report-{name}-{size[0]}")


def test_charts_are_drawn_and_tables_sort_and_filter(scored, opened):
    page, heard = opened(scored)
    page.locator("#at\\.history .uplot canvas").first.wait_for()
    questions = page.locator("#at\\.questions")
    first = questions.locator("tbody th").first
    questions.locator("thead button").first.click()
    assert first.inner_text() == "h001"
    questions.locator("thead button").first.click()
    assert first.inner_text() == "h080"
    questions.get_by_label("Filter rows").fill("Teylers")
    shown = questions.locator("tbody tr:visible")
    assert 0 < shown.count() < 20
    assert page.evaluate("violations") == []
    assert len(heard) == 1


def test_a_question_leads_to_the_cited_span(audited, opened):
    page, _ = opened(audited)
    page.locator("#at\\.questions tbody th a").first.click()
    page.wait_for_function("location.hash.startsWith('#at.question.')")
    view = page.locator("#at\\.views details[open]")
    view.locator("a[href^='#at.document.']").first.click()
    page.wait_for_function("location.hash.startsWith('#at.document.')")
    page.locator("#at\\.documents mark:target").wait_for(state="visible")
    photographed(page, "report-cited-span")


def test_figures_are_kept_from_the_file(scored, opened):
    page, heard = opened(scored, accept_downloads=True)
    part = page.locator("#at\\.compare .downloads").first
    with page.expect_download() as kept:
        part.get_by_role("link", name="CSV").click()
    content = kept.value.path().read_text()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert {row["metric"] for row in rows} >= {"quality.precision_cited"}
    assert page.evaluate("violations") == []
    assert [url for url in heard[1:] if not url.startswith("data:")] == []


def test_the_theme_is_chosen_and_follows_the_reader(scored, opened):
    def brightness(page):
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(number) for number in re.findall(r"\d+", color)[:3])

    page, _ = opened(scored, scheme="dark")
    assert brightness(page) < 150
    page.get_by_label("Light").check(force=True)
    assert brightness(page) > 700


def test_without_scripts_everything_is_there_but_charts(scored, opened):
    page, _ = opened(scored, java_script_enabled=False)
    assert page.locator("#at\\.history figure pre").first.is_visible()
    page.locator("#at\\.questions tbody th a").first.click()
    page.locator("#at\\.views details[open] h4").first.wait_for(state="visible")


def test_on_paper_what_is_open_is_printed(scored, opened):
    page, _ = opened(scored)
    bodies = page.locator("#at\\.views > details > .body")
    page.locator("#at\\.views > details > summary").nth(1).click()
    page.emulate_media(media="print")
    assert not bodies.nth(0).is_visible()
    assert bodies.nth(1).is_visible()
    assert not page.locator(".topbar").is_visible()
    assert page.locator("#at\\.overview .verdict").is_visible()


def test_no_serious_fault_for_who_cannot_see_or_point(scored, opened):
    from axe_playwright_python.base import AXE_SCRIPT

    page, _ = opened(scored)
    # Each question has the same page: three are enough.
    views = "[...document.querySelectorAll('[id=\"at.views\"] > details')]"
    page.evaluate(f"{views}.slice(3).forEach(one => one.remove())")
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    told = [(one["id"], one["nodes"][0]["html"][:200]) for one in grave]
    assert told == []


def test_foreign_text_never_runs_and_never_breaks_the_file(tmp_path, opened):
    place, before, after = hostile_history(tmp_path, TEXTS)
    page, heard = opened(made(place, after.id, before=before.id), NARROW)
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("window.hit") is None
    assert page.evaluate("violations") == []
    assert len(heard) == 1
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.locator("#at\\.views > details").count() == len(TEXTS)


def test_foreign_text_adds_no_tag(tmp_path):
    def tags(name, texts):
        folder = tmp_path / name
        folder.mkdir()
        place, before, after = hostile_history(folder, texts)
        return Read(made(place, after.id, before=before.id)).tags

    plain = tags("plain", ["plain words", "other words"])
    hostile = tags("hostile", [TEXTS[0], TEXTS[5]])
    for tag in ("script", "img", "iframe", "style", "meta", "base", "link", "form"):
        assert hostile[tag] == plain[tag], tag


def test_the_policy_would_stop_what_escaping_missed(audited, browser, tmp_path):
    script = "<script>window.hit=1</script><img src=http://127.0.0.1:9/x.png></main>"
    file = tmp_path / "broken.html"
    file.write_text(audited.replace("</main>", script))
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(file.as_uri())
    page.wait_for_function("violations.length >= 2")
    assert page.evaluate("window.hit") is None
    assert sorted(page.evaluate("violations")) == ["img-src", "script-src-elem"]
    context.close()
