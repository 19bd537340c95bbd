"""What a replay asks: the questions that went wrong, each under every change that can be made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from ragauge.contracts.gold import Gold
from ragauge.contracts.run import PlannedRun, Variation
from ragauge.runners.calling import Call, ask_of
from ragauge.text.canonical import composed

Change = Literal["again", "gold_in", "noise_out", "temperature_0", "top_k_doubled"]
CHANGES: tuple[Change, ...] = get_args(Change)

TURNS: dict[Change, str] = {
    "gold_in": "put_in",
    "noise_out": "take_out",
    "temperature_0": "temperature",
    "top_k_doubled": "top_k",
}
"""The knob behind each change; the temperature is a part of every ask, and no knob of its own."""

KnobNames = Mapping[str, str | Literal[False] | None]
"""What the system calls the knobs; none, or an empty name, where it has no such knob."""


class Failing(Struct, frozen=True, kw_only=True):
    """A question as it was asked when the answer was wrong."""

    id: str
    gold: Gold
    question_sent: str
    variation: Variation
    retrieved_ids: tuple[str, ...] | None
    """None where the trace does not tell."""

    @property
    def noise(self) -> tuple[str, ...]:
        """What was retrieved and is not gold; nothing where gold names no ids that it should."""
        if self.gold.answerable and not self.gold.gold_citations:
            return ()
        needed = set(map(composed, self.gold.gold_citations))
        return tuple(
            id for id in dict.fromkeys(self.retrieved_ids or ()) if composed(id) not in needed
        )


class Planned(Struct, frozen=True):
    """A question under a change, and the call that it comes to."""

    failing: Failing
    change: Change
    call: Call


class Turning(Struct, frozen=True, kw_only=True):
    """What is sent with every call, and by which names changes are."""

    knobs: Mapping[str, Any]
    names: KnobNames

    def name(self, change: Change) -> str | None:
        """What the system calls the knob behind a change; None where it is hidden."""
        knob = TURNS[change]
        return self.names.get(knob, knob) or None

    def hides(self, change: Change) -> bool:
        return change in TURNS and self.name(change) is None

    def planned(self, failing: Failing, change: Change) -> Planned | None:
        """The call; None where the change is hidden, or cannot be made."""
        if self.hides(change):
            return None
        knobs, variation = dict(self.knobs), failing.variation
        if change == "again":
            # Under another seed: a seeded system gives the same reply to the very same ask, and
            # what chance repairs would never be seen.
            variation = structs.replace(variation, seed=variation.seed + 1)
        else:
            value = self._value(failing, change)
            if value is None:
                return None
            if change == "temperature_0":
                variation = structs.replace(variation, temperature=value)
            else:
                knobs[self.name(change) or ""] = value
        run = PlannedRun(failing.gold.qid, variation, failing.question_sent)
        ask = ask_of(run, knobs, failing.gold.constraints)
        return Planned(failing, change, Call(key_of(failing.id, change), run, ask))

    def _value(self, failing: Failing, change: Change) -> Any:
        """What is put in place of what was; None where nothing is known to put there."""
        match change:
            case "gold_in":
                return list(dict.fromkeys(failing.gold.gold_citations)) or None
            case "noise_out":
                return list(failing.noise) or None
            case "temperature_0":
                return 0.0 if failing.variation.temperature else None
            case _:
                return 2 * max(len(failing.retrieved_ids or ()), self._top_k) or None

    @property
    def _top_k(self) -> int:
        known = self.knobs.get(self.name("top_k_doubled") or "")
        return known if type(known) is int else 0


def key_of(id: str, change: str) -> str:
    return f"{change} {id}"


class ReplayPlan(Struct, frozen=True, kw_only=True):
    """The questions that are asked again, and under which changes."""

    of: int
    """Questions that went wrong."""
    chosen: tuple[Failing, ...]
    planned: dict[Change, tuple[Planned, ...]]
    """The calls of each change, in the order of the questions."""
    turning: Turning
    unchangeable: int
    """Questions that are not asked, as nothing but asking again could be done."""
    budget: int | None
    first_takes: int | None
    """Calls that the first question takes; None where there is none to ask."""

    @property
    def too_dear(self) -> bool:
        """The budget is not enough for a single question."""
        return self.first_takes is not None and not self.chosen

    @property
    def calls(self) -> list[Planned]:
        return [one for planned in self.planned.values() for one in planned]


def replay_plan(failing: Sequence[Failing], turning: Turning, budget: int | None) -> ReplayPlan:
    """As many questions as the budget allows, all of them under the same changes."""
    ordered = [one for one in _in_turn(failing) if _calls(one, turning)]
    takes = [_calls(one, turning) for one in ordered]
    chosen = ordered[: _most(takes, budget)]
    return ReplayPlan(
        of=len(failing),
        chosen=tuple(chosen),
        planned={
            change: tuple(one for asked in chosen if (one := turning.planned(asked, change)))
            for change in CHANGES
        },
        turning=turning,
        unchangeable=len(failing) - len(ordered),
        budget=budget,
        first_takes=takes[0] if takes else None,
    )


def _in_turn(failing: Sequence[Failing]) -> list[Failing]:
    """By id; of a question that went wrong several times, the second comes after all the first."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, str, Failing]] = []
    for one in sorted(failing, key=lambda one: one.id):
        turns.append((seen[one.gold.qid], one.id, one))
        seen[one.gold.qid] += 1
    return [one for *_, one in sorted(turns, key=lambda turn: turn[:2])]


def _calls(failing: Failing, turning: Turning) -> int:
    """What a question takes; none where nothing but asking again could be done."""
    possible = sum(turning.planned(failing, change) is not None for change in CHANGES)
    return possible if possible > 1 else 0


def _most(takes: Sequence[int], budget: int | None) -> int:
    """How many of the first questions the budget is enough for."""
    if budget is None:
        return len(takes)
    return sum(spent <= budget for spent in accumulate(takes))
