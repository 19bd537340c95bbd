"""The same runs in MLflow: logged as its users do, then read over HTTP from its own server."""

from __future__ import annotations

import html
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
import polars as pl

from benchmarks.dashboard_tour import ADDRESSES, Tour, some
from benchmarks.http_visits import STARTING_S, STEP_S, Memory, Server, Visitor, Visits, serving
from benchmarks.peers.environments import ROOT, python_of
from ragauge.contracts.history import History, Run
from ragauge.store.history import open_history

SILENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}
"""Nothing leaves the machine, and no further processes wait for work that nobody gives them."""
API = "/ajax-api/2.0/mlflow"


class Logged(NamedTuple):
    """What MLflow was given."""

    version: str
    experiment: str
    runs: list[str]
    table: str
    """The name of the table of questions."""


class Peer(NamedTuple):
    """What reading it costs."""

    version: str
    runs: Visits
    run: Visits
    questions: Visits
    metric: Visits
    before: Memory
    after: Memory


def measured(place: str, tour: Tour, folder: Path) -> Peer:
    """The requests behind its pages, of the same runs that the tour goes through."""
    given = folder / "given"
    given.mkdir()
    with closing(open_history(place, create=False)) as history:
        for number, run in enumerate(reversed(tour.scored)):
            write_run(history, run, given / f"run-{number:03}")
    with mlflow_server(folder) as server:
        logged = log_runs(server, given)
    # Started again, so that what logging left in memory is not counted against it.
    with mlflow_server(folder) as server:
        return visited(server, logged, sorted(tour.scored[0].record.metrics))


@contextmanager
def mlflow_server(folder: Path) -> Iterator[Server]:
    port = free_port()
    command = [python_of("mlflow").with_name("mlflow"), "server", "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.sqlite'}"]
    command += ["--artifacts-destination", folder / "artifacts"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    address, env = f"http://127.0.0.1:{port}", os.environ | SILENT
    with serving(command, folder / "mlflow.log", lambda said: address, env) as server:
        wait_for(server)
        yield server


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def wait_for(server: Server) -> None:
    """Until its worker answers: it does not say when."""
    until = time.perf_counter() + STARTING_S
    while True:
        try:
            Visitor(server.address).visit("/health")
            return
        except (OSError, RuntimeError):
            if time.perf_counter() > until:
                raise
            time.sleep(STEP_S)


def log_runs(server: Server, given: Path) -> Logged:
    command = [python_of("mlflow"), "-m", "benchmarks.peers.mlflow_runs", server.address, given]
    env = os.environ | SILENT
    done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True)
    return Logged(**json.loads(done.stdout.splitlines()[-1]))


def visited(server: Server, logged: Logged, metrics: Sequence[str]) -> Peer:
    before, reader = server.memory(), Visitor(server.address)
    wanted = {"experiment_ids": [logged.experiment], "max_results": 100}
    tables = [
        f"/get-artifact?{urlencode({'path': logged.table, 'run_uuid': run})}"
        for run in some(logged.runs)
    ]
    asked = zip(some(logged.runs), some(metrics), strict=True)
    lines = [
        f"{API}/metrics/get-history?{urlencode({'run_id': run, 'metric_key': key_of(metric)})}"
        for run, metric in asked
    ]
    search = [f"{API}/runs/search"] * ADDRESSES
    numbers = [f"{API}/runs/get?{urlencode({'run_id': run})}" for run in some(logged.runs)]
    return Peer(
        version=logged.version,
        runs=reader.visits(search, logged.runs[0], json.dumps(wanted).encode()),
        run=reader.visits(numbers, '"metrics"'),
        metric=reader.visits(lines, '"value"'),
        questions=reader.visits(tables, '"columns"'),
        before=before,
        after=server.memory(),
    )


def key_of(metric: str) -> str:
    """The metric's id in letters that MLflow takes for one."""
    return metric.replace("@", "_at_")


def write_run(history: History, run: Run, path: Path) -> None:
    """The numbers of a run and its questions, in the columns that the dashboard shows."""
    numbers = {key_of(id): one.value for id, one in run.record.metrics.items()}
    told = {
        "name": f"{run.record.name} {run.shown}",
        "labels": run.record.labels,
        "metrics": {key: value for key, value in numbers.items() if value is not None},
    }
    path.with_suffix(".json").write_bytes(msgspec.json.encode(told))
    rows = list(question_rows(history, run))
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path.with_suffix(".parquet"))


def question_rows(history: History, run: Run) -> Iterator[dict[str, Any]]:
    asked = {gold.qid: gold.question for gold in history.gold(run.record.gold_sha256 or "")}
    for row in history.units(run.id):
        yield {
            "qid": row.unit,
            "question": asked[row.unit],
            "label": row.label,
            "right": row.right,
            "said": row.detail.get("claim"),
            "cited": ", ".join(row.detail.get("cited") or ()),
            **{id: row.values.get(id) for id in sorted(run.record.metrics)},
        }


def plain_file(place: str, run: Run) -> int:
    """The bytes of one HTML file with a row for every question, and nothing else."""
    with closing(open_history(place, create=False)) as history:
        rows = question_rows(history, run)
        return sum(len(_html_row(row).encode()) for row in rows)


def _html_row(row: dict[str, Any]) -> str:
    cells = ("" if value is None else html.escape(str(value)) for value in row.values())
    return f"<tr><td>{'<td>'.join(cells)}\n"
