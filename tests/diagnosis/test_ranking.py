"""The ranking of causes: its laws, and a plain twin that counts the same."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy.stats import binomtest

from ragauge.diagnosis.cases import Case, CaseBuilder
from ragauge.diagnosis.catalogue import evidence, rules, symptoms
from ragauge.diagnosis.ranking import (
    ENOUGH,
    LEAST,
    ORDER,
    REPAIRED_BY,
    SHOWN,
    UNKNOWN_BITS,
    Count,
    rank,
)

RULES = rules()
SIGNS = sorted({weight.sign for rule in RULES.values() for weight in rule.signs})
TOLERATED = evidence().tolerated
NEEDS = {id: [weight.sign for weight in rule.signs if weight.needed] for id, rule in RULES.items()}
ALONE = sorted(
    name
    for name, times in Counter(s for rule in RULES.values() for s in rule.symptoms).items()
    if times == 1 and not any(RULES[id].signs for id in RULES if name in RULES[id].symptoms)
)
"""Symptoms that one cause alone brings about, whatever else is seen."""

every_cause = pytest.mark.parametrize("id", RULES)
needing = pytest.mark.parametrize("id", [id for id in RULES if NEEDS[id]])


def case(id, *shown, sample=None, looked_for=None, **signs):
    """One case; unless told otherwise, every symptom was looked for."""
    return Case(
        id=id,
        sample=sample or id,
        looked_for=frozenset(symptoms() if looked_for is None else looked_for) | set(shown),
        symptoms=frozenset(shown),
        signs=signs,
    )


def right(n, **told):
    return [case(f"right{place}", **told) for place in range(n)]


def found(cases):
    return {one.rule.id: one for one in rank(cases)}


@st.composite
def one_case(draw, id, samples, told=(True, False)):
    looked = draw(st.frozensets(st.sampled_from(symptoms()), max_size=6))
    shown = draw(st.frozensets(st.sampled_from(sorted(looked)), max_size=3)) if looked else ()
    signs = draw(st.dictionaries(st.sampled_from(SIGNS), st.sampled_from(told), max_size=8))
    return Case(
        id=id,
        sample=draw(st.sampled_from(samples)),
        looked_for=looked,
        symptoms=frozenset(shown),
        signs=signs,
    )


def many_cases(most=12, **options):
    """Cases of up to four questions, each with an id of its own."""
    samples = ("q1", "q2", "q3", "q4")
    return st.integers(0, most).flatmap(
        lambda n: st.tuples(*(one_case(f"r{place:02}", samples, **options) for place in range(n)))
    )


# The plain twin.


def plain_is_proved(rule, signs):
    """Whether a replay mended what the cause would have spoilt."""
    mending = [one.sign for one in rule.signs if one.sign.startswith(REPAIRED_BY) and one.bits > 0]
    return any(signs.get(sign) for sign in mending)


def plain_bits(rule, signs):
    total = 0.0
    for weight in rule.signs:
        if weight.sign not in signs:
            lacking = weight.needed and not plain_is_proved(rule, signs)
            total += UNKNOWN_BITS if lacking else 0
        elif signs[weight.sign]:
            total += weight.bits
        else:
            total += weight.bits_if_not
    return total


def plain_share(id, case, symptom):
    """What falls to a cause of one symptom of one case."""
    if symptom not in RULES[id].symptoms:
        return 0.0
    able = [rule for rule in RULES.values() if symptom in rule.symptoms]
    odds = {rule.id: 2 ** plain_bits(rule, case.signs) for rule in able}
    return odds[id] / sum(odds.values())


def plain_lower(share, n):
    """Wilson's lower bound at 95 %, as his paper has it: the root of a quadratic."""
    z = 1.959963984540054
    a, b, c = 1 + z * z / n, -2 * share - z * z / n, share * share
    return 0.0 if share == 0 else (-b - math.sqrt(max(0.0, b * b - 4 * a * c))) / (2 * a)


