"""A component's evaluation: its tables and plots, its errors one by one, its grounded answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any

from msgspec import Struct

from ragauge.contracts.evaluation import AnswerDetail, EvalAllReport, EvalReport, RankingDetail
from ragauge.contracts.history import REPORT
from ragauge.contracts.paging import Paged
from ragauge.dashboard import parts
from ragauge.dashboard.page import Page
from ragauge.dashboard.pages.opened_run import REFRESH_S, OpenedRun, RunTargets, Tab
from ragauge.dashboard.parts import Field, listed
from ragauge.dashboard.unit_list import units_tab
from ragauge.errors import InputRejected, UsageError
from ragauge.metrics.worst_first import ranking
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Document, Section, Span, Text
from ragauge.reports.kinds import evaluation_tables as tables
from ragauge.reports.kinds.eval_all import TITLES
from ragauge.reports.kinds.evaluation_rankings import spread, tenths
from ragauge.reports.phrasing import count, pluralize
from ragauge.reports.rendering import document_of
from ragauge.store.recorded import stored_report

TYPES_OFFERED = 40
SPAN = re.compile(r":\d+–\d+$")
"""What the key of a mention has after its document."""


class Component(Struct, frozen=True, kw_only=True, dict=True):
    """The evaluation of one task, alone in its run or one of several."""

    opened: OpenedRun
    report: EvalReport
    tab: str
    before: str = ""
    """What the ids of its units begin with besides."""
    waits: list[str]
    """What is still being computed."""

    @cached_property
    def document(self) -> Document:
        return document_of(self.report)

    def view(self, *blocks: Block) -> Page:
        to = _UnitTargets(self.opened, before=self.before)
        return self.opened.view(*blocks, to=to, refresh_s=REFRESH_S if self.waits else None)


def tabs(opened: OpenedRun) -> Iterator[Tab]:
    """The tabs of a run of one task."""

    def of(
        name: str, title: str, blocks: Callable[[Component], Iterable[Block]], times: int | None
    ) -> Tab:
        def view(opened: OpenedRun) -> Page:
            one = Component(opened=opened, report=opened.report, tab=name, waits=[])
            return one.view(*blocks(one))

        return Tab(name, title, view, times)

    yield of("components", "Components", lambda one: _contents(one, _measured(one)), None)
    if found := tables.errors_of(opened.report):
        shown = partial(_errors, cut=found)
        yield of("errors", "Errors", shown, sum(found.error_counts.values()))
    if _has_answers(opened.report):
        yield of("support", "Support", _answers, None)


def task_view(opened: OpenedRun, task: str) -> Page:
    """One task of several: its numbers first, then its tables, errors and answers."""
    report = opened.report.tasks[task]
    tab = TITLES[task].lower()
    one = Component(opened=opened, report=report, tab=tab, before=f"{task}/", waits=[])
    part, cut = one.document.part, tables.errors_of(report)
    units = opened.links.run(opened.run.id, units_tab(opened.run), q=one.before)
    found = {
        "Advice": part("advice") if report.advice else [],
        "Gates and metrics": part("gates", "metrics"),
        **_measured(one),
        "Errors": [*_errors(one, cut)] if cut else [],
        "Answers": [*_answers(one)] if _has_answers(report) else [],
        "Findings": part("findings") if report.finding_counts else [],
    }
    return one.view(Text([Span("Its units, one by one", href=units or "")]), *_contents(one, found))


def _contents(one: Component, found: dict[str, list[Block]]) -> Iterator[Block]:
    """The parts of a tab, with a list of them above."""
    there = [
        (title, f"part-{re.sub(r'[^a-z]+', '-', title.lower())}", blocks)
        for title, blocks in found.items()
        if blocks
    ]
    if len(there) > 1 and one.opened.links.run(one.opened.run.id, one.tab):
        titles = (Span(title, to=("here", anchor)) for title, anchor, _ in there)
        yield Text([Span("On this tab: "), *doc.joined(titles, " · ")])
    for _, anchor, blocks in there:
        yield Section(title="", blocks=blocks, anchor=anchor)


def _measured(one: Component) -> dict[str, list[Block]]:
    part = one.document.part
    return {
        "Matrix": part("confusion"),
        "Spread of the queries": list(_spread(one)),
        "Tables": part("tables"),
        "Slices": part("slices"),
    }


def _spread(one: Component) -> Iterator[Block]:
    """The spread over all queries, also of those that the summary of the report has cut.

    Of many queries it is counted in the background, once.
    """
    detail, by, opened = one.report.detail, ranking(one.report), one.opened
    if not isinstance(detail, RankingDetail) or by is None:
        return
    score = one.report.metrics.get(by.id)

    def counts() -> list[int]:
        units = opened.material.history.units(opened.run.id)
        return tenths(row.values.get(by.id) for row in units if row.unit.startswith(one.before))

    if score is None or score.of <= len(detail.queries):
        found: list[int] | None = tenths(row.values.get(by.id) for row in detail.queries)
    else:
        found = opened.material.jobs.get(("spread", opened.run.id, one.before, by.id), counts)
    if found is None:
        one.waits.append("spread")
        yield parts.computing("Counting the queries")
    elif found:
        yield spread(by, found)


def _has_answers(report: EvalReport) -> bool:
    return isinstance(report.detail, AnswerDetail) and bool(report.detail.worst)


def _answers(one: Component) -> Iterator[Block]:
    """The least grounded answers; the download has a row for each sentence."""
    yield from one.document.part("grounds")
    detail: Any = one.report.detail
    rows = [
        (
            *(answer.id, answer.question, answer.answer, number),
            *(each.support.text, each.support.score, each.evidence and each.evidence.chunk),
        )
        for answer in detail.worst
        for number, each in enumerate(answer.sentences, 1)
    ]
    columns = ("id", "question", "answer", "sentence", "text", "support", "evidence")
    yield doc.Data("answers", columns, lambda: rows)


def _errors(one: Component, cut: tables.WithErrors) -> Iterator[Block]:
    """A page of the errors that the address asks for, with the form that chooses them."""
    opened, detail = one.opened, _complete(one, cut)
    query, total = opened.query, sum(detail.error_counts.values())
    words, kind, type = query.text("q").casefold().split(), query.text("kind"), query.text("type")

    def text(error: tables.Error) -> str:
        return "".join(span.text for span in tables.text_of(error) if span.foreign)

    def matches(error: tables.Error) -> bool:
        facts = tables.facts_of(error).values()
        known = " ".join((tables.unit_of(error), error.where, *facts, text(error))).casefold()
        return all(word in known for word in words)

    def row(error: tables.Error) -> tuple[object, ...]:
        facts = tuple(f"{name} {text}" for name, text in tables.facts_of(error).items())
        unit, its_type = tables.unit_of(error), tables.type_of(error)
        return error.kind, unit, its_type, text(error), facts, error.where

    found = [
        error
        for error in detail.errors
        if kind in ("", error.kind)
        and type in ("", tables.type_of(error))
        and (not words or matches(error))
    ]
    shown = found[query.start : query.start + query.limit]
    yield tables.counts_table(detail)
    kinds = [
        (name, f"{tables.title_of(name)} ({count(detail.error_counts[name])})")
        for name in tables.kinds_seen(detail)
    ]
    fields = [
        Field("q", query.text("q"), "Search", "words, ids", kind="search"),
        parts.select("kind", kind, "Kind", [("", "all"), *kinds]),
    ]
    types = Counter(name for error in detail.errors if (name := tables.type_of(error)))
    if len(types) > 1:
        ranked = types.most_common(TYPES_OFFERED)
        options = [("", "all"), *((name, f"{name} ({count(times)})") for name, times in ranked)]
        fields.append(parts.select("type", type, "Type", options))
    action = opened.links.run(opened.run.id, one.tab)
    clear = action if words or kind or type else None
    yield parts.form(action, *fields, replaces="errors", clear=clear)
    inside: list[Block] = []
    if len(detail.errors) < total:
        more = ", and more of them are being read" if one.waits else ""
        kept = f"{count(len(detail.errors))} of {pluralize(total, 'error')} are kept{more}."
        inside.append(Text(kept, "soft"))
    page = listed(
        Paged(rows=tuple(shown), total=len(found), start=query.start), query, "", action or ""
    )
    table = [tables.errors_table(shown, name=None)] if shown else []  # the download has all
    inside.append(parts.results("", page, "error", clear, *table))
    columns = ("kind", "unit", "type", "text", "facts", "where")
    inside.append(doc.Data("errors", columns, lambda: map(row, found)))
    yield Section(title="", blocks=inside, anchor="errors")


def _complete(one: Component, cut: tables.WithErrors) -> tables.WithErrors:
    """All errors that the report keeps, read once in the background; until then some of each kind.

    Where the report is gone, those of the summary are all there is.
    """
    opened = one.opened

    def read() -> tables.WithErrors:
        content = opened.material.file(opened.run, REPORT)
        report = stored_report(content, opened.run.shown) if content else None
        if isinstance(report, EvalAllReport):
            report = report.tasks[one.before.removesuffix("/")]
        return (tables.errors_of(report) if isinstance(report, EvalReport) else None) or cut

    if len(cut.errors) == sum(cut.error_counts.values()):
        return cut
    try:
        found = opened.material.jobs.get(("errors", opened.run.id, one.before), read)
    except (UsageError, InputRejected):
        return cut
    if found is None:
        one.waits.append("errors")
    return found or cut


class _UnitTargets(RunTargets):
    """Links of a task: an error leads to its document or mention, where that is a unit."""

    def question(self, qid: str) -> str | None:
        opened, unit = self._opened, self._before + SPAN.sub("", qid)
        known = opened.material.pages.ends([opened.run], [unit]).get(opened.run.id, {})
        return super().question(SPAN.sub("", qid)) if unit in known else None
