"""The guard before the dashboard, asked over raw sockets: every rule, every header."""

from __future__ import annotations

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.request import urlopen

import pytest

from ragauge.dashboard import assets
from ragauge.dashboard.app import TOGETHER
from ragauge.dashboard.guard import Token
from tests.dashboard.raw import ask, send
from tests.dashboard.served import Served, serving

SECRET = "a-token-that-nobody-guesses"
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
STYLE = assets.names()["style"]
RESPONSES = {
    "a page": (200, ("/",)),
    "a style sheet": (200, (STYLE,)),
    "no such page": (404, ("/nothing",)),
    "no such run": (404, ("/runs/ffffffffffff",)),
    "no such file": (404, ("/static/nothing.js",)),
    "a bad field": (400, ("/?start=-1",)),
    "another method": (405, ("/",)),
    "another host": (421, ("/", "Host: attacker.example")),
    "another origin": (403, ("/", "Origin: http://attacker.example")),
    "another site": (403, ("/", "Sec-Fetch-Site: cross-site")),
    "too long": (414, ("/" + "x" * 20_000,)),
    "a redirection": (307, ("/gold/",)),
}


@pytest.fixture(scope="module")
def locked(small):
    """A dashboard that wants a token."""
    with serving(small, token=Token(SECRET)) as made:
        yield made


def policy_of(answer):
    parts = [
        part.strip().split(" ", 1) for part in answer.header("content-security-policy").split(";")
    ]
    return dict(parts)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("what", RESPONSES)
def test_every_response_has_every_header_once(guarded, what, method):
    status, request = RESPONSES[what]
    method = "POST" if what == "another method" else method
    answer = ask(guarded.port, *request, method=method)
    assert answer.status == status
    assert policy_of(answer) == POLICY
    assert {name: answer.header(name) for name in ALWAYS} == ALWAYS
    assert "server" not in dict(answer.headers)
    assert "x-powered-by" not in dict(answer.headers)
    assert "set-cookie" not in dict(answer.headers)
    assert "access-control-allow-origin" not in dict(answer.headers)
    kept = "public, max-age=31536000, immutable" if what == "a style sheet" else "no-store"
    assert answer.header("cache-control") == kept


def test_every_feature_is_off_for_everybody(guarded):
    features = ask(guarded.port).header("permissions-policy").split(", ")
    assert len(features) > 20
    assert all(feature.endswith("=()") for feature in features)
    assert {"camera=()", "microphone=()", "geolocation=()", "usb=()"} <= set(features)


def test_a_head_has_the_headers_of_the_page_and_no_body(guarded):
    page, head = ask(guarded.port), ask(guarded.port, method="HEAD")
    assert page.body
    assert head.body == b""
    assert (head.status, head.header("content-length")) == (200, page.header("content-length"))
    assert head.header("content-length") == str(len(page.body))


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "X"]
)
def test_it_is_only_read(guarded, method):
    answer = ask(guarded.port, method=method)
    assert (answer.status, answer.header("allow")) == (405, "GET, HEAD")
    assert b"read-only" in answer.body


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_its_own_names_with_its_port_lead_to_it(guarded, name):
    assert ask(guarded.port, "/", f"Host: {name}:{guarded.port}").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "attacker.example",
        "attacker.example:{port}",
        "127.0.0.1",
        "localhost",
        "127.0.0.1:1",
        "127.0.0.1:{port}.attacker.example",
        "localhost.attacker.example:{port}",
        "localhost.:{port}",
        "user@localhost:{port}",
        "127.0.0.1:0{port}",
        "127.0.0.2:{port}",
        "2130706433:{port}",
        "0.0.0.0:{port}",
        "[::]:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "localhost:{port},attacker.example",
        "localhost:{port} attacker.example",
        "",
    ],
)
def test_any_other_name_is_another_server(guarded, host):
    answer = ask(guarded.port, "/", "Host: " + host.format(port=guarded.port))
    assert answer.status == 421
    assert b"Not a name of this" in answer.body
    assert b"nightly" not in answer.body


def test_a_forwarded_host_counts_for_nothing(guarded):
    own, foreign = f"127.0.0.1:{guarded.port}", "attacker.example"
    forwarded = (f"X-Forwarded-Host: {own}", f"Forwarded: host={own}")
    assert ask(guarded.port, "/", f"Host: {foreign}", *forwarded).status == 421
    forwarded = (f"X-Forwarded-Host: {foreign}", "X-Forwarded-Proto: https")
    answer = ask(guarded.port, "/gold/", f"Host: {own}", *forwarded)
    assert answer.header("location") == f"http://{own}/gold"


