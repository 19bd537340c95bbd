"""Host names looked up in threads that never keep the process alive.

asyncio looks them up in threads the process waits for at its end, and a name server that does not
answer can hold one for minutes.
"""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from ragauge.pipelines.threads import DaemonThreads

_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
_AS_NUMBERS = socket.NI_NUMERICHOST | socket.NI_NUMERICSERV
_LOOKUPS = 1
"""One host is asked, and the client lets all its calls wait for the same look-up."""

_Sought = tuple[str, int, socket.AddressFamily]


class DaemonResolver(AbstractResolver):
    """Looks names up as the system does."""

    def __init__(self) -> None:
        self._threads = DaemonThreads(_addresses, _LOOKUPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host; raises OSError where it has none."""
        return await self._threads.call((host, port, family))

    async def close(self) -> None:
        self._threads.close()


def _addresses(sought: _Sought) -> list[ResolveResult]:
    host, port, family = sought
    found = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, family=family, flags=socket.AI_ADDRCONFIG
    )
    addresses = []
    for kind, _, proto, _, address in found:
        # The number of a local address comes with its scope.
        number, service = socket.getnameinfo(address, _AS_NUMBERS)
        addresses.append(
            ResolveResult(
                hostname=host,
                host=number,
                port=int(service),
                family=kind,
                proto=proto,
                flags=_NUMERIC,
            )
        )
    return addresses
