"""`ragauge completion`: the shell learns the verbs and options."""

from __future__ import annotations

from typing import Literal

import click

from ragauge.cli.command import command


@command()
def completion(shell: Literal["bash", "fish", "zsh"]) -> None:
    """Print the script that makes SHELL complete `ragauge` commands and options.

    \b
    Example:
      ragauge completion bash >> ~/.bashrc
    """
    from click.shell_completion import get_completion_class

    from ragauge.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None, "the choices above are those click knows"
    click.echo(found(cli, {}, "ragauge", "_RAGAUGE_COMPLETE").source())
