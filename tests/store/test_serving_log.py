"""A serving log in a database: whole or not at all, read back as it was, and never changed."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace
from sqlalchemy import JSON, Float, Integer, Text, text

from ragauge.contracts.history import NoHistory
from ragauge.contracts.serving_log import MOST, LogEntry
from ragauge.errors import InputRejected, UsageError
from ragauge.store import tables
from ragauge.store.database import BATCH
from ragauge.store.history import open_history
from ragauge.store.serving_log import read_entries, write_entries
from tests.citations.test_log_line import ENTRY, entries
from tests.store.test_migrations import bare, old_history

START = datetime(2026, 11, 15, 21, 45, 44, tzinfo=UTC)


def logged(number: int, **fields: Any) -> LogEntry:
    ts = START + timedelta(milliseconds=number)
    return replace(ENTRY, qid=f"q{number:05}", ts=ts, **fields)


def of_run(run: str, given: list[LogEntry]) -> list[LogEntry]:
    return [replace(entry, run=run) for entry in given]


def all_of(place: str, run: str | None = None) -> list[LogEntry]:
    return list(read_entries(place, run))


def without_nul(entry: LogEntry) -> LogEntry:
    texts = {
        name: text.replace("\0", "") for name, text in asdict(entry).items() if type(text) is str
    }
    return replace(entry, **texts, citations=[id.replace("\0", "") for id in entry.citations])


def test_entries_are_read_back_as_they_were_written(place):
    given = [logged(number) for number in range(5)]
    assert write_entries(place, "nightly", given) == 5
    assert all_of(place, "nightly") == of_run("nightly", given)
    assert all_of(place, "another") == []


@given(given=st.lists(entries(), max_size=3, unique_by=lambda entry: (entry.qid, entry.seg)))
def test_any_entry_survives_the_database(place, given):
    """Also what JSONB writes otherwise: 1e22, -0.0, the smallest number; U+0000 on SQLite."""
    if place.startswith("postgresql"):
        given = [without_nul(entry) for entry in given]
    with bare(place) as connection:
        if connection.dialect.has_table(connection, "rag_traces"):
            connection.execute(tables.rag_traces.delete())
    wanted = {(entry.qid, entry.seg): entry for entry in given}
    write_entries(place, "r", wanted.values())
    found = all_of(place, "r")
    order = [(entry.ts, entry.qid.encode(), entry.seg) for entry in found]
    assert order == sorted(order)
    assert {(entry.qid, entry.seg): replace(entry, run=None) for entry in found} == wanted


def test_numbers_come_back_to_the_last_bit(place):
    scores = (1e22, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3, -2.5, 3.0)
    many = (None,) * len(scores)
    entry = logged(
        1,
        citations=tuple("abcdefg"),
        scores=scores,
        kpos=(MOST, 0, *many[2:]),
        kfinal=many,
        deltaS=2 / 3,
        k=MOST,
        seg=MOST,
    )
    write_entries(place, "r", [entry])
    (found,) = all_of(place)
    assert found == replace(entry, run="r")
    assert [type(score) for score in found.scores] == [float] * len(scores)


def test_absent_stays_absent(place):
    entry = LogEntry(ts=START, qid="q", seg=1)
    write_entries(place, "r", [entry])
    assert all_of(place) == [replace(entry, run="r")]
    with bare(place) as connection:
        row = connection.execute(tables.rag_traces.select()).mappings().one()
    assert row["deltaS"] is None and row["k"] is None and row["citations"] == []


def test_the_order_is_by_time_then_run_question_and_segment(place):
    early, late = START, START + timedelta(microseconds=1)
    names = ["Zebra", "a", "é", "z", "a b", "a-b", "ab", "\U0001f600", "\uffee"]
    for run in ("b", "a"):
        given = [replace(ENTRY, ts=late, qid=name, seg=seg) for name in names for seg in (2, 10, 1)]
        write_entries(place, run, [*given, replace(ENTRY, ts=early, qid="~")])
    found = [(entry.ts, entry.run, entry.qid.encode(), entry.seg) for entry in read_entries(place)]
    assert found == sorted(found)
    assert len(found) == 2 * (len(names) * 3 + 1)
    assert [entry.run for entry in read_entries(place, "b")] == ["b"] * 28


def test_the_same_entries_again_change_nothing(place):
    given = [logged(number) for number in range(5)]
    assert write_entries(place, "r", given[:3]) == 3
    assert write_entries(place, "r", given) == 2
    assert write_entries(place, "r", [*given, *given]) == 0
    assert write_entries(place, "other", given) == 5
    assert all_of(place, "r") == of_run("r", given)


def test_what_is_there_is_not_overwritten_and_all_conflicts_are_told(place):
    given = [logged(number) for number in range(3)]
    write_entries(place, "r", given)
    changed = [given[0], replace(given[1], k=7), replace(given[2], scores=(0.1, 0.2), rev=None)]
    with pytest.raises(InputRejected) as error:
        write_entries(place, "r", [*changed, logged(9)])
    first, second = error.value.problems
    assert "run 'r', qid 'q00001', segment 1: is there already, with another k;" in first
    assert "with another scores, rev; write it under another run" in second
    assert all_of(place) == of_run("r", given)


def test_a_conflict_in_the_last_batch_leaves_nothing_of_the_first(place):
    last = logged(2 * BATCH)
    write_entries(place, "r", [last])
    many = [logged(number) for number in range(2 * BATCH)]
    with pytest.raises(InputRejected, match="with another k"):
        write_entries(place, "r", [*many, replace(last, k=1)])
    assert all_of(place) == of_run("r", [last])
    assert write_entries(place, "r", [*many, last]) == len(many)
    assert all_of(place) == of_run("r", [*many, last])


def test_more_conflicts_than_a_person_reads_are_counted(place):
    write_entries(place, "r", (logged(number) for number in range(150)))
    with pytest.raises(InputRejected, match="and 50 more") as error:
        write_entries(place, "r", (logged(number, k=1) for number in range(150)))
    assert len(error.value.problems) == 100


def test_a_database_that_fails_midway_keeps_nothing(place):
    """A rule of the database's owner refuses a row of the second batch."""
    write_entries(place, "r", [])
    refuse = "qid = 'q02500'"
    with bare(place) as connection:
        if connection.dialect.name == "sqlite":
            rule = (
                f"CREATE TRIGGER owner BEFORE INSERT ON rag_traces WHEN NEW.{refuse} "
                "BEGIN SELECT RAISE(ABORT, 'not this one'); END"
            )
        else:
            rule = f"ALTER TABLE rag_traces ADD CONSTRAINT owner CHECK (NOT {refuse})"
        connection.execute(text(rule))
    with pytest.raises(UsageError, match=r"not this one|owner"):
        write_entries(place, "r", (logged(number) for number in range(3_000)))
    assert all_of(place) == []


