"""`ragauge prompt`: what to tell a model, so that its answers can be audited."""

from __future__ import annotations

from typing import Annotated

import click
from msgspec import Struct

from ragauge.cli.command import command, say_json
from ragauge.contracts.gold import DEFAULT_TOKENS, REFUSAL_TOKENS
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Printed


class Options(Struct, frozen=True, kw_only=True):
    """What the model may do."""

    allow_cross_section: Annotated[bool, Opt("An answer may cite more than one section.")] = False
    segments: Annotated[bool, Opt("Ask for the answer in parts, each with citations.")] = False
    refusal_tokens: Annotated[tuple[str, ...], REFUSAL_TOKENS] = DEFAULT_TOKENS


@command("text", "json")
def prompt(options: Options, output: Printed) -> None:
    """Print the text for a system prompt: cite first, cite what was shown, refuse in one form.

    It is generated from the record that an audit reads. The refusal is the first of
    --refusal-tokens: `ragauge score` takes it for exact in a decoded reply (answer_json), and for
    malformed in a reply that is kept as JSON text. With --format json, the JSON Schema of the
    reply stands beside it, for servers that hold a model to one.

    \b
    Example:
      ragauge prompt --segments > system-prompt.txt
    """
    from ragauge.citations.prompt import answer_schema, prompt_contract

    text = prompt_contract(
        allow_cross_section=options.allow_cross_section,
        segments=options.segments,
        refusal=next(iter(options.refusal_tokens), ""),
    )
    if output.format != "json":
        click.echo(text)
        return
    # Not sorted: the order of the schema's keys is the order a model writes them in.
    say_json({"prompt": text, "schema": answer_schema(segments=options.segments)}, sort=False)
