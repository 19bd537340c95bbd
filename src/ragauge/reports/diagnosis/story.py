"""What a diagnosis tells, in the order it is told; the forms only write it down."""

from __future__ import annotations

from msgspec import Struct

from ragauge.contracts.diagnosis import DiagnosisReport, MetricDiagnosis, Severity, Threshold
from ragauge.contracts.report import Score
from ragauge.reports import envelope, numbers
from ragauge.reports.diagnosis.causes import ToldCause, causes
from ragauge.reports.diagnosis.labels import Labels, labels_of, named

LOW: tuple[Severity, ...] = ("critical", "warning")
COVERED = ("samples", "traces", "gold", "traced", "scored", "claims")
"""What is told first of the coverage; the rest by name."""


class Lead(Struct, frozen=True, kw_only=True):
    """What stands right below the verdict: the likeliest cause, or why none is claimed."""

    heading: str
    cause: ToldCause | None
    evidence: str
    """What speaks for it most, or why it cannot be told."""
    turn: str
    """`First turn recall_top_k`; without a knob, `First`."""
    step: str
    """The first thing to change; of a cause that cannot be told, how to tell."""
    why: str


class ToldMetric(Struct, frozen=True, kw_only=True):
    """A metric as a row: how low it is, against what, and over how many samples."""

    name: str
    severity: Severity
    word: str
    value: str
    """`0.412 < 0.50` where it is beyond a threshold, else the value alone."""
    limits: str
    interval: str
    valid: str
    invalid: str
    warning: str
    critical: str
    share: str
    """Of the valid ones, beyond the warning threshold."""
    counts: str
    """The counts that a narrow page has no columns for."""
    notes: tuple[str, ...]
    causes: tuple[tuple[str, str], ...]
    """The causes that go with it: the number each has on the page, or "", and its id."""


def is_low(report: DiagnosisReport) -> bool:
    return any(one.severity in LOW for one in report.diagnoses)


def words(report: DiagnosisReport) -> Labels:
    return labels_of(report.language)


def lead(report: DiagnosisReport) -> Lead:
    """The likeliest cause with its evidence and the first thing to turn, or why there is none."""
    found = causes(report)
    likely = bool(found) and found[0].one.standing == "likely"
    if found and (likely or is_low(report)):
        return _lead(found[0], words(report))
    say = words(report)
    why = why_no_cause(report)
    return Lead(heading=say.no_cause, cause=None, evidence="", turn="", step="", why=why)


def _lead(first: ToldCause, say: Labels) -> Lead:
    headings = {"likely": say.lead_likely, "possible": say.lead_possible}
    action = first.actions[0] if first.actions else None
    turn, step = say.confirm, first.one.confirm
    if action and first.one.standing != "untested":
        turn = say.turn.format(knob=action.knob) if action.knob else say.do_first
        step = action.do
    return Lead(
        heading=headings.get(first.one.standing, say.lead_untested),
        cause=first,
        evidence=first.gist,
        turn=turn,
        step=step,
        why="",
    )


def why_no_cause(report: DiagnosisReport) -> str:
    """Why no cause is said to be likely or possible."""
    say = words(report)
    if not report.diagnoses:
        return say.no_metrics
    if not is_low(report):
        judged = any(one.severity == "none" for one in report.diagnoses)
        return say.none_is_low if judged else say.nothing_judged
    if not report.causes:
        return say.none_goes_with
    if causes(report):
        return say.only_untested
    return say.all_struck_out.format(n=numbers.count(len(report.causes)))


def metrics(report: DiagnosisReport) -> list[ToldMetric]:
    """The metrics in the report's order, the worst first."""
    say = words(report)
    places = {cause.one.id: str(cause.number) for cause in causes(report)}
    return [_metric(one, report.metrics.get(one.metric), places, say) for one in report.diagnoses]


def _metric(
    one: MetricDiagnosis, score: Score | None, places: dict[str, str], say: Labels
) -> ToldMetric:
    invalid = sum(one.invalid.values())
    known = one.n > 0 and one.limits is not None
    interval = numbers.interval(score.ci) if score else ""
    return ToldMetric(
        name=one.metric,
        severity=one.severity,
        word=say.severities[one.severity],
        value=_held_against(one),
        limits=limits_words(one.limits),
        interval=interval,
        valid=say.n_of(one.n, one.of),
        invalid=numbers.count(invalid) if invalid else "",
        warning=_part(one.beyond_warning, one.n) if known else numbers.ABSENT,
        critical=_part(one.beyond_critical, one.n) if known and _is_graded(one) else numbers.ABSENT,
        share=numbers.share(one.beyond_warning, one.n) if known else numbers.ABSENT,
        counts=_counts(one, interval, say),
        notes=_notes(one, say),
        causes=tuple((places.get(id, ""), id) for id in one.causes),
    )


def _is_graded(one: MetricDiagnosis) -> bool:
    """Whether there is a critical threshold beside the other, so that samples can be beyond it."""
    return one.limits is not None and one.limits.critical is not None


def _held_against(one: MetricDiagnosis) -> str:
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


def _part(n: int, of: int) -> str:
    """`18 (47.4 %)`."""
    return f"{numbers.count(n)} ({numbers.share(n, of)})"


def _counts(one: MetricDiagnosis, interval: str, say: Labels) -> str:
    if not one.n or one.limits is None:
        return ""
    beyond = ""
    if one.beyond_warning:
        told = say.n_of(one.beyond_warning, say.counted(one.n, say.samples))
        critical = say.beyond_critical.format(n=numbers.count(one.beyond_critical))
        graded = say.listed([say.beyond.format(told=told), critical])
        beyond = graded if _is_graded(one) else say.beyond_bound.format(told=told)
    return say.told([beyond, interval and f"95 % {interval}"])


def _notes(one: MetricDiagnosis, say: Labels) -> tuple[str, ...]:
    kinds = [
        f"{named(say.invalid, kind)} {numbers.count(times)}"
        for kind, times in sorted(one.invalid.items(), key=lambda pair: (-pair[1], pair[0]))
    ]
    wanted = {"higher": say.higher_is_better, "lower": say.lower_is_better}
    notes = [
        one.reason or "",
        say.invalid_are.format(told=say.listed(kinds)) if kinds else "",
        wanted[one.better] if one.better and one.limits is None else "",
    ]
    return tuple(note for note in notes if note)


def other_metrics(report: DiagnosisReport) -> list[tuple[str, Score]]:
    """Scores of a recorded run that nothing was diagnosed for."""
    told = {one.metric for one in report.diagnoses}
    return [(id, score) for id, score in sorted(report.metrics.items()) if id not in told]


def coverage_words(report: DiagnosisReport) -> str:
    """How much was looked at, in one line: `samples 40, traces 80`; what is zero is not said."""
    say = words(report)
    pairs = sorted(envelope.identity_words(report.coverage), key=lambda pair: _place(pair[0]))
    told = [f"{named(say.coverage, name)} {text}" for name, text in pairs if text != "0"]
    return say.listed(told) or say.no_coverage


def _place(name: str) -> tuple[int, str]:
    return (COVERED.index(name) if name in COVERED else len(COVERED), name)