def test_an_entry_given_twice_with_two_meanings_is_refused(place):
    with pytest.raises(InputRejected, match="is given twice, with another k; keep one"):
        write_entries(place, "r", [logged(1), logged(2), logged(1, k=3)])
    with pytest.raises(InputRejected, match="is of another run than 'r'; write it there"):
        write_entries(place, "r", [logged(1, run="r"), logged(2, run="s")])
    with pytest.raises(NoHistory, match="there is no serving log yet"):
        all_of(place)


def test_entries_read_from_one_place_can_be_written_to_another(place, tmp_path):
    given = [logged(number) for number in range(3)]
    copy = str(tmp_path / "copy.sqlite")
    write_entries(copy, "r", given)
    assert write_entries(place, "r", read_entries(copy, "r")) == 3
    assert all_of(place) == all_of(copy)


def test_what_postgresql_cannot_hold_is_refused_with_all_its_places(postgres):
    given = [
        logged(1, rev="a\0b"),
        logged(2),
        logged(3, citations=("c\0", "d")),
    ]
    with pytest.raises(InputRejected) as error:
        write_entries(postgres, "r", given)
    first, second = error.value.problems
    assert "qid 'q00001', segment 1: rev has U+0000, which PostgreSQL does not hold" in first
    assert "citations has U+0000" in second and "take it out, or write to SQLite" in second
    assert write_entries(postgres, "r", given[1:2]) == 1
    with pytest.raises(InputRejected, match="run has U"):
        write_entries(postgres, "r\0", given[1:2])


