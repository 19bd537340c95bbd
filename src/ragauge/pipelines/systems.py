"""Which system is under test."""

from __future__ import annotations

from pathlib import Path

from ragauge.contracts.system import System
from ragauge.errors import UsageError
from ragauge.pipelines.callable import CallableSystem
from ragauge.pipelines.command import CommandSystem
from ragauge.pipelines.http import HttpSystem
from ragauge.pipelines.mapping import Mapping
from ragauge.pipelines.replay import ReplaySystem


def system_of(
    *,
    http: str | None = None,
    call: str | None = None,
    command: str | None = None,
    replay: str | Path | None = None,
    mapping: Mapping | None = None,
    headers: dict[str, str] | None = None,
    concurrency: int = 16,
) -> System:
    """The one system that is named; raises UsageError where none is, or more than one."""
    ways = {"http": http, "call": call, "command": command, "replay": replay}
    named = [way for way, value in ways.items() if value is not None]
    if len(named) != 1:
        flags = ", ".join(f"--{way}" for way in ways)
        got = " and ".join(f"--{way}" for way in named) or "none"
        raise UsageError(f"name one system to ask, by {flags} or --demo; got {got}")
    if http is None and (mapping is not None or headers):
        raise UsageError(f"a mapping and headers belong to http; {named[0]} has neither")
    if concurrency < 1:
        raise UsageError(f"concurrency is at least 1; got {concurrency}")
    if http is not None:
        return HttpSystem(http, mapping=mapping, headers=headers, concurrency=concurrency)
    if call is not None:
        return CallableSystem(call, concurrency=concurrency)
    if command is not None:
        return CommandSystem(command)
    assert replay is not None, "one of them is named"
    return ReplaySystem(replay)
