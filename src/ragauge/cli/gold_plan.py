"""`ragauge gold lint --plan`: a dataset held against the plan it was made for."""

from __future__ import annotations

from pathlib import Path


def lint_plan(path: str, for_questions: bool, strict: bool, format: str | None) -> bool:
    """Show how much of the plan a dataset meets; whether it meets all of it."""
    from ragauge.cli.score import show
    from ragauge.errors import UsageError
    from ragauge.runners.gold_plan import hold_against_plan

    if for_questions:
        raise UsageError(
            "--plan is for a dataset; drop --sections, --locks, --chunks, --window and --stride"
        )
    report = hold_against_plan(Path(path), strict=strict)
    show(report, format or "text")
    return report.passed
