"""The page of a run: its verdict, and a tab for each thing that its kind of report shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import structs

from ragauge.contracts.audit import AuditReport
from ragauge.contracts.diagnosis import Language
from ragauge.contracts.history import ID_SHOWN, REPORT, Run
from ragauge.contracts.score import ScoreReport
from ragauge.contracts.stability import STABILITIES, StabilityReport, right_of
from ragauge.contracts.trace_eval import TraceEvalReport
from ragauge.dashboard import parts
from ragauge.dashboard.jobs import progress
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page, run_names
from ragauge.dashboard.pages import run_components, run_questions
from ragauge.dashboard.pages.opened_run import (
    OTHER,
    REFRESH_S,
    TRACEABILITY,
    OpenedRun,
    RunTargets,
    Tab,
    label_kind,
    label_name,
)
from ragauge.dashboard.parts import Field, listed
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import QUESTIONS, list_fields, unit_query, units_tab, units_title
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.worst_first import WORST_FIRST
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Bar, Block, Cell, Column, Section, Span, Text, Tone, Verdict
from ragauge.reports.figures.heat_map import HeatMap, HeatRow, verdict_name
from ragauge.reports.kinds import diagnosis, eval_all, stability
from ragauge.reports.kinds import runs as story
from ragauge.reports.phrasing import wording

OVERVIEW = "overview"
IN_OVERVIEW = ("summary", "gates", "codes", "advice", "metrics", "findings", "coverage", "next")
"""The parts of a report that an overview has, in its order."""
HEAT_MAP = "heat-map"
CORRECT_RUNS = "stability.success"
ABOUT = "a row is a question, the fewest correct runs first; a column is a run, or several"
ANSWER = "answer"
"""Where on its page the answer to a question is."""
LANGUAGES: Mapping[Language, str] = {"en": "English", "zh": "中文"}
"""Of a diagnosis."""


def page(material: Material, links: Links, query: Query) -> Page:
    """The run that the address names, opened at a tab; without one, at its overview."""
    opened = OpenedRun(material, links, query)
    run, known, wanted = opened.run, tabs(opened), query.text("tab") or OVERVIEW
    wanted = units_tab(run) if wanted == QUESTIONS else wanted
    chosen = next((one for one in known if one.name == wanted), None)
    if chosen is None:
        there = ", ".join(one.name for one in known)
        raise Missing(f'run {run.shown} has no tab "{wanted[:80]}"; it has {there}')
    shown, name = chosen.view(opened), run_names(run)
    title, crumbs = name, [("Runs", links.runs()), (name, links.run(run.id))]
    if chosen.name != OVERVIEW:
        title = f"{chosen.title} · {name}"
        crumbs.append((chosen.title, None))

    def complete() -> bytes:
        """The report as it was recorded, nothing cut."""
        if (content := material.file(run, REPORT)) is None:
            raise BadAddress(f"figures: run {run.shown} has no {REPORT}")
        return content

    blocks, files = [*head(opened, known, chosen.name), *shown.blocks], {"report.json": complete}
    return structs.replace(shown, title=title, blocks=blocks, crumbs=tuple(crumbs), files=files)


def tabs(opened: OpenedRun) -> list[Tab]:
    """The tabs of a run, in the order a reader goes through them."""
    found, report, run = [Tab(OVERVIEW, "Overview", overview)], opened.report, opened.run
    match opened.kind:
        case "score":
            found.append(Tab("quality", "Quality", quality))
        case "stability":
            found.append(Tab(HEAT_MAP, "Heat map", heat_map))
        case "audit" | "trace_eval":
            found.append(Tab(TRACEABILITY, "Traceability", traceability))
        case "evaluation":
            found += run_components.tabs(opened)
        case "eval_all":
            for name, _ in eval_all.tasks(report):
                task = partial(run_components.task_view, task=name)
                title = eval_all.TITLES[name]
                found.append(Tab(title.lower(), title, task))
    if run.record.units:
        title = units_title(run)
        found.append(Tab(units_tab(run), title, run_questions.view, run.record.units))
    if report is not None:
        found.append(Tab("diagnosis", "Diagnosis", diagnosed))
    return found


def head(opened: OpenedRun, tabs: Sequence[Tab] = (), chosen: str = OVERVIEW) -> Iterator[Block]:
    """The verdict of the run, what it is, where its neighbours are, and its tabs."""
    run, links, record = opened.run, opened.links, opened.run.record
    given = next((one for one in opened.part("verdict") if isinstance(one, Verdict)), None)
    word = story.verdict(run)
    yield Verdict(
        word,
        given.text if given else "",
        notes=[f"{record.command} · {record.name}"],
        meaning=[*given.notes, *given.meaning] if given else [],
        tone="good" if word == "PASS" else "soft" if word == story.UNGATED else "bad",
    )
    counts = opened.counts
    bars: list[tuple[str, str, int, Tone]] = [
        (label_kind(opened.kind, label), label_name(opened.kind, label), times, "")
        for label, times in counts.labels.items()
    ]
    if bars and (without := counts.units - sum(counts.labels.values())):
        bars.append((OTHER, "no label", without, ""))
    yield doc.Bars(title="", bars=bars)
    code = story.code(record.git)
    yield parts.tags(
        ("run", run.shown, None),
        ("recorded", f"{story.when(record.recorded_at)} UTC", None),
        *([("code", code, None)] if code else []),
        *(("tag", tag, None) for tag in run.tags),
        *(
            (key, value, links.runs(label=f"{key}={value}"))
            for key, value in sorted(record.labels.items())
        ),
    )
    for id in run.regressions:
        baseline = Span(id[:ID_SHOWN], foreign=True, href=links.compare(id, run.id) or "")
        failed = [Span("A gated comparison with "), baseline, Span(" failed this run.")]
        yield Text(failed, "bad")
    yield Text(_ways(opened), "soft")
    if chosen == OVERVIEW:
        details = doc.Facts([(name, doc.foreign(text)) for name, text in story.facts(run)])
        yield Section(title="Record details", blocks=[details], folded=True)
    yield parts.tabs(
        [
            (tab.title, tab.count, href, tab.name == chosen)
            for tab in tabs
            if (href := links.run(run.id, "" if tab.name == OVERVIEW else tab.name))
        ]
    )


def _ways(opened: OpenedRun) -> list[Span]:
    """From the run to the one before it, the history of its headline, its gold set, its report."""
    run, links, record = opened.run, opened.links, opened.run.record
    named_links: list[tuple[str, str | None]]
    try:
        before = opened.material.history.find("latest", like=run)
        compare = links.compare(before.id, run.id)
        named_links = (
            [(f"Compare with the previous run ({before.shown})", compare)] if compare else []
        )
    except UsageError:
        named_links = [("The first run of its command and name", None)]
    # The history of a gate that does not hold, else that of the headline.
    broken = (gate.metric for gate in record.gates if not gate.holds)
    known = [metric for metric in broken if metric in record.metrics]
    if metric := next(iter([*known, *story.headlines([run])]), ""):
        history = links.history(metric, name=record.name, command=record.command)
        named_links += [(f"History of {metric}", history)] if history else []
    if record.gold_sha256 and (gold := links.gold(record.gold_sha256)):
        named_links.append(("Gold set", gold))
    if REPORT in record.files and (report := links.file("report.json")):
        named_links.append(("The complete report as JSON", report))
    return doc.joined(
        (Span(words, foreign=True, href=href or "") for words, href in named_links), " · "
    )


def overview(opened: OpenedRun) -> Page:
    """The parts of the report that its other tabs do not show; the record's where it is gone."""
    found = opened.part(*IN_OVERVIEW)
    if not found:
        why = opened.no_report or "this version has no view of its kind"
        found = list(_recorded(opened.run, why))
    if opened.spent_over:
        named = [doc.part_of(one) for one in found]
        at = named.index("findings") if "findings" in named else len(named)
        found.insert(at, run_questions.spent_table(opened.spent_over))
    rows = [
        (id, one.value, *(one.ci or (None, None)), one.n, one.of, one.better, one.reason)
        for id, one in sorted(opened.run.record.metrics.items())
    ]
    heads = ("metric", "value", "low", "high", "n", "of", "better", "reason")
    return opened.view(*found, doc.Data("metrics", heads, lambda: rows))


