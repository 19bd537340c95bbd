"""An evaluation of answers in every form: the numbers, the sentences, and who agrees with whom."""

import json

import jsonschema
import msgspec
import pytest
from rich.cells import cell_len

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.metrics.names import leading
from ragauge.reports.rendering import render
from tests.reports.evaluation.answered import (
    agreement,
    answered,
    detail,
    nothing_answered,
    plain,
    sentence,
    shown,
)
from tests.reports.evaluation.reports import score

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


def test_groundedness_and_correctness_lead():
    verdict = render(answered(), "text", width=200).splitlines()[0]
    assert "groundedness 0.731, correctness (token recall) 0.644" in verdict
    leads = "<EvalReport FAIL, groundedness 0.731 [0.691, 0.771], token_recall 0.644"
    assert repr(answered(gates=())).startswith(leads)
    names = ("brief_faithfulness", "chrf", "token_f1")
    bare = plain(metrics={f"answers.{name}": score(0.5) for name in names})
    assert render(bare, "text").startswith("PASS  token_f1 0.500 over")
    assert leading(bare.metrics) == ["answers.token_f1"]


def test_a_judge_that_nobody_compared_with_people_is_told():
    words = "How far the judge agrees with people is not known; run `ragauge calibrate judge`"
    unknown = answered(detail=detail(agreement=()))
    assert words in " ".join(squeezed(render(unknown, "text", width=200)))
    assert words not in " ".join(squeezed(render(answered(), "text", width=200)))
    assert words not in " ".join(squeezed(render(plain(), "text", width=200)))


def test_an_agreement_without_an_auroc_has_dashes():
    one = agreement("answers.faithfulness", None, kappa=None)
    rows = squeezed(render(answered(detail=detail(agreement=(one,))), "text", width=120))
    assert "faithfulness – 0.771 0.617 – 0.083 412" in rows


@pytest.mark.parametrize("width", [40, 80, 120])
def test_chinese_is_wrapped_within_the_width(width):
    lines = render(answered(), "text", width=width).splitlines()
    assert max(map(cell_len, lines)) <= width
    text = "".join("".join(lines).split())
    assert "博物馆于1834年在柏林建立" in text
    assert "艺术品。" in text


def test_answers_that_are_the_worst_of_something_else_are_shown_whole():
    bare = shown("a1", "Who?", None, answer="Nobody knows.", values={"answers.token_recall": 0.1})
    fine = shown("a2", "Who?", None, answer="Cuypers.", values={"answers.token_recall": 1.0})
    rows = squeezed(render(plain(detail=detail(worst=(bare, fine))), "text"))
    at = rows.index("Answers with the lowest token_recall")
    assert rows[at + 1 : at + 3] == ["a1 token_recall 0.100 Who? QA", "Nobody knows."]
    assert not any("supported" in row for row in rows)


def test_a_sentence_that_is_supported_has_its_mark_and_its_evidence():
    fine = shown("a1", "Who?", 0.9, sentence("Cuypers.", 0.9, "Cuypers"))
    rows = squeezed(render(plain(detail=detail(worst=(fine,))), "text"))
    at = rows.index("✓ 0.90: Cuypers.")
    assert "the king. [Cuypers] designed" in " ".join(rows[at + 1 : at + 3])
