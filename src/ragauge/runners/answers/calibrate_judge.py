"""Calibrate a judge: how far its scores agree with people, and what else moves them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.answer_calibration import (
    CHANCE,
    LABELS_TO_MOVE,
    OF_EACH_TO_MOVE,
    SOURCES_NEEDED,
    AnswerCalibrationReport,
    Bias,
)
from ragauge.contracts.evaluation import AnswerDetail
from ragauge.contracts.opt import takes
from ragauge.contracts.options import AnswerOptions, JudgeOptions
from ragauge.contracts.report import Finding, Outcome
from ragauge.errors import InputRejected, UsageError
from ragauge.ingest.answers import ID
from ragauge.ingest.fields import (
    BadField,
    Columns,
    Shape,
    expected,
    number,
    quoted,
    refuse,
    value_at,
)
from ragauge.ingest.records import Records, Source, columns_for
from ragauge.metrics.table import find, reading
from ragauge.runners.answers.agreement import (
    DIGITS,
    ROUNDS,
    Scored,
    calibration_outcome,
    controls,
    held_out,
    labelled_scores,
    measured,
    one_label,
    rounded_ends,
)
from ragauge.runners.answers.evaluation import outcome_of_answers
from ragauge.runners.answers.gathering import Asking
from ragauge.runners.answers.kept_calibrations import UNNAMED, makers_of
from ragauge.runners.answers.labelled import (
    POSITION,
    SHAPE,
    Labelled,
    LabelledRows,
    read_labelled,
)
from ragauge.runners.answers.options import JUDGED, LEXICAL, check_options
from ragauge.stats.discrimination import rank_correlation, steady_threshold
from ragauge.stats.intervals import clustered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


NAME = "judge"
DEFAULT_METRIC = "faithfulness"
FAMILY = "answers."
NO_SCORE = "the judge gave no score"
UNKNOWN = "the file of scores has no row of this id"
SCORED = Shape(
    name="score",
    doc="The scores of an answer, joined to it by id.",
    fields=(structs.replace(ID, missing="missing; a score is joined to its answer by it"),),
    keeps=True,
)
COVERAGE = "coverage"
"""Is in every file of scores, and is no score of a judge."""
_PREFIX = "lexical_"
ASKED_WITH = ("judge_key_env", "budget", "prices", "rate", "concurrency", "timeout")
"""Options that belong to a judge that is asked."""
BY_ORDER = "by_order"
"""Whether the order decided, as the comparison of two answers says."""
PREFERRED, SWAPPED = "preferred", "preferred_swapped"
"""Which place was preferred, as asked, and with the two answers swapped."""
PLACES = {"first": "first", "second": "second", "tie": "tie", "a": "first", "b": "second"}
NO_POSITIONS = (
    "no row tells of positions: give `by_order`, or `preferred` and `preferred_swapped` "
    "(first, second or tie), or an answer twice with another `position`"
)
REASONS_KEPT = 10
OTHERS = "other reasons"
HALF = 0.5


class Judged(Struct, frozen=True, kw_only=True):
    """The scores of labelled rows, in their order, and whose they are."""

    said: Sequence[tuple[float | None, str]]
    """What the judge said of each: a score, or why there is none."""
    metric: str
    """Without its family."""
    judge: str


@takes(JudgeOptions, "calibrate judge")
def calibrate_judge(
    labels: Source,
    *,
    scores: Source | None = None,
    asking: Asking | None = None,
    columns: Columns | None = None,
    options: JudgeOptions,
) -> Outcome[AnswerCalibrationReport]:
    """How far a judge agrees with labels: its scores are in the rows, in a file, or asked for.

    Raises UsageError or InputRejected with everything that is wrong.
    """
    ways = {"--judge": options.judge, "--scores": scores, "--score": options.score}
    chosen = [name for name, value in ways.items() if value is not None]
    if len(chosen) > 1:
        fact = "scores come from one of them; leave out the rest"
        raise UsageError(f"{' and '.join(chosen)}: {fact}")
    judging = {name: value for name in ASKED_WITH if (value := getattr(options, name)) is not None}
    if judging and options.judge is None:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(judging))
        raise UsageError(f"{flags}: belongs to --judge; give that too")
    mapped = columns_for(columns, labels=SHAPE, scores=SCORED)
    labelled = read_labelled(labels, columns=mapped["labels"], options=options)
    if options.judge is None:
        found = given_scores(labelled, scores, options, mapped["scores"])
    else:
        found = asked_scores(labelled, options, asking or Asking(), judging)
    threshold = options.threshold
    unscored: Counter[str] = Counter()
    rows, values = list[Labelled](), list[float]()
    for one, (value, why) in zip(labelled.rows, found.said, strict=True):
        if value is not None:
            rows.append(one)
            values.append(value)
            continue
        unscored[why] += 1
        labelled.findings.add(Finding("unscored", one.row.where, f"{quoted(one.row.id)}: {why}"))
    # The commonest reasons; what fails in a hundred ways is reported in ten.
    ranked = sorted(unscored.items(), key=lambda pair: (-pair[1], pair[0]))
    rest = sum(times for _, times in ranked[REASONS_KEPT:])
    id = f"{FAMILY}{found.metric}"
    known = reading("answers").get(id)
    lower = options.lower_is_better or (known is not None and known.better == "lower")
    numbers = np.array(values, dtype=np.float64)
    order = -numbers if lower else numbers  # higher is better
    least, most = (float(numbers.min()), float(numbers.max())) if values else (0.0, 1.0)
    chances = None
    if least >= 0 and most <= 1:
        chances = 1 - numbers if lower else numbers
    if known is not None and known.bounds[1] is not None:
        least, most = float(known.bounds[0]), float(known.bounds[1])
    shares = (numbers - least) / (most - least) if most > least else numbers * 0
    too_few = _too_few(rows)
    cut, said = None, None
    if too_few is None:  # else labels are too few for a threshold to be told of
        cut, said = _decided(order, rows, threshold, -1.0 if lower else 1.0)
    scored = Scored(name=NAME, order=order, chances=chances, said=said, threshold=cut)
    used = labelled_scores(scored, rows, None, used=True)
    if too_few is None and used.auroc is not None and used.auroc < CHANCE:
        fact = f"AUROC {used.auroc:.3f}: bad answers score higher; if lower is better, say so"
        labelled.findings.add(Finding("upside_down", labelled.name, fact))
    return calibration_outcome(
        labelled,
        used,
        task="judge",
        metric=id,
        judge=found.judge,
        scored=len(rows),
        unscored=dict(ranked[:REASONS_KEPT]) | ({OTHERS: rest} if rest else {}),
        scores=() if too_few else (used,),
        controls=() if too_few else list(controls(order, rows, None)),
        biases=(length_bias(1 - shares if lower else shares, rows), position_flips(said, rows)),
        too_few=too_few,
        agreement=(id,),
        by=found.judge,
        identity={"threshold": "best out of fold" if threshold is None else threshold},
    )


def _too_few(rows: Sequence[Labelled]) -> str | None:
    good = [one.good for one in rows]
    sources = len({one.source for one in rows})
    n, least = len(good), min(sum(good), len(good) - sum(good))
    if (why := one_label(good)) is not None:
        return why
    if n < LABELS_TO_MOVE or least < OF_EACH_TO_MOVE:
        return (
            f"{sum(good)} good and {n - sum(good)} bad answers; {LABELS_TO_MOVE} with "
            f"{OF_EACH_TO_MOVE} of each are the least that tell"
        )
    if sources < SOURCES_NEEDED:
        return f"labels of {sources} sources; {SOURCES_NEEDED} are the least that tell"
    return None


def _decided(
    order: Floats, rows: Sequence[Labelled], threshold: float | None, sign: float
) -> tuple[float | None, Flags | None]:
    """A threshold, and which rows it calls good: the user's, or the best one of other sources."""
    if threshold is not None:
        return threshold, order >= sign * threshold
    good, sources = np.array([one.good for one in rows], dtype=bool), [one.source for one in rows]
    best = steady_threshold(order, good, sources)
    if best is None:
        return None, None
    # What thresholds say of answers whose sources they never saw, by most of the rounds. Where the
    # other sources have no threshold that beats chance, every answer is called as most of them
    # are: then nothing is told apart.
    votes, names = np.zeros(len(good)), np.array(sources)
    for out in held_out(sources):
        at = steady_threshold(order[~out], good[~out], names[~out].tolist())
        votes[out] += (good[~out].mean() >= HALF) if at is None else order[out] >= at
    return sign * best, np.asarray(votes > ROUNDS / 2)


