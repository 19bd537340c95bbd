"""A drift report in each of its forms: it tells what differs, and obeys nobody."""

from __future__ import annotations

import json

import jsonschema
import pytest

from ragauge.citations.drift import drift
from ragauge.contracts.drift import DriftReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.schemas import schema
from ragauge.reports.rendering import render

HOSTILE = "\x1b[31mred\n\u202e::error::| `x`"
WAS = Manifest(
    chunker="sections:200", doc_revs={f"d{n:02}": "1" for n in range(30)}, chunks=60
).hashed()
NOW = Manifest(
    chunker="sections:400", doc_revs={f"d{n:02}": "2" for n in range(30)}, chunks=60
).hashed()
REPORT = drift(WAS, NOW, "old.json", "new.json")
ALIKE = drift(WAS, WAS, "old.json", "new.json")
SPOILT = drift(
    Manifest(chunker=HOSTILE, doc_revs={HOSTILE: "1"}, extra={HOSTILE: 1}),
    Manifest(chunker="x", doc_revs={HOSTILE: HOSTILE}, extra={HOSTILE: 2}),
    HOSTILE,
    HOSTILE,
)
NOTHING = drift(Manifest(chunker="x"), Manifest(hash="1"))
LITTLE = drift(Manifest(chunker="x"), Manifest(chunker="x"))
FORMS = KINDS[DriftReport].forms


@pytest.mark.parametrize("report", [REPORT, ALIKE, SPOILT, NOTHING, LITTLE])
def test_the_json_is_as_its_schema_says_and_reads_back(report):
    written = json.loads(render(report, "json"))
    jsonschema.Draft202012Validator(schema("drift-report")).validate(written)
    assert {"schema", "pass", "metrics", "gates", "findings", "coverage"} <= written.keys()
    assert written["pass"] == report.passed


def test_a_manifest_is_as_its_schema_says():
    jsonschema.Draft202012Validator(schema("manifest")).validate({"hash": "1", "mine": 2})
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"doc_revs": {"a": 1}}, schema("manifest"))


@pytest.mark.parametrize("form", FORMS)
def test_no_form_lets_an_escape_or_a_line_of_theirs_through(form):
    written = render(SPOILT, form)
    assert written.endswith("\n") and written == render(SPOILT, form)
    assert not {"\x1b", "\u202e"} & {*written}
    assert not any(line.lstrip().startswith("::") for line in written.splitlines())


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_person_reads_that_nothing_differs_or_could_be_compared(form):
    assert "he same index: 4 fields compared, no difference" in render(ALIKE, form)
    assert "PASS" in render(ALIKE, form)
    for report, facts in (
        (NOTHING, "ompared nothing; in one manifest only: chunker, hash"),
        (LITTLE, "ompared chunker"),
    ):
        told = " ".join(render(report, form).split())
        assert "FAIL" in told and "o difference, but too few fields in both" in told
        assert facts in told


def test_the_terminal_page_is_as_wide_as_it_may_be():
    for width in (40, 72, 100):
        assert max(map(len, render(REPORT, "text", width=width).splitlines())) <= width
    assert render(REPORT, "text", color=True) != render(REPORT, "text")
