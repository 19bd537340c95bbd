"""What a trace evaluation tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from ragauge.contracts.audit import OK, STATES, LambdaState
from ragauge.contracts.trace_eval import (
    OverQuestions,
    Recipe,
    TracedQuestion,
    TracedRun,
    TraceEvalCoverage,
    TraceEvalReport,
)
from ragauge.reports.numbers import ABSENT, count, counted, n_of, value

MEANINGS: dict[LambdaState, str] = {
    "convergent": "all runs agree",
    "divergent": "some runs agree, the others do not",
    "recursive": "two camps, each of one mind",
    "chaotic": "no two runs agree",
    "incomplete": "a run is missing or failed",
}
WORST_FIRST: tuple[LambdaState, ...] = (
    "chaotic",
    "divergent",
    "recursive",
    "incomplete",
    "convergent",
)
UNKNOWN = "not known"
CODES_FIRST = (
    "the match rate is below its target, and codes come before knobs: "
    "mend these before anything of retrieval is tuned"
)

OUTCOMES = {
    "matched": "holds, and cites the gold",
    "unmatched": "holds, without the gold",
    "code": "a citation does not hold",
    "uncited": "answers without a citation",
    "refusal": "refuses",
    "error": "failed",
}
"""What a run can come to, and how it is said."""


class States(Struct, frozen=True):
    """A state of λ and how many questions are in it."""

    state: LambdaState
    retrieval: int
    answer: int


def verdict_words(report: TraceEvalReport) -> tuple[str, str]:
    """PASS or FAIL, how many questions converge, and how many answers cite the gold."""
    answers = report.states.get("answer", {})
    total = sum(answers.values())
    converge = "converges" if total == 1 else "converge"
    words = [f"{count(answers.get('convergent', 0))} of {counted(total, 'question')} {converge}"]
    matched, answered = match_counts(report)
    if answered:
        told = f"{count(matched)} of {counted(answered, 'answer')}"
        words.append(f"{told} {'cites' if matched == 1 else 'cite'} the gold")
    return "PASS" if report.passed else "FAIL", "; ".join(words)


def match_counts(report: TraceEvalReport) -> tuple[int, int]:
    """Runs that match, of those that answered a question that has an answer."""
    told = over_questions(report)
    return told.matched, told.answered


def over_questions(report: TraceEvalReport) -> OverQuestions:
    """What the report counts over its questions, or what its list comes to where it is older."""
    return report.over_questions or OverQuestions.of(report.questions)


def recipe_words(recipe: Recipe, coverage: TraceEvalCoverage) -> str:
    """`3 wordings × 2 seeds at temperature 0.2: 72 runs planned, 70 made, 2 failed`."""
    wordings, seeds = counted(recipe.wordings, "wording"), counted(len(recipe.seeds), "seed")
    return f"{wordings} × {seeds} at temperature {recipe.temperature:g}: {runs_words(coverage)}"


def runs_words(coverage: TraceEvalCoverage) -> str:
    parts = [
        f"{counted(coverage.planned, 'run')} planned",
        f"{count(coverage.runs)} made",
        coverage.failed and f"{count(coverage.failed)} failed",
        coverage.missing and f"{count(coverage.missing)} missing",
    ]
    return ", ".join(part for part in parts if part)


def coverage_words(report: TraceEvalReport) -> str:
    """How much was run, in one line; what is zero is not said."""
    coverage = report.coverage
    parts = [
        counted(coverage.questions, "question"),
        runs_words(coverage),
        coverage.short
        and f"{counted(coverage.short, 'question')} with too few wordings for the recipe",
        report.out and f"the runs are in {report.out}",
    ]
    return "; ".join(part for part in parts if part)


def codes_words(report: TraceEvalReport) -> str:
    """Why the codes stand before all else; nothing where they do not."""
    return CODES_FIRST if report.codes_first else ""


def states(report: TraceEvalReport) -> list[States]:
    """The states of λ in which there are questions, the best first."""
    retrieval, answer = (report.states.get(which, {}) for which in ("retrieval", "answer"))
    found = [States(name, retrieval.get(name, 0), answer.get(name, 0)) for name in STATES]
    return [one for one in found if one.retrieval or one.answer]


K_HEADS = ("leg", "k", "chunks", "coverage", "gold recall", "ΔS")


def at_k(report: TraceEvalReport) -> list[list[str]]:
    """The k sweep as rows under `K_HEADS`."""
    return [
        [
            one.leg or "all",
            count(one.k),
            ABSENT if one.chunks is None else f"{one.chunks:.1f}",
            *(value(score.value) for score in (one.coverage, one.gold_recall, one.deltaS)),
        ]
        for one in report.at_k
    ]


def k_words(report: TraceEvalReport) -> str:
    """Why a column of the k sweep has no value; nothing where all have some."""
    reasons = {
        f"{name}: {score.reason}": None
        for one in report.at_k
        for name, score in (
            *(("coverage", one.coverage), ("gold recall", one.gold_recall)),
            ("ΔS", one.deltaS),
        )
        if score.value is None and score.reason
    }
    return "; ".join(reasons)


def ranked(report: TraceEvalReport) -> list[TracedQuestion]:
    """The questions, those that do not converge first, then those that match least; ties by id."""

    def badness(one: TracedQuestion) -> tuple[int, int, float, str]:
        matched = one.matched / one.answered if one.answered and one.answerable else 1.0
        answer, retrieval = _place(one.answer), _place(one.retrieval)
        return min(answer, retrieval), answer, matched, one.qid

    return sorted(report.questions, key=badness)


def _place(state: LambdaState | None) -> int:
    """Where a state stands among the worst; what is not known is held against nobody."""
    return WORST_FIRST.index(state or "convergent")


def unsure(one: TracedQuestion) -> bool:
    """Whether a question's runs do not all come to the same."""
    return {one.answer, one.retrieval} - {"convergent", None} != set()


