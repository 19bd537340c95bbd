"""`ragauge audit`: every citation a pointer that can be checked; also one reply, codes, drift."""

from __future__ import annotations

import os
from typing import Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    auditing_options,
    formats,
    forms_of,
    logging_options,
    options_of,
    reading_progress,
    refuse_overwriting,
    report_option,
    say,
    settings,
    show,
    write_reports,
)
from ragauge.cli.run_store import recorder, recording_options, remark_logs
from ragauge.errors import InputRejected, UsageError

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


@click.command()
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
@report_option("Also .html .json .md .sarif .xml.")
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
    others = {"explain": _explain, "one": _one, "drift": _drift}
    for other, done in others.items():
        if given[other] is not None:
            _refuse_beside(ctx, other)
            ctx.exit(done(given))
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
    traces, files, gates = given.pop("traces"), forms_of(given.pop("reports")), given.pop("gates")
    form = given.pop("format")
    for name in ("retrieved", *BESIDE):
        given.pop(name)
    chosen = settings(**given)
    options |= {name: chosen[name] for name in AUDITING}
    options["gates"] = ",".join(gates) or None
    options["workers"] = chosen["workers"] or os.cpu_count() or 1
    read = [*traces, *(options[name] for name in ("gold", "manifest", "calibration", "ranks"))]
    refuse_overwriting(read, [*files, options["log"] or None], options["docs"])
    with recorder(chosen) as history:
        with reading_progress(traces, chosen["quiet"], "auditing") as progress:
            outcome = run(traces, progress, **options)
        write_reports(outcome.report, files, chosen["quiet"])
        show(outcome.report, form)
        history.keep(outcome)
    remark_logs(options, chosen["quiet"])
    if not outcome.report.coverage.audited:
        return NOT_MEASURED
    return 0 if outcome.report.passed else 1


def _explain(given: dict[str, Any]) -> int:
    """Print what a code means and what to do."""
    import difflib

    from ragauge.citations.codes import CODES, OF_TRACES, TRACES, explained

    code = given["explain"]
    entry = explained(code)
    if entry is None:
        known = [one.code for one in (*CODES, *OF_TRACES)]
        near = difflib.get_close_matches(code, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
        raise UsageError(f'there is no code "{code}"; {hint}')
    about = "about the traces" if entry.depth == TRACES else f"depth {entry.depth}"
    lines = [f"{code} ({about})", f"  {entry.means}", f"  Next step: {entry.tip}"]
    say(entry, lines, given["format"])
    return 0


def _one(given: dict[str, Any]) -> int:
    """Audit a single reply, and print `ok` with what is known of it, or the worst finding."""
    from ragauge.ingest.lines import STDIN, read_whole
    from ragauge.runners.audit_one import audit_one

    retrieved = given["retrieved"]
    names = ("manifest", "docs", "allow_cross_section", "depth", "cite_first", "offsets_in")
    options = {name: given[name] for name in (*names, "tokenizer", "embedder")}
    files = (given["one"], retrieved, given["manifest"], given["allow_cross_section"])
    if files.count(STDIN) > 1:
        raise UsageError("only one of the files can be standard input (-)")
    read = ("refusal", "refusal_tokens", "inline")
    chosen = settings(**{name: given[name] for name in read})
    options |= {name: chosen[name] for name in read}
    try:
        reply = read_whole(given["one"]).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        fact = f"{given['one']}: not UTF-8 at byte {error.start + 1}; save it so"
        raise InputRejected(fact) from None
    found = audit_one(reply, read_whole(retrieved) if retrieved else None, **options)
    say(found, (), "json")
    return 0 if found.get("ok") else 1


def _drift(given: dict[str, Any]) -> int:
    """Compare the manifest of the live index with an older one."""
    from ragauge.citations.drift import drift as compared
    from ragauge.ingest.manifest import read_manifest

    old, new = given["drift"], given["manifest"]
    if new is None:
        raise UsageError("--drift OLD compares with the live index; give it with --manifest NEW")
    files = forms_of(given["reports"])
    report = compared(read_manifest(old), read_manifest(new), was_name=old, now_name=new)
    write_reports(report, files, bool(given["quiet"]))
    show(report, given["format"] or "text")
    return 0 if report.passed else 1
