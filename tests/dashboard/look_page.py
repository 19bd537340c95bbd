"""A page with everything the style sheets and scripts know, served under the strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import ragauge.dashboard
from ragauge.dashboard import assets

HERE = Path(__file__).parent
DASHBOARD = Path(ragauge.dashboard.__path__[0])
VENDOR = DASHBOARD / "vendor"
STYLES = assets.STYLES
EARLY = assets.SCRIPTS["script"]
LATE = tuple(file for what in ("uplot", "charts", "htmx") for file in assets.SCRIPTS[what])
HTMX = {
    "allowEval": False,
    "allowScriptTags": True,
    "attributesToSettle": ["class", "width", "height"],
    "historyCacheSize": 0,
    "historyRestoreAsHxRequest": False,
    "includeIndicatorStyles": False,
    "refreshOnHistoryMiss": True,
    "selfRequestsOnly": True,
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
CHART = {
    "title": "precision over runs",
    "x": [1_790_000_000 + 86_400 * day for day in (0, 1, 2, 4, 5, 6, 9)],
    "x_is_time": True,
    "series": [
        {
            "name": "precision",
            "values": [0.9, 0.91, 0.905, None, 0.82, 0.83, 0.825],
            "low": [0.87, 0.88, 0.875, None, 0.78, 0.79, 0.78],
            "high": [0.93, 0.94, 0.935, None, 0.86, 0.87, 0.86],
        },
        {"name": "</script><b>recall", "values": [0.7, 0.72, 0.71, 0.69, 0.7, 0.74, 0.76]},
    ],
    "marks": [{"x": 1_790_000_000 + 86_400 * 5, "label": "change <point>"}],
    "gaps": [6],
    "y": None,
    "links": [None, "javascript:window.hit=1", "https://127.0.0.1:9/", "#r1", "#r2", "#r3", "#r4"],
    "labels": ["a", "b", "c", "d", "e", "f", "g <i>"],
}
ROWS = [("h010", "1,234"), ("h9", "0.914"), ("H1", "12 %"), ("h2", "–"), ("h3", "-3"), ("h4", "−4"),
        ("h5", "12"), ("h6", "+7"), ("h7", "12"), ("h8", "")]  # fmt: skip
"""Ids and numbers as tables have them; two are equal, two absent."""


def chart_json() -> str:
    """The chart as a template writes it: nothing in it ends the element."""
    return json.dumps(CHART).replace("<", "\\u003c")


def body() -> str:
    rows = "\n".join(
        f'<tr id="r{place}"><th scope="row"><bdi>{id}</bdi></th><td class="n">{number}</td></tr>'
        f'<tr class="note"><td colspan="2">note of {id}</td></tr>'
        for place, (id, number) in enumerate(ROWS)
    )
    page = (HERE / "look.html").read_text("utf-8")
    return page.replace("{{ rows }}", rows).replace("{{ chart }}", chart_json())


def served() -> str:
    """The page as the dashboard sends it: files by address."""
    styles = "\n".join(f'<link rel="stylesheet" href="/{file.name}">' for file in STYLES)
    early = "\n".join(f'<script src="/{file.name}"></script>' for file in EARLY)
    late = "\n".join(f'<script src="/{file.name}" defer></script>' for file in LATE)
    settings = f"<meta name=\"htmx-config\" content='{json.dumps(HTMX)}'>"
    return _page("\n".join([settings, styles, early, late]))


def one_file() -> str:
    """The page as a report: everything inlined, allowed by its digest alone."""
    style = "\n".join(file.read_text("utf-8") for file in STYLES)
    script = "\n".join(file.read_text("utf-8") for file in (*EARLY, *LATE[:-1]))
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return _page(f"{meta}\n<style>{style}</style>\n<script>{script}</script>")


def _page(head: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>look</title>\n<link rel="icon" href="data:,">\n{head}\n</head>\n'
        f"<body>\n{body()}\n</body>\n</html>\n"
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


PART = '<div id="part">{}<figure class="chart" data-chart><script type="application/json">{}</script></figure></div>'  # fmt: skip  # noqa: E501


def part() -> str:
    """What htmx puts into the page: a table to filter, and a chart."""
    rows = "".join(f'<tr><td>row {n}</td><td class="n">{n}</td></tr>' for n in range(20))
    heads = '<thead><tr><th scope="col">name</th><th scope="col">n</th></tr></thead>'
    return PART.format(f'<table id="new">{heads}<tbody>{rows}</tbody></table>', chart_json())


class _Answer(BaseHTTPRequestHandler):
    def __init__(self, files: dict[str, tuple[str, bytes]], *more: object) -> None:
        self.files = files
        super().__init__(*more)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        kind, content = self.files.get(self.path, ("text/plain", b""))
        self.send_response(200 if self.path in self.files else 404)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[str]:
    """The address of the page, for as long as the context lasts."""
    files = {f"/{file.name}": ("text/css", file.read_bytes()) for file in STYLES}
    files |= {f"/{file.name}": ("text/javascript", file.read_bytes()) for file in (*EARLY, *LATE)}
    files |= {"/": ("text/html", served().encode()), "/part": ("text/html", part().encode())}
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Answer, files))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
