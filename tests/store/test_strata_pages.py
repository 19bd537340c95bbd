"""How units ended, told from columns, is what their rows say one by one; on both databases."""

from __future__ import annotations

import pytest
from msgspec import structs

from ragauge.contracts.gold import value_of
from ragauge.contracts.paging import OutcomeCounts
from tests.runners.recorded import HITS, PRECISION, questions, record

SIZE = 90


def told(place):
    """Whether a unit is right: by turns yes, no, and not said."""
    return (True, False, None, True)[place % 4]


def some_questions(size=SIZE):
    return [
        structs.replace(
            one, strata={**one.strata, "tier": place % 7, "odd": "yes" if place % 2 else ""}
        )
        for place, one in enumerate(questions(size))
    ]


def way(right):
    return "untold" if right is None else "right" if right else "wrong"


@pytest.fixture
def gold():
    return some_questions()


def recorded(history, gold, **changed):
    right = changed.pop("right", [told(place) for place in range(len(gold))])
    values = [1.0] * len(gold)
    return record(history, {HITS: values}, gold=gold, right=right, **changed)


def test_rightness_is_that_of_the_rows(history, gold):
    run = recorded(history, gold)
    by_qid = {one.qid: one for one in gold}
    twin = {}
    for row in history.units(run.id):
        for stratum in ("answerable", "country", "tier", "odd"):
            value = value_of(by_qid[row.unit], stratum)
            if value is not None:
                ended = twin.setdefault(stratum, {}).setdefault(value, [])
                ended.append(way(row.right))
    assert history.pages.rightness(run) == {
        stratum: {
            value: OutcomeCounts(*(ended.count(one) for one in ("right", "wrong", "untold")))
            for value, ended in values.items()
        }
        for stratum, values in twin.items()
    }


def test_a_run_without_a_gold_set_has_no_strata(history):
    run = record(history, {HITS: []}, gold=[], gold_sha256=None)
    assert history.pages.rightness(run) == {}


def test_values_that_no_unit_met_are_there_with_nothing(history, gold):
    whole = recorded(history, gold)
    units = [row for row in history.units(whole.id) if row.unit < "q003"]
    from ragauge.contracts.history import NewRun, sealed_units

    part = structs.replace(whole.record, units=len(units), units_sha256=sealed_units(units))
    run = history.record(NewRun(record=part, units=units, gold=gold, files={}))
    met = history.pages.rightness(run)
    assert met["tier"]["6"] == OutcomeCounts(0, 0, 0)
    assert met["country"] == {
        "BE": OutcomeCounts(0, 1, 0),
        "DE": OutcomeCounts(0, 0, 1),
        "NL": OutcomeCounts(1, 0, 0),
    }
    assert met["country"]["NL"].judged == 1


def test_ends_are_those_of_the_rows(history, gold):
    runs = [
        recorded(history, gold, minute=0),
        recorded(history, gold, minute=1, right=[place % 3 == 0 for place in range(SIZE)]),
        recorded(history, some_questions(20), minute=2, right=[True] * 20),
    ]
    asked = ["q001", "q019", "q050", "not there", "q002"]
    twin = {
        run.id: {row.unit: way(row.right) for row in history.units(run.id) if row.unit in asked}
        for run in runs
    }
    assert history.pages.ends(runs, asked) == twin
    assert history.pages.ends(runs, []) == {run.id: {} for run in runs}
    assert history.pages.ends([], asked) == {}


def test_ids_that_no_column_holds_are_found_by_what_they_are(history):
    odd = ["\0 null", "漢字", "x" * 9000, "'; drop table runs; --"]
    gold = [structs.replace(one, qid=id) for one, id in zip(questions(4), odd, strict=True)]
    run = recorded(history, gold, right=[True, False, None, True])
    assert history.pages.ends([run], odd)[run.id] == dict(
        zip(odd, ("right", "wrong", "untold", "right"), strict=True)
    )


def test_names_and_kinds_are_counted(history):
    assert history.pages.names() == 0
    assert history.pages.kinds(HITS, 10) == []
    for minute, (name, command, metric) in enumerate(
        [
            ("nightly", "score", HITS),
            ("weekly", "score", HITS),
            ("nightly", "audit", HITS),
            ("nightly", "score", HITS),
            ("other", "score", PRECISION),
        ]
    ):
        record(history, {metric: [1.0]}, name=name, command=command, minute=minute)
    assert history.pages.names() == 3
    found = history.pages.kinds(HITS, 10)
    assert [(one.command, one.name, one.runs) for one in found] == [
        ("score", "nightly", 2),
        ("audit", "nightly", 1),
        ("score", "weekly", 1),
    ]
    assert found[0].last == "2026-11-01T08:03:00.000000Z"
    assert history.pages.kinds(HITS, 1) == found[:1]
