"""One answer: its text compared with the reference, its citations, its support, its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ragauge.citations.codes import explained
from ragauge.citations.offsets import Place
from ragauge.contracts.answers import Context
from ragauge.contracts.audit import OK, CitationFinding
from ragauge.contracts.evaluation import EvidenceText
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.trace import Trace
from ragauge.dashboard import parts
from ragauge.dashboard.pages.question_report import kind_of, verdict
from ragauge.dashboard.pages.question_trace import (
    LONGEST_TEXT,
    MOST_CITATIONS,
    Chunk,
    Cited,
    Mark,
    Named,
    ReadAnswer,
    answer_text,
    chunks_of,
    citations_of,
    marked,
    read_answer,
    retrieved_by,
    span_words,
    web_address,
    words,
)
from ragauge.dashboard.rendering import drawn
from ragauge.dashboard.unit_list import SHORT, Ways
from ragauge.metrics.facts import Reader
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.differences import MOST_MARKED, MOST_WORK, differences, spans
from ragauge.reports.document import (
    Block,
    Cell,
    Column,
    Facts,
    Html,
    Item,
    Row,
    Section,
    Span,
    Text,
    Words,
)
from ragauge.reports.foreign import cut, flat
from ragauge.reports.kinds.evaluation_answers import checked_sentence, marked_words, quoted
from ragauge.text.canonical import composed
from ragauge.text.citations import list_spans
from ragauge.text.grounding import groundedness
from ragauge.text.grounding.markers import cited_in

LONGEST_ANSWER = 50_000
"""Characters of an answer that are shown."""
LONGEST_CHECKED, MOST_TEXT = 10_000, 100_000
"""Characters of an answer, and of what was retrieved for it, that are compared for one page."""
MOST_LINKS = 500
"""Citations in a text that become links."""
MOST_FINDINGS = 100
AROUND, BESIDE, PREVIEW = 80, 60, 120
NO_TEXT = "The chunks have no text, so support cannot be checked."
NOTHING_RETRIEVED = "The trace does not say what was retrieved."
TOO_LONG = "The answer, or what was retrieved for it, is too long to be compared on a page."
SUPPORT = (
    "Compared with the chunks by words, numbers and names, not by a judge: a paraphrase counts as "
    "not supported. Words that are in no chunk are marked; below each sentence is the evidence."
)
TOKENS = {
    "prompt_tokens": "tokens in",
    "input_tokens": "tokens in",
    "completion_tokens": "tokens out",
    "output_tokens": "tokens out",
    "total_tokens": "tokens in total",
    "cost": "cost",
    "cost_usd": "cost in USD",
}
"""What systems call what an answer used."""


class ShownAnswer(Struct, frozen=True, kw_only=True):
    """An answer as it is read for a page."""

    kept: KeptAnswer
    read: ReadAnswer
    text: str
    plain: str
    """The text with its citations blanked, so that they count for nothing and places stay."""
    chunks: list[Chunk]
    cited: list[Cited]
    prefix: str
    """What ids begin with, where a page has two answers."""

    @property
    def trace(self) -> Trace:
        return self.kept.trace


def shown_answer(
    kept: KeptAnswer, gold: Gold | None, reader: Reader, prefix: str = ""
) -> ShownAnswer:
    read, text = read_answer(reader, gold, kept.trace), answer_text(kept.trace)[:LONGEST_ANSWER]
    # A claim in a reply of JSON is what a reader wants to see, also where it was respelled.
    is_packed = text.lstrip().startswith(("{", "```")) or read.said not in text
    if read.kind != "error" and read.said and is_packed:
        text = read.said
    chunks = chunks_of(kept.trace, gold.gold_citations if gold else ())
    return ShownAnswer(
        kept=kept,
        read=read,
        text=text,
        plain=cited_in(text, [one.id for one in chunks if one.id is not None]).plain,
        chunks=chunks,
        cited=citations_of(kept.trace, chunks),
        prefix=prefix,
    )


def text_block(text: Any, marks: Sequence[Mark] = ()) -> Html:
    """Somebody else's text, with what is marked and linked in it."""
    return parts.macro("text", marked(text, marks), template="question.html")


def compared(ours: str, theirs: str) -> tuple[list[Mark], list[Mark]]:
    """What only one of two texts has, marked; nothing in a text of which nearly all differs."""
    found: tuple[list[Mark], list[Mark]] = ([], [])
    if not theirs or len(ours) * len(theirs) > MOST_WORK:
        return found
    sides = (differences(ours, theirs), differences(theirs, ours))
    for pieces, marks in zip(sides, found, strict=True):
        at, differing = 0, 0
        for piece, differs in pieces:
            if differs and piece.strip():
                marks.append(Mark(Place(at, at + len(piece)), "differs"))
                differing += len(piece)
            at += len(piece)
        if differing > MOST_MARKED * at:
            marks.clear()
    return found


