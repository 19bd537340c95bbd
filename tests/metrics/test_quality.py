"""Every sentence of the quality specification, through files and the real runner."""

import hashlib
import importlib.util
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge import constraint_lock, score
from ragauge.contracts.metric import Facts
from ragauge.metrics.quality import label, triage
from ragauge.stats.intervals import wilson

ROOT = Path(__file__).resolve().parents[2]
TEN = (
    "precision_cited",
    "precision_strict",
    "under_refusal",
    "over_refusal",
    "citation_hit_rate",
    "chr_shipped",
    "compliance",
    "claim_containment",
    "out_of_scope",
    "gold_retrieved@5",
)


def report_of(folder, gold, traces, **options):
    for name, records in (("gold.jsonl", gold), ("traces.jsonl", traces)):
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        (Path(folder) / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return score(Path(folder) / "gold.jsonl", [Path(folder) / "traces.jsonl"], **options).report


def counts(report, name):
    """A rate's numerator and denominator; (0, 0) where it has no value."""
    found = report.metrics[f"quality.{name}"]
    if found.value is None:
        assert found.reason
        return 0, found.n
    yes = round(found.value * found.n)
    assert found.value == pytest.approx(yes / found.n, abs=1e-12)
    return yes, found.n


# The parity fixture.

PARITY_GOLD = [
    ["q1", "What is X?", True, ["p1#1"], "X is a constrained mapping."],
    ["q2", "Explain Y.", True, ["p2#1"], "Y is unrelated to X."],
    ["q3", "What is Z?", False, [], ""],
    ["q4", "Summarize the external link.", False, [], ""],
]
PARITY_ANSWERS = (
    "- claim: X is a constrained mapping.\n- citations: [p1#1]",
    "Y is unrelated to X.\ncitations: [p1#1]",
    "not in context",
    "Not in context.",
)
EXACT = {
    "precision_cited": (1, 3),
    "over_refusal": (0, 2),
    "under_refusal": (1, 2),
    "citation_hit_rate": (1, 2),
    "chr_shipped": (1, 2),
    "claim_containment": (2, 2),
    "compliance": (3, 4),
    "precision_strict": (0, 0),
    "out_of_scope": (0, 0),
    "gold_retrieved@5": (0, 0),
}
NEAR = EXACT | {"precision_cited": (1, 2), "under_refusal": (0, 2), "compliance": (4, 4)}


@pytest.mark.parametrize("canon", ["unicode", "reference"])
@pytest.mark.parametrize(
    ("preset", "refusal", "numbers", "last"),
    [
        (None, "exact", EXACT, "REFUSAL_MALFORMED"),
        ("example08", "exact", EXACT, "HALLUCINATION"),
        ("example08", None, EXACT, "HALLUCINATION"),
        (None, "near", NEAR, "REFUSAL_OK"),
        ("example08", "near", NEAR, "REFUSAL_OK"),
        ("ship", "exact", EXACT, "REFUSAL_MALFORMED"),
        ("ship", None, NEAR, "REFUSAL_OK"),
        (None, None, NEAR, "REFUSAL_OK"),
    ],
)
def test_the_parity_fixture(tmp_path, preset, refusal, numbers, last, canon):
    names = ("qid", "q", "answerable", "gold_ids", "gold_claim")
    gold = [dict(zip(names, row, strict=True)) for row in PARITY_GOLD]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "traces.jsonl").write_text(
        "\n".join(
            json.dumps({"ts": 1, "q": asked["q"], "answer": answer, "ok": True})
            for asked, answer in zip(gold, PARITY_ANSWERS, strict=True)
        )
    )
    report = score(
        tmp_path / "gold.json",
        tmp_path / "traces.jsonl",
        preset=preset,
        refusal=refusal,
        canon=canon,
    ).report
    assert report.coverage.scored == 4
    assert {name: counts(report, name) for name in TEN} == numbers
    labels = [row.label for row in report.questions]
    assert labels == ["OK", "ANS_NO_HIT", "REFUSAL_OK", last]
    assert report.labels == Counter(labels)
    assert report.passed is (None if preset is None else False)
    yes, of = numbers["precision_cited"]
    assert report.metrics["quality.precision_cited"].ci == pytest.approx(wilson(yes / of, of))


