"""The dashboard at the size it promises: every kind of page, timed over HTTP, beside MLflow.

python -m benchmarks.dashboard
python -m benchmarks.dashboard --questions 2000 --runs 3

The history is built by `benchmarks.large_history` and kept under `.bench`; `--again` builds a new
one. With other numbers than the promised ones it is a trial: then nothing is written down.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks import dashboard_peer, measure
from benchmarks.dashboard_tables import parts
from benchmarks.dashboard_tour import Tour
from benchmarks.generate import make_questions
from benchmarks.http_visits import Memory, Server, Visitor, Visits, serving
from benchmarks.large_history import NAME, build_large_history, write_gold, write_traces
from benchmarks.peers.environments import ROOT, ignore_folder, python_of
from benchmarks.results import write_section
from ragauge.contracts.history import RunFilter
from ragauge.store.history import open_history

FOLDER = ROOT / ".bench"
QUESTIONS, RUNS = 100_000, 20
WRITTEN = f"{NAME}, while it is read"
RAGAUGE = Path(sys.executable).with_name("ragauge")


class Comparing(NamedTuple):
    """The page that says a comparison is being made, and how long that took."""

    asked_ms: list[float]
    made_s: list[float]


class Found(NamedTuple):
    """What the tour found."""

    first_ms: float
    """The very first page of a server that has just started."""
    views: dict[str, Visits]
    comparing: Comparing
    before: Memory
    after: Memory
    meanwhile: Visits
    """Pages of questions while a run is recorded."""
    recorded_s: float
