"""Judgements: one label a question."""

from __future__ import annotations

import re
from typing import Any

from ragauge.contracts.consistency import LABELS, Judgement, Label
from ragauge.ingest.fields import BadField, Columns, Field, Shape, an_id, quoted, refuse, text
from ragauge.ingest.records import Records, Source

_LABELS = ", ".join(LABELS)


def _label(value: Any, field: str) -> Label:
    """The label meant: in any case, with a dash or a space for the underscore."""
    meant = re.sub(r"[-\s]+", "_", text(value, field).strip()).upper()
    for label in LABELS:
        if meant == label:
            return label
    if not meant:
        raise BadField(field, "is empty; write ABSTAIN where the judge did not decide")
    raise BadField(field, f"{quoted(value)} is none of {_LABELS}")


def _reason(value: Any, field: str) -> str | None:
    return text(value, field) or None


QID = Field("qid", an_id, "The question.", missing="missing; name the question that was judged")
JUDGEMENT = Shape(
    name="judgement",
    doc="What a judge decided about the answer to a question.",
    fields=(
        QID,
        Field("label", _label, f"One of {_LABELS}.", missing=f"missing; write one of {_LABELS}"),
        Field("reason", _reason, "Why, in a sentence."),
    ),
)
RATED = Shape(
    name="judgement",
    doc="A question with a label from each of two raters, in a column called after the rater.",
    fields=(QID,),
    keeps=True,
)


def read_judgements(*sources: Source, columns: Columns | None = None) -> list[dict[str, Judgement]]:
    """For each source its judgements by qid, in its order.

    Raises InputRejected with all that is wrong with any of them.
    """
    problems: list[str] = []
    files = [
        {
            row["qid"]: Judgement(**row.values, where=row.place)
            for row in Records(source, JUDGEMENT, problems, columns=columns).once("qid")
        }
        for source in sources
    ]
    refuse(problems)
    return files


def read_raters(
    source: Source,
    raters: tuple[str, str] | None = None,
    columns: Columns | None = None,
) -> list[tuple[str, dict[str, Judgement]]]:
    """The two raters of one source, each with its name and its judgements by qid.

    A record has a qid and a label for each rater, under the rater's name; `auditor_reason` is the
    auditor's reason. A label that is null or empty means that this rater did not judge the
    question. Without `raters` they are the two columns that hold labels. Raises InputRejected with
    all that is wrong.
    """
    problems: list[str] = []
    records = Records(source, RATED, problems, columns=columns)
    rows = [
        (row, {key.strip().lower(): value for key, value in row.record.items()})
        for row in records.once("qid")
    ]
    name, known = records.name, len(problems)
    chosen = _raters(name, [record for _, record in rows], raters, problems)
    found: dict[str, dict[str, Judgement]] = {rater: {} for rater in chosen}
    for row, record in rows if chosen else ():
        try:
            for rater in chosen:
                given = record.get(rater)
                if given is not None and str(given).strip():
                    label, reason = _label(given, rater), record.get(f"{rater}_reason")
                    reason = None if reason is None else _reason(reason, f"{rater}_reason")
                    qid = row["qid"]
                    found[rater][qid] = Judgement(
                        qid=qid, label=label, reason=reason, where=row.place
                    )
        except BadField as fault:
            problems.append(f"{row.place}: {fault}")
    problems += [
        f"{name}: {rater}: has no label"
        for rater in chosen
        if rows and not found[rater] and len(problems) == known
    ]
    refuse(problems)
    return list(found.items())


def _raters(
    name: str,
    records: list[dict[str, Any]],
    requested: tuple[str, str] | None,
    problems: list[str],
) -> tuple[str, ...]:
    """The columns of the two raters; nothing, with a problem, where they are not clear."""
    columns = list(dict.fromkeys(key for record in records for key in record if key != "qid"))
    if requested is not None:
        chosen = tuple(rater.strip().lower() for rater in requested)
        unknown = [rater for rater in chosen if rater not in columns]
        if records and unknown:
            there = ", ".join(columns) or "none"
            problems += [f"{name}: no column is called {one}; there are {there}" for one in unknown]
        return () if unknown else chosen

    def is_label(value: Any) -> bool:
        try:
            return bool(_label(value, ""))
        except BadField:
            return False

    with_labels = [
        column for column in columns if any(is_label(record.get(column)) for record in records)
    ]
    if len(with_labels) == 2 or not records:
        return tuple(with_labels)
    fact = f"{len(with_labels)} columns hold labels: {', '.join(with_labels)}"
    if len(with_labels) < 2:
        fact = f"two raters are expected, and labels are in {', '.join(with_labels) or 'no column'}"
    problems.append(f"{name}: {fact}; name two with --raters, such as --raters scholar,auditor")
    return ()