# A plain twin, written from the definitions alone.


class Asked(NamedTuple):
    answerable: bool
    gold_ids: tuple[str, ...]


class Told(NamedTuple):
    """A trace, by what it means; how it is written down is another matter."""

    says: str
    cited: tuple[str, ...]
    retrieved: tuple[str, ...] | None
    dialect: str


def twin(asked: Asked, told: Told | None, refusal: str) -> dict[str, bool]:
    """Each metric whose denominator the question is in, and whether it is in the numerator."""
    if told is None or told.says in ("error", "empty"):
        lost = {"compliance": False}
        hittable = asked.answerable and asked.gold_ids
        return lost | {"citation_hit_rate": False} if hittable else lost
    refused = told.says == "exact" or (told.says == "near" and refusal != "exact")
    hit = bool({*told.cited} & {*asked.gold_ids}) if asked.gold_ids else None
    in_scope = None if told.retrieved is None else {*told.cited} <= {*told.retrieved}
    contained = told.says == "right"
    found = {"compliance": refused or (told.says != "near" and bool(told.cited))}
    if asked.answerable:
        found["over_refusal"] = refused
        found["claim_containment"] = not refused and contained
        if hit is not None:
            found["citation_hit_rate"] = not refused and bool(hit)
        if told.retrieved is not None and asked.gold_ids:
            found["gold_retrieved@5"] = {*asked.gold_ids} <= {*told.retrieved[:5]}
        if not refused and hit is not None:
            found["chr_shipped"] = hit
            found["precision_cited"] = hit
            if in_scope is not None:
                found["precision_strict"] = hit and in_scope and contained
    else:
        found["under_refusal"] = not refused
        if not refused:
            found["precision_cited"] = False
            if in_scope is not None:
                found["precision_strict"] = False
    if not refused and in_scope is not None:
        found["out_of_scope"] = not in_scope
    return found


def twin_due(asked: Asked, told: Told | None, refusal: str) -> set[str]:
    """The metrics that should have a value for the question, whether or not they have one."""
    answered = told is not None and told.says not in ("error", "empty")
    refused = answered and (told.says == "exact" or (told.says == "near" and refusal != "exact"))
    due = {"compliance"}
    if asked.answerable:
        due |= {"over_refusal", "claim_containment", "citation_hit_rate", "gold_retrieved@5"}
    else:
        due |= {"under_refusal"}
    if not refused:
        due |= {"precision_cited", "precision_strict", "out_of_scope"}
        due |= {"chr_shipped"} if asked.answerable else set()
    return due


def twin_label(asked: Asked, told: Told | None, refusal: str, brief: bool) -> str:
    if told is None:
        return "MISSING"
    if told.says in ("error", "empty"):
        return "ERROR"
    if told.says == "near" and refusal == "exact" and not brief:
        return "REFUSAL_MALFORMED"
    if told.says == "exact" or (told.says == "near" and refusal != "exact"):
        return "OVER_REFUSAL" if asked.answerable else "REFUSAL_OK"
    if not asked.answerable:
        return "HALLUCINATION"
    hit = {*told.cited} & {*asked.gold_ids} if asked.gold_ids else told.says == "right"
    return "OK" if hit else "ANS_NO_HIT"


SAID = {
    "right": "It is a Constrained-Mapping.",
    "wrong": "It is something else.",
    "exact": " Not in  context",
    "near": "Not in context.",
    "empty": "",
    "error": "",
}


