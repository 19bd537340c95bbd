"""The replay of a diagnosis on the command line: which pipeline, how many calls, kept where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.sweep import asked_system, progress

if TYPE_CHECKING:
    from ragauge.contracts.diagnosis import Replay
    from ragauge.contracts.system import System
    from ragauge.runners.diagnosis.diagnose import AskAgain
    from ragauge.runners.diagnosis.replay_plan import Failing

CONCURRENCY = 8
ENDING = ".replay.jsonl"
KNOBS = {"top_k": "rerank_keep_k"}
"""What a replay turns, by the name that the knob map has for it."""


def replaying(given: Mapping[str, Any], knobs: Mapping[str, str | None]) -> AskAgain | None:
    """What asks again; None where no replay is wanted."""
    named = [f"--{name}" for name in ("http", "call", "demo", "map", "send") if given[name]]
    if not given["replay"]:
        if named:
            raise click.UsageError(f"{named[0]} names the pipeline of a replay; add --replay")
        return None
    system = _system(given)
    journal = Path(given["journal"] or _beside(given["source"]))
    names = {turned: knobs[known] for turned, known in KNOBS.items() if known in knobs}
    sent = _sent(given["send"])

    def ask_again(failing: Sequence[Failing]) -> Replay:
        from ragauge.runners.diagnosis.replay import replay

        with progress(given["quiet"]) as watch:
            return replay(
                failing,
                system,
                journal,
                budget=given["budget"],
                concurrency=CONCURRENCY,
                knob_names=names,
                knobs=sent,
                watch=watch,
            )

    return ask_again


def _system(given: Mapping[str, Any]) -> System:
    ways = {name: given[name] for name in ("http", "call", "demo")}
    if not any(ways.values()):
        raise click.UsageError("--replay: name the pipeline, by --http, --call or --demo")
    return asked_system({**ways, "command": None, "replay": None}, given["map"], CONCURRENCY)


def _beside(source: Sequence[str]) -> str:
    """A journal beside what is diagnosed; a run has no place of its own."""
    if len(source) != 1 or not Path(source[0]).exists():
        raise click.UsageError("--replay: say with --journal FILE where to keep the replies")
    return f"{source[0]}{ENDING}"


def _sent(text: str | None) -> dict[str, Any]:
    from ragauge.ingest.knobs import read_knobs

    return {} if text is None else read_knobs(text)
