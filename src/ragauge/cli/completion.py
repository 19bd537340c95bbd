"""`ragauge completion`: the shell learns the verbs and options."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion(shell: str) -> None:
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