def answer(one: ShownAnswer, gold: Gold | None, ways: Ways, against: str) -> Iterator[Block]:
    """The text, what it cites, and what it took; `against` is the text it is compared with."""
    trace, read = one.trace, one.read
    if read.kind == "error":
        yield Text([Span("Failed: ", "bad"), *doc.theirs(read.said)])
    elif read.kind == "refusal":
        yield Text([Span("Refused", "strong")])
    if one.text:
        marks: list[Mark] = []
        at = 0
        for piece, is_phrase in marked_words(one.text, gold.sought) if gold else ():
            marks += [Mark(Place(at, at + len(piece)), "good")] if is_phrase else []
            at += len(piece)
        marks += [*compared(one.plain, against)[0], *links_of(one)]
        yield text_block(one.text, marks)
    facts = [*_citations(one, gold, ways)]
    if read.kind == "answer" and not one.cited:
        facts.append(("citations", "none"))
    if len(one.cited) == MOST_CITATIONS:
        facts.append(("", f"Only the first {MOST_CITATIONS} citations are shown."))
    if read.facts.contained is not None:
        found = "contained" if read.facts.contained else "not contained"
        facts.append(("expected phrase", found))
    if trace.latency_ms is not None:
        digits = 0 if trace.latency_ms >= 10 else 2
        facts.append(("latency", f"{trace.latency_ms:,.{digits}f} ms"))
    for name, value in (trace.usage or {}).items():
        if name in TOKENS and type(value) in (int, float):
            facts.append((TOKENS[name], f"{value:,}"))
    yield Facts(facts)
    if trace.segments:
        points = []
        for place, segment in enumerate(trace.segments):
            ids = ", ".join(each.id or "no id" for each in one.cited if each.segment == place)
            said = Span(f"{words(segment.get('text'))} ", foreign=True)
            points.append([said, Span(f"[{ids or 'no citation'}]", "soft", foreign=True)])
        title = f"Citations by segment: {len(points)}"
        yield Section(title=title, folded=True, blocks=[doc.Points(points)])
    sent = (trace.answer or "")[:LONGEST_ANSWER]
    if sent.strip() != one.text.strip():
        yield Section(title="The reply as it was sent", folded=True, blocks=[text_block(sent)])
    fields = ("run_id", "seed", "temperature", "jitter", "paraphrase", "repeat", "attempt", "ts")
    made: list[tuple[str, Any]] = [("line", one.kept.where), ("question sent", trace.question_sent)]
    made += [(name.replace("_", " "), getattr(trace, name)) for name in fields]
    made += [(f"{name} ms", took) for name, took in (trace.stage_ms or {}).items()]
    known = [(name, doc.theirs(words(value))) for name, value in made if value is not None]
    if known:
        yield Section(title="How it was made", folded=True, blocks=[Facts(known)])


def links_of(one: ShownAnswer) -> Iterator[Mark]:
    """Where the text names a retrieved chunk, by a marker or in its list."""
    named = Named(one.trace)
    for marker in named.markers(one.text)[:MOST_LINKS]:
        place = next(filter(None, map(named.place, marker.names)), None)
        if place is not None:
            yield Mark(Place(marker.start, marker.end), to=f"{one.prefix}chunk-{place}")
    longest_first = sorted(named.ids, key=lambda name: (-len(name), name))[:MOST_LINKS]
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    for start, end in list_spans(one.text) if longest_first else ():
        for match in pattern.finditer(one.text, start, end):
            place = named.place(match[0])
            yield Mark(Place(*match.span()), to=f"{one.prefix}chunk-{place}")


