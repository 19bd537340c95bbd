"""Parts of a run's files, from a folder and from pieces."""

from __future__ import annotations

from random import Random

import pytest
from sqlalchemy import delete, func, select

from ragauge.errors import UsageError
from ragauge.store import tables
from ragauge.store.files import PIECE
from ragauge.store.history import open_history
from ragauge.store.places import LocalPlace, located
from tests.store.runs_made import new_run
from tests.store.test_migrations import bare

LENGTHS = {"empty": 0, "small": 7, "one": PIECE, "over": PIECE + 1, "some": 2 * PIECE + 500}


def content(name: str) -> bytes:
    return Random(name).randbytes(LENGTHS[name])


@pytest.fixture
def run(history, tmp_path):
    contents = {name: content(name) for name in LENGTHS}
    return history.record(new_run(1, folder=tmp_path / "in", contents=contents))


@pytest.mark.parametrize("name", LENGTHS)
def test_a_part_is_what_lies_between_two_bytes(history, run, name):
    whole = content(name)
    borders = {0, 1, 6, 7, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, len(whole) - 1, len(whole)}
    borders = sorted(each for each in borders if each >= 0)
    for start in borders:
        for stop in (*borders, 10**30):
            found = history.pages.part(run, name, start, stop)
            assert found == whole[start : max(start, stop)], (start, stop)
    assert history.pages.part(run, name, -(10**30), 5) == whole[:5]
    assert history.pages.part(run, name, 10**30, 10**31) == b""


def test_the_size_of_a_file_is_the_one_that_was_sealed(history, run):
    assert {name: history.pages.size(run, name) for name in LENGTHS} == LENGTHS
    assert history.pages.size(run, "no such") is None


@pytest.mark.parametrize("name", ["no such", "../small", "/etc/passwd", "", "\0", "\ud800"])
def test_a_file_that_the_run_never_had_is_told_with_those_it_has(history, run, name):
    with pytest.raises(UsageError, match=r"was recorded without .*; the files it has: empty"):
        history.pages.part(run, name, 0, 5)


@pytest.mark.parametrize("name", ["some", "empty"])
def test_a_file_that_is_gone_is_told(history, run, place, name):
    found = located(place)
    if isinstance(found, LocalPlace):
        (found.runs / run.id / name).unlink()
    else:
        with bare(place) as connection:
            connection.execute(delete(tables.file_pieces).where(tables.file_pieces.c.number == 0))
    for start, stop in ((0, 1), (0, 0)):
        with pytest.raises(UsageError, match=f"its file {name} is gone; `ragauge runs verify`"):
            history.pages.part(run, name, start, stop)


def test_all_pieces_but_the_last_have_one_size(postgres, tmp_path):
    """A part is found by dividing: pieces of other sizes would give other bytes."""
    history = open_history(postgres)
    contents = {name: content(name) for name in LENGTHS}
    history.record(new_run(1, folder=tmp_path / "in", contents=contents))
    history.close()
    pieces = tables.file_pieces.c
    held = select(pieces.name, func.length(pieces.content)).order_by(pieces.name, pieces.number)
    sizes: dict[str, list[int]] = {}
    with bare(postgres) as connection:
        for name, size in connection.execute(held):
            sizes.setdefault(name, []).append(size)
    assert {name: sum(found) for name, found in sizes.items()} == LENGTHS
    assert all(size == PIECE for found in sizes.values() for size in found[:-1])
