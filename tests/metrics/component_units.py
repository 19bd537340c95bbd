"""Documents, items, mentions and queries as evaluations meet them, for the laws of the table."""

from hypothesis import strategies as st

from ragauge.contracts.entities import Entity
from ragauge.contracts.labels import LabelFacts, LabelSet
from ragauge.contracts.links import LinkedMention
from ragauge.contracts.rankings import Ranking
from ragauge.metrics.entity_matching import tokens_of
from tests.metrics.entity_twin import document_facts

ONE_TYPE = ("TOP",)
"""A mean over types has three columns a type; the table's own has one type."""
LETTERS = LabelSet(name="letters", labels=("M",), parents={"M": "CULTURAL"})

spans = st.lists(
    st.builds(
        lambda start, size: Entity(start=start, end=start + size, type="TOP"),
        st.integers(0, 20),
        st.integers(1, 9),
    ),
    max_size=4,
)


@st.composite
def entity_facts(draw):
    """A document of thirty characters, in which gold and prediction mark what they like."""
    gold, predicted = draw(spans), draw(spans)
    tokens = draw(st.none() | st.just(tokens_of("abcd " * 6)))
    answered = draw(st.booleans())
    return document_facts(gold, predicted if answered else None, types=ONE_TYPE, tokens=tokens)


@st.composite
def label_facts(draw):
    gold = draw(st.none() | st.just("M"))
    answered = draw(st.booleans())
    predicted = draw(st.none() | st.just("M")) if answered else None
    return LabelFacts(
        labels=LETTERS.labels,
        grouped=draw(st.booleans()),
        gold=gold,
        gold_path=LETTERS.path(gold) if gold else (),
        predicted=predicted,
        predicted_path=LETTERS.path(predicted) if predicted else (),
        answered=answered,
        accepted=(gold is not None and predicted == gold) or (draw(st.booleans()) and answered),
    )


@st.composite
def linked_mentions(draw):
    """A mention of gold, of the prediction or of both, free of contradiction."""
    in_gold = draw(st.booleans())
    nil = in_gold and draw(st.booleans())
    answered = draw(st.booleans()) if in_gold else True
    said_nil = answered and draw(st.booleans())
    linked = answered and not said_nil
    rank = draw(st.none() | st.integers(1, 12)) if linked and in_gold and not nil else None
    relaxed = draw(st.booleans())
    near = rank if rank is None else draw(st.integers(1, rank))
    exact = draw(st.booleans())
    return LinkedMention(
        in_gold=in_gold,
        nil=nil,
        answered=answered,
        said_nil=said_nil,
        linked=linked,
        rank=rank,
        relaxed_rank=near if relaxed else None,
        relaxed=relaxed,
        placed=draw(st.booleans()),
        exact=exact,
        weak_gold=rank == 1,
        weak_predicted=rank == 1,
        crosswalk=draw(st.booleans()),
        pairs=draw(st.dictionaries(st.sampled_from(("viaf-wikidata",)), st.booleans())),
    )


@st.composite
def rankings(draw):
    """A query: what was judged, some of it retrieved, among documents that nobody judged."""
    judged = draw(st.lists(st.integers(-1, 3), max_size=8))
    if draw(st.integers(0, 4)) == 0:
        return Ranking(retrieved=(), judged=tuple(judged), missing=True)
    found = draw(st.permutations(judged))[: draw(st.integers(0, 8))]
    strange = draw(st.lists(st.none(), max_size=4))
    retrieved = draw(st.permutations([*found, *strange]))
    return Ranking(retrieved=tuple(retrieved), judged=tuple(judged))


def plain(sums):
    """All that sums hold, in a form that compares."""
    return sums.sums.tolist(), sums.scored.tolist(), sums.units.tolist(), dict(sums.absent)
