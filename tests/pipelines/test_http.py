"""An endpoint is asked, and whatever it does ends as a reply or as a failed call in words."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import socket
import subprocess
import sys
import threading
import traceback
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.system import Ask, CallFailed
from ragauge.errors import UsageError
from ragauge.pipelines.http import LONGEST_ASKED_S, HttpSystem, wait_s
from ragauge.pipelines.mapping import mapping_of
from tests.pipelines.asking import LONG_S, failure_of, reply_of, with_system
from tests.pipelines.misbehaving import (
    BEHAVIOURS,
    DATE,
    DATED_WAIT_S,
    EXPANDED,
    RETRY_AFTER_S,
    bomb,
    serving,
    usual_answer,
)

ANSWERING = {"ok", "slow", "closes", "gzip", "cookie", "wrong-types", "a-list", "empty"}
AGAIN, NEVER = True, False
LARGE = "the reply is longer than 15 MiB"
NOT_FOLLOWED = ", which is not followed; give the URL that answers"
PAGE = "<html><body><h1>Bad Gateway</h1>"
FAILURES = {
    "500": ("http_500", AGAIN, None, "Internal Server Error: Traceback index not loaded"),
    "502": ("http_502", AGAIN, None, f"Bad Gateway: {PAGE}{'x' * (199 - len(PAGE))}…"),
    "503": ("http_503", AGAIN, RETRY_AFTER_S, "Service Unavailable"),
    "503-bad-header": ("http_503", AGAIN, None, "Service Unavailable"),
    "gzip-500": ("http_500", AGAIN, None, "Internal Server Error: packed words"),
    "408": ("http_408", AGAIN, None, "Request Timeout"),
    "401": ("http_401", NEVER, None, "Unauthorized: bad key"),
    "404": ("http_404", NEVER, None, f"Not Found: no such place{'!' * 186}…"),
    "429": ("http_429", AGAIN, RETRY_AFTER_S, "Too Many Requests"),
    "429-date": ("http_429", AGAIN, DATED_WAIT_S, "Too Many Requests"),
    "429-long": ("http_429", AGAIN, 86_400.0, "Too Many Requests"),
    "redirect": ("redirect", NEVER, None, f"307 to elsewhere.invalid{NOT_FOLLOWED}"),
    "301-nowhere": ("redirect", NEVER, None, f"301 to HOST{NOT_FOLLOWED}"),
    "302-broken": ("redirect", NEVER, None, f"302 to a place that is no URL{NOT_FOLLOWED}"),
    "reset": ("disconnected", AGAIN, None, "HOST closed the connection"),
    "disconnect": ("disconnected", AGAIN, None, "HOST closed the connection"),
    "html": (
        "bad_reply",
        AGAIN,
        None,
        f"not JSON: expecting value at column 1; it begins: {PAGE}{'x' * 27}…",
    ),
    "no-body": ("bad_reply", AGAIN, None, "the reply is empty"),
    "truncated": (
        "bad_reply",
        AGAIN,
        None,
        "not JSON: unterminated string starting at column 12; the text is cut off; "
        'it begins: {"answer": "it begins we',
    ),
    "cut": ("bad_reply", AGAIN, None, "the body ends early"),
    "chunked-cut": ("bad_reply", AGAIN, None, "the body ends early"),
    "nan": (
        "bad_reply",
        AGAIN,
        None,
        "NaN is not a JSON number; write null where there is no value; "
        'it begins: {"answer": "x", "usage": {"cost": NaN}}',
    ),
    "twice": (
        "bad_reply",
        AGAIN,
        None,
        'key "answer" appears 2 times in one object; keep one; '
        'it begins: {"answer": "x", "answer": "y"}',
    ),
    "surrogate": (
        "bad_reply",
        AGAIN,
        None,
        "lone surrogate \\ud800 in a string: half a character; remove it; "
        'it begins: {"answer": "\\ud800"}',
    ),
    "not-utf8": (
        "bad_reply",
        AGAIN,
        None,
        "not UTF-8 at byte 16 (0xe9); save the file as UTF-8; "
        'it begins: {"answer": "caf\N{REPLACEMENT CHARACTER}"}',
    ),
    "huge": ("too_large", NEVER, None, LARGE),
    "huge-declared": ("too_large", NEVER, None, LARGE),
    "gzip-bomb": ("too_large", NEVER, None, LARGE),
    "gzip-cut": ("bad_reply", AGAIN, None, "the body ends early"),
    "gzip-lie": ("bad_reply", AGAIN, None, "the body is not the gzip it says"),
    "brotli": ("bad_reply", NEVER, None, "the body is packed as br, not as gzip"),
}
IN_OTHER_WORDS = {"echo-headers", "not-http"}


def host_of(server) -> str:
    return server.url.removeprefix("http://")


def test_every_way_to_misbehave_is_tried_here():
    assert set(BEHAVIOURS) == {*ANSWERING, *FAILURES, *IN_OTHER_WORDS}


@pytest.mark.parametrize("behaviour", FAILURES)
def test_a_failure_says_what_happened_and_whether_to_ask_again(misbehaving, behaviour):
    kind, again, after_s, fact = FAILURES[behaviour]
    failed = failure_of(HttpSystem(misbehaving.at(behaviour)))
    found = failed.kind, failed.again, failed.after_s, failed.fact
    assert found == (kind, again, after_s, fact.replace("HOST", host_of(misbehaving)))
    assert misbehaving.asked["Why?"] == 1


def test_a_server_that_speaks_something_else_is_a_bad_reply(misbehaving):
    failed = failure_of(HttpSystem(misbehaving.at("not-http")))
    assert (failed.kind, failed.again) == ("bad_reply", True)
    assert failed.fact.startswith("not HTTP: ")


@pytest.mark.parametrize("behaviour", ["ok", "gzip", "closes"])
def test_a_good_answer_comes_back_decoded(misbehaving, behaviour):
    assert reply_of(HttpSystem(misbehaving.at(behaviour))) == usual_answer({"q": "Why?"})


@pytest.mark.parametrize(
    ("behaviour", "reply"),
    [
        ("wrong-types", {"answer": 7, "retrieved_ids": "p1#1"}),
        ("a-list", [1, 2]),
        ("empty", {"answer": ""}),
    ],
)
def test_json_of_another_shape_is_for_the_trace_to_judge(misbehaving, behaviour, reply):
    assert reply_of(HttpSystem(misbehaving.at(behaviour))) == reply


def test_the_body_is_the_ask_and_nothing_else(misbehaving):
    reply_of(HttpSystem(misbehaving.url), "Why – so?", seed=3, temperature=0.2, jitter="ws")
    (request,) = misbehaving.requests
    assert request.body == {
        "q": "Why – so?",
        "seed": 3,
        "temperature": 0.2,
        "jitter": "ws",
        "knobs": {},
    }
    assert request.headers["content-type"] == "application/json"
    assert set(request.headers) == {
        "host",
        "accept",
        "accept-encoding",
        "content-type",
        "content-length",
        "user-agent",
    }


def test_knobs_are_sent(misbehaving):
    reply_of(HttpSystem(misbehaving.url), knobs={"top_k": 5})
    assert misbehaving.requests[0].body["knobs"] == {"top_k": 5}


def test_a_redirect_is_not_followed_to_another_server(misbehaving):
    with serving() as other:
        misbehaving.elsewhere = other.at("ok")
        failed = failure_of(HttpSystem(misbehaving.at("redirect"), headers={"X-Key": "s3cret"}))
        assert failed.kind == "redirect" and "127.0.0.1" in failed.fact
        assert not other.requests and other.connections == 0


def test_a_port_nobody_listens_at_refuses():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    failed = failure_of(HttpSystem(f"http://127.0.0.1:{port}/qa"))
    assert (failed.kind, failed.again) == ("refused", True)
    assert failed.fact == f"127.0.0.1:{port} refuses the connection"


def test_a_host_that_does_not_exist_is_unreachable(monkeypatch):
    def unknown(*arguments, **options):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)  # a test asks no name server
    failed = failure_of(HttpSystem("http://no-such-host.invalid/qa"))
    assert (failed.kind, failed.again) == ("unreachable", True)
    assert failed.fact == "no-such-host.invalid:80: Name or service not known"


class Noted(ThreadPoolExecutor):
    """Threads such as a loop has, with the names of what ran in them."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []

    def submit(self, fn, /, *args, **kwargs):
        self.ran.append(fn.__name__)
        return super().submit(fn, *args, **kwargs)


