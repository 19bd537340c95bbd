"""The console report reads well at any width and obeys nobody's text."""

import re

import pytest
from rich.cells import cell_len

from ragauge.contracts.score import Score
from ragauge.reports.score.console import render

COVERAGE = "Coverage  2 of 2 gold questions scored, from 2 traces"
STYLES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_asked(width, color, hostile, plain, make):
    wide = make["row"]("漢字" * 60, "ANS_NO_HIT", claim="漢字" * 90, cited=("é" * 300,))
    for report in (hostile, plain, make["report"](questions=(wide,))):
        written = STYLES.sub("", render(report, color=color, width=width))
        assert max(cell_len(line) for line in written.splitlines()) <= width


def test_color_adds_styles_and_nothing_else(hostile):
    colored = render(hostile, color=True, width=80)
    assert "\x1b[" in colored
    bare = STYLES.sub("", colored)
    assert "\x1b" not in bare
    assert bare == render(hostile, color=False, width=80)


def test_escapes_in_foreign_text_are_spelled_out(hostile):
    written = render(hostile, width=120)
    assert r"\x1b[31mred" in written
    assert not any(ord(c) < 32 and c != "\n" for c in written)


def test_markup_and_emoji_codes_are_plain_words(make):
    row = make["row"]("[bold]q[/bold]", "ANS_NO_HIT", claim="[link=x]:smile:[/link]")
    written = render(make["report"](questions=(row,)))
    assert "[bold]q[/bold]" in written
    assert "[link=x]:smile:[/link]" in written


def test_the_environment_changes_nothing(hostile, monkeypatch):
    before = render(hostile, color=True, width=80)
    for name in ("NO_COLOR", "COLUMNS", "TERM", "FORCE_COLOR"):
        monkeypatch.setenv(name, "20")
    assert render(hostile, color=True, width=80) == before


def test_the_verdict_comes_first(passing, plain, make):
    assert render(passing).splitlines()[0] == "PASS  1 of 1 gate holds; 2 of 2 questions scored"
    assert render(plain).splitlines()[0] == (
        "FAIL  2 of 5 gates failed, 2 not evaluated; 2 of 2 questions scored"
    )
    unknown = make["gate"]("quality.errors", "=", 0, None, "not_evaluated", n=0)
    report = make["report"](passed=False, gates=(unknown, unknown))
    assert render(report).splitlines()[0] == (
        "FAIL  2 of 2 gates not evaluated; 2 of 2 questions scored"
    )
    ungated = render(make["report"](passed=None, gates=()))
    assert ungated.startswith("No quality gate set  2 of 2 questions scored")


def lines_with(word, written):
    return [line.split() for line in written.splitlines() if word in line.split()]


def squeezed(line):
    return " ".join(line.split())


def test_a_gate_shows_value_interval_coverage_bound_and_verdict(plain):
    written = render(plain, width=100)
    [coverage] = lines_with("coverage", written.split("Other metrics")[0])
    assert " ".join(coverage) == "coverage 0.750 [0.100, 0.900] 4 of 4 = 1 FAIL"
    [refusal] = lines_with("over_refusal", written.split("Other metrics")[0])
    assert " ".join(refusal) == "over_refusal 0.250 [0.100, 0.900] 4 <= 0.10 @99 FAIL"
    assert "where language=Dutch words" in written


def test_absent_values_are_dashes_with_their_reason(plain):
    written = render(plain, width=80)
    lines = [line.strip() for line in written.splitlines()]
    strict = next(n for n, line in enumerate(lines) if line.startswith("precision_strict"))
    assert squeezed(lines[strict]) == "precision_strict – 0 of 6 >= 0.80 NOT EVALUATED"
    assert lines[strict + 1] == "no ids"
    scope = next(n for n, line in enumerate(lines) if line.startswith("in_scope"))
    assert squeezed(lines[scope]) == "in_scope – 0 of 6"
    assert lines[scope + 1] == "absent: Dutch words"


