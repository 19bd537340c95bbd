"""The sentences of a diagnosis, in the language of its report; every format uses the same ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import get_args

from msgspec import Struct

from ragauge.contracts.claims import AnswerAddress, ReferenceAddress
from ragauge.contracts.diagnosis import (
    Cause,
    DiagnosisReport,
    Evidence,
    MetricDiagnosis,
    Replay,
    Sample,
    Severity,
    Threshold,
)
from ragauge.diagnosis.words import words
from ragauge.reports import envelope, numbers
from ragauge.reports.numbers import count
from ragauge.reports.words import Wording, wording

LOW: tuple[Severity, ...] = ("critical", "warning")
NAMED = 3
"""Low metrics in the verdict."""
EXACT_BELOW = 10
"""From here on, tenths of an answer say nothing."""
COVERED = ("samples", "traces", "gold", "traced", "scored", "claims")
"""What comes first in the coverage; the rest by name."""
_NUMBERS = re.compile(r"\d[\d,]*")


def is_low(report: DiagnosisReport) -> bool:
    return any(one.severity in LOW for one in report.diagnoses)


def verdict_words(report: DiagnosisReport) -> tuple[str, str]:
    """The verdict in a word, and why: which metrics are low, and where one that passes is."""
    say, own = wording(report.language), wording(report.language).diagnosis
    times = Counter(one.severity for one in report.diagnoses)
    low = [one for one in report.diagnoses if one.severity in LOW]
    of = say.counted(len(report.diagnoses), own.metrics)
    unjudged = own.not_evaluable.format(n=count(times["not_evaluable"]))
    unruled = own.no_rule.format(n=count(times["no_rule"]))
    unjudged, unruled = unjudged * bool(times["not_evaluable"]), unruled * bool(times["no_rule"])
    too_bad = LOW if report.identity.get("fail_on") == "warning" else ("critical",)
    if low:
        first = [f"{one.metric} {own.severities[one.severity]}" for one in low[:NAMED]]
        left = own.others.format(n=count(len(low) - NAMED)) if len(low) > NAMED else ""
        judged = own.low.format(n=count(len(low)), of=of, names=say.listed((*first, left)))
    else:
        judged = own.fine.format(n=count(times["none"]), of=of)
    parts = [judged, unjudged, unruled]
    if not low and not times["none"]:
        rest = say.told((unjudged, unruled)) or own.no_metrics
        parts = [f"{own.nothing_judged}{say.signs.colon}{rest}"]
    elif not report.passed and not any(times[severity] for severity in too_bad):
        parts = [unjudged, judged, unruled]  # nothing but missing values fails the run
    objected = low or times["not_evaluable"] or not times["none"]
    if report.passed and objected and report.identity.get("fail_on") == "never":
        parts = [f"--fail-on never{say.signs.colon}{say.told(parts)}"]
    elif report.passed and times["warning"] and not times["critical"]:
        parts.insert(0, own.none_is_critical)
    if report.passed and report.slices:
        parts.append(own.but.format(told=report.slices[0].text))
    return say.passed if report.passed else say.failed, say.told(parts)


class Lead(Struct, frozen=True, kw_only=True):
    """What is right below the verdict: the likeliest cause, or why none is claimed."""

    heading: str
    cause: Cause | None = None
    evidence: str = ""
    """How much it accounts for, and its best evidence or why it cannot be tested."""
    turn: str = ""
    """`First turn recall_top_k`; without a knob, `First`."""
    step: str = ""
    """The first thing to change; of a cause that was not tested, how to test it."""
    why: str = ""


def lead(report: DiagnosisReport) -> Lead:
    """The likeliest cause with its evidence and the first thing to change, or why there is none."""
    say, own, found = wording(report.language), wording(report.language).diagnosis, kept(report)
    if found and (found[0].standing == "likely" or is_low(report)):
        return lead_of(found[0], say)
    if not report.diagnoses:
        why = own.no_metrics
    elif not is_low(report):
        judged = any(one.severity == "none" for one in report.diagnoses)
        why = own.none_is_low if judged else own.nothing_judged
    elif not report.causes:
        why = own.none_goes_with
    else:
        why = own.all_ruled_out.format(n=count(len(report.causes)))
    return Lead(heading=own.no_cause, why=why)


def lead_of(first: Cause, say: Wording) -> Lead:
    own = say.diagnosis
    headings = {"likely": own.lead_likely, "possible": own.lead_possible}
    turn, step = say.confirm, first.confirm
    if first.actions and first.standing != "untested":
        action = first.actions[0]
        turn = own.turn.format(knob=action.knob) if action.knob else own.do_first
        step = action.do
    supporting = [one for one in first.evidence if one.speaks == "for"]
    best = max(supporting, key=lambda one: one.bits).text if supporting else first.means
    return Lead(
        heading=headings.get(first.standing, own.lead_untested),
        cause=first,
        evidence=say.told((explains_words(first, say), first.why or best)),
        turn=turn,
        step=step,
    )


def held_against(one: MetricDiagnosis) -> str:
    """`0.412 < 0.50` where it is beyond a threshold, else the value alone."""
    if one.value is None or one.threshold is None:
        return numbers.value(one.value)
    sign = ">" if one.better == "lower" else "<"
    return f"{numbers.value_beside(one.value, one.threshold)} {sign} {_limit(one.threshold)}"


def limits_words(limits: Threshold | None) -> str:
    """`< 0.70 / 0.50`: from where on a mean is a warning, and from where critical."""
    if limits is None:
        return numbers.ABSENT
    sign = ">" if limits.better == "lower" else "<"
    return f"{sign} {_limit(limits.warning)} / {_limit(limits.critical)}"


def _limit(number: float | None) -> str:
    if number is None:
        return numbers.ABSENT
    return f"{number:.2f}" if round(number, 2) == number else f"{number:.12g}"


def is_graded(one: MetricDiagnosis) -> bool:
    """Whether it has a critical threshold besides the other."""
    return one.limits is not None and one.limits.critical is not None


def counts_words(report: DiagnosisReport, one: MetricDiagnosis, say: Wording) -> str:
    """`18 of 38 samples beyond warning, 15 beyond critical; 95 % [0.341, 0.487]`."""
    if not one.n or one.limits is None:
        return ""
    own, score = say.diagnosis, report.metrics.get(one.metric)
    beyond, interval = "", numbers.interval(score.ci) if score else ""
    if one.beyond_warning:
        told = say.n_of(one.beyond_warning, say.counted(one.n, own.samples))
        critical = own.beyond_critical.format(n=count(one.beyond_critical))
        graded = say.listed((own.beyond.format(told=told), critical))
        beyond = graded if is_graded(one) else own.beyond_bound.format(told=told)
    return say.told((beyond, interval and f"95 % {interval}"))


def notes_of(one: MetricDiagnosis, say: Wording) -> list[str]:
    """Why a metric has no value or no rule, and what was in place of its values."""
    own = say.diagnosis
    invalid = say.listed(
        f"{named(own.invalid, kind)} {count(times)}"
        for kind, times in sorted(one.invalid.items(), key=lambda pair: (-pair[1], pair[0]))
    )
    wanted = {"higher": own.higher_is_better, "lower": own.lower_is_better}
    found = (
        one.reason,
        say.filled(own.invalid_are, invalid),
        wanted[one.better] if one.better and one.limits is None else "",
    )
    return [note for note in found if note]


def kept(report: DiagnosisReport) -> list[Cause]:
    """The causes that are not ruled out, in the report's order, which numbers them."""
    return [one for one in report.causes if one.standing != "struck_out"]