def right(one: TracedQuestion) -> bool:
    """Whether its runs agree, hold, and cite the gold where there is one."""
    matches = not one.answerable or one.matched == one.answered
    return matches and not unsure(one) and not wrong_codes(one)


def matched_words(one: TracedQuestion) -> str:
    """`5 of 6`; a dash for a question without an answer."""
    return n_of(one.matched, one.answered) if one.answerable and one.answered else ABSENT


def state_word(state: LambdaState | None) -> str:
    return state or ABSENT


def wrong_codes(one: TracedQuestion) -> list[tuple[str, int]]:
    """The codes that its runs have as their worst, the most frequent first."""
    wrong = [(code, times) for code, times in one.codes.items() if code != OK and times]
    return sorted(wrong, key=lambda pair: (-pair[1], pair[0]))


def codes_of(one: TracedQuestion) -> str:
    """`missing_rev 3, not_retrieved 1`; nothing where all hold."""
    return ", ".join(f"{code} {count(times)}" for code, times in wrong_codes(one))


def matrix(report: TraceEvalReport) -> tuple[list[str], list[tuple[str, list[int]]]]:
    """The states of answers, and for each state of retrieval how many questions are in both."""
    order = [*STATES, None]
    met = over_questions(report).together
    times = Counter({(one.retrieval, one.answer): one.questions for one in met})
    rows = [state for state in order if any(held == state for held, _ in times)]
    columns = [state for state in order if any(held == state for _, held in times)]
    counts = [(row or UNKNOWN, [times[row, column] for column in columns]) for row in rows]
    return [column or UNKNOWN for column in columns], counts


def outcome(run: TracedRun) -> str:
    """What a run came to, as `OUTCOMES` names it."""
    if run.kind == "error":
        return "error"
    if run.kind == "uncited":
        return "uncited"
    if run.code != OK:
        return "code"
    if run.kind == "refusal":
        return "refusal"
    return "matched" if run.matched else "unmatched"


def outcomes_seen(questions: Sequence[TracedQuestion]) -> list[str]:
    """The outcomes of these questions' runs, in the order they are explained."""
    seen = {outcome(run) for one in questions for run in one.runs}
    return [name for name in OUTCOMES if name in seen]
