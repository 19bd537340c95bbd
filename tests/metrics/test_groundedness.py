"""The metrics of groundedness: absent with a reason, never zero; and the brief's for parity."""

import numpy as np
import pytest
from msgspec import structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.metric import SCALE, Absent, NotApplicable, Row
from ragauge.grounding import groundedness as lay
from ragauge.grounding.cited import citation_support
from ragauge.grounding.model import shipped
from ragauge.metrics.answers import (
    BLANK_CONTEXTS,
    CONTEXTS_UNKNOWN,
    EMPTY_ANSWER,
    NO_ANSWER,
    NOTHING_RETRIEVED,
    REFUSED,
    AnswerFacts,
    contexts_to_check,
)
from ragauge.metrics.groundedness import (
    NO_CITATION,
    NO_CLAIM_CITES,
    NOT_ASKED,
    WORDLESS,
    brief_faithfulness,
    citation_precision,
    citation_recall,
    cited_facts,
    date_agreement,
    grounded,
    groundedness,
    misattributed,
    number_agreement,
)
from ragauge.metrics.judged import DEFINITIONS
from ragauge.metrics.table import find
from ragauge.models.judging import lexical_claims
from ragauge.runners.answers.supporting import SentenceSupporter

MUSEUM = "The Rijksmuseum is in Amsterdam. It opened there in 1808."
GOOD = "The Rijksmuseum opened in 1808."
BAD = "The Rijksmuseum was founded on Mars by aliens."


def facts(answer, contexts=(MUSEUM,), found=True, **more):
    held = (
        None if contexts is None else tuple(Context(str(n), t) for n, t in enumerate(contexts, 1))
    )
    row = AnswerRow(id="1", answer=answer, contexts=held)
    told = lay(answer, held) if found and answer is not None and held else None
    return AnswerFacts(row=row, groundedness=told, **more)


@pytest.mark.parametrize("answer", [GOOD, BAD])
def test_the_value_is_the_supporters(answer):
    told = facts(answer)
    row = groundedness.measure(told)
    assert row == Row((round(told.groundedness.value * SCALE), 1), told.groundedness.reason)
    assert groundedness.finish(np.array(row.counts)) == pytest.approx(
        told.groundedness.value, abs=1e-9
    )


def test_grounded_is_reaching_the_threshold_of_the_kind():
    assert grounded.measure(facts(GOOD)).counts == (1, 1)
    assert grounded.measure(facts(BAD)).counts == (0, 1)
    assert grounded.finish(np.array((3, 4))) == 0.75


@pytest.mark.parametrize("measure", [groundedness.measure, grounded.measure])
@pytest.mark.parametrize(
    ("told", "absent"),
    [
        (facts(GOOD, None), CONTEXTS_UNKNOWN),
        (facts(GOOD, ()), NOTHING_RETRIEVED),
        (facts(GOOD, (" ",)), BLANK_CONTEXTS),
        (facts(GOOD, ("?!",)), Absent("there is no context to compare with")),
        (facts(GOOD, refused=True), REFUSED),
        (facts("It is.", (MUSEUM,)), Absent("the answer claims nothing")),
        (facts(GOOD, found=False), Absent("groundedness was not asked for")),
        (facts(GOOD, found=False, missing={"groundedness": "it broke"}), Absent("it broke")),
    ],
)
def test_nothing_to_measure_is_absent_with_a_reason(measure, told, absent):
    assert measure(told) == absent


@pytest.mark.parametrize("metric", [groundedness, grounded, brief_faithfulness])
def test_no_answer_is_absent_and_no_zero(metric):
    assert isinstance(metric.measure(facts(None)), Absent)


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        (BAD, 1.0),
        ("It is in Ede.", 0.0),
        (f"{BAD} It is in Ede.", 0.5),
        ("Opened! Opened? Aliens...", 2 / 3),
        ("It is. Amsterdam.", 0.5),
        ("THE RIJKSMUSEUM.", 1.0),
        ("Amster.", 1.0),
    ],
)
def test_the_briefs_measure_is_as_it_was(answer, share):
    """A sentence passes with any word of five letters that stands, even as a part, in a context."""
    assert brief_faithfulness.measure(facts(answer)) == Row((round(share * SCALE), 1))


