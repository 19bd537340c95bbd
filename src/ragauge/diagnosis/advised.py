"""Causes from the advice of a recorded run, where its report tells of no single answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.contracts.diagnosis import Cause, Evidence, Standing
from ragauge.contracts.score import Advice
from ragauge.diagnosis.catalogue import Entry
from ragauge.diagnosis.knob_map import KnobMap, actions_of
from ragauge.diagnosis.material import Material
from ragauge.stats.intervals import wilson

TOLERATED = 0.05
"""The share of units that may speak for an entry before it is called likely, beyond chance."""
ONLY_HERE = frozenset({"quality.missing", "quality.precision_hides_refusals"})
"""What no single answer shows, and so no cause that is ranked by evidence."""


def advised_causes(
    material: Material,
    entries: Mapping[str, Entry],
    knobs: KnobMap,
    low: Sequence[str],
    *,
    alone: bool,
) -> list[Cause]:
    """The causes that a run's own advice speaks of, those that most units speak for first.

    Beside causes ranked by evidence only what these cannot tell.
    """
    told = [one for one in material.advice if alone or one.id in ONLY_HERE]
    of = len(material.samples) if material.wrong is None else material.wrong
    found = [_cause(one, entries[one.id], of, knobs, low) for one in told if one.id in entries]
    # What a low metric raises comes before what many units show besides.
    return sorted(found, key=lambda cause: (not cause.metrics, -cause.explains, cause.id))


def _cause(advice: Advice, entry: Entry, of: int, knobs: KnobMap, low: Sequence[str]) -> Cause:
    n = len(advice.questions) if advice.n is None else advice.n
    about = tuple(name for name in low if name in entry.metrics)
    return Cause(
        id=entry.id,
        title=entry.title,
        means=entry.means,
        standing=standing_of(n, of) if about or not low else "possible",
        explains=float(n),
        of=max(n, of),
        metrics=about,
        evidence=(
            Evidence(
                sign=entry.id,
                speaks="for",
                n=n,
                of=max(n, of),
                elsewhere=None,
                elsewhere_of=None,
                bits=0.0,
                text=entry.evidence.format(n=n),
            ),
        ),
        why=None,
        confirm=entry.confirm,
        actions=actions_of(entry, knobs),
        samples=advice.questions,
    )


def standing_of(n: int, of: int) -> Standing:
    """Whether more units speak for an entry than may, beyond chance.

    A unit may have several faults, as a document has entities: then it is plainly likely.
    """
    if n >= of:
        return "likely"
    low, _ = wilson(n / of, of)
    return "likely" if low > TOLERATED else "possible"
