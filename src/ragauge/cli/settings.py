"""Options of the command line: those that know the configuration, and those commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ragauge.ingest.configuration import Value

Command = TypeVar("Command", bound=Callable[..., Any])


def options(*declared: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """These options, in this order, as one decorator."""

    def decorated(command: Command) -> Command:
        for option in reversed(declared):
            command = option(command)
        return command

    return decorated


def options_of(*names: str) -> Callable[[Command], Command]:
    """An option for each of these settings, with its choices and its help."""
    from ragauge.ingest.configuration import SETTINGS, flag_of

    declared = []
    for name in names:
        setting, flag = SETTINGS[name], flag_of(name)
        kind = click.Choice(setting.choices) if setting.choices else None
        switch, many = setting.kind == "switch", setting.kind == "texts"
        default = setting.default
        shown = ",".join(default) if isinstance(default, tuple) else default
        shown = "on" if shown is True else shown
        help = setting.help if default in (None, (), False) else f"{setting.help}  [{shown}]"
        # What a file switches on, a flag can switch off.
        spelled = f"{flag}/--no-{flag[2:]}" if switch else flag
        declared.append(
            click.option(spelled, type=kind, is_flag=switch, default=None, multiple=many, help=help)
        )
    return options(*declared)


def formats(*names: str) -> Callable[[Command], Command]:
    """The `--format` option."""
    return click.option("--format", "format", type=click.Choice(names), help="What stdout gets.")


def report_option(help: str) -> Callable[[Command], Command]:
    """The `--report` option."""
    return click.option("--report", "reports", metavar="FILE", multiple=True, help=help)


def gates_option(help: str) -> Callable[[Command], Command]:
    """The `--gates` option of a command whose gates are no setting."""
    return click.option("--gates", metavar="RULES", multiple=True, help=help)


def input_format(*names: str) -> Callable[[Command], Command]:
    """The `--input-format` option."""
    return click.option(
        "--input-format", type=click.Choice(names), help="Force it  [seen from the content]"
    )


kind_option = click.option(
    "--kind",
    type=click.Choice(["qa", "summary", "data_to_text"]),
    help="What every answer is  [the row's, or seen from it]",
)
documents_options = options(
    click.option("--docs", metavar="DIR", help="The documents that citations point into."),
    click.option("--manifest", metavar="FILE", help="With --docs: the index, for the revisions."),
)


def system_options(sent: str) -> Callable[[Command], Command]:
    """Which system is asked, and the journal of what it answers."""
    return options(
        click.option("--http", metavar="URL", help=f"Ask an endpoint: POST {{{sent}, …}}."),
        click.option("--call", metavar="MODULE:FUNCTION", help="Ask a Python function."),
        click.option(
            "--command", metavar="CMD", help="Ask a command: JSON on stdin, JSON on stdout."
        ),
        click.option("--replay", metavar="TRACES", help="Answer from recorded traces."),
        click.option("--demo", is_flag=True, help="Ask the bundled reference pipeline."),
        click.option(
            "--out",
            metavar="RUNS.jsonl",
            required=True,
            help="The journal; started anew or resumed.",
        ),
    )


def auditing_options(command: Command) -> Command:
    """What it takes to audit citations: index, documents, units, ΔS, gates."""
    return options(
        click.option(
            "--manifest", metavar="FILE", help="The live index: its hash, analyzer, revisions."
        ),
        click.option(
            "--docs", metavar="DIR", help="The frozen documents that citations point into."
        ),
        click.option(
            "--allow-cross-section",
            metavar="PAIRS",
            help="Sections one segment may cite together: a+b,c+d, a file, or all.",
        ),
        click.option(
            "--offsets-in",
            type=click.Choice(["code-points", "utf-16", "bytes"]),
            default="code-points",
            help="What character offsets count  [code-points]",
        ),
        click.option(
            "--tokenizer", metavar="NAME", help="For offsets in tokens: whitespace, words, FILE."
        ),
        click.option(
            "--embedder", metavar="NAME", help="Measure ΔS with it: ngram, minilm, minilm:/path."
        ),
        click.option(
            "--calibration", metavar="FILE", help="Gate ΔS by what `calibrate deltas` wrote."
        ),
        gates_option("In place of the command's own gates, or beside them."),
        options_of("min_coverage"),
    )(command)


logging_options = options(
    click.option("--log", metavar="FILE", help="Write a log line for each answer and segment."),
    click.option(
        "--to-db", metavar="URL", help="Write the log lines to the table rag_traces there."
    ),
    click.option("--run", "run_name", metavar="NAME", help="What that table is to call this run."),
)
"""Where the log lines of an audit go."""


def origins(command: str, /, **flags: Any) -> dict[str, str]:
    """Where the value of each of a command's own settings comes from."""
    own = f"{command}."
    return {
        name.removeprefix(own): value.origin
        for name, value in with_origins(**_named(command, flags)).items()
        if name.startswith(own)
    }


def settings(command: str | None = None, /, **flags: Any) -> dict[str, Any]:
    """The value of every setting that is nobody's or this command's, with these flags on top."""
    own = f"{command}."
    values = {name: v.value for name, v in with_origins(**_named(command, flags)).items()}
    mine = {name.removeprefix(own): v for name, v in values.items() if name.startswith(own)}
    return {name: value for name, value in values.items() if "." not in name} | mine


def _named(command: str | None, flags: dict[str, Any]) -> dict[str, Any]:
    """The flags by the names of their settings, a command's own before everybody's.

    An option that can be repeated and was not given is an empty tuple: it is no flag.
    """
    from ragauge.ingest.configuration import SETTINGS

    own = f"{command}."
    return {
        own + name if own + name in SETTINGS else name: None if value == () else value
        for name, value in flags.items()
    }


def with_origins(**flags: Any) -> dict[str, Value]:
    from ragauge.ingest.configuration import configured

    return configured(flags, os.environ, Path.cwd())
