"""The report as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ragauge.contracts.comparison import Compared, ComparisonReport, Flip, Side
from ragauge.reports import comment, numbers
from ragauge.reports.comment import LONGEST_ID, code, table, without_empty
from ragauge.reports.comparison import story
from ragauge.reports.comparison.power import power, power_heads
from ragauge.reports.comparison.slices import slices

FLIPS_SHOWN = 20
SLICES_SHOWN = 20
OF_THE_TEST = ("statistic", "p", "n")


def render(report: ComparisonReport) -> str:
    names = story.names(report)
    blocks = [
        *_verdict(report),
        *_metrics(report, names),
        *_beside(report, names),
        *_gates(report, names),
        *_slices(report, names),
        *_flips(report),
        *_power(report, names),
        *comment.findings(story.findings(report)),
    ]
    return comment.page(blocks, story.coverage_words(report.coverage))


def _verdict(report: ComparisonReport) -> Iterator[str]:
    word, words = story.headline(report)
    yield f"## Ragauge comparison: {word}"
    counts = f" {comment.sentence(story.counts_words(report))}" if report.gates else ""
    yield comment.sentence(words) + counts
    rows = [
        ["before", code(story.run_words(report.before))],
        ["after", code(story.run_words(report.after))],
        *([code(name), code(text)] for name, text in story.other_labels(report)),
    ]
    yield table(("", "run"), rows)


def _metrics(report: ComparisonReport, names: dict[str, str]) -> Iterator[str]:
    told = story.judged(report)
    if told:
        yield "### Metrics"
        yield _changes(report, names, told, "verdict")
        yield comment.sentence(comment.prose(story.tests_words(report)))


def _beside(report: ComparisonReport, names: dict[str, str]) -> Iterator[str]:
    told = story.beside(report)
    if not told:
        return
    moved = story.moved(told)
    blocks = [_changes(report, names, moved)] if moved else []
    for why, ids in story.unmoved(told):
        blocks.append(f"{comment.prose(why)}: {', '.join(code(names[id]) for id in ids)}")
    title = f"Also measured: {numbers.counted(len(told), 'metric')} {story.BESIDE}"
    yield from comment.details(title, *blocks)


def _changes(
    report: ComparisonReport,
    names: dict[str, str],
    told: Mapping[str, Compared],
    *verdict: str,
) -> str:
    interval = story.interval_head(report)
    heads = ("metric", "before", "after", "change", interval, *OF_THE_TEST, *verdict, "note")
    shown = len(heads) - 2
    rows = [
        [code(names[id]), *_cells(one)[:shown], code(note) if (note := story.note_of(one)) else ""]
        for id, one in told.items()
    ]
    return without_empty(heads, rows, right=range(1, 8))


def _cells(one: Compared) -> list[str]:
    word = story.verdict_of(one)
    return [
        numbers.value(one.before),
        numbers.value(one.after),
        numbers.signed(one.change),
        numbers.signed_interval(one.ci),
        story.statistic(one),
        story.p_shown(one).replace("<", "&lt;"),
        numbers.count(one.n),
        f"**{word}**" if word in ("worse", "better") else word,
    ]


def _gates(report: ComparisonReport, names: dict[str, str]) -> Iterator[str]:
    rows = [
        [
            code(names[gate.metric]),
            numbers.signed(report.compared[gate.metric].change),
            numbers.signed(gate.value),
            code(numbers.bound(gate)),
            comment.gate_verdict(gate),
            code(gate.reason) if gate.reason else "",
        ]
        for gate in report.gates
    ]
    if rows:
        name = story.gate_name(report.gates[0])
        heads = ("metric", "change", story.TESTED[name], "must be", "verdict", "note")
        yield f"### Gate {name}"
        yield without_empty(heads, rows, right={1, 2})


def _slices(report: ComparisonReport, names: dict[str, str]) -> Iterator[str]:
    interval = story.interval_head(report, slices=True)
    heads = ("value", "metric", "before", "after", "change", interval, *OF_THE_TEST, "verdict")
    for one in slices(report, SLICES_SHOWN):
        yield f"### By {comment.prose(one.stratum)}"
        rows = [[code(c.value), code(names[c.metric]), *_cells(c.compared)] for c in one.told]
        if rows:
            yield table(heads, rows, right=range(2, 9))
        if one.left_out:
            yield f"{numbers.counted(one.left_out, 'slice')} more changed less or not at all."
        if one.few:
            few = [f"{code(value, LONGEST_ID)} ({n})" for value, n in one.few[:SLICES_SHOWN]]
            yield f"Too few to test: {', '.join(few)}."


def _flips(report: ComparisonReport) -> Iterator[str]:
    heads = ("question", "was", "said", "now", "says")
    for way, title in story.flip_titles(report):
        told = story.flips(report, way)[:FLIPS_SHOWN]
        shown = f", {len(told)} shown" if len(told) < report.flip_counts[way] else ""
        rows = [_flip(flip) for flip in told]
        yield from comment.details(f"{way.capitalize()}: {title}{shown}", table(heads, rows))


def _flip(flip: Flip) -> list[str]:
    asked = f"{code(flip.qid, LONGEST_ID)} {code(flip.question) if flip.question else ''}".rstrip()
    return [asked, *_side(flip.was), *_side(flip.now)]


def _side(side: Side) -> list[str]:
    cited = f" {code(' '.join(side.cited), LONGEST_ID)}" if side.cited else ""
    why = f" explained by {code(side.why)}" if side.why else ""
    return [code(side.label, LONGEST_ID), code(side.claim) + cited + why]


def _power(report: ComparisonReport, names: dict[str, str]) -> Iterator[str]:
    told = power(report)
    if not told:
        return
    heads = ("metric", "n", *(f"at {times}" for times in power_heads()), "to decide")
    rows = [
        [
            code(names[one.metric]),
            numbers.count(one.n),
            *(numbers.value(number) for number in one.detectable),
            one.needed.replace(">", "&gt;"),
        ]
        for one in told
    ]
    made = table(heads, rows, right=range(1, len(heads)))
    yield from comment.details("The smallest change found with 80 % power", made)
