"""`ragauge schema`: what each record looks like, for programs."""

from __future__ import annotations

import click

from ragauge.cli.command import say_json

NAMES = (
    "answer-calibration-report",
    "audit-report",
    "auditable-answer",
    "calibration-report",
    "citation",
    "comparison-report",
    "consistency-report",
    "diagnosis-report",
    "drift-report",
    "eval-all-report",
    "eval-report",
    "gold",
    "gold-agreement-report",
    "gold-convert-report",
    "gold-diff-report",
    "gold-lint-report",
    "gold-plan-report",
    "gold-sample-report",
    "gold-split-report",
    "history-report",
    "inspect-report",
    "latency-report",
    "manifest",
    "run",
    "runs-export-report",
    "runs-gc-report",
    "runs-import-report",
    "runs-list-report",
    "runs-rm-report",
    "runs-show-report",
    "runs-tag-report",
    "runs-verify-report",
    "score-report",
    "score-row",
    "score-traces-report",
    "stability-report",
    "suite-report",
    "sweep-plan",
    "sweep-report",
    "trace",
    "trace-eval-report",
)
"""Written down, so that help does not have to import every record."""


@click.command()
@click.argument("name", type=click.Choice(NAMES))
def schema(name: str) -> None:
    """Print the JSON Schema (draft 2020-12) of a record, generated from the code.

    \b
    Example:
      ragauge schema gold > gold.schema.json
    """
    from ragauge.contracts.schemas import schema as schema_of

    say_json(schema_of(name))
