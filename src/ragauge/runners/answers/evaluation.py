"""From rows to an outcome: what `eval answers` and `eval qa` have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import gt, lt
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import asdict, replace

from ragauge.contracts.answers import ANSWER_KINDS, AnswerRow, SentenceSupport
from ragauge.contracts.claims import AnswerClaims
from ragauge.contracts.evaluation import (
    AnswerDetail,
    AnswerScored,
    AnswerShown,
    BandCount,
    EvidenceText,
    HumanAgreement,
    ShownSentence,
    Task,
)
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import ROWS_KEPT, Finding, Findings, Rule, Verdict
from ragauge.contracts.trace import Trace
from ragauge.gates.presets import any_value, undecided
from ragauge.ingest.answers import CONTEXTS, REFERENCES, Rejected
from ragauge.ingest.calibration import read_answer_calibrations
from ragauge.metrics.answers import CONTEXTS_UNKNOWN, NO_REFERENCE, AnswerFacts
from ragauge.metrics.overlap import claim_verdicts, factual_accuracy, tokens_of, verdict_counts
from ragauge.metrics.sums import Sums
from ragauge.metrics.table import find
from ragauge.models.judging.rubric import rubric_id
from ragauge.runners.answers.gathering import (
    FAILED,
    UNJUDGED,
    Asking,
    Gathered,
    gathered_facts,
)
from ragauge.runners.answers.kept_calibrations import shown_agreement
from ragauge.runners.answers.options import (
    COVERAGE,
    DEFAULT_EMBEDDER,
    EMBEDDED,
    JUDGED,
    RELEVANCY,
    chosen_metrics,
    own_rules,
)
from ragauge.runners.answers.scores import AnswersOutcome, answer_scores
from ragauge.runners.answers.supporting import values_by_row
from ragauge.runners.components.evaluation import Evaluated, outcome_of, strata_of
from ragauge.runners.components.options import rules_for
from ragauge.runners.evaluation import sha256_of

if TYPE_CHECKING:
    from ragauge.runners.evaluation import Mask, Settle


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
WORST_SHOWN = 20
"""Answers that a report shows with their sentences."""
UNSUPPORTED = 50
"""Words and numbers without support that a report lists."""
AROUND = 80
"""Characters of a context that are shown on either side of the evidence."""
GROUP = "group"
"""The stratum whose answers belong together: a source, or a conversation."""
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
HALF = 0.5

Rows = Mapping[str, Sequence[Row | Absent]]
"""By metric, what it found in each answer."""
Values = Mapping[str, Sequence[float | None]]
"""By metric, the value of each answer."""


def outcome_of_answers(
    task: Task,
    every: Sequence[AnswerRow | Rejected],
    options: AnswerOptions,
    asking: Asking,
    findings: Findings,
    *,
    coverage: Mapping[str, int] = {},
    names: Mapping[str, str | int] = {},
    problems: Sequence[str] = (),
    unread: tuple[str, ...] = (),
) -> AnswersOutcome:
    """The report on these rows, with the scores of each in the input's order.

    `coverage` is what the task counts besides; `names` are ids as they were written, by those that
    the rows have. Rows that were rejected have scores without a value.
    """
    given = [row for row in every if isinstance(row, AnswerRow)]
    metrics, ids = chosen_metrics(options), [row.id for row in given]
    strata = strata_of(ids, [row.strata for row in given], options)
    calibration = read_answer_calibrations(options.calibration)
    gathered = gathered_facts(given, options, metrics, findings, asking, calibration)
    # By id, so that numbers do not depend on the order of the rows.
    order = sorted(range(len(ids)), key=ids.__getitem__)
    facts = [gathered.facts[place] for place in order]
    strata = {name: [column[place] for place in order] for name, column in strata.items()}
    rows = {id: [column[place] for place in order] for id, column in gathered.rows.items()}
    values = values_by_row(metrics, rows)
    if not facts:
        findings.add(Finding("nothing_to_score", "rows", "there is no row"))
    note_absent_inputs(facts, rows, findings)
    for one in facts:
        found = one.groundedness
        if found and found.assumed and found.value is not None and not one.refused:
            findings.add(Finding("kind_assumed", one.row.where, f"{one.row.id}: {found.assumed}"))
    rules = rules_for(task, options)
    note_parts(rules, rows, findings)
    # A call gives its verdicts on all claims of a text or on none, so that no value stands on half
    # of them.
    lost = {
        id: [isinstance(row, Absent) and row.reason.startswith(_LOST) for row in column]
        for id, column in rows.items()
    }
    # The first that says whether an answer is right; False without an answer, None where none does.
    columns = [values[id] for id in RIGHT[task] if id in values]
    right: list[bool | None] = []
    for place, one in enumerate(facts):
        value = next((column[place] for column in columns if column[place] is not None), None)
        right.append(False if one.row.answer is None else None if value is None else value >= 1)
    measured = [id for id in values if id != COVERAGE]
    shown = [f"answers.{name}" for name in HEADLINES[task]]
    # What was asked and what is right: runs are compared where both are the same.
    meanings = [
        sha256_of((one.row.question, one.row.references, one.row.answerable)) for one in facts
    ]
    evaluated = Evaluated(
        task=task,
        units=[one.row.id for one in facts],
        sums={id: Sums.of(metric, rows[id]) for id, metric in metrics.items()},
        headlines=[id for id in shown if any(v is not None for v in values.get(id, ()))]
        or measured,
        strata=strata,
        right=right,
        per_type={},
        detail=_detail(
            gathered,
            facts,
            rows,
            values,
            right,
            shown_agreement(calibration, asking.calibrations, metrics, gathered.judge, options),
        ),
        findings=findings,
        coverage={
            **coverage,
            "scored": sum(
                any(values[id][place] is not None for id in measured) for place in range(len(facts))
            ),
            "errors": sum(one.row.answer is None for one in facts),
            "lost_to_failed_calls": sum(map(any, zip(*lost.values(), strict=True))),
            "refusals": sum(one.refused for one in facts),
            "rejected": len(problems),
        },
        unread=unread,
        signature=f"refusal:{options.refusal}",
        made_with=made_with(gathered, metrics, facts, options),
        problems=problems,
        faults=answer_faults(facts, values),
        gold_sha256=sha256_of([(one.row.id, m) for one, m in zip(facts, meanings, strict=True)]),
        meanings=meanings,
        groups=None
        if GROUP not in strata
        else [  # an answer without a group is one of its own
            f"answer {one.row.id}" if group is None else f"group {group}"
            for one, group in zip(facts, strata[GROUP], strict=True)
        ],
        undecided=list(_unheard(metrics, rows, values, lost, gathered.unfinished)),
        settled=_settling(options, rules, rows, lost),
    )
    # A report has no address of an embedder, and of a rubric its hash.
    rubric = None if options.rubric is None else rubric_id(options.rubric)
    outcome = outcome_of(evaluated, replace(options, embedder=gathered.embedder, rubric=rubric))
    scores = answer_scores(every, names, facts, metrics, rows, values)
    own = {"answers": partial(kept_rows, given), "scores": scores}
    return AnswersOutcome(**{**asdict(outcome), **own})


def _detail(
    gathered: Gathered,
    facts: Sequence[AnswerFacts],
    rows: Rows,
    values: Values,
    right: Sequence[bool | None],
    agreement: tuple[HumanAgreement, ...],
) -> AnswerDetail:
    """What a report shows of answers: each with its values, the worst with their evidence."""
    grounds = [one.groundedness for one in facts]
    kinds = [
        one.row.kind if found is None else found.kind
        for one, found in zip(facts, grounds, strict=True)
    ]

    def shown(place: int) -> dict[str, Any]:
        row = facts[place].row
        reasons = {id: column[place].reason for id, column in rows.items()}
        return {
            "id": row.id,
            "question": row.question,
            "answer": row.answer,
            "kind": kinds[place],
            "values": {id: column[place] for id, column in values.items()},
            "reasons": {id: reason for id, reason in reasons.items() if reason is not None},
        }

    def sentences(place: int) -> Iterator[ShownSentence]:
        found = grounds[place]
        for one in found.sentences if found else ():
            yield ShownSentence(support=one, evidence=_evidence(facts[place].row, one))

    by = values.get(next((id for id in WORST if id in values), COVERAGE), ())
    there = ((value, place) for place, value in enumerate(by) if value is not None)
    worst = sorted((value, facts[place].row.id, place) for value, place in there)[:WORST_SHOWN]
    strange = [
        tuple(dict.fromkeys((*one.unsupported_numbers, *one.unsupported_words))) if one else ()
        for one in grounds
    ]
    # Of answers that refuse, neither what is unsupported counts nor the band.
    scored = [one.groundedness for one in facts if one.groundedness and not one.refused]
    unsupported = Counter(
        word for one, words in zip(facts, strange, strict=True) if not one.refused for word in words
    )
    bands = Counter((found.kind, found.band) for found in scored if found.value is not None)
    met = {kind for kind, _ in bands}
    looked_up = map(claim_verdicts, facts if factual_accuracy.id in rows else ())
    known = [claims for claims in looked_up if not isinstance(claims, Absent)]
    return AnswerDetail(
        judge=gathered.judge,
        embedder=gathered.embedder,
        groundedness=next((one.model for one in grounds if one is not None), None),
        kinds=dict(sorted(Counter(kind for kind in kinds if kind is not None).items())),
        refusals=sum(one.refused for one in facts),
        errors=sum(one.row.answer is None for one in facts),
        worst=tuple(
            AnswerShown(**shown(place), sentences=tuple(sentences(place))) for *_, place in worst
        ),
        unsupported=dict(
            sorted(unsupported.items(), key=lambda pair: (-pair[1], pair[0]))[:UNSUPPORTED]
        ),
        usage=gathered.usage,
        factual_claims=verdict_counts(known) if known else {},
        agreement=agreement,
        answers=tuple(
            AnswerScored(**shown(place), right=right[place], unsupported=strange[place])
            for place in range(len(facts[:ROWS_KEPT]))
        ),
        # Every band of the kinds that were met.
        bands=tuple(
            BandCount(kind=kind, answers=bands[kind, band], band=band)
            for kind in ANSWER_KINDS
            if kind in met
            for band in gathered.model.kinds[kind].bands
        ),
    )


def _evidence(row: AnswerRow, sentence: SentenceSupport) -> EvidenceText | None:
    span = sentence.evidence
    context = next((one for one in row.contexts or () if span and one.id == span.chunk), None)
    if span is None or context is None:
        return None
    text, start, end = context.text, span.start, span.end
    return EvidenceText(
        chunk=span.chunk,
        before=text[max(0, start - AROUND) : start],
        text=text[start:end],
        after=text[end : end + AROUND],
    )


def _judged(name: str) -> tuple[str, str]:
    return name, f"lexical_{name}"


FAULTS: dict[str, Sequence[tuple[Callable[[float, float], bool], float, Sequence[str]]]] = {
    "ungrounded": [(lt, 1, ["grounded"]), (lt, HALF, _judged("faithfulness"))],
    "strange_number": [(lt, 1, ["number_agreement"]), (lt, 1, ["date_agreement"])],
    "off_reference": [(lt, HALF, ["factual_correctness", "token_recall", "containment"])],
    "off_question": [(lt, HALF, ["answer_relevancy"])],
    "not_retrieved": [(lt, HALF, _judged("context_recall"))],
    "useless_contexts": [(lt, HALF, _judged("context_precision"))],
    "misled": [
        (gt, 0, _judged("noise_sensitivity")),
        (gt, 0, _judged("noise_sensitivity_irrelevant")),
    ],
    "own_knowledge": [(gt, 0, _judged("self_knowledge"))],
    "badly_cited": [(lt, 1, ["citation_precision"]), (gt, 0, ["misattributed"])],
}
"""By the catalogue's word, what speaks for it: metrics below or above a bound.

