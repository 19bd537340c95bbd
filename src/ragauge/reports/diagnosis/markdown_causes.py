"""The causes in a pull request comment."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.reports.comment import LONGEST_ID, code
from ragauge.reports.diagnosis import causes, story
from ragauge.reports.diagnosis.causes import ToldAction, ToldCause, ToldEvidence
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.markdown_words import more, short
from ragauge.reports.diagnosis.story import Lead
from ragauge.reports.terminal import bar

BAR = 10


def lead(found: Lead, say: Labels) -> str:
    """The likeliest cause, what speaks for it, and what to turn first; or why there is none."""
    colon = say.signs.colon
    if found.cause is None:
        return f"**{found.heading}**{colon}{short(found.why)}{say.signs.stop}"
    lines = [
        f"**{found.heading}**{colon}{short(found.cause.one.title)}",
        f"- {short(say.told([found.cause.explains, found.evidence]))}",
    ]
    if found.step:
        lines.append(f"- **{short(found.turn)}**{colon}{short(found.step)}")
    return "\n".join(lines)


def ranked(report: DiagnosisReport, say: Labels, in_full: int, most: int) -> Iterator[str]:
    """The causes that the samples speak for or allow: the first in full, the others in a line."""
    told = causes.claimed(report)
    yield f"### {say.heads.causes}"
    if not told:
        yield f"{say.no_cause}{say.signs.colon}{story.why_no_cause(report)}{say.signs.stop}"
        return
    about = say.heads.causes_about
    yield f"{about[:1].upper()}{about[1:]}{say.signs.stop}"
    yield "\n".join(_cause(one, say, one.number <= in_full) for one in told[:most])
    yield from more(len(told) - most, say)


def _cause(cause: ToldCause, say: Labels, full: bool) -> str:
    drawn = f" `{bar(cause.share, BAR)}`" if cause.share else ""
    heading = f"**{short(cause.one.title)}**{say.beside(cause.standing)}{drawn} {cause.explains}"
    lines = [f"{cause.number}. {heading}"]
    points = list(_points(cause, say)) if full else []
    indent = " " * len(f"{cause.number}. ")
    return "\n".join(lines + [f"{indent}- {point}" for point in points])


def _points(cause: ToldCause, say: Labels) -> Iterator[str]:
    colon = say.signs.colon
    metrics = [code(name, LONGEST_ID) for name in cause.one.metrics]
    yield " ".join([code(cause.one.id, LONGEST_ID), *metrics])
    if cause.one.means:
        yield short(cause.one.means)
    for one in cause.evidence:
        yield _evidence(one, say)
    if cause.one.why:
        yield f"{say.why}{colon}{short(cause.one.why)}"
    yield f"{say.confirm}{colon}{short(cause.one.confirm)}"
    for action in cause.actions:
        yield f"{say.change}{colon}{_action(action, say)}"
    if cause.one.samples:
        yield f"{say.see}{colon}{' '.join(code(id, LONGEST_ID) for id in cause.one.samples)}"


def _evidence(one: ToldEvidence, say: Labels) -> str:
    beside = say.beside(say.told([one.counts, code(one.sign, LONGEST_ID)]))
    return f"**{one.mark}** {short(one.text)}{beside}"


def _action(one: ToldAction, say: Labels) -> str:
    knob = f"{code(one.knob, LONGEST_ID)}{say.signs.colon}" if one.knob else ""
    price = say.told([short(text) for text in (one.costs, one.worsens) if text])
    return f"{knob}{short(one.do)}{say.beside(price)}"


def untested(report: DiagnosisReport, say: Labels, most: int) -> Iterator[str]:
    """The causes that the samples cannot tell, with what is missing: a line for each lack.

    No numbered list: Markdown counts on by itself where a group leaves a number out.
    """
    told = causes.untested(report)
    if not told:
        return
    yield f"### {say.heads.untested}"
    lines = []
    for why, alike in causes.untested_by_why(told[:most]):
        titles = [f"**{one.number}** {short(one.one.title)}" for one in alike]
        lines.append(f"- {say.told(titles)}{say.signs.colon}{short(why)}")
    yield "\n".join(lines)
    yield from more(len(told) - most, say)


def struck_out(report: DiagnosisReport, say: Labels, most: int) -> Iterator[str]:
    """The causes that the samples exclude: a line for each reason to."""
    struck = causes.struck_out(report)
    if not struck:
        return
    yield f"### {say.heads.struck_out}"
    lines = []
    for why, alike in causes.struck_by_why(struck[:most]):
        reason = f"{short(why)}{say.signs.colon}" if why else ""
        lines.append(f"- × {reason}{say.told([short(one.title) for one in alike])}")
    yield "\n".join(lines)
    yield from more(len(struck) - most, say)
