"""`ragauge demo`: the main job on the bundled set."""

from __future__ import annotations

import click


@click.command(short_help="Score the bundled heritage set and explain the result.")
@click.option(
    "--into", metavar="FOLDER", help="Copy gold.jsonl and traces.jsonl there to play with."
)
def demo(into: str | None) -> None:
    """Score the traces of an imperfect system over the bundled heritage set, gates and all.

    One gate fails, and the report says why. The exit code is 0: the demo did its job.

    \b
    Example:
      ragauge demo --into demo
    """
    from ragauge.cli.score import show
    from ragauge.demo import GOLD, TRACES
    from ragauge.runners.score import score

    outcome = score(GOLD, [TRACES], preset="ship")
    show(outcome.report, "text")
    click.echo(_next_steps(len(outcome.report.questions)))
    if into:
        _copy(into)


def _next_steps(questions: int) -> str:
    from ragauge.demo import DOCUMENTS

    documents = len(list(DOCUMENTS.glob("*.md")))
    return "\n".join(
        [
            "",
            f"That was `ragauge score`: {questions} questions over {documents} bundled documents.",
            "Look at: the failing gate, the first advice, and the questions that show it.",
            "Then try, after `. .venv/bin/activate` if `ragauge` is not on your path:",
            "  ragauge demo --into demo         the files, to change and score again:",
            "  ragauge score demo/gold.jsonl demo/traces.jsonl --preset ship",
            "  ragauge metrics over_refusal     what the failing number means",
        ]
    )


def _copy(into: str) -> None:
    from pathlib import Path

    from ragauge.demo import GOLD, TRACES
    from ragauge.store.files import write_whole

    folder = Path(into)
    folder.mkdir(parents=True, exist_ok=True)
    for file in (GOLD, TRACES):
        write_whole(folder / file.name, file.read_bytes())
    click.echo(f"wrote {folder / GOLD.name} and {folder / TRACES.name}", err=True)
