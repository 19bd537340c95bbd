"""Disks that are full, folders that are locked, servers that go away: words, and nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Boolean

from ragauge.contracts.history import NewRun, RunFilter
from ragauge.errors import UsageError
from ragauge.store import tables
from ragauge.store.checking import is_damage
from ragauge.store.database import _OURS
from ragauge.store.history import open_history
from ragauge.store.sql import encoded_units
from tests.store.runs_made import new_run, unit_rows

AS_ROOT = os.geteuid() == 0


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("needs the right to mount")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder while nobody may write in it, not even root."""
    if AS_ROOT:
        with mounted(folder, "--bind", str(folder)):
            subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
            yield
        return
    folder.chmod(0o555)
    try:
        yield
    finally:
        folder.chmod(0o755)


def store_with_a_run(folder: Path) -> str:
    place = str(folder / "store")
    history = open_history(place)
    history.record(new_run(1, folder=folder / "in"))
    history.close()
    return place


def test_a_full_disk_ends_in_words_and_keeps_what_was_there(tmp_path):
    """There is no room for a run's files, then none for its rows; then room is made."""
    disk = tmp_path / "disk"
    disk.mkdir()
    ballast = disk / "ballast"
    with mounted(disk, "-t", "tmpfs", "-o", "size=4m", "none"):
        ballast.write_bytes(bytes(1 << 20))
        with closing(open_history(str(disk / "store"))) as history:
            first = history.record(new_run(0, folder=tmp_path / "in"))
            files = new_run(1, folder=tmp_path / "in", contents={"report.json": bytes(4 << 20)})
            with pytest.raises(UsageError, match=r"No space left on device; nothing of the run"):
                history.record(files)
            rows = new_run(2, folder=tmp_path / "in", units=unit_rows(50_000))
            with pytest.raises(UsageError, match=r"the disk (is full|refused)"):
                history.record(rows)
            assert [run.id for run in history.runs(RunFilter())] == [first.id]
            checked = history.verify()
            assert (checked.whole, checked.faults, checked.leftovers) == ((first.id,), {}, ())
            ballast.unlink()
            small = history.record(new_run(3, folder=tmp_path / "in"))
            assert history.verify().whole == (first.id, small.id)


def test_a_disk_too_full_for_a_store_ends_in_words(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    with (
        mounted(disk, "-t", "tmpfs", "-o", "size=24k", "none"),
        pytest.raises(UsageError, match=r"the disk (is full|refused)"),
    ):
        open_history(str(disk / "store"))


def test_a_database_that_may_not_grow_ends_in_words(tmp_path):
    """As above, without the right to mount: SQLite's own limit is the disk's end."""
    history = open_history(str(tmp_path / "store"))
    first = history.record(new_run(0, folder=tmp_path / "in"))
    with history._database.reading() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 5}")
    run = new_run(1, folder=tmp_path / "in", units=unit_rows(5_000))
    with pytest.raises(UsageError, match=r"history.sqlite: the disk is full: nothing of this"):
        history.record(run)
    checked = history.verify()
    assert (checked.whole, checked.faults, checked.leftovers) == ((first.id,), {}, ())
    history.close()


