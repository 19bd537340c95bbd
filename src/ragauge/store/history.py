"""The history of runs, opened by its place."""

from __future__ import annotations

from ragauge.contracts.history import History
from ragauge.store.places import LocalPlace, located

PATIENCE_S = 60.0
"""How long a writer waits for its turn."""


def open_history(place: str, *, create: bool = True, patience_s: float = PATIENCE_S) -> History:
    """The history at a place: a folder, an SQLite file, or a postgresql:// URL.

    An older one is brought up to date. Without `create`, one that is not there is an error.
    """
    from ragauge.store.database import open_database
    from ragauge.store.shelf import FolderShelf, PieceShelf
    from ragauge.store.sql import SqlHistory

    found = located(place)
    database = open_database(found, create=create, patience_s=patience_s)
    if isinstance(found, LocalPlace):
        return SqlHistory(database, FolderShelf(found.runs, database))
    return SqlHistory(database, PieceShelf(database))
