"""Replies of models in the tables of a database: asked for once, known to every later run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from sqlalchemy import delete, select

from ragauge.store.database import Database, add_rows, insert_unless_there, open_database
from ragauge.store.places import located
from ragauge.store.tables import judge_replies

_KEYS_ASKED = 500
"""Keys a question to the database holds; some databases take no more than a thousand."""


class StoredReplies:
    """Replies by key, shared by all processes; the first that is put under a key stays there.

    Only what a user finds out anew, such as a calibration, replaces what was kept.

    One that was put is durable when `put` returns.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, key: str) -> bytes | None:
        return self.get_all([key]).get(key)

    def put(self, key: str, reply: bytes) -> None:
        self.put_all({key: reply})

    def get_all(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those of the replies that are known."""
        coming, found = iter(keys), dict[str, bytes]()
        columns = judge_replies.c
        with self._database.reading() as connection:
            while some := list(islice(coming, _KEYS_ASKED)):
                which = select(columns.key, columns.reply).where(columns.key.in_(some))
                found |= {key: bytes(reply) for key, reply in connection.execute(which)}
        return found

    def put_all(self, replies: Mapping[str, bytes]) -> None:
        """Keep replies together: all of them or, after an error, none."""
        # In one order for every writer: two who wait for each other's rows would wait for ever.
        rows = [{"key": key, "reply": replies[key]} for key in sorted(replies)]
        if not rows:
            return
        with self._database.writing() as connection:
            add_rows(connection, insert_unless_there(connection, judge_replies), rows)

    def replace(self, key: str, reply: bytes) -> None:
        """Keep this in place of what was kept under the key."""
        with self._database.writing() as connection:
            connection.execute(delete(judge_replies).where(judge_replies.c.key == key))
            insert = insert_unless_there(connection, judge_replies)
            add_rows(connection, insert, [{"key": key, "reply": reply}])

    def close(self) -> None:
        self._database.close()


def open_replies(place: str, *, create: bool = True) -> StoredReplies:
    """The replies kept at a place: a folder, an SQLite file, or a postgresql:// URL."""
    return StoredReplies(open_database(located(place), create=create))
