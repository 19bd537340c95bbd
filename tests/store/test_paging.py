"""Pages of units and questions equal the plain twin's, whatever is asked for."""

from __future__ import annotations

from random import Random

import pytest
from sqlalchemy import event

from ragauge.contracts.gold import Gold
from ragauge.contracts.history import UnitRow
from ragauge.contracts.paging import QuestionQuery, UnitInRun, UnitQuery
from ragauge.errors import UsageError
from ragauge.store import column_filling
from tests.store import paging_twin as twin
from tests.store.runs_made import new_run

METRICS = ("retrieval.ndcg@10", "quality.in_scope", "place", '"]; DROP TABLE runs; --', "$.a\0b")
VALUES = (0.0, -0.0, 1.0, 0.1, 0.1, 1 / 3, 1.5e300, -2.5, 1e22)
IDS = (
    "q%", "q_", "Q_", "q\\", "qx", "", " ", "q\0", "ÜBER-1", "über-2", "straße", "é", "z",
    "\N{GRINNING FACE}", "\N{FULLWIDTH LATIN SMALL LETTER A}", "a\nb", "x" * 5_000, "'--",
    "STRASSE",
)  # fmt: skip
TEXTS = ("What is a 100% share?", "Wie heißt Ärger?", "Under_score or\nback\\slash", "\0 and <b>")
STRATA = ("country", "tier", "answerable", "with\0nul", "x.y@1", "%")
HELD = ("NL", "BE", "", None, 1, True, ["a"], {"b": 1, "a": 2}, "nul\0", "É" * 3_000)
LABELS = (None, "OK", "WRONG", "nul\0", "%", "ß")
WORDS = (
    "", "", "q", "%", "_", "\\", "Q", "ü", "ÜBER", "ärger HEISST", "STRASSE", "what 100%", "\0",
    "\ud800", "nothing-like-it", "x" * 10_000, "'; DROP TABLE runs", "\N{GRINNING FACE}", "a b",
    "\n",
)  # fmt: skip


def gold_of(random: Random, ids) -> list[Gold]:
    return [
        Gold(
            qid=id,
            question=random.choice(TEXTS),
            answerable=random.random() < 0.6,
            strata={name: random.choice(HELD) for name in random.sample(STRATA, 3)},
        )
        for id in ids
    ]


def rows_of(random: Random, ids) -> list[UnitRow]:
    return [
        UnitRow(
            unit=id,
            label=random.choice(LABELS),
            right=random.choice((True, False, None)),
            detail={"claim": "a\0b"},
            values={name: random.choice(VALUES) for name in random.sample(METRICS, 3)},
            counts={},
        )
        for id in ids
    ]


@pytest.fixture
def recorded(history, monkeypatch):
    """A run of which some units are no gold questions; words fill more than one row."""
    monkeypatch.setattr(column_filling, "BATCH", 7)
    random = Random(5)
    ids = [*IDS, *(f"q{number}" for number in range(40))]
    random.shuffle(ids)
    gold, units = gold_of(random, ids[:45]), rows_of(random, random.sample(ids, 50))
    return history.record(new_run(1, gold=gold, units=units))


def some(random: Random, values):
    """One of the values, or None, as most queries have it."""
    return random.choice(values) if random.random() < 0.3 else None


def unit_queries(count: int):
    random = Random(11)
    for _ in range(count):
        yield UnitQuery(
            words=some(random, WORDS) or "",
            label=some(random, (*LABELS, "no such", "\ud800")),
            right=some(random, ("right", "wrong", "untold")),
            stratum=some(random, (*STRATA, "no such")),
            value=random.choice(
                (None, "NL", "true", "1", '["a"]', '{"a":2,"b":1}', "nul\0", "", "É" * 3_000)
            ),
            sort=random.choice(("place", "unit", "label", "right", *METRICS, "no.such", "\ud800")),
            descending=random.random() < 0.5,
            start=random.choice((0, 0, 3, 49, 50, 10**30, -5)),
            limit=random.choice((50, 50, 7, 1, 0, -1, 10**30)),
        )


def test_pages_of_units_are_the_twins(history, recorded):
    rows, gold = list(history.units(recorded.id)), history.gold(recorded.record.gold_sha256)
    seen = 0
    for query in unit_queries(600):
        expected = twin.page(twin.units(rows, gold, query), query)
        found = history.pages.units(recorded, query)
        if query.start > len(rows):
            assert (found.rows, found.total) == ((), expected.total)
        else:
            assert found == expected, query
        seen += bool(found.rows)
    assert seen > 150, "queries that find nothing prove nothing"


def test_every_unit_is_found_by_its_id(history, recorded):
    for row in history.units(recorded.id):
        assert history.pages.unit(recorded, row.unit) == row
    for absent in ("no such", "q1%", "\ud800", "x" * 4_999, "Über-1"):
        assert history.pages.unit(recorded, absent) is None


def test_a_reader_goes_from_each_unit_to_the_next(history, recorded):
    for query in (UnitQuery(), UnitQuery(sort="quality.in_scope", descending=True, right="wrong")):
        order = twin.units(list(history.units(recorded.id)), [], query)
        ids = [row.unit for row in order]
        for place, unit in enumerate(ids):
            before = ids[place - 1] if place else None
            after = ids[place + 1] if place + 1 < len(ids) else None
            assert history.pages.neighbours(recorded, unit, query) == (before, after)
    right = next(row.unit for row in history.units(recorded.id) if row.right)
    assert history.pages.neighbours(recorded, right, query) == (None, None)
    assert history.pages.neighbours(recorded, "no such", UnitQuery()) == (None, None)


