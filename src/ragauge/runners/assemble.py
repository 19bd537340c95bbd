"""The report of a score, put together from what was gathered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from ragauge import __version__
from ragauge.contracts.facts import PATTERN, Pattern, pattern_facts, pattern_of
from ragauge.contracts.finding import Finding
from ragauge.contracts.gold import fingerprint, value_of
from ragauge.contracts.metric import Metric
from ragauge.contracts.score import (
    ROWS_KEPT,
    Coverage,
    QuestionRow,
    Score,
    ScoreReport,
    UnitRows,
)
from ragauge.contracts.verdict import Rule
from ragauge.diagnosis.advice import advise
from ragauge.gates.decide import passed
from ragauge.metrics.facts import missing
from ragauge.metrics.quality import GOOD_LABELS, label, triage
from ragauge.runners.baseline import Baseline, compared
from ragauge.runners.blocks import Shown
from ragauge.runners.evaluation import Numbers, by_gold
from ragauge.runners.gather import Gathering
from ragauge.runners.numbers import measured, weights_of

HEADLINES = (
    "quality.precision_cited",
    "quality.under_refusal",
    "quality.over_refusal",
    "quality.citation_hit_rate",
)
"""What is shown for each stratum."""
STRATUM_VALUES = 24
"""A stratum with more values than this is an id, not a slice."""


class Assembly:
    """Units, sums and labels of a finished reading, and the report they make."""

    def __init__(
        self,
        found: Gathering,
        metrics: tuple[Metric, ...],
        reading: str,
        identity: dict[str, Any],
        brief: bool,
    ) -> None:
        self._found, self._metrics, self._reading = found, metrics, reading
        self._gold = found.gold
        self._weights = weights_of(found.gold)
        self._groups = found.groups(lambda question: pattern_of(missing(question)))
        self._sums = {metric.id: found.sums(metric, self._groups) for metric in metrics}
        self._kinds = _Kinds(self._groups.patterns, brief)
        self._identity = identity

    def report(
        self, rules: tuple[Rule, ...], least: float, baseline: Baseline | None
    ) -> ScoreReport:
        signature = f"{self._reading}|each:{self._found.each}"
        numbers = Numbers(
            self._sums,
            [question.qid for question in self._gold],
            by_gold(self._gold),
            signature if self._weights is None else f"{signature}|weighted",
            weights=self._weights,
            min_coverage=least,
        )
        scores, gates = numbers.scores(), numbers.verdicts(rules)
        rows = tuple(self._question_rows())
        strata = {question.qid: _given(question.strata) for question in self._gold}
        self._note_questions()
        findings = self._found.findings
        report = ScoreReport(
            passed=passed(gates),
            metrics=scores,
            gates=gates,
            labels=self._counted(self._kinds.label),
            triage=self._counted(self._kinds.triage),
            refusals=self._counted(self._kinds.refusal),
            strata=self._strata(numbers),
            questions=rows,
            findings=tuple(findings.kept()),
            finding_counts=dict(sorted(findings.counts.items())),
            coverage=self._coverage(),
            advice=advise(rows, scores, strata, units=int(self._groups.count.sum())),
            identity={
                **self._identity,
                "ragauge": __version__,
                "gold_sha256": fingerprint(self._gold),
                "metrics": {metric.id: metric.version for metric in self._metrics},
            },
        )
        if baseline is None:
            return report
        return structs.replace(report, baseline=compared(report, baseline, self._metrics))

    def units(self) -> UnitRows:
        """What each question came to."""
        last = self._found.last_pattern.tolist()
        labels = [self._kinds.label[pattern] for pattern in last]
        return UnitRows(
            ids=[question.qid for question in self._gold],
            labels=labels,
            right=[name in GOOD_LABELS for name in labels],
            details={
                "triage": [self._kinds.triage[pattern] for pattern in last],
                **self._answers(),
            },
            measured={id: measured(sums, "sums") for id, sums in self._sums.items()},
        )

    def _answers(self) -> dict[str, Sequence[Any]]:
        """The last answer to each question, where answers were kept."""
        if not self._found.answers:
            return {}
        none: Shown = (None, (), None)
        each = [self._found.answers.get(place, none) for place in range(len(self._gold))]
        claims, cited, errors = zip(*each, strict=True)
        return {"claim": claims, "cited": cited, "error": errors}

    def _strata(self, numbers: Numbers) -> dict[str, dict[str, dict[str, Score]]]:
        """The headline metrics for each value of each stratum."""
        found: dict[str, dict[str, dict[str, Score]]] = {}
        for key in sorted({key for question in self._gold for key in question.strata}):
            values = [value_of(question, key) for question in self._gold]
            if 1 < len({value for value in values if value}) <= STRATUM_VALUES:
                found[key] = numbers.by_value(values, HEADLINES)
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
        facts = self._kinds.facts[pattern]
        claim, cited, reason = shown or (None, None, None)
        return QuestionRow(
            qid=self._gold[place].qid,
            label=self._kinds.label[pattern] or "",
            triage=self._kinds.triage[pattern],
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
        last = [self._kinds.facts[pattern].status for pattern in found.last_pattern.tolist()]
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


class _Kinds:
    """What each pattern is: its facts, label and triage, and how it refuses."""

    def __init__(self, patterns: Sequence[Pattern], brief: bool) -> None:
        self.facts = [pattern_facts(pattern) for pattern in patterns]
        self.label: list[str | None] = [label(facts, brief=brief) for facts in self.facts]
        self.triage = [triage(facts) for facts in self.facts]
        self.refusal = [None if f.refusal == "none" else f.refusal for f in self.facts]


def _given(strata: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in strata.items() if value is not None}
