"""Compare: two recorded runs, a verdict for each metric, and the questions that flipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from ragauge.contracts.comparison import (
    Compared,
    ComparedSlice,
    ComparisonReport,
)
from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.history import History, Run, RunFilter
from ragauge.contracts.metric import Better
from ragauge.contracts.score import Score
from ragauge.contracts.verdict import Verdict
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.decide import TOLERANCE
from ragauge.gates.regression import Gate, gate_verdict, passes
from ragauge.runners.comparability import (
    ALL,
    chosen_metrics,
    family_of,
    how_made,
    refuse,
    why_not,
)
from ragauge.runners.compare_options import (
    CompareOptions,
    gated_metrics,
    margins_of,
    options_of,
)
from ragauge.runners.compared_runs import identity_of, told_run, without_baseline
from ragauge.runners.compared_slices import slice_cells, slice_names, slicing
from ragauge.runners.flips import flips_of
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
)
from ragauge.runners.paired_units import Columns, ask_the_same, paired_units
from ragauge.stats.multiplicity import level_of
from ragauge.text.visible import visible

MOVING = ("latest", "green")
"""References to whichever run is the last: there may be none yet."""
EARLIER_READ = 1_000
"""So many earlier runs are looked at for the branches there are."""


def compare(history: History, before: str, after: str, **options: Any) -> ComparisonReport:
    """The comparison of two runs of a history, each named as `History.find` names them.

    The later run is looked up first: `latest` and `green` then mean a run of its command and
    name, recorded before it. Where there was no such run at all, a user may allow that; a baseline
    that earlier runs merely do not match is refused all the same, for it may be misspelt.
    """
    chosen = options_of(options)
    now = history.find(after)
    try:
        was = history.find(before, like=now)
    except UsageError as error:
        if before.partition("@")[0] not in MOVING:
            raise
        if earlier := _earlier(now, history):
            raise InputRejected(*error.problems, _there_are(now, earlier)) from None
        if "no-baseline" in chosen.allow:
            return without_baseline(before, now, chosen)
        raise InputRejected(
            *error.problems, "a first run has no baseline: --allow no-baseline lets it pass"
        ) from None
    return compare_runs(was, now, history, chosen)


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
    before: Run, after: Run, history: History, options: CompareOptions
) -> ComparisonReport:
    """The comparison of two runs; raises UsageError or InputRejected with all that is wrong."""
    return _Comparison(before, after, history, options).report()


class _Comparison:
    """Two runs on the way to a report."""

    def __init__(self, before: Run, after: Run, history: History, options: CompareOptions) -> None:
        self._before, self._after, self._options = before, after, options
        self._history = history
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
        return change_of(self._metrics[id], before, after, self._how(self._options.alpha))

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
        names = slice_names(options.slices, self._units)
        made = [slicing(self._units, stratum, self._found) for stratum in names]
        tests = len(metrics) * sum(one.tested for one in made)
        level = level_of(options.alpha, options.correction, tests)
        how = self._how(level)
        cells = [cell for one in made for cell in slice_cells(self._units, one, metrics, how)]
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
