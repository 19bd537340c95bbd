"""Score: answers, citations and refusals of finished traces, against a gold set."""

from __future__ import annotations

import gc
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field, structs

from ragauge.contracts.gold import Gold, value_of
from ragauge.contracts.metric import (
    PATTERN,
    Absent,
    Facts,
    Metric,
    Pattern,
    Row,
    pattern_facts,
    pattern_of,
)
from ragauge.contracts.opt import takes
from ragauge.contracts.options import Each, ScoreOptions
from ragauge.contracts.report import ROWS_KEPT, Finding, Outcome, Rule, Score
from ragauge.contracts.score import Coverage, QuestionRow, ScoreReport
from ragauge.contracts.trace import Trace
from ragauge.diagnosis.advice import advise
from ragauge.engines.local import no_progress, ordered
from ragauge.errors import UsageError
from ragauge.gates.presets import BRIEF, DEFAULT, brief_name, preset
from ragauge.gates.rules import merged, parse_rules, user_rule
from ragauge.ingest.fields import Columns, allowed_bad
from ragauge.ingest.gold import GOLD, read_gold
from ragauge.ingest.lines import STDIN, Block
from ragauge.ingest.records import Source, columns_for, is_stdin
from ragauge.ingest.traces import TRACE, Traces, decoded, read_trace, trace_in, traces_of
from ragauge.metrics.facts import NOT_OK, Parsed, Reader, Reading, error_reason, missing_facts
from ragauge.metrics.quality import GOOD_LABELS, NO_ANSWER, label, triage
from ragauge.metrics.sums import Groups, Rows, Sums, sums_of
from ragauge.metrics.table import find, reading, table
from ragauge.runners.baseline import compared, read_baseline
from ragauge.runners.evaluation import Evaluation, by_gold, identity_of, weights_of
from ragauge.runners.observations import (
    CITED_SHOWN,
    CLAIM_SHOWN,
    BlockLines,
    Gathered,
    Observing,
    answers_to,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

CLAIM_KEPT = 2_000
"""Of an answer that history keeps: enough to read, whatever a system wrote."""

Shown = tuple[str | None, tuple[str, ...], str | None]
"""What a report shows of an answer: its claim, what it cites, why it failed.
A plain tuple, because thousands of them cross from one process to another with every block."""


class BlockScores(BlockLines):
    """All that is known of a block; small, whatever the length of its texts."""

    question: array[int] = field(default_factory=lambda: array("i"))
    pattern: array[int] = field(default_factory=lambda: array("i"))
    line: array[int] = field(default_factory=lambda: array("q"))
    patterns: list[Pattern] = field(default_factory=list)
    measured: dict[str, Rows] = field(default_factory=dict)
    shown: dict[int, Shown] = field(default_factory=dict)
    """By question, the last answer where it went wrong."""
    answers: dict[int, Shown] = field(default_factory=dict)
    """By question, the last answer, where they are kept."""


class _Codes(dict[Pattern, int]):
    """A number for each pattern met; whether its label is good, and whether it is a finding."""

    def __init__(self) -> None:
        self.good: list[bool] = []
        self.noted: list[bool] = []

    def __missing__(self, pattern: Pattern) -> int:
        self[pattern] = code = len(self)
        facts = pattern_facts(pattern)
        self.good.append(label(facts) in GOOD_LABELS)
        cites = facts.answered is False and facts.cited_count > 0
        own_words = facts.refusal in ("free", "undetermined")
        self.noted.append(facts.status == "error" or cites or own_words)
        return code


class BlockScorer:
    """Scores blocks against one gold set, under one reading."""

    def __init__(
        self,
        gold: list[Gold],
        reading: Reading | Reader,
        metrics: tuple[str, ...],
        keep_answers: bool = False,
    ) -> None:
        self._reader = reading if isinstance(reading, Reader) else Reader(reading)
        self._keep_answers = keep_answers
        self._keys = [self._reader.key(question) for question in gold]
        self._beyond_pattern = [table()[id] for id in metrics if not table()[id].by_pattern]
        # A metric from elsewhere may ask for any field of the trace: then all are read.
        every_field = (lambda line: read_trace(decoded(line))) if self._beyond_pattern else None
        self._observing = Observing(gold, every_field or trace_in)

    def __call__(self, block: Block) -> BlockScores:
        """The scores of every trace of the block, in order."""
        found = BlockScores(block.name, block.start, block.size)
        lines = found.read(block)
        # Next to nothing of a block is in cycles, and to look for them takes time with every
        # thousand traces.
        collecting = gc.isenabled()
        gc.disable()
        try:
            self.add(self._observing.read(lines, found), found)
        finally:
            if collecting:
                gc.enable()
        return found

    def add(self, observed: Iterable[tuple[int, Trace, int | None]], found: BlockScores) -> None:
        """Score what was observed; traces of no gold question are passed over."""
        found.measured = {m.id: Rows(len(m.columns)) for m in self._beyond_pattern}
        codes = _Codes()
        wrong: dict[int, tuple[Parsed, Trace]] = {}
        right: dict[int, tuple[Parsed, Trace]] = {}
        # What the loop touches is bound once: it runs for every trace.
        keys, read, beyond = self._keys, self._reader.read, self._beyond_pattern
        good, noted, keep = codes.good, codes.noted, self._keep_answers
        add_question, add_pattern = found.question.append, found.pattern.append
        add_line = found.line.append
        for number, trace, place in observed:
            if place is None:
                continue
            facts = read(keys[place], trace)
            code = codes[facts[0]]
            add_question(place)
            add_pattern(code)
            add_line(number)
            if good[code]:
                wrong.pop(place, None)
                if keep:
                    right[place] = facts, trace
            else:
                wrong[place] = facts, trace
            if noted[code] or trace.ok is False:
                _note_answer(keys[place].gold.qid, facts, trace, number, found)
            for metric in beyond:
                _measure(metric, self._reader.facts(keys[place], trace), number, found)
        found.patterns = list(codes)
        found.shown = {p: _shown(*last) for p, last in wrong.items() if p < ROWS_KEPT}
        if keep:
            last_of_each = right | wrong  # a right answer followed by a wrong one is in both
            found.answers = {p: _shown(*last, CLAIM_KEPT) for p, last in last_of_each.items()}


def _note_answer(qid: str, facts: Parsed, trace: Trace, number: int, found: BlockScores) -> None:
    """Findings about an answer that was scored."""
    pattern, claim, cited = facts
    read = pattern_facts(pattern)
    if read.status == "error":
        found.note("error_record", number, f"{qid}: {error_reason(trace)}")
    if read.answered is False and cited:
        ids = ", ".join(cited[:3])
        found.note("refusal_cites", number, f"{qid}: refuses, yet cites {ids}")
    if read.refusal == "free":
        counted = "an answer; --refusal auto counts it as a refusal" if read.answered else "one"
        message = f"{qid}: refuses in free words, counted as {counted}: {claim}"
        found.note("free_refusal", number, message)
    elif read.refusal == "undetermined":
        message = f"{qid}: may refuse in free words, counted as an answer: {claim}"
        found.note("undetermined_refusal", number, message)
    if trace.ok is False and read.status != "error":
        message = f"{qid}: {NOT_OK}; its answer is a refusal and counts as one"
        found.note("not_ok", number, message)


def _shown(facts: Parsed, trace: Trace, length: int = CLAIM_SHOWN) -> Shown:
    pattern, claim, cited = facts
    failed = pattern_facts(pattern).status == "error"
    reason = error_reason(trace) if failed else None
    return claim[:length] or None, cited[:CITED_SHOWN], reason


def _measure(metric: Metric, facts: Facts, number: int, found: BlockScores) -> None:
    """One row of a metric; an exception of a foreign metric becomes a finding, never a zero."""
    try:
        row: Row | Absent = metric(facts)
    except Exception as error:  # a foreign metric can fail in any way
        row = Absent(f"{type(error).__name__} in the metric")
        found.note("metric_error", number, f"{metric.id}: {type(error).__name__}: {error}")
    found.measured[metric.id].append(row)


_NONE = -1


class Record(Struct, frozen=True):
    """Scored traces of one block, ready to be written as rows."""

    file: str
    line: Ints
    question: Ints
    pattern: Ints
    measured: dict[str, Rows]


class Gathering(Gathered):
    """What a score knows while it reads; grows with the gold set, not with the traces."""

    def __init__(self, gold: list[Gold], metrics: tuple[Metric, ...], each: Each) -> None:
        super().__init__()
        n = len(gold)
        self.gold, self.each = gold, each
        self.traces = 0
        self.traces_of = np.zeros(n, dtype=np.int64)
        self.patterns: dict[Pattern, int] = {}
        self.files: list[str] = []
        self.last_pattern = np.full(n, _NONE, dtype=np.int64)
        self.last_file = np.zeros(n, dtype=np.int32)
        self.last_line = np.zeros(n, dtype=np.int64)
        self.shown: dict[int, Shown] = {}
        self.answers: dict[int, Shown] = {}
        """Each question's last answer, where answers are kept."""
        self.kept: list[tuple[int, int, int, int]] = []
        """The first traces as (question, pattern, file, line), for `each="trace"`."""
        self._groups = _Counted()
        beyond = [metric for metric in metrics if not metric.by_pattern]
        self._sums = {metric.id: Sums.zero(metric, n) for metric in beyond}
        """What the metrics that read more than patterns found in every trace."""
        self._last: dict[str, dict[int, Row | Absent]] = {metric.id: {} for metric in beyond}
        """What they found in each question's last trace."""

    def add(self, block: BlockScores) -> Record:
        """Take a block in; blocks come in the order of the files."""
        if block.start == 0:
            self.files.append(block.name)
        file = len(self.files) - 1
        line = np.frombuffer(block.line, dtype=np.int64) + self.number(block)
        question = np.frombuffer(block.question, dtype=np.int32).astype(np.int64)
        codes = [self.patterns.setdefault(p, len(self.patterns)) for p in block.patterns]
        local = np.frombuffer(block.pattern, dtype=np.int32)
        pattern = np.array(codes, dtype=np.int64)[local] if codes else local.astype(np.int64)
        self.take(block)
        self.traces += len(question)
        np.add.at(self.traces_of, question, 1)
        self._take_last(question, pattern, file, line, block.shown)
        self.answers |= block.answers
        if self.each == "trace":
            self._groups.add(question, pattern)
            self._keep(question, pattern, file, line)
        for id, sums in self._sums.items():
            rows = block.measured[id]
            if self.each == "trace":
                sums.add(rows.sums(sums.metric), question)
            else:
                self._last[id] |= zip(question.tolist(), rows.each(), strict=True)
        return Record(block.name, line, question, pattern, block.measured)

    def groups(self, missing: Callable[[Gold], Pattern]) -> Groups:
        """The units: the last trace of each question, or each trace; and the untraced questions."""
        untraced = np.flatnonzero(self.traces_of == 0)
        for place in untraced:
            empty = missing(self.gold[place])
            self.last_pattern[place] = self.patterns.setdefault(empty, len(self.patterns))
        if self.each == "question":
            question = np.arange(len(self.gold), dtype=np.int64)
            pattern, count = self.last_pattern, np.ones_like(question)
        else:
            question, pattern, count = self._groups.counted(untraced, self.last_pattern[untraced])
        return Groups(len(self.gold), question, pattern, count, tuple(self.patterns))

    def rows(self) -> Iterator[tuple[int, int, str | None, Shown | None]]:
        """Questions, or traces where each counts, as far as a report holds them.

        Each is a question's place, its pattern, the line it stands in, and what is shown of it.
        """
        for place, pattern, file, line in self.kept if self.each == "trace" else ():
            last = line == self.last_line[place] and file == self.last_file[place]
            yield (
                place,
                pattern,
                f"{self.files[file]}:{line}",
                self.shown.get(place) if last else None,
            )
        for place in range(min(len(self.gold), ROWS_KEPT)):
            pattern, shown = int(self.last_pattern[place]), self.shown.get(place)
            if not self.traces_of[place]:
                yield place, pattern, None, shown
            elif self.each == "question":
                where = f"{self.files[self.last_file[place]]}:{self.last_line[place]}"
                yield place, pattern, where, shown

    def sums(self, metric: Metric, groups: Groups) -> Sums:
        if metric.by_pattern:
            return sums_of(metric, groups)
        if self.each == "question":
            last = self._last[metric.id]
            return Sums.of(metric, (last.get(at, NO_ANSWER) for at in range(len(self.gold))))
        untraced = np.flatnonzero(self.traces_of == 0)
        missing = Sums.zero(metric, len(self.gold))
        missing.add(Sums.of(metric, [NO_ANSWER] * len(untraced)), untraced)
        return self._sums[metric.id] + missing

    def _take_last(
        self, question: Ints, pattern: Ints, file: int, line: Ints, shown: dict[int, Shown]
    ) -> None:
        # Where a question stands several times in the block, numpy keeps the last assignment.
        self.last_pattern[question] = pattern
        self.last_line[question] = line
        self.last_file[question] = file
        for place in np.unique(question[question < ROWS_KEPT]).tolist():
            self.shown.pop(place, None)
        self.shown |= shown

    def _keep(self, question: Ints, pattern: Ints, file: int, line: Ints) -> None:
        room = ROWS_KEPT - len(self.kept)
        if room > 0:
            rows = np.stack([question[:room], pattern[:room], line[:room]], axis=1).tolist()
            self.kept += [(place, code, file, at) for place, code, at in rows]


class _Counted:
    """Units counted by (question, pattern), compacted now and then so that memory stays flat."""

    WIDTH = 1 << 24
    """Patterns a run may have; questions stand above them in one integer key."""

    def __init__(self) -> None:
        self._keys: list[Ints] = []
        self._counts: list[Ints] = []
        self._held = self._compact_at = 0

    def add(self, question: Ints, pattern: Ints) -> None:
        keys, counts = np.unique(question * self.WIDTH + pattern, return_counts=True)
        self._keys.append(keys)
        self._counts.append(counts)
        self._held += len(keys)
        if self._held > self._compact_at:
            self._compact()

    def counted(self, question: Ints, pattern: Ints) -> tuple[Ints, Ints, Ints]:
        if len(question):
            self.add(question, pattern)
        self._compact()
        keys, counts = self._keys[0], self._counts[0]
        return keys // self.WIDTH, keys % self.WIDTH, counts

    def _compact(self) -> None:
        keys, inverse = np.unique(np.concatenate(self._keys), return_inverse=True)
        counts = np.zeros(len(keys), dtype=np.int64)
        np.add.at(counts, inverse, np.concatenate(self._counts))
        self._keys, self._counts, self._held = [keys], [counts], len(keys)
        self._compact_at = 2 * len(keys) + 100_000


Progress = Callable[[int], None]
"""Called with how many bytes of the traces are done."""


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
    return Scoring(gold, sources, options, progress or no_progress, mapped["gold"]).outcome()


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
        progress: Progress = no_progress,
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
        groups = found.groups(lambda question: pattern_of(missing_facts(question)))
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

        rows = tuple(row(*fields) for fields in found.rows())
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
                unread_columns=found.unread(self._traces, gold),
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
