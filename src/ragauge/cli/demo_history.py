"""The end of the demo: its runs in a history of their own, and a report to look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragauge.contracts.history import History
    from ragauge.contracts.score import Outcome

HISTORY, REPORT = "history", "report.html"
OURS = {"made by": "ragauge demo"}
"""The label by which another demo knows the runs of the last one, and takes their place."""
WHOLE = 16
"""Questions with a view in the demo's report: enough to see what one is, and quickly made."""


def history_of_a_tour(folder: Path, swept: Outcome[Any], fault: str) -> None:
    """Keep what the demo made: the sweep, its traces scored, its citations audited."""
    from ragauge.dashboard.file_limits import Limits
    from ragauge.dashboard.report_file import report_file
    from ragauge.runners.recording import record
    from ragauge.store.files import write_whole
    from ragauge.store.history import open_history

    history = open_history(str(folder / HISTORY))
    try:
        _forget(history)
        for name, outcome in _measured(folder):
            record(outcome, history, name=name, labels=OURS, folder=folder)
        run = record(swept, history, name="sweep", labels={**OURS, "fault": fault}, folder=folder)
        text = report_file(history, run.id, limits=Limits(whole=WHOLE))
    finally:
        history.close()
    write_whole(folder / REPORT, text.encode())


def _forget(history: History) -> None:
    """Remove the runs of an earlier demo, and none that somebody else put there."""
    from ragauge.contracts.history import RunFilter

    if earlier := [run.id for run in history.runs(RunFilter(labels=OURS))]:
        history.remove(earlier)
        history.gc()


def _measured(folder: Path) -> Iterator[tuple[str, Outcome[Any]]]:
    """The traces of the demo, scored and audited, and those with broken citations."""
    from ragauge.runners.audit import audit
    from ragauge.runners.score import score

    gold, traces = folder / "gold.jsonl", folder / "traces.jsonl"
    sources: dict[str, Any] = {"manifest": folder / "manifest.json", "docs": folder / "documents"}
    yield "traces", score(gold, traces, preset="ship", keep_answers=True)
    yield "citations", audit(traces, gold=gold, **sources)
    yield "broken citations", audit(folder / "broken.jsonl", **sources)
