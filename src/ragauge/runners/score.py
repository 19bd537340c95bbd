"""Score: answers, citations and refusals of finished traces, against a gold set."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.contracts.facts import PATTERN, Facts, Pattern, pattern_facts, pattern_of
from ragauge.contracts.finding import Finding
from ragauge.contracts.gold import Gold
from ragauge.contracts.metric import Metric
from ragauge.contracts.score import (
    ROWS_KEPT,
    Coverage,
    Outcome,
    QuestionRow,
    Score,
    ScoreReport,
)
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.diagnosis.advice import advise
from ragauge.engines.local import ordered
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.decide import decide, decide_each
from ragauge.gates.presets import DEFAULT, preset
from ragauge.gates.rules import checked, merged, parse_rules
from ragauge.ingest.gold import read_gold
from ragauge.ingest.lines import Block, blocks
from ragauge.metrics.facts import Reading, Strength
from ragauge.metrics.quality import label, triage
from ragauge.metrics.sums import Groups, QuestionSums
from ragauge.metrics.table import find, table
from ragauge.runners.baseline import compared, read_baseline
from ragauge.runners.blocks import BlockScorer, BlockScores, Shown
from ragauge.runners.gather import Each, Gathering, Record
from ragauge.runners.numbers import scored, values_of
from ragauge.text.canonical import Canon
from ragauge.text.refusal import DEFAULT_TOKEN

HEADLINES = (
    "quality.precision_cited",
    "quality.under_refusal",
    "quality.over_refusal",
    "quality.citation_hit_rate",
)
"""What is shown for each stratum."""
STRATUM_VALUES = 24
"""A stratum with more values than this is an id, not a slice."""
PROBLEMS_SHOWN = 100

Progress = Callable[[int], None]
"""Told how many bytes of the traces are done."""


class ScoreOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to score; the defaults are the command's."""

    preset: str | None = None
    gates: str | tuple[Rule, ...] | None = None
    refusal: Strength = "exact"
    refusal_tokens: tuple[str, ...] = (DEFAULT_TOKEN,)
    canon: Canon = "unicode"
    inline: bool = False
    each: Each = "question"
    workers: int = 1
    max_bad: str = "0"
    out: str | None = None
    baseline: str | None = None


def score(
    gold: str | Path,
    traces: str | Path | Sequence[str | Path],
    progress: Progress | None = None,
    **options: Any,
) -> Outcome:
    """The outcome of scoring trace files against a gold file; options as in ScoreOptions.

    Raises UsageError or InputRejected with everything that is wrong. With more than one worker,
    call it under `if __name__ == "__main__"`, as everything that starts processes.
    """
    names = [traces] if isinstance(traces, str | Path) else traces
    files = [str(name) for name in names]
    return _Run(str(gold), files, options_of(options), progress or _silent).outcome()


def options_of(given: dict[str, Any]) -> ScoreOptions:
    """The options of a call, each of the kind it should be; raises UsageError otherwise."""
    plain = {name: str(v) if isinstance(v, Path) else v for name, v in given.items()}
    try:
        return msgspec.convert(plain, ScoreOptions)
    except msgspec.ValidationError as error:
        raise UsageError(f"score: {error}") from None


