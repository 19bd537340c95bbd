"""What a browser may do with a response: the headers that all of them have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
FEATURES = (
    *("accelerometer", "autoplay", "browsing-topics", "camera", "clipboard-read"),
    *("clipboard-write", "display-capture", "encrypted-media", "fullscreen", "geolocation"),
    *("gyroscope", "hid", "identity-credentials-get", "idle-detection", "local-fonts"),
    *("magnetometer", "microphone", "midi", "payment", "picture-in-picture"),
    *("publickey-credentials-create", "publickey-credentials-get", "screen-wake-lock", "serial"),
    *("storage-access", "sync-xhr", "usb", "window-management", "xr-spatial-tracking"),
)
"""What a browser can do for a page and need not do for ours."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": ", ".join(f"{name}=()" for name in FEATURES),
}
STATIC = "/static/"

Pairs = Sequence[tuple[bytes, bytes]]


def dressed(send: Send, path: str) -> Send:
    """The same, with our headers on whatever is sent in answer to this path."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": _headers(message.get("headers", ()), path)}
        await send(message)

    return sending


def _headers(given: Pairs, path: str) -> Pairs:
    ours = {name.encode(): value.encode() for name, value in HEADERS.items()}
    # What a run holds stays out of caches; our own files have names that change with them.
    told = any(name.lower() == b"cache-control" for name, _ in given)
    if not (told and path.startswith(STATIC)):
        ours[b"cache-control"] = b"no-store"
    return [*((name, value) for name, value in given if name.lower() not in ours), *ours.items()]
