"""The token of a dashboard: whoever has it may read."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable

from ragauge.errors import UsageError
from ragauge.pipelines.hidden import SHOWN

SHORTEST = 16
"""Characters of a token: fewer could be found by trying."""
AUTO = "auto"
_RANDOM_BYTES = 24


class Token:
    """A secret that prints as `***`; requests are compared with it in constant time."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def __repr__(self) -> str:
        return f"Token({SHOWN})"

    def is_given(self, secret: bytes) -> bool:
        """Whether these bytes are the token."""
        return hmac.compare_digest(self._secret, secret)

    def is_borne(self, authorizations: Iterable[bytes]) -> bool:
        """Whether one of these `Authorization` headers bears it."""
        parts = [value.split(None, 1) for value in authorizations]
        borne = [
            part[1].strip() for part in parts if len(part) == 2 and part[0].lower() == b"bearer"
        ]
        return any(self.is_given(secret) for secret in borne)

    def cookie(self, port: int) -> tuple[str, str]:
        """The name and the value of the cookie by which a browser shows that it had the token.

        Cookies of a host go to all its ports, so the name tells dashboards apart, and the value
        lets nobody who reads it know the token or enter at another port.
        """
        purpose = f"ragauge dashboard at port {port}".encode()
        return f"ragauge_{port}", hmac.new(self._secret, purpose, hashlib.sha256).hexdigest()

    def is_in(self, cookies: Iterable[bytes], port: int) -> bool:
        """Whether one of these `Cookie` headers has the cookie of this port."""
        name, value = self.cookie(port)
        pairs = [pair.strip().partition(b"=") for line in cookies for pair in line.split(b";")]
        ours = [found for key, _, found in pairs if key == name.encode()]
        return any(hmac.compare_digest(value.encode(), found) for found in ours)


def read_token(given: str) -> Token:
    """The token a user chose; raises UsageError, without its words, where it is none."""
    if len(given) < SHORTEST:
        raise UsageError(
            f"--token: has {len(given)} characters and needs {SHORTEST} at least; "
            f"--token {AUTO} makes one"
        )
    if not (given.isascii() and given.isprintable()) or " " in given:
        raise UsageError(
            "--token: may have letters, digits and signs of ASCII, and no blanks; "
            f"--token {AUTO} makes one"
        )
    return Token(given)


def random_token() -> str:
    """A token that nobody can guess, to be shown once to whoever starts the dashboard."""
    return secrets.token_urlsafe(_RANDOM_BYTES)
