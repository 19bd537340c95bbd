"""The tabs of a run: which there are, and those that are made of parts of its report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from ragauge.contracts.audit import AuditReport
from ragauge.contracts.diagnosis import DiagnosisReport, Language
from ragauge.contracts.history import Run
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard.page import Figures
from ragauge.dashboard.pages import run_components, run_heat, run_questions
from ragauge.dashboard.pages.opened_run import (
    LOOK_AGAIN_S,
    QUESTIONS,
    TRACEABILITY,
    Fragments,
    OpenedRun,
    TabView,
    ToRun,
    ends,
    joined,
    label_kind,
    slice_figures,
)
from ragauge.dashboard.pages.run_questions import unit_table, units_body
from ragauge.dashboard.rendering import render
from ragauge.errors import InputRejected, UsageError
from ragauge.reports import document as doc
from ragauge.reports import envelope, numbers
from ragauge.reports.document import Bar, Block, Cell, Coverage, Findings, Section, Span, Text
from ragauge.reports.formats.html import written
from ragauge.reports.kinds import diagnosis, eval_all
from ragauge.reports.kinds.trace_eval import states
from ragauge.reports.words import wording

if TYPE_CHECKING:
    from markupsafe import Markup

OVERVIEW = "overview"
UNITS = {
    "ner": "Documents",
    "types": "Items",
    "linking": "Mentions",
}
"""What the units of a task are called; of other runs they are questions."""
PARTS: Mapping[str, tuple[str, ...]] = {
    "score": ("gates", "advice", "metrics", "findings", "coverage"),
    "stability": ("gates", "advice", "metrics", "findings", "coverage", "next"),
    "audit": ("gates", "codes", "advice", "metrics", "findings", "coverage"),
    "trace_eval": ("gates", "codes", "advice", "metrics", "findings", "coverage"),
    "evaluation": ("gates", "metrics", "advice", "findings", "coverage"),
    "eval_all": ("summary", "gates", "metrics", "findings", "coverage"),
}
"""The parts of an overview, by the kind of the report."""
ANSWER = "answer"
"""Where on its page the answer to a question stands."""
LANGUAGES: Mapping[Language, str] = {"en": "English", "zh": "中文"}
"""Of a diagnosis."""
IN_OVERVIEW = ("gates", "metrics", "coverage")
"""Parts of a diagnosis that the overview of the run has."""


class Tab(Struct, frozen=True):
    """A part of a run's page."""

    name: str
    title: str
    view: Callable[[OpenedRun], TabView]
    count: int | None = None


def tabs(opened: OpenedRun) -> list[Tab]:
    """The tabs of a run, in the order a reader goes through them."""
    found, report, units = [Tab(OVERVIEW, "Overview", overview)], opened.report, "Questions"
    match opened.kind:
        case "score":
            found.append(Tab("quality", "Quality", quality))
        case "stability":
            found.append(Tab("heatmap", "Heat map", run_heat.view))
        case "audit" | "trace_eval":
            found.append(Tab(TRACEABILITY, "Traceability", traceability))
        case "evaluation":
            units = UNITS.get(report.task, units)
            found.append(Tab("components", "Components", run_components.view))
            if errors := run_components.errors_total(report):
                found.append(Tab("errors", "Errors", run_components.errors_view, errors))
            if run_components.has_answers(report):
                found.append(Tab("support", "Support", run_components.answers_view))
        case "eval_all":
            units = "Units"
            for name, _ in eval_all.tasks(report):
                task = partial(run_components.task_view, task=name)
                found.append(Tab(name, eval_all.title(name), task))
    if opened.run.record.units:
        found.append(Tab(QUESTIONS, units, run_questions.view, opened.run.record.units))
    if report is not None:
        found.append(Tab("diagnosis", "Diagnosis", diagnosed))
    return found


def overview(opened: OpenedRun) -> TabView:
    """The parts of the report that its other tabs do not show; the record's where it is gone."""
    run, parts = opened.run, []
    for name in PARTS.get(opened.kind, ()):
        if opened.kind == "eval_all" and name == "gates":
            # The report has those that hold with their tasks.
            parts.append(written(_recorded_gates(run), links=ToRun(opened)))
        elif opened.fragments:
            parts.append(opened.fragments.part(name))
    if not any(parts):
        why = opened.no_report or "this version has no view of its kind"
        parts = [written(_recorded(run, why), links=ToRun(opened))]
    body = joined(*parts, opened.data("metrics", "The metrics"), opened.data("gates", "The gates"))
    metrics = [
        (id, one.value, *ends(one.ci), one.n, one.of, one.better, one.reason)
        for id, one in sorted(run.record.metrics.items())
    ]
    # The rule says how its bound is meant: "=" alone is a formula to a spreadsheet.
    gates = [
        (one.rule, one.metric, one.bound, one.value, *ends(one.ci), one.n, one.verdict, one.reason)
        for one in run.record.gates
    ]
    metric_heads = ("metric", "value", "low", "high", "n", "of", "better", "reason")
    gate_heads = ("rule", "metric", "bound", "value", "low", "high", "n", "verdict", "reason")
    return TabView(
        body=body,
        data={
            "metrics": lambda: Figures(metric_heads, metrics),
            "gates": lambda: Figures(gate_heads, gates),
        },
    )


