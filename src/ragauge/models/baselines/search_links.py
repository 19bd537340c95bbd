"""Mentions linked by a search service that answers as Wikidata's does.

Nothing is asked unless you make a linker with a URL: no model of Ragauge's own has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.contracts.system import CallFailed
from ragauge.errors import UsageError
from ragauge.ingest.strict_json import BadJson, decode
from ragauge.pipelines.threads import run_async
from ragauge.text.visible import one_line

if TYPE_CHECKING:
    from yarl import URL

WIKIDATA = "https://www.wikidata.org/w/api.php"
MOST_BYTES = 4 << 20
TIMEOUT_S = 10.0
MOST = 10
_SHOWN = 200
_AGAIN = (408, 429)


class SearchLinks:
    """Links a mention to what `action=wbsearchentities` finds for it, in the order it is found.

    It talks to the host of its URL and to no other: redirects are not followed, proxies of the
    environment not used, cookies not kept. A call that brings no answer raises CallFailed, and an
    evaluation records it; nothing found is None, which is NIL. The language is English unless it is
    given, or the URL ends with such as `?language=nl`.
    """

    def __init__(
        self,
        url: str,
        *,
        language: str | None = None,
        most: int = MOST,
        timeout_s: float = TIMEOUT_S,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if most < 1 or not timeout_s > 0:
            raise UsageError("a search needs one result at least, and a timeout above zero")
        self._url = _checked(url)
        self._language = language or str(self._url.query.get("language") or "en")
        self._most, self._timeout_s = most, timeout_s
        self._headers = {"Accept": "application/json", "User-Agent": "ragauge", **(headers or {})}

    def __repr__(self) -> str:
        return f"SearchLinks({self.url})"

    @property
    def url(self) -> str:
        """Where it searches, without what may be a secret."""
        return str(self._url.with_query(None).with_user(None))

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        found = _results(run_async(self._searched(mention)))
        return found[: self._most] or None

    async def _searched(self, mention: str) -> bytes:
        """The body of the reply; raises CallFailed."""
        import aiohttp

        try:
            async with (
                aiohttp.ClientSession(
                    cookie_jar=aiohttp.DummyCookieJar(),
                    headers=self._headers,
                    timeout=aiohttp.ClientTimeout(total=self._timeout_s),
                    trust_env=False,
                ) as session,
                session.get(self._asking(mention), allow_redirects=False) as response,
            ):
                if response.status != 200:
                    raise _turned_down(response.status, response.reason or "")
                content = await response.content.read(MOST_BYTES + 1)
                while len(content) <= MOST_BYTES and (part := await response.content.readany()):
                    content += part
        except TimeoutError:
            fact = f"no answer within {self._timeout_s:g} s"
            raise CallFailed("timeout", fact, again=True) from None
        except (aiohttp.ClientError, OSError) as error:
            # The client's own exceptions hold the request, with its headers and its URL.
            fact = f"{self._url.host}:{self._url.port}: {type(error).__name__}"
            raise CallFailed("unreachable", fact, again=True) from None
        if len(content) > MOST_BYTES:
            raise CallFailed("too_large", f"the reply is longer than {MOST_BYTES >> 20} MiB")
        return content

    def _asking(self, mention: str) -> URL:
        return self._url.update_query(
            action="wbsearchentities",
            search=mention,
            language=self._language,
            uselang=self._language,
            limit=str(self._most),
            type="item",
            format="json",
        )


def _checked(url: str) -> URL:
    """The URL; what is wrong is said without it, because it may hold a secret."""
    from yarl import URL

    try:
        whole = URL(url)
        is_web = whole.scheme in ("http", "https") and bool(whole.host and whole.port)
    except ValueError:
        is_web = False
    if not is_web:
        raise UsageError("the URL of the search is none of http or https; write http://host/path")
    return whole


def _turned_down(status: int, reason: str) -> CallFailed:
    again = status in _AGAIN or status >= 500
    fact = one_line(reason, _SHOWN) or "without a reason"
    return CallFailed(f"http_{status}", fact, again=again)


def _results(content: bytes) -> list[dict[str, Any]]:
    """The entities of a reply, in order; raises CallFailed where it is none."""
    try:
        reply = decode(content)
    except BadJson as fault:
        raise CallFailed("bad_reply", str(fault), again=True) from None
    if type(reply) is not dict:
        raise CallFailed("bad_reply", "the reply is no JSON object")
    if "error" in reply:
        raise CallFailed("refused", one_line(str(reply["error"]), _SHOWN))
    found = reply.get("search")
    if type(found) is not list or not all(
        type(one) is dict and type(one.get("id")) is str for one in found
    ):
        raise CallFailed("bad_reply", "the reply has no list `search` of objects with an id")
    return [{"id": one["id"], "name": one.get("label")} for one in found]
