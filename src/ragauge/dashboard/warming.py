"""The first pages, made before anybody asks: what they import takes longer than they do."""

from __future__ import annotations

import threading
from contextlib import suppress

from ragauge.contracts.paging import RunQuery, UnitQuery
from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Served
from ragauge.dashboard.material import Material
from ragauge.errors import RagaugeError


def warm(material: Material) -> threading.Thread:
    """A thread that makes the pages of the newest run and of its first question, for nobody."""
    thread = threading.Thread(target=_make, args=(material,), name="warming", daemon=True)
    thread.start()
    return thread


def _make(material: Material) -> None:
    from ragauge.dashboard.pages import history, question, run, runs

    links = Served()
    with suppress(RagaugeError):  # whoever asks for the page will be told
        runs.page(material, links, Asked())
        history.page(material, links, Asked())
        for newest in material.pages.runs(RunQuery(limit=1)).rows:
            run.page(material, links, Asked((), {"run": newest.id}))
            for unit in material.pages.units(newest, UnitQuery(limit=1)).rows:
                question.page(material, links, Asked([("unit", unit.unit)], {"run": newest.id}))