def _recorded(run: Run, why: str) -> Iterator[Block]:
    """What a run's record says by itself, for where its report cannot be shown."""
    record = run.record
    problem = [Span("The report of this run cannot be shown: ", "strong"), *doc.theirs(why)]
    below = Text("What its record holds is below.", "soft")
    yield Section(title="", blocks=[Text(problem), below], part="problem tight")
    yield from _recorded_gates(run)
    metrics = dict(sorted(record.metrics.items()))
    yield doc.scores(metrics, {id: id for id in metrics}, title="Metrics")
    yield Findings(envelope.findings_by_code((), record.finding_counts))
    told = ", ".join(f"{name} {value}" for name, value in record.coverage.items())
    yield Coverage(told or "the record says nothing about it", record.identity)


def _recorded_gates(run: Run) -> Iterator[Block]:
    record = run.record
    names = {id: id for id in (*record.metrics, *(gate.metric for gate in record.gates))}
    yield from doc.gates(record.gates, record.metrics, names)


def quality(opened: OpenedRun) -> TabView:
    """How the questions of a score ended, slice by slice, compared with its baseline."""
    report: ScoreReport = opened.report

    def label(name: str) -> tuple[Cell, str]:
        href = opened.links.run(opened.run.id, QUESTIONS, label=name)
        return Cell(name, foreign=True, href=href or ""), label_kind(opened.kind, name)

    def step(name: str) -> tuple[Cell, str]:
        return Cell(name.replace("_", " "), foreign=True), ""

    about = "How each question ended; a label leads to its questions"
    tables = [*_shares("Labels", about, "label", report.labels, label)]
    about = "Where each question was decided, from the refusal to the citations"
    tables += _shares("Triage", about, "step", report.triage, step)
    about = "The words of refusals, whatever counts as a refusal"
    tables += _shares("Refusals", about, "words", report.refusals, step)
    told = {"label": report.labels, "triage": report.triage, "refusal": report.refusals}
    counts = [(what, name, n) for what, of in told.items() for name, n in sorted(of.items())]
    return TabView(
        body=joined(
            written(tables, links=ToRun(opened)),
            opened.data("labels", "These counts"),
            opened.fragments.part("slices", "baseline") if opened.fragments else None,
            opened.data("slices", "The slices") if report.strata else None,
        ),
        data={
            "labels": lambda: Figures(("what", "name", "questions"), counts),
            "slices": lambda: slice_figures(report.strata),
        },
    )


def _shares(
    title: str,
    about: str,
    first: str,
    counts: Mapping[str, int],
    named: Callable[[str], tuple[Cell, str]],
) -> Iterator[Block]:
    """The counts, the largest first; `named` gives the cell of a name and the class of its bar."""
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    if total:
        yield doc.table(
            [pair for pair in ranked if pair[1]],
            {
                first: lambda pair: named(pair[0])[0],
                "questions": lambda pair: doc.count(pair[1]),
                "fraction": lambda pair: doc.share(pair[1], total),
                "": lambda pair: doc.plot(Bar(pair[1] / total, kind=named(pair[0])[1])),
            },
            title=title,
            remark=about,
        )


