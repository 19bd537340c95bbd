"""The data card of groundedness tells what is really in the sets."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from tests.components.shared_data import shared
from training.datasets import judged_rows

CARD = Path(__file__).parents[2] / "training" / "DATA_CARD.md"
ROW = re.compile(r"^\| `([\w-]+)` \| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d*) ?\|", re.MULTILINE)


def test_the_sizes_on_the_card_are_those_of_the_sets():
    folder = shared("ragtruth/responses.jsonl").parents[1]
    sets = defaultdict(list)
    for row in judged_rows(folder):
        sets[row.name].append(row)
    counted = {
        name: (
            rows[0].kind,
            len(rows),
            len({row.source for row in rows}),
            sum(row.grounded for row in rows),
            len({row.writer for row in rows if row.writer}),
        )
        for name, rows in sets.items()
    }
    told = {
        name: (kind, int(answers), int(sources), int(grounded), int(writers or 0))
        for name, kind, answers, sources, grounded, writers in ROW.findall(CARD.read_text("utf-8"))
    }
    assert told == counted