def test_the_briefs_measure_of_nothing_is_absent():
    assert brief_faithfulness.measure(facts("?!")) == WORDLESS
    assert brief_faithfulness.measure(facts(GOOD, None)) == CONTEXTS_UNKNOWN
    assert brief_faithfulness.measure(facts(GOOD, ())) == NOTHING_RETRIEVED
    assert brief_faithfulness.measure(facts(GOOD, refused=True)) == REFUSED


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
        groundedness=lay(row.answer, row.contexts) if known else None,
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
    assert contexts_to_check(AnswerFacts(row=nothing, refused=True)) == NO_ANSWER
    refused = AnswerRow(id="a", answer="no", contexts=None)
    assert contexts_to_check(AnswerFacts(row=refused, refused=True)) == REFUSED
    assert contexts_to_check(AnswerFacts(row=ROW)) == ROW.contexts
    assert isinstance(contexts_to_check(AnswerFacts(row=refused)), Absent)


def numbers(answer, *contexts, references=(), refused=False):
    passages = tuple(Context(id=f"c{place}", text=text) for place, text in enumerate(contexts))
    row = AnswerRow(id="a", answer=answer, contexts=passages, references=references)
    return AnswerFacts(row=row, refused=refused)


def test_numbers_stand_in_any_of_the_contexts():
    found = number_agreement(numbers("12,000 books, 5 km away, 7 rooms", "5 km", "twelve thousand"))
    assert found == Row((2, 3), "not found: 7")


def test_identifiers_count_among_the_numbers():
    assert number_agreement(numbers("An A321 and a RTX-3090.", "an A320, an rtx 3090")) == Row(
        (1, 2), "not found: A321"
    )


def test_another_unit_is_another_number():
    assert number_agreement(numbers("5 miles", "5 km")) == Row((0, 1), "not found: 5 miles")
    assert number_agreement(numbers("5", "5 km")) == Row((1, 1))


def test_dates_are_counted_apart_from_numbers():
    given = numbers("On 3 May 1800, at 5 PM, 12 men.", "In May 1800, at 17:00, twelve men.")
    assert date_agreement(given) == Row((1, 2), "not found: 3 May 1800")
    assert number_agreement(given) == Row((1, 1))


def test_the_references_serve_where_there_are_no_contexts():
    given = numbers("In 1801.", references=("in 1800", "3 May 1801"))
    assert date_agreement(given) == Row((1, 1), "in the references, for want of contexts")


def test_contexts_go_before_references():
    assert number_agreement(numbers("7", "8", references=("7",))) == Row((0, 1), "not found: 7")


@pytest.mark.parametrize(
    ("given", "absent"),
    [
        (numbers(None, "5"), Absent("no answer: the row has none")),
        (numbers("  ", "5"), Absent("no answer: it is empty")),
        (
            numbers("I do not know the 5.", "5", refused=True),
            NotApplicable("the answer is a refusal: it claims nothing"),
        ),
        (numbers("5"), Absent("no context and no reference")),
        (numbers("5", " "), Absent("no context and no reference")),
        (numbers("One of the two [1].", "5"), NotApplicable("no number in the answer")),
    ],
)
def test_absence_has_a_reason(given, absent):
    assert number_agreement(given) == absent


def test_an_answer_without_dates_has_no_date_agreement():
    assert date_agreement(numbers("5 km", "5 km")) == NotApplicable("no date in the answer")


def test_a_long_list_of_lost_numbers_is_cut():
    answer = ", ".join(f"{number} km" for number in range(101, 114))
    found = number_agreement(numbers(answer, "none"))
    assert found.counts == (0, 13)
    assert found.reason.endswith("110 km and 3 more")


def test_neither_is_a_rate_because_the_numbers_of_an_answer_are_not_independent():
    assert not number_agreement.rate and not date_agreement.rate


OPENED, DESIGNED = (
    "The museum opened in Amsterdam in 1808.",
    "Pierre Cuypers designed the building.",
)
ANSWER = (
    "The museum opened in Amsterdam in 1808 [1][2]. "  # 1 supports, 2 does not
    "Pierre Cuypers designed the building [1]. "  # stands in 2
    "Napoleon bought every painting [2]. "  # stands nowhere
    "The building was finished late. "  # cites nothing
    "Do you want to know more?"  # claims nothing
)


