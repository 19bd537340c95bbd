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

WORDED = {
    "ws": {
        "en": {
            "Who owns it, and why?": "Who  owns it , and why ?",
            "Who owns it,and why?": "Who  owns it , and why ?",
            "Kept here: the codex": "Kept here : the  codex",
            "Rembrandt": "Rembrandt ",
            "Was it C,D or A,B?": "Was  it C,D or A,B ?",
            "A,B": "A,B ",
            "In Kew,Delft or Élan,Été": "In Kew,Delft or Élan,Été ",
            "Is it C, D or x,y?": "Is  it C , D or x , y ?",
            "Who?\n- one, two\n    three, four": "Who?\n- one , two\n    three , four",
        },
        "nl": {"Welk archief is ouder: dit of dat?": "Welk  archief is ouder : dit of dat ?"},
        "fr": {"Où est-il : à Paris ?": "Où  est-il: à Paris?"},
        "zh": {"故宫，卢浮宫：哪个更大？": "故宫， 卢浮宫： 哪个更大 ？"},
    },
    "punct": {
        "en": {
            "What is X?": "What is X",
            "Explain Y.": "Explain Y",
            "In which year was it built?": "In which year was it built",
            "It was built in 1808?": "It was built in 1808?",
            "Is A — B ok?": "Is A - B ok",
            "What's A – B -- C": "What’s A - B - C",
            "- one\n– two": "- one\n– two",
            "In 1808 the king founded it": "In 1808, the king founded it",
            "In Kew the king founded it": "In Kew the king founded it",
            "What??": "What??",
            "Show must go on?": "Show must go on?",
            "Show the rooms?": "Show the rooms",
            "Name it…": "Name it…",
        },
        "nl": {"In 1808 werd het gebouwd": "In 1808 werd het gebouwd", "Wie is dat?": "Wie is dat"},
        "fr": {"Où est-il ?": "Où est-il", "En 1808 le roi vint": "En 1808, le roi vint"},
        "zh": {"什么是X？": "什么是X?", "解释X。": "解释X"},
    },
    "syn": {
        "en": {
            "Explain Y.": "Describe Y.",
            "EXPLAIN the move": "DESCRIBE the move",
            "explain the move": "describe the move",
            "Could you explain why it moved?": "Could you describe why it moved?",
            "Please list the parts.": "Please enumerate the parts.",
            "Compare A and B.": "Contrast A and B.",
            "Compare A to B.": "Compare A to B.",
            "Compare and contrast A with B.": None,
            "Name the ship Victory.": None,
            "Where is the difference kept?": None,
            "Show the rooms.": "Display the rooms.",
            "Show me the rooms.": "Show me the rooms.",
            "In which year did it open?": "In what year did it open?",
            "Which architect designed it?": "What architect designed it?",
            "Which opened first, the Prado or the Louvre?": None,
            "Which archive is older, Kew or Simancas?": None,
            "Which documents the founding?": None,
            "Who designed the Louvre?": None,
            "How many visitors came?": "What number of visitors came?",
            "How many of them came?": None,
            "How is Kew linked to London?": "In what way is Kew linked to London?",
            "How is the weather?": None,
            "How did the vote go?": None,
            "When did it open?": "At what point in time did it open?",
            "When is it open?": None,
            "When it opened, who came?": None,
            "What does it cost?": "How much does it cost?",
            "What does it say about what it cost him?": None,
            "Where did it come from?": None,
            "Who is the present director?": "Who is the current director?",
            "What is the present value of it?": None,
        },
        "nl": {
            "Leg uit waarom het sloot.": "Beschrijf waarom het sloot.",
            "Noem de drie delen.": "Vermeld de drie delen.",
            "Noem de architecten van de toren.": "Vermeld de architecten van de toren.",
            "Noem het geen museum.": None,
            "Noem de jongen Jan.": None,
            "Noem de toren Babel.": None,
            "Leg uit op welke dag het sloot.": "Beschrijf op welke dag het sloot.",
            "Leg uit dat het sloot.": None,
            "Vergelijk het met KBR.": None,
            "In welk jaar en in welke maand werd het gebouwd?": None,
            "In welk jaar werd het gebouwd?": None,
            "Hoe wordt het weer?": None,
            "Hoe kan dat?": None,
            "Hoe werd het schip ontdekt?": "Op welke manier werd het schip ontdekt?",
            "Waar ligt het aan dat het sloot?": None,
            "Waar ligt het verschil?": None,
            "Waar hangt het vanaf?": None,
            "Waar wordt aan gewerkt in de toren?": None,
            "Vergelijk de KB met KBR.": "Maak een vergelijking van de KB met KBR.",
            "Wanneer begon het werk?": "Op welk moment begon het werk?",
            "Wanneer het begon, wie was er bij?": None,
            "Hoe komt het dat het sloot?": None,
            "Hoe wordt het genoemd?": None,
            "Waar staat de afkorting KB voor?": None,
            "Waar worden boeken van gemaakt?": None,
            "Waar staat het beeld?": "Op welke plaats staat het beeld?",
            "Wie is de huidige directeur?": "Wie is de tegenwoordige directeur?",
            "Wat is de huidige tijd?": None,
            "Wie ontwierp de toren?": None,
        },
        "de": {
            "Erklären Sie, wie es begann.": "Beschreiben Sie, wie es begann.",
            "Liste die Teile auf.": "Zähle die Teile auf.",
            "Liste der Museen": None,
            "Erklären Sie den Bau.": "Beschreiben Sie den Bau.",
            "Erkläre ihn für tot.": None,
            "Nenne drei Teile.": "Benenne drei Teile.",
            "Nenne es kein Museum.": None,
            "Wie wurde das Wetter?": None,
            "Wie ging es ihm?": None,
            "Wie wurde es gedruckt?": "Auf welche Weise wurde es gedruckt?",
            "Wo liegt das Problem?": None,
            "Wann wurde es gebaut?": "Zu welchem Zeitpunkt wurde es gebaut?",
            "Wie wurde es genannt?": None,
        },
        "fr": {
            "Citez les trois auteurs.": "Nommez les trois auteurs.",
            "Liste des musées": None,
            "Citez la phrase exacte.": None,
            "Comment se fait-il qu'il soit fermé ?": None,
            "Comment est le musée ?": None,
            "Comment est conservée la toile ?": "De quelle manière est conservée la toile ?",
            "En quelle année a-t-il ouvert ?": "Au cours de quelle année a-t-il ouvert ?",
            "Comment s'appelle le roi ?": None,
            "Quand le roi vint, qui ouvrit ?": None,
        },
        "zh": {
            "请解释IIIF。": "请说明IIIF。",
            "故宫在哪一年成立？": "故宫在哪年成立？",
            "比较大的是哪个？": None,
            "解释权归谁？": None,
            "显示器是谁的？": None,
            "列出的是谁？": None,
            "比较A和B。": "对比A和B。",
            "比较一下这两座。": "对比一下这两座。",
            "比较大的宫和塔有很多。": None,
            "解释为什么它关闭": "说明为何它关闭",
            "解释《夜巡》的书是谁写的？": None,
            "解释《夜巡》的书是谁写的": None,
            "它成为什么？": None,
            "例如何时？": None,
        },
    },
    "order": {
        "en": {
            "Define X with citations, in one sentence": "Define X in one sentence, with citations",
            "Define X with sources and in 3 words, please. Stop.": (
                "Define X in 3 words and with sources, please. Stop."
            ),
            "Define X with citations, in one sentence that rhymes.": None,
            "Which is older, the Prado or the Louvre?": "The Prado or the Louvre: which is older?",
            "which is older, the Prado or the Louvre?": "the Prado or the Louvre: which is older?",
            "What is it, and who or what made it?": None,
            "When was the hall opened to all?": "The hall was opened to all when?",
            "When was the hall that burned opened?": None,
            "When did the hall open?": None,
            "In which year was the treaty signed by Louis broken?": None,
            "When was the bridge damaged in 1944 rebuilt?": None,
            "When was the treaty signed by Louis void?": None,
            "When was the treaty signed by Louis?": "The treaty was signed by Louis when?",
            "How did the church after the fire look?": None,
            "How did the vote after the fire of 1814 end?": None,
            "How did Kew grow after the war ended?": None,
            "What is kept in the tower called?": None,
            "How many does it hold according to the book?": (
                "According to the book, how many does it hold?"
            ),
            "Who is the head of Kew?": "The head of Kew is who?",
            "Who is the hall named after?": None,
            "What is the keeper of Kew doing?": None,
            "How did Kew burn after the war?": "After the war, how did Kew burn?",
            "What did Kew call the time after the fire?": None,
            "What is kept in the tower?": "In the tower, what is kept?",
            "How many does it hold compared with Kew?": "Compared with Kew, how many does it hold?",
        },
        "nl": {
            "Wanneer begon Operatie Nachtwacht?": "Operatie Nachtwacht begon wanneer?",
            "In welk jaar werd de toren gebouwd?": "De toren werd in welk jaar gebouwd?",
            "In welk jaar werd de toren door Van de Velde gebouwd?": None,
            "Waar ligt de schat begraven?": None,
            "Waar stond het kasteel vroeger?": None,
            "Waar hangt het vanaf?": None,
            "Wanneer werd de koning een beeld geschonken?": None,
            "Welke boeken zijn er volgens de wet verdwenen?": None,
            "Waar heeft de KB haar boeken opgeslagen?": None,
            "Waar worden boeken van gemaakt?": None,
            "Hoe gaat het, nu er geen depot is?": "Nu er geen depot is, hoe gaat het?",
            "Hoeveel boeken bezit de KB?": "De KB bezit hoeveel boeken?",
            "Hoeveel mensen bezochten de KB?": None,
            "Welke is ouder: de KB of KBR?": "De KB of KBR: welke is ouder?",
        },
        "de": {
            "Wann wurde das Museum eröffnet?": "Das Museum wurde wann eröffnet?",
            "Wann wurde das Museum von Teyler eröffnet?": None,
            "Wo liegt der Hund begraben?": None,
            "Wo liegt der Hund?": "Der Hund liegt wo?",
            "Wo hängt das Bild schief?": None,
            "Wann wurde das Museum neu eröffnet?": None,
            "Wann wurde dem König das Schloss übergeben?": None,
            "Wann wurde das Schloss der Stadt übergeben?": None,
            "Wann wurde der Hof des Königs gebaut?": "Der Hof des Königs wurde wann gebaut?",
            "Wann stellte das Museum seine Werke aus?": None,
            "Seit wann trägt der Zoo seinen Namen?": "Der Zoo trägt seinen Namen seit wann?",
            "Erkläre es mit Quellen, in einem Satz.": "Erkläre es in einem Satz, mit Quellen.",
        },
        "fr": {
            "Lequel est grand, le Louvre ou le Prado ?": (
                "Le Louvre ou le Prado : lequel est grand ?"
            ),
        },
        "zh": {"哪个更早，故宫还是卢浮宫？": "故宫还是卢浮宫，哪个更早？"},
    },
    "case": {
        "en": {
            "In which year?": "in which year?",
            "Rembrandt painted what?": None,
            "The Hague is where?": None,
            "Will Smith is who?": None,
            "NASA is what?": None,
            "EXPLAIN it": None,
        },
        "nl": {"Leg uit.": "leg uit.", "Van Gogh schilderde wat?": None},
        "de": {"Liste die Teile auf.": "liste die Teile auf.", "Liste der Museen": None},
        "fr": {"Qu'est-ce ?": "qu'est-ce ?"},
        "zh": {"谁？": None},
    },
    "quote": {
        "en": {
            "Who said \"it's\" in 'Kew'?": "Who said “it's” in ‘Kew’?",
            "Who said “it’s” in ‘Kew’?": "Who said \"it’s\" in 'Kew'?",
            "What's the Louvre's?": "What’s the Louvre’s?",
            'What is `"a\'b"`?': None,
            'A 5" disk': None,
        },
        "de": {'Was ist "X"?': "Was ist „X“?", "Was ist „X“?": 'Was ist "X"?'},
        "fr": {'Quel est "X" ?': "Quel est «X» ?"},
        "zh": {'什么是"夜巡"？': "什么是“夜巡”？", "什么是「夜巡」？": None},
    },
    "polite": {
        "en": {
            "In which year?": "Could you tell me: in which year?",
            "List the parts.": "Please list the parts.",
            "Please list the parts.": None,
            " \n": None,
            "List the parts, please.": None,
            "Explain it, please, in one sentence.": None,
            "Could you please list the parts?": None,
            "Did it please the king?": "Could you tell me: did it please the king?",
            "Show must go on": None,
            "Show the rooms": "Please show the rooms",
            "Name of the head of Kew?": "Could you tell me: name of the head of Kew?",
            "List of museums in Paris": None,
            "The hall is old. When was it built?": None,
        },
        "nl": {
            "Wie is dat?": "Kunt u mij zeggen: wie is dat?",
            "Leg uit wie dat is.": "Wees zo vriendelijk en leg uit wie dat is.",
            "Toon de brief.": "Wees zo vriendelijk en toon de brief.",
            "Toon van de brief": None,
            "Laat werk van Rembrandt": None,
            "Geef alstublieft drie voorbeelden.": None,
        },
        "de": {
            "Nenne die Teile.": "Bitte nenne die Teile.",
            "Fassen Sie den Text zusammen.": "Bitte fassen Sie den Text zusammen.",
            "Erklären Sie bitte den Bau.": None,
            "Erklären ist schwer.": None,
            "Erläutern ist schwer.": None,
            "Liste der Museen": None,
            "Liste der Museen?": "Bitte sagen Sie mir: Liste der Museen?",
            "Liste die Museen auf.": "Bitte liste die Museen auf.",
            "Vergleiche zwischen Museen": None,
        },
        "fr": {
            "Qui est-ce ?": "Pourriez-vous me dire : qui est-ce ?",
            "Montre-moi les salles.": "Merci d'avance : montre-moi les salles.",
            "Montre en or du roi": None,
            "Liste la plus longue des rois": None,
            "Montrez les salles, s'il vous plaît.": None,
        },
        "zh": {
            "谁？": "请问，谁？",
            "列出三个。": "请列出三个。",
            "解释一下这件事。": "请解释一下这件事。",
            "展示厅在哪里？": "请问，展示厅在哪里？",
            "说明书在哪年出版？": "请问，说明书在哪年出版？",
            "比较大的博物馆是哪一个？": "请问，比较大的博物馆是哪一个？",
            "比较如何？": "请问，比较如何？",
            "介绍《夜巡》的书是谁写的？": "请问，介绍《夜巡》的书是谁写的？",
            "解释羊皮纸是如何制作的。": None,
            "谁可以申请借阅证？": "请问，谁可以申请借阅证？",
            "可以请你解释一下吗？": None,
        },
    },
    "typo": {
        "en": {
            "Who designed the building?": "Who designed the buildimg?",
            "Who is it in Amsterdam?": None,
            "Where is `function`?": None,
        },
        "zh": {"故宫在哪一年成立？": None},
    },
}
CASES = [
    (name, language, text, text if made is None else made)
    for name, languages in WORDED.items()
    for language, texts in languages.items()
    for text, made in texts.items()
]


