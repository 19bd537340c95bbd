"""What commands with a history share: where it is, how runs are found in it and recorded."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.command import deliver, exit_code, forms_of, refuse_overwriting, remark
from ragauge.errors import InputRejected, RagaugeError, UsageError

if TYPE_CHECKING:
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport
    from ragauge.contracts.history import History, Run
    from ragauge.contracts.options import AuditOptions, Recording, TraceEvalOptions
    from ragauge.contracts.report import Outcome, Report
    from ragauge.store.reply_cache import StoredReplies


def place_of(store: str | None) -> str:
    """The place of the history: as chosen, or the project's or user's own."""
    from ragauge.store.places import default_place

    return store or default_place(Path.cwd(), os.environ)


def told(store: str) -> str:
    """The place a user named, for others to see: without the password of a server."""
    from ragauge.store.places import ServerPlace, located
    from ragauge.text.visible import writable

    place = located(store)
    return writable(str(place) if isinstance(place, ServerPlace) else store)


@contextmanager
def history_at(store: str | None, *, create: bool = False) -> Iterator[History]:
    """The history a user means, for as long as the context lasts."""
    with opened(place_of(store), create=create) as history:
        yield history


@contextmanager
def opened(place: str, *, create: bool) -> Iterator[History]:
    """The history at a place, closed when the context ends; who only reads makes none."""
    from ragauge.store.history import open_history

    history = open_history(place, create=create)
    try:
        yield history
    except (RagaugeError, OSError, click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        # A damaged row can be anything; what is not a fault of the store is raised as it is.
        from ragauge.store.checking import damage

        if found := damage(history):
            raise UsageError(f"{told(place)}: {found}") from error
        raise
    finally:
        history.close()


def found(history: History, references: Iterable[str]) -> list[Run]:
    """The runs that a user names, each once; raises UsageError with every name that is none."""
    runs: dict[str, Run] = {}
    problems: list[str] = []
    for reference in references:
        try:
            run = history.find(reference)
            runs[run.id] = run
        except UsageError as error:
            problems += error.problems
    if problems:
        raise UsageError(*problems)
    return list(runs.values())


class Delivery:
    """What a measurement may know of where it goes."""

    def __init__(self, stack: ExitStack, *, on: bool) -> None:
        self._stack, self.on = stack, on
        """Whether it is recorded."""

    def rows(self, out: str | None) -> str | None:
        """Where to write a row for every record: where the user wants them, or history will."""
        if out or not self.on:
            return out
        folder = self._stack.enter_context(tempfile.TemporaryDirectory())
        return str(Path(folder) / "records.parquet")


def delivered(
    output: Recording,
    kind: type[Report],
    measure: Callable[[Delivery], Outcome[Any] | None],
    read: Sequence[str | None],
    written: Sequence[str | None] = (),
    docs: str | None = None,
) -> int | None:
    """Measure, write and show the report, and record the run if that is wanted; the exit code.

    None where nothing came of it. What is wrong with the files and the history is said first. A
    history that cannot be opened does not cost the report: it is measured and shown, and then the
    command ends with exit code 3.
    """
    from ragauge.ingest.configuration import read_labels, read_name
    from ragauge.runners.recording import record
    from ragauge.store.places import located
    from ragauge.text.visible import visible

    forms = forms_of(output.reports, kind)
    refuse_overwriting(read, [*forms, *(one or None for one in written)], docs)
    name, labels = read_name(output.name), read_labels(output.label)
    with ExitStack() as stack:
        history: History | None = None
        problems: tuple[str, ...] = ()
        if output.record:
            place = place_of(output.store)
            located(place)  # a place that cannot be understood is a mistake in the command
            try:
                history = stack.enter_context(opened(place, create=True))
            except RagaugeError as error:
                problems = tuple(error.problems)
                early = visible("; ".join(problems))
                remark(f"ragauge: {early}; the run goes on, and is not recorded", output.quiet)
        outcome = measure(Delivery(stack, on=history is not None))
        if outcome is None:
            return None
        deliver(outcome.report, forms, output)
        fact = "the run was measured and shown, but not recorded"
        if problems:
            raise InputRejected(*problems, fact)
        if history is not None:
            try:
                run = record(outcome, history, name=name, labels=labels, keep=output.keep_texts)
            except RagaugeError as error:
                raise InputRejected(*error.problems, fact) from error
            # A history that a setting names is found without the flag.
            store = click.get_current_context().params.get("store")
            flag = f" --store {shlex.quote(told(store))}" if store else ""
            line = f"recorded {run.shown}; `ragauge runs show {run.shown}{flag}` shows it"
            remark(line, output.quiet)
    return exit_code(outcome.report, getattr(output, "require_gates", False))


@contextmanager
def kept_at(store: str | None, *, create: bool) -> Iterator[StoredReplies | None]:
    """Replies, vectors and calibrations that are kept; None where there are none and none made."""
    from ragauge.store.places import LocalPlace, located

    place = place_of(store)
    local = located(place)
    if not create and isinstance(local, LocalPlace) and not local.database.exists():
        yield None
        return
    from ragauge.store.reply_cache import open_replies

    with closing(open_replies(place, create=create)) as replies:
        yield replies


@contextmanager
def calibrations_at(store: str | None) -> Iterator[StoredReplies | None]:
    """The calibrations of the store, None where there is none; no evaluation fails for want of it.

    A store that cannot be read is told of: what it holds is not shown then.
    """
    with ExitStack() as stack:
        found = None
        try:
            found = stack.enter_context(kept_at(store, create=False))
        except UsageError as error:
            remark(f"no calibration of the store is shown: {error}", quiet=False)
        yield found


def keep_in_store(report: AnswerCalibrationReport, store: str | None, quiet: bool) -> None:
    """Keep what a calibration found, where there is a store or the user names one."""
    from ragauge.runners.answers.kept_calibrations import keep_agreement

    try:
        with kept_at(store, create=store is not None) as found:
            if found is None:
                remark("not kept in a store, for there is none yet; name one with --store", quiet)
                return
            kept = keep_agreement(report, found)
    except UsageError as error:
        remark(f"not kept in the store: {error}", quiet=False)
        return
    if kept:
        remark(f"kept in {told(place_of(store))}, for later reports of this judge", quiet)


def remark_logs(options: AuditOptions | TraceEvalOptions, quiet: bool) -> None:
    """Say where the log lines of an audit went."""
    for written in (options.log, options.to_db and told(options.to_db)):
        if written:
            remark(f"wrote {written}", quiet)
