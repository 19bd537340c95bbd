"""Features: what a row is sliced by, told from its strata and its texts."""

import numpy as np
import pytest

from ragauge.contracts.answers import Context
from ragauge.contracts.diagnosis import ScoreRow
from ragauge.diagnosis.features import features, question_type, searchable_features, too_fine
from ragauge.text.language import language_of


def of(first_relevant=None, **fields):
    return features(ScoreRow(id="1", **fields), first_relevant)


QUESTIONS = {
    "who": [
        "Who designed the building?",
        "By whom was it designed?",
        "Who's the director of the museum?",
        "Wie heeft de Nachtwacht geschilderd?",
        "Wie schilderde dit?",
        "Voor wie ontwierp hij het gebouw?",
        "Wer hat das Museum gegründet?",
        "Qui a peint la Joconde ?",
        "À qui appartient le tableau ?",
        "这座宫殿是谁建造的？",
    ],
    "when": [
        "When did it open?",
        "In which year was the collection moved?",
        "On what date does it close?",
        "Wanneer ging het museum open?",
        "In welk jaar werd het gesticht?",
        "Sinds wanneer is dat zo?",
        "Wann wurde das Museum eröffnet?",
        "In welchem Jahr wurde es gebaut?",
        "Quand le musée a-t-il ouvert ?",
        "En quelle année a-t-il été fondé ?",
        "博物馆什么时候开放？",
        "它是哪一年成立的？",
    ],
    "where": [
        "Where is the library?",
        "In which town does it have its seat?",
        "Waar staat de toren?",
        "In welke stad staat de toren?",
        "Wo befindet sich das Archiv?",
        "Où se trouve le Louvre ?",
        "D'où vient la collection ?",
        "故宫在哪里？",
    ],
    "how_many": [
        "How many visitors came in 2013?",
        "How old is the collection?",
        "Hoeveel kilometer archief is er?",
        "Hoe lang duurt de verbouwing?",
        "Wie viele Bücher besitzt die Bibliothek?",
        "Wieviel kostet der Eintritt?",
        "Combien de tableaux possède le musée ?",
        "馆藏有多少件？",
        "馆内有几个展厅？",
    ],
    "why": [
        "Why was it closed?",
        "Explain why it was closed.",
        "Waarom is het museum dicht?",
        "Leg uit waarom Egypte de tempel schonk.",
        "Warum wurde es geschlossen?",
        "Pourquoi le musée est-il fermé ?",
        "为什么博物馆关闭？",
    ],
    "compare": [
        "Compare the budgets of the two museums.",
        "How do the founding years compare?",
        "What is the difference between an archive and a library?",
        "Wat is het verschil tussen een archief en een bibliotheek?",
        "Vergelijk de twee musea.",
        "Was ist der Unterschied zwischen Archiv und Bibliothek?",
        "Quelle est la différence entre les deux ?",
        "这两座博物馆有什么区别？",
    ],
    "yes_no": [
        "Is the museum open on Monday?",
        "Was it sold in 1800?",
        "Heeft het museum een winkel?",
        "Ist das Museum am Montag geöffnet?",
        "Est-ce que le musée est ouvert ?",
        "博物馆周一开放吗？",
    ],
    "other": [
        "What is IIIF?",
        "Which architects designed it?",
        "How is it related to the British Museum?",
        "Explain how it is made.",
        "Name the man who left his fortune.",
        "The man who painted it",
        "Wat is de grootste bibliotheek?",
        "Welke verschillende zalen heeft het museum?",
        "Wie funktioniert das und für wen ist es?",
        "Was ist IIIF?",
        "Was macht das Museum mit der Sammlung?",
        "Was ist das Besondere an der Sammlung?",
        "Qu'est-ce que l'ISIL ?",
        "什么是几何学？",
        "1800",
        "?",
    ],
}


@pytest.mark.parametrize(
    ("form", "question"), [(form, one) for form, asked in QUESTIONS.items() for one in asked]
)
def test_the_form_of_a_question(form, question):
    assert question_type(question, language_of(question)) == form


