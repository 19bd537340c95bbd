"""`ragauge demo`: the bundled reference pipeline, swept, scored and shown; or served."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ragauge.contracts.score import Outcome
    from ragauge.contracts.stability import StabilityReport
    from ragauge.demo.pipeline import Pipeline

FAULT = "unstable_retrieval=0.15"
"""Switched on for the sweep, so that there is something to find."""
GRID = {"seeds": (0, 1, 2), "jitters": ("none", "ws", "syn")}
PORT = 8136


@click.group(
    invoke_without_command=True,
    short_help="Sweep the bundled reference pipeline, score it and explain the result.",
)
@click.option("--into", metavar="FOLDER", help="Keep gold, traces, runs, history and report there.")
@click.pass_context
def demo(ctx: click.Context, into: str | None) -> None:
    """Sweep the bundled reference pipeline over the heritage set, with a fault switched on.

    It shows a question that is stable and one that the fault makes flaky. The exit code is 0: the
    demo did its job.

    \b
    Example:
      ragauge demo --into demo
      ragauge demo serve
    """
    if ctx.invoked_subcommand:
        return
    if into is not None:
        Path(into).mkdir(parents=True, exist_ok=True)
        _tour(Path(into), kept=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        _tour(Path(folder), kept=False)


def _tour(folder: Path, *, kept: bool) -> None:
    from ragauge.cli.demo_citations import citations_of_a_tour
    from ragauge.cli.demo_history import history_of_a_tour

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 24)).columns
    pipeline = _built(click.echo)
    swept = _swept(pipeline, folder, click.echo)
    click.echo(_excerpt(swept.report, color=color, width=width), nl=False, color=color)
    gold = folder / "gold.jsonl"
    shown = citations_of_a_tour(pipeline, gold, folder, color=color, width=width)
    click.echo(shown, nl=False, color=color)
    if kept:
        history_of_a_tour(folder, swept, FAULT)
    click.echo(_next_steps(folder if kept else Path("demo"), kept=kept))


def excerpt_of_a_tour(folder: Path, *, color: bool, width: int) -> str:
    """What the demo shows of its sweep, without saying how long it took."""
    quiet: Callable[[str], None] = lambda remark: None  # noqa: E731
    return _excerpt(_swept(_built(quiet), folder, quiet).report, color=color, width=width)


def _swept(
    pipeline: Pipeline, folder: Path, say: Callable[[str], None]
) -> Outcome[StabilityReport]:
    """What the pipeline came to, swept and scored, all files in the folder."""
    from ragauge.demo import GOLD
    from ragauge.runners.stability import stability

    gold, runs = folder / "gold.jsonl", folder / "runs.jsonl"
    shutil.copyfile(GOLD, gold)
    write_traces(pipeline, gold, folder / "traces.jsonl")
    _sweep(pipeline, gold, runs, say)
    return stability(gold, runs)


def _built(say: Callable[[str], None]) -> Pipeline:
    from ragauge.demo.pipeline import Pipeline

    started = perf_counter()
    pipeline = Pipeline.of()
    manifest = pipeline.index.manifest
    say(
        f"Index: {len(manifest.doc_revs)} documents, {manifest.chunks} chunks, "
        f"hash {manifest.hash[:12]}, built in {perf_counter() - started:.1f} s"
    )
    return pipeline


def write_traces(pipeline: Pipeline, gold: Path, traces: Path) -> None:
    """One answer to each question, all faults off: what `ragauge score` is tried on."""
    from ragauge.contracts.system import Ask
    from ragauge.ingest.gold import read_gold
    from ragauge.store.files import write_whole

    lines = []
    for question in read_gold(str(gold)):
        knobs = {"constraints": list(question.constraints)} if question.constraints else {}
        reply = pipeline.answer(Ask(q=question.question, knobs=knobs))
        lines.append(json.dumps({"qid": question.qid, "q": question.question, **reply}))
    write_whole(traces, "".join(f"{line}\n" for line in lines).encode())


def _sweep(pipeline: Pipeline, gold: Path, runs: Path, say: Callable[[str], None]) -> None:
    from ragauge.cli.sweep import progress
    from ragauge.contracts.run import Grid
    from ragauge.runners.plans import plan_path
    from ragauge.runners.sweep import sweep

    for old in (runs, plan_path(runs)):
        old.unlink(missing_ok=True)  # the demo's own, of another time
    started = perf_counter()
    with progress(quiet=False) as watch:
        swept = sweep(
            gold,
            pipeline,
            runs,
            watch,
            grid=Grid(**GRID),  # type: ignore[arg-type]
            knobs={"faults": [FAULT]},
        )
    if swept.ended == "interrupted":
        raise click.Abort
    say(
        f"Sweep: {swept.coverage.questions} questions, {swept.coverage.done:,} runs in "
        f"{perf_counter() - started:.1f} s, with the fault {FAULT} switched on\n"
    )


def _excerpt(report: StabilityReport, *, color: bool, width: int) -> str:
    from ragauge.reports.stability.console import excerpt

    chosen = [qid for qid in (_a_stable_one(report), _a_flake(report)) if qid]
    return excerpt(report, chosen, color=color, width=width)


def _a_stable_one(report: StabilityReport) -> str | None:
    """The first of the stable questions that were asked in most ways."""
    runs = {
        qid: one.runs
        for qid, one in report.details.items()
        if one.verdict == "stable_pass" and one.answerable
    }
    return max(runs, key=lambda qid: runs[qid], default=None)


def _a_flake(report: StabilityReport) -> str | None:
    """The question whose outcome goes most with the seed: that is what the fault depends on."""
    seeds = {
        qid: one.explained_by.rate
        for qid, one in report.details.items()
        if one.verdict == "flaky" and one.explained_by and one.explained_by.factor == "seed"
    }
    return max(seeds, key=lambda qid: (seeds[qid], qid), default=None)


def _next_steps(folder: Path, *, kept: bool) -> str:
    steps = {
        f"ragauge score {folder}/gold.jsonl {folder}/traces.jsonl --preset ship": (
            "the same pipeline, faults off, one answer a question"
        ),
        f"ragauge stability {folder}/gold.jsonl {folder}/runs.jsonl": "the whole report",
        f"ragauge diagnose {folder}/runs.jsonl --gold {folder}/gold.jsonl": (
            "why it is so, and what to change: causes by evidence"
        ),
        f"ragauge audit {folder}/broken.jsonl --manifest {folder}/manifest.json "
        f"--docs {folder}/documents": "what is wrong with each citation, and the next step",
        f"ragauge runs list --store {folder}/history": (
            "what is kept in a history; `ragauge score … --record` adds to one"
        ),
        f"ragauge eval qa {folder}/gold.jsonl {folder}/traces.jsonl": (
            "each answer sentence by sentence, beside what supports it"
        ),
        "ragauge eval all --demo": "entities, types, links, rankings, answers of a bundled model",
        "ragauge demo serve": "the pipeline as an endpoint, to sweep with --http",
    }
    return "\n".join(
        [
            "",
            "Try, after `. .venv/bin/activate` if `ragauge` is not on your path:",
            *(f"  {command}\n      {about}" for command, about in steps.items()),
            "",
            *_what_to_look_at(folder, kept=kept),
        ]
    )


def _what_to_look_at(folder: Path, *, kept: bool) -> list[str]:
    if not kept:
        return [f"`ragauge demo --into {folder}` keeps the files, and makes a page to look at."]
    return [
        "Look at it in a browser:",
        f"  {folder}/report.html",
        "      the sweep as one file to share: every question, what flips it, and what to change",
        f"  ragauge serve --store {folder}/history",
        "      the dashboard of all that the demo measured; Ctrl-C ends it",
    ]


@demo.command(short_help="Serve the reference pipeline over HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="0 takes a free one.",
)
@click.option("--knobs", metavar="JSON", help='Such as \'{"top_k": 3, "rerank": false}\'.')
@click.option("--fault", "faults", multiple=True, help="Such as wrong_citations=0.3; repeatable.")
@click.option("--documents", metavar="FOLDER", help="Markdown documents in place of the bundled.")
@click.option("--smoke", metavar="GOLD", help="Questions that must pass before it is ready.")
@click.option("--chat", metavar="URL", help="Answer through a chat endpoint, OpenAI's manner.")
@click.option("--model", default="default", help="The model to ask there.")
def serve(host: str, port: int, **given: Any) -> None:
    """Serve `POST /qa`, `/livez` and `/readyz` until interrupted.

    `/readyz` is 503 until configuration, manifest, index, model and the smoke questions are
    green. A key for --chat is read from RAGAUGE_CHAT_KEY.

    \b
    Example:
      ragauge demo serve --port 8136 --fault unstable_retrieval=0.2
      ragauge sweep gold.jsonl --http http://127.0.0.1:8136/qa --out runs.jsonl
    """
    from ragauge.demo import SMOKE
    from ragauge.demo.serve import Service, run

    smoke = Path(given["smoke"] or SMOKE)
    if not smoke.is_file():
        raise click.UsageError(f"--smoke: {smoke} is no file")
    run(Service(_builder(given), smoke), host, port)


def _builder(given: dict[str, Any]) -> Callable[[], Pipeline]:
    """Makes the pipeline with these options; called by the service as its first phase."""

    def build() -> Pipeline:
        from ragauge.demo import DOCUMENTS
        from ragauge.demo.knobs import Knobs, turned
        from ragauge.demo.pipeline import Pipeline
        from ragauge.ingest.knobs import read_knobs

        own = read_knobs(given["knobs"]) if given["knobs"] is not None else {}
        knobs = turned(Knobs(faults=given["faults"]), own)
        documents = Path(given["documents"]) if given["documents"] else DOCUMENTS
        return Pipeline.of(documents, knobs, _chat(given["chat"], given["model"]))

    return build


def _chat(url: str | None, model: str) -> Any:
    if url is None:
        return None
    from ragauge.demo.chat import ChatGenerator

    key = os.environ.get("RAGAUGE_CHAT_KEY")
    return ChatGenerator(url, model, {"Authorization": f"Bearer {key}"} if key else None)
