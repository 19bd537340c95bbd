"""Two judges over the same questions: how far they agree, and which label holds where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import partial

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
    Judgement,
    Label,
    LabelAgreement,
    Rater,
)
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Rule, Score
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged, merged
from ragauge.ingest.fields import Columns
from ragauge.ingest.judgements import read_judgements, read_raters
from ragauge.ingest.lines import STDIN
from ragauge.runners.annotators import fingerprint, rules_over_all, share_score
from ragauge.runners.evaluation import Evaluation, given_score
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

File = tuple[str, Mapping[str, Judgement]]
"""What a judge's file is called, and its judgements by qid."""


def consistency(
    a: str,
    b: str | None = None,
    *,
    gates: str | None = None,
    raters: tuple[str, str] | None = None,
    columns: Columns | None = None,
) -> ConsistencyOutcome:
    """What two files of labels for the same questions come to; `gates` take the defaults' place.

    Without the second file, the first has the labels of both raters, in a column each: `raters`
    names the columns, where more than two hold labels. `columns` says where the files have the
    fields of a judgement. Raises UsageError or InputRejected with
    everything that is wrong.
    """
    if b is not None and raters is not None:
        raise UsageError("--raters names columns of one file; leave out B, or --raters")
    if a == b:
        which = "standard input" if a == STDIN else "the same file"
        raise UsageError(f"A and B are both {which}: name the labels of two judges")
    rules = merged(GATES, rules_over_all(gates, METRICS, "judges"))
    if b is None:
        rated = read_raters(a, raters, columns)
        one, other = ((f"{a} ({name})", labels) for name, labels in rated)
    else:
        one, other = zip((a, b), read_judgements(a, b, columns=columns), strict=True)
    return _outcome(one, other, rules)


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


def _outcome(one: File, other: File, rules: tuple[Rule, ...]) -> ConsistencyOutcome:
    """Two judges' labels, counted once; whatever order their files had, the report is the same."""
    (file_a, a), (file_b, b) = one, other
    qids = sorted(a.keys() | b.keys())
    both = [qid for qid in qids if qid in a and qid in b]
    table = confusion(((a[qid].label, b[qid].label) for qid in both), LABELS)
    specific, n, of = specific_agreement(table), table.n, len(qids)
    given = [[judged[qid].label for judged in (a, b) if qid in judged] for qid in qids]

    def kappa_score(confidence: float) -> Score:
        """Agreement beyond chance; absent where all is one label."""
        value, ci, reason = kappa(table), kappa_interval(table, confidence), NOTHING_SHARED
        if both:
            reason = f"both judges said {a[both[0]].label} throughout, and so would chance"
        made = ("unweighted", "ci:fleiss-cohen-everitt")
        return given_score(KAPPA, value, *made, n=n, of=of, ci=ci, absent=reason)

    def abstain_score(confidence: float) -> Score:
        """The share of all labels, of both judges, that are abstentions."""
        yes, all_given = (
            np.array([count(labels) for labels in given])
            for count in (lambda labels: labels.count("ABSTAIN"), len)
        )
        total = int(all_given.sum())
        ci, share = clustered(yes, all_given, confidence), yes.sum() / total
        return given_score(ABSTAIN, share, "ci:wilson-clustered", n=total, of=2 * of, ci=ci)

    agree, covered = percent_agreement(table), Fraction(len(both), of)
    evaluation = Evaluation(
        given={
            AGREEMENT: partial(share_score, AGREEMENT, agree, n, of, NOTHING_SHARED),
            KAPPA: kappa_score,
            ABSTAIN: abstain_score,
            COVERAGE: partial(share_score, COVERAGE, covered, of, of, NOTHING_SHARED),
        },
        rules=rules,
    )
    final: Counter[str] = Counter()
    disagreements = []
    for qid in both:
        in_a, in_b = a[qid], b[qid]
        label, why = adjudicated(in_a.label, in_b.label)
        final[label] += 1
        if in_a.label != in_b.label:
            disagreements.append(
                Disagreement(
                    qid=qid,
                    label_a=in_a.label,
                    label_b=in_b.label,
                    final=label,
                    why=why,
                    reason_a=in_a.reason,
                    reason_b=in_b.reason,
                    where_a=in_a.where,
                    where_b=in_b.where,
                )
            )
    once = Findings(
        Finding(
            "judged_once",
            here[qid].where,
            f"{qid}: {name} did not judge it, so it is in no agreement",
        )
        for qid in qids
        for here, there, name in ((a, b, "B"), (b, a, "A"))
        if qid not in there
    )
    report = evaluation.report(
        ConsistencyReport,
        once,
        {
            "command": "consistency",
            "ragauge": __version__,
            "gates": [str(rule) for rule in rules],
            "judgements_sha256": {
                which: fingerprint((one.qid, one.label) for one in judged.values())
                for which, judged in (("a", a), ("b", b))
            },
        },
        passed=evaluation.all_hold,
        judges={"a": _judge(file_a, a, of), "b": _judge(file_b, b, of)},
        confusion={
            row: dict(zip(LABELS, counts, strict=True))
            for row, counts in zip(LABELS, table.counts, strict=True)
        },
        labels={
            label: LabelAgreement(
                a=first,
                b=second,
                both=same,
                agreement=None if (share := specific[label]) is None else float(share),
            )
            for label, first, second, same in zip(
                table.labels, table.first, table.second, table.same, strict=True
            )
        },
        final={label: final[label] for label in LABELS},
        disagreements=tuple(disagreements[:ROWS_KEPT]),
        disagreement_count=len(disagreements),
        coverage=ConsistencyCoverage(
            questions=of, both=len(both), only_a=len(a) - len(both), only_b=len(b) - len(both)
        ),
    )
    outcome = evaluation.outcome(report)
    return ConsistencyOutcome(**structs.asdict(outcome), disagreements=tuple(disagreements))


def _judge(file: str, judgements: Mapping[str, Judgement], of: int) -> Rater:
    given, n = Counter(judgement.label for judgement in judgements.values()), len(judgements)
    share = Fraction(given["ABSTAIN"], n)
    return Rater(
        file=file,
        judged=n,
        labels={label: given[label] for label in LABELS},
        abstain=share_score(ABSTAIN, share, n, of, NOTHING_SHARED, DEFAULT_CONFIDENCE),
    )
