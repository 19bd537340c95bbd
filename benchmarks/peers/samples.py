"""The generated traces in the few fields that the peers' own samples are made of."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from benchmarks.stdlib_loop import (
    REFUSAL,
    answer_text,
    citations_of,
    claim_of,
    gold_for,
    read_gold,
    read_records,
)


class Sample(NamedTuple):
    """One answered question, with the phrase and the ids that would have been right."""

    question: str
    claim: str
    phrase: str
    cited_ids: list[str]
    gold_ids: list[str]


def read_samples(gold_path: Path, traces_path: Path, limit: int) -> list[Sample]:
    """The first `limit` traces that hold an answer or a refusal."""
    return list(islice(all_samples(gold_path, traces_path), limit))


def all_samples(gold_path: Path, traces_path: Path) -> Iterator[Sample]:
    gold_records = read_gold(gold_path)
    for trace in read_records(traces_path):
        text = answer_text(trace)
        if not text:
            continue
        gold = gold_for(trace, gold_records)
        yield Sample(
            question=gold["question"],
            claim=claim_of(text),
            phrase=gold["gold_claim_substr"][0] if gold["answerable"] else REFUSAL,
            cited_ids=citations_of(trace),
            gold_ids=gold["gold_citations"],
        )
