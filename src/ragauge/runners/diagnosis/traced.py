"""Material from traces and their gold set: scored, audited, and looked at one by one."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from ragauge import __version__
from ragauge.contracts.answers import Context
from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.gold import Gold, GoldSet, RefusalOptions, fingerprint
from ragauge.contracts.options import AuditOptions, ScoreOptions, StabilityOptions
from ragauge.contracts.report import Outcome
from ragauge.contracts.trace import Trace
from ragauge.diagnosis.cases import Material, ObservedTrace
from ragauge.diagnosis.features import features, needed_ranks
from ragauge.diagnosis.traced_case import traced_cases
from ragauge.engines.local import Progress, no_progress
from ragauge.ingest.fields import allowed_bad
from ragauge.ingest.lines import Block
from ragauge.ingest.records import Source
from ragauge.ingest.traces import (
    Auditable,
    decoded,
    faults_of,
    read_auditable,
    read_trace,
    traces_of,
)
from ragauge.metrics.facts import Key, Parsed, Reader, Reading, run_facts, variation_of
from ragauge.metrics.table import reading, table
from ragauge.runners.audit import Auditing
from ragauge.runners.audit_blocks import BlockAudit, BlockAuditor, unit_of
from ragauge.runners.auditing import Audited, Payloads
from ragauge.runners.diagnosis.recorded import Values, measured_by, strata_of, values_of
from ragauge.runners.diagnosis.scored import LexicalClaims, address_counts
from ragauge.runners.observations import BlockLines, Observations, Observing
from ragauge.runners.score import BlockScorer, BlockScores, Scoring
from ragauge.runners.stability import StabilityRun
from ragauge.text.canonical import composed

PRESET = "ship"


class TraceInputs(RefusalOptions, frozen=True, kw_only=True):
    """What traces are held against."""

    manifest: str | None = None
    docs: str | None = None
    inline: bool = False
    max_bad: str = "0"
    lexical: bool = True


def read_full(line: bytes, *, inline: bool = False) -> Auditable:
    """What an audit reads of a line, with all that its trace tells."""
    record = decoded(line)
    return read_auditable(record, inline=inline, trace=read_trace(record))


class TracesInMemory(Observations):
    """The traces themselves, in memory, for a command that looks at each several times."""

    def __init__(self, gold: Sequence[Gold], traces: Source, *, inline: bool) -> None:
        self.read: list[tuple[int, Auditable, int | None]] = []
        """All traces, in the order of the lines, those of no gold question among them."""

        def faults(line: bytes, fault: Exception) -> list[str]:
            return faults_of(line, fault) or [str(fault)]

        self._whole = Observing(gold, partial(read_full, inline=inline), faults)
        super().__init__(gold, traces)

    def _index(self, name: str, block: Block) -> None:
        found = BlockLines(name, block.start)
        for number, made, place in self._whole.read(found.read(block), found):
            if place is not None:
                self._places.append(place)
                self._at.append(len(self.read))
            self.read.append((self.number(found, number), made, place))
        self.take(found)

    def numbers(self, place: int) -> list[int]:
        """Which of all traces are the question's."""
        return [self._at[one] for one in self._of(place)]

    def traces(self, place: int) -> list[Trace]:
        return [self.read[one][1].trace for one in self.numbers(place)]