def _recorded(run: Run, why: str) -> Iterator[Block]:
    """What a run's record says by itself, for where its report cannot be shown."""
    record = run.record
    problem = [Span("The report of this run cannot be shown: ", "strong"), *doc.foreign(why)]
    below = Text("What its record holds is below.", "soft")
    yield Section(title="", blocks=[Text(problem), below], part="problem tight")
    names = {id: id for id in (*record.metrics, *(gate.metric for gate in record.gates))}
    yield from doc.gates(record.gates, record.metrics, names)
    metrics = dict(sorted(record.metrics.items()))
    yield doc.scores(metrics, {id: id for id in metrics}, title="Metrics")
    yield doc.Findings(phrasing.findings_by_code((), record.finding_counts))
    words = ", ".join(f"{name} {value}" for name, value in record.coverage.items())
    yield doc.coverage(words or "the record says nothing about it", record.identity)


def quality(opened: OpenedRun) -> Page:
    """How the questions of a score ended, slice by slice, compared with its baseline."""
    report: ScoreReport = opened.report

    def counts(title: str, remark: str, first: str, given: Mapping[str, int]) -> Iterator[Block]:
        total, is_label = sum(given.values()), first == "label"

        def name(one: str) -> Cell:
            if not is_label:
                return Cell(one.replace("_", " "), foreign=True)
            href = opened.links.run(opened.run.id, units_tab(opened.run), label=one)
            return Cell(one, foreign=True, href=href or "")

        def bar(one: str) -> Cell:
            kind = label_kind(opened.kind, one) if is_label else ""
            return doc.plot(Bar(given[one] / total, kind=kind))

        if total:
            yield doc.table(
                sorted(filter(given.get, given), key=lambda one: (-given[one], one)),
                {
                    first: name,
                    "questions": lambda one: doc.count(given[one]),
                    "fraction": lambda one: doc.percent(given[one], total),
                    "": bar,
                },
                title=title,
                remark=remark,
            )

    blocks = [
        *counts("Labels", "how each question ended", "label", report.labels),
        *counts("Triage", "where each question was decided", "step", report.triage),
        *counts("Refusals", "the wording of refusals", "words", report.refusals),
    ]
    return opened.view(*blocks, *opened.part("slices", "baseline"))


