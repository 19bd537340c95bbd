"""The report of `ragauge trace-eval`: whether the runs of a question agree, and cite the gold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from ragauge.contracts.audit import OK, STATES, LambdaState
from ragauge.contracts.trace_eval import TracedQuestion, TracedRun, TraceEvalReport
from ragauge.metrics.worst_first import traced_questions
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, fact_lines, gate_suite
from ragauge.reports.document import Block, Cell, Column, Document, Square, Table, Tone, names
from ragauge.reports.kinds import audit
from ragauge.reports.phrasing import ABSENT, by_count, count, n_of, pluralize

MEANINGS: dict[LambdaState, tuple[str, Tone]] = {
    "chaotic": ("no two runs agree", "bad"),
    "divergent": ("some runs agree, the others do not", "warm"),
    "recursive": ("two groups of runs, and each agrees", "warm"),
    "incomplete": ("a run is missing or failed", "plain"),
    "convergent": ("all runs agree", "good"),
}
"""The worst first."""
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


def document(report: TraceEvalReport) -> Document:
    return Document("trace-eval", list(_blocks(report)))


def cases(report: TraceEvalReport) -> Iterator[Suite]:
    def case(one: TracedQuestion) -> Case:
        if correct(one):
            return Case(one.qid)
        codes, match = codes_of(one), _matched(one)
        states = f"retrieval {one.retrieval or ABSENT}, answers {one.answer or ABSENT}"
        return Case(
            one.qid,
            doc.listed(states, match != ABSENT and f"{match} match", codes, sep="; "),
            [
                *fact_lines({"question": one.question, "breaks": one.broken, "codes": codes}),
                *(
                    f"{run.run_id} {OUTCOMES[outcome(run)][2]}: "
                    f"{run.error or run.code} [{' '.join(run.cited)}]"
                    for run in one.runs
                ),
            ],
            "error" if one.answer == "incomplete" else "failure",
            one.answer or "unmatched",
        )

    yield gate_suite(report.gates)
    yield Suite("questions", map(case, report.questions), decides=False)


def _blocks(report: TraceEvalReport) -> Iterator[Block]:
    recipe, covered = report.recipe, report.coverage
    wordings, seeds = pluralize(recipe.wordings, "wording"), pluralize(len(recipe.seeds), "seed")
    first = "the match rate is below its target: fix the codes before you tune retrieval"
    yield doc.Verdict(
        *verdict_text(report),
        notes=[f"{wordings} × {seeds} at temperature {recipe.temperature:g}"],
        meaning=[first] if report.codes_first else [],
    )
    yield from doc.gates(report.gates, report.metrics, phrasing.metric_names(report))
    yield audit.codes(report)
    yield from _states(report)
    if report.at_k:
        yield doc.table(
            report.at_k,
            {
                "leg": lambda one: names(one.leg or "all"),
                "k": lambda one: doc.count(one.k),
                "chunks": lambda one: doc.number(one.chunks),
                "coverage": lambda one: doc.number(one.coverage.value),
                "gold recall": lambda one: doc.number(one.gold_recall.value),
                Column("ΔS", right=True): lambda one: doc.number(one.deltaS.value),
            },
            title="k sweep",
            remark="what the first k retrieved chunks would bring",
            part="at_k",
            after=doc.listed(
                *dict.fromkeys(
                    score.reason
                    for one in report.at_k
                    for score in (one.coverage, one.gold_recall, one.deltaS)
                ),
                sep="; ",
            ),
        )
    if report.questions:
        yield _questions(report)
    yield from audit.rest(report)
    text = doc.listed(
        pluralize(covered.questions, "question"),
        f"{pluralize(covered.planned, 'run')} planned",
        f"{count(covered.runs)} made",
        covered.failed and f"{count(covered.failed)} failed",
        covered.missing and f"{count(covered.missing)} missing",
        covered.short and f"{pluralize(covered.short, 'question')} with too few wordings",
        report.out and f"saved in {report.out}",
    )
    yield doc.coverage(text, report.identity)


def verdict_text(report: TraceEvalReport) -> tuple[str, str]:
    """PASS or FAIL, how many questions converge, and how many answers cite the gold."""
    answers, over = report.states.get("answer", {}), report.counted()
    total = pluralize(sum(answers.values()), "question")
    text = doc.listed(
        f"{count(answers.get('convergent', 0))} of {total} convergent",
        over.answered and f"gold cited in {n_of(over.matched, over.answered)} answers",
        sep="; ",
    )
    return "PASS" if report.passed else "FAIL", text


def _states(report: TraceEvalReport) -> Iterator[Table]:
    """How many questions are in each state."""
    retrieval, answers = (report.states.get(which, {}) for which in ("retrieval", "answer"))
    most = max((*retrieval.values(), *answers.values()), default=1)

    def drawn(times: dict[str, int]) -> Callable[[LambdaState], Cell]:
        return lambda name: doc.plot(doc.Bar(times.get(name, 0) / most, MEANINGS[name][1]))

    if found := [name for name in STATES if retrieval.get(name) or answers.get(name)]:
        yield doc.table(
            found,
            {
                "state": _state,
                Column("", spare=1): lambda name: Cell(MEANINGS[name][0], tone="dim"),
                "retrieval": lambda name: doc.count(retrieval.get(name, 0)),
                Column("", plot=True): drawn(retrieval),
                "answers": lambda name: doc.count(answers.get(name, 0)),
                Column("", plot=True, key="answers"): drawn(answers),
            },
            title="Convergence (λ)",
            remark="questions by whether their runs agree",
            part="states",
        )


def _state(state: LambdaState | None) -> Cell:
    return Cell(state, state, MEANINGS[state][1], badge=state) if state else Cell(ABSENT)


def _questions(report: TraceEvalReport) -> Table:
    everyone = traced_questions(report)
    rows = everyone[:200]  # with more, a page is slow
    wrong = sum(not correct(one) for one in everyone)
    times = {outcome(run) for one in rows for run in one.runs}
    legend = [f"{mark} {means}" for name, (mark, _, means) in OUTCOMES.items() if name in times]

    def square(run: TracedRun) -> Square:
        name = outcome(run)
        mark, drawn, means = OUTCOMES[name]
        found = run.error or (run.code if name in ("code", "uncited") else " ".join(run.cited))
        return Square(drawn, mark, doc.listed(f"{run.run_id}: {means}", found, sep=": "))

    def runs(one: TracedQuestion) -> Cell:
        squares = [square(run) for run in one.runs]
        return Cell("".join(each.mark for each in squares), squares=squares)

    return doc.table(
        rows,
        {
            "question": lambda one: names(one.qid, to=("question", one.qid)),
            "retrieval": lambda one: _state(one.retrieval),
            "answers": lambda one: _state(one.answer),
            Column("breaks", spare=2): lambda one: Cell(one.broken or ""),
            "runs": runs,
            Column("match", right=True): lambda one: Cell(
                _matched(one), one.matched / one.answered if one.answered else None
            ),
            Column("coverage", right=True, spare=1): lambda one: doc.number(one.coverage),
        },
        note=codes_of,
        strong=_unsure,
        title="Questions",
        remark=f"{n_of(wrong, len(everyone))} not correct in every run, worst first",
        part="questions",
        shown=20,
        total=len(everyone),
        after=f"a mark is a run: {'; '.join(legend)}",
    )


def outcome(run: TracedRun) -> Outcome:
    if run.kind in ("error", "uncited"):
        return run.kind
    if run.code != OK:
        return "code"
    if run.kind == "refusal":
        return "refusal"
    return "matched" if run.matched else "unmatched"


def _unsure(one: TracedQuestion) -> bool:
    """Whether the runs of a question do not all agree."""
    return {one.answer, one.retrieval} - {"convergent", None} != set()


def correct(one: TracedQuestion) -> bool:
    """Whether its runs agree, hold, and cite the gold where there is one."""
    matches = not one.answerable or one.matched == one.answered
    return matches and not _unsure(one) and not codes_of(one)


def _matched(one: TracedQuestion) -> str:
    """`5 of 6`; a dash for a question without an answer."""
    return n_of(one.matched, one.answered) if one.answerable and one.answered else ABSENT


def codes_of(one: TracedQuestion) -> str:
    """The worst codes of its runs, the most frequent first: `missing_rev 3, not_retrieved 1`."""
    wrong = ((code, times) for code, times in by_count(one.codes) if code != OK)
    return ", ".join(f"{code} {count(times)}" for code, times in wrong)
