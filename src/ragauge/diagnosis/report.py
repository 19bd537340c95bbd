"""The report of a diagnosis: metrics, causes and slices, in one language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches

from msgspec import Struct, structs

from ragauge.contracts.diagnosis import (
    Cause,
    DiagnosisReport,
    Evidence,
    Language,
    MetricDiagnosis,
    Replay,
    Sample,
    ScoreRow,
    Severity,
    Slice,
    Threshold,
)
from ragauge.contracts.options import FailOn
from ragauge.contracts.report import Finding, Score
from ragauge.diagnosis.cases import Material, Measured
from ragauge.diagnosis.catalogue import Entry, KnobMap, actions_of, catalogue, is_about
from ragauge.diagnosis.features import too_fine
from ragauge.diagnosis.limits import RANKED, SEVEN, beyond, plain_name, severity, threshold_hit
from ragauge.diagnosis.own_rules import advised_causes, count_evidence, own_causes
from ragauge.diagnosis.ranking import ORDER, RankedCause, SignEvidence, rank
from ragauge.diagnosis.slices import ALPHA, only_here, worst_slices
from ragauge.diagnosis.texts import DiagnosisTexts, fill, texts
from ragauge.errors import UsageError
from ragauge.metrics.table import table

MANY = 30
"""With fewer low samples, chance matters."""
JUDGED = ("critical", "warning", "none")
SLICES, CAUSES = 5, 5
"""The maximum number of slices, and of the causes of one metric."""
OUTCOMES = ("answer_length",)
"""Features of the result, which a slice would only restate: a refusal is short."""
FOLLOWS = {
    "context_recall": ("first_relevant",),
    "context_precision": ("first_relevant",),
    "coverage": ("first_relevant",),
    "gold_retrieved@5": ("first_relevant",),
    "under_refusal": ("answerable",),
    "refusal_rate": ("answerable",),
}
"""Features that a metric is computed from: a low value there is not a finding."""
LEAST = 0.1
"""Samples that a cause must explain to be named."""


class DiagnosisSettings(Struct, frozen=True, kw_only=True):
    """The options of a diagnosis."""

    metrics: tuple[str, ...] | None = None
    """The requested ones; None for all that the input has."""
    language: Language = "en"
    top: int = 3
    """The worst samples of each metric that are shown."""
    fail_on: FailOn = "critical"
    min_coverage: float = 0
    """The fraction of the samples that must have a valid value for a metric to be fine."""
    knobs: Mapping[str, str | None] = {}
    """The pipeline's name of each knob; None if it does not have it."""
    entries: tuple[Entry, ...] = ()
    """The user's own rules."""


def build_report(
    material: Material, settings: DiagnosisSettings, replay: Replay | None = None
) -> DiagnosisReport:
    """The report on the material."""
    return _Diagnosis(material, settings).report(replay)


def low_samples(material: Material, settings: DiagnosisSettings) -> list[ScoreRow]:
    """The samples beyond the threshold of a low metric, in their order."""
    low = _Diagnosis(material, settings).low_ids()
    return [row for row in material.samples if row.id in low]


