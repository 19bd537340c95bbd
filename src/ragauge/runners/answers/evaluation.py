"""From rows to an outcome: what `eval answers` and `eval qa` have in common."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.evaluation import AnswerDetail, HumanAgreement, Task
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.trace import Trace
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.gates.presets import any_value, undecided
from ragauge.gates.rules import parse_rules
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.overlap import claim_verdicts, factual_accuracy, verdict_counts
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.asking import UNJUDGED
from ragauge.runners.answers.detail import (
    bands,
    kinds,
    note_assumed,
    scored_answers,
    unsupported,
    worst_answers,
)
from ragauge.runners.answers.gathering import Asking, Gathered, gathered_facts
from ragauge.runners.answers.kept_calibrations import shown_agreement
from ragauge.runners.answers.likeness import FAILED
from ragauge.runners.answers.making import groups_of, made_with
from ragauge.runners.answers.measuring import values_by_row
from ragauge.runners.answers.options import (
    COVERAGE,
    DEFAULT_EMBEDDER,
    JUDGED,
    AnswerOptions,
    calibration_of,
    chosen_metrics,
)
from ragauge.runners.answers.scores import AnswersOutcome, answer_scores
from ragauge.runners.components.evaluation import Evaluated, outcome_of
from ragauge.runners.components.options import rules_for
from ragauge.runners.components.strata import strata_of

if TYPE_CHECKING:
    from ragauge.runners.evaluation import Mask


HEADLINES: dict[str, tuple[str, ...]] = {
    "answers": (
        *("groundedness", "grounded", "number_agreement", "faithfulness"),
        *("lexical_faithfulness", "relevance", "token_recall", "containment"),
    ),
    "qa": (
        *("token_recall", "containment", "token_f1", "factual_accuracy", "faithfulness"),
        *("lexical_faithfulness", "relevance", "groundedness"),
    ),
}
"""By task, what is shown of each stratum, where it is measured."""
RIGHT: dict[str, tuple[str, ...]] = {
    "answers": ("answers.grounded", "answers.containment"),
    "qa": ("answers.containment", "answers.grounded"),
}
"""By task, what tells whether an answer is right: the first that has a value."""
WORST = ("answers.groundedness", "answers.token_recall", "answers.faithfulness")
"""What the worst answers are the worst of: the first that was measured."""


class ReadAnswers(Struct, frozen=True, kw_only=True):
    """Rows that are ready to be measured, and what reading them told."""

    task: Task
    rows: Sequence[AnswerRow]
    given: Sequence[str | int]
    """Their ids as they were written."""
    findings: Findings
    problems: Sequence[str]
    coverage: dict[str, int]
    """What the task counts besides."""


def outcome_of_answers(read: ReadAnswers, options: AnswerOptions, asking: Asking) -> AnswersOutcome:
    """The report on these rows, with the scores of each in the input's order."""
    metrics = chosen_metrics(options)
    ids = [row.id for row in read.rows]
    strata = strata_of(ids, [row.strata for row in read.rows], options)
    calibration = calibration_of(options)
    gathered = gathered_facts(read.rows, options, metrics, read.findings, asking, calibration)
    rows = gathered.rows
    values = values_by_row(metrics, rows)
    # By id, so that numbers do not depend on the order of the rows.
    order = sorted(range(len(ids)), key=ids.__getitem__)
    measured = _Measured(
        metrics=metrics,
        facts=_in(order, gathered.facts),
        rows={id: _in(order, column) for id, column in rows.items()},
        values={id: _in(order, column) for id, column in values.items()},
        strata={name: _in(order, column) for name, column in strata.items()},
    )
    agreement = shown_agreement(calibration, asking.calibrations, metrics, gathered.judge, options)
    evaluated = _evaluated(read, options, gathered, measured, agreement)
    outcome = outcome_of(evaluated, _told(options, gathered))
    told = {name: getattr(outcome, name) for name in outcome.__struct_fields__}
    told["answers"] = partial(kept_rows, read.rows)
    scores = answer_scores(read.given, gathered.facts, metrics, rows, values)
    return AnswersOutcome(**told, scores=scores)


def _told(options: AnswerOptions, gathered: Gathered) -> AnswerOptions:
    """The options as a report tells them: no address of an embedder, and of a rubric its hash."""
    rubric = None if options.rubric is None else rubric_id(options.rubric)
    return structs.replace(options, embedder=gathered.embedder, rubric=rubric)


