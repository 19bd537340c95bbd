"""The web application: addresses, and what each of them gives."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from ragauge.contracts.paging import BadQuery
from ragauge.dashboard import assets, parts
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import Links, Page
from ragauge.dashboard.pages import document, gold, history, question, run, runs
from ragauge.dashboard.parts import render
from ragauge.dashboard.query import BadAddress, Query
from ragauge.errors import RagaugeError
from ragauge.reports import document as doc
from ragauge.text.visible import visible

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

View = Callable[[Material, Links, Query], Page]
"""A page: from the history, the way to other pages, and what the address asks for."""

VIEWS: Sequence[tuple[str, View]] = (
    ("/", runs.page),
    ("/runs/{run}", run.page),
    ("/runs/{run}/question", question.page),
    ("/runs/{run}/document", document.page),
    ("/runs/{run}/{tab}", run.page),
    ("/compare", runs.compared),
    ("/history", history.page),
    ("/gold", gold.sets),
    ("/gold/{sha256}", gold.page),
)
"""Each address with its page; names in the path are read like fields of the query."""

TOGETHER = 8
"""Pages that are made at a time: fewer than the connections a history has to its database."""

ROUTER_WORDS = {
    "Not Found": "there is no page at this address",
    "Method Not Allowed": "pages only answer GET; nothing can be written",
}

TITLES = {
    400: "This address requests something that does not exist",
    404: "Not found",
    405: "This dashboard is read-only",
    503: "The history cannot be read now",
}

log = logging.getLogger("ragauge.dashboard")


def application(material: Material) -> Starlette:
    """The dashboard of a history, without the guard that stands before it."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.routing import Route

    turns = asyncio.Semaphore(TOGETHER)

    def served(view: View) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            async with turns:
                # Pages read the database, so each is made in a thread of its own.
                return await run_in_threadpool(_answer, view, material, request)

        return endpoint

    async def refused(request: Request, error: Exception) -> Response:
        """The page of a refusal; the router's own words say less than ours."""
        status, words = getattr(error, "status_code", 500), getattr(error, "detail", "")
        return _refusal(material.place, status, ROUTER_WORDS.get(words, words))

    async def faulty(request: Request, error: Exception) -> Response:
        log.error("%s: a fault in Ragauge", visible(request.scope["path"]), exc_info=error)
        words = "this is a fault in Ragauge; see the terminal that it runs in"
        return _refusal(material.place, 500, words)

    statics = Route("/static/{name}", _asset, methods=["GET"])
    routes = [Route(path, served(view), methods=["GET"]) for path, view in VIEWS]
    handlers = {HTTPException: refused, Exception: faulty}
    return Starlette(routes=[statics, *routes], exception_handlers=handlers)


def _answer(view: View, material: Material, request: Request) -> Response:
    from starlette.responses import HTMLResponse, PlainTextResponse, Response

    path = request.scope["raw_path"].decode("ascii")  # as links need it: an id may hold a ?
    fields = [*request.query_params.multi_items()]
    query = Query(fields, request.path_params)
    try:
        page = view(material, Links(path, fields), query)
        if wanted := query.text("figures"):
            if page.refresh_s is not None:  # what there is so far is not the answer
                later = {"Retry-After": str(page.refresh_s)}
                return PlainTextResponse("This is still being computed.\n", 503, later)
            content, kind = page.wanted(wanted)
            return Response(content, media_type=kind)
        return HTMLResponse(framed(page, material.place))
    except Missing as error:
        return _refusal(material.place, 404, str(error))
    except (BadAddress, BadQuery) as error:
        return _refusal(material.place, 400, str(error))
    except RagaugeError as error:
        return _refusal(material.place, 503, str(error))
    except Exception:
        from ragauge.store.checking import damage

        if found := damage(material.history):
            return _refusal(material.place, 503, found)
        raise


def framed(page: Page, place: str) -> str:
    """The page with the bar above it."""
    return str(render("base.html", page=page, place=place, assets=assets.names()))


def _asset(request: Request) -> Response:
    from starlette.exceptions import HTTPException
    from starlette.responses import Response

    asset = assets.asset(request.path_params["name"])
    if asset is None:
        raise HTTPException(404, "there is no such file")
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(asset.content, media_type=asset.kind, headers=kept)


def _refusal(place: str, status: int, words: str) -> Response:
    from starlette.responses import HTMLResponse

    title = TITLES.get(status, "Error")
    problem = doc.Section(title="", blocks=[doc.Text(doc.foreign(words))], part="problem")
    blocks = [parts.header(title, eyebrow=f"{status}"), problem]
    page = Page(title=f"{status}", here=None, blocks=blocks, links=Links())
    return HTMLResponse(framed(page, place), status_code=status)
