"""Compare: two recorded runs, a verdict for each metric, and the questions that flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.contracts.comparison import (
    FLIPS_KEPT,
    Compared,
    ComparedRun,
    ComparedSlice,
    ComparisonCoverage,
    ComparisonReport,
    Flip,
    Side,
    Way,
)
from ragauge.contracts.gold import ANSWERABLE, value_of
from ragauge.contracts.history import History, Run, RunFilter, UnitRow, canonical
from ragauge.contracts.metric import Better
from ragauge.contracts.options import CompareOptions, Gate
from ragauge.contracts.report import Finding, Findings, Score, Verdict
from ragauge.engines.local import Progress, unseen
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.rules import TOLERANCE, gate_verdict, passes
from ragauge.runners.comparability import (
    ALL,
    chosen_metrics,
    family_of,
    how_made,
    refuse,
    why_not,
)
from ragauge.runners.compare_options import gated_metrics, margins_of
from ragauge.runners.judged_changes import beside, judged, not_comparable
from ragauge.runners.metric_change import (
    BY_UNITS,
    NEITHER,
    Change,
    Comparable,
    How,
    all_0_or_1,
    change_of,
    comparable,
    untested,
)
from ragauge.runners.options import takes
from ragauge.runners.paired_units import (
    NOT_SAID,
    RIGHT,
    Columns,
    PairedUnits,
    ask_the_same,
    paired_units,
)
from ragauge.stats.decision import level_of
from ragauge.text.visible import visible

MOVING = ("latest", "green")
"""References to whichever run is the last: there may be none yet."""
EARLIER_READ = 1_000
"""So many earlier runs are looked at for the branches there are."""


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
        if earlier := _earlier(now, history):
            raise InputRejected(*error.problems, _there_are(now, earlier)) from None
        if "no-baseline" in options.allow:
            return without_baseline(before, now, options)
        raise InputRejected(
            *error.problems, "a first run has no baseline: --allow no-baseline lets it pass"
        ) from None
    return compare_runs(was, now, history, options)


def _earlier(run: Run, history: History) -> list[Run]:
    """The last runs of the same command and name, recorded before it."""
    of, limit = run.record, EARLIER_READ
    which = RunFilter(command=of.command, name=of.name, before=of.recorded_at, limit=limit)
    return history.runs(which)


def _there_are(now: Run, earlier: Sequence[Run]) -> str:
    """On which branches there are earlier runs, and how many of them passed."""
    passed = Counter[str]()
    for run in earlier:
        branch = run.record.git.branch if run.record.git else None
        passed[branch or "no branch"] += run.record.passed is True
    told = [f"{visible(branch)} ({count:,} passed)" for branch, count in sorted(passed.items())]
    kind = f"{now.record.command} {visible(now.record.name)!r}"
    return (
        f"{now.shown} is not the first run of {kind}: earlier ones are on {', '.join(told)}; name "
        "a branch of these, a tag, or the beginning of an id"
    )


def compare_runs(
    before: Run,
    after: Run,
    history: History,
    options: CompareOptions,
    progress: Progress = unseen,
) -> ComparisonReport:
    """The comparison of two runs; raises UsageError or InputRejected with all that is wrong."""
    return _Comparison(before, after, history, options, progress).report()


class _Comparison:
    """Two runs on the way to a report."""

    def __init__(
        self,
        before: Run,
        after: Run,
        history: History,
        options: CompareOptions,
        progress: Progress,
    ) -> None:
        self._before, self._after, self._options = before, after, options
        self._history, self._progress = history, progress
        self._found = Findings()
        self._ids = chosen_metrics(before, after, options.metrics)
        margins = margins_of(options.margins, self._ids)
        self._family = family_of(before, after, options.metrics, self._ids, margins.own)
        self._margins = margins.of(self._family)
        self._gated = gated_metrics(options, self._family, self._margins)
        refuse(before, after, self._ids, history, frozenset(options.allow))
        self._reasons = {id: why_not(id, before, after) for id in self._ids}
        self._metrics = {id: self._comparable(id) for id in self._ids if not self._reasons[id]}
        widths = {id: metric.width for id, metric in self._metrics.items()}
        self._units = paired_units(before, after, history, widths)
        self._refuse_nothing()
        self._strata, self._done = slice_names(options.slices, self._units), 0

    def report(self) -> ComparisonReport:
        compared = self._compared()
        slices = self._slices()
        flips, flip_counts = flips_of(self._units, self._before, self._after, self._history)
        self._note()
        gate = self._options.gate
        gates = () if gate is None else self._gates(gate, compared)
        return ComparisonReport(
            passed=None if gate is None else passes(gates),
            before=told_run(self._before),
            after=told_run(self._after),
            metrics={id: self._score(id, one) for id, one in compared.items()},
            gates=gates,
            compared=compared,
            slices=slices,
            flips=flips,
            flip_counts=flip_counts,
            correction=self._options.correction,
            alpha=self._options.alpha,
            findings=tuple(self._found.kept()),
            finding_counts=dict(sorted(self._found.counts.items())),
            coverage=self._units.coverage,
            identity=identity_of(self._before, self._after, self._options),
        )

    def _gates(self, gate: Gate, compared: Mapping[str, Compared]) -> tuple[Verdict, ...]:
        named = bool(self._options.metrics) and ALL not in self._options.metrics
        alpha = self._options.alpha
        return tuple(
            gate_verdict(
                gate, id, compared[id], named=named, alpha=alpha, lacking=self._lacking(id)
            )
            for id in self._gated
        )

    def _lacking(self, id: str) -> str | None:
        """Why one of the runs has too few values of a metric to decide by."""
        least = self._options.min_coverage
        for which, run in (("after", self._after), ("before", self._before)):
            metric = run.record.metrics.get(id)
            # Before 0.2 `of` also counted what the metric does not apply to.
            if metric is None or run.record.ragauge.startswith("0.1."):
                continue
            if 0 < metric.n < least * metric.of - TOLERANCE:
                part = f"only {metric.n:,} of {metric.of:,} units of the run {which} have a value"
                return f"{part}, and the gate needs {least * 100:.6g} %"
        return None

    def _comparable(self, id: str) -> Comparable:
        found, note = comparable(id, self._after.record.metrics[id])
        if note:
            self._found.add(Finding("metric_not_installed", id, note))
        return found

    def _refuse_nothing(self) -> None:
        """Stop where the runs share no unit, or a test was asked for that cannot be made."""
        coverage = self._units.coverage
        if not coverage.both:
            raise InputRejected(
                f"{self._before.shown} and {self._after.shown} share no unit: "
                f"{coverage.only_before:,} are only in the first, {coverage.only_after:,} only in "
                f"the second, {coverage.changed_meaning:,} changed their meaning"
            )
        weighted = [id for id, metric in self._metrics.items() if metric.weighted]
        if weighted and self._options.method not in BY_UNITS:
            raise UsageError(
                f"--method {self._options.method} knows no weights, and the gold set is a weighted "
                f"sample for {', '.join(weighted)}; leave the method out"
            )
        if self._options.method == "mcnemar":
            graded = [id for id in self._metrics if not all_0_or_1(*self._columns(id))]
            if graded:
                raise UsageError(
                    f"--method mcnemar is for scores of 0 and 1, and {', '.join(graded)} "
                    "have others; name metrics with --metric, or leave the method out"
                )

    def _columns(self, id: str) -> tuple[Columns, Columns]:
        return self._units.columns(id, weighted=self._metrics[id].weighted)

    def _how(self, alpha: float) -> How:
        """How changes are tested, with intervals that leave alpha open."""
        options = self._options
        return How(
            method=options.method,
            seed=options.seed,
            confidence=100 * (1 - alpha),
            alpha=options.alpha,
        )

    def _change(self, id: str) -> Change:
        before, after = self._columns(id)
        self._step()
        return change_of(self._metrics[id], before, after, self._how(self._options.alpha))

    def _step(self) -> None:
        """A metric is tested over all units, then with the others in each stratum."""
        self._done += 1
        self._progress(self._done, len(self._metrics) + len(self._strata))

    def _compared(self) -> dict[str, Compared]:
        """Each metric of the family with its verdict, and the others as they are."""
        options = self._options
        family = [id for id in self._family if id in self._metrics]
        found = judged(
            [(self._change(id), self._better(id), self._margins.get(id)) for id in family],
            options.correction,
            options.alpha,
        )
        told = dict(zip(family, found, strict=True))
        told |= {
            id: beside(self._change(id), self._better(id)) for id in self._metrics if id not in told
        }
        return {id: told.get(id) or self._without_verdict(id) for id in self._ids}

    def _better(self, id: str) -> Better:
        return self._after.record.metrics[id].better

    def _without_verdict(self, id: str) -> Compared:
        was, now = (run.record.metrics.get(id) for run in (self._before, self._after))
        found = not_comparable(was, now, self._margins.get(id), self._reasons[id] or NEITHER)
        return found if id in self._family else structs.replace(found, verdict="not_tested")

    def _slices(self) -> tuple[ComparedSlice, ...]:
        """The family's metrics in each slice; all slices, and their intervals, form another."""
        options = self._options
        metrics = [self._metrics[id] for id in self._family if id in self._metrics]
        made = [slicing(self._units, stratum, self._found) for stratum in self._strata]
        tests = len(metrics) * sum(one.tested for one in made)
        level = level_of(options.alpha, options.correction, tests)
        how = self._how(level)
        cells: list[Cell] = []
        for one in made:
            self._step()
            cells += slice_cells(self._units, one, metrics, how)
        found = judged(
            [
                (cell.change, self._better(cell.metric), self._margins.get(cell.metric))
                for cell in cells
            ],
            options.correction,
            options.alpha,
            level,
        )
        return tuple(
            ComparedSlice(stratum=cell.stratum, value=cell.value, metric=cell.metric, compared=one)
            for cell, one in zip(cells, found, strict=True)
        )

    def _score(self, id: str, one: Compared) -> Score:
        """The change as a score, whose signature says how it was tested."""
        recorded = self._after.record.metrics.get(id) or self._before.record.metrics[id]
        seed = [] if one.seed is None else [f"seed:{one.seed}"]
        tested = ["change", f"test:{one.method or 'none'}", *seed, f"n:{one.n}"]
        reason = one.reason if one.change is None else None
        return Score(
            value=one.change,
            n=one.n,
            of=self._units.coverage.both,
            ci=one.ci,
            reason=reason,
            signature="|".join([*how_made(recorded.signature), *tested]),
        )

    def _note(self) -> None:
        """What a reader should know of the runs themselves."""
        add = self._found.add
        before, after = self._before, self._after
        if before.id == after.id:
            add(Finding("same_run", after.shown, "a run is compared with itself"))
        if before.record.git and before.record.git.dirty:
            message = "the baseline was made on files that differ from its commit"
            add(Finding("dirty_baseline", before.shown, message))
        if before.record.gold_sha256 != after.record.gold_sha256:
            add(Finding("other_gold", after.shown, self._other_gold()))
        if self._gated:
            for id in self._family:
                if id not in self._gated:
                    add(Finding("no_margin", id, "the gate is not on it, for it has no margin"))
        for id, reason in self._reasons.items():
            if reason:
                add(Finding("not_comparable", id, reason))
        for id in sorted(after.record.metrics.keys() - before.record.metrics.keys()):
            if id not in self._ids:
                add(Finding("new_metric", id, "the run before does not have it"))

    def _other_gold(self) -> str:
        """What of two gold sets is comparable."""
        coverage = self._units.coverage
        if None in (self._before.record.gold_sha256, self._after.record.gold_sha256):
            return (
                f"one of the runs has no gold set: {coverage.both:,} units of the same id are "
                "compared, and whether they ask the same cannot be told"
            )
        if ask_the_same(self._before, self._after, self._history):
            return (
                f"the gold set was edited: all {coverage.both:,} questions are there and mean what "
                "they did; slices are those of the run after"
            )
        return (
            f"the gold sets differ, as allowed: {coverage.both:,} questions mean the same in "
            f"both and are compared, {coverage.changed_meaning:,} changed their meaning"
        )


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
    return ComparisonReport(
        passed=None,
        before=None,
        after=told_run(after),
        metrics={},
        gates=(),
        compared={},
        slices=(),
        flips=(),
        flip_counts={"broken": 0, "mended": 0},
        correction=options.correction,
        alpha=options.alpha,
        findings=(Finding("no_baseline", reference, message),),
        finding_counts={"no_baseline": 1},
        coverage=ComparisonCoverage(
            both=0, only_before=0, only_after=after.record.units, changed_meaning=0
        ),
        identity=identity_of(None, after, options),
    )


