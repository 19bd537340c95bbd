"""Groundedness: the traps it must not fall into, the laws it keeps, and what it points at."""

from __future__ import annotations

import math
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragauge.contracts.answers import ANSWER_KINDS, Context
from ragauge.grounding import Passages, groundedness
from ragauge.grounding.groundedness import DIGITS, NO_ANSWER, NO_CLAIM, NO_CONTEXT, REFUSED
from ragauge.grounding.model import shipped

MUSEUM = (
    "The Rijksmuseum is a museum in Amsterdam. It was founded in The Hague in 1798 and moved to "
    "Amsterdam in 1808. The building of Cuypers is 150 m long and has 12,000 visitors a day. "
    "Visitors may not take photographs with flash. It opened again on 13 April 2013."
)
ASKED = "What is told of the museum?"


def value(answer, contexts=(MUSEUM,), question=ASKED, **more):
    return groundedness(answer, contexts, question, **more).value


def better(good, bad, contexts=(MUSEUM,), by=0.0):
    """Whether the first scores higher in every kind, and by so much as an answer to a question."""
    return value(good, contexts, kind="qa") > value(bad, contexts, kind="qa") + by and all(
        value(good, contexts, kind=kind) > value(bad, contexts, kind=kind) for kind in ANSWER_KINDS
    )


def test_aliens_on_mars_are_far_below_the_truth():
    assert better(
        "The Rijksmuseum was founded in The Hague in 1798.",
        "The Rijksmuseum was founded on Mars by aliens.",
        by=0.3,
    )
    found = groundedness("The Rijksmuseum was founded on Mars by aliens.", [MUSEUM], ASKED)
    assert found.grounded is False
    assert found.unsupported_words == ("Mars", "aliens")


@pytest.mark.parametrize(
    "contexts", [["The museum stands in Ede."], ["So. It is in Ede.", "Aliens are on Mars."]]
)
def test_a_short_truth_is_grounded(contexts):
    found = groundedness("It is in Ede", contexts, "Where is it?")
    assert found.grounded is True
    assert found.value > 0.8


@pytest.mark.parametrize(
    ("answer", "contexts", "reason"),
    [
        ("", [MUSEUM], NO_ANSWER),
        (" \n\t", [MUSEUM], NO_ANSWER),
        ("", [], NO_ANSWER),
        ("It is in Ede.", [], NO_CONTEXT),
        ("It is in Ede.", ["", "  \n", "\t"], NO_CONTEXT),
        ("It is in Ede.", ["...", "?!"], NO_CONTEXT),
        ("It is.", [MUSEUM], NO_CLAIM),
        ("?!", [MUSEUM], NO_CLAIM),
        ("[1][2]", [MUSEUM], NO_CLAIM),
        ("Here is the answer:\n", [MUSEUM], NO_CLAIM),
        ("Not in context.", [MUSEUM], REFUSED),
    ],
)
def test_nothing_to_measure_is_none_with_a_reason(answer, contexts, reason):
    found = groundedness(answer, contexts)
    assert (found.value, found.grounded, found.reason) == (None, None, reason)
    assert found.sentences == ()


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("It moved to Amsterdam in 1808.", "It moved to Amsterdam in 1818."),
        ("It moved to Amsterdam in 1808.", "It moved to Rotterdam in 1808."),
        ("It was founded in The Hague in 1798.", "It was founded in The Hague in 1898."),
        ("It was founded in The Hague in 1798.", "It was founded in The Hague in 1808."),
        ("The building is 150 m long.", "The building is 150 miles long."),
        ("It has 12 thousand visitors a day.", "It has 13 thousand visitors a day."),
        ("It opened again on April 13, 2013.", "It opened again on April 14, 2013."),
        ("It opened again on 2013-04-13.", "It opened again on 2013-05-13."),
        ("Visitors may not take photographs with flash.", "Visitors may take photos with lamps."),
        ("Visitors may not take photographs.", "Visitors may sell photographs."),
    ],
)
def test_one_wrong_word_lowers_the_score(good, bad):
    assert better(good, bad)


@pytest.mark.parametrize(
    ("context", "turned"),
    [
        ("The shop is open on Sunday.", "The shop is not open on Sunday."),
        ("The shop is not open on Sunday.", "The shop is open on Sunday."),
        ("Der Laden ist nicht offen.", "Der Laden ist offen."),
    ],
)
def test_a_denial_added_or_dropped_lowers_the_score(context, turned):
    assert better(context, turned, [context])