class _Measured(Struct, frozen=True, kw_only=True):
    """What was measured, by the ids of the rows."""

    metrics: Mapping[str, Metric]
    facts: list[AnswerFacts]
    rows: Mapping[str, list[Row | Absent]]
    values: Mapping[str, list[float | None]]
    strata: Mapping[str, list[str | None]]


def _in(order: Sequence[int], column: Sequence[Any]) -> list[Any]:
    return [column[place] for place in order]


def _evaluated(
    read: ReadAnswers,
    options: AnswerOptions,
    gathered: Gathered,
    measured: _Measured,
    agreement: tuple[HumanAgreement, ...],
) -> Evaluated:
    facts = measured.facts
    if not facts:
        read.findings.add(Finding("nothing_to_score", "rows", "there is no row"))
    note_assumed(facts, read.findings)
    rules = rules_for(read.task, options)
    note_parts(rules, measured.rows, read.findings)
    settling = settling_of(options, rules, measured.rows, gathered.unfinished)
    right = _right(read.task, facts, measured.values)
    return Evaluated(
        task=read.task,
        units=[one.row.id for one in facts],
        sums={id: Sums.of(one, measured.rows[id]) for id, one in measured.metrics.items()},
        headlines=_headlines(read.task, measured.values),
        strata=measured.strata,
        right=right,
        per_type={},
        detail=_detail(gathered, measured, agreement, right),
        findings=read.findings,
        coverage=_coverage(read, facts, measured.values, settling.lost),
        signature=f"refusal:{options.refusal}",
        made_with=made_with(gathered, measured.metrics, facts, options),
        problems=read.problems,
        faults=answer_faults(facts, measured.values),
        gold_sha256=_fingerprint(facts),
        meanings=[_meaning(one.row) for one in facts],
        groups=groups_of(facts, measured.strata),
        undecided=list(settling.unheard(measured.metrics, measured.values)),
        settled=settling.settled,
    )


def _headlines(task: Task, values: Mapping[str, Sequence[float | None]]) -> list[str]:
    """The task's headlines that have a value; where none has one, all that was measured."""
    known = [f"answers.{name}" for name in HEADLINES[task]]
    told = [id for id in known if any(value is not None for value in values.get(id, ()))]
    return told or [id for id in values if id != COVERAGE]


def _right(
    task: Task, facts: Sequence[AnswerFacts], values: Mapping[str, Sequence[float | None]]
) -> list[bool | None]:
    """Whether each answer is right; False without an answer, None where nothing tells."""
    columns = [values[id] for id in RIGHT[task] if id in values]
    found: list[bool | None] = []
    for place, one in enumerate(facts):
        told = next((column[place] for column in columns if column[place] is not None), None)
        found.append(False if one.row.answer is None else None if told is None else told >= 1)
    return found


def _detail(
    gathered: Gathered,
    measured: _Measured,
    agreement: tuple[HumanAgreement, ...],
    right: Sequence[bool | None],
) -> AnswerDetail:
    facts = measured.facts
    grounds = next((one.groundedness for one in facts if one.groundedness is not None), None)
    by = next((id for id in WORST if id in measured.values), COVERAGE)
    return AnswerDetail(
        judge=gathered.judge,
        embedder=gathered.embedder,
        groundedness=None if grounds is None else grounds.model,
        kinds=kinds(facts),
        refusals=sum(one.refused for one in facts),
        errors=sum(one.row.answer is None for one in facts),
        worst=worst_answers(facts, measured.values, measured.rows, by),
        unsupported=unsupported(facts),
        usage=gathered.usage,
        factual_claims=_factual_claims(measured),
        agreement=agreement,
        answers=scored_answers(facts, measured.values, measured.rows, right),
        bands=bands(facts, gathered.model),
    )


def _factual_claims(measured: _Measured) -> dict[str, int]:
    if factual_accuracy.id not in measured.metrics:
        return {}
    found = [claim_verdicts(one) for one in measured.facts]
    known = [claims for claims in found if not isinstance(claims, Absent)]
    return verdict_counts(known) if known else {}


def _coverage(
    read: ReadAnswers,
    facts: Sequence[AnswerFacts],
    values: Mapping[str, Sequence[float | None]],
    lost: Mapping[str, Sequence[bool]],
) -> dict[str, int]:
    told = [column for id, column in values.items() if id != COVERAGE]
    return {
        **read.coverage,
        "scored": sum(
            any(column[place] is not None for column in told) for place in range(len(facts))
        ),
        "errors": sum(one.row.answer is None for one in facts),
        "lost_to_failed_calls": sum(any(each) for each in zip(*lost.values(), strict=True)),
        "refusals": sum(one.refused for one in facts),
        "rejected": len(read.problems),
    }


