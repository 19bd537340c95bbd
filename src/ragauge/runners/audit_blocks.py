"""A block of trace lines audited: the part of an audit that runs in many processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from ragauge.citations.deltas import CONTEXT, Deltas, deltas_of
from ragauge.citations.validator import CitationValidator, Policy
from ragauge.contracts.audit import OK, AuditedAnswer, CitationFinding, Kind
from ragauge.contracts.citation import Unit
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.gold import Gold
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.metric import Absent
from ragauge.contracts.report import PLACES_KEPT, ROWS_KEPT
from ragauge.contracts.serving_log import LogEntry
from ragauge.contracts.trace import Trace
from ragauge.ingest.strict_json import BadJson
from ragauge.ingest.traces import Auditable, BadLine, auditable_faults, decoded, read_auditable
from ragauge.metrics.sums import Rows
from ragauge.metrics.table import table
from ragauge.models.embedders import RememberedEmbedder, embedder
from ragauge.models.tokenizers import tokenizer_of
from ragauge.runners.audit_log import log_entries
from ragauge.runners.audit_unit import Piece
from ragauge.runners.auditing import Audited, Auditor
from ragauge.runners.blocks import Join, refuse_array
from ragauge.store.documents import FolderDocuments
from ragauge.text.visible import one_line

CITED_SHOWN = 10
EMBEDDED_AT_ONCE = 256
MESSAGE_SHOWN = 400

Read = tuple[int, Auditable, Gold | None]
"""A trace with its line and its gold question."""


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


class Noted(Struct, frozen=True):
    """A finding whose line number still counts from the block's beginning."""

    line: int
    code: str
    message: str
    qid: str | None = None
    finding: CitationFinding | None = None


class BlockAudit(Struct):
    """All that is known of a block; small, whatever the length of its texts."""

    name: str
    start: int
    size: int
    lines: int = 0
    filled: int = 0
    rejected: int = 0
    unknown: int = 0
    citations: int = 0
    keys: list[str] = []
    """The question of each trace: its gold qid, or what the trace itself calls it."""
    codes: list[str] = []
    """The worst code of each trace; that of an error record is its own."""
    found: list[tuple[str, ...]] = []
    """All codes of each trace, each once."""
    cited: list[tuple[str, ...]] = []
    """The first ids that each trace cites."""
    documents: set[tuple[str, str]] = field(default_factory=set)
    """What is cited of the frozen documents, as ids and revisions; none where there are none."""
    kinds: dict[Kind, int] = {}
    measured: dict[str, Rows] = {}
    wrong: list[tuple[int, AuditedAnswer]] = []
    """Answers with findings, by line."""
    right: list[tuple[int, AuditedAnswer]] = []
    notes: list[Noted] = []
    note_counts: dict[str, int] = {}
    code_answers: dict[str, int] = {}
    entries: list[LogEntry] = []
    problems: list[str] = field(default_factory=list)
    """What is wrong with the documents that were looked into."""
    unproven: list[str] = field(default_factory=list)
    """Documents that were taken for a revision nobody proved."""


