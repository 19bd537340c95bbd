"""chrF beside sacrebleu."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from ragauge.text.overlap import chrf, count_shared_runs, shared_runs, sort_shared_runs

SACREBLEU = CHRF(char_order=6, beta=2, word_order=0, whitespace=False)
texts = st.text("abcA .é夜\n\u2003", max_size=40) | st.text(max_size=20)

long_texts = st.text("abé夜\0\U00020000", min_size=1, max_size=200)


@given(texts, texts)
def test_it_is_sacrebleus_but_for_the_scale(reference, answer):
    theirs = SACREBLEU.sentence_score(answer, [reference]).score
    assert chrf(reference, answer) == pytest.approx(theirs / 100, abs=1e-9)


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("The Night Watch hangs in Amsterdam.", "De Nachtwacht hangt in Amsterdam."),
        ("Het Rijksmuseum werd opgericht in 1800", "Opgericht in 1800."),
        ("夜巡是倫勃朗於1642年的畫", "夜巡 1642"),
        ("a", "a b c d e f g"),
    ],
)
def test_it_is_sacrebleus_on_sentences(reference, answer):
    theirs = SACREBLEU.sentence_score(answer, [reference]).score
    assert chrf(reference, answer) == pytest.approx(theirs / 100, abs=1e-9)
    assert 0 < chrf(reference, answer) < 1


@given(texts)
def test_a_text_is_its_own_best_answer(text):
    assert chrf(text, text) == (1.0 if text.strip() else 0.0)


@given(texts, texts)
def test_it_is_within_bounds_and_ignores_spaces(reference, answer):
    assert 0 <= chrf(reference, answer) <= 1
    assert chrf(reference, answer) == chrf("".join(reference.split()), f" {answer}\n")


def test_recall_weighs_more_than_precision():
    assert chrf("abcdef", "abcdefghijkl") > chrf("abcdefghijkl", "abcdef")


@given(long_texts | texts.filter(bool), long_texts)
def test_sorted_runs_are_the_counted_ones(one, other):
    assert sort_shared_runs(one, other) == count_shared_runs(one, other) == shared_runs(one, other)


def test_long_texts_are_sacrebleus():
    reference = "The Rijksmuseum in Amsterdam was founded in The Hague in 1798. " * 4
    answer = "It was founded in 1800, in Amsterdam, they say. 倫勃朗's Night Watch is there. " * 3
    theirs = SACREBLEU.sentence_score(answer, [reference]).score
    assert chrf(reference, answer) == pytest.approx(theirs / 100, abs=1e-9)
    assert chrf(reference, reference) == 1


def test_thousands_of_different_characters_are_counted():
    one = "".join(map(chr, range(0x4E00, 0x4E00 + 1500)))
    assert sort_shared_runs(one, one[500:]) is None
    assert shared_runs(one, one[500:]) == [1000, 999, 998, 997, 996, 995]
