"""Annotators over the same items: how far they agree, and where they do not."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase

from ragauge.contracts.annotation import AgreementReport
from ragauge.contracts.report import Outcome, Rule
from ragauge.errors import UsageError
from ragauge.gates.rules import Ranged, parse_rules
from ragauge.ingest.annotations import read_annotations
from ragauge.ingest.fields import Columns
from ragauge.ingest.lines import STDIN
from ragauge.ingest.records import Source
from ragauge.metrics.names import metric_id, short_name
from ragauge.runners.annotators import METRICS
from ragauge.runners.label_agreement import Labels, Options
from ragauge.runners.span_agreement import Spans


def agreement(
    sources: Sequence[Source],
    *,
    field: str | None = None,
    columns: Columns | None = None,
    options: Options | None = None,
    gates: str | None = None,
) -> Outcome[AgreementReport]:
    """How far annotators agree, each of whom is a source; `gates` come before the defaults.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    options = options or Options()
    if len(sources) < 2:
        raise UsageError("agreement takes the files of two annotators or more")
    if len(sources) > len(ascii_uppercase):
        raise UsageError(
            f"{len(sources)} files; at most {len(ascii_uppercase)} are compared at once"
        )
    names = Counter(str(one) for one in sources if isinstance(one, str | os.PathLike))
    twice = [name for name, times in names.items() if times > 1]
    if twice:
        which = "standard input" if twice[0] == STDIN else twice[0]
        raise UsageError(f"{which} is named twice: name the file of each annotator once")
    _refuse_options(options)
    own = _own_rules(gates)
    read = read_annotations(sources, field, columns)
    if read.kind == "spans" and options != Options():
        raise UsageError(
            f"{read.field} holds spans, which have no level, weights or order: drop those options"
        )
    compared = Spans(read) if read.kind == "spans" else Labels(read, options)
    return compared.outcome(compared.rules(own))


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
