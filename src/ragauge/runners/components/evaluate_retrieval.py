"""Retrieval evaluated: runs against judgements, query by query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from msgspec import Meta, structs

from ragauge.contracts.comparison import Correction
from ragauge.contracts.evaluation import (
    ComparedMetric,
    EvalReport,
    QueryRow,
    RankingDetail,
    SourceShare,
)
from ragauge.contracts.finding import PLACES_KEPT, Finding, Findings
from ragauge.contracts.metric import Metric
from ragauge.contracts.score import ROWS_KEPT, Outcome
from ragauge.errors import UsageError
from ragauge.ingest.fields import quoted
from ragauge.ingest.lines import STDIN
from ragauge.ingest.trace_lines import can_be_read_again
from ragauge.metrics.retrieval import KINDS, METRICS, NoRelevant, metric_id
from ragauge.metrics.retrieval_names import parsed
from ragauge.metrics.sources import Brought, documents_of, overlaps, share_of, unique_relevant
from ragauge.metrics.sums import Sums
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import EvalOptions, refuse_bad, rules_for
from ragauge.runners.components.retrieval_files import JudgedRuns
from ragauge.runners.components.retrieval_gather import RunScores
from ragauge.runners.components.retrieval_ranked import Duplicates, Reading
from ragauge.runners.components.retrieval_scoring import Setup, take_in
from ragauge.runners.components.strata import strata_of
from ragauge.runners.options import takes
from ragauge.stats.decision import adjusted
from ragauge.stats.differences import Paired, Pairs
from ragauge.stats.paired import compared

if TYPE_CHECKING:
    import polars as pl

    from ragauge.ingest.ranked.rankings import Given


Test = Literal["auto", "t", "wilcoxon", "randomisation", "bootstrap", "mcnemar"]


def compared_runs(
    run: RunScores,
    others: Sequence[RunScores],
    ids: Sequence[str],
    test: Test,
    correction: Correction,
    seed: int,
) -> tuple[ComparedMetric, ...]:
    """Each metric of the run beside each other run's; p is corrected over all of them.

    A query that one of the two does not have is 0 there, as in the run's own number.
    """
    made = [
        _compared(run, other, sums.metric, test, seed)
        for other in others
        for sums in map(run.sums.__getitem__, ids)
        if "judged" in sums.metric.needs  # the others say how far to trust a number
    ]
    ps = adjusted([one.p for one in made], correction)
    return tuple(structs.replace(one, p_adjusted=p) for one, p in zip(made, ps, strict=True))


def _compared(
    run: RunScores, other: RunScores, metric: Metric, test: Test, seed: int
) -> ComparedMetric:
    now, then = run.sums[metric.id].values(), other.sums[metric.id].values()
    both = ~(np.isnan(now) | np.isnan(then))
    now, then = now[both], then[both]
    found = _tested(now, then, test, seed)
    leans = Pairs.of(now, then).whole * (1 if metric.better == "higher" else -1)
    return ComparedMetric(
        run=other.name,
        metric=metric.id,
        value=float(now.mean()) if len(now) else None,
        other=float(then.mean()) if len(then) else None,
        estimate=found.estimate if len(now) else None,
        ci=found.ci,
        p=found.p,
        p_adjusted=None,
        n=found.n,
        n_zero=found.n_zero,
        method=found.method,
        seed=found.seed,
        effect=found.effect,
        better=int((leans > 0).sum()),
        worse=int((leans < 0).sum()),
        reason=found.reason if len(now) else "no query was scored in both runs",
        statistic=found.statistic,
    )


def _tested(now: np.ndarray, then: np.ndarray, test: Test, seed: int) -> Paired:
    """What the test finds; McNemar's is only of 0 and 1, and of others it says so."""
    method = None if test == "auto" else test
    if method != "mcnemar" or np.isin(np.append(now, then), (0, 1)).all():
        return compared(now, then, method=method, seed=seed)
    plain = compared(now, then, method="t")
    reason = "McNemar's test is of 0 and 1, and these are not; choose randomisation"
    return structs.replace(
        plain, ci=None, p=None, effect=None, method="McNemar", reason=reason, statistic=None
    )


def note_unpaired(run: RunScores, other: RunScores, findings: Findings) -> None:
    """Say which queries only one of two runs has."""
    for at in np.flatnonzero(run.facts.missing != other.facts.missing):
        lacks = run.name if run.facts.missing[at] else other.name
        message = f"{quoted(run.queries[at])}: {lacks} does not have it; it is 0 there"
        findings.add(Finding("unpaired_query", other.name, message))


