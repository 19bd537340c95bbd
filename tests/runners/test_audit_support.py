"""The last depth of an audit: whether the cited text supports what is said."""

from __future__ import annotations

import json

import pytest

from ragauge.citations.support import CLAIM, NO_SPAN, NO_TEXT
from ragauge.citations.validator import CitationValidator, Policy
from ragauge.errors import UsageError
from ragauge.reports.rendering import render
from ragauge.runners.audit import audit
from ragauge.runners.audit_one import audit_one
from ragauge.store.documents import FolderDocuments
from tests.runners.audited import payload, trace, write_lines, written

KEYS, ACCESS, SAFE = (
    payload(f"c{place}", start, start + 80, place) for place, start in enumerate((0, 100, 200), 1)
)
RIGHT = "Keys are turned every year by two people."
WRONG = "Keys are made of melted silver in Brussels."
DOOR = "The second person waits at the door."


def answered(claim, cited=("c1",), retrieved=(KEYS, ACCESS, SAFE), **more):
    reply = {"citations": [*cited], "answer": claim, **more}
    return trace("q1", (), *retrieved, answer_json=reply)


@pytest.fixture
def files(tmp_path):
    return written(tmp_path)


def report_of(files, *traces, depth="support", **more):
    lines = write_lines(files.docs.parent / "these.jsonl", traces)
    return audit(lines, docs=files.docs, manifest=files.manifest, depth=depth, **more).report


def found(report):
    return [(one.code, one.field, one.item, one.segment) for one in report.findings]


def test_what_the_cited_text_says_holds(files):
    report = report_of(files, answered(RIGHT))
    assert report.findings == ()
    assert report.depth == "support"
    assert (report.depths["support"].checked, report.depths["support"].ok) == (1, 1)
    assert report.metrics["traceability.support"].value == 1.0
    assert "|model:groundedness/" in report.metrics["traceability.support"].signature


def test_what_it_does_not_say_is_unsupported(files):
    report = report_of(files, answered(WRONG))
    [one] = report.findings
    assert (one.code, one.field, one.item) == ("unsupported", CLAIM, 0)
    score, _, sentence = one.got.partition(" for ")
    assert 0 <= float(score) < 0.5 and sentence.startswith('"Keys are made of')
    assert sentence.endswith("; not there: melted, silver, Brussels")
    assert one.expected == "0.5 or more" and "Read the claim" in one.tip
    assert "citations[0].claim: " in one.message
    assert report.depths["support"].ok == 0 and report.depths["text"].ok == 1
    assert [(code.code, code.depth) for code in report.codes] == [("unsupported", "support")]


def test_what_another_retrieved_passage_says_is_misattributed(files):
    report = report_of(files, answered(DOOR))
    [one] = report.findings
    assert (one.code, one.field, one.got) == ("misattributed", CLAIM, "c1")
    assert one.expected.startswith('c2 supports "The second person waits at the door."')
    assert "not in the cited c1: c2 supports" in one.message
    assert report.depths["text"].ok == 1, "the pointer itself holds"
    assert report.depths["support"].ok == 0


def test_without_other_passages_it_is_unsupported(files):
    assert found(report_of(files, answered(DOOR, retrieved=(KEYS,)))) == [
        ("unsupported", CLAIM, 0, None)
    ]


def test_the_frozen_document_counts_and_not_the_logged_text(files):
    """A log that puts words into the snippet's mouth does not make them true."""
    forged = {**KEYS, "text": WRONG}
    codes = [code for code, *_ in found(report_of(files, answered(WRONG, retrieved=(forged,))))]
    assert codes == ["span_text_mismatch", "unsupported"]


def test_segments_are_each_held_against_their_own(files):
    segments = [
        {"text": RIGHT, "citations": ["c1"]},
        {"text": DOOR, "citations": ["c3"]},
        {"text": WRONG, "citations": ["c2"]},
    ]
    report = report_of(files, answered("", cited=(), segments=segments))
    assert found(report) == [("misattributed", CLAIM, 0, 1), ("unsupported", CLAIM, 0, 2)]


SEGMENTS = [{"text": RIGHT, "citations": ["c1"]}, {"text": DOOR, "citations": ["c2"]}]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (f"{RIGHT} {DOOR}", []),
        ("Two people turn the keys every year.", []),
        (f"{RIGHT} {WRONG}", [("unsupported", CLAIM, None, None)]),
        ("The safe opens at nine.", [("misattributed", CLAIM, None, None)]),
        (f"{RIGHT} Who turns them?", []),
    ],
)
def test_what_the_answer_says_beside_its_segments_is_held_against_all_that_is_cited(
    files, claim, expected
):
    report = report_of(files, answered(claim, cited=(), segments=SEGMENTS))
    assert found(report) == expected
    assert report.depths["support"].checked == 1


