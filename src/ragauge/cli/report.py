"""`ragauge report`: a recorded run as one HTML file to share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ragauge.cli.command import documents_options, options_of, refuse_overwriting, remark, settings
from ragauge.cli.run_store import history_at, store_option
from ragauge.cli.serve import documents_in
from ragauge.dashboard.file_limits import ROWS, WHOLE, Limits

STDOUT = "-"


@click.command()
@click.argument("run", metavar="RUN")
@click.option("-o", "--out", metavar="FILE", required=True, help="Where to; - is stdout.")
@click.option("--compare", "before", metavar="RUN", help="Also compare it with this earlier run.")
@store_option
@documents_options
@click.option(
    "--rows",
    type=click.IntRange(0),
    default=ROWS,
    show_default=True,
    help="Questions in the table.",
)
@click.option(
    "--whole",
    type=click.IntRange(0),
    default=WHOLE,
    show_default=True,
    help="Questions with all that is known of them, the wrong ones first.",
)
@options_of("quiet")
def report(run: str, out: str, **given: Any) -> None:
    """Write the recorded RUN as one HTML file: the views of the dashboard, for whoever has none.

    It opens from disk, without a network, and asks nobody for anything. A RUN is the beginning of
    its id, a tag, `latest`, `green`, one of these two on a branch, or commit:HASH. Answers and
    documents are in it as far as the run keeps them: share it as you would share those.

    \b
    Example:
      ragauge report latest -o report.html
      ragauge report latest --compare green@main -o report.html
    """
    from ragauge.dashboard.report_file import report_file
    from ragauge.store.files import write_whole

    chosen = settings(quiet=given["quiet"])
    if out != STDOUT:
        refuse_overwriting([given["manifest"]], [out], given["docs"])
    documents = documents_in(given["docs"], given["manifest"])
    limits = Limits(rows=given["rows"], whole=given["whole"])
    with history_at(given["store"]) as history:
        made = report_file(history, run, before=given["before"], documents=documents, limits=limits)
    content = made.encode()
    if out == STDOUT:
        sys.stdout.buffer.write(content)
        return
    write_whole(Path(out), content)
    remark(f"wrote {out} ({len(content) / 1_000:,.0f} KB): open it in a browser", chosen["quiet"])