def heat_map(opened: OpenedRun) -> Page:
    """A page of the heat map, with the verdicts to choose from and what varies below it."""
    report: StabilityReport = opened.report
    query, action = opened.query, opened.links.run(opened.run.id, HEAT_MAP)
    query.choice("label", STABILITIES)
    order = CORRECT_RUNS if CORRECT_RUNS in opened.run.record.metrics else "place"
    filters = structs.replace(unit_query(query), sort=order, descending=False)
    found = opened.material.pages.units(opened.run, filters)
    # Rows of a page are together by verdict; those of none that we know come last.
    ranks: dict[str | None, int] = {one: rank for rank, one in enumerate(WORST_FIRST)}
    rows = sorted(found.rows, key=lambda row: ranks.get(row.label, len(ranks)))
    counts = stability.verdict_counts(report)
    verdicts = [(one, f"{verdict_name(one)} ({phrasing.count(n)})") for one, n in counts]
    form = parts.form(
        action,
        Field("q", query.exact("q"), "Search id and question", kind="search"),
        parts.select("label", query.exact("label"), "Verdict", [("", "all"), *verdicts]),
        replaces="heat",
        clear=action if any(map(query.text, ("q", "label", "stratum"))) else None,
    )
    to = RunTargets(opened, **{**list_fields(query), "sort": order})
    # The letters of a question's runs; of an older run those that its summary has.
    cells = {row.unit: row.detail.get("cells") or report.cells.get(row.unit, "") for row in rows}
    drawn = [
        HeatRow(row.unit, row.label, str(cells[row.unit]))
        for row in rows
        if row.label in STABILITIES and len(cells[row.unit]) == len(report.columns)
    ]
    page = structs.replace(listed(found, query, order, action or ""), rows=rows)
    inside: list[Block] = []
    if drawn:
        picture = HeatMap(report.columns, drawn, len(rows))
        inside.append(doc.Html(lambda at: picture.html(to)))
        heads = ("question", "verdict", "right", "of", *map(str, report.columns))
        letters = [(one.qid, one.verdict, *right_of(one.cells), *one.cells) for one in drawn]
        inside.append(doc.Data("heatmap", heads, lambda: letters))
    else:
        inside.append(doc.Text("The run was recorded without the outcomes of its runs.", "soft"))
    shown: list[Block] = [parts.results("", page, "question", action, *inside)]
    if explained := [row for row in rows if row.detail.get("explained_by")]:
        why = doc.table(
            explained,
            {
                "question": lambda row: doc.names(row.unit, to=("question", row.unit)),
                Column("explained by", prose=True): lambda row: doc.names(
                    str(row.detail["explained_by"])
                ),
            },
            title="What changes the outcome",
        )
        shown.append(why)
    found_here = [form, Section(blocks=shown, anchor="heat")]
    section = Section(title="Heat map", remark=ABOUT, blocks=found_here, part="heatmap tight")
    return opened.view(section, *opened.part("factors"), to=to)