def test_without_a_host_or_with_two_nobody_is_meant(guarded):
    assert send(guarded.port, b"GET / HTTP/1.0\r\n\r\n").status == 400
    assert send(guarded.port, b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status == 400
    own = f"Host: 127.0.0.1:{guarded.port}"
    for second in (own, "Host: attacker.example"):
        assert ask(guarded.port, "/", own, second).status == 400
        old = f"GET / HTTP/1.0\r\n{own}\r\n{second}\r\n\r\n"
        assert send(guarded.port, old.encode()).status == 400


def test_a_whole_url_for_a_target_is_refused(guarded):
    for target in (f"http://127.0.0.1:{guarded.port}/", "http://attacker.example/", "*"):
        assert ask(guarded.port, target).status == 400


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "[::1]"])
def test_its_own_origins_may_ask(guarded, name):
    assert ask(guarded.port, "/", f"Origin: http://{name}:{guarded.port}").status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://attacker.example",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}/",
        "http://127.0.0.1:{port}.attacker.example",
        "http://127.0.0.1:{port} http://attacker.example",
        "file://",
    ],
)
def test_other_origins_may_not(guarded, origin):
    answer = ask(guarded.port, "/", "Origin: " + origin.format(port=guarded.port))
    assert answer.status == 403
    assert b"nightly" not in answer.body


def test_of_two_origins_both_must_be_its_own(guarded):
    own = f"Origin: http://127.0.0.1:{guarded.port}"
    assert ask(guarded.port, "/", own, own).status == 200
    assert ask(guarded.port, "/", own, "Origin: null").status == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_its_own_pages_and_typed_addresses_pass(guarded, site):
    assert ask(guarded.port, "/", f"Sec-Fetch-Site: {site}").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "", "other"])
def test_who_comes_from_elsewhere_is_led_on_from_a_page_of_ours(guarded, site):
    target = "/compare?before=a%20b&after=%22%3E%3Cscript%3E"
    answer = ask(guarded.port, target, f"Sec-Fetch-Site: {site}")
    assert answer.status == 403
    assert b'href="/compare?before=a%20b&amp;after=%22%3E%3Cscript%3E"' in answer.body
    assert b"nightly" not in answer.body


def test_what_a_browser_does_not_escape_is_escaped(guarded):
    answer = ask(guarded.port, "/x?\"'><script>alert(1)</script>", "Sec-Fetch-Site: cross-site")
    assert answer.status == 403
    assert b"<script" not in answer.body


@pytest.mark.parametrize("target", ["//attacker.example/", "/\\attacker.example/", "///x"])
@pytest.mark.parametrize("site", ["cross-site", "none"])
def test_nobody_is_led_to_another_server(guarded, locked, target, site):
    for answer in (
        ask(guarded.port, target, f"Sec-Fetch-Site: {site}"),
        ask(locked.port, f"{target}?token={SECRET}", f"Sec-Fetch-Site: {site}"),
    ):
        assert answer.status == 400
        assert answer.header("location") is None
        assert b"attacker" not in answer.body


def test_an_address_may_be_so_long(guarded):
    fits = "/?" + "x" * (16_384 - 2)
    assert ask(guarded.port, fits).status == 200
    assert ask(guarded.port, fits + "x").status == 414
    assert ask(guarded.port, "/" + "x" * 100_000).status == 414


def test_without_the_token_nothing_is_shown(locked):
    for path in ("/", "/gold", STYLE, "/nothing"):
        for headers in (
            (),
            ("Authorization: Bearer",),
            ("Authorization: Bearer wrong-token-wrong-token",),
            (f"Authorization: Basic {SECRET}",),
            (f"Authorization: {SECRET}",),
            (f"Authorization: Bearer {SECRET[:-1]}",),
            (f"Authorization: Bearer {SECRET}x",),
            (f"Cookie: ragauge_{locked.port}={SECRET}",),
            (f"Cookie: ragauge_{locked.port}=",),
            ("Authorization: Bearer \xe9\xff",),
            ("Cookie: \xe9\xff",),
        ):
            answer = ask(locked.port, path, *headers)
            assert (answer.status, answer.header("set-cookie")) == (401, None)
            assert answer.header("www-authenticate").startswith("Bearer")
            assert SECRET.encode() not in answer.body
            assert b"nightly" not in answer.body


def test_the_rules_hold_with_the_token_too(locked):
    bearer = f"Authorization: Bearer {SECRET}"
    assert ask(locked.port, "/", bearer, "Host: attacker.example").status == 421
    assert ask(locked.port, "/", bearer, "Origin: null").status == 403
    assert ask(locked.port, "/", bearer, "Sec-Fetch-Site: cross-site").status == 403
    assert ask(locked.port, "/", bearer, method="POST").status == 405


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER "])
def test_a_bearer_of_the_token_reads(locked, scheme):
    answer = ask(locked.port, "/", f"Authorization: {scheme} {SECRET}")
    assert (answer.status, answer.header("set-cookie")) == (200, None)