FEWEST = 10
"""Units a slice must have to be tested."""
MOST_VALUES = 200
"""A stratum with more values than this is an id, not a slice."""


class Cell(Struct, frozen=True, kw_only=True):
    """A metric in a slice, before it is judged among the others."""

    stratum: str
    value: str
    metric: str
    change: Change


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


class Slicing(Struct, frozen=True):
    """A stratum, and the value each unit has in it; empty where it has none."""

    stratum: str
    values: tuple[str, ...]

    @property
    def sizes(self) -> dict[str, int]:
        """How many units each value has, in the order of the values."""
        return dict(sorted(Counter(value for value in self.values if value).items()))

    @property
    def tested(self) -> int:
        """How many values have units enough."""
        return sum(n >= FEWEST for n in self.sizes.values())


def slicing(units: PairedUnits, stratum: str, found: Findings) -> Slicing:
    """How a stratum divides the units; raises UsageError where it is too fine."""
    asked = (units.gold.get(unit) for unit in units.after.ids)
    of = [(value_of(one, stratum) if one else None) or "" for one in asked]
    made = Slicing(stratum, tuple(of))
    sizes = made.sizes
    lacking = of.count("")
    if lacking:
        message = f"{lacking:,} questions have no {stratum} and stand in no slice"
        found.add(Finding("no_stratum", stratum, message), lacking)
    if len(sizes) > MOST_VALUES:
        raise UsageError(
            f'--slice "{stratum}": has {len(sizes):,} values, and at most {MOST_VALUES} can be '
            "told apart; slice by something coarser"
        )
    for value, n in sizes.items():
        if n < FEWEST:
            found.add(Finding("slice_too_small", f"{stratum}={value}", _too_few(n)))
    return made