def traceability(opened: OpenedRun) -> Page:
    """The codes with their places, then how deep answers hold, then the answers themselves."""
    report: AuditReport | TraceEvalReport = opened.report
    query, code = opened.query, opened.query.text("code")
    if code:  # the units with a code are those whose label it is: their worst one
        query = query.but(label=code, code=None)
    none = Section(title="Codes", blocks=[Text("No citation has a finding.")])
    blocks: list[Block] = opened.part("codes") if report.codes else [none]
    codes = [(one.code, one.depth, one.answers, one.findings, one.means) for one in report.codes]
    heads = ("code", "depth", "answers", "findings", "means")
    blocks.append(doc.Data("codes", heads, lambda: codes))
    audits = isinstance(report, AuditReport)
    blocks += opened.part("depths") if audits else opened.part("states", "at_k", "questions")
    by_code: list[Span] = []
    for one in report.codes:
        if times := opened.counts.labels.get(one.code):
            tone: Tone = "strong" if one.code == code else ""
            by_code += [
                Span(", " if by_code else "By worst code: "),
                Span(one.code, tone, foreign=True, to=("code", one.code)),
                Span(f" {phrasing.count(times)}", "soft"),
            ]
    inside: list[Block] = [Text(by_code)] if by_code else []
    # The questions of a trace evaluation are drawn above; a code lists those that have it.
    listed = audits or bool(code)
    if not listed:
        every = opened.links.run(opened.run.id, units_tab(opened.run)) or ""
        inside.append(Text([Span("All questions, with their numbers", href=every)]))
    title = f"{'Answers' if audits else 'Questions'} one by one"
    blocks.append(Section(title=title, blocks=inside, anchor="answers"))
    if listed:
        blocks += run_questions.listing(opened, query, TRACEABILITY)
    return opened.view(*blocks, to=RunTargets(opened, anchor=ANSWER))


def diagnosed(opened: OpenedRun) -> Page:
    """Why its numbers are low and what to change; while that is being computed, that it is."""
    from ragauge.runners.diagnosis.diagnose import diagnose_run

    run, links = opened.run, opened.links
    language: Language = opened.query.choice("lang", tuple(LANGUAGES)) or "en"
    choice = [
        Span(name, "strong" if one == language else "", href=href)
        for one, name in LANGUAGES.items()
        if (href := links.run(run.id, "diagnosis", lang=one))
    ]
    blocks: list[Block] = [Text(doc.joined(choice, " · "))] if choice else []
    key, jobs = ("diagnosis", run.id, language), opened.material.jobs
    try:
        report = jobs.get(
            key,
            lambda: diagnose_run(opened.material.history, run, lang=language, progress=progress),
        )
    except (UsageError, InputRejected) as error:
        blocks.append(parts.empty("This run cannot be diagnosed", doc.foreign(str(error))))
        return opened.view(*blocks)
    if report is None:
        samples = phrasing.pluralize(run.record.units, "sample")
        blocks.append(parts.computing(f"Analysing {samples}", jobs.fraction(key)))
        return opened.view(*blocks, refresh_s=REFRESH_S)
    shown = [
        structs.replace(one, level=2) if isinstance(one, Verdict) else one
        for one in diagnosis.document(report).blocks
        if doc.part_of(one) not in ("gates", "metrics", "coverage")  # which the overview has
    ]
    heads = ("id", "title", "standing", "explains", "of", "metrics", "samples", "why")
    causes = [[getattr(one, name) for name in heads] for one in report.causes]
    blocks += [
        Section(title="", blocks=shown, lang=wording(language).html_lang),
        doc.Data("causes", ("cause", *heads[1:]), lambda: causes),
    ]
    return opened.view(*blocks, language=language)
