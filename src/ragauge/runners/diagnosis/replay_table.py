"""The table of a replay: what each change came to, and whether that tells anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.diagnosis import Intervention
from ragauge.contracts.facts import Facts
from ragauge.contracts.trace import Trace
from ragauge.diagnosis.cases import Observed
from ragauge.diagnosis.words import ReplayWords, worded
from ragauge.metrics.facts import Reader, error_reason
from ragauge.runners.diagnosis.replay_plan import (
    CHANGES,
    TURNS,
    Change,
    Planned,
    ReplayPlan,
)
from ragauge.text.canonical import composed
from ragauge.text.visible import one_line

SHOWN = 5
WORDS_SHOWN = 200
REFUSED = frozenset({"bad_request", "http_400", "http_422"})
"""Kinds of failure that say that a request was not understood."""


class Seen(Struct, frozen=True):
    """What a call came to."""

    right: bool = False
    took_place: bool | None = None
    """The reply shows the change, or that it was not made; None where it does not tell."""
    error: str | None = None
    """Why there is no reply."""


def seen(planned: Planned, trace: Trace, reader: Reader) -> Seen:
    failing = planned.failing
    facts = reader.facts(reader.key(failing.gold), trace)
    run = Observed(id=failing.id, gold=failing.gold, facts=facts, variation=failing.variation)
    if run.right is None:
        return Seen(error=error_reason(trace))
    return Seen(right=run.right, took_place=_took_place(planned, facts, trace.retrieved_ids))


def _took_place(planned: Planned, facts: Facts, retrieved: tuple[str, ...] | None) -> bool | None:
    before = planned.failing.retrieved_ids
    if retrieved is None:
        return None
    match planned.change:
        case "gold_in":
            return bool(facts.gold_depth)
        case "noise_out":
            return set(map(composed, planned.failing.noise)).isdisjoint(map(composed, retrieved))
        case "top_k_doubled":
            return None if before is None else len(retrieved) > len(before)
        case _:
            return None


class ReplayTable:
    """What the calls of a replay came to, by change and by question."""

    def __init__(self, plan: ReplayPlan, say: ReplayWords) -> None:
        self._plan, self._say = plan, say
        self.came_to: dict[str, Seen] = {}
        """By the key of a call: what it came to."""

    @property
    def answered(self) -> int:
        return sum(one.error is None for one in self.came_to.values())

    @property
    def asked(self) -> int:
        """Questions of which at least one call was answered or failed."""
        return len({one.failing.id for one in self._plan.calls if one.call.key in self.came_to})

    def refusal(self, change: Change) -> str | None:
        """The words in which the system refuses a change: it was answered for no question."""
        made = self._made(change)
        if any(one.error is None for _, one in made):
            return None
        turned = self._turned(change)
        return next((one.error for _, one in made if _refuses(one.error or "", turned)), None)

    def interventions(self) -> tuple[Intervention, ...]:
        return tuple(map(self._intervention, CHANGES))

    def repaired_by(self) -> dict[str, tuple[str, ...]]:
        """The changes that repaired each question, by its id; only questions that have some."""
        repaired = {change: set(self._repaired(change)) for change in CHANGES}
        ids = sorted(set().union(*repaired.values()))
        return {id: tuple(one for one in CHANGES if id in repaired[one]) for id in ids}

    def tried(self) -> dict[str, tuple[str, ...]]:
        """The changes that each question was answered under, but for those not made after all."""
        answered = {
            change: {
                planned.failing.id
                for planned, came in self._made(change)
                if came.error is None and came.took_place is not False
            }
            for change in CHANGES
        }
        ids = sorted(set().union(*answered.values()))
        return {id: tuple(one for one in CHANGES if id in answered[one]) for id in ids}

    def _intervention(self, change: Change) -> Intervention:
        made = [one for _, one in self._made(change)]
        repaired = sorted(self._repaired(change))
        return Intervention(
            name=change,
            asked=len(made),
            repaired=len(repaired),
            effective=_effective(made),
            failed=sum(one.error is not None for one in made),
            impossible=self._impossible(change),
            samples=tuple(repaired[:SHOWN]),
            reason=self._reason(change),
        )

    def _impossible(self, change: Change) -> int:
        if change == "again" or self._plan.turning.hides(change):
            return 0
        unplanned = len(self._plan.chosen) - len(self._plan.planned[change])
        return unplanned + self._plan.unchangeable

    def _made(self, change: Change) -> list[tuple[Planned, Seen]]:
        """The calls that were made, in the order of the questions."""
        planned = self._plan.planned[change]
        return [(one, came) for one in planned if (came := self.came_to.get(one.call.key))]

    def _repaired(self, change: Change) -> list[str]:
        """Ids of the questions: where replies tell, only those that show the change count."""
        made = self._made(change)
        untold = _effective([one for _, one in made]) is None
        return [
            planned.failing.id for planned, one in made if one.right and (untold or one.took_place)
        ]

    def _turned(self, change: Change) -> str | None:
        return self._plan.turning.name(change) if change in TURNS else None

    def _reason(self, change: Change) -> str | None:
        """Why it was not made, or tells nothing; None where it was and does."""
        return self._why_not_asked(change) or self._why_untold(change)

    def _why_not_asked(self, change: Change) -> str | None:
        plan, say = self._plan, self._say
        if plan.turning.hides(change):
            return worded(say.hidden, knob=TURNS[change])
        if not plan.of:
            return say.no_question
        if plan.too_dear:
            return worded(say.short_budget, budget=plan.budget, takes=plan.first_takes)
        if not plan.planned[change]:
            return say.impossible[change]
        return None if self._made(change) else say.stopped

    def _why_untold(self, change: Change) -> str | None:
        made, say = [one for _, one in self._made(change)], self._say
        if refusal := self.refusal(change):
            return self._refused(change, one_line(refusal, WORDS_SHOWN))
        if all(one.error for one in made):
            return worded(say.unanswered, told=one_line(made[0].error or "", WORDS_SHOWN))
        if _effective(made) == 0:
            return worded(say.ignored, what=self._named(change))
        return None

    def _refused(self, change: Change, told: str) -> str:
        if change == "again" or self.refusal("again"):
            return worded(self._say.refused_unchanged, told=told)
        return worded(self._say.refused, what=self._named(change), told=told)

    def _named(self, change: Change) -> str:
        if change == "temperature_0":
            return self._say.temperature_0
        return worded(self._say.knob, name=self._turned(change))


def _effective(made: Sequence[Seen]) -> int | None:
    told = [one.took_place for one in made if one.took_place is not None]
    return sum(told) if told else None


def _refuses(error: str, knob: str | None) -> bool:
    """Whether a failure means that the request is not understood: by its kind, or by its words."""
    kind, colon, _ = error.partition(": ")
    if colon and kind in REFUSED:
        return True
    return knob is not None and bool(re.search(rf"(?<!\w){re.escape(knob)}(?!\w)", error))
