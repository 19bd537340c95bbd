"""A history as large as the dashboard promises to read quickly: many runs of many questions.

python -m benchmarks.large_history PLACE --questions 100000 --runs 20

The runs of `score` are measured and recorded by the real runners, from generated traces; so is an
audit of fewer answers, for the documents they cite. The sweep is `benchmarks.large_sweep`'s.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.audit_corpus import make_corpus, write_corpus
from benchmarks.audit_traces import write_traces as write_audited
from benchmarks.generate import (
    Question,
    encode_utf8,
    gold_record,
    make_questions,
    make_traces,
    write_lines,
)
from benchmarks.large_sweep import large_sweep
from ragauge.contracts.history import History, Run
from ragauge.runners.audit import audit
from ragauge.runners.recording import record
from ragauge.runners.score import score
from ragauge.store.history import open_history

START = datetime(2026, 1, 1, tzinfo=UTC)
NAME = "nightly"
ONE_AUDITED_IN = 5


def build_large_history(place: str, questions: int, runs: int) -> list[Run]:
    """The runs of a new history: so many of `score`, then one of `stability`, then one of `audit`.

    The same arguments make the same numbers.
    """
    with tempfile.TemporaryDirectory() as made, closing(open_history(place)) as history:
        return list(recorded(history, Path(made), questions, runs))


def recorded(history: History, folder: Path, questions: int, runs: int) -> Iterator[Run]:
    """Each run as it has been recorded, a day after the one before."""
    asked = make_questions(questions, seed=0)
    gold = write_gold(folder, asked)
    for number in range(runs):
        traces, rows = write_traces(folder, asked, number), folder / "records.parquet"
        outcome = score(gold, traces, keep_answers=True, out=rows)  # as `--record` has it
        labels = {"model": f"m{number % 3}", "index": f"v{number // 5}"}
        yield record(
            outcome, history, name=NAME, labels=labels, folder=folder, recorded_at=day(number)
        )
    yield record(
        large_sweep(gold, folder, asked),
        history,
        name=NAME,
        labels={"model": "m0"},
        folder=folder,
        recorded_at=day(runs),
    )
    corpus, answers = make_corpus(), folder / "audited.jsonl"
    write_corpus(corpus, folder)
    write_audited(questions // ONE_AUDITED_IN, corpus, answers)
    audited = audit(answers, manifest=folder / "index.json", docs=folder / "documents")
    yield record(audited, history, name=NAME, folder=folder, recorded_at=day(runs + 1))


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def write_gold(folder: Path, asked: list[Question]) -> Path:
    path = folder / "gold.jsonl"
    write_lines(path, (encode_utf8(gold_record(question)) for question in asked))
    return path


def write_traces(folder: Path, asked: list[Question], seed: int) -> Path:
    """One trace for every question, in a file that the next takes the place of."""
    path = folder / "traces.jsonl"
    write_lines(path, make_traces(asked, len(asked), seed))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("place", help="a folder, or the URL of a PostgreSQL database")
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    for run in build_large_history(given.place, given.questions, given.runs):
        print(run.shown, run.record.command, f"{run.record.units:,}")


if __name__ == "__main__":
    main()
