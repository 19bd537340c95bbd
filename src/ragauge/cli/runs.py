"""`ragauge runs`: the history of what was recorded."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from ragauge.cli.command import (
    NOT_MEASURED,
    formats,
    forms_of,
    group,
    options_of,
    remark,
    report_option,
    say,
    settings,
    write_reports,
)
from ragauge.cli.command import show as show_report
from ragauge.cli.run_store import TEXT, found, history_at, place_of, store_option
from ragauge.errors import UsageError

LIMIT = 20


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


@runs.command("list", short_help="List the runs, the newest first.")
@store_option
@click.option("--name", type=TEXT, metavar="NAME", help="Only runs of this name.")
@click.option(
    "--command", type=TEXT, metavar="VERB", help="Only runs of this command, such as score."
)
@click.option("--branch", type=TEXT, metavar="BRANCH", help="Only runs made on this branch.")
@click.option(
    "--label", "labels", type=TEXT, metavar="K=V", multiple=True, help="Only runs so labelled."
)
@click.option("--green/--red", default=None, help="Only runs that passed, or failed or regressed.")
@click.option("--limit", type=click.IntRange(min=1), default=LIMIT, show_default=True)
@formats("text", "json")
def list_(store: str | None, limit: int, format: str | None, **given: Any) -> None:
    """List the recorded runs: id, time, name, verdict, headline metrics, code, tags and labels.

    \b
    Example:
      ragauge runs list --branch main --label model=small-3 --red
    """
    from ragauge.contracts.archive import RunList
    from ragauge.contracts.history import NoHistory, RunFilter
    from ragauge.ingest.configuration import read_labels
    from ragauge.store.places import located
    from ragauge.text.visible import writable

    given["labels"] = read_labels(given["labels"])
    where, matching, anywhere = writable(str(located(place_of(store)))), [], False
    with suppress(NoHistory), history_at(store) as history:
        matching = history.runs(RunFilter(**given, limit=limit + 1))
        anywhere = bool(matching) or bool(history.runs(RunFilter(limit=1)))
    listed = RunList(store=where, runs=tuple(matching[:limit]), more=len(matching) > limit)
    if format == "json" or listed.runs:
        show_report(listed, format)
    elif anywhere:
        hint = "`ragauge runs list` shows the newest."
        say(listed, [f"No run in {where} matches; {hint}"], format)
    else:
        record = "  ragauge score gold.jsonl traces.jsonl --record"
        say(listed, [f"No runs yet in {where}. Record one:", record], format)


@runs.command(short_help="Show a run: its details and its report.")
@click.argument("run", type=TEXT, metavar="RUN")
@store_option
@click.option("--identity", is_flag=True, help="Only its details, without its report.")
@report_option("Write its report: .html .md …")
@formats("text", "json", "markdown", "junit", "github", "csv", "html")
def show(
    run: str, store: str | None, identity: bool, reports: tuple[str, ...], format: str | None
) -> None:
    """Show the details of a RUN, then the report it ended with.

    With --format json, the run itself: its record with identity, metrics, gates and seals. Every
    other form is that of its report.

    \b
    Example:
      ragauge runs show latest
      ragauge runs show green@main --report report.html
    """
    from ragauge.contracts.archive import shown_run
    from ragauge.contracts.history import REPORT
    from ragauge.store.recorded import stored_report

    forms, report = forms_of(reports), None
    with history_at(store) as history:
        chosen = history.find(run)
        if REPORT in chosen.record.files and (forms or not identity):
            with history.file(chosen, REPORT) as path:
                report = stored_report(path.read_bytes(), chosen.shown)
        elif forms:
            raise UsageError(f"run {chosen.shown}: was recorded without a report")
    if report is not None:
        write_reports(report, forms, quiet=False)
    text = format in (None, "text")
    if text or format == "json":
        show_report(shown_run(chosen), format)
    if report is not None and not identity and format != "json":
        if text:
            click.echo()
        show_report(report, format)


@runs.command(short_help="Give a run a name, or take one away.")
@click.argument("run", type=TEXT, metavar="RUN", required=False)
@click.argument("name", type=TEXT, metavar="NAME", required=False)
@click.option("--move", is_flag=True, help="Take the name from the run that has it.")
@click.option("--delete", type=TEXT, metavar="NAME", help="Take this name away; its run stays.")
@store_option
@formats("text", "json")
def tag(
    run: str | None,
    name: str | None,
    move: bool,
    delete: str | None,
    store: str | None,
    format: str | None,
) -> None:
    """Tag a RUN with a NAME, by which every command then knows it.

    \b
    Example:
      ragauge runs tag latest release-1.4
      ragauge runs tag --delete release-1.4
    """
    from ragauge.contracts.archive import Tagged
    from ragauge.reports.kinds.runs import named

    if delete is not None:
        if run is not None or move:
            raise UsageError("--delete takes a tag alone; give RUN and NAME in another command")
        with history_at(store) as history:
            history.untag(delete)
        say(Tagged(tag=delete, run=None), [f'"{delete}" names no run any more'], format)
        return
    if run is None or name is None:
        raise UsageError("tag what? write RUN and NAME, or --delete NAME")
    with history_at(store) as history:
        chosen = history.find(run)
        history.tag(chosen.id, name, move=move)
    say(Tagged(tag=name, run=chosen.id), [f'"{name}" names {named(chosen)}'], format)


@runs.command(short_help="Remove runs for good.")
@click.argument("references", type=TEXT, metavar="RUN...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Also runs that have a tag.")
@store_option
@formats("text", "json")
def rm(references: tuple[str, ...], force: bool, store: str | None, format: str | None) -> None:
    """Remove every RUN named, or none where one of them is not found or has a tag.

    \b
    Example:
      ragauge runs rm 4f2a91c0 77d0
    """
    from ragauge.contracts.archive import Removed

    with history_at(store) as history:
        chosen = found(history, references)
        tagged = [run for run in chosen if run.tags]
        if tagged and not force:
            raise UsageError(
                *(f"{run.shown}: is tagged {', '.join(run.tags)}" for run in tagged),
                "nothing was removed; --force removes runs that have a tag",
            )
        history.remove([run.id for run in chosen])
    show_report(Removed(runs=tuple(chosen)), format)


@runs.command(short_help="Score a run's kept answers again.")
@click.argument("run", type=TEXT, metavar="RUN")
@store_option
@formats("text", "json", "markdown", "junit", "github", "csv", "html")
@options_of("quiet")
def rescore(run: str, store: str | None, format: str | None, quiet: bool | None) -> None:
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

    chosen = settings(quiet=quiet)
    with history_at(store) as history:
        origin = history.find(run)
        made, outcome = again(history, origin)
    show_report(outcome.report, format)
    changed = version_changes(origin, made)
    versions = [f"{id} (v{was}, now v{now})" for id, (was, now) in changed.items()]
    words = f"changed since: {', '.join(versions)}" if versions else "no metric has changed since"
    remark(
        f"recorded {made.shown} from the answers of {origin.shown}; {words}; "
        f"`ragauge compare {made.shown} RUN` compares a run of today with it",
        chosen["quiet"],
    )


@runs.command(short_help="Write runs to one file, to keep or to move.")
@click.argument("references", type=TEXT, metavar="[RUN]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Every run of the history.")
@click.option("-o", "--out", metavar="FILE", required=True, help="The archive to write.")
@store_option
@formats("text", "json")
def export(
    references: tuple[str, ...], every: bool, out: str, store: str | None, format: str | None
) -> None:
    """Write each RUN whole to the archive FILE: record, rows, gold set, files, tags and marks.

    The same runs give the same bytes, on every machine and from either kind of store.

    \b
    Example:
      ragauge runs export --all -o history.zip
      ragauge runs export green@main -o baseline.zip
    """
    from ragauge.contracts.archive import Exported
    from ragauge.contracts.history import RunFilter
    from ragauge.runners.archive import export_runs
    from ragauge.text.visible import writable

    if every == bool(references):
        raise UsageError("export what? name runs, or give --all")
    path = Path(out)
    with history_at(store) as history:
        chosen = history.runs(RunFilter()) if every else found(history, references)
        ordered = export_runs(history, chosen, path)
    ids = tuple(run.id for run in ordered)
    show_report(Exported(file=writable(out), size=path.stat().st_size, runs=ids), format)


@runs.command("import", short_help="Take over the runs of an exported file.")
@click.argument("file", metavar="FILE")
@store_option
@formats("text", "json")
def import_(file: str, store: str | None, format: str | None) -> None:
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
    with proven(Path(file)) as archive, history_at(store, create=True) as history:
        imported = archive.recorded_in(history)
    show_report(imported, format)


@runs.command(short_help="Read every run again, and compare it with its seals.")
@store_option
@formats("text", "json")
@click.pass_context
def verify(ctx: click.Context, store: str | None, format: str | None) -> None:
    """Say of every run whether it is whole; exit 3 where one, or the database, is not.

    \b
    Example:
      ragauge runs verify
    """
    from ragauge.contracts.archive import verified
    from ragauge.errors import InputRejected
    from ragauge.store.checking import is_damage

    try:
        with history_at(store) as history:
            found = verified(history.verify())
    except UsageError as error:
        if is_damage(error):  # what cannot even be opened is not whole either
            raise InputRejected(*error.problems) from error
        raise
    show_report(found, format)
    ctx.exit(0 if found.passed else NOT_MEASURED)


@runs.command(short_help="Remove what no run needs.")
@store_option
@formats("text", "json")
def gc(store: str | None, format: str | None) -> None:
    """Remove leftovers of killed processes, and gold sets of removed runs.

    \b
    Example:
      ragauge runs gc
    """
    from ragauge.contracts.archive import Cleaned
    from ragauge.reports.envelope import counted
    from ragauge.store.places import LocalPlace, located

    sizes: dict[str, int] = {}  # of each folder of files, before any is removed
    place = located(place_of(store))
    if isinstance(place, LocalPlace) and place.runs.is_dir():  # a server has no folders
        for folder in place.runs.iterdir():
            size = 0
            with suppress(FileNotFoundError):  # a writer has finished with it meanwhile
                for path in [folder, *folder.rglob("*")]:
                    size += path.stat().st_size if path.is_file() else 0
            sizes[str(folder)] = size
    with history_at(store) as history:
        removed = history.gc()
    freed = sum(sizes.get(what, 0) for what in removed)
    lines = [
        f"removed {what} ({counted(sizes[what], 'byte')})" if what in sizes else f"removed {what}"
        for what in removed
    ]
    lines += [f"freed {counted(freed, 'byte')}"] if freed else []
    say(Cleaned(removed=tuple(removed), bytes=freed), lines or ["Nothing to remove."], format)
