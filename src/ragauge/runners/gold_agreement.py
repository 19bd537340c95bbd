"""Annotators over the same items: how far they agree, and where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase

from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.report import Outcome, Rule
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged, parse_rules
from ragauge.ingest.annotations import Annotations, read_annotations
from ragauge.ingest.lines import STDIN
from ragauge.metrics.names import metric_id, short_name
from ragauge.runners.annotators import METRICS, Annotators
from ragauge.runners.label_agreement import Labels, Options
from ragauge.runners.span_agreement import Spans


def agreement(
    names: Sequence[str],
    *,
    field: str | None = None,
    options: Options | None = None,
    gates: str | None = None,
) -> Outcome[AgreementReport]:
    """How far the annotators agree whose files these are; `gates` come before the defaults.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    options = options or Options()
    _refuse_names(names)
    _refuse_options(options)
    own = _own_rules(gates)
    read = read_annotations(names, field)
    compared = _compared(names, read, options)
    return compared.outcome(compared.rules(own))


def _refuse_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise UsageError("agreement takes the files of two annotators or more")
    if len(names) > len(ascii_uppercase):
        raise UsageError(f"{len(names)} files; at most {len(ascii_uppercase)} are compared at once")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        which = "standard input" if twice[0] == STDIN else twice[0]
        raise UsageError(f"{which} is named twice: name the file of each annotator once")


def _refuse_options(options: Options) -> None:
    if options.level == "nominal" and options.ordered:
        raise UsageError("nominal labels have no order: drop --weights and --order, or the level")
    if options.level == "interval" and options.order:
        raise UsageError("interval labels are numbers, which have their order: drop --order")
    twice = [label for label, times in Counter(options.order).items() if times > 1]
    if twice:
        raise UsageError(f'--order names "{twice[0]}" twice')


def _own_rules(gates: str | None) -> tuple[Rule, ...]:
    own = () if gates is None else parse_rules(gates, _metric)
    for rule in own:
        if rule.where or rule.per == "question":
            raise UsageError(
                f'gate "{rule}": annotators are compared over the whole set; '
                "drop what follows the bound"
            )
    return own


def _metric(name: str) -> Ranged:
    id = metric_id(
        name,
        METRICS,
        unknown=f'there is no metric "{name}" here',
        listed=f"there are {', '.join(map(short_name, METRICS))}",
    )
    # Agreement beyond chance can be below 0.
    return Ranged(id, (-1 if "kappa" in id or "alpha" in id else 0, 1))


def _compared(names: Sequence[str], read: Annotations, options: Options) -> Annotators:
    if read.kind == "labels":
        return Labels(names, read, options)
    if options != Options():
        raise UsageError(
            f"{read.field} holds spans, which have no level, weights or order: drop those options"
        )
    return Spans(names, read)
