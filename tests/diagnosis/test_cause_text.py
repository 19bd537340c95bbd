"""Causes and slices in words: every one can be told, with the counts that were found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.diagnosis import LANGUAGES, Slice
from ragauge.diagnosis.cases import Case
from ragauge.diagnosis.catalogue import CAUSE, catalogue, rules, symptoms
from ragauge.diagnosis.ranking import rank
from ragauge.diagnosis.report import CauseText
from ragauge.diagnosis.texts import texts

RULES = rules()
SIGNS = sorted({weight.sign for rule in RULES.values() for weight in rule.signs})

every_language = pytest.mark.parametrize("language", LANGUAGES)


def case(id, *shown, **signs):
    return Case(
        id=id,
        sample=id,
        looked_for=frozenset(symptoms()),
        symptoms=frozenset(shown),
        signs=signs,
    )


def told(cases, language="en", knobs=None):
    """The causes of these cases, by id."""
    teller = CauseText(texts(language), knobs or {})
    entries = {entry.id: entry for entry in catalogue(language) if entry.family == CAUSE}
    found = [teller.cause(one, entries[one.rule.id], ("faithfulness",)) for one in rank(cases)]
    return {cause.id: cause for cause in found}


def spoilt(id, *, seen, n=4):
    signs = {weight.sign: seen for weight in RULES[id].signs}
    return [case(f"s{place}", RULES[id].symptoms[0], **signs) for place in range(n)]


@every_language
def test_every_cause_is_told_with_the_words_of_its_entry_and_its_evidence(language):
    """What it brought about comes first, then the heaviest sign."""
    entries = {entry.id: entry for entry in catalogue(language)}
    for id, rule in RULES.items():
        entry, cause = entries[id], told(spoilt(id, seen=True), language)[id]
        said = (cause.title, cause.means, cause.confirm)
        assert said == (entry.title, entry.means, entry.confirm)
        assert [action.do for action in cause.actions] == [step.do for step in entry.actions]
        assert cause.metrics == ("faithfulness",)
        first, *rest = cause.evidence
        assert (first.sign, first.n, first.of) == (rule.symptoms[0], 4, 4)
        assert texts(language).symptoms[first.sign] in first.text
        weights = [abs(one.bits) for one in rest]
        assert weights == sorted(weights, reverse=True), id
        bits = {weight.sign: weight.bits for weight in rule.signs if weight.bits}
        assert {one.sign: one.bits for one in rest} == bits, id
        assert all(one.speaks == ("for" if one.bits > 0 else "against") for one in rest), id


def test_a_sign_is_weighed_by_how_many_show_it():
    weight = next(one for one in RULES["cause.padded"].signs if one.sign == "longer")
    cases = [case(f"s{n}", "padded", longer=n < 3) for n in range(4)]
    sign = told(cases)["cause.padded"].evidence[1]
    assert (sign.n, sign.of) == (3, 4)
    assert sign.bits == round(0.75 * weight.bits + 0.25 * weight.bits_if_not, 2)


@pytest.mark.parametrize("n", range(5))
def test_a_sign_is_told_as_seen_or_as_missing_by_what_weighs_more(n):
    weight = next(one for one in RULES["cause.padded"].signs if one.sign == "longer")
    cases = [case(f"s{place}", "padded", longer=place < n) for place in range(4)]
    found = [one for one in told(cases)["cause.padded"].evidence if one.sign == "longer"]
    for_it, against = n * abs(weight.bits), (4 - n) * abs(weight.bits_if_not)
    sentence = texts("en").signs["longer"]
    expected = (sentence.seen if for_it >= against else sentence.not_seen).format(n=n, of=4)
    assert [one.text for one in found] == [expected] * (found != [])
    assert all(one.speaks == ("for" if one.bits > 0 else "against") for one in found)


@every_language
def test_a_sign_says_how_it_is_among_those_that_went_right(language):
    wrong = [case(f"s{n}", "padded", longer=True) for n in range(2)]
    right = [case(f"r{n}", longer=n < 1) for n in range(3)]
    alone = told(wrong, language)["cause.padded"].evidence[1]
    beside = told([*wrong, *right], language)["cause.padded"].evidence[1]
    assert (alone.elsewhere, alone.elsewhere_of) == (None, None)
    assert (beside.elsewhere, beside.elsewhere_of) == (1, 3)
    assert beside.text.startswith(alone.text)
    assert "1" in beside.text.removeprefix(alone.text) and "3" in beside.text


@every_language
def test_every_sign_that_is_missing_is_told_as_missing_and_every_cause_says_why(language):
    say, none = texts(language), told([], language)
    well = told([case("r1"), case("r2")], language)
    for id, rule in RULES.items():
        cause = told(spoilt(id, seen=False), language)[id]
        for one in cause.evidence[1:]:
            assert one.text == say.signs[one.sign].not_seen.format(n=0, of=4), id
        needed = [weight.sign for weight in rule.signs if weight.needed]
        if needed:
            assert cause.standing == "struck_out"
            assert cause.why == say.why.struck_out[needed[0]].format(of=4)
            unknown = [case("s1", rule.symptoms[0])]
            assert say.needs[needed[0]] in told(unknown, language)[id].why
        else:
            assert cause.why is None, id
        assert well[id].why == say.why.no_symptom.format(of=2)
        assert none[id].standing == "untested"
        assert say.needs[rule.symptoms[0]] in none[id].why


def test_what_a_cause_explains_is_told_to_two_places():
    cause = told([case("a", "missed")])["cause.retrieval_misses"]
    assert cause.explains == round(cause.explains, 2) > 0
    assert cause.of == 1


def test_knobs_are_told_by_the_names_of_the_pipeline():
    plain = told([case("a", "stale")])["cause.stale_index"].actions
    renamed = told([case("a", "stale")], knobs={"index": "our.index"})["cause.stale_index"].actions
    assert [one.knob for one in renamed] == [
        "our.index" if one.knob == "index" else one.knob for one in plain
    ]


@given(
    st.lists(
        st.tuples(
            st.frozensets(st.sampled_from(symptoms()), max_size=3),
            st.dictionaries(st.sampled_from(SIGNS), st.booleans(), max_size=10),
        ),
        max_size=6,
    )
)
def test_whatever_was_found_can_be_told_in_every_language(found):
    cases = [case(f"s{n}", *shown, **signs) for n, (shown, signs) in enumerate(found)]
    english, chinese = (told(cases, language) for language in LANGUAGES)
    assert list(english) == list(chinese)
    for id, cause in english.items():
        assert (cause.why is None) == (cause.standing in ("likely", "possible"))
        assert all(one.text and "{" not in one.text for one in cause.evidence)
        counts = [(one.sign, one.n, one.of, one.bits) for one in cause.evidence]
        assert counts == [(one.sign, one.n, one.of, one.bits) for one in chinese[id].evidence]


# Slices.


def sliced(**told):
    known = {
        "metric": "faithfulness",
        "conditions": {"country": "NL"},
        "n": 16,
        "beyond": 14,
        "beyond_all": 16,
        "value": 0.2,
        "elsewhere": 0.8,
        "p": 0.001,
        "text": "",
    }
    return Slice(**{**known, **told})


@every_language
@pytest.mark.parametrize(
    ("one", "all_beyond", "template"),
    [
        (sliced(), False, "mostly"),
        (sliced(beyond=16), False, "only"),
        (sliced(beyond=8), False, "worse"),
        (sliced(beyond=16), True, "worse"),
        (sliced(beyond=0, beyond_all=0), False, "worse"),
    ],
)
def test_a_slice_says_how_much_of_the_trouble_is_in_it(one, all_beyond, template, language):
    say = texts(language)
    text = CauseText(say, {}).slice(one, "critical", all_beyond=all_beyond)
    start = getattr(say.slices, template).format(
        metric="faithfulness",
        severity=say.severity["critical"],
        conditions=say.slices.conditions({"country": "NL"}),
        beyond=one.beyond,
        beyond_all=one.beyond_all,
        value="0.200",
        elsewhere="0.800",
        n=16,
    )
    assert text == start
