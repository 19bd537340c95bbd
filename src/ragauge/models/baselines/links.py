"""Mentions linked to the entities of a file by name, or by a search service as Wikidata's.

No service is asked unless you make a linker with a URL: no model of Ragauge's own has one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragauge.contracts.system import CallFailed
from ragauge.errors import UsageError
from ragauge.ingest.lines import BadJson, decode
from ragauge.ingest.linked.knowledge_base import KnownEntity
from ragauge.pipelines.threads import run_async
from ragauge.text.canonical import canonical
from ragauge.text.visible import one_line

if TYPE_CHECKING:
    from yarl import URL

_SHORTEST = 4
"""Letters of a word that may tell two entities apart: shorter ones stand in every text."""


class ExactLinks:
    """Links a mention to whatever bears that name; None, which is NIL, where nothing does.

    Case and punctuation do not count. Of several the one whose description has most words of the
    context comes first, ties by id.

    >>> rm = KnownEntity(id="rm", names=("Rijksmuseum",), ids={"wikidata": "Q190804"})
    >>> ExactLinks([rm]).link("rijksmuseum", "Het Rijksmuseum in Amsterdam")
    [{'ids': {'wikidata': 'Q190804'}, 'score': 1.0, 'name': 'Rijksmuseum'}]
    """

    def __init__(self, entities: Iterable[KnownEntity]) -> None:
        self._by_name: dict[str, list[KnownEntity]] = {}
        for entity in sorted(entities, key=lambda one: one.id):
            for name in dict.fromkeys(map(canonical, entity.names)):
                self._by_name.setdefault(name, []).append(entity)

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        named = self._by_name.get(canonical(mention), [])
        return ranked([(entity, 1.0) for entity in named], mention, context) or None


def ranked(
    candidates: Sequence[tuple[KnownEntity, float]], mention: str, context: str
) -> list[dict[str, Any]]:
    """Candidates with their scores, the likeliest first; the context only breaks ties."""
    around = _words(context) - _words(mention)
    told = []
    for entity, likeness in candidates:
        words = _words(" ".join((entity.description, *entity.names)))
        # A hundredth at most: the share of the context that the entity's description has.
        shared = len(words & around) / (100 * (len(around) or 1))
        told.append((likeness + shared if len(candidates) > 1 else likeness, entity))
    return [
        {"ids": entity.ids, "score": round(score, 6), "name": entity.names[0]}
        for score, entity in sorted(told, key=lambda one: (-one[0], one[1].id))
    ]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in canonical(text).split() if len(word) >= _SHORTEST)


THRESHOLD = 82.0
"""Names less alike than this, of 100, are different names."""
MOST = 10


class FuzzyLinks:
    """Links a mention to the entities whose names are spelled most like it, in any order of words.

    Where none reaches the threshold the answer is None, which is NIL. The context breaks ties.

    >>> rm = KnownEntity(id="rm", names=("Rijksmuseum",), ids={"wikidata": "Q190804"})
    >>> FuzzyLinks([rm]).link("Rijksmusem", "")
    [{'ids': {'wikidata': 'Q190804'}, 'score': 0.952381, 'name': 'Rijksmuseum'}]
    >>> FuzzyLinks([rm]).link("Museum of Lamps", "") is None
    True
    """

    def __init__(self, entities: Iterable[KnownEntity], threshold: float = THRESHOLD) -> None:
        if not 0 < threshold <= 100:
            raise UsageError(f"threshold {threshold:g}: likeness goes from 0 to 100")
        self._threshold = threshold
        self._entities = sorted(entities, key=lambda one: one.id)
        self._names = [
            (canonical(name), place)
            for place, entity in enumerate(self._entities)
            for name in entity.names
        ]

    def link(self, mention: str, context: str) -> Sequence[dict[str, Any]] | None:
        from rapidfuzz import fuzz

        name_of, best = canonical(mention), dict[int, float]()
        for name, place in self._names:
            spelled = fuzz.ratio(name_of, name, score_cutoff=self._threshold)
            likeness = spelled or fuzz.token_sort_ratio(name_of, name, score_cutoff=self._threshold)
            if likeness:  # of each entity that is alike enough, that of its best name
                best[place] = max(best.get(place, 0.0), likeness)
        near = sorted(best, key=lambda place: (-best[place], self._entities[place].id))[:MOST]
        found = [(self._entities[place], best[place] / 100) for place in near]
        return ranked(found, mention, context) or None


WIKIDATA = "https://www.wikidata.org/w/api.php"
MOST_BYTES = 4 << 20
TIMEOUT_S = 10.0
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

        url = self._url.update_query(
            action="wbsearchentities",
            search=mention,
            language=self._language,
            uselang=self._language,
            limit=str(self._most),
            type="item",
            format="json",
        )
        try:
            async with (
                aiohttp.ClientSession(
                    cookie_jar=aiohttp.DummyCookieJar(),
                    headers=self._headers,
                    timeout=aiohttp.ClientTimeout(total=self._timeout_s),
                    trust_env=False,
                ) as session,
                session.get(url, allow_redirects=False) as response,
            ):
                if response.status != 200:
                    status = response.status
                    fact = one_line(response.reason or "", _SHOWN) or "without a reason"
                    again = status in _AGAIN or status >= 500
                    raise CallFailed(f"http_{status}", fact, again=again)
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