def test_a_file_that_may_not_grow_ends_in_words(tmp_path):
    """Under `ulimit -f`, in a process of its own."""
    place = store_with_a_run(tmp_path)
    program = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from ragauge.errors import UsageError\n"
        "from ragauge.store.history import open_history\n"
        "from tests.store.runs_made import new_run\n"
        "run = new_run(9, folder=Path(sys.argv[2]), contents={'report.json': bytes(1 << 20)})\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))\n"
        "try:\n"
        "    open_history(sys.argv[1]).record(run)\n"
        "except UsageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, place, str(tmp_path / "in")],
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "File too large; nothing of the run was kept" in done.stdout
    history = open_history(place)
    checked = history.verify()
    assert (len(checked.whole), checked.faults, checked.leftovers) == (1, {}, ())
    history.close()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_a_history_that_cannot_be_written_can_be_read(tmp_path):
    place = store_with_a_run(tmp_path)
    with read_only(tmp_path / "store"):
        history = open_history(place)
        (run,) = history.runs(RunFilter())
        assert len(list(history.units(run.id))) == run.record.units
        with history.file(run, "report.json") as path:
            assert path.read_bytes() == b'{"run": 1}'
        assert history.verify().whole == (run.id,)
        for writes in (
            lambda: history.record(new_run(2, folder=tmp_path / "in")),
            lambda: history.record(new_run(3)),
            lambda: history.tag(run.id, "v1"),
            lambda: history.remove([run.id]),
            history.gc,
        ):
            with pytest.raises(UsageError, match=r"cannot be written"):
                writes()
        history.close()


def test_what_a_writer_left_in_the_log_is_read_too(tmp_path):
    """A killed writer's log is part of the history, also where nobody may write."""
    writer = open_history(str(tmp_path / "alive"))
    run = writer.record(new_run(1))
    shutil.copytree(tmp_path / "alive", tmp_path / "copy")
    writer.close()
    assert (tmp_path / "copy" / "history.sqlite-wal").stat().st_size
    with read_only(tmp_path / "copy"):
        history = open_history(str(tmp_path / "copy"))
        assert [found.id for found in history.runs(RunFilter())] == [run.id]
        history.close()


def test_a_store_that_cannot_be_made_is_named(tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir()
    with read_only(locked):
        with pytest.raises(UsageError, match=r"locked.*: cannot be (made|written)"):
            open_history(str(locked / "store"))
        with pytest.raises(UsageError, match=r"locked: cannot be written"):
            open_history(str(locked / "store.db"))


def test_a_place_with_something_else_in_it_is_named(tmp_path):
    (tmp_path / "notes.db").write_bytes(b"Dear diary, today I measured nothing. " * 50)
    (tmp_path / "notes").write_bytes(b"Dear diary")
    (tmp_path / "folder.db").mkdir()
    for name, words in {
        "notes.db": "is no SQLite database; move the file away",
        "notes": "is no SQLite database",
        "folder.db": "is a folder, where the history's database should be",
        "notes/deeper": "notes: is a file, where a folder should be",
        "notes/deeper.db": "notes: is a file, where a folder should be",
    }.items():
        with pytest.raises(UsageError, match=words):
            open_history(str(tmp_path / name))


def test_a_file_where_the_runs_should_be_is_named(tmp_path):
    history = open_history(str(tmp_path / "store"))
    (tmp_path / "store" / "runs").write_bytes(b"")
    with pytest.raises(UsageError, match=r"runs: cannot be written: File exists"):
        history.record(new_run(1, folder=tmp_path / "in"))
    assert history.runs(RunFilter()) == []
    history.close()


def test_a_damaged_database_is_called_damaged(tmp_path):
    history = open_history(str(tmp_path / "store"))
    history.record(new_run(1, units=unit_rows(2_000)))
    history.close()
    path = tmp_path / "store" / "history.sqlite"
    content = bytearray(path.read_bytes())
    content[40_960:-40_960] = b"\xff" * (len(content) - 81_920)
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"the database is damaged; restore it from a copy"):
        open_history(str(tmp_path / "store"))


