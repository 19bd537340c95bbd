"""The report of `ragauge stability`: gates, a heat map, and the questions that are not stable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from ragauge.contracts.report import Score
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
from ragauge.reports.differences import LONGEST, marked_spans
from ragauge.reports.document import Block, Cell, Document, Item, Items, Row, Span, Table, theirs
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
    return COLUMNS, (_csv_row(qid, one, report.cells[qid]) for qid, one in report.details.items())


def _csv_row(qid: str, one: QuestionStability, cells: str) -> Iterator[object]:
    yield qid
    yield from (getattr(one, name) for name in COUNTS)
    yield right_of(cells)[0]
    yield from (getattr(one, name) for name in NUMBERS)
    for name in RATES:
        yield from one.ci.get(name, (None, None))
    yield "; ".join(one.failed)
    yield one.explained_by and one.explained_by.factor
    yield one.explained_by and one.explained_by.words
    for factor in FACTORS:
        effect = one.factors.get(factor)
        yield effect and effect.rate
    yield from (one.prompts, one.noop, cells, one.question, one.retrieval)


def cases(report: StabilityReport) -> Iterator[junit.Suite]:
    """A suite of gates and one of questions.

    The fraction of stable questions decides: in a run that passed, nothing turns CI red.
    """
    yield junit.Suite("gates", (_gate_case(gate, report.passed) for gate in report.verdicts))
    yield junit.Suite("questions", (_question_case(report, qid) for qid in report.details))


def _gate_case(gate: Verdict, passed: bool) -> junit.Case:
    word, held, note = envelope.gate_word(gate).lower(), _held(gate), _note(gate)
    if word == "pass":
        return junit.Case(gate.rule)
    message = word if held is None else f"holds for {held} of {gate.n} questions"
    message = f"{_bounded(gate)} {message}: {note}" if note else f"{_bounded(gate)} {message}"
    if gate.holds or passed:
        return junit.Case(gate.rule, junit.Problem("skipped", message))
    kind = junit.Problem("error" if held is None else "failure", message, word)
    return junit.Case(gate.rule, kind)


def _question_case(report: StabilityReport, qid: str) -> junit.Case:
    one = report.details[qid]
    if one.verdict == "stable_pass":
        return junit.Case(qid)
    skipped = report.passed or one.verdict == "not_evaluated"
    failed = "; ".join(one.failed)
    facts = {
        "question": one.question,
        "explained by": one.explained_by.words if one.explained_by else None,
        "runs": report.cells[qid],
    }
    runs = (
        f"{run.run_id} {outcome(run.cell)}: {run.error or run.claim} [{' '.join(run.cited)}]"
        for run in one.examples
    )
    return junit.Case(
        qid,
        junit.Problem(
            "skipped" if skipped else "error" if one.verdict == "incomplete" else "failure",
            f"{one.verdict}: {failed}" if failed else one.verdict,
            one.verdict,
            (*junit.facts(facts), *runs),
        ),
    )


def notes(report: StabilityReport) -> Iterator[github.Notes]:
    """The verdict, the gates that stop the run, the questions that are not stable."""
    word, words = verdict_words(report)
    about = [words, cost_words(report.coverage)]
    yield github.Notes([github.Note("notice", about, f"Ragauge stability {word}")])
    yield github.Notes(
        [
            # With enough stable questions the run passes, whatever the others fail.
            github.Note("warning" if report.passed else "error", _said(gate), f"gate {gate.rule}")
            for gate in report.verdicts
            if not gate.holds
        ],
        "gate",
    )
    yield github.Notes(
        [
            github.Note("warning", _warning(one), f"{one.verdict} {qid}")
            for qid in some_unstable(report, github.SHOWN)
            for one in (report.details[qid],)
        ],
        "question",
        len(unstable(report)),
    )


def _said(gate: Verdict) -> str:
    held, note = _held(gate), _note(gate)
    said = f"{envelope.gate_word(gate)}: {_bounded(gate)}"
    if held is not None:
        said += f" holds for {held} of {counted(gate.n, 'question')}"
    return f"{said} ({note})" if note else said


def _warning(one: QuestionStability) -> list[str]:
    lines = [
        "; ".join(one.failed),
        one.explained_by.words if one.explained_by else "",
        *(f"{outcome(run.cell)}: {github.cut(run.error or run.claim)}" for run in two_runs(one)),
    ]
    return lines if any(lines) else [one.verdict]


def _blocks(report: StabilityReport) -> Iterator[Block]:
    yield from _verdict(report)
    yield from _gates(report)
    yield from _heat_map(report)
    yield from _questions(report)
    yield from _factors(report)
    yield doc.Advices(report.advice)
    if report.metrics:
        shown = envelope.short_names(report.metrics)
        yield doc.scores(
            means(report),
            {id: long_name(id, shown[id]) for id in report.metrics},
            title="Means over questions",
            meanings={id: MEANINGS.get(short_name(id), "") for id in report.metrics},
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


def cost_words(coverage: StabilityCoverage | QuestionStability) -> str:
    """What the sweep cost: `240 runs planned: 231 made, 3 failed, 4 saved`."""
    parts = [
        f"{count(coverage.runs)} made",
        coverage.errors and f"{count(coverage.errors)} failed",
        coverage.missing and f"{count(coverage.missing)} missing",
        coverage.saved and f"{count(coverage.saved)} saved",
    ]
    return f"{counted(coverage.planned, 'run')} planned: {', '.join(p for p in parts if p)}"


def _gates(report: StabilityReport) -> Iterator[Table]:
    if not report.verdicts:
        return
    yield Table(
        title="Gates",
        remark="how many questions satisfy each",
        part="gates",
        columns=doc.columns(
            *("metric", "bound", "questions", "hold", "fraction", "plot", "verdict"),
            right=("hold", "fraction"),
            plots=("plot",),
            spare=("fraction", "questions", "bound", "hold"),
        ),
        rows=[_gate(gate) for gate in report.verdicts],
    )


def _gate(gate: Verdict) -> Row:
    held = _held(gate)
    where = numbers.restriction(gate).removeprefix("per question").strip()
    fraction = None if held is None or not gate.n else held / gate.n
    bar = None if fraction is None else doc.Bar(fraction, "good" if gate.holds else "bad")
    return Row(
        (
            Cell(long_name(gate.metric), gate.metric, foreign=True, to=("metric", gate.metric)),
            Cell(numbers.bound(gate), gate.bound, foreign=True),
            Cell(RESTRICTIONS.get(where, where), tone="dim", foreign=True),
            Cell(numbers.ABSENT if fraction is None else numbers.n_of(held or 0, gate.n), held),
            Cell(numbers.ABSENT if held is None else share(held, gate.n), fraction, "dim"),
            doc.plot(bar),
            doc.gate_word(gate),
        ),
        _note(gate),
        strong=not gate.holds,
    )


def _held(gate: Verdict) -> int | None:
    """How many questions satisfy a gate; None where it was not evaluated or does not apply."""
    judged = gate.value is not None and gate.verdict in ("pass", "fail")
    return round((gate.value or 0) * gate.n) if judged else None


def _bounded(gate: Verdict) -> str:
    return f"{short_name(gate.metric)} {numbers.bound(gate)}"


def _note(gate: Verdict) -> str:
    optional = "optional" if gate.optional and gate.verdict == "not_evaluated" else ""
    return "; ".join(filter(None, (optional, gate.reason)))


def _heat_map(report: StabilityReport, qids: Sequence[str] = ()) -> Iterator[doc.Figure]:
    """These questions, or the worst of each verdict."""
    if not report.cells or not report.columns:
        return
    runs = counted(len(report.columns), "run")
    total = len(report.details) + left_out(report)

    def drawn(most: int) -> HeatMap:
        some, ranks = qids or most_telling(report, most), _ranks(report)
        return HeatMap(
            columns=report.columns,
            rows=[
                HeatRow(qid, ranks[qid], report.details[qid].verdict, report.cells[qid])
                for qid in some
            ],
            about=f"Heat map of {counted(len(report.details), 'question')} by {runs}: "
            f"{verdict_words(report)[1]}",
            rest=f"{numbers.n_of(len(some), total)} questions are shown"
            if len(some) < total
            else "",
        )

    yield doc.Figure(
        lambda width: drawn(ROWS_SHOWN).lines(width),
        "Heat map",
        f"a row is a question over {runs}, the worst first",
        lambda links: drawn(QUESTIONS_ON_PAGES).svg(links),
        part="heatmap",
    )


def _ranks(report: StabilityReport) -> dict[str, int]:
    return {qid: rank for rank, qid in enumerate(ranked(report), 1)}


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


def left_out(report: StabilityReport) -> int:
    """Questions that count in the totals and have no row in the report."""
    return sum(times for _, times in verdict_counts(report)) - len(report.details)


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
    yield doc.on_pages(
        Items(
            title="Questions",
            remark="the worst first; what two runs do not share is marked",
            items=doc.Deferred(partial(_page_items, report)),
            total=len(report.details) + left_out(report),
        ),
        part="questions",
    )


def _items(report: StabilityReport, qids: Sequence[str], longest: int) -> list[Item]:
    """Questions with two of their runs."""
    return [_item(report, qid, two_runs(report.details[qid]), longest) for qid in qids]


def _page_items(report: StabilityReport) -> list[Item]:
    """Questions with everything that is known about them; the worst one is open."""
    details, qids = report.details, most_telling(report, QUESTIONS_ON_PAGES)
    ranks = _ranks(report)
    bad = [qid for qid in qids if details[qid].verdict not in NOT_UNSTABLE]
    opened = next(iter([qid for qid in bad if len(details[qid].examples) > 1] or bad), None)
    return [
        _item(report, qid, one.examples, LONGEST, rank=ranks[qid], opened=qid == opened)
        for qid in qids
        for one in (details[qid],)
    ]


def _item(
    report: StabilityReport,
    qid: str,
    runs: tuple[Shown, ...],
    longest: int,
    *,
    rank: int = 0,
    opened: bool = False,
) -> Item:
    """A question: why it is not stable, and these runs with what differs marked.

    With its rank, on a page, it has its numbers too.
    """
    one = report.details[qid]
    why = [
        ("fails", theirs("; ".join(one.failed))),
        ("explained by", theirs(one.explained_by.words if one.explained_by else None)),
    ]
    # The first run is compared with the second, and each other one with the first.
    others = [*runs[1:2], *(runs[:1] * (len(runs) - 1))] if len(runs) > 1 else runs
    cards = [
        _card(report, one, run, other, longest, in_full=rank > 0)
        for run, other in zip(runs, others, strict=True)
    ]
    blocks: list[Block] = [doc.Facts(why), doc.Cards(cards)]
    also = "; ".join(outcome(run.cell) for run in one.examples if run not in runs)
    if also:
        blocks.append(doc.Text(f"also: {also}", "dim"))
    if rank:
        blocks += _numbers(one, report.profile)
    return Item(
        name=qid,
        badge=(one.verdict, verdict_name(one.verdict), VERDICT_TONES[one.verdict]),
        about=one.question,
        aside=f"{numbers.n_of(*right_of(report.cells[qid]))} right",
        blocks=blocks,
        opened=opened,
        to=("question", qid),
        anchor=f"question-{rank}" if rank else "",
    )


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
    cited: list[Span] = []
    for id in run.cited:
        cited += [Span(" ")] if cited else []
        cited.append(Span(cut(id, LONGEST_ID), foreign=True, marked=id not in other.cited))
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
    yield Table(
        columns=doc.columns(
            *("metric", "", "value", "plot", "95 % interval"),
            right=("value",),
            plots=("plot",),
            spare=("",),
        ),
        rows=[
            Row(
                (
                    Cell(long_name(f"stability.{name}"), name, to=("metric", f"stability.{name}")),
                    # In the reference profile the css of a question is over all runs.
                    Cell(
                        MEANINGS["css_all" if (name, profile) == ("css", "reference") else name],
                        tone="dim",
                    ),
                    doc.number(value),
                    doc.plot(doc.Range(value, one.ci.get(name))),
                    doc.interval(one.ci.get(name)),
                ),
                one.reasons.get(name, "") if value is None else "",
            )
            for name in NUMBERS
            for value in (getattr(one, name),)
        ],
    )
    yield from _effects(one.factors)
    prompts = counted(one.prompts, "distinct prompt")
    idle = [Span("; without effect: "), *theirs(", ".join(one.noop))] if one.noop else []
    yield doc.Text([Span(f"{cost_words(one)}; {prompts}"), *idle], "dim")


def _effects(
    factors: dict[str, FactorEffect], title: str = "", remark: str = ""
) -> Iterator[Table]:
    effects = factor_effects(factors)
    if effects:
        yield Table(
            title=title,
            remark=remark,
            part="factors",
            columns=doc.columns(
                *("factor", "disagree", "fraction", "plot"),
                right=("disagree", "fraction"),
                plots=("plot",),
            ),
            rows=doc.rows(
                [
                    doc.names(name),
                    Cell(numbers.n_of(effect.differ, effect.pairs), effect.differ),
                    doc.share(effect.differ, effect.pairs),
                    doc.plot(doc.Bar(effect.rate or 0, "warm")),
                ]
                for name, effect in effects
            ),
        )


def factor_effects(factors: dict[str, FactorEffect]) -> list[tuple[str, FactorEffect]]:
    """The factors that vary, the one that matters most first.

    Chance comes first where another factor does not disagree more often: runs at two temperatures
    differ by chance as well.
    """
    known = [(name, factors[name]) for name in FACTORS if name in factors and factors[name].pairs]
    return sorted(known, key=lambda pair: -(pair[1].rate or 0))


def _factors(report: StabilityReport) -> Iterator[Block]:
    remark = "pairs of runs that differ in one factor alone"
    yield from _effects(report.factors, "What varies", remark)
    idle = noops(report)
    if idle:
        of = counted(sum(times for _, times in verdict_counts(report)), "question")
        words = [Span(f"{prompts_words(report)}. Jitters that change nothing are not run: ")]
        for jitter, times in idle:
            words += [*theirs(jitter), Span(f" in {count(times)}, ")]
        words[-1] = Span(f" in {count(times)} of {of}.")
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


def noops(report: StabilityReport) -> list[tuple[str, int]]:
    """Jitters that changed nothing, with the number of questions; the most frequent first."""
    times = over_questions(report).noops
    return sorted(times.items(), key=lambda pair: (-pair[1], pair[0]))


def prompts_words(report: StabilityReport) -> str:
    """How many texts were sent for a question: `4 distinct prompts per question (2 to 5)`."""
    low, middle, high = over_questions(report).prompts
    words = f"{counted(middle, 'distinct prompt')} per question"
    return words if low == high else f"{words} (median; {low} to {high})"


def means(report: StabilityReport) -> dict[str, Score]:
    """The metrics, those with a meaning here first and in its order."""
    known = list(MEANINGS)

    def place(id: str) -> tuple[int, str]:
        name = id.removeprefix("stability.")
        return known.index(name) if name in known else len(known), name

    return {id: report.metrics[id] for id in sorted(report.metrics, key=place)}


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


def next_steps(report: StabilityReport) -> Iterator[str]:
    """What to look at next, in sentences."""
    coverage = report.coverage
    lost = coverage.errors + coverage.missing
    if lost:
        again = counted(lost, "run")
        yield f"Run the sweep again: it resumes with the {again} that failed or are missing."
    if coverage.single:
        one = counted(coverage.single, "question has", "questions have")
        yield f"Make more runs: {one} one run and cannot be evaluated; {MORE_RUNS}."
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
    compared = [qid for qid in unstable(report) if len(report.details[qid].examples) > 1]
    if compared:
        yield f"Compare the two answers to {compared[0]}."
