"""What went wrong in a traced answer: every symptom and sign, from as little as it takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy.stats import fisher_exact

from ragauge.citations.codes import CODES
from ragauge.contracts.answers import Context
from ragauge.contracts.citation import Citation, Offsets
from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Facts
from ragauge.contracts.run import Variation
from ragauge.diagnosis.cases import ObservedTrace
from ragauge.diagnosis.catalogue import symptoms
from ragauge.diagnosis.scored_case import LONG_CONTEXT_WORDS, MANY, PADDED_WORDS
from ragauge.diagnosis.traced_case import (
    FEWEST_EACH,
    MIXED,
    OFF,
    STALE,
    known_ids,
    traced_cases,
)

NEEDED = "d1#a"
GOLD = Gold(
    qid="q1",
    question="Who painted it?",
    answerable=True,
    gold_claim="Jan Vermeer painted it.",
    gold_citations=(NEEDED,),
)
TWO = structs.replace(GOLD, gold_citations=(NEEDED, "d1#b"))
UNANSWERABLE = Gold(qid="q2", question="Who sold it?", answerable=False)
FIRST = Variation()
SCORED_ONLY = {"off_question", "reworded"}
"""What only the scores of a judge can show."""
POINTERS = ("stale", "offsets_off", "sections_mixed")


def facts(*, cited=(NEEDED,), **told):
    """The facts of a right answer that cites what it should, but for what is told."""
    known = {
        "answerable": True,
        "answered": True,
        "hit": NEEDED in cited,
        "contained": True,
        "claim": "Jan Vermeer painted it.",
    }
    return Facts(**{**known, "cited": cited, "cited_count": len(cited), **told})


def run(id="r1", gold=GOLD, *, variation=FIRST, retrieved=(NEEDED, "d1#b"), **told):
    """A trace; what was found follows from what was retrieved."""
    needed = set(gold.gold_citations)
    known = {"found_some": None, "found_all": None}
    if retrieved is not None and needed:
        known["found_some"] = not needed.isdisjoint(retrieved)
        known["found_all"] = needed <= set(retrieved)
    known |= {"facts": facts(), **told}
    return ObservedTrace(id=id, gold=gold, variation=variation, retrieved=retrieved, **known)


def payload(id, *, k_pos=None, k_final=None, rerank_score=None):
    return Citation(
        doc_id=id.partition("#")[0],
        section_id=id.partition("#")[2],
        snippet_id=id,
        source_url="https://example.org",
        offsets=Offsets(0, 10),
        tokens=2,
        index_hash="h",
        embed_model="e",
        analyzer="a",
        rev="1",
        k_pos=k_pos,
        k_final=k_final,
        rerank_score=rerank_score,
    )


def shown(*ids, places=None, finals=None, score=0.5):
    """A trace that shows these chunks, each with its payload."""
    places = places or range(1, len(ids) + 1)
    finals = finals or range(1, len(ids) + 1)
    return run(
        retrieved=ids,
        payloads=tuple(
            payload(id, k_pos=k_pos, k_final=k_final, rerank_score=score)
            for id, k_pos, k_final in zip(ids, places, finals, strict=True)
        ),
    )


def claims(*answer, reference=(((True, False), True),), chunks=2):
    def side(told):
        return tuple(Claim(text="It is.", chunks=by, other=other) for by, other in told)

    return AnswerClaims(judge="j", answer=side(answer), reference=side(reference), chunks=chunks)


WRONG = facts(contained=False, claim="Rembrandt painted it.")
REFUSES = facts(cited=(), refusal="exact", answered=False, hit=None, contained=None)
CHECKED = {"audited": True, "held_to_index": True, "held_to_text": True}

SHOWING = {
    "call_failed": run(facts=Facts(True, "error")),
    "missed": run(retrieved=("d2#a",), facts=WRONG),
    "partly_missed": run(gold=TWO, retrieved=(NEEDED,), facts=WRONG),
    "found_late": run(retrieved=("d1#b", NEEDED)),
    "noisy": shown(NEEDED, "d2#a", "d3#a"),
    "answered_unanswerable": run(
        gold=UNANSWERABLE, facts=facts(answerable=False, hit=None, contained=None)
    ),
    "refused_with_evidence": run(facts=REFUSES),
    "refusal_form": run(facts=structs.replace(REFUSES, refusal="free", answered=True)),
    "invented": run(claims=claims(((False, False), False))),
    "own_knowledge": run(facts=WRONG, claims=claims(((False, False), True))),
    "misled_by_noise": run(facts=WRONG, claims=claims(((False, True), False))),
    "misread": run(facts=WRONG, claims=claims(((True, False), False))),
    "left_out": run(facts=WRONG),
    "padded": run(facts=facts(claim="museum " * PADDED_WORDS)),
    "uncited": run(facts=facts(cited=())),
    "cites_wrong": run(facts=facts(cited=("d1#b",))),
    "cites_unknown": run(facts=facts(cited=("d1#a-9",))),
    "stale": run(**CHECKED, codes=frozenset({"mismatch_index_hash"})),
    "offsets_off": run(**CHECKED, codes=frozenset({"span_text_mismatch"})),
    "sections_mixed": run(audited=True, codes=frozenset({"cross_section_reuse"})),
    "constraints_lost": run(echoed=False),
}
"""By symptom, a trace that shows it."""

LONG_TEXT = (Context(NEEDED, "museum " * LONG_CONTEXT_WORDS),)

SIGNS = {
    "needed_missing": [
        (True, run(retrieved=("d1#b",))),
        (False, run()),
        (None, run(retrieved=None)),
    ],
    "needs_several": [(True, run(gold=TWO)), (False, run()), (None, run(retrieved=None))],
    "several_sources": [
        (True, run(facts=facts(cited=(NEEDED, "d1#b")))),
        (False, run()),
        (None, run(retrieved=None)),
    ],
    "longer": [
        (True, run(facts=facts(claim="museum " * PADDED_WORDS))),
        (False, run()),
        (None, run(gold=structs.replace(GOLD, gold_claim=None))),
        (None, run(facts=facts(claim=""))),
    ],
    "shorter": [
        (True, run(facts=facts(claim="Vermeer."))),
        (False, run(facts=facts(claim="Jan Vermeer."))),
        (False, run()),
    ],
    "claim_right": [(True, run()), (False, run(facts=WRONG)), (None, run(facts=REFUSES))],
    "many_passages": [
        (True, run(retrieved=tuple(map(str, range(MANY))))),
        (False, run()),
        (None, run(retrieved=None)),
    ],
    "long_context": [
        (True, run(contexts=LONG_TEXT)),
        (False, run(contexts=(Context(NEEDED, "Vermeer."),))),
        (None, run()),
    ],
    "noise_first": [
        (True, run(retrieved=("d1#b", NEEDED))),
        (False, run()),
        (None, run(retrieved=("d1#b",))),
    ],
    "late_evidence": [
        (True, run(retrieved=("d1#b", "d1#c", NEEDED))),
        (False, run(retrieved=("d1#b", NEEDED, "d1#c"))),
        (False, run(retrieved=("d1#b", NEEDED))),
        (None, run(retrieved=("d1#b",))),
    ],
    "foreign_passages": [
        (True, shown("d2#a", NEEDED)),
        (False, shown(NEEDED, "d2#a")),
        (False, shown("d1#b", NEEDED)),
        (None, run()),
    ],
    "demoted": [
        (True, shown("d1#b", NEEDED, places=(2, 1))),
        (False, shown(NEEDED, "d1#b", places=(2, 1))),
        (False, shown(NEEDED, "d1#b")),
        (None, run()),
    ],
    "unranked": [
        (True, shown(NEEDED, score=None)),
        (False, shown(NEEDED)),
        (None, shown(NEEDED, "d1#b", places=(1, None))),
        (None, run()),
    ],
    "shallow_pool": [
        (True, shown(NEEDED, "d1#b", places=(2, 1))),
        (False, shown(NEEDED, "d1#b", places=(1, 9))),
        (None, shown(NEEDED, "d1#b", score=None)),
        (None, shown(NEEDED)),
        (False, shown(NEEDED, places=(2,))),
        (None, run()),
    ],
    "rewritten": [(True, run(rewritten=True)), (False, run(rewritten=False)), (None, run())],
    "passed_check": [
        (True, run(passed_check=True)),
        (False, run(passed_check=False)),
        (None, run()),
    ],
}


def case_of(one, *siblings):
    return traced_cases([[one, *siblings]])[0]


@pytest.mark.parametrize("symptom", SHOWING)
def test_a_symptom_that_a_trace_shows(symptom):
    assert symptom in case_of(SHOWING[symptom]).symptoms


def test_every_symptom_can_be_shown_by_a_trace_or_else_by_scores():
    assert set(SHOWING) | SCORED_ONLY | {"slow"} == set(symptoms())


@pytest.mark.parametrize(
    ("usual_ms", "latency_ms", "slow"), [(5, 300, True), (5, 190, False), (2000, 19_000, False)]
)
def test_an_answer_is_slow_beside_the_others(usual_ms, latency_ms, slow):
    """Ten times the median, and long enough for somebody to notice."""
    quick = [[structs.replace(run(), latency_ms=usual_ms)] for _ in range(9)]
    cases = traced_cases([*quick, [structs.replace(run(), latency_ms=latency_ms)]])
    assert ["slow" in case.symptoms for case in cases] == [False] * 9 + [slow]


def test_nine_timed_answers_do_not_say_what_is_usual():
    timed = [[structs.replace(run(), latency_ms=ms)] for ms in [5] * 8 + [5000]]
    assert not any("slow" in case.looked_for for case in traced_cases(timed))


def test_a_sound_trace_shows_none_of_them_though_they_were_looked_for():
    sound = structs.replace(
        shown(NEEDED, "d1#b"),
        claims=claims(((True, False), True)),
        echoed=True,
        **CHECKED,
    )
    answered, refused, unanswerable = (
        case_of(sound),
        case_of(run(facts=REFUSES, retrieved=("d2#a",))),
        case_of(run(gold=UNANSWERABLE, facts=structs.replace(REFUSES, answerable=False))),
    )
    assert answered.symptoms == unanswerable.symptoms == frozenset()
    looked = answered.looked_for | refused.looked_for | unanswerable.looked_for
    assert looked == set(SHOWING)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_is_seen_not_seen_or_not_told(sign):
    for told, trace in SIGNS[sign]:
        assert case_of(trace).signs.get(sign) is told


@pytest.mark.parametrize("codes", [STALE, OFF, MIXED])
def test_the_codes_that_are_read_are_those_that_an_audit_speaks_in(codes):
    assert codes <= {one.code for one in CODES}


# Other runs of the question.

OTHER_WORDING = Variation(paraphrase=1)
OTHER_SEED = Variation(seed=1)


@pytest.mark.parametrize(
    ("variation", "sign"),
    [
        (OTHER_WORDING, "found_in_other_wording"),
        (Variation(jitter="ws"), "found_in_other_wording"),
        (OTHER_SEED, "found_under_other_seed"),
        (Variation(temperature=0.7), "found_under_other_seed"),
    ],
)
def test_what_another_run_of_the_question_found(variation, sign):
    lost = run(retrieved=("d2#a",), facts=WRONG)
    for found in (True, False):
        other = run("r2", variation=variation, retrieved=(NEEDED,) if found else ("d3#a",))
        signs = case_of(lost, other).signs
        assert signs[sign] is found
        assert len({"found_in_other_wording", "found_under_other_seed"} & set(signs)) == 1


def test_a_run_that_stands_alone_has_no_others():
    signs = case_of(run()).signs
    others = {"found_in_other_wording", "found_under_other_seed", "retrieval_moves"}
    assert not others & set(signs)


@pytest.mark.parametrize(
    ("retrieved", "moves"),
    [
        ((NEEDED, "d1#b"), False),
        (("d1#b", NEEDED), False),
        (("d2#a",), True),
        (None, None),
    ],
)
def test_whether_the_runs_of_a_question_retrieve_the_same(retrieved, moves):
    other = run("r2", variation=OTHER_SEED, retrieved=retrieved)
    assert case_of(run(), other).signs.get("retrieval_moves") is moves


def test_runs_that_do_not_tell_what_they_retrieved_do_not_tell_whether_it_moves():
    runs = run(retrieved=None), run("r2", variation=OTHER_SEED, retrieved=None)
    assert "retrieval_moves" not in case_of(*runs).signs


def test_other_questions_are_no_other_runs():
    here, there = run(), run("r2", structs.replace(GOLD, qid="q9"), variation=OTHER_SEED)
    assert "found_under_other_seed" not in traced_cases([[here], [there]])[0].signs


def test_a_case_belongs_to_its_question_and_has_the_id_of_its_run():
    cases = traced_cases([[run(), run("r2")], [run("r3", UNANSWERABLE)]])
    assert [(case.id, case.sample) for case in cases] == [("r1", "q1"), ("r2", "q1"), ("r3", "q2")]


# What heat spoils.


def heated(cold_wrong, warm_wrong, each=FEWEST_EACH):
    """So many runs at temperature 0 and as many above it, some of them wrong; the warm ones."""
    runs = []
    for temperature, wrong in ((0.0, cold_wrong), (0.7, warm_wrong)):
        for seed in range(each):
            told = {"facts": WRONG} if seed < wrong else {}
            variation = Variation(seed=seed, temperature=temperature)
            runs.append(run(f"{temperature}-{seed}", variation=variation, **told))
    return traced_cases([runs])[each:]


@pytest.mark.parametrize(
    ("cold", "warm", "each", "told"),
    [
        (0, 6, 10, True),
        (4, 14, 20, True),
        (5, 15, 20, True),
        (5, 14, 20, False),
        (6, 6, 10, False),
        (1, 3, 10, False),
        (0, 1, 10, False),
    ],
)
def test_a_symptom_that_is_three_times_rarer_when_cold_beyond_chance_is_owed_to_sampling(
    cold, warm, each, told
):
    beyond_chance = fisher_exact([[warm, each - warm], [cold, each - cold]], "greater").pvalue
    assert told == (beyond_chance < 0.05 and 3 * cold <= warm)
    wrong = [case for case in heated(cold, warm, each) if case.went_wrong]
    assert {case.signs["right_when_cold"] for case in wrong} == {told}


def test_what_went_wrong_at_temperature_0_was_not_spoilt_by_heat():
    runs = [
        run(f"{heat}-{n}", variation=Variation(seed=n, temperature=heat), facts=made)
        for heat, wrong in ((0.0, 2), (0.7, 18))
        for n, made in enumerate([WRONG] * wrong + [facts()] * (20 - wrong))
    ]
    cold = [case for case in traced_cases([runs])[:20] if case.went_wrong]
    assert [case.signs["right_when_cold"] for case in cold] == [False, False]


def test_a_case_that_went_right_shows_no_sampling():
    assert not any(case.signs["right_when_cold"] for case in heated(0, 6) if not case.went_wrong)


def test_a_few_runs_tell_nothing_of_sampling():
    assert not any("right_when_cold" in case.signs for case in heated(0, 6, FEWEST_EACH - 1))


def test_a_few_cold_runs_beside_many_warm_ones_tell_nothing_of_sampling():
    heats = [0.0] * (FEWEST_EACH - 1) + [0.7] * 40
    runs = [
        run(
            f"r{n}", variation=Variation(seed=n, temperature=heat), facts=WRONG if heat else facts()
        )
        for n, heat in enumerate(heats)
    ]
    assert not any("right_when_cold" in case.signs for case in traced_cases([runs]))


def test_runs_of_one_temperature_tell_nothing_of_sampling():
    runs = [run(f"r{seed}", variation=Variation(seed=seed)) for seed in range(3 * FEWEST_EACH)]
    assert not any("right_when_cold" in case.signs for case in traced_cases([runs]))


# Citations.


@pytest.mark.parametrize(
    ("id", "symptom"),
    [
        ("louvre#history-3", "cites_unknown"),
        ("Louvre#histery", "cites_unknown"),
        ("louvre#", "cites_unknown"),
        ("lou", "cites_unknown"),
        ("lo", "cites_wrong"),
        ("Louvre#Histery", "cites_wrong"),
        ("prado#history", "cites_wrong"),
    ],
)
def test_an_id_that_is_near_to_a_retrieved_one_and_nobodys_is_made_up(id, symptom):
    """It is that id with two letters changed, or cut off, or with something behind it."""
    gold = structs.replace(GOLD, gold_citations=("louvre#history",))
    case = case_of(run(gold=gold, retrieved=("louvre#history",), facts=facts(cited=(id,))))
    assert case.symptoms == {symptom}


def test_an_id_that_another_trace_retrieved_is_a_wrong_one_and_not_made_up():
    here = run(facts=facts(cited=("d1#c",)))
    elsewhere = run("r2", structs.replace(GOLD, qid="q9"), retrieved=("d1#c",))
    assert traced_cases([[here], [elsewhere]])[0].symptoms == {"cites_wrong"}


def test_an_id_that_resembles_nothing_is_a_wrong_one():
    assert case_of(run(facts=facts(cited=("somewhere-else",)))).symptoms == {"cites_wrong"}


def test_without_retrieved_ids_nobody_can_tell_whose_an_id_is():
    case = case_of(run(retrieved=None, facts=facts(cited=("d1#a-9",))))
    assert not {"cites_unknown", "cites_wrong"} & case.looked_for


def test_a_wrong_claim_with_its_own_passage_is_no_fault_of_the_ids():
    wrong = structs.replace(WRONG, cited=("d1#b",), hit=False)
    assert "cites_wrong" not in case_of(run(facts=wrong)).symptoms


def test_an_answer_whose_citations_were_only_counted_is_not_without_them():
    """A recorded run keeps the ids of what went wrong alone, and how many the others have."""
    counted = facts(cited=(), cited_count=2, hit=True)
    assert case_of(run(facts=counted)).symptoms == frozenset()


def test_all_known_ids_are_those_retrieved_anywhere_and_those_of_gold():
    assert known_ids([run(retrieved=("a",)), run(retrieved=None, gold=TWO)]) == {
        *("a", NEEDED, "d1#b"),
    }


# What there is none of is not blamed.


def test_a_call_that_failed_is_nothing_else():
    failed = structs.replace(SHOWING["call_failed"], codes=STALE, audited=True, echoed=False)
    case = case_of(failed)
    assert (case.symptoms, case.looked_for) == ({"call_failed"}, {"call_failed"})


@pytest.mark.parametrize("refusal", ["exact", "near", "free"])
def test_only_the_agreed_words_are_the_agreed_form(refusal):
    for answered in (True, False):
        made = structs.replace(REFUSES, refusal=refusal, answered=answered)
        told = case_of(run(facts=made))
        # Where a refusal in other words counts as one, its form is no fault …
        assert ("refusal_form" in told.symptoms) is (refusal != "exact" and answered)
        # … unless the system refuses with the token elsewhere.
        mixed = traced_cases([[run(facts=made)], [run(facts=REFUSES)]])[0]
        assert ("refusal_form" in mixed.symptoms) is (refusal != "exact")
        assert "refused_with_evidence" in told.symptoms
        unanswerable = case_of(
            run(gold=UNANSWERABLE, facts=structs.replace(made, answerable=False))
        )
        assert "answered_unanswerable" in unanswerable.looked_for - unanswerable.symptoms


# Statements.

RIGHT_AND_READ = ((True, False), True)
INVENTED, OWN = ((False, False), False), ((False, False), True)
NOISE, READ = ((False, True), False), ((True, False), False)


@pytest.mark.parametrize(
    ("said", "symptoms_of_wrong", "symptoms_of_right"),
    [
        ([RIGHT_AND_READ], {"left_out"}, set()),
        ([INVENTED], {"invented"}, {"invented"}),
        ([OWN], {"own_knowledge"}, set()),
        ([INVENTED, OWN], {"invented", "own_knowledge"}, {"invented"}),
        ([NOISE], {"misled_by_noise"}, set()),
        ([READ], {"misread"}, set()),
        ([READ, NOISE], {"misled_by_noise"}, set()),
        ([READ, INVENTED], {"invented"}, {"invented"}),
        ([READ, OWN], {"own_knowledge"}, set()),
    ],
)
def test_where_a_wrong_statement_comes_from(said, symptoms_of_wrong, symptoms_of_right):
    for made, expected in ((WRONG, symptoms_of_wrong), (facts(), symptoms_of_right)):
        assert case_of(run(facts=made, claims=claims(*said))).symptoms == expected


def test_claims_that_nobody_judged_say_nothing():
    case = case_of(run(facts=WRONG, claims=claims(((None, None), None))))
    assert case.symptoms == {"left_out"}
    assert not {"invented", "misread", "misled_by_noise"} & case.looked_for


def test_an_answer_is_padded_by_its_reference_not_by_its_length_alone():
    long = structs.replace(GOLD, gold_claim="museum " * PADDED_WORDS)
    for words, padded in ((3 * PADDED_WORDS - 1, False), (3 * PADDED_WORDS, True)):
        case = case_of(run(gold=long, facts=facts(claim="museum " * words)))
        assert ("padded" in case.symptoms) is padded


def test_as_many_passages_of_other_documents_as_of_the_needed_one_are_no_noise():
    assert "noisy" not in case_of(shown(NEEDED, "d2#a")).symptoms
    assert "noisy" not in case_of(shown(NEEDED, "d1#b", "d2#a", "d3#a")).symptoms
    assert "noisy" in case_of(shown(NEEDED, "d1#b", "d2#a", "d3#a", "d4#a")).symptoms


def test_a_refusal_without_its_evidence_is_the_fault_of_the_search():
    assert case_of(run(retrieved=("d2#a",), facts=REFUSES)).symptoms == {"missed"}


def test_whether_a_refusal_had_its_evidence_is_not_told_without_retrieved_ids():
    case = case_of(run(retrieved=None, facts=REFUSES))
    assert "refused_with_evidence" not in case.looked_for
    assert "refused_with_evidence" in case_of(run(retrieved=None)).looked_for


def test_a_right_answer_without_its_passage_is_no_miss():
    case = case_of(run(retrieved=("d2#a",), facts=facts(hit=None)))
    assert "missed" in case.looked_for - case.symptoms


def test_a_text_that_is_anothers_is_no_matter_of_offsets():
    off = run(facts=facts(cited=("d1#b",)), codes=OFF, **CHECKED)
    assert "offsets_off" not in case_of(off).looked_for


def test_pointers_that_nobody_checked_show_nothing():
    codes = STALE | OFF | MIXED
    assert not set(POINTERS) & case_of(run(codes=codes)).looked_for
    audited = case_of(run(codes=codes, audited=True))
    assert set(POINTERS) & audited.looked_for == {"sections_mixed"}
    for held, symptom in (("held_to_index", "stale"), ("held_to_text", "offsets_off")):
        checked = case_of(run(codes=codes, audited=True, **{held: True}))
        assert set(POINTERS) & checked.symptoms == {"sections_mixed", symptom}


# Whatever a trace holds.

flags = st.sampled_from((True, False, None))
ids = st.lists(st.sampled_from((NEEDED, "d1#b", "d2#a", "d1#a-9", "")), max_size=4).map(tuple)
payloads = st.lists(
    st.builds(
        payload,
        st.sampled_from((NEEDED, "d1#b", "d2#a")),
        k_pos=st.none() | st.integers(0, 9),
        k_final=st.none() | st.integers(0, 9),
        rerank_score=st.none() | st.floats(0, 1),
    ),
    max_size=4,
).map(tuple)
verdicts = st.tuples(st.tuples(flags, flags), flags)
any_facts = st.builds(
    facts,
    cited=ids,
    answerable=st.booleans(),
    status=st.sampled_from(("ok", "error", "missing")),
    refusal=st.sampled_from(("none", "near", "exact", "free", "undetermined")),
    answered=flags,
    hit=flags,
    contained=flags,
    claim=st.sampled_from(("", "Vermeer.", "museum " * 50)),
)
any_run = st.builds(
    run,
    st.sampled_from(("r1", "r2", "r3")),
    st.sampled_from((GOLD, TWO, UNANSWERABLE)),
    variation=st.builds(
        Variation,
        paraphrase=st.integers(0, 1),
        seed=st.integers(0, 1),
        temperature=st.sampled_from((0.0, 0.7)),
    ),
    retrieved=st.none() | ids,
    facts=any_facts,
    payloads=payloads,
    codes=st.frozensets(st.sampled_from(sorted(STALE | OFF | MIXED | {"empty_citations"}))),
    audited=st.booleans(),
    held_to_index=st.booleans(),
    held_to_text=st.booleans(),
    echoed=flags,
    claims=st.none() | st.lists(verdicts, max_size=3).map(lambda told: claims(*told)),
    rewritten=flags,
    passed_check=flags,
)


@given(st.lists(st.lists(any_run, max_size=4), max_size=3))
def test_any_traces_have_a_case_each_with_known_symptoms(runs):
    cases = traced_cases(runs)
    assert [case.id for case in cases] == [one.id for siblings in runs for one in siblings]
    for case in cases:
        assert case.symptoms <= case.looked_for <= set(SHOWING)
        assert all(type(told) is bool for told in case.signs.values())
        assert {"missed", "partly_missed"} - case.symptoms


@given(st.lists(any_run, max_size=4))
def test_the_order_of_runs_is_no_matter(siblings):
    assert traced_cases([siblings[::-1]])[::-1] == traced_cases([siblings])
