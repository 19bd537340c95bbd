"""`ragauge audit`: every citation a pointer that can be checked; also one reply, codes, drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Struct

from ragauge.cli.command import command, deliver, exit_code, forms_of, reading_progress, say
from ragauge.cli.run_store import delivered, remark_logs
from ragauge.contracts.audit import AuditReport
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import AuditOptions, Mapped, Recording
from ragauge.errors import InputRejected, UsageError

if TYPE_CHECKING:
    from ragauge.cli.run_store import Delivery
    from ragauge.contracts.report import Outcome


class Others(Struct, frozen=True, kw_only=True):
    """What else the command does."""

    one: Annotated[str | None, Opt("Audit one model reply; - is stdin.", metavar="FILE")] = None
    retrieved: Annotated[
        str | None, Opt("With --one: the payloads that were retrieved.", metavar="FILE")
    ] = None
    explain: Annotated[str | None, Opt("Say what a code means and what to do.", metavar="CODE")] = (
        None
    )
    drift: Annotated[str | None, Opt("Compare the manifest with an older one.", metavar="OLD")] = (
        None
    )


ALONE = {
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


@command(*FORMS)
def audit(
    traces: tuple[str, ...] = (),
    *,
    options: AuditOptions,
    others: Others,
    mapped: Mapped,
    output: Recording,
) -> int | None:
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
    if others.explain is not None:
        _refuse_more_than("explain")
        return _explain(others.explain, output.format)
    if others.one is not None:
        _refuse_more_than("one")
        return _one(others.one, others.retrieved, options)
    if others.drift is not None:
        _refuse_more_than("drift")
        return _drift(others.drift, options.manifest, output)
    if not traces:
        raise click.UsageError("give trace files to audit, or --one, --explain or --drift")
    if others.retrieved is not None:
        raise click.UsageError("--retrieved belongs to --one; traces carry their own")
    from ragauge.runners.audit import audit as run

    def measure(_: Delivery) -> Outcome[AuditReport]:
        gold, columns = options.gold, mapped.columns
        with reading_progress(traces, output.quiet, "auditing") as progress:
            return run(traces, progress, gold=gold, columns=columns, options=options)

    read = [*traces, options.gold, options.manifest, options.calibration, options.ranks]
    code = delivered(output, AuditReport, measure, read, [options.log], options.docs)
    remark_logs(options, output.quiet)
    return code


def _refuse_more_than(other: str) -> None:
    """Refuse what was given and would not be looked at."""
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    for param in ctx.command.params:
        if ctx.get_parameter_source(param.name or "") is not typed:
            continue
        if param.name not in (other, *ALONE[other]):
            what = "TRACES" if isinstance(param, click.Argument) else param.opts[0]
            raise click.UsageError(f"--{other} and {what} do not go together; give one of them")
    if ctx.params["format"] not in (None, *FORMS_OF.get(other, FORMS)):
        forms = " and ".join(FORMS_OF[other])
        raise click.UsageError(f"--format {ctx.params['format']}: --{other} has {forms}")


def _explain(code: str, form: str) -> int:
    """Print what a code means and what to do."""
    import difflib

    from ragauge.citations.codes import CODES, OF_TRACES, TRACES, explain

    entry = explain(code)
    if entry is None:
        known = [one.code for one in (*CODES, *OF_TRACES)]
        near = difflib.get_close_matches(code, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
        raise UsageError(f'there is no code "{code}"; {hint}')
    about = "about the traces" if entry.depth == TRACES else f"depth {entry.depth}"
    lines = [f"{code} ({about})", f"  {entry.means}", f"  Next step: {entry.tip}"]
    say(entry, lines, form)
    return 0


def _one(file: str, retrieved: str | None, options: AuditOptions) -> int:
    """Audit a single reply, and print `ok` with what is known of it, or the worst finding."""
    from ragauge.ingest.lines import STDIN, read_whole
    from ragauge.runners.audit_one import audit_one

    files = (file, retrieved, options.manifest, options.allow_cross_section)
    if files.count(STDIN) > 1:
        raise UsageError("only one of the files can be standard input (-)")
    try:
        reply = read_whole(file).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputRejected(f"{file}: not UTF-8 at byte {error.start + 1}; save it so") from None
    found = audit_one(reply, read_whole(retrieved) if retrieved else None, options=options)
    say(found, (), "json")
    return 0 if found.get("ok") else 1


def _drift(old: str, new: str | None, output: Recording) -> int:
    """Compare the manifest of the live index with an older one."""
    from ragauge.citations.drift import drift as compared
    from ragauge.ingest.manifest import read_manifest

    if new is None:
        raise UsageError("--drift OLD compares with the live index; give it with --manifest NEW")
    files = forms_of(output.reports)
    report = compared(read_manifest(old), read_manifest(new), was_name=old, now_name=new)
    deliver(report, files, output)
    return exit_code(report)
