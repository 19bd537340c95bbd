"""Where a history is when nobody says, and what a user may say."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragauge.errors import UsageError
from ragauge.store.history import open_history
from ragauge.store.places import LocalPlace, ServerPlace, default_place, located
from tests.store.runs_made import new_run


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "part" / "here"
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ragauge.toml", ""),
        ("pyproject.toml", "[tool.ragauge]\n"),
        ("pyproject.toml", "[tool.ragauge.sweep]\nretries = 1\n"),
        (".git", "gitdir: elsewhere\n"),
    ],
)
def test_a_project_has_its_history_beside_its_own_file(deep, name, content):
    project = deep.parents[1]
    (project / name).write_text(content)
    assert default_place(deep, {}) == str(project / ".ragauge")


def test_the_nearest_history_there_is_comes_before_any_project_file(deep):
    project = deep.parents[1]
    (deep / "ragauge.toml").touch()
    (project / ".ragauge").mkdir()
    assert default_place(deep, {}) == str(project / ".ragauge")
    (deep.parent / ".ragauge").mkdir()
    assert default_place(deep, {}) == str(deep.parent / ".ragauge")


def test_the_nearest_project_counts(deep):
    (deep.parents[1] / ".git").mkdir()
    (deep.parent / "ragauge.toml").touch()
    assert default_place(deep, {}) == str(deep.parent / ".ragauge")


@pytest.mark.parametrize("content", ["[tool.ruff]\n", "tool = 1\n", "[[[", "\udcff"])
def test_a_project_file_of_others_is_none_of_ours(deep, content):
    (deep / "pyproject.toml").write_bytes(content.encode(errors="surrogateescape"))
    home = {"HOME": "/home/someone"}
    assert default_place(deep, home) == "/home/someone/.local/share/ragauge"


def test_without_a_project_it_is_the_users(deep):
    assert default_place(deep, {"XDG_DATA_HOME": "/x", "HOME": "/h"}) == "/x/ragauge"
    assert default_place(deep, {"XDG_DATA_HOME": "x", "HOME": "/h"}) == "/h/.local/share/ragauge"
    assert default_place(deep, {}) == str(Path.home() / ".local/share/ragauge")


@pytest.mark.parametrize(
    ("said", "database", "runs"),
    [
        ("a/.ragauge", "a/.ragauge/history.sqlite", "a/.ragauge/runs"),
        ("a/.ragauge/history.sqlite", "a/.ragauge/history.sqlite", "a/.ragauge/runs"),
        ("a/team.db", "a/team.db", "a/team.db.runs"),
        ("a/team.sqlite", "a/team.sqlite", "a/team.sqlite.runs"),
        ("sqlite:///a/team.db", "a/team.db", "a/team.db.runs"),
        ("sqlite:////a/b%20c.db", "/a/b c.db", "/a/b c.db.runs"),
    ],
)
def test_a_place_is_a_folder_a_file_or_a_url(said, database, runs):
    place = located(said)
    assert isinstance(place, LocalPlace)
    assert (place.database, place.runs) == (Path(database), Path(runs))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("postgresql://u:secret@db.example:5433/rag", "postgresql://***@db.example:5433/rag"),
        ("postgres://u:secret@db/rag?sslmode=require", "postgresql://***@db/rag"),
        ("postgresql+psycopg://db/rag?password=secret", "postgresql://db/rag"),
    ],
)
def test_a_server_is_shown_without_who_logs_in(said, shown):
    place = located(said)
    assert isinstance(place, ServerPlace)
    assert str(place) == shown


@pytest.mark.parametrize(
    "said",
    [
        "mysql://u:secret@db/rag",
        "sqlite://",
        "sqlite:///",
        "sqlite:/secret.db",
        "postgresql:/u:secret@db/rag",
        "postgres:u:secret@db/rag",
        "PostgreSQL:/u:secret@db/rag",
        "postgresql+psycopg:/u:secret@db/rag",
        "postgresql://u:sec@ret@db/rag",
        "postgresql://u:12/secret@db/rag",
        "postgresql://u:12#secret@db/rag",
        "postgresql://u:12?secret@db/rag",
        "postgresql://db:secret/rag",
        f"postgresql://u:secret@{'a' * 64}/rag",
    ],
)
def test_a_place_that_is_not_understood_is_refused_and_not_repeated(said):
    with pytest.raises(UsageError, match="store: ") as refused:
        located(said)
    assert "sec" not in str(refused.value)


def test_a_colon_in_a_name_makes_no_url():
    for said in ("./sqlite:x", "c:/history", "postgresql"):
        assert located(said).database == Path(said) / "history.sqlite"


def test_a_history_in_a_project_is_ignored_by_git(tmp_path):
    open_history(str(tmp_path / "deep" / ".ragauge")).close()
    assert (tmp_path / "deep" / ".ragauge" / ".gitignore").read_text() == "*\n"


def test_a_folder_that_holds_other_things_keeps_its_gitignore_or_none(tmp_path):
    (tmp_path / "notes.txt").touch()
    open_history(str(tmp_path)).close()
    open_history(str(tmp_path / "beside.db")).close()
    assert not (tmp_path / ".gitignore").exists()


def test_two_databases_in_one_folder_keep_their_files_apart(tmp_path):
    one, other = open_history(str(tmp_path / "1.db")), open_history(str(tmp_path / "2.db"))
    run = new_run(1, folder=tmp_path / "in")
    one.record(run)
    other.record(run)
    assert one.verify().leftovers == other.verify().leftovers == ()
    one.remove([run.record.id])
    assert other.verify().faults == {}
    one.close()
    other.close()


def test_a_reader_makes_no_history(place, tmp_path):
    with pytest.raises(UsageError, match="there is no history yet; record a run with --record"):
        open_history(place, create=False)
    assert not (tmp_path / ".ragauge").exists()
