"""Defaults that changed in this version, and where that shows in a project."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any

from msgspec import Struct, convert

from ragauge.contracts.opt import options_in
from ragauge.contracts.options import ScoreOptions, StabilityOptions
from ragauge.errors import RagaugeError, UsageError
from ragauge.gates.rules import is_quality, parse_rules
from ragauge.gates.stability import rules_of
from ragauge.ingest.configuration import SETTINGS, Value, read_setting
from ragauge.metrics.table import find


class Change(Struct, frozen=True, kw_only=True):
    """A default that is not what it was."""

    what: str
    before: str
    now: str
    keep: str
    """What to write to keep the earlier behaviour."""
    affects: str | None = None
    """Where it shows in the project; None where it does not."""


def changes(values: Mapping[str, Value], file: Mapping[str, Any]) -> list[Change]:
    """What changed, for a project with these settings and this file."""
    project = _settings(values, file)
    table = files("ragauge.runners").joinpath("changed_defaults.toml").read_text("utf-8")
    found = []
    for row in tomllib.loads(table)["changes"]:
        shown_by = row.pop("shown_by", None)
        affects = _SHOWN_BY[shown_by](project) if shown_by else None
        found.append(convert({**row, "affects": affects}, Change))
    return found


class _Settings(Struct, frozen=True):
    """The settings of a task, or of a command that no task of the project runs."""

    where: str
    kind: str
    values: dict[str, Any]
    given: frozenset[str]
    """The names of those that are not defaults."""
    calls: bool
    """Whether a system is called, not only files read."""


def _settings(project: Mapping[str, Value], file: Mapping[str, Any]) -> list[_Settings]:
    tasks = file.get("tasks")
    shared = {name: one.value for name, one in project.items()}
    given = {name for name, one in project.items() if one.origin != "default"}
    found = []
    for kind, options in (("score", ScoreOptions), ("stability", StabilityOptions)):
        names = [one.opt.setting for one in options_in(options) if one.opt.setting]
        tables = {
            f"tasks.{name}": table
            for name, table in (tasks.items() if isinstance(tasks, dict) else ())
            if isinstance(table, dict) and table.get("kind") == kind
        }
        for where, table in (tables or {f"ragauge {kind}": {}}).items():
            written = {name: table.get(name.rpartition(".")[2]) for name in names}
            swept = table.get("sweep")
            if isinstance(swept, dict):
                written |= {f"sweep.{name}": value for name, value in swept.items()}
            own = {}
            for name, value in written.items():
                with suppress(KeyError, ValueError):  # `ragauge run` says what is wrong with it
                    own[name] = None if value is None else read_setting(SETTINGS[name], value)
            own = {name: value for name, value in own.items() if value is not None}
            values = shared | own
            if values["preset"] == "ship" and "refusal_tokens" in given and not values["refusal"]:
                own["refusal"] = values["refusal"] = "exact"
            calls = bool(table) and ("pipeline" in table or "pipeline" in file)
            found.append(_Settings(where, kind, values, frozenset(given | own.keys()), calls))
    return found


def _refusals(project: list[_Settings]) -> str | None:
    found = [
        one.where
        for one in project
        if "refusal" not in one.given
        and not (one.kind == "score" and one.values["preset"] == "example08")
    ]
    if not found:
        return None
    return f"refusals in the system's own words count now in {', '.join(found)}"


def _ungated(project: list[_Settings]) -> str | None:
    found = []
    for one in project:
        if one.kind != "score" or one.values["preset"] not in (None, "integrity"):
            continue
        with suppress(RagaugeError):  # the change about refused gates lists them
            if not any(map(is_quality, _rules(one))):
                found.append(one.where)
    return f"{', '.join(found)} has none" if found else None


def _covered(project: list[_Settings]) -> str | None:
    gated = [
        one.where
        for one in project
        if one.kind == "score"
        and "min_coverage" not in one.given
        and (one.values["preset"] or one.values["gates"])
    ]
    if not gated:
        return None
    return f"gates of {', '.join(gated)} fail if more than 10 % of the values are missing"


def _pointless(project: list[_Settings]) -> str | None:
    problems: list[str] = []
    for one in project:
        try:
            _rules(one)
        except UsageError as error:
            problems += [f"{one.where}: {problem}" for problem in error.problems]
    return "; ".join(problems) or None


def _rules(one: _Settings) -> tuple[Any, ...]:
    """The gates that a user wrote; of stability with those of the profile. Raises UsageError."""
    if one.kind == "score":
        rules = ",".join(one.values["gates"])
        return tuple(parse_rules(rules, lambda name: find(name, "facts"))) if rules else ()
    profile, own = one.values["stability.profile"], ",".join(one.values["stability.gates"])
    return tuple(rules_of(profile, own or None, lambda name: find(name, "runs")))


def _single_runs(project: list[_Settings]) -> str | None:
    found = []
    for one in project:
        runs = one.values["sweep.repeats"]
        for name in ("seeds", "temperatures", "jitters"):
            runs *= len(one.values[f"sweep.{name}"])
        if one.kind == "stability" and runs == 1 and not one.values["sweep.preset"]:
            found.append(one.where)
    return f"the grid of {', '.join(found)} has one run per question" if found else None


def _waits(project: list[_Settings]) -> str | None:
    found = [one.where for one in project if one.calls and "sweep.max_wait" not in one.given]
    return f"calls of {', '.join(found)} wait up to 60 s" if found else None


_SHOWN_BY: dict[str, Callable[[list[_Settings]], str | None]] = {
    "refusals": _refusals,
    "ungated": _ungated,
    "covered": _covered,
    "pointless": _pointless,
    "single_runs": _single_runs,
    "waits": _waits,
}
