"""The cost of one call inside a running process, printed the same way for every peer."""

import argparse
import json
import resource
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple


class Cost(NamedTuple):
    """CPU time of this process and its ended children, and wall time."""

    cpu_s: float
    wall_s: float


def cost_of(call: Callable[[], object]) -> Cost:
    """What the call alone cost, without imports or the building of samples."""
    cpu_before, started = cpu_s(), time.perf_counter()
    call()
    return Cost(cpu_s() - cpu_before, time.perf_counter() - started)


def cpu_s() -> float:
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def cost_line(peer: str, call: str, samples: int, cost: Cost) -> str:
    """The figures as one line of JSON."""
    return json.dumps(
        {
            "peer": peer,
            "version": version(peer),
            "call": call,
            "samples": samples,
            "cpu_s": round(cost.cpu_s, 4),
            "wall_s": round(cost.wall_s, 4),
            "samples_per_cpu_s": round(samples / cost.cpu_s, 1),
        }
    )


def arguments(description: str, calls: tuple[str, ...]) -> argparse.Namespace:
    """The options every peer script takes; the first call is the default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--gold", type=Path, required=True)
    parser.add_argument("--traces", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=2_000)
    parser.add_argument("--call", choices=calls, default=calls[0])
    return parser.parse_args()
