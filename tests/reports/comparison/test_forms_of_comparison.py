"""A comparison and a line over runs, in every form: what they say, and whom they obey (nobody)."""

import csv
import io
import json
import re
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import msgspec
import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len

from ragauge.contracts.comparison import ComparisonReport, HistoryReport
from ragauge.reports import templating
from ragauge.reports.rendering import render
from tests.reports.comparison.comparisons import (
    ABSENT,
    UNSURE,
    WORSE,
    compared,
    comparison,
    line,
    metrics,
)
from tests.reports.payloads import PAYLOADS

STYLES = re.compile(r"\x1b\[[0-9;]*m")
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
MAKERS = {"comparison": comparison, "history": line}
WHOLE = [payload for payload in PAYLOADS if "\ud800" not in payload]
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

kinds = pytest.mark.parametrize("kind", MAKERS)


def unmarked(parts):
    """Without marks: two answers that are cut before they differ have none."""
    return [part for part in parts if not part.startswith("strong")]


def squeezed(written):
    return [" ".join(row.split()) for row in written.splitlines()]


def parts_of(written):
    for token in MARKDOWN.parse(written):
        yield token.type
        for child in token.children or ():
            if child.type not in ("text", "text_special", "code_inline"):
                yield child.type


class Shape(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, tuple(name for name, _ in attributes)))

    def handle_endtag(self, tag):
        self.tags.append((f"/{tag}", ()))

    def handle_comment(self, data):
        self.tags.append(("comment", ()))


# Foreign text


def test_a_page_runs_nothing_and_fetches_nothing():
    page = render(comparison(), "html")
    tags = {tag for tag, _ in Shape(page).tags}
    assert not tags & {"script", "img", "iframe", "object", "embed", "form", "base"}
    style = (templating.TEMPLATES / "style.css").read_text("utf-8")
    assert templating.policy(style) in unescape(page)
    assert " style=" not in page


@kinds
def test_json_reads_back(kind):
    report = MAKERS[kind]()
    record = ComparisonReport if kind == "comparison" else HistoryReport
    written = render(report, "json")
    assert msgspec.json.decode(written, type=record) == report
    assert list(json.loads(written)) == sorted(json.loads(written))


# What a comparison says


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (("worse", "cannot_tell"), "WORSE"),
        (("worse", "better"), "MIXED"),
        (("better", "cannot_tell"), "BETTER"),
        (("not_worse", "cannot_tell"), "NOT WORSE"),
        (("cannot_tell",), "CANNOT TELL"),
        (("not_comparable",), "NOT COMPARABLE"),
    ],
)
def test_without_a_gate_the_verdict_is_what_the_metrics_come_to(verdicts, word):
    found = {
        f"m.{verdict}": compared(verdict, 0.1, (0.0, 0.2), 0.5, margin=0.1) for verdict in verdicts
    }
    report = comparison(gate=None, compared=found, slices=())
    assert render(report, "text").startswith(f"{word}  1 of ")
    assert f"comparison: {word}\n" in render(report, "markdown")
    assert f">{word}</span>" in render(report, "html")
    assert f"comparison {word}::" in render(report, "github")
    assert ("::warning title=worse m.worse::" in render(report, "github")) == ("worse" in verdicts)


def test_with_a_gate_the_verdict_is_the_gates():
    first, second, *_ = render(comparison(), "text").splitlines()
    assert first == "FAIL  no-regression fails for 1 of 5 metrics"
    assert second.strip() == ("1 of 5 metrics worse, 1 better, 2 cannot tell, 1 not comparable")
    assert ElementTree.fromstring(render(comparison(), "junit")).get("failures") == "2"


def test_a_passing_comparison_turns_no_server_red():
    report = comparison(compared={WORSE: compared("cannot_tell", -0.01, (-0.1, 0.1), 0.9)})
    assert render(report, "text").startswith("PASS  no-regression holds for 1 metric")
    root = ElementTree.fromstring(render(report, "junit"))
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("0", "0", "1")
    assert "::error" not in render(report, "github")


def test_there_is_one_vocabulary_of_verdicts():
    for form in ("text", "markdown", "html", "github", "junit", "csv", "json"):
        assert "unchanged" not in render(comparison(), form)


def test_a_narrow_page_keeps_p_and_n():
    found = {id: one for id, one in metrics("x").items() if id in (WORSE, UNSURE)}
    written = render(comparison(compared=found, slices=()), "text", width=80)
    part = squeezed(written[written.index("Metrics") :])
    assert "McNemar (exact); p adjusted by Holm, intervals unadjusted" in part
    assert part[1] == "metric after change 95 % interval p n verdict"
    assert part[2] == "precision_cited 0.839 -0.061 [-0.101, -0.021] < 0.001 80 worse"
    assert part[3] == "before 0.900"


def test_a_metric_that_cannot_be_decided_in_a_lifetime_says_so():
    found = {**metrics("x"), UNSURE: compared("cannot_tell", 1e-7, (-1, 1), 0.9, needed=10**11)}
    assert "it would take more than 10,000,000" in render(
        comparison(compared=found), "text", width=140
    )
    assert ABSENT in found


# What a line says


def test_the_change_beside_a_run_is_not_taken_across_a_cut():
    rows = list(csv.DictReader(io.StringIO(render(line(), "csv"), newline="")))
    assert [row["change_point"] for row in rows].count("true") == 1
    told = squeezed(render(line("demo"), "text", width=140))
    [second] = [row for row in told if row.startswith("01beefbeefbe 2026")]
    assert "+0.000" not in second
    assert "0.000" not in second.replace("0.900", "")


@pytest.mark.parametrize("runs", [1, 2, 200])
def test_a_short_and_a_long_line_are_drawn(runs):
    report = line("demo", runs=min(runs, 28), shift=1 if runs > 1 else 5)
    if runs == 200:
        report = msgspec.structs.replace(report, points=report.points * 8, change_points=())
    for width in (40, 80):
        written = render(report, "text", width=width)
        assert max(cell_len(row) for row in written.splitlines()) <= width


def test_too_few_runs_for_a_change_say_how_many_it_takes():
    report = line(runs=5, shift=9)
    few = {**report.coverage, "longest_segment": 5}
    report = msgspec.structs.replace(report, coverage=few)
    assert "too few runs to find a change of level: it takes 10 in a row" in " ".join(
        squeezed(render(report, "text"))
    )
