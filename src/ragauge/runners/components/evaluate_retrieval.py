"""Retrieval evaluated: runs against judgements, query by query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, structs

from ragauge.contracts.comparison import Correction
from ragauge.contracts.evaluation import EvalReport, RankingDetail
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.score import Outcome
from ragauge.errors import UsageError
from ragauge.ingest.lines import STDIN
from ragauge.ingest.whole_traces import can_be_read_again
from ragauge.metrics.retrieval import KINDS, METRICS, NoRelevant, metric_id
from ragauge.metrics.retrieval_names import parsed
from ragauge.metrics.sources import overlaps
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import EvalOptions, chosen_options, refuse_bad, rules_for
from ragauge.runners.components.retrieval_compared import Test, compared_runs, note_unpaired
from ragauge.runners.components.retrieval_detail import (
    note_queries,
    query_faults,
    query_rows,
    source_shares,
    worst_queries,
)
from ragauge.runners.components.retrieval_files import JudgedRuns
from ragauge.runners.components.retrieval_gather import RunScores
from ragauge.runners.components.retrieval_ranked import Duplicates, Reading
from ragauge.runners.components.retrieval_scoring import Setup, take_in
from ragauge.runners.components.strata import strata_of

if TYPE_CHECKING:
    import polars as pl

    from ragauge.ingest.ranked.rankings import Given

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


def evaluate_retrieval(
    qrels: Given, run: Given, *, baselines: Sequence[Given] = (), **options: Any
) -> Outcome[EvalReport]:
    """The outcome of a run against graded judgements; options as in RetrievalOptions.

    Each may be a file, a mapping `{query: {document: number}}`, records or a polars frame. The
    baselines are runs to compare with, query by query. Raises UsageError or InputRejected with
    everything that is wrong. With more than one worker, call it under
    `if __name__ == "__main__"`, as everything that starts processes.
    """
    plain = {name: str(one) if isinstance(one, Path) else one for name, one in options.items()}
    chosen = chosen_options("retrieval", RetrievalOptions, plain)
    if chosen.counted_as == "trec_eval":
        if chosen.no_rel == "exclude":
            fact = "trec_eval counts queries with nothing relevant as 0"
            raise UsageError(f"eval retrieval: --as trec_eval with --no-rel exclude: {fact}")
        chosen = structs.replace(chosen, no_rel="zero")
    files = [str(one) for one in (qrels, run, *baselines) if isinstance(one, str | Path)]
    if files.count(STDIN) > 1:
        raise UsageError("only one of the files can be standard input (-)")
    return _Evaluation(chosen).outcome(qrels, run, baselines)


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
