"""A command as the system under test: the ask on its standard input, the reply on its output."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import msgspec

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.pipelines.reply import MAX_REPLY, TOO_LARGE, decoded
from ragauge.text.visible import one_line

_STDIN, _STDOUT = 0, 1
_ERRORS_KEPT = 4096
_SHOWN = 200
_GRACE_S = 1.0
"""How long a killed process may take to be gone before it is left to the system."""
_PASSING = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

_encode = msgspec.json.Encoder(order="sorted").encode


class CommandSystem:
    """Starts a command for each ask, without a shell, in a process group of its own."""

    def __init__(self, command: str) -> None:
        self._arguments = _split(command)

    def __repr__(self) -> str:
        return f"CommandSystem({self._program!r})"

    @property
    def _program(self) -> str:
        return Path(self._arguments[0]).name

    @property
    def identity(self) -> dict[str, Any]:
        """The program, and a hash of its arguments, because people do put secrets there."""
        whole = _encode(self._arguments)
        return {
            "kind": "command",
            "program": self._program,
            "sha256": hashlib.sha256(whole).hexdigest(),
        }

    async def ask(self, ask: Ask) -> Any:
        """The reply the command printed."""
        said = _Conversation()
        transport = await self._started(said)
        try:
            stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(_STDIN))
            stdin.write(_encode(ask) + b"\n")
            stdin.write_eof()
            await asyncio.wait({said.ended})
        finally:
            await _end(said, transport)
        if len(said.output) > MAX_REPLY:
            raise CallFailed("too_large", TOO_LARGE)
        code = transport.get_returncode() or 0
        if code:
            lines = said.errors.decode(errors="replace").strip().splitlines()
            how = f"code {code}" if code > 0 else f"killed by signal {-code}"
            raise CallFailed("exit", one_line(f"{how}: {lines[-1]}" if lines else how, _SHOWN))
        return decoded(bytes(said.output), again=False)

    async def close(self) -> None:
        """Nothing is held between asks."""

    async def _started(self, said: _Conversation) -> asyncio.SubprocessTransport:
        pipe = subprocess.PIPE
        starting = asyncio.ensure_future(
            asyncio.get_running_loop().subprocess_exec(
                lambda: said,
                *self._arguments,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
            )
        )
        try:
            transport, _ = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Half started, its children could not be killed with it: let it come up first.
            with suppress(OSError):
                transport, _ = await starting
                await _end(said, transport)
            raise
        except OSError as error:
            fact = f"{self._program}: {error.strerror or type(error).__name__}"
            raise CallFailed("not_started", fact, again=error.errno in _PASSING) from None
        return transport


class _Conversation(asyncio.SubprocessProtocol):
    """What a process says until it ends: its output up to a bound, and the end of its errors."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.errors = b""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._group: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._group = cast(asyncio.SubprocessTransport, transport).get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _STDOUT:
            self.errors = (self.errors + data)[-_ERRORS_KEPT:]
        elif len(self.output) <= MAX_REPLY:
            self.output += data
            if len(self.output) > MAX_REPLY:
                self.kill()

    def process_exited(self) -> None:
        self.kill()  # what it left behind would hold its output open

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def kill(self) -> None:
        """End the process and every process it started."""
        if self._group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, signal.SIGKILL)


async def _end(said: _Conversation, transport: asyncio.SubprocessTransport) -> None:
    try:
        if not said.ended.done():
            said.kill()
            await asyncio.wait({said.ended}, timeout=_GRACE_S)
    finally:
        transport.close()


def _split(command: str) -> list[str]:
    """The program and its arguments; raises UsageError where there is nothing to start."""
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the command cannot be read: {str(error).lower()}") from None
    if not arguments:
        raise UsageError("the command is empty; name a program")
    program = arguments[0]
    if "\0" in command or shutil.which(program) is None:
        name = one_line(program, _SHOWN)
        if os.path.sep in program and Path(program).is_file():
            raise UsageError(f'command "{name}": is not executable; `chmod +x` makes it so')
        raise UsageError(f'command "{name}": there is no such program')
    return arguments
