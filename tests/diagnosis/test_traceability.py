"""Advice on traceability: what the audited runs of questions speak for."""

import pytest

from ragauge.contracts.audit import AuditedAnswer, AuditFacts
from ragauge.contracts.trace_eval import TracedQuestion
from ragauge.diagnosis.advice import (
    CODES,
    SHOWN,
    TraceabilityFacts,
    advise_similarity,
    advise_traceability,
    traceability_facts,
)

GOOD = {
    "answerable": True,
    "holds": True,
    "matched": True,
    "found": True,
    "retrieval": "convergent",
    "answer": "convergent",
    "decoy_nearer": False,
    "demoted": False,
}
CAUSES = {
    "does_not_hold": {"holds": False, "matched": False},
    "shown_not_cited": {"matched": False},
    "cites_elsewhere": {"matched": False, "found": None},
    "target_missed": {"matched": None, "found": False},
    "target_cut": {"fails_coverage": True},
    "cites_a_part": {"fails_reach": True},
    "cites_too_much": {"fails_span_precision": True},
    "far_context": {"fails_deltas": True},
    "decoy_nearer": {"decoy_nearer": True},
    "retrieval_varies": {"retrieval": "divergent", "broken": "retrieval"},
    "answers_vary": {"answer": "recursive", "broken": "after retrieval"},
    "varies_unseen": {"answer": "chaotic", "retrieval": None},
    "order_changes": {"turned": "seed"},
    "order_follows_wording": {"turned": "wording"},
    "reranker_demotes": {"demoted": True},
    "runs_fail": {"answer": "incomplete", "retrieval": "incomplete"},
    "few_wordings": {"answer": "incomplete", "retrieval": "incomplete", "short": True},
}


def facts(times, prefix="q", **changed):
    return [TraceabilityFacts(qid=f"{prefix}{n}", **GOOD | changed) for n in range(times)]


def ids(advice):
    return [one.id.removeprefix("traceability.") for one in advice]


def advise(questions, strata=None, codes_first=False):
    return advise_traceability(questions, strata or {}, codes_first=codes_first)


@pytest.mark.parametrize("cause", CAUSES)
def test_each_cause_is_seen_in_its_own_questions_alone(cause):
    assert ids(advise(facts(2, **CAUSES[cause]))) == [cause]


def test_runs_that_hold_match_and_agree_need_no_advice():
    refused = facts(3, "u", answerable=False, matched=None, found=None)
    assert advise([*facts(5), *refused]) == ()


@pytest.mark.parametrize(
    ("near", "cause"), [(True, "near_but_wrong"), (False, "far_and_wrong"), (None, None)]
)
def test_an_answer_that_misses_the_gold_is_told_by_how_near_its_chunks_were(near, cause):
    said = ids(advise(facts(1, matched=False, near=near)))
    assert said == sorted(filter(None, ["shown_not_cited", cause]))


def test_causes_are_ranked_by_questions_then_by_id_and_show_the_first():
    questions = [
        *facts(2, "o", **CAUSES["order_changes"]),
        *facts(7, "a", **CAUSES["answers_vary"]),
        *facts(2, "r", **CAUSES["retrieval_varies"]),
    ]
    advice = advise(questions)
    assert ids(advice) == ["answers_vary", "order_changes", "retrieval_varies"]
    assert ids(advise(questions[::-1])) == ids(advice)
    assert advice[0].evidence == "questions whose runs differ only after retrieval: 7"
    assert advice[0].questions == tuple(f"a{n}" for n in range(SHOWN))


def test_a_stratum_where_the_faults_gather_is_named():
    questions = [*facts(3, "w", **CAUSES["answers_vary"]), *facts(9)]
    strata = {one.qid: {"language": "nl" if one.qid[0] == "w" else "en"} for one in questions}
    (advice,) = advise(questions, strata)
    assert advice.evidence.endswith("; 3 of 3 have language=nl (3 of 12 answerable overall)")


def test_where_codes_come_first_no_knob_is_advised():
    questions = [one for cause in CAUSES for one in facts(2, cause, **CAUSES[cause])]
    assert len(advise(questions)) == len(CAUSES)
    (advice,) = advise(questions, codes_first=True)
    assert advice.id == CODES
    assert advise(facts(2, **CAUSES["answers_vary"]), codes_first=True) == ()


# From the audited runs of a question to what the catalogue asks for.


