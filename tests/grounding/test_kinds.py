"""What kind of text an answer is, where nobody says."""

from __future__ import annotations

import pytest

from ragauge.grounding import groundedness
from ragauge.grounding.groundedness import SOURCE_WORDS, SUMMARY_WORDS, kind_of
from ragauge.grounding.passages import Passages

PROSE = "The museum opened in 1808 in Amsterdam."
RECORD = "a b: yes\n" * 8


@pytest.mark.parametrize(
    "question",
    [
        "Summarise the text.",
        "Write a summary in 50 words",
        "TL;DR please",
        "Geef een samenvatting.",
        "Vat deze tekst kort samen",
        "Fassen Sie den Text zusammen",
        "Eine Zusammenfassung bitte",
        "Fais un résumé",
        "请总结这篇文章",
    ],
)
def test_a_question_that_asks_for_a_summary(question):
    assert kind_of("It opened.", Passages([PROSE], question)) == "summary"


@pytest.mark.parametrize("question", ["When did it open?", "Wat is samen reizen?", "什么时候？"])
def test_any_other_question_makes_an_answer_of_any_length(question):
    assert kind_of("word " * 500, Passages([PROSE], question)) == "qa"


DOCUMENT = "word " * SOURCE_WORDS
TEXT = "word " * SUMMARY_WORDS


@pytest.mark.parametrize("question", [None, "", "  \n"])
@pytest.mark.parametrize(
    ("answer", "contexts", "kind", "because"),
    [
        (TEXT, [DOCUMENT], "summary", "one context, of 150 words or more"),
        (TEXT.removesuffix("word "), [DOCUMENT], "qa", "fewer than 40 words"),
        (TEXT, [DOCUMENT, DOCUMENT], "qa", "several contexts"),
        (TEXT, [PROSE], "qa", "the context has fewer than 150 words"),
    ],
)
def test_without_a_question_the_kind_is_assumed_and_the_result_says_why(
    question, answer, contexts, kind, because
):
    found = groundedness(answer, contexts, question)
    assert found.kind == kind and because in found.assumed
    assert groundedness(answer, contexts, question, kind=kind).assumed is None


def test_nothing_is_assumed_with_a_question_or_a_record():
    assert groundedness(TEXT, [DOCUMENT], "What does it say?").assumed is None
    assert groundedness("It opened.", [RECORD]).assumed is None


def test_an_answer_from_several_passages_has_the_same_verdict_without_its_question():
    passages = [
        "The Rijksmuseum opened in The Hague in 1800 and moved to Amsterdam in 1808.",
        "Pierre Cuypers designed the present building, which opened to the public in 1885.",
    ]
    answer = (
        "The Rijksmuseum opened in The Hague in 1800 and moved to Amsterdam in 1808. The present "
        "building opened to the public in 1885, and Pierre Cuypers designed it. It is known far "
        "beyond the borders of the country, and people travel from far away for it."
    )
    with_question = groundedness(answer, passages, "What is the history of the building?")
    without = groundedness(answer, passages)
    assert (without.value, without.kind, without.grounded) == (
        with_question.value,
        with_question.kind,
        with_question.grounded,
    )


@pytest.mark.parametrize("question", [None, "When?", "Summarise it."])
def test_records_make_it_data_to_text_whatever_is_asked(question):
    assert kind_of("It opened.", Passages([PROSE, RECORD], question)) == "data_to_text"