def test_a_name_is_looked_up_without_the_threads_of_the_loop(misbehaving):
    threads = Noted()

    async def ask(system):
        asyncio.get_running_loop().set_default_executor(threads)
        return await system.ask(Ask(q="Why?"))

    system = HttpSystem(misbehaving.url.replace("127.0.0.1", "localhost"))
    assert with_system(system, ask) == usual_answer({"q": "Why?"})
    assert misbehaving.requests[0].headers["host"].startswith("localhost:")
    assert threads.ran == []


def test_the_thread_that_looked_a_name_up_ends_with_the_system(misbehaving, monkeypatch):
    threads, look_up = [], socket.getaddrinfo

    def noted(*arguments, **options):
        threads.append(threading.current_thread())
        return look_up(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    reply_of(HttpSystem(misbehaving.url.replace("127.0.0.1", "localhost")))
    (thread,) = threads
    thread.join(LONG_S)
    assert thread.daemon and not thread.is_alive()


STUCK = """
import asyncio, socket, threading
from ragauge.contracts.system import Ask
from ragauge.pipelines.http import HttpSystem

sought, never = threading.Event(), threading.Event()

def look_up(*arguments, **options):
    sought.set()
    never.wait()

async def main():
    socket.getaddrinfo = look_up
    system = HttpSystem("http://qa.invalid/")
    calls = [asyncio.ensure_future(system.ask(Ask(q="Why?"))) for _ in range(3)]
    while not sought.is_set():
        await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await system.close()
    print("left")

asyncio.run(main())
"""


def test_a_name_server_that_never_answers_does_not_keep_the_process_alive():
    done = subprocess.run(
        [sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=LONG_S, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


def test_tls_towards_a_server_without_it_fails_for_good(misbehaving):
    failed = failure_of(HttpSystem(misbehaving.url.replace("http:", "https:")))
    assert (failed.kind, failed.again) == ("tls", False)


def test_a_bomb_is_not_unpacked_beyond_the_bound(misbehaving):
    system = HttpSystem(misbehaving.at("gzip-bomb"))
    assert len(bomb()) < 100_000  # made before memory is watched
    tracemalloc.start()
    try:
        failure_of(system)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < EXPANDED / 2


def test_cookies_are_not_kept(misbehaving):
    async def twice(system):
        await system.ask(Ask(q="Why?"))
        await system.ask(Ask(q="Why?"))

    with_system(HttpSystem(misbehaving.at("cookie")), twice)
    assert ["cookie" in request.headers for request in misbehaving.requests] == [False, False]


def test_connections_are_kept_between_calls(misbehaving):
    async def thrice(system):
        for _ in range(3):
            await system.ask(Ask(q="Why?"))

    with_system(HttpSystem(misbehaving.url), thrice)
    assert {request.connection for request in misbehaving.requests} == {1}


def test_a_connection_closed_between_calls_costs_at_most_a_second_attempt(misbehaving):
    async def often(system):
        outcomes = []
        for _ in range(20):
            try:
                outcomes.append(await system.ask(Ask(q="Why?")))
            except CallFailed as failed:
                outcomes.append((failed.kind, failed.again))
        return outcomes

    outcomes = with_system(HttpSystem(misbehaving.at("closes")), often)
    lost = [outcome for outcome in outcomes if outcome != usual_answer({"q": "Why?"})]
    assert set(lost) <= {("disconnected", True)}
    assert len(lost) <= 10


def test_no_more_calls_are_in_flight_than_the_limit(misbehaving):
    async def crowd(system):
        calls = [asyncio.ensure_future(system.ask(Ask(q=f"Why {n}?"))) for n in range(7)]
        await asyncio.to_thread(misbehaving.wait_until, lambda server: server.in_flight == 2)
        misbehaving.release()
        return await asyncio.gather(*calls)

    replies = with_system(HttpSystem(misbehaving.at("slow"), concurrency=2), crowd)
    assert len(replies) == 7
    assert misbehaving.most_in_flight == 2


def test_a_cancelled_call_lets_go_of_its_connection(misbehaving):
    async def give_up(system):
        call = asyncio.ensure_future(system.ask(Ask(q="Why?")))
        await asyncio.to_thread(misbehaving.wait_until, lambda server: server.in_flight == 1)
        call.cancel()
        await asyncio.to_thread(misbehaving.wait_until, lambda server: server.left == 1)
        with pytest.raises(asyncio.CancelledError):
            await call
        misbehaving.release()
        return await system.ask(Ask(q="Why?"))

    system = HttpSystem(misbehaving.at("slow"), concurrency=1)
    assert with_system(system, give_up) == usual_answer({"q": "Why?"})


def test_closing_twice_and_asking_after_is_fine(misbehaving):
    system = HttpSystem(misbehaving.url)
    assert reply_of(system) == reply_of(system)
    asyncio.run(system.close())


def test_proxies_and_passwords_of_the_environment_are_not_used(misbehaving, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hidden\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    reply_of(HttpSystem(misbehaving.url))
    assert "authorization" not in misbehaving.requests[0].headers


SECRETS = ("some-user", "pass/word", "query-key", "header-key", "token-1234")
USERINFO = base64.b64encode(b"some-user:pass/word").decode()


def secretive(server, path: str) -> HttpSystem:
    place = server.at(path).replace("http://", "http://some-user:pass%2Fword@")
    headers = {"X-Api-Key": "header-key", "X-Auth": "Bearer token-1234"}
    return HttpSystem(f"{place}?api_key=query-key", headers=headers)


@pytest.mark.parametrize("behaviour", sorted({*FAILURES, *IN_OTHER_WORDS}))
def test_no_secret_shows_whatever_goes_wrong(misbehaving, behaviour):
    system = secretive(misbehaving, behaviour)
    failed = failure_of(system)
    shown = [str(failed), repr(failed), failed.fact, repr(system), json.dumps(system.identity)]
    shown += traceback.format_exception(failed)
    leaked = [secret for secret in (*SECRETS, USERINFO, "%2F") if secret in "\n".join(shown)]
    assert leaked == []


def test_secrets_reach_the_server_they_are_for(misbehaving):
    reply_of(secretive(misbehaving, "ok"))
    headers = misbehaving.requests[0].headers
    assert headers["authorization"] == f"Basic {USERINFO}"
    assert headers["x-api-key"] == "header-key"
    assert headers["x-auth"] == "Bearer token-1234"


def test_identity_names_the_place_and_the_headers():
    system = HttpSystem("https://me:pw@qa.example/v1/ask?key=1#top", headers={"X-Key": "abcd"})
    identity = system.identity
    assert re.fullmatch("[0-9a-f]{64}", identity.pop("values_pbkdf2"))
    assert identity == {
        "kind": "http",
        "scheme": "https",
        "host": "qa.example",
        "port": 443,
        "path": "/v1/ask",
        "headers": ["authorization", "x-key"],
    }


def test_identity_changes_with_the_mapping():
    def identity(answer: str):
        mapping = mapping_of({"response": {"answer": answer}}, {})
        return HttpSystem("http://qa.example", mapping=mapping).identity

    assert identity("$.a") == identity("$.a") != identity("$.b")
    assert identity("$.a") != HttpSystem("http://qa.example").identity


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"url": "http://qa.example/?model=a"}, {"url": "http://qa.example/?model=b"}),
        ({"url": "http://qa.example/?model=a"}, {"url": "http://qa.example/"}),
        ({"headers": {"X-Model": "a"}}, {"headers": {"X-Model": "b"}}),
        ({"headers": {"A": "b", "B": "a"}}, {"headers": {"A": "a", "B": "b"}}),
        (
            {"mapping": {"headers": {"X-Key": "{env.KEY}"}}, "environment": {"KEY": "one"}},
            {"mapping": {"headers": {"X-Key": "{env.KEY}"}}, "environment": {"KEY": "two"}},
        ),
    ],
)
def test_identity_changes_with_the_query_and_the_values_of_headers(before, after):
    def identity(url="http://qa.example/", headers=None, mapping=None, environment=None):
        shape = mapping_of(mapping or {}, environment or {})
        return HttpSystem(url, headers=headers, mapping=shape).identity

    assert identity(**before) == identity(**before) != identity(**after)


