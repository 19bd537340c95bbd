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


_tried: list[str] = []


def _refuse(*args: object, **_: object) -> None:
    _tried.append(str(args[1:] or args))
    raise OSError("there is no network in these tests")


# From here on, so that what the packages do when they are imported counts, too.
socket.socket.connect = _refuse
socket.socket.connect_ex = _refuse
socket.socket.sendto = _refuse
socket.getaddrinfo = _refuse


@pytest.fixture(autouse=True)
def no_network():
    """Nobody has tried, not even one whose error was hidden by a library."""
    yield
    assert _tried == []
