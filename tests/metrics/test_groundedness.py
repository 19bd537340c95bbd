"""The metrics of groundedness: absent with a reason, never zero; and the brief's for parity."""

from __future__ import annotations

import numpy as np
import pytest

from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.metric import SCALE, Absent, Row
from ragauge.metrics.answers import (
    BLANK_CONTEXTS,
    CONTEXTS_UNKNOWN,
    NOTHING_RETRIEVED,
    REFUSED,
    AnswerFacts,
)
from ragauge.metrics.groundedness import (
    WORDLESS,
    brief_faithfulness,
    grounded,
    groundedness,
)
from ragauge.text.grounding import groundedness as lay

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
