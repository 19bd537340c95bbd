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
            help = f"{setting.help}{_default(setting.default)}"
            # What a file switches on, a flag can switch off.
            spelled = f"{flag}/--no-{flag[2:]}" if switch else flag
            command = click.option(
                spelled, type=kind, is_flag=switch, default=None, multiple=many, help=help
            )(command)
        return command

    return decorated


def _default(value: Any) -> str:
    """A setting's default as help shows it; nothing where there is none to speak of."""
    if value in (None, (), False):
        return ""
    if value is True:
        return "  [on]"
    shown = ",".join(value) if isinstance(value, tuple) else f"{value}"
    return f"  [{shown}]"


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
    """The flags by the names of their settings: a command's own before everybody's."""
    from ragauge.ingest.configuration import SETTINGS

    own = f"{command}."
    return {own + name if own + name in SETTINGS else name: v for name, v in flags.items()}


def with_origins(**flags: Any) -> dict[str, Value]:
    from ragauge.ingest.configuration import configured

    return configured(flags, os.environ, Path.cwd())


def remark(text: str, quiet: bool) -> None:
    """Talk, for a person, on stderr."""
    if not quiet:
        click.echo(text, err=True)
