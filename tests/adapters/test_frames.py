"""Records of the data frames and data sets that people hold, with the real libraries."""

from __future__ import annotations

from pathlib import Path

import datasets
import pandas as pd
import pyarrow as pa
import pytest

from ragauge.errors import UsageError
from ragauge.ingest.fields import Field, Shape, an_id, number, text, texts
from ragauge.ingest.records import Records
from ragauge.ingest.traces import Traces

ROWS = [
    {"id": "1", "text": "one", "tags": ("a", "b"), "score": 0.5},
    {"id": "2", "text": "two", "tags": (), "score": None},
]
NOTE = Shape(
    name="note",
    fields=(
        Field("id", an_id, "The item."),
        Field("text", text, "What was written."),
        Field("tags", texts, "Its tags.", many=True),
        Field("score", number, "From 0 to 1."),
    ),
)
PLAIN = [{**row, "tags": list(row["tags"])} for row in ROWS]


def saved(folder: Path) -> Path:
    datasets.Dataset.from_list(PLAIN).save_to_disk(str(folder / "saved"))
    return folder / "saved"


GIVEN = {
    "pandas": lambda folder: pd.DataFrame(PLAIN),
    "pandas with another index": lambda folder: pd.DataFrame(PLAIN, index=["x", "x"]),
    "pyarrow": lambda folder: pa.Table.from_pylist(PLAIN),
    "data set": lambda folder: datasets.Dataset.from_list(PLAIN),
    "data set that is streamed": lambda folder: datasets.Dataset.from_list(
        PLAIN
    ).to_iterable_dataset(),
    "saved data set": saved,
}


@pytest.mark.parametrize("kind", GIVEN)
def test_each_gives_the_same_records(kind, tmp_path):
    problems: list[str] = []
    found = [row.values for row in Records(GIVEN[kind](tmp_path), NOTE, problems).each()]
    wanted = [{name: one for name, one in row.items() if one is not None} for row in ROWS]
    assert (found, problems) == (wanted, [])


def test_traces_come_from_a_frame():
    frame = pd.DataFrame({"Question": ["Who?"], "response": ["Me [1]"], "contexts": [["I did."]]})
    (block,) = Traces(frame).blocks()
    line = b'{"q":"Who?","answer":"Me [1]","retrieved":[{"id":"1","text":"I did."}]}\n'
    assert block.read() == line


def test_a_data_set_of_splits_is_refused_in_words():
    splits = datasets.DatasetDict({"train": datasets.Dataset.from_list(PLAIN)})
    with pytest.raises(UsageError, match="several splits: give one of them"):
        list(Records(splits, NOTE, []).each())
