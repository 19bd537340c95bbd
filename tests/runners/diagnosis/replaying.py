"""Questions that went wrong, and a system over a shelf of chunks that obeys the knobs of a replay.

Question n is answered by chunk `g<n>`, which holds "fact <n>"; the search brings noise before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragauge.contracts.diagnosis import Intervention, Replay
from ragauge.contracts.gold import Gold
from ragauge.contracts.run import Variation
from ragauge.contracts.system import Ask
from ragauge.runners.diagnosis.replay import replay
from ragauge.runners.diagnosis.replay_plan import Failing

TOP_K = 3
REFUSAL = {"claim": "not in context", "citations": []}

Rule = Callable[[Ask, Sequence[str]], bool]
"""Whether an answer is right, from what was asked and what was retrieved."""


def number_of(question: str) -> int:
    return int(question.split()[-1].rstrip("?"))


def ranking(n: int) -> list[str]:
    """What the search brings for a question, best first: its gold chunk comes fifth."""
    return [*(f"n{n}.{place}" for place in range(1, 5)), f"g{n}", f"n{n}.6"]


def question(n: int, **changed: Any) -> Failing:
    """A question that went wrong, at temperature 0.7: its gold chunk was beyond the third."""
    gold = Gold(
        qid=f"q{n}",
        question=f"What is fact {n}?",
        answerable=True,
        gold_claim_substr=(f"fact {n} is so",),
        gold_citations=(f"g{n}",),
    )
    usual = {
        "id": f"q{n}",
        "gold": gold,
        "question_sent": gold.question,
        "variation": Variation(temperature=0.7, seed=n),
        "retrieved_ids": tuple(ranking(n)[:TOP_K]),
    }
    return Failing(**usual | changed)


def questions(count: int) -> list[Failing]:
    return [question(n) for n in range(1, count + 1)]


def unanswerable(n: int) -> Failing:
    gold = Gold(qid=f"q{n}", question=f"Who made {n}?", answerable=False)
    return question(n, gold=gold, question_sent=gold.question)


def found(ask: Ask, retrieved: Sequence[str]) -> bool:
    return f"g{number_of(ask.q)}" in retrieved


class Shelf:
    """A system that searches, as its knobs say, and answers rightly by a rule."""

    def __init__(self, right: Rule = found, **identity: Any) -> None:
        self.identity = {"kind": "shelf", **identity}
        self.asked: list[Ask] = []
        self.closed = False
        self._right = right

    async def ask(self, ask: Ask) -> Any:
        self.asked.append(ask)
        await asyncio.sleep(0)
        return self.reply(ask)

    def reply(self, ask: Ask) -> Any:
        retrieved = self.retrieved(ask)
        n = number_of(ask.q)
        answer = {"claim": f"fact {n} is so", "citations": [f"g{n}"]}
        wrong = {"claim": "It is otherwise.", "citations": retrieved[:1]}
        return {
            "answer_json": answer if self._right(ask, retrieved) else wrong,
            "retrieved_ids": retrieved,
        }

    def retrieved(self, ask: Ask) -> list[str]:
        put_in, out = ask.knobs.get("put_in", []), ask.knobs.get("take_out", [])
        rest = ranking(number_of(ask.q))[: ask.knobs.get("top_k", TOP_K)]
        return [*put_in, *(id for id in rest if id not in {*put_in, *out})]

    async def close(self) -> None:
        self.closed = True


def replayed(failing: Sequence[Failing], system: Any, journal: Path, **options: Any) -> Replay:
    return replay(failing, system, journal, **{"budget": None, "retries": 0} | options)


def row(result: Replay, name: str) -> Intervention:
    return next(one for one in result.interventions if one.name == name)


def counts(result: Replay) -> dict[str, tuple[int, int, int | None]]:
    """By intervention: asked, repaired, effective."""
    return {one.name: (one.asked, one.repaired, one.effective) for one in result.interventions}


def encoded(result: Replay) -> bytes:
    return msgspec.json.encode(result, order="sorted")
