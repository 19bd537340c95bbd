"""What keeps two runs from being compared: other commands, other gold sets, other metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ragauge.contracts.history import History, Run
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.stability import STABLE
from ragauge.metrics.names import metric_id, tested_metrics
from ragauge.runners.paired_units import ask_the_same, changed_meaning, gold_of

ALL = "all"
"""In the place of a metric's name: the comparison is about all of them."""
COVERAGE = ".coverage"
"""How the metric ends that every evaluation has a gate on, whatever it measures."""
PER_QUESTION = " per question"

SHA_SHOWN = 8
LISTED = 10
"""Metrics that are named one by one in an error."""
RESCORE = "`ragauge runs rescore {}` scores its kept answers again with the versions of today"
RESCORED = ("score", "stability")
"""The commands whose runs keep all that they were scored from."""
ALLOWED_BY = "`ragauge compare` with --allow {} compares these"
"""Whoever compares by other means is told the command: not all of them can allow it."""
ONLY_BEFORE, ONLY_AFTER = "the run after does not have it", "the run before does not have it"


def chosen_metrics(before: Run, after: Run, names: Sequence[str]) -> list[str]:
    """The ids to tell of: those named, else all of the run before.

    A metric that only the run before has is lost, and stands among them; one that is new does not.
    """
    was, now = before.record.metrics, after.record.metrics
    if not names or ALL in names:
        return sorted(was)
    known = {**was, **now}
    listed = f"there are {', '.join(sorted(known))}"
    ids: list[str] = []
    problems: list[str] = []
    for name in names:
        unknown = f'neither run has a metric "{name}"'
        try:
            ids.append(metric_id(name, known, unknown=unknown, listed=listed))
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return list(dict.fromkeys(ids))


def family_of(
    before: Run, after: Run, names: Sequence[str], ids: Sequence[str], margined: Collection[str]
) -> list[str]:
    """The ids the comparison is about: their tests are corrected together, and gates are on them.

    Those named. Where none is: the headlines of the command, what a gate of either run is on, and
    what has a margin of its own; for a dozen metrics that say the same thing over again make the
    correction so strict that nothing is found. Where a run has none of these, all; and so where
    none but coverage has a value, which does not tell how good an evaluated system is.
    """
    if names:
        return list(ids)
    headlines = tested_metrics(after.record.command)
    telling = {*headlines, *margined} | _gated(before) | _gated(after)
    found = [id for id in ids if id in telling]
    measured = [
        run.record.metrics[id].value is not None
        for id in found
        for run in (before, after)
        if not id.endswith(COVERAGE) and id in run.record.metrics
    ]
    if headlines and not any(measured):
        return list(ids)
    return found or list(ids)


def _gated(run: Run) -> set[str]:
    """The metrics a run's gates are on; those for each question make up `stable`, where it is."""
    summed_up = STABLE in run.record.metrics
    gates = run.record.gates
    return {gate.metric for gate in gates if not (summed_up and PER_QUESTION in gate.rule)}


def why_not(id: str, before: Run, after: Run) -> str | None:
    """Why a metric of the runs cannot be compared; None where it can."""
    was, now = before.record.metrics.get(id), after.record.metrics.get(id)
    if was is None or now is None:
        return ONLY_AFTER if was is None else ONLY_BEFORE
    if was.version != now.version:
        return f"it is version {was.version} before and {now.version} after"
    made_before, made_after = how_made(was.signature), how_made(now.signature)
    if made_before != made_after:
        return f"it was made as {_apart(made_before, made_after)}"
    return None


def how_made(signature: str) -> tuple[str, ...]:
    """The parts of a signature, but for how many were counted and what is told after that.

    >>> how_made("quality.errors|v1|canon:unicode|n:80")
    ('quality.errors', 'v1', 'canon:unicode')
    """
    return tuple(signature.rsplit("|n:", 1)[0].split("|"))


def _apart(before: Sequence[str], after: Sequence[str]) -> str:
    """
    >>> _apart(("m", "canon:unicode"), ("m", "canon:reference"))
    'canon:unicode before and canon:reference after'
    """
    was = "|".join(part for part in before if part not in after) or "|".join(before)
    now = "|".join(part for part in after if part not in before) or "|".join(after)
    return f"{was} before and {now} after"


def refuse(
    before: Run, after: Run, ids: Sequence[str], history: History, allowed: frozenset[str]
) -> None:
    """Raise InputRejected with all that differs, unless the user said that it may.

    Of runs of two commands only that is said: nothing that could be allowed would help.
    """
    command, earlier = after.record.command, before.record.command
    if command != earlier:
        raise InputRejected(
            f"{before.shown} is a run of `{earlier}` and {after.shown} one of `{command}`: "
            "only runs of one command can be compared"
        )
    problems: list[str] = []
    if "gold" not in allowed and not ask_the_same(before, after, history):
        changed = changed_meaning(before, after, history)
        old, new = ({one.qid for one in gold_of(run, history)} for run in (before, after))
        same = len((old & new) - changed)
        was, now = (
            "none" if sha256 is None else f"gold {sha256[:SHA_SHOWN]}"
            for sha256 in (before.record.gold_sha256, after.record.gold_sha256)
        )
        problems.append(
            f"the gold sets differ: {before.shown} was measured with {was} "
            f"({len(old):,} questions), {after.shown} with {now} ({len(new):,}); "
            f"{same:,} questions mean the same in both: "
            f"{ALLOWED_BY.format('gold')}"
        )
    if "versions" not in allowed:
        problems += _other_metrics(before, after, ids)
    if problems:
        raise InputRejected(*problems)


def _other_metrics(before: Run, after: Run, ids: Sequence[str]) -> Iterator[str]:
    """Metrics made in two ways; one that a run lacks is no such thing."""
    reasons = {id: reason for id in ids if (reason := why_not(id, before, after))}
    lacking = (ONLY_BEFORE, ONLY_AFTER)
    apart = {id: reason for id, reason in reasons.items() if reason not in lacking}
    if not apart:
        return
    for id, reason in list(apart.items())[:LISTED]:
        yield f"{id}: not comparable, {reason}"
    if len(apart) > LISTED:
        yield f"and {len(apart) - LISTED:,} metrics more"
    for id in apart:
        was, now = before.record.metrics[id].version, after.record.metrics[id].version
        if was != now:
            older, command = (before if was < now else after).shown, after.record.command
            again = f"run `ragauge {command}` again on its files, with --record"
            remedy = RESCORE.format(older) if command in RESCORED else again
            yield f"the metrics changed since run {older}: {remedy}"
            break
    rest = [id for id in ids if id not in reasons]
    if rest:
        yield f"comparable are {', '.join(rest)}: {ALLOWED_BY.format('versions')}"
    else:
        yield "no metric is left to compare: score one of the runs again, as the other was"
