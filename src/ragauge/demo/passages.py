"""What a sentence of the documents offers an answer: names, times, numbers, places, reasons."""

from __future__ import annotations

import re
from functools import cached_property

from ragauge.demo.chunks import Chunk, sentence_spans
from ragauge.demo.grammar import ARTICLES, DEMONYMS
from ragauge.demo.lexicon import Lexicon, Name, heading, title, whole_name
from ragauge.demo.words import folded, in_one_word, is_stop, kin, kins, surface_words, word_set

_YEAR = r"(?:1\d{3}|20\d{2})"
_MONTH = (
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"januari|februari|maart|mei|juni|juli|augustus|oktober"
)
_TIME = re.compile(rf"\b{_YEAR}s?\b|\bcentur(?:y|ies)\b|\beeuw(?:en)?\b|\b(?:dated|jaar) \d{{3}}\b")
_AMOUNT = re.compile(
    r"[€£$¥]\s?\d|\b\d[\d.,]*\s?(?:million |miljoen )?"
    r"(?:euros?|pounds?|dollars?|francs?|guilders?|gulden)\b"
)
_PLACE = re.compile(
    r"\b(?:in|at|on|near|beside|below|under|above|from|to|between|op|aan|te|bij|naast|onder|uit|tussen)"
    r" (?:(?:the|an?|de|het|een) )?(?!\d)(\w+)"
)
_REASON = re.compile(
    r"\b(?:because|so that|in order|therefore|thus|owing|due to|in return|on condition|as thanks|"
    r"to (?!the\b|an?\b|its?\b|his\b|her\b|their\b|th[ai]\w+|\d)[a-z]+|omdat|doordat|zodat|dus|om|"
    r"waardoor|daarom|als dank|wegens|vanwege|daaraan|aanleiding|zo \w+ dat)\b"
)
_NUMBER = re.compile(
    r"\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w*(?:twenty|thirty|forty|"
    r"fifty|sixty|seventy|eighty|ninety)|hundreds?|thousands?|millions?|dozens?|twee|drie|vier|vijf|zes|"
    r"zeven|acht|negen|tien|elf|twaalf|\w+tien|\w*(?:twintig|dertig|veertig|vijftig|zestig|zeventig|"
    r"tachtig|negentig|honderd|duizend|miljoen)(?:en)?"
)
_RESTS = re.compile(
    r"^(?:it|they|he|she|his|her|its|their|this|these|that|those|zij|ze|hij|zijn|haar|hun|die|dat|deze|dit|"
    r"daar\w*)\b|\b(?:it|them|they)\b|^\w+ (?:these|those|this|deze|die|dit)\b"
)
_STILL = re.compile(r"\b(?:since|sinds)\b")
_NO_MORE = re.compile(r"\b(?:had|was|were|until|tot|hadden|waren|werd)\b")
_PARTICLES = word_set("van de der den des da di du del della von zu y le la of the st en ten ter")
_BEFORE_PLACE = word_set(
    "across along as at beside from in into near on through to towards als bij naar naast op te uit"
)
"""What follows is where something is, or what it was, and did nothing."""
_REGNAL = re.compile(r"\b[A-Z]\w{2,} [IVX]+\b")
_BY_ITSELF = word_set(
    "arose began begin beginning begun origin originated started start begon begonnen ontstaan "
    "ontstond ontstonden"
)
_FRACTION = re.compile(r"thirds?|quarters?|half|halves|per|percent|procent|derde|kwart|helft")


HISTORIES = frozenset(map(kin, ("history", "origin")))
NEAR = 4
"""Words from a number to what it counts, or from `first` to what is first, at most."""