def _meaning(row: AnswerRow) -> str:
    """What was asked and what is right: runs are compared where both are the same."""
    told = (row.question, row.references, row.answerable)
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()


def _fingerprint(facts: Sequence[AnswerFacts]) -> str:
    """A hash of what was asked and what is right, whatever the file looks like."""
    said: list[Any] = [(one.row.id, _meaning(one.row)) for one in facts]
    return hashlib.sha256(msgspec.json.encode(said)).hexdigest()


Values = Mapping[str, float | None]
Fault = Callable[[Values], bool]
HALF = 0.5


def answer_faults(
    facts: Sequence[AnswerFacts], values: Mapping[str, Sequence[float | None]]
) -> list[tuple[str, str]]:
    """Each answer that went wrong, with the word for how; one may have several."""
    found = []
    for place, one in enumerate(facts):
        if one.row.answer is None:
            found.append((one.row.id, "no_answer"))
            continue
        told = {id.removeprefix("answers."): column[place] for id, column in values.items()}
        found += [(one.row.id, word) for word, holds in FAULTS.items() if holds(told)]
    return found


def _below(bound: float, *names: str) -> Fault:
    """Whether the first of these metrics that has a value is below the bound.

    A judge's word comes before that of the sentence supporter.
    """
    return lambda told: (value := _first(told, names)) is not None and value < bound


def _above(bound: float, *names: str) -> Fault:
    return lambda told: (value := _first(told, names)) is not None and value > bound


def _first(told: Values, names: Sequence[str]) -> float | None:
    return next((told[name] for name in names if told.get(name) is not None), None)


def _any(*faults: Fault) -> Fault:
    return lambda told: any(fault(told) for fault in faults)


def _judged(name: str) -> tuple[str, str]:
    return name, f"lexical_{name}"


FAULTS: dict[str, Fault] = {
    "ungrounded": _any(_below(1, "grounded"), _below(HALF, *_judged("faithfulness"))),
    "strange_number": _any(_below(1, "number_agreement"), _below(1, "date_agreement")),
    "off_reference": _below(HALF, "factual_correctness", "token_recall", "containment"),
    "off_question": _below(HALF, "answer_relevancy"),
    "not_retrieved": _below(HALF, *_judged("context_recall")),
    "useless_contexts": _below(HALF, *_judged("context_precision")),
    "misled": _any(
        _above(0, *_judged("noise_sensitivity")),
        _above(0, *_judged("noise_sensitivity_irrelevant")),
    ),
    "own_knowledge": _above(0, *_judged("self_knowledge")),
    "badly_cited": _any(_below(1, "citation_precision"), _above(0, "misattributed")),
}
"""By the catalogue's word, when the values of an answer speak for it."""


def kept_rows(rows: Iterable[AnswerRow]) -> Iterator[tuple[str, KeptAnswer]]:
    """Each row under its id; what is right stands under `extra.references`."""
    for row in rows:
        yield row.id, KeptAnswer(trace=_trace(row), where=row.where or None)


def _trace(row: AnswerRow) -> Trace:
    contexts = row.contexts
    return Trace(
        qid=row.id,
        q=row.question,
        answer=row.answer,
        status="error" if row.answer is None else "ok",
        citations=row.cited,
        retrieved_ids=None if contexts is None else tuple(one.id for one in contexts),
        retrieved=(
            None
            if contexts is None
            else tuple({"id": one.id, "text": one.text} for one in contexts)
        ),
        extra={"references": row.references} if row.references else {},
    )


RELEVANCE = "answers.relevance"
SPELLING = (
    "the bound is for an embedder that knows meaning, such as minilm or an endpoint's; "
    "ngram compares spelling alone"
)
NO_JUDGE = (
    "only a judge can decide it: give --judge URL to `ragauge eval answers` or `eval qa`, or gate "
    "on its lexical_ twin, which compares words"
)
AGAIN = "run again: what was answered is not asked twice"
JUDGE_FAILED = "the judge failed"
_LOST = (JUDGE_FAILED, FAILED, "no embedder compared", UNJUDGED)
"""How the reasons begin of what is absent because a call failed, or was not made any more."""

Rows = Mapping[str, Sequence[Row | Absent]]


