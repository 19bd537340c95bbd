"""The counterfactual replay: wrong answers asked for again, with one thing changed at a time."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.diagnosis import Intervention, Language, Replay
from ragauge.contracts.sweep import Ended, Progress
from ragauge.contracts.system import System
from ragauge.contracts.trace import Trace
from ragauge.diagnosis.cases import ObservedTrace
from ragauge.diagnosis.texts import ReplayTexts, fill, texts
from ragauge.errors import UsageError
from ragauge.ingest.fields import refuse
from ragauge.ingest.traces import BadLine, decoded, read_trace
from ragauge.metrics.facts import Reader, Reading, error_reason
from ragauge.pipelines.threads import run_async
from ragauge.runners.calling import Call, Calling, Made, Manner, trace_line, unwatched
from ragauge.runners.diagnosis.replay_plan import (
    CHANGES,
    TURNS,
    Change,
    Failing,
    KnobNames,
    Planned,
    ReplayPlan,
    Turning,
    key_of,
    replay_plan,
)
from ragauge.runners.sweep import Watch
from ragauge.store.journal import Journal
from ragauge.store.journal import journal as open_journal
from ragauge.text.canonical import composed
from ragauge.text.visible import one_line

SHOWN = 5
WORDS_SHOWN = 200
REFUSED = frozenset({"bad_request", "http_400", "http_422"})
"""Kinds of failure that say that a request was not understood."""


FIRST = 3
"""Questions that are asked under every change before the others are: a change that is refused for
all of them is given up, and so is a system that answers none."""
AS_IT_IS = Reading()
SCHEMA = "ragauge.replay-journal/1"
ANOTHER = "name another journal, or move this one away"
_CHANGED = {
    "questions": "the questions that went wrong",
    "system": "the system",
    "knobs": "the knobs",
    "knob_names": "the names of the knobs",
}

_encode = msgspec.json.Encoder(order="sorted").encode


class CallResult(Struct, frozen=True):
    """What a call came to."""

    right: bool = False
    took_place: bool | None = None
    """The reply shows the change, or that it was not made; None where it does not tell."""
    error: str | None = None
    """Why there is no reply."""


def call_result(planned: Planned, trace: Trace, reader: Reader) -> CallResult:
    failing = planned.failing
    facts = reader.facts(reader.key(failing.gold), trace)
    run = ObservedTrace(id=failing.id, gold=failing.gold, facts=facts, variation=failing.variation)
    if run.right is None:
        return CallResult(error=error_reason(trace))
    before, retrieved = failing.retrieved_ids, trace.retrieved_ids
    took_place: bool | None = None
    if retrieved is not None and planned.change == "gold_in":
        took_place = bool(facts.gold_depth)
    elif retrieved is not None and planned.change == "noise_out":
        took_place = {*map(composed, failing.noise)}.isdisjoint(map(composed, retrieved))
    elif retrieved is not None and planned.change == "top_k_doubled" and before is not None:
        took_place = len(retrieved) > len(before)
    return CallResult(right=run.right, took_place=took_place)


class ReplayTable:
    """What the calls of a replay came to, by change and by question."""

    def __init__(self, plan: ReplayPlan, say: ReplayTexts) -> None:
        self._plan, self._say = plan, say
        self.came_to: dict[str, CallResult] = {}
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
        made = self._finished_calls(change)
        if any(one.error is None for _, one in made):
            return None
        turned = self._turned(change)
        # It says that a request is not understood by its kind, or by naming the knob.
        named = re.compile(rf"(?<!\w){re.escape(turned)}(?!\w)") if turned is not None else None
        for error in (one.error or "" for _, one in made):
            kind, colon, _ = error.partition(": ")
            if (colon and kind in REFUSED) or (named and named.search(error)):
                return error
        return None

    def interventions(self) -> tuple[Intervention, ...]:
        found, plan = [], self._plan
        for change in CHANGES:
            made = [one for _, one in self._finished_calls(change)]
            repaired = sorted(self._repaired(change))
            impossible = len(plan.chosen) - len(plan.planned[change]) + plan.unchangeable
            found.append(
                Intervention(
                    name=change,
                    asked=len(made),
                    repaired=len(repaired),
                    effective=_effective(made),
                    failed=sum(one.error is not None for one in made),
                    impossible=0 if change == "again" or plan.turning.hides(change) else impossible,
                    samples=tuple(repaired[:SHOWN]),
                    reason=self._reason(change),
                )
            )
        return tuple(found)

    def repaired_by(self) -> dict[str, tuple[str, ...]]:
        """The changes that repaired each question, by its id; only questions that have some."""
        return _by_question({change: set(self._repaired(change)) for change in CHANGES})

    def tried(self) -> dict[str, tuple[str, ...]]:
        """The changes that each question was answered under, but for those not made after all."""
        answered = {
            change: {
                planned.failing.id
                for planned, came in self._finished_calls(change)
                if came.error is None and came.took_place is not False
            }
            for change in CHANGES
        }
        return _by_question(answered)

    def _finished_calls(self, change: Change) -> list[tuple[Planned, CallResult]]:
        """The calls that were made, in the order of the questions."""
        planned = self._plan.planned[change]
        return [(one, came) for one in planned if (came := self.came_to.get(one.call.key))]

    def _repaired(self, change: Change) -> list[str]:
        """Ids of the questions: where replies tell, only those that show the change count."""
        made = self._finished_calls(change)
        untold = _effective([one for _, one in made]) is None
        return [
            planned.failing.id for planned, one in made if one.right and (untold or one.took_place)
        ]

    def _turned(self, change: Change) -> str | None:
        return self._plan.turning.name(change) if change in TURNS else None

    def _reason(self, change: Change) -> str | None:
        """Why it was not made, or says nothing; None where it was and does."""
        plan, say = self._plan, self._say
        if plan.turning.hides(change):
            return fill(say.hidden, knob=TURNS[change])
        if not plan.of:
            return say.no_question
        if plan.too_dear:
            return fill(say.short_budget, budget=plan.budget, takes=plan.first_takes)
        if not plan.planned[change]:
            return say.impossible[change]
        made = [one for _, one in self._finished_calls(change)]
        if not made:
            return say.stopped
        what = say.temperature_0
        if change != "temperature_0":
            what = fill(say.knob, name=self._turned(change))
        if refusal := self.refusal(change):
            said = one_line(refusal, WORDS_SHOWN)
            if change == "again" or self.refusal("again"):
                return fill(say.refused_unchanged, told=said)
            return fill(say.refused, what=what, told=said)
        if all(one.error for one in made):
            return fill(say.unanswered, told=one_line(made[0].error or "", WORDS_SHOWN))
        return fill(say.ignored, what=what) if _effective(made) == 0 else None


def _by_question(ids: Mapping[Change, set[str]]) -> dict[str, tuple[str, ...]]:
    every = sorted(set[str]().union(*ids.values()))
    return {id: tuple(change for change in CHANGES if id in ids[change]) for id in every}


def _effective(made: Sequence[CallResult]) -> int | None:
    effects = [one.took_place for one in made if one.took_place is not None]
    return sum(effects) if effects else None


def replay(
    failing: Sequence[Failing],
    system: System,
    journal: Path,
    *,
    budget: int | None,
    concurrency: int = 8,
    timeout_s: float = 90.0,
    retries: int = 3,
    knob_names: KnobNames | None = None,
    knobs: Mapping[str, Any] = {},
    reading: Reading = AS_IT_IS,
    language: Language = "en",
    watch: Watch | None = None,
) -> Replay:
    """What became of wrong answers that were asked for again, under each change that can be made.

    There are at most `budget` calls, and one that is tried again counts once. What `journal` holds
    of the same questions, system and knobs is not asked again. An interrupt ends it within
    moments, and what is there comes back. A system that was asked is closed at the end. Reasons
    are in `language`, and the words of the system as they came.
    """
    # A replay finds out by its first questions, and reports what is known without it.
    how = Manner(concurrency=concurrency, timeout_s=timeout_s, retries=retries, first_alone=False)
    _refuse_impossible(failing, budget, how)
    turning = Turning(knobs=knobs, names=knob_names or {})
    plan = replay_plan(failing, turning, budget)
    table = ReplayTable(plan, texts(language).replay)
    replaying = _Replaying(plan, table, Reader(reading), watch or unwatched)
    ended: Ended = "complete"
    if plan.calls:
        with open_journal(journal) as runs:
            begin(runs, heading(failing, system.identity, turning))
            replaying.resume(answered_before(runs))
            ended = run_async(Calling(system, how, runs, replaying).run())
    return replaying.report(system.identity, ended)


def _refuse_impossible(failing: Sequence[Failing], budget: int | None, how: Manner) -> None:
    """Raise UsageError with everything that no replay can be made with."""
    times = Counter(one.id for one in failing)
    problems = [
        f'replay: "{id}" stands {n} times among the questions; give each an id of its own'
        for id, n in sorted(times.items())
        if n > 1
    ]
    least = {
        "budget": (budget, 0),
        "concurrency": (how.concurrency, 1),
        "retries": (how.retries, 0),
    }
    problems += [
        f"replay: {name} is {given}; it is {bound} or more"
        for name, (given, bound) in least.items()
        if given is not None and given < bound
    ]
    if how.timeout_s <= 0:
        problems.append(f"replay: timeout_s is {how.timeout_s:g}; it is more than 0")
    if problems:
        raise UsageError(*problems)


class _Replaying:
    """The calls of a replay while they are made."""

    def __init__(self, plan: ReplayPlan, table: ReplayTable, reader: Reader, watch: Watch) -> None:
        self._plan, self._table, self._reader, self._watch = plan, table, reader, watch
        self._planned = {one.call.key: one for one in plan.calls}
        self._place = {one.id: place for place, one in enumerate(plan.chosen)}
        self._resumed = self._done = self._failed = self._saved = 0

    def resume(self, answered: Iterator[tuple[str, Trace]]) -> None:
        """Take over replies of before; those that are not planned now are left alone."""
        for key, trace in answered:
            if planned := self._planned.get(key):
                self._table.came_to[key] = call_result(planned, trace, self._reader)
        self._resumed = self._done = len(self._table.came_to)

    def rounds(self) -> Iterator[Iterator[Iterator[Call]]]:
        """The first questions under every change; then the others, under those that are taken."""
        self._tell()
        yield self._jobs([one for each in self._plan.planned.values() for one in each[:FIRST]])
        if not self._table.answered:
            return
        refused = [change for change in CHANGES if self._table.refusal(change)]
        self._saved = sum(len(self._plan.planned[change][FIRST:]) for change in refused)
        others = [self._plan.planned[change][FIRST:] for change in CHANGES if change not in refused]
        yield self._jobs([one for each in others for one in each])

    def note(self, call: Call, trace: Trace) -> None:
        self._table.came_to[call.key] = call_result(self._planned[call.key], trace, self._reader)

    def line(self, call: Call, trace: Trace) -> bytes:
        """What is kept of a call."""
        planned = self._planned[call.key]
        return _encode(_Line(planned.failing.id, planned.change, trace_line(trace)))

    def count(self, made: Sequence[Made]) -> None:
        for _, trace in made:
            if trace.status == "ok":
                self._done += 1
            else:
                self._failed += 1
        self._tell()

    def report(self, system: dict[str, Any], ended: Ended) -> Replay:
        """All that is known by now."""
        table = self._table
        unanswered = bool(table.came_to) and not table.answered
        return Replay(
            system=system,
            of=self._plan.of,
            chosen=table.asked,
            calls=len(table.came_to),
            resumed=self._resumed,
            interventions=table.interventions(),
            repaired_by=table.repaired_by(),
            tried=table.tried(),
            ended="error_budget" if ended == "complete" and unanswered else ended,
        )

    def _jobs(self, planned: Sequence[Planned]) -> Iterator[Iterator[Call]]:
        """What is not known yet, question by question: a stop leaves whole questions behind."""
        left = [one for one in planned if one.call.key not in self._table.came_to]
        left.sort(key=lambda one: self._place[one.failing.id])
        return (iter((one.call,)) for one in left)

    def _tell(self) -> None:
        self._watch(Progress(self._done, len(self._planned), self._failed, self._saved))


class Heading(Struct, frozen=True, kw_only=True):
    """The first line: what must not change.

    Neither the budget is part of it nor how answers are read: what was answered under another
    budget need not be asked again.
    """

    schema: str = SCHEMA
    parts: dict[str, str]
    """Hashes, so that it can be said which one changed."""


class _Line(Struct, frozen=True):
    id: str
    intervention: str
    trace: dict[str, Any]


def heading(failing: Sequence[Failing], system: dict[str, Any], turning: Turning) -> Heading:
    parts = {
        "questions": sorted(failing, key=lambda one: one.id),
        "system": system,
        "knobs": dict(turning.knobs),
        "knob_names": {knob: turning.name(change) for change, knob in TURNS.items()},
    }
    hashes = {name: hashlib.sha256(_encode(part)).hexdigest() for name, part in parts.items()}
    return Heading(parts=hashes)


def begin(runs: Journal, first: Heading) -> None:
    """Go on with a journal of this replay, begin an empty one, refuse any other untouched."""
    line = _encode(first)
    found = next((found for _, found in runs.lines()), b"")
    # A kill may have cut the very first line short.
    if found != line and not line.startswith(runs.path.read_bytes()):
        raise UsageError(f"{runs.path}: {_difference(found, first)}; {ANOTHER}")
    runs.drop_torn_line()
    if runs.empty:
        runs.append([line])


def answered_before(runs: Journal) -> Iterator[tuple[str, Trace]]:
    """The replies that are there, with the keys of their calls; calls that failed are left out.

    Raises InputRejected with every line that is wrong, after the last.
    """
    problems = []
    for number, line in islice(runs.lines(), 1, None):
        try:
            kept = msgspec.convert(decoded(line), _Line)
            trace = read_trace(kept.trace)
        except (*BadLine, msgspec.ValidationError) as fault:
            problems.append(f"{runs.path}:{number}: is no line of a replay: {fault}; {ANOTHER}")
            continue
        if trace.status == "ok":
            yield key_of(kept.id, kept.intervention), trace
    refuse(problems)


def _difference(line: bytes, first: Heading) -> str:
    try:
        before = msgspec.json.decode(line, type=Heading)
    except msgspec.MsgspecError:
        return "is no journal of a replay"
    if before.schema != SCHEMA:
        return f"is a {before.schema}, not a {SCHEMA}"
    changed = [
        words for part, words in _CHANGED.items() if before.parts.get(part) != first.parts[part]
    ]
    return f"holds replies of another replay: changed since: {', '.join(changed)}"
