"""What a stability report tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ragauge.contracts.finding import Finding
from ragauge.contracts.report import Score
from ragauge.contracts.run import FACTORS
from ragauge.contracts.stability import (
    CELLS,
    STABILITIES,
    FactorEffect,
    OverQuestions,
    QuestionStability,
    Stability,
    StabilityCoverage,
    StabilityReport,
)
from ragauge.gates.stability import MORE_RUNS
from ragauge.reports import envelope
from ragauge.reports.numbers import count, counted, share
from ragauge.reports.stability.heat import right_of

WORST_FIRST: tuple[Stability, ...] = (
    "stable_fail",
    "flaky",
    "incomplete",
    "not_evaluated",
    "stable_pass",
)
"""Wrong every time before wrong at times before not known."""
NOT_UNSTABLE: tuple[Stability, ...] = ("stable_pass", "not_evaluated")
"""Verdicts of questions that no gate found fault with."""

MEANINGS = {
    "stable": "questions that pass every gate",
    "success": "right claim and citations, or refused",
    "acr": "runs with the right claim",
    "cghc": "runs with the right citations",
    "css": "ids cited by every answer",
    "css_all": "ids cited by every run",
    "css_pairwise": "overlap of two answers' ids",
    "ned50": "wording that changes (median)",
    "agreement": "substance that two answers share",
    "rcr": "runs that do the same: refuse or answer",
    "refusal_rate": "runs that refuse",
    "scu_cons": "locked constraints echoed",
    "iaa": "pairs of runs that agree",
    "error_rate": "runs that failed",
}
"""What each number counts, in the few words a table has room for."""

NUMBERS = tuple(name for name in MEANINGS if name in QuestionStability.__struct_fields__)
"""The numbers of a question, in the order they are shown."""


def verdict_words(report: StabilityReport) -> tuple[str, str]:
    """PASS, FAIL or NOT EVALUATED, and the questions: `7 of 12 questions stable; 3 flaky, …`.

    Questions with a single run are not among those that are counted as stable or not.
    """
    word = "PASS" if report.passed else "FAIL"
    counts = dict(verdict_counts(report))
    total, stable = sum(counts.values()), counts.pop("stable_pass", 0)
    single = counts.pop("not_evaluated", 0)
    if single and report.verdicts[0].verdict == "not_evaluated":
        word = envelope.gate_word(report.verdicts[0])
    if single and single == total:
        has = "has" if total == 1 else "have"
        words = f"{counted(total, 'question')} {has} one run each"
        return word, f"{words}, and stability needs two or more: {MORE_RUNS}"
    parts = [f"{count(times)} {verdict_name(name)}" for name, times in counts.items()]
    if single:
        parts.append(f"{count(single)} of {count(total)} not evaluated (one run each)")
    words = f"{count(stable)} of {counted(total - single, 'question')} stable"
    words = f"{words}; {', '.join(parts)}" if parts else words
    return word, f"{words}; {MORE_RUNS}" if word == "NOT EVALUATED" else words


def verdict_counts(report: StabilityReport) -> list[tuple[Stability, int]]:
    """The verdicts that occur and how many questions have each."""
    return [(name, report.totals[name]) for name in STABILITIES if report.totals.get(name)]


def verdict_name(verdict: Stability) -> str:
    return verdict.replace("_", " ")


def cost_words(coverage: StabilityCoverage) -> str:
    """What the sweep cost: `240 runs planned: 231 made, 3 failed, 4 saved`."""
    parts = [
        f"{count(coverage.runs)} made",
        coverage.errors and f"{count(coverage.errors)} failed",
        coverage.missing and f"{count(coverage.missing)} missing",
        coverage.saved and f"{count(coverage.saved)} saved",
    ]
    return f"{counted(coverage.planned, 'run')} planned: {', '.join(p for p in parts if p)}"


def means(report: StabilityReport) -> list[tuple[str, Score]]:
    """The metrics by name, those with a meaning here first and in its order."""
    names = envelope.short_names(report.metrics)
    known = list(MEANINGS)

    def place(named: tuple[str, Score]) -> tuple[int, str]:
        name = named[0].removeprefix("stability.")
        return known.index(name) if name in known else len(known), name

    return sorted(((names[id], score) for id, score in report.metrics.items()), key=place)


def meaning(name: str) -> str:
    return MEANINGS.get(name.removeprefix("stability."), "")


def meaning_in_details(name: str, profile: str) -> str:
    """What a question's number counts: in the reference profile its css is over all runs."""
    return MEANINGS["css_all" if (name, profile) == ("css", "reference") else name]


def ranked(report: StabilityReport) -> list[str]:
    """The questions, the worst first: by verdict, by the share of runs that are right, by qid."""

    def badness(qid: str) -> tuple[int, float, str]:
        right, of = right_of(report.cells[qid])
        return WORST_FIRST.index(report.details[qid].verdict), right / of if of else 0, qid

    return sorted(report.details, key=badness)