def explains_words(one: Cause, say: Wording) -> str:
    """How many of the answers that went wrong it accounts for; nothing where it was not tested."""
    own = say.diagnosis
    of = say.counted(one.of, own.answers)
    if not one.explains:
        return "" if one.standing == "untested" else own.explains_nothing.format(of=of)
    if round(one.explains, 1) < 1:
        return own.explains_little.format(of=of)
    exact = f"{one.explains:.1f}".removesuffix(".0")
    n = exact if one.explains < EXACT_BELOW else count(round(one.explains))
    return own.explains.format(n=n, of=of)


def weight_words(one: Evidence, say: Wording) -> str:
    """The counts of a sign, as far as its sentence does not name them, its weight and its name."""
    said, own, counts = set(_NUMBERS.findall(one.text)), say.diagnosis, ["", ""]
    if not {count(one.n), count(one.of)} <= said:
        counts[0] = say.n_of(one.n, one.of)
    if one.elsewhere is not None and one.elsewhere_of is not None:
        elsewhere = own.elsewhere.format(told=say.n_of(one.elsewhere, one.elsewhere_of))
        is_said = {count(one.elsewhere), count(one.elsewhere_of)} <= said
        counts[1] = "" if is_said else elsewhere
    bits = own.bits.format(n=f"{one.bits:+.1f}") if one.bits else ""
    return say.told((*counts, bits, one.sign))


