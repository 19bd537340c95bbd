"""Refusals in free words: seven languages, three verdicts, and the words that decided."""

import json
import unicodedata
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.refusals.predicate import (
    HEAD_CHARS,
    REFUSING,
    TAIL_CHARS,
    free_refusal,
    has_cue,
    is_refusal,
    refusal_in_free_words,
)
from tests.components.shared_data import shared
from tests.refusals.refusal_sentences import ANSWERS, REFUSALS, UNDETERMINED

SENTENCES = [
    (language, text, verdict)
    for verdict, by_language in (
        ("refusal", REFUSALS),
        ("answer", ANSWERS),
        ("undetermined", UNDETERMINED),
    )
    for language, texts in by_language.items()
    for text in texts
]


@pytest.mark.slow
def test_sentences_get_the_verdict_of_a_reader_with_and_without_their_language():
    assert [
        (language, text, verdict)
        for language, text, verdict in SENTENCES
        for known in (None, language)
        if free_refusal(text, known).verdict != verdict
    ] == []


@pytest.mark.parametrize("language", ["en", "nl", "de", "fr", "es", "zh", "ja"])
def test_every_language_has_forty_sentences_of_the_three_kinds(language):
    kinds = [by_language[language] for by_language in (REFUSALS, ANSWERS, UNDETERMINED)]
    assert all(kinds)
    assert sum(map(len, kinds)) >= 40


def test_evidence_is_the_text_of_the_answer_at_its_place():
    faults = []
    for _, text, verdict in SENTENCES:
        for form in (text, unicodedata.normalize("NFD", text), f"**{text}**"):
            found = free_refusal(form)
            answer = bool(found.reason) and (bool(found.evidence) or verdict == "answer")
            if not answer or any(
                one.text != form[one.start : one.end] or not one.text for one in found.evidence
            ):
                faults.append((form, found))
    assert faults == []


def test_markup_quotes_and_capitals_do_not_matter():
    faults = []
    for text in (text for texts in REFUSALS.values() for text in texts):
        dressed = (f"- {text}", f"> {text}", f"# Answer\n\n{text}", f'"{text}"', text.upper())
        for form in (*dressed, unicodedata.normalize("NFD", text), text.replace("'", "’")):
            if free_refusal(form).verdict != "refusal":
                faults.append(form)
    assert faults == []


def test_offers_and_excuses_do_not_change_a_refusal():
    answer = (
        "I'm sorry, but the provided documents do not mention the founder of the library. "
        "They only discuss its collection. If you have more context, please share it. "
        "You may want to check the library's website. Is there anything else I can help you with?"
    )
    assert free_refusal(answer).verdict == "refusal"


def test_the_items_of_a_list_belong_to_the_refusal_that_introduces_it():
    answer = (
        "The passages do not provide information on the following:\n- prices\n- opening hours\n"
    )
    assert free_refusal(answer).verdict == "refusal"
    assert free_refusal(answer.replace("do not provide", "provide")).verdict == "answer"


def test_a_refusal_with_a_claim_is_undetermined():
    answer = "The documents do not give the price. {}"
    for claim in ("Entry costs 12 euros on weekdays.", "However, students pay half of it."):
        assert free_refusal(answer.format(claim)).verdict == "undetermined"


def test_a_question_about_the_documents_is_answered_by_what_they_say():
    answer, about = (
        "The document does not mention penalties.",
        "Does the document mention penalties?",
    )
    assert free_refusal(answer, question=about).verdict == "undetermined"
    assert free_refusal(answer, question="How high are the penalties?").verdict == "refusal"
    assert free_refusal("The contract does not mention penalties.").verdict != "refusal"


def test_only_the_beginning_and_end_of_a_long_answer_are_read():
    claim = "The harbour was dredged in 1874 and again in 1901. "
    gap = "The documents do not say who paid."
    long = claim * ((HEAD_CHARS + TAIL_CHARS) // len(claim) + 5)
    noted = free_refusal(long + gap)
    assert noted.verdict == "answer"
    assert [one.text for one in noted.evidence] == ["The documents do not say"]
    assert long + gap == (long + gap)[: noted.evidence[0].start] + gap
    assert free_refusal(f"{gap} {long}").verdict == "undetermined"


def test_each_strength_includes_the_weaker_ones():
    texts = ("not in context", "“Not in context.”", "The documents do not say.", "In 1808.")
    found = {strength: [is_refusal(text, strength) for text in texts] for strength in REFUSING}
    assert found == {
        "exact": [True, False, False, False],
        "near": [True, True, False, False],
        "free": [True, True, True, False],
        "auto": [True, True, True, False],
    }


def test_the_quick_check_never_hides_a_refusal():
    texts = [t for by in (REFUSALS, UNDETERMINED) for texts in by.values() for t in texts]
    assert [t for t in texts if not has_cue(t)] == []
    assert refusal_in_free_words("It opened in 1885.") == "none"


@given(st.text(max_size=300), st.sampled_from([t for ts in REFUSALS.values() for t in ts]))
def test_any_text_has_a_verdict_and_correct_places(text, refusal):
    for answer in (text, text + refusal, refusal + text):
        found = free_refusal(answer)
        assert found == free_refusal(answer)
        assert all(answer[one.start : one.end] == one.text for one in found.evidence)


@pytest.mark.parametrize(
    "piece",
    ["not ", "the documents ", "the ", "I ", "not in the ", '"', "a, ", "没有", "' ne pas "],
)
def test_hostile_text_is_read_only_in_part(piece):
    text = piece * (2_000_000 // len(piece))
    assert free_refusal(text).verdict in ("answer", "undetermined", "refusal")


def test_people_called_these_answers_unanswerable():
    lines = shared("mtrag/mtrag_un.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    kinds: dict[str, list[str]] = {}
    for row in rows:
        verdict = free_refusal(row["reference_answer"], question=row["question"]).verdict
        half = int(sha256(row["id"].encode()).hexdigest(), 16) % 2
        kinds.setdefault(f"{row['answerability']} {half}", []).append(verdict)
    for half in (0, 1):
        unanswerable, answerable = kinds[f"UNANSWERABLE {half}"], kinds[f"ANSWERABLE {half}"]
        assert unanswerable.count("refusal") >= 0.9 * len(unanswerable)
        # One that is marked answerable asks back which novel is meant.
        assert answerable.count("refusal") <= half
        asked_back = kinds[f"UNDERSPECIFIED {half}"]
        assert asked_back.count("refusal") >= 0.9 * len(asked_back)
        assert kinds[f"PARTIAL {half}"].count("refusal") == 0


def test_answers_of_extractive_systems_are_not_refusals():
    lines = shared("squad2_systems/questions.jsonl").read_text("utf-8").splitlines()
    answer = {p for line in lines for p in json.loads(line)["predictions"].values() if p}
    assert len(answer) > 500
    assert [text for text in answer if free_refusal(text).verdict != "answer"] == []
