"""What a comparison comes to, in words and in a reader's order; the same in all forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ragauge.contracts.comparison import (
    Compared,
    ComparedRun,
    ComparisonCoverage,
    ComparisonReport,
    Flip,
    Outlook,
    Way,
)
from ragauge.contracts.finding import Finding
from ragauge.contracts.history import ID_SHOWN
from ragauge.contracts.verdict import Verdict
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import count, counted, signed, signed_interval, value

COMMIT_SHOWN = 8
NO_DIFFERENCE = "no difference seen"
NAMES: dict[Outlook, str] = {
    "worse": "worse",
    "better": "better",
    "not_worse": "not worse",
    "cannot_tell": "cannot tell",
    "not_comparable": "not comparable",
    "not_tested": "not tested",
}
ORDER = ("worse", "better", "not worse", "cannot tell", "not comparable")
"""The words of verdicts, what matters most first."""
TONES = {"worse": "bad", "better": "good", "not worse": "good"}
CORRECTIONS = {
    "holm": "p adjusted by Holm, intervals unadjusted",
    "bh": "p adjusted by Benjamini and Hochberg, intervals unadjusted",
    "none": "p and intervals unadjusted",
}
SLICE_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
BESIDE = "not tested: no verdict, p unadjusted; --metric all tests them"
TESTED = {"no-regression": "beyond noise", "not-worse": "at worst"}
"""What a gate holds against its bound: the change as far as chance does not explain it, or the
interval's worst end."""
WAYS: dict[Way, str] = {"broken": "that were right", "mended": "that were wrong"}
NEVER = 10_000_000
"""So many questions nobody asks: it would take more than that is said instead."""


def verdict_of(one: Compared) -> str:
    return NAMES[one.verdict]


def without_difference(one: Compared) -> bool:
    """Whether units were compared, and not a single one differs."""
    return bool(one.n) and not one.differs and one.change is not None


def judged(report: ComparisonReport) -> dict[str, Compared]:
    """The metrics that the comparison is about."""
    return {id: one for id, one in report.compared.items() if one.verdict != "not_tested"}


def beside(report: ComparisonReport) -> dict[str, Compared]:
    """The other metrics, which are told without a verdict."""
    return {id: one for id, one in report.compared.items() if one.verdict == "not_tested"}


def moved(told: Mapping[str, Compared]) -> dict[str, Compared]:
    """Those of which something changed."""
    return {
        id: one
        for id, one in told.items()
        if one.change is not None and not without_difference(one)
    }


def unmoved(told: Mapping[str, Compared]) -> list[tuple[str, list[str]]]:
    """Why nothing is to be told of metrics, with their ids."""
    found: dict[str, list[str]] = {}
    for id, one in told.items():
        if without_difference(one):
            found.setdefault(NO_DIFFERENCE, []).append(id)
        elif one.change is None:
            found.setdefault(one.reason or "nothing to compare", []).append(id)
    return list(found.items())


def names(report: ComparisonReport) -> dict[str, str]:
    return envelope.short_names(report.compared)


def by_verdict(report: ComparisonReport) -> list[tuple[str, list[str]]]:
    """The metrics of each verdict that occurs, what matters most first."""
    found: dict[str, list[str]] = {word: [] for word in ORDER}
    for id, one in judged(report).items():
        found[verdict_of(one)].append(id)
    return [(word, ids) for word, ids in found.items() if ids]


def headline(report: ComparisonReport) -> tuple[str, str]:
    """The verdict in a word, and what it rests on."""
    if report.before is None:
        return "NO BASELINE", "there is no run to compare with yet"
    if report.gates:
        return ("PASS" if report.passed else "FAIL"), _gate_words(report)
    if report.passed is False:
        return "FAIL", "no metric is in both runs, and a gate needs one"
    groups = dict(by_verdict(report))
    if "worse" in groups:
        return ("MIXED" if "better" in groups else "WORSE"), counts_words(report)
    for word in ("better", "not worse", "cannot tell"):
        if word in groups:
            return word.upper(), counts_words(report)
    return "NOT COMPARABLE", counts_words(report)


