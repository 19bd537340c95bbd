"""Columns are as the rows: when recorded, when a history is upgraded, and `verify` looks."""

from __future__ import annotations

import json
import re
from random import Random

import pytest
from sqlalchemy import delete, insert, select, update

from ragauge.contracts.history import RunFilter
from ragauge.contracts.kept import ANSWERS
from ragauge.contracts.paging import QuestionQuery, RunQuery, UnitQuery
from ragauge.errors import UsageError
from ragauge.store import tables
from ragauge.store.history import open_history
from ragauge.store.packed import pack
from tests.store.runs_made import COMPLIANCE, gold_set, new_run, unit_rows
from tests.store.test_migrations import bare, old_history
from tests.store.test_paging import IDS, gold_of, rows_of

KEPT = (tables.packed_units, tables.packed_gold, tables.unit_keys, tables.run_words)


def kept(place: str) -> list[list[tuple]]:
    with bare(place) as connection:
        return [
            connection.execute(select(table).order_by(*table.primary_key)).all() for table in KEPT
        ]


def made():
    random = Random(4)
    hostile = {"gold": gold_of(random, IDS[:12]), "units": rows_of(random, IDS)}
    bare_one = {"gold": [], "gold_sha256": None, "units": [], "labels": {"b": "1", "a": "2"}}
    return [
        new_run(1),
        new_run(2, gold=gold_set(6)),
        new_run(3, **hostile),
        new_run(4, **bare_one),
    ]


@pytest.mark.parametrize("version", ["0001", "0004"])
def test_an_upgrade_draws_the_columns_that_recording_would_have(place, tmp_path, version):
    old_history(place, version, *made())
    history = open_history(place)
    fresh = open_history(str(tmp_path / "fresh"))
    for run in made():
        fresh.record(run)
    assert kept(place) == kept(str(tmp_path / "fresh"))
    assert len(history.verify().whole) == 4
    for run in fresh.runs(RunFilter()):
        for query in (UnitQuery(sort=COMPLIANCE), UnitQuery(words="q"), UnitQuery(sort="unit")):
            assert history.pages.units(run, query) == fresh.pages.units(run, query)
    history.close()
    fresh.close()


def test_rows_that_cannot_be_read_do_not_keep_a_history_from_being_upgraded(place):
    runs = made()
    old_history(place, "0004", *runs)
    units, questions = tables.run_units, tables.gold_questions
    with bare(place) as connection:
        connection.execute(update(units).where(units.c.run == 1).values(line="{"))
        broken = questions.c.gold_sha256 == runs[1].record.gold_sha256
        connection.execute(update(questions).where(broken).values(line="{"))
    history = open_history(place)
    first, second, *_ = reversed(history.runs(RunFilter()))
    with pytest.raises(UsageError, match="what its pages are made from is gone; `ragauge runs"):
        history.pages.units(first, UnitQuery(sort="unit"))
    assert history.pages.units(second, UnitQuery(sort="unit")).total == 5
    sha256 = second.record.gold_sha256
    assert history.pages.questions(sha256, QuestionQuery()).total == 0
    assert set(history.verify().faults) == {first.id, second.id}
    assert history.pages.runs(RunQuery()).total == 4
    history.close()


DAMAGE = {
    "units: the columns are not as the rows": [
        delete(tables.packed_units).where(tables.packed_units.c.kind == "metric"),
        update(tables.packed_units).where(tables.packed_units.c.number == 0).values(content=b""),
        update(tables.packed_units).values(text="[]"),
    ],
    "units: their places are not as the rows": [
        delete(tables.unit_keys).where(tables.unit_keys.c.place == 2),
        insert(tables.unit_keys).values(run=1, key=5, place=1),
    ],
    "words: the table is not as the record": [
        delete(tables.run_words),
        update(tables.run_words).values(words="other"),
    ],
    "gold set .*: the columns are not as the rows": [
        delete(tables.packed_gold).where(tables.packed_gold.c.kind == "stratum"),
        delete(tables.packed_gold),
    ],
}


@pytest.mark.parametrize(
    ("words", "statement"),
    [(words, each) for words, statements in DAMAGE.items() for each in statements],
)
def test_columns_that_are_not_as_the_rows_are_told(place, words, statement):
    history = open_history(place)
    run = history.record(new_run(1))
    assert history.verify().whole == (run.id,)
    with bare(place) as connection:
        connection.execute(statement)
    [fault] = history.verify().faults[run.id]
    assert re.fullmatch(words, fault)
    history.close()


def test_a_removed_run_leaves_no_columns(place):
    history = open_history(place)
    run = history.record(new_run(1))
    history.remove([run.id])
    history.gc()
    history.close()
    assert kept(place) == [[], [], [], []]


LINES = {
    "q1": [{"latency_ms": 900, "usage": {"total_tokens": 7}}, {"latency_ms": 100}],
    "q2": [{"latency_ms": 300, "usage": {"input_tokens": 4, "output_tokens": 5, "cost": 0.5}}],
    "q3": [{"latency_ms": -1, "usage": {"prompt_tokens": True}, "extra": {"cost_usd": 0.25}}],
    "q4": [{"usage": [1], "extra": {"cost": float("1e400")}}],
    "gone": [{"latency_ms": 5}],
}
"""What traces say, and one of a question that the run does not have."""


def run_with_answers(tmp_path, number=1):
    lines = [
        (unit, json.dumps({"trace": one}).replace("Infinity", "1e400").encode())
        for unit, traces in LINES.items()
        for one in traces
    ]
    pack(tmp_path / "packed", lines)
    content = (tmp_path / "packed").read_bytes()
    return new_run(number, folder=tmp_path, units=unit_rows(6), contents={ANSWERS: content})


def test_units_are_shown_and_sorted_by_what_their_answers_took(place, tmp_path):
    history = open_history(place, create=True)
    run = history.record(run_with_answers(tmp_path))
    assert history.pages.spent(run, [f"q{n}" for n in range(6)]) == {
        "q1": {"latency_ms": 500.0, "tokens": 7.0},
        "q2": {"latency_ms": 300.0, "tokens": 9.0, "cost": 0.5},
        "q3": {"cost": 0.25},
    }
    over = history.pages.spent_over(run)
    assert {name: (one.n, one.p50, one.total) for name, one in over.items()} == {
        "latency_ms": (2, 400.0, 800.0),
        "tokens": (2, 8.0, 16.0),
        "cost": (2, 0.375, 0.75),
    }
    assert over["latency_ms"].p95 == 490.0
    slowest = history.pages.units(run, UnitQuery(sort="latency_ms", descending=True)).rows
    assert [row.unit for row in slowest] == ["q1", "q2", "q0", "q3", "q4", "q5"]
    assert history.verify().whole == (run.id,)
    history.close()
    with bare(place) as connection:
        taken = tables.packed_units.c.kind == "taken"
        connection.execute(update(tables.packed_units).where(taken).values(content=b""))
    history = open_history(place)
    assert history.verify().faults[run.id] == ("units: the columns are not as the rows",)
    history.close()


def test_a_run_without_answers_says_nothing_of_what_they_took(place):
    history = open_history(place, create=True)
    run = history.record(new_run(1))
    assert history.pages.spent(run, ["q1"]) == history.pages.spent_over(run) == {}
    in_order = history.pages.units(run, UnitQuery(sort="cost")).rows
    assert in_order == history.pages.units(run, UnitQuery()).rows
    history.close()
