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
    from ragauge.store.sql import SqlHistory

    found = located(place)
    if isinstance(found, LocalPlace):
        from ragauge.store.folder import FolderShelf
        from ragauge.store.sqlite import open_sqlite

        local = open_sqlite(found, create=create, patience_s=patience_s)
        return SqlHistory(local, FolderShelf(found.runs, local))
    from ragauge.store.pieces import PieceShelf
    from ragauge.store.postgres import open_postgres

    server = open_postgres(found, create=create, patience_s=patience_s)
    return SqlHistory(server, PieceShelf(server))
