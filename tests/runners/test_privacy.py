"""A whole run talks to nobody."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys

def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"):
        raise SystemExit(f"{event} {arguments}")

sys.addaudithook(watch)

if __name__ == "__main__":
    from pathlib import Path
    from ragauge import score
    from ragauge.demo.tour import write_traces
    from ragauge.contracts.run import Grid
    from ragauge.demo import GOLD
    from ragauge.demo.pipeline import Pipeline
    from ragauge.ingest import lines
    from ragauge.contracts.kinds import FORMS
    from ragauge.reports.rendering import render
    from ragauge.runners.stability import stability
    from ragauge.runners.sweep import sweep

    lines.BLOCK = 4_000
    folder, pipeline = Path(sys.argv[1]), Pipeline.of()
    traces, runs, rows = (folder / name for name in ("traces.jsonl", "runs.jsonl", "rows.parquet"))
    write_traces(pipeline, GOLD, traces)
    reports = [score(GOLD, [traces], preset="ship", workers=2, out=rows).report]
    sweep(GOLD, pipeline, runs, grid=Grid(seeds=(0, 1), temperatures=(0.0,), jitters=("none",)))
    reports.append(stability(GOLD, runs).report)
    for report in reports:
        for form in FORMS:
            render(report, form)
    print("silent")
"""


def test_a_whole_run_opens_no_connection(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "silent\n", done.stderr
