"""A command is asked on its input, answers on its output, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys

import pytest

from ragauge.contracts.system import Ask
from ragauge.errors import UsageError
from ragauge.pipelines.command import CommandSystem
from tests.pipelines.asking import LONG_S, failure_of, reply_of, with_system

HEAD = "import json, os, signal, subprocess, sys\n"


def python(source: str, *arguments: str) -> CommandSystem:
    return CommandSystem(shlex.join([sys.executable, "-c", HEAD + source, *arguments]))


def test_the_ask_is_one_line_and_the_output_the_reply():
    system = python("print(json.dumps({'answer': sys.stdin.read()}))")
    reply = reply_of(system, "Why – so?", seed=3, temperature=0.2, jitter="ws", knobs={"k": 1})
    line = reply["answer"]
    assert line.count("\n") == 1 and line.endswith("\n")
    assert json.loads(line) == {
        "q": "Why – so?",
        "seed": 3,
        "temperature": 0.2,
        "jitter": "ws",
        "knobs": {"k": 1},
    }


def test_a_command_need_not_read_its_input():
    assert reply_of(python("print('{}')"), "long " * 100_000) == {}


def test_there_is_no_shell(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["$HOME", "*", ";", "touch", "made", "a b"]
    assert reply_of(python("print(json.dumps(sys.argv[1:]))", *words)) == words
    assert list(tmp_path.iterdir()) == []


FAILING = {
    "sys.stderr.write('loading\\nno index\\n\\n'); sys.exit(3)": ("exit", "code 3: no index"),
    "sys.exit(1)": ("exit", "code 1"),
    "os.kill(os.getpid(), signal.SIGTERM)": ("exit", "killed by signal 15"),
    "raise ValueError('half\\x1b[31m')": ("exit", "code 1: ValueError: half\\x1b[31m"),
    "pass": ("bad_reply", "the reply is empty"),
    "print()": ("bad_reply", "the reply is empty"),
    "print('So.')": ("bad_reply", "not JSON: expecting value at column 1"),
    "print('{\"a\": NaN}')": (
        "bad_reply",
        "NaN is not a JSON number; write null where there is no value",
    ),
    "while True: print('x' * 65536)": ("too_large", "the reply is longer than 15 MiB"),
}


@pytest.mark.parametrize("source", FAILING)
def test_a_failing_command_is_a_failed_call(source):
    failed = failure_of(python(source))
    assert (failed.kind, failed.fact) == FAILING[source]
    assert failed.again is False


def test_a_flood_of_errors_holds_nothing_up():
    source = "sys.stderr.write('x' * 10_000_000 + '\\nlast'); sys.stderr.flush(); sys.exit(2)"
    assert failure_of(python(source)).fact == "code 2: last"
    assert reply_of(python("sys.stderr.write('x' * 10_000_000); print('1')")) == 1


@pytest.fixture
def fifo(tmp_path):
    """A pipe by name: its reader meets the end when every process that writes to it is gone."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


LONG_LIVED = ["sh", "-c", "echo up; echo up >&2; exec sleep 100"]


def grandchild(fifo, after: str) -> CommandSystem:
    """A command that starts a process which would live for long, and goes on otherwise."""
    source = (
        "fifo, pipe = open(sys.argv[1], 'w'), subprocess.PIPE\n"
        f"child = subprocess.Popen({LONG_LIVED}, stdout=fifo, stderr=pipe)\n"
        "child.stderr.readline()\n"
    )
    return python(source + after, str(fifo))


def opened(fifo):
    """The pipe's reading end, when the process is up."""
    end = fifo.open("rb")
    assert end.readline() == b"up\n"
    return end


def test_cancelling_kills_the_command_and_its_children(fifo):
    async def give_up(system):
        call = asyncio.ensure_future(system.ask(Ask(q="Why?")))
        with await asyncio.to_thread(opened, fifo) as end:
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            return await asyncio.wait_for(asyncio.to_thread(end.read), LONG_S)

    assert with_system(grandchild(fifo, "child.wait()"), give_up) == b""


def test_cancelling_at_once_leaves_no_process(fifo):
    async def give_up(system):
        reading = asyncio.ensure_future(asyncio.to_thread(fifo.open, "rb"))
        calls = []
        for turns in range(12):
            calls.append(asyncio.ensure_future(system.ask(Ask(q="Why?"))))
            for _ in range(turns):
                await asyncio.sleep(0)
            calls[-1].cancel()
        gone = await asyncio.gather(*calls, return_exceptions=True)
        with fifo.open("wb"):  # in case that no child came so far as to open it
            end = await reading
        with end:
            left = await asyncio.wait_for(asyncio.to_thread(end.read), LONG_S)
        return left, {type(outcome) for outcome in gone}

    left, outcomes = with_system(grandchild(fifo, "child.wait()"), give_up)
    assert set(left.split()) <= {b"up"}
    assert outcomes == {asyncio.CancelledError}


def test_children_left_behind_do_not_hold_the_reply_up():
    source = "subprocess.Popen(['sleep', '100'])\nprint('{\"answer\": \"So.\"}')"
    assert reply_of(python(source)) == {"answer": "So."}


def test_children_left_behind_are_killed(fifo):
    async def ask(system):
        call = asyncio.ensure_future(system.ask(Ask(q="Why?")))
        with await asyncio.to_thread(opened, fifo) as end:
            reply = await call
            return reply, await asyncio.wait_for(asyncio.to_thread(end.read), LONG_S)

    assert with_system(grandchild(fifo, "print('1')"), ask) == (1, b"")


@pytest.mark.parametrize(
    ("command", "fact"),
    [
        ("", "the command is empty; name a program"),
        ("'half", "the command cannot be read: no closing quotation"),
        ("no-such-program --fast", 'command "no-such-program": there is no such program'),
        ("./no/such", 'command "./no/such": there is no such program'),
        ("./plain", 'command "./plain": is not executable; `chmod +x` makes it so'),
        ("a\0b", 'command "a\\x00b": there is no such program'),
    ],
)
def test_a_command_that_cannot_be_started_is_refused_at_once(command, fact, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("echo 1")
    with pytest.raises(UsageError) as caught:
        CommandSystem(command)
    assert str(caught.value) == fact


def test_a_program_that_went_away_meanwhile_is_a_failed_call(tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    system = CommandSystem(str(program))
    program.unlink()
    failed = failure_of(system)
    assert (failed.kind, failed.again) == ("not_started", False)
    assert failed.fact == "program: No such file or directory"


def test_arguments_do_not_show_but_make_it_another_system():
    one, other = python("1", "--key", "hidden-1"), python("1", "--key", "hidden-2")
    assert one.identity != other.identity
    assert one.identity == python("1", "--key", "hidden-1").identity
    assert one.identity["program"].startswith("python")
    assert "hidden" not in f"{one!r} {one} {one.identity}"
