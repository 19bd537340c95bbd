"""Rules of the user's own: causes that apply to samples by what is known of them.

The file has the form of the catalogue's: `[[entry]]` with id, metrics, when, title, confirm and
actions; `when` asks for symptoms, strata and the other features of a sample. Beside them,
`[[threshold]]` with metric, better, warning and critical, for metrics without a rule, or in place
of ours.

A plain rule has no condition: `[METRIC]` with threshold, causes and actions, or `[[rule]]` with the
metric among them. Its causes are possible wherever the metric is low. The file is TOML or JSON.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.diagnosis import Cause, Evidence, ScoreRow, Standing, Threshold
from ragauge.contracts.gold import stratum_text
from ragauge.contracts.metric import Better
from ragauge.diagnosis.cases import Material
from ragauge.diagnosis.catalogue import (
    Entry,
    KnobMap,
    Step,
    actions_of,
    catalogue,
    is_about,
    symptoms,
)
from ragauge.diagnosis.limits import beyond, limits_of
from ragauge.errors import UsageError
from ragauge.metrics.table import find
from ragauge.stats.intervals import wilson

SYMPTOM = "symptom"
SHOWN = 5
RULE, WRAPPER = "rule", "METRIC_RULES"
TABLES = ("entry", "threshold", RULE)
PLAIN_FIELDS = frozenset({"threshold", "causes", "actions"})
TOLERATED = 0.05
"""The share of units that may speak for an entry before it is called likely, beyond chance."""
ONLY_HERE = frozenset({"quality.missing", "quality.precision_hides_refusals"})
"""What no single answer shows, and so no cause that is ranked by evidence."""


class _Threshold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    metric: str
    better: Better
    warning: float
    critical: float | None = None


class _Bounds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    warning: float
    critical: float | None = None


class _PlainRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule without a condition: what may be wrong where a metric is low, and what to do."""

    metric: str
    threshold: float | _Bounds
    causes: tuple[str, ...]
    actions: tuple[str | Step, ...]
    better: Better | None = None


class OwnRules(Struct, frozen=True, kw_only=True):
    """What a user's file says."""

    entries: tuple[Entry, ...] = ()
    limits: dict[str, Threshold] = {}


def read_own_rules(text: str) -> tuple[OwnRules, list[str]]:
    """The rules of a file and all that is wrong with it, each fault with its place."""
    try:
        table = _decoded(text)
    except ValueError as error:
        return OwnRules(), [str(error)]
    problems: list[str] = []
    entries = _read(table, "entry", Entry, problems)
    thresholds = _read(table, "threshold", _Threshold, problems)
    problems += _entry_faults(entries)
    seen: dict[str, int] = {}
    for number, one in thresholds.items():
        if not all(isfinite(bound) for bound in (one.warning, one.critical or 0.0)):
            problems.append(f"threshold {number}: expected finite numbers")
        elif one.critical is not None and beyond(one.warning, one.critical, one.better):
            fact = f"critical {one.critical:g} comes before warning {one.warning:g}"
            problems.append(f"threshold {number}: {fact}, and {one.better} is better")
        if one.metric in seen:
            fact = f"{one.metric} has one already, threshold {seen[one.metric]}"
            problems.append(f"threshold {number}: {fact}; keep one")
        seen.setdefault(one.metric, number)
    limits = {
        one.metric: Threshold(better=one.better, warning=one.warning, critical=one.critical)
        for one in thresholds.values()
    }
    plain: list[Entry] = []
    for where, written in _plain_rules(table, problems):
        try:
            rule = msgspec.convert(written, _PlainRule)
            names, bounds = _plain_limits(rule)
        except (msgspec.ValidationError, ValueError) as error:
            problems.append(f"{where}: {error}")
            continue
        taken = [name for name in names if name in limits]
        if taken:
            problems.append(f"{where}: {taken[0]} has a threshold already; keep one")
        limits |= dict.fromkeys(names, bounds)
        # Each cause with all the actions: the rule does not say which fits.
        actions = tuple(Step(do=one) if isinstance(one, str) else one for one in rule.actions)
        plain += [
            Entry(
                id=f"{RULE}.{rule.metric}.{number}",
                metrics=names,
                title=cause,
                evidence="{n} " + f"beyond the threshold of {rule.metric}",
                confirm="Look at the worst samples: the rule has no condition that could tell.",
                actions=actions,
            )
            for number, cause in enumerate(rule.causes, 1)
        ]
    return OwnRules(entries=(*entries.values(), *plain), limits=limits), problems


