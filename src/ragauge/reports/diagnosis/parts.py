"""The smaller parts of a diagnosis: slices, symptoms, the replay and the worst samples."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.diagnosis import DiagnosisReport, Intervention, Replay, Sample, Slice
from ragauge.diagnosis.words import InterventionWords, words
from ragauge.reports import envelope, numbers
from ragauge.reports.diagnosis.labels import Labels, labels_of, named

LEAST_P = 0.001


class ToldSlice(Struct, frozen=True, kw_only=True):
    """A slice as a row."""

    one: Slice
    name: str
    """`country=NL ∧ question_type=temporal`."""
    beyond: str
    value: str
    elsewhere: str
    p: str


class ToldSample(Struct, frozen=True, kw_only=True):
    """A sample with what went wrong in it, and what of it is not known."""

    one: Sample
    value: str
    symptoms: str
    texts: tuple[tuple[str, str], ...]
    """Question, answer and reference, as far as there are any, each with its label."""
    contexts: tuple[tuple[str, str], ...]
    retrieved: str
    missing: str
    """What the row does not tell; that nothing was retrieved."""
    again: bool
    """It stands under a metric before, with its texts."""


class ToldIntervention(Struct, frozen=True, kw_only=True):
    """An intervention as a row."""

    name: str
    asked: str
    effective: str
    repaired: str
    failed: str
    impossible: str
    share: float
    note: str
    """Why it was not made; else samples that it repaired."""


def slices(report: DiagnosisReport) -> list[ToldSlice]:
    say = labels_of(report.language)
    named_slices = words(report.language).slices
    return [
        ToldSlice(
            one=one,
            name=named_slices.conditions(dict(sorted(one.conditions.items()))),
            beyond=say.n_of(one.beyond, one.beyond_all),
            value=numbers.value(one.value),
            elsewhere=numbers.value(one.elsewhere),
            p=f"< {LEAST_P}" if one.p < LEAST_P else numbers.value(one.p),
        )
        for one in report.slices
    ]


def symptoms(report: DiagnosisReport) -> list[tuple[str, int]]:
    """What went wrong, the most frequent first; ties by name."""
    called = words(report.language).symptoms
    ranked = sorted(report.symptoms.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(named(called, name), times) for name, times in ranked if times]


def replay_words(replay: Replay, say: Labels) -> str:
    """What was asked again, at how many calls, of which system."""
    parts = [
        say.replayed.format(
            chosen=numbers.count(replay.chosen), of=say.counted(replay.of, say.questions)
        ),
        say.counted(replay.calls, say.calls),
        say.resumed.format(n=numbers.count(replay.resumed)) if replay.resumed else "",
        say.system.format(told=system) if (system := _system(replay)) else "",
        "" if replay.ended == "complete" else named(say.ended, replay.ended),
    ]
    return say.told(parts)


def _system(replay: Replay) -> str:
    """What was asked; how it is set up stands in the JSON."""
    told = envelope.identity_words(replay.system)
    return ", ".join(f"{name}={text}" for name, text in told if "." not in name)


def interventions(report: DiagnosisReport) -> list[ToldIntervention]:
    say = labels_of(report.language)
    called = words(report.language).interventions
    found = report.replay.interventions if report.replay else ()
    return [_intervention(one, called[one.name], say) for one in found]


def _intervention(one: Intervention, called: InterventionWords, say: Labels) -> ToldIntervention:
    note = say.not_made.format(told=one.reason) if one.reason else ""
    if one.samples:
        ids = say.shown_in.format(told=" ".join(one.samples))
        note = say.told([note, ids, called.repaired])
    return ToldIntervention(
        name=called.label,
        asked=numbers.count(one.asked),
        effective=numbers.ABSENT if one.effective is None else numbers.count(one.effective),
        repaired=numbers.count(one.repaired),
        failed=numbers.count(one.failed),
        impossible=numbers.count(one.impossible),
        share=min(1.0, one.repaired / one.asked) if one.asked else 0.0,
        note=note,
    )


def repaired_by(report: DiagnosisReport) -> list[tuple[str, str]]:
    """Each question that was repaired, and by what; by id."""
    say = labels_of(report.language)
    called = {name: one.label for name, one in words(report.language).interventions.items()}
    found = report.replay.repaired_by if report.replay else {}
    return [
        (id, say.listed([named(called, one) for one in by])) for id, by in sorted(found.items())
    ]


def worst(report: DiagnosisReport) -> list[tuple[str, list[ToldSample]]]:
    """The worst samples of each metric that has any, in the order of the metrics."""
    say = labels_of(report.language)
    called = words(report.language).symptoms
    told, seen = [], set[str]()
    for one in report.diagnoses:
        if one.worst:
            told.append((one.metric, [_sample(row, called, seen, say) for row in one.worst]))
            seen.update(row.id for row in one.worst)
    return told


def _sample(one: Sample, called: dict[str, str], seen: set[str], say: Labels) -> ToldSample:
    texts = ((say.question, one.question), (say.answer, one.answer), (say.reference, one.reference))
    missing = [label for label, text in texts if text is None]
    if one.contexts is None or (not one.contexts and one.retrieved_ids):
        missing.append(say.passages)
    gone = say.not_given.format(told=say.listed(missing)) if missing else ""
    return ToldSample(
        one=one,
        value=numbers.value(one.value),
        symptoms=say.told([named(called, name) for name in one.symptoms]),
        texts=tuple((label, text or say.empty) for label, text in texts if text is not None),
        contexts=tuple((found.id, found.text) for found in one.contexts or ()),
        retrieved=" ".join(one.retrieved_ids or ()),
        missing=say.told([gone, say.nothing_retrieved if _found_nothing(one) else ""]),
        again=one.id in seen,
    )


def _found_nothing(one: Sample) -> bool:
    return not one.contexts and not one.retrieved_ids and () in (one.contexts, one.retrieved_ids)