def slice_cells(
    units: PairedUnits, made: Slicing, metrics: Sequence[Comparable], how: How
) -> list[Cell]:
    """Each value of a stratum with each metric, in the order of the values."""
    of = np.array(made.values)
    columns = {one.id: units.columns(one.id, weighted=one.weighted) for one in metrics}
    cells = []
    for value, n in made.sizes.items():
        inside = of == value
        for metric in metrics:
            before, after = (one.of(inside) for one in columns[metric.id])
            change = (
                change_of(metric, before, after, how)
                if n >= FEWEST
                else untested(metric, before, after, _too_few(n))
            )
            cells.append(Cell(stratum=made.stratum, value=value, metric=metric.id, change=change))
    return cells


def _too_few(n: int) -> str:
    return f"too few: {n} in both runs, and a slice is tested from {FEWEST} on"


def flips_of(
    units: PairedUnits, before: Run, after: Run, history: History
) -> tuple[tuple[Flip, ...], dict[Way, int]]:
    """What broke and what was mended, by qid, as far as a report holds it; and how many of each.

    A unit that a run says nothing of did not flip. Answers are read again, and only those kept
    that are told: a run has far more of them than a report.
    """
    found = {way: sorted(flipped) for way, flipped in _flipped(units).items()}
    kept = {way: flipped[:FLIPS_KEPT] for way, flipped in found.items()}
    wanted = {unit for flipped in kept.values() for unit in flipped}
    was, now = (_sides(run, history, wanted) for run in (before, after))
    flips = tuple(
        _flip(units, unit, way, was, now) for way, flipped in kept.items() for unit in flipped
    )
    return flips, {way: len(flipped) for way, flipped in found.items()}


def _flipped(units: PairedUnits) -> dict[Way, list[str]]:
    """The units that flipped, broken first."""
    was, now = units.before.right, units.after.right
    apart = (was != NOT_SAID) & (now != NOT_SAID) & (was != now)
    ways: dict[Way, list[str]] = {"broken": [], "mended": []}
    for place in np.flatnonzero(apart).tolist():
        ways["mended" if now[place] == RIGHT else "broken"].append(units.after.ids[place])
    return ways


def _sides(run: Run, history: History, wanted: set[str]) -> dict[str, Side]:
    if not wanted:
        return {}
    return {row.unit: _side(row) for row in history.units(run.id) if row.unit in wanted}


def _flip(
    units: PairedUnits, unit: str, way: Way, was: Mapping[str, Side], now: Mapping[str, Side]
) -> Flip:
    question = units.gold.get(unit)
    return Flip(
        qid=unit,
        question=question.question if question else None,
        way=way,
        was=was[unit],
        now=now[unit],
    )


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