def _decoded(text: str) -> dict[str, Any]:
    """The tables of a file in TOML or JSON; a JSON array is one of plain rules."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(name for name in found if sum(name == key for key, _ in pairs) > 1)
            raise ValueError(f"is not JSON: {twice} is written twice in one object")
        return found

    start = text.lstrip()[:1]
    if start in ("{", "["):
        try:
            table = json.loads(text, object_pairs_hook=unique)
            return {RULE: table} if isinstance(table, list) else table
        except json.JSONDecodeError as error:
            if start == "{":
                raise ValueError(f"is not JSON: {error}") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not TOML: {error}") from None


def _plain_rules(table: dict[str, Any], problems: list[str]) -> Iterator[tuple[str, Any]]:
    """The plain rules of a file, each with its place and its metric."""
    written = table.get(RULE, [])
    if not isinstance(written, list):
        problems.append(f"{RULE}: expected tables written [[{RULE}]]")
        written = []
    yield from ((f"{RULE} {number}", one) for number, one in enumerate(written, 1))
    by_metric = {name: one for name, one in table.items() if name not in (*TABLES, WRAPPER)}
    wrapped = table.get(WRAPPER, {})
    if not isinstance(wrapped, dict):
        problems.append(f"{WRAPPER}: expected a rule for each metric")
        wrapped = {}
    for name, one in {**by_metric, **wrapped}.items():
        if isinstance(one, dict) and not PLAIN_FIELDS.isdisjoint(one):
            yield name, {**one, "metric": name}
            continue
        inner = one if isinstance(one, dict) and one else {}
        rules = {key: value for key, value in inner.items() if isinstance(value, dict)}
        if not rules or any(PLAIN_FIELDS.isdisjoint(value) for value in rules.values()):
            problems.append(
                f"{name}: there is no such table; write [[entry]], [[threshold]], or [METRIC] with "
                "threshold, causes and actions"
            )
            continue
        for key, value in rules.items():
            yield f"{name}.{key}", {**value, "metric": f"{name}.{key}"}


def _plain_limits(rule: _PlainRule) -> tuple[tuple[str, ...], Threshold]:
    """The names a plain rule's metric goes by, and its bounds; raises ValueError.

    The direction is the metric table's. A threshold alone is where a warning begins: from where
    on the metric is critical stays as it is, unless that would come first.
    """
    known = limits_of(rule.metric)
    better: Better | None = known.better if known else None
    names: tuple[str, ...] = (rule.metric,)
    try:
        metric = find(rule.metric)
        better, names = better or metric.better, tuple(dict.fromkeys((rule.metric, metric.id)))
    except UsageError:
        pass  # Scores of other tools have metrics that the table does not know.
    if better is None and rule.better is None:
        raise ValueError(
            f'the metric table has no "{rule.metric}"; add better = "higher" or "lower"'
        )
    if better and rule.better and rule.better != better:
        raise ValueError(f"{rule.metric} is better when {better}; drop better, or correct it")
    if not rule.causes or not all(text.strip() for text in rule.causes):
        raise ValueError("causes are missing; say what may be wrong")
    if not rule.actions:
        raise ValueError("actions are missing; say what to change")
    way: Better = better or rule.better or "higher"
    given = rule.threshold
    if isinstance(given, _Bounds):
        warning, critical = given.warning, given.critical
    else:
        warning, critical = given, known.critical if known else None
    if not all(isfinite(bound) for bound in (warning, critical or 0.0)):
        raise ValueError("threshold: expected finite numbers")
    if critical is not None and beyond(warning, critical, way):
        if isinstance(given, _Bounds):
            fact = f"critical {critical:g} comes before warning {warning:g}"
            raise ValueError(f"{fact}, and {way} is better")
        critical = None
    return names, Threshold(better=way, warning=warning, critical=critical)


def _read(table: dict[str, Any], name: str, kind: Any, problems: list[str]) -> dict[int, Any]:
    """What could be read, by its number in the file."""
    found: dict[int, Any] = {}
    written = table.get(name, [])
    if not isinstance(written, list):
        problems.append(f"{name}: expected tables written [[{name}]]")
        return found
    for number, one in enumerate(written, 1):
        try:
            found[number] = msgspec.convert(one, kind)
        except msgspec.ValidationError as error:
            problems.append(f"{name} {number}: {error}")
    return found


def _entry_faults(entries: Mapping[int, Entry]) -> list[str]:
    taken = {entry.id: "the catalogue's" for entry in catalogue()}
    problems = []
    for number, entry in entries.items():
        if entry.id in taken:
            problems.append(f"entry {number}: id {entry.id} is {taken[entry.id]}; choose another")
        strange = [name for name in entry.when.get(SYMPTOM, ()) if name not in symptoms()]
        if strange:
            names = ", ".join(symptoms())
            problems.append(f"entry {number}: no symptom {strange}; there are {names}")
        if not entry.when:
            problems.append(f"entry {number}: when is missing; say which samples speak for it")
        if not entry.actions:
            problems.append(f"entry {number}: actions are missing; say what to change")
        if entry.scores:
            problems.append(f"entry {number}: scores are the catalogue's own; ask by when")
        try:
            entry.evidence.format(n=0)
        except (AttributeError, LookupError, TypeError, ValueError):
            problems.append(f"entry {number}: evidence: {{n}} is all that may stand in braces")
        taken[entry.id] = f"that of entry {number}"
    return problems


def own_causes(
    entries: Sequence[Entry],
    material: Material,
    failing: Mapping[str, Sequence[ScoreRow]],
    knobs: KnobMap,
) -> list[Cause]:
    """The user's rules that some failing sample speaks for, those with the most first."""
    shown: dict[str, set[str]] = {}
    for case in material.cases or ():
        shown.setdefault(case.sample, set()).update(case.symptoms)
    found = []
    for entry in entries:
        about = [name for name in failing if is_about(entry, name)]
        wrong = {row.id for name in about for row in failing[name]}
        speaking = [
            id
            for id in sorted(wrong)
            if _matches(entry, material.features.get(id, {}), shown.get(id, set()))
        ]
        if speaking:
            n = len(speaking)
            # Without a condition nothing speaks for a cause but that the metric is low.
            standing = standing_of(n, len(material.samples)) if entry.when else "possible"
            metrics = tuple(name for name in about if failing[name])
            samples = tuple(speaking[:SHOWN])
            found.append(_cause(entry, n, len(wrong), standing, metrics, samples, knobs))
    return sorted(found, key=lambda cause: (-cause.explains, cause.id))


