"""Slices, symptoms, addresses of claims, the replay and the worst samples in a comment."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.reports import comment, envelope, numbers
from ragauge.reports.comment import LONGEST_ID, code, table, without_empty
from ragauge.reports.diagnosis import addresses as claims
from ragauge.reports.diagnosis import parts, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.markdown_words import more, short
from ragauge.reports.diagnosis.parts import ToldSample

CONTEXTS_SHOWN = 3


def slices(report: DiagnosisReport, say: Labels, most: int) -> Iterator[str]:
    told = parts.slices(report)
    if not told and not story.is_low(report):
        return
    heads = say.heads
    yield f"### {heads.slices}"
    if not told:
        yield say.no_slice
        return
    titles = (
        heads.slice,
        heads.metric,
        heads.samples,
        heads.beyond,
        heads.value,
        heads.elsewhere,
        heads.corrected_p,
        heads.note,
    )
    rows = [
        [
            code(one.name),
            code(one.one.metric),
            numbers.count(one.one.n),
            one.beyond,
            one.value,
            one.elsewhere,
            code(one.p),
            short(one.one.text),
        ]
        for one in told[:most]
    ]
    yield without_empty(titles, rows, right=range(2, 7))
    yield from more(len(told) - most, say)


def symptoms(report: DiagnosisReport, say: Labels) -> Iterator[str]:
    told = parts.symptoms(report)
    if told:
        yield f"### {say.heads.symptoms}"
        rows = [[comment.prose(name), numbers.count(times)] for name, times in told]
        yield table((say.heads.symptom, say.heads.samples), rows, right={1})
    elif story.is_low(report):
        yield f"### {say.heads.symptoms}"
        yield say.no_symptom


def addresses(report: DiagnosisReport, say: Labels) -> Iterator[str]:
    stacks = claims.stacks(report)
    if not stacks and not story.is_low(report):
        return
    yield f"### {say.heads.addresses}"
    about = claims.judge_words(report)
    yield short(about if not stacks else f"{about[:1].upper()}{about[1:]}{say.signs.stop}")
    for stack in stacks:
        if not stack.parts:
            yield stack.none
            continue
        total = sum(times for _, _, times in stack.parts)
        rows = [
            [comment.prose(name), numbers.count(times), numbers.share(times, total)]
            for _, name, times in stack.parts
        ]
        yield table((stack.title, "", ""), rows, right={1, 2})
        if stack.sums:
            yield "\n".join(f"- {comment.prose(line)}" for line in stack.sums)


def replay(report: DiagnosisReport, say: Labels, most: int) -> Iterator[str]:
    if report.replay is None:
        if story.is_low(report):
            yield f"### {say.heads.replay}"
            yield say.no_replay
        return
    yield f"### {say.heads.replay}"
    yield f"{short(parts.replay_words(report.replay, say))}{say.signs.stop}"
    yield from _interventions(report, say)
    repaired = parts.repaired_by(report)
    if repaired:
        rows = [[code(id, LONGEST_ID), short(by)] for id, by in repaired[:most]]
        yield table((say.heads.sample, say.heads.repaired_by), rows)
        yield from more(len(repaired) - most, say)


def _interventions(report: DiagnosisReport, say: Labels) -> Iterator[str]:
    heads = say.heads
    titles = (
        heads.intervention,
        heads.asked,
        heads.effective,
        heads.repaired,
        heads.failed,
        heads.impossible,
        heads.note,
    )
    rows = [
        [
            one.name,
            one.asked,
            one.effective,
            one.repaired,
            one.failed,
            one.impossible,
            code(one.note) if one.note else "",
        ]
        for one in parts.interventions(report)
    ]
    if rows:
        yield without_empty(titles, rows, right=range(1, 6))


def worst(report: DiagnosisReport, say: Labels, most: int) -> Iterator[str]:
    """The worst samples to be opened; where only some are shown, some of each metric."""
    told = parts.worst(report)
    if not told:
        if story.is_low(report):
            yield f"### {say.heads.worst}"
            yield say.no_worst
        return
    pairs = [[(metric, one) for one in samples] for metric, samples in told]
    total = sum(map(len, pairs))
    shown = envelope.some_of_each(pairs, most)
    blocks = []
    for metric in dict.fromkeys(metric for metric, _ in shown):
        blocks.append(code(metric))
        blocks.append("\n".join(_sample(one, say) for name, one in shown if name == metric))
    summary = f"{say.heads.worst}{say.signs.colon}{numbers.count(len(shown))}"
    yield from comment.details(summary, *blocks, *more(total - len(shown), say))


def _sample(one: ToldSample, say: Labels) -> str:
    colon = say.signs.colon
    heading = f"- {code(one.one.id, LONGEST_ID)} {one.value}"
    if one.again:
        return f"{heading} {say.shown_above}"
    where = f" {code(one.one.where)}" if one.one.where else ""
    symptoms = f" {short(one.symptoms)}" if one.symptoms else ""
    points = [f"{label}{colon}{code(text)}" for label, text in one.texts]
    points += [f"{code(id, LONGEST_ID)} {code(text)}" for id, text in one.contexts[:CONTEXTS_SHOWN]]
    left = len(one.contexts) - CONTEXTS_SHOWN
    points += [say.counted(left, say.more_contexts)] if left > 0 else []
    points += [f"{say.retrieved}{colon}{code(one.retrieved)}"] if one.retrieved else []
    points += [one.missing] if one.missing else []
    return "\n".join([f"{heading}{symptoms}{where}", *(f"  - {point}" for point in points)])
