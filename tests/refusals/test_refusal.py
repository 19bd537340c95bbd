"""A refusal is exact, near, or none, in every dressing."""

from __future__ import annotations

import json

import pytest

from ragauge import score
from ragauge.refusals.predicate import refusal_in, refusal_tokens

EXACT = ["not in context", " Not  in\n CONTEXT\t", "NOT IN CONTEXT", "not in\u00a0context"]
NEAR = [
    "not in context.",
    "Not in context!",
    "- not in context",
    "* Not in context.",
    "• not in context",
    "1. not in context",
    "2) not in context",
    '"not in context"',
    "“Not in context.”",
    "«not in context».",
    "`not in context`",
    "**not in context**",
    "_not in context_.",
    "claim: not in context",
    "- claim: not in context",
    "- claim not in context",
    "Answer： “not in context”…",
]
NONE = [
    "",
    "It is not in context",
    "not in context of the museum",
    "not in the context",
    "not in context?",
    "notincontext",
    "not in context. The museum opened in 1800.",
    "a" + "." * 100_000 + "b",
    "*" * 100_000 + "x",
]


@pytest.mark.parametrize(
    ("text", "strength"),
    [(t, "exact") for t in EXACT] + [(t, "near") for t in NEAR] + [(t, "none") for t in NONE],
    ids=lambda text: text[:40],
)
def test_the_strength_of_a_refusal(text, strength):
    assert refusal_in(text, refusal_tokens()) == strength


def test_users_can_set_several_tokens():
    known = refusal_tokens(("Weet ik niet", "不在上下文中"))
    texts = [
        "weet ik NIET",
        "Weet ik niet.",
        "不在上下文中",
        "- 「x」",
        "不在上下文中。",
        "not in context",
    ]
    assert [refusal_in(text, known) for text in texts] == [
        "exact",
        "near",
        "exact",
        "none",
        "near",
        "none",
    ]
    assert refusal_in("anything", refusal_tokens(())) == "none"


DECORATED = {
    "not in context": "REFUSAL_OK",
    "not in context.": "REFUSAL_MALFORMED",
    "- claim: not in context\n- citations: []": "REFUSAL_MALFORMED",
    "**Claim:** Not in context.\n**Citations:** none": "REFUSAL_MALFORMED",
    '{"claim": "not in context", "citations": []}': "REFUSAL_MALFORMED",
    "- claim: not in context\n- citations: [p1]": "HALLUCINATION",
}


@pytest.mark.parametrize("answer", DECORATED)
def test_labels_of_decorated_refusals(answer, tmp_path):
    gold, traces = tmp_path / "gold", tmp_path / "traces"
    gold.write_text('{"qid":"q1","question":"?","answerable":false}')
    traces.write_text(json.dumps({"qid": "q1", "answer": answer}))
    assert score(gold, traces, refusal="exact").report.labels == {DECORATED[answer]: 1}
    assert score(gold, traces).report.labels == {"REFUSAL_OK": 1}
