"""A history as a team would have it: the demo pipeline scored, swept, audited and evaluated."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ragauge import audit, open_history, record, score, stability, sweep
from ragauge.contracts.history import History, Run, RunFilter
from ragauge.contracts.run import Grid
from ragauge.contracts.system import Ask
from ragauge.demo import DOCUMENTS, GOLD
from ragauge.demo.pipeline import Pipeline
from ragauge.ingest.gold import read_gold
from ragauge.store.files import write_manifest

START = datetime(2026, 11, 1, 6, tzinfo=UTC)
NIGHTS = {
    "a": [],
    "b": ["wrong_citations=0.1"],
    "c": ["wrong_citations=0.5"],
    "d": ["unstable_retrieval=0.3"],
}
"""The faults of each model: the third cites worst."""
GATES = "precision_cited>=0.80, citation_hit_rate>=0.9, under_refusal<=0.02"


def traces_of(pipeline: Pipeline, path: Path, faults: list[str]) -> Path:
    """An answer of the pipeline to each question, with these faults switched on."""
    lines = []
    for question in read_gold(str(GOLD)):
        knobs = {"faults": faults, "constraints": list(question.constraints)}
        reply = pipeline.answer(Ask(q=question.question, knobs=knobs))
        lines.append(json.dumps({"qid": question.qid, "q": question.question, **reply}))
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


class DemoHistory:
    """Where the history is, and its runs by what they were made for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder / "store")
        self.runs: dict[str, Run] = {}

    def build(self) -> DemoHistory:
        pipeline = Pipeline.of()
        history = open_history(self.place)
        try:
            self._nights(pipeline, history)
            self._sweep(pipeline, history)
            self._audit(pipeline, history)
        finally:
            history.close()
        self._evaluate()
        ids = {name: run.id for name, run in self.runs.items()}
        self._ids.write_text(json.dumps(ids))
        return self

    def found(self) -> DemoHistory:
        """The same once it is built, maybe by another process."""
        history = open_history(self.place, create=False)
        try:
            ids = json.loads(self._ids.read_text())
            self.runs = {name: history.find(id) for name, id in ids.items()}
        finally:
            history.close()
        return self

    @property
    def _ids(self) -> Path:
        return self.folder / "runs.json"

    def _nights(self, pipeline: Pipeline, history: History) -> None:
        for day, (model, faults) in enumerate(NIGHTS.items()):
            traces = traces_of(pipeline, self.folder / f"{model}.jsonl", faults)
            outcome = score(GOLD, traces, gates=GATES, keep_answers=True)
            self.runs[model] = record(
                outcome,
                history,
                name="nightly",
                labels={"model": model},
                recorded_at=START + timedelta(days=day),
            )

    def _sweep(self, pipeline: Pipeline, history: History) -> None:
        runs = self.folder / "runs.jsonl"
        grid = Grid(seeds=(0, 1, 2), jitters=("none", "ws"))
        sweep(GOLD, pipeline, runs, grid=grid, knobs={"faults": ["unstable_retrieval=0.15"]})
        outcome = stability(GOLD, runs)
        self.runs["stability"] = record(
            outcome, history, name="steady", recorded_at=START + timedelta(days=5)
        )

    def _audit(self, pipeline: Pipeline, history: History) -> None:
        traces = traces_of(pipeline, self.folder / "audited.jsonl", ["drifted_offsets=0.3"])
        manifest = self.folder / "manifest.json"
        write_manifest(manifest, pipeline.index.manifest)
        documents = self.folder / "documents"
        shutil.copytree(DOCUMENTS, documents)
        outcome = audit(traces, gold=str(GOLD), manifest=str(manifest), docs=str(documents))
        self.runs["audit"] = record(
            outcome, history, name="citations", recorded_at=START + timedelta(days=6)
        )

    def _evaluate(self) -> None:
        traces = str(self.folder / "c.jsonl")
        for verb in (["all", "--demo"], ["qa", str(GOLD), traces]):
            self._ragauge("eval", *verb, "--record", "--store", self.place, "--quiet")
        history = open_history(self.place)
        try:
            self.runs |= {run.record.command: run for run in history.runs(RunFilter())}
        finally:
            history.close()

    def _ragauge(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "ragauge.cli.main", *arguments]
        done = subprocess.run(command, capture_output=True, cwd=self.folder, check=False)
        if done.returncode not in (0, 1):
            raise AssertionError(done.stderr.decode())