def written(qid: str, told: Told) -> dict[str, object]:
    text, ids = SAID[told.says], list(told.cited)
    retrieved = None if told.retrieved is None else list(told.retrieved)
    if told.says == "error":
        return {"qid": qid, "status": "error", "error": "timeout", "retrieved_ids": retrieved}
    if told.dialect == "A":
        chunks = None if retrieved is None else [{"id": id} for id in retrieved]
        record = {"q": f"Question {qid}?", "chunks": chunks}
        if told.says in ("right", "wrong"):
            return record | {"answer": f"- claim: {text}\n- citations: [{', '.join(ids)}]"}
        return record | {"answer": text, "citations": ids}
    answer = {"claim": text, "citations": ids}
    return {"qid": qid, "retrieved_ids": retrieved, "answer_json": answer}


POOL = tuple(f"p{number}#1" for number in range(8))
drawn_ids = st.lists(st.sampled_from(POOL), max_size=7, unique=True).map(tuple)
askeds = st.builds(Asked, st.booleans(), drawn_ids.map(lambda ids: ids[:2]))
tolds = st.builds(
    Told,
    st.sampled_from((*SAID, "right", "wrong")),
    drawn_ids.map(lambda ids: ids[:3]),
    st.none() | drawn_ids,
    st.sampled_from("AB"),
)
sets = st.lists(st.tuples(askeds, st.lists(tolds, max_size=3)), min_size=1, max_size=8).filter(
    lambda questions: any(traces for _, traces in questions)
)


@given(
    sets,
    st.sampled_from(("exact", "near", "auto")),
    st.sampled_from(("question", "trace")),
    st.sampled_from((None, "example08")),
)
def test_all_ten_numbers_and_labels_equal_the_plain_twin(questions, refusal, each, preset):
    gold = [
        {
            "qid": f"q{number}",
            "question": f"Question q{number}?",
            "answerable": asked.answerable,
            "gold_claim_substr": ["constrained mapping"],
            "gold_citations": asked.gold_ids,
        }
        for number, (asked, _) in enumerate(questions)
    ]
    traces = [
        written(f"q{number}", told)
        for number, (_, told_all) in enumerate(questions)
        for told in told_all
    ]
    units = [
        (asked, told)
        for asked, told_all in questions
        for told in ((told_all if each == "trace" else told_all[-1:]) or [None])
    ]
    with tempfile.TemporaryDirectory() as folder:
        report = report_of(folder, gold, traces, refusal=refusal, each=each, preset=preset)

    expected = {name: [0, 0] for name in TEN}
    for asked, told in units:
        for name, yes in twin(asked, told, refusal).items():
            expected[name][0] += yes
            expected[name][1] += 1
    assert {name: list(counts(report, name)) for name in TEN} == expected
    due = Counter(name for asked, told in units for name in twin_due(asked, told, refusal))
    assert {name: report.metrics[f"quality.{name}"].of for name in TEN} == {
        name: due[name] for name in TEN
    }
    brief = preset == "example08"
    labels = Counter(twin_label(asked, told, refusal, brief) for asked, told in units)
    assert report.labels == labels
    assert report.coverage.missing == sum(not told_all for _, told_all in questions)
    assert report.finding_counts.get("no_gold_citations", 0) == sum(
        asked.answerable and not asked.gold_ids for asked, _ in questions
    )


def test_three_thousand_generated_traces_equal_the_stdlib_loop(tmp_path):
    generate, loop = (benchmark(name) for name in ("generate", "stdlib_loop"))
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    generate.generate(3_000, 400, gold, traces, seed=7)
    report = score(gold, [traces], each="trace", refusal="exact").report
    assert report.coverage.missing == report.coverage.unknown == report.coverage.rejected == 0
    assert {name: list(counts(report, name)) for name in TEN} == loop.score(gold, traces)


