"""The `ragauge` command: verbs are imported when they are called, so that help is quick."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from ragauge import __version__
from ragauge.cli.command import BROKEN_PIPE, INTERRUPTED, NOT_MEASURED, USAGE, group
from ragauge.errors import RagaugeError

VERBS = {
    "audit": "Check every citation: retrieved, whole, and standing where it says.",
    "calibrate": "Fit thresholds on your gold set, before a gate may use them.",
    "compare": "Compare two recorded runs: better, worse, or cannot tell.",
    "completion": "Print the completion script of a shell.",
    "config": "Show every setting, its value and where it comes from.",
    "consistency": "Compare two judges' labels for the same questions.",
    "demo": "Sweep the bundled reference pipeline, score it and explain the result.",
    "diagnose": "Find out why scores are low, and what to change.",
    "eval": "Evaluate a component: entities, types, links, retrieval, answers.",
    "gold": "Check a gold set, or compare two versions of one.",
    "history": "Show a metric over the recorded runs, with change points.",
    "import": "Turn the files of other tools into traces.",
    "init": "Write a starting ragauge.toml for your case.",
    "inspect": "Show what a file holds, and what can be computed from it.",
    "latency": "Load an endpoint at given rates: latency against accuracy, by configuration.",
    "metrics": "List the metrics, or explain one.",
    "prompt": "Print the prompt contract: cite first, in a form that can be audited.",
    "report": "Write a recorded run as one HTML file that opens anywhere.",
    "run": "Run the tasks of ragauge.toml, record them, and give one verdict.",
    "runs": "List, show, tag, move and check recorded runs.",
    "schema": "Print the JSON Schema of a record.",
    "score": "Score traces against a gold set, with gates.",
    "serve": "Show the recorded runs in a web browser.",
    "stability": "Score the runs of a sweep: what changes that should not.",
    "sweep": "Ask a system each question many times, under what should not matter.",
    "trace-eval": "Ask each question in three wordings and two seeds; audit the citations.",
}
"""Each verb is a module of this package, and in it the command of the same name."""


@group(verbs=VERBS)
@click.version_option(__version__, "--version", message="ragauge %(version)s")
def cli() -> None:
    """Ragauge measures retrieval-augmented generation: right answers, citations and refusals.

    Exit codes: 0 passed, 1 a gate failed or could not be evaluated, 2 usage or configuration,
    3 input rejected or nothing scored, 130 interrupted.

    \b
    Example:
      ragauge score gold.jsonl traces.jsonl --preset ship
    """


def main() -> None:
    """Run the command line; errors end in words and an exit code, never in a traceback."""
    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except RagaugeError as error:
        from ragauge.text.visible import visible

        for line in str(error).splitlines():
            click.echo(f"ragauge: {visible(line)}", err=True)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("ragauge: interrupted; nothing was written", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader went away, as in `ragauge … | head`: end quietly, and let no flush complain.
        _drop_output()
        sys.exit(BROKEN_PIPE)
    except OSError as error:
        place = error.filename or "output"
        fact = error.strerror or str(error)
        if isinstance(error, FileNotFoundError) and not _has_working_folder():
            place, fact = "the working folder", "was deleted; change to a folder that exists"
        click.echo(f"ragauge: {place}: {fact}", err=True)
        _drop_output()
        sys.exit(USAGE)
    except Exception:
        # Python would end with 1, which is the word for a gate that failed.
        import traceback

        traceback.print_exc()
        click.echo("ragauge: this is a fault in Ragauge; please report the lines above", err=True)
        sys.exit(NOT_MEASURED)


def _has_working_folder() -> bool:
    try:
        return Path.cwd().is_dir()
    except FileNotFoundError:
        return False


def _drop_output() -> None:
    """Forget what stdout still holds, so that closing it raises nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
