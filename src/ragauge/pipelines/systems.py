"""Which system is under test."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from ragauge.contracts.system import Ask, CallFailed, System
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.fields import BadField
from ragauge.ingest.lines import blocks
from ragauge.ingest.traces import BadLine, decoded, faults_of, read_trace
from ragauge.metrics.facts import error_reason
from ragauge.pipelines.callable import CallableSystem
from ragauge.pipelines.command import CommandSystem
from ragauge.pipelines.http import HttpSystem
from ragauge.pipelines.mapping import Mapping
from ragauge.text.canonical import same_question
from ragauge.text.visible import one_line


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


def as_system(given: System | Callable[..., Any], concurrency: int) -> System:
    """The system that is given; a plain function becomes one. Raises UsageError otherwise."""
    if hasattr(given, "ask"):
        return cast("System", given)
    if not callable(given):
        got = type(given).__name__
        raise UsageError(f"system: expected a system or a function of a question, got {got}")
    return CallableSystem(given, concurrency=concurrency)


_SHOWN = 60
_SETTINGS = ("seed", "temperature", "jitter")


class _Recording(Struct, frozen=True):
    line: bytes
    seed: int | None
    temperature: float | None
    jitter: str | None
    error: str | None

    def fits(self, ask: Ask) -> int | None:
        """How many settings were recorded and are those asked for; None where one is another."""
        told = [name for name in _SETTINGS if getattr(self, name) is not None]
        same = all(getattr(self, name) == getattr(ask, name) for name in told)
        return len(told) if same else None


class ReplaySystem:
    """Answers by the question's text, and by seed, temperature and jitter where recorded.

    Of several recordings that fit, the one that tells most of these counts, and of such the last.
    """

    def __init__(self, path: str | Path) -> None:
        self._name = Path(path).name
        self._recordings: dict[str, list[_Recording]] = {}
        self._sha256 = hashlib.sha256()
        self._load(str(path))

    def __repr__(self) -> str:
        return f"ReplaySystem({self._name!r})"

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "replay", "file": self._name, "sha256": self._sha256.hexdigest()}

    async def ask(self, ask: Ask) -> Any:
        """The recorded reply."""
        recordings = self._recordings.get(same_question(ask.q))
        if recordings is None:
            fact = f'"{one_line(ask.q, _SHOWN)}" was never asked'
            raise CallFailed("not_recorded", fact)
        fitting = [(fit, r) for r in recordings if (fit := r.fits(ask)) is not None]
        if not fitting:
            asked = ", ".join(f"{name}={getattr(ask, name)}" for name in _SETTINGS)
            fact = f'"{one_line(ask.q, _SHOWN)}" was never asked with {asked}'
            raise CallFailed("not_recorded", fact)
        most = max(fit for fit, _ in fitting)
        recording = [recording for fit, recording in fitting if fit == most][-1]
        if recording.error is not None:
            raise CallFailed("recorded_error", recording.error)
        reply = decoded(recording.line)
        extra = reply.pop("extra", None)  # what an earlier trace kept is next to its fields
        return {**extra, **reply} if type(extra) is dict else reply

    async def close(self) -> None:
        """Nothing is held open."""

    def _load(self, name: str) -> None:
        problems: list[str] = []
        number = 0
        for block in blocks(name):
            content = block.read()
            self._sha256.update(content)
            for line in content.removesuffix(b"\n").split(b"\n"):
                number += 1
                if not line.strip():
                    continue
                try:
                    trace = read_trace(decoded(line))
                    question = trace.question_sent or trace.q
                    if question is None:
                        raise BadField("q", "missing; a recording is found by its question")
                except BadLine as fault:
                    faults = faults_of(line, fault) or [str(fault)]
                    problems += [f"{name}:{number}: {fact}" for fact in faults]
                    continue
                failed = trace.status == "error" or trace.error
                error = error_reason(trace) if failed else None
                self._recordings.setdefault(same_question(question), []).append(
                    _Recording(line, trace.seed, trace.temperature, trace.jitter, error)
                )
        if problems:
            raise InputRejected(*problems)
        if not self._recordings:
            raise InputRejected(f"{name}: holds no trace; write one JSON object a line")