class OnceReader(Reader):
    """Reads the facts of each trace once; the traces are held by whoever asks."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._known: dict[int, Parsed] = {}

    def read(self, key: Key, trace: Trace) -> Parsed:
        found = self._known.get(id(trace))
        if found is None:
            found = self._known[id(trace)] = super().read(key, trace)
        return found


def traced_material(
    traces: Source, gold: GoldSet, how: TraceInputs, progress: Progress = no_progress
) -> tuple[Material, list[list[ObservedTrace]]]:
    """The material of trace files or the journal of a sweep, and the runs of each question.

    The traces are read once; their score, their stability and their audit are of the same pass.
    Raises UsageError or InputRejected with everything that is wrong.
    """
    how = how.settled(gold.metadata)
    shared: dict[str, Any] = {
        "refusal": how.refusal,
        "refusal_tokens": how.refusal_tokens,
        "inline": how.inline,
        "max_bad": how.max_bad,
    }
    sources = traces_of(traces)
    reader = OnceReader(Reading("unicode", how.strength, how.tokens, how.inline))
    held = TracesInMemory(gold, sources, inline=how.inline)
    held.refuse_bad_input(allowed_bad(how.max_bad))
    unread = held.unread(sources, gold)
    findings = deepcopy(held.findings)  # a stability adds its own to those of the lines
    for finding in gold.findings:
        findings.add(finding)
    options = AuditOptions(manifest=how.manifest, docs=how.docs, cite_first=False, **shared)
    auditing = Auditing(sources, options, gold)
    units = (unit_of(made) for _, made, _ in held.read)
    audits = BlockAudit("")
    auditor = BlockAuditor(auditing.setup)
    audited = [
        one for _, one in auditor.audited(held.read, audits, next(filter(None, units), None))
    ]
    observer = Observer(
        reader, indexed=bool(how.manifest), documents=bool(how.docs), claims=how.lexical
    )
    runs: list[list[ObservedTrace]] = []
    for place, question in enumerate(gold):
        key = reader.key(question)
        runs.append(
            [observer.one(key, held.read[one][0], audited[one]) for one in held.numbers(place)]
        )
        progress(place + 1, len(gold))
    every = [run for siblings in runs for run in siblings]

    # What the commands would say of the same traces, as far as they apply.
    scoring = Scoring(gold, sources, ScoreOptions(preset=PRESET, each="trace", **shared))
    scores = BlockScores("")
    scorer = BlockScorer(gold, reader, tuple(reading("facts")))
    scorer.add(((number, made.trace, place) for number, made, place in held.read), scores)
    scoring.found.add(scores)
    outcomes: list[Outcome[Any]] = [scoring.of_found()]
    if any(len({run.variation for run in siblings}) > 1 for siblings in runs):
        judged = StabilityOptions(**shared).settled(gold.metadata)
        outcomes.append(StabilityRun(gold, sources, judged).of(held, reader, no_progress))
    if any(run.payloads for run in every):
        auditing.found.add(audits)
        outcomes.append(auditing.of_found())

    values: Values = {}
    for outcome in outcomes:
        for id, of_question in values_of(outcome).items():
            values.setdefault(id, {}).update(of_question)
    rows = [_row(question, siblings, values) for question, siblings in zip(gold, runs, strict=True)]
    claims = [run.claims for run in every if run.claims]
    gates = tuple(gate for outcome in outcomes for gate in outcome.report.verdicts)
    metrics = {name: one for outcome in outcomes for name, one in outcome.report.metrics.items()}
    ranks = {row.id: needed_ranks(row) for row in rows}
    first = {id: None if found is None else min(found, default=0) for id, found in ranks.items()}
    material = Material(
        samples=rows,
        metrics=measured_by(metrics, gates, {name: one.better for name, one in table().items()}),
        cases=traced_cases(runs),
        addresses=address_counts(claims),
        features={row.id: features(row, first[row.id]) for row in rows},
        unknown=_unknown(runs, indexed=how.manifest is not None),
        findings=findings,
        coverage={
            **{"samples": len(gold), "traces": len(every), "claims": len(claims)},
            **({"unread_columns": unread} if unread else {}),
        },
        identity={
            "command": "diagnose",
            "form": "traces",
            "gold_sha256": fingerprint(gold),
            "ragauge": __version__,
        },
    )
    return material, runs


def _row(question: Gold, runs: Sequence[ObservedTrace], values: Values) -> ScoreRow:
    """A question as a sample: what it came to, with the answer of its last trace that is wrong."""
    shown = next((run for run in reversed(runs) if run.right is False), runs[-1] if runs else None)
    return ScoreRow(
        id=question.qid,
        question=question.question,
        answer=shown.facts.claim if shown else None,
        reference=question.gold_claim or question.gold_answer,
        contexts=shown.contexts if shown else None,
        retrieved_ids=shown.retrieved if shown else None,
        cited=shown.facts.cited if shown else None,
        gold_ids=question.gold_citations,
        answerable=question.answerable,
        values=values.get(question.qid, {}),
        strata=strata_of(question),
        where=shown.id if shown else "",
    )


def _unknown(runs: Sequence[Sequence[ObservedTrace]], *, indexed: bool) -> tuple[str, ...]:
    """Keys of what the traces do not allow to say."""
    every = [run for siblings in runs for run in siblings]
    wordings = any(len({run.wording for run in siblings}) > 1 for siblings in runs)
    seeds = any(
        len({run.variation.seed for run in siblings if run.wording == first.wording}) > 1
        for siblings in runs
        for first in siblings[:1]
    )
    checks = {
        "no_retrieved_ids": not any(run.retrieved for run in every),
        "no_payloads": not any(run.payloads for run in every),
        "no_manifest": not indexed,
        "no_documents": not any(run.held_to_text for run in every),
        "no_other_wordings": not wordings,
        "no_other_seeds": not seeds,
        "no_claims": not any(run.claims for run in every),
        "lexical_claims": any(run.claims for run in every),
        "no_strata": not any(run.gold.strata for run in every),
        "no_replay": True,
    }
    return tuple(key for key, holds in checks.items() if holds)


class Observer:
    """What a diagnosis looks at in audited traces, beside their questions."""

    def __init__(
        self,
        reader: Reader,
        *,
        indexed: bool = False,
        documents: bool = False,
        claims: bool = True,
    ) -> None:
        self.reader, self._indexed, self._documents = reader, indexed, documents
        self._claims = LexicalClaims() if claims else None

    def one(self, key: Key, number: int, audited: Audited) -> ObservedTrace:
        """The trace of a line of this number."""
        gold, trace = key.gold, audited.made.trace
        facts = self.reader.facts(key, trace)
        variation = variation_of(trace)
        run = run_facts(self.reader, key, trace, variation)
        contexts = contexts_of(trace)
        some = facts.gold_found
        claims = None
        if facts.answered and self._claims and contexts is not None:
            reference = gold.gold_claim or gold.gold_answer
            claims = self._claims.of(gold.qid, gold.question, facts.claim, reference, contexts)
        payloads = audited.retrieved
        # Whether the pipeline searched for another text than was asked, where the trace tells.
        extra, rewritten = trace.extra or {}, None
        searched = extra.get("query_rewritten") or extra.get("search_query")
        if isinstance(searched, str):
            sent = trace.question_sent or gold.question
            rewritten = composed(searched).casefold() != composed(sent).casefold()
        return ObservedTrace(
            id=trace.run_id or f"{gold.qid}:{number}",
            gold=gold,
            facts=facts,
            variation=variation,
            sent=trace.question_sent or trace.q,
            retrieved=None if trace.retrieved_ids is None else tuple(trace.retrieved_ids),
            found_some=some,
            found_all=None if some is None else bool(facts.gold_depth),
            payloads=tuple(payloads.whole) if isinstance(payloads, Payloads) else (),
            codes=frozenset(finding.code for finding in audited.findings),
            audited=trace.retrieved is not None,
            held_to_index=self._indexed,
            held_to_text=self._documents,
            echoed=run.echoed if run else None,
            claims=claims,
            contexts=contexts,
            rewritten=rewritten,
            latency_ms=trace.latency_ms,
            passed_check=trace.ok,
        )


def contexts_of(trace: Trace) -> tuple[Context, ...] | None:
    """The texts that were retrieved; None where the trace does not hold them all."""
    if trace.retrieved is None:
        return None
    texts = [(one.get("snippet_id") or one.get("id"), one.get("text")) for one in trace.retrieved]
    if not all(isinstance(text, str) for _, text in texts):
        return None
    return tuple(Context(str(id or place), str(text)) for place, (id, text) in enumerate(texts, 1))
