"""How the labels of units are drawn: a colour that the style sheet knows, whatever the label is."""

from __future__ import annotations

from ragauge.contracts.audit import OK, STATES
from ragauge.contracts.paging import UnitCounts
from ragauge.contracts.stability import STABILITIES
from ragauge.reports.kinds.audit import POINTER_HOLDS
from ragauge.reports.kinds.score import BADGES as KINDS

OTHER = "other"
UNTOLD = "untold"


def label_kind(kind: str, label: str | None) -> str:
    """The name of a colour for a label of a run of this kind.

    >>> label_kind("score", "OVER_REFUSAL"), label_kind("audit", "ok"), label_kind("score", "<b>")
    ('over_refusal', 'ok', 'other')
    """
    match kind:
        case "score":
            return KINDS.get(label or "", OTHER)
        case "stability":
            return label if label in STABILITIES else OTHER
        case "trace_eval" if label in STATES:
            return str(label)
        case "audit" | "trace_eval":
            return "ok" if label == OK else "warned" if label in POINTER_HOLDS else "no_hit"
        case _:
            return {"right": "ok", "wrong": "no_hit"}.get(label or "", OTHER)


def label_name(kind: str, label: str | None) -> str:
    """A label as it is shown."""
    name = label or ""
    return name.replace("_", " ") if kind == "stability" else name


def drawn_labels(kind: str, counts: UnitCounts) -> list[tuple[str, str, int]]:
    """The labels that occur, as a stacked bar takes them: colour, name, and units.

    Units without a label are the last part; nothing is drawn where none has one.
    """
    labels = counts.labels
    told = [(label_kind(kind, label), label_name(kind, label), n) for label, n in labels.items()]
    without = counts.units - sum(labels.values())
    return [*told, (OTHER, UNTOLD, without)] if told and without else told
