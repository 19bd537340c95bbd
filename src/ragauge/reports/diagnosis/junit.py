"""JUnit XML for CI servers: a suite of gates, one of metrics, and one of the worst samples."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from ragauge.contracts.diagnosis import DiagnosisReport, MetricDiagnosis
from ragauge.reports import testsuites
from ragauge.reports.diagnosis import causes, parts, story
from ragauge.reports.diagnosis.labels import Labels
from ragauge.reports.diagnosis.parts import ToldSample
from ragauge.reports.diagnosis.story import ToldMetric
from ragauge.reports.foreign import shown


def render(report: DiagnosisReport) -> str:
    """The XML document."""
    root = testsuites.document()
    gates = testsuites.suite(root, "gates")
    for gate in report.gates:
        testsuites.add_gate(gates, gate)
    metrics = testsuites.suite(root, "metrics")
    for one, told in zip(report.diagnoses, story.metrics(report), strict=True):
        _metric(metrics, one, told, report)
    samples = testsuites.suite(root, "samples")
    for metric, worst in parts.worst(report):
        for sample in worst:
            _sample(samples, metric, sample, report.passed, story.words(report))
    return testsuites.written(root)


def _metric(
    suite: ET.Element, one: MetricDiagnosis, told: ToldMetric, report: DiagnosisReport
) -> None:
    """A test case. The verdict decides: in a diagnosis that passed, no metric turns CI red."""
    case = testsuites.case(suite, "metrics", one.metric)
    if one.severity == "none":
        return
    say = story.words(report)
    kind = {"not_evaluable": "error", "no_rule": "skipped"}.get(one.severity, "failure")
    value = "" if one.value is None else f"{say.signs.colon}{told.value}"
    message = say.told([f"{told.word}{value}", told.counts, *told.notes])
    found = ET.SubElement(case, "skipped" if report.passed else kind, message=shown(message))
    found.set("type", one.severity)
    found.text = "\n".join(_causes(report, one, say))


def _causes(report: DiagnosisReport, one: MetricDiagnosis, say: Labels) -> list[str]:
    """The causes that go with a metric, each with the first thing to change."""
    lines = []
    for cause in causes.causes(report):
        if cause.one.id in one.causes:
            do = [action.do for action in cause.actions[:1]]
            text = say.told([f"{cause.one.title}{say.beside(cause.standing)}", *do])
            lines.append(shown(f"{cause.number}. {text}"))
    return lines


def _sample(suite: ET.Element, metric: str, one: ToldSample, passed: bool, say: Labels) -> None:
    case = testsuites.case(suite, shown(metric), one.one.id)
    message = shown(say.told([f"{metric} {one.value}", one.symptoms]))
    found = ET.SubElement(case, "skipped" if passed else "failure", message=message)
    found.set("type", "sample")
    facts = testsuites.facts({**dict(one.texts), say.retrieved: one.retrieved or None})
    contexts = [shown(f"{id}: {text}") for id, text in one.contexts]
    where = testsuites.facts({say.heads.where: one.one.where or None})
    found.text = "\n".join(filter(None, (facts, *contexts, where)))
