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


def choice_of(name: str) -> click.Choice[str]:
    """What a setting can be, for an option of the same name."""
    from ragauge.ingest.configuration import SETTINGS

    return click.Choice(SETTINGS[name].choices)


quiet_option = click.option("--quiet", is_flag=True, default=None, help="No remarks on stderr.")


def settings(**flags: Any) -> dict[str, Any]:
    """The value of every setting, with these flags on top."""
    return {name: value.value for name, value in with_origins(**flags).items()}


def with_origins(**flags: Any) -> dict[str, Value]:
    from ragauge.ingest.configuration import configured

    return configured(flags, os.environ, Path.cwd())


def remark(text: str, quiet: bool) -> None:
    """Talk, for a person, on stderr."""
    if not quiet:
        click.echo(text, err=True)