def _matches(entry: Entry, features: Mapping[str, str], symptoms: set[str]) -> bool:
    return all(
        not symptoms.isdisjoint(wanted)
        if fact == SYMPTOM
        else features.get(fact) in [stratum_text(value) for value in wanted]
        for fact, wanted in entry.when.items()
    )


def advised_causes(
    material: Material,
    entries: Mapping[str, Entry],
    knobs: KnobMap,
    low: Sequence[str],
    *,
    alone: bool,
) -> list[Cause]:
    """The causes that a run's own advice speaks of, those that most units speak for first.

    Beside causes ranked by evidence only what these cannot tell.
    """
    of = len(material.samples) if material.wrong is None else material.wrong
    found = []
    for advice in material.advice:
        if advice.id in entries and (alone or advice.id in ONLY_HERE):
            entry, n = entries[advice.id], advice.n
            n = len(advice.questions) if n is None else n
            about = tuple(name for name in low if name in entry.metrics)
            standing = standing_of(n, of) if about or not low else "possible"
            found.append(_cause(entry, n, max(n, of), standing, about, advice.questions, knobs))
    # What a low metric raises comes before what many units show besides.
    return sorted(found, key=lambda cause: (not cause.metrics, -cause.explains, cause.id))


def _cause(
    entry: Entry,
    n: int,
    of: int,
    standing: Standing,
    metrics: tuple[str, ...],
    samples: tuple[str, ...],
    knobs: KnobMap,
) -> Cause:
    """The cause of an entry that `n` of the samples gone wrong speak for."""
    return Cause(
        id=entry.id,
        title=entry.title,
        means=entry.means,
        standing=standing,
        explains=float(n),
        of=of,
        metrics=metrics,
        evidence=(count_evidence(entry.id, n, of, (entry.evidence or "{n}").format(n=n)),),
        why=None,
        confirm=entry.confirm,
        actions=actions_of(entry, knobs),
        samples=samples,
    )


def count_evidence(sign: str, n: int, of: int, text: str) -> Evidence:
    """Evidence that so many show, and that weighs nothing."""
    return Evidence(
        sign=sign, speaks="for", n=n, of=of, elsewhere=None, elsewhere_of=None, bits=0.0, text=text
    )


def standing_of(n: int, of: int) -> Standing:
    """Whether more units speak for an entry than may, beyond chance.

    A unit may have several faults, as a document has entities: then it is plainly likely.
    """
    if n >= of:
        return "likely"
    low, _ = wilson(n / of, of)
    return "likely" if low > TOLERATED else "possible"
