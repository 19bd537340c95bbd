"""Addresses that nobody of good will writes: answered in words, never with a fault or a file."""

from __future__ import annotations

import logging

import pytest

from ragauge.contracts.history import RunFilter
from ragauge.store.documents import FolderDocuments
from tests.dashboard.raw import ask
from tests.dashboard.served import serving

CANARY = "canary-of-a-file-beside-the-documents"
LONG = 4_000
HOSTILE = [
    *("..", "..%2f..%2fetc%2fpasswd", "%2e%2e%2f%2e%2e%2fsecret.txt", "..%5c..%5csecret.txt"),
    *("%00", "%ff%fe", "%ed%a0%80", "%F4%90%80%80", "%E2%80%AE", "%0d%0aX-Injected:%201", "%20"),
    *("%27", "%27%20OR%20%271%27=%271", "1;DROP%20TABLE%20runs;--", "%25", "%5c", "[", "*"),
    *("%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E"),
    *("%7B%7B7777*7777%7D%7D", "__class__", "-1", "1e9", "99999999999999999999", "%D9%A3", "-"),
    *("-recorded_at", "recorded_at%20DESC", "quality.compliance", "latest", "green@", "commit:%27"),
    *("../../x", "../../x.csv", "x" * LONG, "x" * 15_000, "%00" * LONG, "a%20" * LONG, "9" * LONG),
]
PLACES = [
    *("/{x}", "/?words={x}", "/?sort={x}", "/?start={x}&rows=1", "/?rows={x}", "/?figures={x}"),
    *("/?order={x}", "/?label={x}", "/?command={x}&name={x}", "/?{x}={x}", "/runs/{x}"),
    *("/runs/{run}/{x}", "/runs/{x}/question?unit={x}", "/runs/{run}?words={x}&label={x}"),
    *("/runs/{run}?sort={x}", "/runs/{run}?start={x}", "/runs/{run}?right={x}&figures={x}"),
    *("/runs/{run}/quality?sort={x}", "/runs/{run}/quality?stratum={x}&value={x}"),
    *("/runs/{run}/question?unit={x}", "/runs/{run}/question?unit=q1&figures={x}"),
    *("/runs/{run}/question?unit=q1&sort={x}&right={x}&with={x}", "/runs/{run}/document?doc={x}"),
    *("/runs/{run}/document?doc={x}&rev={x}", "/runs/{run}/document?doc=a&rev={x}"),
    *("/runs/{run}/document?doc=a&rev=1&start={x}&end={x}", "/compare?before={x}&after={x}"),
    *("/compare?before={run}&after={x}", "/compare?before={run}&after={run}&sort={x}&figures={x}"),
    *("/history?metric={x}", "/history?metric=quality.compliance&name={x}&command={x}&last={x}"),
    *("/history?figures={x}", "/gold?sort={x}&figures={x}", "/gold/{x}", "/gold/{gold}?words={x}"),
    *("/gold/{gold}?sort={x}", "/gold/{gold}?start={x}&rows={x}", "/gold/{gold}?figures={x}"),
    *("/gold/{gold}?stratum={x}&value={x}&answerable={x}", "/static/{x}"),
]
INSIDE = (
    *(b"Traceback", b'File "', b"site-packages", b"src/ragauge", b"sqlalchemy", b"sqlite3."),
    *(b"OperationalError", b"psycopg", b"root:x:0:0", b"60481729", CANARY.encode()),
)
"""What no answer may hold: the inside of the program, files of the machine, sums it was told."""


@pytest.fixture(scope="module")
def hostile(small, tmp_path_factory):
    """A dashboard with documents, and a file beside them that is nobody's business."""
    folder = tmp_path_factory.mktemp("beside")
    (folder / "secret.txt").write_text(CANARY)
    documents = folder / "docs"
    documents.mkdir()
    (documents / "a.md").write_text("A document.")
    (documents / "secret.txt").symlink_to(folder / "secret.txt")
    with serving(small, documents=FolderDocuments(documents)) as made:
        yield made


@pytest.fixture(scope="module")
def names(hostile):
    """A run and a gold set that are there."""
    run = hostile.history.runs(RunFilter(limit=1))[0]
    return {"run": run.id, "gold": run.record.gold_sha256}


def faults_of(answer, small):
    """What is wrong with an answer; None where nothing is."""
    if answer.status not in (200, 307, 400, 404, 414):
        return f"status {answer.status}"
    if answer.status == 307 and not answer.header("location").startswith("http://127.0.0.1:"):
        return f"leads to {answer.header('location')}"
    kind = answer.header("content-type") or ""
    if kind.startswith("text/html") and not answer.body.rstrip().endswith(b"</html>"):
        return "half a page"
    if answer.status >= 400 and not kind.startswith("text/html"):
        return f"no page, but {kind}"
    held = [inside for inside in (*INSIDE, small.encode()) if inside in answer.body]
    if kind.startswith("text/html"):
        held += [tag for tag in (b"<script>alert", b"<img src=x") if tag in answer.body]
    if "x-injected" in dict(answer.headers):
        held.append(b"a header of theirs")
    return f"holds {held}" if held else None


@pytest.mark.parametrize("place", PLACES)
def test_hostile_values_are_answered_in_words(hostile, names, small, place, caplog):
    found = {}
    with caplog.at_level(logging.ERROR):
        for value in HOSTILE:
            answer = ask(hostile.port, place.format(x=value, **names))
            if fault := faults_of(answer, small):
                found[value[:60]] = fault
    assert found == {}
    assert caplog.records == []


@pytest.mark.parametrize(
    "target",
    [
        "/static/../app.py",
        "/static/../../../../../../../../etc/passwd",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2fcli%2fmain.py",
        "/static/%2Fetc%2Fpasswd",
        "/static//etc/passwd",
        "/static/ragauge.js",
        "/static/ragauge.css%00.js",
        "/static/",
        "/static",
        "/../../etc/passwd",
        "/runs/..%2f..%2fx",
        "/runs/../../etc/passwd",
        "/runs/{run}/../../../etc/passwd",
        "/.git/config",
        "/favicon.ico",
        "/robots.txt",
    ],
)
def test_no_path_leads_to_a_file(hostile, names, small, target):
    answer = ask(hostile.port, target.format(**names))
    assert answer.status == 404
    assert faults_of(answer, small) is None


@pytest.mark.parametrize("size", [20_000, 100_000])
@pytest.mark.parametrize("place", ["/runs/{x}", "/runs/{run}/question?unit={x}", "/?words={x}"])
def test_huge_ids_are_too_long(hostile, names, small, place, size):
    answer = ask(hostile.port, place.format(x="x" * size, **names))
    assert answer.status == 414
    assert faults_of(answer, small) is None
    assert len(answer.body) < 5_000


def test_requests_that_are_none_end_the_connection(hostile):
    for target in (b"/\xff\xfe", b"/\x00", b"/\xed\xa0\x80", b"/a b", b"/" + b"x" * 1_000_000):
        try:
            answer = ask(hostile.port, target)
        except (ConnectionResetError, BrokenPipeError):  # it did not listen to the end
            continue
        assert (answer.status, answer.body) == (400, b"Invalid HTTP request received.")
    assert ask(hostile.port, "/nothing").status == 404


def test_a_refusal_repeats_little_of_a_long_value(hostile, names):
    for place in ("/runs/{x}", "/runs/{run}/question?unit={x}", "/?start={x}", "/?figures={x}"):
        answer = ask(hostile.port, place.format(x="z" * LONG, **names))
        assert answer.status in (400, 404)
        assert b"z" * 200 not in answer.body, place