class BlockAuditor:
    """Audits blocks under one set-up."""

    def __init__(self, setup: AuditSetup) -> None:
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
            RememberedEmbedder(embedder(setup.embedder)) if setup.embedder is not None else None
        )
        self._join = Join(setup.gold)
        self._metrics = [table()[id] for id in setup.metrics]

    def __call__(self, piece: Piece) -> BlockAudit:
        """The audit of every trace of the block, in order."""
        block = piece.block
        content = block.read()
        if block.start == 0:
            refuse_array(block.name, content)
        found = BlockAudit(block.name, block.start, block.size, lines=content.count(b"\n"))
        for _ in self.audit_lines(enumerate(content.split(b"\n"), 1), found, piece.unit):
            pass  # what is found is noted; to keep the answers themselves would cost their memory
        return found

    def audit_lines(
        self, lines: Iterable[tuple[int, bytes]], found: BlockAudit, unit: Unit | None = None
    ) -> Iterator[Audited]:
        """The audit of each line that holds a trace, noted in `found` as it is taken.

        Offsets have to be in the unit, where one is given.
        """
        auditor = self.auditor(unit)
        found.measured = {metric.id: Rows(len(metric.columns)) for metric in self._metrics}
        for (number, made, gold), deltas in self._measured(self._traces(lines, found), auditor):
            one = auditor.audited(made, gold, deltas, self._other_ranks(made, gold))
            self._add(number, one, gold, found)
            yield one
        found.problems = self._documents.problems if self._documents else []
        found.unproven = self._documents.unproven if self._documents else []

    def delta_s(self, made: Auditable, gold: Gold, auditor: Auditor) -> float | Absent:
        """ΔS of a question and the chunks of a trace, joined."""
        if self._embedder is None:
            return Absent("no embedder; name one with --embedder")
        [found] = deltas_of([auditor.asked(made, gold)], self._embedder)
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

    def _traces(self, lines: Iterable[tuple[int, bytes]], found: BlockAudit) -> Iterator[Read]:
        """Each trace; lines that hold none become notes."""
        for number, line in lines:
            if not line or line.isspace():
                continue
            found.filled += 1
            record: Any = None
            try:
                record = decoded(line)
                made = read_auditable(record, inline=self._setup.inline)
            except BadLine as fault:
                found.rejected += 1
                broken = isinstance(fault, BadJson)
                for message in [str(fault)] if broken else auditable_faults(record):
                    _note(found, Noted(number, "bad_line", message))
                continue
            yield number, made, self._gold(made, number, found)

    def _gold(self, made: Auditable, number: int, found: BlockAudit) -> Gold | None:
        if not self._setup.gold:
            return None
        place = self._join.place(made.trace)
        if place is not None:
            return self._setup.gold[place]
        found.unknown += 1
        _note(found, Noted(number, *self._join.stray(made.trace)), safe=True)
        return None

    def _measured(
        self, read: Iterator[Read], auditor: Auditor
    ) -> Iterator[tuple[Read, Deltas | None]]:
        """Each trace with its ΔS, where there is an embedder; some at a time are embedded."""
        if self._embedder is None:
            yield from zip(read, repeat(None))
            return
        while some := list(islice(read, EMBEDDED_AT_ONCE)):
            asked = [auditor.asked(made, gold) for _, made, gold in some]
            yield from zip(some, deltas_of(asked, self._embedder), strict=True)

    def _other_ranks(self, made: Auditable, gold: Gold | None) -> dict[str, int] | None:
        ranks = self._setup.ranks
        if ranks is None:
            return None
        run, question = made.trace.run_id or "", question_key(made.trace, gold)
        return ranks.get(run, ranks.get(question, {}))

    def _add(self, number: int, one: Audited, gold: Gold | None, found: BlockAudit) -> None:
        trace, audit = one.made.trace, one.examined.audit
        key = question_key(trace, gold)
        found.keys.append(key)
        found.codes.append("error_record" if one.failure else audit.code)
        codes = dict.fromkeys(finding.code for finding in one.findings)
        found.found.append(tuple(codes))
        found.cited.append(one.examined.ids[:CITED_SHOWN])
        if self._documents is not None:
            found.documents.update((cited.doc_id, cited.rev) for cited in one.examined.cited)
        found.kinds[audit.kind] = found.kinds.get(audit.kind, 0) + 1
        found.citations += len(one.examined.ids)
        for metric in self._metrics:
            found.measured[metric.id].append(metric(one.facts))
        if one.failure:
            _note(found, Noted(number, "error_record", one.failure, qid=key))
        for finding in one.findings:
            _note(found, Noted(number, finding.code, "", key, finding))
        for code in codes:
            found.code_answers[code] = found.code_answers.get(code, 0) + 1
        if one.failure:
            return
        kept = found.right if audit.code == OK else found.wrong
        if len(kept) < ROWS_KEPT:
            kept.append((number, _row(key, one)))
        if self._setup.logged_at:
            found.entries += log_entries(key, one, self._setup.logged_at)


def question_key(trace: Trace, gold: Gold | None) -> str:
    """What a trace's question is called: its gold qid, or what the trace itself calls it."""
    return gold.qid if gold else trace.qid or trace.q or ""


def _row(qid: str, one: Audited) -> AuditedAnswer:
    facts = one.facts
    known = facts.target and facts.retrieved_target is not None
    return AuditedAnswer(
        qid=qid,
        where="",
        code=facts.code,
        kind=facts.kind,
        cited=one.examined.ids[:CITED_SHOWN],
        findings=len(one.findings),
        matched=facts.matched,
        coverage=(facts.retrieved_target or 0) / (facts.target or 1) if known else None,
        deltaS=facts.deltaS,
    )


def _note(found: BlockAudit, noted: Noted, *, safe: bool = False) -> None:
    times = found.note_counts.get(noted.code, 0)
    found.note_counts[noted.code] = times + 1
    if times < PLACES_KEPT:
        # A message holds foreign text, which may be long or play tricks on a terminal.
        shown = noted.message if safe else one_line(noted.message, MESSAGE_SHOWN)
        found.notes.append(structs.replace(noted, message=shown))
