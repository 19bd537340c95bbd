"""The report for a terminal: the verdict first, then what it rests on, then what to do.

Foreign text reaches the screen only as `Text` made of `shown` words: never as markup, never
with an escape of its own.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from ragauge.contracts.score import Advice, Change, Comparison, QuestionRow, Score, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.reports import numbers, story
from ragauge.reports.foreign import shown

NARROWEST = 40
NARROWEST_PLACE = 16
LONGEST = 400
"""Characters of a foreign text: nobody reads a longer one here."""
MARGIN = 2
GAP = 2
WIDEST_BAR = 40
ADVICE_IN_FULL = 5
QUESTIONS_SHOWN = 10
CHANGES_SHOWN = 20
VALUES_SHOWN = 8

_EIGHTHS = " ▏▎▍▌▋▊▉"
_STYLES = {
    "PASS": "bold green",
    "FAIL": "bold red",
    "NOT EVALUATED": "bold red",
    "not evaluated": "yellow",
    "pass": "green",
    "better": "green",
    "worse": "bold red",
}


def render(report: ScoreReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = _Page(color, max(width, NARROWEST))
    names = story.metric_names(report)
    _verdict(page, report)
    _gates(page, report, names)
    _other_metrics(page, report, names)
    _labels(page, report)
    _strata(page, report, names)
    _advice(page, report.advice)
    _questions(page, report)
    if report.baseline:
        _baseline(page, report, report.baseline, names)
    _findings(page, report)
    _coverage(page, report)
    return page.text()


class _Page:
    """Lines of at most a width, in sections."""

    def __init__(self, color: bool, width: int) -> None:
        self.width = width
        self._out = io.StringIO()
        self._console = Console(
            file=self._out,
            width=width,
            color_system="standard" if color else None,
            force_terminal=color,
            legacy_windows=False,
            markup=False,
            emoji=False,
            highlight=False,
            _environ={},  # the caller decides on width and color, not the environment
        )

    def section(self, title: str, beside: Text | None = None) -> None:
        heading = _words(title, "bold")
        self.line(Text())
        self.line(heading if beside is None else Text("  ").join((heading, beside)))

    def line(self, text: Text) -> None:
        """One line, cut where the page ends."""
        text.rstrip()
        text.truncate(self.width, overflow="ellipsis")
        self._console.print(text, no_wrap=True, overflow="ignore", crop=False)

    def paragraph(self, text: Text, indent: int = MARGIN, first: Text | None = None) -> None:
        """Wrapped lines, all indented; `first` stands in the indent of the first one."""
        start = Text(" " * indent) if first is None else first
        for line in text.wrap(self._console, self.width - indent, overflow="fold"):
            self.line(start + line)
            start = Text(" " * indent)

    def table(
        self, rows: Sequence[Sequence[Text]], right: Iterable[int] = (), notes: Sequence[Text] = ()
    ) -> None:
        """Aligned rows, the widest column giving way where they do not fit; notes below rows."""
        right = frozenset(right)
        widths = _fitted(_widths(rows), self.width - MARGIN)
        for row, note in zip(rows, notes or [Text()] * len(rows), strict=True):
            line = Text(" " * MARGIN)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
                cell.truncate(width, overflow="ellipsis")
                cell.align("right" if place in right else "left", width)
                line.append_text(cell).append(" " * GAP)
            self.line(line)
            if note:
                self.paragraph(note, indent=2 * MARGIN)

    def text(self) -> str:
        return self._out.getvalue()


def _widths(rows: Sequence[Sequence[Text]]) -> list[int]:
    return [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]


def _fitted(widths: list[int], room: int) -> list[int]:
    """The widths, with the widest cut until all fit with their gaps."""
    fitted = list(widths)
    while sum(fitted) + GAP * (len(fitted) - 1) > room and max(fitted) > 1:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def _words(text: str, style: str = "") -> Text:
    return Text(shown(text, LONGEST), style)


def _note(text: str | None) -> Text:
    return _words(text or "", "dim")


def _head(*titles: str) -> list[Text]:
    return [_note(title) for title in titles]


def _styled(word: str) -> Text:
    return Text(word, _STYLES.get(word, ""))


def _verdict(page: _Page, report: ScoreReport) -> None:
    word, words = story.verdict_words(report)
    page.line(Text.assemble(_styled(word), "  ", (words, "bold")))


def _gates(page: _Page, report: ScoreReport, names: dict[str, str]) -> None:
    if not report.gates:
        return
    page.section("Gates")
    interval = story.interval_title(report)
    rows = [_head("metric", "value", interval, "scored", "bound", "verdict")]
    rows += [_gate(report, gate, names) for gate in report.gates]
    page.table(
        rows, right={1, 3}, notes=[Text(), *(_note(story.gate_note(gate)) for gate in report.gates)]
    )


def _gate(report: ScoreReport, gate: Verdict, names: dict[str, str]) -> list[Text]:
    return [
        _words(names[gate.metric], "" if gate.holds else "bold"),
        Text(numbers.value_beside(gate.value, gate.bound)),
        Text(numbers.interval(gate.ci), "dim"),
        Text(numbers.n_of(gate.n, story.scored_of(report, gate)), "dim"),
        Text(numbers.bound(gate)),
        _styled(story.gate_word(gate)),
    ]


def _other_metrics(page: _Page, report: ScoreReport, names: dict[str, str]) -> None:
    others = story.other_metrics(report)
    if not others:
        return
    page.section("Other metrics" if report.gates else "Metrics")
    rows = [_head("metric", "value", "95 % interval", "scored")]
    rows += [_metric(names[id], score) for id, score in others]
    page.table(rows, right={1, 3}, notes=[Text(), *(_note(score.reason) for _, score in others)])


def _metric(name: str, score: Score) -> list[Text]:
    return [
        _words(name),
        Text(numbers.value(score.value)),
        Text(numbers.interval(score.ci), "dim"),
        Text(numbers.n_of(score.n, score.of), "dim"),
    ]


def _labels(page: _Page, report: ScoreReport) -> None:
    labels = story.labels_in_order(report)
    if not labels:
        return
    page.section("Labels")
    total, most = sum(times for _, times in labels), max(times for _, times in labels)
    names = max(len(shown(label)) for label, _ in labels)
    room = min(WIDEST_BAR, max(8, page.width - MARGIN - names - 3 * GAP - len("10,000  100.0 %")))
    rows = [
        [
            _words(label),
            Text(bar(times / most, room), "green" if label in GOOD_LABELS else "red"),
            Text(numbers.count(times)),
            Text(numbers.share(times, total), "dim"),
        ]
        for label, times in labels
    ]
    page.table(rows, right={2, 3})


def bar(part: float, width: int) -> str:
    """A bar of blocks, in eighths of a column; what is there at all shows.

    >>> bar(1, 4), bar(0.53, 4), bar(0.0001, 4)
    ('████', '██▏', '▏')
    """
    whole, eighths = divmod(max(1, round(part * width * 8)), 8)
    return ("█" * whole + _EIGHTHS[eighths]).rstrip()


def _strata(page: _Page, report: ScoreReport, names: dict[str, str]) -> None:
    for one in story.slices(report):
        (low_name, low), (high_name, high) = one.low, one.high
        lows, highs = f"{numbers.value(low)} ({low_name})", f"{numbers.value(high)} ({high_name})"
        differs = f"{names[one.metric]} from {lows} to {highs}"
        page.section(f"By {one.stratum}", _note(differs))
        _slice(page, one, names)


def _slice(page: _Page, one: story.Slice, names: dict[str, str]) -> None:
    told = one.told[:VALUES_SHOWN]
    ids = list(told[0][2])
    starred = any(0 < score.n < story.FEW for _, _, scores in told for score in scores.values())
    rows = [
        [
            _words(name),
            _note(numbers.count(questions)),
            *(_sliced(scores.get(id), " " if starred else "") for id in ids),
        ]
        for name, questions, scores in told
    ]
    heads = _slice_heads([names[id] for id in ids], rows, page.width - MARGIN)
    page.table([*heads, *rows], right=range(1, len(ids) + 2))
    more = len(one.values) - len(told)
    notes = [f"and {numbers.counted(more, 'more value')}"] if more else []
    notes += [f"* over fewer than {story.FEW} questions"] if starred else []
    if notes:
        page.paragraph(_note("; ".join(notes)))


def _slice_heads(names: list[str], rows: list[list[Text]], room: int) -> list[list[Text]]:
    """The names over their columns, on two lines where one would be too wide."""
    whole = _head("value", "n", *names)
    widths = _widths([whole, *rows])
    if sum(widths) + GAP * (len(widths) - 1) <= room:
        return [whole]
    halves = [name.rpartition("_") for name in names]
    return [
        _head("", "", *(first + mark for first, mark, _ in halves)),
        _head("value", "n", *(last for _, _, last in halves)),
    ]


def _sliced(score: Score | None, pad: str) -> Text:
    if score is None or score.value is None:
        return _note(numbers.ABSENT).append(pad)
    if score.n < story.FEW:
        return _note(numbers.value(score.value) + "*")
    return Text(numbers.value(score.value) + pad)


def _advice(page: _Page, advice: Sequence[Advice]) -> None:
    if not advice:
        return
    page.section("Advice", Text("hypotheses, the best supported first", "dim"))
    for number, one in enumerate(advice, 1):
        full = number <= ADVICE_IN_FULL
        mark = f"{number}. ".rjust(MARGIN + len(f"{len(advice)}. "))
        page.paragraph(_words(one.title, "bold"), len(mark), Text(mark))
        page.paragraph(_words(one.evidence), len(mark))
        if full:
            page.paragraph(_labelled("Confirm", one.confirm), len(mark))
            page.paragraph(_labelled("Change", one.action), len(mark))
        if one.questions:
            page.paragraph(_labelled("See", " ".join(one.questions)), len(mark))


def _labelled(label: str, text: str) -> Text:
    return Text.assemble((f"{label}: ", "dim"), _words(text))


def _questions(page: _Page, report: ScoreReport) -> None:
    wrong = story.wrong_questions(report, QUESTIONS_SHOWN)
    if not wrong:
        return
    page.section("Questions that went wrong")
    rows = [[_words(row.qid, "bold"), _words(row.label), _note(row.triage)] for row in wrong]
    room = page.width - MARGIN - sum(_widths(rows)) - GAP * 3
    beside = room >= NARROWEST_PLACE
    if beside:
        for row, question in zip(rows, wrong, strict=True):
            row.append(_end_of(_note(question.where), room))
    page.table(rows, notes=[_answer(row, page.width - 2 * MARGIN, not beside) for row in wrong])
    more = len(story.wrong_questions(report)) - len(wrong)
    if more:
        page.paragraph(_note(f"and {numbers.count(more)} more"))


def _answer(row: QuestionRow, room: int, with_place: bool) -> Text:
    """What was said, what was cited and why it failed, on one line."""
    place = _end_of(_note(row.where if with_place else None), room // 3)
    cited = Text(f"[{shown(', '.join(row.cited))}]" if row.cited else "", "dim")
    cited.truncate(room // 3 if place else room // 2, overflow="ellipsis")
    # An exact refusal says no more than its label.
    said = _words((row.claim if row.refusal != "exact" else "") or row.reason or "")
    said.truncate(room - place.cell_len - cited.cell_len - 2 * GAP, overflow="ellipsis")
    return Text(" " * GAP).join(part for part in (place, said, cited) if part)


def _end_of(text: Text, cells: int) -> Text:
    """The text without its beginning where it is too long: of a path, the end tells more."""
    if text.cell_len <= cells:
        return text
    while text and text.cell_len >= cells:
        text = text[1:]
    return Text("…", text.style) + text


def _baseline(
    page: _Page, report: ScoreReport, comparison: Comparison, names: dict[str, str]
) -> None:
    page.section(f"Against {comparison.baseline}", _note(story.baseline_words(report, comparison)))
    moved = {id: change for id, change in comparison.metrics.items() if change.change != 0}
    if moved:
        rows = [_head("metric", "was", "now", "change", "95 % interval", "")]
        rows += [_change(id, names[id], change) for id, change in moved.items()]
        notes = [Text(), *(_note(change.reason) for change in moved.values())]
        page.table(rows, right={1, 2, 3}, notes=notes)
    same = [names[id] for id in comparison.metrics if id not in moved]
    if same:
        page.paragraph(_note(f"unchanged: {', '.join(same)}"))
    _changed_labels(page, comparison)


def _change(id: str, name: str, change: Change) -> list[Text]:
    return [
        _words(name),
        Text(numbers.value(change.baseline)),
        Text(numbers.value(change.value)),
        Text(numbers.signed(change.change)),
        _note(numbers.signed_interval(change.ci)),
        _styled(story.direction(id, change)),
    ]


def _changed_labels(page: _Page, comparison: Comparison) -> None:
    changed = story.changed_labels(comparison)
    if not changed:
        return
    page.line(Text())
    page.paragraph(Text(f"{numbers.counted(len(changed), 'question')} changed label"))
    rows = [
        [_words(one.qid, "bold"), _words(one.was), Text("->"), _words(one.now)]
        for one in changed[:CHANGES_SHOWN]
    ]
    page.table(rows)
    if len(changed) > CHANGES_SHOWN:
        page.paragraph(_note(f"and {numbers.count(len(changed) - CHANGES_SHOWN)} more"))


def _findings(page: _Page, report: ScoreReport) -> None:
    found = story.findings_by_code(report)
    if not found:
        return
    page.section("Findings")
    for code, times, places in found:
        page.line(Text.assemble(" " * MARGIN, _words(code, "bold"), f"  {numbers.count(times)}"))
        for place in places:
            page.line(Text(" " * 2 * MARGIN) + _note(story.finding_text(place)))
        if times > len(places) > 0:
            page.line(
                Text(" " * 2 * MARGIN) + _note(f"and {numbers.count(times - len(places))} more")
            )


def _coverage(page: _Page, report: ScoreReport) -> None:
    title = Text("Coverage  ", "bold")
    page.line(Text())
    page.paragraph(_words(story.coverage_words(report.coverage)), len(title), title)
