"""`ragauge runs export|import|verify|gc`: runs moved, checked and tidied up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragauge.cli.exit_codes import NOT_MEASURED
from ragauge.cli.run_store import TEXT, found, history_at, place_of, say, store_option
from ragauge.cli.settings import formats

if TYPE_CHECKING:
    from ragauge.contracts.archive import Imported, Verified

SHOWN = 20
"""Ids and leftovers that are spelled out for a person; the JSON has them all."""


@click.command(short_help="Write runs to one file, to keep or to move.")
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
    from ragauge.errors import UsageError
    from ragauge.reports.foreign import writable
    from ragauge.reports.numbers import counted
    from ragauge.runners.archive import export_runs

    if every == bool(references):
        raise UsageError("export what? name runs, or give --all")
    path = Path(out)
    with history_at(store) as history:
        chosen = history.runs(RunFilter()) if every else found(history, references)
        ordered = export_runs(history, chosen, path)
    size = path.stat().st_size
    told = f"wrote {counted(len(ordered), 'run')} to {out} ({counted(size, 'byte')})"
    ids = tuple(run.id for run in ordered)
    say(Exported(file=writable(out), size=size, runs=ids), [told], format)


@click.command("import", short_help="Take over the runs of an exported file.")
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
    say(imported, _import_lines(imported), format)


@click.command(short_help="Read every run again, and compare it with its seals.")
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
    from ragauge.errors import InputRejected, UsageError
    from ragauge.store.checking import is_damage

    try:
        with history_at(store) as history:
            found = verified(history.verify())
    except UsageError as error:
        if is_damage(error):  # what cannot even be opened is not whole either
            raise InputRejected(*error.problems) from error
        raise
    say(found, _verify_lines(found), format)
    ctx.exit(0 if found.passed else NOT_MEASURED)


@click.command(short_help="Remove what no run needs.")
@store_option
@formats("text", "json")
def gc(store: str | None, format: str | None) -> None:
    """Remove leftovers of killed processes, and gold sets of removed runs.

    \b
    Example:
      ragauge runs gc
    """
    from ragauge.contracts.archive import Cleaned

    sizes = _sizes(store)
    with history_at(store) as history:
        removed = history.gc()
    freed = sum(sizes.get(what, 0) for what in removed)
    say(Cleaned(removed=tuple(removed), bytes=freed), _gc_lines(removed, sizes), format)


def _sizes(store: str | None) -> dict[str, int]:
    """The bytes in each folder of runs' files, before any is removed; a server has no folders."""
    from ragauge.store.places import LocalPlace, located

    place = located(place_of(store))
    if not isinstance(place, LocalPlace) or not place.runs.is_dir():
        return {}
    return {str(folder): _size(folder) for folder in place.runs.iterdir()}


def _size(folder: Path) -> int:
    size = 0
    with suppress(FileNotFoundError):  # a writer has finished with it meanwhile
        for path in [folder, *folder.rglob("*")]:
            size += path.stat().st_size if path.is_file() else 0
    return size


def _gc_lines(removed: list[str], sizes: dict[str, int]) -> Iterator[str]:
    from ragauge.reports.numbers import counted

    for what in removed:
        size = f" ({counted(sizes[what], 'byte')})" if what in sizes else ""
        yield f"removed {what}{size}"
    freed = sum(sizes.get(what, 0) for what in removed)
    if freed:
        yield f"freed {counted(freed, 'byte')}"
    if not removed:
        yield "Nothing to remove."


def _import_lines(imported: Imported) -> Iterator[str]:
    from ragauge.contracts.history import ID_SHOWN
    from ragauge.reports.numbers import counted

    yield f"imported {counted(len(imported.imported), 'run')}"
    yield from _first(id[:ID_SHOWN] for id in imported.imported)
    if imported.present:
        yield f"{counted(len(imported.present), 'run was', 'runs were')} there already"
    if imported.tags:
        yield f"tags: {', '.join(sorted(imported.tags))}"
    for finding in imported.findings:
        yield f"left as it is: {finding.message}"


def _verify_lines(verified: Verified) -> Iterator[str]:
    from ragauge.contracts.history import ID_SHOWN
    from ragauge.reports.numbers import counted

    for id, faults in sorted(verified.faults.items()):
        yield f"run {id[:ID_SHOWN]} is not whole:" if len(id) > ID_SHOWN else "rows of no run:"
        for fault in faults:
            yield f"  {fault}"
    yield f"{counted(len(verified.whole), 'run is', 'runs are')} whole"
    if verified.leftovers:
        count = counted(len(verified.leftovers), "file or folder", "files or folders")
        yield f"{count} of no run: a writer is at work, or was killed;"
        yield "`ragauge runs gc` removes what nobody has touched for an hour:"
        yield from _first(verified.leftovers)


def _first(names: Iterable[str]) -> Iterator[str]:
    """The first names, a line each, and how many there are beyond them."""
    every = list(names)
    for name in every[:SHOWN]:
        yield f"  {name}"
    if len(every) > SHOWN:
        yield f"  and {len(every) - SHOWN:,} more; see --format json"
