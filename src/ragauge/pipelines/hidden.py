"""Secrets kept out of messages."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from urllib.parse import quote, unquote

_SHORTEST = 4
"""Shorter texts are no secrets, and blotting them out would leave no message readable."""
_SCHEMES = frozenset({"apikey", "basic", "bearer", "digest", "token"})
SHOWN = "***"


class Hidden:
    """Texts that no message may show, however a server quotes them back to us."""

    def __init__(self, texts: set[str]) -> None:
        told = {text for text in texts if len(text) >= _SHORTEST}
        forms = {form for text in told for form in (text, quote(text, safe=""), unquote(text))}
        # The longest first: one secret may begin another.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._found = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def __repr__(self) -> str:
        return f"Hidden({SHOWN})"

    def without(self, text: str) -> str:
        """The text with each secret replaced.

        >>> Hidden({"s3cret"}).without("no such key: s3cret")
        'no such key: ***'
        """
        return self._found.sub(SHOWN, text) if self._found else text


def secrets_of(headers: Mapping[str, str]) -> set[str]:
    """What is secret in headers: each value, and the words of it, such as the token alone."""
    words = {word for value in headers.values() for word in value.split()}
    return {*headers.values(), *(word for word in words if word.lower() not in _SCHEMES)}


def basic(user: str, password: str) -> str:
    """The header value that carries a user and a password."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
