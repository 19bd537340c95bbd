"""An audit that had nothing to look at, or only a part of it, does not pass."""

from __future__ import annotations

import pytest

from ragauge import CitationValidator, audit
from tests.runners.audited import (
    C1,
    C2,
    HOLDING,
    payload,
    rev_of,
    span,
    trace,
    write_lines,
    written,
)


def gates_of(report):
    return {gate.metric.partition(".")[2]: gate.verdict for gate in report.gates}


def test_refusals_alone_say_nothing_about_citations(tmp_path):
    report = audit(write_lines(tmp_path / "t.jsonl", [HOLDING[2]] * 3)).report
    assert gates_of(report)["valid"] == "not_evaluated"
    assert not report.passed


@pytest.mark.parametrize("blank", ["", "\n\n"])
def test_a_file_without_traces_beside_one_with_some(tmp_path, blank):
    empty = tmp_path / "blank.jsonl"
    empty.write_text(blank)
    full = write_lines(tmp_path / "full.jsonl", HOLDING)
    assert audit([full, empty]).report.coverage.traces == len(HOLDING)


def test_coverage_counts_chunks_that_tell_a_place_and_no_others(tmp_path):
    """One chunk without its tokens does not take the trace, and its low coverage, away."""
    little = payload("c1", 0, 2)
    torn = payload("c9", 2, 90, 2, tokens=...)
    files = written(tmp_path, [trace("q1", ["c1"], little, torn)])
    report = audit(files.traces, gold=files.gold).report
    assert report.metrics["traceability.coverage"].value == pytest.approx(0.02)
    assert gates_of(report)["coverage"] == "fail"


@pytest.mark.parametrize("counted", ["utf-16", "bytes"])
def test_spans_in_other_units_are_counted_as_the_gold_is(tmp_path, counted):
    text = "🏛é" * 50 + "The safe opens at nine."
    start, end = 100, len(text)
    encoding = {"utf-16": ("utf-16-le", 2), "bytes": ("utf-8", 1)}[counted]
    before = len(text[:start].encode(encoding[0])) // encoding[1]
    whole = len(text.encode(encoding[0])) // encoding[1]
    chunk = payload("s", 0, 4, doc_id="safe", section_id="safe", rev=rev_of(text))
    chunk |= {"offsets": {"start": before, "end": whole}, "text": text[start:end]}
    place = {**span("safe", start, end), "doc_id": "safe"}
    gold = {"qid": "q1", "question": "When?", "answerable": True, "gold_claim": "nine"}
    files = written(
        tmp_path,
        [trace("q1", ["s"], chunk)],
        [{**gold, "target_section": place, "anchor": place}],
    )
    (files.docs / "safe.md").write_text(text, encoding="utf-8")
    found = audit(files.traces, gold=files.gold, docs=files.docs, offsets_in=counted).report
    told = {
        name: found.metrics[f"traceability.{name}"].value for name in ("coverage", "match_rate")
    }
    assert told == {"coverage": pytest.approx(1), "match_rate": 1}
    bare = audit(files.traces, gold=files.gold, offsets_in=counted).report
    assert bare.metrics["traceability.coverage"].value is None
    assert "not in code points" in bare.metrics["traceability.coverage"].reason


def test_an_audit_that_failed_is_false():
    assert CitationValidator()([C1], [C1, C2])
    assert not CitationValidator()(["c9"], [C1, C2])


def test_a_refusal_says_nothing_else():
    validator = CitationValidator()
    beside = {"text": "The safe opens at five.", "citations": ["c9"]}
    said = {"answer": "not in context", "citations": [], "segments": [beside]}
    assert validator(said, [C1]).code == "not_retrieved"
    alike = {"text": "not in context", "citations": []}
    assert validator({**said, "segments": [alike]}, [C1]).kind == "refusal"
