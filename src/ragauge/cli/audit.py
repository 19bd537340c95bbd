"""`ragauge audit`: every citation a pointer that can be checked."""

from __future__ import annotations

import os
from typing import Any

import click

from ragauge.cli.auditing import auditing_options, logging_options
from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.outputs import refuse_overwriting
from ragauge.cli.recording import recorder, recording_options
from ragauge.cli.run_store import told
from ragauge.cli.score import forms_of, reading_progress, show, write_reports
from ragauge.cli.settings import formats, options_of, remark, settings

AUDITING = ("refusal", "refusal_tokens", "inline", "min_coverage", "max_bad")
"""Settings that are options of the audit itself."""
OWN = (
    *("manifest", "docs", "gold", "allow_cross_section", "depth", "cite_first", "offsets_in"),
    *("tokenizer", "embedder", "calibration", "ranks", "log", "to_db"),
)
"""Options of the audit that are no settings."""
BESIDE = {
    "explain": ("format",),
    "one": (
        *("retrieved", "manifest", "docs", "allow_cross_section", "depth", "cite_first"),
        *("offsets_in", "tokenizer", "embedder", "refusal", "refusal_tokens", "inline"),
        *("format", "quiet"),
    ),
    "drift": ("manifest", "reports", "format", "quiet"),
}
"""What else the command does, and the options that go with it."""
FORMS_OF = {"explain": ("text", "json"), "one": ("json",)}
FORMS = ("text", "json", "markdown", "junit", "github", "sarif", "html")


@click.command(short_help="Check every citation: retrieved, whole, and standing where it says.")
@click.argument("traces", metavar="TRACES...", nargs=-1)
@auditing_options
@click.option("--gold", metavar="GOLD", help="Match citations against a gold set, too.")
@click.option(
    "--depth",
    type=click.Choice(["marker", "payload", "text", "support"]),
    help="How deep to look  [text with --docs, else payload]",
)
@click.option(
    "--ranks", metavar="TRACES", help="Compare the order of retrieved ids with other traces."
)
@click.option("--cite-first/--no-cite-first", default=True, help="Refuse citations only after.")
@options_of("refusal", "refusal_tokens", "inline", "workers", "max_bad", "quiet")
@recording_options
@logging_options
@click.option("--one", metavar="FILE", help="Audit one model reply; - is stdin.")
@click.option("--retrieved", metavar="FILE", help="With --one: the payloads that were retrieved.")
@click.option("--explain", metavar="CODE", help="Say what a code means and what to do.")
@click.option("--drift", metavar="OLD", help="Compare the manifest with an older one.")
@click.option(
    "--report", "reports", metavar="FILE", multiple=True, help="Also .html .json .md .sarif .xml."
)
@formats(*FORMS)
@click.pass_context
def audit(ctx: click.Context, /, **given: Any) -> None:
    """Check the citations in TRACES: the id was retrieved, the payload is whole, the text is there.

    With --depth support also whether the cited text supports what is said, by its words.
    Every finding has a code, its place, what was found, what was expected and the next step.
    TRACES are JSON Lines, plain, .gz or .zst; - is stdin.

    \b
    Example:
      ragauge audit traces.jsonl --manifest index.json --docs docs/ --report audit.sarif
      ragauge audit traces.jsonl --docs docs/ --depth support
      ragauge audit --one reply.txt --retrieved chunks.json
      ragauge audit --explain cross_section_reuse
    """
    from ragauge.cli import audit_other

    for other in BESIDE:
        if given[other] is not None:
            _refuse_beside(ctx, other)
            ctx.exit(getattr(audit_other, other)(given))
    if not given["traces"]:
        raise click.UsageError("give trace files to audit, or --one, --explain or --drift")
    if given["retrieved"] is not None:
        raise click.UsageError("--retrieved belongs to --one; traces carry their own")
    ctx.exit(_audited(given))


def _refuse_beside(ctx: click.Context, other: str) -> None:
    """Refuse what was given and would not be looked at."""
    typed = click.core.ParameterSource.COMMANDLINE
    for param in ctx.command.params:
        if ctx.get_parameter_source(param.name or "") is not typed:
            continue
        if param.name not in (other, *BESIDE[other]):
            what = "TRACES" if isinstance(param, click.Argument) else param.opts[0]
            raise click.UsageError(f"--{other} and {what} do not go together; give one of them")
    if ctx.params["format"] not in (None, *FORMS_OF.get(other, FORMS)):
        forms = " and ".join(FORMS_OF[other])
        raise click.UsageError(f"--format {ctx.params['format']}: --{other} has {forms}")


def _audited(given: dict[str, Any]) -> int:
    from ragauge.runners.audit import audit as run

    options = {name: given.pop(name) for name in OWN} | {"run": given.pop("run_name")}
    traces, reports, gates = given.pop("traces"), given.pop("reports"), given.pop("gates")
    form = given.pop("format") or "text"
    for name in ("retrieved", *BESIDE):
        given.pop(name)
    chosen = settings(**{name: None if value == () else value for name, value in given.items()})
    options |= {name: chosen[name] for name in AUDITING}
    options["gates"] = ",".join(gates) or None
    options["workers"] = chosen["workers"] or os.cpu_count() or 1
    files = forms_of(reports)
    read = [*traces, *(options[name] for name in ("gold", "manifest", "calibration", "ranks"))]
    refuse_overwriting(read, [*files, *filter(None, [options["log"]])], options["docs"])
    with recorder(chosen) as history:
        with reading_progress(traces, chosen["quiet"], "auditing") as progress:
            outcome = run(traces, progress, **options)
        write_reports(outcome.report, files, chosen["quiet"])
        show(outcome.report, form)
        history.keep(outcome)
    for written in (options["log"], options["to_db"] and told(options["to_db"])):
        if written:
            remark(f"wrote {written}", chosen["quiet"])
    if not outcome.report.coverage.audited:
        return NOT_MEASURED
    return 0 if outcome.report.passed else 1
