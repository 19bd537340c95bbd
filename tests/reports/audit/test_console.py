"""An audit on a terminal: the verdict first, then each code with its next step and its places."""

import re

import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from ragauge.contracts.audit import AuditFinding, DepthCount
from ragauge.reports.audit.console import render
from ragauge.reports.audit.story import finding_words
from tests.reports.audit.made import answer, code, coverage, finding, gate, passing, telling

STYLES = re.compile(r"\x1b\[[0-9;]*m")


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def section(written, title):
    """The lines of one section, squeezed."""
    parts = re.split(r"\n\n(?=\S)", written)
    [found] = [part for part in parts if part.startswith(title)]
    return squeezed(found)


def test_the_verdict_says_how_many_answers_do_not_hold():
    first = [
        render(report).splitlines()[0]
        for report in (
            telling(),
            passing(),
            passing(
                passed=False,
                answers=(answer(3, "missing_rev"),),
                coverage=coverage(audited=1, refusals=0),
            ),
            passing(answers=(answer(3, "missing_rev"), answer(4))),
            passing(answers=(answer(3, "missing_rev"), answer(4)), gates=()),
            passing(passed=False, coverage=coverage(audited=0, refusals=0)),
            passing(coverage=coverage(audited=31)),
        )
    ]
    assert first == [
        "FAIL  32 of 381 answers have citations that do not hold",
        "PASS  381 of 381 answers have citations that hold, at depth text",
        "FAIL  1 of 1 answer has citations that do not hold",
        "PASS  1 of 381 answers has citations that do not hold, and the gates allow it",
        "PASS  1 of 381 answers has citations that do not hold, and no gate minds",
        "FAIL  no answer was audited",
        "PASS  no answer was audited, only 31 refusals",
    ]


def test_where_the_rows_end_before_the_wrong_answers_do_the_count_is_a_least():
    rows = tuple(answer(line, "missing_rev", f"q{line}") for line in range(1, 8))
    told = render(passing(passed=False, answers=rows)).splitlines()[0]
    assert told == "FAIL  at least 7 of 381 answers have citations that do not hold"


def test_a_gate_that_fails_where_every_citation_holds_is_named():
    report = passing(passed=False, gates=(gate("traceability.coverage", 0.7, 0.5),))
    assert render(report, width=120).splitlines()[0].endswith("; not so: traceability.coverage")


def test_gates_and_metrics_say_value_interval_coverage_and_why_not():
    written = render(telling())
    assert "citation_match 0.914 [0.894, 0.929] 381 of 400 >= 0.95 FAIL" in section(
        written, "Gates"
    )
    assert "no threshold was calibrated" in section(written, "Gates")
    assert section(written, "Other metrics")[-1] == "valid 0.922 [0.892, 0.944] 412 of 412"


def test_a_code_says_what_it_means_what_to_do_and_where():
    [told] = [
        part for part in render(telling()).split("\n\n") if "mismatch_index_hash" in part[:30]
    ]
    assert squeezed(told) == [
        "mismatch_index_hash 9 answers 29 findings payload",
        "The citation comes from another index than the live one.",
        "→ Rebuild the index, or fix the start-up order so that readers open the new one.",
        'runs/traces.jsonl:80 keys-080 citations[2].index_hash: "2f7d9a", expected "8c01e2"',
        'runs/traces.jsonl:87 keys-087 citations[2].index_hash: "2f7d9a", expected "8c01e2"',
        'runs/traces.jsonl:94 keys-094 citations[2].index_hash: "2f7d9a", expected "8c01e2"',
        "and 26 more",
    ]


def test_codes_keep_the_order_of_the_report_the_worst_first():
    report = telling()
    written = render(report)
    places = [written.index(f"\n  {one.code} ") for one in report.codes]
    assert places == sorted(places)


def test_a_narrow_page_keeps_the_code_whole():
    written = squeezed(render(telling(), width=40))
    assert "mismatch_index_hash" in written
    assert "9 answers, 29 findings, payload" in written


def test_depths_say_what_held_what_was_not_asked_and_what_had_nothing():
    found = {"marker": DepthCount(checked=4, ok=2), "payload": DepthCount(checked=0, ok=0)}
    told = section(render(passing(depth="payload", depths=found), width=80), "Depths")
    assert told[1:] == [
        "marker 2 of 4 50.0 % ██████████████████",
        "every cited id was retrieved",
        "payload –",
        "nothing to look at",
        "text –",
        "not looked at; --depth text does",
        "support –",
        "not looked at; --depth support does",
    ]


def test_a_depth_in_which_nothing_holds_has_no_bar():
    found = {"marker": DepthCount(checked=4, ok=0)}
    assert "0 of 4 0.0 %" in section(render(passing(depths=found)), "Depths")[1]
    assert "█" not in render(passing(depths=found))


def test_what_is_not_about_citations_stands_apart():
    written = render(telling())
    assert section(written, "Findings") == ["Findings", "bad_line 1", "a.jsonl:4: not JSON"]


def test_the_coverage_counts_what_was_not_audited():
    told = section(render(telling(), width=200), "Coverage")
    assert told[0].startswith(
        "Coverage 412 of 431 traces audited, 381 answers, 31 refusals, 1,204 citations, 18 errors,"
        " 4 of 400 gold questions without a trace, 2 of unknown questions, 1 rejected line"
    )
    bare = passing(coverage=coverage(gold=None, missing=None, refusals=0))
    assert "no gold set: nothing was matched" in render(bare)
    assert "no manifest: nothing was held against a live index" in render(bare, width=200)
    told = passing(coverage=coverage(compared=("index_hash", "rev")))
    assert "of the live index the manifest tells index_hash, rev" in render(told, width=200)


@pytest.mark.parametrize("width", [80, 100])
def test_a_place_that_does_not_fit_hangs_below_itself(width):
    report = passing(
        codes=(code("missing_rev", 1, 1),), findings=(finding("missing_rev", 3, "word " * 40),)
    )
    lines = render(report, width=width).splitlines()
    start = next(n for n, line in enumerate(lines) if "traces.jsonl:3" in line)
    assert lines[start].startswith("    runs")
    assert lines[start + 1].startswith("      word")
    assert max(map(cell_len, lines)) <= width


def test_color_adds_styles_and_nothing_else():
    colored = render(telling(), color=True, width=90)
    assert STYLES.sub("", colored) == render(telling(), width=90)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (finding("missing_rev", 17, "citations[2].rev: absent", "q3", 2), "q3 citations[2].rev"),
        (finding("missing_rev", 17, "citations[2].rev: absent", None, 2), ": citations[2].rev"),
        (AuditFinding("bad_line", "a:5", "a:5: short", qid="q3"), "a:5: short"),
        (AuditFinding("missing_rev", "", "rev: absent", qid="q3"), "q3 rev: absent"),
    ],
)
def test_a_finding_is_worded_once(found, words):
    told = finding_words(found)
    assert words in told
    assert told.count(found.message) == 1


def test_the_message_of_a_finding_is_not_worded_again():
    one = finding("missing_rev", 17, 'citations[2].rev: "a", expected "b"', "q3", 2, got="a")
    assert finding_words(replace(one, expected="b")) == finding_words(one)
