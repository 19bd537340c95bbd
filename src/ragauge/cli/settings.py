"""Settings on the command line: options that know the configuration."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ragauge.ingest.configuration import Value

Command = TypeVar("Command", bound=Callable[..., Any])


def formats(*names: str) -> Callable[[Command], Command]:
    """The `--format` option."""
    return click.option("--format", "format", type=click.Choice(names), help="What stdout gets.")


def options_of(*names: str) -> Callable[[Command], Command]:
    """An option for each of these settings, with its choices and its help."""
    from ragauge.ingest.configuration import SETTINGS, flag_of

    def decorated(command: Command) -> Command:
        for name in reversed(names):
            setting = SETTINGS[name]
            flag = flag_of(name)
            kind = click.Choice(setting.choices) if setting.choices else None
            switch, many = setting.kind == "switch", setting.kind == "texts"
            command = click.option(
                flag, type=kind, is_flag=switch, default=None, multiple=many, help=setting.help
            )(command)
        return command

    return decorated


def settings(command: str | None = None, /, **flags: Any) -> dict[str, Any]:
    """The value of every setting that is nobody's or this command's, with these flags on top."""
    from ragauge.ingest.configuration import SETTINGS

    own = f"{command}."
    named = {own + name if own + name in SETTINGS else name: v for name, v in flags.items()}
    values = {name: value.value for name, value in with_origins(**named).items()}
    mine = {name.removeprefix(own): v for name, v in values.items() if name.startswith(own)}
    return {name: value for name, value in values.items() if "." not in name} | mine


def with_origins(**flags: Any) -> dict[str, Value]:
    from ragauge.ingest.configuration import configured

    return configured(flags, os.environ, Path.cwd())


def remark(text: str, quiet: bool) -> None:
    """Talk, for a person, on stderr."""
    if not quiet:
        click.echo(text, err=True)
