"""Blocks of trace lines audited, the part of an audit that runs in many processes, and gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, field, structs

from ragauge.citations.codes import CODES, message_of, rank_of
from ragauge.citations.deltas import CONTEXT, Deltas, deltas_of
from ragauge.citations.payload import as_mapping, read_fields
from ragauge.citations.validator import CitationValidator, Policy
from ragauge.contracts.audit import OK, AuditedAnswer, AuditFinding, Kind
from ragauge.contracts.citation import Unit
from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.gold import Gold
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.report import ROWS_KEPT
from ragauge.contracts.serving_log import LogEntry
from ragauge.contracts.trace import Trace
from ragauge.engines.local import ordered
from ragauge.ingest.lines import BadJson, Block
from ragauge.ingest.traces import (
    Auditable,
    BadLine,
    Traces,
    auditable_faults,
    audited_trace,
    blocks_of,
    decoded,
    read_auditable,
)
from ragauge.metrics.quality import NO_ANSWER
from ragauge.metrics.sums import Rows, Sums
from ragauge.metrics.table import table
from ragauge.models.embedders import embedder
from ragauge.models.endpoint_embedder import CachingEmbedder
from ragauge.models.tokenizers import tokenizer_of
from ragauge.runners.audit_log import log_entries
from ragauge.runners.auditing import Audited, Auditor
from ragauge.runners.observations import (
    CITED_SHOWN,
    Answers,
    BlockLines,
    Gathered,
    Note,
    Observing,
)
from ragauge.store.documents import FolderDocuments
from ragauge.text.canonical import composed

EMBEDDED_AT_ONCE = 256
UNANSWERED = "traceability.unanswered"
_PLACE_SIGNS = (b"offsets", b'"tokens')
"""What a line with a place in it holds, in whatever field or text it stands."""

Read = tuple[int, Auditable, int | None]
"""A trace with the number of its line and the place of its gold question."""
Piece = tuple[Block, Unit | None]
"""A block with the unit of offsets that the run has by then; None where there is nothing to mix."""


def in_one_unit(work: Iterable[Block]) -> Iterator[Piece]:
    """Each block, with the unit of the first payload of the run; read on until there is one."""
    unit: Unit | None = None
    for block in work:
        unit = unit or unit_in(block.read())
        yield block, unit


def unit_in(content: bytes) -> Unit | None:
    """The unit of the first offsets in lines of traces; None where there are none."""
    for line in content.split(b"\n") if any(sign in content for sign in _PLACE_SIGNS) else ():
        if any(sign in line for sign in _PLACE_SIGNS):
            try:
                unit = unit_of(read_auditable(decoded(line)))
            except BadLine:
                continue
            if unit:
                return unit
    return None


def unit_of(made: Auditable) -> Unit | None:
    """The unit of the first offsets that a trace has."""
    answer = made.answer
    cited = chain(answer.citations or (), *(segment.citations for segment in answer.segments))
    for payload in chain(made.retrieved or (), cited):
        offsets: Any = None
        if as_mapping(payload) is not None:
            offsets = read_fields(payload).fields.get("offsets")
        if offsets is not None:
            unit: Unit = offsets.unit
            return unit
    return None


def observing(
    gold: Sequence[Gold], *, inline: bool = False, whole: bool = False
) -> Observing[Auditable]:
    """Reads lines as audits do: what is amiss in lists of citations is theirs to find.

    With `whole`, traces have all that their lines tell, for whoever keeps them.
    """

    def read(line: bytes) -> Auditable:
        record = decoded(line)
        made = read_auditable(record, inline=inline)
        return structs.replace(made, trace=audited_trace(record, made)) if whole else made

    def faults(line: bytes, fault: Exception) -> list[str]:
        return [str(fault)] if isinstance(fault, BadJson) else auditable_faults(decoded(line))

    return Observing(gold, read, faults)


class AuditSetup(Struct, frozen=True, kw_only=True):
    """All a process needs to audit: plain values, so that it can cross to another one."""

    policy: Policy
    """Without a tokenizer: that is made where it is used."""
    manifest: Manifest | None = None
    docs: str | None = None
    tokenizer: str | None = None
    embedder: str | None = None
    gold: list[Gold] = []
    inline: bool = False
    metrics: tuple[str, ...] = ()
    ranks: dict[str, dict[str, int]] | None = None
    """The ranks of retrieved chunks in other traces, by run id and by question; None without."""
    logged_at: datetime | None = None
    """Make log entries, with this time where a trace has none."""


class BlockAudit(BlockLines):
    """All that is known of a block; small, whatever the length of its texts."""

    citations: int = 0
    keys: list[str] = field(default_factory=list)
    """The question of each trace: its gold qid, or what the trace itself calls it."""
    codes: list[str] = field(default_factory=list)
    """The worst code of each trace; that of an error record is its own."""
    found: list[tuple[str, ...]] = field(default_factory=list)
    """All codes of each trace, each once."""
    cited: list[tuple[str, ...]] = field(default_factory=list)
    """The first ids that each trace cites."""
    documents: set[tuple[str, str]] = field(default_factory=set)
    """What is cited of the frozen documents, as ids and revisions; none where there are none."""
    kinds: dict[Kind, int] = field(default_factory=dict)
    measured: dict[str, Rows] = field(default_factory=dict)
    wrong: list[tuple[int, AuditedAnswer]] = field(default_factory=list)
    """Answers with findings, by line."""
    right: list[tuple[int, AuditedAnswer]] = field(default_factory=list)
    code_answers: dict[str, int] = field(default_factory=dict)
    entries: list[LogEntry] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """What is wrong with the documents that were looked into."""
    unproven: list[str] = field(default_factory=list)
    """Documents that were taken for a revision nobody proved."""


class BlockAuditor:
    """Audits blocks under one set-up."""

    def __init__(self, setup: AuditSetup, *, whole: bool = False) -> None:
        self._setup = setup
        self._documents = (
            FolderDocuments(Path(setup.docs), setup.manifest) if setup.docs is not None else None
        )
        policy = setup.policy
        if setup.tokenizer is not None:
            reading = structs.replace(policy.offsets, tokenizer=tokenizer_of(setup.tokenizer))
            policy = structs.replace(policy, offsets=reading)
        self._policy = policy
        self._auditors: dict[Unit | None, Auditor] = {}
        self._embedder: Embedder | None = (
            CachingEmbedder(embedder(setup.embedder)) if setup.embedder is not None else None
        )
        self._observing = observing(setup.gold, inline=setup.inline, whole=whole)
        self._metrics = [table()[id] for id in setup.metrics]

    def __call__(self, piece: Piece) -> BlockAudit:
        """The audit of every trace of the block, in order."""
        block, unit = piece
        found = BlockAudit(block.name, block.start, block.size)
        for _ in self.lines(found.read(block), found, unit):
            pass  # what is found is noted; to keep the answers themselves would cost their memory
        return found

    def lines(
        self, lines: Iterable[tuple[int, bytes]], found: BlockAudit, unit: Unit | None = None
    ) -> Iterator[tuple[int, Audited]]:
        """The audit of each line that holds a trace, noted in `found` as it is taken.

        Offsets have to be in the unit, where one is given.
        """
        return self.audited(self._observing.read(lines, found), found, unit)

    def audited(
        self, observed: Iterable[Read], found: BlockAudit, unit: Unit | None
    ) -> Iterator[tuple[int, Audited]]:
        """The same of traces that were read before."""
        auditor, setup = self.auditor(unit), self._setup
        found.measured = {metric.id: Rows(len(metric.columns)) for metric in self._metrics}
        for (number, made, place), deltas in self._embedded(iter(observed), auditor):
            gold = None if place is None else setup.gold[place]
            key, ranks = question_key(made.trace, gold), None
            if setup.ranks is not None:
                ranks = setup.ranks.get(made.trace.run_id or "", setup.ranks.get(key, {}))
            one = auditor.audited(made, gold, deltas, ranks)
            self._add(number, key, one, found)
            yield number, one
        found.problems = self._documents.problems if self._documents else []
        found.unproven = self._documents.unproven if self._documents else []

    def delta_s(self, made: Auditable, gold: Gold, auditor: Auditor) -> float | Absent:
        """ΔS of a question and the chunks of a trace, joined."""
        if self._embedder is None:
            return Absent("no embedder; name one with --embedder")
        [found] = deltas_of([auditor.delta_inputs(made, gold)], self._embedder)
        value = found.values.get(CONTEXT)
        return Absent(found.why[CONTEXT]) if value is None else value

    def auditor(self, unit: Unit | None) -> Auditor:
        """What audits offsets in a unit."""
        if unit not in self._auditors:
            policy = structs.replace(self._policy, unit=unit or self._policy.unit)
            manifest, documents = self._setup.manifest, self._documents
            validator = CitationValidator(manifest, policy, documents)
            self._auditors[unit] = Auditor(validator, manifest, documents)
        return self._auditors[unit]

    def _embedded(
        self, read: Iterator[Read], auditor: Auditor
    ) -> Iterator[tuple[Read, Deltas | None]]:
        """Each trace with its ΔS, where there is an embedder; some at a time are embedded."""
        if self._embedder is None:
            yield from zip(read, repeat(None))
            return
        gold = self._setup.gold
        while some := list(islice(read, EMBEDDED_AT_ONCE)):
            asked = [
                auditor.delta_inputs(made, None if place is None else gold[place])
                for _, made, place in some
            ]
            yield from zip(some, deltas_of(asked, self._embedder), strict=True)

    def _add(self, number: int, key: str, one: Audited, found: BlockAudit) -> None:
        audit, facts = one.examined.audit, one.facts
        cited = one.examined.ids[:CITED_SHOWN]
        found.keys.append(key)
        found.codes.append(one.code)
        codes = tuple(dict.fromkeys(finding.code for finding in one.findings))
        found.found.append(codes)
        found.cited.append(cited)
        if self._documents is not None:
            found.documents.update((cited.doc_id, cited.rev) for cited in one.examined.cited)
        found.kinds[audit.kind] = found.kinds.get(audit.kind, 0) + 1
        found.citations += len(one.examined.ids)
        for metric in self._metrics:
            found.measured[metric.id].append(metric(facts))
        if one.failure:
            found.note("error_record", number, one.failure, key)
        for finding in one.findings:
            found.note(finding.code, number, "", key, finding)
        for code in codes:
            found.code_answers[code] = found.code_answers.get(code, 0) + 1
        if one.failure:
            return
        kept = found.right if audit.code == OK else found.wrong
        if len(kept) < ROWS_KEPT:
            known = facts.target and facts.retrieved_target is not None
            row = AuditedAnswer(
                qid=key,
                where="",
                code=facts.code,
                kind=facts.kind,
                cited=cited,
                findings=len(one.findings),
                matched=facts.matched,
                coverage=(facts.retrieved_target or 0) / (facts.target or 1) if known else None,
                deltaS=facts.deltaS,
            )
            kept.append((number, row))
        if self._setup.logged_at:
            found.entries += log_entries(key, one, self._setup.logged_at)


def question_key(trace: Trace, gold: Gold | None) -> str:
    """What a trace's question is called: its gold qid, or what the trace itself calls it."""
    return gold.qid if gold else trace.qid or trace.q or ""


