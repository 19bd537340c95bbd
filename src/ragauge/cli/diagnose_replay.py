"""The replay of a diagnosis on the command line: which pipeline, how many calls, kept where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
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


OF_A_REPLAY = ("http", "call", "demo", "map", "send", "budget", "journal")
BUDGET = 200


def replaying(
    given: Mapping[str, Any], knobs: Mapping[str, str | None], reading: Mapping[str, Any]
) -> AskAgain | None:
    """What asks again, its answers read as the others are; None where no replay is wanted."""
    named = [f"--{name}" for name in OF_A_REPLAY if given[name]]
    if not given["replay"]:
        if named:
            raise click.UsageError(f"{named[0]} is for a replay; add --replay")
        return None
    system = _system(given)
    journal = Path(given["journal"] or _beside(given["source"]))
    names = {turned: knobs[known] for turned, known in KNOBS.items() if known in knobs}
    sent = _sent(given["send"])

    def ask_again(failing: Sequence[Failing]) -> Replay:
        from ragauge.contracts.refusal import RefusalOptions
        from ragauge.ingest.gold import read_gold
        from ragauge.metrics.facts import Reading
        from ragauge.runners.diagnosis.replay import replay

        said = RefusalOptions(refusal=reading["refusal"], refusal_tokens=reading["refusal_tokens"])
        counts = said.settled(read_gold(given["gold"]).metadata if given["gold"] else None)
        with progress(given["quiet"], "asking again") as watch:
            made = replay(
                failing,
                system,
                journal,
                budget=BUDGET if given["budget"] is None else given["budget"],
                concurrency=CONCURRENCY,
                knob_names=names,
                knobs=sent,
                reading=Reading("unicode", counts.strength, counts.tokens, reading["inline"]),
                language=given["lang"],
                watch=watch,
            )
        if made.ended == "error_budget":
            # At the very end: a bar of the diagnosis still has the screen.
            say = partial(click.echo, _given_up(made), err=True)
            click.get_current_context().call_on_close(say)
        return made

    return ask_again


def _system(given: Mapping[str, Any]) -> System:
    ways = {name: given[name] for name in ("http", "call", "demo")}
    if not any(ways.values()):
        raise click.UsageError("--replay: name the pipeline, by --http, --call or --demo")
    return asked_system({**ways, "command": None, "replay": None}, given["map"], CONCURRENCY)


def _given_up(replay: Replay) -> str:
    """What failed first, in the words of its reason, and what to do."""
    reason = next(one.reason for one in replay.interventions if one.failed)
    return f"replay given up: {reason}; mend the system, and the same command goes on"


def _beside(source: Sequence[str]) -> str:
    """A journal beside what is diagnosed; a run has no place of its own."""
    if len(source) != 1 or not Path(source[0]).exists():
        raise click.UsageError("--replay: say with --journal FILE where to keep the replies")
    return f"{source[0]}{ENDING}"


def _sent(text: str | None) -> dict[str, Any]:
    from ragauge.ingest.options import read_knobs

    return {} if text is None else read_knobs(text)
