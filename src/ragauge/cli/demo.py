"""`ragauge demo`: the bundled reference pipeline, swept, scored and shown; or served."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import group

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


@demo.command(short_help="Serve the reference pipeline over HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8136,
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
        from ragauge.ingest.options import read_knobs

        own = read_knobs(given["knobs"]) if given["knobs"] is not None else {}
        knobs = turned(Knobs(faults=given["faults"]), own)
        documents = Path(given["documents"]) if given["documents"] else DOCUMENTS
        chat = None
        if given["chat"] is not None:
            from ragauge.demo.chat import ChatGenerator

            key = os.environ.get("RAGAUGE_CHAT_KEY")
            headers = {"Authorization": f"Bearer {key}"} if key else None
            chat = ChatGenerator(given["chat"], given["model"], headers)
        return Pipeline.of(documents, knobs, chat)

    return build
