"""`ragauge demo`: the bundled reference pipeline, swept, scored and shown; or served."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta, Struct

from ragauge.cli.command import call_progress, group, screen
from ragauge.contracts.opt import Opt

if TYPE_CHECKING:
    from ragauge.contracts.history import History, Run
    from ragauge.demo.pipeline import Pipeline

WHOLE = 16
"""Questions with a page of their own in the demo's report: enough to see one, and quickly made."""


@group(
    invoke_without_command=True,
    short_help="Break the bundled RAG pipeline, find the cause, verify the fix.",
)
@click.option("--into", metavar="FOLDER", help="Keep gold, traces, runs, history and report there.")
@click.pass_context
def demo(ctx: click.Context, into: str | None) -> None:
    """Show Ragauge at work on a bundled RAG system: healthy, broken, diagnosed, fixed.

    The bundled pipeline is scored and swept. Then a fault is switched on, the diagnosis names its
    cause, and a comparison verifies the fix. The exit code is 0: the demo did its job.

    \b
    Example:
      ragauge demo --into demo
      ragauge demo serve
    """
    if ctx.invoked_subcommand:
        return
    if into is not None:
        Path(into).mkdir(parents=True, exist_ok=True)
        _show(Path(into), kept=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        _show(Path(folder), kept=False)


def _show(folder: Path, *, kept: bool) -> None:
    """Run the demo and print its story, and what to do next."""
    from ragauge.dashboard.file_limits import Limits
    from ragauge.dashboard.report_file import report_file
    from ragauge.demo.tour import tour

    def report(history: History, run: Run) -> str:
        return report_file(history, run.id, limits=Limits(whole=WHOLE))

    color, columns = screen()
    story = tour(
        folder,
        color=color,
        width=min(100, columns),
        watching=partial(call_progress, quiet=False),
        report=report if kept else None,
    )
    click.echo(story, nl=False, color=color)
    click.echo(_next(folder if kept else None))


def _next(folder: Path | None) -> str:
    """Where the files are, and commands that work as they are printed, on one line each."""
    ragauge = called()
    if folder is None:
        lines = ["No files were kept. Keep them, with a report to look at:"]
        commands = ["demo --into demo"]
        others = ["eval all --demo", "demo serve"]
        about = "Or try:"
    else:
        from ragauge.demo.tour import HISTORY, REPORT, SWEEPS

        at = shlex.quote(str(folder))
        where = "this folder" if folder == Path() else folder
        lines = [f"The files are in {where}. Open {folder / REPORT} in a browser, or run:"]
        commands = [f"serve --store {at}/{HISTORY}"]
        others = [
            f"score {at}/gold.jsonl {at}/traces.jsonl --preset ship",
            f"stability {at}/gold.jsonl {at}/{SWEEPS['faulty']}",
            f"diagnose {at}/{SWEEPS['faulty']} --gold {at}/gold.jsonl",
            f"compare faulty fixed --store {at}/{HISTORY}",
            f"audit {at}/broken.jsonl --docs {at}/documents",
            "demo serve",
        ]
        about = "Then look closer:"
    return "\n".join(
        [
            "",
            *lines,
            *(f"  {ragauge} {command}" for command in commands),
            about,
            *(f"  {ragauge} {command}" for command in others),
        ]
    )


def called() -> str:
    """How to call this `ragauge` from here: by its name where the path finds it."""
    typed = Path(sys.argv[0])
    here = typed if typed.name == "ragauge" else Path(sys.executable).with_name("ragauge")
    found = shutil.which("ragauge")
    if not here.is_file() or (found and Path(found).samefile(here)):
        return "ragauge"
    inside = here.is_absolute() and here.is_relative_to(Path.cwd())
    return shlex.quote(str(here.relative_to(Path.cwd()) if inside else here))


class Serving(Struct, frozen=True, kw_only=True):
    """Where the pipeline listens, and what it is."""

    host: Annotated[str, Opt("Where to listen.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535), Opt("0 takes a free one.")] = 8136
    knobs: Annotated[
        str | None, Opt('Such as \'{"top_k": 3, "rerank": false}\'.', metavar="JSON")
    ] = None
    faults: Annotated[
        tuple[str, ...], Opt("Such as wrong_citations=0.3; repeatable.", flag="--fault")
    ] = ()
    documents: Annotated[
        str | None, Opt("Markdown documents in place of the bundled.", metavar="FOLDER")
    ] = None
    smoke: Annotated[
        str | None, Opt("Questions that must pass before it is ready.", metavar="GOLD")
    ] = None
    chat: Annotated[
        str | None, Opt("Answer through a chat endpoint, OpenAI's manner.", metavar="URL")
    ] = None
    model: Annotated[str, Opt("The model to ask there.", shown="")] = "default"


@demo.verb(short="Serve the reference pipeline over HTTP.")
def serve(options: Serving) -> None:
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

    smoke = Path(options.smoke or SMOKE)
    if not smoke.is_file():
        raise click.UsageError(f"--smoke: {smoke} is no file")
    run(Service(partial(_pipeline, options), smoke), options.host, options.port)


def _pipeline(options: Serving) -> Pipeline:
    """The pipeline with these options; made by the service as its first phase."""
    from ragauge.demo import DOCUMENTS
    from ragauge.demo.knobs import Knobs, turned
    from ragauge.demo.pipeline import Pipeline
    from ragauge.ingest.options import read_knobs

    own = read_knobs(options.knobs) if options.knobs is not None else {}
    knobs = turned(Knobs(faults=options.faults), own)
    documents = Path(options.documents) if options.documents else DOCUMENTS
    chat = None
    if options.chat is not None:
        from ragauge.demo.chat import ChatGenerator

        key = os.environ.get("RAGAUGE_CHAT_KEY")
        headers = {"Authorization": f"Bearer {key}"} if key else None
        chat = ChatGenerator(options.chat, options.model, headers)
    return Pipeline.of(documents, knobs, chat)
