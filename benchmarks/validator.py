"""`CitationValidator` on one answer, beside what a user would pick instead: time and memory.

Each validator runs in a process of its own, in turns; pydantic in an environment of its own.
"""

import json
import sys
from typing import Any

from benchmarks.measure import run
from benchmarks.peers.environments import ROOT, python_of
from benchmarks.results import table

ROUNDS = 2
DEMAND_US = 20
RAW = "the same, as raw text"
"""The one answer that the demand is not about: its citations are not parsed yet."""

Costs = dict[str, dict[str, float]]
"""By answer: `us`, CPU microseconds, and `peak_bytes`."""


def measure() -> list[str]:
    """The parts of the section that are about one answer."""
    own, pydantic = sys.executable, str(python_of("pydantic"))
    commands = (
        (own, "ragauge"),
        (own, "plain", "all"),
        (own, "plain", "five"),
        (pydantic, "pydantic"),
        (own, "jsonschema"),
    )
    say("validators, in turns ...")
    rounds = [dict(costs_of(*command) for command in commands) for _ in range(ROUNDS)]
    best = {name: best_of([each[name] for each in rounds]) for name in rounds[0]}
    return [about(), time_table(best), ratio_table(best), demand(best), memory_table(best)]


def costs_of(python: str, peer: str, *more: str) -> tuple[str, Costs]:
    made = run([python, "-m", f"benchmarks.peers.{peer}_citations", *more], cwd=ROOT)
    line: dict[str, Any] = json.loads(made.stdout)
    return line["name"], line["costs"]


def best_of(rounds: list[Costs]) -> Costs:
    return {
        case: {what: min(each[case][what] for each in rounds) for what in rounds[0][case]}
        for case in rounds[0]
    }


def about() -> str:
    return (
        "One answer with five citations at payload depth, against a manifest; best of "
        f"{ROUNDS} processes of 15 rounds each, CPU time, garbage collected as usual. `the same "
        "rules` by hand, pydantic (strict models) and jsonschema (the schema of `ragauge schema "
        "citation`) check what ragauge checks and stop at the first fault; `five codes` looks for "
        "empty, missing, bad_offsets, cross_section_reuse and missing_score alone. In the failing "
        "answer three citations are at fault: ragauge returns each with field, got, expected and "
        "next step. Every validator must give the same verdict."
    )


def time_table(best: dict[str, Costs]) -> str:
    rows = [
        [name, *(f"{cost['us']:.1f}" for cost in costs.values())] for name, costs in best.items()
    ]
    return table(["CPU µs an answer", *next(iter(best.values()))], rows)


def ratio_table(best: dict[str, Costs]) -> str:
    ours, *others = best
    rows = [
        [name, *(f"{best[name][case]['us'] / cost['us']:.2f}" for case, cost in best[ours].items())]
        for name in others
    ]
    return table(["ragauge is faster by", *best[ours]], rows)


def demand(best: dict[str, Costs]) -> str:
    """Whether parsed answers are as quick as was asked for; those that are not are named."""
    ours = next(iter(best.values()))
    slow = [case for case, cost in ours.items() if case != RAW and cost["us"] >= DEMAND_US]
    held = f"held, but for {' and '.join(slow)}" if slow else "held by each"
    return f"Asked of ragauge is under {DEMAND_US} µs where the citations are parsed: {held}."


def memory_table(best: dict[str, Costs]) -> str:
    rows = [
        [name, *(f"{cost['peak_bytes'] / 1024:.1f}" for cost in costs.values())]
        for name, costs in best.items()
    ]
    return table(["peak KiB of a call", *next(iter(best.values()))], rows)


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    print(*measure(), sep="\n\n")