def test_numbers_that_are_not_there_are_named_first(files):
    report = report_of(files, answered("Keys are turned 17 times a year by three people."))
    [one] = report.findings
    assert "; not there: 17" in one.got


@pytest.mark.parametrize("broken", ["claim_findings", "uncovered_text_findings"])
def test_a_check_that_fails_is_told_and_hides_nothing(files, monkeypatch, broken):
    def failing(*_):
        raise ZeroDivisionError("float division")

    monkeypatch.setattr(f"ragauge.citations.checking.{broken}", failing)
    report = report_of(files, answered("", cited=("c9",), segments=SEGMENTS))
    assert [code for code, *_ in found(report)] == ["not_retrieved"]
    whole = report_of(files, answered(RIGHT, cited=(), segments=SEGMENTS))
    assert not whole.passed and whole.depths["support"].checked == 0
    assert "the check itself failed: ZeroDivisionError: float division" in str(
        whole.metrics["traceability.support"].reason
    )


def test_each_sentence_is_told_and_a_citation_in_vain_too(files):
    pairs = files.docs.parent / "pairs.json"
    pairs.write_text(json.dumps([["keys", "access"], ["keys", "safe"]]))
    report = report_of(
        files,
        answered(f"{RIGHT} {WRONG}", cited=("c1", "c3")),
        allow_cross_section=str(pairs),
    )
    assert [(code, item) for code, _, item, _ in found(report)] == [
        ("unsupported", None),
        ("unsupported", 1),
    ]
    assert [one.got.partition(" ")[2][:7] for one in report.findings] == ['for "Ke', "at best"]


def test_what_cannot_be_looked_at_neither_holds_nor_fails(files):
    beyond = payload("c1", 0, 9_999, 1, text=...)
    report = report_of(files, answered(RIGHT, retrieved=(beyond,)))
    assert [code for code, *_ in found(report)] == ["out_of_range"]
    assert report.depths["support"].checked == 0
    assert NO_SPAN in str(report.metrics["traceability.support"].reason)


def test_a_list_of_citations_has_nothing_to_support(files):
    documents = FolderDocuments(files.docs)
    validator = CitationValidator(None, Policy(depth="support"), documents)
    assert validator.examine([KEYS]).unjudged == (NO_TEXT,)


def test_a_refusal_needs_no_support(files):
    refusal = {"qid": "q3", "answer": "not in context", "retrieved": [KEYS]}
    report = report_of(files, answered(RIGHT), refusal)
    assert report.findings == () and report.depths["support"].checked == 1


def test_the_default_depth_stays_and_tells_nothing_of_support(files):
    report = report_of(files, answered(WRONG), depth=None)
    assert report.depth == "text" and report.findings == ()
    assert "traceability.support" not in report.metrics
    assert "not checked; use --depth support" in render(report, "markdown")


def test_the_same_with_any_number_of_workers(files):
    traces = [answered(claim) for claim in (RIGHT, WRONG, DOOR)] * 3
    one, two = (report_of(files, *traces, workers=workers) for workers in (1, 2))
    assert render(one, "json") == render(two, "json")


def test_support_needs_documents(files):
    with pytest.raises(UsageError, match="--depth support compares with documents"):
        audit(files.traces, depth="support")
    with pytest.raises(UsageError, match="depth support compares with documents"):
        CitationValidator(None, Policy(depth="support"))


@pytest.mark.parametrize(
    ("claim", "error"), [(RIGHT, None), (WRONG, "unsupported"), (DOOR, "misattributed")]
)
def test_one_reply(files, claim, error):
    reply = json.dumps({"citations": ["c1"], "answer": claim})
    told = audit_one(
        reply,
        json.dumps([KEYS, ACCESS]).encode(),
        docs=str(files.docs),
        manifest=str(files.manifest),
        depth="support",
    )
    assert told["ok"] is (error is None)
    assert told.get("error") == error


def test_one_reply_without_a_text_is_not_checked(files):
    told = audit_one(
        json.dumps([KEYS]),
        None,
        docs=str(files.docs),
        manifest=str(files.manifest),
        depth="support",
    )
    assert (told["error"], told["field"], told["got"]) == ("not_checked", CLAIM, NO_TEXT)