def unstable(report: StabilityReport) -> list[str]:
    """The questions that do not pass, the worst first."""
    return [qid for qid in ranked(report) if report.details[qid].verdict not in NOT_UNSTABLE]


def some_unstable(report: StabilityReport, most: int) -> list[str]:
    """At most so many of them, some of each verdict."""
    found = groupby(unstable(report), key=lambda qid: report.details[qid].verdict)
    return envelope.some_of_each([list(qids) for _, qids in found], most)


def most_telling(report: StabilityReport, most: int) -> list[str]:
    """At most so many questions, the worst first: some of each bad verdict, then the others."""
    bad = some_unstable(report, most)
    stable = [qid for qid in ranked(report) if report.details[qid].verdict in NOT_UNSTABLE]
    return bad + stable[: most - len(bad)]


def left_out(report: StabilityReport) -> int:
    """Questions that count in the totals and have no row in the report."""
    return sum(times for _, times in verdict_counts(report)) - len(report.details)


def legend(rows: Sequence[str]) -> list[tuple[str, str]]:
    """The letters that occur in these rows, with their meaning."""
    seen = set("".join(rows))
    return [(letter, meaning) for letter, meaning in CELLS.items() if letter in seen]


def factor_effects(
    factors: dict[str, FactorEffect],
) -> list[tuple[str, FactorEffect]]:
    """The factors that vary, the one that matters most first.

    Chance comes first where another factor does not disagree more often: runs at two temperatures
    differ by chance as well.
    """
    told = [(name, factors[name]) for name in FACTORS if name in factors and factors[name].pairs]
    return sorted(told, key=lambda pair: -(pair[1].rate or 0))


def over_questions(report: StabilityReport) -> OverQuestions:
    """What the report counts over its questions, or what its list comes to where it is older."""
    if report.over_questions is not None:
        return report.over_questions
    told = report.details.values()
    return OverQuestions.of(
        (one.prompts for one in told),
        (jitter for one in told for jitter in one.noop),
        (factor for one in told if (factor := one.blamed)),
    )


def noops(report: StabilityReport) -> list[tuple[str, int]]:
    """Jitters that changed nothing, with the number of questions; the idlest first."""
    times = over_questions(report).noops
    return sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))


def prompts_words(report: StabilityReport) -> str:
    """How many texts a question was asked in: `4 distinct prompts a question (2 to 5)`."""
    low, middle, high = over_questions(report).prompts
    if not high:
        return ""
    words = f"{counted(middle, 'distinct prompt')} a question"
    return words if low == high else f"{words} (median; {low} to {high})"


def coverage_words(coverage: StabilityCoverage) -> str:
    """How much was run, in one line; what is zero is not said."""
    parts = [
        f"{count(coverage.questions)} of {counted(coverage.gold, 'gold question')} run",
        cost_words(coverage),
        coverage.single and f"{counted(coverage.single, 'question')} not evaluated (one run each)",
        coverage.surplus and f"{counted(coverage.surplus, 'surplus line')}",
        coverage.unknown and f"{counted(coverage.unknown, 'run')} of unknown questions",
        coverage.rejected and counted(coverage.rejected, "rejected line"),
    ]
    return "; ".join(part for part in parts if part)


def findings(report: StabilityReport) -> list[tuple[str, int, Sequence[Finding]]]:
    return envelope.findings_by_code(report.findings, report.finding_counts)


def next_steps(report: StabilityReport) -> Iterator[str]:
    """What to look at next, in sentences."""
    coverage = report.coverage
    lost = coverage.errors + coverage.missing
    if lost:
        made = counted(lost, "run")
        yield f"Run the sweep again: it resumes with what failed or is missing, {made}."
    if coverage.single:
        one = counted(coverage.single, "question has", "questions have")
        yield f"Make more runs: {one} one run and cannot be evaluated; {MORE_RUNS}."
    bad = unstable(report)
    blamed = over_questions(report).blamed
    if blamed:
        effects = dict(factor_effects(report.factors))
        first = next((name for name in effects if name in blamed), min(blamed))
        rates = [
            f"{share(effects[name].differ, effects[name].pairs)} for {name}"
            for name in effects
            if name == first or effects[name].differ
        ]
        counts = dict(verdict_counts(report))
        unstable_ones = sum(n for name, n in counts.items() if name not in NOT_UNSTABLE)
        of = counted(unstable_ones, "question that is not stable", "questions that are not stable")
        yield f"Start with the {first}: it explains {count(blamed[first])} of {of}."
        if len(rates) > 1:
            yield f"Run pairs that differ in one factor alone disagree: {', '.join(rates)}."
    telling = [qid for qid in bad if len(report.details[qid].examples) > 1]
    if telling:
        yield f"Read the two answers of {telling[0]} side by side."
