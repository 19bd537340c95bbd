"""Calibrations in the run store: kept by `ragauge calibrate judge`, shown by later evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragauge.cli.run_store import place_of, told
from ragauge.cli.settings import remark, settings
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.contracts.answer_calibration import AnswerCalibrationReport
    from ragauge.store.reply_cache import StoredReplies


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
        found = _opened(place, create=settings(store=store)["store"] is not None)
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
