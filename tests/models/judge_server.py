"""A real HTTP server in the manner of a chat endpoint, which says what a script has for it.

    with chatting(lambda asked: says('{"score": 4}')) as server:
        judge = chat_judge(server.at("v1"), model="small")

A script is a function of what was asked, or a list for one request after another (the last
stays). What it gives is a JSON value, or a behaviour such as `status(...)` or BEHAVIOURS["cut"].
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ragauge.contracts.judge import JudgeCall, JudgeReply
from ragauge.models.judges import ChatJudge
from tests.pipelines.misbehaving import WAIT_S, Behaviour, Request, Server

SCHEMA = {
    "type": "object",
    "properties": {
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "reason": {"type": "string"},
    },
    "required": ["score", "reason"],
    "additionalProperties": False,
}
FOUR = '{"score": 4, "reason": "It says so."}'
TWO = '{"score": 2, "reason": "It does not."}'


@dataclass
class Asked:
    body: dict[str, Any]
    user: str
    """What the user's message says; a repair has the same."""
    attempt: int
    """Which request with this message it is, from 1."""
    number: int
    """Which request of all it is, from 1."""


Script = Callable[[Asked], Any] | list[Any]


@dataclass
class ChatServer(Server):
    said: Script = field(default_factory=list)
    by_user: Counter[str] = field(default_factory=Counter)

    def behaviour(self, request: Request) -> Behaviour:
        user = request.body["messages"][1]["content"] if "messages" in request.body else ""
        self.requests.append(request)
        self.by_user[user] += 1
        asked = Asked(request.body, user, self.by_user[user], len(self.requests))
        self.change()
        if callable(self.said):
            chosen = self.said(asked)
        else:
            chosen = self.said[min(asked.number, len(self.said)) - 1]
        return chosen if callable(chosen) else lambda call: call.send_json(chosen)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests]


@contextmanager
def chatting(script: Script) -> Iterator[ChatServer]:
    """A server on a free port of this machine, in a thread, until the block ends."""
    server = ChatServer({}, lambda body: says(FOUR), 0.0, said=script)
    ready = threading.Event()
    thread = threading.Thread(target=asyncio.run, args=(server.run(ready),), daemon=True)
    thread.start()
    assert ready.wait(WAIT_S)
    try:
        yield server
    finally:
        server.stop()
        thread.join(WAIT_S)


def says(
    content: Any,
    *,
    finish: str | None = "stop",
    usage: Any = (12, 7),
    logprobs: list[float] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """A chat completion."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
    }
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": "x", "logprob": one} for one in logprobs]}
    completion: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
    if isinstance(usage, tuple):
        completion["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    elif usage is not None:
        completion["usage"] = usage
    return completion


def status(line: str, value: Any = None, **headers: str) -> Behaviour:
    body = b"" if value is None else json.dumps(value).encode()
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return lambda call: call.send(body, line, headers=named)


def refuses(message: str) -> Behaviour:
    return status("400 Bad Request", {"error": {"message": message, "type": "invalid_request"}})


def call(user: str = "Is it so?", **fields: Any) -> JudgeCall:
    given = {"prompt": "rubric/1", "system": "You judge.", "schema": SCHEMA} | fields
    return JudgeCall(user=user, **given)


def asked(judge: ChatJudge, *calls: JudgeCall) -> list[JudgeReply]:
    """The replies to calls made at once, by a judge that is closed afterwards."""

    async def run() -> list[JudgeReply]:
        try:
            return list(await asyncio.gather(*map(judge.ask, calls)))
        finally:
            await judge.close()

    return asyncio.run(run())


def asked_in_turn(judge: ChatJudge, *calls: JudgeCall) -> list[JudgeReply | Exception]:
    """The replies to calls made one after another, and what was raised where there is none."""

    async def one(each: JudgeCall) -> JudgeReply | Exception:
        try:
            return await judge.ask(each)
        except Exception as error:
            return error

    async def run() -> list[JudgeReply | Exception]:
        try:
            return [await one(each) for each in calls]
        finally:
            await judge.close()

    return asyncio.run(run())
