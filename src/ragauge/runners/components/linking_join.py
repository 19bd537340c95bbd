"""Gold mentions and predictions joined: on their place, else on id, else on words if unique."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from ragauge.contracts.links import NIL_KB, Candidate, GoldLink, GoldLinks, PredictedLink
from ragauge.contracts.options import TwiceLinked
from ragauge.contracts.report import Finding
from ragauge.errors import UsageError
from ragauge.ingest.annotated.entity_files import read_entities
from ragauge.ingest.annotated.entity_reading import Reading, ReadingOptions
from ragauge.ingest.annotated.hipe import is_hipe
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import STDIN, read_whole
from ragauge.ingest.linked.link_files import LinkReading
from ragauge.ingest.records import Row, refuse_columns
from ragauge.metrics.link_facts import MentionPair
from ragauge.runners.components.entity_join import by_order
from ragauge.runners.components.entity_sides import Marked, of_file
from ragauge.text.canonical import composed
from ragauge.text.kb_ids import is_nil

if TYPE_CHECKING:
    from ragauge.ingest.records import Source

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
    duplicates: TwiceLinked,
    reading: LinkReading,
) -> Joined:
    """Every gold mention with its prediction, and the predictions that belong to none.

    One in a document that gold knows is spurious there; one elsewhere is not scored. Words that
    several mentions share, and further predictions for one mention, are problems.
    """
    answers, elsewhere = _answers(gold, predicted, reading)
    spurious: dict[Any, list[PredictedLink]] = {}
    for said in elsewhere:
        if said.document is None or said.document in gold.documents:
            fact = f"{_called(said)} is no mention of gold"
            reading.findings.add(Finding("unknown_mention", said.where, fact))
        else:
            fact = f"{quoted(said.document)} is no document of gold; its links are not scored"
            reading.findings.add(Finding("unknown_document", said.where, fact))
        if said.document in gold.documents:
            spurious.setdefault((said.document, said.key), []).append(said)
    kept: dict[int, PredictedLink] = {}
    for place, several in answers.items():
        best = _chosen(several, duplicates, reading)
        key = gold.links[place].key
        kept[place] = best if best.key.start is not None else structs.replace(best, key=key)
    units: dict[str, list[MentionPair]] = {name: [] for name in gold.documents}
    alone = [_chosen(several, duplicates, reading) for several in spurious.values()]
    for place, link in enumerate(gold.links):
        units.setdefault(link.unit, []).append((link, kept.get(place)))
        if place not in kept:
            fact = f"no prediction for {_called(link)}"
            reading.findings.add(Finding("missing_prediction", link.where, fact))
    for said in alone:
        units[str(said.document)].append((None, said))
    return Joined(
        units={name: sorted(units[name], key=_order) for name in sorted(units)},
        missing=len(gold.links) - len(kept),
        unknown=len(elsewhere),
        duplicates=sum(len(some) - 1 for some in (*answers.values(), *spurious.values())),
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
            places = ", ".join(gold.links[place].where for place in found[:3])
            fact = f"{quoted(said.mention)} is {len(found)} mentions of gold ({places})"
            remedy = "give each an id, or doc, start and end, in both files"
            reading.problems.append(f"{said.where}: mention: {fact}; {remedy}")
        elif found:
            answers.setdefault(found[0], []).append(said)
        else:
            elsewhere.append(said)
    # What has the id of a mention that nothing answers yet, and another place. Only an id that each
    # side has once says so: where files number their mentions document by document, the same number
    # means nothing.
    times = Counter(said.id for said in predicted)
    by_id = ((search.of_id(said), said) for said in elsewhere if times[said.id] == 1)
    moved = {place: said for place, said in by_id if place is not None and place not in answers}
    for place, said in moved.items():
        answers[place] = [said]
        key = gold.links[place].key
        fact = f"{_called(said)} is {key.start}–{key.end} in gold; joined by its id, {said.id}"
        reading.findings.add(Finding("span_differs", said.where, fact))
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


def _chosen(
    several: Sequence[PredictedLink], duplicates: TwiceLinked, reading: LinkReading
) -> PredictedLink:
    """One of several predictions for a mention: the first, which is an error, or the best."""

    def strength(said: PredictedLink) -> tuple[float, list[tuple[str, str]]]:
        """The score of its first candidate, ties by id descending; none is the weakest."""
        score = said.candidates[0].score if said.candidates else None
        ids = [(one.id, one.kb) for one in said.candidates]
        return float("-inf") if score is None else score, ids

    first, *others = several
    for said in others:
        fact = f"{quoted(str(said.key))} was predicted at {first.where} already"
        if duplicates == "best":
            reading.findings.add(Finding("duplicate_prediction", said.where, fact))
        else:
            reading.problems.append(f"{said.where}: mention: {fact}; keep one, or the best")
    return max(several, key=strength) if duplicates == "best" else first


def _order(pair: MentionPair) -> tuple[Any, ...]:
    """Reading order; a mention of gold before one that was only predicted."""
    gold, said = pair
    key = gold.key if gold else said.key if said else None
    if key is None:
        return ()
    return key.start or 0, key.end or 0, key.doc, gold is None


def _called(link: GoldLink | PredictedLink) -> str:
    return f"{quoted(link.mention)} ({link.key})" if link.mention else str(link.key)


def hipe_links(
    gold: Source,
    predicted: Source,
    layer: str,
    reading: LinkReading,
    columns: dict[str, dict[str, str]],
) -> tuple[Source, Source, bool]:
    """The two sides, HIPE tables as records of linked documents; and whether gold is one.

    Of two tables the places count tokens, which must be the same; next to another format they
    count the characters of the text that the tokens make. Of a gold mention the first link counts.
    """
    known = _hipe_file(gold, layer, reading, split=False)
    said = _hipe_file(predicted, layer, reading, split=True)
    for name, source, file in (("gold", gold, known), ("predicted", predicted, said)):
        if file is not None:
            refuse_columns(source, "HIPE", columns[name])
    sides = [None if one is None else of_file(one) for one in (known, said)]
    if sides[0] is not None and sides[1] is not None:
        sides = list(by_order(sides[0], sides[1]))
        reading.problems.extend(_other_tokens(*sides))  # type: ignore[arg-type]
    for side in sides:
        for finding in side.findings if side else ():
            reading.findings.add(finding)
    in_tokens = None not in sides
    if known is not None and sides[0] is not None:
        gold = _records(known, sides[0], in_tokens, reading, is_gold=True)
    if said is not None and sides[1] is not None:
        predicted = _records(said, sides[1], in_tokens, reading, is_gold=False)
    return gold, predicted, known is not None


def _hipe_file(source: Source, layer: str, reading: LinkReading, *, split: bool) -> Reading | None:
    """The linked entities of a HIPE table; None where the source is none."""
    if not isinstance(source, str | Path) or str(source) == STDIN:
        return None
    if reading.input_format not in (None, "hipe"):
        return None
    if reading.input_format is None and not is_hipe(read_whole(str(source))):
        return None
    options = ReadingOptions(links=layer, split_links=split)
    return read_entities(source, options, problems=reading.problems, input_format="hipe")


def _other_tokens(gold: Marked, predicted: Marked) -> list[str]:
    """What is wrong with documents whose tokens are not those of gold."""

    def words(side: Marked, place: int) -> list[str]:
        text = side.texts[place] or ""
        return [text[start:end] for start, end in side.tokens[place] or ()]

    known = {id: place for place, id in enumerate(gold.ids)}
    problems = []
    for place, id in enumerate(predicted.ids):
        if id not in known:
            continue
        ours, theirs = words(gold, known[id]), words(predicted, place)
        unlike = [at for at, pair in enumerate(zip(ours, theirs, strict=False)) if len({*pair}) > 1]
        if len(ours) != len(theirs):
            fact = f"has {len(theirs):,} tokens in {quoted(id)}, and gold {len(ours):,}"
        elif unlike:
            at = unlike[0]
            fact = f"token {at + 1:,} of {quoted(id)} is {quoted(theirs[at])}, in gold "
            fact += quoted(ours[at])
        else:
            continue
        remedy = "links of HIPE tables are compared token by token"
        problems.append(f"{predicted.where(place)}: {fact}; {remedy}")
    return problems


def _records(
    file: Reading, side: Marked, in_tokens: bool, reading: LinkReading, *, is_gold: bool
) -> list[Row]:
    """A record for each document, with its linked entities."""
    entities = [entity for document in file.documents for entity in document.entities]
    found: list[Row] = [
        Row(
            side.where(place),
            {"doc_id": id, "entities": [], "strata": dict(side.strata[place])},
        )
        for place, id in enumerate(side.ids)
    ]
    columns = side.columns
    for row, doc in enumerate(columns.doc.tolist()):
        start, end = int(columns.start[row]), int(columns.end[row])
        mention = (side.texts[doc] or "")[start:end]
        if in_tokens:
            tokens = side.tokens[doc] or ()
            start, end = bisect_left(tokens, (start, 0)), bisect_left(tokens, (end, 0))
        links = entities[row].links
        entity = {"start": start, "end": end, "type": entities[row].type, "mention": mention}
        if links is not None and is_gold:
            # The first link, as the scorer takes it.
            first = next(iter(links), None)
            entity["gold"] = None if first is None or is_nil(first) else first
        elif links is not None:
            entity["candidates"] = list(links)
        found[doc].record["entities"].append(entity)
        if is_gold and links and len(links) > 1:
            fact = f"{quoted(mention)} has {len(links)} links in gold; only the first counts"
            reading.findings.add(Finding("gold_alternatives", side.where(doc), fact))
    return found


def only_kb(
    kb: str, gold: GoldLinks, predicted: Sequence[PredictedLink]
) -> tuple[GoldLinks, list[PredictedLink]]:
    """Both sides as one knowledge base has them.

    Gold without an id there is NIL. Of a prediction the candidates with an id there are kept; what
    has none left, and did not say NIL, is an answer that is wrong.
    """
    known = sorted({name for link in gold.links for name in link.ids})
    if kb not in known:
        there = ", ".join(known) or "none"
        raise UsageError(f'kb "{kb}": no gold mention has an id there; there are {there}')
    links = tuple(
        structs.replace(link, ids={kb: link.ids[kb]} if kb in link.ids else {})
        for link in gold.links
    )
    said = []
    for one in predicted:
        kept: list[Candidate] = []
        for candidate in one.candidates:
            there_ids = [id for name, id in candidate.ids if name == kb]
            if candidate.kb == NIL_KB:
                kept.append(candidate)
            elif there_ids:
                kept.append(Candidate(there_ids[0], kb, candidate.score, candidate.also))
        nil = one.nil if one.nil is not None or kept else False
        same = tuple(kept) == one.candidates
        said.append(one if same else structs.replace(one, candidates=tuple(kept), nil=nil))
    return structs.replace(gold, links=links), said
