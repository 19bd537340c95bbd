"""Features: what a sample can be sliced by, its strata and what its own texts tell."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.gold import ANSWERABLE, stratum_text
from ragauge.jitters.lexicons import AUXILIARIES, PREPOSITIONS, QUESTION_WORDS, VERBS, plain
from ragauge.text.canonical import UNSPACED
from ragauge.text.language import language_of
from ragauge.text.word_lists import word_set
from ragauge.text.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FEWEST_VALUES, MOST_VALUES = 2, 50
"""A feature with fewer values parts nothing; one with more is an id."""

# The bounds are fixed and not the thirds of the set: so a row has the same features in every
# diagnosis, slices of two runs can be held side by side, and questions that are all alike are not
# parted for the sake of it.
QUESTION_UP_TO = {"short": 7, "middle": 15}  # words
ANSWER_UP_TO = {"none": 0, "short": 10, "middle": 50}  # words
CONTEXTS_UP_TO = {"none": 0, "short": 2_000, "middle": 8_000}  # characters
CHUNKS_UP_TO = {"none": 0, "few": 3, "some": 10}
RANKS_UP_TO = {"never": 0, "first": 1, "second_or_third": 3}

_UNSPACED = re.compile(f"[{UNSPACED}]")

_HEAD = 300
"""Characters of a question that are looked at for its form."""
_SPOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_FIRST = 8
"""Words from the first on among which the one that asks is."""
_COMPARING = word_set(
    "compare compares compared comparing comparison contrast versus vs differ differs differed "
    "difference differences vergelijk vergelijken vergeleken vergelijking verschil verschillen "
    "verschilt vergleiche vergleichen verglichen vergleich unterschied unterschiede unterscheidet "
    "unterscheiden comparer comparez comparaison différence différences diffère diffèrent"
)
_ZH_FORMS = {
    "compare": re.compile("比较|对比|相比|区别|差异|不同"),
    "why": re.compile("为什么|为何|为啥"),
    "when": re.compile("什么时候|何时|哪一?[年天月日]|几[月日号]|什么年代"),
    "how_many": re.compile("多少|几(?![何乎])|多[长久大高远]"),
    "where": re.compile("哪里|哪儿|何处|什么地方|哪个?(?:国家|城市|地方|地区|省)"),
    "who": re.compile("谁|哪位|何人"),
    "yes_no": re.compile("吗|是否|是不是|有没有|能否"),
}
_FORMS = {
    **dict.fromkeys(word_set("hoeveel hoelang wieviel wieviele combien"), "how_many"),
    **dict.fromkeys(word_set("when wanneer wann quand"), "when"),
    **dict.fromkeys(word_set("where waar wo woher wohin où d'où"), "where"),
    **dict.fromkeys(word_set("who whom whose wie wiens wer wen wem wessen qui"), "who"),
    **dict.fromkeys(word_set("why waarom warum weshalb wieso pourquoi"), "why"),
}
_HOW = word_set("how hoe wie")
_MEASURES = word_set(
    "many much long old often far tall large big high deep "
    "veel lang oud vaak ver groot hoog diep viel viele lange alt oft weit hoch tief"
)
_WHAT = word_set(
    "what which welk welke welche welcher welches welchen welchem quel quelle quels quelles"
)
_TIMES = word_set(
    "year date day month century decade jaar datum dag maand eeuw jahr tag monat jahrhundert "
    "année an jour mois siècle"
)
_PLACES = word_set(
    "place city town country village land stad plaats dorp stadt ort dorf ville pays lieu"
)
_NEAR_AN_ORDER, _NEAR_A_REQUEST = 3, 6
"""Words among which the one that asks must be: `Tell me when`, `Could you please tell me when`.
Further on it begins a clause: `Name the man who`."""
_ASKED_OF = word_set("you je u jij sie du vous tu")


def features(row: ScoreRow, first_relevant: int | None = None) -> dict[str, str]:
    """What a row can be sliced by, by name; what cannot be told of it is not there.

    A stratum beats what would be told under its name. `first_relevant` is the rank of the first
    relevant chunk from 1 on, 0 where none of the retrieved is relevant, None where it is unknown.

    >>> found = features(ScoreRow(id="1", question="Wie heeft het geschilderd?"), 2)
    >>> found["question_type"], found["language"], found["first_relevant"]
    ('who', 'nl', 'second_or_third')
    """
    length = None if row.contexts is None else sum(len(one.text) for one in row.contexts)
    chunks = row.contexts if row.retrieved_ids is None else row.retrieved_ids
    told = {
        ANSWERABLE: stratum_text(row.answerable),
        "answer_length": _words_of(row.answer, ANSWER_UP_TO),
        "context_length": _graded(length, CONTEXTS_UP_TO, "long"),
        "first_relevant": _graded(first_relevant, RANKS_UP_TO, "later"),
        "retrieved_chunks": _graded(None if chunks is None else len(chunks), CHUNKS_UP_TO, "many"),
    }
    if row.question and row.question.strip():
        told["question_length"] = _words_of(row.question, QUESTION_UP_TO)
        told["language"] = language = language_of(row.question)
        told["question_type"] = question_type(row.question, language)
    given = {name: value for name, value in row.strata.items() if value}
    return {name: value for name, value in told.items() if value is not None} | given


def needed_ranks(row: ScoreRow) -> list[int] | None:
    """The places of the chunks that the gold names, from 1; None where ids do not tell."""
    if not row.gold_ids or row.retrieved_ids is None:
        return None
    return [rank for rank, id in enumerate(row.retrieved_ids, 1) if id in row.gold_ids]


def question_type(question: str, language: str | None = None) -> str:
    """What a question asks for, told by its form: who, when, where, how_many, why, compare, yes_no.

    By its first words, for later ones may belong to a clause: `the man who painted it`. Chinese
    asks anywhere in the sentence. What is none of these, such as `what is` and orders, is `other`.

    >>> [question_type(q) for q in ("In which year did it open?", "Was it sold?", "What is IIIF?")]
    ['when', 'yes_no', 'other']
    """
    head = question[:_HEAD]
    if language == "zh" or (language is None and _UNSPACED.search(head)):
        return next((form for form, asks in _ZH_FORMS.items() if asks.search(head)), "other")
    spoken = _SPOKEN.findall(head.lower())
    if not _COMPARING.isdisjoint(spoken):
        return "compare"
    return _form(_opening([plain(word) for word in spoken[:_FIRST]]), language)


def _opening(spoken: list[str]) -> list[str]:
    """The question from the word on that asks: `By whom`, `Can you tell me when`, `Explain why`."""
    first, second = (*spoken, "", "")[:2]
    ordered, requested = first in VERBS, first in AUXILIARIES and second in _ASKED_OF
    if ordered or requested:
        near = spoken[1 : _NEAR_AN_ORDER if ordered else _NEAR_A_REQUEST]
        return next((spoken[at:] for at, word in enumerate(near, 1) if word in QUESTION_WORDS), [])
    return spoken[next((at for at, word in enumerate(spoken) if word not in PREPOSITIONS), 0) :]


def _form(spoken: Sequence[str], language: str | None) -> str:
    first, second = (*spoken, "", "")[:2]
    if first in _HOW and second in _MEASURES:
        return "how_many"
    if first in _WHAT and second in _TIMES:
        return "when"
    if first in _WHAT and second in _PLACES:
        return "where"
    if first == "wie" and language == "de":
        return "other"
    if first in _FORMS:
        return _FORMS[first]
    # German `was` asks what, and a verb follows it; in English and Dutch it is one itself.
    what = first == "was" and (language == "de" or second in AUXILIARIES)
    return "yes_no" if first in AUXILIARIES and not what else "other"


def _words_of(text: str | None, up_to: dict[str, int]) -> str | None:
    """How long a text is; two characters of Chinese, or the like, are counted as one word."""
    if text is None:
        return None
    count = len(words(text))
    if not text.isascii():
        count -= len(_UNSPACED.findall(text)) // 2
    return _graded(count, up_to, "long")


def _graded(number: int | None, up_to: dict[str, int], beyond: str) -> str | None:
    """The name of the first bound that a number does not exceed."""
    if number is None:
        return None
    return (*up_to, beyond)[bisect_left(list(up_to.values()), number)]


class Feature(Struct, frozen=True):
    """A feature's values in order, and the place of each sample's; past the last: it has none."""

    name: str
    values: tuple[str, ...]
    places: NDArray[np.intp]


def searchable_features(samples: Sequence[Mapping[str, str]]) -> tuple[Feature, ...]:
    """The features worth searching, by name."""
    import numpy as np

    found = []
    for name, column, values in _columns(samples):
        if FEWEST_VALUES <= len(values) <= MOST_VALUES:
            ordered = sorted(values)
            place: dict[str | None, int] = {value: at for at, value in enumerate((*ordered, None))}
            places = np.array([place[value] for value in column], dtype=np.intp)
            found.append(Feature(name, tuple(ordered), places))
    return tuple(found)


def too_fine(samples: Sequence[Mapping[str, str]]) -> dict[str, int]:
    """The features that are not searched because they have too many values, and how many."""
    counts = {name: len(values) for name, _, values in _columns(samples)}
    return {name: count for name, count in counts.items() if count > MOST_VALUES}


Column = list[str | None]


def _columns(samples: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, Column, set[str]]]:
    """Every feature by name: what each sample has, and the values there are."""
    for name in sorted(set[str]().union(*samples)):
        column = [one.get(name) for one in samples]
        yield name, column, {value for value in set(column) if value is not None}