def test_the_token_in_an_address_is_exchanged_for_a_cookie(locked):
    answer = ask(locked.port, f"/gold?a=%41&token={SECRET}&b=&c")
    assert (answer.status, answer.header("location")) == (303, "/gold?a=%41&b=&c")
    cookie, *attributes = answer.header("set-cookie").split("; ")
    assert cookie.startswith(f"ragauge_{locked.port}=")
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=Strict"]
    assert all(SECRET not in value for _, value in answer.headers)
    assert answer.header("cache-control") == "no-store"
    assert ask(locked.port, "/", f"Cookie: other=1; {cookie}; third=2").status == 200
    assert ask(locked.port, "/", f"Cookie: {cookie}x").status == 401
    assert ask(locked.port, "/", f"Cookie: {cookie.swapcase()}").status == 401


def test_the_token_does_not_stay_even_for_who_is_known(locked):
    bearer = f"Authorization: Bearer {SECRET}"
    for query in (f"token={SECRET}", f"tok%65n={SECRET}", f"token=%61{SECRET[1:]}"):
        answer = ask(locked.port, f"/?{query}", bearer)
        assert (answer.status, answer.header("location")) == (303, "/")


@pytest.mark.parametrize("query", ["token=", "token", "token=wrong", "token={s}&token=wrong"])
def test_a_wrong_token_in_an_address_is_not_repeated(locked, query):
    answer = ask(locked.port, "/gold?x=1&" + query.format(s=SECRET))
    assert (answer.status, answer.header("set-cookie")) == (401, None)
    assert b"wrong" not in answer.body and SECRET.encode() not in answer.body
    assert b'<input type="hidden" name="x" value="1">' in answer.body


def test_the_cookie_of_one_dashboard_opens_no_other(small, locked):
    cookie = ask(locked.port, f"/?token={SECRET}").header("set-cookie").split(";")[0]
    value = cookie.partition("=")[2]
    with serving(small, token=Token(SECRET)) as other:
        assert ask(other.port, "/", f"Cookie: ragauge_{other.port}={value}").status == 401
        assert ask(other.port, "/", f"Cookie: {cookie}").status == 401


def test_a_token_prints_as_stars():
    assert SECRET not in f"{Token(SECRET)!r} {Token(SECRET)} {[Token(SECRET)]}"
    assert "***" in repr(Token(SECRET))


def test_names_that_are_added_lead_to_it_on_any_port_they_come_by(small):
    with serving(small, allowed=("Dash.example", "proxy.example:8443")) as made:
        hosts = ("dash.example", f"dash.example:{made.port}", "proxy.example:8443", "DASH.EXAMPLE")
        assert [ask(made.port, "/", f"Host: {host}").status for host in hosts] == [200] * 4
        others = ("dash.example:1", f"proxy.example:{made.port}", "a.dash.example")
        assert [ask(made.port, "/", f"Host: {host}").status for host in others] == [421] * 3


def test_an_upgrade_to_a_websocket_is_a_plain_request(guarded):
    headers = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: eA==")
    answer = ask(guarded.port, "/", *headers, "Sec-WebSocket-Version: 13")
    assert answer.status == 200


def test_a_crowd_is_answered_one_after_the_other(guarded: Served) -> None:
    """More at once than a history has connections: each waits for its turn, and none is refused."""
    crowd = 4 * TOGETHER
    with ThreadPoolExecutor(crowd) as readers:
        seen = list(readers.map(lambda _: urlopen(guarded.at("/")).status, range(crowd)))
    assert seen == [200] * crowd


SHORT_S = 0.4
HALVES = {
    "nothing": b"",
    "half a line": b"GET / HT",
    "half a head": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
    "a second request, half": b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo",
}


@pytest.fixture(scope="module")
def hasty(small):
    """A dashboard that waits for a moment."""
    with serving(small, idle_s=SHORT_S) as made:
        yield made


@pytest.mark.parametrize("half", HALVES)
def test_a_connection_that_stops_half_way_is_closed(hasty, half):
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=60) as connection:
        connection.sendall(HALVES[half])
        with contextlib.suppress(ConnectionResetError):
            while connection.recv(65536):  # ends when the server closes, or the test times out
                pass
    assert ask(hasty.port).status == 200


def test_a_head_that_comes_a_byte_at_a_time_is_cut_off(hasty):
    """Each byte would start a timer that only looks at silence anew."""
    head = b"GET / HTTP/1.1\r\n" + b"X-Slow: 1\r\n" * 10_000
    place = ("127.0.0.1", hasty.port)
    gone = pytest.raises((ConnectionResetError, BrokenPipeError))
    with socket.create_connection(place, timeout=60) as connection, gone:
        for byte in head:
            connection.sendall(bytes([byte]))
            time.sleep(SHORT_S / 20)


def test_many_that_wait_keep_nobody_out(hasty):
    waiting = [socket.create_connection(("127.0.0.1", hasty.port)) for _ in range(200)]
    try:
        assert ask(hasty.port).status == 200
    finally:
        for connection in waiting:
            connection.close()