def tone(report: ComparisonReport) -> str:
    """How the verdict is drawn: good, bad, or neither."""
    word = headline(report)[0]
    if word in ("PASS", "BETTER", "NOT WORSE"):
        return "good"
    return "bad" if word in ("FAIL", "WORSE") else "soft"


def counts_words(report: ComparisonReport) -> str:
    """
    `1 of 12 metrics worse, 2 better, 9 cannot tell`
    """
    total = counted(len(judged(report)), "metric")
    groups = by_verdict(report)
    if not groups:
        return "no metric is in both runs"
    told = [f"{count(len(ids))} {word}" for word, ids in groups]
    first, *rest = told
    number, _, word = first.partition(" ")
    return ", ".join([f"{number} of {total} {word}", *rest])


def _gate_words(report: ComparisonReport) -> str:
    gate = gate_name(report.gates[0])
    total = counted(len(report.gates), "metric")
    failing = [one for one in report.gates if one.verdict == "fail"]
    unknown = [one for one in report.gates if one.verdict == "not_evaluated"]
    told = f"{gate} holds for {total}"
    if failing:
        told = f"{gate} fails for {count(len(failing))} of {total}"
    elif unknown:
        return f"{gate} could not be evaluated for {count(len(unknown))} of {total}"
    elif skipped := sum(one.verdict == "not_applicable" for one in report.gates):
        if skipped == len(report.gates):
            return f"{gate} has nothing to judge: none of {total} applies"
        told = f"{gate} holds for {count(len(report.gates) - skipped)} of {total}"
        return f"{told}, {count(skipped)} not applicable"
    return f"{told}, {count(len(unknown))} not evaluated" if unknown else told


def gate_name(gate: Verdict) -> str:
    return numbers.restriction(gate)


def run_cells(run: ComparedRun | None) -> tuple[str, ...]:
    """A run in a few words: id, name, time, branch and commit, tags. Dirty are changed files."""
    if run is None:
        return (numbers.ABSENT, "", "", "", "")
    commit = run.commit and run.commit[:COMMIT_SHOWN]
    code = " ".join(filter(None, (run.branch, commit, "dirty" if run.dirty else None)))
    when = run.recorded_at[:16].replace("T", " ")
    return run.id[:ID_SHOWN], run.name, when, code, ", ".join(run.tags)


def run_words(run: ComparedRun | None) -> str:
    """A run on one line."""
    return ", ".join(filter(None, run_cells(run)))


def note_of(one: Compared) -> str:
    """What has no column; that nothing differs is told by the numbers already."""
    return "" if without_difference(one) else one.reason or ""


def other_labels(report: ComparisonReport) -> list[tuple[str, str]]:
    """The labels that are not the same in both runs: what was changed, if the user says so."""
    was = report.before.labels if report.before else {}
    now = report.after.labels
    return [
        (name, f"{was.get(name, numbers.ABSENT)} -> {now.get(name, numbers.ABSENT)}")
        for name in sorted(was.keys() | now.keys())
        if report.before and was.get(name) != now.get(name)
    ]


def sentence(one: Compared) -> str:
    """A metric's change in a line, without its name."""
    word = verdict_of(one)
    if one.change is None or word == "not comparable":
        return one.reason or "nothing to compare"
    if without_difference(one):
        return f"{NO_DIFFERENCE}: {value(one.after)} in both{_decided_by(one)}"
    moved = f"{value(one.before)} -> {value(one.after)}, {signed(one.change)}"
    told = f"{moved} {signed_interval(one.ci)}".rstrip()
    if word == "cannot tell":
        return f"{told} with n = {count(one.n)}{_decided_by(one)}"
    if word == "not worse":
        return f"{told}, within the margin of {one.margin:g}"
    return f"{told}, {_p_words(one.p_adjusted)}"


