"""Gold mentions and predictions side by side: joined on place, else on id, on words if unique."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from ragauge.contracts.finding import Finding
from ragauge.contracts.links import GoldLink, GoldLinks, PredictedLink
from ragauge.ingest.fields import quoted
from ragauge.ingest.linked.link_records import LinkReading
from ragauge.metrics.link_facts import MentionPair
from ragauge.text.canonical import composed

Duplicates = Literal["error", "best"]
Mark = tuple[Any, ...]
FIRM = ("span", "id")
"""What two records both have of these decides, whatever their words are; a place before an id."""
LOOSE = ("context", "document", "mention")
"""The words of a mention: with their context, in their document, alone."""


class Joined(Struct, frozen=True, kw_only=True):
    """The mentions of each unit, and how many predictions found none."""

    units: dict[str, list[MentionPair]]
    """By document, or by mention where there is none; sorted."""
    missing: int
    unknown: int
    duplicates: int


def joined(
    gold: GoldLinks,
    predicted: Sequence[PredictedLink],
    duplicates: Duplicates,
    reading: LinkReading,
) -> Joined:
    """Every gold mention with its prediction, and the predictions that belong to none.

    One in a document that gold knows is spurious there; one elsewhere is not scored. Words that
    several mentions share, and further predictions for one mention, are problems.
    """
    choosing = _Choosing(duplicates, reading)
    answers, elsewhere = _answers(gold, predicted, reading)
    for said in elsewhere:
        reading.findings.add(_unknown(said, gold))
    spurious = [said for said in elsewhere if said.document in gold.documents]
    kept = {place: choosing.one(several, gold.links[place]) for place, several in answers.items()}
    alone = [choosing.one(several, None) for several in _by_key(spurious)]
    units: dict[str, list[MentionPair]] = {name: [] for name in gold.documents}
    for place, link in enumerate(gold.links):
        units.setdefault(link.unit, []).append((link, kept.get(place)))
        if place not in kept:
            reading.findings.add(_missing(link))
    for said in alone:
        units[str(said.document)].append((None, said))
    return Joined(
        units={name: sorted(units[name], key=_order) for name in sorted(units)},
        missing=len(gold.links) - len(kept),
        unknown=len(elsewhere),
        duplicates=choosing.dropped,
    )


def _answers(
    gold: GoldLinks, predicted: Sequence[PredictedLink], reading: LinkReading
) -> tuple[dict[int, list[PredictedLink]], list[PredictedLink]]:
    """By mention the predictions for it, and those that belong to none."""
    search = _Search(gold.links)
    answers: dict[int, list[PredictedLink]] = {}
    elsewhere: list[PredictedLink] = []
    for said in predicted:
        found = search.mentions(said)
        if len(found) > 1:
            reading.problems.append(_ambiguous(said, [gold.links[place] for place in found]))
        elif found:
            answers.setdefault(found[0], []).append(said)
        else:
            elsewhere.append(said)
    moved = _moved(search, elsewhere, predicted, answers)
    for place, said in moved.items():
        answers[place] = [said]
        reading.findings.add(_span_differs(said, gold.links[place]))
    joined_by_id = {said.id for said in moved.values()}
    return answers, [said for said in elsewhere if said.id not in joined_by_id]


class _Search:
    """Gold mentions by each mark they can be found under."""

    def __init__(self, links: Sequence[GoldLink]) -> None:
        self._marks = [dict(_marks(link)) for link in links]
        self._found: dict[tuple[str, Mark], list[int]] = {}
        for place, marks in enumerate(self._marks):
            for kind, mark in marks.items():
                self._found.setdefault((kind, mark), []).append(place)

    def mentions(self, said: PredictedLink) -> list[int]:
        """The mentions a prediction may be about: one, none, or several that share their words."""
        marks = dict(_marks(said))
        for kind in (*FIRM, *LOOSE):
            if kind in marks:
                there = self._found.get((kind, marks[kind]), [])
                fits = [place for place in there if self._decides(kind, place, marks)]
                if fits:
                    return fits
        return []

    def of_id(self, said: PredictedLink) -> int | None:
        """The one mention with a place that has the prediction's own id, in the same document."""
        marks = dict(_marks(said))
        there = self._found.get(("id", marks.get("id", ())), [])
        if "span" not in marks or len(there) != 1 or "span" not in self._marks[there[0]]:
            return None
        return there[0] if self._marks[there[0]]["span"][0] == said.document else None

    def _decides(self, kind: str, place: int, marks: dict[str, Mark]) -> bool:
        """Whether nothing firmer keeps the two apart, nor another document."""
        if kind in FIRM:
            firmer = FIRM[: FIRM.index(kind)]
            return not any(one in self._marks[place] and one in marks for one in firmer)
        mine = self._marks[place]
        if any(one in mine and one in marks for one in FIRM):
            return False
        both = "document" in mine and "document" in marks
        return not both or mine["document"] == marks["document"]


