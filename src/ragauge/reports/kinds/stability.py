"""The report of `ragauge stability`: gates, a heat map, and the questions that are not stable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from ragauge.contracts.run import FACTORS, Variation
from ragauge.contracts.stability import (
    CELLS,
    STABILITIES,
    FactorEffect,
    QuestionStability,
    Shown,
    Stability,
    StabilityCoverage,
    StabilityReport,
    right_of,
)
from ragauge.gates.stability import MORE_RUNS
from ragauge.metrics.names import short_name
from ragauge.metrics.stability import METRICS
from ragauge.metrics.worst_first import NOT_UNSTABLE, swept_questions, unstable, worst_of_each
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, fact_lines, gate_suite
from ragauge.reports.document import Block, Document, Inline, Item, Span, foreign
from ragauge.reports.figures import heat_map as heat
from ragauge.reports.figures.heat_map import HeatMap, HeatRow, cell_meaning, verdict_name
from ragauge.reports.phrasing import ABSENT, count, pluralize
from ragauge.text.marks import Differing
from ragauge.text.visible import cut

KINDS: dict[Stability, Literal["error", "skipped"]] = {
    "incomplete": "error",
    "not_evaluated": "skipped",
}
"""The kind of test case for verdicts that are not failures."""

NUMBERS = (
    *("success", "acr", "cghc", "css", "css_all", "css_pairwise", "ned50", "agreement", "rcr"),
    *("refusal_rate", "scu_cons", "iaa", "error_rate"),
)
"""The numbers of a question, in the order they are shown."""
ROWS_SHOWN, QUESTIONS_ON_PAGES = 30, 200
"""Questions in a heat map of characters, and on a page: more would be slow to scroll."""
ANSWERS_SHOWN = 8

COUNTS = ("verdict", "answerable", "planned", "runs", "errors", "missing", "saved")
RATES = tuple(metric.name for metric in METRICS if metric.rate and metric.name != "scu_cons")
"""The numbers that may have an interval; a question is a single trial for `scu_cons`."""
COLUMNS = (
    "qid",
    *COUNTS,
    "right",
    *NUMBERS,
    *(f"{name}_{end}" for name in RATES for end in ("low", "high")),
    *("failed", "explained_by", "explanation"),
    *(f"{factor}_disagreement" for factor in FACTORS),
    *("prompts", "noop", "cells", "question", "retrieval"),
)


def document(report: StabilityReport) -> Document:
    return Document("stability", list(_blocks(report)))


def table(report: StabilityReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """A row for each question."""

    def row(qid: str, one: QuestionStability) -> Iterator[object]:
        yield qid
        yield from (getattr(one, name) for name in COUNTS)
        yield right_of(report.cells[qid])[0]
        yield from (getattr(one, name) for name in NUMBERS)
        for name in RATES:
            yield from one.ci.get(name, (None, None))
        yield "; ".join(one.failed)
        yield one.explained_by and one.explained_by.factor
        yield one.explained_by and one.explained_by.words
        for factor in FACTORS:
            effect = one.factors.get(factor)
            yield effect and effect.rate
        yield from (one.prompts, one.noop, report.cells[qid], one.question, one.retrieval)

    return COLUMNS, (row(qid, one) for qid, one in report.details.items())


def cases(report: StabilityReport) -> Iterator[Suite]:
    def case(qid: str) -> Case:
        one = report.details[qid]
        if one.verdict == "stable_pass":
            return Case(qid)
        why = one.explained_by.words if one.explained_by else None
        return Case(
            qid,
            doc.listed(one.verdict, "; ".join(one.failed), sep=": "),
            [
                *fact_lines({"question": one.question, "explained by": why}),
                *(
                    f"{CELLS.get(run.cell, run.cell)}: {run.error or run.claim} "
                    f"[{' '.join(run.cited)}] {run.run_id}"
                    for run in sorted(one.examples, key=lambda run: run not in two_runs(one))
                ),
                *fact_lines({"runs": report.cells[qid]}),
            ],
            KINDS.get(one.verdict, "failure"),
            one.verdict,
        )

    yield gate_suite(report.verdicts)
    yield Suite("questions", map(case, swept_questions(report)), decides=False)


def _blocks(report: StabilityReport) -> Iterator[Block]:
    yield doc.Verdict(*verdict_text(report))
    yield doc.Bars(
        title="Questions",
        heads=("verdict", "questions", "fraction"),
        bars=[
            (verdict, verdict_name(verdict), times, heat.VERDICT_TONES[verdict])
            for verdict, times in verdict_counts(report)
        ],
        part="labels",
    )
    names = {gate.metric: short_name(gate.metric) for gate in report.verdicts}
    gates = doc.gates(
        report.verdicts,
        {},
        names,
        remark="how many questions satisfy each",
        value=lambda gate: (
            ABSENT if gate.value is None else phrasing.n_of(round(gate.value * gate.n), gate.n)
        ),
    )
    yield from map(doc.without_empty_columns, gates)
    anchors = {qid: f"question-{rank}" for rank, qid in enumerate(swept_questions(report), 1)}
    total = sum(times for _, times in verdict_counts(report))

    def drawn(most: int) -> HeatMap:
        rows = [
            HeatRow(qid, report.details[qid].verdict, report.cells[qid], anchors[qid])
            for qid in worst_of_each(report, most)
        ]
        return HeatMap(report.columns, rows, total)

    if report.cells and report.columns:
        yield doc.Figure(
            drawn=lambda width: drawn(ROWS_SHOWN).lines(width),
            title="Heat map",
            remark=f"a row is a question over {pluralize(len(report.columns), 'run')}, worst first",
            page=lambda links: drawn(QUESTIONS_ON_PAGES).html(links),
            part="heatmap",
        )
    # A terminal and a comment begin with some of each verdict that is not stable.
    few = unstable(report, ANSWERS_SHOWN)
    qids = dict.fromkeys((*few, *worst_of_each(report, QUESTIONS_ON_PAGES)))
    answers = doc.Items(
        title="Answers",
        remark="the worst questions first; what two runs do not share is marked",
        items=doc.Lazy(
            lambda: [_item(report, qid, anchors[qid], opened=[qid] == few[:1]) for qid in qids]
        ),
        shown=len(few),
        total=total,
        everything="--report FILE.html shows them with their runs",
        folded=True,
        part="questions",
    )
    yield answers if few else doc.on_pages(answers, part="questions")
    if effects := factor_effects(report.factors):
        yield doc.table(
            effects,
            {
                "factor": lambda pair: doc.names(pair[0]),
                "disagree": lambda pair: doc.n_of(pair[1].differ, pair[1].pairs),
                "fraction": lambda pair: doc.percent(pair[1].differ, pair[1].pairs),
                "": lambda pair: doc.plot(doc.Bar(pair[1].rate or 0, "warm")),
            },
            title="What varies",
            remark="pairs of runs that differ in one factor alone",
            part="factors",
        )
    yield from doc.advice(report.advice)
    order = [f"stability.{name}" for name in ("stable", *NUMBERS)]
    means = {id: report.metrics[id] for id in order if id in report.metrics} | report.metrics
    shown = phrasing.short_names(means)
    if means:
        yield doc.scores(means, shown, title="Means over questions")
    yield doc.findings(report)
    yield from doc.glossary(means, shown)
    yield doc.coverage(coverage_text(report.coverage), report.identity)
    yield from doc.steps(next_steps(report))


def verdict_text(report: StabilityReport) -> tuple[str, str]:
    """PASS, FAIL or NOT EVALUATED, and the questions: `7 of 12 questions stable; 3 flaky, …`.

    Questions with a single run are not among those that are counted as stable or not.
    """
    word = "PASS" if report.passed else "FAIL"
    counts = dict(verdict_counts(report))
    total, stable = sum(counts.values()), counts.pop("stable_pass", 0)
    single = counts.pop("not_evaluated", 0)
    if single and report.verdicts[0].verdict == "not_evaluated":
        word = phrasing.gate_word(report.verdicts[0])
    if single and single == total:
        text = pluralize(total, "question has", "questions have")
        return word, f"{text} one run each, and stability needs two or more: {MORE_RUNS}"
    others = doc.listed(
        *(f"{count(times)} {verdict_name(name)}" for name, times in counts.items()),
        single and f"{count(single)} of {count(total)} not evaluated (one run each)",
    )
    text = f"{count(stable)} of {pluralize(total - single, 'question')} stable"
    return word, doc.listed(text, others, word == "NOT EVALUATED" and MORE_RUNS, sep="; ")


def verdict_counts(report: StabilityReport) -> list[tuple[Stability, int]]:
    """The verdicts that occur and how many questions have each, also those without a row."""
    return [(name, report.totals[name]) for name in STABILITIES if report.totals.get(name)]


def cost_text(coverage: StabilityCoverage) -> str:
    """What the sweep cost: `240 runs planned: 231 made, 3 failed, 4 saved`."""
    parts = doc.listed(
        f"{count(coverage.runs)} made",
        coverage.errors and f"{count(coverage.errors)} failed",
        coverage.missing and f"{count(coverage.missing)} missing",
        coverage.saved and f"{count(coverage.saved)} saved",
    )
    return f"{pluralize(coverage.planned, 'run')} planned: {parts}"


def _item(report: StabilityReport, qid: str, anchor: str, opened: bool) -> Item:
    """A question: why it is not stable, and two of its runs; on a page one run per outcome."""
    one, pair = report.details[qid], two_runs(report.details[qid])
    others, differing = [run for run in one.examples if run not in pair], Differing()

    def card(run: Shown) -> doc.Card:
        """What was sent, answered and cited; what the run next to it lacks is marked."""
        other = pair[-1] if run is pair[0] else pair[0]
        sent = run.question_sent if run.question_sent != one.question else None
        varied = variation_text(run.variation, report.columns)
        answer = differing(run.error or run.claim, other.error or other.claim)
        ids = [(cut(id, heat.LONGEST_ID), id not in other.cited) for id in run.cited]
        cited = doc.marked(ids, " ") or ([] if run.error else [Span("nothing", "dim")])
        return doc.Card(
            [Span(f"{cell_meaning(run.cell)}: "), Span(varied, "dim", foreign=True)],
            [
                ("sent", doc.marked(differing(sent or "", other.question_sent or ""))),
                ("error" if run.error else "answer", doc.marked(answer)),
                ("cited", cited),
            ],
            mark=(run.cell, heat.cell_class(run.cell)),
        )

    why: list[tuple[str, Inline]] = [
        ("fails", foreign("; ".join(one.failed))),
        ("explained by", foreign(one.explained_by.words if one.explained_by else None)),
        ("other outcomes", "; ".join(cell_meaning(run.cell) for run in others)),
    ]
    blocks: list[Block] = [doc.Facts(why), doc.Cards(list(map(card, pair)))]
    if others:
        blocks.append(doc.on_pages(doc.Cards(list(map(card, others)))))
    return Item(
        name=qid,
        badge=(one.verdict, verdict_name(one.verdict), heat.VERDICT_TONES[one.verdict]),
        about=one.question,
        aside=f"{phrasing.n_of(*right_of(report.cells[qid]))} correct",
        blocks=blocks,
        opened=opened,
        to=("question", qid),
        anchor=anchor,
    )


def two_runs(question: QuestionStability) -> tuple[Shown, ...]:
    """The commonest run and the one that differs most clearly from it: an answer if possible."""
    first, others = question.examples[:1], question.examples[1:]
    return (*first, *sorted(others, key=lambda run: run.cell in "!?")[:1])


def variation_text(variation: Variation, columns: Sequence[Variation]) -> str:
    """The levels of a run, of the factors that vary between runs.

    >>> columns = [Variation(seed=0, jitter="ws"), Variation(seed=1)]
    >>> variation_text(columns[1], columns), variation_text(columns[1], columns[1:])
    ('seed 1, jitter none', 'the only run')
    """
    known = heat.varying(columns)
    levels = (f"{one} {heat.level(getattr(variation, one))}" for one in FACTORS if one in known)
    return ", ".join(levels) or "the only run"


def factor_effects(factors: dict[str, FactorEffect]) -> list[tuple[str, FactorEffect]]:
    """The factors that vary, the most important first.

    Chance comes first where another factor does not disagree more often: runs at two temperatures
    differ by chance as well.
    """
    known = [(name, factors[name]) for name in FACTORS if name in factors and factors[name].pairs]
    return sorted(known, key=lambda pair: -(pair[1].rate or 0))


def coverage_text(coverage: StabilityCoverage) -> str:
    """How much was run, in one line; zero counts are left out."""
    return doc.listed(
        f"{count(coverage.questions)} of {pluralize(coverage.gold, 'gold question')} run",
        cost_text(coverage),
        coverage.single
        and f"{pluralize(coverage.single, 'question')} not evaluated (one run each)",
        coverage.surplus and f"{pluralize(coverage.surplus, 'surplus line')}",
        coverage.unknown and f"{pluralize(coverage.unknown, 'run')} of unknown questions",
        coverage.rejected and pluralize(coverage.rejected, "rejected line"),
        sep="; ",
    )


def next_steps(report: StabilityReport) -> Iterator[str]:
    """What to look at next, in sentences."""
    coverage = report.coverage
    if lost := coverage.errors + coverage.missing:
        again = pluralize(lost, "run")
        yield f"Run the sweep again: it resumes with the {again} that failed or are missing."
    if coverage.single:
        one = pluralize(coverage.single, "question has", "questions have")
        yield f"Make more runs: {one} one run and cannot be evaluated; {MORE_RUNS}."
    if blamed := report.counted().blamed:
        effects = (name for name, _ in factor_effects(report.factors))
        first = next((name for name in effects if name in blamed), min(blamed))
        bad = sum(n for name, n in verdict_counts(report) if name not in NOT_UNSTABLE)
        of = pluralize(bad, "question that is not stable", "questions that are not stable")
        yield f"Start with the {first}: it explains {count(blamed[first])} of {of}."
