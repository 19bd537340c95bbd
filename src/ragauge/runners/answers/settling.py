"""What failed calls and unfit embedders leave of a verdict: no gate passes for want of replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.verdict import Rule, Verdict
from ragauge.gates.components import any_value, undecided
from ragauge.gates.rules import parse_rules
from ragauge.metrics.table import find
from ragauge.runners.answers.asking import UNJUDGED
from ragauge.runners.answers.likeness import FAILED
from ragauge.runners.answers.options import DEFAULT_EMBEDDER, JUDGED, AnswerOptions

if TYPE_CHECKING:
    from ragauge.runners.numbers import Mask

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
