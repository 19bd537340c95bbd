"""ROUGE beside rouge-score, its stemmer beside NLTK's, and both tokenisers by their laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

from ragauge.text.canonical import composed
from ragauge.text.rouge import (
    RougeReference,
    longest_common,
    porter_stem,
    rouge,
    rouge155_tokens,
    unicode_tokens,
)

KINDS = ("rouge1", "rouge2", "rougeL")
SCORERS = {stemmed: RougeScorer(list(KINDS), use_stemmer=stemmed) for stemmed in (False, True)}

VOCABULARY = """
    The museum museums opened opening 1800 founded foundation relational in of Curaçao Ελλάς
    coördinatie 夜巡 \u212a İstanbul straße can't well-known skies Dying a
"""
sentences = st.lists(st.sampled_from(VOCABULARY.split()), max_size=25).map(" ".join)
texts = sentences | st.text(max_size=60)
ENDINGS = """
    ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness
    fulness ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance
    ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize sses ies ss s eed ed
    ing ied y e ll
"""
DEPARTURES = """
    skies dying news innings proceed flies dies died spied enjoy happy agreed feed sky hopping
    falling hissing fizzed filing sized conflated troubled as ye y controll roll
"""
stems = st.text("aeiouyblstxw1", max_size=5)
derived = st.builds(
    lambda stem, *ends: stem + "".join(ends),
    stems,
    st.sampled_from(ENDINGS.split()),
    st.sampled_from(["", *ENDINGS.split()]),
)


def overlaps(scores):
    return [tuple(getattr(scores, kind)) for kind in KINDS]


@pytest.mark.parametrize("stemmed", [False, True])
@given(texts, texts)
def test_rouge155_is_rouge_score_to_the_last_bit(stemmed, reference, answer):
    theirs = SCORERS[stemmed].score(reference, answer)
    ours = rouge(reference, answer, "rouge155", use_stemmer=stemmed)
    assert overlaps(ours) == [tuple(theirs[kind]) for kind in KINDS]


@given(derived | st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12))
def test_the_stemmer_is_nltks(word):
    assert porter_stem(word) == PorterStemmer().stem(word)


@pytest.mark.parametrize("word", DEPARTURES.split())
def test_the_stemmer_follows_nltk_where_it_differs_from_porter(word):
    assert porter_stem(word) == PorterStemmer().stem(word)


@given(st.lists(st.integers(0, 4), max_size=12), st.lists(st.integers(0, 4), max_size=12))
def test_the_longest_common_sequence_is_that_of_the_table(one, other):
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for row, left in enumerate(one, 1):
        for column, right in enumerate(other, 1):
            kept = max(table[row - 1][column], table[row][column - 1])
            table[row][column] = table[row - 1][column - 1] + 1 if left == right else kept
    assert longest_common(one, other) == table[-1][-1]


@pytest.mark.parametrize(
    "text", ["Ελλάδα και Κύπρος", "Москва столица", "夜巡是倫勃朗的畫", "été à Paris"]
)
def test_unicode_words_see_every_script(text):
    """rouge-score gives 0 to Greek, Cyrillic and Chinese text against itself."""
    assert overlaps(rouge(text, text)) == [(1.0, 1.0, 1.0)] * 3


def test_unicode_words_tell_accents_and_case_apart_as_readers_do():
    assert rouge("coördinatie", "coordinatie").rouge1.f == 0
    assert rouge("Curaçao", "Cura ao").rouge1.f == 0
    assert rouge("COÖRDINATIE", "coo\u0308rdinatie").rouge1.f == 1
    assert rouge("Curaçao", "Cura ao", "rouge155").rouge1.f == 1


def test_an_unspaced_script_is_compared_character_by_character():
    scores = rouge("夜巡", "夜巡圖")
    assert scores.rouge1.precision == pytest.approx(2 / 3)
    assert scores.rouge2.recall == 1


@given(texts, texts, st.sampled_from(["unicode", "rouge155"]), st.booleans())
def test_shares_are_within_bounds_and_turn_with_the_texts(one, other, tokenizer, stemmed):
    there = rouge(one, other, tokenizer, use_stemmer=stemmed)
    back = rouge(other, one, tokenizer, use_stemmer=stemmed)
    for forth, turned in zip(there, back, strict=True):
        assert all(0 <= share <= 1 for share in forth)
        assert (forth.precision, forth.recall) == (turned.recall, turned.precision)


@given(sentences)
def test_a_text_is_its_own_best_answer(text):
    found = unicode_tokens(text)
    scores = rouge(text, text)
    assert scores.rouge1.f == scores.rougeL.f == (1.0 if found else 0.0)
    assert scores.rouge2.f == (1.0 if len(found) > 1 else 0.0)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_is_read_as_any_text(text):
    """A sign that is no word sends the same text down the general path."""
    for tokens in (unicode_tokens, rouge155_tokens):
        assert tokens(text) == tokens(f"{text} €")


@given(texts)
def test_the_form_of_accents_says_nothing(text):
    assert unicode_tokens(composed(text)) == unicode_tokens(text)


def test_a_reference_is_not_changed_by_answers():
    read = RougeReference("in 1800 in May")
    assert read.scores("in in in") == read.scores("in in in")
    assert read.scores("in in in").rouge1.recall == 0.5
