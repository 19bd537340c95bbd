"""What stands before the dashboard: who may ask, for what, and what a browser may do with it.

A page elsewhere can make a reader's browser ask us. It cannot make it lie about where it asks
(`Host`), from where (`Origin`, `Sec-Fetch-Site`), or send what it was not given (the token).
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote_to_bytes

from msgspec import Struct

from ragauge.errors import UsageError
from ragauge.pipelines.hidden import SHOWN
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
METHODS = (b"GET", b"HEAD")
LONGEST_ADDRESS = 16 << 10
OWN_SITES = (b"same-origin", b"none")
"""What `Sec-Fetch-Site` says of a page of ours, and of a reader who typed the address."""

SHORTEST = 16
"""Characters of a token: fewer could be found by trying."""
AUTO = "auto"
RANDOM_BYTES = 24


log = logging.getLogger("ragauge.dashboard")


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
    return secrets.token_urlsafe(RANDOM_BYTES)


class IncomingRequest(Struct, frozen=True):
    """A request before anything is done for it, byte for byte."""

    method: bytes
    path: bytes
    query: bytes
    headers: Sequence[tuple[bytes, bytes]]

    def values(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def address(self) -> str:
        return _joined(self.path, self.query)

    @property
    def tokens(self) -> list[bytes]:
        """What the query gives for a token."""
        fields = [field for field in self.query.split(b"&") if _is_token(field)]
        return [unquote_to_bytes(field.partition(b"=")[2]) for field in fields]

    @property
    def without_token(self) -> bytes:
        """The query without the token, every other field as it was written."""
        return b"&".join(field for field in self.query.split(b"&") if not _is_token(field))


class Refusal(Struct, frozen=True, kw_only=True):
    """Why a request goes no further, and what its reader can do."""

    status: int
    title: str
    words: str
    headers: dict[str, str] = {}
    go_on: str | None = None
    """The same address, to be followed from a page of ours."""
    asks_for_token: bool = False
    path: str = ""
    fields: Sequence[tuple[str, str]] = ()
    """With the question for the token: where to, and with what else."""


class Guard:
    """The application behind the rules; hosts are the values of `Host` that mean this server."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Sequence[str],
        port: int,
        token: Token | None = None,
        *,
        verbose: bool = False,
    ) -> None:
        self._app, self._port, self._token, self._verbose = app, port, token, verbose
        self._hosts = {host.lower().encode() for host in hosts}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the server starting and ending; the rest finds no route
            await self._app(scope, receive, send)
            return
        knock = IncomingRequest(
            scope["method"].encode(), scope["raw_path"], scope["query_string"], scope["headers"]
        )

        async def sending(message: Message) -> None:
            """With our headers on whatever is sent in answer to this path."""
            if message["type"] == "http.response.start":
                ours = {name.encode(): value.encode() for name, value in HEADERS.items()}
                given = [*message.get("headers", ())]
                # What a run holds stays out of caches; our own files have names that change.
                keeps = any(name.lower() == b"cache-control" for name, _ in given)
                if not (keeps and scope["path"].startswith(STATIC)):
                    ours[b"cache-control"] = b"no-store"
                given = [each for each in given if each[0].lower() not in ours]
                message = {**message, "headers": [*given, *ours.items()]}
                if self._verbose:  # without the query: it holds what people look for
                    path = visible(scope["path"])
                    log.info("%d %s %s", message["status"], scope["method"], path)
            await send(message)

        app = self.answer(knock) or self._app
        await app(scope, receive, sending)

    def answer(self, knock: IncomingRequest) -> Response | None:
        """What the guard says itself; None where the application is to answer."""
        from starlette.responses import Response

        if refused := self.refused(knock):
            return _page(refused)
        if self._token is None:
            return None
        if knock.tokens:
            # A cookie in place of the token, and the same address without it: it must not stay.
            if not all(map(self._token.is_given, knock.tokens)):
                return _page(_unknown(knock))
            name, value = self._token.cookie(self._port)
            headers = {
                "location": _joined(knock.path, knock.without_token),
                "set-cookie": f"{name}={value}; HttpOnly; SameSite=Strict; Path=/",
            }
            return Response(status_code=303, headers=headers)
        known = self._token.is_borne(knock.values(b"authorization"))
        known = known or self._token.is_in(knock.values(b"cookie"), self._port)
        return None if known else _page(_unknown(knock))

    def refused(self, knock: IncomingRequest) -> Refusal | None:
        """The first rule that the request breaks, whoever it comes from."""
        hosts, path = knock.values(b"host"), knock.path
        if len(hosts) != 1:
            return Refusal(
                status=400,
                title="No single Host header",
                words=f"The request has {len(hosts) or 'no'} Host headers; it needs one.",
            )
        # Another name than ours leads here when its owner wants to be us: DNS rebinding.
        if hosts[0].lower() not in self._hosts:
            return Refusal(
                # "Misdirected" is the exact word: this server does not answer for that name.
                status=421,
                title="Not a name of this dashboard",
                words="This dashboard has another host or port; use the "
                "address that was printed when it started, or start it with --allow-host.",
            )
        if len(knock.address) > LONGEST_ADDRESS:
            return Refusal(
                status=414,
                title="This address is too long",
                words=f"An address may have {LONGEST_ADDRESS:,} characters.",
            )
        # A browser takes //name and /\name for another server, and we lead back to the address.
        if path[:1] != b"/" or path[1:2] in (b"/", b"\\"):
            return Refusal(
                status=400, title="This address is not valid", words="A path begins with one slash."
            )
        if knock.method not in METHODS:
            return Refusal(
                status=405,
                title="This dashboard is read-only",
                words="The command `ragauge` records, tags and removes runs.",
                headers={"allow": b", ".join(METHODS).decode()},
            )
        if any(origin.lower() not in self._origins for origin in knock.values(b"origin")):
            return Refusal(
                status=403,
                title="Refused",
                words="The request comes from another site; only pages of the dashboard may.",
            )
        if any(site.lower() not in OWN_SITES for site in knock.values(b"sec-fetch-site")):
            return Refusal(
                status=403,
                title="You come from another site",
                words="Pages elsewhere may not open this dashboard, since they could watch what it "
                "does; you may, from here.",
                go_on=knock.address,
            )
        return None


def _unknown(knock: IncomingRequest) -> Refusal:
    fields = parse_qsl(knock.without_token.decode("ascii", "replace"), keep_blank_values=True)
    return Refusal(
        status=401,
        title="A token is needed",
        words="This dashboard was started with a token; ask the person who started it.",
        headers={"www-authenticate": 'Bearer realm="ragauge"'},
        asks_for_token=True,
        path=knock.path.decode("ascii", "replace"),
        fields=fields,
    )


def _page(refused: Refusal) -> Response:
    from starlette.responses import HTMLResponse

    from ragauge.dashboard import assets
    from ragauge.dashboard.parts import render

    # Whoever is refused for good is refused the style sheet, too.
    style = assets.names()["style"] if refused.go_on else None
    body = str(render("guarded.html", refused=refused, style=style))
    return HTMLResponse(body, status_code=refused.status, headers=refused.headers)


def _joined(path: bytes, query: bytes) -> str:
    return (path + b"?" + query if query else path).decode("ascii", "replace")


def _is_token(field: bytes) -> bool:
    return unquote_to_bytes(field.partition(b"=")[0]) == b"token"
