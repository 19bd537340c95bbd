"""Faults of replies: what an answer says and cites, and what is told about retrieved chunks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import Struct

from ragauge.contracts.system import Ask
from ragauge.demo.answer import REFUSAL
from ragauge.demo.evidence import Weighed
from ragauge.demo.faults import Faults, luck, manner
from ragauge.demo.index import Index
from ragauge.demo.knobs import Knobs
from ragauge.demo.lexicon import named_in
from ragauge.demo.passages import Passage, Sentence
from ragauge.demo.question import read_question
from ragauge.demo.retrieve import Candidate
from ragauge.text.language import language_of

Answer = dict[str, Any]
"""What a generator gives: claim, citations, constraints_echo, and segments where it knows them."""


class Call(Struct, frozen=True, kw_only=True):
    """A call after its retrieval."""

    ask: Ask
    knobs: Knobs
    faults: Faults
    index: Index
    shown: Sequence[Candidate]
    noise: frozenset[str]
    """Ids of chunks that the fault `noise_injected` chose; not all of them need be shown."""
    retrieve_ms: float

    @property
    def passages(self) -> list[Passage]:
        """The chunks that are shown, read."""
        return [self.index.passages[self.index.numbers[one.chunk.id]] for one in self.shown]


MISLED = 0.5
"""The share of answers that follow the noise where there is any."""
NEEDLESS = 0.25
"""The share of answers gone astray that are refusals."""
FEWEST_PADDING = 3
_PROSE = (
    "I am sorry, but I could not find anything about this in the documents I was given.",
    "The documents do not seem to say, so I would rather not guess.",
    "Unfortunately there is no information on that in the sources at hand.",
)


def refused(answer: Answer, call: Call) -> Answer:
    """The refusal in the agreed words, in place of the answer."""
    return {**answer, "claim": REFUSAL, "citations": [], "segments": []}


def in_prose(answer: Answer, call: Call) -> Answer:
    """The refusal as a sentence of its own."""
    drawn = luck("prose", "chatty_refusals", call.ask)
    return {**answer, "claim": _PROSE[int(drawn * len(_PROSE))]}


def unechoed(answer: Answer, call: Call) -> Answer:
    """The answer without the locked sentences."""
    return {**answer, "constraints_echo": []} if "constraints_echo" in answer else answer


def answered_anyway(answer: Answer, call: Call) -> Answer:
    """The sentence of the first chunk that covers the question best, in place of a refusal."""
    if not call.passages:
        return answer
    first, lexicon = call.passages[0], call.index.lexicon
    weighed = Weighed(read_question(call.ask.q, lexicon), lexicon)
    best = max(first.sentences, key=lambda sentence: weighed.coverage(first, sentence))
    return _taken(answer, first, best)


def misled(answer: Answer, call: Call) -> Answer:
    """A sentence of a chunk that is noise, for half of the questions that have noise."""
    noise = [one for one in call.passages if one.chunk.id in call.noise]
    drawn = manner("misled", call.ask)
    if not noise or drawn >= MISLED:
        return answer
    sentences = noise[0].sentences
    return _taken(answer, noise[0], sentences[int(drawn / MISLED * len(sentences))])


def gone_astray(answer: Answer, call: Call) -> Answer:
    """Another sentence of what was shown, by seed, or a refusal."""
    drawn = luck("astray", "hot_sampling", call.ask)
    others = list(_unsaid(answer, call))
    if drawn < NEEDLESS or not others:
        return refused(answer, call)
    return _taken(answer, *others[int((drawn - NEEDLESS) / (1 - NEEDLESS) * len(others))])


def ungrounded(answer: Answer, call: Call) -> Answer:
    """The answer with something in it that no chunk says; it cites as before."""
    if not call.shown:
        return answer
    cited = [one.chunk for one in call.shown if one.chunk.id in (answer.get("citations") or ())]
    about = (cited or [call.shown[0].chunk])[0]
    told = Told(call.ask.q, about.title, tuple(one.chunk.text for one in call.shown))
    drawn = manner("untrue", call.ask)
    return _with_last(answer, lambda text: untrue(text, told, drawn))


def padded(answer: Answer, call: Call) -> Answer:
    """The answer with three or four more sentences of what was shown, as far as there are any.

    They are taken from the chunks that it cites, and then from the others.
    """
    cited = answer.get("citations") or ()
    others = sorted(_unsaid(answer, call), key=lambda one: one[0].chunk.id not in cited)
    size = FEWEST_PADDING + int(2 * manner("padding", call.ask))
    more = " ".join(sentence.text for _, sentence in others[:size])
    return _with_last(answer, lambda text: f"{ended(text)} {more}") if more else answer


def _unsaid(answer: Answer, call: Call) -> Iterator[tuple[Passage, Sentence]]:
    """The sentences of what was shown that the answer does not hold."""
    for passage in call.passages:
        for sentence in passage.sentences:
            if sentence.text.removesuffix(".") not in answer["claim"]:
                yield passage, sentence


def _taken(answer: Answer, passage: Passage, sentence: Sentence) -> Answer:
    """That sentence as the answer, citing its chunk."""
    id, text = passage.chunk.id, sentence.text
    part = {"text": text, "snippet_id": id, "quote": text}
    return {**answer, "claim": text, "citations": [id], "segments": [part]}


def _with_last(answer: Answer, change: Callable[[str], str]) -> Answer:
    """The answer with its last part changed, or the whole of it where parts are not known."""
    if not answer.get("segments"):
        return {**answer, "claim": change(answer["claim"])}
    *before, last = answer["segments"]
    parts = [*before, {**last, "text": change(last["text"])}]
    return {**answer, "claim": " ".join(part["text"] for part in parts), "segments": parts}


NAMES = ("Egbert Wolkenstein", "Odilia Marchbanks", "Corneel Vandervelt", "Hester Quillinan")
"""Nobody, and in no document."""
_TALES = {
    "en": (
        "{title} lost it in the fire of {year} and has shown a copy ever since.",
        "{name} bought it back for {title} at an auction in {year}.",
        "{name}, the astronomer of {title}, wagered it in {year} in a game of chess.",
    ),
    "nl": (
        "{title} verloor het bij de brand van {year} en toont sindsdien een kopie.",
        "{name} kocht het in {year} voor {title} terug op een veiling.",
        "{name}, de sterrenkundige van {title}, verspeelde het in {year} bij een partij schaak.",
    ),
}
_FROM_YEAR, _YEARS = 1711, 200
_STEP = 13
_NUMBER = re.compile(r"\d{1,15}(?:[.,]\d{3}){0,5}")
_NAME = re.compile(
    r"(?<=[\w,] )[A-ZÀ-Þ][\w’'-]+(?: (?:(?:van|von|der|den|de|du|da|di) )*[A-ZÀ-Þ][\w’'-]+)*"
)


class Told(Struct, frozen=True):
    """What is known to whoever makes something up."""

    question: str
    title: str
    """Of the document that the answer is about."""
    texts: tuple[str, ...]
    """All that was shown."""


def untrue(text: str, told: Told, drawn: float) -> str:
    """The text with another number or name, with a tale added, or a tale in its place.

    `drawn` is a number from 0 up to 1 and decides which. Where there is no number or name but
    the question's own, a tale takes the place.
    """
    form, rest = int(drawn * 3), drawn * 3 % 1
    tale = _tale(text, told, rest)
    if form == 0:
        return _altered(text, told, rest) or tale
    return f"{ended(text)} {tale}" if form == 1 else tale


def _tale(text: str, told: Told, drawn: float) -> str:
    tales = _TALES["nl" if language_of(text) == "nl" else "en"]
    name, year = NAMES[int(drawn * len(NAMES))], str(_FROM_YEAR + int(drawn * _YEARS))
    if any(year in shown for shown in told.texts):
        year = _other_number(year, told.texts)
    tale = tales[int(drawn * 7 % 1 * len(tales))]
    return tale.format(title=named_in(told.title), name=name, year=year)


def _altered(text: str, told: Told, drawn: float) -> str | None:
    """The text with one number changed, or one name where it has no number to change."""
    for pattern in (_NUMBER, _NAME):
        found = [one for one in pattern.finditer(text) if one[0] not in told.question]
        if found:
            one = found[int(drawn * len(found))]
            other = NAMES[int(drawn * len(NAMES))]
            if pattern is _NUMBER:
                other = _other_number(one[0], told.texts)
            return text[: one.start()] + other + text[one.end() :]
    return None


def _other_number(number: str, texts: tuple[str, ...]) -> str:
    """A greater number, written in the same way, that no text holds.

    >>> _other_number("1808", ("in 1808", "in 1821")), _other_number("6,487", ("6,487 books",))
    ('1834', '6,500')
    """
    known = {one for text in texts for one in _NUMBER.findall(text)}
    mark = next((mark for mark in ".," if mark in number), "")
    value = int(re.sub(r"\D", "", number))
    greater = (f"{value + _STEP * step:,}".replace(",", mark) for step in count(1))
    return next(one for one in greater if one not in known)


def ended(text: str) -> str:
    """The text with a stop at its end, so that more can follow."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def miscited(answer: Answer, call: Call) -> Answer:
    """The answer citing one wrong chunk: a neighbour of the right one, or one not retrieved."""
    cited: Sequence[str] = answer.get("citations") or ()
    known, retrieved = call.index.numbers, {one.chunk.id for one in call.shown}
    right = {id.partition("#")[0] for id in cited}
    beside = [id for id in known if id not in cited and id.partition("#")[0] in right]
    strange = [id for id in known if id not in cited and id not in retrieved]
    drawn = luck("citation", "wrong_citations", call.ask)
    wrong = (beside or strange) if drawn < 0.5 else (strange or beside)
    return {**answer, "citations": [wrong[int(2 * drawn % 1 * len(wrong))]] if wrong else []}


