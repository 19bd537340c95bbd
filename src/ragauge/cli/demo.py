"""`ragauge demo`: the bundled reference pipeline, swept, scored and shown; or served."""

from __future__ import annotations

import json
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta, Struct

from ragauge.cli.command import group
from ragauge.contracts.opt import Opt

if TYPE_CHECKING:
    from ragauge.demo.pipeline import Pipeline


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
    from ragauge.cli.demo_tour import tour

    if into is not None:
        Path(into).mkdir(parents=True, exist_ok=True)
        tour(Path(into), kept=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        tour(Path(folder), kept=False)


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
