"""Agreement: what the claims of several runs say alike counts, how they word it counts little."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragauge.text.agreement import (
    _PIECE,
    _THOUSANDS,
    AFFIRMATIONS,
    FUNCTION_WORDS,
    NEGATIONS,
    _pieces,
    _plain_word_sets,
    _word_sets_by_piece,
    agreement,
)

PLAIN = ("the", "of", "It", "was", "played", "tall", "old", "café", "夜巡")
BEARING = ("Kato", "Robin", "1908", "3.5", "6,487", "not", "isn't", "No,", "yes.", "不是")
WORDS = st.sampled_from(PLAIN + BEARING)
CLAIMS = st.lists(st.lists(WORDS, max_size=8).map(" ".join) | st.text(max_size=40), min_size=2)

OF_TWO = {
    # What the longer one adds is no disagreement.
    ("Kato.", "Lee Jun-fan, known as Bruce Lee, played Kato."): 1,
    ("Ford was first.", "Ford was first, on November 24, 1908."): 1,
    # Both bring a name or a number that the other lacks.
    ("The series first aired in 2006.", "The series first aired in 2011."): 0,
    ("Lee played Kato in the series.", "Lee played Robin in the series."): 0,
    ("It holds 3.5 tons.", "It holds 35 tons."): 0,
    ("It holds 3.5 tons.", "It holds 3.2 tons."): 0,
    ("BUST is the old magazine.", "NYLON is the old magazine."): 0,
    # Two of the three words, which are names.
    ("It is Fu Manchu from Ohio.", "It was Ohio and Fu Lung from it."): 2 / 3 * 2 / 3,
    # Words without a name among them.
    ("dairy products", "butter, cheese and dairy products"): 1,
    ("dairy products", "alcoholic drinks"): 0,
    ("dairy products", "dairy farms"): 1 / 2,
    # Yes and no, and words that are denied.
    ("Yes, both did.", "No, both did."): 0,
    ("X takes null keys.", "X does not take null keys."): 1 / 4,
    ("X takes null keys.", "X doesn’t take null keys."): 1 / 4,
    ("It is open.", "It isn't open."): 0,
    ("It is open.", "It is not closed, it is open."): 1,
    ("Het is open.", "Het is niet open."): 0,
    ("Es ist offen.", "Es ist nicht offen."): 0,
    ("C'est ouvert.", "Ce n'est pas ouvert."): 0,
    ("not in context", "The keeper is Anna."): 0,
    # Spelling of numbers.
    ("It has 6,487 books.", "It has 6487 books."): 1,
    ("It has 6.487 books.", "It has 6,487 books."): 1,
    # Scripts without blanks.
    ("《夜巡》是伦勃朗的作品", "伦勃朗"): 1,
    ("作者是伦勃朗", "作者是维米尔"): 2 / 5,
    ("他是法国人", "他不是法国人"): 0,
    ("成立于1800年", "成立于1885年"): 0,
    ("レンブラント", "レンブラントです"): 1,
    ("렘브란트는", "렘브란트가"): 3 / 4,
    ("ไทย", "ประเทศไทย"): 1,
    # Vowel signs are parts of their words.
    ("हिन्दी", "हिन्दू"): 0,
    # Nothing but function words, or nothing at all.
    ("It is.", "It was."): 1 / 2,
    ("", "?!"): 1,
    ("", "Kato"): 0,
    ("", "it"): 0,
}


@pytest.mark.parametrize(("one", "other"), OF_TWO)
def test_two_claims(one, other):
    assert agreement("", [one, other]) == pytest.approx(OF_TWO[one, other])


def test_under_two_claims_there_is_nothing_to_compare():
    assert agreement("Who?", []) is None
    assert agreement("Who?", ["Kato"]) is None


def test_a_name_of_the_question_bears_no_answer():
    claims = ["The Green Hornet had Kato.", "In the Green Hornet it was Robin."]
    assert agreement("Who was in the Green Hornet?", claims) == 0
    assert agreement("", claims) == pytest.approx(2 / 3 * 2 / 3)


def test_a_number_of_the_question_bears_no_answer():
    claims = ["The song of 1995 is good.", "The song of the band is good."]
    assert agreement("", [*claims, "In 1996 the song is good."]) == pytest.approx(
        (2 / 3 + 0 + 2 / 3) / 3
    )
    assert agreement("1995 or 1996?", [*claims, "In 1996 the song is good."]) == pytest.approx(
        2 / 3
    )


def test_a_name_at_the_head_of_a_sentence_is_known_from_another_claim():
    first = ["Paris is its big old capital.", "Rome is its big old capital."]
    assert agreement("", first) == pytest.approx(3 / 4)
    known = [*first, "Its capital is Paris.", "Its capital is Rome."]
    assert agreement("", known) == pytest.approx((0 + 1 + 0 + 0 + 1 + 0) / 6)


def test_the_mean_over_all_pairs():
    assert agreement("", ["in 2006", "in 2006", "in 2011"]) == pytest.approx(1 / 3)


def test_a_run_that_does_not_answer_disagrees_with_those_that_do():
    claims = ["Kato.", "The character is Kato.", "I do not know.", "There is no information."]
    answered = agreement("Which character?", claims[:2])
    assert answered == 1
    assert agreement("Which character?", claims) == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cafe\u0301 Noir", "Café Noir"),
        ("Ｋａｔｏ　１９０８", "Kato 1908"),
        ("ﬁlm", "film"),
        ("Straße", "STRASSE"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth", "zerowidth"),
        ("《夜巡》（1642年）。", "夜巡(1642年)"),
        ("well\u2010known", "well-known"),
    ],
)
def test_the_same_text_in_another_unicode_form(one, other):
    assert agreement("", [one, other]) == 1


def test_the_lists_are_folded_and_do_not_contradict_each_other():
    for words in (FUNCTION_WORDS, NEGATIONS, AFFIRMATIONS):
        assert all(word == word.casefold() for word in words)
    assert not FUNCTION_WORDS & NEGATIONS
    assert not AFFIRMATIONS & (FUNCTION_WORDS | NEGATIONS)


@given(st.text(), CLAIMS)
def test_bounds(question, claims):
    found = agreement(question, claims)
    assert found is not None
    assert 0 <= found <= 1


@given(st.text(), st.lists(st.text(max_size=30) | WORDS, min_size=2, max_size=4))
@example("", ["wide tall old", "wide long old red", "long old red", "red old"])
def test_the_order_of_the_claims_changes_no_bit(question, claims):
    assert len({agreement(question, order) for order in permutations(claims)}) == 1


@given(st.text(), st.text(), st.integers(2, 5))
def test_identical_claims_agree(question, claim, times):
    assert agreement(question, [claim] * times) == 1


@given(
    st.text(),
    st.lists(st.text("abcd", min_size=3), min_size=1),
    st.lists(st.text("efgh", min_size=3), min_size=1),
)
def test_claims_without_a_common_word_disagree(question, one, other):
    assert agreement(question, [" ".join(one), " ".join(other)]) == 0


@given(CLAIMS, st.integers(2, 3))
def test_repeating_every_claim_never_lowers_the_agreement(claims, times):
    once, often = agreement("", claims), agreement("", claims * times)
    assert once is not None and often is not None
    assert often >= once - 1e-12


@given(CLAIMS)
def test_spaces_around_a_claim_change_nothing(claims):
    assert agreement("", [f"  {claim}\t" for claim in claims]) == agreement("", claims)


PIECES = ("a", "A", "b12", "12b", "1,5", ".", ",", " ", "\n", "yes", "The", "the", "X", "(", "it")


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_the_quick_reading_equals_the_careful_one(claim):
    pieces = _pieces(claim)
    in_question = {"the", "x"}
    folded = [piece.lower() for piece in pieces]
    assert _plain_word_sets(pieces, folded, in_question) == _word_sets_by_piece(pieces, in_question)
    assert pieces == _PIECE.findall(_THOUSANDS.sub("", claim))
