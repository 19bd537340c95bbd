"""`ragauge report`: a recorded run as one HTML file to share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from ragauge.cli.command import command, refuse_overwriting, remark
from ragauge.cli.run_store import history_at
from ragauge.cli.serve import documents_in
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import DOCS, INDEX, Quiet, Stored
from ragauge.dashboard.file_limits import ROWS, WHOLE, Limits

STDOUT = "-"


class Options(Struct, frozen=True, kw_only=True):
    """What is in the file, and where it goes."""

    out: Annotated[str, Opt("Where to; - is stdout.", flag="-o/--out", metavar="FILE")]
    before: Annotated[
        str | None,
        Opt("Also compare it with this earlier run.", flag="--compare", metavar="RUN"),
    ] = None
    docs: Annotated[str | None, DOCS] = None
    manifest: Annotated[str | None, INDEX] = None
    rows: Annotated[int, Meta(ge=0), Opt("Questions in the table.")] = ROWS
    whole: Annotated[
        int, Meta(ge=0), Opt("Questions with all that is known of them, the wrong ones first.")
    ] = WHOLE


@command()
def report(run: str, options: Options, stored: Stored, output: Quiet) -> None:
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

    out = options.out
    if out != STDOUT:
        refuse_overwriting([options.manifest], [out], options.docs)
    documents = documents_in(options.docs, options.manifest)
    limits = Limits(rows=options.rows, whole=options.whole)
    with history_at(stored.store) as history:
        made = report_file(history, run, before=options.before, documents=documents, limits=limits)
    content = made.encode()
    if out == STDOUT:
        sys.stdout.buffer.write(content)
        return
    write_whole(Path(out), content)
    remark(f"wrote {out} ({len(content) / 1_000:,.0f} KB): open it in a browser", output.quiet)
