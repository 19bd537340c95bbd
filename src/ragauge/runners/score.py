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
from ragauge.contracts.report import ROWS_KEPT, Finding, Outcome, Rule, Score
from ragauge.contracts.score import Coverage, QuestionRow, ScoreReport
from ragauge.diagnosis.advice import advise
from ragauge.engines.local import ordered
from ragauge.errors import UsageError
from ragauge.gates.presets import BRIEF, DEFAULT, brief_name, preset
from ragauge.gates.rules import merged, parse_rules, user_rule
from ragauge.ingest.gold import read_gold
from ragauge.ingest.lines import STDIN, Block, blocks
from ragauge.metrics.facts import Reading, missing
from ragauge.metrics.quality import GOOD_LABELS, label, triage
from ragauge.metrics.table import find, reading
from ragauge.runners.baseline import Baseline, compared, read_baseline
from ragauge.runners.blocks import (
    Answers,
    BlockScorer,
    BlockScores,
    Gathering,
    Record,
    Shown,
    allowed_bad,
    answers_to,
    refuse_bad_lines,
    refuse_nothing,
)
from ragauge.runners.evaluation import Evaluation, by_gold, identity_of, weights_of
from ragauge.runners.options import takes

Progress = Callable[[int], None]
"""Told how many bytes of the traces are done."""


NOT_IN_THE_NUMBERS = ("workers", "out", "keep_answers", "baseline", "gates", "min_coverage")
"""Options that leave every score as it is, and so are no part of a run's identity."""


@takes(ScoreOptions, "score")
def score(
    gold: str | Path,
    traces: str | Path | Sequence[str | Path],
    progress: Progress | None = None,
    *,
    options: ScoreOptions,
) -> Outcome[ScoreReport]:
    """The outcome of scoring trace files against a gold file; options as in ScoreOptions.

    Raises UsageError or InputRejected with everything that is wrong. With more than one worker,
    call it under `if __name__ == "__main__"`, as everything that starts processes.
    """
    names = [traces] if isinstance(traces, str | Path) else traces
    files = [str(name) for name in names]
    return _Run(str(gold), files, options, progress or _silent).outcome()


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


class _Run:
    """One score: from its files to what was gathered, and so to its outcome."""

    def __init__(
        self, gold: str, traces: list[str], options: ScoreOptions, progress: Progress
    ) -> None:
        self._progress, self._traces = progress, traces
        self._brief = options.preset == BRIEF
        if [gold, *traces, options.baseline].count(STDIN) > 1:
            raise UsageError("only one of the files can be standard input (-)")
        self._rules = rules_of(options)
        self._allowed = allowed_bad(options.max_bad)
        self._baseline = read_baseline(options.baseline) if options.baseline else None
        wanted = {rule.metric: find(rule.metric) for rule in self._rules}
        known = reading("facts")
        self._metrics = tuple(dict(sorted({**known, **wanted}.items())).values())
        self._gold = read_gold(gold)
        self._options = options = options.settled(self._gold.metadata, exact=self._brief)
        self._reading = Reading(options.canon, options.strength, options.tokens, options.inline)
        self._found = Gathering(self._gold, self._metrics, options.each)

    def outcome(self) -> Outcome[ScoreReport]:
        self._read_traces()
        return _Assembly(self._found, self._metrics, self._brief).outcome(
            self._options,
            self._rules,
            self._reading.signature(),
            self._baseline,
            answers_to(self._gold, self._traces),
        )

    def _read_traces(self) -> None:
        with self._records_out() as write:
            for block in self._blocks():
                record = self._found.add(block)
                write(record, self._found.patterns)
                self._progress(block.size)
            # Before the rows get their name: rejected input leaves no file.
            self._refuse_bad_input()

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

    def _blocks(self) -> Iterator[BlockScores]:
        work: Iterable[Block] = (block for name in self._traces for block in blocks(name))
        metrics = tuple(reading("facts"))
        arguments = (self._gold, self._reading, metrics, self._options.keep_answers)
        return ordered(BlockScorer, arguments, work, self._options.workers)

    def _refuse_bad_input(self) -> None:
        """Stop where too many lines were bad, or nothing could be scored."""
        found = self._found
        refuse_bad_lines(found.findings, found.rejected, self._allowed(found.filled))
        if not found.traces:
            seen = found.filled - found.rejected
            refuse_nothing(self._traces, found.findings, seen, "traces")


HEADLINES = (
    "quality.precision_cited",
    "quality.under_refusal",
    "quality.over_refusal",
    "quality.citation_hit_rate",
)
"""What is shown for each stratum."""
STRATUM_VALUES = 24
"""A stratum with more values than this is an id, not a slice."""


