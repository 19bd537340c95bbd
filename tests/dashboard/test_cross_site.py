"""Pages elsewhere, in the real browser: what they try against the dashboard, and what they get."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ragauge.dashboard import assets
from ragauge.dashboard.guard import Token
from tests.chromium import started
from tests.dashboard.served import serving

SECRET = "a-token-that-nobody-guesses"
FOREIGN = "attacker.example"
SCRIPT, STYLE = (assets.names()[what] for what in ("script", "style"))
READ = "async () => { const r = await fetch('/'); return [r.status, await r.text()]; }"
TRIES = """
async ([base, script, style]) => {
  const loaded = (element, place) => new Promise(done => {
    element.onload = () => done("loaded");
    element.onerror = () => done("refused");
    Object.assign(element, place);
    document.body.append(element);
  });
  const told = async (asking) => {
    try { const reply = await asking(); return `${reply.type} ${await reply.text()}`; }
    catch (error) { return "refused"; }
  };
  const closed = (channel) => new Promise(done => {
    channel.onopen = () => done("open");
    channel.onerror = () => done("refused");
  });
  const seen = (look) => { try { return look(); } catch { return "refused"; } };
  const make = (name) => document.createElement(name);
  const opened = window.open(base + "/");
  return {
    fetch: await told(() => fetch(base + "/")),
    "fetch with cookies": await told(() => fetch(base + "/", {credentials: "include"})),
    "fetch without cors": await told(() => fetch(base + "/", {mode: "no-cors"})),
    "fetch with a header": await told(() => fetch(base + "/", {headers: {"X-Own": "1"}})),
    post: await told(() => fetch(base + "/", {method: "POST", body: "x"})),
    delete: await told(() => fetch(base + "/", {method: "DELETE"})),
    figures: await told(() => fetch(base + "/?figures=runs.json")),
    image: await loaded(make("img"), {src: base + "/"}),
    script: await loaded(make("script"), {src: base + script}),
    json: await loaded(make("script"), {src: base + "/?figures=runs.json"}),
    style: await loaded(make("link"), {rel: "stylesheet", href: base + style}),
    events: await closed(new EventSource(base + "/")),
    socket: await closed(new WebSocket(base.replace("http", "ws") + "/")),
    beacon: navigator.sendBeacon(base + "/", "x"),
    window: seen(() => opened.document.body.innerText),
  };
}
"""


class Elsewhere:
    """A site of somebody else, on a port of its own."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.page = "<!DOCTYPE html><title>elsewhere</title><body></body>"

    def at(self, host: str) -> str:
        return f"http://{host}:{self.port}/"


@contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(site.page.encode())

        def log_message(self, *args: object) -> None:
            """Nothing: the test looks at what the browser says."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        site = Elsewhere(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield site
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser():
    """Chromium that finds a foreign name at our door, and leaves the defence to us."""
    with started(
        f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1",
        "--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessRespectPreflightResults",
    ) as made:
        yield made


@pytest.fixture
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def watched(small):
    """A dashboard that logs every request."""
    with serving(small, verbose=True) as made:
        yield made


@pytest.fixture(scope="module")
def locked(small):
    with serving(small, token=Token(SECRET)) as made:
        yield made


@pytest.fixture(scope="module")
def site():
    with elsewhere() as made:
        yield made


def arrived(caplog) -> set[str]:
    """What reached the dashboard, and how it ended: `403 GET /`."""
    return {record.getMessage() for record in caplog.records if record.name == "ragauge.dashboard"}


def test_a_name_that_was_rebound_to_us_is_refused(page, watched):
    answer = page.goto(f"http://{FOREIGN}:{watched.port}/")
    assert answer.status == 421
    assert "nightly" not in page.content()


def test_a_page_whose_name_is_rebound_reads_nothing(page, watched, caplog):
    """The page came from its own server; then its name led to us, and it asks its own origin."""
    origin = f"http://{FOREIGN}:{watched.port}"
    page.route(
        f"{origin}/evil", lambda route: route.fulfill(body="<p>evil", content_type="text/html")
    )
    page.goto(f"{origin}/evil")
    with caplog.at_level(logging.INFO):
        read = page.evaluate(READ)
    assert read[0] == 421
    assert "nightly" not in read[1]
    assert arrived(caplog) == {"421 GET /"}
    assert page.goto(watched.at("/")).status == 200
    read = page.evaluate(READ)
    assert read[0] == 200
    assert "nightly" in read[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", FOREIGN])
def test_a_page_elsewhere_reads_nothing_whatever_it_tries(page, watched, site, host, caplog):
    page.goto(site.at(host))
    with caplog.at_level(logging.INFO):
        tried = page.evaluate(TRIES, [watched.url, SCRIPT, STYLE])
    assert tried.pop("beacon") is True  # the browser sends it and tells nothing
    unread = tried.pop("fetch without cors")
    assert unread in ("opaque ", "refused")
    assert tried.pop("window") in ("", "refused")
    assert set(tried.values()) == {"refused"}, tried
    passed = {one for one in arrived(caplog) if one.split()[0] not in ("403", "405")}
    assert passed <= {f"200 GET {STYLE}"}  # of the page that refuses, in the window it opened
    assert {"403 GET /", "405 POST /", f"403 GET {SCRIPT}"} <= arrived(caplog)


@pytest.mark.parametrize("host", ["127.0.0.1", FOREIGN])
def test_a_page_elsewhere_cannot_frame_it(page, watched, site, host):
    page.goto(site.at(host))
    page.evaluate(
        "base => new Promise(done => { const frame = document.createElement('iframe'); "
        "frame.onload = done; frame.src = base; document.body.append(frame); })",
        watched.at("/"),
    )
    framed = page.frames[1]
    assert "nightly" not in framed.content()
    assert framed.url.startswith("chrome-error://")


def test_not_even_its_own_pages_are_framed(page, watched):
    """What the headers forbid, a page of ours that was led astray cannot do either."""
    page.goto(watched.at("/"))
    page.evaluate(
        "() => new Promise(done => { const frame = document.createElement('iframe'); "
        "frame.onload = done; frame.src = '/'; document.body.append(frame); })"
    )
    assert (
        page.frames[1].url.startswith("chrome-error://")
        or "nightly" not in page.frames[1].content()
    )


@pytest.mark.parametrize("host", ["127.0.0.1", FOREIGN])
def test_a_form_elsewhere_sends_nothing(page, watched, site, host):
    page.goto(site.at(host))
    with page.expect_navigation() as sent:
        page.evaluate(
            "base => { const form = document.createElement('form'); form.method = 'post'; "
            "form.action = base; document.body.append(form); form.submit(); }",
            watched.at("/"),
        )
    assert sent.value.status == 405
    assert "nightly" not in page.content()


@pytest.mark.parametrize("host", ["127.0.0.1", FOREIGN])
def test_a_reader_who_followed_a_link_goes_on_from_our_page(page, watched, site, host):
    page.goto(site.at(host))
    target = watched.at("/?words=nightly")
    page.set_content(f'<a href="{target}">look at this</a>')
    with page.expect_navigation() as first:
        page.get_by_role("link").click()
    assert first.value.status == 403
    with page.expect_navigation() as second:
        page.get_by_role("link", name="Go on").click()
    assert second.value.status == 200
    assert page.url == target
    assert "nightly" in page.content()


def test_the_token_does_not_stay_in_the_address(page, locked):
    answer = page.goto(locked.at(f"/?words=nightly&token={SECRET}"))
    assert answer.status == 200
    assert page.url == locked.at("/?words=nightly")
    assert SECRET not in page.evaluate("JSON.stringify(performance.getEntries())")
    (cookie,) = page.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert SECRET not in str(page.context.storage_state())
    assert page.evaluate("document.cookie") == ""
    assert page.goto(locked.at("/gold")).status == 200
    page.go_back()
    assert page.url == locked.at("/?words=nightly")


def test_a_reader_without_the_token_is_asked_for_it(page, locked):
    assert page.goto(locked.at("/?words=nightly")).status == 401
    for typed, status in (("not the token, alas", 401), (SECRET, 200)):
        page.get_by_label("Token").fill(typed)
        with page.expect_navigation() as sent:
            page.get_by_role("button").click()
        assert sent.value.status == status
    assert page.url == locked.at("/?words=nightly")
    assert "nightly" in page.content()


def test_the_cookie_does_not_go_with_requests_from_elsewhere(page, locked, site):
    page.goto(locked.at(f"/?token={SECRET}"))
    page.goto(site.at(FOREIGN))
    page.set_content(f'<a href="{locked.at("/")}">look at this</a>')
    with page.expect_navigation() as first:
        page.get_by_role("link").click()
    assert first.value.status == 403
    assert "cookie" not in first.value.request.all_headers()
    with page.expect_navigation() as second:
        page.get_by_role("link", name="Go on").click()
    assert second.value.status == 200
