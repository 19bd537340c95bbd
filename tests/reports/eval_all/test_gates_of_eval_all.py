"""The gates of all components: what fails looks failed, and a FAIL is explained in every form."""

import msgspec
import pytest
from junitparser import JUnitXml

from ragauge.reports.kinds.eval_all import summary
from ragauge.reports.phrasing import gate_counts
from ragauge.reports.rendering import render
from tests.reports.evaluation.reports import everything, gate
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


def shown_gate(table, name):
    place = [column.title for column in table.columns].index("gate")
    row = row_of(table, name)
    bar = row.cells[-1].plot
    mark = (bar.tone, bar.mark) if bar else None
    return row.cells[place].text, row.cells[place].tone, mark


def test_a_number_of_the_summary_has_its_gates_bound_verdict_and_colour():
    table = summary(with_undecided())
    assert shown_gate(table, "ner_f1_partial") == (">= 0.90 FAIL", "bad", ("bad", 0.9))
    assert shown_gate(table, "type_accuracy") == (">= 0.80 pass", "good", ("good", 0.8))
    assert shown_gate(table, "linking_hits_1") == (">= 0.70 NOT EVALUATED", "bad", None)
    assert shown_gate(table, "qa_faithfulness") == (
        ">= 0.80 not applicable",
        "soft",
        ("soft", 0.8),
    )
    assert shown_gate(table, "retrieval_ndcg_10") == ("", "", ("plain", None))


def test_a_gate_on_a_part_of_the_set_does_not_colour_the_whole():
    part = msgspec.structs.replace(
        gate("retrieval.ndcg@10", 0.6, 0.4), rule="retrieval.ndcg@10>=0.6 where language=nl"
    )
    table = summary(everything(gates=(part,)))
    assert "gate" not in [column.title for column in table.columns]
    assert row_of(table, "retrieval_ndcg_10").cells[-1].plot.tone == "plain"


@pytest.mark.parametrize("form", ["text", "markdown", "html", "junit"])
def test_gates_of_tasks_that_did_not_run_are_told_in_every_form(form):
    written = render(with_undecided(), form)
    assert NOT_RUN in written
    assert LEFT_OUT in written
    assert "not applicable" in written
    assert "not evaluated" in written.lower()


def test_junit_makes_an_error_of_what_was_not_evaluated_and_skips_the_rest():
    suites = {
        one.name: one for one in JUnitXml.fromstring(render(with_undecided(), "junit").encode())
    }
    others = suites["ragauge gates"]
    assert (others.tests, others.errors, others.skipped, others.failures) == (2, 1, 1, 0)


def test_what_is_not_applicable_does_not_hold():
    beside = undecided("answers.grounding", 0.8, "not_applicable", LEFT_OUT)
    held = gate("entities.coverage", 1, 1.0, op="=")
    assert gate_counts(everything(gates=(held, beside))) == "1 of 2 gates hold, 1 not applicable"
    failed = gate("entities.f1_strict", 0.9, 0.5)
    assert (
        gate_counts(everything(gates=(failed, beside))) == "1 of 2 gates failed, 1 not applicable"
    )


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
    before_gates = lines[: lines.index("Gates")]
    assert sum("ner_f1_partial" in line for line in before_gates) == 1


def test_a_narrow_page_stacks_the_summary(opened):
    page, _ = opened(long_names(), (400, 900))
    section = page.page.locator("section.told").first
    frame = section.locator(".scroll")
    assert frame.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    assert "95 % interval [0.831, 0.891], n 120, metric entities.f1_partial" in section.inner_text()
    wide, _ = opened(long_names(), (1280, 900))
    assert "n 120, metric" not in wide.page.locator("section.told").first.inner_text()
