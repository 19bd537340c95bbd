"""A frozen set may grow; it may not come to mean something else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ragauge.contracts.gold import Gold, Span
from ragauge.runners.gold_diff import diff

OLD = Gold(
    qid="h012",
    question="Who drew it?",
    answerable=True,
    gold_claim_substr=("Cuypers", "the architect"),
    gold_claim="Cuypers drew it.",
    gold_citations=("p1#1", "p1#2"),
    constraints=("A loan is not owned.", "Two museums."),
    target_section=Span("p1", "s1", 0, 9),
)
UNANSWERABLE = Gold(qid="h012", question="Why?", answerable=False)

MEANING = {
    "question": ({"question": "Who drew them?"}, "question"),
    "case of the question": ({"question": "who drew it?"}, "question"),
    "answerable": ({"answerable": False}, "answerable"),
    "phrase added": ({"gold_claim_substr": ("Cuypers", "the architect", "he")}, "gold phrases"),
    "phrase dropped": ({"gold_claim_substr": ("Cuypers",)}, "gold phrases"),
    "citation": ({"gold_citations": ("p1#1",)}, "gold citations"),
    "constraint": ({"constraints": ("Two museums.",)}, "constraints"),
    "constraint doubled": ({"constraints": (*OLD.constraints, "Two museums.")}, "constraints"),
    "span": ({"target_section": Span("p1", "s1", 0, 8)}, "target_section"),
    "two": ({"question": "Who?", "gold_citations": ()}, "question and gold citations"),
}


@pytest.mark.parametrize(("change", "named"), MEANING.values(), ids=MEANING)
def test_another_meaning_under_the_same_qid_fails(change, named):
    report = diff([OLD], [replace(OLD, **change)])
    assert not report.passed
    [finding] = report.findings
    assert (finding.severity, finding.code, finding.where) == ("error", "meaning_changed", "h012")
    assert finding.message == f"changed its {named}; clone it under a new qid, e.g. h012-v2"
    assert [(one.qid, one.fields) for one in report.changed] == [("h012", tuple(change))]


EDITS = {
    "blanks around the question": {"question": " Who drew it? "},
    "blanks around a constraint": {"constraints": (OLD.constraints[0], " Two museums. ")},
    "paraphrases": {"paraphrases": ("By whom was it drawn?",)},
    "strata": {"strata": {"country": "NL"}},
    "extra": {"extra": {"note": "checked"}},
    "reference wording beside phrases": {"gold_claim": "It was drawn by Cuypers."},
    "order": {
        "gold_claim_substr": OLD.gold_claim_substr[::-1],
        "gold_citations": OLD.gold_citations[::-1],
        "constraints": OLD.constraints[::-1],
    },
    "span where none was": {"anchor": Span("p1", "s1", 0, 9)},
}


@pytest.mark.parametrize("change", EDITS.values(), ids=EDITS)
def test_edits_are_allowed_and_listed(change):
    report = diff([OLD], [replace(OLD, **change)])
    assert report.passed
    assert not report.findings
    assert [(one.qid, set(one.fields)) for one in report.edited] == [("h012", {*change})]


REFERENCES = {
    "the only wording": (replace(OLD, gold_claim_substr=()), {"gold_claim": "He."}, False),
    "the same wording as a phrase": (
        replace(OLD, gold_claim_substr=()),
        {"gold_claim_substr": ("Cuypers drew it.",)},
        True,
    ),
    "of an unanswerable question": (UNANSWERABLE, {"gold_answer": "not in context"}, True),
}


@pytest.mark.parametrize(("old", "change", "passed"), REFERENCES.values(), ids=REFERENCES)
def test_reference_wording_is_meaning_only_where_it_is_searched_for(old, change, passed):
    assert diff([old], [replace(old, **change)]).passed == passed


def test_removed_questions_fail_unless_allowed():
    other = replace(OLD, qid="h013", question="When?")
    report = diff([OLD, other], [other])
    assert (report.passed, report.removed, report.errors) == (False, ("h012",), 1)
    allowed = diff([OLD, other], [other], allow_removed=True)
    assert (allowed.passed, allowed.removed, allowed.warnings) == (True, ("h012",), 1)


def test_a_clone_that_took_the_place_of_its_original_is_named():
    report = diff([OLD], [replace(OLD, qid="h012-v2", gold_citations=("p9#9",))])
    assert (report.added, report.removed) == (("h012-v2",), ("h012",))
    assert "if h012-v2 takes its place, pass --allow-removed" in report.findings[0].message


def test_proposed_qids_are_free():
    qids = ("h1", "h1-v2", "h1-v9")
    old = [replace(OLD, qid=qid, question=qid) for qid in qids]
    report = diff(old, [replace(one, question=f"{one.qid}?") for one in old])
    proposed = [one.message.rsplit(" ", 1)[1] for one in report.findings]
    assert proposed == ["h1-v3", "h1-v4", "h1-v10"]


QUESTIONS = st.lists(
    st.builds(
        Gold,
        qid=st.text("ab-v2", min_size=1, max_size=5),
        question=st.text(min_size=1, max_size=4),
        answerable=st.booleans(),
        gold_claim_substr=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    ),
    unique_by=lambda question: question.qid,
    max_size=8,
)


@given(QUESTIONS, QUESTIONS, st.randoms(use_true_random=False))
def test_every_question_is_accounted_for_in_any_order(old, new, random):
    report = diff(old, new)
    kept = len(report.changed) + len(report.edited) + report.coverage["same"]
    assert kept + len(report.removed) == len(old)
    assert kept + len(report.added) == len(new)
    assert report == diff(random.sample(old, len(old)), random.sample(new, len(new)))
    assert diff(old, [*old, *(one for one in new if one.qid in report.added)]).passed
