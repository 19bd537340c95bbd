"""`ragauge runs` as a user and a CI job meet it, on both kinds of store."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import jsonschema
import msgspec
import numpy as np
import pytest

from ragauge.contracts.history import GitState, History, NewRun, Run, RunFilter
from ragauge.contracts.kinds import SHOWN
from ragauge.contracts.report import Measured, Outcome, Rule, Score, UnitRows
from ragauge.contracts.schemas import RECORDS, examples
from ragauge.demo import GOLD
from ragauge.gates.rules import decide
from ragauge.runners.recording import record
from ragauge.runners.score import score
from ragauge.runners.stability import stability
from ragauge.store.history import open_history
from tests.cli.command import ragauge
from tests.store.databases import fresh_place, place, postgres, postgres_server
from tests.store.runs_made import new_run

__all__ = ["place", "postgres", "postgres_server"]

COMMON = {"schema", "pass", "metrics", "gates", "findings", "finding_counts", "coverage"}
NEVER = "ffff"
"""The beginning of no id, as far as chance goes."""


@pytest.fixture
def history(place):
    opened = open_history(place)
    yield opened
    opened.close()


@pytest.fixture
def three(history) -> list[Run]:
    """Runs, the newest first: two of main, the newest of which failed, and one of a branch."""
    branch = GitState(commit="b" * 40, branch="faster", dirty=True)
    runs = [
        history.record(new_run(1, name="nightly")),
        history.record(new_run(2, name="nightly", passed=False, labels={"model": "large"})),
        history.record(new_run(3, name="trial", git=branch, command="stability")),
    ]
    return runs[::-1]


@pytest.fixture
def scored(history, parity) -> Run:
    """A run of a real score, with its real report."""
    gold, traces = parity
    return record(score(str(gold), [str(traces)]), history, name="parity")


def runs(*arguments: object, store: str) -> tuple[int, str, str]:
    done = ragauge("runs", *arguments, "--store", store)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def said(*arguments: object, store: str) -> str:
    code, out, err = runs(*arguments, store=store)
    assert (code, err) == (0, "")
    return out


def ids(*filters: str, store: str) -> list[str]:
    listed = json.loads(said("list", *filters, "--format", "json", store=store))
    assert listed["schema"] == "ragauge.runs/1"
    return [run["id"] for run in listed["runs"]]


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)  # tests/store filters both
def test_the_list_has_the_newest_first_and_filters(three, place):
    trial, red, green = (run.id for run in three)
    for filters, expected in {
        (): [trial, red, green],
        ("--name", "nightly"): [red, green],
        ("--command", "stability"): [trial],
        ("--branch", "faster"): [trial],
        ("--label", "model=large"): [red],
        ("--label", "model=small", "--label", "index=v3"): [trial, green],
        ("--green",): [trial, green],
        ("--red",): [red],
        ("--green", "--branch", "main"): [green],
        ("--limit", "2"): [trial, red],
        ("--name", "none"): [],
    }.items():
        assert ids(*filters, store=place) == expected, filters


def test_the_list_for_a_person_shows_each_run_and_says_when_there_are_more(three, place):
    text = said("list", store=place)
    assert text.startswith("3 runs in ")
    assert all(run.shown in text for run in three)
    assert "faster@bbbbbbb*" in text
    assert "the newest 2 runs" in said("list", "--limit", "2", store=place)
    assert said("list", "--name", "none", store=place).startswith("No run in ")


def test_the_list_tells_no_password(three, place):
    assert "***" not in place
    shown = json.loads(said("list", "--format", "json", store=place))["store"]
    assert "?" not in shown
    assert not shown.startswith("postgresql://") or "@" not in shown.replace("***@", "")


def test_a_run_is_shown_with_its_report(scored, place, parity):
    expected = ragauge("score", *parity).stdout.decode()
    text = said("show", "latest", store=place)
    head, _, report = text.partition("\n\n")
    assert head.startswith(f"No quality gate  parity, score ({scored.shown})\n  id: {scored.id}\n")
    assert report == expected
    assert said("show", scored.id[:8], "--identity", store=place) == head + "\n"


@pytest.mark.parametrize("form", ["markdown", "junit", "csv", "github", "html"])
def test_the_other_forms_are_those_of_the_report(scored, history, place, parity, form):
    shown = ragauge("runs", "show", "latest", "--store", place, "--format", form)
    assert shown.returncode == 0
    assert shown.stdout == ragauge("score", *parity, "--format", form).stdout


def test_json_is_the_record_with_id_and_tags(scored, history, place, parity):
    report = json.loads(ragauge("score", *parity, "--format", "json").stdout)
    history.tag(scored.id, "release-1.4")
    shown = json.loads(said("show", "release-1.4", "--format", "json", store=place))
    assert shown["id"] == scored.id
    assert shown["tags"] == ["release-1.4"]
    assert shown["record"]["schema"] == "ragauge.run/1"
    for id, value in report["metrics"].items():
        assert value.items() <= shown["record"]["metrics"][id].items()


def test_the_stored_report_is_written_in_the_form_of_the_file(scored, place, parity, tmp_path):
    files = [tmp_path / name for name in ("a.json", "a.md", "a.html")]
    flags = [part for file in files for part in ("--report", file)]
    code, _, err = runs("show", "latest", *flags, "--identity", store=place)
    assert code == 0
    assert err.splitlines() == [f"wrote {file}" for file in files]
    direct = ragauge("score", *parity, "--format", "json").stdout
    assert files[0].read_bytes() == direct


def test_a_run_without_a_report_is_shown_by_its_head(three, place, tmp_path):
    assert said("show", "latest", store=place).startswith("PASS  trial, stability (")
    code, out, err = runs("show", "latest", "--report", tmp_path / "a.md", store=place)
    assert (code, out) == (2, "")
    assert "was recorded without a report" in err
    assert not (tmp_path / "a.md").exists()


def test_tags_name_move_and_go(three, place):
    trial, red, _ = three
    assert trial.shown in said("tag", "latest", "good", store=place)
    assert said("show", "good", "--identity", store=place).startswith("PASS  trial")
    code, _, err = runs("tag", red.id[:8], "good", store=place)
    assert code == 2
    assert trial.shown in err and "--move" in err
    said("tag", red.id[:8], "good", "--move", store=place)
    assert "nightly, score" in said("show", "good", "--identity", store=place)
    said("tag", "--delete", "good", store=place)
    assert runs("show", "good", store=place)[0] == 2
    assert runs("tag", "--delete", "good", store=place)[0] == 2


@pytest.mark.parametrize(
    "arguments", [("latest",), (), ("latest", "a b"), ("latest", "green"), ("x", "--delete", "y")]
)
def test_a_tag_command_that_says_too_little_or_too_much_is_2(three, place, arguments):
    assert runs("tag", *arguments, store=place)[0] == 2


def test_a_tag_that_cannot_be_is_repeated_once_and_not_at_length(three, place):
    for tag, told in {
        "bad10": "tag 'bad10': it looks like the beginning of a run's id; add a character outside "
        "0–9 and a–f",
        "a\x1bb": r"name 'a\x1bb': holds a character that does not print",
        "long" * 1_250: f"name '{'long' * 25}'…: is longer than 200 characters",
    }.items():
        code, out, err = runs("tag", "latest", tag, store=place)
        assert (code, out) == (2, "")
        assert err.startswith(f"ragauge: {told}")
    for arguments in (("show", "x" * 5_000), ("show", "green@" + "x" * 5_000)):
        assert len(runs(*arguments, store=place)[2]) < 500
    assert len(runs("tag", "--delete", "x" * 5_000, store=place)[2]) < 500


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)  # what is said does not depend on it
def test_every_verb_reports_in_the_common_form(scored, three, place, tmp_path):
    file, other = tmp_path / "all.zip", str(tmp_path / "other")
    said("export", "--all", "-o", file, store=place)
    for arguments, store in (
        (("list",), place),
        (("list",), str(tmp_path / "none")),
        (("show", scored.shown), place),
        (("tag", "latest", "good"), place),
        (("tag", "--delete", "good"), place),
        (("export", "--all", "-o", file), place),
        (("import", file), other),
        (("verify",), other),
        (("rm", "latest"), other),
        (("gc",), other),
    ):
        report = json.loads(said(*arguments, "--format", "json", store=store))
        schema = json.loads(ragauge("schema", f"runs-{arguments[0]}-report").stdout)
        jsonschema.Draft202012Validator(schema).validate(report)
        assert report.keys() >= COMMON, arguments
        assert report["schema"] == schema["properties"]["schema"]["default"]
        # A shown run has the verdict of that run, and this one has no quality gate.
        assert report["pass"] is (None if arguments[0] == "show" else True)


def test_a_shown_run_reports_the_verdict_and_numbers_of_the_run(scored, three, place):
    shown = json.loads(said("show", scored.shown, "--format", "json", store=place))
    for name in ("metrics", "gates", "finding_counts", "coverage"):
        assert shown[name] == shown["record"][name]
    assert shown["metrics"] and shown["coverage"]
    red = json.loads(said("show", three[1].shown, "--format", "json", store=place))
    assert red["pass"] is False


def test_a_tag_is_told_as_json(three, place):
    named = json.loads(said("tag", "latest", "good", "--format", "json", store=place))
    assert (named["tag"], named["run"]) == ("good", three[0].id)
    gone = json.loads(said("tag", "--delete", "good", "--format", "json", store=place))
    assert (gone["tag"], gone["run"]) == ("good", None)


def test_rm_removes_all_or_nothing(three, history, place):
    trial, red, green = three
    history.tag(red.id, "good")
    history.tag(green.id, "old")
    code, out, err = runs("rm", trial.shown, NEVER, "none", store=place)
    assert (code, out) == (2, "")
    assert [line.split()[1] for line in err.splitlines()] == [f"{NEVER}:", "none:"]
    code, out, err = runs("rm", "latest", "good", "old", store=place)
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"ragauge: {red.shown}: is tagged good",
        f"ragauge: {green.shown}: is tagged old",
        "ragauge: nothing was removed; --force removes runs that have a tag",
    ]
    assert len(history.runs(RunFilter())) == 3
    out = said("rm", "good", trial.shown, trial.id, "--force", store=place)
    assert [line.split()[0] for line in out.splitlines()] == ["removed", red.shown, trial.shown]
    assert ids(store=place) == [green.id]
    removed = json.loads(said("rm", "old", "--force", "--format", "json", store=place))
    assert [run["id"] for run in removed["runs"]] == [green.id]


def test_a_history_moves_and_comes_back_the_same(
    scored, three, history, place, postgres_server, tmp_path
):
    history.tag(scored.id, "good")
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    assert "wrote 4 runs to" in said("export", "--all", "-o", first, store=place)
    for other in (str(tmp_path / "other.sqlite"), fresh_place(postgres_server)):
        out = said("import", first, store=other)
        assert out.startswith("imported 4 runs\n")
        assert "tags: good" in out
        said("export", "--all", "-o", second, store=other)
        assert second.read_bytes() == first.read_bytes()
        assert "4 runs were already present" in said("import", first, store=other)
        assert said("verify", store=other) == "PASS  4 runs are intact\n"


def test_named_runs_are_exported(three, place, tmp_path):
    file = tmp_path / "some.zip"
    done = said("export", "latest", three[2].shown, "-o", file, "--format", "json", store=place)
    exported = json.loads(done)
    assert exported["runs"] == [three[2].id, three[0].id]
    assert exported["size"] == file.stat().st_size
    for arguments in ((), ("latest", "--all"), (NEVER,)):
        assert runs("export", *arguments, "-o", tmp_path / "no.zip", store=place)[0] == 2
    assert not (tmp_path / "no.zip").exists()


def test_an_altered_archive_is_3_and_nothing_is_imported(three, place, tmp_path):
    file, other = tmp_path / "a.zip", str(tmp_path / "other")
    said("export", "--all", "-o", file, store=place)
    file.write_bytes(file.read_bytes().replace(b"nightly", b"mightly"))
    code, out, err = runs("import", file, store=other)
    assert (code, out) == (3, "")
    assert len(err.splitlines()) == 2
    assert runs("import", tmp_path / "none.zip", store=other)[0] == 2
    assert not Path(other).exists()
    assert ids(store=other) == []


def test_a_tag_taken_here_is_told_and_kept(three, history, place, tmp_path):
    file, other = tmp_path / "a.zip", open_history(str(tmp_path / "other"))
    history.tag(three[0].id, "good")
    said("export", "good", "-o", file, store=place)
    mine = other.record(new_run(9))
    other.tag(mine.id, "good")
    other.close()
    store = str(tmp_path / "other")
    assert "not changed: tag 'good'" in said("import", file, store=store)
    again = json.loads(said("import", file, "--format", "json", store=store))
    assert [finding["code"] for finding in again["findings"]] == ["tag_not_set"]
    assert again["present"] == [three[0].id]


@pytest.fixture
def broken(tmp_path) -> tuple[str, Run]:
    """A store with a whole run, one whose file was changed, and a leftover of a kill."""
    store = str(tmp_path / "store")
    history: History = open_history(store)
    history.record(new_run(1, folder=tmp_path / "files"))
    run = history.record(new_run(2, folder=tmp_path / "files"))
    with history.file(run, "report.json") as path:
        path.write_bytes(b"{}")
        leftover = path.parents[1] / ".0123456789ab-x.part"
        leftover.mkdir()
        (leftover / "records.parquet").write_bytes(bytes(1_234))
        os.utime(leftover / "records.parquet", (0, 0))
        os.utime(leftover, (0, 0))
    history.close()
    return store, run


def test_verify_says_which_run_is_not_whole_and_gc_removes_what_is_of_none(broken):
    store, run = broken
    code, out, err = runs("verify", store=store)
    assert (code, err) == (3, "")
    assert out.splitlines()[0] == "FAIL  1 run is intact; 1 is not"
    assert f"\nFaults\n  {run.shown}: report.json: " in out
    assert "\nFiles that belong to no run\n  a process is writing them, or was killed;" in out
    verified = json.loads(runs("verify", "--format", "json", store=store)[1])
    assert verified["pass"] is False
    assert verified["finding_counts"] == {"not_whole": 1}
    assert [found["where"] for found in verified["findings"]] == [run.id]
    assert verified["coverage"] == {"runs": 2, "whole": 1}
    assert list(verified["faults"]) == [run.id]
    assert len(verified["leftovers"]) == 1
    removed = said("gc", store=store).splitlines()
    assert removed[0].endswith("/.0123456789ab-x.part (1,234 bytes)")
    assert removed[1:] == ["freed 1,234 bytes"]
    assert json.loads(runs("verify", "--format", "json", store=store)[1])["leftovers"] == []
    assert said("gc", store=store) == "Nothing to remove.\n"


@pytest.mark.parametrize("bad", [slice(0, 16), slice(100, 4_096)])  # the header, the schema
def test_a_damaged_database_is_3_to_verify_and_2_to_others(broken, bad):
    store, _ = broken
    database = Path(store) / "history.sqlite"
    content = bytearray(database.read_bytes())
    content[bad] = b"\xff" * len(content[bad])
    database.write_bytes(content)
    code, out, err = runs("verify", store=store)
    assert (code, out) == (3, "")
    assert "history.sqlite: " in err
    assert runs("list", store=store)[0] == 2


@pytest.mark.parametrize("damage", [b"\xff", b","])
def test_a_run_whose_rows_cannot_be_read_leaves_the_others_to_be_checked(tmp_path, damage):
    """Bytes that are no text, and text that is no JSON, in the columns of one row."""
    store = str(tmp_path / "store")
    with closing(open_history(store)) as history:
        whole, torn = history.record(new_run(1)), history.record(new_run(2))
    with closing(sqlite3.connect(tmp_path / "store/history.sqlite")) as database:
        database.execute(
            'UPDATE run_units SET "values" = CAST(? AS TEXT) '
            "WHERE place = 0 AND run = (SELECT number FROM runs WHERE id = ?)",
            (damage, torn.id),
        )
        database.commit()
    code, out, err = runs("verify", "--format", "json", store=store)
    assert (code, err) == (3, "")
    found = json.loads(out)
    assert found["whole"] == [whole.id]
    assert "cannot be read: the database is damaged" in found["faults"][torn.id][0]


def test_gc_removes_gold_sets_of_removed_runs(three, history, place):
    sha256 = three[0].record.gold_sha256
    assert history.gold(sha256)
    said("rm", *(run.id for run in three), store=place)
    assert sha256[:12] in said("gc", store=place)
    assert history.gold(sha256) == []


def test_no_history_is_an_empty_list_and_nothing_is_made(tmp_path):
    store = str(tmp_path / "none")
    assert "ragauge score gold.jsonl traces.jsonl --record" in said("list", store=store)
    listed = json.loads(said("list", "--format", "json", store=store))
    assert [listed["runs"], listed["more"]] == [[], False]
    for arguments in (
        ("show", "latest"),
        ("tag", "latest", "good"),
        ("rm", "latest"),
        ("verify",),
        ("gc",),
        ("export", "--all", "-o", tmp_path / "x.zip"),
    ):
        code, out, err = runs(*arguments, store=store)
        assert (code, out) == (2, "")
        assert "there is no history yet" in err
    assert not list(tmp_path.iterdir())


def test_a_database_without_tables_is_an_empty_list_too(postgres):
    assert said("list", store=postgres).startswith("No runs yet in postgresql://")
    assert json.loads(said("list", "--format", "json", store=postgres))["runs"] == []
    code, out, err = runs("show", "latest", store=postgres)
    assert (code, out) == (2, "")
    assert "there is no history yet" in err


def test_a_run_that_regressed_is_shown_and_passed_over(three, history, place):
    trial, red, green = three
    history.regressed(trial.id, green.id)
    shown = said("show", trial.shown, "--identity", store=place)
    assert shown.startswith("REGRESSED  trial, stability (")
    assert f"  regressed: against {green.shown}\n" in shown
    assert "REGRESSED" in said("list", store=place)
    assert ids("--green", store=place) == [green.id]
    assert ids("--red", store=place) == [trial.id, red.id]
    shown = json.loads(said("show", f"commit:{'b' * 8}", "--format", "json", store=place))
    assert (shown["id"], shown["regressions"]) == (trial.id, [green.id])


def test_an_empty_history_is_an_empty_list(history, place):
    assert said("list", store=place).startswith("No runs yet in ")
    assert runs("show", "latest", store=place)[0] == 2


def test_the_store_may_stand_in_the_environment_and_in_the_project(tmp_path):
    history = open_history(str(tmp_path / "kept"))
    history.record(new_run(1))
    history.close()
    by_name = ragauge("runs", "list", RAGAUGE_STORE=str(tmp_path / "kept"))
    assert by_name.stdout.startswith(b"1 run in ")
    (tmp_path / "ragauge.toml").write_text('store = "kept"\n')
    assert ragauge("runs", "list", cwd=tmp_path).stdout.startswith(b"1 run in ")
    project = tmp_path / "project"
    (project / ".ragauge").mkdir(parents=True)
    Path(tmp_path / "kept/history.sqlite").rename(project / ".ragauge/history.sqlite")
    (tmp_path / "ragauge.toml").unlink()
    assert ragauge("runs", "list", cwd=project).stdout.startswith(b"1 run in ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "\udcff"),
        ("rm", "\udcff"),
        ("tag", "latest", "\udcff"),
        ("tag", "--delete", "\udcff"),
        ("list", "--name", "\udcff"),
        ("list", "--label", "model=\udcff"),
    ],
)
def test_bytes_that_are_no_text_are_2(arguments, tmp_path):
    code, out, err = runs(*arguments, store=str(tmp_path))
    assert (code, out) == (2, "")
    assert "is not UTF-8 text" in err


def test_a_file_name_need_not_be_text(tmp_path):
    store, file = str(tmp_path / "store"), tmp_path / "\udcff.zip"
    history = open_history(store)
    history.record(new_run(1))
    history.close()
    done = said("export", "--all", "-o", file, "--format", "json", store=store)
    assert json.loads(done)["file"].endswith("/\\udcff.zip")
    done = said("import", file, "--format", "json", store=store)
    assert len(json.loads(done)["present"]) == 1


def test_foreign_text_reaches_no_terminal_as_it_is(history, place):
    text = "\x1b[31mred\x07 ::error::x"
    history.record(new_run(1, name=text, labels={text: text}))
    for arguments in (
        ("list",),
        ("show", "latest"),
        ("tag", "latest", "t"),
        ("rm", "t", "--force"),
    ):
        done = ragauge("runs", *arguments, "--store", place)
        assert done.returncode == 0
        assert b"\x1b" not in done.stdout and b"\x07" not in done.stdout
        assert b" ::error" not in done.stdout


def of_older_metrics(run: Run, history: History, folder: Path) -> Run:
    """The same run as an earlier version of a metric would have left it."""
    id = "quality.precision_cited"
    one = run.record.metrics[id]
    signature = re.sub(r"\|v\d+", "|v0", one.signature)
    older_one = msgspec.structs.replace(one, version=0, signature=signature)
    metrics = run.record.metrics | {id: older_one}
    files = {}
    for name in run.record.files:
        with history.file(run, name) as path:
            files[name] = folder / name
            files[name].write_bytes(path.read_bytes())
    older = msgspec.structs.replace(run.record, metrics=metrics, name="older")
    gold = history.gold(run.record.gold_sha256)
    units = list(history.units(run.id))
    return history.record(NewRun(record=older, units=units, gold=gold, files=files))


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_runs_of_two_metric_versions_can_be_compared_after_a_rescore(
    scored, history, place, tmp_path
):
    older = of_older_metrics(scored, history, tmp_path)
    refused = ragauge("compare", older.id, scored.id, "--store", place)
    words = refused.stderr.decode()
    assert refused.returncode == 3
    assert "quality.precision_cited: not comparable, it is version 0 before and " in words
    assert f"`ragauge runs rescore {older.shown}` scores its kept answers again" in words
    done = ragauge("runs", "rescore", older.id, "--store", place)
    assert done.returncode == 0, done.stderr
    assert (
        done.stdout
        == ragauge("runs", "show", scored.id, "--store", place).stdout.partition(b"\n\n")[2]
    )
    assert b"quality.precision_cited (v0, now v" in done.stderr
    made = history.find("latest")
    assert made.record.identity["origin"] == older.id
    assert (made.record.name, made.record.git) == ("older", older.record.git)
    assert made.record.metrics == scored.record.metrics
    assert made.record.configuration_sha256 == scored.record.configuration_sha256
    compared = ragauge("compare", made.id, scored.id, "--store", place)
    assert compared.returncode == 0, compared.stderr
    assert history.verify().faults == {}


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_run_without_its_texts_or_of_another_command_is_not_scored_again(
    three, history, place, parity
):
    gold, traces = parity
    bare = record(score(str(gold), [str(traces)]), history, keep=False)
    for run, words in {
        bare.id: f"run {bare.shown}: its answers were not kept",
        three[0].id: f"run {three[0].shown}: its answers were not kept",
        history.record(new_run(7, command="eval ner")).id: "is not scored again from what is kept",
    }.items():
        code, out, err = runs("rescore", run, store=place)
        assert (code, out) == (2, "") and words in err


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_sweep_is_scored_again_from_its_kept_runs(history, place, tmp_path):
    runs_file = tmp_path / "runs.jsonl"
    gold = tmp_path / "gold.jsonl"
    gold.write_text("".join(GOLD.read_text("utf-8").splitlines(keepends=True)[:3]))
    done = ragauge("sweep", gold, "--demo", "--seeds", "0,1", "--out", runs_file, "--quiet")
    assert done.returncode == 0, done.stderr
    first = record(stability(str(gold), str(runs_file)), history)
    done = ragauge("runs", "rescore", first.id, "--store", place, "--quiet")
    assert done.returncode == 0, done.stderr
    made = history.find("latest")
    assert made.record.metrics == first.record.metrics
    assert made.record.identity == {**first.record.identity, "origin": first.id}


NOTHING = Rule(metric="quality.in_scope", op=">=", bound=0)
"""The gate of a run with nothing to score; its bound is an integer."""


def outcome_of(kind: str) -> Outcome:
    """The example of a kind of report as a runner would hand it over, with nothing to score."""
    report = msgspec.convert(examples(kind)[0], RECORDS[kind])
    gate = decide(NOTHING, Score(value=None, n=0, of=3, reason="no citations"))
    report = msgspec.structs.replace(report, gates=(*report.gates, gate))
    measured = {
        id: Measured(
            version=1,
            better="higher",
            values=np.array([0.5, np.nan]),
            counts=np.array([[1, 2], [0, 0]]),
            total="sums",
        )
        for id in report.metrics
    }
    units = UnitRows(
        ids=["a", "b"], labels=["OK", None], right=[True, None], details={}, measured=measured
    )
    identity = {"command": kind, **getattr(report, "identity", {}), "gold_sha256": None}
    return Outcome(report=report, units=units, gold=[], record_rows=None, identity=identity)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_every_kind_of_report_is_recorded_exported_imported_and_verified(history, place, tmp_path):
    kinds = [kind.record for kind in SHOWN.values()]
    recorded = [record(outcome_of(kind), history, name=kind) for kind in kinds]
    assert all(run.record.id == run.id for run in recorded)
    there, archive, again = str(tmp_path / "there"), tmp_path / "a.zip", tmp_path / "b.zip"
    said("export", "--all", "-o", archive, store=place)
    said("import", archive, store=there)
    assert f"{len(kinds)} runs are intact" in said("verify", store=there)
    said("export", "--all", "-o", again, store=there)
    assert again.read_bytes() == archive.read_bytes()


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_run_of_before_whose_bound_is_an_integer_travels_too(history, place, tmp_path):
    """An older version hashed the bound `0` as it was; it is read as 0.0."""
    gate = decide(NOTHING, Score(value=None, n=0, of=3, reason="no citations"))
    old = history.record(new_run(1, gates=(gate,)))
    assert b'"bound":0,' in history.document(old.id)
    archive, there = tmp_path / "a.zip", str(tmp_path / "there")
    said("export", "--all", "-o", archive, store=place)
    said("import", archive, store=there)
    assert ids(store=there) == [old.id]
    assert "1 run is intact" in said("verify", store=there)