@pytest.mark.parametrize(
    "same",
    [
        "It has 12,000 visitors a day.",
        "It has 12 thousand visitors a day.",
        "It has twelve thousand visitors a day.",
        "It opened again on 13 April 2013.",
        "It opened again on April 13, 2013.",
        "It opened again on 2013-04-13.",
        "It opened again in April 2013.",
        "The building is 150 metres long.",
    ],
)
def test_numbers_and_dates_in_other_forms_are_supported(same):
    found = groundedness(same, [MUSEUM], ASKED)
    assert found.unsupported_numbers == ()
    assert found.unsupported_words == ()
    assert found.grounded is True
    assert found.value > 0.75


def test_a_number_alone_is_supported_in_another_form():
    context = ["It has 12,000 visitors."]
    assert value("12 thousand", context) > value("13 thousand", context) + 0.3


@pytest.mark.parametrize(
    ("bound", "swapped"),
    [
        ("Rembrandt painted the Night Watch in 1642.", "Vermeer painted the Night Watch in 1642."),
        ("Vermeer painted the Milkmaid in 1658.", "Rembrandt painted the Milkmaid in 1658."),
        ("Vermeer painted the Milkmaid in 1658.", "Vermeer painted the Milkmaid in 1642."),
    ],
)
def test_the_right_words_bound_to_the_wrong_subject_score_lower(bound, swapped):
    context = (
        "Rembrandt painted the Night Watch in 1642. Trade grew. Ships sailed. Rain fell. "
        "Vermeer painted the Milkmaid in 1658."
    )
    assert better(bound, swapped, [context])


@pytest.mark.parametrize(
    ("context", "good", "bad"),
    [
        ("They founded it.", "They were founding it.", "They were burning it."),
        ("夜巡由伦勃朗于1642年绘制。", "伦勃朗绘制夜巡。", "维米尔绘制夜巡。"),
        (
            "Het museum werd gesticht in 1800 door de koning.",
            "De koning stichtte het museum in 1800.",
            "De paus sloot het museum in 1810.",
        ),
        (
            "Das Museum wurde im Jahr 1800 vom König gegründet.",
            "Der König gründete das Museum 1800.",
            "Der Papst schloss das Museum 1810.",
        ),
        (
            "Le musée a été fondé par le roi en 1800.",
            "Le roi a fondé le musée en 1800.",
            "Le pape a fermé le musée en 1810.",
        ),
        (
            "Музей был основан в 1800 году королём.",
            "Музей основан в 1800 году.",
            "Цирк закрыт в 1810 году.",
        ),
    ],
)
def test_inflection_and_other_languages(context, good, bad):
    assert better(good, bad, [context], by=0.2)


def test_decomposed_accents_change_no_score_and_offsets_point_into_the_text():
    context = "Le musée a été fondé à Curaçao par le roi en 1800."
    answer = "Le musée a été fondé à Curaçao. Le café brûlé a fermé en 1810."
    apart = unicodedata.normalize("NFD", answer)
    one, other = groundedness(answer, [context]), groundedness(apart, [context])
    assert one.value == other.value
    assert value(answer, [unicodedata.normalize("NFD", context)]) == value(answer, [context])
    assert [unicodedata.normalize("NFC", word) for word in other.unsupported_words] == list(
        one.unsupported_words
    )
    assert all(word in apart for word in other.unsupported_words)
    assert [apart[s.start : s.end] for s in other.sentences] == [s.text for s in other.sentences]


@pytest.mark.parametrize(
    "around",
    [
        "Sure! Here is a summary in 50 words: {}",
        " {}",
        "{}\n\n",
        "1. {}",
        "- {}",
    ],
)
def test_what_stands_around_a_claim_changes_no_score(around):
    claim = "The museum moved to Amsterdam in 1808."
    assert value(around.format(claim)) == value(claim)


def test_citing_the_wrong_context_costs_and_the_right_one_does_not():
    contexts = ["The museum moved to Amsterdam in 1808.", "Ships sailed to the east."]
    claim = "The museum moved to Amsterdam in 1808"
    right, wrong, both = (value(f"{claim} {m}.", contexts) for m in ("[1]", "[2]", "[1, 2]"))
    assert right > wrong
    assert right > both
    assert groundedness(f"{claim} [1].", contexts).unsupported_numbers == ()