def plain_is_likely(id, cases):
    for symptom in RULES[id].symptoms:
        looked = [one for one in cases if symptom in one.looked_for]
        got = sum(plain_share(id, one, symptom) for one in cases if symptom in one.symptoms)
        if (
            got
            and plain_lower(min(1.0, got / len(looked)), len({one.sample for one in looked}))
            > (TOLERATED[symptom])
        ):
            return True
    return False


def plain_excluded(told, of):
    """Half of the cases must have been looked at, or ten of them."""
    return "struck_out" if told and (2 * told >= of or told >= ENOUGH) else "untested"


def plain_standing(id, cases):
    mine = set(RULES[id].symptoms)
    showing = [one for one in cases if mine & one.symptoms]
    if not showing:
        return plain_excluded(sum(bool(mine & one.looked_for) for one in cases), len(cases))
    proved = any(plain_is_proved(RULES[id], one.signs) for one in showing)
    for sign in NEEDS[id]:
        told = [one.signs[sign] for one in showing if sign in one.signs]
        if not any(told) and not (proved and not told):
            return plain_excluded(len(told), len(showing))
    return "likely" if plain_is_likely(id, cases) else "possible"


def plain_explains(id, cases):
    shares = [[plain_share(id, one, symptom) for symptom in one.symptoms] for one in cases]
    return sum(max(of_case, default=0.0) for of_case in shares)


@given(many_cases())
def test_the_ranking_agrees_with_its_twin(cases):
    for id, ranked in found(cases).items():
        standing = plain_standing(id, cases)
        assert ranked.standing == standing
        explained = 0.0 if standing == "struck_out" else plain_explains(id, cases)
        assert ranked.explains == pytest.approx(explained)
        assert ranked.of == sum(bool(one.symptoms) for one in cases)


@given(many_cases())
def test_the_surprise_is_that_of_the_symptom_that_is_most_beyond_what_is_tolerated(cases):
    for id, ranked in found(cases).items():
        known = [-math.inf]
        for symptom in RULES[id].symptoms:
            looked = [one for one in cases if symptom in one.looked_for]
            got = sum(plain_share(id, one, symptom) for one in cases if symptom in one.symptoms)
            if got:
                usual, questions = TOLERATED[symptom], len({one.sample for one in looked})
                deviation = math.sqrt(usual * (1 - usual) / questions)
                known.append((min(1.0, got / len(looked)) - usual) / deviation)
        assert ranked.surprise == pytest.approx(max(known))


@given(many_cases())
def test_the_evidence_agrees_with_a_plain_recount(cases):
    for id, ranked in found(cases).items():
        mine = set(RULES[id].symptoms)
        showing = [one for one in cases if mine & one.symptoms]
        well = [one for one in cases if not one.symptoms]
        assert ranked.symptoms == {
            name: Count(
                sum(name in one.symptoms for one in cases),
                sum(name in one.looked_for for one in cases),
            )
            for name in RULES[id].symptoms
            if any(name in one.symptoms for one in cases)
        }
        told = {one.weight.sign: one for one in ranked.signs}
        for sign in [weight.sign for weight in RULES[id].signs]:
            here = [one.signs[sign] for one in showing if sign in one.signs]
            there = [one.signs[sign] for one in well if sign in one.signs]
            assert (sign in told) == bool(here)
            if here:
                assert told[sign].here == Count(sum(here), len(here))
                assert told[sign].elsewhere == Count(sum(there), len(there))
                weight = told[sign].weight
                bits = [weight.bits if seen else weight.bits_if_not for seen in here]
                assert told[sign].bits == pytest.approx(sum(bits) / len(bits))


# Shares.


@given(many_cases(told=(True,)))
def test_the_shares_of_a_case_sum_to_one_for_each_symptom(cases):
    """Where no sign was looked for in vain nothing is struck out, and all shares are to be seen."""
    for symptom in symptoms():
        only = [structs.replace(one, symptoms=one.symptoms & {symptom}) for one in cases]
        shared = [one for one in rank(only) if symptom in one.rule.symptoms]
        shown = sum(symptom in one.symptoms for one in cases)
        assert sum(one.explains for one in shared) == pytest.approx(shown)


