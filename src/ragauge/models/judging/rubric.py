"""The rubric judge: a mark from 1 to 5 with its reason, and which of two answers is better."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from msgspec import structs

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.claims import Preference, Preferred, RubricScore
from ragauge.contracts.judge import Judge, JudgeCall
from ragauge.models.judging.asking import replies_of
from ragauge.models.judging.prompt import prompt

WORST, BEST = 1, 5
NO_ANSWER = "there is no answer"
_REASON: dict[str, Any] = {"type": "string"}
_MARK: dict[str, Any] = {"type": "integer", "minimum": WORST, "maximum": BEST}
_CHOICE: dict[str, Any] = {"type": "string", "enum": ["first", "second", "tie"]}
_SWAPPED: dict[str, Preferred] = {"first": "second", "second": "first", "tie": "tie"}


async def judge_rubric(
    row: AnswerRow, judge: Judge, *, rubric: str | None = None, seed: int = 0
) -> RubricScore:
    """The mark of an answer by a rubric, the user's or the default one; None where that failed.

    Where the endpoint tells, the reason ends with how sure the judge was: the geometric mean of
    its tokens' probabilities.
    """
    if row.answer is None or not row.answer.strip():
        return RubricScore(score=None, reason=NO_ANSWER)
    replies = await replies_of(judge, {"rubric": rubric_call(row, rubric=rubric, seed=seed)})
    if replies.errors:
        return RubricScore(score=None, reason=replies.errors["rubric"])
    said, sure = replies.values["rubric"], replies.logprobs.get("rubric")
    reason = said["reason"] if sure is None else f"{said['reason']} (sure: {math.exp(sure):.2f})"
    return RubricScore(score=int(said["score"]), reason=reason)


async def compare_answers(
    question: str | None,
    first: str,
    second: str,
    judge: Judge,
    *,
    references: Sequence[str] = (),
    rubric: str | None = None,
    seed: int = 0,
) -> Preference:
    """Which answer is better by the rubric, asked in both orders.

    Judges lean to a place. Where the two replies name the same place, and so not the same
    answer, the order decided and it is a tie; where one of them is a tie, the other one's
    preference is not enough either.
    """
    pairs = {"as given": (first, second), "swapped": (second, first)}
    calls = {}
    for order, pair in pairs.items():
        material: dict[str, Any] = {"question": question} if question else {}
        material |= {"first": pair[0], "second": pair[1]}
        if references:
            material["references"] = list(references)
        reply = {"reason": _REASON, "preferred": _CHOICE}
        asking = prompt("comparison")
        calls[order] = asking.call(material, reply, seed=seed, rubric=_wording(rubric))
    replies = await replies_of(judge, calls)
    if replies.errors:
        facts = "; ".join(f"{order}: {fact}" for order, fact in replies.errors.items())
        return Preference(preferred=None, by_order=False, reason=facts)
    given, swapped = replies.values["as given"], replies.values["swapped"]
    one, other = given["preferred"], _SWAPPED[swapped["preferred"]]
    if one == other:
        return Preference(preferred=other, by_order=False, reason=given["reason"])
    return Preference(
        preferred="tie",
        by_order="tie" not in (one, other),
        reason=f"as given, {one}: {given['reason']} swapped, {other}: {swapped['reason']}",
    )


def rubric_call(row: AnswerRow, *, rubric: str | None = None, seed: int = 0) -> JudgeCall:
    """The call that asks for a mark, for estimates too."""
    material: dict[str, Any] = {"question": row.question} if row.question else {}
    material["answer"] = row.answer
    if row.references:
        material["references"] = list(row.references)
    if row.contexts:
        material["contexts"] = [context.text for context in row.contexts]
    reply = {"reason": _REASON, "score": _MARK}
    call = prompt("rubric").call(material, reply, seed=seed, rubric=_wording(rubric))
    return structs.replace(call, logprobs=True)


def rubric_id(rubric: str | None = None) -> str:
    """The prompt and the rubric of a mark: whose version, or the hash of the user's own.

    >>> rubric_id(), rubric_id("5: it rhymes.")
    ('rubric/1 default_rubric/1', 'rubric/1 rubric:6e94124e588d')
    """
    if rubric is None:
        return f"{prompt('rubric').id} {prompt('default_rubric').id}"
    wording = hashlib.sha256(_wording(rubric).encode()).hexdigest()
    return f"{prompt('rubric').id} rubric:{wording[:12]}"


def _wording(rubric: str | None) -> str:
    return prompt("default_rubric").system if rubric is None else rubric.strip()