def test_a_value_that_misses_its_bound_by_a_hair_does_not_look_equal_to_it(make):
    gate = make["gate"]("quality.over_refusal", "<=", 0.1, 0.1003, "fail")
    assert "0.1003" in render(make["report"](passed=False, gates=(gate,)))


def test_bars_are_in_proportion(make):
    rows = [make["row"](f"q{n}", "OK" if n < 8 else "ERROR", triage=None) for n in range(10)]
    written = render(make["report"](questions=tuple(rows)), width=80)
    [good], [bad] = lines_with("OK", written), lines_with("ERROR", written.split("Questions")[0])
    assert (len(good[1]), len(bad[1])) == (40, 10)
    assert good[2:] == ["8", "80.0", "%"]


def test_a_slice_tells_where_it_differs_and_which_values_are_chance(plain):
    written = render(plain, width=80)
    assert "By language  over_refusal from 0.100 (Dutch words) to 0.500 (nl)" in written
    assert "and 1 more value" in written
    assert not lines_with("fr", written)


def test_only_the_three_largest_differences_are_told(make):
    def by(high):
        low, top = (Score(value=value, n=9, of=9) for value in (0.0, high))
        return {"a": {"quality.errors": low}, "b": {"quality.errors": top}}

    strata = {"one": by(0.2), "two": by(0.9), "three": by(0.05), "four": by(0.5), "five": by(0.4)}
    titles = re.findall(r"^By (\w+)", render(make["report"](strata=strata)), re.MULTILINE)
    assert titles == ["two", "four", "five"]


def test_at_most_ten_questions_and_some_of_each_label(make):
    rows = [make["row"](f"r{n}", "OVER_REFUSAL") for n in range(30)]
    rows += [make["row"](f"h{n}", "HALLUCINATION") for n in range(2)]
    written = render(make["report"](questions=tuple(rows)))
    shown = re.findall(r"^  ([rh]\d+)  ", written, re.MULTILINE)
    assert shown == ["h0", "h1", *(f"r{n}" for n in range(8))]
    assert "and 22 more" in written


def test_the_same_row_twice_counts_twice(make):
    written = render(make["report"](questions=(make["row"]("r1", "ERROR"),) * 30))
    assert len(re.findall(r"^  r1  ", written, re.MULTILINE)) == 10
    assert "and 20 more" in written


def test_the_place_of_a_question_survives_a_long_id(make):
    qid = "0b5a2f3e-6f0e-4b8e-9d0a-1c2d3e4f5a6b"
    place = "a/very/long/way/to/the/traces.jsonl:42"
    row = make["row"](qid, "ANS_NO_HIT", triage="generation_drift", where=place, claim="so")
    written = render(make["report"](questions=(row,)), width=80)
    assert qid in written
    assert re.search(r"^    …\S*traces\.jsonl:42  so$", written, re.MULTILINE)


def test_the_baseline_says_what_broke_first(plain):
    written = render(plain, width=100)
    [change] = lines_with("+0.200", written)
    assert " ".join(change) == "over_refusal 0.050 0.250 +0.200 [+0.100, +0.300] worse"
    assert "unchanged: coverage" in written
    broke, mended = written.index("Dutch words  OK"), written.index("q9")
    assert broke < mended
    assert "4 questions in both, 1 only here, 2 only there" in written


def test_findings_have_their_count_and_first_places(plain):
    written = render(plain, width=100)
    assert "bad_line  7" in written
    assert "a:5: short" in written
    assert "a:5: a:5" not in written
    assert "and 5 more" in written


def test_a_passing_report_has_no_empty_sections(passing):
    titles = [line for line in render(passing).splitlines() if line and line[0] != " "]
    verdict = "PASS  1 of 1 gate holds; 2 of 2 questions scored"
    assert titles == [verdict, "Gates", "Labels", COVERAGE]


def test_metrics_of_several_families_keep_their_full_ids(make):
    scores = {id: Score(value=0.5, n=2, of=2) for id in ("acme.tone", "quality.errors")}
    written = render(make["report"](metrics=scores))
    assert "acme.tone" in written
    assert "quality.errors" in written