def test_a_renewed_credential_is_no_other_system():
    def identity(key):
        return HttpSystem("http://qa.example/", headers={"Authorization": key}).identity

    assert identity("Bearer one") == identity("Bearer two")
    one, two = (HttpSystem(f"http://me:{word}@qa.example/") for word in ("one", "two"))
    assert one.identity == two.identity


def test_identity_is_the_same_in_whatever_order_and_case_headers_are_written():
    one = HttpSystem("http://qa.example/", headers={"X-A": "1", "X-B": "2"})
    other = HttpSystem("http://qa.example/", headers={"x-b": "2", "x-a": "1"})
    assert one.identity == other.identity


@pytest.mark.parametrize(
    "url",
    [
        "",
        "qa.example/ask",
        "localhost:8000/ask",
        "ftp://me:hidden@qa.example/",
        "http://",
        "http://qa.example:port/?key=hidden",
        "http://qa.example:99999/",
        "http://qa example/",
        "http://[half",
        "http://a..invalid/",
        f"http://{'a' * 64}.invalid/",
    ],
)
def test_a_url_that_is_none_is_refused_without_showing_it(url):
    with pytest.raises(UsageError, match="http://host:port/path") as caught:
        HttpSystem(url)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "fact"),
    [
        ({"X Key": "v"}, 'headers: "X Key" is no name of a header'),
        ({"X-Key": "a\nB: hidden"}, "headers: X-Key: the value holds a line break"),
        ({"Content-Length": "3"}, "headers: Content-Length is set by the connection itself"),
        ({"authorization": "hidden"}, "headers: both the URL and a header bring credentials"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused_without_their_values(headers, fact):
    with pytest.raises(UsageError) as caught:
        HttpSystem("http://me:hidden@qa.example/", headers=headers)
    assert fact in str(caught.value) and "B: hidden" not in str(caught.value)


def test_a_header_given_is_sent_in_place_of_ours(misbehaving):
    mapping = mapping_of({"headers": {"User-Agent": "m", "X-From": "m"}}, {})
    headers = {"x-from": "h", "ACCEPT": "text/plain"}
    reply_of(HttpSystem(misbehaving.url, mapping=mapping, headers=headers))
    sent = misbehaving.requests[0].headers
    assert (sent["user-agent"], sent["x-from"], sent["accept"]) == ("m", "h", "text/plain")


CHAT = {
    "request": {
        "model": "{knobs.model}",
        "messages": [{"role": "user", "content": "Cite your sources. {q}"}],
        "seed": "{seed}",
    },
    "response": {"answer": "$.choices[0].message.content", "usage": "$.usage"},
    "headers": {"Authorization": "Bearer {env.KEY}"},
}


def test_an_endpoint_of_another_shape_is_asked_by_a_mapping():
    content = "So.\ncitations: [p1#1]"
    answer = {"choices": [{"message": {"content": content}}], "usage": {"total_tokens": 9}}
    with serving(answer=lambda body: answer) as server:
        system = HttpSystem(server.url, mapping=mapping_of(CHAT, {"KEY": "the-key"}))
        reply = reply_of(system, seed=4, knobs={"model": "small"})
        (request,) = server.requests
    assert reply == {"answer": content, "usage": {"total_tokens": 9}}
    assert request.headers["authorization"] == "Bearer the-key"
    assert request.body == {
        "model": "small",
        "messages": [{"role": "user", "content": "Cite your sources. Why?"}],
        "seed": 4,
    }


def test_a_reply_without_the_answer_the_mapping_promises_says_what_there_is():
    with serving(answer=lambda body: {"error": {"code": 7}}) as server:
        system = HttpSystem(server.url, mapping=mapping_of(CHAT, {"KEY": "k"}))
        failed = failure_of(system, knobs={"model": "small"})
    assert (failed.kind, failed.again) == ("bad_reply", False)
    assert failed.fact == (
        "answer: nothing at $.choices[0].message.content: $ is an object with error"
    )


def test_nothing_is_sent_where_a_knob_is_missing(misbehaving):
    failed = failure_of(HttpSystem(misbehaving.url, mapping=mapping_of(CHAT, {"KEY": "k"})))
    assert (failed.kind, failed.again) == ("no_knob", False)
    assert not misbehaving.requests


@given(st.text(max_size=40) | st.sampled_from(["-1", "nan", "1e3", "٣", "9" * 999]), st.text())
def test_any_retry_after_is_a_wait_within_bounds_or_none(text, date):
    for headers in ({"Retry-After": text, "Date": date}, {"Retry-After": DATE, "Date": text}):
        found = wait_s(headers)
        assert found is None or 0 <= found <= LONGEST_ASKED_S


def test_a_date_that_is_over_means_no_wait():
    assert wait_s({"Retry-After": DATE, "Date": "Thu, 22 Oct 2015 07:28:00 GMT"}) == 0
    assert wait_s({"Retry-After": DATE}) is None


def test_importing_the_systems_does_not_import_the_client():
    program = "import ragauge.pipelines.systems, sys; print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
