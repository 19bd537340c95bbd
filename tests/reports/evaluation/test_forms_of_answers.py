"""An evaluation of answers in every form: the numbers, the sentences, and who agrees with whom."""

import csv
import io
import json

import jsonschema
import msgspec
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped
from rich.cells import cell_len

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.metrics.table import table
from ragauge.reports.evaluation import families, support
from ragauge.reports.evaluation.support import marked_words, quoted
from ragauge.reports.forms import render
from tests.reports.evaluation.answered import (
    agreement,
    answered,
    detail,
    nothing_answered,
    plain,
    sentence,
    shown,
)
from tests.reports.evaluation.reports import everything, score
from tests.reports.test_html import Page

FORMS = KINDS[EvalReport].forms


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    example = msgspec.convert(examples("eval-report")[1], EvalReport)
    assert "1834" in render(example, form)


def test_every_report_is_as_its_schema_says_and_reads_back():
    validator = jsonschema.Draft202012Validator(schema("eval-report"))
    for made in (answered(), answered(task="qa"), plain(), nothing_answered()):
        written = render(made, "json")
        validator.validate(json.loads(written))
        assert msgspec.json.decode(written, type=EvalReport) == made
    assert json.loads(written)["detail"]["task"] == "answers"


@pytest.mark.parametrize("form", FORMS)
def test_a_report_of_nothing_says_so_and_has_no_number(form):
    written = render(nothing_answered(), form)
    assert "nan" not in written.lower()
    if form in ("text", "markdown", "html"):
        assert "nothing to evaluate" in written
        assert "NOT EVALUATED" in written
        assert "1.000" not in written


def test_the_verdict_names_what_is_measured():
    assert squeezed(render(answered(), "text", width=160))[0] == (
        "FAIL groundedness 0.731, faithfulness 0.755, number agreement 0.861, token recall 0.644"
        " over 103 answers; 1 of 2 gates failed"
    )
    assert squeezed(render(answered(task="qa"), "text", width=160))[0] == (
        "FAIL token recall 0.644, containment 0.401, faithfulness 0.755, groundedness 0.731"
        " over 103 questions; 1 of 2 gates failed"
    )
    assert squeezed(render(plain(), "text"))[0] == (
        "PASS groundedness 0.731, number agreement 0.861 over 12 answers; no gates"
    )
    other = {"answers.rougeL": score(0.4), "answers.chrf": score(None, 0, 120, "no reference")}
    made = msgspec.structs.replace(plain(), metrics=other)
    assert squeezed(render(made, "text"))[0] == "PASS rougeL 0.400 over 12 answers; no gates"


def test_kinds_refusals_errors_and_the_cost_of_the_judge_stand_below_the_verdict():
    told = " ".join(squeezed(render(answered(), "text", width=100))[1:5])
    assert "80 QA, 20 summary, 3 data to text; 4 refusals, 1 error; groundedness/1" in told
    assert "judge small-judge: 412 calls, 120 replies from the cache" in told
    assert "1,204,331 tokens in, 80,112 out, cost 0.4231" in told
    free = answered(detail=detail(usage=msgspec.structs.replace(detail().usage, cost=None)))
    assert "80,112 out, no prices given" in " ".join(squeezed(render(free, "text")))
    assert "12 QA; groundedness/1, embedder ngram" in squeezed(render(plain(), "text"))


def test_metrics_stand_in_families_and_judged_ones_beside_the_cheap_and_the_people():
    rows = squeezed(render(answered(), "text", width=120))
    at = rows.index("Judged by small-judge")
    assert rows[at + 1].startswith("faithfulness 0.755 [0.715, 0.795] 98 of 103 ███")
    beside = " ".join(rows[at + 2 : at + 4])
    assert beside.startswith("↳ beside it groundedness 0.731; people: AUROC 0.842 [0.801, 0.879],")
    for word in ("balanced accuracy 0.771", "base rate 0.617", "κ 0.548", "ECE 0.083"):
        assert word in beside
    assert "↳ beside it lexical_context_recall 0.660" in rows
    places = [
        rows.index(one) for one in ("Groundedness", "Overlap with the reference", "Citations")
    ]
    assert places == sorted(places)
    assert "absent: date_agreement, factual_accuracy: no row has a dated reference" in rows