class _Diagnosis:
    """The parts of one diagnosis."""

    def __init__(self, material: Material, settings: DiagnosisSettings) -> None:
        self._material, self._settings = material, settings
        self._texts = texts(settings.language)
        wanted = _wanted(material, settings.metrics)
        self._uncovered = {
            name
            for name, one in wanted.items()
            if one.severity is None and one.score.n < settings.min_coverage * one.score.of - 1e-9
        }
        self._measured = {
            name: structs.replace(one, severity="not_evaluable")
            if name in self._uncovered and severity_of(one) == "none"
            else one
            for name, one in wanted.items()
        }
        self._failing = {
            name: failing(name, material.samples, one.limits)
            for name, one in self._measured.items()
        }
        self._low = [
            name
            for name, one in self._measured.items()
            if severity_of(one) in ("warning", "critical")
        ]
        self._entries = {entry.id: entry for entry in catalogue(settings.language)}
        self._cause_text = CauseText(self._texts, settings.knobs)
        shown: dict[str, set[str]] = {}
        for case in material.cases or ():
            shown.setdefault(case.sample, set()).update(case.symptoms)
        self._symptoms = {sample: tuple(sorted(names)) for sample, names in shown.items()}
        """By sample."""

    def low_ids(self) -> set[str]:
        return {row.id for name in self._low for row in self._failing[name]}

    def report(self, replay: Replay | None) -> DiagnosisReport:
        material, settings = self._material, self._settings
        diagnoses = sorted(
            map(self._metric, self._measured),
            key=lambda one: (RANKED.index(one.severity), one.metric),
        )
        for name, values in too_fine(list(material.features.values())).items():
            message = f"{values:,} values are too many to slice by"
            material.findings.add(Finding("too_fine", name, message))
        ruled = [name for name, one in self._measured.items() if one.limits and self._failing[name]]
        slices = [one for name in ruled for one in self._slices_of(name, ALPHA / len(ruled))]
        counts = Counter(name for names in self._symptoms.values() for name in names)
        unknown = [key for key in material.unknown if key != "no_replay" or replay is None]
        return DiagnosisReport(
            passed=_passed(diagnoses, settings, self._uncovered),
            language=settings.language,
            metrics={name: one.score for name, one in self._measured.items()},
            gates=material.gates,
            diagnoses=tuple(diagnoses),
            causes=self._causes(),
            symptoms=dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
            addresses=material.addresses,
            slices=tuple(sorted(slices, key=lambda one: (one.p, one.metric))[:SLICES]),
            replay=replay,
            unknown=(*self._uncertain(), *(self._texts.unknown[key] for key in unknown)),
            findings=tuple(material.findings.kept()),
            finding_counts=dict(sorted(material.findings.counts.items())),
            coverage=material.coverage,
            identity={
                **material.identity,
                "language": settings.language,
                "fail_on": settings.fail_on,
            },
        )

    def _uncertain(self) -> Iterator[str]:
        """Sentences about low samples without a symptom, and about too few low samples."""
        low, say = self.low_ids(), self._texts.unknown
        bare = [id for id in low if not self._symptoms.get(id)]
        if bare and self._material.cases is not None:
            yield fill(say["unexplained"], n=len(bare), of=len(low))
        if 0 < len(low) < MANY:
            yield fill(say["few_samples"], n=len(low))

    def _metric(self, name: str) -> MetricDiagnosis:
        measured, samples, worst = self._measured[name], self._material.samples, self._failing[name]
        limits, value, found = measured.limits, measured.score.value, severity_of(measured)
        texts, reason = self._texts.metrics, None
        if name in self._uncovered and measured.score.n:
            n, of, least = measured.score.n, measured.score.of, self._settings.min_coverage
            reason = fill(texts.too_few_values, n=n, of=of, least=f"{least * 100:.6g}")
        elif found == "not_evaluable":
            reason = texts.no_valid_value
        elif found == "no_rule":
            reason = texts.no_rule
        elif found == "critical" and value is not None and limits is not None:
            # A mean within its bounds is critical because of a gate on every question.
            reason = None if beyond(value, limits.warning, limits.better) else texts.each
        critical = 0
        if limits is not None and limits.critical is not None:
            critical = sum(
                beyond(row.values[name], limits.critical, limits.better) for row in worst
            )
        return MetricDiagnosis(
            metric=name,
            severity=found,
            value=value,
            better=measured.better,
            n=sum(name in row.values for row in samples),
            of=len(samples),
            invalid=measured.invalid,
            threshold=None if limits is None or value is None else threshold_hit(value, limits),
            limits=limits,
            beyond_warning=len(worst),
            beyond_critical=critical,
            reason=reason,
            causes=self._causes_of(name, worst),
            worst=tuple(
                Sample(
                    id=row.id,
                    value=row.values[name],
                    question=row.question,
                    answer=row.answer,
                    reference=row.reference,
                    contexts=row.contexts,
                    retrieved_ids=row.retrieved_ids,
                    symptoms=self._symptoms.get(row.id, ()),
                    where=row.where,
                )
                for row in worst[: self._settings.top]
            ),
        )

    def _causes_of(self, name: str, worst: Sequence[ScoreRow]) -> tuple[str, ...]:
        """The causes of one metric, ranked over its own samples."""
        if name not in self._low:
            return ()
        plain = [one.id for one in self._settings.entries if not one.when and is_about(one, name)]
        own = tuple(plain) if worst else ()
        about = {id for id, entry in self._entries.items() if is_about(entry, name)}
        if self._material.cases is None:
            return (*own, *(one.id for one in self._material.advice if one.id in about))
        # Cases of other samples count as correct, for comparison.
        chosen = {row.id for row in worst}
        ranked = rank(
            [
                case if case.sample in chosen else structs.replace(case, symptoms=frozenset())
                for case in self._material.cases
            ]
        )
        explaining = [one for one in ranked if one.explains >= LEAST]
        if not any(one.rule.id in about and one.standing != "untested" for one in explaining):
            # None of the catalogue's causes for this metric: then the likely ones of any metric.
            about |= {one.rule.id for one in explaining if one.standing == "likely"}
        return (*own, *[one.rule.id for one in explaining if one.rule.id in about][:CAUSES])

    def _causes(self) -> tuple[Cause, ...]:
        ranked = () if self._material.cases is None else rank(self._material.cases)
        found = []
        for one in ranked:
            entry = self._entries[one.rule.id]
            about = tuple(name for name in self._low if is_about(entry, name))
            cause = self._cause_text.cause(one, entry, about)
            if cause.standing == "likely" and self._material.by_scores and not self._low:
                cause = structs.replace(cause, standing="possible")
            # Only causes that explain something or that are about a low metric.
            found += [cause] if about or cause.explains > 0 else []
        found += own_causes(
            self._settings.entries, self._material, self._failing, self._settings.knobs
        )
        found += advised_causes(
            self._material, self._entries, self._settings.knobs, self._low, alone=not ranked
        )
        return tuple(sorted(found, key=lambda one: ORDER.index(one.standing)))

    def _slices_of(self, name: str, alpha: float) -> list[Slice]:
        """The slices where a metric is worse; for a metric that is fine, only where it is not.

        Alpha is divided among metrics, so that it holds for all slices of the report together.
        """
        limits = self._measured[name].limits
        rows = [row for row in self._material.samples if name in row.values]
        if limits is None or not rows:
            return []
        values = [row.values[name] for row in rows]
        wrong = [beyond(value, limits.warning, limits.better) for value in values]
        follows = {*OUTCOMES, *FOLLOWS.get(plain_name(name), ())}
        feature_rows = [self._material.features.get(row.id, {}) for row in rows]
        features = [
            {feature: value for feature, value in one.items() if feature not in follows}
            for one in feature_rows
        ]
        slices = worst_slices(name, values, wrong, limits.better, features, alpha=alpha)
        everywhere = all(wrong)
        return [
            structs.replace(one, text=self._cause_text.slice(one, bad, all_beyond=everywhere))
            for one in slices
            if (bad := severity(one.value, limits)) != "none" or name in self._low
        ]


