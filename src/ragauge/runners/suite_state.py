"""The state of an unfinished suite: which session it is, and the journals of its sweeps.

A session is a file with an id. Every run that a task records carries the id as a label, so that
the history itself says which tasks are done: between recording a run and noting that it was
recorded, there is nothing to go wrong.
"""

from __future__ import annotations

import fcntl
import hashlib
import secrets
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import PathFinder
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from ragauge import __version__
from ragauge.contracts.history import canonical
from ragauge.contracts.suite import PipelineUnderTest, Suite, Task
from ragauge.errors import UsageError
from ragauge.runners.git_state import git_state, uncommitted
from ragauge.store.files import pieces_of, seal_of, write_whole

WORK = Path(".ragauge") / "work"
SESSION, LOCK = "session.json", "lock"
_ID_BYTES = 12
_PART_SHOWN = 12
_SALT = b"ragauge: the inputs of a suite"
_ROUNDS = 300_000
"""So many that guessing a short secret in a URL from the digest is slow."""


class Session(Struct, frozen=True):
    """One attempt at a suite, over all its starts."""

    id: str
    inputs: str


class Work:
    """The folder of a suite that is under way."""

    def __init__(self, folder: Path, session: Session, *, resumed: bool) -> None:
        self._folder, self.session, self.resumed = folder, session, resumed

    def journal(self, task: Task) -> Path:
        """Where the answers to a task's questions are kept, until the suite is started anew."""
        return self._folder / f"{task.name}.jsonl"

    def forget(self) -> None:
        """End the session: the next start begins anew."""
        (self._folder / SESSION).unlink(missing_ok=True)


def work_folder(suite: Suite, only: Sequence[str]) -> Path:
    """Where the state of a suite is, seen from its folder; a part of it has a place of its own."""
    file = Path(suite.file.partition(" [")[0]).stem
    part = hashlib.sha256(canonical(sorted(only))).hexdigest()[:_PART_SHOWN] if only else ""
    return WORK / f"{file}.{suite.name}{f'+{part}' if part else ''}"


@contextmanager
def work(folder: Path, inputs: str, *, fresh: bool) -> Iterator[Work]:
    """The work of a suite, locked; goes on with the session of the same inputs, if there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / ".gitignore").write_text("*\n")
    with (folder / LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"{folder}: this suite is running already; wait for it to end, or stop it"
            ) from error
        before = None
        with suppress(OSError, msgspec.MsgspecError):  # none, or none that can be gone on with
            before = msgspec.json.decode((folder / SESSION).read_bytes(), type=Session)
        if before and before.inputs == inputs and not fresh:
            yield Work(folder, before, resumed=True)
            return
        # A new session in an empty folder: the old one goes first, the new one comes last.
        (folder / SESSION).unlink(missing_ok=True)
        for left in folder.iterdir():
            if left.is_dir():
                shutil.rmtree(left)
            elif left.name != LOCK:
                left.unlink()
        session = Session(secrets.token_hex(_ID_BYTES), inputs)
        write_whole(folder / SESSION, canonical(session))
        yield Work(folder, session, resumed=False)


def inputs_of(suite: Suite, only: Sequence[str]) -> str:
    """A digest of all that a suite is made from: its tasks, their files, the code around."""
    git = git_state(Path(), {})
    told = {
        "ragauge": __version__,
        "suite": suite,
        "only": sorted(only),
        "commit": git.commit if git else None,
        "uncommitted": uncommitted(Path()) if git else None,
        "files": {name: _sha256(Path(name)) for name in sorted(set(_files(suite)))},
    }
    return hashlib.pbkdf2_hmac("sha256", canonical(told), _SALT, _ROUNDS).hex()


def _files(suite: Suite) -> Iterator[str]:
    for task in suite.tasks:
        data = task.dataset
        yield from filter(None, (data.gold, data.predicted, *data.traces, *data.runs))
        for options in (task.options, task.more):
            for name, value in structs.asdict(options).items() if options else ():
                texts = value if isinstance(value, tuple) else (value,)
                yield from (text for text in texts if isinstance(text, str))
                if name == "docs" and value:
                    yield from (str(path) for path in Path(value).rglob("*"))
        if task.pipeline:
            yield from _files_of(task.pipeline)


def _files_of(pipeline: PipelineUnderTest) -> Iterator[str]:
    """What a pipeline names that may be a file here: another content is another pipeline."""
    yield from filter(None, (pipeline.map, pipeline.replay))
    if pipeline.call:
        yield from _modules(pipeline.call.partition(":")[0])
    if pipeline.command:
        with suppress(ValueError):  # whoever starts it says what is wrong
            yield from shlex.split(pipeline.command)


def _modules(name: str) -> Iterator[str]:
    """The files of a module, and of the whole package it is in; nothing is imported for that.

    What else it imports is seen where it stands in the same work tree of git.
    """
    top = name.partition(".")[0]
    try:
        found = PathFinder.find_spec(top, [str(Path.cwd()), *sys.path])
    except (ImportError, ValueError):
        return  # whoever imports it says what is wrong
    if found is None:
        return
    if found.origin:
        yield found.origin
    for folder in found.submodule_search_locations or ():
        yield from (str(path) for path in Path(folder).rglob("*.py"))


def _sha256(path: Path) -> str | None:
    try:
        return seal_of(pieces_of(path)).sha256 if path.is_file() else None
    except (OSError, ValueError):
        return None  # whoever reads it says what is wrong
