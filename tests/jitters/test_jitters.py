"""Jitters: what they change, what they never touch, and how often they change the demo."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.jitters import DEFAULT, JITTERS, REFERENCE, applies, jittered
from ragauge.jitters.lexicons import LANGUAGES, language_of
from ragauge.jitters.protected import KEPT, masked, protected
from tests.jitters.jitter_cases import RESULTS

CASES = [
    (name, language, text, text if result is None else result)
    for name, languages in RESULTS.items()
    for language, texts in languages.items()
    for text, result in texts.items()
]


def test_the_text_after_a_jitter():
    assert [
        (name, language, text, found)
        for name, language, text, result in CASES
        if (found := jittered(text, name, language=language)) != result
    ] == []


TRAPS = {
    "syn": [
        "What is the list of the museums?",
        "When had the show opened, and for whom?",
        'Who wrote "Compare the budgets"?',
        "Who wrote «Explain the list»?",
        "Explain Everything is an app by whom?",
        "Who made the Explain Everything app?",
        "Who sells the app Show the Way?",
        "List prices rose in 2020.",
        "Show business is what?",
        "Who runs `explain` there?",
        "Is this beyond compare?",
    ],
    "order": [
        'Who wrote "with citations, in one sentence"?',
        "What is meant by `with citations, in one sentence`?",
    ],
}


def test_a_word_that_only_looks_replaceable_stays():
    cases = [(name, text) for name, texts in TRAPS.items() for text in texts]
    assert [text for name, text in cases if jittered(text, name) != text] == []


def test_order_keeps_the_text_around_the_clauses():
    text = "Hello. Define X with citations, in one sentence, and Y. Then add Z, with care!"
    result = jittered(text, "order")
    assert (
        result == "Hello. Define X in one sentence, with citations, and Y. Then add Z, with care!"
    )


PROTECTED = [
    *("1,000.50", "12:30", "1990–2000", "1990 – 2000", "2020-01-31", "31/12/2020", "12,5%"),
    *("March 3, 1995", "3 september 1995", "12 décembre 1808", "19e-eeuwse", "v2.0.1", "€12,50"),
    *("`a, b: c?`", "```\nx = 1, 2\n```", "``a`b, c``", "snake_case_name", "camelCaseName"),
    *("package.module.name", "/usr/lib/python", "src\\ragauge\\text", "--verbose", "{placeholder}"),
    *("https://e.org/a,b:c?d=explain", "www.example.org", "some.one@example.org"),
    *("p1#2", "NL-AmRM", "q1#seed=3;t=0.2", "ISIL-code", "KMSKA", "IIIF"),
    *('"explain, list: show?"', "'explain, list: show'", "“explain, list: show?”"),
    *("„explain, list: show?“", "«explain, list: show?»", "»explain, list: show?«"),
    *(
        "‘explain, list: show?’",
        "「explain，list：show？」",
        "『explain，list』",
        "《explain，list》",
    ),
    *("Rijksmuseum", "Pieter Teyler van der Hulst", "Archive of the Indies", "The Hague"),
    *("Anna Maria Luisa de' Medici", "K.P.C. de Bazel", "Musée d'Orsay", "Bu\u0308chereistrasse"),
]


def test_numbers_code_urls_quotations_and_names_are_never_touched():
    faults = []
    for part in PROTECTED:
        hidden = KEPT * len(part.removesuffix("%").strip("€"))
        if hidden not in masked(f"what is {part}, please: yes?", "en"):
            faults.append(("masked", part))
        text = f"Explain how {part}, in which year — what's {part}: the building, or not?"
        faults += [
            (name, part)
            for name in JITTERS
            for language in LANGUAGES
            if name != "quote" and jittered(text, name, language=language).count(part) != 2
        ]
    assert faults == []


def test_quote_leaves_what_is_quoted():
    for part in (part for part in PROTECTED if "explain" in part):
        result = jittered(f"Who said {part} to us?", "quote", language="en")
        inside = part.strip("\"'“”„«»‘’")
        assert inside in result and len(result) == len(f"Who said {part} to us?"), part


PIECES = st.sampled_from(
    [
        *("In which year was the hall opened", "Explain", "explain", "EXPLAIN", "List the parts"),
        *("the list of", "Show the", "Compare", "Which is older", "the Prado or the Louvre"),
        *("Who is the head of", "When was the", "opened", "How many visitors", "did", "Will Smith"),
        *("after the fire of", "with citations", "in one sentence", "present director", "The"),
        *("In welk jaar werd", "het", "geopend", "Wanneer begon", "huidige", "of het", "Leg uit"),
        *("Wann wurde das Museum gegründet", "Quand", "le roi", "什么时候", "为什么", "解释", "在"),
        *("what's", "l'année", "de' Medici", "'s", "K.P.C.", "St.", "e.g.", "and", "building"),
        *("?", ".", "!", ",", ", ", ":", ": ", "，", "：", "？", "。", " — ", "–", "--", "-", "…"),
        *(
            "\n",
            "\n- ",
            "  ",
            "\t",
            "\u00a0",
            "(",
            ")",
            '"',
            "'",
            "“",
            "”",
            "‘",
            "’",
            "„",
            "«",
            "»",
        ),
        *("`", "``", "İ", "ß", "ǅ", "\u0301", "\u200b", KEPT, "é", "É", "\x00", "\u2028"),
        *PROTECTED,
    ]
)
TEXTS = st.one_of(
    st.text(),
    st.lists(PIECES, max_size=12).map(" ".join),
    st.lists(PIECES, max_size=8).map("".join),
)
SPOKEN = st.sampled_from([*LANGUAGES, "es"])


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.casefold()))


def appear_in_order(parts: list[str], text: str) -> bool:
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


@given(TEXTS, SPOKEN)
def test_what_is_protected_survives_every_jitter(text, language):
    kept = [text[start:end] for start, end in protected(text, language)]
    for name in JITTERS:
        result = jittered(text, name, language=language)
        if name == "order":  # a moved clause takes its names with it
            assert all(result.count(part) >= many for part, many in Counter(kept).items())
        elif name != "quote":
            assert appear_in_order(kept, result)


@given(TEXTS, SPOKEN)
def test_only_syn_polite_and_typo_change_words(text, language):
    for name in ("none", "ws", "punct", "order", "case", "quote"):
        assert words(jittered(text, name, language=language)) == words(text)


@given(TEXTS, SPOKEN)
def test_a_second_time_changes_nothing_more(text, language):
    for name in ("none", "ws", "punct", "syn", "case", "polite"):
        once = jittered(text, name, language=language)
        assert jittered(once, name, language=language) == once


@given(TEXTS, SPOKEN)
def test_quote_applied_three_times_equals_once(text, language):
    """Not idempotent: a text has a straight and a bent form, and each is the other's jitter."""
    once = jittered(text, "quote", language=language)
    again = jittered(once, "quote", language=language)
    assert jittered(again, "quote", language=language) == once
    assert len(once) == len(text)


