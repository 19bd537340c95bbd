"""What every row came to, one line a row in the input's order: the rows of `--out`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts.answers import AnswerRow
from ragauge.contracts.claims import Claim
from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.contracts.report import Outcome
from ragauge.errors import UsageError
from ragauge.ingest.answers import Rejected
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.overlap import claim_verdicts, verdict_counts
from ragauge.store.files import write_whole
from ragauge.store.rows import ENDINGS, table, unknown_ending

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
    every: Iterable[AnswerRow | Rejected],
    names: Mapping[str, str | int],
    facts: Sequence[AnswerFacts],
    metrics: Mapping[str, Metric],
    rows: Mapping[str, Sequence[Row | Absent]],
    values: Mapping[str, Sequence[float | None]],
) -> list[AnswerScores]:
    """The scores of all rows, in their order; those that were left out have none.

    `names` are ids as they were written, by those that the rows have.
    """
    places = {one.row.id: place for place, one in enumerate(facts)}
    scores: list[AnswerScores] = []
    for one in every:
        found: dict[str, Any] = {}
        for key, metric in metrics.items():
            if isinstance(one, Rejected):
                found[metric.name] = {"value": None, "reason": f"rejected: {'; '.join(one.facts)}"}
                continue
            place = places[one.id]
            found[metric.name] = {
                "value": values[key][place],
                "reason": rows[key][place].reason,
                **_evidence(metric.name, facts[place]),
            }
        unit = one.unit if isinstance(one, Rejected) else one.id
        own = one.given if isinstance(one, Rejected) else names.get(unit)
        scores.append(AnswerScores(id=unit if own is None else own, unit=unit, scores=found))
    return scores


def _evidence(name: str, facts: AnswerFacts) -> dict[str, Any]:
    """What speaks for a value, where a metric has more to show than a reason."""
    if name == "groundedness" and facts.groundedness is not None:
        grounds: dict[str, Any] = msgspec.to_builtins(facts.groundedness)
        return {key: grounds[key] for key in grounds if key not in ("value", "reason")}
    if name == "citation_precision" and facts.citations is not None:
        # The sentences that cite, and which of what they cite supports them.
        citing = [one for one in facts.citations.sentences if one.cited]
        return {"sentences": msgspec.to_builtins(citing)}
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


def write_scores(outcome: AnswersOutcome, name: str) -> None:
    """Write the rows whole or not at all, in the form of the file's ending.

    A table has each metric's value and reason; what speaks for a value stands in JSON Lines alone.
    """
    path = Path(name)
    if path.suffix.lower() == ".jsonl":
        write_whole(path, b"".join(_encode(one) + b"\n" for one in outcome.scores))
        return
    names = sorted(id.removeprefix(FAMILY) for id in outcome.report.metrics)
    strata = outcome.units.details
    columns: dict[str, type | None] = dict.fromkeys(
        ("id", "unit", *(f"strata.{name}" for name in strata)), str
    )
    for metric in names:
        columns |= {metric: float, f"{metric}_reason": str}
    places = {unit: place for place, unit in enumerate(outcome.units.ids)}

    def cells() -> Iterator[list[Any]]:
        for one in outcome.scores:
            place = places.get(one.unit)
            sliced = [None if place is None else column[place] for column in strata.values()]
            values = [one.scores[metric][part] for metric in names for part in ("value", "reason")]
            yield [str(one.id), one.unit, *sliced, *values]

    write_whole(path, table(columns, cells(), path))


def check_ending(name: str) -> None:
    """Raise UsageError, before anything is measured, for a file that could not be written."""
    if Path(name).suffix.lower() not in ENDINGS:
        raise UsageError(unknown_ending(Path(name)))