def test_a_lock_that_is_kept_is_waited_for_and_then_named(tmp_path):
    place = store_with_a_run(tmp_path)
    history = open_history(place, patience_s=0.05)
    with closing(sqlite3.connect(tmp_path / "store" / "history.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UsageError, match=r"another process has kept it locked for 0.05 s"):
            history.record(new_run(2, folder=tmp_path / "in"))
        assert len(history.runs(RunFilter())) == 1  # readers are not kept waiting
    assert history.verify().leftovers == ()
    history.record(new_run(2, folder=tmp_path / "in"))
    history.close()


def test_a_lock_on_a_server_is_waited_for_and_then_named(postgres):
    import psycopg

    history = open_history(postgres, patience_s=0.05)
    with psycopg.connect(postgres) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [_OURS])
        with pytest.raises(UsageError, match=r"another process has kept it locked for 0.05 s"):
            history.record(new_run(1))
        assert history.runs(RunFilter()) == []
    history.record(new_run(1))
    history.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://u:secret@127.0.0.1:1/rag", "no connection to the server"),
        ("postgresql://u:secret@/rag?host=/no/such/folder", "no connection to the server"),
        ("postgresql://u:secret@127.0.0.1/rag?nonsense=1", "nonsense"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_the_password(url, words):
    with pytest.raises(UsageError, match=words) as refused:
        open_history(url)
    assert "secret" not in str(refused.value)
    assert str(refused.value).startswith("postgresql://***@")


def test_a_wrong_password_and_a_missing_database_are_told_apart(postgres_server):
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE ROLE keeper LOGIN PASSWORD 'right'")
        row = connection.execute("SHOW hba_file").fetchone()
        assert row is not None
        rules = Path(row[0])
        before = rules.read_text()
        rules.write_text(f"local all keeper scram-sha-256\n{before}")
        connection.execute("SELECT pg_reload_conf()")
        try:
            host = postgres_server.partition("?")[2]
            for url, words in {
                f"postgresql://keeper:wrong@/postgres?{host}": "no connection .*password auth",
                f"postgresql://keeper:right@/nowhere?{host}": 'database "nowhere" does not exist',
                f"postgresql://keeper:right@/postgres?{host}": "may not do that in this database",
                f"postgresql://postgres@/postgres?{host}&options=-csearch_path%3Dnone": "schema",
            }.items():
                with pytest.raises(UsageError, match=words) as refused:
                    open_history(url)
                assert "wrong" not in str(refused.value) and "right;" not in str(refused.value)
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")


@pytest.fixture(params=["while they are encoded", "while they are inserted"])
def midway(request, monkeypatch) -> Callable[[NewRun, Callable[[], object]], NewRun]:
    """A run, in the middle of whose rows something happens."""

    def meddled(run: NewRun, happens: Callable[[], object]) -> NewRun:
        if request.param == "while they are encoded":
            return msgspec.structs.replace(run, units=Interrupted(run.units, happens))
        happen_while_inserted(monkeypatch, len(run.units) // 2, happens)
        return run

    return meddled


class Interrupted(Sequence[Any]):
    """Units during whose reading something happens."""

    def __init__(self, rows: Sequence[Any], happens: Callable[[], object]) -> None:
        self._rows, self._happens = rows, happens

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: Any) -> Any:
        if place == len(self._rows) // 2:
            self._happens()
        return self._rows[place]


def happen_while_inserted(
    monkeypatch: pytest.MonkeyPatch, row: int, happens: Callable[[], object]
) -> None:
    @contextmanager
    def encoded(run: NewRun) -> Iterator[Iterator[dict[str, Any]]]:
        with encoded_units(run) as units:
            yield (each for place, each in enumerate(units) if place != row or not happens())

    monkeypatch.setattr("ragauge.store.sql.encoded_units", encoded)


def test_a_server_that_goes_away_midway_keeps_nothing_and_can_be_asked_again(postgres, monkeypatch):
    import psycopg

    history = open_history(postgres)
    run = new_run(1, units=unit_rows(10_000))

    def cut() -> None:
        with psycopg.connect(postgres) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'ragauge'"
            )

    happen_while_inserted(monkeypatch, 5_000, cut)
    with pytest.raises(UsageError, match=r"went away: .*is not kept twice"):
        history.record(run)
    monkeypatch.undo()
    assert history.runs(RunFilter()) == []
    history.record(run)
    assert history.verify().whole == (run.record.id,)
    history.close()


def test_ctrl_c_while_recording_leaves_nothing(history, tmp_path, midway, monkeypatch):
    run = new_run(1, folder=tmp_path / "in")

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        history.record(midway(run, interrupt))
    monkeypatch.undo()
    checked = history.verify()
    assert (checked.whole, checked.leftovers) == ((), ())
    history.record(run)


def test_without_the_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match=r"pip install 'ragauge\[postgres\]'"):
        open_history("postgresql://u:secret@h/rag")