def _decided_by(one: Compared) -> str:
    if one.needed is None:
        return ""
    if one.needed > NEVER:
        return f"; it would take more than {count(NEVER)}"
    return f"; {count(one.needed)} would decide, {count(one.needed - one.n)} more"


def _p_words(p: float | None) -> str:
    """
    >>> _p_words(0.0312), _p_words(0.00004)
    ('p=0.031', 'p<0.001')
    """
    text = p_value(p).replace(" ", "")
    return f"p{text}" if text.startswith("<") else f"p={text}"


def p_shown(one: Compared) -> str:
    """The corrected probability; beside the family the plain one."""
    return p_value(one.p if one.verdict == "not_tested" else one.p_adjusted)


def statistic(one: Compared) -> str:
    """The test's own number, to four digits."""
    return numbers.ABSENT if one.statistic is None else f"{one.statistic:.4g}"


def p_value(p: float | None) -> str:
    """
    >>> p_value(0.0312), p_value(0.00004), p_value(1.0), p_value(None)
    ('0.031', '< 0.001', '1', '–')
    """
    if p is None:
        return numbers.ABSENT
    if p < 0.001:
        return "< 0.001"
    return "1" if p >= 0.9995 else f"{p:.3f}"


def tests_words(report: ComparisonReport) -> str:
    """How the changes were tested: `McNemar (exact), paired t; p adjusted by Holm, ...`."""
    return "; ".join(filter(None, (methods_words(report), CORRECTIONS[report.correction])))


def methods_words(report: ComparisonReport) -> str:
    made = {one.method.partition(", ") for one in judged(report).values() if one.method}
    return ", ".join(f"{test} ({how})" if how else test for test, _, how in sorted(made))


def interval_head(report: ComparisonReport, *, slices: bool = False) -> str:
    """What the intervals are; those of slices hold together, as far as p is corrected."""
    joint = "joint " if slices and report.correction != "none" else ""
    return f"{joint}{100 * (1 - report.alpha):g} % interval"


def slices_words(report: ComparisonReport) -> str:
    """How p and the intervals of slices are corrected, which is not in the same way."""
    name = SLICE_CORRECTIONS.get(report.correction)
    if name is None:
        return CORRECTIONS[report.correction]
    return (
        f"p is adjusted by {name} over all slices; the intervals are wider, to hold for all slices "
        "at once, so that one may hold 0 where p finds a difference: verdicts go by p"
    )


def flips(report: ComparisonReport, way: Way) -> list[Flip]:
    return [flip for flip in report.flips if flip.way == way]


def flip_titles(report: ComparisonReport) -> Iterator[tuple[Way, str]]:
    """Each way that a question flipped, with how many did: `3 questions that were right`."""
    for way, told in WAYS.items():
        times = report.flip_counts.get(way, 0)
        if times:
            yield way, f"{counted(times, 'question')} {told}"


def coverage_words(coverage: ComparisonCoverage) -> str:
    """How much the two runs share, in one line; what is zero is not said."""
    parts = [
        f"{counted(coverage.both, 'question')} in both runs",
        coverage.only_before and f"{count(coverage.only_before)} only before",
        coverage.only_after and f"{count(coverage.only_after)} only after",
        coverage.changed_meaning and f"{count(coverage.changed_meaning)} with another meaning",
    ]
    return ", ".join(part for part in parts if part)


def findings(report: ComparisonReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)


def gate_words(gate: Verdict) -> str:
    """What a gate demands and what it met, in a line."""
    name = gate_name(gate)
    met = f"{TESTED[name]} {signed(gate.value)}, interval {signed_interval(gate.ci)}"
    met = met if gate.ci else met.partition(",")[0]
    told = f"{gate.metric}: {name} wants {numbers.bound(gate)}"
    told = f"{told}, {met}" if gate.value is not None else told
    return f"{told}; {gate.reason}" if gate.reason else told