class AuditSums(Gathered):
    """What an audit knows while it reads: grows with the questions, not with the traces."""

    def __init__(self, metrics: tuple[Metric, ...], questions: Iterable[str] = ()) -> None:
        super().__init__()
        self.questions = {qid: place for place, qid in enumerate(questions)}
        """The place of each question, those of the gold set first."""
        self.traces = self.citations = 0
        self.kinds: Counter[str] = Counter()
        self.code_answers: Counter[str] = Counter()
        self.problems: dict[str, None] = {}
        self.unproven: dict[str, None] = {}
        self._wrong: list[AuditedAnswer] = []
        self._right: list[AuditedAnswer] = []
        self._sums = {metric.id: Sums.zero(metric, len(self.questions)) for metric in metrics}
        self._traces_of: Counter[int] = Counter()
        self._codes: dict[int, str] = {}
        self._all_codes: dict[int, tuple[str, ...]] = {}
        self._cited: dict[int, tuple[str, ...]] = {}
        self.documents: set[tuple[str, str]] = set()
        """The frozen documents that are cited, by id and revision."""

    def add(self, block: BlockAudit) -> None:
        """Take a block in; blocks come in the order of the files."""
        places = [self.questions.setdefault(key, len(self.questions)) for key in block.keys]
        self._traces_of.update(places)
        for place, code in zip(places, block.codes, strict=True):
            self._codes[place] = min(self._codes.get(place, code), code, key=_rank)
        for place, codes in zip(places, block.found, strict=True):
            known = self._all_codes.get(place, ())
            if not set(codes) <= set(known):
                self._all_codes[place] = tuple(sorted({*known, *codes}, key=_rank))
        self._cited |= dict(zip(places, block.cited, strict=True))
        self.documents |= block.documents
        question = np.array(places, dtype=np.int64)
        for id, sums in self._sums.items():
            sums.add(block.measured[id].sums(sums.metric), question)
        self.traces += len(block.keys)
        self.citations += block.citations
        self.kinds.update(block.kinds)
        self.code_answers.update(block.code_answers)
        self.problems |= dict.fromkeys(block.problems)
        self.unproven |= dict.fromkeys(block.unproven)
        for kept, rows in ((self._wrong, block.wrong), (self._right, block.right)):
            for line, row in rows[: ROWS_KEPT - len(kept)]:
                kept.append(structs.replace(row, where=self.where(block, line)))
        self.take(block)

    def finding(self, note: Note, where: str) -> AuditFinding:
        found = note.finding
        if found is None:
            return AuditFinding(note.code, where, note.message, qid=note.qid)
        return AuditFinding(
            found.code,
            where,
            message_of(found),
            qid=note.qid,
            field=found.field,
            item=found.item,
            segment=found.segment,
            got=found.got,
            expected=found.expected,
            tip=found.tip,
        )

    def sums(self) -> dict[str, Sums]:
        """Each metric's sums by question; a question nobody answered has no value."""
        n = len(self.questions)
        untraced = np.array([at for at in range(n) if not self._traces_of[at]], dtype=np.int64)
        found = {}
        for id, sums in self._sums.items():
            # That nobody answered is all that this metric counts.
            row = Row((1, 1)) if id == UNANSWERED else NO_ANSWER
            missing = Sums.zero(sums.metric, n)
            missing.add(Sums.of(sums.metric, [row] * len(untraced)), untraced)
            found[id] = sums.first(n) + missing
        return found

    def answers(self) -> tuple[AuditedAnswer, ...]:
        """The answers that went wrong, then the others, as many as a report holds."""
        return tuple([*self._wrong, *self._right][:ROWS_KEPT])

    def labels(self) -> list[str | None]:
        """The worst code of each question; None where nobody answered it."""
        return [self._codes.get(place) for place in range(len(self.questions))]

    def details(self) -> dict[str, list[tuple[str, ...]]]:
        """By question: all codes of its answers, the worst first, and what the last one cites."""
        places = range(len(self.questions))
        return {
            "codes": [self._all_codes.get(place, ()) for place in places],
            "cited": [self._cited.get(place, ()) for place in places],
        }

    def traced(self, qid: str) -> bool:
        return self._traces_of[self.questions[qid]] > 0


