"""An append-only journal: a line is on the disk before its work counts as done."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from ragauge.errors import UsageError
from ragauge.store.files import write_whole

_PIECE = 1 << 16
_BOM = b"\xef\xbb\xbf"


class Journal:
    """A file of JSON lines that one process at a time may append to."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle = path, handle

    @property
    def empty(self) -> bool:
        return not os.fstat(self._handle).st_size

    def drop_torn_line(self) -> int:
        """Cut off a last line that a kill had cut short; its work was never reported as done.

        How many bytes it had comes back. For whoever knows that the file is a journal of theirs:
        in any other file the last line may be precious.
        """
        size = os.fstat(self._handle).st_size
        end = _end_of_last_line(self._handle, size)
        if end < size:
            os.ftruncate(self._handle, end)
        return size - end

    def append(self, lines: Sequence[bytes]) -> None:
        """Add lines and wait until the disk has them: one wait, however many they are."""
        left = memoryview(b"".join(line + b"\n" for line in lines))
        try:
            while left:
                left = left[os.write(self._handle, left) :]
            os.fsync(self._handle)
        except OSError as error:
            raise UsageError(
                f"{self.path}: cannot be written: {error.strerror}; what was reported as done is "
                "kept, and the same command goes on from there"
            ) from error

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines so far that hold something, with their numbers."""
        return lines_of(self.path)

    def set_aside(self) -> Path | None:
        """Give what is there another name, beside its own, and go on with an empty file.

        The bytes are copied, not the file renamed: the lock belongs to the file.
        """
        if self.empty:
            return None
        names = (self.path.with_name(f"{self.path.name}.{number}") for number in count(1))
        aside = next(name for name in names if not name.exists())
        write_whole(aside, self.path.read_bytes())
        os.ftruncate(self._handle, 0)
        os.fsync(self._handle)
        return aside


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a journal that hold something, with their numbers."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            bare = line.removeprefix(_BOM) if number == 1 else line
            if bare.strip():
                yield number, bare.rstrip(b"\n")


@contextmanager
def journal(path: Path) -> Iterator[Journal]:
    """The journal, locked: a second writer is refused, not queued."""
    if path.name == "-" or path.suffix in (".gz", ".zst"):
        raise UsageError(f"{path}: a journal is a plain file that is appended to; name one .jsonl")
    try:
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UsageError(f"{path}: is no plain file, and a journal must be read again")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageError(
                f"{path}: another process is writing to it; wait for it to end, or give this one "
                "a file of its own"
            ) from error
        yield Journal(path, handle)
    finally:
        os.close(handle)


def _end_of_last_line(handle: int, size: int) -> int:
    """How many bytes belong to whole lines."""
    end = size
    while end:
        start = max(0, end - _PIECE)
        found = os.pread(handle, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
