"""Rules of the user's own: causes that apply to samples by what is known of them.

The file has the form of the catalogue's: `[[entry]]` with id, metrics, when, title, confirm and
actions; `when` asks for symptoms, strata and the other features of a sample. Beside them,
`[[threshold]]` with metric, better, warning and critical, for metrics without a rule, or in place
of ours.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.diagnosis import Cause, Evidence, ScoreRow, Threshold
from ragauge.contracts.gold import stratum_text
from ragauge.contracts.metric import Better
from ragauge.diagnosis.advised import standing_of
from ragauge.diagnosis.catalogue import Entry, catalogue, speaks_of
from ragauge.diagnosis.evidence import symptoms
from ragauge.diagnosis.knob_map import KnobMap, actions_of
from ragauge.diagnosis.limits import beyond
from ragauge.diagnosis.material import Material

SYMPTOM = "symptom"
SHOWN = 5


class _Threshold(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    metric: str
    better: Better
    warning: float
    critical: float | None = None


class OwnRules(Struct, frozen=True, kw_only=True):
    """What a user's file says."""

    entries: tuple[Entry, ...] = ()
    limits: dict[str, Threshold] = {}


def read_own_rules(text: str) -> tuple[OwnRules, list[str]]:
    """The rules of a file and all that is wrong with it, each fault with its place."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return OwnRules(), [f"is not TOML: {error}"]
    problems = [
        f"{name}: there is no such table; write [[entry]] or [[threshold]]"
        for name in sorted(table.keys() - {"entry", "threshold"})
    ]
    entries = _read(table, "entry", Entry, problems)
    thresholds = _read(table, "threshold", _Threshold, problems)
    problems += _entry_faults(entries)
    problems += _threshold_faults(thresholds)
    limits = {
        one.metric: Threshold(better=one.better, warning=one.warning, critical=one.critical)
        for one in thresholds.values()
    }
    return OwnRules(entries=tuple(entries.values()), limits=limits), problems


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
        if not _can_be_filled_in(entry.evidence):
            problems.append(f"entry {number}: evidence: {{n}} is all that may stand in braces")
        taken[entry.id] = f"that of entry {number}"
    return problems


def _can_be_filled_in(evidence: str) -> bool:
    try:
        evidence.format(n=0)
    except (AttributeError, LookupError, TypeError, ValueError):
        return False
    return True


def _threshold_faults(thresholds: Mapping[int, _Threshold]) -> list[str]:
    """Bounds that are no numbers, that contradict each other, or that speak of one metric twice."""
    seen: dict[str, int] = {}
    problems = []
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
    found = [_cause(entry, material, failing, shown, knobs) for entry in entries]
    told = [cause for cause in found if cause is not None]
    return sorted(told, key=lambda cause: (-cause.explains, cause.id))


def _cause(
    entry: Entry,
    material: Material,
    failing: Mapping[str, Sequence[ScoreRow]],
    shown: Mapping[str, set[str]],
    knobs: KnobMap,
) -> Cause | None:
    about = [name for name in failing if speaks_of(entry, name)]
    wrong = {row.id for name in about for row in failing[name]}
    speaking = [
        id
        for id in sorted(wrong)
        if _matches(entry, material.features.get(id, {}), shown.get(id, set()))
    ]
    if not speaking:
        return None
    evidence = Evidence(
        sign=entry.id,
        speaks="for",
        n=len(speaking),
        of=len(wrong),
        elsewhere=None,
        elsewhere_of=None,
        bits=0.0,
        text=(entry.evidence or "{n}").format(n=len(speaking)),
    )
    return Cause(
        id=entry.id,
        title=entry.title,
        means=entry.means,
        standing=standing_of(len(speaking), len(material.samples)),
        explains=float(len(speaking)),
        of=len(wrong),
        metrics=tuple(name for name in about if failing[name]),
        evidence=(evidence,),
        why=None,
        confirm=entry.confirm,
        actions=actions_of(entry, knobs),
        samples=tuple(speaking[:SHOWN]),
    )


def _matches(entry: Entry, features: Mapping[str, str], symptoms: set[str]) -> bool:
    for fact, wanted in entry.when.items():
        if fact == SYMPTOM:
            if symptoms.isdisjoint(wanted):
                return False
        elif features.get(fact) not in [stratum_text(value) for value in wanted]:
            return False
    return True
