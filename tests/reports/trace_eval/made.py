"""Trace evaluations made by hand: one in which every state occurs, and one that passes."""

from collections import Counter

from ragauge.contracts.audit import AuditFinding
from ragauge.contracts.report import Advice, Score
from ragauge.contracts.trace_eval import (
    AtK,
    Recipe,
    TracedQuestion,
    TracedRun,
    TraceEvalCoverage,
    TraceEvalReport,
)
from tests.reports.audit.made import code, finding, gate

MATCH = "traceability.citation_match"
COVERAGE = "traceability.coverage"
CONVERGENT = "traceability.convergent"

KINDS = {"+": "answer", "h": "answer", "x": "answer", "c": "uncited", "r": "refusal", "!": "error"}
CODES = {"x": "mismatch_index_hash", "c": "empty_citations"}


def run(qid, place, letter, text=None):
    """A run by the letter of its outcome."""
    return TracedRun(
        run_id=f"{qid}#seed={place % 2};p={place // 2}",
        kind=KINDS[letter],
        code=CODES.get(letter, "ok"),
        cited=(text or "hb24-sec-keys-0007",) if KINDS[letter] == "answer" else (),
        matched=letter == "+" if KINDS[letter] in ("answer", "uncited") else None,
        coverage=0.8 if KINDS[letter] == "answer" else None,
        error=(text or "timed out after 30 s") if letter == "!" else None,
    )


def question(qid, letters, retrieval="convergent", answer="convergent", text=None, **facts):
    """A question whose runs came to these letters, wording by wording."""
    runs = tuple(run(qid, place, letter, text) for place, letter in enumerate(letters))
    broken = None if answer == "convergent" else "after retrieval"
    known = {
        "question": text or "How often are keys rotated?",
        "answerable": True,
        "broken": "retrieval" if broken and retrieval != "convergent" else broken,
        "matched": letters.count("+"),
        "answered": sum(letters.count(letter) for letter in "+hxc"),
        "coverage": 0.8123,
        "codes": dict(Counter(one.code for one in runs if one.kind != "error")),
    }
    return TracedQuestion(
        qid=qid, retrieval=retrieval, answer=answer, runs=runs, **{**known, **facts}
    )


def report(questions, **parts):
    """A trace evaluation of these questions, with parts of it replaced."""
    states = {
        which: dict(Counter(held for one in questions if (held := getattr(one, which))))
        for which in ("retrieval", "answer")
    }
    runs = sum(len(one.runs) for one in questions)
    failed = sum(one.kind == "error" for held in questions for one in held.runs)
    known = {
        "passed": True,
        "recipe": Recipe(),
        "metrics": {MATCH: Score(value=1.0, n=runs, of=runs, ci=(0.9, 1.0))},
        "gates": (gate(MATCH, 0.95, 1.0, runs),),
        "codes": (),
        "codes_first": False,
        "states": states,
        "questions": tuple(questions),
        "findings": (),
        "finding_counts": {},
        "coverage": TraceEvalCoverage(
            questions=len(questions),
            planned=runs,
            runs=runs - failed,
            failed=failed,
            missing=0,
            short=0,
        ),
        "advice": (),
        "out": "trace-eval.jsonl",
        "identity": {"command": "trace-eval"},
    }
    return TraceEvalReport(**{**known, **parts})


def passing(**parts):
    """Every run of every question agrees and matches."""
    asked = [question("keys-01", "++++++"), question("keys-02", "rrrrrr", answerable=False)]
    return report(asked, **parts)


def telling(text=None, **parts):
    """Every state of λ and every outcome of a run; `text` stands where foreign text can."""
    name = text if text is not None else "policies/keys-09"
    questions = [
        question("keys-01", "++++++"),
        question("keys-02", "+++++h"),
        question("keys-03", "++x+x+"),
        question("keys-04", "rrrrrr", answerable=False, coverage=None),
        question("keys-05", "++++xx", "convergent", "divergent"),
        question("keys-06", "+h+h+h", "recursive", "recursive"),
        question("keys-07", "xhcr+h", "chaotic", "chaotic", coverage=0.41),
        question("keys-08", "++++!!", "incomplete", "incomplete", text),
        question(name, "cc++++", "convergent", "divergent", text),
        question("keys-10", "++++++", None, "convergent", coverage=None),
        question("keys-11", "++++++"),
        question("keys-12", "hhhhhh", coverage=0.655),
    ]
    message = 'citations[2].index_hash: "2f7d9a", expected "8c01e2"'
    file = text or "trace-eval.jsonl"
    known = {
        "passed": False,
        "metrics": {
            MATCH: Score(value=0.7302, n=58, of=72, ci=(0.61, 0.82)),
            COVERAGE: Score(value=0.745, n=60, of=72, ci=(0.70, 0.79)),
            CONVERGENT: Score(value=0.583, n=12, of=12, ci=(0.32, 0.81)),
            "traceability.flip_rate": Score(value=None, n=0, of=12, reason=text or "no k_final"),
        },
        "gates": (
            gate(MATCH, 0.95, 0.7302, 58, reason=text),
            gate(COVERAGE, 0.7, 0.745, 60),
            gate(CONVERGENT, 0.8, 0.583, 12),
        ),
        "codes": (code("empty_citations", 3, 3), code("mismatch_index_hash", 5, 11)),
        "codes_first": True,
        "findings": (
            *(finding("empty_citations", 3 + n, text or "citations: []", name) for n in range(3)),
            *(
                finding("mismatch_index_hash", 9 + n, text or message, "keys-05", 2, file=file)
                for n in range(5)
            ),
            AuditFinding("failed_run", f"{file}:44", text or "keys-08: timed out after 30 s"),
        ),
        "finding_counts": {"empty_citations": 3, "mismatch_index_hash": 11, "failed_run": 2},
        "advice": (
            Advice(
                id="after_retrieval",
                title=text or "The fault lies after retrieval",
                evidence=text or "2 questions retrieve the same and answer differently.",
                confirm=text or "Ask keys-05 with its retrieved chunks fixed.",
                action=text or "Set a temperature of 0 for the answer, or a stricter prompt.",
                questions=("keys-05", name),
            ),
        ),
        "at_k": tuple(
            AtK(
                k=5,
                leg=leg,
                chunks=4.5,
                coverage=Score(value=0.7, n=10, of=12),
                gold_recall=Score(value=1.0, n=11, of=12),
                deltaS=Score(value=None, n=0, of=12, reason=text or "no embedder"),
            )
            for leg in (None, text or "lexical")
        ),
        "out": text or "trace-eval.jsonl",
        "identity": {"command": "trace-eval", "system": text or "demo"},
    }
    return report(questions, **{**known, **parts})
