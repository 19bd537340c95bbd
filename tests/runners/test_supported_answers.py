"""The sentence supporter as evaluations use it: contexts analysed once, verdicts the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.grounding import groundedness
from ragauge.grounding.cited import citation_support
from ragauge.grounding.model import shipped
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.metrics.answers import AnswerFacts, coverage
from ragauge.metrics.sums import Sums
from ragauge.runners.answers.supporting import SentenceSupporter, Supporter, model_of

CONTEXTS = (Context("c1", "The museum opened in 1800."), Context("c2", "It has 12 rooms."))


def row(answer="The museum opened in 1800.", **fields):
    return AnswerRow(id="a", answer=answer, **{"contexts": CONTEXTS} | fields)


def supported(facts, *needs, calibration=None):
    supporter = Supporter(frozenset(needs), model_of(calibration))
    return structs.replace(facts, **supporter.found(facts))


def test_what_is_found_is_what_the_function_says():
    found = supported(AnswerFacts(row=row()), "groundedness").groundedness
    assert found == groundedness("The museum opened in 1800.", CONTEXTS)
    assert found.sentences[0].evidence.chunk == "c1"


def test_nothing_is_found_where_nothing_is_asked_for_or_there():
    assert supported(AnswerFacts(row=row()), "row").groundedness is None
    assert supported(AnswerFacts(row=row(answer=None)), "groundedness").groundedness is None
    assert supported(AnswerFacts(row=row(contexts=None)), "groundedness").groundedness is None
    assert supported(AnswerFacts(row=row(contexts=())), "groundedness").groundedness.value is None


def test_citations_are_looked_at_where_there_are_any():
    silent = supported(AnswerFacts(row=row()), "citations")
    assert (silent.citations, silent.missing) == (None, {"citations": "the answer cites nothing"})
    for cites in (row("The museum opened in 1800 [1]."), row(cited=("c1",)), row(cited=())):
        found = supported(AnswerFacts(row=cites), "citations").citations
        assert found == citation_support(cites.answer, CONTEXTS, cites.cited)


def test_a_calibration_moves_the_threshold_and_not_the_value():
    plain = supported(AnswerFacts(row=row(kind="qa")), "groundedness").groundedness
    own = AnswerCalibration(thresholds={"qa": 1.0})
    strict = supported(AnswerFacts(row=row(kind="qa")), "groundedness", calibration=own)
    assert strict.groundedness.value == plain.value
    assert strict.groundedness.threshold == 1.0 != plain.threshold
    assert (plain.grounded, strict.groundedness.grounded) == (True, plain.value >= 1.0)
    assert model_of(None) is shipped()


def test_sentences_are_claims_with_a_verdict_for_each_context():
    facts = AnswerFacts(row=row("The museum opened in 1800. It was on Mars in 1950."))
    claims = supported(facts, "lexical_claims").lexical_claims
    assert [claim.chunks for claim in claims.answer] == [(True, False), (False, False)]
    assert claims.judge == f"lexical {shipped().id}"


def test_a_table_is_what_each_pair_says():
    supporter = SentenceSupporter(shipped())
    claims = ["The museum opened in 1800.", "It has 13 rooms.", "", "!?"]
    passages = [context.text for context in CONTEXTS] + [""]
    assert supporter.table(claims, passages) == [
        [supporter.supports(claim, passage) for passage in passages] for claim in claims
    ]
    assert supporter.table(claims, passages)[0] == [True, False, False]
    assert not any(supporter.table(claims[2:], passages)[0])


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.booleans(), st.booleans(), st.booleans()), max_size=12
    )
)
def test_sums_of_groups_are_the_sums_of_their_units(units):
    names = [name for name, *_ in units]
    counts = np.array([[yes, 1] for _, yes, _, _ in units], dtype=np.int64).reshape(-1, 2)
    scored = np.array([there for _, _, there, _ in units], dtype=np.int64)
    mask = np.array([kept for *_, kept in units], dtype=bool)
    sums = Sums(coverage, counts, scored, np.ones_like(scored), {})
    found = sums.by_group(names, mask)
    kept = sorted({name for name, *_, inside in units if inside})
    for place, group in enumerate(kept):
        mine = np.array([name == group for name in names]) & mask
        assert found.sums[place].tolist() == counts[mine].sum(axis=0).tolist()
        assert (found.scored[place], found.units[place]) == (scored[mine].sum(), mine.sum())
    assert len(found.units) == len(kept)
