"""Archives of runs: the same bytes everywhere, and none believed that was touched."""

from __future__ import annotations

import hashlib
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.archive import CONTENTS, ArchivedRun, Contents
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import History, Run, RunFilter, Seal, UnitRow, canonical
from ragauge.errors import InputRejected, UsageError
from ragauge.runners.archive import export_runs
from ragauge.store.history import open_history
from tests.runners.recorded import import_runs
from tests.store.databases import place, postgres, postgres_server
from tests.store.runs_made import gold_set, new_run, unit_rows

__all__ = ["place", "postgres", "postgres_server"]

ODD = "ünï ☃ \u0000 \u2028 \x1b[31m"
"""Text that a database, a line reader or a terminal might not give back."""
GOLD = gold_set(4)


def rows_of(day: int) -> list[UnitRow]:
    detail = {"claim": ODD, "huge": 1e22, "zero": -0.0, "deep": [{"a": None}]}
    return [msgspec.structs.replace(row, detail=detail) for row in unit_rows(4, day)]


def recorded(history: History, folder: Path, day: int, **parts: Any) -> Run:
    return history.record(new_run(day, folder=folder, units=rows_of(day), gold=GOLD, **parts))


@pytest.fixture
def opened(tmp_path):
    """Histories of their own, by name."""
    made = []

    def history(name: str):
        made.append(open_history(name if "://" in name else str(tmp_path / name)))
        return made[-1]

    yield history
    for one in made:
        one.close()


@pytest.fixture
def source(opened, tmp_path):
    """A history of three runs, two of which share a gold set, and two have tags."""
    history = opened("source")
    first = recorded(history, tmp_path, 1)
    second = recorded(history, tmp_path, 2)
    history.record(new_run(3, units=[], gold=[], gold_sha256=None))
    history.tag(first.id, "release-1.4")
    history.tag(second.id, "good")
    history.tag(second.id, "a-tag")
    return history


@pytest.fixture
def archive(source, tmp_path) -> Path:
    path = tmp_path / "history.zip"
    export_runs(source, source.runs(RunFilter()), path)
    return path


def members_of(path: Path) -> dict[str, bytes]:
    with ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def written(path: Path, members: dict[str, bytes], compression: int = ZIP_STORED) -> Path:
    with ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def refused(history, path: Path) -> list[str]:
    """The problems an archive is refused with; nothing of it was kept."""
    before = history.runs(RunFilter())
    with pytest.raises(InputRejected) as caught:
        import_runs(history, path)
    assert history.runs(RunFilter()) == before
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


