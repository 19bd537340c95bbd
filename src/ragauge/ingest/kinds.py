"""Every kind of record that files hold, and what a file is seen to hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal

from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.annotations import ANNOTATION
from ragauge.ingest.answers import ANSWER
from ragauge.ingest.fields import Shape
from ragauge.ingest.gold import CHUNK, GOLD
from ragauge.ingest.heritage import ENTRY
from ragauge.ingest.judgements import JUDGEMENT
from ragauge.ingest.labelled_items import GOLD_ITEM, PREDICTED_ITEM
from ragauge.ingest.lines import STDIN, head_of
from ragauge.ingest.linked.crosswalk import PAIR
from ragauge.ingest.linked.knowledge_base import KNOWN_ENTITY
from ragauge.ingest.linked.link_files import LINK
from ragauge.ingest.questions import ASKED
from ragauge.ingest.records import Records, has_lines, is_frame
from ragauge.ingest.scored.samples import SAMPLE
from ragauge.ingest.traces import TRACE

SHAPES: tuple[Shape, ...] = (
    *(TRACE, GOLD, CHUNK, ANSWER, ASKED, SAMPLE, ENTRY, JUDGEMENT, ANNOTATION),
    *(GOLD_ITEM, PREDICTED_ITEM, LINK, PAIR, KNOWN_ENTITY),
)
"""In the order of the reference page."""
LOOKED_AT = 5
"""Records of a file that show what it holds."""
OF_TRACES = frozenset(
    (
        *("answer", "answer_json", "response", "generated_answer", "actual_output"),
        *("retrieved", "retrieved_ids", "chunks", "status", "error", "run_id", "latency_ms"),
    )
)
"""Fields that a trace has and a gold question has not."""
OF_GOLD = frozenset(
    ("answerable", "gold_citations", "gold_claim", "gold_claim_substr", "gold_answer")
)


def first_records(name: str, most: int = LOOKED_AT) -> list[dict[str, Any]]:
    """The first records of a file, where its beginning shows them."""
    head = None if name == STDIN else head_of(name)
    if not head or is_frame(head):
        return []
    begin = head.lstrip()[:1]
    if begin not in (b"{", b"[") or has_lines(head):
        complete = head.rpartition(b"\n")[0] if len(head) == 1 << 16 else head
        records = Records(complete, TRACE, [], form="jsonl" if begin in (b"{", b"[") else "csv")
    else:
        records = Records(head, TRACE, [])
    return [record for _, record in islice(records.objects(), most)]


def holds(name: str) -> Literal["gold", "traces"] | None:
    """Whether a file holds a gold set or traces; None where its beginning does not show it."""
    keys = {key.strip() for record in first_records(name) for key in record}
    if keys & OF_TRACES:
        return "traces"
    return "gold" if keys & OF_GOLD else None


def gold_and_traces(files: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """Which of the files of a score is the gold set, if any, and which are the traces.

    The gold set is the first. Raises InputRejected where the files are in another order.
    """
    known = [holds(name) for name in files]
    if len(files) == 1:
        if known == ["gold"]:
            fact = f"{files[0]}: is a gold set; name the traces after it"
            raise UsageError(f"{fact}: ragauge score {files[0]} TRACES")
        return None, tuple(files)
    if known[0] == "traces" and "gold" in known[1:]:
        gold = files[known.index("gold")]
        others = [name for name in files if name != gold]
        raise InputRejected(
            f"{files[0]} holds traces and {gold} a gold set; the gold set is named first: "
            f"ragauge score {gold} {' '.join(others)}"
        )
    if all(one == "traces" for one in known):
        return None, tuple(files)
    if known[0] == known[1] == "gold":
        raise InputRejected(f"{files[1]}: is a gold set, too; name the traces after {files[0]}")
    return files[0], tuple(files[1:])
