"""A case: what was looked for, what shows, and nothing that cannot be told."""

import pytest

from ragauge.diagnosis.cases import Case, Seen


def seen(*noted, signs=()):
    one = Seen()
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
    noting = Seen()
    noting.sign("longer", True)
    first = noting.case("r1", "q1")
    noting.sign("longer", False)
    noting.symptom("missed", True)
    assert first == Case(
        id="r1", sample="q1", looked_for=frozenset(), symptoms=frozenset(), signs={"longer": True}
    )


def test_whether_one_of_several_symptoms_shows_can_be_asked_on_the_way():
    noting = Seen()
    noting.symptom("missed", False)
    noting.symptom("invented", True)
    assert noting.shows({"missed", "invented"})
    assert not noting.shows({"missed", "padded"})
