"""Retrieval evaluated: runs against judgements, query by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from ragauge.contracts.evaluation import (
    ComparedMetric,
    EvalReport,
    QueryRow,
    RankingDetail,
    SourceShare,
)
from ragauge.contracts.metric import Metric
from ragauge.contracts.opt import takes
from ragauge.contracts.options import Method, NoRelevant, RetrievalOptions
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Outcome
from ragauge.errors import UsageError
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.lines import STDIN
from ragauge.ingest.ranked.rankings import SHAPES
from ragauge.ingest.records import is_stdin
from ragauge.ingest.traces import can_be_read_again
from ragauge.metrics.retrieval import METRICS, id_of, split_measures
from ragauge.metrics.retrieval_order import (
    SourcedRows,
    documents_of,
    overlaps,
    source_fraction,
    unique_relevant,
)
from ragauge.runners.components.evaluation import (
    Evaluated,
    add_findings,
    note_problems,
    outcome_of,
    strata_of,
)
from ragauge.runners.components.options import refuse_bad, rules_for
from ragauge.runners.components.retrieval_gold import UNANSWERABLE
from ragauge.runners.components.retrieval_ranked import RunScores, note_each
from ragauge.runners.components.retrieval_runs import JudgedRuns
from ragauge.stats.decision import adjusted
from ragauge.stats.differences import Paired, Pairs
from ragauge.stats.paired import compared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragauge.ingest.records import Source


WORST_BY = "retrieval.ndcg@10"
COVERAGE = "retrieval.coverage"
JUDGED = "retrieval.judged@10"
"""How much of the first ten results was judged."""
NEAR = 10
LATE = 5
"""A first relevant document beyond this rank is too low."""
WORST_KEPT = 20
HEADLINES = tuple(
    f"retrieval.{name}" for name in ("ndcg@10", "ndcg_exp@10", "p@5", "recall@10", "rr", "ap")
)
"""Shown for every stratum, of those that were measured."""


@takes(RetrievalOptions, "eval retrieval")
def evaluate_retrieval(
    qrels: Source,
    run: Source | None = None,
    *,
    baselines: Sequence[Source] = (),
    columns: Columns | None = None,
    options: RetrievalOptions,
) -> Outcome[EvalReport]:
    """The outcome of a run against graded judgements; options as in RetrievalOptions.

    Each may be a file, a mapping `{query: {document: number}}`, records or a polars frame. The
    judgements can be a gold set, whose citations are relevant, and the run traces, as `score` takes
    them. Without a run, the records of the judgements have results too, such as
    `{query, results, gold_relevant}`. The baselines are runs to compare with, query by query.
    `columns` says for fields where the runs have them, for `qrels.FIELD` where the judgements do.
    Raises UsageError or InputRejected with everything that is wrong. With more than one worker,
    call it under `if __name__ == "__main__"`, as everything that starts processes.
    """
    if options.counted_as == "trec_eval":
        if options.no_rel == "exclude":
            fact = "trec_eval counts queries with nothing relevant as 0"
            raise UsageError(f"eval retrieval: --as trec_eval with --no-rel exclude: {fact}")
        options = structs.replace(options, no_rel="zero")
    if run is None:
        if is_stdin(qrels):
            raise UsageError("eval retrieval: name the run; standard input is read only once")
        run = qrels = list(qrels) if isinstance(qrels, Iterator) else qrels
        both = SHAPES["qrels"].by_name
        mapped = {f"qrels.{name}": path for name, path in (columns or {}).items() if name in both}
        columns = {**mapped, **(columns or {})}
    files = [str(one) for one in (qrels, run, *baselines) if isinstance(one, str | Path)]
    if files.count(STDIN) > 1:
        raise UsageError("only one of the files can be standard input (-)")
    gated = [rule.metric for rule in rules_for("retrieval", options)]
    asked = measured_ids(options)
    shown = list(dict.fromkeys([*asked, *gated, COVERAGE]))
    every = tuple(dict.fromkeys([*shown, WORST_BY, JUDGED]))
    runs = JudgedRuns(qrels, structs.replace(options, measures=every), columns)
    options = structs.replace(options, no_rel=runs.options.no_rel)
    scores = runs.score(run)
    others = [runs.score(one, f"baseline {number}") for number, one in enumerate(baselines, 1)]
    problems = [*scores.qrels_problems, *scores.problems]
    problems += [problem for other in others for problem in other.problems]
    strata: dict[str, list[str | None]] = {}
    if runs.strata or options.strata:
        own = [runs.strata.get(query, {}) for query in scores.queries]
        strata = strata_of(scores.queries, own, options)
    records = scores.judged_rows + scores.rows + sum(other.rows for other in others)
    refuse_bad(problems, records, options)
    facts = scores.facts
    near = ((facts.first_relevant > 0) & (facts.first_relevant <= NEAR)).tolist()
    no_relevant = int((facts.relevant == 0).sum())
    left_out = scores.qrels_findings.counts.get(UNANSWERABLE, 0)
    signed = [f"no_rel:{options.no_rel}", "missing:zero", "ties:id descending"]
    signed += [f"collapse:{options.collapse}"] if options.collapse else []
    signed += ["drop_self"] if options.drop_self else []
    usual = [] if options.measures else [id for id in HEADLINES if id in asked]
    found = Evaluated(
        task="retrieval",
        units=scores.queries,
        sums={id: scores.sums[id] for id in shown},
        headlines=usual or asked,
        strata=strata,
        # A relevant document is among the first 10 results; None where there is none.
        right=[
            right if there else None
            for right, there in zip(near, (facts.relevant > 0).tolist(), strict=True)
        ],
        per_type={},
        detail=_detail(scores, others, shown, asked, options),
        findings=_findings(scores, others, problems, options.no_rel),
        coverage={
            "queries": len(scores.queries),
            "scored": len(scores.queries) - (no_relevant if options.no_rel == "exclude" else 0),
            "missing": int(facts.missing.sum()),
            "unknown": len(scores.unknown),
            "no_relevant": no_relevant,
            "rows": scores.rows,
            "judged_rows": scores.judged_rows,
            "unjudged": int(facts.unjudged.sum()),
            "rejected": len(problems),
            **({"unanswerable": left_out} if left_out else {}),
        },
        signature="|".join(signed),
        faults=_query_faults(scores),
        gold_sha256=runs.sha256,
    )
    outcome = outcome_of(found, options)
    if isinstance(run, str | Path):
        again = can_be_read_again([str(run)])
    else:
        again = not isinstance(run, Iterator)
    return structs.replace(outcome, answers=partial(runs.listed, run)) if again else outcome


def measured_ids(options: RetrievalOptions) -> list[str]:
    """The metrics an evaluation measures; raises UsageError with every name that is none."""
    wanted = split_measures(options.measures)
    if not wanted:
        for metric in METRICS:  # at the cut-offs that were requested in place of its own
            bare, at, _ = metric.id.partition("@")
            cut = at and options.k
            wanted += [f"{bare}@{k}" for k in options.k] if cut else [metric.id]
    ids: list[str] = []
    problems: list[str] = []
    for name in wanted:
        try:
            ids.append(id_of(name, options.rel))
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return list(dict.fromkeys(ids))


def _detail(
    scores: RunScores,
    others: Sequence[RunScores],
    shown: Sequence[str],
    asked: Sequence[str],
    options: RetrievalOptions,
) -> RankingDetail:
    kept, facts = slice(ROWS_KEPT), scores.facts
    first = min(ROWS_KEPT, len(scores.queries))
    columns = [scores.sums[id].first(first).values().tolist() for id in shown]
    counts = (facts.retrieved, facts.relevant, facts.relevant_retrieved, facts.first_relevant)
    rows = zip(
        scores.queries[kept],
        *(column[kept].tolist() for column in counts),
        zip(*columns, strict=True),
        strict=True,
    )
    values = scores.sums[WORST_BY].values()
    there = np.flatnonzero((facts.relevant > 0) & ~np.isnan(values))
    worst = there[np.argsort(values[there], kind="stable")][:WORST_KEPT]
    brought = scores.sources
    if brought is not None and options.source_depth is not None:
        brought = brought.within(options.source_depth)
    return RankingDetail(
        queries=tuple(
            QueryRow(
                query=query,
                retrieved=retrieved,
                relevant=relevant,
                relevant_retrieved=hits,
                first_relevant=rank or None,
                values={
                    id: None if value != value else value
                    for id, value in zip(shown, row, strict=True)
                },
            )
            for query, retrieved, relevant, hits, rank, row in rows
        ),
        worst=tuple(scores.queries[at] for at in worst),
        sources={} if brought is None else _source_shares(brought),
        overlap={} if brought is None else overlaps(brought),
        compared=_compared_runs(scores, others, asked, options),
        correction=options.correction if others else None,
    )


def _source_shares(brought: SourcedRows) -> dict[str, SourceShare]:
    """What each source contributes."""
    found = {}
    for source, (name, alone) in enumerate(
        zip(brought.names, unique_relevant(brought), strict=True)
    ):
        documents = len(documents_of(brought, source))
        relevant = len(documents_of(brought, source, relevant=True))
        found[name] = SourceShare(
            share=source_fraction(brought, source) or 0.0,
            top1=source_fraction(brought, source, 1),
            top5=source_fraction(brought, source, 5),
            relevant=relevant,
            unique_relevant=alone,
            precision=relevant / documents if documents else None,
        )
    return found


def _compared_runs(
    run: RunScores, others: Sequence[RunScores], ids: Sequence[str], options: RetrievalOptions
) -> tuple[ComparedMetric, ...]:
    """Each metric of the run compared with each other run's; p is corrected over all of them.

    A query that one of the two does not have is 0 there, as in the run's own number.
    """
    made = [
        _compared(run, other, sums.metric, options.test, options.seed)
        for other in others
        for sums in map(run.sums.__getitem__, ids)
        if "judged" in sums.metric.needs  # the others say how far to trust a number
    ]
    ps = adjusted([one.p for one in made], options.correction)
    return tuple(structs.replace(one, p_adjusted=p) for one, p in zip(made, ps, strict=True))


def _compared(
    run: RunScores, other: RunScores, metric: Metric, test: Method, seed: int
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


def _tested(now: np.ndarray, then: np.ndarray, test: Method, seed: int) -> Paired:
    """What the test finds; McNemar's is only of 0 and 1, and of others it says so."""
    method = None if test == "auto" else test
    if method != "mcnemar" or np.isin(np.append(now, then), (0, 1)).all():
        return compared(now, then, method=method, seed=seed)
    plain = compared(now, then, method="t")
    reason = "McNemar's test is of 0 and 1, and these are not; choose randomisation"
    return structs.replace(
        plain, ci=None, p=None, effect=None, method="McNemar", reason=reason, statistic=None
    )


