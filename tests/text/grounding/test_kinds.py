"""What kind of text an answer is, where nobody says."""

from __future__ import annotations

import pytest

from ragauge.text.grounding.kinds import SUMMARY_WORDS, kind_of
from ragauge.text.grounding.passages import Passages

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


@pytest.mark.parametrize("question", [None, "", "  \n"])
def test_without_a_question_length_tells(question):
    passages = Passages([PROSE], question)
    assert kind_of("word " * SUMMARY_WORDS, passages) == "summary"
    assert kind_of("word " * (SUMMARY_WORDS - 1), passages) == "qa"


@pytest.mark.parametrize("question", [None, "When?", "Summarise it."])
def test_records_make_it_data_to_text_whatever_is_asked(question):
    assert kind_of("It opened.", Passages([PROSE, RECORD], question)) == "data_to_text"
