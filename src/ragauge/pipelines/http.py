"""An HTTP endpoint as the system under test."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping as Named
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.pipelines.hidden import Hidden, basic, secrets_of
from ragauge.pipelines.mapping import Mapping, header_faults
from ragauge.pipelines.reply import MAX_REPLY, TOO_LARGE, decoded
from ragauge.text.visible import one_line

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from yarl import URL

    from ragauge.pipelines.resolver import DaemonResolver

LONGEST_ASKED_S = 1e9
"""A wait that is asked for is told up to this, which is never."""
CONNECT_S = 10.0
"""How long a host may take to accept a connection; an answer may take longer."""
_AGAIN = (408, 429)
_SAID_BYTES = 4096
_SAID_SHOWN = 200
_BEGINNING_SHOWN = 60
_OURS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip",
    "Content-Type": "application/json",
    "User-Agent": "ragauge",
}
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_CREDENTIALS = frozenset({"authorization", "cookie", "proxy-authorization"})
_GZIP = 31
_CUT = "the body ends early"
_SALT = b"ragauge: the query and the headers of an endpoint"
_ROUNDS = 300_000
"""So many that guessing a short secret from its digest is slow, and once a start is not felt."""

_encode = msgspec.json.Encoder(order="sorted").encode


class HttpSystem:
    """Asks an endpoint by POST, over connections that are kept.

    It talks to the host of its URL and to no other: redirects are not followed, proxies of the
    environment not used, cookies not kept. There is no deadline here: the caller cancels.
    """

    def __init__(
        self,
        url: str,
        *,
        mapping: Mapping | None = None,
        headers: dict[str, str] | None = None,
        concurrency: int = 16,
        connect_s: float | None = CONNECT_S,
    ) -> None:
        whole = _read(url)
        self._url: URL = whole.with_user(None).with_fragment(None)
        self._host = f"{self._url.host}:{self._url.port}"
        self._mapping = mapping or Mapping()
        given = _checked(_over(headers or {}, self._mapping.headers), whole)
        self._given = sorted((name.lower(), value) for name, value in given.items())
        self._headers = _over(given, _OURS)
        in_url = {whole.user or "", whole.password or "", whole.raw_query_string}
        self._hidden = Hidden({*secrets_of(given), *in_url, *whole.query.values()})
        self._concurrency, self._connect_s = concurrency, connect_s
        self._session: ClientSession | None = None
        self._resolver: DaemonResolver | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place})"

    @property
    def place(self) -> str:
        """Where it is asked: scheme, host, port and path, and nothing that may be secret."""
        return str(self._url.with_query(None))

    @property
    def identity(self) -> dict[str, Any]:
        """Where it is asked and how; the query and the values of headers by their digest alone."""
        identity: dict[str, Any] = {
            "kind": "http",
            "scheme": self._url.scheme,
            "host": self._url.host,
            "port": self._url.port,
            "path": self._url.path,
            "headers": [name for name, _ in self._given],
        }
        if self._given or self._url.raw_query_string:
            identity["values_pbkdf2"] = self._digest
        if self._mapping != Mapping():
            identity["mapping"] = self._mapping.identity
        return identity

    @cached_property
    def _digest(self) -> str:
        """What tells other values from these, and is no way back to them.

        Credentials are no part of it: a token that was renewed is no other system.
        """
        told = [(name, value) for name, value in self._given if name not in _CREDENTIALS]
        values = _encode((self._url.raw_query_string, told))
        return hashlib.pbkdf2_hmac("sha256", values, _SALT, _ROUNDS).hex()

    @property
    def query(self) -> Named[str, str]:
        """The parameters of its URL."""
        return self._url.query

    async def ask(self, ask: Ask) -> Any:
        """The decoded reply, in our shape."""
        return self._mapping.reply(await self.send(self._mapping.body(ask)))

    async def send(self, body: Any) -> Any:
        """The decoded reply to a POST of this body as it is."""
        return await self._reply("POST", self._url, _encode(body))

    async def found(self, query: Named[str, str]) -> Any:
        """The decoded reply to a GET with these parameters besides those of the URL."""
        return await self._reply("GET", self._url.update_query(query))

    async def _reply(self, method: str, url: URL, body: bytes | None = None) -> Any:
        import aiohttp

        session = self._session or self._open()
        try:
            async with session.request(method, url, data=body, allow_redirects=False) as response:
                if not 200 <= response.status < 300:
                    raise await self._turned_down(response)
                content = await _content(response)
        except (aiohttp.ClientError, OSError) as error:
            # The client's own exceptions hold the request, with its headers and its URL.
            raise self._lost(error) from None
        return self._decoded(content)

    async def close(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()
        if self._resolver is not None:
            await self._resolver.close()

    def _open(self) -> ClientSession:
        import aiohttp

        from ragauge.pipelines.resolver import DaemonResolver

        self._resolver = DaemonResolver()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._concurrency, resolver=self._resolver),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect_s),
            trust_env=False,
            auto_decompress=False,  # what comes out of it has to be bounded, too
        )
        return self._session

    def _decoded(self, content: bytes) -> Any:
        """The value of a body; a broken one may be a passing fault of a gateway."""
        try:
            return decoded(content, again=True)
        except CallFailed as failed:
            if failed.kind != "bad_reply" or not content:
                raise
            fact = f"{failed.fact}; it begins: {self._shown(content, _BEGINNING_SHOWN)}"
            raise CallFailed("bad_reply", fact, again=True) from None

    async def _turned_down(self, response: ClientResponse) -> CallFailed:
        """What a status other than success means."""
        status = response.status
        if status < 400:
            from yarl import URL

            target = "a place that is no URL"
            with suppress(ValueError):
                host = URL(response.headers.get("Location", "")).host or self._host
                target = one_line(self._hidden.without(host), _SAID_SHOWN)
            fact = f"{status} to {target}, which is not followed; give the URL that answers"
            return CallFailed("redirect", fact)
        reason = self._shown((response.reason or "").encode(), _SAID_SHOWN)
        said = self._shown(await _beginning(response), _SAID_SHOWN)
        fact = ": ".join(filter(None, (reason, said))) or "without a reason"
        again = status in _AGAIN or status >= 500
        after_s = wait_s(response.headers) if again else None
        return CallFailed(f"http_{status}", fact, again=again, after_s=after_s)

    def _lost(self, error: Exception) -> CallFailed:
        """What became of a call that brought no whole response."""
        import aiohttp

        if isinstance(error, aiohttp.ClientSSLError):
            return CallFailed("tls", f"{self._host}: {self._reason(error)}")
        if isinstance(error, aiohttp.ClientConnectorError):
            if isinstance(error.os_error, ConnectionRefusedError):
                return CallFailed("refused", f"{self._host} refuses the connection", again=True)
            return CallFailed("unreachable", f"{self._host}: {self._reason(error)}", again=True)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            fact = f"{self._host} accepts no connection within {self._connect_s} s"
            return CallFailed("unreachable", fact, again=True)
        if isinstance(error, aiohttp.ClientPayloadError):
            return CallFailed("bad_reply", _CUT, again=True)
        if isinstance(error, aiohttp.ClientResponseError):
            fact = "not HTTP: " + self._shown(error.message.encode(), _SAID_SHOWN)
            return CallFailed("bad_reply", fact, again=True)
        return CallFailed("disconnected", f"{self._host} closed the connection", again=True)

    def _reason(self, error: Any) -> str:
        cause = getattr(error, "certificate_error", None) or error.os_error
        reason = getattr(cause, "strerror", None) or str(cause)
        return self._shown(reason.encode(), _SAID_SHOWN)

    def _shown(self, content: bytes, width: int) -> str:
        """Foreign text as a message may show it: no secrets, one line, not too long."""
        text = content[:_SAID_BYTES].decode(errors="replace")
        return one_line(self._hidden.without(text), width)


def wait_s(headers: Named[str, str]) -> float | None:
    """How long `Retry-After` asks us to wait, in seconds or by a date; None where it is no use.

    A date is read beside the server's own: its clock need not be ours.

    >>> wait_s({"Retry-After": "2.5"}), wait_s({"Retry-After": "86400"}), wait_s({})
    (2.5, 86400.0, None)
    """
    text = headers.get("Retry-After", "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), LONGEST_ASKED_S)
    until, now = _moment(text), _moment(headers.get("Date", ""))
    if until is None or now is None:
        return None
    return min(max(float(until - now), 0.0), LONGEST_ASKED_S)


def _moment(text: str) -> int | None:
    try:
        parts = parsedate_tz(text)
        return None if parts is None else mktime_tz(parts)
    except (ValueError, OverflowError, IndexError, TypeError):  # a date that is none
        return None


def _read(url: str) -> URL:
    """The parsed URL; what is wrong is said without it, because it may hold a secret."""
    from yarl import URL

    remedy = "write it as http://host:port/path"
    try:
        whole = URL(url)
        host, port = whole.raw_host or "", whole.port
        host.encode("idna")  # as looking it up will do
    except ValueError:
        raise UsageError(f"the URL of the system cannot be read; {remedy}") from None
    if whole.scheme not in ("http", "https") or not host or not port:
        raise UsageError(f"the URL of the system is not one of http or https; {remedy}")
    if re.search(r"[\s\x00-\x1f\x7f]", host):
        raise UsageError(f"the URL of the system has a blank in its host; {remedy}")
    return whole


def _over(headers: dict[str, str], below: dict[str, str]) -> dict[str, str]:
    """Headers over others; names are the same whatever their case."""
    named = {name.lower() for name in headers}
    return {name: value for name, value in below.items() if name.lower() not in named} | headers


def _checked(headers: dict[str, str], whole: URL) -> dict[str, str]:
    """The headers that were given, with the URL's credentials as one of them."""
    faults = header_faults(headers)
    credentials = {}
    if whole.user is not None or whole.password is not None:
        credentials = {"Authorization": basic(whole.user or "", whole.password or "")}
        if len(_over(headers, credentials)) == len(headers):
            faults.append("both the URL and a header bring credentials; keep one")
    if faults:
        raise UsageError(*(f"headers: {fault}" for fault in faults))
    return headers | credentials


