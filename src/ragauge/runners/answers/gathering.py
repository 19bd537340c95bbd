"""The facts of all answers gathered, from whoever is asked: judge, supporter, embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.embedder import Embedder
from ragauge.contracts.gold import REFUSING, Refusal
from ragauge.contracts.judge import JudgeCall, ReplyCache, Usage
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.options import AnswerOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.engines.local import Progress
from ragauge.errors import BudgetSpent
from ragauge.grounding.model import Model
from ragauge.ingest.calibration import AnswerCalibration, Calibrations
from ragauge.ingest.fields import quoted
from ragauge.metrics.answers import AnswerFacts
from ragauge.models.embedders import embedder
from ragauge.models.endpoint import rate_per_s
from ragauge.models.endpoint_embedder import CachingEmbedder, EmbeddingFailed, KeptReplies
from ragauge.models.judges import Budget, chat_judge, estimate
from ragauge.models.judges.budget import Estimate
from ragauge.models.judging import judge_answer, judge_rubric, likened, planned_calls
from ragauge.models.judging.rubric import NO_ANSWER, rubric_call
from ragauge.pipelines.threads import run_async
from ragauge.refusals.predicate import refusal_in, refusal_in_free_words, refusal_tokens
from ragauge.runners.answers.options import (
    DEFAULT_EMBEDDER,
    EMBEDDED,
    JUDGED,
    RELEVANCY,
    embeds,
    needs_of,
    read_budget,
    read_prices,
)
from ragauge.runners.answers.supporting import measured_answers, model_of
from ragauge.text.canonical import composed

if TYPE_CHECKING:
    from numpy.typing import NDArray


TOLD = {
    "near": "dresses up the refusal token",
    "free": "refuses in its own words",
    "undetermined": "may refuse in its own words, or answer",
}
"""What is said of refusals that do not count as such."""
AT_A_TIME = 256
"""Answers whose texts are embedded together."""
EMPTY = "the embedder finds no content in a text"
FAILED = "the embedder failed"
"""How the reason begins where there is no vector."""
CONCURRENCY = 8
TIMEOUT_S = 60.0
ROWS_A_CALL = 2
"""Rows under way for each call that may be: while one waits for its claims, another goes on."""
CALLS_A_ROW = 8
"""What a row with five contexts takes."""
UNJUDGED = "the budget was spent before it was judged"
UNTAKEN = {"logprobs": "how sure the judge is, is not told"}
"""What it means that an endpoint does not take a part of the protocol, if not the usual."""


class Asking(Struct, frozen=True, kw_only=True):
    """What a caller brings along: where replies are kept, and whom to tell how it goes."""

    replies: ReplyCache | None = None
    """Replies of a judge by their call; without it they are known to this run alone."""
    vectors: KeptReplies | None = None
    """Vectors of an embedder by their text; without it they are known to this run alone."""
    calibrations: Calibrations | None = None
    """How far metrics agreed with people, by who makes their numbers."""
    announce: Callable[[Estimate], None] | None = None
    """Told what a judge will take, before it is asked."""
    progress: Progress | None = None


class Gathered(Struct, frozen=True, kw_only=True):
    """Every fact that the metrics will read, and who told it."""

    facts: list[AnswerFacts]
    rows: dict[str, list[Row | Absent]]
    """By metric id, what it found in each answer."""
    judge: str | None
    usage: Usage | None
    embedder: str | None
    unfinished: str | None
    """Why some answers were not judged, though they were to be."""
    model: Model
    """The coefficients of groundedness."""


def gathered_facts(
    rows: Sequence[AnswerRow],
    options: AnswerOptions,
    metrics: Mapping[str, Metric],
    findings: Findings,
    asking: Asking,
    calibration: AnswerCalibration | None,
) -> Gathered:
    """The facts of each row, in the order of the rows."""
    needs = needs_of(metrics)
    model = model_of(calibration)  # what is wrong with it is told before a judge is paid
    chosen = heard_embedder(options.embedder, asking.vectors) if embeds(metrics) else None
    facts = facts_of(rows, options, findings)
    judge, usage, unfinished = options.judge, None, None
    if needs & JUDGED:
        facts, judge, usage, unfinished = judged(facts, options, metrics, findings, asking)
    if chosen is not None:
        facts = with_likeness(facts, chosen, needs)
    facts, measured = measured_answers(
        facts, needs, model, metrics, options.workers, asking.progress
    )
    if chosen is not None:
        # What compares questions is measured once these are compared: workers have no embedder.
        for id, field in RELEVANCY.items():
            if id in metrics:
                facts = _compared(facts, field, chosen)
                measured[id] = [metrics[id](one) for one in facts]
        for failure in chosen.failures:
            findings.add(Finding("embedder_failed", chosen.id, failure))
    return Gathered(
        facts=facts,
        rows=measured,
        judge=judge,
        usage=usage,
        embedder=None if chosen is None else chosen.id,
        unfinished=unfinished,
        model=model,
    )


def _compared(facts: list[AnswerFacts], field: str, chosen: Embedder) -> list[AnswerFacts]:
    """The facts with the likeness of the question to those that the answer would answer.

    Where the embedder fails they stay as they are: then nobody compared the questions.
    """
    asked = [(one.row.question, getattr(one, field)) for one in facts]
    try:
        compared = iter(likened([pair for pair in asked if pair[1] is not None], chosen))
    except EmbeddingFailed:
        return facts  # it is noted where the embedder is
    return [
        one if getattr(one, field) is None else structs.replace(one, **{field: next(compared)})
        for one in facts
    ]


class HeardEmbedder:
    """Another embedder; what it fails at is kept, and once it is down it is not asked again."""

    def __init__(self, embedder: Embedder, unheard_id: str) -> None:
        self._embedder, self._unheard_id = embedder, unheard_id
        self._heard = False
        self._down: EmbeddingFailed | None = None
        self.failures: list[str] = []

    @property
    def id(self) -> str:
        """The embedder's own; where it never gave a vector, what is known of it without one."""
        return self._unheard_id if self.failures and not self._heard else self._embedder.id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text; raises EmbeddingFailed."""
        if self._down is not None:
            raise self._down
        try:
            vectors = self._embedder.embed(texts)
        except EmbeddingFailed as failed:
            self._down = failed if failed.down else None
            self.failures.append(str(failed))
            raise
        self._heard = True
        return vectors


def heard_embedder(name: str | None, vectors: KeptReplies | None) -> HeardEmbedder:
    """The embedder of that name; what it costs to ask it for is kept where there is a place."""
    written = name or DEFAULT_EMBEDDER
    # N-grams are counted faster than read.
    chosen = CachingEmbedder(embedder(written), None if written == DEFAULT_EMBEDDER else vectors)
    return HeardEmbedder(chosen, f"endpoint:{written.partition('#')[2]}")


def facts_of(
    rows: Sequence[AnswerRow], options: AnswerOptions, findings: Findings
) -> list[AnswerFacts]:
    """What is known of each answer; a refusal that does not count as one is a finding."""
    known = refusal_tokens(tuple(map(composed, options.refusal_tokens)))
    facts = []
    for row in rows:
        refusal: Refusal = "none"
        if row.answer is not None:
            refusal = refusal_in(composed(row.answer), known)
            if refusal == "none":
                refusal = refusal_in_free_words(row.answer, row.question)
        refused = refusal in REFUSING[options.refusal]
        if not refused and refusal in TOLD:
            fact = f"{quoted(row.id)} {TOLD[refusal]}, and counts as an answer"
            findings.add(Finding(f"{refusal}_refusal", row.where, fact))
        own = row if options.kind is None else structs.replace(row, kind=options.kind)
        facts.append(AnswerFacts(row=own, refused=refused))
    return facts


def with_likeness(
    facts: Sequence[AnswerFacts], embedder: Embedder, needs: frozenset[str]
) -> list[AnswerFacts]:
    """The facts with the cosines that are needed; a text that comes back is embedded once.

    Where the embedder fails they are missing, with the reason.
    """
    found: list[AnswerFacts] = []
    for at in range(0, len(facts), AT_A_TIME):
        some = facts[at : at + AT_A_TIME]
        pairs = [_pairs(one.row, needs) for one in some]
        texts = sorted(
            {text for by in pairs for each in by.values() for two in each for text in two}
        )
        try:
            embedded = embedder.embed(texts).astype(np.float64) if texts else ()
        except EmbeddingFailed as failed:
            lost = dict.fromkeys(EMBEDDED & needs, f"{FAILED}: {failed}")
            found += [structs.replace(one, missing={**one.missing, **lost}) for one in some]
            continue
        vectors = dict(zip(texts, embedded, strict=True))
        for one, by in zip(some, pairs, strict=True):
            cosines, missing = dict[str, float](), dict(one.missing)
            for name, each in by.items():
                both = [(vectors[left], vectors[right]) for left, right in each]
                known = [float(left @ right) for left, right in both if left.any() and right.any()]
                if known:
                    cosines[name] = max(known)
                else:
                    missing[name] = EMPTY
            found.append(structs.replace(one, **cosines, missing=missing))
    return found


def _pairs(row: AnswerRow, needs: frozenset[str]) -> dict[str, list[tuple[str, str]]]:
    """By fact, the answer with each text that it is compared with."""
    others = {
        "similarity": row.references,
        "relevance": () if row.question is None else (row.question,),
    }
    return {
        name: [(row.answer, text) for text in texts]
        for name, texts in others.items()
        if row.answer is not None and name in needs and texts
    }


def judged(
    facts: Sequence[AnswerFacts],
    options: AnswerOptions,
    metrics: Iterable[str],
    findings: Findings,
    asking: Asking,
) -> tuple[list[AnswerFacts], str, Usage, str | None]:
    """The facts with what a judge says, who it is, what it took, and why it did not finish.

    Each call is made once and within the budget; what they will take is announced before.
    """
    wanted = frozenset(id.removeprefix("answers.") for id in metrics)
    prices = None if options.prices is None else read_prices(options.prices)
    calls, cost = (None, None) if options.budget is None else read_budget(options.budget)
    concurrency, seed = options.concurrency or CONCURRENCY, options.seed or 0
    judge = chat_judge(
        options.endpoint or "",
        model=options.judge_model or "",
        key_env=options.judge_key_env,
        cache=asking.replies,
        budget=Budget(calls=calls, cost=cost, prices=prices),
        rate=None if options.rate is None else rate_per_s(options.rate),
        concurrency=concurrency,
        timeout_s=options.timeout or TIMEOUT_S,
    )

    def planned() -> Iterator[JudgeCall]:
        def known(call: JudgeCall) -> Mapping[str, Any] | None:
            kept = judge.known(call)
            return None if kept is None else kept.value

        rows, refused = (one.row for one in facts), {one.row.id for one in facts if one.refused}
        yield from planned_calls(rows, wanted, refused=refused, seed=seed, known=known)
        for one in facts if "rubric" in wanted else ():
            if one.row.answer is not None:
                yield rubric_call(one.row, rubric=options.rubric, seed=seed)

    if asking.announce is not None:
        asking.announce(estimate(planned(), prices, judge=judge))
    made, left = list(facts), iter(range(len(facts)))
    spent, done = "", 0

    async def take_the_next() -> None:
        nonlocal spent, done
        for place in left:
            one = facts[place]
            try:
                said: dict[str, Any] = {
                    "claims": await judge_answer(
                        one.row, judge, wanted, refused=one.refused, seed=seed
                    )
                }
                if "rubric" in wanted:
                    said["rubric"] = await judge_rubric(
                        one.row, judge, rubric=options.rubric, seed=seed
                    )
            except BudgetSpent as error:
                spent = str(error)
                lost = dict.fromkeys(("claims", "rubric"), UNJUDGED)
                said = {"missing": {**one.missing, **lost}}
            made[place] = structs.replace(one, **said)
            done += 1
            if asking.progress is not None:
                asking.progress(done, len(facts))

    async def take_all() -> None:
        # Rows under way together: with a small budget few, so that those begun are finished.
        together = ROWS_A_CALL * concurrency
        if calls is not None:
            together = max(1, min(together, calls // CALLS_A_ROW))
        try:
            await asyncio.gather(*(take_the_next() for _ in range(together)))
        finally:
            await judge.close()

    run_async(take_all())
    for part in judge.left_out:
        means = UNTAKEN.get(part, "replies may differ from run to run")
        fact = f"the endpoint does not take {part}; {means}"
        findings.add(Finding("judge_takes_no", judge.id, fact))
    for one in made:
        errors = list(one.claims.errors) if one.claims is not None else []
        if one.rubric and one.rubric.score is None and one.rubric.reason != NO_ANSWER:
            errors.append(f"rubric: {one.rubric.reason}")
        for error in errors:
            where = one.row.where or one.row.id
            findings.add(Finding("judge_failed", where, f"{one.row.id}: {error}"))
    if not spent:
        return made, judge.id, judge.usage, None
    unjudged = sum(one.claims is None for one in made)
    findings.add(
        Finding("budget_spent", judge.id, f"{unjudged:,} answers were not judged: {spent}")
    )
    unfinished = f"the judge stopped before {unjudged:,} of {len(made):,} answers: {spent}"
    return made, judge.id, judge.usage, unfinished
