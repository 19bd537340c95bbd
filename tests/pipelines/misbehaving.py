"""A real HTTP server that misbehaves on purpose.

    with serving({"Why?": ["500", "reset", "ok"]}) as server:
        ...  # the first call that asks "Why?" gets a 500, the second a reset, later ones answers

A script says by question what to do: the name of a behaviour, a list of names for one attempt
after another (the last stays), or any other JSON value, which is the reply. It may also be a
function of the decoded body and the attempt. A question without a script gets what the path of
the URL names (`server.at("html")`), and at any other path a normal answer.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
import threading
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

WAIT_S = 60
"""A bound on what a test waits for, met only when something is broken."""
HUGE = 17 << 20
EXPANDED = 96 << 20
RETRY_AFTER_S = 7
DATED_WAIT_S = 90
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
LATER = "Wed, 21 Oct 2015 07:29:30 GMT"
PAGE = "<html><body><h1>Bad\nGateway</h1>" + "x" * 500

Behaviour = Callable[["Call"], Awaitable[None]]
Script = dict[str, Any] | Callable[[dict[str, Any], int], Any]


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: Any
    connection: int


class Connection(asyncio.Protocol):
    """One client: its requests one after another, each behaved towards by a task."""

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self._server, self._received = server, b""
        self._acting: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._server.open.add(self)
        self._server.change(connections=1)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._received.startswith(b"POST"[: len(self._received)]):
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            self.transport.close()
            return
        head, blank, rest = self._received.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", 0))
        if not blank or len(rest) < length:
            return
        self._received = rest[length:]
        path = lines[0].split(" ")[1].partition("?")[0]
        body = json.loads(rest[:length]) if length else None
        request = Request(path, headers, body, self._server.connections)
        behave = self._server.behaviour(request)
        self._acting = asyncio.ensure_future(self._act(behave, Call(self._server, request, self)))

    async def _act(self, behave: Behaviour, call: Call) -> None:
        self._server.change(in_flight=1)
        try:
            await behave(call)
        except asyncio.CancelledError:
            self._server.change(left=1)
        finally:
            self._server.change(in_flight=-1)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.open.discard(self)
        self._writable.set()
        if self._acting is not None:
            self._acting.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(data)
            await self._writable.wait()


@dataclass
class Call:
    """One request while it is served."""

    server: Server
    request: Request
    connection: Connection

    async def send(
        self,
        body: bytes,
        status: str = "200 OK",
        *,
        length: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        lines = {
            "Content-Type": "application/json",
            "Content-Length": str(len(body) if length is None else length),
            **(headers or {}),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
        await self.connection.write(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)

    async def send_json(self, value: Any) -> None:
        await self.send(json.dumps(value, sort_keys=True).encode())

    def close(self) -> None:
        self.connection.transport.close()

    def reset(self) -> None:
        """End the connection with RST."""
        sock = self.connection.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.transport.abort()


@dataclass
class Server:
    """What a test sees of the server."""

    script: Script
    answer: Callable[[dict[str, Any]], Any]
    delay_s: float
    elsewhere: str = "http://elsewhere.invalid/qa?token=from-the-redirect"
    """Where it redirects to."""
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    """Requests by question."""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    left: int = 0
    """Calls that the client gave up before they were answered."""
    open: set[Connection] = field(default_factory=set)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _loop: asyncio.AbstractEventLoop | None = None

    def at(self, path: str) -> str:
        """The URL at which a behaviour is met, whatever is asked."""
        return f"{self.url}/{path}"

    def release(self) -> None:
        """Let slow calls be answered, those to come too."""
        self._tell(self.released.set)

    def stop(self) -> None:
        self._tell(self.stopped.set)

    def wait_until(self, fact: Callable[[Server], bool]) -> None:
        """Return when a fact about the server holds, such as `lambda s: s.asked["Why?"] == 2`."""
        with self._changed:
            if not self._changed.wait_for(lambda: fact(self), WAIT_S):
                raise TimeoutError(f"it never came about: {self}")

    def change(self, **amounts: int) -> None:
        with self._changed:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self._changed.notify_all()

    def behaviour(self, request: Request) -> Behaviour:
        """What the script, or else the path, has for a request."""
        body = request.body if isinstance(request.body, dict) else {}
        question = str(body.get("q"))
        with self._changed:
            self.requests.append(request)
            self.asked[question] += 1
            attempt = self.asked[question]
            self._changed.notify_all()
        if callable(self.script):
            chosen = self.script(body, attempt)
        else:
            chosen = self.script.get(question, request.path.strip("/"))
        if isinstance(chosen, list) and chosen and isinstance(chosen[0], str):
            chosen = chosen[min(attempt, len(chosen)) - 1]
        if isinstance(chosen, str):
            return BEHAVIOURS.get(chosen, ok)
        return lambda call: call.send_json(chosen)

    async def run(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        listener = await self._loop.create_server(
            lambda: Connection(self), "127.0.0.1", 0, backlog=512
        )
        self.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        ready.set()
        await self.stopped.wait()
        listener.close()
        await asyncio.sleep(0)  # a connection may just be being accepted
        while self.open:
            for connection in set(self.open):
                connection.transport.abort()
            await asyncio.sleep(0)

    def _tell(self, something: Callable[[], None]) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(something)


async def ok(call: Call) -> None:
    if call.server.delay_s:
        await asyncio.sleep(call.server.delay_s)
    await call.send_json(call.server.answer(call.request.body))


async def slow(call: Call) -> None:
    await call.server.released.wait()
    await ok(call)


async def reset(call: Call) -> None:
    call.reset()


async def disconnect(call: Call) -> None:
    call.close()


async def closes(call: Call) -> None:
    """A good answer, after which the connection is closed without a word."""
    await ok(call)
    call.close()


async def truncated(call: Call) -> None:
    """Half a body, of the length it announced."""
    await call.send(b'{"answer": "it begins we')


async def cut(call: Call) -> None:
    """Half a body of a length that was to be twice as long."""
    await call.send(b'{"answer": "it begins we', length=100)
    call.close()


async def chunked_cut(call: Call) -> None:
    head = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    await call.send(b'10\r\n{"answer": "it b\r\n', headers=head)
    call.close()


async def huge(call: Call) -> None:
    """More than anybody should read, in chunks, with no word of its length before."""
    head = {"Transfer-Encoding": "chunked", "Content-Length": ""}
    await call.send(b"", headers=head)
    part = b"%x\r\n" % (1 << 16) + b" " * (1 << 16) + b"\r\n"
    for _ in range(0, HUGE, 1 << 16):
        await call.connection.write(part)
    await call.connection.write(b"0\r\n\r\n")


async def huge_declared(call: Call) -> None:
    await call.send(b" " * 1000, length=HUGE)
    await call.server.released.wait()


async def redirect(call: Call) -> None:
    await call.send(b"", "307 Temporary Redirect", headers={"Location": call.server.elsewhere})


@cache
def bomb() -> bytes:
    """A few bytes that stand for very many."""
    packer = zlib.compressobj(wbits=31)
    parts = [packer.compress(b" " * (1 << 20)) for _ in range(0, EXPANDED, 1 << 20)]
    return b"".join([*parts, packer.flush()])


async def gzip_bomb(call: Call) -> None:
    await call.send(bomb(), headers={"Content-Encoding": "gzip"})


async def gzipped(call: Call) -> None:
    body = json.dumps(call.server.answer(call.request.body)).encode()
    await call.send(gzip.compress(body), headers={"Content-Encoding": "gzip"})


async def gzip_cut(call: Call) -> None:
    await call.send(gzip.compress(b'{"answer": "yes"}')[:-9], headers={"Content-Encoding": "gzip"})


async def not_http(call: Call) -> None:
    await call.connection.write(b"220 smtp.example ESMTP\r\n\r\n")
    call.close()


async def echo_headers(call: Call) -> None:
    """A refusal that shows all it was sent, secrets included."""
    await call.send(json.dumps(call.request.headers).encode(), "401 Unauthorized")


async def cookie(call: Call) -> None:
    body = json.dumps({"answer": "have a cookie"}).encode()
    await call.send(body, headers={"Set-Cookie": "session=abc; Path=/"})


def _status(status: str, body: bytes = b"", **headers: str) -> Behaviour:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda call: call.send(body, status, headers=named)


def _body(content: bytes, kind: str = "application/json") -> Behaviour:
    return lambda call: call.send(content, headers={"Content-Type": kind})


BEHAVIOURS: dict[str, Behaviour] = {
    "ok": ok,
    "slow": slow,
    "reset": reset,
    "disconnect": disconnect,
    "closes": closes,
    "500": _status("500 Internal Server Error", b"Traceback\n  index not loaded"),
    "502": _status("502 Bad Gateway", PAGE.encode(), Content_Type="text/html"),
    "503": _status("503 Service Unavailable", Retry_After=str(RETRY_AFTER_S)),
    "503-bad-header": _status("503 Service Unavailable", Retry_After="soon"),
    "408": _status("408 Request Timeout"),
    "401": _status("401 Unauthorized", b"bad key"),
    "404": _status("404 Not Found", b"no such\n\tplace" + b"!" * 500),
    "429": _status("429 Too Many Requests", Retry_After=str(RETRY_AFTER_S)),
    "429-date": _status("429 Too Many Requests", Retry_After=LATER, Date=DATE),
    "429-long": _status("429 Too Many Requests", Retry_After="86400"),
    "gzip-500": _status(
        "500 Internal Server Error", gzip.compress(b"packed words"), Content_Encoding="gzip"
    ),
    "redirect": redirect,
    "301-nowhere": _status("301 Moved Permanently"),
    "302-broken": _status("302 Found", Location="http://[half"),
    "echo-headers": echo_headers,
    "cookie": cookie,
    "html": _body(PAGE.encode(), "text/html"),
    "no-body": _body(b""),
    "truncated": truncated,
    "cut": cut,
    "chunked-cut": chunked_cut,
    "nan": _body(b'{"answer": "x", "usage": {"cost": NaN}}'),
    "twice": _body(b'{"answer": "x", "answer": "y"}'),
    "surrogate": _body(b'{"answer": "\\ud800"}'),
    "not-utf8": _body(b'{"answer": "caf\xe9"}'),
    "wrong-types": _body(b'{"answer": 7, "retrieved_ids": "p1#1"}'),
    "a-list": _body(b"[1, 2]"),
    "empty": _body(b'{"answer": ""}'),
    "huge": huge,
    "huge-declared": huge_declared,
    "gzip": gzipped,
    "gzip-bomb": gzip_bomb,
    "gzip-cut": gzip_cut,
    "gzip-lie": lambda call: call.send(b'{"answer": "x"}', headers={"Content-Encoding": "gzip"}),
    "brotli": lambda call: call.send(b"\x0b\x02", headers={"Content-Encoding": "br"}),
    "not-http": not_http,
}


def usual_answer(body: dict[str, Any]) -> Any:
    """A good reply that depends on the question alone."""
    return {
        "answer_json": {"claim": f"The answer to {body.get('q')}", "citations": ["p1#1"]},
        "retrieved_ids": ["p1#1", "p1#2"],
    }


@contextmanager
def serving(
    script: Script | None = None,
    *,
    answer: Callable[[dict[str, Any]], Any] = usual_answer,
    delay_s: float = 0.0,
) -> Iterator[Server]:
    """A server on a free port of this machine, in a thread, until the block ends."""
    server = Server(script or {}, answer, delay_s)
    ready = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(server.run(ready),), daemon=True)
    thread.start()
    assert ready.wait(WAIT_S)
    try:
        yield server
    finally:
        server.stop()
        thread.join(WAIT_S)