class _Assembly:
    """What a finished reading makes of the questions, and the outcome."""

    def __init__(self, found: Gathering, metrics: Sequence[Metric], brief: bool) -> None:
        self._found, self._gold, self._metrics = found, found.gold, metrics
        self._groups = found.groups(lambda question: pattern_of(missing(question)))
        facts = [pattern_facts(pattern) for pattern in self._groups.patterns]
        self._facts = facts
        self._label: list[str | None] = [label(one, brief=brief) for one in facts]
        self._triage = [triage(one) for one in facts]
        self._refusal = [None if one.refusal == "none" else one.refusal for one in facts]

    def outcome(
        self,
        options: ScoreOptions,
        rules: Sequence[Rule],
        reading: str,
        baseline: Baseline | None,
        answers: Answers | None,
    ) -> Outcome[ScoreReport]:
        weights = weights_of(self._gold)
        evaluation = Evaluation(
            ids=[question.qid for question in self._gold],
            sums={one.id: self._found.sums(one, self._groups) for one in self._metrics},
            rules=rules,
            slicing=by_gold(self._gold),
            signature=f"{reading}|each:{options.each}{'' if weights is None else '|weighted'}",
            weights=weights,
            min_coverage=options.min_coverage,
        )
        rows = tuple(self._question_rows())
        strata = {
            question.qid: {key: v for key, v in question.strata.items() if v is not None}
            for question in self._gold
        }
        units = int(self._groups.count.sum())
        self._note_questions()
        last = self._found.last_pattern.tolist()
        labels = [self._label[pattern] for pattern in last]
        report = evaluation.report(
            ScoreReport,
            self._found.findings,
            identity_of("score", options, self._metrics, self._gold, without=NOT_IN_THE_NUMBERS),
            labels=self._counted(self._label),
            triage=self._counted(self._triage),
            refusals=self._counted(self._refusal),
            strata=self._strata(evaluation),
            questions=rows,
            coverage=self._coverage(),
            advice=advise(rows, evaluation.scores, strata, units=units),
        )
        if baseline is not None:
            report = structs.replace(report, baseline=compared(report, baseline, self._metrics))
        return evaluation.outcome(
            report,
            labels=labels,
            right=[name in GOOD_LABELS for name in labels],
            details={"triage": [self._triage[pattern] for pattern in last], **self._answers()},
            gold=self._gold,
            record_rows=options.out,
            answers=answers,
        )

    def _answers(self) -> dict[str, Sequence[Any]]:
        """The last answer to each question, where answers were kept."""
        if not self._found.answers:
            return {}
        none: Shown = (None, (), None)
        each = [self._found.answers.get(place, none) for place in range(len(self._gold))]
        claims, cited, errors = zip(*each, strict=True)
        return {"claim": claims, "cited": cited, "error": errors}

    def _strata(self, evaluation: Evaluation) -> dict[str, dict[str, dict[str, Score]]]:
        """The headline metrics for each value of each stratum."""
        found: dict[str, dict[str, dict[str, Score]]] = {}
        for key in sorted({key for question in self._gold for key in question.strata}):
            values = [value_of(question, key) for question in self._gold]
            if 1 < len({value for value in values if value}) <= STRATUM_VALUES:
                found[key] = evaluation.by_value(values, HEADLINES)
        return found

    def _question_rows(self) -> Iterator[QuestionRow]:
        """One row a question, or a trace where each counts, as far as a report holds them."""
        found = self._found
        for place, pattern, file, line in found.kept if found.each == "trace" else ():
            last = line == found.last_line[place] and file == found.last_file[place]
            shown = found.shown.get(place) if last else None
            yield self._row(place, pattern, f"{found.files[file]}:{line}", shown)
        for place in range(min(len(self._gold), ROWS_KEPT)):
            pattern, shown = int(found.last_pattern[place]), found.shown.get(place)
            if not found.traces_of[place]:
                yield self._row(place, pattern, None, shown)
            elif found.each == "question":
                where = f"{found.files[found.last_file[place]]}:{found.last_line[place]}"
                yield self._row(place, pattern, where, shown)

    def _row(self, place: int, pattern: int, where: str | None, shown: Shown | None) -> QuestionRow:
        facts = self._facts[pattern]
        claim, cited, reason = shown or (None, None, None)
        return QuestionRow(
            qid=self._gold[place].qid,
            label=self._label[pattern] or "",
            triage=self._triage[pattern],
            in_scope=facts.in_scope,
            traces=int(self._found.traces_of[place]),
            where=where,
            claim=claim,
            cited=cited,
            reason=reason,
            **{name: getattr(facts, name) for name in PATTERN},
        )

    def _note_questions(self) -> None:
        """Findings about questions rather than lines: untraced, surplus, without gold ids."""
        add = self._found.findings.add
        counts = self._found.traces_of.tolist()
        for question, traces in zip(self._gold, counts, strict=True):
            qid = question.qid
            if not traces:
                add(Finding("missing_trace", qid, "no trace answers this question"))
            if traces > 1 and self._found.each == "question":
                message = f"{traces} traces; the last was scored, {traces - 1} not"
                add(Finding("surplus_traces", qid, message), traces - 1)
            if question.answerable and not question.gold_citations:
                add(Finding("no_gold_citations", qid, "no gold citations, so no hit can be told"))

    def _coverage(self) -> Coverage:
        found, counts = self._found, self._found.findings.counts
        traced = int((found.traces_of > 0).sum())
        last = [self._facts[pattern].status for pattern in found.last_pattern.tolist()]
        errors = last.count("error")
        return Coverage(
            gold=len(self._gold),
            traced=traced,
            scored=traced - errors,
            missing=len(self._gold) - traced,
            unknown=counts.get("unknown_question", 0) + counts.get("ambiguous_question", 0),
            duplicate=found.traces - traced,
            errors=errors,
            traces=found.traces,
            rejected=found.rejected,
        )

    def _counted(self, names: Sequence[str | None]) -> dict[str, int]:
        """How many units have each name."""
        counts: Counter[str] = Counter()
        pairs = zip(self._groups.pattern.tolist(), self._groups.count.tolist(), strict=True)
        for pattern, count in pairs:
            name = names[pattern]
            if name:
                counts[name] += count
        return dict(sorted(counts.items()))


def _silent(done: int) -> None:
    """Progress that nobody looks at."""
