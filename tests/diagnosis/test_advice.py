"""Advice: what the questions speak for, the strongest first."""

import msgspec
import pytest

from ragauge.contracts.metric import PATTERN, Facts
from ragauge.contracts.report import Score
from ragauge.contracts.score import QuestionRow
from ragauge.diagnosis.advice import SHOWN, advise, concentration
from ragauge.metrics.quality import label, triage


def row(qid, **facts):
    read = Facts(**{"answerable": True, "answered": True, "cited_count": 1} | facts)
    return QuestionRow(
        qid=qid,
        label=label(read),
        triage=triage(read),
        in_scope=read.in_scope,
        traces=1,
        where=None,
        **{name: getattr(read, name) for name in PATTERN},
    )


def rows(times, prefix, **facts):
    return [row(f"{prefix}{number}", **facts) for number in range(times)]


REFUSED = {"answered": False, "refusal": "exact", "cited_count": 0}
RIGHT = {"hit": True, "contained": True}
CAUSES = {
    "cites_wrong_ids": {"hit": False, "gold_found": True},
    "retrieval_misses": {"hit": False, "gold_found": False},
    "no_hit_unseen": {"hit": False},
    "hallucinates": {"answerable": False},
    "refuses_with_evidence": REFUSED | {"gold_found": True},
    "refuses_without_evidence": REFUSED | {"gold_found": False},
    "refuses_unseen": REFUSED,
    "refusal_malformed": {"answerable": False, "refusal": "near", "cited_count": 0},
    "cites_unseen_ids": RIGHT | {"cited_count": 2, "cited_in_scope": 1},
    "cites_nothing": {"hit": None, "contained": True, "cited_count": 0},
    "cites_right_says_wrong": {"hit": True, "contained": False},
    "errors": {"status": "error", "answered": None, "cited_count": 0},
    "missing": {"status": "missing", "answered": None, "cited_count": 0},
}


def ids(advice):
    return [one.id.removeprefix("quality.") for one in advice]


@pytest.mark.parametrize("cause", CAUSES)
def test_each_cause_is_seen_in_its_own_questions_alone(cause):
    assert ids(advise(rows(2, "q", **CAUSES[cause]), {}, {})) == [cause]


def test_right_answers_and_right_refusals_need_no_advice():
    good = [*rows(5, "a", **RIGHT), *rows(5, "u", **REFUSED | {"answerable": False})]
    assert advise(good, {}, {}) == ()


def test_a_refusal_counts_as_one_however_it_is_dressed():
    """Where a refusal with more around the token counts, it is one as any other."""
    dressed = rows(3, "q", **REFUSED | {"refusal": "near", "gold_found": True})
    assert {one.label for one in dressed} == {"OVER_REFUSAL"}
    assert ids(advise(dressed, {}, {})) == ["refuses_with_evidence"]


def test_causes_are_ranked_by_questions_then_by_id():
    questions = [
        *rows(3, "a", **CAUSES["hallucinates"]),
        *rows(2, "b", **CAUSES["cites_wrong_ids"]),
        *rows(2, "c", **CAUSES["errors"]),
    ]
    advice = advise(questions, {}, {})
    assert ids(advice) == ["hallucinates", "cites_wrong_ids", "errors"]
    assert ids(advise(questions[::-1], {}, {})) == ids(advice)


def test_evidence_counts_all_questions_and_shows_the_first():
    (advice,) = advise(rows(9, "q", **CAUSES["hallucinates"]), {}, {})
    assert "9" in advice.evidence
    assert advice.questions == tuple(f"q{number}" for number in range(SHOWN))


def test_a_question_with_several_traces_is_shown_once():
    (advice,) = advise([row("q1", **CAUSES["errors"]) for _ in range(3)], {}, {})
    assert advice.questions == ("q1",)


# Concentration in a stratum.


@pytest.mark.parametrize(
    ("dutch_wrong", "wrong", "dutch", "everyone", "said"),
    [
        (3, 3, 4, 12, "3 of 3 have language=nl (4 of 12 overall)"),
        (3, 5, 4, 20, "3 of 5 have language=nl (4 of 20 overall)"),
        (2, 2, 4, 12, None),  # two questions are no pattern
        (2, 5, 4, 20, None),  # less than most of them
        (4, 4, 10, 12, None),  # nearly everyone is
    ],
)
def test_a_stratum_is_named_where_the_faults_gather(dutch_wrong, wrong, dutch, everyone, said):
    languages = ["nl"] * dutch + ["en"] * (everyone - dutch)
    strata = {str(n): {"language": language} for n, language in enumerate(languages)}
    qids = list(strata)
    chosen = qids[:dutch_wrong] + qids[dutch : dutch + wrong - dutch_wrong]
    assert concentration(chosen, qids, strata) == said


def test_questions_are_compared_with_their_like():
    """Every unanswerable question is of type "none": that says nothing about hallucinations."""
    questions = [*rows(9, "a", **RIGHT), *rows(4, "u", **CAUSES["hallucinates"])]
    kinds = {one.qid: {"kind": "factual" if one.answerable else "none"} for one in questions}
    (advice,) = advise(questions, {}, kinds)
    assert "kind=" not in advice.evidence
    kinds |= {f"u{number}": {"kind": "odd"} for number in range(4)}
    questions += rows(8, "v", **REFUSED | {"answerable": False})
    (advice,) = advise(questions, {}, kinds)
    assert advice.evidence.endswith("; 4 of 4 have kind=odd (4 of 12 unanswerable overall)")


# Precision fine, hit rate low: that is over-refusal, and only that.


@pytest.mark.parametrize(
    ("precision", "hit_rate", "over_refusal", "refusals", "said"),
    [
        (0.95, 0.60, 0.35, 7, True),
        (0.80, 0.79, 0.11, 2, True),
        (0.79, 0.60, 0.35, 7, False),
        (0.95, 0.80, 0.15, 3, False),
        (0.95, 0.60, 0.05, 1, False),
        (0.95, 0.60, 0.35, 0, False),
        (None, 0.60, 0.35, 7, False),
        (0.95, None, None, 7, False),
    ],
)
def test_precision_that_hides_refusals_is_called_so(
    precision, hit_rate, over_refusal, refusals, said
):
    values = {"precision_cited": precision, "citation_hit_rate": hit_rate}
    values["over_refusal"] = over_refusal
    scores = {f"quality.{name}": Score(value=v, n=20, of=20) for name, v in values.items()}
    questions = [*rows(9, "a", **RIGHT), *rows(refusals, "r", **REFUSED)]
    advice = {one.id: one for one in advise(questions, scores, {})}
    assert ("quality.precision_hides_refusals" in advice) is said
    if said:
        assert "over-refusal" in advice["quality.precision_hides_refusals"].title


def test_advice_is_plain_data():
    advice = advise(rows(3, "q", **CAUSES["errors"]), {}, {})
    assert msgspec.json.decode(msgspec.json.encode(advice))[0]["id"] == "quality.errors"
