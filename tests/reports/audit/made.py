"""Audit reports made by hand: one with something in every part, and one that passes."""

from ragauge.citations.codes import entry_of, tip_of
from ragauge.contracts.audit import (
    OK,
    AuditCoverage,
    AuditedAnswer,
    AuditFinding,
    AuditReport,
    CodeCount,
    DepthCount,
)
from ragauge.contracts.report import Advice, Score, Verdict

MATCH = "traceability.citation_match"
VALID = "traceability.valid"
COVERAGE = "traceability.coverage"
DELTA = "traceability.deltaS@context"


def gate(metric, bound, value, n=412, **facts):
    verdict = "not_evaluated" if value is None else "pass" if value >= bound else "fail"
    known = {
        "rule": f"{metric}>={bound:g}",
        "op": ">=",
        "ci": None if value is None else (value - 0.02, min(1.0, value + 0.015)),
        "reason": None,
        "verdict": verdict,
    }
    return Verdict(metric=metric, bound=bound, value=value, n=n, **{**known, **facts})


def code(name, answers, findings):
    entry = entry_of(name)
    return CodeCount(
        code=name,
        depth=entry.depth,
        answers=answers,
        findings=findings,
        means=entry.means,
        tip=tip_of(name),
    )


def finding(name, line, message, qid="q1", item=0, file="runs/traces.jsonl", **facts):
    where = f"{file}:{line}"
    tip = tip_of(name)
    return AuditFinding(name, where, message, qid=qid, item=item, **{"tip": tip, **facts})


def answer(line, worst=OK, qid="q1", findings=0, file="runs/traces.jsonl", **facts):
    known = {"kind": "answer", "cited": ("hb24-sec-keys-0007",)}
    return AuditedAnswer(
        qid=qid, where=f"{file}:{line}", code=worst, findings=findings, **{**known, **facts}
    )


def coverage(**counts):
    known = {
        "traces": 412,
        "audited": 412,
        "refusals": 31,
        "errors": 0,
        "citations": 1204,
        "rejected": 0,
        "unknown": 0,
        "gold": 400,
        "missing": 0,
    }
    return AuditCoverage(**{**known, **counts})


def passing(**parts):
    """An audit in which everything holds, with parts of it replaced."""
    known = {
        "passed": True,
        "depth": "text",
        "metrics": {MATCH: Score(value=1.0, n=381, of=381, ci=(0.99, 1.0))},
        "gates": (gate(MATCH, 0.95, 1.0, 381),),
        "codes": (),
        "depths": {
            depth: DepthCount(checked=412, ok=412) for depth in ("marker", "payload", "text")
        },
        "answers": (answer(1), answer(2, qid="q2", kind="refusal", cited=())),
        "findings": (),
        "finding_counts": {},
        "coverage": coverage(),
        "advice": (),
        "identity": {"command": "audit"},
    }
    return AuditReport(**{**known, **parts})


FOUND = (
    ("empty_citations", "citations", "citations: [] under an answer", None, 2),
    ("missing_rev", "rev", "citations[0].rev: absent", 0, 5),
    ("bad_offsets", "offsets", "citations[1].offsets: 388–120, start must be below end", 1, 3),
    (
        "mismatch_index_hash",
        "index_hash",
        'citations[2].index_hash: "2f7d9a", expected "8c01e2"',
        2,
        9,
    ),
    (
        "not_retrieved",
        "snippet_id",
        'citations[0].snippet_id: "hb24-sec-keys-0009", not among the 5 retrieved',
        0,
        4,
    ),
    (
        "span_text_mismatch",
        "offsets",
        "citations[0].offsets: the snippet stands 12 characters further on, at 2322–2700",
        0,
        4,
    ),
    ("duplicate_citation", None, "citations[3]: the same span as citations[1]", 3, 2),
    (
        "misattributed",
        "quote",
        'citations[0].quote: stands in "handbook_2023", not in the cited "handbook_2024"',
        0,
        3,
    ),
)
"""Codes with their field, message, citation and how often each is found."""


def telling(text=None, **parts):
    """An audit that fails in eight ways; `text` stands wherever foreign text can."""
    findings, codes, answers, line = [], [], [], 3
    for name, field, message, item, times in FOUND:
        codes.append(code(name, times, times + (20 if name == "mismatch_index_hash" else 0)))
        for turn in range(times):
            line += 7
            qid = text if text is not None and not turn else f"keys-{line:03d}"
            findings.append(
                finding(
                    name,
                    line,
                    text if text is not None and turn < 2 else message,
                    qid=qid,
                    item=item,
                    field=field,
                    file=text if text is not None and turn == 1 else "runs/traces.jsonl",
                )
            )
            place = findings[-1].where.rpartition(":")[0]
            cited = (text or "hb24-sec-keys-0007", "hb24-sec-keys-0009")
            answers.append(answer(line, name, qid, 1, place, cited=cited, matched=False))
    findings += [AuditFinding("bad_line", f"{text or 'a.jsonl'}:4", text or "not JSON", qid=None)]
    counts = {one.code: one.findings for one in codes}
    known = {
        "passed": False,
        "metrics": {
            MATCH: Score(value=0.914, n=381, of=400, ci=(0.886, 0.939)),
            VALID: Score(value=380 / 412, n=412, of=412, ci=(0.892, 0.944)),
            COVERAGE: Score(value=0.7421, n=377, of=412, ci=(0.716, 0.768)),
            DELTA: Score(value=None, n=0, of=412, reason=text or "no embedder was named"),
        },
        "gates": (
            gate(MATCH, 0.95, 0.914, 381, reason=text),
            gate(COVERAGE, 0.7, 0.7421, 377),
            gate(DELTA, 0.45, None, 0, reason=text or "no threshold was calibrated"),
        ),
        "codes": tuple(codes),
        "depths": {
            "marker": DepthCount(checked=412, ok=406),
            "payload": DepthCount(checked=405, ok=386),
            "text": DepthCount(checked=378, ok=371),
        },
        "answers": (*answers, answer(1, qid="q1", matched=True, coverage=0.81)),
        "findings": tuple(findings),
        "finding_counts": {**counts, "bad_line": 1},
        "coverage": coverage(traces=431, errors=18, rejected=1, unknown=2, missing=4),
        "advice": (
            Advice(
                id="index_hash",
                title=text or "Readers open an older index",
                evidence=text or "29 findings on 9 answers name 2f7d9a; the manifest says 8c01e2.",
                confirm=text or "Compare the manifest of the live index with the one of the build.",
                action=text or "Let start-up fail where the two hashes differ.",
                questions=(text or "keys-073", "keys-080"),
            ),
        ),
        "identity": {"command": "audit", "depth": "text", "traces": {"sha256": text or "9c56cc51"}},
    }
    return passing(**{**known, **parts})
