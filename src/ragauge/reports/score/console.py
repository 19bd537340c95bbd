"""The report for a terminal: the verdict first, then what it rests on, then what to do."""

from __future__ import annotations

from rich.text import Text

from ragauge.contracts.report import Score
from ragauge.contracts.score import Change, Comparison, QuestionRow, ScoreReport
from ragauge.contracts.verdict import Verdict
from ragauge.metrics.quality import GOOD_LABELS
from ragauge.reports import envelope, numbers, terminal
from ragauge.reports.foreign import shown
from ragauge.reports.score import story
from ragauge.reports.terminal import GAP, MARGIN, Page, bar, head, note, styled, widths, words

NARROWEST_PLACE = 16
WIDEST_BAR = 40
QUESTIONS_SHOWN = 10
CHANGES_SHOWN = 20
VALUES_SHOWN = 8


def render(report: ScoreReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    names = story.metric_names(report)
    _verdict(page, report)
    _gates(page, report, names)
    _other_metrics(page, report, names)
    _labels(page, report)
    _strata(page, report, names)
    terminal.advice(page, report.advice)
    _questions(page, report)
    if report.baseline:
        _baseline(page, report, report.baseline, names)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report.coverage))
    return page.text()


def _verdict(page: Page, report: ScoreReport) -> None:
    word, told = story.verdict_words(report)
    page.line(Text.assemble(styled(word), "  ", (told, "bold")))
    if hint := story.how_to_gate(report):
        page.paragraph(note(hint), 0)


def _gates(page: Page, report: ScoreReport, names: dict[str, str]) -> None:
    if not report.gates:
        return
    page.section("Gates")
    interval = envelope.interval_title(report.gates)
    rows = [head("metric", "value", interval, "scored", "bound", "verdict")]
    rows += [_gate(report, gate, names) for gate in report.gates]
    page.table(
        rows,
        right={1, 3},
        notes=[Text(), *(note(envelope.gate_note(gate)) for gate in report.gates)],
    )


def _gate(report: ScoreReport, gate: Verdict, names: dict[str, str]) -> list[Text]:
    return [
        words(names[gate.metric], "" if gate.holds else "bold"),
        Text(numbers.value_beside(gate.value, gate.bound)),
        Text(numbers.interval(gate.ci), "dim"),
        Text(numbers.n_of(gate.n, envelope.scored_of(report.metrics, gate)), "dim"),
        Text(numbers.bound(gate)),
        styled(envelope.gate_word(gate)),
    ]


def _other_metrics(page: Page, report: ScoreReport, names: dict[str, str]) -> None:
    others = story.other_metrics(report)
    if not others:
        return
    page.section("Other metrics" if report.gates else "Metrics")
    rows = [head("metric", "value", "95 % interval", "scored")]
    rows += [terminal.metric_cells(names[id], score) for id, score in others]
    page.table(rows, right={1, 3}, notes=[Text(), *(note(score.reason) for _, score in others)])


def _labels(page: Page, report: ScoreReport) -> None:
    labels = story.labels_in_order(report)
    if not labels:
        return
    page.section("Labels")
    total, most = sum(times for _, times in labels), max(times for _, times in labels)
    names = max(len(shown(label)) for label, _ in labels)
    room = min(WIDEST_BAR, max(8, page.width - MARGIN - names - 3 * GAP - len("10,000  100.0 %")))
    rows = [
        [
            words(label),
            Text(bar(times / most, room), "green" if label in GOOD_LABELS else "red"),
            Text(numbers.count(times)),
            Text(numbers.share(times, total), "dim"),
        ]
        for label, times in labels
    ]
    page.table(rows, right={2, 3})
    if refusals := story.refusal_words(report):
        page.paragraph(note(refusals))


def _strata(page: Page, report: ScoreReport, names: dict[str, str]) -> None:
    for one in story.slices(report):
        (low_name, low), (high_name, high) = one.low, one.high
        lows, highs = f"{numbers.value(low)} ({low_name})", f"{numbers.value(high)} ({high_name})"
        differs = f"{names[one.metric]} from {lows} to {highs}"
        page.section(f"By {one.stratum}", note(differs))
        _slice(page, one, names)


