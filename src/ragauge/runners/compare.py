"""Compare: two recorded runs, a verdict for each metric, and the questions that flipped."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

import msgspec
import numpy as np
from msgspec import structs

from ragauge import __version__
from ragauge.contracts.comparison import (
    FLIPS_KEPT,
    Compared,
    ComparedRun,
    ComparedSlice,
    ComparisonCoverage,
    ComparisonReport,
    Flip,
    Outlook,
    Side,
    Way,
)
from ragauge.contracts.gold import ANSWERABLE, value_of
from ragauge.contracts.history import History, RecordedMetric, Run, RunFilter, UnitRow, canonical
from ragauge.contracts.opt import takes
from ragauge.contracts.options import CompareOptions
from ragauge.contracts.report import Finding, Findings, Score
from ragauge.engines.local import Progress, no_progress
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.rules import TOLERANCE, gate_verdict, passes
from ragauge.metrics.names import short_name
from ragauge.runners.comparability import (
    ALL,
    ONLY_AFTER,
    chosen_metrics,
    family_of,
    how_made,
    refuse,
    why_not,
)
from ragauge.runners.evaluation import Evaluation
from ragauge.runners.metric_change import (
    BY_UNITS,
    Change,
    all_0_or_1,
    change_of,
    comparable,
    judged,
    unjudged,
    untested,
)
from ragauge.runners.paired_units import (
    NOT_SAID,
    RIGHT,
    Comparable,
    PairedUnits,
    ask_the_same,
    paired_units,
)
from ragauge.stats.decision import level_of
from ragauge.text.visible import visible

Allowance = Literal["gold", "versions", "no-baseline"]
ALLOWANCES = get_args(Allowance)
MOVING = ("latest", "green")
"""References to whichever run is the last: there may be none yet."""
EARLIER_READ = 1_000
"""So many earlier runs are looked at for the branches there are."""
FEWEST = 10
"""Units a slice must have to be tested."""
MOST_VALUES = 200
"""A stratum with more values than this is an id, not a slice."""


@takes(CompareOptions, "compare")
def compare(
    history: History, before: str, after: str, *, options: CompareOptions
) -> ComparisonReport:
    """The comparison of two runs of a history, each named as `History.find` names them.

    The later run is looked up first: `latest` and `green` then mean a run of its command and
    name, recorded before it. Where there was no such run at all, a user may allow that; a baseline
    that earlier runs merely do not match is refused all the same, for it may be misspelt.
    """
    now = history.find(after)
    try:
        was = history.find(before, like=now)
    except UsageError as error:
        if before.partition("@")[0] not in MOVING:
            raise
        if passed := _earlier(now, history):
            raise InputRejected(*error.problems, passed) from None
        if "no-baseline" in options.allow:
            return without_baseline(before, now, options)
        raise InputRejected(
            *error.problems, "a first run has no baseline: --allow no-baseline lets it pass"
        ) from None
    return compare_runs(was, now, history, options)


def _earlier(now: Run, history: History) -> str:
    """On which branches there are earlier runs, and how many of them passed; empty for none."""
    of, limit = now.record, EARLIER_READ
    which = RunFilter(command=of.command, name=of.name, before=of.recorded_at, limit=limit)
    passed = Counter[str]()
    for run in history.runs(which):
        branch = run.record.git.branch if run.record.git else None
        passed[branch or "no branch"] += run.record.passed is True
    if not passed:
        return ""
    listed = [f"{visible(branch)} ({count:,} passed)" for branch, count in sorted(passed.items())]
    return (
        f"{now.shown} is not the first run of {of.command} {visible(of.name)!r}: earlier ones are "
        f"on {', '.join(listed)}; name a branch of these, a tag, or the beginning of an id"
    )


def compare_runs(
    before: Run,
    after: Run,
    history: History,
    options: CompareOptions,
    progress: Progress = no_progress,
) -> ComparisonReport:
    """The comparison of two runs; raises UsageError or InputRejected with all that is wrong."""
    found, alpha = Findings(), options.alpha
    ids = chosen_metrics(before, after, options.metrics)
    common, own = margins_of(options.margins, ids)
    family = family_of(before, after, options.metrics, ids, own)
    accepted = {id: own.get(id, common) for id in family}
    margins = {id: margin for id, margin in accepted.items() if margin is not None}
    gated = gated_metrics(options, family, margins)
    refuse(before, after, ids, history, frozenset(options.allow))
    reasons = {id: why_not(id, before, after) for id in ids}
    metrics: dict[str, Comparable] = {}
    for id in ids:
        if not reasons[id]:
            metrics[id], note = comparable(id, after.record.metrics[id])
            if note:
                found.add(Finding("metric_not_installed", id, note))
    units = paired_units(before, after, history, metrics.values())
    _refuse_untestable(before, after, units, metrics, options)
    strata = slice_names(options.slices, units)

    def judged_by(
        changes: Sequence[tuple[str, Change]], open_ends: float | None = None
    ) -> list[Compared]:
        """The verdicts on changes of metrics, all of them one family of tests."""
        each = [(one, after.record.metrics[id].better, margins.get(id)) for id, one in changes]
        return judged(each, options.correction, alpha, open_ends)

    changes = {}
    for done, (id, metric) in enumerate(metrics.items(), 1):
        progress(done, len(metrics) + len(strata))
        changes[id] = change_of(metric, *units.columns(id), options)
    tested = [id for id in family if id in changes]
    verdicts = dict(zip(tested, judged_by([(id, changes[id]) for id in tested]), strict=True))
    compared: dict[str, Compared] = {}
    for id in ids:
        was, now = before.record.metrics.get(id), after.record.metrics.get(id)
        better = (now or before.record.metrics[id]).better
        if id in verdicts:
            compared[id] = verdicts[id]
        elif id in changes:
            compared[id] = unjudged(changes[id], better)
        else:
            lost = Change(
                before=was.value if was else None,
                after=now.value if now else None,
                reason=reasons[id],
            )
            outlook: Outlook = "not_comparable" if id in family else "not_tested"
            compared[id] = structs.replace(unjudged(lost, better, outlook), margin=margins.get(id))

    # All slices, and their intervals, form another family.
    strata_of = {stratum: np.array(_values(stratum, units, found)) for stratum in strata}
    sizes = {name: Counter(sorted(of[of != ""].tolist())) for name, of in strata_of.items()}
    tests = len(tested) * sum(n >= FEWEST for of in sizes.values() for n in of.values())
    level = level_of(alpha, options.correction, tests)
    cells: list[tuple[str, str]] = []
    sliced: list[tuple[str, Change]] = []
    for done, (stratum, values) in enumerate(strata_of.items(), 1 + len(metrics)):
        progress(done, len(metrics) + len(strata))
        for value, n in sizes[stratum].items():
            for id in tested:
                was_in, now_in = (one.of(values == value) for one in units.columns(id))
                change = (
                    change_of(metrics[id], was_in, now_in, options, level)
                    if n >= FEWEST
                    else untested(metrics[id], was_in, now_in, _too_few(n))
                )
                cells.append((stratum, value))
                sliced.append((id, change))
    slices = tuple(
        ComparedSlice(stratum=stratum, value=value, metric=id, compared=one)
        for (stratum, value), (id, _), one in zip(
            cells, sliced, judged_by(sliced, level), strict=True
        )
    )
    flips, flip_counts = flips_of(units, before, after, history)
    for finding in _notes(before, after, history, units):
        found.add(finding)
    for id in family if gated else ():
        if id not in gated:
            found.add(Finding("no_margin", id, "the gate is not on it, for it has no margin"))
    for id, reason in reasons.items():
        if reason:
            found.add(Finding("not_comparable", id, reason))
    for id in sorted(after.record.metrics.keys() - before.record.metrics.keys()):
        if id not in ids:
            found.add(Finding("new_metric", id, ONLY_AFTER))
    named = bool(options.metrics) and ALL not in options.metrics
    gates = tuple(
        gate_verdict(
            options.gate,
            id,
            compared[id],
            named=named,
            alpha=alpha,
            lacking=_lacking(id, before, after, options.min_coverage),
        )
        for id in gated
        if options.gate
    )
    return Evaluation(
        given={
            id: _score(one, after.record.metrics.get(id) or before.record.metrics[id], units)
            for id, one in compared.items()
        }
    ).report(
        ComparisonReport,
        found,
        identity_of(before, after, options),
        passed=passes(gates) if options.gate else None,
        before=told_run(before),
        after=told_run(after),
        gates=gates,
        compared=compared,
        slices=slices,
        flips=flips,
        flip_counts=flip_counts,
        correction=options.correction,
        alpha=alpha,
        coverage=units.coverage,
    )


def _refuse_untestable(
    before: Run,
    after: Run,
    units: PairedUnits,
    metrics: Mapping[str, Comparable],
    options: CompareOptions,
) -> None:
    """Stop where the runs share no unit, or a test was asked for that cannot be made."""
    coverage, method = units.coverage, options.method
    if not coverage.both:
        raise InputRejected(
            f"{before.shown} and {after.shown} share no unit: "
            f"{coverage.only_before:,} are only in the first, {coverage.only_after:,} only in "
            f"the second, {coverage.changed_meaning:,} changed their meaning"
        )
    weighted = [id for id, metric in metrics.items() if metric.weighted]
    if weighted and method not in BY_UNITS:
        raise UsageError(
            f"--method {method} knows no weights, and the gold set is a weighted "
            f"sample for {', '.join(weighted)}; leave the method out"
        )
    graded = [id for id in metrics if method == "mcnemar" and not all_0_or_1(*units.columns(id))]
    if graded:
        raise UsageError(
            f"--method mcnemar is for scores of 0 and 1, and {', '.join(graded)} "
            "have others; name metrics with --metric, or leave the method out"
        )


def _lacking(id: str, before: Run, after: Run, least: float) -> str | None:
    """Why one of the runs has too few values of a metric to decide by."""
    for which, run in (("after", after), ("before", before)):
        metric = run.record.metrics.get(id)
        # Before 0.2 `of` also counted what the metric does not apply to.
        if metric is None or run.record.ragauge.startswith("0.1."):
            continue
        if 0 < metric.n < least * metric.of - TOLERANCE:
            part = f"only {metric.n:,} of {metric.of:,} units of the run {which} have a value"
            return f"{part}, and the gate needs {least * 100:.6g} %"
    return None


def _values(stratum: str, units: PairedUnits, found: Findings) -> list[str]:
    """The value each unit has in a stratum, empty where it has none.

    Raises UsageError where the stratum is too fine.
    """
    gold = (units.gold.get(unit) for unit in units.after.ids)
    values = [(value_of(one, stratum) if one else None) or "" for one in gold]
    sizes = Counter(filter(None, values))
    if lacking := values.count(""):
        message = f"{lacking:,} questions have no {stratum} and stand in no slice"
        found.add(Finding("no_stratum", stratum, message), lacking)
    if len(sizes) > MOST_VALUES:
        raise UsageError(
            f'--slice "{stratum}": has {len(sizes):,} values, and at most {MOST_VALUES} can be '
            "told apart; slice by something coarser"
        )
    for value, n in sorted(sizes.items()):
        if n < FEWEST:
            found.add(Finding("slice_too_small", f"{stratum}={value}", _too_few(n)))
    return values


def _score(one: Compared, recorded: RecordedMetric, units: PairedUnits) -> Score:
    """The change as a score, whose signature says how it was tested."""
    seed = [] if one.seed is None else [f"seed:{one.seed}"]
    tested = ["change", f"test:{one.method or 'none'}", *seed, f"n:{one.n}"]
    return Score(
        value=one.change,
        n=one.n,
        of=units.coverage.both,
        ci=one.ci,
        reason=one.reason if one.change is None else None,
        signature="|".join([*how_made(recorded.signature), *tested]),
    )


def _notes(before: Run, after: Run, history: History, units: PairedUnits) -> Iterator[Finding]:
    """What a reader should know of the runs themselves."""
    if before.id == after.id:
        yield Finding("same_run", after.shown, "a run is compared with itself")
    if before.record.git and before.record.git.dirty:
        message = "the baseline was made on files that differ from its commit"
        yield Finding("dirty_baseline", before.shown, message)
    coverage, shas = units.coverage, [run.record.gold_sha256 for run in (before, after)]
    if shas[0] == shas[1]:
        return
    message = (
        f"the gold sets differ, as allowed: {coverage.both:,} questions mean the same in "
        f"both and are compared, {coverage.changed_meaning:,} changed their meaning"
    )
    if None in shas:
        message = (
            f"one of the runs has no gold set: {coverage.both:,} units of the same id are "
            "compared, and whether they ask the same cannot be told"
        )
    elif ask_the_same(before, after, history):
        message = (
            f"the gold set was edited: all {coverage.both:,} questions are there and mean what "
            "they did; slices are those of the run after"
        )
    yield Finding("other_gold", after.shown, message)


def margins_of(texts: tuple[str, ...], ids: Sequence[str]) -> tuple[float | None, dict[str, float]]:
    """The loss a user accepts of any of these metrics, and of single ones.

    Raises UsageError with all that is wrong.
    """
    problems: list[str] = []
    common: float | None = None
    own: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        margin = _margin(number)
        matching = [id for id in ids if name.strip() in (id, short_name(id))]
        if margin is None:
            problems.append(f'--margin "{text}": write 0.02, or precision_cited=0.02')
        elif not equals:
            common = margin
        elif not matching:
            problems.append(f'--margin "{text}": "{name.strip()}" is not compared')
        else:
            own |= dict.fromkeys(matching, margin)
    if problems:
        raise UsageError(*problems)
    return common, own


def _margin(text: str) -> float | None:
    """
    >>> _margin("0.02"), _margin("2%"), _margin("-1")
    (0.02, 0.02, None)
    """
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        return None
    number /= 100 if text.strip().endswith("%") else 1
    return number if math.isfinite(number) and number >= 0 else None


def gated_metrics(
    options: CompareOptions, family: Sequence[str], margins: Mapping[str, float]
) -> list[str]:
    """The metrics that the gate is on: the family; of `not-worse`, those with a margin.

    Raises UsageError where that gate could decide nothing.
    """
    if options.gate != "not-worse":
        return list(family) if options.gate else []
    if options.method == "wilcoxon":
        raise UsageError(
            "--gate not-worse: a margin is a loss of the mean, and --method wilcoxon has an "
            "interval of the median; leave the method out"
        )
    nothing = [id for id in family if margins.get(id) == 0]
    if nothing or not margins:
        named = f" for {', '.join(nothing)}" if nothing else ""
        raise UsageError(
            f"--gate not-worse needs a margin above 0{named}: say --margin 0.02 for all metrics, "
            "or --margin precision_cited=0.02 for one"
        )
    return [id for id in family if id in margins]


def told_run(run: Run) -> ComparedRun:
    """Enough of a run to know which it is."""
    git = run.record.git
    return ComparedRun(
        id=run.id,
        name=run.record.name,
        recorded_at=run.record.recorded_at,
        commit=git.commit if git else None,
        dirty=git.dirty if git else False,
        branch=git.branch if git else None,
        tags=run.tags,
        labels=run.record.labels,
        passed=run.record.passed,
    )


def identity_of(before: Run | None, after: Run, options: CompareOptions) -> dict[str, Any]:
    """What makes a comparison come out as it does."""
    return {
        "command": "compare",
        "options": msgspec.json.decode(canonical(options)),
        "ragauge": __version__,
        "runs": [run.id for run in (before, after) if run is not None],
        "gold_sha256": after.record.gold_sha256,
    }


def without_baseline(reference: str, after: Run, options: CompareOptions) -> ComparisonReport:
    """A report that says there is nothing to compare with yet, and passes."""
    message = f"no run is {reference} yet; there is nothing to compare with, as allowed"
    return Evaluation().report(
        ComparisonReport,
        Findings([Finding("no_baseline", reference, message)]),
        identity_of(None, after, options),
        passed=None,
        before=None,
        after=told_run(after),
        compared={},
        slices=(),
        flips=(),
        flip_counts={"broken": 0, "mended": 0},
        correction=options.correction,
        alpha=options.alpha,
        coverage=ComparisonCoverage(
            both=0, only_before=0, only_after=after.record.units, changed_meaning=0
        ),
    )


def slice_names(asked: tuple[str, ...], units: PairedUnits) -> list[str]:
    """The strata to slice by, each once; raises UsageError with those there are."""
    known = {ANSWERABLE}.union(*(one.strata for one in units.gold.values()))
    unknown = [name for name in dict.fromkeys(asked) if name not in known or not units.gold]
    if unknown:
        there = ", ".join(sorted(known)) if units.gold else "none, for the runs have no gold set"
        raise UsageError(
            *(f'--slice "{name}": no question has it; there are {there}' for name in unknown)
        )
    return list(dict.fromkeys(asked))


def _too_few(n: int) -> str:
    return f"too few: {n} in both runs, and a slice is tested from {FEWEST} on"


def flips_of(
    units: PairedUnits, before: Run, after: Run, history: History
) -> tuple[tuple[Flip, ...], dict[Way, int]]:
    """What broke and what was mended, by qid, as far as a report holds it; and how many of each.

    A unit that a run says nothing of did not flip. Answers are read again, and only those kept
    that are told: a run has far more of them than a report.
    """
    was, now = units.before.right, units.after.right
    apart = (was != NOT_SAID) & (now != NOT_SAID) & (was != now)
    found: dict[Way, list[str]] = {"broken": [], "mended": []}
    for place in np.flatnonzero(apart).tolist():
        found["mended" if now[place] == RIGHT else "broken"].append(units.after.ids[place])
    kept = {way: sorted(flipped)[:FLIPS_KEPT] for way, flipped in found.items()}
    wanted = {unit for flipped in kept.values() for unit in flipped}
    sides_before, sides_after = (
        {row.unit: _side(row) for row in history.units(run.id) if row.unit in wanted}
        if wanted
        else {}
        for run in (before, after)
    )
    flips = tuple(
        Flip(
            qid=unit,
            question=units.gold[unit].question if unit in units.gold else None,
            way=way,
            was=sides_before[unit],
            now=sides_after[unit],
        )
        for way, flipped in kept.items()
        for unit in flipped
    )
    return flips, {way: len(flipped) for way, flipped in found.items()}


def _side(row: UnitRow) -> Side:
    """What a run answered, and why not always the same; where it answered nothing, its error."""
    said = row.detail.get("claim") or row.detail.get("error")
    why = row.detail.get("explained_by")
    return Side(
        label=row.label,
        claim=str(said) if said else None,
        cited=tuple(str(id) for id in row.detail.get("cited") or ()),
        why=str(why) if why else None,
    )
