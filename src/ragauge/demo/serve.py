"""The reference pipeline behind HTTP: `POST /qa`, and whether it is fit to be asked."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from ragauge.contracts.system import Ask, CallFailed
from ragauge.demo.pipeline import Pipeline, refuse_overlong
from ragauge.errors import UsageError
from ragauge.ingest.lines import BadJson, decode
from ragauge.runners.score import score

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse

LARGEST_BODY = 1 << 20
BACKLOG = 2048
"""Connections that may wait to be accepted."""
PHASES = ("configuration", "manifest", "index", "model", "smoke")
FAULTLESS: dict[str, Any] = {"faults": []}
"""The phases prove the pipeline; the faults it is served with are wanted, and prove nothing."""
_STATUS = {"bad_request": 400, "failing": 500}

log = logging.getLogger("ragauge.demo.serve")


class Phase(Struct, frozen=True):
    """One thing that must be green before questions are answered."""

    name: str
    check: Callable[[], Awaitable[str]]
    """Does it, and says what was found; raises with what is wrong."""


class Readiness:
    """How far the phases are: none may be red, and all must have been gone through."""

    def __init__(self) -> None:
        self.phases: dict[str, str] = dict.fromkeys(PHASES, "waiting")
        self.ready = False

    async def go_through(self, phases: list[Phase]) -> None:
        """Each phase in turn; the first that is red is the last."""
        for phase in phases:
            self.phases[phase.name] = "under way"
            started = time.perf_counter()
            try:
                found = await phase.check()
            except Exception as error:  # whatever keeps a phase from being green is its state
                self.phases[phase.name] = f"red: {error}"
                log.error("phase %s: red: %s", phase.name, error)
                return
            ms = 1000 * (time.perf_counter() - started)
            self.phases[phase.name] = f"green: {found}"
            log.info("phase %s: green in %.0f ms: %s", phase.name, ms, found)
        self.ready = True
        log.info("ready")


class Service:
    """The pipeline once it is built, and the phases that build and prove it."""

    def __init__(self, build: Callable[[], Pipeline], smoke: Path) -> None:
        self._build, self._smoke = build, smoke
        self.readiness = Readiness()
        self._pipeline: Pipeline | None = None

    async def start(self) -> None:
        checks = (
            self._configured,
            self._manifested,
            self._indexed,
            self._modelled,
            self._smoke_tested,
        )
        phases = [Phase(name, check) for name, check in zip(PHASES, checks, strict=True)]
        await self.readiness.go_through(phases)

    async def ask(self, ask: Ask) -> dict[str, Any]:
        """The reply, worked out beside the event loop: others are answered meanwhile."""
        assert self._pipeline
        return await self._pipeline.ask(ask, asyncio.to_thread)

    async def close(self) -> None:
        if self._pipeline:
            await self._pipeline.close()

    async def _configured(self) -> str:
        self._pipeline = await asyncio.to_thread(self._build)
        return str(self._pipeline.knobs)

    async def _manifested(self) -> str:
        assert self._pipeline
        manifest = self._pipeline.index.manifest
        return f"{len(manifest.doc_revs)} documents, hash {manifest.hash}"

    async def _indexed(self) -> str:
        """Every chunk stands where its offsets say, in the revision the manifest names."""
        assert self._pipeline
        found = await asyncio.to_thread(self._pipeline.index.verify)
        return f"{found} chunks at their offsets"

    async def _modelled(self) -> str:
        assert self._pipeline
        await self.ask(Ask(q="Is anybody there?", knobs=FAULTLESS))
        return json.dumps(self._pipeline.identity.get("generator", "extractive"))

    async def _smoke_tested(self) -> str:
        """The smoke gold set, asked and scored as any system would be, must pass its gates."""
        questions = [json.loads(line) for line in self._smoke.read_text("utf-8").splitlines()]
        with tempfile.TemporaryDirectory() as folder:
            traces = Path(folder) / "traces.jsonl"
            with traces.open("w", encoding="utf-8") as file:
                for question in questions:
                    reply = await self.ask(Ask(q=question["question"], knobs=FAULTLESS))
                    file.write(json.dumps({"qid": question["qid"], **reply}) + "\n")
            report = (await asyncio.to_thread(score, self._smoke, traces, preset="ship")).report
        failed = [gate.rule for gate in report.gates if not gate.holds]
        if failed:
            raise RuntimeError(f"gates fail: {', '.join(failed)}")
        return f"{len(questions)} questions, {len(report.gates)} gates passed"


def app(service: Service, hosts: list[str]) -> Starlette:
    """The web application: it listens from the start, and answers once every phase is green."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def qa(request: Request) -> JSONResponse:
        if not service.readiness.ready:
            return JSONResponse({"error": "not ready", "phases": service.readiness.phases}, 503)
        try:
            return JSONResponse(await service.ask(_ask_in(await _body(request))))
        except CallFailed as failure:
            return JSONResponse({"error": str(failure)}, _STATUS.get(failure.kind, 500))

    async def livez(request: Request) -> JSONResponse:
        return JSONResponse({"live": True})

    async def readyz(request: Request) -> JSONResponse:
        found = service.readiness
        status = 200 if found.ready else 503
        return JSONResponse({"phases": found.phases, "ready": found.ready}, status)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        starting = asyncio.create_task(service.start())
        yield
        starting.cancel()
        await service.close()

    return Starlette(
        routes=[
            Route("/qa", qa, methods=["POST"]),
            Route("/livez", livez),
            Route("/readyz", readyz),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)],
        lifespan=lifespan,
    )


async def _body(request: Request) -> bytes:
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_BODY:
            raise CallFailed("bad_request", f"the body is longer than {LARGEST_BODY >> 20} MiB")
    return bytes(content)


def _ask_in(body: bytes) -> Ask:
    """What is asked; raises CallFailed with the fact."""
    try:
        ask = msgspec.convert(decode(body), Ask)
    except (BadJson, msgspec.ValidationError) as fault:
        raise CallFailed("bad_request", str(fault)) from None
    if not ask.q.strip():
        raise CallFailed("bad_request", "q is empty; write the question")
    refuse_overlong(ask.q)
    return ask


def run(service: Service, host: str, port: int) -> None:
    """Serve until interrupted; what happens is logged on standard error."""
    import uvicorn

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    listening = listen(host, port)
    application = app(service, _hosts(host, listening))
    config = uvicorn.Config(application, log_config=None, access_log=False)
    shown = f"[{host}]" if ":" in host else host
    log.info("running on http://%s:%d (Ctrl+C ends it)", shown, listening.getsockname()[1])
    uvicorn.Server(config).run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; raises UsageError where that cannot be."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OverflowError:
        raise UsageError(f"port {port}: there are 0 to 65535, and 0 takes a free one") from None
    except OSError as error:
        remedy = "choose another host or port; port 0 takes a free one"
        raise UsageError(f"{host}:{port}: cannot listen: {error.strerror}; {remedy}") from None


def _hosts(host: str, listening: socket.socket) -> list[str]:
    """The hosts a request may name: any where every interface is listened on."""
    if ipaddress.ip_address(listening.getsockname()[0]).is_unspecified:
        log.warning("listens on all interfaces: whoever reaches this machine may ask")
        return ["*"]
    return ["127.0.0.1", "localhost", "[::1]", host]
