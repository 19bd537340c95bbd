"""A judge asked about every answer: within its budget, each call once, failures as records."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from ragauge.contracts.judge import JudgeCall, ReplyCache, Usage
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.errors import BudgetSpent
from ragauge.metrics.answers import AnswerFacts
from ragauge.models.endpoint import rate_per_s
from ragauge.models.judges import Budget, ChatJudge, Prices, chat_judge, estimate
from ragauge.models.judging import judge_answer, judge_rubric, planned_calls
from ragauge.models.judging.rubric import NO_ANSWER, rubric_call
from ragauge.pipelines.threads import run_async
from ragauge.runners.answers.options import read_budget, read_prices

if TYPE_CHECKING:
    from ragauge.engines.local import Progress
    from ragauge.models.judges.budget import Estimate

CONCURRENCY = 8
TIMEOUT_S = 60.0
ROWS_A_CALL = 2
"""Rows under way for each call that may be: while one waits for its claims, another goes on."""
CALLS_A_ROW = 8
"""What a row with five contexts takes."""
FAILED = "judge_failed"
SPENT = "budget_spent"
UNJUDGED = "the budget was spent before it was judged"
UNTAKEN = {"logprobs": "how sure the judge is, is not told"}
"""What it means that an endpoint does not take a part of the protocol, if not the usual."""

Announce = Callable[["Estimate"], None]


class Judged(Struct, frozen=True, kw_only=True):
    """What a judge was asked, and what that took."""

    facts: list[AnswerFacts]
    judge: str
    usage: Usage
    unfinished: str | None
    """Why some answers were not judged, though they were to be; None where all were."""


class Judging(Struct, frozen=True, kw_only=True):
    """How a judge is asked."""

    options: AnswerOptions
    wanted: frozenset[str]
    """The metrics, without their family."""
    prices: Prices | None
    calls: int | None
    cost: float | None
    rate: float | None

    @classmethod
    def of(cls, options: AnswerOptions, metrics: Sequence[str]) -> Judging:
        """What the options say, which were checked when they were chosen."""
        prices = None if options.prices is None else read_prices(options.prices)
        calls, cost = (None, None) if options.budget is None else read_budget(options.budget)
        rate = None if options.rate is None else rate_per_s(options.rate)
        wanted = frozenset(id.removeprefix("answers.") for id in metrics)
        return cls(options=options, wanted=wanted, prices=prices, calls=calls, cost=cost, rate=rate)

    def asked(
        self,
        facts: Sequence[AnswerFacts],
        findings: Findings,
        replies: ReplyCache | None,
        announce: Announce | None,
        progress: Progress | None,
    ) -> Judged:
        """The facts with what the judge says; what it will take is announced before."""
        options = self.options
        concurrency = options.concurrency or CONCURRENCY
        judge = chat_judge(
            options.endpoint or "",
            model=options.judge_model or "",
            key_env=options.judge_key_env,
            cache=replies,
            budget=Budget(calls=self.calls, cost=self.cost, prices=self.prices),
            rate=self.rate,
            concurrency=concurrency,
            timeout_s=options.timeout or TIMEOUT_S,
        )
        # Rows under way together: with a small budget few, so that those begun are finished.
        at_a_time = ROWS_A_CALL * concurrency
        if self.calls is not None:
            at_a_time = max(1, min(at_a_time, self.calls // CALLS_A_ROW))
        if announce is not None:
            announce(estimate(self._calls(facts, judge), self.prices, judge=judge))
        run = _Run(judge, self, len(facts), progress)
        made = run_async(run.all(facts, at_a_time))
        return Judged(
            facts=made,
            judge=judge.id,
            usage=judge.usage,
            unfinished=_noted(made, run.spent, judge, findings),
        )

    def _calls(self, facts: Sequence[AnswerFacts], judge: ChatJudge) -> Iterator[JudgeCall]:
        def known(call: JudgeCall) -> Mapping[str, Any] | None:
            kept = judge.known(call)
            return None if kept is None else kept.value

        rows, refused = (one.row for one in facts), {one.row.id for one in facts if one.refused}
        seed, rubric = self.options.seed or 0, self.options.rubric
        yield from planned_calls(rows, self.wanted, refused=refused, seed=seed, known=known)
        if "rubric" in self.wanted:
            for one in facts:
                if one.row.answer is not None:
                    yield rubric_call(one.row, rubric=rubric, seed=seed)


class _Run:
    """Answers on their way through a judge."""

    def __init__(
        self, judge: ChatJudge, judging: Judging, of: int, progress: Progress | None
    ) -> None:
        self._judge, self._wanted = judge, judging.wanted
        self._seed, self._rubric = judging.options.seed or 0, judging.options.rubric
        self._of, self._progress, self._done = of, progress, 0
        self.spent: str | None = None

    async def all(self, facts: Sequence[AnswerFacts], at_a_time: int) -> list[AnswerFacts]:
        """Every answer judged, in the order given."""
        made = list(facts)
        places = iter(range(len(facts)))

        async def takes_the_next() -> None:
            for place in places:
                made[place] = await self._one(facts[place])
                self._done += 1
                if self._progress is not None:
                    self._progress(self._done, self._of)

        try:
            await asyncio.gather(*(takes_the_next() for _ in range(at_a_time)))
        finally:
            await self._judge.close()
        return made

    async def _one(self, facts: AnswerFacts) -> AnswerFacts:
        try:
            claims = await judge_answer(
                facts.row, self._judge, self._wanted, refused=facts.refused, seed=self._seed
            )
            rubric = None
            if "rubric" in self._wanted:
                rubric = await judge_rubric(
                    facts.row, self._judge, rubric=self._rubric, seed=self._seed
                )
        except BudgetSpent as spent:
            self.spent = str(spent)
            missing = dict.fromkeys(("claims", "rubric"), UNJUDGED)
            return structs.replace(facts, missing={**facts.missing, **missing})
        return structs.replace(facts, claims=claims, rubric=rubric)


def _noted(
    facts: Sequence[AnswerFacts], spent: str | None, judge: ChatJudge, findings: Findings
) -> str | None:
    """Findings of what failed; why the evaluation is not complete, where it is not."""
    for part in judge.left_out:
        means = UNTAKEN.get(part, "replies may differ from run to run")
        fact = f"the endpoint does not take {part}; {means}"
        findings.add(Finding("judge_takes_no", judge.id, fact))
    for one in facts:
        errors = list(one.claims.errors) if one.claims is not None else []
        if one.rubric and one.rubric.score is None and one.rubric.reason != NO_ANSWER:
            errors.append(f"rubric: {one.rubric.reason}")
        for error in errors:
            findings.add(Finding(FAILED, one.row.where or one.row.id, f"{one.row.id}: {error}"))
    if spent is not None:
        unjudged = sum(one.claims is None for one in facts)
        findings.add(Finding(SPENT, judge.id, f"{unjudged:,} answers were not judged: {spent}"))
        return f"the judge stopped before {unjudged:,} of {len(facts):,} answers: {spent}"
    return None
