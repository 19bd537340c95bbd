"""The adapters beside the real packages, in an environment of their own: `make test-adapters`.

Nothing of theirs may reach the network: reporting is off, and whoever tries fails the test.
"""

from __future__ import annotations

import os
import socket

import pytest

os.environ.update(
    HAYSTACK_TELEMETRY_ENABLED="False",
    LANGSMITH_TRACING="false",
    LANGCHAIN_TRACING_V2="false",
    OTEL_SDK_DISABLED="true",
)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch):
    """A refused attempt is remembered, as a library may hide the error."""
    tried: list[str] = []

    def refuse(*args: object, **_: object) -> None:
        tried.append(str(args[-1]))
        raise OSError("there is no network in these tests")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield
    assert tried == []
