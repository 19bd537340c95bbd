"""`ragauge config`: every setting, its value and its origin; which defaults changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from ragauge.cli.settings import formats, with_origins

if TYPE_CHECKING:
    from ragauge.ingest.configuration import Value


@click.command(short_help="Show every setting, its value and where it comes from.")
@click.option(
    "--explain-changes",
    is_flag=True,
    help="List the defaults that changed in this version, and what that means for this project.",
)
@formats("text", "json")
def config(format: str | None, explain_changes: bool) -> None:
    """Print each setting, its value and where it comes from.

    A flag beats RAGAUGE_* in the environment, which beats ragauge.toml or [tool.ragauge] in
    pyproject.toml (the nearest, upwards), which beats the default.

    \b
    Example:
      RAGAUGE_PRESET=ship ragauge config
      ragauge config --explain-changes
    """
    if explain_changes:
        click.echo(_explained(format or "text"), nl=False)
        return
    values = _without_secrets(with_origins())
    if format == "json":
        import msgspec

        click.echo(msgspec.json.format(msgspec.json.encode(values, order="sorted")).decode())
        return
    shown = {name: _shown(value.value) for name, value in values.items()}
    name_width, width = max(map(len, shown)), max(map(len, shown.values()))
    for name, value in values.items():
        click.echo(f"{name:<{name_width}}  {shown[name]:<{width}}  {value.origin}")


def _without_secrets(values: dict[str, Value]) -> dict[str, Value]:
    """The settings, where a URL has lost who logs in, and its options."""
    from msgspec import structs

    store = values["store"]
    if not isinstance(store.value, str):
        return values
    bare = re.sub(r"(?<=/)[^/]*(?=@)", "***", store.value)
    if "://" in bare:
        bare = bare.partition("?")[0]
    return {**values, "store": structs.replace(store, value=bare)}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        value = ", ".join(value) or None
    return "–" if value is None else str(value)


class _Project(Struct, frozen=True):
    """What the configuration of a project says."""

    values: dict[str, Value]
    tasks: dict[str, dict[str, Any]]

    def default(self, name: str) -> bool:
        return self.values[name].origin == "default"

    def gated(self) -> Iterator[tuple[str, str | None, tuple[str, ...]]]:
        """Each place where a score gets its gates: its name, its preset and its own rules."""
        shared = self.values["preset"].value, self.values["gates"].value
        scores = [name for name, task in self.tasks.items() if task.get("kind") == "score"]
        for name in scores:
            task = self.tasks[name]
            own = task.get("gates", shared[1])
            rules = (own,) if isinstance(own, str) else tuple(own)
            yield f"tasks.{name}", task.get("preset", shared[0]), rules
        if not scores:
            yield "ragauge score", *shared


class _Change(Struct, frozen=True):
    """A default that is not what it was."""

    what: str
    before: str
    now: str
    keep: str
    """What to write to keep the earlier behaviour."""
    affects: Callable[[_Project], str | None]
    """Where it shows in a project; None where it does not."""


def _refusals(project: _Project) -> str | None:
    strict = all(preset == "example08" for _, preset, _ in project.gated())
    if not project.default("refusal") or strict:
        return None
    return "refusal is not set, so refusals in the system's own words count now"


def _ungated(project: _Project) -> str | None:
    from ragauge.errors import RagaugeError
    from ragauge.gates.decide import is_quality
    from ragauge.gates.rules import parse_rules
    from ragauge.metrics.table import find

    found = []
    for where, preset, rules in project.gated():
        try:
            own = parse_rules(",".join(rules), lambda name: find(name, "facts")) if rules else ()
        except RagaugeError:
            continue  # the change about refused gates lists them
        if preset in (None, "integrity") and not any(map(is_quality, own)):
            found.append(where)
    return f"{', '.join(found)} has none" if found else None


def _covered(project: _Project) -> str | None:
    gated = [where for where, preset, rules in project.gated() if preset or rules]
    if not gated or not project.default("min_coverage"):
        return None
    return f"gates of {', '.join(gated)} fail if more than 10 % of the values are missing"


def _pointless(project: _Project) -> str | None:
    from ragauge.errors import UsageError
    from ragauge.gates.rules import parse_rules
    from ragauge.gates.stability import rules_of
    from ragauge.metrics.table import find

    problems: list[str] = []
    for where, _, rules in project.gated():
        try:
            parse_rules(",".join(rules), lambda name: find(name, "facts")) if rules else ()
        except UsageError as error:
            problems += [f"{where}: {problem}" for problem in error.problems]
    own = ",".join(project.values["stability.gates"].value) or None
    try:
        profile = project.values["stability.profile"].value
        rules_of(profile, own, lambda name: find(name, "runs"))
    except UsageError as error:
        problems += [f"stability: {problem}" for problem in error.problems]
    return "; ".join(problems) or None


def _single_runs(project: _Project) -> str | None:
    grid = ("sweep.seeds", "sweep.temperatures", "sweep.jitters")
    runs = project.values["sweep.repeats"].value
    for name in grid:
        runs *= len(project.values[name].value)
    if project.values["sweep.preset"].value or runs > 1:
        return None
    return "the grid of [sweep] asks each question once"


def _nowhere(project: _Project) -> None:
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
        "a run without a gate on quality",
        "PASS",
        '"No quality gate set": `pass` is null, exit code 0, never green',
        "set a gate, such as precision_cited>=0.80; require_gates = true demands one",
        _ungated,
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
        "the faithfulness gate of the heritage preset without a judge",
        "decided by words",
        "not evaluated, exit code 1",
        "--judge URL, or a gate on lexical_faithfulness",
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
        "`ok: false` in a trace",
        "scored all the same",
        "an error record, unless the answer is a refusal",
        "remove the field from the trace",
        _nowhere,
    ),
)
"""What can change a verdict in somebody's CI, the most frequent first."""


def _explained(format: str) -> str:
    """The changes, first those that show in this project."""
    from ragauge import __version__
    from ragauge.ingest.configuration import written

    problems: list[str] = []
    tables = written(Path.cwd(), problems).table.get("tasks")
    tasks = tables if isinstance(tables, dict) else {}
    project = _Project(with_origins(), {k: v for k, v in tasks.items() if isinstance(v, dict)})
    found = [(change, change.affects(project)) for change in CHANGES]
    if format == "json":
        import msgspec

        rows = [
            {
                "what": change.what,
                "before": change.before,
                "now": change.now,
                "keep": change.keep,
                "affects": where,
            }
            for change, where in found
        ]
        return msgspec.json.format(msgspec.json.encode(rows, order="sorted")).decode() + "\n"
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
    return "\n".join(lines) + "\n"