@given(TEXTS)
def test_every_text_has_a_language_and_a_jitter_needs_no_more(text):
    assert language_of(text) in LANGUAGES
    for name in JITTERS:
        assert jittered(text, name) == jittered(text, name, language=language_of(text))
        assert isinstance(applies(text, name), bool)


@given(TEXTS, SPOKEN)
def test_a_change_is_only_made_where_the_jitter_applies(text, language):
    for name in JITTERS:
        if jittered(text, name, language=language) != text:
            assert applies(text, name, language)


@given(TEXTS, SPOKEN)
def test_the_mask_is_as_long_as_the_text_and_shows_all_it_does_not_hide(text, language):
    painted = masked(text, language)
    assert len(painted) == len(text)
    assert all(new in (old, KEPT) for old, new in zip(text, painted, strict=True))
    assert all(left[1] < right[0] for left, right in pairwise(protected(text, language)))


HOSTILE = [
    *("a , ", "“", "'x ", '"', "`", "```````a", "? ", "1 – ", "A b ", "The ", "a-", "(", "‘a"),
    *(
        "In which year was the ",
        "how did it after before ",
        "with citations, ",
        " \t",
        "，",
        "解释",
    ),
    *("解释这的", "Waar wordt aan ge", "Hoe werd ge", "Show the ", "please ", "C,", "Liste auf "),
    *("Foo de ", "de' ", "3, ", "a\u0301", "x'", "..a", " — ", "Which is it, the A or the "),
]


@pytest.mark.slow
@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_takes_linear_time(part):
    """In a blink, because every search is linear; a quadratic one would take minutes."""
    text = part * (200_000 // len(part))
    for name in JITTERS:
        assert len(jittered(text, name)) >= len(text) - 1


def test_runs_of_backticks_of_every_length_take_linear_time():
    text = "".join("`" * length + "x" for length in range(1, 600))
    assert masked(text, "en") == text


def test_a_typo_is_one_of_two_kinds_and_the_same_every_time():
    for text in (f"Who restored the building number {n} of Kew?" for n in range(200)):
        result = jittered(text, "typo")
        assert result == jittered(text, "typo")
        changed = [at for at, (old, new) in enumerate(zip(text, result, strict=True)) if old != new]
        swapped = len(changed) == 2 and result[changed[0]] == text[changed[1]]
        assert len(changed) == 1 or (swapped and changed[1] == changed[0] + 1)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Who owns the Night Watch?", "en"),
        ("Wie is de eigenaar van de Nachtwacht?", "nl"),
        ("Wem gehört die Nachtwache und wer hat sie gemalt?", "de"),
        ("À qui appartient la Ronde de nuit ?", "fr"),
        ("《夜巡》属于谁？", "zh"),
        ("What does 故宫 mean in English?", "en"),
        ("IIIF 的 Image API 描述什么？", "zh"),
        ("", "en"),
        ("Xyzzy 42", "en"),
    ],
)
def test_the_language_of_a_text(text, language):
    assert language_of(text) == language