@given(many_cases())
def test_a_cause_explains_no_more_than_what_shows_its_symptoms(cases):
    for id, ranked in found(cases).items():
        showing = sum(not one.symptoms.isdisjoint(RULES[id].symptoms) for one in cases)
        assert 0 <= ranked.explains <= showing + 1e-9
        assert showing <= ranked.of


def test_a_case_that_two_faults_have_spoilt_counts_for_each():
    told = found([case("a", "stale", "uncited")])
    assert told["cause.stale_index"].explains == told["cause.cites_nothing"].explains == 1
    assert told["cause.stale_index"].of == 1


def test_a_case_with_two_symptoms_of_one_cause_counts_once_by_the_greater_share():
    cases = [case("a", "missed"), case("a", "partly_missed"), case("a", "missed", "partly_missed")]
    one, other, both = (found([one])["cause.retrieval_misses"].explains for one in cases)
    assert both == max(one, other) <= 1


def test_a_sign_that_is_seen_moves_the_share_by_its_bits():
    unseen, seen = ([case("a", "misread", several_sources=flag)] for flag in (False, True))
    before, after = found(unseen), found(seen)
    weights = {weight.sign: weight for weight in RULES["cause.combines_wrongly"].signs}
    assert before["cause.combines_wrongly"].standing == "struck_out"
    assert after["cause.combines_wrongly"].explains > after["cause.misreads"].explains
    assert weights["several_sources"].needed


# What strikes a cause out.


def spoilt(id, n=8, **signs):
    return [case(f"s{place}", *RULES[id].symptoms, **signs) for place in range(n)]


@needing
def test_a_needed_sign_that_is_never_seen_strikes_its_cause_out(id):
    signs = dict.fromkeys(NEEDS[id], False)
    told = found(spoilt(id, **signs))[id]
    assert told.standing == "struck_out"
    assert told.explains == 0
    assert (told.struck.sign, told.struck.of) == (NEEDS[id][0], 8)


@needing
def test_a_needed_sign_that_nobody_could_tell_leaves_its_cause_untested(id):
    told = found(spoilt(id))[id]
    assert told.standing == "untested"
    assert (told.struck.sign, told.struck.of) == (NEEDS[id][0], 0)


@needing
def test_one_sample_that_shows_the_needed_sign_keeps_the_cause_in(id):
    cases = spoilt(id, **dict.fromkeys(NEEDS[id], False))
    kept = [structs.replace(cases[0], signs=dict.fromkeys(NEEDS[id], True)), *cases[1:]]
    told = found(kept)[id]
    assert told.standing in ("likely", "possible")
    assert told.struck is None


@needing
def test_a_needed_sign_of_samples_that_went_right_keeps_nothing_in(id):
    signs = dict.fromkeys(NEEDS[id], False)
    seen = dict.fromkeys(NEEDS[id], True)
    assert found([*spoilt(id, **signs), *right(5, **seen)])[id].standing == "struck_out"


@every_cause
def test_a_cause_whose_symptoms_were_looked_for_in_vain_is_struck_out(id):
    told = found(right(4))[id]
    assert (told.standing, told.explains) == ("struck_out", 0)
    assert (told.struck.sign, told.struck.of) == (None, 4)


@every_cause
def test_a_cause_whose_symptoms_nobody_could_look_for_is_untested(id):
    told = found(right(4, looked_for=()))[id]
    assert (told.standing, told.explains) == ("untested", 0)
    assert (told.struck.sign, told.struck.of) == (None, 0)


