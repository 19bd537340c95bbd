"""`ragauge runs`: the history of what was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import click
from msgspec import Meta, Struct

from ragauge.cli.command import deliver, forms_of, group, remark, say
from ragauge.cli.command import show as show_report
from ragauge.cli.run_store import found, history_at, place_of
from ragauge.contracts import archive
from ragauge.contracts.history import History
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import Output, Printed, Shown, Stored
from ragauge.errors import UsageError

BOTH = ("text", "json")
REPORTS = ("text", "json", "markdown", "junit", "github", "csv", "html")


@group()
def runs() -> None:
    """Work with the history: the runs that were recorded with --record.

    A RUN is the beginning of its id, a tag, `latest`, `green` (the last that passed, and that no
    `compare --gate` failed), one of these two on a branch: green@main, or the last run at a
    commit: commit:5d2c9e.

    \b
    Example:
      ragauge score gold.jsonl traces.jsonl --record
      ragauge runs list
      ragauge runs show latest
    """


@contextmanager
def _history_at(stored: Stored, *names: str | None) -> Iterator[History]:
    """The history, which holds text alone: a shell may pass bytes that are none."""
    from ragauge.ingest.configuration import read_name

    for name in names:
        read_name(name)
    with history_at(stored.store) as history:
        yield history


class Listing(Struct, frozen=True, kw_only=True):
    """Which runs are listed."""

    name: Annotated[str | None, Opt("Only runs of this name.", metavar="NAME")] = None
    command: Annotated[
        str | None, Opt("Only runs of this command, such as score.", metavar="VERB")
    ] = None
    branch: Annotated[str | None, Opt("Only runs made on this branch.", metavar="BRANCH")] = None
    labels: Annotated[
        dict[str, str], Opt("Only runs so labelled.", flag="--label", metavar="K=V", pairs=True)
    ] = {}
    green: Annotated[
        bool | None, Opt("Only runs that passed, or failed or regressed.", flag="--green/--red")
    ] = None
    limit: Annotated[int, Meta(ge=1), Opt("At most this many.")] = 20


@runs.verb(*BOTH, name="list", short="List the runs, the newest first.")
def list_(options: Listing, stored: Stored, output: Printed) -> None:
    """List the recorded runs: id, time, name, verdict, headline metrics, code, tags and labels.

    \b
    Example:
      ragauge runs list --branch main --label model=small-3 --red
    """
    from msgspec import structs

    from ragauge.contracts.history import NoHistory, RunFilter
    from ragauge.store.places import located
    from ragauge.text.visible import writable

    where, matching, anywhere = writable(str(located(place_of(stored.store)))), [], False
    names = (options.name, options.command, options.branch)
    wanted = structs.asdict(options) | {"limit": options.limit + 1}
    with suppress(NoHistory), _history_at(stored, *names) as history:
        matching = history.runs(RunFilter(**wanted))
        anywhere = bool(matching) or bool(history.runs(RunFilter(limit=1)))
    listed = archive.RunList(
        store=where, runs=tuple(matching[: options.limit]), more=len(matching) > options.limit
    )
    if output.format == "json" or listed.runs:
        show_report(listed, output.format)
    elif anywhere:
        click.echo(f"No run in {where} matches; `ragauge runs list` shows the newest.")
    else:
        click.echo(f"No runs yet in {where}. Record one:")
        click.echo("  ragauge score gold.jsonl traces.jsonl --record")


class Showing(Struct, frozen=True, kw_only=True):
    """How much of a run is shown."""

    identity: Annotated[bool, Opt("Only its details, without its report.")] = False


@runs.verb(*REPORTS, short="Show a run: its details and its report.")
def show(run: str, options: Showing, stored: Stored, output: Output) -> None:
    """Show the details of a RUN, then the report it ended with.

    With --format json, the run itself: its record with identity, metrics, gates and seals. Every
    other form is that of its report.

    \b
    Example:
      ragauge runs show latest
      ragauge runs show green@main --report report.html
    """
    from ragauge.contracts.history import REPORT
    from ragauge.store.recorded import stored_report

    forms, report = forms_of(output.reports), None
    with _history_at(stored, run) as history:
        chosen = history.find(run)
        if REPORT in chosen.record.files and (forms or not options.identity):
            with history.file(chosen, REPORT) as path:
                report = stored_report(path.read_bytes(), chosen.shown)
        elif forms:
            raise UsageError(f"run {chosen.shown}: was recorded without a report")
    details = output.format in BOTH
    if details:
        show_report(archive.shown_run(chosen), output.format)
    if report is None:
        return
    hidden = options.identity or output.format == "json"
    if details and not hidden:
        click.echo()
    deliver(report, forms, output, instead="" if hidden else None)


class Tagging(Struct, frozen=True, kw_only=True):
    """What becomes of a name."""

    move: Annotated[bool, Opt("Take the name from the run that has it.")] = False
    delete: Annotated[str | None, Opt("Take this name away; its run stays.", metavar="NAME")] = None


@runs.verb(*BOTH, short="Give a run a name, or take one away.")
def tag(
    run: str | None = None,
    name: str | None = None,
    *,
    options: Tagging,
    stored: Stored,
    output: Printed,
) -> None:
    """Tag a RUN with a NAME, by which every command then knows it.

    \b
    Example:
      ragauge runs tag latest release-1.4
      ragauge runs tag --delete release-1.4
    """
    from ragauge.reports.kinds.runs import named

    if options.delete is not None:
        if run is not None or options.move:
            raise UsageError("--delete takes a tag alone; give RUN and NAME in another command")
        with _history_at(stored, options.delete) as history:
            history.untag(options.delete)
        gone = archive.Tagged(tag=options.delete, run=None)
        say(gone, [f'"{options.delete}" names no run any more'], output.format)
        return
    if run is None or name is None:
        raise UsageError("tag what? write RUN and NAME, or --delete NAME")
    with _history_at(stored, run, name) as history:
        chosen = history.find(run)
        history.tag(chosen.id, name, move=options.move)
    lines = [f'"{name}" names {named(chosen)}']
    say(archive.Tagged(tag=name, run=chosen.id), lines, output.format)


class Removing(Struct, frozen=True, kw_only=True):
    """What may be removed."""

    force: Annotated[bool, Opt("Also runs that have a tag.")] = False


@runs.verb(*BOTH, short="Remove runs for good.")
def rm(
    references: Annotated[tuple[str, ...], "RUN..."],
    options: Removing,
    stored: Stored,
    output: Printed,
) -> archive.Removed:
    """Remove every RUN named, or none where one of them is not found or has a tag.

    \b
    Example:
      ragauge runs rm 4f2a91c0 77d0
    """
    with _history_at(stored, *references) as history:
        chosen = found(history, references)
        tagged = [run for run in chosen if run.tags]
        if tagged and not options.force:
            raise UsageError(
                *(f"{run.shown}: is tagged {', '.join(run.tags)}" for run in tagged),
                "nothing was removed; --force removes runs that have a tag",
            )
        history.remove([run.id for run in chosen])
    return archive.Removed(runs=tuple(chosen))


@runs.verb(*REPORTS, short="Score a run's kept answers again.")
def rescore(run: str, stored: Stored, output: Shown) -> None:
    """Score the answers that a RUN keeps again, with the metric versions of this Ragauge.

    Gold set, options and gates are those of the RUN. The result is a new run with the same name,
    labels and commit, which names the RUN as its origin; the RUN stays as it is. Runs of today
    can be compared with the new run by its id: it is `latest` now. Runs of `score` and
    `stability` can be scored again where their texts were kept.

    \b
    Example:
      ragauge runs rescore release-1.4
      ragauge compare 4f2a91c03b7e 77d0e1a2
    """
    from ragauge.runners.rescore import rescore as again
    from ragauge.runners.rescore import version_changes

    with _history_at(stored, run) as history:
        origin = history.find(run)
        made, outcome = again(history, origin)
    show_report(outcome.report, output.format)
    changed = version_changes(origin, made)
    versions = [f"{id} (v{was}, now v{now})" for id, (was, now) in changed.items()]
    words = f"changed since: {', '.join(versions)}" if versions else "no metric has changed since"
    remark(
        f"recorded {made.shown} from the answers of {origin.shown}; {words}; "
        f"`ragauge compare {made.shown} RUN` compares a run of today with it",
        output.quiet,
    )


class Exporting(Struct, frozen=True, kw_only=True):
    """What is exported."""

    every: Annotated[bool, Opt("Every run of the history.", flag="--all")] = False
    out: Annotated[str, Opt("The archive to write.", flag="-o/--out", metavar="FILE")]


@runs.verb(*BOTH, short="Write runs to one file, to keep or to move.")
def export(
    references: Annotated[tuple[str, ...], "[RUN]..."] = (),
    *,
    options: Exporting,
    stored: Stored,
    output: Printed,
) -> archive.Exported:
    """Write each RUN whole to the archive FILE: record, rows, gold set, files, tags and marks.

    The same runs give the same bytes, on every machine and from either kind of store.

    \b
    Example:
      ragauge runs export --all -o history.zip
      ragauge runs export green@main -o baseline.zip
    """
    from ragauge.contracts.history import RunFilter
    from ragauge.runners.archive import export_runs
    from ragauge.text.visible import writable

    if options.every == bool(references):
        raise UsageError("export what? name runs, or give --all")
    path = Path(options.out)
    with _history_at(stored, *references) as history:
        chosen = history.runs(RunFilter()) if options.every else found(history, references)
        ordered = export_runs(history, chosen, path)
    ids = tuple(run.id for run in ordered)
    return archive.Exported(file=writable(options.out), size=path.stat().st_size, runs=ids)


@runs.verb(*BOTH, name="import", short="Take over the runs of an exported file.")
def import_(file: str, stored: Stored, output: Printed) -> archive.Imported:
    """Record the runs of an archive that `ragauge runs export` wrote.

    Every hash is checked before anything is written; exit 3 where one is wrong. Runs that are
    there already are left as they are, and so is a tag that names another run here; what is
    marked there as regressed is so here too.

    \b
    Example:
      ragauge runs import history.zip --store postgresql://team@db.example/rag
    """
    from ragauge.runners.archive import proven

    # What is not whole makes no store.
    with proven(Path(file)) as packed, history_at(stored.store, create=True) as history:
        return packed.recorded_in(history)


@runs.verb(*BOTH, short="Read every run again, and compare it with its seals.")
def verify(stored: Stored, output: Printed) -> archive.Verified:
    """Say of every run whether it is whole; exit 3 where one, or the database, is not.

    \b
    Example:
      ragauge runs verify
    """
    from ragauge.errors import InputRejected
    from ragauge.store.checking import is_damage

    try:
        with history_at(stored.store) as history:
            return archive.verified(history.verify())
    except UsageError as error:
        if is_damage(error):  # what cannot even be opened is not whole either
            raise InputRejected(*error.problems) from error
        raise


@runs.verb(*BOTH, short="Remove what no run needs.")
def gc(stored: Stored, output: Printed) -> None:
    """Remove leftovers of killed processes, and gold sets of removed runs.

    \b
    Example:
      ragauge runs gc
    """
    from ragauge.reports.phrasing import pluralize
    from ragauge.store.places import LocalPlace, located

    sizes: dict[str, int] = {}  # of each folder of files, before any is removed
    place = located(place_of(stored.store))
    if isinstance(place, LocalPlace) and place.runs.is_dir():  # a server has no folders
        for folder in place.runs.iterdir():
            size = 0
            with suppress(FileNotFoundError):  # a writer has finished with it meanwhile
                for path in [folder, *folder.rglob("*")]:
                    size += path.stat().st_size if path.is_file() else 0
            sizes[str(folder)] = size
    with history_at(stored.store) as history:
        removed = history.gc()
    freed = sum(sizes.get(what, 0) for what in removed)
    lines = [
        f"removed {what} ({pluralize(sizes[what], 'byte')})" if what in sizes else f"removed {what}"
        for what in removed
    ]
    lines += [f"freed {pluralize(freed, 'byte')}"] if freed else []
    cleaned = archive.Cleaned(removed=tuple(removed), bytes=freed)
    say(cleaned, lines or ["Nothing to remove."], output.format)
