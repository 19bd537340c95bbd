"""The dashboard at the size it promises: every kind of page, timed over HTTP, beside MLflow.

python -m benchmarks.dashboard
python -m benchmarks.dashboard --questions 2000 --runs 3

The history is built by `benchmarks.large_history` and kept under `.bench`; `--again` builds a new
one. With other numbers than the promised ones it is a trial: then nothing is written down.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from benchmarks import dashboard_peer, measure
from benchmarks.dashboard_tables import Comparing, Found, Sizes, parts
from benchmarks.dashboard_tour import Tour
from benchmarks.generate import make_questions
from benchmarks.http_visits import Visit, Visitor, Visits, serving
from benchmarks.large_history import build_large_history, write_gold, write_traces
from benchmarks.peers.environments import ROOT, ignore_folder, python_of
from benchmarks.results import write_section
from ragauge.contracts.history import RunFilter
from ragauge.store.history import open_history

FOLDER = ROOT / ".bench"
QUESTIONS, RUNS = 100_000, 20
WRITTEN = "written while it is read"
"""The name of the run that goes again."""
RAGAUGE = Path(sys.executable).with_name("ragauge")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--again", action="store_true", help="build the history again")
    given = parser.parse_args()
    ignore_folder(FOLDER)
    place = FOLDER / f"dashboard-{given.questions}x{given.runs}"
    build(place, given.questions, given.runs, again=given.again)
    say("the tour ...")
    tour = Tour(str(place))
    with tempfile.TemporaryDirectory(dir=FOLDER) as made:
        found = toured(place, tour, Path(made), given.questions)
        say("MLflow ...")
        peer = dashboard_peer.measured(str(place), tour, Path(made))
    told = parts(given.questions, given.runs, found, peer, sizes(place, tour))
    if (given.questions, given.runs) == (QUESTIONS, RUNS):
        write_section("Dashboard", told)
    print(*told, sep="\n\n")


def build(place: Path, questions: int, runs: int, *, again: bool) -> None:
    """A history at the place, unless a whole one is there."""
    whole = place / "whole"
    if whole.exists() and not again:
        forget(place)  # what a killed benchmark left
        return
    say(f"recording {runs:,} runs of {questions:,} questions ...")
    shutil.rmtree(place, ignore_errors=True)
    build_large_history(str(place), questions, runs)
    whole.touch()


def toured(place: Path, tour: Tour, folder: Path, questions: int) -> Found:
    """Every kind of page of one server, then the questions again while a run is recorded."""
    command = [RAGAUGE, "serve", "--store", place, "--port", "0"]
    with serving(command, folder / "serve.log", _address) as server:
        before, reader = server.memory(), Visitor(server.address)
        first = reader.visit("/")
        views = {view.name: reader.visits(view.paths, view.shows) for view in tour.views()}
        comparing = compared(reader, tour)
        for view in (tour.compared(), tour.histories()):
            for path in view.paths:
                reader.finished(path)
            views[view.name] = reader.visits(view.paths, view.shows)
        after = server.memory()
        say("reading while a run is recorded ...")
        meanwhile, seconds = read_meanwhile(place, tour, reader, folder, questions)
    return Found(first.ms, views, comparing, before, after, meanwhile, seconds)


def compared(reader: Visitor, tour: Tour) -> Comparing:
    asked = [reader.finished(path) for path in tour.pairs()]
    return Comparing([first.ms for first, _ in asked], [made_s for _, made_s in asked])


def read_meanwhile(
    place: Path, tour: Tour, reader: Visitor, folder: Path, questions: int
) -> tuple[Visits, float]:
    """Pages of questions for as long as another process measures and records a run."""
    asked = make_questions(questions, seed=0)
    files = write_gold(folder, asked), write_traces(folder, asked, seed=-1)
    command = [RAGAUGE, "score", *files, "--record", "--store", place, "--name", WRITTEN, "--quiet"]
    found: list[Visit] = []
    reader.connect()  # the server has let go of a reader who was silent for so long
    started = time.perf_counter()
    try:
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as writer:
            while writer.poll() is None:
                found.append(reader.visit(tour.question().paths[0]))
        seconds = time.perf_counter() - started
    finally:
        forget(place)
    if writer.returncode not in (0, 1):
        raise subprocess.CalledProcessError(writer.returncode, command)
    first, *others = found
    return Visits(first.ms, [one.ms for one in others], [len(one.body) for one in others]), seconds


def forget(place: Path) -> None:
    """Take the run out again that was recorded while we read."""
    with closing(open_history(str(place), create=False)) as history:
        history.remove([run.id for run in history.runs(RunFilter(name=WRITTEN))])
        history.gc()


def sizes(place: Path, tour: Tour) -> Sizes:
    """What is installed, and what a file with every row would be."""
    source = [path for path in (ROOT / "src").rglob("*") if path.is_file()]
    own = sum(path.stat().st_size for path in source if path.suffix != ".pyc")
    return Sizes(
        ragauge=own + _installed(Path(sys.executable), "ragauge"),
        mlflow=_installed(python_of("mlflow"), "mlflow"),
        plain_file=dashboard_peer.plain_file(str(place), tour.scored[0]),
        history=sum(path.stat().st_size for path in place.rglob("*") if path.is_file()),
    )


def _installed(python: Path, package: str) -> int:
    command = [python, "-m", "benchmarks.peers.installed", package]
    return int(measure.run(command, cwd=ROOT).stdout)


def _address(said: str) -> str | None:
    """Where the dashboard is, from what it writes once it listens."""
    found = re.search(r"http://\S+", said)
    return found[0] if found else None


def say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
