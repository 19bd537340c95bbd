"""Replies in the store: the first stays, all processes see it, a newer store is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text

from ragauge.contracts.history import NoHistory, RunFilter
from ragauge.errors import UsageError
from ragauge.store.history import open_history
from ragauge.store.reply_cache import open_replies
from tests.store.runs_made import new_run
from tests.store.test_migrations import bare

ROOT = Path(__file__).parents[2]


@pytest.fixture
def replies(place):
    opened = open_replies(place)
    yield opened
    opened.close()


def test_a_reply_is_there_for_whoever_opens_the_store_next(place, replies):
    assert replies.get("a") is None
    replies.put("a", b'{"value": "\x00\xff"}')
    other = open_replies(place)
    assert other.get("a") == b'{"value": "\x00\xff"}' and other.get("b") is None
    other.close()


def test_the_first_reply_stays(replies):
    replies.put("a", b"first")
    replies.put("a", b"second")
    replies.put_all({"a": b"third", "b": b"new"})
    assert replies.get_all("abc") == {"a": b"first", "b": b"new"}


def test_what_is_found_anew_takes_the_place_of_the_first(place, replies):
    replies.replace("a", b"first")
    replies.put("b", b"beside")
    other = open_replies(place)
    other.replace("a", b"second")
    other.close()
    assert replies.get_all("ab") == {"a": b"second", "b": b"beside"}


def test_many_are_put_and_got_at_once(replies):
    many = {f"{n:064x}": bytes([n % 256]) for n in range(5_001)}
    replies.put_all(many)
    assert replies.get_all([*many, "nobody's"]) == many
    replies.put_all({})
    assert replies.get_all([]) == {}


def test_replies_and_runs_share_a_store(place, replies):
    history = open_history(place)
    run = history.record(new_run(1))
    replies.put("a", b"kept")
    history.remove([run.id])
    history.gc(older_than_s=0)
    assert replies.get("a") == b"kept" and history.runs(RunFilter()) == []
    history.close()


def test_a_store_that_is_not_there_is_made_only_where_that_is_wanted(tmp_path):
    with pytest.raises(NoHistory):
        open_replies(str(tmp_path / "store"), create=False)
    assert not (tmp_path / "store").exists()


def test_a_store_upgraded_by_a_newer_ragauge_meanwhile_is_left_alone(place, replies):
    replies.put("a", b"kept")
    with bare(place) as connection:
        connection.execute(text("UPDATE ragauge_version SET version_num = '0417'"))
    with pytest.raises(UsageError, match="version 0417"):
        replies.put("b", b"new")
    assert replies.get_all("ab") == {"a": b"kept"}


WRITER = """
import sys
from ragauge.store.reply_cache import open_replies
place, name = sys.argv[1:]
replies = open_replies(place)
for number in range(40):
    replies.put_all({f"{key}": name.encode() for key in range(number, number + 5)})
print("done", flush=True)
"""


def test_writers_at_once_lose_nothing_and_agree(place):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, place, name],
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abcd"
    ]
    assert [writer.communicate()[0] for writer in writers] == ["done\n"] * 4
    first, second = open_replies(place), open_replies(place)
    found = first.get_all(map(str, range(50)))
    assert found.keys() == {str(key) for key in range(44)}
    assert set(found.values()) <= {b"a", b"b", b"c", b"d"}
    assert second.get_all(map(str, range(50))) == found
    first.close()
    second.close()