def _rank(code: str) -> tuple[int, int, str]:
    """Codes by how bad they are; a trace without an answer is worse, and one that holds best."""
    if code == "error_record":
        return -1, 0, ""
    return (len(CODES), 0, "") if code == OK else rank_of(code)


def audited_answers(setup: AuditSetup, traces: Sequence[Traces], workers: int) -> Answers | None:
    """What gives every audited answer; None where a source cannot be read twice."""
    again = all(source.again for source in traces)
    return partial(_answers, setup, traces, workers) if again else None


def _answers(
    setup: AuditSetup, traces: Sequence[Traces], workers: int
) -> Iterator[tuple[str, KeptAnswer]]:
    work = in_one_unit(blocks_of(traces))
    files = Gathered()
    for found, answers in ordered(KeepingAuditor, (setup,), work, workers):
        for number, unit, answer in answers:
            yield unit, structs.replace(answer, where=files.where(found, number))
        files.take(found)


class KeepingAuditor:
    """Audits lines once more, to keep them beside what is found; nothing is measured."""

    def __init__(self, setup: AuditSetup) -> None:
        bare = structs.replace(setup, metrics=(), embedder=None, ranks=None, logged_at=None)
        self._auditor = BlockAuditor(bare, whole=True)

    def __call__(self, piece: Piece) -> tuple[BlockLines, list[tuple[int, str, KeptAnswer]]]:
        """How many lines a block has, and its answers by line and unit."""
        block, unit = piece
        found = BlockLines(block.name, block.start)
        return found, list(self.kept(found.read(block), unit))

    def kept(
        self, lines: Iterable[tuple[int, bytes]], unit: Unit | None
    ) -> Iterator[tuple[int, str, KeptAnswer]]:
        """The answer of each line that holds a trace, with its line and its unit."""
        found = BlockAudit("")
        for number, one in self._auditor.lines(lines, found, unit):
            answer = KeptAnswer(trace=one.made.trace, code=one.code, findings=one.findings)
            yield number, found.keys[-1], answer


def cited_documents(
    docs: str, manifest: Manifest | None, cited: Iterable[tuple[str, str]], gold: Sequence[Gold]
) -> Iterator[FrozenDocument]:
    """The documents of a folder that answers cite or the gold set points into, ordered by id."""
    revs = {composed(id): rev for id, rev in (manifest.doc_revs if manifest else {}).items()}
    marked = {
        (span.doc_id, span.rev or revs.get(composed(span.doc_id), ""))
        for question in gold
        for span in (question.anchor, question.target_section, question.decoy)
        if span is not None
    }
    documents = FolderDocuments(Path(docs), manifest)
    for doc_id, rev in sorted({*cited, *marked}):
        found = documents.find(doc_id, rev)
        if found is not None:
            yield found
