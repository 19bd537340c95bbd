"""`ragauge serve` as people start it: a real process, a real port, a real end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

from ragauge.dashboard.serving import listen
from ragauge.errors import UsageError
from tests.cli.command import QUIET_ENVIRONMENT, RAGAUGE, ragauge
from tests.dashboard.raw import ask
from tests.dashboard.small_history import small_history, small_history_at
from tests.store.databases import postgres, postgres_server
from tests.store.runs_made import new_run
from tests.store.test_migrations import old_history

__all__ = ["postgres", "postgres_server"]

LONG_S = 60
SECRET = "a-token-that-nobody-guesses"
OBEY_PERMISSIONS = (
    sys.executable,
    "-c",
    # Not even root may then read or write what a file's permissions forbid.
    "import ctypes, os, sys\n"
    "for capability in (1, 2): ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)\n"
    "os.execv(sys.argv[1], sys.argv[1:])",
)


class Started:
    """A dashboard in a process of its own, once it has said where it is."""

    def __init__(self, *options, through=(), **environment):
        self.process = subprocess.Popen(
            [*through, RAGAUGE, "serve", "--port", "0", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=QUIET_ENVIRONMENT | environment,
            text=True,
        )
        # A server that says nothing must not keep the tests waiting for ever.
        self._watchdog = threading.Timer(LONG_S, self.process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()
        self.line = self.process.stderr.readline()
        found = re.search(r": (http://\S+:(\d+)/\S*)  Ctrl-C ends it$", self.line)
        assert found, self.line + self.end()[2]
        self.address, self.port = found[1], int(found[2])

    def end(self, how=signal.SIGINT):
        """What it said after the first line, and how it ended."""
        self.process.send_signal(how)
        said = self.process.communicate()
        return self.process.returncode, *said

    def close(self):
        self.process.kill()
        self.process.communicate()
        self._watchdog.cancel()


@pytest.fixture
def start():
    """A function that starts a dashboard; all are ended with the test."""
    made = []

    def starting(*options, **environment):
        made.append(Started(*options, **environment))
        return made[-1]

    yield starting
    for one in made:
        one.close()


def refusal(*options, **environment):
    """The words of a dashboard that does not start."""
    done = ragauge("serve", "--port", "0", *options, **environment)
    assert (done.returncode, done.stdout) == (2, b"")
    return done.stderr.decode()


def test_it_says_where_it_is_and_answers_there(start, small):
    made = start("--store", small)
    said = f"Dashboard of {small} (2 runs): http://127.0.0.1:{made.port}/  Ctrl-C ends it\n"
    assert made.line == said
    answer = ask(made.port)
    assert answer.status == 200
    assert b"nightly" in answer.body
    assert made.end() == (0, "", "")


def test_it_ends_at_once_with_connections_open(start, small):
    made = start("--store", small)
    own = f"Host: 127.0.0.1:{made.port}\r\n".encode()
    with socket.create_connection(("127.0.0.1", made.port)) as idle:
        idle.sendall(b"GET /nothing HTTP/1.1\r\n" + own + b"\r\n")
        assert idle.recv(12) == b"HTTP/1.1 404"
        with (
            socket.create_connection(("127.0.0.1", made.port)) as half,
            socket.create_connection(("127.0.0.1", made.port)),
        ):
            half.sendall(b"GET / HTTP/1.1\r\nX-Half: ")
            assert made.end() == (0, "", "")


def test_connections_that_send_no_complete_request_are_closed(start, small):
    made = start("--store", small, "--idle-timeout", "0.5")
    own = f"Host: 127.0.0.1:{made.port}\r\n".encode()
    unfinished = (
        b"",
        b"GET / HTTP/1.1\r\n" + own,
        b"POST / HTTP/1.1\r\n" + own + b"Content-Length: 9\r\n\r\nhalf",
        b"GET /nothing HTTP/1.1\r\n" + own + b"\r\n",
    )
    for sent in unfinished:
        with socket.create_connection(("127.0.0.1", made.port), timeout=LONG_S / 2) as client:
            client.sendall(sent)
            while client.recv(1 << 16):
                pass  # up to the end of the connection, or a TimeoutError
    with socket.create_connection(("127.0.0.1", made.port)) as dripping:
        dripping.sendall(b"GET / HTTP/1.1\r\n" + own)
        with pytest.raises(ConnectionError):
            for _ in range(100):
                time.sleep(0.1)
                dripping.sendall(b"X: 1\r\n")
    assert ask(made.port).status == 200


def test_a_second_interruption_is_as_quiet(start, small):
    made = start("--store", small)
    made.process.send_signal(signal.SIGINT)
    assert made.end()[2] == ""


def test_terminated_it_ends_quietly_too(start, small):
    assert start("--store", small).end(signal.SIGTERM) == (-signal.SIGTERM, "", "")


def test_what_clients_get_wrong_is_not_its_log(start, small):
    made = start("--store", small)
    for request in (b"\x00\xff\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n"):
        with socket.create_connection(("127.0.0.1", made.port)) as client:
            client.sendall(request)
    assert ask(made.port, "/?words=private").status == 200
    assert made.end() == (0, "", "")


def test_verbose_tells_of_requests_without_their_queries(start, small):
    made = start("--store", small, "--verbose", "--token", SECRET)
    ask(made.port, f"/gold?token={SECRET}&words=private")
    ask(made.port, "/runs/x%1b%5b31m", f"Authorization: Bearer {SECRET}")
    code, _, said = made.end()
    assert code == 0
    assert [line.split(" ", 2)[2] for line in said.splitlines()] == [
        "303 GET /gold",
        "404 GET /runs/x\\x1b[31m",
    ]


def test_a_taken_port_ends_in_words(small):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = ragauge("serve", "--store", small, "--port", port)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert said.startswith(f"ragauge: 127.0.0.1:{port}: cannot listen: Address already in use")
    assert "--port 0 takes a free one" in said


def test_without_a_history_it_makes_none(tmp_path):
    assert "there is no history yet" in refusal("--store", tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "0", "::ffff:0.0.0.0", "::ffff:127.0.0.1", "192.0.2.1"]
)
def test_where_others_reach_it_a_token_is_needed(small, host):
    said = refusal("--store", small, "--host", host, "--allow-host", "dash.example")
    assert "others could reach it" in said
    assert "--token auto" in said


def test_a_name_is_what_it_resolves_to(monkeypatch):
    """A name of several addresses is as open as the most open of them; it is looked up once."""

    def resolved(host, port, **how):
        assert host == "ours.example"
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (address, port)) for address in ("127.0.0.1", "192.0.2.1")]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with pytest.raises(UsageError, match="others could reach it"):
        listen("ours.example", 0)


@pytest.mark.parametrize("host", ["", " ", "no-such-host.invalid", "a" * 70, "http://x/"])
def test_a_host_that_is_none_is_told(small, host):
    assert "--host: " in refusal("--store", small, "--host", host)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2"])
def test_other_names_of_the_loopback_need_no_token(start, small, host):
    made = start("--store", small, "--host", host)
    place = made.address.removeprefix("http://").rpartition(":")[0]
    with socket.create_connection((place, made.port)) as client:
        client.sendall(f"HEAD / HTTP/1.1\r\nHost: {host}:{made.port}\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"


def test_on_all_addresses_it_wants_to_know_its_name(start, small):
    flags = ("--store", small, "--host", "0.0.0.0", "--token", SECRET)
    assert "--allow-host NAME" in refusal(*flags)
    made = start(*flags, "--allow-host", "dash.example")
    assert made.address == f"http://dash.example:{made.port}/"
    bearer = f"Authorization: Bearer {SECRET}"
    own, others = ("dash.example", f"localhost:{made.port}"), ("0.0.0.0", "attacker.example")
    assert {ask(made.port, "/", bearer, f"Host: {host}").status for host in own} == {200}
    assert {ask(made.port, "/", bearer, f"Host: {host}").status for host in others} == {421}
    assert ask(made.port, "/", "Host: dash.example").status == 401


@pytest.mark.parametrize("name", ["*", "", "http://dash.example", "a b", "x:99999", "x:0", "::1"])
def test_a_name_to_allow_is_a_name(small, name):
    assert "--allow-host: " in refusal("--store", small, "--allow-host", name)


@pytest.mark.parametrize("token", ["", "short", "x" * 15, "a token with blanks in it", "é" * 20])
def test_a_token_that_is_none_is_not_repeated(small, token):
    for said in (
        refusal("--store", small, "--token", token),
        refusal("--store", small, RAGAUGE_TOKEN=token),
    ):
        assert said.startswith("ragauge: --token: ")
        assert not token or token not in said


def test_a_token_from_the_environment_is_shown_nowhere(start, small):
    made = start("--store", small, RAGAUGE_TOKEN=SECRET)
    assert ask(made.port).status == 401
    assert ask(made.port, "/", f"Authorization: Bearer {SECRET}").status == 200
    assert SECRET not in "".join([made.line, *map(str, made.end())])
    shown = ragauge("config", RAGAUGE_TOKEN=SECRET)
    assert shown.returncode == 0
    assert SECRET.encode() not in shown.stdout + shown.stderr


def test_a_token_is_made_and_shown_once(start, small):
    first, second = (start("--store", small, "--token", "auto") for _ in range(2))
    tokens = [re.search(r"/\?token=(\S+)", one.address)[1] for one in (first, second)]
    assert len(set(tokens)) == 2
    assert all(len(token) >= 32 for token in tokens)
    assert ask(first.port).status == 401
    assert ask(first.port, f"/?token={tokens[0]}").status == 303
    assert ask(first.port, f"/?token={tokens[1]}").status == 401
    assert ask(first.port, "/?token=auto").status == 401
    assert first.end() == (0, "", "")


def test_the_browser_is_opened_without_the_token(start, small, tmp_path):
    pipe, browser = tmp_path / "pipe", tmp_path / "browser"
    os.mkfifo(pipe)
    browser.write_text(f'#!/bin/sh\necho "$@" > {pipe}\n')
    browser.chmod(0o755)
    made = start("--store", small, "--open", "--token", SECRET, BROWSER=f"{browser} %s")
    assert pipe.read_text() == f"http://127.0.0.1:{made.port}/\n"


def test_a_browser_that_does_not_return_keeps_nobody_waiting(start, small, tmp_path):
    pipe, browser = tmp_path / "pipe", tmp_path / "browser"
    os.mkfifo(pipe)
    browser.write_text(f"#!/bin/sh\nexec cat {pipe}\n")
    browser.chmod(0o755)
    made = start("--store", small, "--open", BROWSER=f"{browser} %s")
    with pipe.open("wb"):
        assert ask(made.port).status == 200


def test_documents_come_from_a_folder(small, tmp_path):
    assert "there is no such folder" in refusal("--store", small, "--docs", tmp_path / "no")
    assert "--manifest belongs to --docs" in refusal("--store", small, "--manifest", "x.json")
    flags = ("--docs", tmp_path, "--manifest", tmp_path / "no.json")
    assert "no.json" in refusal("--store", small, *flags)


def test_documents_are_shown_in_the_revision_the_manifest_names(start, small, tmp_path):
    docs, manifest = tmp_path / "docs", tmp_path / "manifest.json"
    docs.mkdir()
    (docs / "a.md").write_text("The museum opened its doors in 1800.")
    manifest.write_text('{"doc_revs": {"a": "2"}}')
    flags = ("--store", small, "--docs", docs)
    shown = b"The museum opened its doors"
    with_any, with_one = start(*flags), start(*flags, "--manifest", manifest)
    for rev, made, found in ((1, with_any, True), (1, with_one, False), (2, with_one, True)):
        answer = ask(made.port, f"/runs/latest/document?doc=a&rev={rev}")
        assert (shown in answer.body) is found


def test_a_history_that_cannot_be_written_is_read(start, tmp_path):
    store = tmp_path / "store"
    small_history(tmp_path)
    for path in [*store.rglob("*"), store]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*"))
    made = start("--store", store, through=OBEY_PERMISSIONS)
    assert "(2 runs)" in made.line
    assert ask(made.port).status == 200
    assert made.end() == (0, "", "")
    assert sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*")) == before
    for path in [store, *store.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


def test_an_old_history_is_brought_up_to_date(start, tmp_path):
    place = str(tmp_path / "store")
    old_history(place, "0001", new_run(1, contents={}), new_run(2, contents={}))
    made = start("--store", place)
    assert "(2 runs)" in made.line
    assert ask(made.port).status == 200


def test_a_run_recorded_meanwhile_is_seen(start, small, tmp_path):
    store = shutil.copytree(small, tmp_path / "store")
    made = start("--store", store)
    assert b"weekly" not in ask(made.port).body
    gold, traces = (tmp_path / name for name in ("gold.json", "traces.jsonl"))
    small_history_at(str(tmp_path / "other"), tmp_path)
    flags = ("--record", "--store", store, "--name", "weekly", "--quiet")
    assert ragauge("score", gold, traces, *flags).returncode in (0, 1)
    assert b"weekly" in ask(made.port).body


def test_a_history_on_a_server_is_served_without_its_password(start, postgres, tmp_path):
    small_history_at(postgres, tmp_path)
    secret = postgres.replace("postgres:@", "postgres:s3cr3t-password@", 1)
    assert secret != postgres
    made = start("--store", secret)
    assert "(2 runs)" in made.line
    body = ask(made.port).body.decode()
    assert "nightly" in body
    assert "s3cr3t" not in made.line + body
    assert made.end() == (0, "", "")


def test_help_has_an_example():
    helped = ragauge("serve", "-h").stdout.decode()
    assert "Example:\n    ragauge serve --open\n" in helped
    assert "RAGAUGE_TOKEN" in helped