@pytest.mark.parametrize(
    ("told", "of", "standing"),
    [
        (0, 40, "untested"),
        (2, 40, "untested"),
        (ENOUGH - 1, 40, "untested"),
        (ENOUGH, 40, "struck_out"),
        (2, 5, "untested"),
        (3, 5, "struck_out"),
        (1, 1, "struck_out"),
    ],
)
def test_a_few_cases_of_many_exclude_nothing(told, of, standing):
    looked = [case(f"a{n}", looked_for=["stale"]) for n in range(told)]
    others = [case(f"b{n}", looked_for=["uncited"]) for n in range(of - told)]
    assert found([*looked, *others])["cause.stale_index"].standing == standing
    seen = [case(f"a{n}", "padded", longer=False) for n in range(told)]
    unseen = [case(f"b{n}", "padded") for n in range(of - told)]
    assert found([*seen, *unseen])["cause.padded"].standing == standing


def test_what_a_replay_mends_needs_no_log_to_prove_it():
    missed = [case(f"s{n}", "missed") for n in range(8)]
    mended = [structs.replace(one, signs={f"{REPAIRED_BY}top_k_doubled": True}) for one in missed]
    assert found(missed)["cause.pool_narrow"].standing == "untested"
    assert found(mended)["cause.pool_narrow"].standing in ("likely", "possible")
    logged = [structs.replace(one, signs={**one.signs, "shallow_pool": False}) for one in mended]
    assert found(logged)["cause.pool_narrow"].standing == "struck_out"


def test_without_cases_nothing_can_be_told():
    assert {one.standing for one in rank([])} == {"untested"}


@given(many_cases())
def test_what_is_struck_out_explains_nothing_and_comes_last(cases):
    told = rank(cases)
    places = [ORDER.index(one.standing) for one in told]
    assert places == sorted(places)
    assert all(one.explains == 0 for one in told if one.standing == "struck_out")
    assert {one.rule.id for one in told} == set(RULES)


@given(many_cases())
def test_a_reason_is_given_exactly_where_a_cause_is_excluded_or_cannot_be_told(cases):
    for one in rank(cases):
        assert (one.struck is not None) == (one.standing in ("struck_out", "untested"))
        if one.struck is not None:
            assert bool(one.struck.of) == (one.standing == "struck_out")


# What makes a cause likely.


