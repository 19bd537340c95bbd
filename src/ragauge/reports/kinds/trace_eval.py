"""The report of `ragauge trace-eval`: whether the runs of a question agree, and cite the gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ragauge.contracts.audit import OK, STATES, LambdaState
from ragauge.contracts.trace_eval import (
    OverQuestions,
    TracedQuestion,
    TracedRun,
    TraceEvalCoverage,
    TraceEvalReport,
)
from ragauge.reports import document as doc
from ragauge.reports.document import (
    Bar,
    Bars,
    Block,
    Cell,
    Column,
    Document,
    Row,
    Square,
    Table,
    Tone,
    names,
)
from ragauge.reports.formats import junit
from ragauge.reports.kinds import audit
from ragauge.reports.numbers import ABSENT, count, counted, n_of

MEANINGS: dict[LambdaState, str] = {
    "convergent": "all runs agree",
    "divergent": "some runs agree, the others do not",
    "recursive": "two groups of runs, and each agrees",
    "chaotic": "no two runs agree",
    "incomplete": "a run is missing or failed",
}
TONES: dict[LambdaState, Tone] = {
    "convergent": "good",
    "divergent": "warm",
    "recursive": "warm",
    "chaotic": "bad",
    "incomplete": "plain",
}
WORST_FIRST: tuple[LambdaState, ...] = (
    "chaotic",
    "divergent",
    "recursive",
    "incomplete",
    "convergent",
)
Outcome = Literal["matched", "unmatched", "code", "uncited", "refusal", "error"]
OUTCOMES: dict[Outcome, tuple[str, str, str]] = {
    "matched": ("✓", "right", "holds, and cites the gold"),
    "unmatched": ("○", "cited", "holds, without the gold"),
    "code": ("✗", "both", "a citation does not hold"),
    "uncited": ("–", "claim", "answers without a citation"),
    "refusal": ("r", "refused", "refuses"),
    "error": ("!", "failed", "failed"),
}
"""How a run can end: its mark, its class in the style sheet, and what it means."""
CODES_FIRST = "the match rate is below its target: fix the codes before you tune retrieval"
QUESTIONS_SHOWN, QUESTIONS_ON_A_PAGE = 20, 200


def document(report: TraceEvalReport) -> Document:
    return Document("trace-eval", list(_blocks(report)))


def cases(report: TraceEvalReport) -> Iterator[junit.Suite]:
    """A suite of gates and one of questions.

    The gates alone decide: in a run that passed, no question turns CI red.
    """
    yield junit.gate_suite(report.gates)
    yield junit.Suite(
        "questions",
        (
            junit.Case(one.qid, None if right(one) else _problem(one, report.passed))
            for one in report.questions
        ),
    )


def _problem(one: TracedQuestion, passed: bool) -> junit.Problem:
    codes = codes_of(one)
    parts = [
        f"retrieval {one.retrieval or ABSENT}, answers {one.answer or ABSENT}",
        f"{_matched(one)} match" if one.answerable and one.answered else "",
        codes,
    ]
    return junit.Problem(
        "skipped" if passed else "error" if one.answer == "incomplete" else "failure",
        "; ".join(part for part in parts if part),
        one.answer or "unmatched",
        (
            *junit.facts({"question": one.question, "breaks": one.broken, "codes": codes}),
            *(
                f"{run.run_id} {OUTCOMES[outcome(run)][2]}: "
                f"{run.error or run.code} [{' '.join(run.cited)}]"
                for run in one.runs
            ),
        ),
    )


def _blocks(report: TraceEvalReport) -> Iterator[Block]:
    recipe = report.recipe
    wordings, seeds = counted(recipe.wordings, "wording"), counted(len(recipe.seeds), "seed")
    made = f"{wordings} × {seeds} at temperature {recipe.temperature:g}"
    yield doc.Verdict(
        *verdict_words(report),
        notes=[f"{made}: {_runs(report.coverage)}"],
        meaning=[CODES_FIRST] if report.codes_first else [],
    )
    found = states(report)
    bars = [(state, state, answers, TONES[state]) for state, _, answers in found if answers]
    yield doc.on_pages(Bars(title="Convergence of answers (λ)", bars=bars))
    yield from doc.gates(report.gates, report.metrics, audit.metric_names(report))
    if report.codes_first:
        yield audit.codes(report, "the worst first; fix these before you tune retrieval")
    if found:
        yield _states(found)
        yield _matrix(report)
    if report.at_k:
        yield _at_k(report)
    if report.questions:
        yield _questions(report)
    if not report.codes_first:
        yield audit.codes(report)
    yield from audit.rest(report)
    short = report.coverage.short
    parts = [
        counted(report.coverage.questions, "question"),
        _runs(report.coverage),
        short and f"{counted(short, 'question')} with too few wordings for the recipe",
        report.out and f"the runs are in {report.out}",
    ]
    yield doc.Coverage("; ".join(part for part in parts if part), report.identity)


def verdict_words(report: TraceEvalReport) -> tuple[str, str]:
    """PASS or FAIL, how many questions converge, and how many answers cite the gold."""
    answers = report.states.get("answer", {})
    total = sum(answers.values())
    converge = "converges" if total == 1 else "converge"
    words = [f"{count(answers.get('convergent', 0))} of {counted(total, 'question')} {converge}"]
    over = over_questions(report)
    if over.answered:
        matched = f"{count(over.matched)} of {counted(over.answered, 'answer')}"
        words.append(f"{matched} {'cites' if over.matched == 1 else 'cite'} the gold")
    return "PASS" if report.passed else "FAIL", "; ".join(words)


def over_questions(report: TraceEvalReport) -> OverQuestions:
    """What the report counts over its questions; an older report is counted here."""
    return report.over_questions or OverQuestions.of(report.questions)


def _runs(coverage: TraceEvalCoverage) -> str:
    parts = [
        f"{counted(coverage.planned, 'run')} planned",
        f"{count(coverage.runs)} made",
        coverage.failed and f"{count(coverage.failed)} failed",
        coverage.missing and f"{count(coverage.missing)} missing",
    ]
    return ", ".join(part for part in parts if part)


def states(report: TraceEvalReport) -> list[tuple[LambdaState, int, int]]:
    """The states of λ that occur, the best first, with their questions by retrieval and answer."""
    retrieval, answer = (report.states.get(which, {}) for which in ("retrieval", "answer"))
    found = [(name, retrieval.get(name, 0), answer.get(name, 0)) for name in STATES]
    return [one for one in found if one[1] or one[2]]


def _states(found: list[tuple[LambdaState, int, int]]) -> Table:
    most = max(max(retrieval, answers) for _, retrieval, answers in found)

    def counts(state: LambdaState, times: int) -> list[Cell]:
        return [doc.count(times), doc.plot(Bar(times / most, TONES[state]))]

    return Table(
        title="Convergence (λ)",
        remark="questions by whether their runs agree",
        part="states",
        columns=doc.columns(
            *("state", "", "retrieval", "bar", "answers", "bars"),
            right=("retrieval", "answers"),
            plots=("bar", "bars"),
            spare=("",),
        ),
        rows=doc.rows(
            [
                Cell(state, tone=TONES[state], badge=state),
                Cell(MEANINGS[state], tone="dim"),
                *counts(state, retrieval),
                *counts(state, answers),
            ]
            for state, retrieval, answers in found
        ),
    )


def _matrix(report: TraceEvalReport) -> Table:
    """For each state of retrieval, how many questions are in each state of answers."""
    order = (*STATES, None)
    met = over_questions(report).together
    times = Counter({(one.retrieval, one.answer): one.questions for one in met})
    down = [state for state in order if any(retrieval == state for retrieval, _ in times)]
    across = [state for state in order if any(answer == state for _, answer in times)]

    def cell(retrieval: LambdaState | None, answer: LambdaState | None) -> Cell:
        found = times[retrieval, answer]
        agree = retrieval == answer == "convergent"
        return doc.count(found, "dim" if not found else "good" if agree else "warm")

    return Table(
        title="Retrieval and answers",
        remark="questions; retrieval down, answers across",
        part="states",
        columns=[
            Column("retrieval"),
            *(Column(state or "not known", right=True, begins=True) for state in across),
        ],
        rows=doc.rows(
            [Cell(state or "not known"), *(cell(state, other) for other in across)]
            for state in down
        ),
        after="where retrieval converges and answers do not, the fault is after retrieval",
    )


def _at_k(report: TraceEvalReport) -> Table:
    heads = ("k", "chunks", "coverage", "gold recall", "ΔS")
    scores = [(one.coverage, one.gold_recall, one.deltaS) for one in report.at_k]
    reasons = dict.fromkeys(
        f"{name}: {score.reason}"
        for row in scores
        for name, score in zip(heads[2:], row, strict=True)
        if score.value is None and score.reason
    )
    return Table(
        title="k sweep",
        remark="what the first k retrieved chunks would bring",
        part="at_k",
        columns=doc.columns("leg", *heads, right=heads),
        rows=doc.rows(
            [
                names(one.leg or "all"),
                doc.count(one.k),
                doc.number(one.chunks, ABSENT if one.chunks is None else f"{one.chunks:.1f}"),
                *(doc.number(score.value) for score in row),
            ]
            for one, row in zip(report.at_k, scores, strict=True)
        ),
        after="; ".join(reasons),
    )


def ranked(report: TraceEvalReport) -> list[TracedQuestion]:
    """The questions, those that do not converge first, then those that match least; ties by id."""

    def badness(one: TracedQuestion) -> tuple[int, int, float, str]:
        matched = one.matched / one.answered if one.answered and one.answerable else 1.0
        # A state that is not known counts as convergent.
        answer, retrieval = (
            WORST_FIRST.index(state or "convergent") for state in (one.answer, one.retrieval)
        )
        return min(answer, retrieval), answer, matched, one.qid

    return sorted(report.questions, key=badness)


def _questions(report: TraceEvalReport) -> Table:
    everyone = ranked(report)
    rows = everyone[:QUESTIONS_ON_A_PAGE]
    wrong = sum(not right(one) for one in everyone)
    seen = {outcome(run) for one in rows for run in one.runs}
    legend = [f"{mark} {means}" for name, (mark, _, means) in OUTCOMES.items() if name in seen]
    return Table(
        title="Questions",
        remark=f"{n_of(wrong, len(everyone))} not correct in every run, worst first",
        part="questions",
        columns=doc.columns(
            *("question", "retrieval", "answers", "breaks", "runs", "match", "coverage"),
            right=("match", "coverage"),
            spare=("breaks", "coverage"),
        ),
        rows=[
            Row(
                (
                    names(one.qid, to=("question", one.qid)),
                    _state(one.retrieval),
                    _state(one.answer),
                    Cell(one.broken or ""),
                    Cell(
                        "".join(OUTCOMES[outcome(run)][0] for run in one.runs),
                        squares=[_square(run) for run in one.runs],
                    ),
                    Cell(_matched(one), one.matched / one.answered if one.answered else None),
                    doc.number(one.coverage),
                ),
                codes_of(one),
                strong=_unsure(one),
            )
            for one in rows
        ],
        shown=QUESTIONS_SHOWN,
        total=len(everyone),
        after=f"a mark is a run: {'; '.join(legend)}",
    )


def _state(state: LambdaState | None) -> Cell:
    return Cell(state, state, TONES[state], badge=state) if state else Cell(ABSENT)


def _square(run: TracedRun) -> Square:
    name = outcome(run)
    mark, drawn, means = OUTCOMES[name]
    found = run.error or (run.code if name in ("code", "uncited") else " ".join(run.cited))
    words = f"{run.run_id}: {means}"
    return Square(drawn, mark, f"{words}: {found}" if found else words)


def outcome(run: TracedRun) -> Outcome:
    if run.kind == "error":
        return "error"
    if run.kind == "uncited":
        return "uncited"
    if run.code != OK:
        return "code"
    if run.kind == "refusal":
        return "refusal"
    return "matched" if run.matched else "unmatched"


def _unsure(one: TracedQuestion) -> bool:
    """Whether the runs of a question do not all agree."""
    return {one.answer, one.retrieval} - {"convergent", None} != set()


def right(one: TracedQuestion) -> bool:
    """Whether its runs agree, hold, and cite the gold where there is one."""
    matches = not one.answerable or one.matched == one.answered
    return matches and not _unsure(one) and not codes_of(one)


def _matched(one: TracedQuestion) -> str:
    """`5 of 6`; a dash for a question without an answer."""
    return n_of(one.matched, one.answered) if one.answerable and one.answered else ABSENT


def codes_of(one: TracedQuestion) -> str:
    """The worst codes of its runs, the most frequent first: `missing_rev 3, not_retrieved 1`."""
    wrong = [(code, times) for code, times in one.codes.items() if code != OK and times]
    wrong.sort(key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{code} {count(times)}" for code, times in wrong)
