"""What a configuration says of diagnoses: scenarios by name, and the names of knobs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragauge.contracts.diagnosis import KNOBS
from ragauge.errors import UsageError
from ragauge.ingest.configuration import written
from ragauge.ingest.fields import quoted

KnobNames = dict[str, str | None]
"""What a pipeline calls each knob; None where it has no such knob."""


def scenario(name: str, place: Path) -> tuple[str, ...]:
    """The metrics of the scenario that a configuration file names so; raises UsageError."""
    problems: list[str] = []
    file = written(place, problems)
    if problems:
        raise UsageError(*problems)
    known = file.table.get("scenario", {})
    if not isinstance(known, dict) or name not in known:
        raise UsageError(_no_scenario(name, known, file.name))
    table = known[name]
    metrics = table.get("metrics") if isinstance(table, dict) else None
    is_list = isinstance(metrics, list) and all(isinstance(one, str) for one in metrics)
    if not metrics or not is_list or set(table) - {"metrics"}:
        raise UsageError(
            f'{file.name}: scenario.{name}: expected metrics = ["faithfulness", …] and nothing else'
        )
    return tuple(metrics)


def _no_scenario(name: str, known: Any, file: str) -> str:
    names = sorted(known) if isinstance(known, dict) else []
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        hint = f"did you mean {quoted(near[0])}?"
    elif names:
        hint = f"there are: {', '.join(names)}"
    else:
        hint = f'write [scenario.{name}] with metrics = ["faithfulness"] into ragauge.toml'
    return f"{file or '--scenario'}: there is no scenario {quoted(name)}; {hint}"


def configured_knobs(place: Path) -> KnobNames:
    """The knob map of the configuration file; empty where it has none."""
    problems: list[str] = []
    file = written(place, problems)
    if problems:
        raise UsageError(*problems)
    return knob_names(file.table.get("knobs", {}), f"{file.name}: knobs")


def knob_names(table: Any, place: str) -> KnobNames:
    """A knob map checked: a name, or false, null or an empty text for a knob that is not there."""
    if not isinstance(table, Mapping):
        raise UsageError(f'{place}: expected a table such as {{"recall_top_k": "retriever.k"}}')
    problems = []
    names: KnobNames = {}
    for knob, called in table.items():
        if knob not in KNOBS:
            near = difflib.get_close_matches(str(knob), KNOBS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(KNOBS)}"
            problems.append(f"{place}: there is no knob {quoted(str(knob))}; {hint}")
        elif isinstance(called, str) or called is None or called is False:
            names[knob] = called or None
        else:
            problems.append(f"{place}: {knob}: expected a name, or false where there is none")
    if problems:
        raise UsageError(*problems)
    return names
