"""Options of every command that audits citations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ragauge.cli.settings import options_of

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--manifest", metavar="FILE", help="The live index: its hash, analyzer, revisions."
    ),
    click.option("--docs", metavar="DIR", help="The frozen documents that citations point into."),
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
    click.option("--calibration", metavar="FILE", help="Gate ΔS by what `calibrate deltas` wrote."),
    click.option(
        "--gates",
        metavar="RULES",
        multiple=True,
        help="In place of the command's own gates, or beside them.",
    ),
)
_LOGGING = (
    click.option("--log", metavar="FILE", help="Write a log line for each answer and segment."),
    click.option(
        "--to-db", metavar="URL", help="Write the log lines to the table rag_traces there."
    ),
    click.option("--run", "run_name", metavar="NAME", help="What that table is to call this run."),
)


def auditing_options(command: Command) -> Command:
    """The command with what it takes to audit: index, documents, units, ΔS, gates."""
    command = options_of("min_coverage")(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def logging_options(command: Command) -> Command:
    """The command with where its log lines go."""
    for option in reversed(_LOGGING):
        command = option(command)
    return command
