"""Score: answers, citations and refusals of finished traces, against a gold set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ragauge.contracts.facts import Pattern
from ragauge.contracts.metric import Metric
from ragauge.contracts.refusal import RefusalOptions
from ragauge.contracts.score import Outcome, ScoreReport
from ragauge.contracts.verdict import Rule
from ragauge.engines.local import ordered
from ragauge.errors import UsageError
from ragauge.gates.decide import MIN_COVERAGE
from ragauge.gates.presets import BRIEF, DEFAULT, brief_name, preset
from ragauge.gates.rules import merged, parse_rules, user_rule
from ragauge.ingest.gold import read_gold
from ragauge.ingest.lines import STDIN, Block, blocks
from ragauge.metrics.facts import Reading
from ragauge.metrics.table import find, reading
from ragauge.runners.assemble import Assembly
from ragauge.runners.bad_input import allowed_bad, refuse_bad_lines, refuse_nothing
from ragauge.runners.baseline import read_baseline
from ragauge.runners.blocks import BlockScorer, BlockScores
from ragauge.runners.gather import Each, Gathering, Record
from ragauge.runners.kept_answers import answers_to
from ragauge.runners.options import File, takes
from ragauge.text.canonical import Canon

Progress = Callable[[int], None]
"""Told how many bytes of the traces are done."""


class ScoreOptions(RefusalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to score; the defaults are the command's."""

    preset: str | None = None
    gates: str | tuple[Rule, ...] | None = None
    canon: Canon = "unicode"
    inline: bool = False
    each: Each = "question"
    workers: Annotated[int, Meta(ge=1)] = 1
    max_bad: str = "0"
    out: File | None = None
    keep_answers: bool = False
    """Hand over what was answered to every question, as history wants it."""
    baseline: File | None = None
    min_coverage: Annotated[float, Meta(ge=0, le=1)] = MIN_COVERAGE
    """Of the questions that should have a value, the fraction a gate needs to decide."""


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
        assembly = Assembly(
            self._found, self._metrics, self._reading.signature(), self._identity(), self._brief
        )
        report = assembly.report(self._rules, self._options.min_coverage, self._baseline)
        return Outcome(
            report=report,
            units=assembly.units(),
            gold=self._gold,
            record_rows=self._options.out,
            identity=report.identity,
            answers=answers_to(self._gold, self._traces),
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

    def _identity(self) -> dict[str, Any]:
        options = msgspec.to_builtins(self._options)
        return {
            "command": "score",
            "options": {name: options[name] for name in options if name not in NOT_IN_THE_NUMBERS},
        }


def _silent(done: int) -> None:
    """Progress that nobody looks at."""