def plain_zip(members: dict[str, bytes]) -> bytes:
    """The zip that APPNOTE 6.3 describes for stored members of 1980-01-01, by hand."""
    body, directory = b"", b""
    for name, content in members.items():
        common = struct.pack(
            "<HHHHHIIIHH",
            *(20, 0, 0, 0, 0x21, zlib.crc32(content)),
            *(len(content), len(content), len(name), 0),
        )
        directory += b"PK\x01\x02" + struct.pack("<BB", 20, 3) + common
        directory += struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, len(body)) + name.encode()
        body += b"PK\x03\x04" + common + name.encode() + content
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def test_export_import_export_is_byte_equal(source, archive, opened, place, tmp_path):
    target = opened(place)
    done = import_runs(target, archive)
    assert [len(done.imported), len(done.present), done.findings] == [3, 0, ()]
    assert target.runs(RunFilter()) == source.runs(RunFilter())
    for run in target.runs(RunFilter()):
        assert list(target.units(run.id)) == list(source.units(run.id))
    export_runs(target, list(reversed(target.runs(RunFilter()))), tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()
    assert not target.verify().faults


def test_the_bytes_are_those_of_the_format_and_of_nothing_else(source, archive):
    first, second, third = reversed(source.runs(RunFilter()))
    expected = {
        CONTENTS: canonical(
            {
                "schema": "ragauge.archive/1",
                "runs": [
                    {"id": first.id, "tags": ["release-1.4"]},
                    {"id": second.id, "tags": ["a-tag", "good"]},
                    {"id": third.id, "tags": []},
                ],
            }
        ),
        f"gold/{first.record.gold_sha256}.jsonl": b"\n".join(map(canonical, GOLD)),
    }
    for day, run in enumerate((first, second, third), 1):
        expected[f"runs/{run.id}/record.json"] = canonical(run.record)
        rows = rows_of(day) if day < 3 else []
        lines = b"".join(canonical(row) + b"\n" for row in rows)
        expected[f"runs/{run.id}/units.jsonl"] = lines
        if day < 3:
            expected[f"runs/{run.id}/files/records.parquet"] = bytes(5_000)
            expected[f"runs/{run.id}/files/report.json"] = b'{"run": %d}' % day
    assert members_of(archive) == expected
    assert archive.read_bytes() == plain_zip(expected)


def test_marks_travel_with_their_runs(source, opened, place, tmp_path):
    """The newest regressed against both others; a history that has it already learns that."""
    first, second, third = reversed(source.runs(RunFilter()))
    target = opened(place)
    recorded(target, tmp_path, 1)
    source.regressed(first.id, second.id)
    source.regressed(third.id, second.id)
    source.regressed(third.id, first.id)
    export_runs(source, source.runs(RunFilter()), tmp_path / "marked.zip")
    held = msgspec.json.decode(members_of(tmp_path / "marked.zip")[CONTENTS])["runs"]
    assert held[0]["regressions"] == [second.id]
    assert "regressions" not in held[1], "an archive without marks is as it was before there were"
    assert held[2]["regressions"] == sorted([first.id, second.id])
    import_runs(target, tmp_path / "marked.zip")
    assert target.runs(RunFilter()) == source.runs(RunFilter())
    assert target.find("green").id == second.id
    export_runs(target, target.runs(RunFilter()), tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "marked.zip").read_bytes()


@pytest.mark.parametrize("marks", [["x"], ["b" * 64, "a" * 64], ["a" * 64] * 2])
def test_marks_that_are_no_ids_in_order_are_refused(archive, opened, tmp_path, marks):
    members = members_of(archive)
    contents = msgspec.json.decode(members[CONTENTS])
    contents["runs"][0]["regressions"] = marks
    members[CONTENTS] = canonical(contents)
    (problem,) = refused(opened("target"), written(tmp_path / "bad.zip", members))
    assert problem.endswith("are not ids, each once and in order")


def test_rows_of_any_size_have_room(source, opened, tmp_path, monkeypatch):
    monkeypatch.setattr("ragauge.runners.archive.MANY_UNITS", 1)
    export_runs(source, source.runs(RunFilter()), tmp_path / "large.zip")
    target = opened("target")
    import_runs(target, tmp_path / "large.zip")
    assert target.runs(RunFilter()) == source.runs(RunFilter())


def test_order_and_repetition_of_the_runs_do_not_matter(source, archive, tmp_path):
    runs = source.runs(RunFilter())
    export_runs(source, [*runs, *reversed(runs)], tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


def test_runs_that_are_there_are_skipped_and_counted(source, archive, opened, tmp_path):
    target = opened("target")
    recorded(target, tmp_path, 2)
    done = import_runs(target, archive)
    assert [len(done.imported), len(done.present)] == [2, 1]
    again = import_runs(target, archive)
    assert [len(again.imported), len(again.present)] == [0, 3]
    assert target.runs(RunFilter()) == source.runs(RunFilter())


def test_a_tag_of_another_run_here_is_a_finding_and_stays(archive, opened, tmp_path):
    target = opened("target")
    mine = recorded(target, tmp_path, 9)
    target.tag(mine.id, "good")
    done = import_runs(target, archive)
    (finding,) = done.findings
    assert finding.code == "tag_not_set"
    assert "good" in finding.message
    assert target.find("good").id == mine.id
    assert done.tags.keys() == {"release-1.4", "a-tag"}


@given(data=st.data())
def test_one_changed_byte_is_refused_or_changes_nothing(source, archive, tmp_path_factory, data):
    """A byte of a date in a zip means nothing to anybody; every other one is noticed."""
    content = bytearray(archive.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    path = archive.with_name("changed.zip")
    path.write_bytes(content)
    imported_or_refused(source, path, tmp_path_factory.mktemp("target"))


def imported_or_refused(source, path: Path, folder: Path) -> None:
    target = open_history(str(folder))
    try:
        import_runs(target, path)
    except InputRejected:
        assert target.runs(RunFilter()) == []
    else:
        assert target.runs(RunFilter()) == source.runs(RunFilter())
        assert not target.verify().faults
    finally:
        target.close()


def test_a_cut_archive_is_refused_at_every_length(archive, opened):
    target = opened("target")
    content = archive.read_bytes()
    cut = archive.with_name("cut.zip")
    for length in range(0, len(content), 97):
        cut.write_bytes(content[:length])
        (problem,) = refused(target, cut)
        assert problem.startswith("is no whole archive")


def test_all_that_was_altered_is_told_at_once(archive, opened):
    members = members_of(archive)
    names = [name for name in members if name.endswith((".parquet", "units.jsonl"))]
    for name in names:
        members[name] += b"x"
    members["../../etc/cron.d/evil"] = b"* * * * *"
    problems = refused(opened("target"), written(archive.with_name("x.zip"), members))
    assert len(problems) == len(names) + 1 == 6
    assert problems[0] == "../../etc/cron.d/evil: belongs to no run of the archive"
    assert sum("is not what was recorded; it was altered" in problem for problem in problems) == 3
    assert sum("bytes, not" in problem for problem in problems) == 2


@pytest.mark.parametrize("ending", [".parquet", "units.jsonl", "record.json", ".json", ".jsonl"])
def test_a_missing_member_is_refused(archive, opened, ending):
    members = members_of(archive)
    gone = next(name for name in reversed(members) if name.endswith(ending))
    del members[gone]
    problems = refused(opened("target"), written(archive.with_name("x.zip"), members))
    assert problems == [f"{gone}: is missing; the archive was altered or damaged; export it again"]


def test_what_is_compressed_cannot_grow_here(archive, opened):
    members = members_of(archive) | {"bomb": bytes(50_000_000)}
    path = written(archive.with_name("x.zip"), members, ZIP_DEFLATED)
    problems = refused(opened("target"), path)
    assert "bomb: is compressed; Ragauge stores members as they are" in problems


def test_sizes_beyond_the_archives_own_are_refused(archive, opened):
    """Members that overlap: each is small, together they are more than there is."""
    content = archive.read_bytes()
    name = b"runs/"
    place = content.rindex(b"PK\x01\x02", 0, content.rindex(name))
    claimed = struct.pack("<II", 1 << 30, 1 << 30)
    path = archive.with_name("x.zip")
    path.write_bytes(content[: place + 20] + claimed + content[place + 28 :])
    assert refused(opened("target"), path)[0].startswith("claims more bytes than it has")


def test_an_encrypted_or_repeated_member_is_refused(archive, opened):
    members = members_of(archive)
    path = archive.with_name("x.zip")
    with ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr(CONTENTS, members[CONTENTS])
    assert refused(opened("target"), path) == ["contents.json: stands there more than once"]
    content = bytearray(archive.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    assert refused(opened("again"), path) == ["contents.json: is encrypted"]


SEAL = Seal(sha256=hashlib.sha256(b"{}").hexdigest(), size=2)


def forged(
    path: Path,
    change: Callable[[dict[str, object]], object] | None = None,
    *,
    units: bytes | None = None,
    gold: list[Gold] = GOLD,
    **changed: object,
) -> Path:
    """An archive of one run whose hashes all agree, whatever else is wrong with it."""
    lines = b"".join(canonical(row) + b"\n" for row in rows_of(1)) if units is None else units
    changed = {"files": {"report.json": SEAL}} | changed
    record = new_run(1, units=rows_of(1), gold=gold, **changed).record
    record = msgspec.structs.replace(record, units_sha256=hashlib.sha256(lines).hexdigest())
    fields = msgspec.to_builtins(record)
    content = canonical(record)
    if change is not None:
        content = change(fields) or canonical(fields)
    id = hashlib.sha256(content).hexdigest()
    members = {
        CONTENTS: canonical(Contents(runs=(ArchivedRun(id=id, tags=()),))),
        f"gold/{record.gold_sha256}.jsonl": b"\n".join(map(canonical, gold)),
        f"runs/{id}/record.json": content,
        f"runs/{id}/units.jsonl": lines,
    }
    members |= {f"runs/{id}/files/{name}": b"{}" for name in fields["files"]}
    return written(path, members)


def test_a_run_made_elsewhere_is_taken_when_all_agrees(opened, tmp_path):
    target = opened("target")
    assert len(import_runs(target, forged(tmp_path / "x.zip")).imported) == 1
    assert not target.verify().faults


ROW = canonical(rows_of(1)[1]) + b"\n"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"schema": "ragauge.run/2"}, 'has the schema "ragauge.run/2", and this version'),
        ({"recorded_at": "yesterday"}, 'recorded_at: "yesterday" is no time'),
        ({"files": {"../../x": SEAL}}, 'files: "../../x" is no plain file name'),
        ({"files": {"/etc/passwd": SEAL}}, "is no plain file name"),
        ({"files": {".part": SEAL}}, "is no plain file name"),
        ({"gold_sha256": "../x"}, 'gold_sha256: "../x" is no hash'),
        ({"change": lambda fields: fields.update(units=5)}, "holds 4 rows, and its record says 5"),
        ({"units": b""}, "holds 0 rows, and its record says 4"),
        ({"units": ROW + ROW}, 'line 2: "q1" stands there twice'),
        ({"units": b"[]\n"}, "line 1: is not what it should be"),
        ({"units": ROW.replace(b'"label":"OK"', b'"label":1')}, "line 1: is not what it should be"),
        ({"units": ROW.replace(b"1e22", b"1e+22")}, "line 1: is not written as Ragauge writes it"),
        ({"units": ROW.replace(b"{", b"{ ", 1)}, "line 1: is not written as Ragauge writes it"),
        ({"units": b'{"x":' * 5_000}, "line 1: is not what it should be"),
        ({"gold": [GOLD[0], GOLD[0]]}, 'line 2: "q0" stands there twice'),
        ({"change": lambda fields: fields.update(name=1)}, "is not what it should be"),
        ({"change": lambda fields: fields.update(more=1)}, "is not written as Ragauge writes it"),
        ({"change": lambda fields: b"\xff"}, "is not what it should be"),
        ({"change": lambda fields: b"[" * 100_000}, "is not what it should be"),
    ],
)
def test_a_run_whose_hashes_agree_may_still_be_none(opened, tmp_path, made, words):
    (problem,) = refused(opened("target"), forged(tmp_path / "x.zip", **made))
    assert words in problem


