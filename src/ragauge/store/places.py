"""Where a history is: in the project's folder, in the user's, or on a server."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ragauge.errors import UsageError

FOLDER = ".ragauge"
DATABASE = "history.sqlite"
_DATABASE_ENDINGS = (".sqlite", ".sqlite3", ".db")
_SERVER_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_SCHEMES = ("sqlite", *_SERVER_SCHEMES)


class LocalPlace(Struct, frozen=True):
    """An SQLite file, and the folder for the files of its runs."""

    database: Path
    own_folder: bool
    """The user named the folder, not the file: what else stands in it is ours."""

    @property
    def runs(self) -> Path:
        """A folder for this database alone: `gc` removes what it does not know there."""
        if self.database.name == DATABASE:
            return self.database.with_name("runs")
        return self.database.with_name(f"{self.database.name}.runs")

    def __str__(self) -> str:
        return str(self.database)


class ServerPlace(Struct, frozen=True):
    """A PostgreSQL database. It prints without who logs in, and without the options."""

    url: str

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        name, at, host = parts.netloc.rpartition("@")
        return f"postgresql://{'***@' if at and name else ''}{host}{parts.path}"


def default_place(folder: Path, environment: Mapping[str, str]) -> str:
    """The folder of the history for someone who works in `folder`.

    The nearest `.ragauge` upwards; else one beside the project's own file; else the user's.
    """
    upwards = [folder.absolute(), *folder.absolute().parents]
    for place in upwards:
        if (place / FOLDER).is_dir() or (place / FOLDER).is_symlink():
            return str(place / FOLDER)
    for place in upwards:
        if _is_project(place):
            return str(place / FOLDER)
    return str(_of_the_user(environment))


def located(place: str) -> LocalPlace | ServerPlace:
    """The place a user names: a folder, an SQLite file or a URL; raises UsageError."""
    scheme, separator, rest = place.partition("://")
    if not separator:
        _refuse_half_a_url(place)
        return _local(Path(place).expanduser())
    if scheme in _SERVER_SCHEMES:
        return _server(f"postgresql://{rest}")
    if scheme == "sqlite" and rest.startswith("/") and len(rest) > 1:
        return _local(Path(unquote(rest[1:])).expanduser())
    raise UsageError(
        f"store: {scheme}:// is not understood; a history is a folder, an SQLite file "
        "(.sqlite or .db), sqlite:///FILE or postgresql://HOST/DATABASE"
    )


def _refuse_half_a_url(place: str) -> None:
    """Refuse a URL that lacks a slash: as a path it would be shown, with the password in it."""
    scheme, colon, _ = place.partition(":")
    if colon and scheme.lower() in _SCHEMES:
        raise UsageError(
            f"store: {scheme}: is not followed by //; write sqlite:///FILE or "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, and ./ before a folder of such a name"
        )


def _local(path: Path) -> LocalPlace:
    is_file = path.suffix in _DATABASE_ENDINGS or path.is_file()
    return LocalPlace(path if is_file else path / DATABASE, own_folder=not is_file)


def _server(url: str) -> ServerPlace:
    try:
        parts = urlsplit(url)
        well_formed = (parts.port is None or parts.port > 0) and not parts.fragment
        well_formed &= url.count("@") == parts.netloc.count("@") <= 1
        host = parts.hostname or ""
        if not host.startswith("%"):  # the path of a socket may be longer than a name
            host.encode("idna")
    except ValueError:
        well_formed = False
    if not well_formed:
        raise UsageError(
            "store: the URL is not well formed; write postgresql://USER:PASSWORD@HOST:PORT/DATABASE,"
            " with %40 for @, %2F for /, %23 for # and %3F for ? in the password"
        )
    return ServerPlace(url)


def _is_project(place: Path) -> bool:
    if (place / "ragauge.toml").is_file() or (place / ".git").exists():
        return True
    try:
        project = tomllib.loads((place / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False  # whoever reads the configuration says what is wrong with it
    tool = project.get("tool")
    return isinstance(tool, dict) and "ragauge" in tool


def _of_the_user(environment: Mapping[str, str]) -> Path:
    given = Path(environment.get("XDG_DATA_HOME", ""))
    if given.is_absolute():
        return given / "ragauge"
    home = environment.get("HOME")
    return (Path(home) if home else Path.home()) / ".local" / "share" / "ragauge"
