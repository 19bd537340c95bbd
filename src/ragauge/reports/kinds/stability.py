"""The report of `ragauge stability`: gates, a heat map, and the questions that are not stable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from typing import Any, Literal

from ragauge.contracts.run import FACTORS, Variation
from ragauge.contracts.stability import (
    STABILITIES,
    FactorEffect,
    OverQuestions,
    QuestionStability,
    Shown,
    Stability,
    StabilityCoverage,
    StabilityReport,
)
from ragauge.contracts.verdict import Verdict
from ragauge.gates.stability import MORE_RUNS
from ragauge.metrics.names import long_name, short_name
from ragauge.metrics.stability import METRICS
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.differences import LONGEST, marked_spans, spans
from ragauge.reports.document import Block, Cell, Column, Document, Item, Items, Span, Table, theirs
from ragauge.reports.figures.heat_map import (
    LONGEST_ID,
    VERDICT_TONES,
    HeatMap,
    HeatRow,
    class_of,
    level,
    outcome,
    right_of,
    varying,
    verdict_name,
)
from ragauge.reports.foreign import cut
from ragauge.reports.formats import github, junit
from ragauge.reports.numbers import count, counted, share

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
    "success": "runs with the correct claim and citations, or a correct refusal",
    "acr": "runs with the correct claim",
    "cghc": "runs with the correct citations",
    "css": "cited ids that every answer cites",
    "css_all": "cited ids that every run cites",
    "css_pairwise": "overlap of the ids that two answers cite",
    "ned50": "how much the wording changes (median)",
    "agreement": "content that two answers share",
    "rcr": "runs that do the same: refuse or answer",
    "refusal_rate": "runs that refuse",
    "scu_cons": "questions whose answers all repeat the locked constraints",
    "iaa": "pairs of runs that agree",
    "error_rate": "runs that failed",
}
"""What each number counts, in the few words a table has room for."""
NUMBERS = tuple(name for name in MEANINGS if name in QuestionStability.__struct_fields__)
"""The numbers of a question, in the order they are shown."""
RESTRICTIONS = {
    "": "all",
    "where answerable=true": "answerable",
    "where answerable=false": "unanswerable",
}
"""The questions that a gate is about."""

ROWS_SHOWN, QUESTIONS_ON_PAGES = 30, 200
"""Questions in a heat map of characters, and on a page: with more it would be slow to scroll."""
IN_FULL = {"text": (8, 400), "markdown": (25, 200)}
"""The questions that are shown with their runs, and the characters of an answer."""

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


def excerpt(report: StabilityReport, qids: Sequence[str]) -> Document:
    """The verdict, and the runs and answers of these questions alone."""
    blocks = [*_verdict(report), *(_heat_map(report, qids) if qids else ())]
    items = _items(report, qids, IN_FULL["text"][1])
    return Document("stability", [*blocks, Items(title="Answers", items=items, shown=len(items))])


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


def cases(report: StabilityReport) -> Iterator[junit.Suite]:
    """A suite of gates and one of questions.

    The fraction of stable questions decides: in a run that passed, nothing turns CI red.
    """

    def gate_problem(gate: Verdict) -> junit.Problem | None:
        word, held, note = envelope.gate_word(gate).lower(), _held(gate), _note(gate)
        if word == "pass":
            return None
        found = word if held is None else f"holds for {held} of {gate.n} questions"
        message = doc.listed(f"{_bounded(gate)} {found}", note, sep=": ")
        if gate.holds or report.passed:
            return junit.Problem("skipped", message)
        return junit.Problem("error" if held is None else "failure", message, word)

    def problem(qid: str) -> junit.Problem | None:
        one = report.details[qid]
        if one.verdict == "stable_pass":
            return None
        skipped = report.passed or one.verdict == "not_evaluated"
        facts = {
            "question": one.question,
            "explained by": one.explained_by.words if one.explained_by else None,
            "runs": report.cells[qid],
        }
        runs = (
            f"{run.run_id} {outcome(run.cell)}: {run.error or run.claim} [{' '.join(run.cited)}]"
            for run in one.examples
        )
        return junit.Problem(
            "skipped" if skipped else "error" if one.verdict == "incomplete" else "failure",
            doc.listed(one.verdict, "; ".join(one.failed), sep=": "),
            one.verdict,
            (*junit.facts(facts), *runs),
        )

    yield junit.Suite("gates", (junit.Case(one.rule, gate_problem(one)) for one in report.verdicts))
    yield junit.Suite("questions", (junit.Case(qid, problem(qid)) for qid in report.details))


def notes(report: StabilityReport) -> Iterator[github.Notes]:
    """The verdict, the gates that stop the run, the questions that are not stable."""

    def said(gate: Verdict) -> str:
        held, note = _held(gate), _note(gate)
        words = f"{envelope.gate_word(gate)}: {_bounded(gate)}"
        if held is not None:
            words += f" holds for {held} of {counted(gate.n, 'question')}"
        return f"{words} ({note})" if note else words

    def warning(one: QuestionStability) -> list[str]:
        lines = [
            "; ".join(one.failed),
            one.explained_by.words if one.explained_by else "",
            *(
                f"{outcome(run.cell)}: {github.cut(run.error or run.claim)}"
                for run in two_runs(one)
            ),
        ]
        return lines if any(lines) else [one.verdict]

    word, words = verdict_words(report)
    about = [words, cost_words(report.coverage)]
    yield github.Notes([github.Note("notice", about, f"Ragauge stability {word}")])
    # With enough stable questions the run passes, whatever the others fail.
    kind: Literal["warning", "error"] = "warning" if report.passed else "error"
    stopping = [gate for gate in report.verdicts if not gate.holds]
    yield github.Notes(
        [github.Note(kind, said(gate), f"gate {gate.rule}") for gate in stopping], "gate"
    )
    some = {qid: report.details[qid] for qid in some_unstable(report, github.SHOWN)}
    yield github.Notes(
        [github.Note("warning", warning(one), f"{one.verdict} {qid}") for qid, one in some.items()],
        "question",
        len(unstable(report)),
    )


def _blocks(report: StabilityReport) -> Iterator[Block]:
    yield from _verdict(report)
    if report.verdicts:
        yield _gates(report.verdicts)
    yield from _heat_map(report)
    yield from _questions(report)
    yield from _effects(
        report.factors, title="What varies", remark="pairs of runs that differ in one factor alone"
    )
    yield from _without_effect(report)
    yield doc.Advices(report.advice)
    if report.metrics:
        shown = envelope.short_names(report.metrics)
        places = {f"stability.{name}": place for place, name in enumerate(MEANINGS)}
        ids = sorted(report.metrics, key=lambda one: (places.get(one, len(places)), one))
        yield doc.scores(
            {id: report.metrics[id] for id in ids},
            {id: long_name(id, shown[id]) for id in ids},
            title="Means over questions",
            meanings={id: MEANINGS.get(short_name(id), "") for id in ids},
        )
    yield doc.findings(report)
    yield doc.Coverage(coverage_words(report.coverage), report.identity)
    yield doc.Steps(list(next_steps(report)))


def _verdict(report: StabilityReport) -> Iterator[Block]:
    yield doc.Verdict(*verdict_words(report), meaning=[cost_words(report.coverage)])
    yield doc.Bars(
        title="Questions",
        heads=("verdict", "questions"),
        bars=[
            (verdict, verdict_name(verdict), times, VERDICT_TONES[verdict])
            for verdict, times in verdict_counts(report)
        ],
        part="labels",
    )


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
        words = counted(total, "question has", "questions have")
        return word, f"{words} one run each, and stability needs two or more: {MORE_RUNS}"
    others = doc.listed(
        *(f"{count(times)} {verdict_name(name)}" for name, times in counts.items()),
        single and f"{count(single)} of {count(total)} not evaluated (one run each)",
    )
    words = f"{count(stable)} of {counted(total - single, 'question')} stable"
    return word, doc.listed(words, others, word == "NOT EVALUATED" and MORE_RUNS, sep="; ")


def verdict_counts(report: StabilityReport) -> list[tuple[Stability, int]]:
    """The verdicts that occur and how many questions have each."""
    return [(name, report.totals[name]) for name in STABILITIES if report.totals.get(name)]


def cost_words(coverage: StabilityCoverage | QuestionStability) -> str:
    """What the sweep cost: `240 runs planned: 231 made, 3 failed, 4 saved`."""
    parts = doc.listed(
        f"{count(coverage.runs)} made",
        coverage.errors and f"{count(coverage.errors)} failed",
        coverage.missing and f"{count(coverage.missing)} missing",
        coverage.saved and f"{count(coverage.saved)} saved",
    )
    return f"{counted(coverage.planned, 'run')} planned: {parts}"


def _gates(given: Iterable[Verdict]) -> Table:
    def where(gate: Verdict) -> Cell:
        asked = numbers.restriction(gate).removeprefix("per question").strip()
        return Cell(RESTRICTIONS.get(asked, asked), tone="dim", foreign=True)

    def held(gate: Verdict) -> tuple[int, int]:
        holds = _held(gate)
        return (0, 0) if holds is None else (holds, gate.n)

    def drawn(gate: Verdict) -> Cell:
        holds, of = held(gate)
        return doc.plot(doc.Bar(holds / of, "good" if gate.holds else "bad") if of else None)

    return doc.table(
        given,
        {
            "metric": lambda gate: _metric(gate.metric),
            Column("bound", spare=2): lambda gate: Cell(
                numbers.bound(gate), gate.bound, foreign=True
            ),
            Column("questions", spare=3): where,
            Column("hold", right=True, spare=1): lambda gate: doc.n_of(*held(gate)),
            Column("fraction", right=True, spare=4): lambda gate: doc.share(*held(gate)),
            Column("", plot=True): drawn,
            "verdict": doc.gate_word,
        },
        note=_note,
        strong=lambda gate: not gate.holds,
        title="Gates",
        remark="how many questions satisfy each",
        part="gates",
    )


def _metric(id: str) -> Cell:
    return Cell(long_name(id), id, foreign=True, to=("metric", id))


def _held(gate: Verdict) -> int | None:
    """How many questions satisfy a gate; None where it was not evaluated or does not apply."""
    judged = gate.value is not None and gate.verdict in ("pass", "fail")
    return round((gate.value or 0) * gate.n) if judged else None


def _bounded(gate: Verdict) -> str:
    return f"{short_name(gate.metric)} {numbers.bound(gate)}"


def _note(gate: Verdict) -> str:
    optional = gate.optional and gate.verdict == "not_evaluated"
    return doc.listed(optional and "optional", gate.reason, sep="; ")


def _heat_map(report: StabilityReport, qids: Sequence[str] = ()) -> Iterator[doc.Figure]:
    """These questions, or the worst of each verdict."""
    if not report.cells or not report.columns:
        return
    runs = counted(len(report.columns), "run")
    total = _total(report)

    def drawn(most: int) -> HeatMap:
        some = qids or most_telling(report, most)
        questions = counted(len(report.details), "question")
        rest = f"{numbers.n_of(len(some), total)} questions are shown"
        return HeatMap(
            columns=report.columns,
            rows=[
                HeatRow(qid, rank, report.details[qid].verdict, report.cells[qid])
                for qid, rank in _with_ranks(report, some)
            ],
            about=f"Heat map of {questions} by {runs}: {verdict_words(report)[1]}",
            rest=rest if len(some) < total else "",
        )

    yield doc.Figure(
        lambda width: drawn(ROWS_SHOWN).lines(width),
        "Heat map",
        f"a row is a question over {runs}, the worst first",
        lambda links: drawn(QUESTIONS_ON_PAGES).svg(links),
        part="heatmap",
    )


def _with_ranks(report: StabilityReport, qids: Sequence[str]) -> list[tuple[str, int]]:
    """Questions with their places among all, the worst first."""
    ranks = {qid: rank for rank, qid in enumerate(ranked(report), 1)}
    return [(qid, ranks[qid]) for qid in qids]


def ranked(report: StabilityReport) -> list[str]:
    """The questions, the worst first: by verdict, by the fraction of right runs, by qid."""

    def badness(qid: str) -> tuple[int, float, str]:
        right, of = right_of(report.cells[qid])
        return WORST_FIRST.index(report.details[qid].verdict), right / of if of else 0, qid

    return sorted(report.details, key=badness)


def unstable(report: StabilityReport) -> list[str]:
    """The questions that do not pass, the worst first."""
    return [qid for qid in ranked(report) if report.details[qid].verdict not in NOT_UNSTABLE]


def some_unstable(report: StabilityReport, most: int) -> list[str]:
    """At most this many of them, some of each verdict."""
    found = groupby(unstable(report), key=lambda qid: report.details[qid].verdict)
    return envelope.some_of_each([list(qids) for _, qids in found], most)


def most_telling(report: StabilityReport, most: int) -> list[str]:
    """At most this many questions, the worst first: some of each bad verdict, then the others."""
    bad = some_unstable(report, most)
    stable = [qid for qid in ranked(report) if report.details[qid].verdict in NOT_UNSTABLE]
    return bad + stable[: most - len(bad)]


def _total(report: StabilityReport) -> int:
    """All questions: some count in the totals and have no row in the report."""
    return sum(times for _, times in verdict_counts(report))


def _questions(report: StabilityReport) -> Iterator[doc.Only]:
    """A terminal and a comment show some that are not stable, a page nearly every question."""
    bad = len(unstable(report))
    for form, (most, longest) in IN_FULL.items() if bad else ():
        some = some_unstable(report, most)
        listed = Items(
            title="Questions that are not stable",
            items=doc.Deferred(partial(_items, report, some, longest)),
            shown=most,
            total=bad,
            everything="--report FILE.html shows them with their runs",
            folded=True,
        )
        yield doc.Only(frozenset({form}), [listed])
    some = most_telling(report, QUESTIONS_ON_PAGES)
    yield doc.on_pages(
        Items(
            title="Questions",
            remark="the worst first; what two runs do not share is marked",
            items=doc.Deferred(partial(_items, report, some, LONGEST, in_full=True)),
            total=_total(report),
        ),
        part="questions",
    )


def _items(
    report: StabilityReport, qids: Sequence[str], longest: int, *, in_full: bool = False
) -> list[Item]:
    """Questions: why they are not stable, and two of their runs with what differs marked.

    In full, on a page, they have all runs that are kept and their numbers, and the worst is open.
    """
    details = report.details
    bad = [qid for qid in qids if details[qid].verdict not in NOT_UNSTABLE]
    compared = [qid for qid in bad if len(details[qid].examples) > 1]
    opened = next(iter(compared or bad), None) if in_full else None
    items = []
    for qid, rank in _with_ranks(report, qids):
        one = details[qid]
        why = [
            ("fails", theirs("; ".join(one.failed))),
            ("explained by", theirs(one.explained_by.words if one.explained_by else None)),
        ]
        runs = one.examples if in_full else two_runs(one)
        # The first run is compared with the second, and each other one with the first.
        others = [*runs[1:2], *(runs[:1] * (len(runs) - 1))] if len(runs) > 1 else runs
        cards = [
            _card(report, one, run, other, longest, in_full=in_full)
            for run, other in zip(runs, others, strict=True)
        ]
        blocks: list[Block] = [doc.Facts(why), doc.Cards(cards)]
        also = doc.listed(*(outcome(run.cell) for run in one.examples if run not in runs), sep="; ")
        blocks += [doc.Text(f"also: {also}", "dim")] if also else []
        blocks += _numbers(one, report.profile) if in_full else []
        items.append(
            Item(
                name=qid,
                badge=(one.verdict, verdict_name(one.verdict), VERDICT_TONES[one.verdict]),
                about=one.question,
                aside=f"{numbers.n_of(*right_of(report.cells[qid]))} right",
                blocks=blocks,
                opened=qid == opened,
                to=("question", qid),
                anchor=f"question-{rank}" if in_full else "",
            )
        )
    return items


def _card(
    report: StabilityReport,
    one: QuestionStability,
    run: Shown,
    other: Shown,
    longest: int,
    *,
    in_full: bool,
) -> doc.Card:
    """What a run sent, answered and cited; what the other one does not have is marked."""
    sent = run.question_sent if run.question_sent != one.question else None
    answer = marked_spans(run.error or run.claim, other.error or other.claim, longest)
    cited = spans(((cut(id, LONGEST_ID), id not in other.cited) for id in run.cited), " ")
    return doc.Card(
        [
            Span(f"{outcome(run.cell)}: "),
            Span(variation_words(run.variation, report.columns), "dim", foreign=True),
        ],
        [
            ("sent", marked_spans(sent or "", other.question_sent or "", longest)),
            ("error" if run.error else "answer", answer),
            ("cited", cited or ([] if run.error else [Span("nothing", "dim")])),
            ("run", theirs(run.run_id if in_full else "")),
        ],
        mark=(run.cell, class_of(run.cell)),
    )


def two_runs(question: QuestionStability) -> tuple[Shown, ...]:
    """The commonest run and the one that differs most clearly from it: an answer if possible."""
    first, others = question.examples[:1], question.examples[1:]
    return (*first, *sorted(others, key=lambda run: run.cell in "!?")[:1])


def variation_words(variation: Variation, columns: Sequence[Variation]) -> str:
    """What of a run's variation can differ from another's.

    >>> columns = [Variation(seed=0, jitter="ws"), Variation(seed=1)]
    >>> variation_words(columns[1], columns), variation_words(columns[1], columns[1:])
    ('seed 1, jitter none', 'the only run')
    """
    known = varying(columns)
    levels = (f"{one} {level(getattr(variation, one))}" for one in FACTORS if one in known)
    return ", ".join(levels) or "the only run"


def _numbers(one: QuestionStability, profile: str) -> Iterator[Block]:
    """The metrics of a question, what varies in it, and what it cost."""

    def meaning(name: str) -> Cell:
        # In the reference profile the css of a question is over all runs.
        over_all = name == "css" and profile == "reference"
        return Cell(MEANINGS["css_all" if over_all else name], tone="dim")

    def drawn(name: str) -> Cell:
        return doc.plot(doc.Range(getattr(one, name), one.ci.get(name)))

    yield doc.table(
        NUMBERS,
        {
            "metric": lambda name: _metric(f"stability.{name}"),
            Column("", spare=1): meaning,
            Column("value", right=True): lambda name: doc.number(getattr(one, name)),
            Column("", plot=True): drawn,
            "95 % interval": lambda name: doc.interval(one.ci.get(name)),
        },
        note=lambda name: one.reasons.get(name, "") if getattr(one, name) is None else "",
    )
    yield from _effects(one.factors)
    prompts = counted(one.prompts, "distinct prompt")
    idle = [Span("; without effect: "), *theirs(", ".join(one.noop))] if one.noop else []
    yield doc.Text([Span(f"{cost_words(one)}; {prompts}"), *idle], "dim")


def _effects(factors: dict[str, FactorEffect], **about: Any) -> Iterator[Table]:
    effects = dict(factor_effects(factors))
    if effects:
        pairs = {name: (effect.differ, effect.pairs) for name, effect in effects.items()}
        yield doc.table(
            effects,
            {
                "factor": doc.names,
                Column("disagree", right=True): lambda name: doc.n_of(*pairs[name]),
                Column("fraction", right=True): lambda name: doc.share(*pairs[name]),
                "": lambda name: doc.plot(doc.Bar(effects[name].rate or 0, "warm")),
            },
            part="factors",
            **about,
        )


def factor_effects(factors: dict[str, FactorEffect]) -> list[tuple[str, FactorEffect]]:
    """The factors that vary, the one that matters most first.

    Chance comes first where another factor does not disagree more often: runs at two temperatures
    differ by chance as well.
    """
    known = [(name, factors[name]) for name in FACTORS if name in factors and factors[name].pairs]
    return sorted(known, key=lambda pair: -(pair[1].rate or 0))


def _without_effect(report: StabilityReport) -> Iterator[Block]:
    """How many texts were sent for a question, and the jitters that changed nothing."""
    over = over_questions(report)
    if over.noops:
        low, middle, high = over.prompts
        prompts = f"{counted(middle, 'distinct prompt')} per question"
        prompts += "" if low == high else f" (median; {low} to {high})"
        words = [Span(f"{prompts}. Jitters that change nothing are not run: ")]
        for jitter, times in sorted(over.noops.items(), key=lambda pair: (-pair[1], pair[0])):
            words += [*theirs(jitter), Span(f" in {count(times)}"), Span(", ")]
        words[-1] = Span(f" of {counted(_total(report), 'question')}.")
        yield doc.Text(words, "dim", part="factors")


def over_questions(report: StabilityReport) -> OverQuestions:
    """What the report counts over its questions; counted from its list where it is older."""
    if report.over_questions is not None:
        return report.over_questions
    known = report.details.values()
    return OverQuestions.of(
        (one.prompts for one in known),
        (jitter for one in known for jitter in one.noop),
        (factor for one in known if (factor := one.blamed)),
    )


def coverage_words(coverage: StabilityCoverage) -> str:
    """How much was run, in one line; what is zero is not said."""
    return doc.listed(
        f"{count(coverage.questions)} of {counted(coverage.gold, 'gold question')} run",
        cost_words(coverage),
        coverage.single and f"{counted(coverage.single, 'question')} not evaluated (one run each)",
        coverage.surplus and f"{counted(coverage.surplus, 'surplus line')}",
        coverage.unknown and f"{counted(coverage.unknown, 'run')} of unknown questions",
        coverage.rejected and counted(coverage.rejected, "rejected line"),
        sep="; ",
    )


def next_steps(report: StabilityReport) -> Iterator[str]:
    """What to look at next, in sentences."""
    coverage = report.coverage
    if lost := coverage.errors + coverage.missing:
        again = counted(lost, "run")
        yield f"Run the sweep again: it resumes with the {again} that failed or are missing."
    if coverage.single:
        one = counted(coverage.single, "question has", "questions have")
        yield f"Make more runs: {one} one run and cannot be evaluated; {MORE_RUNS}."
    if blamed := over_questions(report).blamed:
        effects = dict(factor_effects(report.factors))
        first = next((name for name in effects if name in blamed), min(blamed))
        rates = [
            f"{share(effect.differ, effect.pairs)} for {name}"
            for name, effect in effects.items()
            if name == first or effect.differ
        ]
        bad = sum(n for name, n in verdict_counts(report) if name not in NOT_UNSTABLE)
        of = counted(bad, "question that is not stable", "questions that are not stable")
        yield f"Start with the {first}: it explains {count(blamed[first])} of {of}."
        if len(rates) > 1:
            yield f"Run pairs that differ in one factor alone disagree: {', '.join(rates)}."
    compared = [qid for qid in unstable(report) if len(report.details[qid].examples) > 1]
    if compared:
        yield f"Compare the two answers to {compared[0]}."