def question(**told):
    known = {
        "qid": "q1",
        "question": "Why?",
        "answerable": True,
        "retrieval": "convergent",
        "answer": "convergent",
        "broken": None,
        "matched": 0,
        "answered": 0,
        "coverage": None,
        "codes": {},
        "runs": (),
    }
    return TracedQuestion(**known | told)


def read(*runs, threshold=None, failed=(), **told):
    return traceability_facts(
        question(**told), runs, turned=None, short=False, failed=failed, threshold=threshold
    )


def run(code="ok", kind="answer", **told):
    return AuditFacts(kind=kind, code=code, answerable=True, **told)


def test_one_run_that_does_not_hold_is_enough():
    assert read(run(), run()).holds is True
    assert read(run(), run("not_retrieved")).holds is False
    assert read().holds is None


def test_every_answer_must_cite_the_gold_and_refusals_say_nothing():
    assert read(run(matched=True), run(kind="refusal")).matched is True
    assert read(run(matched=True), run(matched=False)).matched is False
    assert read(run(kind="refusal")).matched is None


@pytest.mark.parametrize(("coverage", "found"), [(None, None), (0.0, False), (0.01, True)])
def test_a_target_is_found_where_something_of_it_was_retrieved(coverage, found):
    assert read(coverage=coverage).found is found


def test_near_needs_a_threshold_an_answer_that_holds_and_one_that_misses():
    missed = {"matched": False, "deltaS": {"chunk": 0.4, "context": 0.9}}
    assert read(run(**missed), threshold=0.4).near is True
    assert read(run(**missed), threshold=0.39).near is False
    assert read(run(**missed)).near is None
    assert read(run("bad_order", **missed), threshold=0.4).near is None
    assert read(run(**missed | {"matched": True}), threshold=0.4).near is None
    assert read(run(matched=False), threshold=0.4).near is None
    far = run(matched=False, deltaS={"chunk": 0.8})
    assert read(far, run(**missed), threshold=0.4).near is True


def test_a_decoy_as_near_as_the_anchor_is_nearer():
    assert read(run(deltaS={"anchor": 0.5, "decoy": 0.5})).decoy_nearer is True
    assert read(run(deltaS={"anchor": 0.5, "decoy": 0.6})).decoy_nearer is False
    assert read(run(deltaS={"anchor": 0.5})).decoy_nearer is None


def test_the_gold_is_demoted_where_its_runs_lose_by_reranking_in_all():
    up, down = (run(ndcg_before=b, ndcg_after=a) for b, a in ((0.5, 0.8), (0.8, 0.5)))
    assert read(down).demoted is True
    assert read(up).demoted is False
    assert read(up, down).demoted is False
    assert read(run(ndcg_before=0.5)).demoted is None


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("coverage", "fails_coverage"),
        ("deltaS_chunk", "fails_deltas"),
        ("deltaS_context", "fails_deltas"),
        ("cited_coverage", "fails_reach"),
        ("span_recall", "fails_reach"),
        ("span_precision", "fails_span_precision"),
        ("valid", None),
    ],
)
def test_a_gate_that_fails_is_a_fact_of_the_questions_beyond_its_bound(name, fact):
    told = read(failed={name})
    every = [field for field in told.__struct_fields__ if field.startswith("fails_")]
    assert [field for field in every if getattr(told, field)] == ([fact] if fact else [])


# What an audit says of single answers.


def answer(qid, matched, chunk, code="ok"):
    return AuditedAnswer(
        qid=qid, where=f"t.jsonl:{qid}", code=code, kind="answer", cited=("a",), findings=0,
        matched=matched, deltaS={"chunk": chunk},
    )  # fmt: skip


def test_an_audit_tells_near_answers_from_far_ones():
    answers = [
        answer("q1", False, 0.3),
        answer(None, False, 0.4),
        answer("q3", False, 0.6),
        answer("q4", True, 0.3),
        answer("q5", None, 0.3),
        answer("q6", False, 0.3, "not_retrieved"),
    ]
    near, far = advise_similarity(answers, 0.5)
    assert (near.id, near.questions) == (
        "traceability.near_but_wrong",
        ("q1", "t.jsonl:None"),
    )
    assert near.action == "Align the analyzer, pooling and metric, then rebuild the index."
    assert (far.id, far.questions) == ("traceability.far_and_wrong", ("q3",))


def test_without_a_calibrated_threshold_an_audit_says_nothing_of_similarity():
    assert advise_similarity([answer("q1", False, 0.1)], None) == ()
    assert advise_similarity([], 0.5) == ()