def benchmark(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Single sentences.


def question(qid="q1", answerable=True, **fields):
    given = {"gold_claim_substr": ["constrained mapping"], "gold_citations": ["p1#1"]}
    return {"qid": qid, "question": f"{qid}?", "answerable": answerable, **given, **fields}


def answer(qid="q1", claim="A constrained mapping.", cited=("p1#1",), **fields):
    return {"qid": qid, "answer_json": {"claim": claim, "citations": cited}, **fields}


def refused(qid="q1", **fields):
    return answer(qid, "not in context", (), **fields)


ERROR = {"qid": "q1", "status": "error", "error": "timeout", "retrieved_ids": ["p1#1"]}
OTHER = answer("q2", retrieved_ids=["p1#1"])


@pytest.mark.parametrize("traces", [[ERROR, OTHER], [OTHER]], ids=["error", "missing"])
@pytest.mark.parametrize("answerable", [True, False])
def test_a_question_without_an_answer_leaves_all_denominators_but_two(tmp_path, traces, answerable):
    report = report_of(tmp_path, [question(answerable=answerable), question("q2")], traces)
    expected = dict.fromkeys(TEN, 1) | {"compliance": 2, "under_refusal": 0}
    expected["citation_hit_rate"] = 1 + answerable
    assert {name: report.metrics[f"quality.{name}"].n for name in TEN} == expected
    assert not report.passed


@pytest.mark.parametrize("preset", [None, "example08", "ship", "integrity"])
@pytest.mark.parametrize(("traces", "failing"), [([OTHER], "coverage"), ([ERROR, OTHER], "errors")])
def test_every_preset_gates_coverage_and_errors(tmp_path, preset, traces, failing):
    report = report_of(tmp_path, [question(), question("q2")], traces, preset=preset)
    verdicts = {verdict.metric: verdict.verdict for verdict in report.gates}
    assert verdicts[f"quality.{failing}"] == "fail"
    assert not report.passed


@pytest.mark.parametrize("text", ["", "  ", None])
def test_an_empty_answer_is_an_error_record(tmp_path, text):
    report = report_of(tmp_path, [question()], [{"qid": "q1", "answer": text}])
    assert report.labels == {"ERROR": 1}
    assert report.finding_counts["error_record"] == 1


def test_no_gold_citations_means_hit_null_and_counted(tmp_path):
    gold = [question(gold_citations=[]), question("q2")]
    report = report_of(tmp_path, gold, [answer(), answer("q2")])
    assert [row.hit for row in report.questions] == [None, True]
    assert counts(report, "precision_cited") == counts(report, "citation_hit_rate") == (1, 1)
    assert report.finding_counts["no_gold_citations"] == 1


def test_unknown_retrieved_ids_leave_strict_precision_and_scope(tmp_path):
    report = report_of(
        tmp_path, [question(), question("q2")], [answer(), answer("q2", retrieved_ids=["p1#1"])]
    )
    assert [row.in_scope for row in report.questions] == [None, True]
    assert counts(report, "precision_strict") == (1, 1)
    assert counts(report, "out_of_scope") == (0, 1)
    assert counts(report, "precision_cited") == (2, 2)


@pytest.mark.parametrize(
    ("retrieved", "expected"),
    [
        (["a", "b", "c", "d", "p1#1", "p2#1"], {"1": 0, "5": 0, "10": 1}),
        (["p1#1", "p2#1"], {"1": 0, "5": 1, "10": 1}),
        (["p1#1"] * 20, {"1": 0, "5": 0, "10": 0}),
        ([], {"1": 0, "5": 0, "10": 0}),
    ],
)
def test_gold_retrieved_needs_all_gold_ids_among_the_first_k(tmp_path, retrieved, expected):
    gates = ",".join(f"gold_retrieved@{k}>=0.01" for k in expected)
    gold = [question(gold_citations=["p1#1", "p2#1"])]
    report = report_of(tmp_path, gold, [refused(retrieved_ids=retrieved)], gates=gates)
    assert {k: counts(report, f"gold_retrieved@{k}") for k in expected} == {
        k: (yes, 1) for k, yes in expected.items()
    }


def test_the_last_trace_of_a_question_wins_and_the_surplus_is_a_finding(tmp_path):
    report = report_of(tmp_path, [question()], [answer(), answer(), refused()])
    assert report.labels == {"OVER_REFUSAL": 1}
    assert report.finding_counts == {"surplus_traces": 2}
    assert report.coverage.duplicate == 2
    assert report.questions[0].where.endswith("traces.jsonl:3")


def test_each_trace_counts_and_its_interval_is_clustered_by_question(tmp_path):
    gold = [question(f"q{number}") for number in range(4)]
    traces = [
        answer(f"q{number}") if number else refused("q0") for number in range(4) for _ in range(5)
    ]
    report = report_of(tmp_path, gold, traces, each="trace")
    hit_rate = report.metrics["quality.citation_hit_rate"]
    assert (hit_rate.value, hit_rate.n) == (0.75, 20)
    assert hit_rate.ci == pytest.approx(wilson(0.75, 4 - 1))
    assert "|each:trace|" in hit_rate.signature
    assert report.labels == {"OK": 15, "OVER_REFUSAL": 5}
    assert "surplus_traces" not in report.finding_counts


def test_precision_and_hit_rate_share_their_numerator(tmp_path):
    gold = [question(f"q{number}") for number in range(6)]
    traces = [answer("q0"), *(refused(f"q{number}") for number in range(1, 6))]
    report = report_of(tmp_path, gold, traces)
    assert counts(report, "precision_cited") == (1, 1)
    assert counts(report, "citation_hit_rate") == (1, 6)
    assert "quality.precision_hides_refusals" in [advice.id for advice in report.advice]


@pytest.mark.parametrize(
    ("phrase", "claim", "canon", "contained"),
    [
        ("1800", "Founded in 1800.", "unicode", True),
        ("1800", "It has 18001 objects.", "unicode", False),
        ("1800", "Founded in 1800.", "reference", False),
        ("yes", "Many eyes.", "unicode", False),
        ("yes", "Yes!", "unicode", True),
        ("well known", "A well-known hall", "unicode", True),
        ("wellknown", "A well-known hall", "reference", True),
        ("musée", "“MUSE\u0301E” royal", "unicode", True),
        ("ＡＢＣＤＥ", "abcde", "unicode", True),
    ],
)
def test_gold_phrases_are_looked_for_in_canonical_text(tmp_path, phrase, claim, canon, contained):
    gold = [question(gold_claim_substr=[phrase])]
    report = report_of(tmp_path, gold, [answer(claim=claim)], canon=canon)
    assert report.questions[0].contained is contained


def test_gold_claim_alone_is_the_one_phrase(tmp_path):
    gold = [question(gold_claim_substr=[], gold_claim="X maps Y.", gold_answer="Not this.")]
    report = report_of(tmp_path, gold, [answer(claim="Indeed, x maps y, and more.")])
    assert counts(report, "claim_containment") == (1, 1)


@pytest.mark.parametrize("name", [name for name in TEN if name != "compliance"])
def test_an_empty_denominator_is_null_with_a_reason(tmp_path, name):
    gold = [question(answerable=name == "under_refusal")]
    found = report_of(tmp_path, gold, [refused()]).metrics[f"quality.{name}"]
    assert (found.value, found.n, found.of, found.ci) == (None, 0, 0, None)
    assert found.reason.startswith("nothing to score: ")
    assert found.signature.endswith("|n:0")


A, U = {"answerable": True}, {"answerable": False}
ANSWERED, REFUSED = {"answered": True}, {"answered": False, "refusal": "exact"}


@pytest.mark.parametrize(
    ("facts", "labelled", "triaged"),
    [
        (A | ANSWERED | {"hit": True}, "OK", "ok"),
        (A | ANSWERED | {"hit": None, "contained": True}, "OK", "ok"),
        (A | ANSWERED | {"hit": False}, "ANS_NO_HIT", None),
        (A | ANSWERED | {"hit": False, "gold_found": True}, "ANS_NO_HIT", "generation_drift"),
        (A | ANSWERED | {"hit": False, "gold_found": False}, "ANS_NO_HIT", "retrieval_drift"),
        (A | REFUSED, "OVER_REFUSAL", None),
        (A | REFUSED | {"gold_found": True}, "OVER_REFUSAL", "refusal_suspect"),
        (A | REFUSED | {"gold_found": False}, "OVER_REFUSAL", "retrieval_drift"),
        (U | REFUSED, "REFUSAL_OK", "refusal_ok"),
        (U | ANSWERED, "HALLUCINATION", "generation_drift"),
        (U | ANSWERED | {"refusal": "near"}, "REFUSAL_MALFORMED", "generation_drift"),
        (U | REFUSED | {"refusal": "near"}, "REFUSAL_OK", "refusal_ok"),
        (U | REFUSED | {"refusal": "free"}, "REFUSAL_OK", "refusal_ok"),
        (A | {"status": "error"}, "ERROR", None),
        (U | {"status": "missing"}, "MISSING", None),
    ],
)
def test_labels_and_triage(facts, labelled, triaged):
    assert (label(Facts(**facts)), triage(Facts(**facts))) == (labelled, triaged)


# Constraints that an answer has to repeat.

LOCKED = ["X rejects null keys.", "Keys are unique."]
LOCK = hashlib.sha256("\n".join(LOCKED).encode()).hexdigest()[:16]
ECHOES = {
    "exactly": ({"answer_json": {"constraints_echo": LOCKED}}, 1),
    "in another order, with spaces": (
        {"answer_json": {"constraints_echo": ["Keys are unique. ", "\tX rejects null keys."]}},
        1,
    ),
    "next to the answer": ({"constraints_echo": LOCKED}, 1),
    "one twice": ({"answer_json": {"constraints_echo": [*LOCKED, LOCKED[0]]}}, 0),
    "one lost": ({"answer_json": {"constraints_echo": LOCKED[:1]}}, 0),
    "none": ({}, 0),
    "with the lock": ({"constraints_echo": LOCKED, "constraint_lock": LOCK}, 1),
    "with the lock in the answer": (
        {"answer_json": {"constraints_echo": LOCKED, "constraint_lock": LOCK}},
        1,
    ),
    "with the lock of other constraints": (
        {"constraints_echo": LOCKED, "constraint_lock": constraint_lock(LOCKED[:1])},
        0,
    ),
    "with another lock under its short name": (
        {"constraints_echo": LOCKED, "lock": constraint_lock(LOCKED[:1])},
        0,
    ),
    "next to a lock of another kind": ({"constraints_echo": LOCKED, "lock": "none"}, 1),
    "with the lock of its own order": (
        {"constraints_echo": LOCKED[::-1], "constraint_lock": constraint_lock(LOCKED[::-1])},
        1,
    ),
}


@pytest.mark.parametrize(("fields", "echoed"), ECHOES.values(), ids=ECHOES)
def test_an_answer_has_to_repeat_the_locked_constraints(tmp_path, fields, echoed):
    asked = {"answerable": True, "gold_claim": "So"}
    gold = [
        {"qid": "q1", "question": "Why?", "constraints": LOCKED, **asked},
        {"qid": "q2", "question": "Who?", **asked},
        {"qid": "q3", "question": "How?", "constraints": LOCKED, **asked},
    ]
    said = {"claim": "So.", "citations": ["p1"]}
    answer = {"answer_json": said | fields.get("answer_json", {})}
    traces = [
        {"qid": "q1", **fields, **answer},
        {"qid": "q2", **fields, **answer},
        {"qid": "q3", "answer": "not in context"},
    ]
    report = report_of(tmp_path, gold, traces, gates="constraints_echoed>=1")
    assert counts(report, "constraints_echoed") == (echoed, 1)
    assert report.passed is bool(echoed)
    assert [row.echoed for row in report.questions] == [bool(echoed), None, None]


def test_without_constraints_nothing_is_echoed(tmp_path):
    gold = [{"qid": "q1", "question": "Why?", "answerable": True, "gold_claim": "So"}]
    report = report_of(tmp_path, gold, [{"qid": "q1", "answer": "So."}])
    found = report.metrics["quality.constraints_echoed"]
    assert (found.value, found.reason) == (None, "nothing to score: no constraints (1)")


def test_the_lock_is_the_briefs():
    assert constraint_lock([f" {text}\n" for text in LOCKED]) == LOCK
