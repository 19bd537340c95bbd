"""The diagnosis as a pull request comment, in GitHub's Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.comment import code, prose, without_empty
from ragauge.reports.diagnosis import markdown_causes, markdown_parts, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.markdown_words import more, short
from ragauge.reports.diagnosis.story import ToldMetric
from ragauge.reports.diagnosis.verdict import verdict_words

MOST = 60_000
"""GitHub refuses a comment of more than 65,536 characters."""
TRIES = ((12, 30, 30), (6, 15, 20), (3, 6, 10), (1, 2, 5))
"""Causes told in full, samples, and rows of any other kind: the first that fit."""
LONGEST_FINDING = 1_000
"""One finding may list dozens of metrics."""


def render(report: DiagnosisReport) -> str:
    made = ""
    for in_full, samples, rows in TRIES:
        made = _written(report, in_full, samples, rows)
        if len(made) <= MOST:
            break
    return made


def _written(report: DiagnosisReport, in_full: int, samples: int, rows: int) -> str:
    say = story.words(report)
    blocks = [
        *_verdict(report, say),
        *_metrics(report, say, rows),
        *markdown_causes.ranked(report, say, in_full, rows),
        *markdown_causes.untested(report, say, rows),
        *markdown_causes.struck_out(report, say, rows),
        *markdown_parts.slices(report, say, rows),
        *markdown_parts.symptoms(report, say),
        *markdown_parts.addresses(report, say),
        *markdown_parts.replay(report, say, rows),
        *markdown_parts.worst(report, say, samples),
        *_recorded(report, say, rows),
        *_unknown(report, say, rows),
        *_findings(report, say, rows),
    ]
    colon, stop = say.signs.colon, say.signs.stop
    told = comment.prose(story.coverage_words(report))
    return "\n\n".join([*blocks, f"{say.heads.coverage}{colon}{told}{stop}"]) + "\n"


def _verdict(report: DiagnosisReport, say: Labels) -> Iterator[str]:
    word, told = verdict_words(report)
    yield f"## Ragauge {say.kind}{say.signs.colon}{word}"
    yield f"{prose(told[:1].upper() + told[1:])}{say.signs.stop}"
    yield markdown_causes.lead(story.lead(report), say)


def _metrics(report: DiagnosisReport, say: Labels, rows: int) -> Iterator[str]:
    heads = say.heads
    told = story.metrics(report)
    yield f"### {heads.metrics}"
    if not told:
        yield f"{say.no_metrics}{say.signs.stop}"
        return
    titles = (
        heads.metric,
        heads.severity,
        heads.value,
        heads.limits,
        heads.interval,
        heads.valid,
        heads.invalid,
        heads.beyond_warning,
        heads.beyond_critical,
        say.goes_with,
        heads.note,
    )
    yield without_empty(titles, [_metric(one, say) for one in told[:rows]], range(2, 9))
    yield from more(len(told) - rows, say)


def _metric(one: ToldMetric, say: Labels) -> list[str]:
    severe = one.severity in (*story.LOW, "not_evaluable")
    return [
        code(one.name),
        f"**{one.word}**" if severe else one.word,
        code(one.value),
        code(one.limits),
        one.interval,
        one.valid,
        one.invalid,
        one.warning,
        one.critical,
        say.listed([number or code(id, comment.LONGEST_ID) for number, id in one.causes]),
        code(say.told(list(one.notes))) if one.notes else "",
    ]


def _recorded(report: DiagnosisReport, say: Labels, rows: int) -> Iterator[str]:
    """What a recorded run says besides: its gates, and scores that were not diagnosed."""
    heads = say.heads
    if report.gates:
        yield f"### {heads.gates}"
        titles = (heads.metric, heads.value, heads.bound, heads.verdict, heads.note)
        gates = [
            [
                code(gate.metric),
                numbers.value_beside(gate.value, gate.bound),
                code(numbers.bound(gate)),
                say.gate_verdicts[gate.verdict],
                code(note) if (note := envelope.gate_note(gate)) else "",
            ]
            for gate in report.gates[:rows]
        ]
        yield without_empty(titles, gates, right={1})
        yield from more(len(report.gates) - rows, say)
    others = story.other_metrics(report)
    if others:
        yield f"### {heads.other_metrics}"
        titles = (heads.metric, heads.value, heads.interval, heads.scored, heads.note)
        cells = [comment.metric_cells(id, score) for id, score in others[:rows]]
        for cell, (_, score) in zip(cells, others, strict=False):
            cell[3] = say.n_of(score.n, score.of)
        yield without_empty(titles, cells, right={1, 3})
        yield from more(len(others) - rows, say)


def _unknown(report: DiagnosisReport, say: Labels, rows: int) -> Iterator[str]:
    yield f"### {say.heads.unknown}"
    if not report.unknown:
        yield say.no_unknown
    else:
        yield "\n".join(f"- {short(text)}" for text in report.unknown[:rows])
        yield from more(len(report.unknown) - rows, say)


def _findings(report: DiagnosisReport, say: Labels, rows: int) -> Iterator[str]:
    found = envelope.findings_by_code(report.findings, report.finding_counts)
    if found:
        yield f"### {say.heads.findings}"
        lines = []
        for name, times, places in found[:rows]:
            told = [code(envelope.finding_text(place), LONGEST_FINDING) for place in places]
            left = times - len(places) if places else 0
            told += [say.more.format(n=numbers.count(left))] if left else []
            lines.append(f"- {code(name)} {numbers.count(times)} {say.told(told)}".rstrip())
        yield "\n".join(lines)
        yield from more(len(found) - rows, say)
