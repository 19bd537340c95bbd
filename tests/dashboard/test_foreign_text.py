"""Foreign text in every field of every kind of run, in the real browser: it stays text."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

import msgspec
from playwright.sync_api import Browser, Page

from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.history import Run
from ragauge.contracts.kept import DOCUMENTS
from ragauge.dashboard.page import DocumentPlace, Links
from tests.chromium import NARROW
from tests.dashboard.hostile_run import TEXTS
from tests.dashboard.poisoned import poisoned
from tests.dashboard.reader import Reader
from tests.dashboard.runs_of_every_kind import Recorder
from tests.dashboard.served import Served, serving

SHORT = [text for text in TEXTS if len(text) < 1_000]
TO = Links()


def payload(text: str) -> str:
    """For every second text all payloads; for the others one, so that none hides behind another."""
    turn = crc32(text.encode())
    return " ".join([text, *SHORT]) if turn % 2 else text + TEXTS[turn // 2 % len(TEXTS)]


def test_no_page_obeys_it_and_none_breaks(browser: Browser, every: Recorder, tmp_path) -> None:
    place = str(tmp_path / "store")
    runs = poisoned(every.place, place, payload)
    with serving(place) as served:
        reader = Reader(browser, served.url, size=NARROW)
        faults = {path: fault for path in walked(reader, served, runs) if (fault := met(reader))}
        assert faults == {}
        assert (reader.elsewhere(), reader.dialogs, reader.said) == ([], [], [])
        reader.context.close()


def walked(reader: Reader, served: Served, runs: list[Run]) -> Iterator[str]:
    """Every page and tab, one after the other: each address once its page is open."""
    first, second = [run for run in runs if run.record.command == "score"]
    for path in (
        *(TO.runs(), TO.runs(q="script"), TO.history(), TO.gold(), TO.compare()),
        TO.history("quality.precision_cited", by=next(iter(first.record.labels))),
        TO.compare(second.id, first.id),
        TO.gold(first.record.gold_sha256 or ""),
        TO.question(first.id, unit_of(served, first), **{"with": second.id}),
    ):
        reader.goes(path)
        yield path
    for run in runs:
        page = reader.goes(TO.run(run.id))
        yield TO.run(run.id)
        for path in [*tabs_of(page), TO.question(run.id, unit_of(served, run))]:
            reader.goes(path)
            yield path
        for path in documents_of(served, run):
            assert reader.goes(path).locator("mark#cited").count() == 1, path
            yield path


def tabs_of(page: Page) -> list[str]:
    hrefs = page.locator("nav.tabs a").evaluate_all("links => links.map(a => a.pathname)")
    assert len(hrefs) > 1
    return [str(href) for href in hrefs[1:]]


def unit_of(served: Served, run: Run) -> str:
    return next(served.history.units(run.id)).unit


def documents_of(served: Served, run: Run) -> list[str]:
    """The first document that the run kept, opened at its beginning."""
    packed = served.material.packed(run, DOCUMENTS)
    kept = [line for group in packed.groups() for line in group.lines] if packed else []
    documents = [msgspec.json.decode(line, type=FrozenDocument) for line in kept[:1]]
    return [TO.document(run.id, DocumentPlace(one.doc_id, one.rev, 0, 40)) for one in documents]


def met(reader: Reader) -> tuple[object, ...] | None:
    """What foreign text has done to the page that is open; None where it is only text."""
    page = reader.page
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    aside = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    seen = (page.evaluate("window.hit"), max(aside, 0), page.evaluate("violations"))
    return None if seen == (None, 0, []) else seen
