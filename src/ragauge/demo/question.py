"""What a question asks for: the names it is about, the words it uses, the kind of answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

import msgspec
from msgspec import Struct

from ragauge.demo import grammar
from ragauge.demo.grammar import Wants
from ragauge.demo.lexicon import Lexicon, Name
from ragauge.demo.words import Language, folded, in_one_word, is_stop, kin, surface_words

BEGUN = frozenset(map(kin, ("founded", "opened", "built", "completed")))
"""Ways to begin: a comparison in time takes one for the other."""
Form = Literal["plain", "compare", "relate"]
Role = Literal["name", "setting", "number", "strict", "asked", "office", "word", "light", "none"]


class Question(Struct, frozen=True, kw_only=True):
    """A question taken apart. Words and names are as `kin` gives them."""

    wants: Wants
    form: Form = "plain"
    asks_how: bool = False
    """In what way, not how many or how old."""
    asks_year: bool = False
    """A year, not some time."""
    names: tuple[str, ...]
    """They must stand in the chunk or its title."""
    settings: tuple[str, ...]
    """Names after `in`, and of peoples: they may stand anywhere in the document."""
    whole: frozenset[Name] = frozenset()
    """The documents' names among these: a part of one, or a longer one, is another name."""
    whole_settings: frozenset[Name] = frozenset()
    words: tuple[str, ...]
    asked: tuple[str, ...]
    """The noun after `which`: an answer need not repeat it."""
    office: str | None = None
    """What the person asked for has to be, such as a king or a painter."""
    light: tuple[str, ...]
    """Words that hardly narrow the question down."""
    strict: tuple[tuple[str, str | None], ...]
    """Words such as `first` and `current`, with the next word: without the two side by side
    another thing would be told."""
    numbers: tuple[str, ...]
    after: frozenset[str] = frozenset()
    """What is said of a time before, such as `after the fire`: it need not be said again."""
    sides: tuple[Question, ...] = ()
    """What a comparison or a relationship asks of each of its sides."""

    @property
    def counted(self) -> str | None:
        """What is counted where a number is asked for."""
        return self.asked[0] if self.wants == "number" and self.asked else None

    @property
    def said(self) -> tuple[str, ...]:
        """All that it names and says, but for light words."""
        return (*self.names, *self.settings, *self.numbers, *self.words)


class _Word(Struct, frozen=True):
    plain: str
    """As written, folded."""
    kin: str
    role: Role


_NOTHING = _Word("", "", "none")


def read_question(text: str, lexicon: Lexicon) -> Question:
    """The question taken apart, by rules alone."""
    words = _words(surface_words(in_one_word(grammar.reworded(text))), lexicon)
    plain = " ".join(word.plain for word in words)
    form, joint = _form(words, lexicon)
    if form == "plain":
        question = _question(words, grammar.wanted(plain), form, lexicon)
        how = question.wants == "anything" and grammar.asks_how(plain)
        year = grammar.asks_year(plain)
        return msgspec.structs.replace(question, asks_how=how, asks_year=year)
    said = {word.plain for word in words}
    wants: Wants = "number" if said & grammar.BY_SIZE else "time"
    if form == "relate":
        wants = "anything"
    elif not said & (grammar.BY_SIZE | grammar.IN_TIME):
        wants = grammar.wanted(plain)
    words = [_without_cue(word, last) for last, word in pairwise([_NOTHING, *words])]
    if wants == "time" and BEGUN.isdisjoint(_in_role(words, "word", "asked")):
        words.append(_Word("founded", kin("founded"), "word"))  # older is what began earlier
    sides = tuple(_question(part, wants, form, lexicon) for part in _parts(words, joint))
    return msgspec.structs.replace(_question(words, wants, form, lexicon), sides=sides)


def _question(words: Sequence[_Word], wants: Wants, form: Form, lexicon: Lexicon) -> Question:
    named = lexicon.named([word.kin if word.role != "asked" else "" for word in words])
    names, settings = _in_role(words, "name"), _in_role(words, "setting")
    return Question(
        wants=wants,
        form=form,
        names=names,
        settings=settings,
        whole=frozenset(name for name in named if not name.isdisjoint(names)),
        whole_settings=frozenset(name for name in named if not name.isdisjoint(settings)),
        words=_in_role(words, "word", "strict", "asked"),
        asked=_in_role(words, "asked"),
        office=next(iter(_in_role(words, "office")), None),
        light=_in_role(words, "light", "office"),
        strict=tuple(_strict_pairs(words)),
        numbers=_in_role(words, "number"),
        after=frozenset(word.kin for word in _after(words)),
    )


def _after(words: Sequence[_Word]) -> Iterator[_Word]:
    """The words from `after` to the end, or to the word that asks."""
    begun = False
    for word in words:
        begun = (begun or word.plain in grammar.AFTER) and not grammar.is_asking(word.plain)
        if begun and word.role != "none":
            yield word


def _in_role(words: Iterable[_Word], *roles: Role) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.kin for word in words if word.role in roles))


def _strict_pairs(words: Sequence[_Word]) -> Iterator[tuple[str, str | None]]:
    for place, word in enumerate(words):
        if word.role == "strict":
            follows = words[place + 1 : place + 2]
            said_of = follows and follows[0].role in ("word", "name", "asked")
            said_of = said_of and word.plain not in grammar.BY_NOW
            yield word.kin, follows[0].kin if said_of else None


