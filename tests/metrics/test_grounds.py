"""One rule for what an answer is held against, over every metric that holds it against contexts."""

import pytest
from msgspec import structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.metric import Absent, Row
from ragauge.metrics.answers import (
    BLANK_CONTEXTS,
    CONTEXTS_UNKNOWN,
    EMPTY_ANSWER,
    NO_ANSWER,
    NOTHING_RETRIEVED,
    REFUSED,
    AnswerFacts,
    grounds_of,
)
from ragauge.metrics.judged import DEFINITIONS
from ragauge.metrics.table import find
from ragauge.models.judging import lexical_claims
from ragauge.runners.answers.supporting import SentenceSupporter
from ragauge.text.grounding import groundedness
from ragauge.text.grounding.cited import citation_support
from ragauge.text.grounding.model import shipped

CONTEXT = "The museum opened in 1808. It is in Ede."
ROW = AnswerRow(
    id="a",
    question="When did it open?",
    answer="It opened in 1808 [1].",
    contexts=(Context("1", CONTEXT),),
    references=("It opened in 1808.",),
)
JUDGED = [definition.name for definition in DEFINITIONS if "grounds" in definition.needs]
HELD = [
    *("groundedness", "grounded", "brief_faithfulness"),
    *("citation_precision", "citation_recall", "misattributed"),
    *JUDGED,
    *(f"lexical_{name}" for name in JUDGED),
]
CASES = {
    "no answer": ({"answer": None}, NO_ANSWER),
    "an empty answer": ({"answer": " "}, EMPTY_ANSWER),
    "contexts not told": ({"contexts": None}, CONTEXTS_UNKNOWN),
    "none retrieved": ({"contexts": ()}, NOTHING_RETRIEVED),
    "a blank one retrieved": ({"contexts": (Context("1", " "),)}, BLANK_CONTEXTS),
    "a refusal": ({"answer": "not in context"}, REFUSED),
}


def facts_of(row, **more):
    """All that the sentence supporter finds; it stands for the judge too."""
    claims = lexical_claims(row, SentenceSupporter(shipped()), refused=more.get("refused", False))
    known = row.answer is not None and row.contexts is not None
    return AnswerFacts(
        row=row,
        claims=claims,
        lexical_claims=claims,
        groundedness=groundedness(row.answer, row.contexts) if known else None,
        citations=citation_support(row.answer, row.contexts) if known else None,
        **more,
    )


def test_an_answer_with_contexts_is_measured():
    facts = facts_of(ROW)
    assert not [name for name in HELD if not isinstance(find(name, "answers")(facts), Row)]


@pytest.mark.parametrize("case", CASES)
def test_every_metric_is_absent_for_the_same_reason(case):
    changed, reason = CASES[case]
    facts = facts_of(structs.replace(ROW, **changed), refused=case == "a refusal")
    assert {name: find(name, "answers")(facts) for name in HELD} == dict.fromkeys(HELD, reason)


def test_what_comes_first_in_the_rule_is_the_reason():
    nothing = AnswerRow(id="a", answer=None, contexts=None)
    assert grounds_of(AnswerFacts(row=nothing, refused=True)) == NO_ANSWER
    refused = AnswerRow(id="a", answer="no", contexts=None)
    assert grounds_of(AnswerFacts(row=refused, refused=True)) == REFUSED
    assert grounds_of(AnswerFacts(row=ROW)) == ROW.contexts
    assert isinstance(grounds_of(AnswerFacts(row=refused)), Absent)