def _query_faults(scores: RunScores) -> list[tuple[str, str]]:
    """The first queries by id with what went wrong there, in the catalogue's words."""
    kept, facts = slice(ROWS_KEPT), scores.facts
    found, relevant = facts.relevant_retrieved[kept], facts.relevant[kept]
    missing, first = facts.missing[kept], facts.first_relevant[kept]
    faults = {
        "missing": missing,
        "nothing_found": ~missing & (relevant > 0) & (found == 0),
        "found_late": first > LATE,
        "incomplete": (found > 0) & (found < relevant),
        "unjudged": scores.sums[JUDGED].first(len(first)).values() < 1 / 2,
    }
    return [
        (scores.queries[at], fault)
        for fault, mask in faults.items()
        for at in np.flatnonzero(mask).tolist()
    ]


def _findings(
    scores: RunScores,
    others: Sequence[RunScores],
    problems: Sequence[str],
    no_rel: NoRelevant | None,
) -> Findings:
    """What was read and accepted, and what is odd about queries."""
    findings, facts, queries = Findings(), scores.facts, scores.queries
    note_problems(problems, findings, "bad_line")
    for some in (scores.qrels_findings, scores.findings):
        add_findings(some.kept(), some.counts, findings)

    def note(code: str, mask: NDArray[np.bool_], fact: str) -> None:
        places = np.flatnonzero(mask)
        note_each(
            findings, code, places, lambda at: (scores.name, f"{quoted(queries[at])}: {fact}")
        )

    note("missing_query", facts.missing, "the run does not have it; it counts 0")
    counted = "it counts 0, as in trec_eval" if no_rel == "zero" else "it is left out of the means"
    fact = f"no relevant document was judged for it; {counted}"
    note("no_relevant", facts.relevant == 0, fact)
    fact = "has documents of equal score; the greater id comes first"
    note("tied_scores", facts.tied, fact)
    unjudged, of = int(facts.unjudged.sum()), int(facts.retrieved.sum())
    if unjudged:
        message = f"{unjudged:,} of {of:,} results were not judged; they count as not relevant"
        findings.add(Finding("unjudged", scores.name, message))
    if unjudged and unjudged == of:
        hint = "where the run has chunks of documents, --collapse '#' takes what stands before #"
        message = f"none of the {of:,} results was judged: are the ids of one kind? {hint}"
        findings.add(Finding("no_document_in_common", scores.name, message))
    for other in others:
        add_findings(other.findings.kept(), other.findings.counts, findings)
        for at in np.flatnonzero(facts.missing != other.facts.missing):
            lacks = scores.name if facts.missing[at] else other.name
            message = f"{quoted(queries[at])}: {lacks} does not have it; it is 0 there"
            findings.add(Finding("unpaired_query", other.name, message))
    return findings
