"""What every `ragauge eval` command shares: its options, and the way from outcome to exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.recording import recorder, recording_options
from ragauge.cli.score import forms_of, show, verdict_code, write_reports
from ragauge.cli.settings import formats, options_of, remark, settings

if TYPE_CHECKING:
    from ragauge.contracts.score import Outcome

Command = TypeVar("Command", bound=Callable[..., Any])

FORMS = ("text", "json", "markdown", "junit", "csv", "html")
ENDINGS = {"html": ".html", "json": ".json", "markdown": ".md", "junit": ".xml", "csv": ".csv"}
OWN = (
    *("record", "store", "name", "label", "keep_texts", "quiet", "max_bad", "workers"),
    *("min_coverage", "require_gates"),
)
"""Options that are settings."""

_OPTIONS = (
    click.option("--preset", type=click.Choice(["integrity", "heritage"]), help="Gates by name."),
    click.option(
        "--gates", metavar="RULES", multiple=True, help="In place of the preset's, or beside them."
    ),
    click.option(
        "--by", metavar="STRATUM", multiple=True, help="Slice by it  [all strata of the gold]"
    ),
    click.option("--strata", metavar="FILE", help="A table of strata: id, country, language …"),
    click.option("--intervals/--no-intervals", default=True, help="Resample for intervals."),
    click.option("--out", metavar="FILE", help="A row for each unit: .jsonl .csv .parquet."),
)


def evaluating_options(*forms: str) -> Callable[[Command], Command]:
    """What every evaluation takes: gates, strata, history, and reports in these forms."""
    endings = " ".join(ENDINGS[form] for form in forms if form in ENDINGS)
    report = click.option(
        "--report", "reports", metavar="FILE", multiple=True, help=f"Also {endings}."
    )

    def decorated(command: Command) -> Command:
        command = report(formats(*forms)(command))
        command = recording_options(
            options_of("min_coverage", "require_gates", "max_bad", "quiet")(command)
        )
        for option in reversed(_OPTIONS):
            command = option(command)
        return command

    return decorated


def input_format(*names: str) -> Callable[[Command], Command]:
    """The `--input-format` option."""
    return click.option(
        "--input-format", type=click.Choice(names), help="Force it  [seen from the content]"
    )


def evaluated(
    given: dict[str, Any],
    read: Iterable[str],
    run: Callable[..., Outcome[Any]],
) -> int:
    """Evaluate with the options given, write and show what came of it; the exit code.

    `run` gets what is left of the options: those of the runner.
    """
    form, out, reports = given.pop("format") or "text", given.pop("out"), given.pop("reports")
    given["gates"] = ",".join(given["gates"]) or None
    flags = {name: given.pop(name) for name in OWN if name in given}
    chosen = settings(**{name: None if value == () else value for name, value in flags.items()})
    forms = forms_of(reports)
    names = list(read)
    if len(names) > 1 and names[0] == names[1]:
        remark(f"{names[0]} is compared with itself: every number is the best there is", False)
    refuse_overwriting([*names, given["strata"]], [*forms, *filter(None, [out])])
    with recorder(chosen) as history:
        if "workers" in flags:
            given["workers"] = chosen["workers"] or os.cpu_count() or 1
        outcome = run(**given, **{name: chosen[name] for name in ("max_bad", "min_coverage")})
        _write_rows(outcome, out, chosen["quiet"])
        write_reports(outcome.report, forms, chosen["quiet"])
        show(outcome.report, form)
        history.keep(outcome)
    return exit_code(outcome, chosen["require_gates"])


def exit_code(outcome: Outcome[Any], require_gates: bool = False) -> int:
    """3 where nothing could be scored; 1 where a gate does not hold."""
    report = outcome.report
    told = (score.value for id, score in report.metrics.items() if not id.endswith(".coverage"))
    if not report.coverage.get("scored") or all(value is None for value in told):
        return NOT_MEASURED
    return verdict_code(report.passed, require_gates)


def _write_rows(outcome: Outcome[Any], out: str | None, quiet: bool) -> None:
    if out is None:
        return
    from ragauge.reports.unit_rows import written
    from ragauge.store.files import write_whole

    write_whole(Path(out), written(outcome.units, Path(out)))
    remark(f"wrote {out}", quiet)
