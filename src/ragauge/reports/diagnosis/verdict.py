"""The first line of a diagnosis: pass or fail, and what makes it so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragauge.contracts.diagnosis import DiagnosisReport, MetricDiagnosis
from ragauge.reports import numbers
from ragauge.reports.diagnosis.labels import Labels, labels_of
from ragauge.reports.diagnosis.story import LOW

NAMED = 3
NEVER = "--fail-on never"


def verdict_words(report: DiagnosisReport) -> tuple[str, str]:
    """The verdict in a word, and why: which metrics are low, and where one that passes is."""
    say = labels_of(report.language)
    judged = _judged(report, say)
    told = [*_why_passed(report, say), judged]
    if _is_let_pass(report):
        told = [f"{NEVER}{say.signs.colon}{judged}"]
    if report.passed and report.slices:
        told.append(say.but.format(told=report.slices[0].text))
    return say.passed if report.passed else say.failed, say.told(told)


def _judged(report: DiagnosisReport, say: Labels) -> str:
    """How many metrics are low or fine, and how many could not be judged."""
    of = say.counted(len(report.diagnoses), say.metrics)
    times = _times(report)
    low = [one for one in report.diagnoses if one.severity in LOW]
    unjudged = say.not_evaluable.format(n=numbers.count(times["not_evaluable"]))
    unruled = say.no_rule.format(n=numbers.count(times["no_rule"]))
    rest = [unjudged * bool(times["not_evaluable"]), unruled * bool(times["no_rule"])]
    if not low and not times["none"]:
        return f"{say.nothing_judged}{say.signs.colon}{say.told(rest) or say.no_metrics}"
    told = say.fine.format(n=numbers.count(times["none"]), of=of)
    if low:
        told = say.low.format(n=numbers.count(len(low)), of=of, names=_names(low, say))
    if _fails_for_want_of_values(report):
        return say.told([rest[0], told, rest[1]])
    return say.told([told, *rest])


def _names(low: Sequence[MetricDiagnosis], say: Labels) -> str:
    shown = [f"{one.metric} {say.severities[one.severity]}" for one in low[:NAMED]]
    left = len(low) - len(shown)
    return say.listed([*shown, say.counted(left, say.others) if left else ""])


def _why_passed(report: DiagnosisReport, say: Labels) -> list[str]:
    """Why a run passes though metrics are low: none of them is as bad as it takes."""
    times = _times(report)
    is_mild = report.passed and times["warning"] and not times["critical"]
    return [say.none_is_critical] if is_mild else []


def _is_let_pass(report: DiagnosisReport) -> bool:
    """Whether a run passes because nothing was to fail it, and there is something that could."""
    times = _times(report)
    objections = any(times[severity] for severity in (*LOW, "not_evaluable"))
    is_never = report.passed and report.identity.get("fail_on") == "never"
    return is_never and (objections or not times["none"])


def _fails_for_want_of_values(report: DiagnosisReport) -> bool:
    """Whether nothing but a metric without a value fails the run."""
    times = _times(report)
    too_bad = LOW if report.identity.get("fail_on") == "warning" else ("critical",)
    return not report.passed and not any(times[severity] for severity in too_bad)


def _times(report: DiagnosisReport) -> Counter[str]:
    return Counter(one.severity for one in report.diagnoses)