def asked_scores(
    labelled: LabelledRows, chosen: JudgeOptions, asking: Asking, judging: Mapping[str, Any]
) -> Judged:
    """The scores that a judge gives when it is asked, through the evaluation of answers."""
    name = (chosen.metric or DEFAULT_METRIC).removeprefix(FAMILY)
    if chosen.judge == LEXICAL and not name.startswith(_PREFIX):
        name = f"{_PREFIX}{name}"
    options = AnswerOptions(
        judge=chosen.judge,
        judge_model=chosen.judge_model,
        metrics=(name,),
        intervals=False,
        **judging,
    )
    check_options("answers", options)
    rows = [one.row for one in labelled.rows]
    outcome = outcome_of_answers("answers", rows, options, asking, labelled.findings)
    detail = outcome.report.detail
    judge = detail.judge if isinstance(detail, AnswerDetail) else None
    maker, *_ = makers_of(find(name, "answers"), judge, options)
    values = [one.scores[name] for one in outcome.scores]
    said = [(value["value"], value["reason"] or NO_SCORE) for value in values]
    return Judged(said=said, metric=name, judge=maker)


def given_scores(
    labelled: LabelledRows,
    scores: Source | None,
    options: JudgeOptions,
    columns: Columns,
) -> Judged:
    """The scores of a file, joined by id, or in the rows themselves: in a field or under `scores`.

    A file is such as `ragauge eval answers --out` writes.
    """
    problems: list[str] = []
    field, metric, judge = options.score, options.metric, options.judge_model
    rows = [(one.row.where, one.record) for one in labelled.rows]
    if scores is None and field is not None:
        if not any(value_at(record, field) is not None for _, record in rows):
            raise InputRejected(f"{labelled.name}: no row has {quoted(field)}, the judge's score")
        name = (metric or field.rpartition(".")[2]).removeprefix(FAMILY)
        said = [_score(record, name, place, problems, field) for place, record in rows]
    elif scores is None:
        name = _metric_of([record for _, record in rows], metric, labelled.name)
        said = [_score(record, name, place, problems) for place, record in rows]
    else:
        records = Records(scores, SCORED, problems, name="scores", columns=columns)
        read = list(records.rows())
        name = _metric_of([row.record for row in read], metric, records.name)
        by_id: dict[tuple[str, str | None], tuple[float | None, str]] = {}
        for row in records.checked(read):
            key = str(row["id"]), _position(row.record)
            if key in by_id:
                problems.append(f"{row.place}: id: {quoted(key[0])} stands twice; keep one")
            by_id[key] = _score(row.record, name, row.place, problems)
        unknown = None, UNKNOWN
        said = [
            by_id.get((one.given, _position(one.record))) or by_id.get((one.given, None), unknown)
            for one in labelled.rows
        ]
    refuse(problems)
    # A metric that needs no endpoint is the sentence supporter's.
    known = reading("answers").get(f"{FAMILY}{name}")
    if judge is None and known is not None and not known.needs & JUDGED:
        judge = LEXICAL
    if judge is None:
        fact = "the judge has no name; give --judge-model, so that its later reports show this"
        labelled.findings.add(Finding("unnamed_judge", labelled.name, fact))
    return Judged(said=said, metric=name, judge=judge or UNNAMED)