class _Run:
    """One score from its files to its outcome."""

    def __init__(
        self, gold: str, traces: list[str], options: ScoreOptions, progress: Progress
    ) -> None:
        self._options, self._progress, self._traces = options, progress, traces
        self._rules = rules_of(options)
        self._allowed = allowed_bad(options.max_bad)
        self._baseline = read_baseline(options.baseline) if options.baseline else None
        self._reading = Reading(
            options.canon, options.refusal, options.refusal_tokens, options.inline
        )
        wanted = {rule.metric: find(rule.metric) for rule in self._rules}
        self._metrics = tuple(dict(sorted({**table(), **wanted}.items())).values())
        self._brief = options.preset == "example08"
        self._gold = read_gold(gold)
        self._found = Gathering(self._gold, self._metrics, options.each)

    def outcome(self) -> Outcome:
        self._read_traces()
        groups = self._found.groups(_missing)
        sums = {m.id: self._found.sums(m, groups) for m in self._metrics}
        labels = _Labels(groups.patterns, self._brief)
        rows = tuple(self._question_rows(labels))
        self._note_questions(groups)
        report = self._report(sums, groups, labels, rows)
        return Outcome(
            report=report,
            unit_rows=self._unit_rows(sums, labels),
            record_rows=self._options.out,
            identity=report.identity,
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
        arguments = (self._gold, self._reading, tuple(table()))
        return ordered(BlockScorer, arguments, work, self._options.workers)

    def _refuse_bad_input(self) -> None:
        """Stop where too many lines were bad, or nothing could be scored."""
        found = self._found
        if found.rejected > self._allowed(found.filled):
            bad = [f for f in found.findings.kept() if f.code == "bad_line"][:PROBLEMS_SHOWN]
            problems = [f"{finding.where}: {finding.message}" for finding in bad]
            more = found.findings.counts["bad_line"] - len(bad)
            raise InputRejected(*problems, more=more)
        if not found.traces:
            seen = found.findings.counts.get("unknown_question", 0)
            fact = (
                f"none of the {seen:,} traces belongs to a gold question" if seen else "no traces"
            )
            names = ", ".join(self._traces)
            first = [f"{f.where}: {f.message}" for f in found.findings.kept()[:3]]
            raise InputRejected(f"{names}: nothing to score: {fact}", *first)

    def _report(
        self,
        sums: dict[str, QuestionSums],
        groups: Groups,
        labels: _Labels,
        rows: tuple[QuestionRow, ...],
    ) -> ScoreReport:
        scores = {id: self._score(one) for id, one in sums.items()}
        gates = tuple(self._verdict(rule, sums[rule.metric]) for rule in self._rules)
        strata = {question.qid: question.strata for question in self._gold}
        baseline = self._baseline
        return ScoreReport(
            passed=all(verdict.holds for verdict in gates),
            metrics=scores,
            gates=gates,
            labels=labels.counted(groups, labels.label),
            triage=labels.counted(groups, labels.triage),
            strata=self._strata(sums),
            questions=rows,
            findings=tuple(self._found.findings.kept()),
            finding_counts=dict(sorted(self._found.findings.counts.items())),
            coverage=self._coverage(labels),
            advice=advise(rows, scores, strata, units=int(groups.count.sum())),
            baseline=None if baseline is None else compared(rows, scores, baseline, self._metrics),
            identity=self._identity(),
        )

    def _score(
        self, sums: QuestionSums, mask: Any = None, confidence: float | None = None
    ) -> Score:
        return scored(sums, self._signature(sums.metric), mask, confidence)

    def _signature(self, metric: Metric) -> str:
        each = self._options.each
        return f"{metric.id}|v{metric.version}|{self._reading.signature()}|each:{each}"

    def _verdict(self, rule: Rule, sums: QuestionSums) -> Verdict:
        mask = self._mask(rule)
        if rule.per == "question":
            values = values_of(sums)[mask].tolist()
            qids = [q.qid for q, inside in zip(self._gold, mask, strict=True) if inside]
            return decide_each(rule, qids, [None if v != v else v for v in values])
        return decide(rule, self._score(sums, mask, rule.confidence))

    def _mask(self, rule: Rule) -> Any:
        """Which questions a rule speaks of."""
        known = {"answerable"}.union(*(question.strata for question in self._gold))
        for key in rule.where:
            if key not in known:
                names = ", ".join(sorted(known))
                raise UsageError(f'gate "{rule}": no question has "{key}"; there are {names}')
        return np.array([_meets(question, rule.where) for question in self._gold])

    def _strata(self, sums: dict[str, QuestionSums]) -> dict[str, dict[str, dict[str, Score]]]:
        """The headline metrics for each value of each stratum."""
        found: dict[str, dict[str, dict[str, Score]]] = {}
        for key in sorted({key for question in self._gold for key in question.strata}):
            of = np.array([str(question.strata.get(key, "")) for question in self._gold])
            values = [value for value in np.unique(of).tolist() if value]
            if 1 < len(values) <= STRATUM_VALUES:
                found[key] = {
                    value: {id: self._score(sums[id], of == value) for id in HEADLINES}
                    for value in values
                }
        return found

    def _question_rows(self, labels: _Labels) -> Iterator[QuestionRow]:
        """One row a question, or a trace where each counts, as far as a report holds them."""
        found = self._found
        if self._options.each == "trace":
            for place, pattern, file, line in found.kept:
                last = line == found.last_line[place] and file == found.last_file[place]
                shown = found.shown.get(place) if last else None
                yield self._row(place, pattern, f"{found.files[file]}:{line}", shown, labels)
        for place in range(min(len(self._gold), ROWS_KEPT)):
            traced = found.traces_of[place] > 0
            if self._options.each == "question" or not traced:
                where = f"{found.files[found.last_file[place]]}:{found.last_line[place]}"
                pattern = int(found.last_pattern[place])
                shown = found.shown.get(place)
                yield self._row(place, pattern, where if traced else None, shown, labels)

    def _row(
        self, place: int, pattern: int, where: str | None, shown: Shown | None, labels: _Labels
    ) -> QuestionRow:
        facts = labels.facts[pattern]
        return QuestionRow(
            qid=self._gold[place].qid,
            label=labels.label[pattern] or "",
            triage=labels.triage[pattern],
            in_scope=facts.in_scope,
            traces=int(self._found.traces_of[place]),
            where=where,
            claim=shown.claim if shown else None,
            cited=shown.cited if shown else None,
            reason=shown.reason if shown else None,
            **{name: getattr(facts, name) for name in PATTERN},
        )

    def _note_questions(self, groups: Groups) -> None:
        """Findings about questions rather than lines: untraced, surplus, without gold ids."""
        findings, counts = self._found.findings, self._found.traces_of
        for place in np.flatnonzero(counts == 0).tolist():
            qid = self._gold[place].qid
            findings.add(Finding("missing_trace", qid, f"{qid}: no trace answers this question"))
        for place in (
            np.flatnonzero(counts > 1).tolist() if self._options.each == "question" else ()
        ):
            qid, surplus = self._gold[place].qid, int(counts[place]) - 1
            message = f"{qid}: {surplus + 1} traces; the last was scored, {surplus} were not"
            findings.add(Finding("surplus_traces", qid, message), surplus)
        for question in self._gold:
            if question.answerable and not question.gold_citations:
                message = f"{question.qid}: no gold citations, so no hit can be told"
                findings.add(Finding("no_gold_citations", question.qid, message))

    def _coverage(self, labels: _Labels) -> Coverage:
        found = self._found
        traced = int((found.traces_of > 0).sum())
        last = [labels.facts[pattern].status for pattern in found.last_pattern.tolist()]
        errors = last.count("error")
        counts = found.findings.counts
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

    def _unit_rows(self, sums: dict[str, QuestionSums], labels: _Labels) -> dict[str, Any]:
        last = self._found.last_pattern.tolist()
        return {
            "qid": [question.qid for question in self._gold],
            "label": [labels.label[pattern] for pattern in last],
            "triage": [labels.triage[pattern] for pattern in last],
            **{id: values_of(one) for id, one in sums.items()},
        }

    def _identity(self) -> dict[str, Any]:
        options = msgspec.to_builtins(self._options)
        for not_in_the_numbers in ("workers", "out", "baseline", "gates"):
            options.pop(not_in_the_numbers)
        gold = b"\n".join(msgspec.json.encode(question) for question in self._gold)
        return {
            "command": "score",
            "ragauge": __version__,
            "gold_sha256": hashlib.sha256(gold).hexdigest(),
            "options": options,
            "metrics": {metric.id: metric.version for metric in self._metrics},
        }


class _Labels:
    """The label and triage of each pattern."""

    def __init__(self, patterns: Sequence[Pattern], brief: bool) -> None:
        self.facts = [pattern_facts(pattern) for pattern in patterns]
        self.label: list[str | None] = [label(facts, brief=brief) for facts in self.facts]
        self.triage = [triage(facts) for facts in self.facts]

    def counted(self, groups: Groups, names: list[str | None]) -> dict[str, int]:
        counts: Counter[str] = Counter()
        for pattern, count in zip(groups.pattern.tolist(), groups.count.tolist(), strict=True):
            name = names[pattern]
            if name:
                counts[name] += count
        return dict(sorted(counts.items()))


def rules_of(options: ScoreOptions) -> tuple[Rule, ...]:
    """The gates a run must meet: the preset's, with the user's in place of or beside them."""
    own = options.gates or ()
    if isinstance(own, str):
        own = parse_rules(own, lambda name: find(name).id)
    else:
        own = tuple(checked(structs.replace(rule, metric=find(rule.metric).id)) for rule in own)
    if options.preset:
        return merged(preset(options.preset), own)
    return own or preset(DEFAULT)


def allowed_bad(text: str) -> Callable[[int], float]:
    """How many bad lines a number of lines may hold: `N`, or `P%` of them."""
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        share = -1
    if share < 0 or (text.endswith("%") and share > 100):
        raise UsageError(f'--max-bad "{text}" is neither a count nor a percentage such as 1%')
    return (lambda lines: share / 100 * lines) if text.endswith("%") else (lambda lines: share)


def _missing(question: Gold) -> Pattern:
    citable = bool(question.gold_citations)
    return pattern_of(Facts(question.answerable, "missing", citable=citable))


def _meets(question: Gold, where: dict[str, Any]) -> bool:
    known = {**question.strata, "answerable": question.answerable}
    return all(
        key in known and str(known[key]).lower() == str(value).lower()
        for key, value in where.items()
    )


def _silent(done: int) -> None:
    """Progress that nobody looks at."""