def test_every_metric_of_answers_has_a_family():
    known = {id for id in table() if id.startswith(families.FAMILY)}
    made = msgspec.structs.replace(plain(), metrics={id: score(0.5) for id in known})
    told = {family.title: family.measures for family in families.families(made)}
    assert "Other" not in told
    assert {one.id for measures in told.values() for one in measures} == known


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_agreement_is_never_a_single_number(form):
    written = render(answered(), form, width=140)
    assert "Agreement with people" in written
    for head in ("AUROC", "balanced accuracy", "base rate", "κ", "ECE", "answers", "sources"):
        assert head in written
    for cell in ("0.842", "0.801", "0.771", "0.617", "0.548", "0.083", "412", "96"):
        assert cell in written


def test_a_judge_that_nobody_compared_with_people_is_told():
    words = "how far the judge agrees with people is not known: `ragauge calibrate judge` tells"
    unknown = answered(detail=detail(agreement=()))
    assert words in " ".join(squeezed(render(unknown, "text", width=200)))
    assert words not in " ".join(squeezed(render(answered(), "text", width=200)))
    assert words not in " ".join(squeezed(render(plain(), "text", width=200)))


def test_an_agreement_without_an_auroc_has_dashes():
    one = agreement("answers.faithfulness", None, kappa=None)
    assert families.agreement_words(one).startswith("AUROC –, balanced accuracy 0.771")
    rows = squeezed(render(answered(detail=detail(agreement=(one,))), "text", width=120))
    assert "faithfulness – 0.771 0.617 – 0.083 412 96" in rows


def test_a_terminal_shows_each_sentence_with_its_mark_and_its_evidence():
    rows = squeezed(render(answered(), "text", width=120))
    at = rows.index("museum-17 groundedness 0.312 not grounded QA")
    assert rows[at + 1 : at + 5] == [
        "When was the Rijksmuseum founded, and where?",
        "✗ 0.12 The gallery was founded in 1834 in Berlin.",
        "not in the contexts: 1834, founded, Berlin",
        "nearest: museum#2 The national gallery [opened its doors in The Hague on 31 May 1800]."
        " In 1808 it moved to",
    ]
    assert "✓ 0.93 Cuypers designed the building it has now." in rows
    assert rows[rows.index("· I hope this helps!") + 1] == "claims nothing"
    assert "and 8 more sentences" in rows
    assert not any("fine-1" in row for row in rows)


def test_marks_need_no_color():
    colored = render(answered(), "text", color=True, width=100)
    assert "\x1b[1;31m✗ 0.12" in colored
    assert "\x1b[1;31m1834" in colored
    assert "\x1b[33m~ 0.55" in colored