def test_a_language_may_be_given_with_its_region():
    assert jittered("Leg uit wat.", "syn", language="nl-BE") == "Beschrijf wat."
    assert jittered("Leg uit wat.", "syn", language="en") == "Leg uit wat."


REFERENCE_PARITY = [
    ("punct", "Is A — B ok", "Is A - B ok?"),
    ("punct", "What is X?", "What is X ?"),
    ("ws", "a ,b", "a, b"),
    ("syn", "Explain Y.", "describe Y."),
    (
        "order",
        "Define X with citations, in one sentence",
        "Define X in one sentence, with citations",
    ),
    ("none", "Explain Y.", "Explain Y."),
]


@pytest.mark.parametrize(("name", "text", "result"), REFERENCE_PARITY)
def test_the_reference_profile_follows_the_reference(name, text, result):
    assert jittered(text, name, profile="reference") == result


@given(TEXTS)
def test_the_reference_profile_loses_no_text(text):
    for name in ("none", "ws", "punct", "order"):
        assert words(jittered(text, name, profile="reference")) == words(text)
    replaced = len(jittered(text, "syn", profile="reference")) - len(text)
    assert replaced == sum(
        {"explain": 1, "list": 5, "compare": 1, "show": 3}.get(found.lower(), 0)
        for found in re.findall(r"\w+", text)
    )


def test_the_reference_profile_has_no_jitter_of_ours():
    assert tuple(REFERENCE) == DEFAULT
    for name in JITTERS.keys() - REFERENCE.keys():
        with pytest.raises(UsageError, match=f'"{name}" is ours; .* none, ws, punct, syn, order'):
            jittered("x", name, profile="reference")


def test_an_unknown_jitter_is_named_with_the_nearest():
    with pytest.raises(UsageError, match='there is no jitter "punkt"; did you mean "punct"'):
        jittered("x", "punkt")
    with pytest.raises(UsageError, match='no jitter "zzz"; there are none, ws, '):
        jittered("x", "zzz", profile="reference")


def test_every_jitter_says_what_it_does_and_what_it_risks():
    assert [*JITTERS][:5] == [*DEFAULT]
    for name, jitter in JITTERS.items():
        assert jitter.name == name
        assert jitter.risk in ("none", "low", "medium")
        assert jitter.about.endswith(".")


def demo_questions() -> list[tuple[str, str]]:
    text = files("ragauge.demo").joinpath("heritage/gold.jsonl").read_text("utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    return [(line["question"], line["strata"]["language"]) for line in lines]


def test_the_default_jitters_give_four_prompts_to_half_of_the_demo_and_more():
    prompts = [{jittered(text, name) for name in DEFAULT} for text, _ in demo_questions()]
    assert median(map(len, prompts)) >= 4
    assert min(map(len, prompts)) >= 3


@pytest.mark.parametrize("name", [name for name in JITTERS if name != "none"])
def test_a_jitter_changes_most_of_the_demo_questions_it_applies_to(name):
    asked = [(text, lang) for text, lang in demo_questions() if applies(text, name, lang)]
    changed = [text for text, language in asked if jittered(text, name, language=language) != text]
    assert len(changed) >= 0.6 * len(asked) > 0


def test_ws_punct_and_syn_apply_to_every_demo_question_and_order_to_25_or_more():
    """So that the shares above are not bought by applying to little."""
    questions = demo_questions()
    for name in ("ws", "punct", "syn"):
        assert all(applies(text, name, language) for text, language in questions)
    assert sum(applies(text, "order", language) for text, language in questions) >= 25


@pytest.mark.parametrize(
    ("text", "name", "language"),
    [
        ("Show must go on", "polite", "en"),
        ("List the parts, please.", "polite", "en"),
        ("¿Quién es?", "polite", "es"),
        ("《夜巡》是谁画的？", "quote", "zh"),
        ("什么是「夜巡」？", "quote", "zh"),
    ],
)
def test_a_jitter_does_not_apply_to_what_it_can_never_change(text, name, language):
    assert jittered(text, name, language=language) == text
    assert not applies(text, name, language)


@given(TEXTS, SPOKEN)
def test_polite_changes_every_text_it_applies_to(text, language):
    changed = jittered(text, "polite", language=language) != text
    assert changed == applies(text, "polite", language)


def test_ws_says_all_that_it_does():
    assert jittered("Who is it", "ws", language="en") == "Who  is it"
    assert "two between two words" in JITTERS["ws"].about


def test_the_guess_is_correct_for_every_demo_question():
    assert all(language_of(text) == language for text, language in demo_questions())