def answer_sums(counts: Mapping[str, int], say: Wording) -> list[str]:
    """Every judged claim is in a passage, known or invented; every wrong one misled or invented.

    In counts, because rounded fractions would not add up in print.
    """
    right, own, relevant, noise, invented = (counts.get(one, 0) for one in get_args(AnswerAddress))
    judged = right + own + relevant + noise + invented
    if not judged:
        return []
    found, say_own = right + relevant + noise, say.diagnosis
    return [
        say_own.faithful.format(found=found, own=own, invented=invented, judged=judged),
        say_own.wrong.format(
            relevant=relevant, noise=noise, invented=invented, judged=judged, right=right + own
        ),
        say_own.rates.format(
            faithfulness=numbers.value(found / judged),
            own=numbers.value(own / judged),
            hallucination=numbers.value(invented / judged),
            precision=numbers.value((right + own) / judged),
        ),
    ]


def reference_sums(counts: Mapping[str, int], say: Wording) -> list[str]:
    said, unused, missed = (counts.get(one, 0) for one in get_args(ReferenceAddress))
    judged = said + unused + missed
    if not judged:
        return []
    return [
        say.diagnosis.recalled.format(said=said, unused=unused, missed=missed, judged=judged),
        say.diagnosis.reference_rates.format(
            recall=numbers.value(said / judged), missed=numbers.value(missed / judged)
        ),
    ]


def replay_words(replay: Replay, say: Wording) -> str:
    """How many questions were sent again, in how many calls, to which system."""
    own = say.diagnosis
    of = say.counted(replay.of, own.questions)
    system = ", ".join(
        f"{name}={text}"
        for name, text in envelope.identity_words(replay.system)
        if "." not in name  # how it is set up is in the JSON report
    )
    return say.told(
        (
            own.replayed.format(chosen=count(replay.chosen), of=of),
            say.counted(replay.calls, own.calls),
            own.resumed.format(n=count(replay.resumed)) if replay.resumed else "",
            say.filled(own.system, system),
            "" if replay.ended == "complete" else named(own.ended, replay.ended),
        )
    )


def worst(report: DiagnosisReport) -> Iterator[tuple[MetricDiagnosis, Sample]]:
    """The worst samples of each metric, with it."""
    for one in report.diagnoses:
        for sample in one.worst:
            yield one, sample


def low_samples(report: DiagnosisReport) -> dict[str, tuple[Sample, dict[str, float]]]:
    """The worst samples by id, each once, with its values by metric."""
    found: dict[str, tuple[Sample, dict[str, float]]] = {}
    for one, sample in worst(report):
        _, values = found.setdefault(sample.id, (sample, {}))
        values[one.metric] = sample.value
    return found


def symptoms_of(sample: Sample, report: DiagnosisReport) -> str:
    called = words(report.language).symptoms
    return wording(report.language).told(named(called, name) for name in sample.symptoms)


def texts_of(sample: Sample, say: Wording) -> list[tuple[str, str]]:
    """Question, answer and reference, as far as there are any, each with its label."""
    texts = _all_texts(sample, say).items()
    return [(label, text or say.diagnosis.empty) for label, text in texts if text is not None]


def _all_texts(sample: Sample, say: Wording) -> dict[str, str | None]:
    own, reference = say.diagnosis, sample.reference
    return {own.question: sample.question, own.answer: sample.answer, own.reference: reference}


def missing_words(sample: Sample, say: Wording) -> str:
    """What the row does not have; that nothing was retrieved."""
    own, (contexts, ids) = say.diagnosis, (sample.contexts, sample.retrieved_ids)
    missing = [label for label, text in _all_texts(sample, say).items() if text is None]
    if contexts is None or (not contexts and ids):
        missing.append(own.passages)
    nothing = not contexts and not ids and () in (contexts, ids)
    gone = say.filled(own.not_given, say.listed(missing))
    return say.told((gone, own.nothing_retrieved if nothing else ""))


def coverage_words(report: DiagnosisReport) -> str:
    """How much was looked at: `samples 40, traces 80`; what is zero is left out."""
    say, own = wording(report.language), wording(report.language).diagnosis
    ranks = {name: place for place, name in enumerate(COVERED)}
    pairs = sorted(
        envelope.identity_words(report.coverage),
        key=lambda pair: (ranks.get(pair[0], len(COVERED)), pair[0]),
    )
    told = say.listed(f"{named(own.coverage, name)} {text}" for name, text in pairs if text != "0")
    return told or own.no_coverage


def named(known: Mapping[str, str], name: str) -> str:
    """The word for a name; the name itself where there is none, for it may be a user's own.

    >>> named({"missed": "the retriever missed it"}, "home_made")
    'home made'
    """
    return known.get(name, name.replace("_", " "))