Of several names the first that has a value counts: a judge's word comes before that of the sentence
supporter.
"""


def answer_faults(facts: Sequence[AnswerFacts], values: Values) -> list[tuple[str, str]]:
    """Each answer that went wrong, with the word for how; one may have several."""
    found = []
    for place, one in enumerate(facts):
        if one.row.answer is None:
            found.append((one.row.id, "no_answer"))
            continue
        each = {id.removeprefix("answers."): column[place] for id, column in values.items()}
        known = {name: value for name, value in each.items() if value is not None}
        found += [
            (one.row.id, word)
            for word, signs in FAULTS.items()
            if any(
                beyond(known[name], bound)
                for beyond, bound, names in signs
                for name in [one for one in names if one in known][:1]
            )
        ]
    return found


def kept_rows(rows: Iterable[AnswerRow]) -> Iterator[tuple[str, KeptAnswer]]:
    """Each row under its id; what is right stands under `extra.references`."""
    for row in rows:
        trace = Trace(
            qid=row.id,
            q=row.question,
            answer=row.answer,
            status="error" if row.answer is None else "ok",
            citations=row.cited,
            extra={"references": row.references} if row.references else {},
        )
        if row.contexts is not None:
            ids = tuple(one.id for one in row.contexts)
            texts = tuple({"id": one.id, "text": one.text} for one in row.contexts)
            trace = replace(trace, retrieved_ids=ids, retrieved=texts)
        yield row.id, KeptAnswer(trace=trace, where=row.where or None)


def _settling(
    options: AnswerOptions,
    rules: Sequence[Rule],
    rows: Rows,
    lost: Mapping[str, Sequence[bool]],
) -> Settle:
    """What becomes of a verdict that would stand on calls that failed, or on the wrong embedder.

    What fails does so on the answers that were heard; only a pass is withheld. Answers that cannot
    have the metric by their nature are left out, and that is said.
    """
    by_spelling = (options.embedder or DEFAULT_EMBEDDER) == DEFAULT_EMBEDDER
    # Who writes a bound for ngram himself knows what it is worth there; a preset does not.
    own = own_rules(options)
    unfit = [r for r in rules if by_spelling and r.metric == RELEVANCE and r not in own]

    def settled(rule: Rule, verdict: Verdict, mask: Mask | None) -> Verdict:
        if rule in unfit:
            return replace(verdict, verdict="not_evaluated", reason=SPELLING)
        if rule.metric not in rows and find(rule.metric, "answers").needs & JUDGED:
            return replace(verdict, reason=NO_JUDGE)
        if verdict.value is None or verdict.verdict == "fail" or rule.metric not in rows:
            return verdict
        column, gone = rows[rule.metric], lost[rule.metric]
        among = range(len(column)) if mask is None else np.flatnonzero(mask).tolist()
        reasons = Counter(column[place].reason or "" for place in among if gone[place])
        if reasons:
            why = min(reasons, key=lambda reason: (-reasons[reason], reason))
            reason = f"{reasons.total():,} of {len(among):,} answers lost: {why}; {AGAIN}"
            return replace(verdict, verdict="not_evaluated", reason=reason)
        if verdict.verdict == "pass" and verdict.reason is None and verdict.n < len(among):
            return replace(verdict, reason=f"over {verdict.n:,} of {len(among):,} answers")
        return verdict

    return settled


def _unheard(
    metrics: Mapping[str, Metric],
    rows: Rows,
    values: Values,
    lost: Mapping[str, Sequence[bool]],
    unfinished: str | None,
) -> Iterator[Verdict]:
    """Gates that nobody could decide: what was to be said of answers and was not at all.

    No run passes because its judge or its embedder was not heard.
    """
    judged = [metric for metric in metrics.values() if metric.needs & JUDGED]
    if unfinished is not None and judged:
        yield undecided(any_value(judged[0]), "not_evaluated", unfinished)
    for id, metric in metrics.items():
        if any(lost[id]) and not any(value is not None for value in values[id]):
            by_judge = any((row.reason or "").startswith(JUDGE_FAILED) for row in rows[id])
            reason = f"the {'judge' if by_judge else 'embedder'} failed at every answer"
            yield undecided(any_value(metric), "not_evaluated", reason)


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


def note_absent_inputs(facts: Sequence[AnswerFacts], rows: Rows, findings: Findings) -> None:
    """A finding for each input that no answer has, with the metrics that have no value for it."""
    for field, absent, there in (
        (CONTEXTS, CONTEXTS_UNKNOWN, any(one.row.contexts is not None for one in facts)),
        (REFERENCES, NO_REFERENCE, any(one.row.references for one in facts)),
    ):
        lost = [
            id.removeprefix("answers.")
            for id, column in sorted(rows.items())
            if any(isinstance(one, Absent) and one.reason == absent.reason for one in column)
        ]
        if lost and not there:
            fact = f"no row has {field.name} (or {', '.join(field.aliases[:3])}, …)"
            shown = ", ".join(lost[:4]) + (f" and {len(lost) - 4} more" if len(lost) > 4 else "")
            remedy = f"name the column with --map {field.name}=COLUMN"
            message = f"{fact}, so there is no {shown}; {remedy}"
            findings.add(Finding("absent_input", "rows", message))


def made_with(
    gathered: Gathered,
    metrics: Mapping[str, Metric],
    facts: Sequence[AnswerFacts],
    options: AnswerOptions,
) -> dict[str, str]:
    """By metric, what is in its number besides the answers: a model, an embedder, a judge."""

    def longest(claims: Iterable[AnswerClaims | None]) -> str | None:
        # Who judged, with its prompts: of all the longest name, for refusals need fewer prompts.
        names = {one.judge for one in claims if one is not None}
        return max(names, key=lambda name: (len(name), name), default=None)

    judges = {
        "claims": longest(one.claims for one in facts) or gathered.judge,
        "lexical_claims": longest(one.lexical_claims for one in facts),
        "rubric": f"{gathered.judge} {rubric_id(options.rubric)}",
    }
    models = {
        "groundedness": next((one.groundedness.model for one in facts if one.groundedness), None),
        "citations": next((one.citations.model for one in facts if one.citations), None),
    }
    found = {}
    for id, metric in metrics.items():
        parts = [f"judge:{name}" for need, name in judges.items() if need in metric.needs]
        parts += [f"model:{name}" for need, name in models.items() if name and need in metric.needs]
        if metric.needs & EMBEDDED or id in RELEVANCY:
            parts.append(f"embedder:{gathered.embedder}")
        if metric.needs & JUDGED:
            parts.append(f"seed:{options.seed or 0}")
        found[id] = "|".join([*filter(None, [tokens_of(metric)]), *parts])
    return found
