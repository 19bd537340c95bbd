"""Processes that record runs, all forked from this one; prints what came of it as JSON.

Run as a program, `recorders.py WHAT PLACE FOLDER [NUMBERS]`: it imports everything once and forks,
so that two hundred kills take seconds. Every database connection is made in a child.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import sqlalchemy

from ragauge.contracts.history import RunFilter, sealed_units
from ragauge.contracts.paging import UnitQuery
from ragauge.errors import UsageError
from ragauge.store.checking import checked  # noqa: F401 (imported before the forks)
from ragauge.store.history import open_history
from ragauge.store.migrations import upgrade  # noqa: F401
from ragauge.store.paging import SqlPages  # noqa: F401
from tests.store.runs_made import COMPLIANCE, gold_set, new_run, unit_rows

UNITS, QUESTIONS, WARM = 150, 20, 5
WRITERS, EACH = 16, 4


def made(number: int, folder: Path):
    """A run of some size; gold sets are shared by three."""
    return new_run(
        number,
        folder=folder,
        units=unit_rows(UNITS, number),
        gold=gold_set(QUESTIONS + number // 3),
        contents={"report.json": b"{}" * 500, "records.parquet": bytes(60_000)},
    )


def in_a_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def recorded(place: str, runs, told: int) -> None:
    """Record runs; the id of each is told once the history has promised it."""
    history = open_history(place)
    for run in runs:
        history.record(run)
        os.write(told, f"{run.record.id}\n".encode())
    history.close()


def killed(place: str, folder: Path, seed: int, kills: int) -> dict[str, object]:
    """What a history holds after so many writers were killed, each at a random moment."""
    random, took, promised, tried = Random(seed), 0.0, set(), []
    for number in range(WARM + kills):
        run = made(number, folder)
        listen, tell = os.pipe()
        started = time.perf_counter()
        child = in_a_child(lambda run=run, tell=tell: recorded(place, [run], tell))
        os.close(tell)
        if number < WARM:  # let these be, to learn how long one takes; the first makes the tables
            os.waitpid(child, 0)
            took = time.perf_counter() - started
        else:
            select.select([], [], [], random.uniform(0, 1.2 * took))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        with os.fdopen(listen) as pipe:
            promised |= set(pipe.read().split())
        tried.append(run)
    return {"promised": sorted(promised), "tried": [run.record.id for run in tried]} | settled(
        place, tried
    )


def stepped(place: str, folder: Path) -> dict[str, object]:
    """What a history holds after writers were killed at their first step, their second, …

    A step is a file opened, made, renamed or removed, or a statement sent to the database.
    """
    promised, tried, step, alive = set(), [], 0, True
    while alive:
        run = made(step, folder)
        listen, tell = os.pipe()
        child = in_a_child(lambda run=run, step=step, tell=tell: _up_to(step, place, run, tell))
        os.close(tell)
        alive = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        with os.fdopen(listen) as pipe:
            promised |= set(pipe.read().split())
        tried.append(run)
        step += 1
    return {"promised": sorted(promised), "tried": [run.record.id for run in tried]} | settled(
        place, tried
    )


def _up_to(last: int, place: str, run, tell: int) -> None:
    steps = itertools.count()

    def step(*_: object) -> None:
        if next(steps) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    def on_disk(event: str, _: object) -> None:
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod"):
            step()

    sys.addaudithook(on_disk)
    sqlalchemy.event.listen(sqlalchemy.Engine, "before_cursor_execute", step)
    sqlalchemy.event.listen(sqlalchemy.Engine, "commit", step)
    recorded(place, [run], tell)


def born(place: str, folder: Path, seed: int, kills: int) -> dict[str, object]:
    """How many histories could be used after a kill while they were made."""
    random, took, usable = Random(seed), 0.0, 0
    for number in range(WARM + kills):
        here = str(Path(place) / str(number))
        started = time.perf_counter()
        child = in_a_child(lambda here=here: open_history(here).close())
        if number >= WARM:
            select.select([], [], [], random.uniform(0, took))
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        took = time.perf_counter() - started if number < WARM else took
        usable += settled(here, [made(0, folder)])["faults"] == {}
    return {"usable": usable}


def opened(place: str, folder: Path) -> dict[str, object]:
    """How many of a crowd could open a history, which is not there yet, at once."""
    ready, go = os.pipe()
    openers = [in_a_child(lambda: _at_once(ready, go, place, [], -1)) for _ in range(WRITERS)]
    os.close(ready)
    os.close(go)
    return {"opened": sum(os.waitpid(opener, 0)[1] == 0 for opener in openers)}


def same(place: str, folder: Path) -> dict[str, object]:
    """What a history holds after many recorded one and the same run at once."""
    run = made(0, folder)
    ready, go = os.pipe()
    listen, tell = os.pipe()
    writers = [in_a_child(lambda: _at_once(ready, go, place, [run], tell)) for _ in range(WRITERS)]
    os.close(ready)
    os.close(go)
    os.close(tell)
    failed = sum(os.waitpid(writer, 0)[1] != 0 for writer in writers)
    with os.fdopen(listen) as pipe:
        promised = pipe.read().split()
    return {"promised": promised, "failed": failed} | settled(place, [run])


def settled(place: str, tried) -> dict[str, object]:
    """The state of a history, and again when the leftovers are gone and all is recorded anew."""
    history = open_history(place)
    first = history.verify()
    swept = history.gc(older_than_s=0)
    for run in tried:
        history.record(run)
    last = history.verify()
    history.close()
    return {
        "whole": first.whole,
        "faults": {**first.faults, **last.faults},
        "leftovers": len(first.leftovers),
        "swept": len(swept),
        "left": last.leftovers,
        "whole_at_last": last.whole,
    }


def crowd(place: str, folder: Path) -> dict[str, object]:
    """What a reader saw while many wrote, and what was there in the end."""
    ready, go = os.pipe()
    listen, tell = os.pipe()
    writers = []
    for writer in range(WRITERS):
        runs = [made(writer * EACH + number, folder) for number in range(EACH)]
        writers.append(in_a_child(lambda runs=runs: _at_once(ready, go, place, runs, tell)))
    os.close(ready)
    os.close(go)  # now they start together
    os.close(tell)
    seen, looks = watched(place, writers)
    with os.fdopen(listen) as pipe:
        promised = sorted(pipe.read().split())
    history = open_history(place)
    end = history.verify()
    history.close()
    return {
        "promised": promised,
        "whole": end.whole,
        "faults": end.faults,
        "leftovers": end.leftovers,
        "broken": seen,
        "looks": looks,
    }


def _at_once(ready: int, go: int, place: str, runs, tell: int) -> None:
    os.close(go)
    os.read(ready, 1)
    recorded(place, runs, tell)


def watched(place: str, writers: list[int]) -> tuple[list[str], int]:
    """What was wrong with any run that was visible while the writers worked."""
    wrong: list[str] = []
    looked: set[str] = set()
    failed = 0
    alive = set(writers)
    history = None
    while alive:
        for writer in list(alive):
            done, status = os.waitpid(writer, os.WNOHANG)
            if done:
                alive.remove(writer)
                failed += status != 0
        history = history or _if_there(place)
        for run in history.runs(RunFilter()) if history else ():
            if run.id not in looked:
                wrong += faults_of(history, run)
                looked.add(run.id)
        if history:
            history.gc()  # while sets of gold questions come and are not yet anyone's
    if history:
        history.close()
    return wrong + ["a writer failed"] * failed, len(looked)


def _if_there(place: str):
    try:
        return open_history(place, create=False)
    except UsageError as error:
        if "no history yet" not in str(error):
            raise
        return None


def faults_of(history, run) -> list[str]:
    """What a reader finds missing in a run that is visible."""
    wrong = []
    if sealed_units(list(history.units(run.id))) != run.record.units_sha256:
        wrong.append(f"{run.id}: units")
    if (
        len(history.gold(run.record.gold_sha256))
        != QUESTIONS + run.record.configuration["number"] // 3
    ):
        wrong.append(f"{run.id}: gold")
    if history.pages.units(run, UnitQuery(words="Q", sort=COMPLIANCE)).total != UNITS:
        wrong.append(f"{run.id}: pages")
    if run not in [each.run for each in history.pages.over_runs("q7", run, WRITERS * EACH)]:
        wrong.append(f"{run.id}: over runs")
    for name, seal in run.record.files.items():
        with history.file(run, name) as path:
            if path.stat().st_size != seal.size:
                wrong.append(f"{run.id}: {name}")
    return wrong


if __name__ == "__main__":
    what, place, folder, *rest = sys.argv[1:]
    programs = {each.__name__: each for each in (killed, stepped, born, opened, same, crowd)}
    json.dump(programs[what](place, Path(folder), *map(int, rest)), sys.stdout)
