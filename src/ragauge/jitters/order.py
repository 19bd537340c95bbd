"""`order`: the same words, with a clause or the question phrase in another place.

A part is moved only if the sentence has one reading: an English question with `did` cannot be
turned round without other words, and a phrase that may belong to the noun before it stays.
First comes the grammar of each language, then the moves: a move detects a part of its kind, and
gives the question's parts in their new order if moving it is safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from itertools import pairwise

from msgspec import Struct

from ragauge.jitters.lexicons import AUXILIARIES
from ragauge.jitters.protected import KEPT, masked
from ragauge.jitters.sentences import Edit, apply_edits, capitalised, sentences, uncapitalised
from ragauge.text.word_lists import word_set


class Grammar(Struct, frozen=True, kw_only=True):
    """Words by their role in a question. What a language does not have is empty."""

    manners: str
    """A pattern of the clauses that say how to answer: `with citations`, `in one sentence`."""
    joint: str = r",? (?:and |en |und |et )?"
    """A pattern of what separates two such clauses."""
    chooses: frozenset[str] = frozenset()
    """These ask which of two: `Which opened first, the Prado or the Louvre?`"""
    either: str = ""
    colon: str = ":"
    joins: tuple[str, ...] = ()
    """These open a clause that may come first or last: `now that …`."""
    asides: tuple[str, ...] = ()
    """These open a phrase that may come first or last: `according to …`."""
    articles: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset()
    """These alone ask for a time, a place or a way: `when`."""
    leads: frozenset[str] = frozenset()
    """These open a phrase of time or place: `in which year`."""
    asks: frozenset[str] = frozenset()
    """The second word of such a phrase."""
    who: frozenset[str] = frozenset()
    be: frozenset[str] = frozenset()
    done: str = ""
    """A pattern of participles."""
    alone: frozenset[str] = frozenset()
    """Verbs without an object, so that what follows is their subject: `begon`."""
    holds: frozenset[str] = frozenset()
    """Verbs whose subject contains what is counted: `Hoeveel boeken bezit de KB?`"""
    bars: frozenset[str] = frozenset()
    """Words that show that a phrase is not only a noun phrase, so that it is not moved."""
    relatives: frozenset[str] = frozenset()
    """Words that open a clause of their own, inside which nothing is moved."""
    verb_last: bool = False
    """The participle comes last: `werd in 1800 geopend`."""
    trails: frozenset[str] = frozenset()
    """Prepositions, which cannot end a noun phrase."""
    capital_nouns: bool = False
    """Every noun has a capital, so a phrase that ends in lower case does not end in a noun."""


_EN_DONE = (
    r"(?!need|seed|speed|hundred)\w{3,}ed|(?:re|over|under|un|with|up|fore|mis)?(?:"
    "made|built|kept|held|brought|sold|bought|found|set|put|chosen|written|given|lost|won|sent|"
    "taken|shown|drawn|born|borne|stolen|broken|spoken|frozen|driven|hidden|eaten|beaten|fallen|"
    "shaken|proven|woven|sewn|known|grown|thrown|blown|flown|worn|torn|sworn|seen|done|gone|begun|"
    "run|sung|sunk|rung|hung|stuck|struck|dug|spun|bound|wound|bred|fed|led|met|shot|left|dealt|"
    "meant|spent|lent|bent|burnt|learnt|cut|hit|hurt|shut|split|spread|cast|caught|fought|sought|"
    "taught|thought|told|heard|paid|said|laid|lit|forgotten|come|become|stood|gotten|got|forbidden|"
    "forgiven|read|felt|lain|risen|ridden|trodden|shorn|cleft|slain|swept|wept)"
)

_EN = Grammar(
    manners=(
        r"with(?:out)? (?:citations?|sources?|references?|footnotes?|examples?|links?|jargon)"
        r"|in (?:one|two|three|four|five|a few|a single|at most \w+|\d+) "
        r"(?:sentences?|words?|paragraphs?|lines?|bullet points)"
        r"|in (?:detail|brief|full|plain words|simple words|bullet points)"
        r"|as a (?:bullet |numbered )?(?:list|table)|step by step"
    ),
    chooses=word_set("which who what"),
    either="or",
    joins=("now that", "given that", "if", "because", "although", "once", "while", "as long as"),
    asides=("compared with", "compared to", "according to"),
    articles=word_set("the a an its this"),
    places=word_set("when where how"),
    leads=word_set("in on at"),
    asks=word_set("which what"),
    who=word_set("who what"),
    be=word_set("is are was were"),
    done=_EN_DONE,
    bars=word_set(
        "which what who whom whose that where when why how before after during like doing to by "
        "with matter weather point than not"
    ),
    relatives=word_set("which what who whom whose that where when why how"),
    trails=word_set("for of in at on from about under into"),
)

_NL = Grammar(
    manners=(
        r"met (?:bronvermelding(?:en)?|bronnen|verwijzingen|citaten|voorbeelden)"
        r"|zonder (?:jargon|voorbeelden|bronnen)"
        r"|in (?:één|een paar|enkele|twee|drie|vier|vijf|hooguit \w+|\d+) "
        r"(?:zin|zinnen|woorden|alinea|alinea's|regels)"
        r"|in (?:detail|het kort|eenvoudige woorden)|als (?:lijst|tabel)|stap voor stap"
    ),
    chooses=word_set("welk welke wie wat"),
    either="of",
    joins=("nu", "als", "omdat", "hoewel", "aangezien", "terwijl", "zolang"),
    asides=("volgens", "vergeleken met", "in vergelijking met"),
    articles=word_set("de het een dit deze"),
    owners=word_set("zijn haar hun"),
    places=word_set("wanneer waar"),
    leads=word_set("in uit op bij sinds"),
    asks=word_set("welk welke wanneer"),
    who=word_set("wie"),
    be=word_set("is zijn was waren wordt worden werd werden"),
    done=r"(?:ge|be|ver|ont|her|vol|af|over|op|uit|in|aan)\w+(?:d|t|en)",
    alone=word_set(
        "opende openden begon begonnen ontstond ontstonden staat staan stond stonden ligt liggen "
        "lag lagen hangt hangen hing hingen verscheen verschenen sloot overleed stierf"
    ),
    holds=word_set("bewaart bezit heeft telt beheert omvat"),
    bars=word_set(
        "door naar met na voor tijdens weer opnieuw nu toen al nog er men niet ook eerst om aan "
        "op uit over bij tot die dat waar waarin waarop waarvan zich dan als wie wat hij zij ze "
        "ter ten te open klaar vroeger destijds tegenwoordig momenteel ooit oorspronkelijk later "
        "vandaag precies eigenlijk daarna nooit altijd hier daar af mee toe neer terug weg vrij "
        "bekend kwijt vast vanaf vandaan heen"
    ),
    verb_last=True,
    trails=word_set("van in"),
)

_DE = Grammar(
    manners=(
        r"mit (?:Quellen|Quellenangaben|Belegen|Beispielen|Verweisen)"
        r"|ohne (?:Fachbegriffe|Beispiele|Quellen)"
        r"|in (?:einem|zwei|drei|vier|fünf|wenigen|\d+) "
        r"(?:Satz|Sätzen|Worten|Absatz|Absätzen|Zeilen)"
        r"|als (?:Liste|Tabelle)|Schritt für Schritt"
    ),
    chooses=word_set("welcher welche welches wer was"),
    either="oder",
    asides=("laut", "gemäß"),
    articles=word_set("der die das ein eine"),
    owners=word_set("seinen seine sein ihren ihre ihr"),
    places=word_set("wann wo"),
    leads=word_set("in an seit"),
    asks=word_set("welchem welcher wann"),
    who=word_set("wer"),
    be=word_set("ist sind war waren wird werden wurde wurden"),
    done=r"(?:ge|be|ver|er|ent|zer|auf|ab|an|ein|aus|um|wieder)\w+(?:t|en)",
    alone=word_set("begann begannen entstand entstanden steht stehen liegt liegen hängt hängen"),
    bars=word_set(
        "von vom durch nach mit für wieder nun noch nicht auch erst um aus über bei bis "
        "sich als wer was er sie es man an auf zu zum zur im am vor unter seit "
        "dem den einem einen ihm ihnen mir dir uns euch"
    ),
    verb_last=True,
    trails=word_set("in des der"),
    capital_nouns=True,
)

_FR = Grammar(
    manners=(
        r"(?:avec|sans) (?:citations?|sources?|références|exemples|jargon)"
        r"|en (?:une|deux|trois|quatre|cinq|quelques|\d+) (?:phrases?|mots|lignes|paragraphes?)"
        r"|en (?:détail|bref)|sous forme de (?:liste|tableau)|étape par étape"
    ),
    chooses=word_set("quel quelle lequel laquelle qui"),
    either="ou",
    colon=" :",
    joins=("puisque", "si", "bien que", "maintenant que", "étant donné que"),
    asides=("selon", "d'après", "par rapport à"),
    articles=word_set("le la les un une"),
)

_ZH = Grammar(
    manners=(
        r"(?:并)?附(?:上)?(?:引用|出处|来源|例子)|用(?:一|两|三|几|\d+)句话|"
        r"分步骤|用(?:列表|表格)(?:形式)?|简要地?|详细地?"
    ),
    joint="[，、]",
    chooses=word_set("哪个 哪一个 哪座 哪家 谁"),
    either="还是",
    colon="，",
)

GRAMMARS = {"en": _EN, "nl": _NL, "de": _DE, "fr": _FR, "zh": _ZH}

Span = tuple[int, int]
Parts = Sequence[Span | str]
"""Stretches of the question in their new order, with the marks between them."""

_WORD = re.compile(r"\S+")
_HALVES = re.compile(r"([^,:;，：；]+)(?:[,:] |[，：])([^,:;，：；]+)")
_MARKS = re.compile("[,:;，：；]")


class Question:
    """A question without its mark, as it is written and as it is masked."""

    def __init__(self, text: str, painted: str) -> None:
        self.text = text
        self.painted = painted

    @cached_property
    def words(self) -> list[str]:
        """The masked words in lower case; a name is a run of KEPT."""
        return [self.painted[start:end].lower() for start, end in self._spans]

    @cached_property
    def halves(self) -> tuple[Span, Span] | None:
        """The parts before and after the only comma or colon."""
        match = _HALVES.fullmatch(self.painted)
        return (match.span(1), match.span(2)) if match else None

    @cached_property
    def unbroken(self) -> bool:
        """Whether it has no comma, colon or semicolon."""
        return not _MARKS.search(self.painted)

    def phrase(self, first: int, last: int) -> Span:
        """The stretch from one word to the one before another."""
        return self._spans[first][0], self._spans[last - 1][1]

    def after_move(self, grammar: Grammar) -> str | None:
        """The question after the first move that is safe."""
        for move in MOVES:
            if move.applies(self, grammar) and (parts := move.new_order(self, grammar)):
                return self.written(parts)
        return None

    def written(self, parts: Parts) -> str:
        """The question with its parts in this order and the capital at its new beginning."""
        written = ""
        for part in parts:
            if isinstance(part, str):
                written += part
            else:
                text = self.text[slice(*part)]
                written += " " * (written[-1:] not in ("", "，"))
                written += uncapitalised(text) if part[0] == 0 else text
        fresh = not isinstance(parts[0], str) and self.painted[parts[0][0]] != KEPT
        return capitalised(written) if fresh and self.text[0].isupper() else written

    @cached_property
    def _spans(self) -> list[Span]:
        return [match.span() for match in _WORD.finditer(self.painted)]


class Move(Struct, frozen=True):
    """How to detect a kind of part, and how to move it."""

    applies: Callable[[Question, Grammar], bool]
    new_order: Callable[[Question, Grammar], Parts | None]


def _has_choice(question: Question, grammar: Grammar) -> bool:
    if not question.halves or not grammar.either:
        return False
    asks, choice = (question.painted[slice(*half)].lower() for half in question.halves)
    chosen = asks.split(" ", 1)[0] in grammar.chooses or asks.startswith(("哪", "谁"))
    return chosen and grammar.either in re.split(r"\s|(?=还是)|(?<=还是)", choice)


def _choice_first(question: Question, grammar: Grammar) -> Parts | None:
    """`Which is older, the Prado or the Louvre` → `The Prado or the Louvre: which is older`."""
    if not question.halves:
        return None
    asks, choice = question.halves
    written = question.painted[slice(*choice)].lower()
    noun = written.split(" ", 1)[0] in grammar.articles or written[0] == KEPT
    chinese = grammar.either == "还是"
    return (choice, grammar.colon, asks) if noun or chinese else None


def _has_clause(question: Question, grammar: Grammar) -> bool:
    if not question.halves or question.painted[question.halves[0][1]] != ",":
        return False
    clause = question.painted[slice(*question.halves[1])].lower()
    return clause.startswith(tuple(f"{word} " for word in grammar.joins))


def _clause_first(question: Question, grammar: Grammar) -> Parts | None:
    """`How is it kept, now that it is old` → `Now that it is old, how is it kept`."""
    return (question.halves[1], ",", question.halves[0]) if question.halves else None


def _aside(question: Question, grammar: Grammar) -> tuple[int, int] | None:
    """Where a phrase such as `according to …` begins, and its first free word."""
    for at in range(3, len(question.words)):
        for aside in grammar.asides:
            after = at + len(aside.split())
            if question.words[at:after] == aside.split():
                return at, after
    return None


def _has_aside(question: Question, grammar: Grammar) -> bool:
    return question.unbroken and _aside(question, grammar) is not None


def _aside_first(question: Question, grammar: Grammar) -> Parts | None:
    """`How many does it hold compared with Kew` → `Compared with Kew, how many does it hold`."""
    at, after = _aside(question, grammar) or (0, 0)
    words = question.words
    if not grammar.bars.isdisjoint(words[after:]) or not _is_closed(words[after:], grammar):
        return None
    return question.phrase(at, len(words)), ",", question.phrase(0, at)


_LINKS = word_set("of in at on from to and for by under with into van en uit te des und de du à et")
_LONGEST_PIECE = 4


def _is_closed(words: list[str], grammar: Grammar) -> bool:
    """Whether these are only noun phrases, with no verb left over: `the fire of 1814`,
    but not `the fire look`."""
    pieces: list[list[str]] = [[]]
    for word in words:
        if word in _LINKS:
            pieces.append([])
        else:
            pieces[-1].append(word)
    return all(_is_noun(piece, grammar) for piece in pieces)


def _is_noun(piece: list[str], grammar: Grammar) -> bool:
    """Whether the words end in a name, or are an article and one word, or a known time."""
    if not piece or len(piece) > _LONGEST_PIECE:
        return False
    free = piece[1:] if piece[0] in grammar.articles else piece
    named = [at for at, word in enumerate(free) if KEPT in word]
    if named:
        return named == [len(free) - 1]
    return len(free) == 1 and (free != piece or free[0] in _TIMES)


_TIMES = word_set("year years month months decade century day days period time era war")
_BARE = word_set("receive open close have hold own keep attract count spend earn buy sell lose win")
_WHEN = word_set("after before during")
_NEAR_WHEN = word_set("from until just shortly soon long and or in on at of") | _TIMES


def _has_time(question: Question, grammar: Grammar) -> bool:
    words = question.words
    asking = words[0] in ("how", "where", "why") and "did" in words[:6]
    return question.unbroken and asking and bool({*words} & (_WHEN | {"in"}))


def _time_first(question: Question, grammar: Grammar) -> Parts | None:
    """`How did it go on after the fire` → `After the fire, how did it go on`.

    The phrase of time must belong to the verb, not to a noun before it.
    """
    words = question.words

    def begins(at: int) -> bool:
        if words[at] in _WHEN:
            return words[at - 1] not in _NEAR_WHEN and words[at + 1] in grammar.articles
        timed = bool(_TIMES & {*words[at + 1 : at + 4]})
        return words[at] == "in" and words[at - 1] in _BARE and timed

    at = next(filter(begins, range(4, len(words) - 1)), None)
    if at is None or not grammar.relatives.isdisjoint(words[at:]):
        return None
    if words[at] in _WHEN and not _is_closed(words[at + 1 :], grammar):
        return None
    return question.phrase(at, len(words)), ",", question.phrase(0, at)


_STORED = word_set("kept stored held shown housed displayed preserved exhibited")
_WHERE = word_set("in at on inside under near")


def _stored(question: Question, grammar: Grammar) -> int | None:
    """Where the phrase begins that follows `is kept`, `are stored` and such."""
    words = question.words
    for at in range(2, len(words) - 1):
        if words[at - 1] in grammar.be and words[at] in _STORED and words[at + 1] in _WHERE:
            return at + 1
    return None


def _has_place(question: Question, grammar: Grammar) -> bool:
    asking = question.words[0] == "what" or question.words[:2] == ["how", "many"]
    return question.unbroken and asking and _stored(question, grammar) is not None


def _place_first(question: Question, grammar: Grammar) -> Parts | None:
    """`What is kept in the tower` → `In the tower, what is kept`."""
    at = _stored(question, grammar) or 0
    words = question.words
    verbal = any(re.fullmatch(grammar.done, word) for word in words[at:])
    nouns = grammar.relatives.isdisjoint(words[at:]) and words[-1] not in grammar.trails
    safe = nouns and not verbal and not _goes_on(words[at:])
    return (question.phrase(at, len(words)), ",", question.phrase(0, at)) if safe else None


_LONGEST_PHRASE = 5


def _verb_after_phrase(question: Question, verbs: frozenset[str], grammar: Grammar) -> int:
    """The place of the verb after a question phrase of time or place; 0 if there is none."""
    words = question.words
    alone = words[0] in grammar.places
    if not question.unbroken or not (alone or _is_phrase(words, grammar)):
        return 0
    first, last = (1, 2) if alone else (2, _LONGEST_PHRASE)
    return next((at for at in range(first, min(last, len(words))) if words[at] in verbs), 0)


def _is_phrase(words: list[str], grammar: Grammar) -> bool:
    return words[0] in grammar.leads and len(words) > 2 and words[1] in grammar.asks


def _has_phrase(question: Question, grammar: Grammar) -> bool:
    return bool(_verb_after_phrase(question, grammar.be | grammar.alone, grammar))


def _phrase_last(question: Question, grammar: Grammar) -> Parts | None:
    """`When was the Prado opened` → `The Prado was opened when`."""
    verb = _verb_after_phrase(question, grammar.be | grammar.alone, grammar)
    words, end = question.words, len(question.words)
    asking, verb_part = question.phrase(0, verb), question.phrase(verb, verb + 1)
    if words[verb] in grammar.alone:
        verbal = any(re.fullmatch(grammar.done, word) for word in words[verb + 1 :])
        safe = not verbal and _is_noun_phrase(question, verb + 1, end, grammar)
        return (question.phrase(verb + 1, end), verb_part, asking) if safe else None
    done = [at for at in range(verb + 1, end) if re.fullmatch(grammar.done, words[at])]
    if len(done) != 1 or not _is_noun_phrase(question, verb + 1, done[0], grammar):
        return None
    thing, rest = question.phrase(verb + 1, done[0]), question.phrase(done[0], end)
    if grammar.verb_last:
        return (thing, verb_part, asking, rest) if done[0] == end - 1 else None
    safe = grammar.relatives.isdisjoint(words[done[0] :]) and not _goes_on(words[done[0] :])
    return (thing, verb_part, rest, asking) if safe else None


def _goes_on(words: list[str]) -> bool:
    """Whether a name is followed by what may be the verb: `signed by Louis void`."""
    return any(KEPT in word and after not in _LINKS for word, after in pairwise(words))


def _is_noun_phrase(question: Question, first: int, last: int, grammar: Grammar) -> bool:
    """Whether the words are a noun phrase and nothing more, also within what seems a name."""
    words = question.words[first:last]
    if not words or words[-1] in grammar.trails | grammar.articles:
        return False
    spelled = question.text[slice(*question.phrase(first, last))].lower().split()
    named = grammar.verb_last or words[0] in grammar.articles or words[0][0] == KEPT
    ended = KEPT in words[-1] or not grammar.capital_nouns
    # No second noun phrase begins in it: `dem König das Schloss` are two.
    one = all(after not in grammar.articles or word in _LINKS for word, after in pairwise(spelled))
    return named and ended and grammar.bars.isdisjoint(spelled) and one


def _has_owner(question: Question, grammar: Grammar) -> bool:
    words = question.words
    asking = words[0] in grammar.places or _is_phrase(words, grammar)
    return question.unbroken and asking and not grammar.owners.isdisjoint(words[3:])


def _owner_last(question: Question, grammar: Grammar) -> Parts | None:
    """`Sinds wanneer draagt de KB haar naam` → `De KB draagt haar naam sinds wanneer`."""
    words, end = question.words, len(question.words)
    owner = next((at for at in range(3, end) if words[at] in grammar.owners), end)
    named = owner - 1
    subject = named - (words[named - 1] in grammar.articles)
    verb = subject - 1
    plain = words[named][0] == KEPT and grammar.bars.isdisjoint(words[owner:])
    phrase = 1 if words[0] in grammar.places else 2 if words[1] in grammar.places else 3
    ended = KEPT in words[-1] or not grammar.capital_nouns
    if not plain or not ended or verb != phrase or not 2 <= end - owner <= 3:
        return None
    if words[verb] in grammar.be | AUXILIARIES:
        return None
    parts = ((subject, owner), (verb, subject), (owner, end), (0, verb))
    return [question.phrase(*part) for part in parts]


def _count_verb(question: Question, grammar: Grammar) -> int:
    verbs = (at for at in range(2, len(question.words)) if question.words[at] in grammar.holds)
    return next(verbs, 0)


def _has_count(question: Question, grammar: Grammar) -> bool:
    counted = question.words[0] == "hoeveel" and bool(grammar.holds)
    return question.unbroken and counted and _count_verb(question, grammar) > 0


def _count_last(question: Question, grammar: Grammar) -> Parts | None:
    """`Hoeveel boeken bezit de KB` → `De KB bezit hoeveel boeken`."""
    verb = _count_verb(question, grammar)
    holder = [word for word in question.words[verb + 1 :] if word not in grammar.articles]
    if len(holder) != 1 or holder[0][0] != KEPT:
        return None
    end = len(question.words)
    return question.phrase(verb + 1, end), question.phrase(verb, verb + 1), question.phrase(0, verb)


def _has_who(question: Question, grammar: Grammar) -> bool:
    words = question.words
    if not question.unbroken or len(words) < 4:
        return False
    return words[0] in grammar.who and words[1] in grammar.be and words[2] in grammar.articles


def _who_last(question: Question, grammar: Grammar) -> Parts | None:
    """`Who is the director of the Prado` → `The director of the Prado is who`."""
    thing = question.words[2:]
    verbal = any(re.fullmatch(rf"{grammar.done}|\w+ing", word) for word in thing)
    named = thing[-1][0] == KEPT or "of" in thing
    end = len(question.words)
    if verbal or not named or not _is_noun_phrase(question, 2, end, grammar):
        return None
    return question.phrase(2, end), question.phrase(1, 2), question.phrase(0, 1)


MOVES = (
    Move(_has_choice, _choice_first),
    Move(_has_clause, _clause_first),
    Move(_has_aside, _aside_first),
    Move(_has_time, _time_first),
    Move(_has_place, _place_first),
    Move(_has_phrase, _phrase_last),
    Move(_has_owner, _owner_last),
    Move(_has_count, _count_last),
    Move(_has_who, _who_last),
)

_QUESTION = re.compile(r"(?P<body>[^?？]+?)[ \u00a0]?[?？]\Z")


def order(text: str, language: str) -> str:
    """The text with one part of each sentence moved, if there is one that can be.

    >>> order("Which is older, the Prado or the Louvre?", "en")
    'The Prado or the Louvre: which is older?'
    >>> order("Define X with citations, in one sentence, please.", "en")
    'Define X in one sentence, with citations, please.'
    """
    grammar = GRAMMARS.get(language)
    if not grammar:
        return text
    painted = masked(text, language)
    edits = []
    for span in sentences(painted):
        question = _question(text, painted, span)
        edit = question and question.after_move(grammar)
        if question and edit:
            edits.append((span[0], span[0] + len(question.text), edit))
        elif swapped := _swap(text, painted, span, grammar):
            edits.append(swapped)
    return apply_edits(text, edits)


def movable(text: str, language: str) -> bool:
    """Whether some sentence has a part of the kind `order` moves, be the move safe or not."""
    grammar = GRAMMARS.get(language)
    if not grammar:
        return False
    painted = masked(text, language)
    for span in sentences(painted):
        question = _question(text, painted, span)
        if question and any(move.applies(question, grammar) for move in MOVES):
            return True
        if _swap(text, painted, span, grammar):
            return True
    return False


def _question(text: str, painted: str, span: tuple[int, int]) -> Question | None:
    """The sentence as a question, None if it is not one or is written unusually."""
    match = _QUESTION.match(painted, *span)
    if not match:
        return None
    start, end = match.span("body")
    body = painted[start:end]
    first = body.split(" ", 1)[0]
    if (
        "  " in body
        or re.search(r"[^\S ]", body)
        or KEPT in first
        or first[1:] != first[1:].lower()
    ):
        return None
    return Question(text[start:end], body)


def _swap(text: str, painted: str, span: tuple[int, int], grammar: Grammar) -> Edit | None:
    """Two clauses that say how to answer, the second first; the text around them stays."""
    for match in _clauses(grammar).finditer(text, *span):
        if KEPT not in (painted[match.start("one")], painted[match.start("two")]):
            return *match.span(), f"{match['two']}{match['between']}{match['one']}"
    return None


@cache
def _clauses(grammar: Grammar) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W\u3400-\u9fff])(?P<one>{grammar.manners})(?P<between>{grammar.joint})"
        rf"(?P<two>{grammar.manners})(?=[,.;:?!，。；：？！]|\s*\Z)"
    )
