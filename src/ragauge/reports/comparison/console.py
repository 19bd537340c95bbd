"""The report for a terminal: the verdicts, the numbers, the slices, and what flipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from ragauge.contracts.comparison import Compared, ComparedSlice, ComparisonReport, Flip, Side, Way
from ragauge.reports import envelope, numbers, terminal
from ragauge.reports.beside import beside
from ragauge.reports.comparison import story
from ragauge.reports.comparison.power import power, power_heads
from ragauge.reports.comparison.slices import slices
from ragauge.reports.terminal import GAP, MARGIN, Page, head, note, styled, widths, words

SLICES_SHOWN = 8
FLIPS_SHOWN = 6
FEW_SHOWN = 6
_STYLES = {
    "good": "green",
    "bad": "bold red",
    "soft": "yellow",
}
INTERVAL = "interval"
_VERDICT_STYLES = {"better": "green", "worse": "bold red", "not worse": "green"}
HEADS = ("metric", "before", "after", "change", INTERVAL, "statistic", "p", "n", "verdict")
WIDE = ("statistic", "before", "after")
"""Columns that a narrow page leaves out, the first of them first."""
WORDS = ("metric", "verdict")


def render(report: ComparisonReport, *, color: bool = False, width: int = 100) -> str:
    """The whole report as lines no wider than the width (at least 40 columns)."""
    page = Page(color, width)
    names = story.names(report)
    _verdict(page, report)
    _verdicts(page, report, names)
    _metrics(page, report, names)
    _beside(page, report, names)
    _gates(page, report, names)
    _power(page, report, names)
    _slices(page, report, names)
    for way, title in story.flip_titles(report):
        _flips(page, report, way, title)
    terminal.findings(page, story.findings(report))
    terminal.coverage(page, story.coverage_words(report.coverage))
    return page.text()


def _verdict(page: Page, report: ComparisonReport) -> None:
    word, told = story.headline(report)
    style = "bold " + _STYLES[story.tone(report)].removeprefix("bold ")
    page.paragraph(words(told, "bold"), len(word) + GAP, Text(word, style) + Text(" " * GAP))
    if report.gates:
        page.paragraph(note(story.counts_words(report)), len(word) + GAP)
    page.line(Text())
    runs = (("before", report.before), ("after", report.after))
    page.table([[note(when), *map(words, story.run_cells(run))] for when, run in runs])
    for name, text in story.other_labels(report):
        title = note(name)
        title.pad_right(max(GAP, len("before") + GAP - title.cell_len))
        page.paragraph(title + words(text))


def _verdicts(page: Page, report: ComparisonReport, names: dict[str, str]) -> None:
    """A line for each metric that is decided; the others by name, on as few lines as they take."""
    groups = story.by_verdict(report)
    if not groups:
        return
    page.section("Verdicts", note(story.methods_words(report)))
    room = max(len(word) for word, _ in groups)
    for word, ids in groups:
        mark = Text(" " * MARGIN) + Text(word.ljust(room + GAP), _VERDICT_STYLES.get(word, "bold"))
        indent = MARGIN + room + GAP
        if word == "not comparable":
            page.paragraph(note(", ".join(names[id] for id in ids)), indent, mark)
            continue
        group = {id: report.compared[id] for id in ids}
        still = [id for id, one in group.items() if _is_still(one)]
        for id in ids:
            if id not in still:
                told = Text.assemble(words(names[id], "bold"), "  ")
                told.append_text(words(story.sentence(group[id])))
                page.paragraph(told, indent, mark)
                mark = Text(" " * indent)
        if still:
            listed = ", ".join(names[id] for id in still)
            page.paragraph(note(f"{story.NO_DIFFERENCE}: {listed}"), indent, mark)


def _is_still(one: Compared) -> bool:
    """Whether its name is all there is to tell: nothing differs, and no number would decide."""
    return one.verdict == "cannot_tell" and story.without_difference(one) and one.needed is None


def _metrics(page: Page, report: ComparisonReport, names: dict[str, str]) -> None:
    told = story.judged(report)
    if told:
        corrected = story.CORRECTIONS[report.correction]
        page.section("Metrics", note(f"after - before; {corrected}"))
        _changes(page, report, names, told, HEADS)


def _beside(page: Page, report: ComparisonReport, names: dict[str, str]) -> None:
    """The metrics without a verdict; those of which nothing can be told by name."""
    told = story.beside(report)
    if not told:
        return
    page.section("Also measured", note(story.BESIDE))
    moved = story.moved(told)
    if moved:
        _changes(page, report, names, moved, HEADS[:-1])
    for why, ids in story.unmoved(told):
        page.paragraph(note(f"{why}: {', '.join(names[id] for id in ids)}"))


def _changes(
    page: Page,
    report: ComparisonReport,
    names: dict[str, str],
    told: Mapping[str, Compared],
    heads: Sequence[str],
) -> None:
    rows = _metric_rows(report, names, told, heads)
    for name in WIDE:
        if sum(widths(rows)) + GAP * len(heads) > page.width:
            heads = [other for other in heads if other != name]
            rows = _metric_rows(report, names, told, heads)
    right = [place for place, name in enumerate(heads) if name not in WORDS]
    notes = [Text(), *(note(story.note_of(one)) for one in told.values())]
    page.table(rows, right=right, notes=notes)


def _metric_rows(
    report: ComparisonReport,
    names: dict[str, str],
    told: Mapping[str, Compared],
    heads: Sequence[str],
) -> list[list[Text]]:
    titles = {INTERVAL: story.interval_head(report)}
    rows = [head(*(titles.get(name, name) for name in heads))]
    for id, one in told.items():
        texts = {"metric": words(names[id]), **_cells(one)}
        rows.append([texts[name] for name in heads])
    return rows


def _cells(one: Compared) -> dict[str, Text]:
    word = story.verdict_of(one)
    return {
        "before": Text(numbers.value(one.before)),
        "after": Text(numbers.value(one.after)),
        "change": Text(numbers.signed(one.change), _VERDICT_STYLES.get(word, "")),
        INTERVAL: note(numbers.signed_interval(one.ci)),
        "statistic": note(story.statistic(one)),
        "p": note(story.p_shown(one)),
        "n": note(numbers.count(one.n)),
        "verdict": Text(word, _VERDICT_STYLES.get(word, "dim")),
    }


def _gates(page: Page, report: ComparisonReport, names: dict[str, str]) -> None:
    if not report.gates:
        return
    name = story.gate_name(report.gates[0])
    page.section("Gate", words(name, "bold"))
    rows = [head("metric", "change", story.TESTED[name], "must be", "verdict")]
    rows += [
        [
            words(names[gate.metric], "" if gate.holds else "bold"),
            note(numbers.signed(report.compared[gate.metric].change)),
            Text(numbers.signed(gate.value)),
            Text(numbers.bound(gate)),
            styled(envelope.gate_word(gate)),
        ]
        for gate in report.gates
    ]
    notes = [Text(), *(note(gate.reason) for gate in report.gates)]
    page.table(rows, right={1, 2}, notes=notes)


def _power(page: Page, report: ComparisonReport, names: dict[str, str]) -> None:
    """The smallest difference that so many questions can show."""
    told = power(report)
    if not told:
        return
    page.section("What can be seen", note("the smallest change found with 80 % power"))
    rows = [head("metric", "n", *(f"at {times}" for times in power_heads()), "to decide")]
    rows += [
        [
            words(names[one.metric]),
            note(numbers.count(one.n)),
            *(Text(numbers.value(number)) for number in one.detectable),
            Text(one.needed),
        ]
        for one in told
    ]
    page.table(rows, right=range(1, len(rows[0])))


def _slices(page: Page, report: ComparisonReport, names: dict[str, str]) -> None:
    for one in slices(report, SLICES_SHOWN):
        page.section(f"By {one.stratum}", note(numbers.counted(one.values, "value")))
        if one.told:
            interval = story.interval_head(report, slices=True)
            rows = [head("value", "metric", "before", "after", "change", interval, "")]
            rows += [_sliced(cell, names) for cell in one.told]
            page.table(rows, right=range(2, 6))
        if one.left_out:
            cells = numbers.counted(one.left_out, "slice")
            page.paragraph(note(f"{cells} more changed less or not at all; the JSON has them"))
        if one.few:
            few = ", ".join(f"{value} ({n})" for value, n in one.few[:FEW_SHOWN])
            more = f" and {len(one.few) - FEW_SHOWN} more" if len(one.few) > FEW_SHOWN else ""
            page.paragraph(note(f"too few to test: {few}{more}"))


def _sliced(cell: ComparedSlice, names: dict[str, str]) -> list[Text]:
    cells = _cells(cell.compared)
    numbers_of = ("before", "after", "change", INTERVAL, "verdict")
    return [words(cell.value), words(names[cell.metric]), *(cells[name] for name in numbers_of)]


def _flips(page: Page, report: ComparisonReport, way: Way, title: str) -> None:
    page.section(way.capitalize(), note(title))
    told = story.flips(report, way)
    for number, flip in enumerate(told[:FLIPS_SHOWN]):
        if number:
            page.line(Text())
        _flip(page, flip)
    more = report.flip_counts[way] - len(told[:FLIPS_SHOWN])
    if more:
        page.paragraph(note(f"and {numbers.count(more)} more; --report FILE.html shows them"))


def _flip(page: Page, flip: Flip) -> None:
    title = words(flip.qid, "bold")
    if flip.question:
        title += Text(" " * GAP) + words(flip.question)
    page.line(Text(" " * MARGIN) + title)
    beside(page, _facts("was", flip.was), _facts("now", flip.now))


def _facts(when: str, side: Side) -> list[tuple[str, str]]:
    return [
        (when, side.label or numbers.ABSENT),
        ("said", side.claim or ""),
        ("cited", " ".join(side.cited)),
        ("explained by", side.why or ""),
    ]
