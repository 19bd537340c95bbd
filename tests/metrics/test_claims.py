"""Claim algebra: one address for every claim, and sums that hold exactly."""

from collections import Counter
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.claims import AnswerClaims, Claim
from ragauge.metrics.claims import (
    answer_addresses,
    answer_counts,
    in_contexts,
    in_other_text,
    reference_addresses,
    relevance,
)

sure = st.booleans()
doubtful = st.sampled_from((True, False, True, False, None))


def claims_of(verdict, chunks):
    lines = st.lists(verdict, min_size=chunks, max_size=chunks).map(tuple)
    return st.lists(
        st.builds(Claim, text=st.sampled_from("abc"), chunks=lines, other=verdict), max_size=6
    ).map(tuple)


def judgements(verdict):
    return st.integers(0, 4).flatmap(
        lambda chunks: st.builds(
            AnswerClaims,
            judge=st.just("j"),
            answer=claims_of(verdict, chunks),
            reference=claims_of(verdict, chunks),
            chunks=st.just(chunks),
        )
    )


def claim(chunks, other, text="c"):
    return Claim(text=text, chunks=chunks, other=other)


def plain_address(one, relevant):
    """The table of the specification, written out."""
    right, chunks = one.other, [place for place, has in enumerate(one.chunks) if has]
    if right and chunks:
        return "grounded"
    if right:
        return "self_knowledge"
    if not chunks:
        return "invented"
    return "misled_by_relevant" if set(chunks) & relevant else "misled_by_noise"


@given(judgements(sure))
def test_every_claim_has_the_address_of_the_table(claims):
    relevant = {
        place for place in range(claims.chunks) for one in claims.reference if one.chunks[place]
    }
    addresses = [plain_address(one, relevant) for one in claims.answer]
    if not claims.reference:
        addresses = [None if one.startswith("misled") else one for one in addresses]
    assert list(answer_addresses(claims)) == addresses
    expected = [
        "said" if c.other else "unused" if any(c.chunks) else "retriever_missed"
        for c in claims.reference
    ]
    assert list(reference_addresses(claims)) == expected
    assert answer_counts(claims).unjudged == 0


@given(judgements(doubtful))
def test_the_identities_hold_over_what_is_judged(claims):
    counts = answer_counts(claims)
    assert counts.judged + counts.unjudged == len(claims.answer)
    if counts.self_knowledge is not None:
        assert counts.supported + counts.self_knowledge + counts.invented == counts.judged
        parts = (counts.supported, counts.self_knowledge, counts.invented)
        assert sum(Fraction(part, counts.judged) for part in parts) == 1
    if counts.misled_by_relevant is not None:
        noise = counts.misled_by_relevant + counts.misled_by_noise
        assert noise + counts.invented == counts.judged - counts.right
        precision = Fraction(counts.right, counts.judged)
        assert Fraction(noise + counts.invented, counts.judged) == 1 - precision