def _slice(page: Page, one: story.Slice, names: dict[str, str]) -> None:
    told = one.told[:VALUES_SHOWN]
    ids = list(told[0][2])
    starred = any(0 < score.n < story.FEW for _, _, scores in told for score in scores.values())
    rows = [
        [
            words(name),
            note(numbers.count(questions)),
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
        page.paragraph(note("; ".join(notes)))


def _slice_heads(names: list[str], rows: list[list[Text]], room: int) -> list[list[Text]]:
    """The names over their columns, on two lines where one would be too wide."""
    whole = head("value", "n", *names)
    wide = widths([whole, *rows])
    if sum(wide) + GAP * (len(wide) - 1) <= room:
        return [whole]
    halves = [name.rpartition("_") for name in names]
    return [
        head("", "", *(first + mark for first, mark, _ in halves)),
        head("value", "n", *(last for _, _, last in halves)),
    ]


def _sliced(score: Score | None, pad: str) -> Text:
    if score is None or score.value is None:
        return note(numbers.ABSENT).append(pad)
    if score.n < story.FEW:
        return note(numbers.value(score.value) + "*")
    return Text(numbers.value(score.value) + pad)


def _questions(page: Page, report: ScoreReport) -> None:
    wrong = story.wrong_questions(report, QUESTIONS_SHOWN)
    if not wrong:
        return
    page.section("Questions that went wrong")
    rows = [[words(row.qid, "bold"), words(row.label), note(row.triage)] for row in wrong]
    room = page.width - MARGIN - sum(widths(rows)) - GAP * 3
    beside = room >= NARROWEST_PLACE
    if beside:
        for row, question in zip(rows, wrong, strict=True):
            row.append(_end_of(note(question.where), room))
    page.table(rows, notes=[_answer(row, page.width - 2 * MARGIN, not beside) for row in wrong])
    more = len(story.wrong_questions(report)) - len(wrong)
    if more:
        page.paragraph(note(f"and {numbers.count(more)} more"))


def _answer(row: QuestionRow, room: int, with_place: bool) -> Text:
    """What was said, what was cited and why it failed, on one line."""
    place = _end_of(note(row.where if with_place else None), room // 3)
    cited = Text(f"[{shown(', '.join(row.cited))}]" if row.cited else "", "dim")
    cited.truncate(room // 3 if place else room // 2, overflow="ellipsis")
    # An exact refusal says no more than its label.
    said = words((row.claim if row.refusal != "exact" else "") or row.reason or "")
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
    page: Page, report: ScoreReport, comparison: Comparison, names: dict[str, str]
) -> None:
    page.section(f"Against {comparison.baseline}", note(story.overlap_words(report, comparison)))
    if comparison.note:
        page.paragraph(note(comparison.note))
    moved = {id: change for id, change in comparison.metrics.items() if change.change != 0}
    if moved:
        rows = [head("metric", "was", "now", "change", "95 % interval", "")]
        rows += [_change(id, names[id], change) for id, change in moved.items()]
        notes = [Text(), *(note(change.reason) for change in moved.values())]
        page.table(rows, right={1, 2, 3}, notes=notes)
    same = [names[id] for id in comparison.metrics if id not in moved]
    if same:
        page.paragraph(note(f"unchanged: {', '.join(same)}"))
    _changed_labels(page, comparison)


def _change(id: str, name: str, change: Change) -> list[Text]:
    return [
        words(name),
        Text(numbers.value(change.baseline)),
        Text(numbers.value(change.value)),
        Text(numbers.signed(change.change)),
        note(numbers.signed_interval(change.ci)),
        styled(story.direction(id, change)),
    ]


def _changed_labels(page: Page, comparison: Comparison) -> None:
    changed = story.changed_labels(comparison)
    if not changed:
        return
    page.line(Text())
    page.paragraph(Text(f"{numbers.counted(len(changed), 'question')} changed label"))
    rows = [
        [words(one.qid, "bold"), words(one.was), Text("->"), words(one.now)]
        for one in changed[:CHANGES_SHOWN]
    ]
    page.table(rows)
    if len(changed) > CHANGES_SHOWN:
        page.paragraph(note(f"and {numbers.count(len(changed) - CHANGES_SHOWN)} more"))
