"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from ragauge.errors import UsageError
from ragauge.store.files import whole, write_whole
from ragauge.store.rows import GROUP_ROWS, parquet_rows


def test_a_file_replaces_the_old_one_only_when_it_is_whole(tmp_path):
    path = tmp_path / "report.json"
    write_whole(path, b"old")
    with pytest.raises(RuntimeError), whole(path) as part:
        part.write_bytes(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"old"
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["no/such/folder.json", "folder"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=name.partition("/")[0]):
        write_whole(tmp_path / name, b"")


def frames(count: int, height: int = 1_000) -> list[pl.DataFrame]:
    return [pl.DataFrame({"line": range(n * height, (n + 1) * height)}) for n in range(count)]


def test_rows_keep_their_order_over_many_groups(tmp_path):
    path = tmp_path / "rows.parquet"
    many = 3 * GROUP_ROWS // 1_000
    with parquet_rows(path) as writer:
        for frame in frames(many):
            writer.add(frame)
    assert pl.read_parquet(path)["line"].to_list() == list(range(many * 1_000))
    assert list(tmp_path.iterdir()) == [path]


def test_rows_of_a_failed_run_leave_nothing(tmp_path):
    with pytest.raises(RuntimeError), parquet_rows(tmp_path / "rows.parquet") as writer:
        writer.add(frames(1)[0])
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_ends_in_words(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    from ragauge.store.rows import RowWriter

    writer = RowWriter(Path("/dev/full"), Path("rows.parquet"))
    for frame in frames(200):
        writer.add(frame)
    with pytest.raises(UsageError, match=r"rows.parquet: cannot be written"):
        writer.close()
    with pytest.raises(UsageError, match="cannot be written"):
        writer.add(frames(1)[0])  # no later row is taken, and so silently lost