WORST_BY = "retrieval.ndcg@10"
COVERAGE = "retrieval.coverage"
JUDGED = "retrieval.judged@10"
NEAR = 10
_NAMES = re.compile(r",(?![^()]*\))")
"""Commas between names, not those in their parentheses."""
HEADLINES = tuple(
    f"retrieval.{name}" for name in ("ndcg@10", "ndcg_exp@10", "p@5", "recall@10", "rr", "ap")
)
"""Shown for every stratum, of those that were measured."""


class RetrievalOptions(EvalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to evaluate retrieval; the defaults are the command's."""

    measures: tuple[str, ...] = ()
    """Names such as nDCG@10 or P(rel=2)@5; the table's where none is given."""
    k: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    """Cut-offs in place of the table's 5, 10 and 20."""
    rel: Annotated[int, Meta(ge=1)] = 1
    """The grade from which on a document is relevant, where a name does not say."""
    counted_as: Literal["trec_eval"] | None = None
    """Count queries as this tool does: with trec_eval, one with nothing relevant is 0."""
    no_rel: NoRelevant | None = None
    """Queries with nothing relevant: 0 for TREC judgements, else left out of the means."""
    duplicates: Duplicates = "collapse"
    collapse: str | None = None
    """What stands between a document and its chunk."""
    drop_self: bool = False
    source_depth: Annotated[int, Meta(ge=1)] | None = None
    """The rank down to which sources are credited; all, where none is given."""
    correction: Correction = "holm"
    test: Test = "auto"
    workers: Annotated[int, Meta(ge=1)] = 1
    seed: Annotated[int, Meta(ge=0)] = 0


@takes(RetrievalOptions, "eval retrieval")
def evaluate_retrieval(
    qrels: Given,
    run: Given,
    *,
    baselines: Sequence[Given] = (),
    options: RetrievalOptions,
) -> Outcome[EvalReport]:
    """The outcome of a run against graded judgements; options as in RetrievalOptions.

    Each may be a file, a mapping `{query: {document: number}}`, records or a polars frame. The
    baselines are runs to compare with, query by query. Raises UsageError or InputRejected with
    everything that is wrong. With more than one worker, call it under
    `if __name__ == "__main__"`, as everything that starts processes.
    """
    if options.counted_as == "trec_eval":
        if options.no_rel == "exclude":
            fact = "trec_eval counts queries with nothing relevant as 0"
            raise UsageError(f"eval retrieval: --as trec_eval with --no-rel exclude: {fact}")
        options = structs.replace(options, no_rel="zero")
    files = [str(one) for one in (qrels, run, *baselines) if isinstance(one, str | Path)]
    if files.count(STDIN) > 1:
        raise UsageError("only one of the files can be standard input (-)")
    return _Evaluation(options).outcome(qrels, run, baselines)


def per_query_frame(outcome: Outcome[EvalReport]) -> pl.DataFrame:
    """Every query with the value of each metric, null where it is absent, and its strata."""
    import polars as pl

    units = outcome.units
    values = {id: pl.Series(one.values).fill_nan(None) for id, one in units.measured.items()}
    return pl.DataFrame({"query": list(units.ids), **values, **units.details})


def measured_ids(options: RetrievalOptions) -> list[str]:
    """The metrics an evaluation measures; raises UsageError with every name that is none."""
    wanted = [name for text in options.measures for name in _NAMES.split(text) if name.strip()]
    if not wanted:
        wanted = [name for metric in METRICS for name in _at_each(metric.id, options.k)]
    ids: list[str] = []
    problems: list[str] = []
    for name in wanted:
        try:
            kind, at = parsed(name)
        except UsageError as error:
            problems += error.problems
            continue
        if "rel" in KINDS[kind].takes and "rel" not in name.partition("(")[2]:
            at = structs.replace(at, rel=options.rel)
        ids.append(metric_id(kind, at))
    if problems:
        raise UsageError(*problems)
    return list(dict.fromkeys(ids))


def _at_each(id: str, cutoffs: Sequence[int]) -> list[str]:
    """A metric of the table, at the cut-offs that were asked for in place of its own."""
    bare, at, _ = id.partition("@")
    return [f"{bare}@{k}" for k in cutoffs] if at and cutoffs else [id]


class _Evaluation:
    """One evaluation: from what was given to its outcome."""

    def __init__(self, options: RetrievalOptions) -> None:
        self._options = options
        gated = [rule.metric for rule in rules_for("retrieval", options)]
        self._asked = measured_ids(options)
        self._shown = list(dict.fromkeys([*self._asked, *gated, COVERAGE]))
        self._setup = Setup(
            metrics=tuple(dict.fromkeys([*self._shown, WORST_BY, JUDGED])),
            no_rel=options.no_rel,
            reading=Reading(
                duplicates=options.duplicates,
                collapse=options.collapse,
                drop_self=options.drop_self,
                rel=options.rel,
            ),
        )

    def outcome(self, qrels: Given, run: Given, baselines: Sequence[Given]) -> Outcome[EvalReport]:
        options = self._options
        runs = JudgedRuns(qrels, self._setup, options.input_format, options.workers)
        options = self._options = structs.replace(options, no_rel=runs.no_rel)
        scores = runs.score(run)
        others = [runs.score(one, f"baseline {number}") for number, one in enumerate(baselines, 1)]
        problems = [*scores.qrels_problems, *scores.problems]
        problems += [problem for other in others for problem in other.problems]
        strata = self._strata(scores.queries, runs.strata)
        records = scores.judged_rows + scores.rows + sum(other.rows for other in others)
        refuse_bad(problems, records, options)
        found = Evaluated(
            task="retrieval",
            units=scores.queries,
            sums={id: scores.sums[id] for id in self._shown},
            headlines=self._headlines(),
            strata=strata,
            right=_found(scores),
            per_type={},
            detail=self._detail(scores, others),
            findings=_findings(scores, others, problems, runs.no_rel),
            coverage=self._coverage(scores, len(problems)),
            signature=self._signature(),
            faults=query_faults(scores, JUDGED),
            gold_sha256=runs.sha256,
        )
        outcome = outcome_of(found, options)
        answers = partial(runs.listed, run) if _can_be_read_again(run) else None
        return structs.replace(outcome, answers=answers)

    def _strata(
        self, queries: list[str], own: dict[str, dict[str, str]]
    ) -> dict[str, list[str | None]]:
        if not own and not self._options.strata:
            return {}
        return strata_of(queries, [own.get(query, {}) for query in queries], self._options)

    def _headlines(self) -> list[str]:
        if self._options.measures:
            return self._asked
        usual = [id for id in HEADLINES if id in self._asked]
        return usual or self._asked

    def _detail(self, scores: RunScores, others: Sequence[RunScores]) -> RankingDetail:
        options, brought = self._options, scores.sources
        if brought is not None and options.source_depth is not None:
            brought = brought.within(options.source_depth)
        return RankingDetail(
            queries=query_rows(scores, self._shown),
            worst=worst_queries(scores, WORST_BY),
            sources=source_shares(brought),
            overlap={} if brought is None else overlaps(brought),
            compared=compared_runs(
                scores, others, self._asked, options.test, options.correction, options.seed
            ),
            correction=options.correction if others else None,
        )

    def _coverage(self, scores: RunScores, rejected: int) -> dict[str, int]:
        facts = scores.facts
        queries, no_relevant = len(scores.queries), int((facts.relevant == 0).sum())
        return {
            "queries": queries,
            "scored": queries - (no_relevant if self._options.no_rel == "exclude" else 0),
            "missing": int(facts.missing.sum()),
            "unknown": len(scores.unknown),
            "no_relevant": no_relevant,
            "rows": scores.rows,
            "judged_rows": scores.judged_rows,
            "unjudged": int(facts.unjudged.sum()),
            "rejected": rejected,
        }

    def _signature(self) -> str:
        options = self._options
        parts = [f"no_rel:{options.no_rel}", "missing:zero", "ties:id descending"]
        if options.collapse:
            parts.append(f"collapse:{options.collapse}")
        if options.drop_self:
            parts.append("drop_self")
        return "|".join(parts)


def _can_be_read_again(run: Given) -> bool:
    if isinstance(run, str | Path):
        return can_be_read_again([str(run)])
    return not isinstance(run, Iterator)


def _found(scores: RunScores) -> list[bool | None]:
    """Whether a relevant document is among the first 10 results; None where there is none."""
    facts = scores.facts
    near = (facts.first_relevant > 0) & (facts.first_relevant <= NEAR)
    columns = near.tolist(), (facts.relevant > 0).tolist()
    return [right if there else None for right, there in zip(*columns, strict=True)]


def _findings(
    scores: RunScores, others: Sequence[RunScores], problems: Sequence[str], no_rel: NoRelevant
) -> Findings:
    findings = Findings()
    for problem in problems:
        place, _, fact = problem.partition(": ")
        findings.add(Finding("bad_line", place, fact))
    take_in(scores.qrels_findings, findings)
    take_in(scores.findings, findings)
    note_queries(scores, findings, no_rel)
    for other in others:
        take_in(other.findings, findings)
        note_unpaired(scores, other, findings)
    return findings


WORST_KEPT = 20
LATE = 5
"""A first relevant document beyond this rank stands too low."""


def query_rows(scores: RunScores, ids: Sequence[str]) -> tuple[QueryRow, ...]:
    """The first queries by id, with the value of each of these metrics."""
    kept = slice(ROWS_KEPT)
    facts = scores.facts
    columns = [_first_values(scores.sums[id]) for id in ids]
    counts = (
        facts.retrieved[kept].tolist(),
        facts.relevant[kept].tolist(),
        facts.relevant_retrieved[kept].tolist(),
        facts.first_relevant[kept].tolist(),
    )
    values = zip(*columns, strict=True) if columns else ((),) * len(scores.queries[kept])
    return tuple(
        QueryRow(
            query=query,
            retrieved=retrieved,
            relevant=relevant,
            relevant_retrieved=hits,
            first_relevant=first or None,
            values=dict(zip(ids, row, strict=True)),
        )
        for query, retrieved, relevant, hits, first, row in zip(
            scores.queries[kept], *counts, values, strict=True
        )
    )


def _first_values(sums: Sums) -> list[float | None]:
    values = _first(sums).values().tolist()
    return [None if value != value else value for value in values]


def _first(sums: Sums) -> Sums:
    """The rows of the queries that a report shows."""
    kept = slice(ROWS_KEPT)
    return Sums(sums.metric, sums.sums[kept], sums.scored[kept], sums.units[kept], sums.absent)


def worst_queries(scores: RunScores, id: str) -> tuple[str, ...]:
    """The queries with relevant documents and the lowest values, ties by id."""
    values = scores.sums[id].values()
    there = np.flatnonzero((scores.facts.relevant > 0) & ~np.isnan(values))
    ranked = there[np.argsort(values[there], kind="stable")]
    return tuple(scores.queries[at] for at in ranked[:WORST_KEPT])


def query_faults(scores: RunScores, judged: str) -> list[tuple[str, str]]:
    """The first queries by id with what went wrong there, in the catalogue's words.

    `judged` is the metric that tells how much of the first ten results was judged.
    """
    kept = slice(ROWS_KEPT)
    facts = scores.facts
    found, relevant = facts.relevant_retrieved[kept], facts.relevant[kept]
    missing, first = facts.missing[kept], facts.first_relevant[kept]
    told = {
        "missing": missing,
        "nothing_found": ~missing & (relevant > 0) & (found == 0),
        "found_late": first > LATE,
        "incomplete": (found > 0) & (found < relevant),
        "unjudged": _first(scores.sums[judged]).values() < 1 / 2,
    }
    return [
        (scores.queries[at], fault)
        for fault, mask in told.items()
        for at in np.flatnonzero(mask).tolist()
    ]


def source_shares(brought: Brought | None) -> dict[str, SourceShare]:
    """What each source contributes; empty where the run does not tell sources."""
    if brought is None:
        return {}
    alone = unique_relevant(brought)
    return {name: _share(brought, place, alone[place]) for place, name in enumerate(brought.names)}


def _share(brought: Brought, source: int, alone: int) -> SourceShare:
    documents = len(documents_of(brought, source))
    relevant = len(documents_of(brought, source, relevant=True))
    return SourceShare(
        share=share_of(brought, source) or 0.0,
        top1=share_of(brought, source, 1),
        top5=share_of(brought, source, 5),
        relevant=relevant,
        unique_relevant=alone,
        precision=relevant / documents if documents else None,
    )


def note_queries(scores: RunScores, findings: Findings, no_rel: NoRelevant) -> None:
    """Say what is odd about queries: missing ones, nothing relevant, ties, unjudged results."""
    facts = scores.facts
    counted = "it counts 0, as in trec_eval" if no_rel == "zero" else "it is left out of the means"
    told = {
        "missing_query": (facts.missing, "the run does not have it; it counts 0"),
        "no_relevant": (facts.relevant == 0, f"no relevant document was judged for it; {counted}"),
        "tied_scores": (facts.tied, "has documents of equal score; the greater id comes first"),
    }
    for code, (mask, fact) in told.items():
        places = np.flatnonzero(mask)
        for at in places[:PLACES_KEPT]:
            message = f"{quoted(scores.queries[at])}: {fact}"
            findings.add(Finding(code, scores.name, message))
        findings.count(code, max(0, len(places) - PLACES_KEPT))
    unjudged, of = int(facts.unjudged.sum()), int(facts.retrieved.sum())
    if unjudged:
        message = f"{unjudged:,} of {of:,} results were not judged; they count as not relevant"
        findings.add(Finding("unjudged", scores.name, message))
    if unjudged and unjudged == of:
        hint = "where the run has chunks of documents, --collapse '#' takes what stands before #"
        message = f"none of the {of:,} results was judged: are the ids of one kind? {hint}"
        findings.add(Finding("no_document_in_common", scores.name, message))
