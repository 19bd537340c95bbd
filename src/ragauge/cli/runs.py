"""`ragauge runs`: the history of what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.run_store import (
    TEXT,
    found,
    history_at,
    named,
    place_of,
    say,
    screen,
    store_option,
)
from ragauge.cli.runs_archive import export, gc, import_, verify
from ragauge.cli.settings import formats, options_of, remark, settings

if TYPE_CHECKING:
    from ragauge.contracts.archive import RunList
    from ragauge.contracts.history import History, Run, RunFilter
    from ragauge.contracts.report import Report

LIMIT = 20


@click.group(
    short_help="List, show, tag, move and check recorded runs.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
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
    from ragauge.contracts.history import RunFilter
    from ragauge.ingest.options import read_labels

    given["labels"] = read_labels(given["labels"])
    which = RunFilter(**given, limit=limit + 1)
    listed, anywhere = _listed(store, which)
    if format == "json":
        say(listed, (), format)
    elif listed.runs:
        from ragauge.reports.runs.console import render_list

        color, width = screen()
        click.echo(render_list(listed, color=color, width=width), nl=False, color=color)
    else:
        say(listed, _no_runs(listed.store, anywhere), format)


@runs.command(short_help="Show a run: who it is, and its report.")
@click.argument("run", type=TEXT, metavar="RUN")
@store_option
@click.option("--identity", is_flag=True, help="Only who it is, without its report.")
@click.option(
    "--report", "reports", metavar="FILE", multiple=True, help="Write its report: .html .md …"
)
@formats("text", "json", "markdown", "junit", "github", "csv", "html")
def show(
    run: str, store: str | None, identity: bool, reports: tuple[str, ...], format: str | None
) -> None:
    """Show who a RUN is, then the report it ended with.

    With --format json, the run itself: its record with identity, metrics, gates and seals. Every
    other form is that of its report.

    \b
    Example:
      ragauge runs show latest
      ragauge runs show green@main --report report.html
    """
    from ragauge.cli.score import forms_of, write_reports

    forms = forms_of(reports)
    with history_at(store) as history:
        chosen = history.find(run)
        report = None if identity and not forms else _report(history, chosen, needed=bool(forms))
    if report is not None and forms:
        write_reports(report, forms, quiet=False)
    _show(chosen, None if identity else report, format or "text")


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
    from ragauge.errors import UsageError

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
    from ragauge.errors import UsageError

    with history_at(store) as history:
        chosen = found(history, references)
        tagged = [run for run in chosen if run.tags]
        if tagged and not force:
            raise UsageError(
                *(f"{run.shown}: is tagged {', '.join(run.tags)}" for run in tagged),
                "nothing was removed; --force removes runs that have a tag",
            )
        history.remove([run.id for run in chosen])
    say(Removed(runs=tuple(chosen)), (f"removed {named(run)}" for run in chosen), format)


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
    from ragauge.cli.score import show as show_report
    from ragauge.runners.rescore import rescore as again
    from ragauge.runners.rescore import version_changes

    chosen = settings(quiet=quiet)
    with history_at(store) as history:
        origin = history.find(run)
        made, outcome = again(history, origin)
    show_report(outcome.report, format or "text")
    changed = version_changes(origin, made)
    versions = [f"{id} (v{was}, now v{now})" for id, (was, now) in changed.items()]
    words = f"changed since: {', '.join(versions)}" if versions else "no metric has changed since"
    remark(
        f"recorded {made.shown} from the answers of {origin.shown}; {words}; "
        f"`ragauge compare {made.shown} RUN` compares a run of today with it",
        chosen["quiet"],
    )


for command in (export, import_, verify, gc):
    runs.add_command(command)


def _listed(store: str | None, which: RunFilter) -> tuple[RunList, bool]:
    """The runs that match, and whether there are any others."""
    from ragauge.contracts.archive import RunList
    from ragauge.contracts.history import NoHistory, RunFilter
    from ragauge.reports.foreign import writable
    from ragauge.store.places import located

    told = writable(str(located(place_of(store))))
    try:
        with history_at(store) as history:
            matching = history.runs(which)
            anywhere = bool(matching) or bool(history.runs(RunFilter(limit=1)))
    except NoHistory:
        return RunList(store=told, runs=(), more=False), False
    most = which.limit - 1 if which.limit else len(matching)
    more = len(matching) > most
    return RunList(store=told, runs=tuple(matching[:most]), more=more), anywhere


def _no_runs(store: str, anywhere: bool) -> list[str]:
    if anywhere:
        return [f"No run in {store} is as asked; `ragauge runs list` shows the newest."]
    return [
        f"No runs yet in {store}. Record one:",
        "  ragauge score gold.jsonl traces.jsonl --record",
    ]


def _report(history: History, run: Run, *, needed: bool) -> Report | None:
    """The report a run ended with; None where it was kept without one and none is needed."""
    from ragauge.contracts.history import REPORT
    from ragauge.errors import UsageError
    from ragauge.reports.runs.stored import stored_report

    if REPORT not in run.record.files:
        if needed:
            raise UsageError(f"run {run.shown}: was recorded without a report")
        return None
    with history.file(run, REPORT) as path:
        return stored_report(path.read_bytes(), run.shown)


def _show(run: Run, report: Report | None, form: str) -> None:
    from ragauge.cli.score import show as show_report

    if form == "json":
        from ragauge.contracts.archive import shown_run

        say(shown_run(run), (), form)
        return
    if form == "text":
        from ragauge.reports.runs.console import render_head

        color, width = screen()
        click.echo(render_head(run, color=color, width=width), nl=False, color=color)
    if report is not None:
        if form == "text":
            click.echo()
        show_report(report, form)