def _words(surface: Sequence[str], lexicon: Lexicon) -> list[_Word]:
    """Each word with the part it plays."""
    cased = any(word[0].isupper() for word in surface[1:]) and any(map(str.islower, surface))
    language = _language(map(lexicon.mended, surface))
    words: list[_Word] = []
    for word, follows in pairwise([*surface, "-"]):
        plain = lexicon.mended(word)
        # Where its capital, or the lack of one, says nothing, the documents have to know it.
        known = lexicon.is_name(word) and folded(word) not in grammar.FRAMING | grammar.PEOPLE
        is_name = word[0].isupper() if cased and words else known
        role: Role = "none"
        if is_name and (place := lexicon.place_of(plain)):
            plain, role = place, "setting"  # as in Leidse, of Leiden
        elif is_name and plain in grammar.DEMONYMS and cased and follows[0].isupper():
            role = "name"  # part of a longer one, such as British Museum
        elif not is_stop(plain, None if is_name else language):
            role = _role(plain, is_name, words)
        words += [_Word(part, kin(part), role) for part in lexicon.parts(plain)]
    return words


def _role(plain: str, is_name: bool, before: Sequence[_Word]) -> Role:
    counted = bool(before) and before[-1].plain in grammar.NUMERALS
    last = before[-1 - counted].plain if len(before) > counted else ""
    if plain[0].isdigit():
        return "number"
    if is_name:
        return "setting" if plain in grammar.DEMONYMS or _follows_in(before) else "name"
    opens = all(word.role == "none" for word in before)
    if plain in grammar.CONTENT and not opens:
        return "light"
    if plain in grammar.FRAMING or (plain == "name" and opens):
        return "none"
    if plain in grammar.STRICT:
        return "strict"
    untold = grammar.UNTOLD_MEASURES | grammar.CALLED
    if plain in grammar.LIGHT or (last in grammar.HOW and plain in untold):
        return "light"
    if last not in grammar.ASKING:
        return "word"
    # The noun after `which` adds nothing where it only says the kind of thing wanted.
    if plain in grammar.PLACES | grammar.TIMES | grammar.KINDS:
        return "none"
    if plain in grammar.ANYBODY:
        return "light"
    is_office = plain in grammar.PEOPLE and kin(plain) != kin("architect")
    return "office" if is_office else "asked"


def _follows_in(before: Sequence[_Word]) -> bool:
    """Whether the next word is the name of a place something is in, such as `in The Hague`."""
    for word in reversed(before):
        if word.role == "setting":
            return word.plain not in grammar.DEMONYMS
        if word.plain not in grammar.ARTICLES:
            return word.plain in grammar.IN
    return False


def _language(plain: Iterable[str]) -> Language:
    return grammar.language_of(frozenset(plain))


def _form(words: Sequence[_Word], lexicon: Lexicon) -> tuple[Form, int]:
    """How the question joins two sides, and the place of the word between them; 0 is no place."""
    plain = {word.plain for word in words if word.role != "name"}
    relates = plain & grammar.RELATING[_language(word.plain for word in words)]
    compares = plain & grammar.COMPARING
    joint = _joint(words, lexicon)
    if not joint or not (relates or compares or _asks_of_both(words, joint, lexicon)):
        return "plain", 0
    return ("relate" if relates else "compare"), joint


def _asks_of_both(words: Sequence[_Word], joint: int, lexicon: Lexicon) -> bool:
    """Whether one thing is asked of two: titles of two documents around `and`, or many years."""
    plain = [word.plain for word in words]
    wants = grammar.wanted(" ".join(plain))
    if words[joint].plain not in ("and", "en") or wants in ("anything", "reason"):
        return False
    first, second = (
        lexicon.titled(_in_role(part, "name")) for part in (words[:joint], words[joint:])
    )
    of_two = bool(first and second) and first.isdisjoint(second)
    return of_two or not grammar.OF_SEVERAL.isdisjoint(plain)


def _joint(words: Sequence[_Word], lexicon: Lexicon) -> int:
    """The place of the word between two names; 0 where there is none."""
    for joints in grammar.JOINTS[_language(word.plain for word in words)]:
        for place, word in enumerate(words):
            if word.plain not in joints:
                continue
            # Names on both sides, and not halves of one, as in Victoria and Albert.
            phrase = " ".join(word.plain for word in words[place - 1 : place + 2])
            named = _in_role(words[:place], "name") and _in_role(words[place:], "name")
            if named and not any(phrase in title for title in lexicon.titles):
                return place
    return 0


def _without_cue(word: _Word, last: _Word) -> _Word:
    """The word, playing no part where it only says that there are two sides.

    `larger` says more than that; of `more books` it is the books that are to be counted.
    """
    if word.role == "name":
        return word
    if last.plain in grammar.MORE and word.role == "word":
        return _Word(word.plain, word.kin, "asked")
    if word.plain in grammar.BY_SIZE - grammar.MORE:
        return _Word(word.plain, word.kin, "word")
    cues = grammar.COMPARING.union(grammar.KINDS, *grammar.RELATING.values())
    return _Word(word.plain, word.kin, "none") if word.plain in cues else word


def _parts(words: Sequence[_Word], joint: int) -> tuple[list[_Word], list[_Word]]:
    """The words that concern each side: its own stretch of names, and what stands outside both."""
    named = [place for place, word in enumerate(words) if word.role in ("name", "setting")]
    first, last = named[0], named[-1]
    before, after = words[:first], words[last + 1 :]
    return [*before, *words[first:joint], *after], [*before, *words[joint : last + 1], *after]
