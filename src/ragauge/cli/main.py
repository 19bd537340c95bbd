"""The `ragauge` command: verbs are imported when they are called, so that help is quick."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import click

from ragauge import __version__
from ragauge.cli.command import BROKEN_PIPE, INTERRUPTED, NOT_MEASURED, USAGE
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
    "init": "Write a starting ragauge.toml for your case.",
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


class Lazy(click.Group):
    """A group that knows its commands' one-line help without importing them."""

    table: ClassVar[dict[str, str]]

    def place(self, name: str) -> tuple[str, str]:
        """The module of this package that has a command, and the command's name in it."""
        raise NotImplementedError

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.table:
            return None
        module, function = self.place(name)
        command: click.Command = getattr(import_module(f"ragauge.cli.{module}"), function)
        command.short_help = command.short_help or self.table[name]  # for completion
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))


class Verbs(Lazy):
    table = VERBS

    def place(self, name: str) -> tuple[str, str]:
        return name.replace("-", "_"), name.replace("-", "_")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f'did you mean "{near[0]}"?' if near else "`ragauge -h` lists them"
            raise click.UsageError(f'there is no command "{args[0]}"; {hint}', ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
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
