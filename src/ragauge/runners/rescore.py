"""A recorded run scored again from the answers it keeps, with the metrics of today."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from ragauge.contracts.history import History, Run, canonical
from ragauge.contracts.kept import ANSWERS, KeptAnswer
from ragauge.contracts.options import ScoreOptions, StabilityOptions
from ragauge.contracts.report import Outcome
from ragauge.errors import InputRejected, UsageError
from ragauge.gates.presets import DEFAULT, preset
from ragauge.gates.stability import STABLE
from ragauge.gates.stability import rules_of as profile_rules
from ragauge.metrics.table import find
from ragauge.runners.comparability import RESCORED
from ragauge.runners.recording import record
from ragauge.runners.score import score
from ragauge.runners.stability import stability
from ragauge.store.packed import groups_in

ORIGIN = "origin"
"""The key of an identity that names the run whose answers were scored again."""


def rescore(history: History, run: Run) -> tuple[Run, Outcome[Any]]:
    """The new run and its outcome: the run's gold, answers and options, with today's metrics.

    It has the name, the labels and the commit of the run, and names it as its origin. Raises
    UsageError where the run did not keep all that this takes.
    """
    if run.record.command not in RESCORED:
        raise UsageError(
            f"run {run.shown}: is a run of `{run.record.command}`, which is not scored again from "
            f"what is kept; only {' and '.join(RESCORED)} are: run the command again on its files"
        )
    kept = list(_kept(history, run))
    if run.record.gold_sha256 is None:
        raise UsageError(f"run {run.shown}: was recorded without a gold set")
    questions = history.gold(run.record.gold_sha256)
    with tempfile.TemporaryDirectory() as folder:
        gold, traces = Path(folder) / "gold.jsonl", Path(folder) / "traces.jsonl"
        gold.write_bytes(b"\n".join(map(canonical, questions)))
        traces.write_bytes(
            b"\n".join(canonical(structs.replace(one.trace, qid=qid)) for qid, one in kept)
        )
        if run.record.command == "score":
            options = _options(run, ScoreOptions)
            own = _own_gates(run, map(str, preset(options.get("preset") or DEFAULT)))
            outcome: Outcome[Any] = score(gold, traces, gates=own, **options)
        else:
            outcome = _stability(run, str(gold), str(traces))
        wheres = {f"{traces}:{line}": one.where for line, (_, one) in enumerate(kept, 1)}
        outcome = _placed(outcome, wheres)
        identity = {**outcome.identity, ORIGIN: run.id}
        outcome = structs.replace(
            outcome,
            report=structs.replace(outcome.report, identity=identity),
            identity=identity,
            answers=lambda: iter(kept),
        )
        return record(outcome, history, like=run), outcome


def version_changes(before: Run, after: Run) -> dict[str, tuple[int, int]]:
    """The metrics of both runs that are of another version: which before, and which after."""
    was, now = before.record.metrics, after.record.metrics
    return {
        id: (was[id].version, now[id].version)
        for id in sorted(was.keys() & now.keys())
        if was[id].version != now[id].version
    }


def _stability(run: Run, gold: str, traces: str) -> Outcome[Any]:
    left = {name: run.record.coverage.get(name) for name in ("missing", "saved")}
    if any(left.values()):
        raise UsageError(
            f"run {run.shown}: of its sweep {left['missing'] or 0:,} runs are missing and "
            f"{left['saved'] or 0:,} were saved, which only the plan next to its journal knows; "
            "run `ragauge stability` again on the journal"
        )
    options = _options(run, StabilityOptions)
    rules = profile_rules(options.get("profile", "ours"), None, lambda name: find(name, "runs"))
    own = _own_gates(run, map(str, rules), STABLE)
    outcome = stability(gold, traces, gates=own, **options)
    sweeps = run.record.identity.get("sweeps", [])
    return structs.replace(outcome, identity={**outcome.identity, "sweeps": sweeps})


def _options(run: Run, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The options the run was scored with, but for those that are no more."""
    told = run.record.identity.get("options")
    known = {field.name for field in structs.fields(kind)} - {"max_bad"}
    return {name: value for name, value in (told or {}).items() if name in known}


def _own_gates(run: Run, tools: Iterator[str], *metrics: str) -> str | None:
    """The gates the user wrote: those that no preset or profile has."""
    theirs = set(tools)
    own = [
        gate.rule
        for gate in run.record.gates
        if gate.rule not in theirs and gate.metric not in metrics
    ]
    return ", ".join(own) or None


def _kept(history: History, run: Run) -> Iterator[tuple[str, KeptAnswer]]:
    """Every answer of the run with its question, those of one question in order."""
    if ANSWERS not in run.record.files:
        raise UsageError(
            f"run {run.shown}: its answers were not kept (--no-keep-texts, or they came from "
            "standard input), so they cannot be scored again; score the traces again with --record"
        )
    with history.file(run, ANSWERS) as path:
        for group in groups_in(path, ANSWERS):
            if group.left_out:
                raise UsageError(
                    f'run {run.shown}: of the answers to "{group.key}", {group.left_out:,} were '
                    "too long to be kept; score the traces again with --record"
                )
            for line in group.lines:
                try:
                    yield group.key, msgspec.json.decode(line, type=KeptAnswer)
                except msgspec.DecodeError as error:
                    raise InputRejected(
                        f'run {run.shown}: an answer to "{group.key}" cannot be read: {error}; '
                        "`ragauge runs verify` says which runs are whole"
                    ) from None


def _placed(outcome: Outcome[Any], wheres: Mapping[str, str | None]) -> Outcome[Any]:
    """The outcome with the places that the traces had when the run was recorded."""

    def place(where: Any) -> Any:
        return wheres.get(where, where) if isinstance(where, str) else where

    report = outcome.report
    changed: dict[str, Any] = {
        "findings": tuple(structs.replace(one, where=place(one.where)) for one in report.findings)
    }
    if hasattr(report, "questions"):
        changed["questions"] = tuple(
            structs.replace(row, where=place(row.where)) for row in report.questions
        )
    details = dict(outcome.units.details)
    if "where" in details:
        details["where"] = [place(where) for where in details["where"]]
    return structs.replace(
        outcome,
        report=structs.replace(report, **changed),
        units=structs.replace(outcome.units, details=details),
    )
