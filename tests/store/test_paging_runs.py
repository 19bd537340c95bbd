"""Pages of runs and lines of metrics equal the plain twin's."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from ragauge.contracts.gold import fingerprint
from ragauge.contracts.history import GitState, RunFilter
from ragauge.contracts.paging import GoldSet, RunQuery
from ragauge.errors import UsageError
from tests.store import paging_twin as twin
from tests.store.runs_made import gold_set, metric, moment, new_run, unit_rows

NAMES = ("nightly", "Nightly", "Ärger", "100%", "under_score", "back\\slash", "two\nlines")
COMMANDS = ("score", "stability", "eval ner")
METRICS = ("retrieval.ndcg@10", "quality.compliance", "'; DROP TABLE runs; --")
LABELS = ({}, {"model": "small"}, {"model": "Groß", "index": "v3"}, {"%": "_"})
WORDS = (
    "NIGHTLY", "ä", "ÄRGER", "%", "_", "\\", "model=small", "MODEL=GROSS", "main", "cccc", "V1",
    "score night", "two lines", "no such", "\ud800", "\0", "x" * 10_000, "' OR 1=1",
)  # fmt: skip


@pytest.fixture
def recorded(history):
    """Runs with few values of everything, so that ties are common."""
    random = Random(2)
    for number in range(40):
        values = {name: random.choice((None, 0.1, 0.5, 1 / 3)) for name in METRICS}
        run = history.record(
            new_run(
                number,
                units=unit_rows(random.choice((0, 2, 5))),
                name=random.choice(NAMES),
                command=random.choice(COMMANDS),
                recorded_at=moment(random.randrange(20)),
                passed=random.random() < 0.5,
                labels=random.choice(LABELS),
                git=random.choice((None, GitState(commit="c" * 40, branch="main", dirty=False))),
                metrics={name: metric(value) for name, value in values.items() if value != 0.5},
            )
        )
        if random.random() < 0.2:
            history.tag(run.id, f"V{number}")
        if random.random() < 0.2:
            history.regressed(run.id, "0" * 64)
    return history.runs(RunFilter())


def run_queries(count: int):
    random = Random(17)
    for _ in range(count):
        few = random.random() < 0.5
        yield RunQuery(
            words=random.choice(WORDS) if few else "",
            name=random.choice((*NAMES, "no such")) if random.random() < 0.2 else None,
            command=random.choice((None, None, *COMMANDS)),
            green=random.choice((None, None, True, False)),
            labels=random.choice(({}, {}, {}, *LABELS)),
            sort=random.choice(
                ("recorded_at", "name", "command", "passed", "units", *METRICS, "no.such", "\ud800")
            ),
            descending=random.random() < 0.5,
            start=random.choice((0, 0, 2, 40, -1)),
            limit=random.choice((50, 3, 1, 0, -1, 10**30)),
        )


def test_pages_of_runs_are_the_twins(history, recorded):
    seen = 0
    for query in run_queries(400):
        found = history.pages.runs(query)
        assert found == twin.page(twin.runs(recorded, query), query), query
        seen += bool(found.rows)
    assert seen > 100


def test_a_page_far_beyond_the_end_is_empty_and_says_how_many_there_are(history, recorded):
    found = history.pages.runs(RunQuery(start=10**30))
    assert (found.rows, found.total) == ((), len(recorded))


def test_runs_are_counted_by_command_and_metric(history, recorded):
    commands = [run.record.command for run in recorded]
    assert history.pages.commands() == {name: commands.count(name) for name in set(commands)}
    assert history.pages.metrics() == {
        name: sum(twin.run_value(run, name) is not None for run in recorded) for name in METRICS
    }


@pytest.mark.parametrize("last", [1, 3, 100, 10**30])
def test_lines_have_the_last_runs_that_have_the_metric(history, recorded, last):
    kinds = [*product(COMMANDS, NAMES), ("score", "no such"), ("\0", "\ud800")]
    metrics = [METRICS[2], METRICS[0], "no.such"]
    found = {
        (line.command, line.name, line.metric): [(each.run, each.value) for each in line.points]
        for line in history.pages.lines(kinds, metrics, last)
    }
    expected = {}
    for command, name in kinds:
        kind = [run for run in recorded if (run.record.command, run.record.name) == (command, name)]
        for id in metrics:
            points = [
                (run.id, run.record.metrics[id].value)
                for run in reversed(kind[:last])
                if id in run.record.metrics
            ]
            if points:
                expected[command, name, id] = points
    assert found == expected and list(found) == list(expected) and found


def test_lines_have_intervals_and_the_better_direction_of_the_newest(history):
    for number, better in enumerate(("higher", "lower")):
        measured = {"m": metric(0.5, better=better, ci=(0.4, 0.6) if number else None)}
        history.record(new_run(number, metrics=measured))
    [line] = history.pages.lines([("score", "nightly")] * 2, ["m", "m"], 5)
    assert line.better == "lower"
    assert [(each.low, each.high) for each in line.points] == [(None, None), (0.4, 0.6)]
    assert history.pages.lines([], ["m"], 5) == history.pages.lines([("a", "b")], [], 5) == []
    assert history.pages.lines([("score", "nightly")], ["m"], -1) == []


def test_too_many_words_are_refused(history):
    with pytest.raises(UsageError, match="give 100 at most"):
        history.pages.runs(RunQuery(words=" ".join(map(str, range(200)))))
    assert history.pages.runs(RunQuery(words=" ".join(map(str, range(100))))).total == 0


def test_gold_sets_are_those_of_runs_the_newest_first(history):
    sets = [gold_set(3), gold_set(4)]
    made = [history.record(new_run(number, gold=sets[number % 2])) for number in range(5)]
    history.record(new_run(9, gold=[], gold_sha256=None))
    assert history.pages.gold_sets() == [
        GoldSet(
            sha256=fingerprint(gold),
            questions=len(gold),
            answerable=sum(question.answerable for question in gold),
            runs=count,
            first=first.record.recorded_at,
            last=last.record.recorded_at,
        )
        for gold, count, first, last in ((sets[0], 3, made[0], made[4]), (sets[1], 2, *made[1:4:2]))
    ]
    assert history.pages.runs_of_gold(fingerprint(sets[0]), 2) == [made[4], made[2]]
    history.remove([made[1].id, made[3].id])
    history.gc()
    assert [each.sha256 for each in history.pages.gold_sets()] == [fingerprint(sets[0])]
    assert history.pages.strata(fingerprint(sets[1])) == {}


def test_a_gold_set_that_went_comes_back_with_its_next_run(history):
    run = history.record(new_run(1))
    history.remove([run.id])
    history.gc()
    again = history.record(new_run(2))
    assert history.pages.gold_sets()[0].questions == 5
    assert history.verify().whole == (again.id,)
