"""Language: told from plain sentences, and None where nothing tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.text.language import language_of

TOLD = {
    "en": [
        "Who painted it?",
        "The museum was founded in 1800.",
        "what is the role of the prime minister in canada",
        "Yes, it is.",
        "Water boils at a lower temperature because of the pressure.",
        "The Ministerie van Onderwijs is the Dutch ministry of education.",
    ],
    "nl": [
        "Het museum werd opgericht in 1800.",
        "Waar is het museum?",
        "Ik weet het niet.",
        "De directeur van het museum",
        "Wie heeft dit schilderij gemaakt?",
    ],
    "de": [
        "Das Museum wurde 1800 gegründet.",
        "Wer malte die Nachtwache?",
        "Ich weiß es nicht.",
        "Die Sammlung ist nicht sehr groß, aber sie wird besucht.",
    ],
    "fr": [
        "Le musée a été fondé en 1800.",
        "Qui a peint la Ronde de nuit ?",
        "Je ne sais pas.",
        "Le directeur du musée",
        "L’histoire de l’art dans les Pays-Bas",
    ],
    "zh": ["博物馆成立于1800年。", "誰畫了夜巡？", "《夜巡》是 Rembrandt 的画作。"],
}
UNTOLD = [
    "",
    " ",
    "1800",
    "Amsterdam",
    "Rijksmuseum 1800",
    "El museo fue fundado en 1800 por los reyes de España.",
    "Il museo è stato fondato nel 1800 a Roma.",
    "O museu foi fundado em 1800 em Lisboa.",
    "Museet grundades år 1800 och det är stort.",
    "Muzeum zostało założone w 1800 roku w Warszawie.",
    "美術館は1800年に設立された。",
    "미술관은 1800년에 설립되었다.",
    "Музей был основан в 1800 году.",
    "Το μουσείο ιδρύθηκε το 1800.",
]


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language in TOLD for text in TOLD[language]]
)
def test_a_plain_sentence_tells_its_language(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", UNTOLD)
def test_too_little_or_another_language_is_none(text: str) -> None:
    assert language_of(text) is None


@given(st.permutations([text for texts in TOLD.values() for text in texts]))
def test_the_order_of_words_and_sentences_decides_nothing(texts: list[str]) -> None:
    assert language_of(" ".join(texts)) == language_of(" ".join(reversed(texts)))
