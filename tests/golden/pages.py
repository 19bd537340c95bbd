"""The dashboard's pages and the schema of the history, as they are kept."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

PAGES = {
    "page-runs.html": ("/", {}),
    "page-run-score.html": ("/runs/after", {}),
    "page-run-questions.html": ("/runs/after/questions", {}),
    "page-run-stability.html": ("/runs/flaky", {}),
    "page-run-audit.html": ("/runs/citations", {}),
    "page-run-ner.html": ("/runs/ner", {}),
    "page-run-answers.html": ("/runs/answers", {}),
    "page-question.html": ("/runs/after/question", {"unit": "h001"}),
    "page-question-flaky.html": ("/runs/flaky/question", {"unit": "h001"}),
    "page-compare.html": ("/compare", {"before": "before", "after": "after"}),
    "page-history.html": ("/history", {"metric": "quality.precision_cited", "name": "nightly"}),
    "page-gold.html": ("/gold", {}),
    "page-missing.html": ("/runs/0123456789ab", {}),
}
"""Each page with its address and query."""
PATIENCE = 300
"""Tenths of a second that a page may take."""


def page(address: str, query: dict[str, str], folder: Path) -> str:
    """The status and body of a page of the dashboard, without a server."""
    from ragauge.dashboard.app import application
    from ragauge.dashboard.material import Material
    from ragauge.store.history import open_history

    with closing(open_history(str(folder / "store"), create=False)) as history:
        material = Material(history, "the store")
        with closing(material.jobs):
            for _ in range(PATIENCE):
                made = asyncio.run(_answered(application(material), address, urlencode(query)))
                if 'http-equiv="refresh"' not in made:  # a comparison is made in the background
                    return made
                time.sleep(0.1)
    raise TimeoutError(f"{address} is not ready after {PATIENCE / 10:.0f} s")


async def _answered(app: object, address: str, query: str) -> str:
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": address,
        "raw_path": address.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1")],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    await app(scope, receive, send)  # type: ignore[operator]
    body = b"".join(message.get("body", b"") for message in sent)  # type: ignore[misc]
    return f"{sent[0]['status']}\n{body.decode()}"


def schema(folder: Path) -> str:
    """The tables and indexes of a history in SQLite."""
    with closing(sqlite3.connect(folder / "store" / "history.sqlite")) as database:
        rows = database.execute(
            "select sql from sqlite_master where sql is not null order by type, name"
        )
        return "".join(f"{sql}\n" for (sql,) in rows)