def _marks(link: GoldLink | PredictedLink) -> Iterator[tuple[str, Mark]]:
    if link.key.start is not None:
        yield "span", (link.document, link.key.start, link.key.end)
    if link.id is not None:
        yield "id", (link.id,)
    words = composed(link.mention)
    if words:
        if link.context is not None:
            yield "context", (words, composed(link.context))
        if link.document is not None:
            yield "document", (link.document, words)
        yield "mention", (words,)


def _moved(
    search: _Search,
    elsewhere: Sequence[PredictedLink],
    predicted: Sequence[PredictedLink],
    answered: Collection[int],
) -> dict[int, PredictedLink]:
    """By mention that nothing answers yet the prediction with its id and another place.

    Only an id that each side has once says so: where files number their mentions document by
    document, the same number means nothing.
    """
    times = Counter(said.id for said in predicted)
    found = ((search.of_id(said), said) for said in elsewhere if times[said.id] == 1)
    return {place: said for place, said in found if place is not None and place not in answered}


class _Choosing:
    """One of several predictions for a mention: an error, or the best by its own score."""

    def __init__(self, duplicates: Duplicates, reading: LinkReading) -> None:
        self._duplicates, self._reading = duplicates, reading
        self.dropped = 0

    def one(self, several: list[PredictedLink], gold: GoldLink | None) -> PredictedLink:
        first, *others = several
        for said in others:
            self.dropped += 1
            fact = f"{quoted(str(said.key))} was predicted at {first.where} already"
            if self._duplicates == "best":
                self._reading.findings.add(Finding("duplicate_prediction", said.where, fact))
            else:
                self._reading.problems.append(
                    f"{said.where}: mention: {fact}; keep one, or the best"
                )
        best = max(several, key=_strength) if self._duplicates == "best" else first
        if gold is None or best.key.start is not None:
            return best
        return structs.replace(best, key=gold.key)


def _strength(said: PredictedLink) -> tuple[float, list[tuple[str, str]]]:
    """By the score of its first candidate, ties by id descending; what has no score is weakest."""
    score = said.candidates[0].score if said.candidates else None
    ids = [(one.id, one.kb) for one in said.candidates]
    return float("-inf") if score is None else score, ids


def _by_key(predicted: Sequence[PredictedLink]) -> list[list[PredictedLink]]:
    groups: dict[Any, list[PredictedLink]] = {}
    for said in predicted:
        groups.setdefault((said.document, said.key), []).append(said)
    return list(groups.values())


def _order(pair: MentionPair) -> tuple[Any, ...]:
    """Reading order; a mention of gold before one that was only predicted."""
    gold, said = pair
    key = gold.key if gold else said.key if said else None
    if key is None:
        return ()
    return key.start or 0, key.end or 0, key.doc, gold is None


def _ambiguous(said: PredictedLink, links: Sequence[GoldLink]) -> str:
    places = ", ".join(link.where for link in links[:3])
    fact = f"{quoted(said.mention)} is {len(links)} mentions of gold ({places})"
    return f"{said.where}: mention: {fact}; give each an id, or doc, start and end, in both files"


def _unknown(said: PredictedLink, gold: GoldLinks) -> Finding:
    if said.document is None or said.document in gold.documents:
        fact = f"{_called(said)} is no mention of gold"
        return Finding("unknown_mention", said.where, fact)
    fact = f"{quoted(said.document)} is no document of gold; its links are not scored"
    return Finding("unknown_document", said.where, fact)


def _span_differs(said: PredictedLink, link: GoldLink) -> Finding:
    there = f"{link.key.start}–{link.key.end} in gold"
    fact = f"{_called(said)} is {there}; joined by its id, {said.id}"
    return Finding("span_differs", said.where, fact)


def _missing(link: GoldLink) -> Finding:
    return Finding("missing_prediction", link.where, f"no prediction for {_called(link)}")


def _called(link: GoldLink | PredictedLink) -> str:
    return f"{quoted(link.mention)} ({link.key})" if link.mention else str(link.key)
