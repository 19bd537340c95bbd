"""Stop words: full enough to be of use, and nothing among them by which an answer is wrong."""

from __future__ import annotations

import pytest

from ragauge.text.agreement import AFFIRMATIONS, NEGATIONS
from ragauge.text.stop_words import STOP_WORDS, Language, stop_words
from ragauge.text.words import words

NUMBERS = """
    one two three hundred twee drie tien honderd zwei drei zehn deux trois dix 一 二 三 十 百 两
"""
QUANTITIES = """
    all every only more most less few many always without alle elke alleen meer meest zonder
    alle jede nur mehr ohne tous chaque seulement plus sans 都 每 只 最 无 無
"""
LANGUAGES: tuple[Language, ...] = ("en", "nl", "de", "fr", "zh")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_list_is_full_and_in_the_form_of_words(language: Language) -> None:
    listed = STOP_WORDS[language]
    assert len(listed) >= (90 if language == "zh" else 150)
    assert all(words(word) == [word] for word in listed)


@pytest.mark.parametrize("language", [*LANGUAGES, None])
def test_what_can_make_an_answer_wrong_stays(language: Language | None) -> None:
    telling = NEGATIONS | AFFIRMATIONS | set(NUMBERS.split()) | set(QUANTITIES.split())
    assert stop_words(language).isdisjoint(telling)


@pytest.mark.parametrize(
    ("language", "sentence", "left"),
    [
        ("en", "The museum's hall wasn't built by them; it'll be", "museum hall wasn built"),
        ("nl", "Het museum werd in 1800 door de koning opgericht", "museum 1800 koning opgericht"),
        ("de", "Das Museum wurde 1800 von dem König gegründet", "museum 1800 könig gegründet"),
        ("fr", "L'histoire du musée qu'il a fondé", "histoire musée fondé"),
        ("zh", "他們在這裡的博物館", "裡 博 物 館"),
    ],
)
def test_content_words_are_what_is_left(language: Language, sentence: str, left: str) -> None:
    content = [word for word in words(sentence) if word not in stop_words(language)]
    assert " ".join(content) == left


def test_the_union_leaves_out_what_tells_in_another_language() -> None:
    union = stop_words(None)
    telling = "war hat die door word car son pour ten man tot"
    idle = "the and het een und est les 的 這"
    assert union.isdisjoint(words(telling))
    assert union.issuperset(words(idle))
    assert union < frozenset().union(*STOP_WORDS.values())


def test_may_us_and_eu_are_a_month_a_country_and_a_union() -> None:
    assert all({"may", "us", "eu"}.isdisjoint(STOP_WORDS[language]) for language in LANGUAGES)


def test_simplified_and_traditional_characters_are_both_listed() -> None:
    assert set("这這个個们們为為与與对對从從吗嗎") <= STOP_WORDS["zh"]