def contents(*runs: tuple[str, tuple[str, ...]], schema: str = "ragauge.archive/1") -> bytes:
    held = tuple(ArchivedRun(id=id, tags=tags) for id, tags in runs)
    return canonical(Contents(schema=schema, runs=held))


A, B = "a" * 64, "b" * 64


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (contents(schema="ragauge.archive/2"), 'has the schema "ragauge.archive/2", and this'),
        (contents(("../" + A, ())), "names a run twice, or by what is no id"),
        (contents((A, ()), (A, ())), "names a run twice, or by what is no id"),
        (contents((A, ("x",)), (B, ("x",))), "gives one tag to two runs"),
        (b"{}", "is not what it should be"),
        (b'{"schema":"ragauge.archive/1","runs":[{}]}', "is not what it should be"),
        (b"[" * 100_000, "is not what it should be"),
        (b"", "is not what it should be"),
    ],
)
def test_contents_that_are_none_are_refused(opened, tmp_path, content, words):
    path = written(tmp_path / "x.zip", {CONTENTS: content})
    (problem,) = refused(opened("target"), path)
    assert problem.startswith("contents.json: ")
    assert words in problem


def test_many_problems_are_counted(archive, opened):
    members = members_of(archive) | {f"stray-{n:03}": b"" for n in range(150)}
    with pytest.raises(InputRejected) as caught:
        import_runs(opened("target"), written(archive.with_name("x.zip"), members))
    assert [len(caught.value.problems), caught.value.more] == [100, 50]


