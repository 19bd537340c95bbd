"""A history of two small runs, made in a moment."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from ragauge import open_history, record, score
from tests.conftest import ANSWERS, GOLD


def small_history(folder: Path) -> str:
    """The place of a history with two runs of four questions each."""
    return small_history_at(str(folder / "store"), folder)


def small_history_at(place: str, folder: Path) -> str:
    """The same at a place of its own, such as a server."""
    gold, traces = folder / "gold.json", folder / "traces.jsonl"
    gold.write_text(json.dumps(GOLD))
    lines = [{"ts": 1, "q": g["q"], "answer": a} for g, a in zip(GOLD, ANSWERS, strict=True)]
    traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = score(gold, traces, keep_answers=True)
    with closing(open_history(place)) as history:
        for model in ("small", "large"):
            record(outcome, history, name="nightly", labels={"model": model})
    return place