class Sentence:
    """A sentence, and what it offers."""

    def __init__(self, text: str, place: int, lexicon: Lexicon) -> None:
        self.text = text
        self.place = place
        """Its number within the chunk, from 0."""
        self._is_name = lexicon.is_name
        self.sequence = tuple(kin(word) for word in surface_words(in_one_word(text)))
        self.words = frozenset(kins(text))
        self.named = lexicon.named(self.sequence)
        """The names of documents that stand in it whole."""

    @cached_property
    def plain(self) -> str:
        return folded(self.text)

    @cached_property
    def tells_time(self) -> bool:
        return bool(_TIME.search(self.plain))

    @cached_property
    def tells_year(self) -> bool:
        return bool(re.search(rf"\b{_YEAR}\b", self.plain))

    @cached_property
    def rests_on_last(self) -> bool:
        """Whether it speaks of something only the sentence before names, such as `it`."""
        return bool(_RESTS.search(self.plain))

    @cached_property
    def still_holds(self) -> bool:
        """Whether it tells of a state that has lasted since some time."""
        return bool(_STILL.search(self.plain)) and not _NO_MORE.search(self.plain)

    @cached_property
    def tells_amount(self) -> bool:
        return bool(_AMOUNT.search(self.plain))

    @cached_property
    def tells_reason(self) -> bool:
        return bool(_REASON.search(self.plain))

    @cached_property
    def places(self) -> frozenset[str]:
        """What something may be in, at or near."""
        return frozenset(map(kin, _PLACE.findall(self.plain)))

    @cached_property
    def named_places(self) -> frozenset[str]:
        """Those of them that are written as names."""
        return frozenset(map(kin, filter(str.istitle, _PLACE.findall(self.text))))

    @cached_property
    def names_ruler(self) -> bool:
        """Whether someone is numbered as rulers are, such as Leo XIII."""
        return bool(_REGNAL.search(self.text))

    @cached_property
    def done(self) -> frozenset[str]:
        """Its words, without those for what comes about by itself: what began, nobody founded."""
        words = surface_words(in_one_word(self.text))
        return frozenset(kin(word) for word in words if folded(word) not in _BY_ITSELF)

    @cached_property
    def leading_thing(self) -> frozenset[str]:
        """The name of the thing it begins with, such as `The Radcliffe Camera`; of several words.

        A name without an article is a person's, and one that begins with a people may be.
        """
        words = surface_words(self.text)
        run = next(iter(_runs(words[1:])), range(0))
        named = words[1:][run.start : run.stop]
        is_thing = folded(words[0]) in ARTICLES and run.start == 0 and len(named) > 1
        return frozenset(map(kin, named if is_thing and folded(named[0]) not in DEMONYMS else ()))

    @cached_property
    def counts(self) -> frozenset[str]:
        """What its numbers count: the nouns after them, no further than the next small word."""
        words = [*surface_words(in_one_word(self.text)), *[""] * NEAR]
        found: set[str] = set()
        for place in self.numbers:
            for word in words[place + 1 : place + 1 + NEAR]:
                plain = folded(word)
                if is_stop(word) and plain not in ("of", "van"):
                    break
                found.add(kin(word))
                if _FRACTION.fullmatch(plain):
                    break
        return frozenset(found)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Where in the sequence a number stands that is no year."""
        return tuple(
            place
            for place, word in enumerate(surface_words(in_one_word(self.text)))
            if _NUMBER.fullmatch(folded(word)) and not re.fullmatch(_YEAR, word)
        )

    @cached_property
    def people(self) -> frozenset[str]:
        """Words of names, but for those of months and of places something is in.

        The first word has a capital anyway: it counts where the documents know it as a name.
        """
        found: set[str] = set()
        words = surface_words(self.text)
        for run in _runs(words):
            led = [folded(word) for word in words[: run.start]]
            before = next((word for word in reversed(led) if word not in ARTICLES), "")
            named = [word for word in words[run.start : run.stop] if word[0].isupper()]
            if all(folded(word) in DEMONYMS for word in named):
                continue
            alone = run == range(0, 1) and not self._is_name(named[0])
            if before not in _BEFORE_PLACE and not alone:
                found |= {kin(word) for word in named if not re.fullmatch(_MONTH, folded(word))}
        return frozenset(found)


def _runs(words: list[str]) -> list[range]:
    """Where names stand: words with a capital, small ones such as `van` between them."""
    runs: list[range] = []
    for place, word in enumerate(words):
        if not word[0].isupper() or (place == 0 and is_stop(word)):
            continue
        last = runs[-1] if runs else range(0)
        joined = runs and all(folded(w) in _PARTICLES for w in words[last.stop : place])
        if joined:
            runs[-1] = range(last.start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs


class Passage:
    """A chunk read: its sentences, and the words its title and section lend to each of them."""

    def __init__(
        self, chunk: Chunk, document: frozenset[str], around: frozenset[Name], lexicon: Lexicon
    ) -> None:
        self.chunk = chunk
        self.name: Name = frozenset(whole_name(chunk.title))
        self.sentences = tuple(
            Sentence(chunk.text[start:end], place, lexicon)
            for place, (start, end) in enumerate(sentence_spans(chunk.text))
        )
        self.title = frozenset(kins(title(chunk)))
        self.heading = frozenset(kins(heading(chunk)))
        self.words = self.heading.union(*(sentence.words for sentence in self.sentences))
        self.document = document
        """The words of the document, and of chunks elsewhere that name it whole."""
        self.named = frozenset({self.name}).union(*(one.named for one in self.sentences))
        self.around = around | {self.name}
        """The documents' names that stand in the chunk, and in the whole document."""

    def before(self, sentence: Sentence) -> Sentence | None:
        return self.sentences[sentence.place - 1] if sentence.place else None

    def after(self, sentence: Sentence) -> Sentence | None:
        following = self.sentences[sentence.place + 1 : sentence.place + 2]
        return following[0] if following else None

    def begins_with(self, sentence: Sentence) -> bool:
        """Whether this is a history, and no sentence before tells of a time."""
        first = next((one for one in self.sentences if one.tells_year), None)
        return sentence is first and not HISTORIES.isdisjoint(self.heading)

    def until(self, sentence: Sentence) -> frozenset[str]:
        """The words of the chunk as far as the sentence goes."""
        return frozenset().union(*(one.words for one in self.sentences[: sentence.place + 1]))

    def near(self, sentence: Sentence) -> frozenset[str]:
        """The words of the sentence and of the one before."""
        before = self.before(sentence)
        return sentence.words | before.words if before else sentence.words
