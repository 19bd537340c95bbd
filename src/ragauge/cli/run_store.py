"""What commands with a history share: where it is, and how they say what they did."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.settings import options_of, settings
from ragauge.errors import RagaugeError, UsageError

if TYPE_CHECKING:
    from ragauge.contracts.history import History, Run

store_option = options_of("store")


class _Text(click.types.StringParamType):
    """Text that a history can hold: a shell may pass bytes that are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail(f"{value!a} is not UTF-8 text", param, ctx)
        return super().convert(value, param, ctx)


TEXT = _Text()


def place_of(store: str | None) -> str:
    """The place of the history: as told, as configured, or the project's or user's own."""
    from pathlib import Path

    from ragauge.store.places import default_place

    return settings(store=store)["store"] or default_place(Path.cwd(), os.environ)


def told(store: str) -> str:
    """The place a user named, for others to see: without the password of a server."""
    from ragauge.reports.foreign import writable
    from ragauge.store.places import ServerPlace, located

    place = located(store)
    return writable(str(place) if isinstance(place, ServerPlace) else store)


@contextmanager
def history_at(store: str | None, *, create: bool = False) -> Iterator[History]:
    """The history a user means, for as long as the context lasts."""
    with opened(place_of(store), create=create) as history:
        yield history


@contextmanager
def opened(place: str, *, create: bool) -> Iterator[History]:
    """The history at a place, closed when the context ends; who only reads makes none."""
    from ragauge.store.history import open_history

    history = open_history(place, create=create)
    try:
        yield history
    except (RagaugeError, OSError, click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        # A damaged row can be anything; what is not a fault of the store is raised as it is.
        from ragauge.store.checking import damage

        if found := damage(history):
            raise UsageError(f"{told(place)}: {found}") from error
        raise
    finally:
        history.close()


def found(history: History, references: Iterable[str]) -> list[Run]:
    """The runs that a user names, each once; raises UsageError with every name that is none."""
    runs: dict[str, Run] = {}
    problems: list[str] = []
    for reference in references:
        try:
            run = history.find(reference)
            runs[run.id] = run
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return list(runs.values())


def say(record: Any, lines: Iterable[str], format: str | None) -> None:
    """Print what a command did: the record for a program, or lines for a person."""
    if format == "json":
        from ragauge.reports.json import render

        click.echo(render(record), nl=False)
        return
    from ragauge.reports.foreign import shown

    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        click.echo(indent + shown(line))


def screen() -> tuple[bool, int]:
    """Whether stdout has colour, and how wide it is."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    return color, shutil.get_terminal_size((100, 24)).columns


def named(run: Run) -> str:
    """A run in a few words: `4f2a91c03b7e (score "nightly" of 2026-11-15 21:45)`."""
    from ragauge.reports.runs.story import when

    record = run.record
    return f'{run.shown} ({record.command} "{record.name}" of {when(record.recorded_at)})'
