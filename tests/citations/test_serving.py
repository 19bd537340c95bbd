"""The serving example of the docs refuses to ship an answer whose citations do not hold."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serving.md"


@pytest.fixture
def service() -> dict[str, Any]:
    """What the page's first block defines."""
    block = re.search(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert block
    names: dict[str, Any] = {"__name__": "serving"}
    exec(compile(block[1], PAGE.name, "exec", dont_inherit=True), names)
    return names


def posted(app: Any, body: Any) -> tuple[int, Any]:
    """Status and decoded body of a POST to /ask, as a server would send it to the app."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/ask",
        "query_string": b"",
        "headers": [],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(b"".join(one.get("body", b"") for one in sent[1:]))


def answered(service: dict[str, Any], reply: str) -> tuple[int, Any]:
    service["generate"] = lambda question, retrieved: reply
    return posted(service["app"], {"question": "When does the safe open?"})


def test_an_answer_that_holds_is_shipped(service):
    status, body = posted(service["app"], {"question": "When does the safe open?"})
    assert status == 200
    assert body["answer"] == "The safe opens at nine."


def test_a_refusal_is_shipped(service):
    assert answered(service, "not in context") == (200, {"answer": "not in context"})


def test_what_was_not_retrieved_is_not_shipped_and_the_page_shows_how(service):
    reply = '{"citations": [{"snippet_id": "hb-9"}], "answer": "At ten."}'
    shown = re.search(r"^```json\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert shown
    assert answered(service, reply) == (502, json.loads(shown[1]))


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ('{"citations": [], "answer": "At nine."}', "empty_citations"),
        ('{"citations": [{"snippet_id": "hb-7"}], "answ', "bad_json"),
        (
            '{"citations": [{"snippet_id": "hb-7", "rev": "older"}], "answer": "At nine."}',
            "rev_mismatch",
        ),
    ],
)
def test_an_answer_that_does_not_hold_is_a_bad_gateway(service, reply, code):
    status, body = answered(service, reply)
    assert (status, body["error"]) == (502, code)
    assert body["tip"]
    assert set(body) == {"error", "field", "tip"}


def test_a_chunk_of_a_stale_index_is_not_cited(service):
    retrieve = service["retrieve"]
    service["retrieve"] = lambda q: [{**one, "index_hash": "faiss:0ld"} for one in retrieve(q)]
    status, body = posted(service["app"], {"question": "When does the safe open?"})
    assert (status, body["error"], body["field"]) == (502, "mismatch_index_hash", "index_hash")
