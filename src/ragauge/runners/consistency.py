"""Two judges over the same questions: how far they agree, and which label holds where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from msgspec import structs

from ragauge import __version__
from ragauge.contracts.consistency import (
    LABELS,
    STRICTNESS,
    ConsistencyCoverage,
    ConsistencyOutcome,
    ConsistencyReport,
    Disagreement,
    Judge,
    Judgement,
    Label,
    LabelAgreement,
)
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Rule, Score
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged, merged
from ragauge.ingest.judgements import read_judgements, read_raters
from ragauge.ingest.lines import STDIN
from ragauge.runners.annotators import fingerprint, rules_over_all, share_score
from ragauge.runners.evaluation import Evaluation
from ragauge.stats.agreement import (
    confusion,
    kappa,
    kappa_interval,
    percent_agreement,
    specific_agreement,
)
from ragauge.stats.intervals import DEFAULT_CONFIDENCE, clustered

AGREEMENT, KAPPA = "consistency.agreement", "consistency.kappa"
ABSTAIN, COVERAGE = "consistency.abstain", "consistency.coverage"
METRICS = {
    id: Ranged(id, (-1 if id == KAPPA else 0, 1), "lower" if id == ABSTAIN else "higher")
    for id in (AGREEMENT, KAPPA, ABSTAIN, COVERAGE)
}
GATES = (
    Rule(metric=AGREEMENT, op=">=", bound=0.90),
    Rule(metric=KAPPA, op=">=", bound=0.75),
    Rule(metric=ABSTAIN, op="<=", bound=0.02),
    Rule(metric=COVERAGE, op="=", bound=1),
)
"""What holds where nobody asked for anything else. Agreement over half the questions is none."""

NOTHING_SHARED = "no question was judged by both"

Judgements = Mapping[str, Judgement]


def consistency(
    a: str,
    b: str | None = None,
    *,
    gates: str | None = None,
    raters: tuple[str, str] | None = None,
) -> ConsistencyOutcome:
    """What two files of labels for the same questions come to; `gates` take the defaults' place.

    Without the second file, the first has the labels of both raters, in a column each: `raters`
    names the columns, where more than two hold labels. Raises UsageError or InputRejected with
    everything that is wrong.
    """
    if b is None:
        rules = rules_of(gates)
        (name, labels), (other_name, other_labels) = read_raters(a, raters)
        both = (f"{a} ({name})", labels), (f"{a} ({other_name})", other_labels)
        return _Comparison(*both).outcome(rules)
    if raters is not None:
        raise UsageError("--raters names columns of one file; leave out B, or --raters")
    if a == b:
        which = "standard input" if a == STDIN else "the same file"
        raise UsageError(f"A and B are both {which}: name the labels of two judges")
    rules = rules_of(gates)
    first, second = read_judgements(a, b)
    return _Comparison((a, first), (b, second)).outcome(rules)


def rules_of(gates: str | None) -> tuple[Rule, ...]:
    """The default gates, with the user's in place of or beside them."""
    return merged(GATES, rules_over_all(gates, METRICS, "judges"))


def adjudicated(a: Label, b: Label) -> tuple[Label, str]:
    """The final label of a question, and why.

    >>> adjudicated("VALID", "REJECT")
    ('REJECT', 'B is stricter: REJECT over VALID')
    >>> adjudicated("VALID", "ABSTAIN")
    ('VALID', 'B abstained: the label of A stands')
    """
    if a == b:
        return a, "both say so"
    final, other = sorted((a, b), key=STRICTNESS.index)
    winner, loser = ("A", "B") if final == a else ("B", "A")
    if other == "ABSTAIN":
        return final, f"{loser} abstained: the label of {winner} stands"
    return final, f"{winner} is stricter: {final} over {other}"