async def _content(response: ClientResponse) -> bytes:
    """The whole body, unpacked; raises CallFailed as soon as it is known to be too large."""
    if (response.content_length or 0) > MAX_REPLY:
        raise CallFailed("too_large", TOO_LARGE)
    parts, size = [], 0
    while part := await response.content.readany():
        parts.append(part)
        size += len(part)
        if size > MAX_REPLY:
            raise CallFailed("too_large", TOO_LARGE)
    content = parts[0] if len(parts) == 1 else b"".join(parts)
    packing = response.headers.get("Content-Encoding", "identity")
    return content if packing == "identity" else _unpacked(content, packing)


def _unpacked(content: bytes, packing: str) -> bytes:
    if packing.strip().lower() not in ("gzip", "x-gzip"):
        fact = f"the body is packed as {one_line(packing, _BEGINNING_SHOWN)}, not as gzip"
        raise CallFailed("bad_reply", fact)
    gzip = zlib.decompressobj(_GZIP)
    try:
        plain = gzip.decompress(content, MAX_REPLY + 1)
    except zlib.error:
        raise CallFailed("bad_reply", "the body is not the gzip it says", again=True) from None
    if len(plain) > MAX_REPLY:
        raise CallFailed("too_large", TOO_LARGE)
    if not gzip.eof:
        raise CallFailed("bad_reply", _CUT, again=True)
    return plain


async def _beginning(response: ClientResponse) -> bytes:
    """The first bytes of a body that is read for its words alone."""
    import aiohttp

    said = b""
    with suppress(aiohttp.ClientError, OSError, zlib.error):
        while len(said) < _SAID_BYTES and (part := await response.content.read(_SAID_BYTES)):
            said += part
        if "Content-Encoding" in response.headers:
            return zlib.decompressobj(_GZIP).decompress(said, _SAID_BYTES)
    return said
