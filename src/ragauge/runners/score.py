"""Score: answers, citations and refusals of finished traces, against a gold set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import structs

from ragauge.contracts.gold import value_of
from ragauge.contracts.metric import PATTERN, Metric, Pattern, pattern_facts, pattern_of
from ragauge.contracts.options import ScoreOptions
from ragauge.contracts.report import Finding, Outcome, Rule, Score
from ragauge.contracts.score import Coverage, QuestionRow, ScoreReport
from ragauge.diagnosis.advice import advise
from ragauge.engines.local import ordered, unseen
from ragauge.errors import UsageError
from ragauge.gates.presets import BRIEF, DEFAULT, brief_name, preset
from ragauge.gates.rules import merged, parse_rules, user_rule
from ragauge.ingest.fields import Columns
from ragauge.ingest.gold import GOLD, read_gold
from ragauge.ingest.lines import STDIN, Block
from ragauge.ingest.records import Source, columns_for, is_stdin
from ragauge.ingest.trace_sources import Traces, traces_of
from ragauge.ingest.traces import TRACE
from ragauge.metrics.facts import Reading, missing
from ragauge.metrics.quality import GOOD_LABELS, label, triage
from ragauge.metrics.table import find, reading
from ragauge.runners.baseline import compared, read_baseline
from ragauge.runners.blocks import BlockScorer, Gathering, Record, Shown
from ragauge.runners.evaluation import Evaluation, by_gold, identity_of, weights_of
from ragauge.runners.observations import allowed_bad, answers_to
from ragauge.runners.options import takes

Progress = Callable[[int], None]
"""Told how many bytes of the traces are done."""


NOT_IN_THE_NUMBERS = ("workers", "out", "keep_answers", "baseline", "gates", "min_coverage")
"""Options that leave every score as it is, and so are no part of a run's identity."""


@takes(ScoreOptions, "score")
def score(
    gold: Source,
    traces: Source | Sequence[str | Path],
    progress: Progress | None = None,
    *,
    columns: Columns | None = None,
    options: ScoreOptions,
) -> Outcome[ScoreReport]:
    """The outcome of scoring traces against a gold set; options as in ScoreOptions.

    Raises UsageError or InputRejected with everything that is wrong. With more than one worker,
    call it under `if __name__ == "__main__"`, as everything that starts processes.
    """
    mapped = columns_for(columns, traces=TRACE, gold=GOLD)
    sources = traces_of(traces, mapped["traces"])
    return Scoring(gold, sources, options, progress or unseen, mapped["gold"]).outcome()


def rules_of(options: ScoreOptions) -> tuple[Rule, ...]:
    """The gates a run must meet: the preset's, with the user's in place of or beside them."""

    def found(name: str) -> Metric:
        return find(brief_name(name, options.preset), "facts")

    own = options.gates or ()
    if isinstance(own, str):
        own = parse_rules(own, found)
    else:
        own = tuple(user_rule(rule, found) for rule in own)
    if options.preset:
        return merged(preset(options.preset), own)
    return own or preset(DEFAULT)


HEADLINES = (
    "quality.precision_cited",
    "quality.under_refusal",
    "quality.over_refusal",
    "quality.citation_hit_rate",
)
"""What is shown for each stratum."""
STRATUM_VALUES = 24
"""A stratum with more values than this is an id, not a slice."""