def test_no_file_a_folder_and_another_kind_of_file_end_in_words(opened, tmp_path):
    target = opened("target")
    with pytest.raises(UsageError, match="no such file"):
        import_runs(target, tmp_path / "none.zip")
    with pytest.raises(UsageError, match="is a folder"):
        import_runs(target, tmp_path)
    (tmp_path / "x.zip").write_bytes(b"PAR1")
    assert refused(target, tmp_path / "x.zip")[0].startswith("is no whole archive")
    written(tmp_path / "x.zip", {"a": b""})
    assert refused(target, tmp_path / "x.zip")[0].startswith("contents.json: is missing")


def test_a_broken_run_does_not_travel(opened, tmp_path):
    history = opened("source")
    run = recorded(history, tmp_path, 1)
    with history.file(run, "records.parquet") as path:
        path.write_bytes(b"other")
    with pytest.raises(InputRejected, match=r"records\.parquet: not what was recorded"):
        export_runs(history, [run], tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def test_files_are_never_held_whole(opened, tmp_path):
    content = bytes(48 << 20)
    history, target = opened("source"), opened("target")
    run = recorded(history, tmp_path, 1, contents={"records.parquet": content})
    del content
    tracemalloc.start()
    try:
        export_runs(history, [run], tmp_path / "x.zip")
        import_runs(target, tmp_path / "x.zip")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert target.find(run.id).record.files["records.parquet"].size == 48 << 20
    assert peak < 12 << 20