def traceability(opened: OpenedRun) -> TabView:
    """The codes with their places, then how deep answers hold, then the answers themselves."""
    report: AuditReport | TraceEvalReport = opened.report
    part = Fragments(report, ToRun(opened, anchor=ANSWER)).part
    asked, code = opened.asked, opened.asked.text("code")
    if code:  # the units with a code are those whose label it is: their worst one
        asked = asked.but(label=code, code=None)
    if isinstance(report, AuditReport):
        kind, title, what = "depths", "Answers", "The depths"
        middle, above = part("depths"), []
        rows: Sequence[Sequence[object]] = [
            (name, one.checked, one.ok) for name, one in report.depths.items()
        ]
        heads: tuple[str, ...] = ("depth", "checked", "ok")
    else:
        kind, title, what = "states", "Questions", "The states of λ"
        middle, above = part("states", "at_k", "questions"), _cut(opened, report)
        rows, heads = states(report), ("state", "retrieval", "answers")
    # The questions of a trace evaluation are drawn above; a code lists those that have it.
    table = unit_table(opened, asked) if code or kind == "depths" else None
    figures = {
        "codes": lambda: Figures(
            ("code", "depth", "answers", "findings", "means"),
            [(one.code, one.depth, one.answers, one.findings, one.means) for one in report.codes],
        ),
        kind: lambda: Figures(heads, rows),
    }
    if table:
        figures["questions"] = table.figures
    nothing = Section(title="Codes", blocks=[Text("No citation has a finding.")])
    to_all = [] if table else [_to_all("All questions, with their numbers")]
    one_by_one = Section(
        title=f"{title} one by one",
        blocks=[*to_all, *_by_code(opened, report, code)],
        anchor="answers",
    )
    body = joined(
        part("codes") if report.codes else written([nothing]),
        opened.data("codes", "The codes") if report.codes else None,
        middle,
        written(above, links=ToRun(opened)),
        opened.data(kind, what),
        written([one_by_one], links=ToRun(opened)),
        units_body(opened, table, asked, TRACEABILITY) if table else None,
    )
    return TabView(body=body, data=figures)


def _to_all(words: str, before: str = "", after: str = "") -> Text:
    """A sentence in which these words lead to the list of all questions."""
    return Text([Span(before), Span(words, to=("tab", QUESTIONS)), Span(after)])


def _cut(opened: OpenedRun, report: TraceEvalReport) -> list[Block]:
    """How many questions are drawn, where the summary has not all of them."""
    shown = len(report.questions)
    if not 0 < shown < opened.run.record.units:
        return []
    before = f"The worst {numbers.count(shown)} questions are drawn; "
    return [_to_all("the list of all", before, " has the others.")]


def _by_code(opened: OpenedRun, report: AuditReport | TraceEvalReport, chosen: str) -> list[Block]:
    """Each code that is the worst of some unit: its units, and the way to them."""
    words: list[Span] = []
    for one in report.codes:
        if times := opened.counts.labels.get(one.code):
            is_chosen = one.code == chosen
            words += [
                Span(", " if words else "By worst code: "),
                Span(one.code, "strong", foreign=True)
                if is_chosen
                else Span(one.code, foreign=True, to=("code", one.code)),
                Span(f" {numbers.count(times)}", "soft"),
            ]
    return [Text(words)] if words else []


def diagnosed(opened: OpenedRun) -> TabView:
    """Why its numbers are low and what to change; while that is being found out, that it is."""
    from ragauge.runners.diagnosis.diagnose import diagnose_run

    run, links = opened.run, opened.links
    language: Language = opened.asked.choice("lang", tuple(LANGUAGES)) or "en"
    report, problem = None, ""
    try:
        report = opened.material.jobs.get(
            ("diagnosis", run.id, language),
            lambda: diagnose_run(opened.material.history, run, lang=language),
        )
    except (UsageError, InputRejected) as error:
        problem = str(error)
    body = render(
        "run_diagnosis.html",
        body=_diagnosis(opened, report) if report else "",
        html_lang=wording(language).html_lang,
        problem=problem,
        language=language,
        languages=[
            (one, name, links.run(run.id, "diagnosis", lang=one)) for one, name in LANGUAGES.items()
        ],
        units=run.record.units,
        links=links,
    )
    if report is None:
        return TabView(body=body, refresh_s=None if problem else LOOK_AGAIN_S)
    return TabView(
        body=body, data={"causes": lambda: _causes(report), "slices": lambda: _slices(report)}
    )


def _diagnosis(opened: OpenedRun, report: DiagnosisReport) -> Markup:
    """The diagnosis, with its heading under that of the run, which the page already has."""
    from markupsafe import Markup

    made = diagnosis.document(report)
    body = written(
        [block for block in made.blocks if block.part not in IN_OVERVIEW],
        name=made.name,
        links=ToRun(opened),
        language=made.language,
    )
    return Markup(re.sub(r"<(/?)h1(?=[ >])", r"<\1h2", str(body)))  # foreign text has no `<`


def _causes(report: DiagnosisReport) -> Figures:
    rows = [
        (one.id, one.title, one.standing, one.explains, one.of, one.metrics, one.samples, one.why)
        for one in report.causes
    ]
    columns = ("cause", "title", "standing", "explains", "of", "metrics", "samples", "why")
    return Figures(columns, rows)


def _slices(report: DiagnosisReport) -> Figures:
    rows = []
    for one in report.slices:
        conditions = tuple(f"{name}={value}" for name, value in sorted(one.conditions.items()))
        rows.append((one.metric, conditions, one.n, one.beyond, one.value, one.elsewhere, one.p))
    columns = ("metric", "slice", "samples", "beyond", "value", "elsewhere", "p")
    return Figures(columns, rows)