@given(judgements(doubtful), st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_the_order_of_claims(claims, random):
    answer, reference = list(claims.answer), list(claims.reference)
    random.shuffle(answer)
    random.shuffle(reference)
    shuffled = AnswerClaims(
        judge="j", answer=tuple(answer), reference=tuple(reference), chunks=claims.chunks
    )
    assert answer_counts(shuffled) == answer_counts(claims)
    assert Counter(reference_addresses(shuffled)) == Counter(reference_addresses(claims))


def test_a_claim_with_an_unknown_verdict_leaves_every_part_at_once():
    known = claim((True, False), True)
    half_known = claim((True, None), True)  # supported for sure, and still out
    of_one = claim((True, True), None)
    claims = AnswerClaims(
        judge="j", answer=(known, half_known, of_one), reference=(known,), chunks=2
    )
    counts = answer_counts(claims)
    assert (counts.judged, counts.unjudged) == (1, 2)
    assert (counts.supported, counts.right, counts.invented) == (1, 1, 0)
    assert answer_addresses(claims) == ("grounded", None, None)


@given(judgements(doubtful))
def test_a_tally_asks_for_its_own_verdicts_alone(claims):
    for side in (claims.answer, claims.reference):
        whole = [c.chunks for c in side if None not in c.chunks]
        said = [c.other for c in side if c.other is not None]
        found = in_contexts(side, claims.chunks)
        assert found == (sum(map(any, whole)), len(whole), len(side) - len(whole))
        assert in_other_text(side) == (sum(said), len(said), len(side) - len(said))


@given(judgements(sure))
def test_where_every_verdict_is_known_counts_and_tallies_are_one(claims):
    counts, became = answer_counts(claims), reference_addresses(claims)
    pairs = [
        (in_contexts(claims.answer, claims.chunks), counts.supported, counts.judged),
        (in_other_text(claims.answer), counts.right, counts.judged),
        (in_other_text(claims.reference), became.count("said"), len(became)),
    ]
    for tally, count, judged in pairs:
        assert tally == (count or 0, judged, 0)


def test_a_reference_that_claims_nothing_makes_no_context_relevant_nor_irrelevant():
    wrong = claim((True,), False)
    claims = AnswerClaims(judge="j", answer=(wrong,), reference=(), chunks=1)
    assert relevance(claims) is None
    assert answer_addresses(claims) == (None,)
    assert answer_counts(claims).misled_by_noise is None


def test_verdicts_that_no_claim_has_are_not_waited_for():
    contexts_only = AnswerClaims(
        judge="j", answer=(claim((True,), None), claim((False,), None)), chunks=1
    )
    counts = answer_counts(contexts_only)
    assert (counts.judged, counts.supported, counts.right, counts.invented) == (2, 1, None, None)
    reference_only = AnswerClaims(judge="j", answer=(claim((), True), claim((), False)), chunks=3)
    counts = answer_counts(reference_only)
    assert (counts.judged, counts.supported, counts.right) == (2, None, 1)


def test_where_relevance_is_unknown_only_the_two_kinds_of_noise_are():
    wrong = claim((True,), False)
    invented = claim((False,), False)
    unknown = claim((None,), True)
    claims = AnswerClaims(judge="j", answer=(wrong, invented), reference=(unknown,), chunks=1)
    counts = answer_counts(claims)
    assert relevance(claims) is None
    assert (counts.supported, counts.self_knowledge, counts.invented) == (1, 0, 1)
    assert counts.misled_by_relevant is counts.misled_by_noise is None


def test_with_nothing_retrieved_every_claim_is_known_to_be_in_no_chunk():
    claims = AnswerClaims(
        judge="j",
        answer=(claim((), True), claim((), False)),
        reference=(claim((), False), claim((), True)),
        chunks=0,
    )
    assert answer_addresses(claims) == ("self_knowledge", "invented")
    assert reference_addresses(claims) == ("retriever_missed", "said")


def test_one_relevant_chunk_among_the_supporting_ones_decides():
    wrong = claim((True, True), False)
    reference = claim((False, True), True)
    by_both = AnswerClaims(judge="j", answer=(wrong,), reference=(reference,), chunks=2)
    assert answer_addresses(by_both) == ("misled_by_relevant",)
    elsewhere = claim((True, False), False)
    by_noise = AnswerClaims(judge="j", answer=(elsewhere,), reference=(reference,), chunks=2)
    assert answer_addresses(by_noise) == ("misled_by_noise",)


def test_useful_does_not_make_a_chunk_relevant():
    wrong, reference = claim((True,), False), claim((False,), False)
    claims = AnswerClaims(
        judge="j", answer=(wrong,), reference=(reference,), chunks=1, useful=(True,)
    )
    assert answer_addresses(claims) == ("misled_by_noise",)


def test_without_claims_there_is_nothing_to_count():
    counts = answer_counts(AnswerClaims(judge="j", answer=(), chunks=2))
    assert (counts.judged, counts.unjudged, counts.supported) == (0, 0, None)
    assert answer_counts(AnswerClaims(judge="j")).judged == 0
