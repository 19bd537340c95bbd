"""Addresses that nobody of good will writes: answered in words, never with a fault or a file."""

from __future__ import annotations

import logging

import pytest

from ragauge.contracts.history import RunFilter
from ragauge.dashboard.jobs import AtOnce
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
    *("/{x}", "/?q={x}", "/?sort={x}", "/?start={x}&rows=1", "/?rows={x}", "/?figures={x}"),
    *("/?order={x}", "/?label={x}", "/?command={x}&name={x}", "/?{x}={x}", "/runs/{x}"),
    *("/runs/{run}/{x}", "/runs/{x}/question?unit={x}", "/runs/{run}/questions?q={x}"),
    *(
        "/runs/{run}/questions?sort={x}",
        "/runs/{run}/questions?start={x}",
        "/runs/{run}?figures={x}",
    ),
    *("/runs/{run}/quality?sort={x}", "/runs/{run}/quality?stratum={x}&value={x}"),
    *("/runs/{run}/question?unit={x}", "/runs/{run}/question?unit=q1&figures={x}"),
    *("/runs/{run}/question?unit=q1&sort={x}&right={x}&with={x}", "/runs/{run}/document?doc={x}"),
    *("/runs/{run}/document?doc={x}&rev={x}", "/runs/{run}/document?doc=a&rev={x}"),
    *("/runs/{run}/document?doc=a&rev=1&start={x}&end={x}", "/compare?before={x}&after={x}"),
    *("/compare?before={run}&after={x}", "/compare?before={run}&after={run}&sort={x}&figures={x}"),
    *("/history?metric={x}", "/history?metric=quality.compliance&name={x}&command={x}&last={x}"),
    *("/history?figures={x}", "/gold?sort={x}&figures={x}", "/gold/{x}", "/gold/{gold}?q={x}"),
    *("/gold/{gold}?sort={x}", "/gold/{gold}?start={x}&rows={x}", "/gold/{gold}?figures={x}"),
    *("/gold/{gold}?stratum={x}&value={x}&answerable={x}", "/static/{x}"),
]
FEW = [
    *("..%2f..%2fetc%2fpasswd", "%00", "%ed%a0%80", "%27%20OR%20%271%27=%271", "-1"),
    *("%3Cscript%3Ealert(1)%3C%2Fscript%3E", "%7B%7B7777*7777%7D%7D", "x" * LONG, "a%20" * 200),
]
"""Of the same kinds, for fields of which there are many."""
UNITS = "sort q label right stratum columns start rows figures order"
FIELDS = {
    "/": "q sort name command green label start rows figures order",
    "/runs/{run}/questions": UNITS,
    "/runs/{run}/question?unit=q1": "with run_id answer right q label sort start figures",
    "/runs/{run}/document?doc=a": "rev start end from unit figures",
    "/runs/{run}/diagnosis": "lang figures",
    "/compare?before={run}&after={other}": (
        "margin alpha slices correction allow flip q way was now sort start rows figures"
    ),
    "/history?metric=quality.compliance": "name command branch label last by figures order",
    "/gold": "sort start rows figures order",
    "/gold/{gold}?stratum=answerable": "q answerable value run sort start rows figures",
}
FIELDS_OF_KINDS = {
    "/runs/{audit}/traceability": f"code {UNITS}",
    "/runs/{traced}/traceability": f"code {UNITS}",
    "/runs/{ner}/errors": "q kind type start rows figures order",
    "/runs/{ner}/questions": UNITS,
    "/runs/{stability}/heat-map": "q label stratum start rows figures order",
    "/runs/{score}/diagnosis": "lang figures",
}
"""On pages that runs of other commands have."""
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
        made.material.jobs = AtOnce()  # what is asked for is answered, and not put off
        yield made


@pytest.fixture(scope="module")
def of_kinds(every):
    """A dashboard with runs of every command."""
    with serving(every.place) as made:
        made.material.jobs = AtOnce()
        yield made


@pytest.fixture(scope="module")
def names(hostile):
    """Two runs and a gold set that are there."""
    run, other = hostile.history.runs(RunFilter(limit=2))
    return {"run": run.id, "other": other.id, "gold": run.record.gold_sha256}


@pytest.fixture(scope="module")
def names_of_kinds(of_kinds):
    """A run of each command, by a name of one word."""
    words = {"trace-eval": "traced", "eval ner": "ner"}
    runs = of_kinds.history.runs(RunFilter())
    return {words.get(run.record.command, run.record.command): run.id for run in runs}


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


def asked_in_each(served, place, fields, names, path):
    """What is wrong with the answers to hostile values, each in one field of a page that is."""
    page = path.format(**names)
    assert ask(served.port, page).status == 200, "a page that is not there refuses all"
    joint = "&" if "?" in page else "?"
    found = {}
    for field in fields.split():
        for value in FEW:
            if fault := faults_of(ask(served.port, f"{page}{joint}{field}={value}"), place):
                found[field, value[:60]] = fault
    return found


@pytest.mark.parametrize("path", FIELDS)
def test_each_field_of_a_page_takes_hostile_values(hostile, names, small, path, caplog):
    with caplog.at_level(logging.ERROR):
        assert asked_in_each(hostile, small, FIELDS[path], names, path) == {}
    assert caplog.records == []


@pytest.mark.parametrize("path", FIELDS_OF_KINDS)
def test_so_does_each_field_of_runs_of_other_kinds(of_kinds, names_of_kinds, every, path, caplog):
    fields = FIELDS_OF_KINDS[path]
    with caplog.at_level(logging.ERROR):
        assert asked_in_each(of_kinds, every.place, fields, names_of_kinds, path) == {}
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
@pytest.mark.parametrize("place", ["/runs/{x}", "/runs/{run}/question?unit={x}", "/?q={x}"])
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