def _position(record: Mapping[str, Any]) -> str | None:
    value = record.get(POSITION)
    return None if value is None else str(value)


def _metric_of(records: Sequence[Mapping[str, Any]], metric: str | None, name: str) -> str:
    """The metric to calibrate: the one that is named, or the only one there is."""
    there = sorted({key for record in records for key in _scores(record)} - {COVERAGE})
    if metric is not None:
        short = metric.removeprefix(FAMILY)
        if short not in there and not any(short in record for record in records):
            known = f"there is {', '.join(map(quoted, there[:12]))}" if there else "there is none"
            raise InputRejected(f"{name}: no row has a score of {quoted(short)}; {known}")
        return short
    if not there:
        raise InputRejected(
            f"{name}: no row has `scores`; name their field with --score, a file of scores with "
            "--scores, or a judge to ask with --judge"
        )
    if len(there) > 1:
        raise UsageError(f"{name}: has scores of {', '.join(there[:12])}; say which with --metric")
    return there[0]


def _scores(record: Mapping[str, Any]) -> Mapping[str, Any]:
    held = record.get("scores")
    return held if isinstance(held, Mapping) else {}


def _score(
    record: Mapping[str, Any],
    name: str,
    place: str,
    problems: list[str],
    field: str | None = None,
) -> tuple[float | None, str]:
    """The score of a record, or why it has none: a number, or an object with value and reason."""
    held: Any = value_at(record, field) if field else _scores(record).get(name)
    if held is None and not field:
        held = record.get(name)
    reason, at = None, field or f"scores.{name}"
    if isinstance(held, Mapping):
        held, reason = held.get("value"), held.get("reason")
    if held is None or held == "":
        return None, reason if isinstance(reason, str) and reason else NO_SCORE
    try:
        # In a table it is text.
        value = float(held) if isinstance(held, str | bool) else held
        return float(number(value, at)), ""
    except ValueError:
        problems.append(f"{place}: {at}: {expected('a number', held)} {quoted(held)}")
    except BadField as fault:
        problems.append(f"{place}: {fault}")
    return None, NO_SCORE


