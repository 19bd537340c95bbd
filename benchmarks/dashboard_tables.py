"""What the benchmark of the dashboard says: figures in tables, with what they are and are not."""

from __future__ import annotations

import statistics
from typing import NamedTuple

from benchmarks.dashboard_peer import Peer
from benchmarks.dashboard_tour import ADDRESSES
from benchmarks.http_visits import Memory, Visits
from benchmarks.large_history import ONE_AUDITED_IN
from benchmarks.large_sweep import JUDGED_EACH
from benchmarks.results import table

LIMIT_MS = 200
"""What a page may take."""


class Comparing(NamedTuple):
    """Comparisons that were asked for first: the page that is there at once, and the work."""

    asked_ms: list[float]
    made_s: list[float | None]
    """None where it was made while the first page waited."""


class Found(NamedTuple):
    """What the tour found."""

    first_ms: float
    """The very first page of a server that has just started."""
    views: dict[str, Visits]
    comparing: Comparing
    before: Memory
    after: Memory
    meanwhile: Visits
    """Pages of questions while a run was recorded."""
    recorded_s: float


class Sizes(NamedTuple):
    """Bytes: of the packages with all they need, of a file with every row, of the history."""

    ragauge: int
    mlflow: int
    plain_file: int
    history: int


def parts(questions: int, runs: int, found: Found, peer: Peer, sizes: Sizes) -> list[str]:
    """The section, part by part."""
    return [
        _about(questions, runs, sizes),
        _view_table(found),
        _comparing(found),
        _meanwhile(questions, found),
        _beside(runs, peer),
        _peer_table(found, peer),
        _memory_table(found, peer),
        _size_table(questions, found, peer, sizes),
    ]


def _about(questions: int, runs: int, sizes: Sizes) -> str:
    return (
        f"A history of {runs:,} recorded runs of {questions:,} questions each, a sweep of "
        f"{questions:,} questions × 20 runs with its answers (one question in {JUDGED_EACH} "
        "judged, the others like it), and an audit of "
        f"{questions // ONE_AUDITED_IN:,} answers with the documents they cite: "
        f"{sizes.history / 1e9:.1f} GB in SQLite and files. `ragauge serve` is asked over one HTTP "
        f"connection for {ADDRESSES} addresses of each view, one after another; the first of them "
        "stands apart, the median and the worst are of the others. A time ends with the last byte "
        "of the page, which is the whole page, made on the server, uncompressed; scripts and "
        f"styles are cached by a browser and not counted. The limit for a page is {LIMIT_MS} ms."
    )


def _view_table(found: Found) -> str:
    rows = [
        ["runs, a server just started", "", f"{found.first_ms:.0f}", "", "", LIMIT_MS],
        *[
            [name, _kb(one), f"{one.first_ms:.0f}", *_spread(one), LIMIT_MS]
            for name, one in found.views.items()
        ],
    ]
    return table(["page", "KB", "first ms", "median ms", "worst ms", "limit ms"], rows)


def _comparing(found: Found) -> str:
    asked, made = found.comparing
    waited = [one for one in made if one is not None]
    told = (
        f"was there after {statistics.median(waited):.1f} s at the median and "
        f"{max(waited):.1f} s at the worst of {len(waited)}"
        if waited
        else "was there at once"
    )
    return (
        "A comparison that nobody has asked for is made in the background: the page that says so "
        f"took {statistics.median(asked):.0f} ms at the median, {max(asked):.0f} ms at the worst "
        f"(limit {LIMIT_MS} ms), and the comparison {told}."
    )


def _meanwhile(questions: int, found: Found) -> str:
    one = found.meanwhile
    return (
        f"While another process measured and recorded a run of {questions:,} questions "
        f"({found.recorded_s:.1f} s), {len(one.ms) + 1:,} pages of questions took "
        f"{one.median_ms:.0f} ms at the median and {max(one.first_ms, one.worst_ms):.0f} ms at "
        f"the worst (limit {LIMIT_MS} ms)."
    )


def _beside(runs: int, peer: Peer) -> str:
    return (
        f"Beside MLflow {peer.version}, in the same run: the same {runs:,} runs with their "
        "metrics and labels, and for each the table of its questions by `mlflow.log_table`, in "
        "`mlflow server` with SQLite, one worker and no job runners. What is compared is not the "
        "same work. MLflow's pages are drawn in the browser from these answers, and drawing them "
        "is not in its times, nor is its interface, which the browser loads once; Ragauge's "
        "answer is the page. For a table MLflow sends the whole file, from which the browser takes "
        "what it shows and can then filter without asking again; Ragauge sends the page that was "
        "asked for. The metric of MLflow is one run's; Ragauge's page has it over all runs, with "
        "intervals and change points. Over 1, Ragauge is faster or sends less."
    )


def _peer_table(found: Found, peer: Peer) -> str:
    pairs = {
        "list of runs": ("runs", peer.runs),
        "numbers of a run": ("run, overview", peer.run),
        "questions of a run, first page": ("questions, first page", peer.questions),
        "questions of a run, deep page by a metric": (
            "questions by a metric, deep page",
            peer.questions,
        ),
        "a metric's history": ("history of a metric", peer.metric),
    }
    rows = [_peer_row(name, found.views[ours], theirs) for name, (ours, theirs) in pairs.items()]
    head = ["view", "ragauge ms", "MLflow ms", "times as fast", "ragauge KB", "MLflow KB"]
    return table([*head, "times fewer bytes", "limit ms"], rows)


def _peer_row(name: str, ours: Visits, theirs: Visits) -> list[object]:
    return [
        name,
        f"{ours.median_ms:.0f}",
        f"{theirs.median_ms:.0f}",
        f"{theirs.median_ms / ours.median_ms:.2f}",
        _kb(ours),
        _kb(theirs),
        f"{theirs.median_bytes / ours.median_bytes:.2f}",
        LIMIT_MS,
    ]


def _memory_table(found: Found, peer: Peer) -> str:
    rows = [
        ["ragauge serve", *_memory(found.before, found.after)],
        ["mlflow server", *_memory(peer.before, peer.after)],
    ]
    return table(["server", "at the start MiB", "after its views MiB", "peak MiB"], rows) + (
        "\n\nMemory is the proportional share of all processes of a server; the peak is the sum of "
        "what each of them ever held, shared pages counted in each. Ragauge's views are all of the "
        "first table, MLflow's the four requests above."
    )


def _memory(before: Memory, after: Memory) -> list[str]:
    return [f"{before.pss:.0f}", f"{after.pss:.0f}", f"{after.peak:.0f}"]


def _size_table(questions: int, found: Found, peer: Peer, sizes: Sizes) -> str:
    shown = found.views["questions, first page"].median_bytes
    whole = {
        f"one HTML file with {questions:,} rows": sizes.plain_file,
        "MLflow's table of the same": peer.questions.median_bytes,
        "installed: mlflow and all it needs": sizes.mlflow,
        "installed: ragauge and all it needs": sizes.ragauge,
    }
    rows = [
        ["a page of questions, ragauge", f"{shown / 1e6:.2f}"],
        *[[name, f"{size / 1e6:.1f}"] for name, size in whole.items()],
    ]
    return table(["size", "MB"], rows)


def _spread(one: Visits) -> list[str]:
    return [f"{one.median_ms:.0f}", f"{one.worst_ms:.0f}"]


def _kb(one: Visits) -> str:
    return f"{one.median_bytes / 1e3:,.0f}"