def _citations(one: ShownAnswer, gold: Gold | None, ways: Ways) -> list[tuple[str, Words]]:
    """The cited ids, each once, by what is known of them; then the ones that should be cited."""
    expected = gold.gold_citations if gold and one.read.kind == "answer" else ()
    needed = set(map(composed, expected))
    is_known = one.trace.retrieved is not None or one.trace.retrieved_ids is not None
    by_id: dict[str, list[Cited]] = {}
    for each in one.cited:
        by_id.setdefault("no id" if each.id is None else each.id, []).append(each)
    groups: dict[str, list[Span]] = {}
    for id, ones in by_id.items():
        is_gold = composed(id) in needed
        label = "cites, gold" if is_gold else "cites, not gold" if needed else "cites"
        if ones[0].chunk is None and is_known:
            label = "cites, not retrieved"
        place = f"{one.prefix}chunk-{ones[0].chunk}"
        group = groups.setdefault(label, [])
        group += [Span(", ")] if group else []
        to: doc.Target | None = ("here", place) if ones[0].chunk else None
        group.append(Span(cut(id, SHORT), "good" if is_gold else "", foreign=True, to=to))
        # Each span that the id is cited with, once; those that the answer wrote, where it did.
        written = [each for each in ones if each.is_written] or ones
        spread = {each.offsets: each for each in reversed(written)}
        placed = [each for each in spread.values() if each.offsets] or written[:1]
        for each in [] if one.prefix else reversed(placed):
            if href := ways.document(each.doc_id, each.rev, each.offsets):
                span = f" at {each.offsets.start}–{each.offsets.end}" if each.offsets else ""
                group += [Span(" ("), Span(f"document{span}", href=href), Span(")")]
            group += [Span(f" {each.both}", "warm")] if each.both else []
    absent = [id for id in expected if composed(id) not in set(map(composed, by_id))]
    if absent:
        groups["does not cite, gold"] = [Span(", ".join(absent), foreign=True)]
    return list(groups.items())


def support(
    one: ShownAnswer, question: str | None, run: Run, row: UnitRow, report: Any
) -> tuple[list[Block], dict[int, list[Mark]]]:
    """Each sentence with its evidence, and the marks of the evidence by the place of its chunk."""
    marks: dict[int, list[Mark]] = {}
    if one.read.kind != "answer":
        return [], marks
    contexts = [Context(str(each.place), each.text) for each in one.chunks if each.text is not None]
    long = len(one.text) > LONGEST_CHECKED or sum(len(each.text) for each in contexts) > MOST_TEXT
    reason = NO_TEXT if not contexts else TOO_LONG if long else ""
    reason = reason if one.chunks else NOTHING_RETRIEVED
    kind = kind_of(run, row.unit, report)
    found = None if reason else groundedness(one.plain, contexts, question, kind=kind)
    is_cut = len(retrieved_by(one.trace)) > len(one.chunks)
    is_cut = is_cut or any(len(each.text) >= LONGEST_TEXT for each in contexts)
    chunks = {str(each.place): each for each in one.chunks}
    rows = []
    for sentence in found.sentences if found else ():
        shown, closest = None, Cell("")
        if given := sentence.evidence:
            chunk, start, end = chunks[given.chunk], given.start, given.end
            text, place = chunk.text or "", f"{one.prefix}evidence-{chunk.place}-{start}"
            mark = Mark(Place(start, end), "evidence", id=place)
            marks.setdefault(chunk.place, []).append(mark)
            id = chunk.id or f"chunk {chunk.place}"
            around = (text[max(0, start - AROUND) : start], text[end : end + AROUND])
            shown = EvidenceText(chunk=id, before=around[0], text=text[start:end], after=around[1])
            closest = Cell(cut(id, SHORT), id, foreign=True, to=("here", place))
        said = one.text[sentence.start : sentence.end]
        checked = checked_sentence(sentence, said)
        level = f"{checked.level.words} {checked.value}".strip()
        cells = (
            Cell(level, sentence.score, badge=checked.level.badge),
            Cell(said, said, drawn=drawn("marked", checked.pieces)),
            closest,
        )
        note = spans(quoted(shown, BESIDE)) if shown else doc.theirs(sentence.reason)
        rows.append(Row(cells, note))
    columns = [Column("support"), Column("sentence", prose=True), Column("closest chunk", spare=1)]
    table = doc.Table(columns=columns, rows=rows, below=False, name=None)
    reason = reason or (found.reason if found else "") or NO_TEXT
    blocks = [
        Text(verdict(run, row, found, is_cut=is_cut)),
        table if rows else Text(reason, "soft"),
    ]
    title = "Support, sentence by sentence"
    return [parts.section(title, *blocks, remark=SUPPORT if rows else "")], marks


