"""The dashboard on a port: where it may listen, under which names, and until when."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ragauge.contracts.paging import RunQuery, UnitQuery
from ragauge.dashboard.guard import Token
from ragauge.dashboard.material import Material
from ragauge.dashboard.query import Query
from ragauge.errors import RagaugeError, UsageError
from ragauge.text.visible import visible

if TYPE_CHECKING:
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

HTTP_PORT = 80
BACKLOG = 128
PATIENCE_S = 2
"""How long running requests may take after a shutdown is requested."""
IDLE_S = 15.0
"""How long a connection may wait with nothing, or half a request, or an unread page."""
LONGEST_HEAD = 1 << 17
"""Bytes of a request before its body; more than the guard allows, so that it can say so."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_NAMED = re.compile(r"(?P<name>[a-z0-9_.-]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?", re.I)
_PORT = re.compile(r":[0-9]+\Z")


class Listening(Struct, frozen=True):
    """A socket that listens, and the values of `Host` that mean it, the best one first."""

    socket: socket.socket
    hosts: Sequence[str]

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])

    @property
    def address(self) -> str:
        return f"http://{self.hosts[0]}/"


def listen(
    host: str, port: int, *, allowed: Sequence[str] = (), token: Token | None = None
) -> Listening:
    """A socket that listens there; raises UsageError where that cannot be, or must not."""
    family, place = _resolved(host, port)
    bound = _address(place[0])
    if not bound.is_loopback and token is None:
        raise UsageError(
            f"--host {visible(host)}: others could reach it, and a history holds questions and "
            "answers; give a token too (--token auto makes one), or leave --host out"
        )
    if bound.is_unspecified and not allowed:
        raise UsageError(
            f"--host {visible(host)}: say by which name others reach this machine: "
            "--allow-host NAME; requests for any other name are refused"
        )
    given, shown = [_named(name) for name in allowed], str(bound)
    shown = f"[{shown}]" if bound.version == 6 else shown
    own = [shown, *([host.lower()] if _NAMED.fullmatch(host) else [])]
    if bound.is_unspecified:
        own = [*LOOPBACK]
    elif bound.is_loopback:
        own += LOOPBACK
    try:
        made = socket.create_server(place, family=family, backlog=BACKLOG)
    except OSError as error:
        remedy = "choose another --host or --port; --port 0 takes a free one"
        raise UsageError(f"{shown}:{port}: cannot listen: {error.strerror}; {remedy}") from None
    # asyncio sets it only on sockets that name their protocol; without it a page waits 40 ms for
    # the reader to acknowledge its head.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    taken = made.getsockname()[1]
    # Browsers leave port 80 out; what the user adds may be a proxy's name, on any port.
    ours = _hosts(own, taken, bare=taken == HTTP_PORT)
    added = _hosts(given, taken, bare=True)
    hosts = [*added, *ours] if bound.is_unspecified else [*ours, *added]
    return Listening(made, [*dict.fromkeys(hosts)])


def serve(
    material: Material,
    listening: Listening,
    token: Token | None = None,
    *,
    verbose: bool = False,
    idle_s: float = IDLE_S,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Answer until interrupted; the socket is closed when this returns."""
    try:
        made = server(material, listening, token, verbose=verbose, idle_s=idle_s)
        started()
        warm(material)
        made.run(sockets=[listening.socket])
    except KeyboardInterrupt:
        pass  # this is how it is meant to end
    finally:
        listening.socket.close()


def server(
    material: Material,
    listening: Listening,
    token: Token | None = None,
    *,
    verbose: bool = False,
    idle_s: float = IDLE_S,
) -> uvicorn.Server:
    """The server of a history, guarded, before it runs."""
    import uvicorn

    from ragauge.dashboard.app import application
    from ragauge.dashboard.guard import Guard

    config = uvicorn.Config(
        Guard(application(material), listening.hosts, listening.port, token, verbose=verbose),
        # The same parts wherever it is installed: others that happen to be there read otherwise.
        http=_patient(idle_s),
        ws="none",
        loop="asyncio",
        lifespan="off",
        h11_max_incomplete_event_size=LONGEST_HEAD,
        timeout_graceful_shutdown=PATIENCE_S,
        server_header=False,
        proxy_headers=False,
        access_log=False,  # it would show queries
        log_config=None,
        # Faults are told by the application, with the address; the rest is of clients gone.
        log_level="critical",
    )
    return uvicorn.Server(config)


def _patient(idle_s: float) -> type[H11Protocol]:
    """The protocol of a server that closes connections with no request, or half of one.

    uvicorn waits without end for the head of a request, and for a reply to be read.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._since, self._unread = self.loop.time(), 0
            self._timer = self.loop.call_later(idle_s, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            self._timer.cancel()
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            self._since = self.loop.time()
            super().on_response_complete()

        def _look(self) -> None:
            answering = self.cycle is not None and not self.cycle.response_complete
            unread = self.transport.get_write_buffer_size()
            left = self._since + idle_s - self.loop.time()
            if (unread and unread == self._unread) or not (answering or unread or left > 0):
                self.transport.abort()
                return
            self._unread = unread
            again = idle_s if answering or unread else left
            self._timer = self.loop.call_later(again, self._look)

    return Patient


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[Any, ...]]:
    """The address that a host means, as a socket takes it; the name is not looked up again."""
    if not host.strip():
        raise UsageError("--host: is empty; leave it out, or say where to listen")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        remedy = "give an address of this machine, or leave --host out"
        raise UsageError(f"--host: {visible(host)}: there is no such host; {remedy}") from None
    # A name may have several addresses; one that others can reach decides what is needed.
    family, *_, place = min(found, key=lambda one: _address(one[4][0]).is_loopback)
    return family, place


def _address(text: str | int) -> Address:
    return ipaddress.ip_address(str(text).partition("%")[0])  # without the interface of a link


def _named(name: str) -> str:
    found = _NAMED.fullmatch(name)
    if found and int(found["port"] or 1) in range(1, 1 << 16):
        return name.lower()
    raise UsageError(
        f"--allow-host: {visible(name)}: expected NAME or NAME:PORT, such as dash.example:8137, "
        "with brackets around an IPv6 address"
    )


def _hosts(names: Sequence[str], port: int, *, bare: bool) -> list[str]:
    """The names as `Host` has them: with the port, and as bare as a browser may send them.

    >>> _hosts(["127.0.0.1", "proxy.example:8443"], 80, bare=True)
    ['127.0.0.1:80', '127.0.0.1', 'proxy.example:8443', 'proxy.example:8443']
    >>> _hosts(["[::1]"], 8137, bare=False)
    ['[::1]:8137']
    """
    hosts: list[str] = []
    for name in names:
        with_port = name if _PORT.search(name) else f"{name}:{port}"
        hosts += [with_port, name] if bare else [with_port]
    return hosts


def warm(material: Material) -> threading.Thread:
    """A thread that makes the pages of the newest run and of its first question, for nobody."""

    def make() -> None:
        # What pages import takes longer than they do.
        from ragauge.dashboard.page import Links
        from ragauge.dashboard.pages import history, question, run, runs

        links = Links()
        with suppress(RagaugeError):  # whoever opens the page will see it
            runs.page(material, links, Query())
            history.page(material, links, Query())
            for newest in material.pages.runs(RunQuery(limit=1)).rows:
                run.page(material, links, Query((), {"run": newest.id}))
                for one in material.pages.units(newest, UnitQuery(limit=1)).rows:
                    question.page(material, links, Query([("unit", one.unit)], {"run": newest.id}))

    thread = threading.Thread(target=make, name="warming", daemon=True)
    thread.start()
    return thread