class Settling(Struct, frozen=True, kw_only=True):
    """What is known of this evaluation's gates besides their numbers."""

    lost: Mapping[str, Sequence[bool]]
    """By metric, the answers at which a call failed that it needs."""
    rows: Rows
    unfinished: str | None
    """Why some answers were not judged, though they were to be."""
    by_meaning: Sequence[Rule] = ()
    """Rules that the embedder is unfit for."""

    def settled(self, rule: Rule, verdict: Verdict, mask: Mask | None) -> Verdict:
        """The verdict, unless it would stand on calls that failed, or on the wrong embedder.

        What fails does so on the answers that were heard; only a pass is withheld. Answers that
        cannot have the metric by their nature are left out, and that is said.
        """
        if rule in self.by_meaning:
            return structs.replace(verdict, verdict="not_evaluated", reason=SPELLING)
        if rule.metric not in self.rows and find(rule.metric, "answers").needs & JUDGED:
            return structs.replace(verdict, reason=NO_JUDGE)
        if verdict.value is None or verdict.verdict == "fail" or rule.metric not in self.rows:
            return verdict
        column, lost = self.rows[rule.metric], self.lost[rule.metric]
        among = range(len(column)) if mask is None else np.flatnonzero(mask).tolist()
        reasons = Counter(column[place].reason or "" for place in among if lost[place])
        if reasons:
            why = min(reasons, key=lambda reason: (-reasons[reason], reason))
            reason = f"{reasons.total():,} of {len(among):,} answers lost: {why}; {AGAIN}"
            return structs.replace(verdict, verdict="not_evaluated", reason=reason)
        if verdict.verdict == "pass" and verdict.reason is None and verdict.n < len(among):
            return structs.replace(verdict, reason=f"over {verdict.n:,} of {len(among):,} answers")
        return verdict

    def unheard(
        self, metrics: Mapping[str, Metric], values: Mapping[str, Sequence[float | None]]
    ) -> Iterator[Verdict]:
        """Gates that nobody could decide: what was to be said of answers and was not at all.

        No run passes because its judge or its embedder was not heard.
        """
        judged = [metric for metric in metrics.values() if metric.needs & JUDGED]
        if self.unfinished is not None and judged:
            yield undecided(any_value(judged[0]), "not_evaluated", self.unfinished)
        for id, metric in metrics.items():
            if any(self.lost[id]) and not any(value is not None for value in values[id]):
                by_judge = any((row.reason or "").startswith(JUDGE_FAILED) for row in self.rows[id])
                reason = f"the {'judge' if by_judge else 'embedder'} failed at every answer"
                yield undecided(any_value(metric), "not_evaluated", reason)


def settling_of(
    options: AnswerOptions,
    rules: Sequence[Rule],
    rows: Rows,
    unfinished: str | None,
) -> Settling:
    """What the rows of the metrics and the options say of the gates."""
    own = parse_rules(options.gates, lambda name: find(name, "answers")) if options.gates else ()
    unfit = (options.embedder or DEFAULT_EMBEDDER) == DEFAULT_EMBEDDER
    return Settling(
        lost={id: lost_rows(column) for id, column in rows.items()},
        rows=rows,
        unfinished=unfinished,
        # Who writes a bound for ngram himself knows what it is worth there; a preset does not.
        by_meaning=[
            rule for rule in rules if unfit and rule.metric == RELEVANCE and rule not in own
        ],
    )


def lost_rows(rows: Sequence[Row | Absent]) -> list[bool]:
    """Whether each row of a metric was lost because a call failed.

    A call gives its verdicts on all claims of a text or on none, so that no value stands on half
    of them.
    """
    return [isinstance(row, Absent) and row.reason.startswith(_LOST) for row in rows]


def note_parts(rules: Sequence[Rule], rows: Rows, findings: Findings) -> None:
    """A finding for each metric with a gate that some answers do not have."""
    for id in sorted({rule.metric for rule in rules} & rows.keys()):
        absent = Counter(row.reason for row in rows[id] if isinstance(row, Absent))
        if absent and absent.total() < len(rows[id]):
            told = len(rows[id]) - absent.total()
            ranked = sorted(absent.items(), key=lambda pair: (-pair[1], pair[0]))
            why = ", ".join(f"{reason} ({times:,})" for reason, times in ranked)
            fact = f"{id}: its gate is decided over {told:,} of {len(rows[id]):,} answers; {why}"
            findings.add(Finding("gate_over_part", id, fact))