def test_records_are_read_and_not_only_their_words():
    record = "".join(
        f"attributes {name}: {told}\n"
        for name, told in (
            ("WiFi", False), ("OutdoorSeating", True), ("HasTV", None),
            ("Music", None), ("Caters", True), ("Alcohol", False),
        )
    )  # fmt: skip
    assert groundedness("It has WiFi.", [record]).kind == "data_to_text"
    assert value("It does not have WiFi.", [record]) > value("It has WiFi.", [record])
    assert value("It has outdoor seating.", [record]) > value("It has WiFi.", [record])
    assert value("It has outdoor seating.", [record]) > value("It has a TV.", [record])
    [one] = groundedness("It has outdoor seating.", [record]).sentences
    assert record[one.evidence.start : one.evidence.end] == "attributes OutdoorSeating: True"


def test_the_weakest_sentence_pulls_the_answer_down():
    good, bad = "It moved to Amsterdam in 1808.", "Aliens sold 70 pancakes on Mars."
    whole = groundedness(f"{good} {bad}", [MUSEUM], ASKED)
    assert value(bad) < whole.value < value(good)
    assert whole.sentences[0].score > whole.sentences[1].score
    assert whole.unsupported_numbers == ("70",) or whole.unsupported_numbers == ("70 pancakes",)


def test_the_kind_and_the_model_may_be_told():
    answer = "It moved to Amsterdam in 1808."
    found = groundedness(answer, [MUSEUM], kind="summary")
    assert found.kind == "summary"
    assert found.threshold == shipped().kinds["summary"].threshold
    assert groundedness(answer, [MUSEUM], model=shipped()) == groundedness(answer, [MUSEUM])


def test_a_number_that_stands_nowhere_is_never_grounded():
    filler = "The Rijksmuseum is a museum in Amsterdam. It was founded in The Hague in 1798. "
    found = groundedness(filler * 4 + "It has 12,001 visitors a day.", [MUSEUM], ASKED)
    assert found.unsupported_numbers == ("12,001",)
    assert found.grounded is False


@pytest.mark.parametrize("said", ["by: 1. Low 2. High", "by: (1) Low and (2) High"])
def test_markers_of_a_list_in_running_text_are_no_numbers(said):
    found = groundedness(f"Storms are ranked {said}.", ["Storms are ranked by Low and High."])
    assert found.unsupported_numbers == () and found.grounded


def test_signs_of_one_run_without_blanks_are_one_unsupported_word():
    found = groundedness("夜巡由维米尔绘制。", ["夜巡由伦勃朗绘制。"])
    assert found.unsupported_words == ("维米尔",)