def _wanted(material: Material, names: tuple[str, ...] | None) -> dict[str, Measured]:
    """The requested metrics; one that no sample has is included without a value.

    Raises UsageError for misspelt names of known metrics.
    """
    known = material.metrics
    if names is None:
        return dict(sorted(known.items()))
    names_known = {*known, *map(plain_name, known), *SEVEN}
    problems = []
    for name in names:
        if name not in names_known and name not in table():
            near = get_close_matches(name, names_known, n=1)
            if near:  # other names may be the user's own: the metric is then not evaluable
                problems.append(f'there is no metric "{name}"; did you mean "{near[0]}"?')
    if problems:
        raise UsageError(*problems)
    by_name = {plain_name(name): name for name in sorted(known, reverse=True)} | {
        name: name for name in known
    }
    of = len(material.samples)
    score = Score(value=None, n=0, of=of, reason="no sample has it")
    absent = Measured(score=score, better=None, limits=None, invalid={"absent": of} if of else {})
    return {by_name.get(name, name): known.get(by_name.get(name, name), absent) for name in names}


def _passed(
    diagnoses: Sequence[MetricDiagnosis], settings: DiagnosisSettings, uncovered: Collection[str]
) -> bool:
    """Whether no metric is too severe, without a value, or with too few values."""
    if settings.fail_on == "never":
        return True
    if not any(one.severity in JUDGED for one in diagnoses):
        return False  # nothing was judged at all
    failing = {"critical"} if settings.fail_on == "critical" else {"critical", "warning"}
    failing |= {"not_evaluable"}
    return not any(
        one.severity in failing or (one.severity in JUDGED and one.metric in uncovered)
        for one in diagnoses
    )


