"""What commands with a history share: where it is, how runs are found in it and recorded."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
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
    """Brings an outcome where it is wanted: to files, to stdout, and to the history if asked."""

    def __init__(
        self,
        history: History | None,
        output: Recording,
        forms: dict[Path, str],
        refused: Sequence[str],
    ) -> None:
        from ragauge.ingest.configuration import read_labels, read_name

        self._history, self._refused = history, refused
        self._name, self._labels = read_name(output.name), read_labels(output.label)
        self._output, self._forms = output, forms
        self.stack = ExitStack()
        """What it needs until it is done."""

    @property
    def on(self) -> bool:
        """Whether it is recorded."""
        return self._history is not None

    def rows(self, out: str | None) -> str | None:
        """Where to write a row for every record: where the user wants them, or history will."""
        if out or not self.on:
            return out
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        return str(Path(folder) / "records.parquet")

    def deliver(self, outcome: Outcome[Any]) -> None:
        """Write and show the report, then record the run and say under which id it is found."""
        deliver(outcome.report, self._forms, self._output)
        fact = "the run was measured and shown, but not recorded"
        if self._refused:
            raise InputRejected(*self._refused, fact)
        if self._history is None:
            return
        from ragauge.runners.recording import record

        try:
            run = record(
                outcome,
                self._history,
                name=self._name,
                labels=self._labels,
                keep=self._output.keep_texts,
            )
        except RagaugeError as error:
            raise InputRejected(*error.problems, fact) from error
        # A history that a setting names is found without the flag.
        store = click.get_current_context().params.get("store")
        flag = f" --store {shlex.quote(told(store))}" if store else ""
        line = f"recorded {run.shown}; `ragauge runs show {run.shown}{flag}` shows it"
        remark(line, self._output.quiet)


@contextmanager
def delivering(
    output: Recording,
    kind: type[Report],
    read: Sequence[str | None],
    written: Sequence[str | None] = (),
    docs: str | None = None,
) -> Iterator[Delivery]:
    """What delivers a report of a kind. What is wrong with its files and the history is said first.

    A history that cannot be opened does not cost the report: it is measured and shown, and then
    the command ends with exit code 3.
    """
    from ragauge.store.places import located
    from ragauge.text.visible import visible

    forms = forms_of(output.reports, kind)
    refuse_overwriting(read, [*forms, *(one or None for one in written)], docs)
    if not output.record:
        yield Delivery(None, output, forms, ())
        return
    place = place_of(output.store)
    located(place)  # a place that cannot be understood is a mistake in the command
    with ExitStack() as stack:
        history: History | None = None
        problems: tuple[str, ...] = ()
        try:
            history = stack.enter_context(opened(place, create=True))
        except RagaugeError as error:
            problems = tuple(error.problems)
            early = visible("; ".join(problems))
            remark(f"ragauge: {early}; the run goes on, and is not recorded", output.quiet)
        delivery = Delivery(history, output, forms, problems)
        with delivery.stack:
            yield delivery


def delivered(
    output: Recording,
    kind: type[Report],
    measure: Callable[[Delivery], Outcome[Any]],
    read: Sequence[str | None],
    written: Sequence[str | None] = (),
    docs: str | None = None,
) -> int:
    """Measure and deliver what came of it; the exit code."""
    with delivering(output, kind, read, written, docs) as delivery:
        outcome = measure(delivery)
        delivery.deliver(outcome)
    return exit_code(outcome.report, getattr(output, "require_gates", False))


@contextmanager
def calibrations_at(store: str | None) -> Iterator[StoredReplies | None]:
    """The calibrations of the store, None where there is none; no evaluation fails for want of it.

    A store that cannot be read is told of: what it holds is not shown then.
    """
    found = None
    try:
        found = _opened(place_of(store), create=False)
    except UsageError as error:
        remark(f"no calibration of the store is shown: {error}", quiet=False)
    try:
        yield found
    finally:
        if found is not None:
            found.close()


def keep_in_store(report: AnswerCalibrationReport, store: str | None, quiet: bool) -> None:
    """Keep what a calibration found, where there is a store or the user names one."""
    from ragauge.runners.answers.kept_calibrations import keep_agreement

    place = place_of(store)
    try:
        found = _opened(place, create=store is not None)
        if found is None:
            remark("not kept in a store, for there is none yet; name one with --store", quiet)
            return
        try:
            kept = keep_agreement(report, found)
        finally:
            found.close()
    except UsageError as error:
        remark(f"not kept in the store: {error}", quiet=False)
        return
    if kept:
        remark(f"kept in {told(place)}, for later reports of this judge", quiet)


def _opened(place: str, *, create: bool) -> StoredReplies | None:
    """What is kept at a place; None where nothing was ever kept there."""
    from ragauge.store.places import LocalPlace, located

    local = located(place)
    if not create and isinstance(local, LocalPlace) and not local.database.exists():
        return None
    from ragauge.store.reply_cache import open_replies

    return open_replies(place, create=create)


def remark_logs(options: AuditOptions | TraceEvalOptions, quiet: bool) -> None:
    """Say where the log lines of an audit went."""
    for written in (options.log, options.to_db and told(options.to_db)):
        if written:
            remark(f"wrote {written}", quiet)