@pytest.mark.parametrize("symptom", ALONE)
@pytest.mark.parametrize("n", [1, 10, 40, 200])
def test_a_cause_is_likely_only_beyond_the_tolerated_share(symptom, n):
    """By scipy's Wilson interval, where each case falls to one cause as a whole."""
    id = next(id for id in RULES if symptom in RULES[id].symptoms)
    for shown in sorted({0, 1, 2, 3, 5, n // 10, n // 5, n // 2, n} & set(range(n + 1))):
        cases = [case(f"s{place}", symptom) for place in range(shown)] + right(n - shown)
        low = binomtest(shown, n).proportion_ci(0.95, method="wilson").low
        expected = "likely" if low > TOLERATED[symptom] else "possible"
        assert found(cases)[id].standing == (expected if shown else "struck_out")


@given(many_cases())
def test_a_likely_cause_has_more_than_the_tolerated_share_of_some_symptom(cases):
    for one in rank(cases):
        if one.standing == "likely":
            assert any(
                one.explains / count.of > TOLERATED[name] for name, count in one.symptoms.items()
            )


def one_case_each(cases):
    """The same cases, each of a question of its own."""
    return [structs.replace(one, sample=one.id) for one in cases]


@given(many_cases(), st.integers(1, 40))
def test_cases_that_went_right_make_no_cause_likely(cases, more):
    cases = one_case_each(cases)
    before, after = found(cases), found([*cases, *right(more)])
    for id, one in after.items():
        assert one.standing != "likely" or before[id].standing == "likely"
        if before[id].standing != "untested":
            assert one.explains == before[id].explains


@given(many_cases(), st.integers(1, 5))
def test_runs_of_one_question_are_no_more_certain_than_one_of_them(cases, times):
    """Chance is reckoned over questions: asking each again in the same way proves nothing."""
    again = [structs.replace(one, id=f"{one.id}#{time}") for one in cases for time in range(times)]
    once, often = rank(cases), rank(again)
    assert {one.rule.id for one in often if one.standing == "likely"} <= {
        one.rule.id for one in once if one.standing in ("likely", "untested")
    }


def test_many_runs_of_one_question_do_not_make_its_fault_likely():
    runs = [case(f"a{run}", "found_late", sample="a", unranked=True) for run in range(50)]
    others = [case(f"b{place}", looked_for=["found_late"]) for place in range(19)]
    one_of_them = found([runs[0], *others])["cause.no_reranking"]
    assert one_of_them.standing == "possible"


# Order.


@given(many_cases(), st.integers(0, 20))
def test_the_order_of_cases_is_no_matter(cases, seed):
    shuffled = random.Random(seed).sample(cases, len(cases))
    assert rank(shuffled) == rank(cases)


@given(many_cases())
def test_within_a_standing_the_greatest_surprise_comes_first_then_the_table_decides(cases):
    place = {id: at for at, id in enumerate(RULES)}
    keys = [
        (ORDER.index(one.standing), -one.surprise, -one.explains, place[one.rule.id])
        for one in rank(cases)
    ]
    assert keys == sorted(keys)


@given(many_cases())
def test_samples_are_those_of_which_most_falls_to_the_cause_each_once(cases):
    for id, one in found(cases).items():
        mine = {
            one.id: max((plain_share(id, one, name) for name in one.symptoms), default=0)
            for one in cases
        }
        told = [one for one in cases if mine[one.id] >= LEAST]
        assert len(one.samples) == min(SHOWN, len({one.sample for one in told}))
        assert len(set(one.samples)) == len(one.samples)
        best = [max(mine[c.id] for c in told if c.sample == name) for name in one.samples]
        assert best == pytest.approx(sorted(best, reverse=True))


def test_samples_that_show_it_alike_stand_by_id():
    cases = [case(id, "stale") for id in ("b", "c", "a")]
    assert found(cases)["cause.stale_index"].samples == ("a", "b", "c")


def seen(*noted, signs=()):
    one = CaseBuilder()
    for name, shown in noted:
        one.symptom(name, shown)
    for name, there in signs:
        one.sign(name, there)
    return one.case("r1", "q1")


def test_a_case_keeps_what_was_looked_for_apart_from_what_shows():
    case = seen(("missed", False), ("invented", True))
    assert case.looked_for == {"missed", "invented"}
    assert case.symptoms == {"invented"}
    assert (case.id, case.sample) == ("r1", "q1")


def test_what_is_not_known_was_not_looked_for():
    case = seen(("missed", None), signs=[("rewritten", None)])
    assert case.looked_for == frozenset()
    assert case.signs == {}


@pytest.mark.parametrize("later", [False, None])
def test_a_symptom_that_was_seen_once_stays(later):
    assert seen(("misread", True), ("misread", later)).symptoms == {"misread"}


def test_a_symptom_may_be_seen_by_the_second_look():
    assert seen(("misread", False), ("misread", True)).symptoms == {"misread"}


def test_a_sign_is_there_whether_it_was_seen_or_looked_for_in_vain():
    case = seen(signs=[("longer", False), ("shorter", True)])
    assert case.signs == {"longer": False, "shorter": True}


def test_a_sign_that_is_not_known_leaves_what_was_noted():
    assert seen(signs=[("longer", True), ("longer", None)]).signs == {"longer": True}


def test_a_case_without_symptoms_went_right():
    assert not seen(("missed", False)).went_wrong
    assert seen(("missed", True)).went_wrong


def test_a_case_does_not_change_with_what_is_noted_after_it():
    noting = CaseBuilder()
    noting.sign("longer", True)
    first = noting.case("r1", "q1")
    noting.sign("longer", False)
    noting.symptom("missed", True)
    assert first == Case(
        id="r1", sample="q1", looked_for=frozenset(), symptoms=frozenset(), signs={"longer": True}
    )


def test_whether_one_of_several_symptoms_shows_can_be_asked_on_the_way():
    noting = CaseBuilder()
    noting.symptom("missed", False)
    noting.symptom("invented", True)
    assert noting.shows({"missed", "invented"})
    assert not noting.shows({"missed", "padded"})