class Scoring:
    """One score: from its files to what was gathered, and so to its outcome."""

    def __init__(
        self,
        gold: Source,
        traces: list[Traces],
        options: ScoreOptions,
        progress: Progress = unseen,
        columns: Columns | None = None,
    ) -> None:
        self._progress, self._traces = progress, traces
        self._brief = options.preset == BRIEF
        names = [one.name for one in traces] + [STDIN] * is_stdin(gold)
        if [*names, options.baseline].count(STDIN) > 1:
            raise UsageError("only one of the files can be standard input (-)")
        self._rules = rules_of(options)
        self._allowed = allowed_bad(options.max_bad)
        self._baseline = read_baseline(options.baseline) if options.baseline else None
        wanted = {rule.metric: find(rule.metric) for rule in self._rules}
        known = reading("facts")
        self._metrics = tuple(dict(sorted({**known, **wanted}.items())).values())
        self._gold = read_gold(gold, columns)
        self._options = options = options.settled(self._gold.metadata, exact=self._brief)
        self._reading = Reading(options.canon, options.strength, options.tokens, options.inline)
        self.found = Gathering(self._gold, self._metrics, options.each)
        for finding in self._gold.findings:
            self.found.findings.add(finding)

    def outcome(self) -> Outcome[ScoreReport]:
        found, options = self.found, self._options
        arguments = (self._gold, self._reading, tuple(reading("facts")), options.keep_answers)
        work: Iterable[Block] = (block for one in self._traces for block in one.blocks())
        with self._records_out() as write:
            for block in ordered(BlockScorer, arguments, work, options.workers):
                write(found.add(block), found.patterns)
                self._progress(block.size)
            # Before the rows get their name: rejected input leaves no file.
            found.refuse_bad(self._allowed)
            if not found.traces:
                found.refuse_nothing(self._traces, "traces")
        return self.of_found()

    @contextmanager
    def _records_out(self) -> Iterator[Callable[[Record, dict[Pattern, int]], None]]:
        """A function that writes one block's records, to a Parquet file or nowhere."""
        if self._options.out is None:
            yield lambda record, patterns: None
            return
        from ragauge.runners.records import RecordFrames
        from ragauge.store.rows import parquet_rows

        frames = RecordFrames(self._gold, self._metrics, brief=self._brief)
        with parquet_rows(Path(self._options.out)) as writer:
            yield lambda record, patterns: writer.add(frames.frame(record, patterns))

    def of_found(self) -> Outcome[ScoreReport]:
        """The outcome of what was found."""
        found, gold, options = self.found, self._gold, self._options
        groups = found.groups(lambda question: pattern_of(missing(question)))
        facts = [pattern_facts(pattern) for pattern in groups.patterns]
        label_of: list[str | None] = [label(one, brief=self._brief) for one in facts]
        triage_of = [triage(one) for one in facts]
        refusal_of = [None if one.refusal == "none" else one.refusal for one in facts]
        weights = weights_of(gold)
        evaluation = Evaluation(
            ids=[question.qid for question in gold],
            sums={one.id: found.sums(one, groups) for one in self._metrics},
            rules=self._rules,
            slicing=by_gold(gold),
            signature=f"{self._reading.signature()}|each:{options.each}"
            f"{'' if weights is None else '|weighted'}",
            weights=weights,
            min_coverage=options.min_coverage,
        )

        def row(place: int, pattern: int, where: str | None, shown: Shown | None) -> QuestionRow:
            claim, cited, reason = shown or (None, None, None)
            return QuestionRow(
                qid=gold[place].qid,
                label=label_of[pattern] or "",
                triage=triage_of[pattern],
                in_scope=facts[pattern].in_scope,
                traces=int(found.traces_of[place]),
                where=where,
                claim=claim,
                cited=cited,
                reason=reason,
                **{name: getattr(facts[pattern], name) for name in PATTERN},
            )

        def counted(names: Sequence[str | None]) -> dict[str, int]:
            """How many units have each name."""
            counts: Counter[str] = Counter()
            pairs = zip(groups.pattern.tolist(), groups.count.tolist(), strict=True)
            for pattern, count in pairs:
                if name := names[pattern]:
                    counts[name] += count
            return dict(sorted(counts.items()))

        rows = tuple(row(*told) for told in found.rows())
        last = found.last_pattern.tolist()
        labels = [label_of[pattern] for pattern in last]
        self._note_questions()
        counts = found.findings.counts
        traced = int((found.traces_of > 0).sum())
        errors = [facts[pattern].status for pattern in last].count("error")
        strata = {
            question.qid: {key: v for key, v in question.strata.items() if v is not None}
            for question in gold
        }
        report = evaluation.report(
            ScoreReport,
            found.findings,
            identity_of("score", options, self._metrics, gold, without=NOT_IN_THE_NUMBERS),
            labels=counted(label_of),
            triage=counted(triage_of),
            refusals=counted(refusal_of),
            strata=self._strata(evaluation),
            questions=rows,
            coverage=Coverage(
                gold=len(gold),
                traced=traced,
                scored=traced - errors,
                missing=len(gold) - traced,
                unknown=counts.get("unknown_question", 0) + counts.get("ambiguous_question", 0),
                duplicate=found.traces - traced,
                errors=errors,
                traces=found.traces,
                rejected=found.rejected,
            ),
            advice=advise(rows, evaluation.scores, strata, units=int(groups.count.sum())),
        )
        if self._baseline is not None:
            against = compared(report, self._baseline, self._metrics)
            report = structs.replace(report, baseline=against)
        details: dict[str, Sequence[Any]] = {"triage": [triage_of[pattern] for pattern in last]}
        if found.answers:
            none: Shown = (None, (), None)
            each = [found.answers.get(place, none) for place in range(len(gold))]
            details |= zip(("claim", "cited", "error"), zip(*each, strict=True), strict=True)
        return evaluation.outcome(
            report,
            labels=labels,
            right=[name in GOOD_LABELS for name in labels],
            details=details,
            gold=gold,
            record_rows=options.out,
            answers=answers_to(gold, self._traces),
        )

    def _strata(self, evaluation: Evaluation) -> dict[str, dict[str, dict[str, Score]]]:
        """The headline metrics for each value of each stratum."""
        found: dict[str, dict[str, dict[str, Score]]] = {}
        for key in sorted({key for question in self._gold for key in question.strata}):
            values = [value_of(question, key) for question in self._gold]
            if 1 < len({value for value in values if value}) <= STRATUM_VALUES:
                found[key] = evaluation.by_value(values, HEADLINES)
        return found

    def _note_questions(self) -> None:
        """Findings about questions rather than lines: untraced, surplus, without gold ids."""
        add = self.found.findings.add
        counts = self.found.traces_of.tolist()
        for question, traces in zip(self._gold, counts, strict=True):
            qid = question.qid
            if not traces:
                add(Finding("missing_trace", qid, "no trace answers this question"))
            if traces > 1 and self._options.each == "question":
                message = f"{traces} traces; the last was scored, {traces - 1} not"
                add(Finding("surplus_traces", qid, message), traces - 1)
            if question.answerable and not question.gold_citations:
                add(Finding("no_gold_citations", qid, "no gold citations, so no hit can be told"))
