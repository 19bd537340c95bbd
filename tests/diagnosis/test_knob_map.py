"""Actions under the pipeline's own names for its knobs, without the knobs it lacks."""

import pytest

from ragauge.contracts.diagnosis import KNOBS
from ragauge.diagnosis.catalogue import Entry, Step, actions_of, catalogue

ENTRY = Entry(
    id="own.one",
    metrics=("faithfulness",),
    title="One",
    confirm="Look.",
    actions=(
        Step(do="Widen the pool.", knob="recall_top_k", costs="Time.", worsens="Precision."),
        Step(do="Read the worst samples."),
        Step(do="Turn sampling off.", knob="temperature"),
    ),
)


def told(knobs):
    return [(action.do, action.knob) for action in actions_of(ENTRY, knobs)]


def test_without_a_map_knobs_have_the_names_of_the_catalogue():
    assert told({}) == [
        ("Widen the pool.", "recall_top_k"),
        ("Read the worst samples.", None),
        ("Turn sampling off.", "temperature"),
    ]


def test_a_map_renames_a_knob_and_nothing_else():
    renamed, plain = actions_of(ENTRY, {"recall_top_k": "retriever.k"}), actions_of(ENTRY, {})
    assert renamed[0].knob == "retriever.k"
    assert (renamed[0].do, renamed[0].costs, renamed[0].worsens) == (
        "Widen the pool.",
        "Time.",
        "Precision.",
    )
    assert renamed[1:] == plain[1:]


def test_an_action_on_a_knob_that_is_not_there_is_left_out():
    assert told({"recall_top_k": None}) == [
        ("Read the worst samples.", None),
        ("Turn sampling off.", "temperature"),
    ]


def test_an_action_that_turns_no_knob_is_never_left_out():
    assert told(dict.fromkeys(KNOBS)) == [("Read the worst samples.", None)]


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.id)
def test_every_knob_of_the_catalogue_can_be_renamed_and_hidden(entry):
    called = {knob: f"our.{knob}" for knob in KNOBS}
    plain, renamed = actions_of(entry, {}), actions_of(entry, called)
    assert {action.knob for action in plain} <= {*KNOBS, None}
    assert [action.knob for action in renamed] == [
        action.knob and f"our.{action.knob}" for action in plain
    ]
    hidden = actions_of(entry, dict.fromkeys(KNOBS))
    assert hidden == tuple(action for action in plain if action.knob is None)