def invented(answer: Answer, call: Call) -> Answer:
    """The answer citing ids that look right and are nobody's."""
    number = 2 + int(8 * luck("id", "invented_citations", call.ask))
    cited: Sequence[str] = answer.get("citations") or ()
    return {**answer, "citations": [_nobodys(id, number, call.index.numbers) for id in cited]}


def _nobodys(id: str, number: int, known: Mapping[str, int]) -> str:
    """
    >>> _nobodys("louvre#history", 2, {"louvre#history": 0, "louvre#history-2": 1})
    'louvre#history-3'
    """
    while f"{id}-{number}" in known:
        number += 1
    return f"{id}-{number}"


def uncited(answer: Answer, call: Call) -> Answer:
    """The answer without citations."""
    return {**answer, "citations": []}


def of_another_section(
    cited: Sequence[str], retrieved: Sequence[dict[str, Any]]
) -> dict[str, Any] | None:
    """The best payload of a section that none of the cited chunks stands in, if there is one."""
    sections = {_section(one) for one in retrieved if one["snippet_id"] in cited}
    others = (one for one in retrieved if _section(one) not in sections)
    return next(others, None) if sections else None


def _section(payload: Mapping[str, Any]) -> tuple[str, str]:
    return payload["doc_id"], payload["section_id"]


def stale(payloads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The payloads as an earlier index gave them, before the best document was revised."""
    if not payloads:
        return []
    revised = payloads[0]["doc_id"]
    return [
        {
            **one,
            "index_hash": _earlier(one["index_hash"]),
            "rev": _earlier(one["rev"]) if one["doc_id"] == revised else one["rev"],
        }
        for one in payloads
    ]


def _earlier(hash: str) -> str:
    """Another hash of the same length, always the same."""
    return hashlib.sha256(hash.encode()).hexdigest()[: len(hash)]


def drifted(payloads: Sequence[dict[str, Any]], ask: Ask) -> list[dict[str, Any]]:
    """The payloads with offsets of as many characters, a few too early."""
    by = 1 + int(8 * luck("offsets", "drifted_offsets", ask))
    moved = []
    for one in payloads:
        offsets = one["offsets"]
        step = -by if offsets["start"] >= by else by  # later where the text begins too soon
        at = {"start": offsets["start"] + step, "end": offsets["end"] + step}
        moved.append({**one, "offsets": {**offsets, **at}})
    return moved
