"""The gates of all components: what fails looks failed, and a FAIL is explained in every form."""

import re

import msgspec
import pytest
from junitparser import JUnitXml

from ragauge.reports.eval_all import story
from ragauge.reports.evaluation.story import gates_words
from ragauge.reports.forms import render
from tests.reports.evaluation.reports import everything, gate, retrieval
from tests.reports.test_html_in_browser import browser, opened

__all__ = ["browser", "opened"]

LEFT_OUT = "this version does not measure answers"
NOT_RUN = "the model has no method link"
SCORED = "entity_linking_mean_reciprocal_rank"


def undecided(metric, bound, verdict, reason):
    known = gate(metric, bound, None, 0, reason=reason)
    return msgspec.structs.replace(known, verdict=verdict)


def with_undecided(**parts):
    made = everything()
    gates = (
        *made.gates,
        undecided("linking.hits@1", 0.7, "not_evaluated", NOT_RUN),
        undecided("answers.grounding", 0.8, "not_applicable", LEFT_OUT),
    )
    return everything(gates=gates, **parts)


def row_of(table, name):
    return next(row for row in table.rows if row.cells[0].text == name)


def told_gate(table, name):
    place = table.heads.index("gate")
    row = row_of(table, name)
    return row.cells[place].text, row.cells[place].tone, row.tone, row.mark


def test_a_number_of_the_summary_has_its_gates_bound_verdict_and_colour():
    table = story.summary(with_undecided())
    assert told_gate(table, "ner_f1_partial") == (">= 0.90 FAIL", "bad", "bad", 0.9)
    assert told_gate(table, "type_accuracy") == (">= 0.80 pass", "good", "good", 0.8)
    assert told_gate(table, "linking_hits_1") == (">= 0.70 NOT EVALUATED", "bad", "bad", 0.7)
    assert told_gate(table, "qa_faithfulness")[:3] == ("not applicable", "soft", "plain")
    assert told_gate(table, "retrieval_ndcg_10") == ("", "", "plain", None)


def test_a_gate_on_a_part_of_the_set_does_not_colour_the_whole():
    part = msgspec.structs.replace(
        gate("retrieval.ndcg@10", 0.6, 0.4), rule="retrieval.ndcg@10>=0.6 where language=nl"
    )
    table = story.summary(everything(gates=(part,)))
    assert "gate" not in table.heads
    assert row_of(table, "retrieval_ndcg_10").tone == "plain"


def test_bars_are_coloured_by_the_gates_and_not_by_their_length():
    made = with_undecided()
    page = render(made, "html")
    rows = {name: re.search(rf"<bdi>{name}</bdi>.*", page).group(0) for name in made.summary}
    assert '<rect class="bad"' in rows["ner_f1_partial"]
    assert '<rect class="good"' in rows["type_accuracy"]
    assert '<rect class="plain"' in rows["retrieval_ndcg_10"]
    text = render(made, "text", color=True, width=140)
    failed = next(line for line in text.splitlines() if "ner_f1_partial" in line)
    assert "\x1b[31m█" in failed
    assert "\x1b[32m" not in failed


@pytest.mark.parametrize("form", ["text", "markdown", "html", "junit"])
def test_gates_of_tasks_that_did_not_run_are_told_in_every_form(form):
    written = render(with_undecided(), form)
    assert NOT_RUN in written
    assert LEFT_OUT in written
    assert "not applicable" in written
    assert "not evaluated" in written.lower()


def test_the_gates_that_break_stand_at_the_top_with_those_of_no_task():
    told = [one.rule for one in story.gates_told(with_undecided())]
    assert told == [
        *("entities.f1_strict>=0.85", "entities.f1_partial>=0.9", "labels.coverage=1"),
        *("retrieval.ndcg_exp@10>=0.6", "linking.hits@1>=0.7", "answers.grounding>=0.8"),
    ]
    for form, first in (("text", "\nEntities"), ("markdown", "Entities"), ("html", "<h2>Tasks")):
        written = render(with_undecided(), form)
        assert written.index("retrieval.ndcg_exp@10") < written.index(first)


def test_junit_makes_an_error_of_what_was_not_evaluated_and_skips_the_rest():
    suites = {
        one.name: one for one in JUnitXml.fromstring(render(with_undecided(), "junit").encode())
    }
    others = suites["ragauge gates"]
    assert (others.tests, others.errors, others.skipped, others.failures) == (2, 1, 1, 0)


def test_what_is_not_applicable_does_not_hold():
    beside = undecided("answers.grounding", 0.8, "not_applicable", LEFT_OUT)
    held = gate("entities.coverage", 1, 1.0, op="=")
    assert gates_words([held, beside]) == "1 of 2 gates hold, 1 not applicable"
    failed = gate("entities.f1_strict", 0.9, 0.5)
    assert gates_words([failed, beside]) == "1 of 2 gates failed, 1 not applicable"


def long_names():
    made = with_undecided()
    number = made.summary["linking_mrr"]
    measured = msgspec.structs.replace(number, value=0.86, ci=(0.78, 0.93), n=117)
    return with_undecided(summary={**made.summary, SCORED: measured})


def test_a_narrow_terminal_has_one_line_of_numbers_and_the_rest_below():
    lines = render(long_names(), "text", width=60).splitlines()
    assert max(map(len, lines)) <= 60
    assert not any("…" in line for line in lines if SCORED[:20] not in line)
    at = next(place for place, line in enumerate(lines) if "ner_f1_partial" in line)
    assert lines[at].split()[1:] == ["0.861", ">=", "0.90", "FAIL"]
    assert " ".join(" ".join(lines[at + 1 : at + 3]).split()).startswith(
        "95 % interval [0.831, 0.891], n 120, metric entities.f1_partial"
    )
    summary = lines[lines.index("Summary") : lines.index("Gates")]
    assert sum("ner_f1_partial" in line for line in summary) == 1


def test_a_narrow_page_stacks_the_summary(opened):
    page, _ = opened(long_names(), (400, 900))
    section = page.page.locator("section.told").first
    frame = section.locator(".scroll")
    assert frame.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    assert "95 % interval [0.831, 0.891], n 120, metric entities.f1_partial" in section.inner_text()
    wide, _ = opened(long_names(), (1280, 900))
    assert "n 120, metric" not in wide.page.locator("section.told").first.inner_text()


def test_a_passed_run_tells_no_gates_twice():
    made = everything(tasks={"retrieval": retrieval()}, gates=retrieval().gates[1:], passed=True)
    assert story.gates(made) is None
