"""The calls that judging rows will take, before any is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.judge import JudgeCall
from ragauge.models.judging.asking import claimed_in
from ragauge.models.judging.plan import Claimed, Plan, opening_calls, plan_of, verdict_calls

Known = Callable[[JudgeCall], Mapping[str, Any] | None]
"""What is known already of a call's reply."""


def planned_calls(
    rows: Iterable[AnswerRow],
    wanted: Collection[str],
    *,
    refused: Collection[str] = (),
    seed: int = 0,
    known: Known = lambda call: None,
) -> Iterator[JudgeCall]:
    """The calls that judging these rows will take at most; `refused` are the ids of refusals.

    Where the claims of a row are known, the calls for verdicts on them are those that will be
    made. Where they are not, each text stands for its own claims, which are about as long; where
    it turns out to claim nothing, fewer calls are made.
    """
    for row in rows:
        plan = plan_of(row, wanted, refused=row.id in refused, seed=seed)
        opening = opening_calls(plan)
        yield from opening.values()
        yield from verdict_calls(plan, _claimed(plan, opening, known)).values()


def _claimed(plan: Plan, opening: Mapping[str, JudgeCall], known: Known) -> Claimed:
    reply = known(opening["claims"]) if "claims" in opening else None
    if reply is not None:
        return claimed_in(plan, reply)
    return Claimed(
        (plan.row.answer or "",) if plan.of_answer else None,
        (plan.reference or "",) if plan.of_reference else None,
    )
