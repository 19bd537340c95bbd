"""Actions as a pipeline can take them: with its own names for knobs, without those it lacks."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.contracts.diagnosis import Action
from ragauge.diagnosis.catalogue import Entry

KnobMap = Mapping[str, str | None]
"""What a pipeline calls each knob; None where it has no such knob."""


def actions_of(entry: Entry, knobs: KnobMap) -> tuple[Action, ...]:
    """The actions of an entry; those that turn a knob the pipeline lacks are left out."""
    return tuple(
        Action(
            do=step.do,
            knob=knobs.get(step.knob, step.knob) if step.knob else None,
            costs=step.costs,
            worsens=step.worsens,
        )
        for step in entry.actions
        if step.knob is None or knobs.get(step.knob, step.knob) is not None
    )