def test_units_are_counted_by_how_they_ended(history, recorded):
    found = history.pages.counts(recorded)
    expected = twin.counts(list(history.units(recorded.id)))
    assert found == expected and list(found.labels) == list(expected.labels)


def test_a_run_without_units_and_without_gold_has_empty_pages(history):
    run = history.record(new_run(1, units=[], gold=[], gold_sha256=None))
    assert history.pages.units(run, UnitQuery(words="a", stratum="b", value="c")).total == 0
    assert history.pages.units(run, UnitQuery(sort="unit")).rows == ()
    assert history.pages.counts(run).units == 0
    assert history.pages.gold_sets() == []


def test_units_of_a_run_without_gold_are_searched_by_id(history):
    rows = rows_of(Random(3), IDS)
    run = history.record(new_run(1, units=rows, gold=[], gold_sha256=None))
    for words in WORDS:
        query = UnitQuery(words=words)
        assert history.pages.units(run, query) == twin.page(twin.units(rows, [], query), query)


def test_the_first_of_two_units_with_one_id_is_the_unit(history):
    rows = rows_of(Random(3), ["a", "b", "b"])
    run = history.record(new_run(1, units=rows, gold=[], gold_sha256=None))
    assert history.pages.unit(run, "b") == rows[1]
    assert [each.row for each in history.pages.over_runs("b", run, 5)] == [rows[1]]


def test_ids_with_the_same_key_are_told_apart(history, monkeypatch):
    monkeypatch.setattr("ragauge.store.column_filling.key_of", lambda text: 1)
    monkeypatch.setattr("ragauge.store.unit_pages.key_of", lambda text: 1)
    monkeypatch.setattr("ragauge.store.paging.key_of", lambda text: 1)
    run = history.record(new_run(1))
    assert [history.pages.unit(run, f"q{n}").unit for n in range(5)] == [f"q{n}" for n in range(5)]
    assert history.pages.question(run.record.gold_sha256, "q3").qid == "q3"
    assert history.pages.question(run.record.gold_sha256, "q9") is None
    assert [each.row.unit for each in history.pages.over_runs("q3", run, 5)] == ["q3"]


def test_a_unit_over_the_runs_of_its_gold_set(history):
    made = [history.record(new_run(number)) for number in range(6)]
    other = history.record(new_run(7, gold=[], gold_sha256=None))
    history.record(new_run(8, units=[]))
    found = history.pages.over_runs("q2", made[0], 4)
    assert found == [
        UnitInRun(run=run, row=history.pages.unit(run, "q2")) for run in reversed(made[2:])
    ]
    assert [each.run for each in history.pages.over_runs("q2", other, 4)] == [other]
    assert history.pages.over_runs("no such", made[0], 4) == []
    assert history.pages.over_runs("q2", made[0], -1) == []
    assert len(history.pages.over_runs("q2", made[0], 10**30)) == 6


def test_a_page_of_a_removed_run_says_so(history):
    run = history.record(new_run(1))
    history.remove([run.id])
    with pytest.raises(UsageError, match="is not in this history"):
        history.pages.units(run, UnitQuery())


def test_too_many_words_are_refused(history, recorded):
    words = " ".join(f"w{number}" for number in range(5_000))
    with pytest.raises(UsageError, match="search: 5,000 words are given; give 100 at most"):
        history.pages.units(recorded, UnitQuery(words=words))
    assert history.pages.units(recorded, UnitQuery(words="q " * 5_000)).total > 0


def question_queries(count: int):
    random = Random(13)
    for _ in range(count):
        yield QuestionQuery(
            words=some(random, WORDS) or "",
            answerable=some(random, (True, False)),
            stratum=some(random, STRATA),
            value=random.choice((None, "NL", "true", "false", "1", "nul\0")),
            sort=random.choice(("place", "qid", "question", "answerable")),
            descending=random.random() < 0.5,
            start=random.choice((0, 0, 3, 44, 45, -5)),
            limit=random.choice((50, 7, 1, 0, 10**30)),
        )


def test_pages_of_questions_are_the_twins(history, recorded):
    sha256 = recorded.record.gold_sha256
    gold = history.gold(sha256)
    seen = 0
    for query in question_queries(300):
        found = history.pages.questions(sha256, query)
        assert found == twin.page(twin.questions(gold, query), query), query
        seen += bool(found.rows)
    assert seen > 75


def test_questions_are_found_by_id_and_counted_by_stratum(history, recorded):
    sha256 = recorded.record.gold_sha256
    gold = history.gold(sha256)
    for question in gold:
        assert history.pages.question(sha256, question.qid) == question
    assert history.pages.question(sha256, "no such") is None
    assert history.pages.strata(sha256) == twin.strata(gold)


@pytest.mark.parametrize("sha256", ["0" * 64, "", "\0", "\ud800", "%"])
def test_a_gold_set_that_no_run_has_is_empty(history, recorded, sha256):
    assert history.pages.questions(sha256, QuestionQuery()).total == 0
    assert history.pages.question(sha256, "q1") is None
    assert history.pages.strata(sha256) == {}
    assert history.pages.runs_of_gold(sha256, 5) == []


def test_of_the_rows_only_those_of_a_page_are_read(history):
    """However the page is sorted and searched."""
    run = history.record(new_run(1, units=rows_of(Random(1), [f"q{n}" for n in range(3_000)])))
    fetched = []
    engine = history._database._engine
    event.listen(engine, "before_cursor_execute", lambda *given: fetched.append(given[2]))
    query = UnitQuery(sort="quality.in_scope", words="q", right="wrong", limit=5)
    assert len(history.pages.units(run, query).rows) == 5
    lines = [sql for sql in fetched if "run_units" in sql]
    assert len(lines) == 1 and " IN (" in lines[0]