def test_a_request_is_told_by_what_it_asks_for():
    assert question_type("Can you tell me when it opened?") == "when"
    assert question_type("Could you please tell me who built it?") == "who"
    assert question_type("Can you help me?") == "other"


def test_chinese_in_an_english_question_does_not_make_it_chinese():
    assert question_type("Who is the author of 红楼梦 in this library?", "en") == "who"
    assert question_type("红楼梦的作者是谁") == "who"


def test_a_stratum_beats_what_would_be_told():
    asked = {"question": "When did it open?", "answerable": True}
    assert of(**asked)["question_type"] == "when"
    told = of(**asked, strata={"question_type": "temporal", "language": "nl", "answerable": "no"})
    assert (told["question_type"], told["language"]) == ("temporal", "nl")
    assert told["answerable"] == "no"


def test_strata_come_along_and_empty_ones_do_not():
    told = of(strata={"country": "NL", "tier": ""})
    assert told == {"country": "NL"}


def test_what_cannot_be_told_is_not_there():
    assert of() == {}
    assert of(question="  ") == {}
    assert "language" not in of(question="Amsterdam 1800")


@pytest.mark.parametrize(
    ("count", "length"), [(1, "short"), (7, "short"), (8, "middle"), (15, "middle"), (16, "long")]
)
def test_the_length_of_a_question_in_words(count, length):
    assert of(question=" ".join(["word"] * count) + "?")["question_length"] == length


def test_two_characters_of_chinese_are_a_word():
    assert of(question="馆" * 14)["question_length"] == "short"
    assert of(question="馆" * 16)["question_length"] == "middle"
    assert of(question="馆" * 34)["question_length"] == "long"


@pytest.mark.parametrize(
    ("count", "length"),
    [(0, "none"), (1, "short"), (10, "short"), (11, "middle"), (50, "middle"), (51, "long")],
)
def test_the_length_of_an_answer_in_words(count, length):
    assert of(answer=" ".join(["word"] * count))["answer_length"] == length


@pytest.mark.parametrize(
    ("characters", "length"),
    [(0, "none"), (2_000, "short"), (2_001, "middle"), (8_000, "middle"), (8_001, "long")],
)
def test_the_length_of_the_contexts_in_characters(characters, length):
    contexts = (Context("a", "x" * (characters // 2)), Context("b", "x" * -(-characters // 2)))
    assert of(contexts=contexts)["context_length"] == length


@pytest.mark.parametrize(
    ("count", "name"),
    [(0, "none"), (1, "few"), (3, "few"), (4, "some"), (10, "some"), (11, "many")],
)
def test_the_number_of_retrieved_chunks(count, name):
    ids = tuple(map(str, range(count)))
    assert of(retrieved_ids=ids)["retrieved_chunks"] == name
    assert of(contexts=tuple(Context(id, "x") for id in ids))["retrieved_chunks"] == name
    both = of(retrieved_ids=ids, contexts=(Context("a", "x"),))
    assert both["retrieved_chunks"] == name


@pytest.mark.parametrize(
    ("rank", "name"),
    [
        (1, "first"),
        (2, "second_or_third"),
        (3, "second_or_third"),
        (4, "later"),
        (0, "never"),
        (None, None),
    ],
)
def test_the_rank_of_the_first_relevant_chunk(rank, name):
    assert of(rank).get("first_relevant") == name


def test_answerable_is_told_in_words():
    assert of(answerable=True)["answerable"] == "true"
    assert of(answerable=False)["answerable"] == "false"


def test_features_with_two_to_fifty_values_are_searched():
    samples = [
        {"constant": "x", "two": str(at % 2), "fifty": str(at % 50), "id": str(at)}
        for at in range(51)
    ]
    assert [one.name for one in searchable_features(samples)] == ["fifty", "two"]
    assert too_fine(samples) == {"id": 51}
    assert searchable_features([]) == ()


def test_a_sample_without_a_feature_stands_past_the_last_value():
    [one] = searchable_features([{"tier": "b"}, {}, {"tier": ""}, {"tier": "b"}])
    assert one.values == ("", "b")
    assert np.array_equal(one.places, [1, 2, 0, 1])
