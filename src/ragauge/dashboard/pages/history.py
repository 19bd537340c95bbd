"""The page of a metric over recorded runs: the report of their line, and what chooses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import structs

from ragauge.contracts.comparison import HistoryReport
from ragauge.contracts.history import Run, RunFilter, canonical
from ragauge.contracts.options import HistoryOptions
from ragauge.contracts.paging import PagedHistory, RunQuery
from ragauge.dashboard import parts
from ragauge.dashboard.jobs import PATIENCE_S
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page, PageTargets
from ragauge.dashboard.pages.runs import labels_of
from ragauge.dashboard.parts import Field, select
from ragauge.dashboard.query import BadAddress, Query
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.names import short_name
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Span, Text
from ragauge.reports.kinds import history as line
from ragauge.reports.kinds import runs as story
from ragauge.runners.run_history import MORE, lines_by, run_history
from ragauge.store.recorded import plain

LONGEST = 1_000
"""Runs of a line at most."""
LINES_OFFERED, LINES_LISTED = 200, 12
LATELY = 50
"""Runs by which the line is chosen where nobody names one, so that a stray run hides none."""
OTHER_RUNS = "other_runs"  # the finding that the page shows as links instead
CODE = "ragauge score gold.jsonl traces.jsonl --record --name nightly"


def page(material: Material, links: Links, query: Query) -> Page:
    """The line of the metric an address names, else of the line that was run most lately."""
    pages, metrics = material.pages, material.pages.metrics()
    if not metrics:
        about = "A metric has a line once runs that measure it are recorded."
        return _page(links, "", parts.header("History"), parts.empty("No runs yet", about, CODE))
    options = HistoryOptions(
        name=query.optional("name"),
        command=query.optional("command"),
        branch=query.optional("branch"),
        labels=labels_of(query),
        last=max(1, min(query.number("last", HistoryOptions().last), LONGEST)),
    )
    named, by = query.text("metric"), query.text("by")
    filters = RunQuery(
        name=options.name, command=options.command, labels=options.labels, limit=LATELY
    )

    def matches(run: Run) -> bool:
        branch = run.record.git.branch if run.record.git else None
        names = (name for id in run.record.metrics for name in (id, short_name(id)))
        return options.branch in (None, branch) and (not named or named in names)

    runs = [run for run in pages.runs(filters).rows if matches(run)]
    lately, is_chosen = Counter(map(_kind, runs)), options.name is None or options.command is None
    for (command, name), _ in lately.most_common(1):
        options = structs.replace(options, name=name, command=command)
    here = [run for run in runs if _kind(run) == (options.command, options.name)]
    # The first headline of the newest run; else the metric that most runs have.
    headline = next(iter(story.headlines(here[:1])), max(sorted(metrics), key=metrics.__getitem__))
    metric = named or headline
    newest = pages.runs(RunQuery(limit=1)).rows
    of_what = (newest[0].id if newest else "", sum(pages.commands().values()))
    header = parts.header([Span(metric), Span(" over runs")])
    form = _form(pages, links, metric, options, by)
    try:
        report = material.jobs.get(
            ("history", metric, canonical(options), *of_what),
            lambda: run_history(material.history, metric, options),
            PATIENCE_S,
        )
    except InputRejected:
        every = Span("Show the newest runs of this metric", href=links.history(metric) or "")
        why = Span("No recorded run has this name, command, branch and these labels. ")
        empty = parts.empty("No run matches", [why, every, Span(", or record one:")], CODE)
        return _page(links, metric, header, form, empty)
    except UsageError as error:
        raise Missing(*error.problems) from error
    if report is None:
        waiting = _page(links, metric, header, form, parts.computing("Computing the line"))
        return structs.replace(waiting, refresh_s=1)
    labels = sorted({key for point in report.points for key in point.labels})
    if by and by not in labels:
        listed = f"they have {', '.join(labels)}" if labels else "they have none"
        raise BadAddress(f'by: no run of this line has a label "{by[:80]}"; {listed}')
    chosen = (
        f"Chosen among {len(lately)} lines for having the most of the last "
        f"{len(runs)} runs that match; name another above or below."
    )
    found = [one for one in report.findings if one.code != OTHER_RUNS]
    counts = {code: n for code, n in report.finding_counts.items() if code != OTHER_RUNS}
    verdict, *blocks = line.blocks(
        structs.replace(report, findings=tuple(found), finding_counts=counts),
        by,
        lines_by(report, by) if by else {},
        _regressed(material, report),
    )
    made = _page(
        links,
        report.metric,
        verdict,
        _form(pages, links, metric, options, by, labels),
        *([Text(chosen, "soft")] if is_chosen and len(lately) > 1 else []),
        *_other_lines(pages, links, report, metric),
        *blocks,
    )
    return structs.replace(made, to=PageTargets(run=links.run), name="history")


def _page(links: Links, title: str, *blocks: Block) -> Page:
    crumbs = [("Runs", links.runs()), ("History", links.history() if title else None)]
    return Page(
        title=f"{title} over runs" if title else "History",
        here="history",
        blocks=blocks,
        links=links,
        crumbs=(*crumbs, (title, None)) if title else tuple(crumbs),
    )


def _kind(run: Run) -> tuple[str, str]:
    return run.record.command, run.record.name


def _form(
    pages: PagedHistory,
    links: Links,
    metric: str,
    options: HistoryOptions,
    by: str,
    labels: Sequence[str] = (),
) -> Block:
    """What chooses the line: the metric, the runs, and the label that divides them."""
    known = {id: f"{id} ({phrasing.count(n)})" for id, n in sorted(pages.metrics().items())}
    kinds = pages.kinds(metric, LINES_OFFERED)
    newest = {"": "any: the line run most lately"}
    names = newest | {kind.name: kind.name for kind in sorted(kinds, key=lambda it: it.name)}
    commands = newest | {it.command: it.command for it in sorted(kinds, key=lambda it: it.command)}
    given = [f"{key}={value}" for key, value in options.labels.items()] or [""]
    keys = {"": "one line"} | {key: key for key in (*labels, by) if key}
    return parts.form(
        links.history(),
        select("metric", metric, "Metric", ({metric: metric} | known).items()),
        select("name", plain(options.name) or "", "Name", names.items()),
        select("command", plain(options.command) or "", "Command", commands.items()),
        Field("branch", options.branch or "", "Branch"),
        *(Field("label", label, "Label", "key=value") for label in given),
        select("by", by, "By label", keys.items()),
        Field("last", str(options.last), "Runs", kind="number"),
        button="Show",
    )


def _other_lines(
    pages: PagedHistory, links: Links, report: HistoryReport, metric: str
) -> Iterator[Block]:
    """The way to other lines: those with the metric, then those that were run lately."""
    # As the database spells it.
    here = tuple(plain(report.identity[key]) for key in ("of", "name"))
    having = {(kind.command, kind.name): kind.runs for kind in pages.kinds(metric, LINES_OFFERED)}
    lately = Counter(map(_kind, pages.runs(RunQuery(limit=LATELY)).rows)).most_common()
    others = {(plain(command), plain(name)): times for (command, name), times in lately}
    lines = [
        (kind, times) for kind, times in {**having, **others, **having}.items() if kind != here
    ]
    spans = []
    for (command, name), times in lines[:LINES_LISTED]:
        to = links.history(metric if (command, name) in having else "", name=name, command=command)
        spans += [Span(", "), Span(f"{name} ({command})", foreign=True, href=to or "")]
        spans.append(Span(f" {phrasing.count(times)}", "soft"))
    if spans and links.runs():
        left = len(lines) - LINES_LISTED
        more = f" and {phrasing.count(left)} more" if left > 0 else ""
        yield Text([Span("Other lines: "), *spans[1:], Span(more)], "soft")


def _regressed(material: Material, report: HistoryReport) -> set[str]:
    """Runs of the line that passed, and then failed a gated comparison."""
    identity = report.identity
    which = RunFilter(
        command=identity["of"],
        name=identity["name"],
        branch=identity["options"]["branch"],
        labels=identity["options"]["labels"],
        green=False,
        limit=MORE * len(report.points),
    )
    return {run.id for run in material.history.runs(which) if run.regressions}
