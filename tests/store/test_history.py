"""Runs are kept whole and found again, on either database."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Float, cast, delete, event, insert, literal, select, update

from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.history import (
    GitState,
    History,
    NewRun,
    NoHistory,
    Run,
    RunFilter,
    UnitRow,
    canonical,
    sealed_units,
)
from ragauge.errors import InputRejected, UsageError
from ragauge.store.database import BATCH
from ragauge.store.files import PIECE
from ragauge.store.history import open_history
from ragauge.store.tables import (
    file_pieces,
    gold_questions,
    regressions,
    run_files,
    run_labels,
    run_metrics,
    run_units,
    runs,
)
from tests.store.runs_made import COMPLIANCE, gold_set, metric, moment, new_run, unit_rows


def on(branch: str | None) -> GitState:
    return GitState(commit="c" * 40, branch=branch, dirty=False)


def ids(found: list[Run]) -> list[str]:
    return [run.id for run in found]


def whole(history: History, run: NewRun) -> None:
    """The history has the run, and all of it is as it was given."""
    found = history.find(run.record.id)
    assert found.record == run.record and found.id == run.record.id
    assert canonical(found.record) == canonical(run.record)
    assert list(history.units(found.id)) == list(run.units)
    assert sealed_units(list(history.units(found.id))) == run.record.units_sha256
    if run.record.gold_sha256 is not None:
        assert fingerprint(history.gold(run.record.gold_sha256)) == run.record.gold_sha256
    for name, path in run.files.items():
        with history.file(found, name) as kept:
            assert kept.read_bytes() == path.read_bytes()


def test_a_run_is_read_back_as_it_was_recorded(history, place, tmp_path):
    run = new_run(1, folder=tmp_path / "in")
    recorded = history.record(run)
    assert recorded == Run(id=run.record.id, record=run.record)
    whole(history, run)
    again = open_history(place, create=False)
    whole(again, run)
    again.close()
    assert history.verify().whole == (run.record.id,)
    assert history.verify().faults == {}


def test_a_run_recorded_twice_is_one_run_and_keeps_its_tags(history, tmp_path):
    run = new_run(1, folder=tmp_path / "in")
    history.record(run)
    history.tag(run.record.id, "v1")
    assert history.record(run).tags == ("v1",)
    assert ids(history.runs(RunFilter())) == [run.record.id]


def test_more_units_and_bytes_than_are_sent_at_a_time(history, tmp_path):
    run = new_run(
        1,
        folder=tmp_path / "in",
        units=unit_rows(2 * BATCH + 1),
        gold=gold_set(BATCH + 1),
        contents={"report.json": b"", "records.parquet": bytes(range(256)) * (PIECE // 100)},
    )
    history.record(run)
    whole(history, run)
    assert history.verify().faults == {}


class Watched(list[UnitRow]):
    """Rows that say whether the database was locked whenever somebody read them."""

    locked = False

    def __iter__(self) -> Any:
        assert not self.locked, "rows were read while others wait for the lock"
        return super().__iter__()


@pytest.mark.parametrize("in_memory", [1 << 24, 1_000])
def test_units_are_encoded_before_the_database_is_locked(history, monkeypatch, in_memory):
    monkeypatch.setattr("ragauge.store.sql.IN_MEMORY", in_memory)
    run = new_run(1, units=unit_rows(BATCH + 1))
    watched = changed(run, units=Watched(run.units))
    writing = history._database.writing

    @contextmanager
    def noted():
        with writing() as connection:
            watched.units.locked = True
            yield connection
            watched.units.locked = False

    monkeypatch.setattr(history._database, "writing", noted)
    history.record(watched)
    whole(history, run)
    assert history.verify().faults == {}


def test_no_room_for_the_encoded_units_ends_in_words(history, monkeypatch):
    monkeypatch.setattr("ragauge.store.sql.IN_MEMORY", 1)
    monkeypatch.setattr("tempfile._io.open", full_disk)
    with pytest.raises(UsageError, match="No space left on device; make room, or set TMPDIR"):
        history.record(new_run(1))
    monkeypatch.undo()
    assert history.runs(RunFilter()) == []


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_who_only_reads_is_told_that_there_is_no_history(place):
    with pytest.raises(NoHistory, match="there is no history yet; record a run with --record"):
        open_history(place, create=False)


def test_a_run_may_have_neither_units_nor_gold_nor_files(history):
    run = new_run(1, units=[], gold=[], gold_sha256=None, git=None, labels={}, metrics={})
    history.record(run)
    whole(history, run)
    assert history.verify().whole == (run.record.id,)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
floats = st.floats(allow_nan=False, allow_infinity=False)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
rows = st.builds(
    UnitRow,
    unit=texts,
    label=st.none() | texts,
    right=st.none() | st.booleans(),
    detail=st.dictionaries(texts, anything, max_size=3),
    values=st.dictionaries(texts, floats, max_size=4),
    counts=st.dictionaries(
        texts, st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(tuple), max_size=3
    ),
)
questions = st.builds(
    Gold,
    qid=texts,
    question=texts,
    answerable=st.booleans(),
    strata=st.dictionaries(texts, anything, max_size=2),
    weight=floats,
    extra=st.dictionaries(texts, anything, max_size=2),
)


@given(
    units=st.lists(rows, max_size=4),
    gold=st.lists(questions, max_size=3),
    value=floats,
    words=texts,
    configuration=st.dictionaries(texts, anything, max_size=3),
)
def test_any_text_and_any_number_comes_back_bit_for_bit(
    history, units, gold, value, words, configuration
):
    run = new_run(
        1,
        units=units,
        gold=gold,
        configuration=configuration,
        name=words,
        labels={words: words},
        git=on(words),
        metrics={"m": metric(value, reason=words, signature=words)},
    )
    history.record(run)
    try:
        whole(history, run)
        assert history.verify().faults == {}
        assert ids(history.runs(RunFilter(name=words, labels={words: words}))) == [run.record.id]
    finally:
        history.remove([run.record.id])


HARD = [1.0, -0.0, 0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1e22, 1.7976931348623157e308, 1e-7]


def test_numbers_that_json_columns_spell_otherwise_are_kept(history):
    units = [
        UnitRow(
            unit=str(n),
            label=None,
            right=None,
            detail={"v": v},
            values={"m": v},
            counts={"m": (n,)},
        )
        for n, v in enumerate(HARD)
    ]
    run = new_run(1, units=units, configuration={"a": HARD})
    history.record(run)
    kept = [row.values["m"] for row in history.units(run.record.id)]
    assert [value.hex() for value in kept] == [value.hex() for value in HARD]
    assert history.verify().faults == {}


def test_units_can_be_sorted_by_a_metric_in_the_database(history):
    run = new_run(1, units=unit_rows(50))
    history.record(run)
    value = cast(run_units.c["values"][COMPLIANCE].as_string(), Float)
    with history._database.reading() as connection:
        found = connection.execute(select(run_units.c.unit).order_by(value, run_units.c.place))
        units = list(found.scalars())
    assert units == [row.unit for row in sorted(run.units, key=lambda row: row.values[COMPLIANCE])]


def test_runs_are_listed_newest_first_and_by_what_they_are(history):
    made = [
        new_run(0, name="nightly", git=on("main")),
        new_run(1, name="nightly", git=on("topic"), passed=False, labels={"model": "large"}),
        new_run(2, name="pull", git=on(None), command="stability"),
        new_run(3, name="pull", git=None, labels={"model": "large", "index": "v4"}),
    ]
    for run in (made[2], made[0], made[3], made[1]):
        history.record(run)

    def listed(**which: Any) -> list[int]:
        order = [run.record.id for run in made]
        return [order.index(id) for id in ids(history.runs(RunFilter(**which)))]

    assert listed() == [3, 2, 1, 0]
    assert listed(limit=2) == [3, 2]
    assert listed(name="nightly") == [1, 0]
    assert listed(command="stability") == [2]
    assert listed(branch="main") == [0]
    assert listed(green=False) == [1]
    assert listed(labels={"model": "large"}) == [3, 1]
    assert listed(labels={"model": "large", "index": "v4"}) == [3]
    assert listed(before=moment(2)) == [1, 0]
    assert listed(name="nobody") == []


def test_runs_of_one_moment_are_in_the_order_of_their_ids(history):
    for name in "abcdef":
        history.record(new_run(1, name=name))
    found = ids(history.runs(RunFilter()))
    assert found == sorted(found)


def test_a_run_is_found_by_time_branch_tag_and_beginning(history):
    made = [
        new_run(0, git=on("main")),
        new_run(1, git=on("main"), passed=False),
        new_run(2, git=on("topic"), name="other"),
        new_run(3, git=on("topic")),
    ]
    for run in made:
        history.record(run)
    id = [run.record.id for run in made]
    history.tag(id[0], "v1.0/first")

    assert history.find("latest").id == history.find("green").id == id[3]
    assert history.find("latest@main").id == id[1]
    assert history.find("green@main").id == id[0]
    assert history.find("v1.0/first").tags == ("v1.0/first",)
    for run in id:
        assert history.find(run).id == history.find(run[:12]).id == run
        assert history.find(run[:12].upper()).id == run
    last = history.find("latest")
    assert history.find("latest", like=last).id == id[1]
    assert history.find("green", like=last).id == id[0]
    assert history.find("green@main", like=last).id == id[0]
    with pytest.raises(UsageError, match="no run that passed of score 'nightly' before it"):
        history.find("green", like=history.find(id[0]))
    with pytest.raises(UsageError, match="no run on branch gone; branches with runs: main, topic"):
        history.find("latest@gone")


def at(commit: str) -> GitState:
    return GitState(commit=commit, branch=None, dirty=False)


def test_a_run_is_found_by_its_commit(history):
    here, there = "5d2c9e0f" + "a" * 32, "5d2c77" + "b" * 34
    made = [
        new_run(0, git=at(here)),
        new_run(1, git=at(here), command="stability"),
        new_run(2, git=at(there)),
        new_run(3, git=None),
    ]
    for run in made:
        history.record(run)
    id = [run.record.id for run in made]
    for reference in (f"commit:{here}", "commit:5d2c9e", "commit:5D2C9"):
        assert history.find(reference).id == id[1]
    last = history.find("latest")
    assert history.find("commit:5d2c9e", like=last).id == id[0], "of its command and name"
    with pytest.raises(UsageError, match="no run at this commit of score 'nightly' before it"):
        history.find("commit:5d2c9e", like=history.find(id[0]))
    with pytest.raises(UsageError, match=f"several commits: {there}, {here}; write more"):
        history.find("commit:5d2c")
    with pytest.raises(UsageError, match=r"commit:ffff: there is no run at this commit$"):
        history.find("commit:ffff")
    for reference in ("commit:", "commit:5d2", "commit:HEAD", "commit:%"):
        with pytest.raises(UsageError, match="named by 4 hexadecimal digits"):
            history.find(reference)


def test_a_run_that_regressed_is_not_green_any_more(history, place):
    made = [history.record(new_run(number)) for number in range(3)]
    first, second, last = (run.id for run in made)
    assert history.find("green").id == last
    history.regressed(last, first)
    history.regressed(last, second)
    history.regressed(last, first)
    assert history.find("green").id == second
    assert history.find("green@main").id == second
    assert history.find("latest").id == last
    marked = history.find(last)
    assert marked.regressions == tuple(sorted((first, second)))
    assert (marked.green, marked.record.passed, made[0].green) == (False, True, True)
    assert ids(history.runs(RunFilter(green=True))) == [second, first]
    assert ids(history.runs(RunFilter(green=False))) == [last]
    assert history.record(new_run(2)).regressions == marked.regressions, "recorded twice"
    with pytest.raises(UsageError, match="is not in this history"):
        history.regressed("0" * 64, first)
    again = open_history(place, create=False)
    assert again.find(last) == marked
    again.close()


def test_a_mark_goes_with_its_run_and_outlives_its_baseline(history):
    baseline, run = history.record(new_run(1)), history.record(new_run(2))
    history.regressed(run.id, baseline.id)
    history.remove([baseline.id])
    assert history.find(run.id).regressions == (baseline.id,)
    assert (history.verify().faults, history.gc()) == ({}, [])
    history.remove([run.id])
    assert history.record(new_run(2)).green
    with history._database.reading() as connection:
        assert connection.execute(select(regressions)).all() == []


def test_a_run_from_elsewhere_comes_with_its_marks(history):
    run = changed(new_run(1), regressions=("b" * 64, "a" * 64))
    assert history.record(run) == history.find(run.record.id)
    assert history.find(run.record.id).regressions == ("a" * 64, "b" * 64)


def colliding() -> tuple[NewRun, NewRun]:
    """Two runs whose ids begin with the same four characters."""
    seen: dict[str, NewRun] = {}
    for number in range(10_000):
        run = new_run(number, units=[], gold=[])
        if other := seen.get(run.record.id[:4]):
            return other, run
        seen[run.record.id[:4]] = run
    raise AssertionError


def test_a_beginning_of_several_ids_names_them_all(history):
    one, other = colliding()
    history.record(one)
    history.record(other)
    with pytest.raises(UsageError) as refused:
        history.find(one.record.id[:4])
    assert one.record.id[:12] in str(refused.value) and other.record.id[:12] in str(refused.value)
    assert "write more of it" in str(refused.value)


@pytest.mark.parametrize(
    "reference", ["", "abc", "nightly", "ffff", "v2", "\x1b[31m", "x\0y", "@", "\udcff"]
)
def test_what_names_no_run_is_refused_with_what_is_near(history, reference):
    run = history.record(new_run(1))
    history.tag(run.id, "v1")
    with pytest.raises(UsageError, match="names no run") as refused:
        history.find(reference)
    assert ("near it: v1" in str(refused.value)) == (reference == "v2")
    assert "\x1b" not in str(refused.value)


def test_an_empty_history_has_no_latest(history):
    assert history.runs(RunFilter()) == []
    with pytest.raises(UsageError, match="latest: there is no run"):
        history.find("latest")
    with pytest.raises(UsageError, match="is not in this history"):
        history.units("0" * 64)
    assert history.gold("0" * 64) == []


def test_a_tag_names_one_run_and_moves_only_when_told(history):
    first, second = history.record(new_run(1)), history.record(new_run(2))
    history.tag(first.id, "baseline")
    history.tag(first.id, "baseline")
    history.tag(first.id, "a")
    assert history.find(first.id).tags == ("a", "baseline")
    with pytest.raises(UsageError, match=f"names run {first.shown}; `--move`"):
        history.tag(second.id, "baseline")
    history.tag(second.id, "baseline", move=True)
    assert history.find("baseline").id == second.id
    history.untag("baseline")
    with pytest.raises(UsageError, match="no run has it; tags: a"):
        history.untag("baseline")
    with pytest.raises(UsageError, match="is not in this history"):
        history.tag("0" * 64, "b")


BAD_TAGS = [
    "",
    "latest",
    "green",
    "green@main",
    "commit:5d2c",
    "dead",
    "00FF",
    "a b",
    "a\n",
    "a\0",
    "a\udcff",
    "-f",
    "x" * 101,
]


@pytest.mark.parametrize("tag", BAD_TAGS)
def test_a_tag_is_nothing_that_means_something_else(history, tag):
    run = history.record(new_run(1))
    with pytest.raises(UsageError, match=r"^tag "):
        history.tag(run.id, tag)


@pytest.mark.parametrize("tag", ["v1", "abc", "face-lift", "größer", "main/2026-11-15", "x" * 100])
def test_a_tag_may_be_what_people_write(history, tag):
    run = history.record(new_run(1))
    history.tag(run.id, tag)
    assert history.find(tag).id == run.id


def test_a_removed_run_is_gone_with_its_files_and_its_gold_set_goes_last(history, tmp_path):
    same, other = gold_set(3), gold_set(4)
    gone = new_run(1, folder=tmp_path / "in", gold=same)
    stays = new_run(2, folder=tmp_path / "in", gold=same)
    last = new_run(3, gold=other)
    for run in (gone, stays, last):
        history.record(run)
    history.tag(gone.record.id, "gone")
    history.remove([gone.record.id, last.record.id])
    assert ids(history.runs(RunFilter())) == [stays.record.id]
    whole(history, stays)
    checked = history.verify()
    assert (checked.whole, checked.faults, checked.leftovers) == ((stays.record.id,), {}, ())
    for reference in ("gone", gone.record.id):
        with pytest.raises(UsageError, match="names no run"):
            history.find(reference)
    assert history.gc() == [f"gold set {fingerprint(other)[:12]}"]
    assert history.gc() == []
    assert history.gold(fingerprint(same)) == same and history.gold(fingerprint(other)) == []
    history.record(gone)
    whole(history, gone)


def test_removing_names_every_run_that_is_not_there_and_removes_none(history):
    run = history.record(new_run(1))
    with pytest.raises(UsageError) as refused:
        history.remove([run.id, "0" * 64, "1" * 64])
    assert len(refused.value.problems) == 2
    assert ids(history.runs(RunFilter())) == [run.id]


def test_a_file_the_run_never_had_is_refused_by_name(history, tmp_path):
    run = history.record(new_run(1, folder=tmp_path, contents={"report.json": b"{}"}))
    with (
        pytest.raises(UsageError, match=r"without records.parquet; .* has: report.json"),
        history.file(run, "records.parquet"),
    ):
        pass
    with pytest.raises(UsageError, match="without"), history.file(run, "../../history.sqlite"):
        pass


def changed(run: NewRun, **fields: Any) -> NewRun:
    return msgspec.structs.replace(run, **fields)


REFUSED: dict[str, tuple[Callable[[NewRun, Path], NewRun], str]] = {
    "units": (lambda run, _: changed(run, units=[*run.units[1:], run.units[0]]), "units_sha256"),
    "fewer": (lambda run, _: changed(run, units=run.units[1:]), "record says 5, given are 4"),
    "gold": (lambda run, _: changed(run, gold=gold_set(4)), "gold_sha256"),
    "a file": (lambda run, at: (at / "1-report.json").write_bytes(b"!!") and run, "report.json"),
    "gone": (lambda run, at: (at / "1-report.json").unlink() or run, "cannot be read: No such"),
    "no file": (lambda run, _: changed(run, files={}), "sealed in the run's record and not given"),
    "more files": (
        lambda run, at: changed(run, files={**run.files, "../x": at / "1-report.json"}),
        "given and not sealed",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_run_that_is_not_as_its_record_seals_it_is_refused_whole(history, tmp_path, case):
    spoil, words = REFUSED[case]
    with pytest.raises((InputRejected, UsageError), match=words):
        history.record(spoil(new_run(1, folder=tmp_path / "in"), tmp_path / "in"))
    assert history.runs(RunFilter()) == []
    assert history.verify().leftovers == ()


def test_a_name_that_leads_out_of_the_folder_is_refused(history, tmp_path):
    outside = new_run(1, folder=tmp_path / "in", contents={})
    path = tmp_path / "secret"
    path.write_bytes(b"x")
    seal = new_run(1, folder=tmp_path, contents={"x": b"x"}).record.files["x"]
    record = msgspec.structs.replace(outside.record, files={"../../x": seal})
    with pytest.raises(InputRejected, match="no name for a file"):
        history.record(changed(outside, record=record, files={"../../x": path}))


@pytest.mark.parametrize("name", ["Report.json", ".hidden", "a/b", "x" * 101, ""])
def test_a_name_that_an_archive_would_refuse_is_refused_here(history, tmp_path, name):
    path = tmp_path / "file"
    path.write_bytes(b"x")
    seal = new_run(1, folder=tmp_path, contents={"x": b"x"}).record.files["x"]
    plain = new_run(1, folder=tmp_path, contents={})
    record = msgspec.structs.replace(plain.record, files={name: seal})
    with pytest.raises(InputRejected, match="no name for a file"):
        history.record(changed(plain, record=record, files={name: path}))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_is_no_number_is_refused(history, value):
    units = [UnitRow(unit="q1", label=None, right=None, detail={}, values={"m": value}, counts={})]
    with pytest.raises(InputRejected, match="NaN or Infinity"):
        history.record(new_run(1, units=units))


def test_a_time_that_would_not_sort_is_refused(history):
    with pytest.raises(InputRejected, match="recorded_at"):
        history.record(new_run(1, recorded_at="yesterday"))


def test_units_of_a_run_removed_while_they_are_read_do_not_just_end(history):
    run = history.record(new_run(1, units=unit_rows(BATCH + 5)))
    reading = history.units(run.id)
    assert next(reading).unit == "q0"
    history.remove([run.id])
    with pytest.raises(UsageError, match="removed meanwhile"):
        list(reading)


DAMAGE = {
    "document": (update(runs).values(document="{}"), "does not hash to the run's id"),
    "column": (update(runs).values(passed=False), "passed: the table says False"),
    "label": (update(run_labels).values(value="x"), "labels: the table is not as the record"),
    "metric": (update(run_metrics).values(value=0.9), "metrics: the table is not as the record"),
    "less": (delete(run_metrics), "metrics: the table is not as the record"),
    "unit": (delete(run_units).where(run_units.c.place == 3), "4 rows of 5 are there"),
    "line": (
        update(run_units).where(run_units.c.place == 2).values(line="{}"),
        "do not hash to units_sha256",
    ),
    "value": (update(run_units).values(values={}), "5 rows have columns that are not as"),
    "gold": (delete(gold_questions).where(gold_questions.c.place == 4), "do not hash to gold"),
    "question": (update(gold_questions).values(question="?"), "5 rows have columns that are not"),
    "file": (delete(run_files), "files: the table is not as the record"),
    "mark": (
        insert(regressions).from_select(["run", "baseline"], select(runs.c.number, literal("x"))),
        "regressions: 'x' was not given to this run by Ragauge",
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_verify_finds_what_was_changed_and_in_which_run(history, tmp_path, case):
    damaged = new_run(1, folder=tmp_path / "in")
    untouched = new_run(2, folder=tmp_path / "in", gold=gold_set(6))
    history.record(damaged)
    with history._database.altering() as connection:
        connection.execute(DAMAGE[case][0])
    history.record(untouched)
    checked = history.verify()
    assert checked.whole == (untouched.record.id,)
    assert list(checked.faults) == [damaged.record.id]
    assert DAMAGE[case][1] in " ".join(checked.faults[damaged.record.id])


def spoil_file(history: History, place: str, id: str, content: bytes | None) -> None:
    if place.startswith("postgresql"):
        with history._database.altering() as connection:
            which = file_pieces.c.name == "report.json"
            connection.execute(delete(file_pieces).where(which))
            if content is not None:
                number = connection.execute(select(runs.c.number)).scalar_one()
                row = {"run": number, "name": "report.json", "number": 0, "content": content}
                connection.execute(insert(file_pieces).values(row))
        return
    path = Path(place) / "runs" / id / "report.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "is not there"), (b"{}", r"has 2 bytes, and had 10"), (b'{"run": 7}', "has changed")],
)
def test_verify_finds_files_that_are_not_as_they_were(history, place, tmp_path, content, words):
    run = history.record(new_run(1, folder=tmp_path / "in"))
    spoil_file(history, place, run.id, content)
    (fault,) = history.verify().faults[run.id]
    assert f"report.json: the file {words}" in fault
    if content is None:
        with (
            pytest.raises(UsageError, match=r"its file report.json is gone"),
            history.file(run, "report.json"),
        ):
            pass


def test_a_record_that_cannot_be_read_ends_in_words(history):
    history.record(new_run(1))
    with history._database.altering() as connection:
        connection.execute(update(runs).values(document="{"))
    with pytest.raises(UsageError, match="its record cannot be read"):
        history.runs(RunFilter())


def test_leftovers_are_listed_and_removed_once_they_have_settled(tmp_path):
    history = open_history(str(tmp_path / "store"))
    kept = history.record(new_run(1, folder=tmp_path / "in"))
    folder = tmp_path / "store" / "runs"
    part, renamed = folder / ".abc-x.part", folder / hashlib.sha256(b"killed").hexdigest()
    for path in (part, renamed):
        path.mkdir()
        (path / "report.json").write_bytes(b"half")
    assert history.verify().leftovers == tuple(sorted(map(str, (part, renamed))))
    assert history.gc() == []  # they may be of a writer at work
    assert history.gc(older_than_s=0) == sorted(map(str, (part, renamed)))
    assert history.verify().leftovers == ()
    assert [path.name for path in folder.iterdir()] == [kept.id]
    history.close()


def test_a_commit_that_fails_leaves_no_files(history, tmp_path):
    def fail(_: object) -> None:
        raise RuntimeError("the commit failed")

    run = new_run(1, folder=tmp_path / "in")
    event.listen(history._database._engine, "commit", fail)
    with pytest.raises(RuntimeError, match="the commit failed"):
        history.record(run)
    event.remove(history._database._engine, "commit", fail)
    checked = history.verify()
    assert (checked.whole, checked.leftovers) == ((), ())
    history.record(run)
    whole(history, run)


def test_a_folder_a_kill_left_gives_way_to_its_run(tmp_path):
    history = open_history(str(tmp_path / "store"))
    run = new_run(1, folder=tmp_path / "in")
    left = tmp_path / "store" / "runs" / run.record.id
    left.mkdir(parents=True)
    (left / "half").write_bytes(b"x")
    history.record(run)
    whole(history, run)
    assert sorted(path.name for path in left.iterdir()) == ["records.parquet", "report.json"]
    history.close()


def test_latest_is_the_last_recorded_whatever_the_clock_says(history):
    """The clock went back between the second run and the third."""
    first, second, third = (history.record(new_run(number)) for number in (5, 9, 1))
    assert history.find("latest").id == third.id
    assert history.find("green@main").id == third.id
    assert history.find("latest", like=third).id == second.id
    assert history.find("latest", like=second).id == first.id
