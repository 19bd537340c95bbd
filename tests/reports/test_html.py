"""The HTML report: one valid file, no request, no script, and what it must show."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from ragauge.reports import templating
from ragauge.reports.formats import html
from ragauge.reports.rendering import document_of, render
from tests.reports import sweeps

VOID = {"meta", "link"}


class Page(HTMLParser):
    """A page taken apart: balanced or not, its tags, its ids, its text by tag."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        assert len(dict(attributes)) == len(attributes), f"{tag} has an attribute twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.append((self.open[-1], data))

    def all(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def text_of(self, tag):
        return [text for name, text in self.texts if name == tag]


@pytest.fixture(scope="module")
def telling():
    return sweeps.telling()


@pytest.fixture
def reports(telling, hostile, plain, passing):
    return [telling, sweeps.steady(), sweeps.reference(), hostile, plain, passing]


def test_tags_are_balanced_and_ids_are_unique(reports):
    for report in reports:
        page = Page(render(report, "html"))
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        assert [id for id, times in Counter(ids).items() if times > 1] == []


def test_the_policy_allows_the_style_sheet_and_nothing_else(reports):
    for report in reports:
        page = Page(render(report, "html"))
        [style] = page.text_of("style")
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        [policy] = [
            meta["content"]
            for meta in page.all("meta")
            if meta.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy == (
            f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:;"
            " base-uri 'none'; form-action 'none'"
        )


def test_nothing_is_fetched_and_nothing_runs(reports):
    for report in reports:
        page = Page(render(report, "html"))
        names = {tag for tag, _ in page.tags}
        assert not names & {"script", "img", "iframe", "object", "embed", "form", "base", "use"}
        for tag, attributes in page.tags:
            assert not [name for name in attributes if name.startswith("on")], tag
            assert not {"src", "srcset", "style", "xlink:href"} & set(attributes), tag
            assert attributes.get("href", "#").startswith(("#", "data:,"))
        [style] = page.text_of("style")
        assert "url(" not in style
        assert "@import" not in style


def test_links_lead_to_questions_on_the_page(telling):
    page = Page(render(telling, "html"))
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    links = {link["href"].removeprefix("#") for link in page.all("a")}
    assert len(links) == 12
    assert links == ids


def test_the_page_is_small_before_the_data():
    assert len(render(sweeps.steady(), "html")) < 100_000


def test_who_cannot_see_the_heat_map_has_a_table_with_a_name(telling):
    fragment = str(html.write_blocks(document_of(telling).part("heatmap")))
    [table] = Page(fragment).all("table")
    assert table["aria-label"].startswith(
        "Heat map of 12 questions by 20 runs: 1 stable fail, 5 flaky"
    )
    assert re.findall(r'<th scope="colgroup" colspan="5">(\w+)</th>', fragment) == [
        *("none", "ws", "punct", "syn")
    ]


@pytest.mark.slow
def test_a_large_report_shows_the_worst_of_each_verdict_and_counts_the_rest():
    rows = {f"c{n:03d}": {"cells": "cc"} for n in range(150)}
    rows |= {f"f{n:03d}": {"cells": "+c"} for n in range(60)}
    rows |= {f"p{n:03d}": {"cells": "++"} for n in range(40)}
    report = sweeps.report(rows, sweeps.grid(jitters=("none",), seeds=range(2)))
    written = render(report, "html")
    assert "200 of 250 questions are shown" in written
    assert "And 50 more" in written
    shown = Counter(link["title"][0] for link in Page(written).all("a"))
    assert shown == {"c": 140, "f": 60}


def test_many_runs_are_merged_by_factor():
    columns = sweeps.grid(("none", "ws"), (0.0, 0.2), range(50))
    cells = ("+" * 49 + "c") + "+" * 50 + "x" * 50 + "r" * 25 + "+" * 25
    report = sweeps.report({"q1": {"cells": cells}}, columns)
    fragment = str(html.write_blocks(document_of(report).part("heatmap")))
    page = Page(fragment)
    assert "A cell is 50 runs (seed)" in fragment
    assert [cell["title"] for cell in page.all("td") if "title" in cell] == [
        "q1, jitter none, temperature 0: 49 of 50 correct",
        "q1, jitter none, temperature 0.2: 50 of 50 correct",
        "q1, jitter ws, temperature 0: 0 of 50 correct",
        "q1, jitter ws, temperature 0.2: 25 of 50 correct",
    ]


def test_gates_that_were_not_evaluated_fail_and_say_why():
    fragment = str(html.write_blocks(document_of(sweeps.unanswered()).part("gates")))
    assert fragment.count('<td class="word-cell bad">NOT EVALUATED</td>') == 7
    assert fragment.count("no question has a finished run</bdi>") == 7
    assert "0.0 %" not in fragment


def colors(style, scheme):
    """The variables of a scheme, each said once for both: `light-dark(#ffffff, #12161b)`."""
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", style)
    return {name: light if scheme == "light" else dark for name, light, dark in pairs}


def contrast(one, other):
    """The ratio of WCAG 2."""

    def luminance(color):
        parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_letters_can_be_read(scheme):
    style = (templating.TEMPLATES / "style.css").read_text("utf-8")
    found = colors(style, scheme)
    for name in ("ink", "soft", "link", "good", "bad", "warm-ink"):
        assert contrast(found[name], found["paper"]) >= 4.5, name
        assert contrast(found[name], found["wash"]) >= 4.5 or name not in ("ink", "soft"), name
    assert contrast(found["ink"], found["mark"]) >= 4.5
    # `.t-claim) { --c: light-dark(#f0a818, #e8a528); --t: light-dark(#2b1c00, #201500); }`
    letters = re.findall(r"\.t-(\w+).*?\{ (--c: .*--t: .*) \}", style)
    assert len(letters) == 12
    for name, said in letters:
        pair = colors(said, scheme)
        assert contrast(pair["t"], pair["c"]) >= 4.5 or name == "some", name
