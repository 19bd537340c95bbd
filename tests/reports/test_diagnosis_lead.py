"""What a diagnosis says first: the verdict, the likeliest cause, or why none is claimed."""

import pytest
from msgspec import structs

from ragauge.reports.rendering import render
from tests.reports.test_diagnosis import (
    cause,
    fine,
    metric,
    not_evaluable,
    report,
    telling,
    unjudged,
)
from tests.reports.test_diagnosis_forms import READ, plain, read_forms

LOW = metric("context_recall", "critical", 0.4, beyond_warning=9)


def lead_of(made):
    first, *rest = render(made, "text", width=130).partition("Metrics")[0].splitlines()[2:]
    return first, [line.strip() for line in rest if line.strip()]


def test_the_lead_is_as_sure_as_the_evidence():
    def lead(standing, **facts):
        return lead_of(report([LOW], causes=(cause(standing=standing, **facts),)))

    heading, lines = lead("likely")
    assert (heading, lines[0]) == ("Likeliest cause", "The pool of candidates is too small")
    heading, lines = lead("possible")
    assert heading == "No cause is likely; the best candidate"
    assert lines[-1] == "First change recall_top_k: Retrieve 50 candidates before reranking."
    heading, lines = lead("untested", explains=0.0, why="no payloads")
    assert heading == "No cause could be identified; look into this first"
    assert lines[1] == "no payloads"
    assert lines[2].startswith("Confirm: Ask the samples below again")


def test_the_first_thing_to_do_may_turn_no_knob():
    [do_first] = [one for one in cause().actions if one.knob is None]
    changed = cause(actions=(do_first,))
    assert lead_of(report([LOW], causes=(changed,)))[1][-1].startswith("First: Ask the samples")
    nothing = cause(actions=())
    assert lead_of(report([LOW], causes=(nothing,)))[1][-1].startswith("Confirm: Ask")


def test_the_lead_shows_the_heaviest_evidence_or_what_the_cause_means():
    light, heavy = cause().evidence
    symptom = structs.replace(heavy, bits=0.0, text="a symptom shows")
    lead = lead_of(report([LOW], causes=(cause(evidence=(light, symptom, heavy)),)))[1][1]
    assert lead.endswith("no more than five passages were retrieved in 14 of 18 samples")
    lead = lead_of(report([LOW], causes=(cause(evidence=(light,)),)))[1][1]
    assert lead.endswith("cut off before anything looks at it.")


struck = cause(standing="struck_out", why="none shows it")


@read_forms
@pytest.mark.parametrize(
    ("made", "why"),
    [
        (fine(), "no metric is beyond a threshold"),
        (fine(causes=(cause(standing="possible"),)), "no metric is beyond a threshold"),
        (unjudged(), "nothing could be judged"),
        (report([]), "no metric was requested"),
        (
            report([LOW]),
            "the catalogue has none for these metrics; the end of the report shows what is missing",
        ),
        (
            report([LOW], causes=(struck, struck)),
            "the samples rule out all 2 causes that were checked",
        ),
    ],
)
def test_where_no_cause_is_claimed_that_is_said_and_why(form, made, why):
    assert f"no cause is claimed {why}" in plain(made, form).lower()


def test_the_verdict_tells_fine_from_unknown():
    def verdict(made):
        return render(made, "text", width=150).splitlines()[0]

    assert verdict(fine()) == "PASS  no metric is beyond a threshold: 2 of 2 metrics fine"
    assert verdict(unjudged()) == (
        "FAIL  nothing could be judged: 1 not evaluable; 1 without a threshold"
    )
    five = [metric(f"m{n}", "warning", 0.6) for n in range(5)]
    assert verdict(report(five)) == (
        "PASS  no metric is critical; 5 of 5 metrics beyond a threshold: m0 warning, m1 warning,"
        " m2 warning, 2 more"
    )
    assert verdict(report([], passed=False)) == (
        "FAIL  nothing could be judged: no metric was requested"
    )


def never(diagnoses, **parts):
    return report(diagnoses, identity={"command": "diagnose", "fail_on": "never"}, **parts)


VERDICTS = [
    (never([LOW]), "PASS  --fail-on never: 1 of 1 metric beyond a threshold: context_recall"),
    (
        never(unjudged().diagnoses),
        "PASS  --fail-on never: nothing could be judged: 1 not evaluable",
    ),
    (
        never([metric("a"), not_evaluable("b", "no number")]),
        "PASS  --fail-on never: no metric is beyond a threshold: 1 of 2 metrics fine; 1 not eval",
    ),
    (never([metric("a")]), "PASS  no metric is beyond a threshold: 1 of 1 metric fine"),
    (
        report([metric("a"), not_evaluable("b", "no number")], passed=False),
        "FAIL  1 not evaluable; no metric is beyond a threshold: 1 of 2 metrics fine",
    ),
    (
        report([metric("a", "warning", 0.6), not_evaluable("b", "no number")], passed=False),
        "FAIL  1 not evaluable; 1 of 2 metrics beyond a threshold: a warning",
    ),
    (
        report(
            [metric("a", "warning", 0.6), not_evaluable("b", "no number")],
            passed=False,
            identity={"fail_on": "warning"},
        ),
        "FAIL  1 of 2 metrics beyond a threshold: a warning; 1 not evaluable",
    ),
    (
        report([LOW], passed=False),
        "FAIL  1 of 1 metric beyond a threshold: context_recall critical",
    ),
]


@pytest.mark.parametrize(("made", "told"), VERDICTS)
def test_the_verdict_says_why_it_is_what_it_is(made, told):
    assert render(made, "text", width=150).startswith(told)


def test_the_verdict_says_why_in_chinese():
    mild = report([metric("a", "warning", 0.6)], language="zh", slices=telling().slices)
    assert render(mild, "text", width=150).startswith(
        "通过  没有严重的指标；1 个指标中有 1 个超出阈值"
    )
    assert "；但是：critical only for" in plain(mild, "text")
    assert render(never([LOW], language="zh"), "text").startswith(
        "通过  --fail-on never：1 个指标中"
    )
    assert render(unjudged(language="zh"), "text").startswith(
        "未通过  没有任何指标可以判定：1 个无法评估；1 个没有阈值"
    )


@pytest.mark.parametrize("form", [*READ, "github"])
def test_a_run_that_passes_names_the_strongest_slice_where_it_is_not_fine(form):
    [strongest] = telling().slices
    other = structs.replace(strongest, text="worse elsewhere, too")
    made = fine(slices=(strongest, other))
    assert f"2 of 2 metrics fine; but: {strongest.text}" in plain(made, form)
    assert "but: worse elsewhere" not in plain(made, form)
    assert "but: " not in plain(telling(), form)


GOLDEN = """\
FAIL  nothing could be judged: 1 not evaluable; 1 without a threshold

No cause is claimed
  nothing could be judged

Metrics
  metric        severity       value  0          1  warning / critical     valid
  faithfulness  not evaluable  –                    < 0.70 / 0.50        0 of 40
    none of 40 values is a number; in place of a value: null 40
  politeness    no threshold   0.930            ●   –                   40 of 40
    no threshold is known for it

Coverage  samples 40
"""


def test_a_diagnosis_of_nothing_reads_like_this():
    assert render(unjudged(), "text", width=80) == GOLDEN