def test_what_a_jitter_makes_of_a_text():
    assert [
        (name, language, text, found)
        for name, language, text, made in CASES
        if (found := jittered(text, name, language=language)) != made
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


def test_a_word_that_only_looks_like_one_to_change_stays():
    cases = [(name, text) for name, texts in TRAPS.items() for text in texts]
    assert [text for name, text in cases if jittered(text, name) != text] == []


def test_order_keeps_the_text_around_the_clauses():
    text = "Hello. Define X with citations, in one sentence, and Y. Then add Z, with care!"
    made = jittered(text, "order")
    assert made == "Hello. Define X in one sentence, with citations, and Y. Then add Z, with care!"


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
        made = jittered(f"Who said {part} to us?", "quote", language="en")
        inside = part.strip("\"'“”„«»‘’")
        assert inside in made and len(made) == len(f"Who said {part} to us?"), part


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


def stands_in_order(parts: list[str], text: str) -> bool:
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
        made = jittered(text, name, language=language)
        if name == "order":  # a moved clause takes its names with it
            assert all(made.count(part) >= many for part, many in Counter(kept).items())
        elif name != "quote":
            assert stands_in_order(kept, made)


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
def test_quote_goes_to_and_fro(text, language):
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
def test_hostile_text_comes_to_an_end(part):
    """In a blink, because every search is linear; a quadratic one would take minutes."""
    text = part * (200_000 // len(part))
    for name in JITTERS:
        assert len(jittered(text, name)) >= len(text) - 1


def test_runs_of_backticks_of_every_length_come_to_an_end():
    text = "".join("`" * length + "x" for length in range(1, 600))
    assert masked(text, "en") == text


def test_a_slip_is_one_of_two_kinds_and_the_same_every_time():
    for text in (f"Who restored the building number {n} of Kew?" for n in range(200)):
        made = jittered(text, "typo")
        assert made == jittered(text, "typo")
        changed = [at for at, (old, new) in enumerate(zip(text, made, strict=True)) if old != new]
        swapped = len(changed) == 2 and made[changed[0]] == text[changed[1]]
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


@pytest.mark.parametrize(("name", "text", "made"), REFERENCE_PARITY)
def test_the_reference_profile_is_the_briefs(name, text, made):
    assert jittered(text, name, profile="reference") == made


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


def test_the_guess_is_right_for_every_demo_question():
    assert all(language_of(text) == language for text, language in demo_questions())