def test_one_text_is_one_context():
    assert groundedness("It moved.", MUSEUM) == groundedness("It moved.", [MUSEUM])


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda: groundedness(None, [MUSEUM]), TypeError, "the answer is NoneType"),
        (lambda: groundedness("It is.", None), TypeError, "the contexts are NoneType"),
        (lambda: groundedness("It is.", ["a", 3]), TypeError, r"contexts\[1\] is int"),
        (lambda: groundedness("It is.", ["a"], kind="poem"), ValueError, 'no kind "poem"'),
    ],
)
def test_what_is_no_text_is_refused_with_the_fact(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


def test_contexts_analysed_once_give_the_same_as_each_time():
    passages = Passages([MUSEUM, "Aliens."], ASKED)
    for answer in ("It moved in 1808.", "Aliens moved.", ""):
        assert groundedness(answer, passages) == groundedness(answer, [MUSEUM, "Aliens."], ASKED)


def test_the_order_of_contexts_changes_no_value_where_one_is_the_best():
    contexts = [
        Context("a", "The museum moved to Amsterdam in 1808."),
        Context("b", "King Louis founded a museum of art."),
        Context("c", "Ships sailed to the east."),
    ]
    answer = "The museum moved to Amsterdam in 1808. King Louis founded it."
    forth, back = groundedness(answer, contexts), groundedness(answer, contexts[::-1])
    assert forth == back


def test_of_equal_contexts_the_first_is_the_evidence():
    contexts = [Context("b", "It moved in 1808."), Context("a", "It moved in 1808.")]
    [one] = groundedness("It moved in 1808.", contexts).sentences
    assert one.evidence.chunk == "b"
    assert value("It moved in 1808.", contexts) == value("It moved in 1808.", contexts[::-1])


WORDS = "museum moved Amsterdam king founded painters ships 1808 visitors the in of"
SENTENCE = st.lists(st.sampled_from(WORDS.split()), min_size=2, max_size=9).map(
    lambda words: " ".join(words).capitalize() + "."
)


@given(
    sentence=SENTENCE,
    context=SENTENCE,
    place=st.integers(0, 8),
    kind=st.sampled_from(ANSWER_KINDS),
)
def test_a_word_that_stands_nowhere_in_place_of_a_supported_one_never_helps(
    sentence, context, place, kind
):
    words = sentence.rstrip(".").split()
    place %= len(words)
    assume(words[place].lower() not in ("the", "in", "of"))
    assume(words[place].lower() in context.lower().rstrip(".").split())
    other = {True: "4711", False: "Xylophon" if words[place][0].isupper() else "xylophon"}
    words[place] = other[words[place].isdigit()]
    passages = Passages([context], ASKED, "en")
    before = groundedness(sentence, passages, kind=kind)
    after = groundedness(" ".join(words) + ".", passages, kind=kind)
    assert after.sentences[0].score <= before.sentences[0].score
    assert after.value <= before.value


@given(
    sentence=SENTENCE, contexts=st.lists(SENTENCE, max_size=3), kind=st.sampled_from(ANSWER_KINDS)
)
def test_a_context_that_repeats_the_sentence_never_hurts(sentence, contexts, kind):
    before = groundedness(sentence, Passages(["So.", *contexts], ASKED, "en"), kind=kind)
    after = groundedness(sentence, Passages(["So.", *contexts, sentence], ASKED, "en"), kind=kind)
    assume(before.value is not None)
    assert after.value >= before.value
    assert after.unsupported_words == after.unsupported_numbers == ()


SIGNS = st.sampled_from("aeB1 .,:;!?[]()-*|\n\t'\"’é\u0301不夜。\u00ad\ud800\x00\x85\u2028")
PIECES = st.sampled_from(
    [
        "The museum moved in 1808. ",
        "[1]",
        "[2, 3]",
        "Sure! ",
        "12 thousand ",
        "not ",
        "WiFi: False\n",
    ]
)
TEXT = st.lists(PIECES | st.text(SIGNS, max_size=6), max_size=10).map("".join)


@given(answer=TEXT, contexts=st.lists(TEXT, max_size=3), question=st.none() | TEXT)
def test_any_text_gives_a_score_that_can_be_checked(answer, contexts, question):
    found = groundedness(answer, contexts, question)
    assert found == groundedness(answer, contexts, question)
    assert (found.value is None) == (not found.sentences)
    assert found.reason or found.value is not None
    scores = [one.score for one in found.sentences]
    for score in [*scores, *([] if found.value is None else [found.value])]:
        assert 0 <= score <= 1
        assert math.isfinite(score)
        assert score == round(score, DIGITS)
    past = 0
    for one in found.sentences:
        assert past <= one.start < one.end <= len(answer)
        assert answer[one.start : one.end] == one.text
        past = one.end
        for word in (*one.unsupported_words, *one.unsupported_numbers):
            assert word
            assert word in one.text
        if one.evidence:
            chunk = contexts[int(one.evidence.chunk) - 1]
            assert 0 <= one.evidence.start < one.evidence.end <= len(chunk)
            assert chunk[one.evidence.start : one.evidence.end].strip()


MUCH = 2_000
"""Signs; `benchmarks.linearity` has more."""


@pytest.mark.parametrize(
    "text",
    [
        "a" * MUCH,
        "1" * MUCH + "a",
        "aB" * (MUCH // 2) + "1",
        "[" * MUCH,
        "[1]" * (MUCH // 3),
        "[1," * (MUCH // 3),
        "so [1]. " * (MUCH // 8),
        "\n" * MUCH,
        " \n" * (MUCH // 2),
        "sure\n" * (MUCH // 5),
        "yes" + " " * MUCH + "x",
        "e" + "\u0301" * MUCH,
        "\ud800" * MUCH,
        "\x00" * MUCH,
        "夜" * MUCH,
        "not " * (MUCH // 4),
        "lot; " * (MUCH // 5),
        " ".join(f"w{place}x" for place in range(MUCH // 8)),
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_hostile_text_is_measured(text):
    record = "Lot: True\n" + "Parking lot: False\n" * 6
    for answer, contexts in ((text, [MUSEUM]), (MUSEUM, [text]), (text, [text[:2000], record])):
        found = groundedness(answer, contexts, text[:1000])
        assert found.value is None or 0 <= found.value <= 1
