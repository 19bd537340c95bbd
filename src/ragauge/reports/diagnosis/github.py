"""GitHub Actions workflow commands: low metrics as errors, the worst samples on their lines."""

from __future__ import annotations

from collections.abc import Iterator

from ragauge.contracts.diagnosis import DiagnosisReport
from ragauge.reports.annotations import CLAIM_SHOWN, SHOWN, command
from ragauge.reports.diagnosis import parts, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.parts import ToldSample
from ragauge.reports.diagnosis.verdict import verdict_words
from ragauge.reports.foreign import shown
from ragauge.reports.numbers import ABSENT, count


def render(report: DiagnosisReport) -> str:
    """One command a line: the verdict, the likeliest cause, the metrics, the worst samples."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: DiagnosisReport) -> Iterator[str]:
    say = story.words(report)
    word, told = verdict_words(report)
    title = f"Ragauge {say.kind}"
    yield command("notice", shown(told), title=f"{title} {word}")
    yield command("notice", _lead(report, say), title=title)
    wrong = [one for one in story.metrics(report) if one.severity not in ("none", "no_rule")]
    for one in wrong[:SHOWN]:
        value = "" if one.value == ABSENT else one.value
        message = say.told([value, one.counts, *one.notes])
        kind = "warning" if report.passed else "error"
        yield command(kind, shown(message), title=shown(f"{one.word} {one.name}"))
    yield from _more(len(wrong), say)
    samples = [(metric, sample) for metric, worst in parts.worst(report) for sample in worst]
    for metric, sample in samples[:SHOWN]:
        heading = shown(f"{metric} {sample.value} {sample.one.id}")
        yield command("warning", _message(sample, say), **_place(sample.one.where), title=heading)
    yield from _more(len(samples), say)


def _lead(report: DiagnosisReport, say: Labels) -> str:
    lead = story.lead(report)
    told = lead.why if lead.cause is None else lead.cause.one.title
    lines = [f"{lead.heading}{say.signs.colon}{told}"]
    if lead.cause is not None:
        lines.append(say.told([lead.cause.explains, lead.evidence]))
    if lead.step:
        lines.append(f"{lead.turn}{say.signs.colon}{lead.step}")
    return "\n".join(map(shown, lines))


def _message(one: ToldSample, say: Labels) -> str:
    texts = [f"{label}{say.signs.colon}{shown(text, CLAIM_SHOWN)}" for label, text in one.texts]
    return "\n".join(line for line in (shown(one.symptoms), *texts) if line) or shown(one.value)


def _more(number: int, say: Labels) -> Iterator[str]:
    """A notice where there are more than GitHub shows."""
    if number > SHOWN:
        yield command("notice", say.more.format(n=count(number - SHOWN)), title="Ragauge")


def _place(where: str) -> dict[str, str]:
    """The file and line of `path:line`; nothing where a sample names none."""
    path, _, line = where.rpartition(":")
    return {"file": shown(path), "line": line} if path and line.isdecimal() else {}
