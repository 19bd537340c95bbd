"""`ragauge prompt`: what to tell a model, so that its answers can be audited."""

from __future__ import annotations

import click

from ragauge.cli.command import formats, options_of, say_json, settings
from ragauge.contracts.gold import DEFAULT_TOKENS


@click.command()
@click.option(
    "--allow-cross-section", is_flag=True, help="An answer may cite more than one section."
)
@click.option("--segments", is_flag=True, help="Ask for the answer in parts, each with citations.")
@options_of("refusal_tokens")
@formats("text", "json")
def prompt(
    allow_cross_section: bool,
    segments: bool,
    refusal_tokens: tuple[str, ...],
    format: str | None,
) -> None:
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

    tokens = settings(refusal_tokens=refusal_tokens or None)["refusal_tokens"] or DEFAULT_TOKENS
    text = prompt_contract(
        allow_cross_section=allow_cross_section, segments=segments, refusal=next(iter(tokens), "")
    )
    if format != "json":
        click.echo(text)
        return
    # Not sorted: the order of the schema's keys is the order a model writes them in.
    say_json({"prompt": text, "schema": answer_schema(segments=segments)}, sort=False)