def test_verify_asks_the_database_about_itself(tmp_path):
    """A row gone from its table that an index still knows: a run may read as if it were whole."""
    history = open_history(str(tmp_path / "store"))
    history.record(new_run(1, folder=tmp_path / "in"))
    history.close()
    with closing(sqlite3.connect(tmp_path / "store" / "history.sqlite")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        find = "SELECT name, tbl_name, rootpage, sql FROM sqlite_master WHERE type = 'index'"
        index = connection.execute(f"{find} AND sql IS NOT NULL").fetchone()
        table = index[1]
        connection.execute("DELETE FROM sqlite_master WHERE name = ?", index[:1])
        connection.commit()
    with closing(sqlite3.connect(tmp_path / "store" / "history.sqlite")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"DELETE FROM {table}")
        connection.execute("PRAGMA writable_schema = ON")
        values = "('index', ?, ?, ?, ?)"
        connection.execute(f"INSERT INTO sqlite_master VALUES {values}", index)
        connection.commit()
    history = open_history(str(tmp_path / "store"))
    with pytest.raises(UsageError, match="damaged") as refused:
        history.verify()
    history.close()
    assert is_damage(refused.value)


UNSEALED = {"rag_traces", "judge_replies"}
"""Tables of no run; `store/tables.py` says that they are not sealed."""
COLUMNS_SEALED = [
    (table.name, column.name)
    for table in tables.metadata.sorted_tables
    if table.name not in {*UNSEALED, "file_pieces"}  # empty on SQLite: files are in a folder
    for column in table.c
]


@pytest.fixture(scope="module")
def sealed_history(tmp_path_factory) -> Path:
    """Two runs with all they can have: files, labels, tags and marks."""
    folder = tmp_path_factory.mktemp("sealed")
    history = open_history(str(folder / "store"))
    first = history.record(new_run(1, folder=folder))
    second = history.record(new_run(2, folder=folder, passed=False))
    history.tag(first.id, "release")
    history.regressed(second.id, first.id)
    assert history.verify().whole == (first.id, second.id)
    history.close()
    return folder / "store"


def flipped(value: object) -> list[object]:
    """Other values of the same kind."""
    match value:
        case int():
            return [value + 100]
        case float():
            return [value + 1]
        case bytes():
            return [value + b"x"]
        case None:
            return ["x"]
        case _:
            return [f"{value}x", f"{value}"[:-1]]


@pytest.mark.parametrize(("table", "column"), COLUMNS_SEALED)
def test_verify_sees_a_change_of_any_column(sealed_history, tmp_path, table, column):
    with closing(sqlite3.connect(sealed_history / "history.sqlite")) as database:
        (value,) = database.execute(f'SELECT "{column}" FROM "{table}" LIMIT 1').fetchone()
    truth = isinstance(tables.metadata.tables[table].c[column].type, Boolean)
    for number, other in enumerate([1 - value, 17] if truth else flipped(value)):
        place = tmp_path / str(number)
        shutil.copytree(sealed_history, place)
        with closing(sqlite3.connect(place / "history.sqlite")) as database:
            keys = [key.name for key in tables.metadata.tables[table].primary_key]
            listed = ", ".join(f'"{key}"' for key in keys)
            database.execute(
                f'UPDATE "{table}" SET "{column}" = ? WHERE ({listed}) = '
                f'(SELECT {listed} FROM "{table}" LIMIT 1)',
                (other,),
            )
            database.commit()
        history = open_history(str(place))
        try:
            assert history.verify().faults, f"{value!r} -> {other!r}"
        finally:
            history.close()
