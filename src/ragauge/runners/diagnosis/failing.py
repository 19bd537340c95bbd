"""The questions that went wrong, as a replay asks them again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import structs

from ragauge.contracts.diagnosis import Replay, ScoreRow
from ragauge.contracts.gold import Gold
from ragauge.contracts.run import ORIGINAL, Variation
from ragauge.diagnosis.cases import Case
from ragauge.diagnosis.observed import Observed
from ragauge.diagnosis.ranking import MENDED
from ragauge.runners.diagnosis.replay_plan import Failing

AGAIN = "again"


def failing_runs(runs: Iterable[Sequence[Observed]]) -> list[Failing]:
    """A wrong run of each question that has one: the first of them, by its id."""
    found = []
    for siblings in runs:
        wrong = [run for run in siblings if run.right is False]
        if wrong:
            found.append(_of_run(min(wrong, key=lambda run: run.id)))
    return found


def _of_run(run: Observed) -> Failing:
    wordings = (run.gold.question, *run.gold.paraphrases)
    place = run.variation.paraphrase
    known = wordings[place] if place < len(wordings) else wordings[ORIGINAL]
    return Failing(
        id=run.gold.qid,
        gold=run.gold,
        question_sent=run.sent or known,
        variation=run.variation,
        retrieved_ids=run.retrieved,
    )


def failing_rows(rows: Iterable[ScoreRow], gold: Mapping[str, Gold] | None = None) -> list[Failing]:
    """Samples beyond a threshold, with what their rows tell of the gold."""
    known = gold or {}
    return [
        Failing(
            id=row.id,
            gold=known.get(row.id) or gold_of(row),
            question_sent=row.question,
            variation=Variation(),
            retrieved_ids=row.retrieved_ids,
        )
        for row in rows
        if row.question
    ]


def gold_of(row: ScoreRow) -> Gold:
    """The question that a row amounts to; its reference is the wording that a right answer has."""
    return Gold(
        qid=row.id,
        question=row.question or "",
        answerable=row.answerable is not False,
        gold_claim=row.reference,
        gold_citations=row.gold_ids or (),
        strata=dict(row.strata),
    )


def alike(runs: Iterable[Sequence[Observed]]) -> frozenset[str]:
    """Ids of the runs that a replayed one speaks for: of its wording and its temperature."""
    found: set[str] = set()
    for siblings in runs:
        wrong = [run for run in siblings if run.right is False]
        if wrong:
            asked = min(wrong, key=lambda run: run.id)
            found |= {run.id for run in siblings if _asked_as(run) == _asked_as(asked)}
    return frozenset(found)


def _asked_as(run: Observed) -> tuple[object, ...]:
    return run.wording, run.variation.temperature


def with_replay(
    cases: Sequence[Case], replay: Replay, only: Collection[str] | None = None
) -> list[Case]:
    """The cases with what a replay showed; where asking again was enough, it shows nothing.

    `only` are the ids of the cases that it speaks for; else it speaks for all of a sample.
    """
    found = []
    for case in cases:
        if only is not None and case.id not in only:
            found.append(case)
            continue
        tried, mended = replay.tried.get(case.sample, ()), replay.repaired_by.get(case.sample, ())
        told = {
            f"{MENDED}{change}": change in mended
            for change in tried
            if change != AGAIN and AGAIN not in mended and case.went_wrong
        }
        found.append(structs.replace(case, signs={**case.signs, **told}) if told else case)
    return found
