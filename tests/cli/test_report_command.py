"""`ragauge report`: a recorded run as one file, in a real process."""

from __future__ import annotations

import re

import pytest

from tests.cli.command import ragauge
from tests.dashboard.small_history import small_history


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> str:
    return small_history(tmp_path_factory.mktemp("report"))


def test_a_run_becomes_a_file_that_is_whole(place, tmp_path):
    out = tmp_path / "report.html"
    done = ragauge("report", "latest", "--store", place, "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b""
    assert f"wrote {out}" in done.stderr.decode()
    text = out.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert text.endswith("</html>\n")
    assert [*tmp_path.iterdir()] == [out], "nothing is left beside it"


def test_it_goes_to_stdout_and_is_the_same_every_time(place, tmp_path):
    out = tmp_path / "report.html"
    ragauge("report", "latest", "--store", place, "-o", out, "--quiet")
    for _ in range(2):
        done = ragauge("report", "latest", "--store", place, "-o", "-")
        assert done.stderr == b""
        assert done.stdout == out.read_bytes()


def test_it_is_compared_with_an_earlier_run(place):
    done = ragauge("report", "latest", "--compare", "latest", "--store", place, "-o", "-")
    assert b'id="at.compare"' in done.stdout
    assert b'id="at.compare"' not in ragauge("report", "latest", "--store", place, "-o", "-").stdout


def test_how_much_it_holds_can_be_said(place):
    done = ragauge("report", "latest", "--store", place, "-o", "-", "--rows", 2, "--whole", 1)
    text = done.stdout.decode()
    assert "The first 2 of 4 questions" in text
    assert "3 more are not in this file" in text
    assert len(re.findall(r'<details class="question opened">', text)) == 1
    none = ragauge("report", "latest", "--store", place, "-o", "-", "--whole", 0)
    assert b'id="at.views"' not in none.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nobody", "-o", "x.html"), "no run"),
        (("latest", "-o", "nowhere/x.html"), "does not exist"),
        (("latest", "-o", "."), "is a folder"),
        (("latest", "-o", "x.html", "--compare", "green@nowhere"), "green@nowhere"),
        (("latest", "-o", "x.html", "--manifest", "m.json"), "--docs"),
        (("latest",), "--out"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_is_written(arguments, words, place, tmp_path):
    done = ragauge("report", *arguments, "--store", place, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_is_quick_and_has_an_example():
    done = ragauge("report", "-h")
    assert b"ragauge report latest --compare green@main -o report.html" in done.stdout