def counts(metric, *given, **more):
    found = metric(cited_facts(*given, **more))
    return found.counts if isinstance(found, Row) else found


def test_by_hand():
    assert counts(citation_precision, ANSWER, OPENED, DESIGNED) == (1, 4)
    assert counts(citation_recall, ANSWER, OPENED, DESIGNED) == (1, 4)
    assert counts(misattributed, ANSWER, OPENED, DESIGNED) == (1, 3)


def test_reasons_name_the_sentence_and_the_contexts():
    facts = cited_facts(ANSWER, OPENED, DESIGNED)
    assert '2 does not support "The museum opened' in citation_precision(facts).reason
    assert 'no citation: "The building was finished late."' in citation_recall(facts).reason
    assert misattributed(facts).reason.startswith("stands in 2, not in the cited 1: ")


def test_a_perfect_answer():
    answer = "The museum opened in Amsterdam in 1808 [1]. Pierre Cuypers designed the building [2]."
    assert counts(citation_precision, answer, OPENED, DESIGNED) == (2, 2)
    assert counts(citation_recall, answer, OPENED, DESIGNED) == (2, 2)
    assert counts(misattributed, answer, OPENED, DESIGNED) == (0, 2)


def test_a_list_is_one_citation_for_all_sentences():
    answer = "The museum opened in Amsterdam in 1808. Pierre Cuypers designed the building."
    given = (answer, OPENED, DESIGNED, "Flash is not allowed.")
    assert counts(citation_precision, *given, cited=("1", "2", "3")) == (2, 3)
    assert counts(citation_recall, *given, cited=("1", "2", "3")) == (2, 2)
    assert counts(citation_recall, *given, cited=("1",)) == (1, 2)
    assert counts(misattributed, *given, cited=("1",)) == (1, 2)


def test_an_unknown_marker_counts_against_precision():
    answer = "The museum opened in Amsterdam in 1808 [1][9]."
    assert counts(citation_precision, answer, OPENED) == (1, 2)
    assert counts(citation_recall, answer, OPENED) == (1, 1)


def test_an_answer_without_citations_is_absent_unless_it_says_so():
    assert counts(citation_precision, OPENED, OPENED) == NO_CITATION
    assert counts(citation_recall, OPENED, OPENED) == NO_CITATION
    assert counts(misattributed, OPENED, OPENED) == NO_CITATION
    assert counts(citation_recall, OPENED, OPENED, cited=()) == (0, 1)
    assert counts(citation_precision, OPENED, OPENED, cited=()) == NO_CITATION


def test_where_only_what_claims_nothing_cites():
    answer = "Yes [1]. Pierre Cuypers designed the building."
    assert counts(citation_precision, answer, OPENED) == NO_CLAIM_CITES
    assert counts(misattributed, answer, OPENED) == NO_CLAIM_CITES
    assert counts(citation_recall, answer, OPENED) == (0, 1)


@pytest.mark.parametrize("metric", [citation_precision, citation_recall, misattributed])
def test_what_is_not_there_is_absent_with_its_reason(metric):
    facts = cited_facts(ANSWER, OPENED)
    row = facts.row
    assert metric(structs.replace(facts, refused=True)) == REFUSED
    assert metric(structs.replace(facts, citations=None)) == Absent(NOT_ASKED)
    failed = structs.replace(facts, citations=None, missing={"citations": "out of memory"})
    assert metric(failed) == Absent("out of memory")
    assert metric(AnswerFacts(row=AnswerRow(id="a", answer=None))) == NO_ANSWER
    assert metric(AnswerFacts(row=AnswerRow(id="a", answer=" "))) == EMPTY_ANSWER
    assert metric(AnswerFacts(row=structs.replace(row, contexts=None))) == CONTEXTS_UNKNOWN
    assert metric(cited_facts("It opened [1].")) == NOTHING_RETRIEVED
    assert metric(cited_facts("It opened [1].", " ")) == BLANK_CONTEXTS


def test_over_a_set_citations_are_pooled():
    import numpy as np

    rows = [citation_precision(cited_facts(ANSWER, OPENED, DESIGNED)).counts, (2, 2)]
    assert citation_precision.finish(np.array(rows).sum(axis=0)) == 0.5
