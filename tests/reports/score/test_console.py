"""The console report reads well at any width and obeys nobody's text."""

import re

import pytest
from rich.cells import cell_len

from ragauge.contracts.report import Score
from ragauge.reports import rendering


def render(report, **how):
    return rendering.render(report, "text", **how)


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


def test_a_value_that_misses_its_bound_by_a_hair_does_not_look_equal_to_it(make):
    gate = make["gate"]("quality.over_refusal", "<=", 0.1, 0.1003, "fail")
    assert "0.1003" in render(make["report"](passed=False, gates=(gate,)))


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
    assert re.search(r"^    where \S*traces\.jsonl:42; so$", written, re.MULTILINE)


def test_metrics_of_one_name_keep_their_families(make):
    ids = ("acme.tone", "acme.errors", "quality.errors")
    written = render(make["report"](metrics={id: Score(value=0.5, n=2, of=2) for id in ids}))
    assert "  tone" in written and "acme.tone" not in written
    assert "acme.errors" in written and "quality.errors" in written
