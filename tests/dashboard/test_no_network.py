"""Nothing leaves the machine: neither the server nor its pages in the browser ask anybody."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ragauge.contracts.history import RunFilter
from tests.cli.command import QUIET_ENVIRONMENT
from tests.dashboard.raw import ask
from tests.dashboard.small_history import small_history_at
from tests.store.databases import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]

LONG_S = 60
MOST = 60
"""Pages that are gone through, one of each kind."""
ORDERING = {"sort", "order", "start", "rows", "columns"}
UNDER_WAY = "meta[http-equiv=refresh]"
"""What a page has that is still being made, so that it asks for itself again."""
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", e => violations.push(e.violatedDirective));
"""


def kind_of(address: str) -> str:
    """What page an address leads to, whichever question it shows, in whatever order.

    Each run's own page counts, since every command has tabs of its own.
    """
    parts = urlsplit(address)
    names = set(re.findall(r"(?:^|&)([a-z]+)=", parts.query)) - ORDERING
    path = parts.path
    if not re.fullmatch("/runs/[^/]+", path):
        path = re.sub("[0-9a-f]{12,}", "ID", path)
    return f"{path}?{'&'.join(sorted(names))}"


class Reader:
    """Someone who follows the links of the dashboard, and all that the browser asked or said."""

    def __init__(self, page, url):
        self.page, self._url = page, url
        self.asked, self.said, self.outside, self.bad = [], [], set(), {}
        page.add_init_script(WATCH)
        page.context.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.said.append(f"{page.url}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"{page.url}: {error}"))

    def go_through(self, start):
        """The kinds of the pages seen, one of each kind that some page links to."""
        waiting, seen = [start], {}
        while waiting and len(seen) < MOST:
            address = waiting.pop(0)
            if kind_of(address) not in seen:
                seen[kind_of(address)] = address
                waiting += self._read(address)
        return seen

    def _read(self, address):
        answer = self.page.goto(address)
        self.page.locator(UNDER_WAY).wait_for(state="detached")
        if answer.status != 200 or (tried := self.page.evaluate("violations")):
            self.bad[address] = answer.status if answer.status != 200 else tried
        links = self.page.evaluate("[...document.links].map(a => [a.href, a.download])")
        self.outside |= {href for href, _ in links if not href.startswith(self._url)}
        files = ("?figures=", "&figures=")
        pages = (href.partition("#")[0] for href, download in links if not download)
        return [href for href in pages if not any(one in href for one in files)]


@pytest.fixture
def reader(browser, served):
    context = browser.new_context()
    yield Reader(context.new_page(), served.url)
    context.close()


def test_no_page_asks_anybody_else(reader, served):
    seen = reader.go_through(served.at("/"))
    runs = {f"/runs/{run.id}?" for run in served.history.runs(RunFilter())}
    assert len(runs) > 5
    assert runs | {"/?", "/history?", "/compare?", "/gold?", "/gold/ID?"} <= set(seen)
    assert any(kind.startswith("/runs/ID/question?") for kind in seen)
    assert any(kind.startswith("/runs/ID/document?") for kind in seen)
    elsewhere = {
        address for address in reader.asked if not address.startswith((f"{served.url}/", "data:"))
    }
    assert elsewhere == set()
    assert reader.outside == set()
    assert reader.bad == {}
    assert reader.said == []


class Audited:
    """A dashboard that writes down which sockets it opens."""

    def __init__(self, file: Path, place: str) -> None:
        self._file = file
        module = ("-m", "tests.dashboard.audited_server", str(file))
        self.process = subprocess.Popen(
            [sys.executable, *module, "serve", "--port", "0", "--store", place],
            stderr=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            env=QUIET_ENVIRONMENT,
            text=True,
        )
        self._watchdog = threading.Timer(LONG_S, self.process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.process.stderr.readline())
        assert found, self.process.communicate()[1]
        self.port = int(found[1])

    def links(self) -> list[str]:
        """A few pages, asked for as a reader would; each must be there."""
        body = ask(self.port).body.decode()
        found = dict.fromkeys(re.findall(r'href="(/[^"#]*)', body))
        return [address.replace("&amp;", "&") for address in found]

    @property
    def opened(self) -> list[str]:
        return self._file.read_text().splitlines()

    @property
    def sockets(self) -> set[tuple[str, int, int]]:
        """The internet sockets the process has now, whoever opened them: protocol and ports."""
        own = {link.readlink().name for link in Path(f"/proc/{self.process.pid}/fd").iterdir()}
        found = set()
        for protocol in ("tcp", "tcp6", "udp", "udp6"):
            lines = Path(f"/proc/{self.process.pid}/net/{protocol}").read_text().splitlines()[1:]
            for line in lines:
                fields = line.split()
                if f"socket:[{fields[9]}]" in own:
                    ports = [int(field.rpartition(":")[2], 16) for field in fields[1:3]]
                    found.add((protocol, *ports))
        return found

    def close(self) -> str:
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate()[1]
        self._watchdog.cancel()
        assert self.process.returncode == 0
        return said


def test_the_server_opens_no_socket_but_the_one_it_listens_on(small, tmp_path):
    made = Audited(tmp_path / "opened", small)
    links = made.links()
    assert len(links) > 10
    assert {ask(made.port, link).status for link in links} == {200}
    assert made.sockets == {("tcp", made.port, 0)}
    assert made.close() == ""
    events = {line.split()[0] for line in made.opened}
    assert [line for line in made.opened if line.startswith("socket.bind")] == [
        "socket.bind [('127.0.0.1', 0)]"
    ]
    assert events <= {"socket.bind", "socket.getaddrinfo", "ctypes.dlopen"}
    looked_up = {line for line in made.opened if line.startswith("socket.getaddrinfo")}
    assert all("'127.0.0.1'" in line for line in looked_up)


def test_with_a_history_on_a_server_it_asks_that_one_alone(postgres, tmp_path):
    small_history_at(postgres, tmp_path)
    made = Audited(tmp_path / "opened", postgres)
    assert {ask(made.port, link).status for link in made.links()} == {200}
    assert made.sockets == {("tcp", made.port, 0)}  # the database is behind a Unix socket
    assert made.close() == ""
    connects = [line for line in made.opened if line.startswith("socket.connect")]
    assert connects == []


def test_the_audit_sees_what_it_should(small, tmp_path):
    """The proof of the tests above: a connection from Python is written down."""
    file = tmp_path / "opened"
    code = (
        "import socket, sys; from tests.dashboard import audited_server as audited\n"
        "import ragauge.cli.main as cli\n"
        "cli.main = lambda: socket.socket().connect_ex(('127.0.0.1', 9))\n"
        f"audited.main({str(file)!r})"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-W", "ignore", "-c", code]
    subprocess.run(command, cwd=root, env=QUIET_ENVIRONMENT, check=True)
    assert "socket.connect [('127.0.0.1', 9)]" in file.read_text().splitlines()
