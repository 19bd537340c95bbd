"""What a recorded run keeps, read as a dashboard reads it."""

from __future__ import annotations

import msgspec

from ragauge.contracts.documents import FrozenDocument
from ragauge.contracts.history import History, Run
from ragauge.contracts.kept import ANSWERS, DOCUMENTS, KeptAnswer
from ragauge.store.packed import Packed


def packed_file(history: History, run: Run, name: str) -> Packed:
    with history.file(run, name) as path:
        content = path.read_bytes()
    return Packed(lambda start, stop: content[start:stop], len(content), name)


def kept_answers(history: History, run: Run) -> dict[str, list[KeptAnswer]]:
    """Every unit's answers, in the order of the file."""
    return {
        group.key: [msgspec.json.decode(line, type=KeptAnswer) for line in group.lines]
        for group in packed_file(history, run, ANSWERS).groups()
    }


def kept_documents(history: History, run: Run) -> dict[str, FrozenDocument]:
    found = {}
    for group in packed_file(history, run, DOCUMENTS).groups():
        [line] = group.lines
        found[group.key] = msgspec.json.decode(line, type=FrozenDocument)
    return found
