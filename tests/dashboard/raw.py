"""Requests written byte by byte: what a library would correct on the way must arrive."""

from __future__ import annotations

import socket

from msgspec import Struct


class Answer(Struct, frozen=True):
    """What came back, as it came."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The header, which may be there once at most."""
        found = [value for key, value in self.headers if key == name]
        assert len(found) <= 1, f"{name} is there {len(found)} times"
        return found[0] if found else None


def ask(port: int, target: str | bytes = "/", *headers: str, method: str = "GET") -> Answer:
    """A whole request to our port, with our own Host unless headers have one."""
    named = any(header.lower().startswith("host:") for header in headers)
    lines = [*headers, "Connection: close"] + ([] if named else [f"Host: 127.0.0.1:{port}"])
    path = target if isinstance(target, bytes) else target.encode("latin-1")
    head = "".join(f"{line}\r\n" for line in lines).encode("latin-1")
    return send(port, method.encode() + b" " + path + b" HTTP/1.1\r\n" + head + b"\r\n")


def send(port: int, request: bytes) -> Answer:
    """The answer to these bytes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as reply:
            return answer_in(reply.read())


def answer_in(reply: bytes) -> Answer:
    head, _, body = reply.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = [line.split(": ", 1) for line in lines]
    headers = tuple((name.lower(), value) for name, value in pairs)
    return Answer(int(first.split()[1]), headers, body)
