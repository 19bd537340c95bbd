"""What every row came to, one line a row in the input's order: the rows of `--out`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from ragauge.contracts.answers import AnswerRow, CitationSupport, Groundedness
from ragauge.contracts.claims import Claim
from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.score import Outcome
from ragauge.errors import UsageError
from ragauge.ingest.answered.rows import Rejected
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.overlap import claim_verdicts, verdict_counts
from ragauge.reports.unit_rows import ENDINGS, table, unknown_ending
from ragauge.store.files import write_whole

FAMILY = "answers."
LEXICAL = "lexical_"
CLAIMS = {
    "faithfulness": "answer",
    "claim_precision": "answer",
    "context_recall": "reference",
    "claim_recall": "reference",
}
"""Metrics that show the claims they count, and whose these are."""
_encode = msgspec.json.Encoder(order="sorted").encode


class AnswerScores(Struct, frozen=True, kw_only=True):
    """One row of the input, and every metric's value for it."""

    id: str | int
    """As the row calls itself, else its number among the rows."""
    unit: str
    """What reports and findings call it: its id, with a number where another row has the same."""
    scores: dict[str, dict[str, Any]]
    """By metric, without its family: `value`, `reason`, and what speaks for it."""


class AnswersOutcome(Outcome[EvalReport], frozen=True, kw_only=True):
    """An evaluation of answers, with the scores of every row in the input's order."""

    scores: Sequence[AnswerScores]


def answer_scores(
    given: Sequence[str | int],
    facts: Sequence[AnswerFacts],
    metrics: Mapping[str, Metric],
    rows: Mapping[str, Sequence[Row | Absent]],
    values: Mapping[str, Sequence[float | None]],
) -> list[AnswerScores]:
    """The scores of each row, in the order given."""
    return [
        AnswerScores(
            id=id,
            unit=one.row.id,
            scores={
                metric.name: {
                    "value": values[key][place],
                    "reason": rows[key][place].reason,
                    **_evidence(metric.name, one),
                }
                for key, metric in metrics.items()
            },
        )
        for place, (id, one) in enumerate(zip(given, facts, strict=True))
    ]


def _evidence(name: str, facts: AnswerFacts) -> dict[str, Any]:
    """What speaks for a value, where a metric has more to show than a reason."""
    if name == "groundedness" and facts.groundedness is not None:
        return _grounds(facts.groundedness)
    if name == "citation_precision" and facts.citations is not None:
        return {"sentences": _citing(facts.citations)}
    if name == "factual_accuracy":
        looked_up = claim_verdicts(facts)
        if isinstance(looked_up, Absent):
            return {}
        return {**verdict_counts([looked_up]), "claims": msgspec.to_builtins(looked_up)}
    judged = facts.lexical_claims if name.startswith(LEXICAL) else facts.claims
    side = CLAIMS.get(name.removeprefix(LEXICAL))
    if side is None or judged is None:
        return {}
    claims: tuple[Claim, ...] | None = getattr(judged, side)
    return {"claims": None if claims is None else [_verdicts(one, facts.row) for one in claims]}


def _citing(found: CitationSupport) -> list[Any]:
    """The sentences that cite, and which of what they cite supports them."""
    return [msgspec.to_builtins(one) for one in found.sentences if one.cited]


def _verdicts(claim: Claim, row: AnswerRow) -> dict[str, Any]:
    """A claim with the contexts that support it, and whether the other text does."""
    chunks = [context.id for context in row.contexts or ()]
    # Contexts that nobody was asked about have no verdict.
    pairs = list(zip(chunks, claim.chunks, strict=False))
    return {
        "text": claim.text,
        "supported_by": [chunk for chunk, verdict in pairs if verdict],
        "unjudged": [chunk for chunk, verdict in pairs if verdict is None],
        "other": claim.other,
    }


def _grounds(found: Groundedness) -> dict[str, Any]:
    told: dict[str, Any] = msgspec.to_builtins(found)
    return {key: told[key] for key in told if key not in ("value", "reason")}


def with_rejected(outcome: AnswersOutcome, rejected: Mapping[int, Rejected]) -> AnswersOutcome:
    """The outcome with the rows that were left out, each in its place, without a value."""
    if not rejected:
        return outcome
    names = [id.removeprefix(FAMILY) for id in outcome.report.metrics]
    taken = iter(outcome.scores)
    rows = range(len(outcome.scores) + len(rejected))
    scores = [
        _without_value(rejected[place], names) if place in rejected else next(taken)
        for place in rows
    ]
    return structs.replace(outcome, scores=scores)


def _without_value(rejected: Rejected, names: Sequence[str]) -> AnswerScores:
    reason = f"rejected: {'; '.join(rejected.facts)}"
    return AnswerScores(
        id=rejected.unit if rejected.given is None else rejected.given,
        unit=rejected.unit,
        scores={name: {"value": None, "reason": reason} for name in names},
    )


def write_scores(outcome: AnswersOutcome, name: str) -> None:
    """Write the rows whole or not at all, in the form of the file's ending.

    A table has each metric's value and reason; what speaks for a value stands in JSON Lines alone.
    """
    path = Path(name)
    if path.suffix.lower() == ".jsonl":
        write_whole(path, b"".join(_lines(outcome.scores)))
    else:
        write_whole(path, table(_columns(outcome), _cells(outcome), path))


def check_ending(name: str) -> None:
    """Raise UsageError, before anything is measured, for a file that could not be written."""
    if Path(name).suffix.lower() not in ENDINGS:
        raise UsageError(unknown_ending(Path(name)))


def _lines(scores: Sequence[AnswerScores]) -> Iterator[bytes]:
    for one in scores:
        yield _encode(one) + b"\n"


def _columns(outcome: AnswersOutcome) -> dict[str, type | None]:
    strata = (f"strata.{name}" for name in outcome.units.details)
    return {
        **dict.fromkeys(("id", "unit", *strata), str),
        **{
            column: kind
            for name in _measured(outcome)
            for column, kind in ((name, float), (f"{name}_reason", str))
        },
    }


def _cells(outcome: AnswersOutcome) -> Iterator[list[Any]]:
    strata = list(outcome.units.details.values())
    places = {unit: place for place, unit in enumerate(outcome.units.ids)}
    names = _measured(outcome)
    for one in outcome.scores:
        place = places.get(one.unit)
        sliced = [None if place is None else column[place] for column in strata]
        told = [one.scores[name][part] for name in names for part in ("value", "reason")]
        yield [str(one.id), one.unit, *sliced, *told]


def _measured(outcome: AnswersOutcome) -> list[str]:
    return sorted(id.removeprefix(FAMILY) for id in outcome.report.metrics)
