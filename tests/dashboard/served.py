"""A real dashboard on a free loopback port, in a thread of the test."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import uvicorn
from msgspec import Struct

from ragauge.contracts.documents import Documents
from ragauge.contracts.history import History
from ragauge.dashboard.guard import Token
from ragauge.dashboard.material import Material
from ragauge.dashboard.serving import IDLE_S, Listening, listen, server
from ragauge.store.history import open_history


class Served(Struct, frozen=True):
    """A dashboard that answers, and the history it shows."""

    url: str
    """Without a slash at the end: `served.url + "/gold"`."""
    port: int
    history: History
    material: Material

    def at(self, path: str) -> str:
        return self.url + path


@contextmanager
def serving(
    place: str,
    *,
    documents: Documents | None = None,
    token: Token | None = None,
    allowed: Sequence[str] = (),
    verbose: bool = False,
    shown: str = "the store",
    idle_s: float = IDLE_S,
) -> Iterator[Served]:
    """The history of a place behind the guard, as `ragauge serve` has it.

    Pages show what is said here for its place, so that no path of this machine should be in them.
    """
    with closing(open_history(place, create=False)) as history:
        material = Material(history, shown, documents)
        listening = listen("127.0.0.1", 0, token=token, allowed=allowed)
        made = server(material, listening, token, verbose=verbose, idle_s=idle_s)
        with closing(material.jobs), listening.socket, _running(made, listening):
            # Connections wait in the socket's queue until the thread takes them up.
            yield Served(listening.address.rstrip("/"), listening.port, history, material)


@contextmanager
def _running(made: uvicorn.Server, listening: Listening) -> Iterator[None]:
    thread = threading.Thread(target=made.run, args=([listening.socket],))
    thread.start()
    try:
        yield
    finally:
        made.should_exit = True
        thread.join()
