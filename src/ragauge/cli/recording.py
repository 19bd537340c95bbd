"""`--record`: a command's run goes into the history."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragauge.cli.run_store import opened, place_of, told
from ragauge.cli.settings import options_of, remark

if TYPE_CHECKING:
    from ragauge.contracts.history import History
    from ragauge.contracts.score import Outcome

recording_options = options_of("record", "store", "name", "label", "keep_texts")
"""What a command that can record takes."""


class Recorder:
    """Keeps an outcome, or does nothing where nobody asked for it."""

    def __init__(
        self, history: History | None, chosen: dict[str, Any], refused: Sequence[str] = ()
    ) -> None:
        from ragauge.ingest.options import read_labels, read_name

        self._refused = refused
        self._history, self._name = history, read_name(chosen["name"])
        self._quiet, self._texts = chosen["quiet"], chosen["keep_texts"]
        self._labels = read_labels(chosen["label"])

    @property
    def on(self) -> bool:
        return self._history is not None

    def keep(self, outcome: Outcome[Any]) -> None:
        """Record a run, and say under which id it is found; it has been shown by now."""
        from ragauge.errors import InputRejected, RagaugeError

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
                keep=self._texts,
            )
        except RagaugeError as error:
            raise InputRejected(*error.problems, fact) from error
        again = f"ragauge runs show {run.shown}{_store_flag()}"
        remark(f"recorded {run.shown}; `{again}` shows it", self._quiet)


def _store_flag() -> str:
    """The flag to find the history again, where one was given; a setting is found anyway."""
    store = click.get_current_context().params.get("store")
    return f" --store {shlex.quote(told(store))}" if store else ""


@contextmanager
def recorder(chosen: dict[str, Any]) -> Iterator[Recorder]:
    """What keeps a run. The history is opened first, so that what is wrong with it is said early.

    A history that cannot be opened does not cost the report: it is measured and shown, and then
    the command ends with exit code 3.
    """
    from ragauge.errors import RagaugeError
    from ragauge.store.places import located
    from ragauge.text.visible import visible

    if not chosen["record"]:
        yield Recorder(None, chosen)
        return
    place = place_of(chosen["store"])
    located(place)  # a place that cannot be understood is a mistake in the command
    with ExitStack() as stack:
        history: History | None = None
        problems: tuple[str, ...] = ()
        try:
            history = stack.enter_context(opened(place, create=True))
        except RagaugeError as error:
            problems = tuple(error.problems)
            early = visible("; ".join(problems))
            remark(f"ragauge: {early}; the run goes on, and is not recorded", chosen["quiet"])
        yield Recorder(history, chosen, problems)


@contextmanager
def rows_of(recorder: Recorder, out: str | None) -> Iterator[str | None]:
    """Where to write a row for every record: where the user wants them, or where history will."""
    if out or not recorder.on:
        yield out
        return
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / "records.parquet")
