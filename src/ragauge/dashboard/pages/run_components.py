"""A component's evaluation: matrices, tables by type, spread, slices, errors, grounded answers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from ragauge.contracts.evaluation import (
    AnswerDetail,
    EvalAllReport,
    EvalReport,
    RankingDetail,
)
from ragauge.contracts.history import REPORT
from ragauge.dashboard import parts
from ragauge.dashboard.listing import Listed
from ragauge.dashboard.pages.opened_run import QUESTIONS, REFRESH_S, OpenedRun, TabView, ToRun
from ragauge.dashboard.pages.type_scatter import scatter
from ragauge.dashboard.parts import Field
from ragauge.errors import InputRejected, UsageError
from ragauge.reports import document as doc
from ragauge.reports.document import Block, Document, Section, Span, Text
from ragauge.reports.forms import document_of
from ragauge.reports.kinds.evaluation_errors import (
    Errors,
    ShownError,
    counts_table,
    errors_of,
    errors_table,
    kind_word,
)
from ragauge.reports.kinds.evaluation_rankings import FAMILY, ranking, spread, tenths, value_of
from ragauge.reports.kinds.runs import stored_report
from ragauge.reports.numbers import count, counted

TYPES_OFFERED = 40
SPAN = re.compile(r":\d+–\d+$")
"""What the key of a mention has after its document."""
Tab = TypeVar("Tab")


class Component(Struct, frozen=True, kw_only=True):
    """The evaluation of one task, alone in its run or one of several."""

    opened: OpenedRun
    report: EvalReport
    document: Document
    tab: str
    before: str = ""
    """What the ids of its units begin with besides."""
    waits: list[str] = []
    """What is still being computed."""

    def view(self, *blocks: Block) -> TabView:
        return TabView(
            blocks=blocks, to=_ToUnits(self), refresh_s=REFRESH_S if self.waits else None
        )


def tabs(opened: OpenedRun, tab: Callable[..., Tab]) -> Iterator[Tab]:
    """The tabs of a run of one task."""

    def alone(name: str) -> Component:
        document = document_of(opened.report)
        return Component(opened=opened, report=opened.report, document=document, tab=name, waits=[])

    def components(opened: OpenedRun) -> TabView:
        one = alone("components")
        return one.view(*_contents(one, {**_pictures(one), **_tables(one)}))

    def errors(opened: OpenedRun) -> TabView:
        one = alone("errors")
        return one.view(*_errors(one))

    def support(opened: OpenedRun) -> TabView:
        one = alone("support")
        return one.view(*_answers(one))

    yield tab("components", "Components", components)
    if found := errors_of(opened.report):
        yield tab("errors", "Errors", errors, found.total)
    if _has_answers(opened.report):
        yield tab("support", "Support", support)


def task_view(opened: OpenedRun, task: str) -> TabView:
    """One task of several: its numbers first, then its tables, errors and answers."""
    report = opened.report.tasks[task]
    one = Component(
        opened=opened,
        report=report,
        document=document_of(report),
        tab=task,
        before=f"{task}/",
        waits=[],
    )
    part = one.document.part
    units = opened.links.run(opened.run.id, QUESTIONS, q=one.before)
    found = {
        "Advice": part("advice") if report.advice else [],
        "Gates and metrics": part("gates", "metrics"),
        **_pictures(one),
        **_tables(one),
        "Errors": [*_errors(one)] if errors_of(report) else [],
        "Answers": [*_answers(one)] if _has_answers(report) else [],
        "Findings": part("findings") if report.finding_counts else [],
    }
    return one.view(Text([Span("Its units, one by one", href=units or "")]), *_contents(one, found))


def _contents(one: Component, found: dict[str, list[Block]]) -> Iterator[Block]:
    """The parts of a tab, with a list of them above."""
    there = {title: blocks for title, blocks in found.items() if blocks}
    anchors = {title: f"part-{re.sub(r'[^a-z]+', '-', title.lower())}" for title in there}
    if len(there) > 1 and one.opened.links.run(one.opened.run.id, one.tab):
        spans = [Span("On this tab: ")]
        for title in there:
            spans += [Span(" · ")] if len(spans) > 1 else []
            spans.append(Span(title, to=("here", anchors[title])))
        yield Text(spans)
    for title, blocks in there.items():
        yield Section(title="", blocks=blocks, anchor=anchors[title])


def _tables(one: Component) -> dict[str, list[Block]]:
    return {"Tables": one.document.part("tables"), "Slices": one.document.part("slices")}


def _pictures(one: Component) -> dict[str, list[Block]]:
    types = scatter(one.report.per_type)
    return {
        "Matrix": one.document.part("confusion"),
        "Precision and recall by type": [types] if types else [],
        "Spread of the queries": list(_spread(one)),
    }


def _spread(one: Component) -> Iterator[Block]:
    """The spread over all queries, also of those that the summary of the report has cut.

    Of many queries it is counted in the background, once.
    """
    detail, by, opened = one.report.detail, ranking(one.report), one.opened
    if not isinstance(detail, RankingDetail) or by is None:
        return
    id = f"{FAMILY}{by.name}"
    score = one.report.metrics.get(id)

    def values() -> Iterator[float]:
        for row in opened.material.history.units(opened.run.id):
            if row.unit.startswith(one.before) and id in row.values:
                yield row.values[id]

    if score is None or score.of <= len(detail.queries):
        found = tenths(value_of(row, by.name) for row in detail.queries)
    else:
        key = ("spread", opened.run.id, one.before, id)
        counting = opened.material.jobs.get(key, lambda: tenths(values()))
        if counting is None:
            one.waits.append("spread")
            yield parts.computing("Counting the queries")
            return
        found = counting
    if found:
        yield spread(by, found)


def _has_answers(report: EvalReport) -> bool:
    return isinstance(report.detail, AnswerDetail) and bool(report.detail.worst)


def _answers(one: Component) -> Iterator[Block]:
    """The least grounded answers; the download has a row for each sentence that is shown."""
    yield from one.document.part("grounds")
    detail: Any = one.report.detail
    rows: list[tuple[object, ...]] = []
    for answer in detail.worst:
        about = (answer.id, answer.question, answer.answer)
        if not answer.sentences:
            rows.append((*about, None, None, None, None))
        for number, each in enumerate(answer.sentences, 1):
            chunk = each.evidence.chunk if each.evidence else None
            rows.append((*about, number, each.support.text, each.support.score, chunk))
    columns = ("id", "question", "answer", "sentence", "text", "support", "evidence")
    yield doc.Data("answers", columns, lambda: rows)


def _errors(one: Component) -> Iterator[Block]:
    """A page of the errors that the address asks for, with the form that chooses them."""
    opened, cut = one.opened, errors_of(one.report)
    if cut is None:
        yield parts.empty("No errors")
        return
    errors, asked = _complete(one, cut), opened.asked
    words, kind, type = asked.text("q").casefold().split(), asked.text("kind"), asked.text("type")

    def text(error: ShownError) -> str:
        facts = (text for _, text in error.facts)
        pieces = "".join(piece.text for piece in error.pieces)
        return " ".join((error.name, error.where, *facts, pieces)).casefold()

    found = [
        error
        for error in errors.kept
        if (not kind or error.kind == kind)
        and (not type or error.type == type)
        and (not words or all(word in text(error) for word in words))
    ]
    shown = found[asked.start : asked.start + asked.limit]
    yield counts_table(errors)
    action = opened.links.run(opened.run.id, one.tab)
    kinds = [
        (name, f"{kind_word(name)} ({count(errors.counts[name])})") for name in errors.kinds_seen
    ]
    fields = [
        Field(title="Search", name="q", value=asked.text("q"), kind="search", hint="words, ids"),
        Field(title="Kind", name="kind", value=kind, kind="select", options=[("", "all"), *kinds]),
    ]
    types = Counter(error.type for error in errors.kept if error.type)
    if len(types) > 1:
        ranked = sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))[:TYPES_OFFERED]
        options = [("", "all"), *((name, f"{name} ({count(times)})") for name, times in ranked)]
        fields.append(Field(title="Type", name="type", value=type, kind="select", options=options))
    filtered = bool(words or kind or type)
    yield parts.form(action, *fields, replaces="errors", clear=action if filtered else None)
    inside: list[Block] = []
    if len(errors.kept) < errors.total:
        more = ", and more of them are being read" if one.waits else ""
        kept = f"{count(len(errors.kept))} of {counted(errors.total, 'error')} are kept{more}."
        inside.append(Text(kept, "soft"))
    inside.append(errors_table(errors, shown) if shown else parts.empty("Nothing matches"))
    page = Listed(shown, len(found), asked.start, asked.limit, "")
    inside.append(parts.pager(page, opened.tab_address(one.tab)))
    inside.append(doc.Data("errors", *_exported(found)))
    yield Section(title="", blocks=inside, anchor="errors")


def _exported(
    errors: Sequence[ShownError],
) -> tuple[Sequence[str], Callable[[], Iterator[tuple[object, ...]]]]:
    def rows() -> Iterator[tuple[object, ...]]:
        for one in errors:
            facts = tuple(f"{name} {text}" for name, text in one.facts)
            pieces = "".join(piece.text for piece in one.pieces)
            yield one.kind, one.name, one.type, pieces, facts, one.where

    return ("kind", "unit", "type", "text", "facts", "where"), rows


def _complete(one: Component, cut: Errors) -> Errors:
    """All errors that the report keeps, read once in the background; until then some of each kind.

    Where the report is gone, those of the summary are all there is.
    """
    opened = one.opened

    def read() -> Errors:
        content = opened.material.file(opened.run, REPORT)
        report = stored_report(content, opened.run.shown) if content else None
        if isinstance(report, EvalAllReport):
            report = report.tasks[one.before.removesuffix("/")]
        return (errors_of(report) if isinstance(report, EvalReport) else None) or cut

    if len(cut.kept) == cut.total:
        return cut
    try:
        found = opened.material.jobs.get(("errors", opened.run.id, one.before), read)
    except (UsageError, InputRejected):
        return cut
    if found is None:
        one.waits.append("errors")
    return found or cut


class _ToUnits(ToRun):
    """Links of a task: an error leads to its document or mention, where that is a unit."""

    def __init__(self, one: Component) -> None:
        super().__init__(one.opened, before=one.before)

    def question(self, qid: str) -> str | None:
        opened, unit = self._opened, self._before + SPAN.sub("", qid)
        known = opened.material.pages.ends([opened.run], [unit]).get(opened.run.id, {})
        return super().question(SPAN.sub("", qid)) if unit in known else None
