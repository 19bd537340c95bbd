"""The answers to a question: one in full, the others of its run, and those of other runs."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragauge.citations.codes import explain
from ragauge.citations.offsets import Place
from ragauge.contracts.answers import ANSWER_KINDS, AnswerKind, Context, Groundedness
from ragauge.contracts.audit import OK, CitationFinding
from ragauge.contracts.evaluation import AnswerDetail, EvalAllReport, EvalReport, EvidenceText
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import spent
from ragauge.contracts.paging import UnitInRun
from ragauge.contracts.run import FACTORS
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard import parts
from ragauge.dashboard.page import run_names
from ragauge.dashboard.pages.question_trace import (
    LONGEST_ANSWER,
    LONGEST_TEXT,
    MOST_CITATIONS,
    Answer,
    Chunk,
    span_words,
    web_address,
    words,
)
from ragauge.dashboard.parts import Mark, draw_macro
from ragauge.dashboard.unit_list import SHORT, QuestionLinks, correct_means
from ragauge.dashboard.unit_list import outcome as outcome_of
from ragauge.grounding import groundedness
from ragauge.grounding.markers import cited_in
from ragauge.ingest.written_lists import TEXTS
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Card, Cell, Column, Facts, Inline, Section, Span, Text
from ragauge.reports.figures.heat_map import cell_class, cell_meaning, level
from ragauge.reports.kinds.evaluation_answers import checked_sentence
from ragauge.reports.kinds.runs import when
from ragauge.reports.kinds.trace_eval import OUTCOMES
from ragauge.reports.kinds.trace_eval import outcome as traced_outcome
from ragauge.text.canonical import composed
from ragauge.text.citations import list_spans
from ragauge.text.marks import MOST_MARKED, MOST_WORK, Differing, differences, marked_words, quoted
from ragauge.text.visible import cut, flat

LONGEST_CHECKED, MOST_TEXT = 10_000, 100_000
"""Characters of an answer, and of what was retrieved for it, that are compared for one page."""
MOST_LINKS = 500
"""Citations in a text that become links."""
MOST_FINDINGS = 100
MOST_CHUNKS, MOST_FIELDS = 200, 24
"""Chunks of an answer, and fields of a payload, that are shown."""
AROUND, BESIDE, PREVIEW = 80, 60, 120
SHOWN_APART = ("k_pos", "k_final", "source_url", "offsets", "snippet_id", "doc_id", "rev")
"""Fields of a payload with a place of their own."""
NO_TEXT = "The chunks have no text, so support cannot be checked."
NOTHING_RETRIEVED = "The trace does not say what was retrieved."
TOO_LONG = "The answer, or what was retrieved for it, is too long to be compared on a page."
SUPPORT = (
    "Compared with the chunks by words, numbers and names, not by a judge: a paraphrase counts as "
    "not supported. Words that are in no chunk are marked; below each sentence is the evidence."
)
VALUE, GROUNDED = "answers.groundedness", "answers.grounded"
NEAR = 1e-6
"""Scores that differ by less are rounded differently."""
CUT = f"Only the first chunks, and {LONGEST_TEXT:,} characters of each, are compared here."
OTHERWISE = "The value computed here differs, so the sentences may not be what the run measured."

MOST_CARDS = 50
NAMED, WORDINGS = 50, 3
"""Runs and wordings of a card that are shown; the download has all."""
LAST = 20
"""Runs that are shown."""
UNKNOWN_ENDS = {
    "answer": ("", "none", "answered"),
    "refusal": ("", "refused", "refused"),
    "error": ("", "failed", "failed"),
}
"""How an answer is drawn of which nobody says whether it is correct."""
Outcome = tuple[str, str, str]
"""How an answer ended: its mark, the class that draws it, and in words."""


def plain(one: Answer) -> str:
    """The text with its citations blanked, so that they count for nothing and places stay."""
    return cited_in(one.text, one.ids).plain


def by_rank(one: Answer) -> list[Chunk]:
    """The first chunks by final rank, else by the rank before reranking, else as listed."""

    def order(chunk: Chunk) -> tuple[float, ...]:
        ranks = (chunk.k_final, chunk.k_pos, chunk.place)
        return tuple(math.inf if rank is None else rank for rank in ranks)

    return sorted(one.chunks, key=order)[:MOST_CHUNKS]


def _marks(pieces: Iterable[tuple[str, bool]], kind: str) -> list[Mark]:
    """The pieces of a text that are marked, without the spaces around them."""
    marks, at = [], 0
    for piece, is_marked in pieces:
        if is_marked and (inside := piece.strip()):
            start = at + piece.index(inside)
            marks.append(Mark(Place(start, start + len(inside)), kind))
        at += len(piece)
    return marks


def compared(ours: str, theirs: str) -> list[Mark]:
    """What another text does not have; nothing where that is nearly all."""
    if not theirs or len(ours) * len(theirs) > MOST_WORK:
        return []
    marks = _marks(differences(ours, theirs), "differs")
    differing = sum(mark.place.end - mark.place.start for mark in marks)
    return [] if differing > MOST_MARKED * len(ours) else marks


def answer(
    one: Answer, gold: Gold | None, question_links: QuestionLinks, against: str
) -> Iterator[Block]:
    """The text, what it cites, and what it took; `against` is the text it is compared with."""
    trace = one.trace
    if one.kind == "error":
        yield Text([Span("Failed: ", "bad"), *doc.foreign(one.said)])
    elif one.kind == "refusal":
        yield Text([Span("Refused", "strong")])
    if one.text:
        marks = _marks(marked_words(one.text, gold.sought), "good") if gold else []
        marks += [*compared(plain(one), against), *links_of(one)]
        yield parts.text(one.text, marks)
    facts = [*_citations(one, gold, question_links)]
    if one.kind == "answer" and not one.cited:
        facts.append(("citations", "none"))
    if len(one.cited) == MOST_CITATIONS:
        facts.append(("", f"Only the first {MOST_CITATIONS} citations are shown."))
    if one.facts.contained is not None:
        found = "contained" if one.facts.contained else "not contained"
        facts.append(("expected phrase", found))
    took = spent(trace)
    if (latency := took.get("latency_ms")) is not None:
        facts.append(("latency", f"{latency:,.{0 if latency >= 10 else 2}f} ms"))
    facts += [(name, f"{took[name]:,g}") for name in ("tokens", "cost") if name in took]
    yield Facts(facts)
    if trace.segments:
        points = []
        for place, segment in enumerate(trace.segments):
            ids = ", ".join(each.id or "no id" for each in one.cited if each.segment == place)
            said = Span(f"{words(segment.get('text'))} ", foreign=True)
            points.append(("", [said, Span(f"[{ids or 'no citation'}]", "soft", foreign=True)]))
        title = f"Citations by segment: {len(points)}"
        yield Section(title=title, folded=True, blocks=[Facts(points)])
    sent = (trace.answer or "")[:LONGEST_ANSWER]
    if sent.strip() != one.text.strip():
        yield Section(title="The reply as it was sent", folded=True, blocks=[parts.text(sent)])
    fields = ("run_id", "seed", "temperature", "jitter", "paraphrase", "repeat", "attempt", "ts")
    made: list[tuple[str, Any]] = [("line", one.kept.where), ("question sent", trace.question_sent)]
    made += [(name.replace("_", " "), getattr(trace, name)) for name in fields]
    made += [(f"{name} ms", took) for name, took in (trace.stage_ms or {}).items()]
    known = [(name, doc.foreign(words(value))) for name, value in made if value is not None]
    if known:
        yield Section(title="How it was made", folded=True, blocks=[Facts(known)])


def links_of(one: Answer) -> Iterator[Mark]:
    """Where the text names a retrieved chunk, by a marker or in its list."""
    longest_first = sorted(one.ids, key=lambda name: (-len(name), name))[:MOST_LINKS]
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    named = [(Place(*each[:2]), each.names) for each in one.markers(one.text)[:MOST_LINKS]]
    for start, end in list_spans(one.text) if longest_first else ():
        found = pattern.finditer(one.text, start, end)
        named += [(Place(*each.span()), (each[0],)) for each in found]
    for place, names in named:
        if chunk := next(filter(None, map(one.chunk, names)), None):
            yield Mark(place, to=f"{one.prefix}chunk-{chunk.place}")


def _citations(
    one: Answer, gold: Gold | None, question_links: QuestionLinks
) -> list[tuple[str, Inline]]:
    """The cited ids with each of their spans, by what is known of them; then those that lack."""
    expected = gold.gold_citations if gold and one.kind == "answer" else ()
    needed = set(map(composed, expected))
    groups: dict[str, list[Span]] = {}
    for each in {(each.id, each.offsets): each for each in one.pointing}.values():
        id, chunk, own, known = each.id or "no id", each.chunk, each.offsets, each.known
        is_gold = composed(id) in needed
        label = "cites, gold" if is_gold else "cites, not gold" if needed else "cites"
        label = "cites, not retrieved" if chunk is None and one.says_retrieved else label
        group = groups.setdefault(label, [])
        group += [Span(", ")] if group else []
        to: doc.Target | None = ("here", f"{one.prefix}chunk-{chunk.place}") if chunk else None
        group.append(Span(cut(id, SHORT), "good" if is_gold else "", foreign=True, to=to))
        href = "" if one.prefix else question_links.document(each.doc_id, each.rev, own)
        if href:
            place = f"document at {own.start}–{own.end}" if own else "document"
            group += [Span(" ("), Span(place, href=href), Span(")")]
        if own and known and own != known:
            both = f" cites {span_words(own)}, the chunk has {known.start}–{known.end}"
            group.append(Span(both, "warm"))
    cited = {composed(each.id or "") for each in one.cited}
    if absent := [id for id in expected if composed(id) not in cited]:
        groups["does not cite, gold"] = [Span(", ".join(absent), foreign=True)]
    return list(groups.items())


def of_its_task(report: Any, unit: str) -> tuple[Any, str]:
    """Of a report on several tasks the one that the unit belongs to, and its id there."""
    if not isinstance(report, EvalAllReport):
        return report, unit
    task, _, id = unit.partition("/")
    return report.tasks.get(task), id


def kind_of(run: Run, unit: str, report: Any) -> AnswerKind | None:
    """What kind of text the run took the answer for; None where that is seen from the answer."""
    # Of a run of several tasks the options are those of the unit's own.
    identity: Any = run.record.identity
    tasks = identity.get("tasks")
    task = tasks.get(unit.partition("/")[0]) if isinstance(tasks, dict) else None
    options = (task if isinstance(task, dict) else identity).get("options")
    given = options.get("kind") if isinstance(options, dict) else None
    own, id = of_its_task(report, unit)
    if isinstance(own, EvalReport) and isinstance(own.detail, AnswerDetail):
        # A row may name its own kind.
        given = given or next((one.kind for one in own.detail.answers if one.id == id), None)
    return next((kind for kind in ANSWER_KINDS if kind == given), None)


def verdict(run: Run, row: UnitRow, found: Groundedness | None, *, is_cut: bool) -> str:
    """The groundedness that the run recorded; where it did not measure it, the one found here."""
    recorded = row.values.get(VALUE)
    grounded = row.values[GROUNDED] == 1 if GROUNDED in row.values else None
    note = CUT if is_cut else ""
    if recorded is not None:
        here = found.value if found else recorded
        note = note or ("" if here is not None and abs(here - recorded) <= NEAR else OTHERWISE)
        source, value = "Groundedness in the run", recorded
    elif found and found.value is not None and not note and VALUE not in run.record.metrics:
        source, value, grounded = "Groundedness", found.value, found.grounded
    else:
        return note
    word = "" if grounded is None else ", grounded" if grounded else ", not grounded"
    return f"{source}: {phrasing.value(value)}{word}. {note}".strip()


def support(
    one: Answer, question: str | None, run: Run, row: UnitRow, report: Any
) -> tuple[list[Block], dict[int, list[Mark]]]:
    """Each sentence with its evidence, and the marks of the evidence by the place of its chunk."""
    marks: dict[int, list[Mark]] = {}
    if one.kind != "answer":
        return [], marks
    ranked = by_rank(one)
    contexts = [Context(str(each.place), each.text) for each in ranked if each.text is not None]
    long = len(one.text) > LONGEST_CHECKED or sum(len(each.text) for each in contexts) > MOST_TEXT
    reason = NO_TEXT if not contexts else TOO_LONG if long else ""
    reason = reason if one.chunks else NOTHING_RETRIEVED
    kind = kind_of(run, row.unit, report)
    found = None if reason else groundedness(plain(one), contexts, question, kind=kind)
    is_cut = len(ranked) < len(one.chunks)
    is_cut = is_cut or any(len(each.text) >= LONGEST_TEXT for each in contexts)
    chunks = {str(each.place): each for each in ranked}
    rows = []
    for sentence in found.sentences if found else ():
        said = one.text[sentence.start : sentence.end]
        checked = checked_sentence(sentence, said)
        note: Inline = doc.foreign(sentence.reason)
        if given := sentence.evidence:
            chunk, start, end = chunks[given.chunk], given.start, given.end
            text, place = chunk.text or "", f"{one.prefix}evidence-{chunk.place}-{start}"
            mark = Mark(Place(start, end), "evidence", id=place)
            marks.setdefault(chunk.place, []).append(mark)
            id = chunk.id or f"chunk {chunk.place}"
            around = (text[max(0, start - AROUND) : start], text[end : end + AROUND])
            shown = EvidenceText(chunk=id, before=around[0], text=text[start:end], after=around[1])
            link = Span(cut(id, SHORT), foreign=True, to=("here", place))
            note = [link, Span(": "), *doc.marked(quoted(shown, BESIDE))]
        level = f"{checked.level.words} {checked.value}".strip()
        cells = (
            Cell(level, sentence.score, badge=checked.level.badge),
            Cell(said, said, drawn=draw_macro("marked", checked.pieces)),
        )
        rows.append(doc.Row(cells, note))
    columns = [Column("support"), Column("sentence", prose=True)]
    table = doc.Table(columns=columns, rows=rows, below=False, name=None)
    reason = reason or (found.reason if found else "") or NO_TEXT
    blocks = [verdict(run, row, found, is_cut=is_cut), "" if rows else reason]
    texts = [Text(one, "soft") for one in blocks if one]
    title, remark = "Support, sentence by sentence", SUPPORT if rows else ""
    return [parts.section(title, *texts, rows and table, remark=remark)], marks


def retrieved(
    one: Answer, marks: Mapping[int, list[Mark]], question_links: QuestionLinks
) -> Iterator[Block]:
    """The chunks by rank, those that are cited or gold opened; evidence is marked in their text."""
    if not one.chunks:
        yield Text("Nothing was retrieved." if one.says_retrieved else NOTHING_RETRIEVED, "soft")
        return
    ranked, cited = by_rank(one), {each.chunk.place for each in one.cited if each.chunk}
    left_out = len(one.chunks) - len(ranked)
    more = f"{phrasing.count(left_out)} more are not shown" if left_out else ""
    remark = doc.listed(phrasing.pluralize(len(ranked), "chunk"), "the best first", more)
    yield doc.Items(
        items=[
            _item(
                each,
                marks.get(each.place, ()),
                question_links,
                one.prefix,
                is_cited=each.place in cited,
            )
            for each in ranked
        ],
        remark=remark,
        part="chunks",
    )
    if not one.prefix:
        names = list(dict.fromkeys(name for each in ranked for name in _scores(each)))
        heads = ("rank", "k_pos", "k_final", "id", "doc_id", "rev", "start", "end", "gold", "cited")
        rows = [
            (
                *(each.rank, each.k_pos, each.k_final, each.id, each.doc_id, each.rev),
                *((each.offsets.start, each.offsets.end) if each.offsets else (None, None)),
                *(each.gold, each.place in cited),
                *(_scores(each).get(name) for name in names),
            )
            for each in ranked
        ]
        yield doc.Data("chunks", (*heads, *names), lambda: rows)


def _scores(one: Chunk) -> dict[str, float | str]:
    """What the payload calls a score; as a text where it is no usable number."""
    given = {name: value for name, value in one.payload.items() if "score" in name.lower()}
    return {
        name: value if type(value) in (int, float) and abs(value) < 1e300 else words(value)
        for name, value in given.items()
        if value is not None
    }


def _item(
    one: Chunk, marks: Sequence[Mark], question_links: QuestionLinks, prefix: str, *, is_cited: bool
) -> doc.Item:
    opened, scores = is_cited or one.gold, _scores(one)
    label = doc.listed(one.gold and "gold", is_cited and "cited")
    href = "" if prefix else question_links.document(one.doc_id, one.rev, one.offsets) or ""
    place = span_words(one.offsets) if one.offsets else "no offsets"
    place = doc.listed(place, one.rev and f"revision {one.rev}")
    moved = 0 if one.k_final is None or one.k_pos is None else one.k_pos - one.rank
    before = f"{one.k_pos} before reranking ({'up' if moved > 0 else 'down'} {abs(moved)})"
    document = [Span(one.doc_id, foreign=True, href=href), Span(": ")] if one.doc_id else []
    shown = (f"{name} {each if isinstance(each, str) else f'{each:.6g}'}"
             for name, each in scores.items())  # fmt: skip
    source = one.payload.get("source_url")
    link = [Span(words(source), foreign=True, href=web_address(source))] if source else ""
    apart = {*SHOWN_APART, *TEXTS, *scores}
    rest = [(name, words(value)) for name, value in one.payload.items() if name not in apart]
    facts: list[tuple[str, Inline]] = [
        ("document", [*document, *doc.foreign(place)]),
        ("rank", before if moved else ""),
        ("scores", doc.foreign(", ".join(shown))),
        ("source", link),
    ]
    blocks: list[Block] = [Facts(facts)]
    blocks.append(parts.text(one.text, marks) if one.text else Text("It has no text.", "soft"))
    if rest:
        fields = Facts([(name, doc.foreign(value)) for name, value in rest[:MOST_FIELDS]])
        blocks.append(Section(title="Other fields", folded=True, blocks=[fields]))
    return doc.Item(
        name=cut(one.id or "without an id", SHORT),
        badge=("ok" if one.gold else "other", label, "") if label else ("", "", ""),
        about="" if opened else cut(flat(one.text or ""), PREVIEW),
        aside=f"rank {one.rank}",
        blocks=blocks,
        opened=opened,
        anchor=f"{prefix}chunk-{one.place}",
    )


def findings(one: Answer) -> Iterator[Block]:
    """What an audit found in the answer: each finding with its place and what to do."""

    def words_of(found: CitationFinding) -> Inline:
        entry = explain(found.code)
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
        place = Span(f" {'.'.join(at)} ", "soft", foreign=True)
        return [Span(found.code, "strong"), place, *doc.foreign(said)]

    kept = one.kept
    points = [words_of(found) for found in kept.findings[:MOST_FINDINGS]]
    left_out = len(kept.findings) - MOST_FINDINGS
    if not points and kept.code is not None:
        nothing = "No problem was found at the depth of this audit."
        points = [doc.foreign(nothing if kept.code == OK else f"Worst code: {kept.code}")]
    if points:
        remark = f"{phrasing.count(left_out)} more are not shown" if left_out > 0 else ""
        yield parts.section("Audit findings", Facts([("", one) for one in points]), remark=remark)


class PlacedAnswer(NamedTuple):
    """One answer among the others."""

    place: int
    answer: Answer
    varied: str
    outcome: Outcome

    @property
    def alike(self) -> tuple[str, str, tuple[str, ...]]:
        return self.outcome[2], self.answer.said, self.answer.cited_ids


def grouped(
    answers: Sequence[Answer], outcomes: Mapping[str, Outcome] = {}
) -> list[list[PlacedAnswer]]:
    """Answers that are the same together, the commonest outcome first, then the commonest answer.

    `outcomes` are those of a trace evaluation, by run id.
    """
    traces = [one.trace for one in answers]
    factors = [name for name in FACTORS if len({getattr(one, name) for one in traces}) > 1]
    groups: dict[tuple[str, str, tuple[str, ...]], list[PlacedAnswer]] = {}
    for place, one in enumerate(answers):
        kept, varied = one.kept, (f"{name} {level(getattr(one.trace, name))}" for name in factors)
        ended = UNKNOWN_ENDS[one.kind]
        if kept.cell:
            ended = (kept.cell, cell_class(kept.cell), cell_meaning(kept.cell))
        elif kept.code not in (None, OK):
            ended = ("✗", "both", str(kept.code))
        elif kept.code == OK and one.kind == "answer":
            ended = ("✓", "right", "its citations hold")
        ended = outcomes.get(one.trace.run_id or "", ended)
        name = ", ".join(varied) or kept.where or f"answer {place + 1}"
        among = PlacedAnswer(place, one, name, ended)
        groups.setdefault(among.alike, []).append(among)
    counts = Counter(one.outcome[2] for group in groups.values() for one in group)

    def order(group: list[PlacedAnswer]) -> tuple[int, str, int, int]:
        ended = group[0].outcome[2]
        return -counts[ended], ended, -len(group), group[0].place

    return sorted(groups.values(), key=order)


def side_by_side(
    groups: Sequence[Sequence[PlacedAnswer]],
    question_links: QuestionLinks,
    chosen: int | None,
    title: str,
) -> Section:
    """A card for each different answer, compared with the commonest; the download has all runs."""
    common, differing = groups[0][0].answer, Differing()

    def differing_in(text: str, other: str) -> Inline:
        whole = [Span("differs: ", "soft")] if differing.differs_entirely(text, other) else []
        return [*whole, *doc.marked(differing(text, other))]

    def card(group: Sequence[PlacedAnswer]) -> Card:
        _, first, _, (mark, kind, ended) = group[0]
        sent = list(dict.fromkeys(one.answer.sent for one in group))[:WORDINGS]
        cited = [(id, id not in common.cited_ids) for id in first.cited_ids]
        lacks = ", ".join(id for id in common.cited_ids if id not in first.cited_ids)
        named = [
            Span(varied, "strong", foreign=True)
            if place == chosen
            else Span(
                varied, foreign=True, href=question_links.answer(one.trace.run_id, place) or ""
            )
            for place, one, varied, _ in group[:NAMED]
        ]
        left_out = f"; {len(group) - NAMED:,} more" if len(group) > NAMED else ""
        facts: list[tuple[str, Inline]] = [
            *(("question", differing_in(text, common.sent)) for text in sent),
            ("error" if first.kind == "error" else "answer", differing_in(first.said, common.said)),
            ("cites", doc.marked(cited, ", ") or "nothing"),
            ("does not cite", doc.foreign(lacks)),
            ("runs", [*doc.joined(named, "; "), Span(left_out)]),
        ]
        times = Span(f" {phrasing.pluralize(len(group), 'run')}", "soft")
        return Card([*doc.foreign(ended), times], facts, (mark, kind))

    cards = [card(group) for group in groups[:MOST_CARDS]]
    runs = sorted((one for group in groups for one in group), key=lambda one: one.place)
    counts = Counter((one.outcome[0], one.outcome[2]) for one in runs)
    ended = (f"{doc.listed(*one, sep=' ')}: {times:,}" for one, times in counts.most_common())
    more, unmarked = len(groups) - len(cards), differing.unmarked
    notes = doc.listed(
        f"{phrasing.pluralize(more, 'other answer')} only in the download" if more > 0 else "",
        f"{phrasing.pluralize(unmarked, 'text')} too long to compare" if unmarked else "",
    )
    heads = ("run_id", "varied", "outcome", "question", "answer", "cited", "latency_ms")
    rows = [
        (one.trace.run_id, varied, ended[2], one.sent, one.said, " ".join(one.cited_ids),
         one.trace.latency_ms)
        for _, one, varied, ended in runs
    ]  # fmt: skip
    return parts.section(
        title,
        *(Text(doc.foreign("; ".join(ended))), doc.Cards(cards), Text(notes, "soft")),
        doc.Data("runs", heads, lambda: rows),
        anchor="side-by-side",
        remark="Equal answers share a card; differences from the most frequent one are marked",
    )


def traced_outcomes(report: Any, unit: str) -> dict[str, Outcome]:
    """By run id, how each run of the question ended; empty where the report does not keep it."""
    found = {}
    for one in report.questions if isinstance(report, TraceEvalReport) else ():
        refused = ", though the question has an answer" if one.answerable else ", as it should"
        for run in one.runs if one.qid == unit else ():
            mark, kind, words = OUTCOMES[name := traced_outcome(run)]
            more = {"refusal": refused, "code": f": {run.code}"}.get(name, "")
            found[run.run_id] = (mark, kind, words + more)
    return found


def over_runs(
    over: Sequence[UnitInRun], question_links: QuestionLinks, claim: str
) -> Iterator[Block]:
    """Each run a row, the newest first, compared with what is claimed in this one."""
    differing, gold = Differing(), question_links.run.record.gold_sha256
    of = "with the same gold set" if gold else "of the same command and name"
    if len(over) < 2:
        yield Section(
            title="Over runs", blocks=[Text(f"No other recorded run {of} has it.", "soft")]
        )
        return

    def is_here(one: UnitInRun) -> bool:
        return one.run.id == question_links.run.id

    def name(one: UnitInRun) -> Cell:
        shown = f"{one.run.record.name} this run" if is_here(one) else run_names(one.run)
        href = None if is_here(one) else question_links.in_run(one.run.id)
        return Cell(
            shown, one.run.id, drawn=draw_macro("named", href, shown, one.run.record.command)
        )

    def ended(one: UnitInRun) -> Cell:
        text, badge, _ = outcome_of(one.row)
        return Cell(text, badge=badge, foreign=True)

    def claimed(one: UnitInRun) -> Cell:
        said = claim_of(one.row)
        pieces = differing(said, claim or said)
        entirely = differing.differs_entirely(said, claim or said)
        return Cell(said, said, drawn=draw_macro("marked", pieces, entirely))

    def cited(one: UnitInRun) -> Cell:
        ids = one.row.detail.get("cited")
        return doc.names(" ".join(map(str, ids)) if isinstance(ids, list | tuple) else "")

    def compared(one: UnitInRun) -> Cell:
        href = "" if is_here(one) else question_links.compared_with(one.run.shown) or ""
        return Cell("compare" if href else "", href=href)

    def recorded(one: UnitInRun) -> Cell:
        return Cell(when(one.run.record.recorded_at), one.run.record.recorded_at)

    commands = dict.fromkeys(one.run.record.command for one in over)
    means = "; ".join(f"{command}: {correct_means(command)}" for command in commands)
    remark = f"the last {phrasing.pluralize(len(over), 'run')} {of}; words that this run's answer "
    yield doc.table(
        over,
        {
            "run": name,
            Column("recorded (UTC)", spare=1, key="recorded_at"): recorded,
            "outcome": ended,
            Column("answer", prose=True): claimed,
            Column("cited", spare=2): cited,
            "": compared,
        },
        title="Over runs",
        remark=f"{remark}does not have are marked. Correct means, by command: {means}",
        chosen=is_here,
        below=False,
        name="history",
    )


def claim_of(row: UnitRow) -> str:
    """What the answer claims, as the row keeps it; the error where it failed."""
    given = (row.detail.get(name) for name in ("claim", "error"))
    return next((one for one in given if isinstance(one, str) and one), "")
