"""What commands print and pages show is what was kept; `make golden` keeps what they say now."""

import difflib
import json
from pathlib import Path

import pytest

from tests.golden.goldens import EXPECTED, goldens, made
from tests.golden.workspace import build

ALL = goldens()
SHOWN = 60
"""Lines of a difference: more are not read."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    build(folder)
    return folder


@pytest.mark.parametrize("name", ALL)
def test_the_output_is_the_one_that_was_kept(name, folder):
    kept = EXPECTED / name
    assert kept.exists(), f"{name} was never kept: run `make golden`"
    found, expected = made(ALL[name], folder), kept.read_bytes().decode()
    if found != expected:
        pytest.fail(
            f"{name} changed; if it should, run `make golden`\n{difference(expected, found)}"
        )


def test_nothing_is_kept_that_no_command_prints():
    assert {path.name for path in EXPECTED.iterdir()} == set(ALL)


def difference(expected: str, found: str) -> str:
    """The lines that changed; JSON is compared key by key."""
    lines = list(
        difflib.unified_diff(readable(expected), readable(found), "kept", "now", lineterm="", n=1)
    )
    more = [f"… and {len(lines) - SHOWN} lines more"] if len(lines) > SHOWN else []
    return "\n".join([*lines[:SHOWN], *more])


def readable(text: str) -> list[str]:
    head, _, body = text.partition("\n")
    try:
        return [head, *json.dumps(json.loads(body), indent=1, ensure_ascii=False).splitlines()]
    except ValueError:
        return text.splitlines()


def test_a_difference_is_shown_by_key():
    before, now = 'exit 0\n{"a": {"b": 1}, "c": 2}', 'exit 0\n{"a": {"b": 3}, "c": 2}'
    assert [line for line in difference(before, now).splitlines() if line[:1] in "+-"][2:] == [
        '-  "b": 1',
        '+  "b": 3',
    ]
