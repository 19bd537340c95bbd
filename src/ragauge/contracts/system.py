"""A system under test: it is asked, and it answers or the call fails."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct


class Ask(Struct, frozen=True, kw_only=True):
    """One question as it is put to a system: the body of the brief's `POST /qa`."""

    q: str
    seed: int = 0
    temperature: float = 0.0
    jitter: str = "none"
    knobs: dict[str, Any] = {}


class CallFailed(Exception):
    """A call that brought no answer: what happened, and whether asking again may help.

    `after_s` is how long the system asked us to wait before the next attempt.
    """

    def __init__(
        self, kind: str, fact: str, *, again: bool = False, after_s: float | None = None
    ) -> None:
        super().__init__(f"{kind}: {fact}")
        self.kind, self.fact, self.again, self.after_s = kind, fact, again, after_s


class System(Protocol):
    """Whatever answers questions: an endpoint, a function, a command, recorded traces."""

    @property
    def identity(self) -> dict[str, Any]:
        """What makes it this system and no other, without secrets: a changed one is noticed."""

    async def ask(self, ask: Ask) -> Any:
        """The reply, decoded but not yet checked; raises CallFailed.

        Cancelling the call is how a deadline is kept: it must let go of what it holds.
        """

    async def close(self) -> None:
        """Let go of connections, processes and threads."""
