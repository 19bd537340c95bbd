"""A history in which every foreign text tries to be more than text, in every kind of run.

The runs are real ones, rewritten: wherever a text of a question, an answer, a chunk, a document,
a label or a message stands, in a value or in a key, a payload is added to it; the same one to the
same text, so that what belongs together still finds itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from ragauge import open_history
from ragauge.contracts.audit import STATES
from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.history import (
    REPORT,
    GitState,
    History,
    NewRun,
    Run,
    RunFilter,
    UnitRow,
    canonical,
    sealed_units,
)
from ragauge.contracts.kept import ANSWERS, DOCUMENTS, SUMMARY
from ragauge.contracts.stability import CELLS, STABILITIES
from ragauge.store.files import pieces_of, seal_of
from ragauge.store.packed import Packed, pack
from ragauge.store.recorded import stored_report

FORMATS = "ok error char token none exact near free no true false answer uncited refusal"
ERRORS = "boundary type boundary_and_type missed spurious wrong ranked_low not_linked missing"
OURS = frozenset([*FORMATS.split(), *ERRORS.split(), *STATES, *STABILITIES, *CELLS])
"""Words of our own formats that stand in foreign records too."""
WRITTEN = "message reason words title evidence confirm action text answer claim question tip"
SAID = frozenset(f"{WRITTEN} before after mention context got expected name where said".split())
"""Fields whose text is anybody's, whatever it is."""

NAMED = frozenset({"strata", "per_stratum", "per_type", "distribution", "token_types"})
"""Tables whose keys are names that users give."""

Poison = Callable[[str], str]


def poisoned(place: str, into: str, payload: Poison) -> list[Run]:
    """The runs of a history as they are in a new one that is full of payloads, the newest first."""
    with closing(open_history(place, create=False)) as old, closing(open_history(into)) as new:
        return [_Rewriting(old, run, payload).recorded(new) for run in old.runs(RunFilter())]


class _Rewriting:
    """One run on its way."""

    def __init__(self, history: History, run: Run, payload: Poison) -> None:
        self._history, self._run, self._payload = history, run, payload
        sha256 = run.record.gold_sha256
        self._gold = history.gold(sha256) if sha256 else []
        self._foreign = set(_texts(msgspec.to_builtins(self._gold)))
        for name in (ANSWERS, DOCUMENTS):
            for _, line in self._packed(name):
                self._foreign |= set(_texts(msgspec.json.decode(line)))
        self._foreign -= OURS

    def recorded(self, into: History) -> Run:
        gold = msgspec.convert(self._rewritten(msgspec.to_builtins(self._gold)), list[Gold])
        rows = [msgspec.to_builtins(row) for row in self._history.units(self._run.id)]
        # A unit of another kind, a document or a mention, is foreign too.
        self._foreign |= {row["unit"] for row in rows}
        units = [self._unit(row) for row in rows]
        with tempfile.TemporaryDirectory() as folder:
            files = dict(self._files(Path(folder)))
            record = structs.replace(
                self._run.record,
                name=self._payload(self._run.record.name),
                labels={
                    self._payload(key): self._payload(value)
                    for key, value in {"model": "a", **self._run.record.labels}.items()
                },
                git=GitState(commit="1a2b3c4d", branch=self._payload("main"), dirty=True),
                metrics={id: self._why(one) for id, one in self._run.record.metrics.items()},
                gates=tuple(map(self._why, self._run.record.gates)),
                gold_sha256=fingerprint(gold) if gold else None,
                units_sha256=sealed_units(units),
                files={name: seal_of(pieces_of(path)) for name, path in sorted(files.items())},
            )
            return into.record(NewRun(record=record, units=units, gold=gold, files=files))

    def _why(self, told: Any) -> Any:
        """A score or a verdict with a reason, which may quote anybody."""
        return structs.replace(told, reason=self._payload(told.reason or "why"))

    def _unit(self, row: dict[str, Any]) -> UnitRow:
        shown = {name: self._rewritten(row[name]) for name in ("unit", "label", "detail")}
        return msgspec.convert({**row, **shown}, UnitRow)

    def _files(self, folder: Path) -> Iterator[tuple[str, Path]]:
        for name in self._run.record.files:
            path = folder / name
            if name in (REPORT, SUMMARY):
                with self._history.file(self._run, name) as kept:
                    report = stored_report(kept.read_bytes(), self._run.shown)
                path.write_bytes(canonical(self._report(report)))
            elif name in (ANSWERS, DOCUMENTS):
                pack(path, self._answers(name))
            else:
                continue
            yield name, path

    def _report(self, report: Any) -> Any:
        """The report with payloads; it is still one of its kind, or this fails."""
        plain = msgspec.to_builtins(report)
        # How it was made is ours, and names metrics.
        kept = {name: plain[name] for name in ("metrics", "gates", "identity") if name in plain}
        made = msgspec.convert({**self._rewritten(plain), **kept}, type(report))
        return structs.replace(
            made, metrics={id: self._why(one) for id, one in made.metrics.items()}
        )

    def _answers(self, name: str) -> Iterator[tuple[str, bytes]]:
        for key, line in self._packed(name):
            parts = [self._rewritten(part) for part in key.split("\n")]
            yield "\n".join(parts), canonical(self._rewritten(msgspec.json.decode(line)))

    def _packed(self, name: str) -> Iterator[tuple[str, bytes]]:
        if name not in self._run.record.files:
            return
        with self._history.file(self._run, name) as path:
            content = path.read_bytes()
        packed = Packed(lambda start, stop: content[start:stop], len(content), name)
        for group in packed.groups():
            yield from ((group.key, line) for line in group.lines)

    def _rewritten(self, value: Any, field: str = "") -> Any:
        match value:
            case str():
                foreign = value in self._foreign or (field in SAID and value not in OURS)
                return self._payload(value) if foreign else value
            case Mapping():
                named = self._payload if field in NAMED else self._rewritten
                return {named(key): self._rewritten(held, key) for key, held in value.items()}
            case list() | tuple():
                return [self._rewritten(held, field) for held in value]
        return value


def _texts(value: Any) -> Iterator[str]:
    """Every text among the values, but not the names of fields."""
    match value:
        case str():
            yield value
        case Mapping():
            for held in value.values():
                yield from _texts(held)
        case list() | tuple():
            for held in value:
                yield from _texts(held)
