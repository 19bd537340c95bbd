"""What a comparison is asked for: the two runs, and how they are compared."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from msgspec import Struct

from ragauge.contracts.comparison import ComparisonReport
from ragauge.contracts.history import History, Run
from ragauge.dashboard.asked import Asked, BadAddress
from ragauge.dashboard.material import Material
from ragauge.errors import UsageError
from ragauge.runners.compare_options import ALLOWANCES, CompareOptions
from ragauge.runners.options import chosen_options

CORRECTIONS = ("holm", "bh", "none")
SLICED, VALUES = 4, 20
"""Where nobody says by what: so many strata, of those with at most so many values."""
NO_SLICES = "none"


class Choice(Struct, frozen=True):
    """Two runs and how to compare them; the words are those of the address."""

    before: Run
    after: Run
    options: CompareOptions

    @property
    def key(self) -> Hashable:
        return ("compare", self.before.id, self.after.id, self.options)

    def made(self, history: History) -> ComparisonReport:
        from ragauge.runners.compare import compare_runs

        return compare_runs(self.before, self.after, history, self.options)

    @property
    def words(self) -> dict[str, str]:
        """What the fields of the form hold."""
        options = self.options
        return {
            "metrics": ", ".join(options.metrics),
            "margin": ", ".join(options.margins),
            "slices": ", ".join(options.slices) or NO_SLICES,
            "alpha": f"{options.alpha:g}",
            "correction": options.correction,
            "allow": ",".join(options.allow),
        }


def chosen(material: Material, before: Run, after: Run, asked: Asked) -> Choice:
    """The comparison that the fields ask for; raises BadAddress where one of them cannot be."""
    given: dict[str, Any] = {
        "metrics": _listed(asked, "metrics"),
        "margins": _listed(asked, "margin"),
        "slices": _slices(material, after, asked),
        "allow": _allowed(asked),
    }
    if correction := asked.choice("correction", CORRECTIONS):
        given["correction"] = correction
    if alpha := asked.text("alpha"):
        given["alpha"] = _alpha(alpha)
    try:
        return Choice(before, after, chosen_options(CompareOptions, "compare", given))
    except UsageError as error:
        raise BadAddress(*error.problems) from error


def _listed(asked: Asked, name: str) -> tuple[str, ...]:
    """The words of a field that may be given several times, or once with commas; each once."""
    asked.text(name)
    words = (word.strip() for text in asked.texts(name) for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def _slices(material: Material, after: Run, asked: Asked) -> tuple[str, ...]:
    """The strata to slice by: those asked for, else the coarsest of the gold set."""
    if named := _listed(asked, "slices"):
        return () if named == (NO_SLICES,) else named
    if after.record.gold_sha256 is None:
        return ()
    strata = material.pages.strata(after.record.gold_sha256)
    coarse = [name for name, values in strata.items() if 1 < len(values) <= VALUES]
    return tuple(sorted(coarse, key=lambda name: (len(strata[name]), name))[:SLICED])


def _allowed(asked: Asked) -> tuple[str, ...]:
    words = _listed(asked, "allow")
    unknown = [word for word in words if word not in ALLOWANCES]
    if unknown:
        there = ", ".join(ALLOWANCES)
        raise BadAddress(*(f'allow: "{word[:40]}" is none of {there}' for word in unknown))
    return words


def _alpha(text: str) -> float:
    """The share of false alarms a reader accepts."""
    try:
        alpha = float(text)
    except ValueError:
        raise BadAddress(f'alpha: "{text[:40]}" is no number; write one such as 0.05') from None
    if not 0 < alpha < 1:
        raise BadAddress(
            f'alpha: "{text[:40]}" is not between 0 and 1; write the share of false alarms you '
            "accept, such as 0.05"
        )
    return alpha