class _Comparison:
    """Two judges' labels, counted once; whatever order their files had, the report is the same."""

    def __init__(self, a: tuple[str, Judgements], b: tuple[str, Judgements]) -> None:
        (self._file_a, self._a), (self._file_b, self._b) = a, b
        self._qids = sorted(self._a.keys() | self._b.keys())
        self._both = [qid for qid in self._qids if qid in self._a and qid in self._b]
        pairs = ((self._a[qid].label, self._b[qid].label) for qid in self._both)
        self._table = confusion(pairs, LABELS)

    def outcome(self, rules: tuple[Rule, ...]) -> ConsistencyOutcome:
        evaluation = Evaluation(
            given={
                AGREEMENT: self.agreement,
                KAPPA: self.kappa,
                ABSTAIN: self.abstain,
                COVERAGE: self.coverage,
            },
            rules=rules,
        )
        of = len(self._qids)
        final: Counter[str] = Counter()
        disagreements = []
        for qid in self._both:
            a, b = self._a[qid], self._b[qid]
            label, why = adjudicated(a.label, b.label)
            final[label] += 1
            if a.label != b.label:
                disagreements.append(
                    Disagreement(
                        qid=qid,
                        label_a=a.label,
                        label_b=b.label,
                        final=label,
                        why=why,
                        reason_a=a.reason,
                        reason_b=b.reason,
                        where_a=a.where,
                        where_b=b.where,
                    )
                )
        found = Findings()
        for qid in self._qids:
            for here, there, name in ((self._a, self._b, "B"), (self._b, self._a, "A")):
                if qid not in there:
                    message = f"{qid}: {name} did not judge it, so it is in no agreement"
                    found.add(Finding("judged_once", here[qid].where, message))
        table, specific = self._table, specific_agreement(self._table)
        report = evaluation.report(
            ConsistencyReport,
            found,
            {
                "command": "consistency",
                "ragauge": __version__,
                "gates": [str(rule) for rule in rules],
                "judgements_sha256": {
                    which: fingerprint((one.qid, one.label) for one in judgements.values())
                    for which, judgements in (("a", self._a), ("b", self._b))
                },
            },
            passed=evaluation.all_hold,
            judges={
                "a": _judge(self._file_a, self._a, of),
                "b": _judge(self._file_b, self._b, of),
            },
            confusion={
                row: dict(zip(LABELS, counts, strict=True))
                for row, counts in zip(LABELS, table.counts, strict=True)
            },
            labels={
                label: LabelAgreement(
                    a=a,
                    b=b,
                    both=both,
                    agreement=None if (share := specific[label]) is None else float(share),
                )
                for label, a, b, both in zip(
                    table.labels, table.first, table.second, table.same, strict=True
                )
            },
            final={label: final[label] for label in LABELS},
            disagreements=tuple(disagreements[:ROWS_KEPT]),
            disagreement_count=len(disagreements),
            coverage=ConsistencyCoverage(
                questions=of,
                both=len(self._both),
                only_a=len(self._a) - len(self._both),
                only_b=len(self._b) - len(self._both),
            ),
        )
        outcome = evaluation.outcome(report)
        return ConsistencyOutcome(**structs.asdict(outcome), disagreements=tuple(disagreements))

    def agreement(self, confidence: float) -> Score:
        """The share of the questions both judged that got the same label twice."""
        share, n, of = percent_agreement(self._table), self._table.n, len(self._qids)
        return share_score(AGREEMENT, share, n, of, NOTHING_SHARED, confidence)

    def kappa(self, confidence: float) -> Score:
        """Agreement beyond chance; absent where all is one label."""
        n, of, value = self._table.n, len(self._qids), kappa(self._table)
        signature = f"{KAPPA}|v1|unweighted|ci:fleiss-cohen-everitt|n:{n}"
        if value is None:
            reason = NOTHING_SHARED
            if self._both:
                label = self._a[self._both[0]].label
                reason = f"both judges said {label} throughout, and so would chance"
            return Score(value=None, n=n, of=of, reason=reason, signature=signature)
        interval = kappa_interval(self._table, confidence)
        return Score(value=float(value), n=n, of=of, ci=interval, signature=signature)

    def abstain(self, confidence: float) -> Score:
        """The share of all labels, of both judges, that are abstentions."""
        labels = [
            [file[qid].label for file in (self._a, self._b) if qid in file] for qid in self._qids
        ]
        yes = np.array([given.count("ABSTAIN") for given in labels])
        of = np.array([len(given) for given in labels])
        n = int(of.sum())
        return Score(
            value=float(yes.sum() / n),
            n=n,
            of=2 * len(self._qids),
            ci=clustered(yes, of, confidence),
            signature=f"{ABSTAIN}|v1|ci:wilson-clustered|n:{n}",
        )

    def coverage(self, confidence: float) -> Score:
        """The share of the questions anybody judged that both did."""
        of = len(self._qids)
        share = Fraction(len(self._both), of)
        return share_score(COVERAGE, share, of, of, NOTHING_SHARED, confidence)


def _judge(file: str, judgements: Judgements, of: int) -> Judge:
    given, n = Counter(judgement.label for judgement in judgements.values()), len(judgements)
    share = Fraction(given["ABSTAIN"], n)
    return Judge(
        file=file,
        judged=n,
        labels={label: given[label] for label in LABELS},
        abstain=share_score(ABSTAIN, share, n, of, NOTHING_SHARED, DEFAULT_CONFIDENCE),
    )
