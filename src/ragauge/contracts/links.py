"""Mentions and what they are linked to in knowledge bases."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

KbIds = dict[str, frozenset[str]]
"""Ids by knowledge base (wikidata, viaf, isil, ghcid, …), normalised."""


class MentionKey(Struct, frozen=True, order=True, gc=False):
    """What a gold mention and its prediction are joined on."""

    doc: str
    start: int | None = None
    end: int | None = None
    """Half-open; None where the mention has an id of its own, which then is `doc`."""

    def __str__(self) -> str:
        return self.doc if self.start is None else f"{self.doc}:{self.start}–{self.end}"


class GoldLink(Struct, frozen=True, kw_only=True, gc=False):
    """A mention and the ids it is known under; none of them where it is in no knowledge base."""

    key: MentionKey
    mention: str
    ids: KbIds = {}
    """By knowledge base, normalised; empty is NIL."""
    context: str | None = None
    type: str | None = None
    strata: dict[str, Any] = {}
    where: str
    document: str | None = None
    """The text it stands in; None where each mention is an item of its own."""
    id: str | None = None
    """Its own id, where the file gives one."""

    @property
    def nil(self) -> bool:
        return not any(self.ids.values())

    @property
    def unit(self) -> str:
        """What intervals resample: the document, or the mention where there is none."""
        return str(self.key) if self.document is None else self.document


class Candidate(Struct, frozen=True, gc=False):
    """What a mention may be linked to."""

    id: str
    kb: str
    score: float | None = None
    also: tuple[tuple[str, str], ...] = ()
    """The same entity elsewhere: further knowledge bases, each with an id."""

    @property
    def ids(self) -> tuple[tuple[str, str], ...]:
        """Every id it has, each with its knowledge base."""
        return ((self.kb, self.id), *self.also)

    @property
    def answer(self) -> frozenset[tuple[str, str]]:
        """The ids that can be right: the first in each knowledge base, or many would be guesses."""
        return frozenset({kb: (kb, id) for kb, id in reversed(self.ids)}.values())


NIL_KB = "nil"
NIL_CANDIDATE = Candidate("NIL", NIL_KB)
"""A ranked candidate that says: in no knowledge base. It takes up its rank."""


class PredictedLink(Struct, frozen=True, kw_only=True, gc=False):
    """What a system links a mention to: candidates, the likeliest first, or NIL."""

    key: MentionKey
    mention: str
    candidates: tuple[Candidate, ...] = ()
    nil: bool | None = None
    """Whether the system says that it is in no knowledge base; None where it gave candidates and
    did not say."""
    ids: KbIds = {}
    """The ids it gives to the entity it chose, by knowledge base, where it gives several."""
    where: str
    document: str | None = None
    id: str | None = None
    context: str | None = None
    repeated: int = 0
    """Candidates that were named again further down, and left out there."""

    @property
    def said_nil(self) -> bool:
        """Whether its answer is NIL: the first candidate decides where nothing else is said."""
        if self.nil is not None:
            return self.nil
        return bool(self.candidates) and self.candidates[0].kb == NIL_KB

    @property
    def linked(self) -> bool:
        """Whether its answer is an id."""
        return bool(self.candidates) and not self.said_nil

    @property
    def ranked(self) -> tuple[Candidate, ...]:
        """The candidates by rank, with NIL in the first where that is the answer, said how ever."""
        if not self.said_nil:
            return self.candidates
        return (NIL_CANDIDATE, *(one for one in self.candidates if one.kb != NIL_KB))


class GoldLinks(Struct, frozen=True, kw_only=True):
    """Gold mentions, and the documents that were searched for them."""

    links: tuple[GoldLink, ...]
    documents: dict[str, dict[str, Any]] = {}
    """With their strata; those without any mention too, where the file tells."""


class SamePair(Struct, frozen=True, gc=False):
    """Two ids, each with its knowledge base, and how they relate."""

    one: tuple[str, str]
    other: tuple[str, str]
    relation: str
    where: str = ""


class LinkedMention(Struct, frozen=True, kw_only=True):
    """A mention of gold, of the prediction or of both, and how the two went together."""

    in_gold: bool
    nil: bool = False
    """In gold, and in no knowledge base."""
    answered: bool = False
    """There is a prediction."""
    said_nil: bool = False
    linked: bool = False
    """The answer is an id."""
    rank: int | None = None
    """Of the first right candidate."""
    relaxed_rank: int | None = None
    """The same where equivalent ids count as right."""
    relaxed: bool = False
    """A table of equivalents was given."""
    placed: bool = False
    """It has a start and an end."""
    exact: bool = True
    """Gold and prediction are at the same place, or have none."""
    weak_gold: bool = False
    """An overlapping prediction of its own has the right id."""
    weak_predicted: bool = False
    """The prediction overlaps a gold mention of its own with that id."""
    hipe_rank: int | None = None
    """Of gold's id, NIL included, in the prediction that HIPE's scorer pairs with the mention."""
    hipe_predicted_rank: int | None = None
    """The same for the prediction: of the id of the gold mention it is paired with."""
    crosswalk: bool = False
    """A crosswalk was given."""
    paired: tuple[str, ...] = ()
    """Pairs of knowledge bases in both of which its answer has an id, if there is a crosswalk."""
    pairs: dict[str, bool] = {}
    """Those of them in which the crosswalk can compare its ids, and whether they agree."""

    @property
    def in_kb(self) -> bool:
        return self.in_gold and not self.nil

    @property
    def right(self) -> bool:
        """Whether the answer is what gold says, NIL included."""
        if self.nil:
            return self.said_nil
        return self.in_kb and self.linked and self.rank == 1