def retrieved(one: ShownAnswer, marks: Mapping[int, list[Mark]], ways: Ways) -> Iterator[Block]:
    """The chunks by rank, those that are cited or gold opened; evidence is marked in their text."""
    cited = {each.chunk for each in one.cited}
    if not one.chunks:
        known = one.trace.retrieved is not None or one.trace.retrieved_ids is not None
        yield Text("Nothing was retrieved." if known else NOTHING_RETRIEVED, "soft")
        return
    left_out = len(retrieved_by(one.trace)) - len(one.chunks)
    more = f"{numbers.count(left_out)} more are not shown" if left_out else ""
    items = [_item(each, each.place in cited, marks.get(each.place, ()), ways, one.prefix)
             for each in one.chunks]  # fmt: skip
    remark = doc.listed(numbers.counted(len(items), "chunk"), "the best first", more)
    yield doc.Items(items=items, remark=remark, part="chunks")
    if not one.prefix:
        scores = list(dict.fromkeys(name for each in one.chunks for name in each.scores))
        heads = ("rank", "k_pos", "k_final", "id", "doc_id", "rev", "start", "end", "gold", "cited")
        rows = [
            (
                *(each.rank, each.k_pos, each.k_final, each.id, each.doc_id, each.rev),
                *((each.offsets.start, each.offsets.end) if each.offsets else (None, None)),
                *(each.gold, each.place in cited),
                *(_score(each.scores.get(name))[1] for name in scores),
            )
            for each in one.chunks
        ]
        yield doc.Data("chunks", (*heads, *scores), lambda: rows)


def _item(one: Chunk, is_cited: bool, marks: Sequence[Mark], ways: Ways, prefix: str) -> Item:
    opened = is_cited or one.gold
    label = doc.listed(one.gold and "gold", is_cited and "cited")
    href = "" if prefix else ways.document(one.doc_id, one.rev, one.offsets) or ""
    place = doc.listed(
        span_words(one.offsets) if one.offsets else "no offsets", one.rev and f"revision {one.rev}"
    )
    moved = 0 if one.k_final is None or one.k_pos is None else one.k_pos - one.rank
    before = f"{one.k_pos} before reranking ({'up' if moved > 0 else 'down'} {abs(moved)})"
    scores = ", ".join(f"{name} {_score(value)[0]}" for name, value in one.scores.items())
    document = [Span(one.doc_id, foreign=True, href=href), Span(": ")] if one.doc_id else []
    source = Span(words(one.source), foreign=True, href=web_address(one.source) or "")
    facts: list[tuple[str, Words]] = [
        ("document", [*document, *doc.theirs(place)]),
        ("rank", before if moved else ""),
        ("scores", doc.theirs(scores)),
        ("source", [source] if source.text else ""),
    ]
    blocks: list[Block] = [Facts(facts)]
    blocks.append(text_block(one.text, marks) if one.text else Text("It has no text.", "soft"))
    if one.fields:
        fields = [(name, doc.theirs(value)) for name, value in one.fields.items()]
        blocks.append(Section(title="Other fields", folded=True, blocks=[Facts(fields)]))
    return Item(
        name=cut(one.id or "without an id", SHORT),
        badge=("ok" if one.gold else "other", label, "") if label else ("", "", ""),
        about="" if opened else cut(flat(one.text or ""), PREVIEW),
        aside=f"rank {one.rank}",
        blocks=blocks,
        opened=opened,
        anchor=f"{prefix}chunk-{one.place}",
    )


def _score(value: Any) -> tuple[str, float | str | None]:
    """A score as it is shown, and as the trace has it."""
    if type(value) in (int, float) and abs(value) < 1e300:
        return f"{value:.6g}", value
    return words(value), None if value is None else words(value)


def findings(one: ShownAnswer, ways: Ways) -> Iterator[Block]:
    """What an audit found in the answer: each finding with its place and what to do."""
    kept = one.kept
    placed: dict[tuple[int | None, int | None], Cited]
    placed = {(each.segment, each.item): each for each in one.cited if each.item is not None}

    def words_of(found: CitationFinding) -> list[Span]:
        entry, each = explained(found.code), placed.get((found.segment, found.item))
        href = ways.document(each.doc_id, each.rev, each.offsets) if each else None
        at = [f"segments[{found.segment}]"] if found.segment is not None else []
        at += [f"citations[{found.item}]"] if found.item is not None else []
        at += [found.field] if found.field else []
        said = doc.listed(
            entry.means.rstrip(".") if entry else "",
            found.got is not None and f"Got {words(found.got)}",
            found.expected is not None and f"Expected {words(found.expected)}",
            found.tip or (entry.tip if entry else ""),
            sep=". ",
        )
        return [
            *(Span(found.code, "strong"), Span(f" {'.'.join(at)} ", "soft", foreign=True)),
            *doc.theirs(said),
            *([Span(" "), Span("Open the document", href=href)] if href else []),
        ]

    points = [words_of(found) for found in kept.findings[:MOST_FINDINGS]]
    left_out = len(kept.findings) - MOST_FINDINGS
    if not points and kept.code is not None:
        nothing = "No problem was found at the depth of this audit."
        points = [[Span(nothing if kept.code == OK else f"Worst code: {kept.code}", foreign=True)]]
    if points:
        remark = f"{numbers.count(left_out)} more are not shown" if left_out > 0 else ""
        yield parts.section("Audit findings", doc.Points(points), remark=remark)