@pytest.mark.parametrize("width", [40, 80, 120])
def test_chinese_is_wrapped_within_the_width(width):
    lines = render(answered(), "text", width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    text = "".join("".join(lines).split())
    assert "博物馆于1834年在柏林建立" in text
    assert "艺术品。" in text


def test_a_page_has_words_for_every_mark_and_nothing_to_run():
    written = render(answered(), "html")
    page = Page(written)
    assert "<script" not in written
    assert page.text_of("h2").count("Least grounded answers") == 1
    assert (
        '<li class="s-none">\n<p class="support"><span class="mark" aria-hidden="true">✗</span>'
        in (written)
    )
    assert '0.12 <span class="words">not supported</span>' in written
    assert "in <mark>1834</mark> in <mark>Berlin</mark>." in written
    assert "<code>museum#2</code> <bdi>The national gallery <mark>opened its doors" in written
    assert "<mark>柏林</mark>" in written
    assert "<mark>1834年</mark>" in written


def test_a_comment_is_short_and_has_the_weakest_sentences():
    written = render(answered(), "markdown")
    assert (
        "| `museum-17` | 0.312 | `The gallery was founded in 1834 in Berlin.` | ✗ 0.12 |"
        " `museum#2` | `1834, founded, Berlin` |" in written
    )
    assert "| `empty-2` | – | no answer |" in written
    before_any_click = written[: written.index("<details>")]
    assert len(before_any_click.splitlines()) < 25


def test_junit_fails_an_answer_with_a_bare_sentence():
    [_, cases] = list(JUnitXml.fromstring(render(answered(), "junit").encode()))
    found = {case.name: case.result[0] if case.result else None for case in cases}
    assert isinstance(found["museum-17"], Failure)
    assert found["museum-17"].message == "groundedness 0.312: 1 of 4 sentences not supported"
    assert "not in the contexts: 1834, founded, Berlin" in found["museum-17"].text
    assert isinstance(found["empty-2"], Error)
    assert found["fine-1"] is None
    [_, cases] = list(JUnitXml.fromstring(render(plain(), "junit").encode()))
    assert {type(case.result[0]) for case in cases if case.result} == {Skipped}


def test_csv_has_a_row_an_answer():
    read = list(csv.DictReader(io.StringIO(render(answered(), "csv"), newline="")))
    assert [row["id"] for row in read][:3] == ["museum-17", "zh-4", "empty-2"]
    assert read[0]["groundedness"] == "0.312"
    assert read[0]["token_recall"] == ""
    assert read[0]["token_recall_reason"] == "no reference"
    assert read[0]["not_in_contexts"] == "1834, founded, Berlin"
    assert read[2]["answer"] == ""


def test_answers_that_are_the_worst_of_something_else_are_shown_whole():
    bare = shown("a1", "Who?", None, answer="Nobody knows.", values={"answers.token_recall": 0.1})
    fine = shown("a2", "Who?", None, answer="Cuypers.", values={"answers.token_recall": 1.0})
    rows = squeezed(render(plain(detail=detail(worst=(bare, fine))), "text"))
    at = rows.index("Answers with the lowest token_recall")
    assert rows[at + 2 : at + 5] == ["a1 token_recall 0.100 QA", "Who?", "Nobody knows."]
    assert not any("Cuypers." in row for row in rows)


def test_where_every_sentence_is_supported_a_terminal_says_so():
    fine = shown("a1", "Who?", 0.9, sentence("Cuypers.", 0.9, "Cuypers"))
    written = render(plain(detail=detail(worst=(fine,))), "text")
    assert "every sentence of the answers that are kept is supported" in written
    assert "Cuypers." not in written


def test_where_no_sentence_was_looked_at_a_terminal_does_not_call_them_supported():
    fine = shown("a1", "Who?", None, answer="Cuypers.", values={"answers.faithfulness": 1.0})
    written = " ".join(render(plain(detail=detail(worst=(fine,))), "text").split())
    assert "every sentence" not in written
    assert "is below 0.700; their sentences were not looked at" in written


def test_levels_and_what_is_kept_of_a_long_answer():
    scores = (0.9, 0.1, None, 0.5, 0.1)
    long = shown("a1", "Who?", 0.4, *(sentence(f"s{n}", one) for n, one in enumerate(scores)))
    [told] = support.answers(detail(worst=(long,)))
    assert [one.level.mark for one in told.sentences] == ["✓", "✗", "·", "~", "✗"]
    assert ["".join(text for text, _ in one.pieces) for one in told.some(3)] == ["s1", "s3", "s4"]
    assert told.weakest == told.sentences[1]
    assert support.level_of(0.7) == support.FULL
    assert support.level_of(0.4) == support.PART


def test_words_are_marked_whole_and_in_any_case():
    assert marked_words("Ber Berlin berlin Berliner", ["BERLIN"]) == (
        ("Ber ", False),
        ("Berlin", True),
        (" ", False),
        ("berlin", True),
        (" Berliner", False),
    )
    assert marked_words("a+b", ["+"]) == (("a", False), ("+", True), ("b", False))
    assert marked_words("plain", ["", " "]) == (("plain", False),)


def test_evidence_is_cut_at_words_on_both_sides():
    found = sentence("x", 0.1, "In 1808 it moved to the capital").evidence
    assert quoted(found, 20) == (
        ("… on 31 May 1800. ", False),
        ("In 1808 it moved to the capital", True),
        (", on the order of …", False),
    )


def test_the_answers_of_a_model_stand_among_its_tasks():
    made = everything()
    qa = answered(task="qa")
    made = msgspec.structs.replace(
        made, tasks={**made.tasks, "qa": qa}, metrics={**made.metrics, **qa.metrics}
    )
    for form in ("text", "markdown", "html"):
        written = render(made, form)
        assert "Overlap with the reference" in written
    assert "Least grounded answers" in render(made, "html")
