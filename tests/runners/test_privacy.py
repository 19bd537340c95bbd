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
    from ragauge import score
    from ragauge.demo import GOLD, TRACES
    from ragauge.ingest import lines
    from ragauge.reports.forms import FORMS, render

    lines.BLOCK = 4_000
    report = score(GOLD, [TRACES], preset="ship", workers=2, out=sys.argv[1]).report
    for form in FORMS:
        render(report, form)
    print("silent")
"""


def test_a_whole_run_opens_no_connection(tmp_path):
    script = tmp_path / "run.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, script, tmp_path / "rows.parquet"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "silent\n", done.stderr
