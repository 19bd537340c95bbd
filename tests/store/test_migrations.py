"""Old histories are brought up to date, newer ones refused, and the scripts make the tables."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from ragauge.contracts.history import RunFilter
from ragauge.errors import UsageError
from ragauge.store import migrations, tables
from ragauge.store.database import Postgres, Sqlite, version_of
from ragauge.store.history import open_history
from ragauge.store.places import LocalPlace, located
from ragauge.store.recorded import insert_parts, insert_run
from ragauge.store.sql import encoded_units
from tests.store.runs_made import new_run


@contextmanager
def bare(place: str):
    """A transaction on the database of a place, without a history in between."""
    found = located(place)
    local = isinstance(found, LocalPlace)
    database = Sqlite(found, 60, create=True) if local else Postgres(found, 60)
    try:
        with database._engine.begin() as connection:
            yield connection
    finally:
        database.close()


COLUMNS = {"packed_units", "packed_gold", "unit_keys", "run_words"}
LACKS = {
    "0001": {"rag_traces", "regressions", "judge_replies", *COLUMNS},
    "0002": {"regressions", "judge_replies", *COLUMNS},
    "0003": {"judge_replies", *COLUMNS},
    "0004": COLUMNS,
}
"""The tables that a history of each earlier version does not have."""


def old_history(place: str, version: str, *runs) -> None:
    with bare(place) as connection:
        migrations.upgrade(connection, None, version)
        for run in runs:
            number = insert_run(connection, run)
            with encoded_units(run) as units:
                insert_parts(connection, run, number, units)


def test_the_newest_version_is_the_one_the_code_names():
    assert migrations.scripts().get_heads() == [tables.HEAD]


def test_versions_sort_as_text():
    """`version > HEAD` refuses what is newer."""
    steps = [step.revision for step in migrations.scripts().walk_revisions()]
    assert steps == sorted(steps, reverse=True) and {len(step) for step in steps} == {4}


def test_the_migrations_make_exactly_the_tables_of_the_code(place):
    open_history(place).close()
    with bare(place) as connection:
        options = {"version_table": tables.VERSION_TABLE, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, tables.metadata) == []


def test_every_column_of_a_migrated_history_may_be_null_where_the_code_says(place):
    open_history(place).close()
    with bare(place) as connection:
        found = inspect(connection)
        for table in tables.metadata.sorted_tables:
            nullable = {each["name"]: each["nullable"] for each in found.get_columns(table.name)}
            assert nullable == {column.name: column.nullable for column in table.columns}
            keys = found.get_pk_constraint(table.name)["constrained_columns"]
            assert keys == [column.name for column in table.primary_key]
            ends = {key["options"].get("ondelete") for key in found.get_foreign_keys(table.name)}
            assert ends <= {"CASCADE"}


@pytest.mark.parametrize(("version", "lacks"), LACKS.items())
def test_an_old_history_is_upgraded_with_its_runs_intact(place, version, lacks):
    made = [new_run(number) for number in range(3)]
    old_history(place, version, *made)
    with bare(place) as connection:
        assert version_of(connection) == version
        there = set(inspect(connection).get_table_names())
        assert set(tables.metadata.tables) - there == lacks
    history = open_history(place, create=False)
    assert [run.record for run in reversed(history.runs(RunFilter()))] == [
        run.record for run in made
    ]
    checked = history.verify()
    assert len(checked.whole) == 3 and checked.faults == {}
    assert all(run.green for run in history.runs(RunFilter()))
    history.regressed(made[2].record.id, made[0].record.id)
    assert history.find("green").id == made[1].record.id
    history.close()
    with bare(place) as connection:
        assert version_of(connection) == tables.HEAD
        assert lacks <= set(inspect(connection).get_table_names())


def test_an_upgrade_that_fails_changes_nothing(place, monkeypatch):
    run = new_run(1)
    old_history(place, "0001", run)

    def broken(connection, version):
        migrations.scripts()
        connection.execute(text("CREATE TABLE half (a INTEGER)"))
        raise RuntimeError

    monkeypatch.setattr(migrations, "upgrade", broken)
    with pytest.raises(RuntimeError):
        open_history(place)
    with bare(place) as connection:
        assert version_of(connection) == "0001"
        assert not inspect(connection).has_table("half")


def test_a_newer_history_is_refused_with_both_versions(place):
    open_history(place).close()
    with bare(place) as connection:
        connection.execute(text(f"UPDATE {tables.VERSION_TABLE} SET version_num = '0417'"))
    with pytest.raises(UsageError, match=f"version 0417, .*up to {tables.HEAD}; upgrade Ragauge"):
        open_history(place)


WRITES = {
    "record": lambda history, run: history.record(new_run(2)),
    "tag": lambda history, run: history.tag(run.id, "v1"),
    "untag": lambda history, run: history.untag("kept"),
    "regressed": lambda history, run: history.regressed(run.id, "0" * 64),
    "remove": lambda history, run: history.remove([run.id]),
    "gc": lambda history, run: history.gc(),
}


@pytest.mark.parametrize("write", WRITES)
def test_a_history_upgraded_by_a_newer_ragauge_meanwhile_is_left_alone(place, write):
    history = open_history(place)
    run = history.record(new_run(1))
    history.tag(run.id, "kept")
    before = history.runs(RunFilter())
    with bare(place) as connection:
        connection.execute(text(f"UPDATE {tables.VERSION_TABLE} SET version_num = '0417'"))
    with pytest.raises(UsageError, match=f"version 0417, .*up to {tables.HEAD}; upgrade Ragauge"):
        WRITES[write](history, run)
    assert history.runs(RunFilter()) == before
    history.close()


def test_a_database_of_another_program_is_left_alone(place):
    with bare(place) as connection:
        connection.execute(text("CREATE TABLE runs (distance INTEGER)"))
    with pytest.raises(UsageError, match="is another program's: it has a table runs"):
        open_history(place)
    with bare(place) as connection:
        assert inspect(connection).get_table_names() == ["runs"]
        if connection.dialect.name == "sqlite":
            assert connection.execute(text("PRAGMA journal_mode")).scalar() == "delete"


def test_other_tables_of_a_server_do_not_matter(postgres):
    with bare(postgres) as connection:
        connection.execute(text("CREATE TABLE customers (id INTEGER)"))
    history = open_history(postgres)
    assert history.runs(RunFilter()) == []
    history.close()
    with bare(postgres) as connection:
        assert {"customers", "runs"} <= set(inspect(connection).get_table_names())


def test_a_history_that_is_up_to_date_does_not_load_the_migrations(tmp_path):
    place = str(tmp_path / "store")
    open_history(place).close()
    program = (
        "import sys\n"
        "from ragauge.store.history import open_history\n"
        "assert 'sqlalchemy' not in sys.modules\n"
        "open_history(sys.argv[1]).close()\n"
        "assert 'sqlalchemy' in sys.modules and 'alembic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, place], check=True)


def test_a_log_line_of_a_serving_system_has_its_table(place):
    open_history(place).close()
    line = {
        "run": "nightly",
        "qid": "q1",
        "seg": 0,
        "ts": "2026-11-15T21:45:44Z",
        "deltaS": None,
        "citations": ["hb24-sec-keys-0007"],
        "scores": [0.8421],
        "kpos": [18],
        "kfinal": [3],
    }
    with bare(place) as connection:
        connection.execute(tables.rag_traces.insert().values(line))
    with bare(place) as connection:
        row = connection.execute(tables.rag_traces.select()).mappings().one()
        assert {name: row[name] for name in line} == line
    with pytest.raises(Exception, match=r"(?i)unique"), bare(place) as connection:
        connection.execute(tables.rag_traces.insert().values(line))


def test_tags_and_marks_of_before_get_their_seals(tmp_path):
    history = open_history(str(tmp_path / "store"))
    first, second = (history.record(new_run(number)) for number in (1, 2))
    history.tag(first.id, "release")
    history.regressed(second.id, first.id)
    history.close()
    with closing(sqlite3.connect(tmp_path / "store" / "history.sqlite")) as database:
        for table in ("tags", "regressions"):
            database.execute(f"ALTER TABLE {table} DROP COLUMN seal")
        database.execute("UPDATE ragauge_version SET version_num = '0005'")
        database.commit()
    history = open_history(str(tmp_path / "store"))
    assert history.verify().whole == (first.id, second.id)
    assert history.find("release").id == first.id
    history.close()
