"""The report of `ragauge score`: gates, metrics, labels, slices and questions of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from msgspec import structs

from ragauge.contracts.gold import REFUSING
from ragauge.contracts.score import Comparison, QuestionRow, ScoreReport
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.metrics.worst_first import BAD_LABELS, changed_labels, wrong_questions
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.cases import Case, Suite, fact_lines, gate_suite
from ragauge.reports.document import Block, Cell, Column, Document, Table, names
from ragauge.reports.phrasing import count, pluralize

BADGES = {
    "OK": "ok",
    "REFUSAL_OK": "refusal_ok",
    "HALLUCINATION": "hallucination",
    "ANS_NO_HIT": "no_hit",
    "OVER_REFUSAL": "over_refusal",
    "REFUSAL_MALFORMED": "malformed",
    "ERROR": "error",
    "MISSING": "missing",
}
"""The class of each label in the style sheet."""
REFUSALS = {
    "exact": "with the exact token",
    "near": "with more around the token",
    "free": "in the system's own words",
    "undetermined": "undetermined",
}
NOTABLE = 0.10  # a difference between slices that is shown
STRATA_SHOWN, VALUES_SHOWN = 3, 30
Cells = dict[str | Column, Callable[[QuestionRow], Cell]]

QUESTIONS_SHOWN, CHANGES_SHOWN = 10, 20
MOST_QUESTIONS = 5_000  # on a page: one with more would be slow to open


def document(report: ScoreReport) -> Document:
    return Document("score", list(_blocks(report)))


def table(report: ScoreReport) -> tuple[tuple[str, ...], Iterable[Iterable[object]]]:
    """One row for each question, with the fields of its record."""
    fields = QuestionRow.__struct_fields__
    return fields, ([getattr(row, field) for field in fields] for row in report.questions)


def cases(report: ScoreReport) -> Iterator[Suite]:
    def case(row: QuestionRow) -> Case:
        if row.label in GOOD_LABELS:
            return Case(row.qid, where=row.where or "")
        why = doc.listed(row.triage, row.reason, sep="; ")
        return Case(
            row.qid,
            doc.listed(row.label, why, sep=": "),
            fact_lines({"claim": row.claim, "cited": ", ".join(row.cited or ())}),
            "error" if row.label in ("ERROR", "MISSING") else "failure",
            row.label,
            row.where or "",
        )

    yield gate_suite(report.gates)
    yield Suite("questions", map(case, report.questions), decides=False, worst=BAD_LABELS)


def _blocks(report: ScoreReport) -> Iterator[Block]:
    compared = report.baseline.metrics if report.baseline else {}
    sliced = (id for by in report.strata.values() for scores in by.values() for id in scores)
    shown = phrasing.metric_names(report, *compared, *sliced)
    hint = phrasing.how_to_gate(
        report.passed, "--preset ship or --gates 'precision_cited>=0.80,under_refusal<=0.05'"
    )
    yield doc.Verdict(*verdict_text(report), meaning=[hint] if hint else [])
    yield _labels(report)
    yield from doc.gates(report.gates, report.metrics, shown)
    yield from doc.other_scores(report, shown)
    yield from _slices(report, shown)
    yield from doc.advice(report.advice)
    yield from _questions(report)
    if report.baseline:
        yield _baseline(report, report.baseline, shown)
    yield doc.findings(report)
    yield from doc.glossary(report.metrics, shown)
    covered = report.coverage
    text = doc.listed(
        f"{count(covered.scored)} of {pluralize(covered.gold, 'gold question')} scored",
        f"from {pluralize(covered.traces, 'trace')}",
        covered.missing and f"{count(covered.missing)} without a trace",
        covered.errors and pluralize(covered.errors, "error"),
        covered.duplicate and pluralize(covered.duplicate, "surplus trace"),
        covered.unknown and f"{count(covered.unknown)} of unknown questions",
        covered.rejected and pluralize(covered.rejected, "rejected line"),
    )
    yield doc.coverage(text, report.identity)


def verdict_text(report: ScoreReport) -> tuple[str, str]:
    """PASS or FAIL, how the gates ended, and how much was scored.

    `1 of 8 gates failed, 2 not evaluated; 78 of 80 questions scored`
    """
    coverage = report.coverage
    scored = f"{count(coverage.scored)} of {pluralize(coverage.gold, 'question')} scored"
    word = phrasing.verdict_word(report.passed, report.gates)
    return word, doc.listed(phrasing.gate_counts(report), scored, sep="; ")


def _labels(report: ScoreReport) -> doc.Bars:
    """The labels that occur: good ones first, then the worst; unknown ones last, by name."""
    known = [label for label in (*sorted(GOOD_LABELS), *BAD_LABELS) if label in report.labels]
    unknown = sorted(set(report.labels) - set(known))
    bars: list[tuple[str, str, int, doc.Tone]] = [
        (BADGES.get(label, "other"), label, times, "good" if label in GOOD_LABELS else "bad")
        for label in known + unknown
        if (times := report.labels[label])
    ]
    # How many refusals there are of each kind, and which count as answers.
    chosen = report.identity.get("options", {}).get("refusal")
    counting = REFUSING.get(chosen, REFUSING["exact"])
    found = {kind: n for kind in REFUSALS if (n := report.refusals.get(kind))}
    texts = {kind: f"{count(n)} {REFUSALS[kind]}" for kind, n in found.items()}
    refused = ", ".join(text for kind, text in texts.items() if kind in counting)
    answered = ", ".join(text for kind, text in texts.items() if kind not in counting)
    after = doc.listed(
        (refused or answered) and f"refusals: {refused or 'none'}",
        answered and f"counted as answers: {answered}",
        sep="; ",
    )
    return doc.Bars(title="Labels", bars=bars, after=after, part="labels")


def _slices(report: ScoreReport, shown: dict[str, str]) -> Iterator[Table]:
    """The strata in which a metric differs notably, the largest difference first; ties by name."""
    found = []
    for stratum, by in report.strata.items():
        ids = dict.fromkeys(id for scores in by.values() for id in scores)
        for id in ids:
            known = [
                (score.value, value)
                for value, scores in by.items()
                if (score := scores.get(id)) and score.value is not None and score.n >= doc.FEW
            ]
            if known and max(known)[0] - min(known)[0] >= NOTABLE:
                found.append((min(known)[0] - max(known)[0], stratum, id, min(known), max(known)))
    widest: dict[str, str] = {}
    for _, stratum, id, (low, lowest), (high, highest) in sorted(found):
        remark = f"{shown[id]} from {phrasing.value(low)} ({lowest}) "
        widest.setdefault(stratum, f"{remark}to {phrasing.value(high)} ({highest})")
    for stratum, remark in islice(widest.items(), STRATA_SHOWN):
        by = report.strata[stratum]
        ids = dict.fromkeys(id for scores in by.values() for id in scores)
        yield doc.slices(stratum, by, shown, ids, shown=VALUES_SHOWN, remark=remark)


def _questions(report: ScoreReport) -> Iterator[Block]:
    """A terminal shows some that went wrong, a page and a comment every question, worst first."""

    def answer(row: QuestionRow) -> str:
        """The claim, the citations and the reason; for an exact refusal, not its text."""
        text = (row.claim if row.refusal != "exact" else "") or row.reason
        return doc.listed(text, f"[{', '.join(row.cited)}]" if row.cited else "", sep="  ")

    def yes(value: bool | None) -> Cell:
        return Cell(phrasing.ABSENT if value is None else "yes" if value else "no", value)

    first: Cells = {
        "question": lambda row: names(row.qid, "strong", ("question", row.qid)),
        "label": lambda row: Cell(row.label, badge=BADGES.get(row.label, "other")),
    }
    brief: Cells = {
        "triage": lambda row: Cell(row.triage or "", tone="dim"),
        Column("where", spare=1): lambda row: names(row.where or "", "dim"),
    }
    full: Cells = {
        "answered": lambda row: yes(row.answered),
        "citation hit": lambda row: yes(row.hit),
        "refusal": lambda row: Cell("" if row.refusal == "none" else row.refusal, tone="dim"),
        "claim": lambda row: names(row.claim or ""),
        Column("cited", spare=1): lambda row: names(" ".join(row.cited or ()), "dim"),
        Column("reason", spare=2): lambda row: names(row.reason or row.triage or "", "dim"),
        Column("where", spare=3): lambda row: names(row.where or "", "dim"),
    }
    wrong = sum(times for label, times in report.labels.items() if label not in GOOD_LABELS)
    if wrong:
        some = doc.table(
            wrong_questions(report, QUESTIONS_SHOWN),
            first | brief,
            note=answer,
            title="Questions that went wrong",
            total=wrong,
            everything="--report FILE.html shows them all",
        )
        yield doc.Only(frozenset({"text"}), [some])
    if report.questions:

        def rows() -> Sequence[doc.Row]:
            """Computed when they are first read: there may be 100,000."""
            good = (row for row in report.questions if row.label in GOOD_LABELS)
            ranked = islice(chain(wrong_questions(report), good), MOST_QUESTIONS)
            return doc.table(ranked, first | full).rows

        title, total = "Questions", len(report.questions)
        every = doc.table((), first | full, title=title, remark="the worst first", total=total)
        every = structs.replace(every, rows=doc.Lazy(rows), part="questions")
        yield doc.Only(frozenset({"html", "markdown"}), [every], part="questions")


def _baseline(report: ScoreReport, compared: Comparison, shown: dict[str, str]) -> doc.Section:
    from ragauge.metrics.table import known

    changes = compared.metrics

    def direction(id: str) -> Cell:
        """Whether a change is for the better; unclear if its interval contains zero."""
        change, ci = changes[id].change or 0, changes[id].ci
        if ci is not None and ci[0] <= 0 <= ci[1]:
            return Cell("unclear", tone="dim")
        if (metric := known(id)) is None:
            return Cell("changed")
        good = (change > 0) == (metric.better == "higher")
        return Cell("better", tone="good") if good else Cell("worse", tone="bad")

    moved = [id for id, change in changes.items() if change.change != 0]
    same = [shown[id] for id in changes if id not in moved]
    table = doc.table(
        moved,
        {
            "metric": lambda one: doc.metric(one, shown[one]),
            "was": lambda one: doc.number(changes[one].baseline),
            "now": lambda one: doc.number(changes[one].value),
            "change": lambda one: doc.signed(changes[one].change),
            "95 % interval": lambda one: doc.signed_interval(changes[one].ci),
            "direction": lambda one: direction(one) if changes[one].change else Cell(""),
        },
        note=lambda one: changes[one].reason or "",
    )
    labels = doc.table(
        changed_labels(compared),
        {
            "question": lambda one: names(one.qid, "strong", ("question", one.qid)),
            "was": lambda one: Cell(one.was),
            "now": lambda one: Cell(one.now),
        },
        remark=f"{pluralize(len(compared.changed), 'question')} changed label",
        shown=CHANGES_SHOWN,
    )
    both = len({row.qid for row in report.questions}) - compared.only_here
    overlap = doc.listed(
        f"{pluralize(both, 'question')} in both",
        compared.only_here and f"{count(compared.only_here)} only here",
        compared.only_there and f"{count(compared.only_there)} only there",
    )
    blocks: list[Block] = [doc.Text(doc.foreign(compared.note), "dim")] if compared.note else []
    blocks += [table] if moved else []
    blocks += [doc.Text(f"unchanged: {', '.join(same)}", "dim")] if same else []
    blocks += [labels] if compared.changed else []
    title, about = "Against", compared.baseline
    return doc.Section(title=title, about=about, remark=overlap, blocks=blocks, part="baseline")
