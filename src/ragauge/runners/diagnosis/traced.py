"""Material from traces and their gold set: scored, audited, and looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from ragauge import __version__
from ragauge.citations.validator import CitationValidator, Policy
from ragauge.contracts.answers import Context
from ragauge.contracts.diagnosis import ScoreRow
from ragauge.contracts.gold import Gold, RefusalOptions, fingerprint
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.report import Findings, Outcome
from ragauge.contracts.trace import Trace
from ragauge.diagnosis.cases import Material, Observed
from ragauge.diagnosis.features import features, needed_ranks
from ragauge.diagnosis.traced_case import traced_cases
from ragauge.engines.local import Progress, unseen
from ragauge.ingest.gold import read_gold
from ragauge.ingest.manifest import read_manifest
from ragauge.ingest.traces import Auditable, decoded, read_auditable, trace_in
from ragauge.metrics.facts import Key, Reader, Reading, run_facts, variation_of
from ragauge.metrics.table import table
from ragauge.runners.audit import audit
from ragauge.runners.auditing import Auditor, Payloads
from ragauge.runners.diagnosis.recorded import Values, measured_by, strata_of, values_of
from ragauge.runners.diagnosis.scored import LexicalClaims, address_counts
from ragauge.runners.observations import Observations, allowed_bad
from ragauge.runners.score import score
from ragauge.runners.stability import stability
from ragauge.store.documents import FolderDocuments
from ragauge.text.canonical import composed

PRESET = "ship"


class Traced(RefusalOptions, frozen=True, kw_only=True):
    """What traces are held against."""

    gold: str
    manifest: str | None = None
    docs: str | None = None
    inline: bool = False
    max_bad: str = "0"
    lexical: bool = True


def traced_material(
    traces: Sequence[str], how: Traced, progress: Progress = unseen
) -> tuple[Material, list[list[Observed]]]:
    """The material of trace files or the journal of a sweep, and the runs of each question.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    gold = read_gold(how.gold)
    how = how.settled(gold.metadata)
    manifest = read_manifest(how.manifest) if how.manifest else None
    runs, findings = _observed(gold, traces, how, manifest, progress)
    outcomes = list(_outcomes(traces, how, runs))
    values: Values = {}
    for outcome in outcomes:
        for id, of_question in values_of(outcome).items():
            values.setdefault(id, {}).update(of_question)
    rows = [_row(question, siblings, values) for question, siblings in zip(gold, runs, strict=True)]
    claims = [run.claims for siblings in runs for run in siblings if run.claims]
    gates = tuple(gate for outcome in outcomes for gate in outcome.report.verdicts)
    scores = {name: one for outcome in outcomes for name, one in outcome.report.metrics.items()}
    material = Material(
        samples=rows,
        metrics=measured_by(scores, gates, {name: one.better for name, one in table().items()}),
        cases=traced_cases(runs),
        addresses=address_counts(claims),
        features={row.id: features(row, _first_relevant(row)) for row in rows},
        unknown=_unknown(runs, manifest),
        findings=findings,
        coverage={"samples": len(gold), "traces": sum(map(len, runs)), "claims": len(claims)},
        identity={
            "command": "diagnose",
            "form": "traces",
            "gold_sha256": fingerprint(gold),
            "ragauge": __version__,
        },
    )
    return material, runs


def _observed(
    gold: list[Gold],
    traces: Sequence[str],
    how: Traced,
    manifest: Manifest | None,
    progress: Progress,
) -> tuple[list[list[Observed]], Findings]:
    """Every question's traces, in the order of the gold set."""
    reading = Reading("unicode", how.strength, how.tokens, how.inline)
    observer = Observer(
        Observing(reading=reading, manifest=manifest, documents=how.docs, claims=how.lexical)
    )
    with Observations(gold, traces) as lines:
        lines.refuse_bad_input(allowed_bad(how.max_bad))
        runs = []
        for place, question in enumerate(gold):
            runs.append(observer.observed(question, lines.lines(place)))
            progress(place + 1, len(gold))
        return runs, lines.findings