def test_sqlite_holds_it(tmp_path):
    place, given = str(tmp_path / "log.db"), [logged(1, rev="a\0b", citations=("c\0", "d"))]
    write_entries(place, "r\0", given)
    assert all_of(place, "r\0") == of_run("r\0", given)
    assert write_entries(place, "r\0", given) == 0


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What each of the calls came to, begun together; an error is what it came to."""
    gate, outcomes = threading.Barrier(len(calls)), [None] * len(calls)

    def run(number: int, call: Callable[[], Any]) -> None:
        gate.wait()
        try:
            outcomes[number] = call()
        except InputRejected as error:
            outcomes[number] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_two_writers_at_once_write_each_entry_once(place):
    """They overlap, come in opposite orders, and neither finds a log to begin with."""
    given = [logged(number) for number in range(3 * BATCH)]
    one, two = given[: 2 * BATCH], given[: BATCH - 1 : -1]
    news = at_once(
        lambda: write_entries(place, "r", one),
        lambda: write_entries(place, "r", two),
    )
    assert sum(news) == len(given)
    assert all_of(place) == of_run("r", given)


def test_of_two_writers_who_disagree_one_wins_whole(place):
    write_entries(place, "r", [])
    one = [logged(number, k=1) for number in range(BATCH + 50)]
    two = [logged(number, k=2) for number in range(BATCH, BATCH + 100)]
    outcomes = at_once(
        lambda: write_entries(place, "r", one),
        lambda: write_entries(place, "r", two),
    )
    winners = [
        given for given, came in zip((one, two), outcomes, strict=True) if came == len(given)
    ]
    assert len(winners) == 1
    assert [type(came) for came in outcomes].count(InputRejected) == 1
    assert all_of(place) == of_run("r", winners[0])


def test_a_reader_sees_one_moment(place):
    given = [logged(number) for number in range(2 * BATCH)]
    write_entries(place, "r", given)
    with closing(read_entries(place)) as reading:
        seen = [next(reading)]
        write_entries(place, "r", [logged(-1), logged(2 * BATCH)])
        seen += reading
    assert seen == of_run("r", given)
    assert len(all_of(place)) == 2 * BATCH + 2


def test_a_history_of_runs_and_a_serving_log_share_a_place(place):
    open_history(place).close()
    write_entries(place, "r", [logged(1)])
    history = open_history(place)
    assert history.verify().faults == {}
    history.close()
    assert len(all_of(place)) == 1


def test_an_older_history_gains_the_table(place):
    old_history(place, "0001")
    assert all_of(place) == []
    assert write_entries(place, "r", [logged(1)]) == 1


def test_a_log_that_is_not_there_is_told_in_words(place):
    with pytest.raises(NoHistory, match="there is no serving log yet; write entries first"):
        all_of(place)


def test_a_row_of_another_program_is_read_or_named(place):
    write_entries(place, "r", [])
    row = {
        "run": "theirs",
        "qid": "q1",
        "seg": 1,
        "ts": "2026-11-15T21:45:44Z",
        "citations": ["c1"],
        "scores": [1],
        "kpos": [None],
        "kfinal": [3],
    }
    with bare(place) as connection:
        connection.execute(tables.rag_traces.insert().values(row))
    (found,) = all_of(place)
    assert (found.ts, found.scores, found.kpos) == (START, (1.0,), (None,))
    for broken in ({"qid": "q2", "scores": []}, {"qid": "q3", "ts": "yesterday"}):
        with bare(place) as connection:
            connection.execute(tables.rag_traces.delete())
            connection.execute(tables.rag_traces.insert().values(row | broken))
        with pytest.raises(InputRejected, match=f"rag_traces: run 'theirs', qid '{broken['qid']}'"):
            all_of(place)


def test_a_place_is_what_a_history_takes(tmp_path):
    with pytest.raises(UsageError, match="mysql:// is not understood"):
        write_entries("mysql://host/db", "r", [])
    place = f"sqlite:///{tmp_path / 'serving.db'}"
    assert write_entries(place, "r", [logged(1)]) == 1
    assert len(all_of(str(tmp_path / "serving.db"))) == 1


def test_the_page_shows_the_table_as_it_is():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "serving-log.md").read_text("utf-8")
    shown = re.findall(r"^\| `(\w+)` \| ([\w ]+) \| (\w+) \|$", page, re.MULTILINE)
    kinds = {Text: "text", Integer: "integer", Float: "double precision", JSON: "JSON"}
    assert shown == [
        (column.name, kinds[type(column.type)], "yes" if column.nullable else "no")
        for column in tables.rag_traces.columns
    ]
    key = ", ".join(f"`{column.name}`" for column in tables.rag_traces.primary_key)
    assert f"primary key is {key}." in page
