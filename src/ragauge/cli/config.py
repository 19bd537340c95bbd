"""`ragauge config`: every setting, its value and its origin; which defaults changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from msgspec import Struct, structs

from ragauge.cli.command import command, say_json, with_origins
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Printed

if TYPE_CHECKING:
    from ragauge.ingest.configuration import Value


class Explaining(Struct, frozen=True, kw_only=True):
    """What is explained."""

    explain_changes: Annotated[
        bool,
        Opt(
            "List the defaults that changed in this version, and what that means for this project."
        ),
    ] = False


@command("text", "json")
def config(options: Explaining, output: Printed) -> None:
    """Print each setting, its value and where it comes from.

    A flag beats RAGAUGE_* in the environment, which beats ragauge.toml or [tool.ragauge] in
    pyproject.toml (the nearest, upwards), which beats the default.

    \b
    Example:
      RAGAUGE_PRESET=ship ragauge config
      ragauge config --explain-changes
    """
    if options.explain_changes:
        _explain_changes(output.format)
        return
    values = with_origins()
    store = values["store"]
    if isinstance(store.value, str):  # without who logs in at a server, and without its options
        bare = re.sub(r"(?<=/)[^/]*(?=@)", "***", store.value)
        bare = bare.partition("?")[0] if "://" in bare else bare
        values = {**values, "store": structs.replace(store, value=bare)}
    if output.format == "json":
        say_json(values)
        return
    shown = {}
    for name, value in values.items():
        text = ", ".join(value.value) or None if isinstance(value.value, tuple) else value.value
        shown[name] = "–" if text is None else str(text)
    name_width, width = max(map(len, shown)), max(map(len, shown.values()))
    for name, value in values.items():
        click.echo(f"{name:<{name_width}}  {shown[name]:<{width}}  {value.origin}")


class _Settings(Struct, frozen=True):
    """The settings of a task, or of a command that no task of the project runs."""

    where: str
    kind: str
    values: dict[str, Any]
    given: frozenset[str]
    """The names of those that are not defaults."""
    calls: bool
    """Whether a system is called, not only files read."""


def _settings(project: dict[str, Value], file: dict[str, Any]) -> list[_Settings]:
    from ragauge.contracts.opt import options_in
    from ragauge.contracts.options import ScoreOptions, StabilityOptions
    from ragauge.ingest.configuration import SETTINGS, read_setting

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


class _Change(Struct, frozen=True):
    """A default that is not what it was."""

    what: str
    before: str
    now: str
    keep: str
    """What to write to keep the earlier behaviour."""
    affects: Callable[[list[_Settings]], str | None]
    """Where it shows in a project; None where it does not."""


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
    from ragauge.errors import RagaugeError
    from ragauge.gates.rules import is_quality

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
    from ragauge.errors import UsageError

    problems: list[str] = []
    for one in project:
        try:
            _rules(one)
        except UsageError as error:
            problems += [f"{one.where}: {problem}" for problem in error.problems]
    return "; ".join(problems) or None


def _rules(one: _Settings) -> tuple[Any, ...]:
    """The gates that a user wrote; of stability with those of the profile. Raises UsageError."""
    from ragauge.gates.rules import parse_rules
    from ragauge.gates.stability import rules_of
    from ragauge.metrics.table import find

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


def _nowhere(project: list[_Settings]) -> None:
    """A change of a command that the configuration says nothing about."""


CHANGES = (
    _Change(
        "what counts as a refusal",
        "only the exact token (`refusal = exact`)",
        "exact, near and free refusals (`refusal = auto`); `compliance` counts any of them",
        'refusal = "exact"',
        _refusals,
    ),
    _Change(
        "refusals under `--preset ship`",
        "exact",
        "`auto`, unless `ragauge.toml` sets `refusal_tokens` or the gold set says exact",
        'refusal = "exact"',
        _nowhere,
    ),
    _Change(
        "a run without a gate on quality",
        "PASS",
        '"No quality gate set": `pass` is null, exit code 0, never green',
        "set a gate, such as precision_cited>=0.80; require_gates = true demands one",
        _ungated,
    ),
    _Change(
        "`compare` without `--gate`, or without a baseline",
        "`pass` is true",
        "`pass` is null, exit code 0",
        "--gate no-regression",
        _nowhere,
    ),
    _Change(
        "a gate over missing values",
        "decided by the values there are",
        "not evaluated, and so failed, if under 90 % of the samples have a value",
        "min_coverage = 0, or `over 50%` in the gate",
        _covered,
    ),
    _Change(
        "gates that can never fail or never pass",
        "accepted",
        "refused, exit code 2",
        "correct or delete the gate",
        _pointless,
    ),
    _Change(
        "stability from one run per question",
        "a verdict",
        "not evaluated, exit code 1",
        "ask each question at least twice: more seeds, jitters or repeats",
        _single_runs,
    ),
    _Change(
        "the heritage preset's faithfulness gate without a judge",
        "decided by words",
        "not evaluated, exit code 1",
        "--judge URL, or a gate on lexical_faithfulness",
        _nowhere,
    ),
    _Change(
        "`ok: false` in a trace",
        "scored all the same",
        "an error record, unless the answer is a refusal",
        "remove the field from the trace",
        _nowhere,
    ),
    _Change(
        "queries without a relevant document in TREC files",
        "left out",
        "counted as 0, as trec_eval does",
        "--no-rel exclude",
        _nowhere,
    ),
    _Change(
        "token files without document ids",
        "joined by sentence number",
        "aligned token by token, refused where they differ",
        "add document ids",
        _nowhere,
    ),
    _Change(
        "`Retry-After` of a system under test",
        "waited up to 300 s",
        "waited up to `--max-wait` (60 s)",
        "max_wait = 300 in [sweep]",
        _waits,
    ),
)
"""What can change a verdict in somebody's CI: the rows of the table in CHANGELOG.md."""


def _explain_changes(format: str | None) -> None:
    """Print the changes, first those that show in this project."""
    from ragauge import __version__
    from ragauge.ingest.configuration import written

    problems: list[str] = []
    project = _settings(with_origins(), written(Path.cwd(), problems).table)
    found = [(change, change.affects(project)) for change in CHANGES]
    if format == "json":
        say_json([{**structs.asdict(change), "affects": where} for change, where in found])
        return
    here = [(change, where) for change, where in found if where]
    lines = [f"Defaults that changed in Ragauge {__version__}", ""]
    lines += [f"In this project ({len(here)})" if here else "None shows in this configuration.", ""]
    for change, where in here:
        lines += [f"  {change.what}: {where}"]
        lines += [f"    before  {change.before}", f"    now     {change.now}"]
        lines += [f"    keep    {change.keep}", ""]
    others = [change for change, where in found if not where]
    lines += ["Other changes"] if others else []
    lines += [f"  {one.what}: {one.before} → {one.now} (keep: {one.keep})" for one in others]
    click.echo("\n".join(lines))