def severity_of(measured: Measured) -> Severity:
    """The severity of a metric: from its gate, else from its thresholds."""
    if measured.severity is not None:
        return measured.severity
    if measured.score.value is None:
        return "not_evaluable"
    if measured.limits is None:
        return "no_rule"
    return severity(measured.score.value, measured.limits)


def failing(metric: str, samples: Sequence[ScoreRow], limits: Threshold | None) -> list[ScoreRow]:
    """The samples beyond the warning threshold, the worst first; ties by id."""
    if limits is None:
        return []
    sign = 1 if limits.better == "higher" else -1
    found = [
        row
        for row in samples
        if metric in row.values and beyond(row.values[metric], limits.warning, limits.better)
    ]
    return sorted(found, key=lambda row: (sign * row.values[metric], row.id))


class CauseText:
    """Turns causes and slices into sentences."""

    def __init__(self, texts: DiagnosisTexts, knobs: KnobMap) -> None:
        self._texts, self._knobs = texts, knobs

    def cause(self, ranked: RankedCause, entry: Entry, metrics: tuple[str, ...]) -> Cause:
        """A cause with its evidence, symptoms first."""
        say = self._texts
        symptoms = [
            count_evidence(
                name,
                count.n,
                count.of,
                fill(say.shown, symptom=say.symptoms[name], n=count.n, of=count.of),
            )
            for name, count in ranked.symptoms.items()
        ]
        signs = [self._sign(one) for one in ranked.signs if one.bits]
        return Cause(
            id=entry.id,
            title=entry.title,
            means=entry.means,
            standing=ranked.standing,
            explains=round(ranked.explains, 2),
            of=ranked.of,
            metrics=metrics,
            evidence=(*symptoms, *sorted(signs, key=lambda one: -abs(one.bits))),
            why=self._why(ranked),
            confirm=entry.confirm,
            actions=actions_of(entry, self._knobs),
            samples=ranked.samples,
        )

    def _sign(self, evidence: SignEvidence) -> Evidence:
        here, there = evidence.here, evidence.elsewhere
        text = self._texts.signs[evidence.weight.sign]
        seen = here.n * abs(evidence.weight.bits) >= (here.of - here.n) * abs(
            evidence.weight.bits_if_not
        )
        sentence = fill(text.seen if seen else text.not_seen, n=here.n, of=here.of)
        if there.of:
            sentence += fill(self._texts.elsewhere, n=there.n, of=there.of)
        return Evidence(
            sign=evidence.weight.sign,
            speaks="for" if evidence.bits > 0 else "against",
            n=here.n,
            of=here.of,
            elsewhere=there.n if there.of else None,
            elsewhere_of=there.of or None,
            bits=round(evidence.bits, 2),
            text=sentence,
        )

    def _why(self, ranked: RankedCause) -> str | None:
        """Why a cause is ruled out, or cannot be tested."""
        struck, why = ranked.struck, self._texts.why
        if struck is None:
            return None
        if not struck.of:
            needed = struck.sign or ranked.rule.symptoms[0]
            return fill(why.untested, what=self._texts.needs[needed])
        if struck.sign is None:
            return fill(why.no_symptom, of=struck.of)
        return fill(why.struck_out[struck.sign], of=struck.of)

    def slice(self, one: Slice, severity: Severity, *, all_beyond: bool) -> str:
        """A slice as a sentence; never `only` if all samples are beyond the threshold."""
        texts = self._texts.slices
        if all_beyond or 2 * one.beyond <= one.beyond_all:
            template = texts.worse
        else:
            template = texts.only if only_here(one) else texts.mostly
        return fill(
            template,
            metric=one.metric,
            severity=self._texts.severity[severity],
            conditions=texts.conditions(one.conditions),
            beyond=one.beyond,
            beyond_all=one.beyond_all,
            value=one.value,
            elsewhere=one.elsewhere,
            n=one.n,
        )
