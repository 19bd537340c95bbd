"""The units that a metric tells apart between two runs equal the plain twin's."""

from __future__ import annotations

from random import Random

import pytest

from ragauge.contracts.paging import Paged
from ragauge.contracts.unit_changes import ChangeQuery, UnitChange, UnitChanges
from tests.store import paging_twin as twin
from tests.store.runs_made import new_run
from tests.store.test_paging import IDS, METRICS, WORDS, gold_of, rows_of, some

ALL = [*IDS, *(f"q{number}" for number in range(40))]


def two_runs(history, how: str):
    """Runs over most of the same units: of one gold set, of two, and of units that are in none."""
    random = Random(3)
    old = gold_of(random, ALL)
    new = {"one": old, "two": gold_of(random, ALL[5:]), "none": old}[how]
    among = {"one": ALL, "two": ALL[5:], "none": [*ALL, "x1", "x2", "x3"]}[how]
    before, after = rows_of(random, random.sample(ALL, 50)), rows_of(random, among)
    random.shuffle(after)
    return (
        history.record(new_run(1, gold=old, units=before)),
        history.record(new_run(2, gold=new, units=after)),
    )


def way_of(change: float | None) -> str:
    if change is None:
        return "one-sided"
    return "up" if change > 0 else "down"


def expected(history, before, after, query: ChangeQuery) -> UnitChanges:
    was = {row.unit: row for row in history.units(before.id)}
    gold = {one.qid: one.question for one in history.gold(after.record.gold_sha256)}
    told, same = [], 0
    for row in history.units(after.id):
        if row.unit not in was or row.unit in query.left_out:
            continue
        old, new = was[row.unit].values.get(query.metric), row.values.get(query.metric)
        if old == new:
            same += old is not None
        else:
            change = None if old is None or new is None else new - old
            told.append((change, UnitChange(before=was[row.unit], after=row)))
    wanted = [
        (change, both)
        for change, both in told
        if query.way in (None, way_of(change))
        and twin.has_words(query.words, f"{both.after.unit} {gold.get(both.after.unit, '')}")
    ]
    rows = [both for _, both in sorted(wanted, key=lambda pair: -abs(pair[0] or 0.0))]
    return UnitChanges(
        page=twin.page(rows, query),
        rose=sum(way_of(change) == "up" for change, _ in told),
        fell=sum(way_of(change) == "down" for change, _ in told),
        same=same,
        one_sided=sum(change is None for change, _ in told),
    )


@pytest.mark.parametrize("how", ["one", "two", "none"])
def test_pages_of_changes_are_the_twins(history, how):
    before, after = two_runs(history, how)
    random, seen = Random(7), 0
    for _ in range(150):
        query = ChangeQuery(
            metric=random.choice(METRICS[:3]),
            words=some(random, WORDS) or "",
            way=some(random, ("up", "down", "one-sided")),
            left_out=frozenset(some(random, (ALL[:9], ["no such"])) or ()),
            start=random.choice((0, 0, 3, 20)),
            limit=random.choice((50, 7, 1, 0)),
        )
        found = history.pages.changes(before, after, query)
        assert found == expected(history, before, after, query), query
        seen += bool(found.page.rows)
    assert seen > 50, "queries that find nothing prove nothing"


def test_both_ways_mirror_each_other(history):
    before, after = two_runs(history, "two")
    query = ChangeQuery(metric=METRICS[0], limit=200)
    there = history.pages.changes(before, after, query)
    back = history.pages.changes(after, before, query)
    assert (there.rose, there.fell) == (back.fell, back.rose) != (0, 0)
    assert {one.after.unit for one in there.page.rows} == {one.after.unit for one in back.page.rows}


def test_a_metric_that_no_unit_has_and_runs_without_units_change_nothing(history):
    before, after = two_runs(history, "one")
    empty = history.record(new_run(3, units=[], gold=[], gold_sha256=None))
    nothing = UnitChanges(
        page=Paged(rows=(), total=0, start=0), rose=0, fell=0, same=0, one_sided=0
    )
    assert history.pages.changes(before, after, ChangeQuery(metric="no.such")) == nothing
    assert history.pages.changes(before, empty, ChangeQuery(metric=METRICS[0])) == nothing
    assert history.pages.changes(empty, empty, ChangeQuery(metric=METRICS[0])) == nothing
