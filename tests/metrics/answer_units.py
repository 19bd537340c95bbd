"""Answers as evaluations meet them, with what supporters, embedders and judges may say of them."""

from hypothesis import strategies as st

from ragauge.contracts.answers import AnswerRow, Context, Evidence, Groundedness, SentenceSupport
from ragauge.contracts.claims import AnswerClaims, Claim, RubricScore
from ragauge.grounding.cited import citation_support
from ragauge.metrics.answers import AnswerFacts

TEXTS = (
    "It opened in 1800.",
    "The museum opened in 1800 and has 12,000 paintings.",
    "Het museum ging open op 3 mei 1800.",
    "Le musée n'a pas ouvert.",
    "博物馆于1800年开放。",
    "It opened in 1800 [1]. It is in Ede [2].",
    "not in context",
    "!?",
    "Ja",
)
text = st.sampled_from(TEXTS)
some_texts = st.lists(text, max_size=3).map(tuple)
cosine = st.floats(-1, 1, allow_nan=False)
share = st.floats(0, 1, allow_nan=False)
maybe = st.none() | st.booleans()


@st.composite
def contexts(draw):
    found = draw(some_texts)
    return tuple(Context(str(place), one) for place, one in enumerate(found, 1))


@st.composite
def rows(draw):
    known = draw(st.none() | contexts())
    ids = [context.id for context in known or ()]
    return AnswerRow(
        id="a1",
        answer=draw(st.none() | text),
        question=draw(st.none() | st.sampled_from(("When did it open?", "Waar is het?"))),
        contexts=known,
        references=draw(some_texts),
        facts=draw(some_texts),
        cited=draw(
            st.none() | st.lists(st.sampled_from([*ids, "elsewhere"]), max_size=2).map(tuple)
        ),
        kind=draw(st.none() | st.sampled_from(("qa", "summary", "data_to_text"))),
    )


@st.composite
def groundedness(draw, row):
    """What a supporter may say of a row, free of contradiction."""
    value = None if row.answer is None or not row.contexts else draw(share)
    sentence = SentenceSupport(
        text=row.answer or "",
        start=0,
        end=len(row.answer or ""),
        score=value,
        evidence=None if value is None else Evidence("1", 0, 1),
        unsupported_words=draw(st.sampled_from(((), ("Mars",)))),
        unsupported_numbers=draw(st.sampled_from(((), ("1801",)))),
    )
    return Groundedness(
        value=value,
        reason=None if value is not None else "nothing to hold the answer against",
        kind=row.kind or "qa",
        threshold=0.5,
        grounded=None if value is None else value >= 0.5,
        sentences=(sentence,),
        unsupported_words=sentence.unsupported_words,
        unsupported_numbers=sentence.unsupported_numbers,
        model="groundedness/0",
    )


def citations(row):
    """What the sentence supporter says of a row's citations; None where it cannot."""
    if row.answer is None or row.contexts is None:
        return None
    return citation_support(row.answer, row.contexts, row.cited)


@st.composite
def claims(draw, row):
    """What a judge may say of a row; a verdict that failed is None."""
    chunks = None if row.contexts is None else len(row.contexts)

    def claim():
        verdicts = tuple(draw(maybe) for _ in range(chunks or 0))
        return Claim(text=draw(text), chunks=verdicts, other=draw(maybe))

    def several():
        return (
            None if draw(st.booleans()) else tuple(claim() for _ in range(draw(st.integers(0, 3))))
        )

    questions = draw(st.none() | st.just(("When?", "Where?")))
    return AnswerClaims(
        judge="made up",
        answer=several(),
        reference=several(),
        chunks=chunks,
        useful=draw(st.none() | st.just(tuple(draw(maybe) for _ in range(chunks or 0)))),
        questions=questions,
        likeness=None if questions is None else draw(st.none() | st.tuples(cosine, cosine)),
        noncommittal=draw(maybe),
        errors=draw(st.sampled_from(((), ("chunk 1: timeout",)))),
    )


@st.composite
def answer_facts(draw):
    row = draw(rows())
    return AnswerFacts(
        row=row,
        refused=row.answer == "not in context",
        groundedness=draw(st.none() | groundedness(row)),
        citations=draw(st.none() | st.just(citations(row))),
        claims=draw(st.none() | claims(row)),
        lexical_claims=draw(st.none() | claims(row)),
        rubric=draw(
            st.none()
            | st.builds(RubricScore, score=st.none() | st.integers(1, 5), reason=st.just("so"))
        ),
        similarity=draw(st.none() | cosine),
        relevance=draw(st.none() | cosine),
        missing=draw(st.sampled_from(({}, {"claims": "the budget was spent"}))),
    )