def _outcomes(
    traces: Sequence[str], how: Traced, runs: Sequence[Sequence[Observed]]
) -> Iterator[Outcome[Any]]:
    """What the commands would say of the same traces, as far as they apply."""
    reading: dict[str, Any] = {
        "refusal": how.refusal,
        "refusal_tokens": how.refusal_tokens,
        "inline": how.inline,
        "max_bad": how.max_bad,
    }
    yield score(how.gold, traces, preset=PRESET, each="trace", **reading)
    if any(len({run.variation for run in siblings}) > 1 for siblings in runs):
        yield stability(how.gold, traces, **reading)
    if any(run.payloads for siblings in runs for run in siblings):
        yield audit(
            traces, gold=how.gold, manifest=how.manifest, docs=how.docs, cite_first=False, **reading
        )


def _row(question: Gold, runs: Sequence[Observed], values: Values) -> ScoreRow:
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


def _first_relevant(row: ScoreRow) -> int | None:
    ranks = needed_ranks(row)
    return None if ranks is None else min(ranks, default=0)


def _unknown(runs: Sequence[Sequence[Observed]], manifest: Manifest | None) -> tuple[str, ...]:
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
        "no_manifest": manifest is None,
        "no_documents": not any(run.held_to_text for run in every),
        "no_other_wordings": not wordings,
        "no_other_seeds": not seeds,
        "no_claims": not any(run.claims for run in every),
        "lexical_claims": any(run.claims for run in every),
        "no_strata": not any(run.gold.strata for run in every),
        "no_replay": True,
    }
    return tuple(key for key, holds in checks.items() if holds)


class Observing(Struct, frozen=True, kw_only=True):
    """What traces are held against, besides the gold set."""

    reading: Reading = Reading()
    manifest: Manifest | None = None
    documents: str | None = None
    claims: bool = True


class Observer:
    """Reads traces beside their questions."""

    def __init__(self, how: Observing) -> None:
        self._how = how
        self._reader = Reader(how.reading)
        documents = FolderDocuments(Path(how.documents), how.manifest) if how.documents else None
        policy = Policy(
            depth="text" if documents else "payload",
            cite_first=False,
            refusal=how.reading.refusal,
            refusal_tokens=how.reading.refusal_tokens,
        )
        validator = CitationValidator(how.manifest, policy, documents)
        self._auditor = Auditor(validator, how.manifest, documents)
        self._claims = LexicalClaims()

    def observed(self, gold: Gold, lines: Sequence[tuple[int, bytes]]) -> list[Observed]:
        """A question's traces, in the order of its lines."""
        key = self._reader.key(gold)
        return [
            self._one(key, trace_in(line), read_auditable(decoded(line)), f"{gold.qid}:{number}")
            for number, line in lines
        ]

    def _one(self, key: Key, trace: Trace, made: Auditable, place: str) -> Observed:
        gold = key.gold
        facts = self._reader.facts(key, trace)
        audited = self._auditor.audited(made, gold, None)
        variation = variation_of(trace)
        run = run_facts(self._reader, key, trace, variation)
        contexts = contexts_of(trace)
        some = facts.gold_found
        claims = None
        if facts.answered and self._how.claims and contexts is not None:
            reference = gold.gold_claim or gold.gold_answer
            claims = self._claims.of(gold.qid, gold.question, facts.claim, reference, contexts)
        payloads = audited.retrieved
        return Observed(
            id=trace.run_id or place,
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
            held_to_index=self._how.manifest is not None,
            held_to_text=self._how.documents is not None,
            echoed=run.echoed if run else None,
            claims=claims,
            contexts=contexts,
            rewritten=_rewritten(trace, gold),
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


def _rewritten(trace: Trace, gold: Gold) -> bool | None:
    """Whether the pipeline searched for another text than was asked, where the trace tells."""
    extra = trace.extra or {}
    searched = extra.get("query_rewritten") or extra.get("search_query")
    if not isinstance(searched, str):
        return None
    return (
        composed(searched).casefold() != composed(trace.question_sent or gold.question).casefold()
    )
