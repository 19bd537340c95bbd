"""What keeps two runs from being compared: other commands, other gold sets, other metrics."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence

from ragauge.contracts.history import History, RecordedMetric, Run
from ragauge.errors import InputRejected, UsageError
from ragauge.runners.paired_units import changed_meaning, gold_of

SHA_SHOWN = 8
LISTED = 10
"""Metrics that are named one by one in an error."""
ONLY_BEFORE, ONLY_AFTER = "the run after does not have it", "the run before does not have it"


def chosen_metrics(before: Run, after: Run, names: Sequence[str]) -> list[str]:
    """The ids to compare: those named, else all of the run before.

    A metric that only the run before has is lost, and stands among them; one that is new does not.
    """
    was, now = before.record.metrics, after.record.metrics
    if not names:
        return sorted(was)
    known = {**was, **now}
    problems: list[str] = []
    ids = [_named(name, known, problems) for name in names]
    if problems:
        raise UsageError(*problems)
    return list(dict.fromkeys(ids))


def _named(name: str, known: Mapping[str, RecordedMetric], problems: list[str]) -> str:
    found = [id for id in known if name in (id, id.partition(".")[2])]
    if len(found) == 1:
        return found[0]
    if found:
        problems.append(f'metric "{name}" is ambiguous: {", ".join(sorted(found))}')
        return name
    words = [word for id in known for word in (id, id.partition(".")[2])]
    near = difflib.get_close_matches(name, words, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(sorted(known))}"
    problems.append(f'neither run has a metric "{name}"; {hint}')
    return name


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
    """Raise InputRejected with all that differs, unless the user said that it may."""
    problems = [*_other_command(before, after)]
    if "gold" not in allowed:
        problems += _other_gold(before, after, history)
    if "versions" not in allowed:
        problems += _other_metrics(before, after, ids)
    if problems:
        raise InputRejected(*problems)


def _other_command(before: Run, after: Run) -> Iterator[str]:
    was, now = before.record.command, after.record.command
    if was != now:
        yield (
            f"{before.shown} is a run of `{was}` and {after.shown} one of `{now}`: "
            "compare runs of one command"
        )


def _other_gold(before: Run, after: Run, history: History) -> Iterator[str]:
    was, now = before.record.gold_sha256, after.record.gold_sha256
    if was == now:
        return
    changed = changed_meaning(before, after, history)
    old, new = ({one.qid for one in gold_of(run, history)} for run in (before, after))
    same = len((old & new) - changed)
    yield (
        f"the gold sets differ: {before.shown} was measured with {_sha(was)} "
        f"({len(old):,} questions), {after.shown} with {_sha(now)} ({len(new):,}); "
        f"{same:,} questions mean the same in both: --allow gold compares these"
    )


def _sha(sha256: str | None) -> str:
    return "none" if sha256 is None else f"gold {sha256[:SHA_SHOWN]}"


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
    rest = [id for id in ids if id not in reasons]
    if rest:
        yield f"comparable are {', '.join(rest)}: --allow versions compares these"
    else:
        yield "no metric is left to compare: score one of the runs again, as the other was"
