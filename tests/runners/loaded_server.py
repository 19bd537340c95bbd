"""A real HTTP server whose knobs say how it answers, for tests that put it under load.

    with serving({"q1": {"answer": "So."}}) as server:
        ...  # POST {"q": "q1", "knobs": {"wait_ms": 20}} to server.url

Knobs: `wait_ms`, how long an answer takes; `alone`, that one is made at a time; `status`, an HTTP
error instead; `reply`, another reply; `hang`, no answer ever.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

READY_S = 30


class LoadedServer:
    """Remembers what it was asked, in order."""

    def __init__(self, replies: dict[str, Any]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.url = ""
        self._replies = replies
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def start(self) -> None:
        self._thread.start()
        starting = asyncio.run_coroutine_threadsafe(self._start(), self._loop)
        self.url = f"http://127.0.0.1:{starting.result(READY_S)}/qa"

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(READY_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> int:
        self._alone = asyncio.Lock()
        app = web.Application()
        app.router.add_post("/qa", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port: int = self._runner.addresses[0][1]
        return port

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked.append(body)
        knobs = body["knobs"]
        if knobs.get("hang"):
            await asyncio.Event().wait()
        if knobs.get("alone"):
            async with self._alone:
                await asyncio.sleep(knobs.get("wait_ms", 0) / 1000)
        else:
            await asyncio.sleep(knobs.get("wait_ms", 0) / 1000)
        status = knobs.get("status", 200)
        return web.json_response(knobs.get("reply", self._replies.get(body["q"])), status=status)


@contextmanager
def serving(replies: dict[str, Any]) -> Iterator[LoadedServer]:
    server = LoadedServer(replies)
    server.start()
    try:
        yield server
    finally:
        server.stop()