def length_bias(shares: Floats, rows: Sequence[Labelled]) -> Bias:
    """Spearman's ρ of judge minus people with the words of the answer.

    Above 0, long answers are judged better than people judge them. `shares` are the judge's
    scores from 0 to 1.
    """
    if not rows:
        return Bias(name="length", value=None, ci=None, n=0, reason="no answer is judged")
    apart = shares - np.array([float(one.good) for one in rows])
    statistic = rank_correlation(np.round(apart, DIGITS), [float(one.words) for one in rows])
    value, ci, reason = measured(statistic, rows, share=False)
    if value is None:
        reason = "judge and people differ by the same everywhere, or all answers are as long"
    return Bias(name="length", value=value, ci=ci, n=len(rows), reason=reason)


def position_flips(said: Flags | None, rows: Sequence[Labelled]) -> Bias:
    """The share of verdicts that name another answer when the two change places.

    `said` is which rows are called good, for answers that stand there once a position.
    """
    flips = [*_compared(rows), *_judged_twice(said, rows)]
    if not flips:
        return Bias(name="position", value=None, ci=None, n=0, reason=NO_POSITIONS)
    by_source: dict[str, list[bool]] = defaultdict(list)
    for source, flipped in flips:
        by_source[source].append(flipped)
    yes = np.array([sum(each) for each in by_source.values()])
    of = np.array([len(each) for each in by_source.values()])
    return Bias(
        name="position",
        value=round(float(yes.sum() / of.sum()), DIGITS),
        ci=rounded_ends(clustered(yes, of)),
        n=len(flips),
        reason=None,
    )


def _compared(rows: Sequence[Labelled]) -> Iterator[tuple[str, bool]]:
    """Whether the order decided, of rows that are comparisons of two answers."""
    for one in rows:
        by_order = one.record.get(BY_ORDER)
        said = (one.record.get(name) for name in (PREFERRED, SWAPPED))
        places = [PLACES.get(str(word).strip().casefold()) for word in said]
        if isinstance(by_order, bool):
            yield one.source, by_order
        elif None not in places:
            # The same place in both orders is another answer each time.
            yield one.source, places[0] == places[1] != "tie"


def _judged_twice(said: Flags | None, rows: Sequence[Labelled]) -> Iterator[tuple[str, bool]]:
    """Whether the verdict on one answer differs between its positions."""
    if said is None:
        return
    verdicts: dict[str, dict[str, bool]] = defaultdict(dict)
    sources: dict[str, str] = {}
    for one, good in zip(rows, said.tolist(), strict=True):
        position = one.record.get(POSITION)
        if position is not None:
            verdicts[one.given][str(position)] = good
            sources[one.given] = one.source
    for id, by_position in sorted(verdicts.items()):
        if len(by_position) > 1:
            yield sources[id], len(set(by_position.values())) > 1
