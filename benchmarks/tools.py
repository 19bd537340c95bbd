"""Ragauge next to ragas and deepeval: size, start, and what each says when most samples fail.

python -m benchmarks.tools
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks import measure
from benchmarks.peers.environments import PEERS, ROOT, python_of
from benchmarks.results import table, write_section

ROUNDS = 5


def main() -> None:
    pythons = {"ragauge": Path(sys.executable), **{peer: python_of(peer) for peer in PEERS}}
    rows = {name: measured(name, python) for name, python in pythons.items()}
    own = rows["ragauge"]
    header = ("", *(f"{name} {row['version']}" for name, row in rows.items()))
    lines = [
        ("installed, MB", *(f"{row['bytes'] / 1e6:.0f}" for row in rows.values())),
        ("CPU s to import", *(f"{row['import_s']:.2f}" for row in rows.values())),
        ("times ragauge", *(f"{row['import_s'] / own['import_s']:.1f}" for row in rows.values())),
        ("hosts it tries to reach", *(row["hosts"] for row in rows.values())),
        ("9 of 10 samples fail", *(row["said"] for row in rows.values())),
    ]
    note = (
        "Each tool scores ten samples offline with its default settings; nine of them raise an "
        "error. The table shows what its own summary says, and how many hosts other than this "
        f"machine it tried to reach meanwhile. Import: median of {ROUNDS} runs; it includes what "
        "the evaluation needs. Installed: the package and what it requires, without compiled files."
    )
    parts = [table(header, lines), note]
    write_section("Next to other tools", parts)
    print(*parts, sep="\n\n")


def measured(name: str, python: Path) -> dict[str, object]:
    """What `one_of_ten` prints for a tool, with its installed size and version."""
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ) | {"HOME": home, "PYTHONPATH": str(ROOT)}
        command = [python, "-m", "benchmarks.peers.one_of_ten", name]
        runs = [
            json.loads(measure.run(command, env=env, cwd=Path(home)).stdout) for _ in range(ROUNDS)
        ]
    size = measure.run([python, "-m", "benchmarks.peers.installed", name], cwd=ROOT)
    code = f"from importlib.metadata import version; print(version({name!r}))"
    return {
        **runs[-1],
        "import_s": statistics.median(run["import_s"] for run in runs),
        "bytes": int(size.stdout),
        "version": measure.run([python, "-c", code]).stdout.strip(),
    }


if __name__ == "__main__":
    main()
