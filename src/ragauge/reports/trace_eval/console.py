"""The trace evaluation for a terminal: the verdict, the gates, and codes before knobs."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.audit import LambdaState
from ragauge.contracts.trace_eval import TracedQuestion, TraceEvalReport
from ragauge.reports import numbers, terminal
from ragauge.reports.audit import sections
from ragauge.reports.audit import story as audit
from ragauge.reports.terminal import GAP, MARGIN, Page, bar, head, note, widths, words
from ragauge.reports.trace_eval import story

QUESTIONS_SHOWN = 20
WIDEST_BAR = 20
NARROWEST_BAR = 4
STATE_STYLES: dict[LambdaState, str] = {
    "convergent": "green",
    "divergent": "yellow",
    "recursive": "magenta",
    "chaotic": "red",
    "incomplete": "dim",
}


def render(report: TraceEvalReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    names = audit.metric_names(report.metrics, report.gates)
    others = audit.other_metrics(report.metrics, report.gates)
    recipe = story.recipe_words(report.recipe, report.coverage)
    sections.verdict(page, story.verdict_words(report), recipe)
    sections.gates(page, report.gates, report.metrics, names)
    if report.codes_first:
        _codes(page, report)
    _states(page, report)
    _at_k(page, report)
    _questions(page, report)
    if not report.codes_first:
        _codes(page, report)
    terminal.advice(page, report.advice)
    sections.metrics(page, others, names, "Other metrics" if report.gates else "Metrics")
    found = audit.other_findings(report.codes, report.findings, report.finding_counts)
    terminal.findings(page, found)
    terminal.coverage(page, story.coverage_words(report))
    return page.text()


def _codes(page: Page, report: TraceEvalReport) -> None:
    told = audit.told_codes(report.codes, report.findings)
    sections.codes(page, told, story.codes_words(report))


def _states(page: Page, report: TraceEvalReport) -> None:
    """The states of λ, a bar for retrieval and one for answers."""
    told = story.states(report)
    if not told:
        return
    page.section("λ", note("whether a question's runs agree; questions in each state"))
    most = max(max(one.retrieval, one.answer) for one in told)
    names = [Text(one.state, STATE_STYLES[one.state]) for one in told]
    counts = len(numbers.count(most))
    taken = MARGIN + max(map(len, names)) + 2 * (counts + 2 * GAP)
    room = min(WIDEST_BAR, max(NARROWEST_BAR, (page.width - taken) // 2))
    rows = [[Text(), note("retrieval"), Text(), note("answers"), Text()]]
    for name, one in zip(names, told, strict=True):
        cells = [_counted(times, most, room, one.state) for times in (one.retrieval, one.answer)]
        rows.append([name, *cells[0], *cells[1]])
    page.table(rows, right={2, 4}, notes=[Text(), *(note(story.MEANINGS[s.state]) for s in told)])


def _at_k(page: Page, report: TraceEvalReport) -> None:
    rows = story.at_k(report)
    if rows:
        page.section("k sweep", note("what the first k retrieved chunks would bring"))
        cells = [head(*story.K_HEADS), *([words(cell) for cell in row] for row in rows)]
        page.table(cells, right=range(1, len(story.K_HEADS)))
        if why := story.k_words(report):
            page.paragraph(note(why), MARGIN)


def _counted(times: int, most: int, room: int, state: LambdaState) -> list[Text]:
    drawn = bar(times / most, room) if times else ""
    return [Text(drawn, STATE_STYLES[state]), Text(numbers.count(times), "" if times else "dim")]


def _questions(page: Page, report: TraceEvalReport) -> None:
    ranked = story.ranked(report)
    if not ranked:
        return
    page.section("Questions", note("those that do not converge first"))
    told = ranked[:QUESTIONS_SHOWN]
    heads = head("question", "retrieval", "answers", "breaks", "match", "coverage")
    rows = [heads, *map(_question, told)]
    if MARGIN + sum(widths(rows)) + GAP * (len(heads) - 1) > page.width:
        rows = [[*row[:3], *row[4:]] for row in rows]
    page.table(rows, right={len(rows[0]) - 2, len(rows[0]) - 1}, notes=[Text(), *map(_note, told)])
    if len(ranked) > len(told):
        more = numbers.count(len(ranked) - len(told))
        page.paragraph(note(f"and {more} more; --report FILE.html shows them with their runs"))


def _question(one: TracedQuestion) -> list[Text]:
    return [
        words(one.qid, "bold" if story.unsure(one) else ""),
        _state(one.retrieval),
        _state(one.answer),
        Text(one.broken or ""),
        Text(story.matched_words(one)),
        Text(numbers.value(one.coverage)),
    ]


def _state(state: LambdaState | None) -> Text:
    return Text(story.state_word(state), STATE_STYLES[state] if state else "dim")


def _note(one: TracedQuestion) -> Text:
    return note(story.codes_of(one))
