"""Pages of a gold set's questions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from sqlalchemy import Connection, func, select

from ragauge.contracts.gold import ANSWERABLE, Gold
from ragauge.contracts.paging import GoldSet, Paged, QuestionQuery
from ragauge.store.column_making import CODE, KEY, key_of
from ragauge.store.columns import Chosen, Columns, bounds, counted, named, ordered, these, words_of
from ragauge.store.recorded import plain
from ragauge.store.tables import gold_questions, packed_gold, runs

_gold = msgspec.json.Decoder(Gold)


def columns_of_gold(connection: Connection, sha256: str | None) -> Columns | None:
    """The columns of a gold set; None where no run has it."""
    owner = packed_gold.c.gold_sha256 == plain(sha256)
    if connection.execute(select(packed_gold.c.number).where(owner).limit(1)).first() is None:
        return None
    return Columns(connection, packed_gold, owner, f"gold set {str(sha256)[:12]}")


def number_of_questions(gold: Columns) -> int:
    return len(gold.own("qid").places)


def question_page(connection: Connection, sha256: str, query: QuestionQuery) -> Paged[Gold]:
    """The questions that match, as many as fit the page."""
    gold = columns_of_gold(connection, sha256)
    start, stop = bounds(query.start, query.limit)
    if gold is None:
        return Paged(rows=(), total=0, start=start)
    by = None if query.sort == "place" else gold.own(query.sort)
    places = ordered(_chosen(gold, query), by, descending=query.descending)
    rows = _questions(connection, sha256, places[start:stop].tolist())
    return Paged(rows=tuple(rows), total=len(places), start=start)


def questions_with_ids(connection: Connection, sha256: str, qids: Sequence[str]) -> dict[str, Gold]:
    """The questions of these ids, by id as it is given; the first where several have it."""
    gold = columns_of_gold(connection, sha256)
    if gold is None:
        return {}
    keys = gold.own("key", KEY)
    wanted = np.fromiter((key_of(qid) for qid in qids), keys.values.dtype, len(qids))
    places = keys.places[np.isin(keys.values, wanted)].tolist()
    found = {plain(each.qid): each for each in reversed(_questions(connection, sha256, places))}
    return {qid: found[plain(qid)] for qid in qids if plain(qid) in found}


def strata_of(connection: Connection, sha256: str) -> dict[str, dict[str, int]]:
    """By stratum and value, how many questions have it."""
    gold = columns_of_gold(connection, sha256)
    return {} if gold is None else {name: counted(each) for name, each in gold.strata()}


def gold_sets(connection: Connection) -> list[GoldSet]:
    """The gold sets that runs were measured with, the newest first."""
    first, last = func.min(runs.c.recorded_at), func.max(runs.c.recorded_at)
    which = (
        select(runs.c.gold_sha256, func.count(), first, last)
        .where(runs.c.gold_sha256.is_not(None))
        .group_by(runs.c.gold_sha256)
        .order_by(last.desc(), runs.c.gold_sha256)
    )
    return [_gold_set(connection, *row) for row in connection.execute(which).all()]


def _gold_set(connection: Connection, sha256: str, count: int, first: str, last: str) -> GoldSet:
    gold = columns_of_gold(connection, sha256)
    answerable = np.empty(0, CODE) if gold is None else gold.own(ANSWERABLE).values
    return GoldSet(
        sha256=sha256,
        questions=len(answerable),
        answerable=int(np.count_nonzero(answerable)),
        runs=count,
        first=first,
        last=last,
    )


def _chosen(gold: Columns, query: QuestionQuery) -> Chosen:
    size = number_of_questions(gold)
    chosen = np.ones(size, np.bool_)
    if query.answerable is not None:
        answerable = gold.own(ANSWERABLE)
        chosen &= these(answerable.places[answerable.values == query.answerable], size)
    if query.stratum is not None and query.value is not None:
        chosen &= named(gold.stratum(query.stratum), query.value, size)
    if words := words_of(query.words):
        chosen &= these(np.fromiter(gold.with_words(words), np.int64), size)
    return chosen


def _questions(connection: Connection, sha256: str, places: list[int]) -> list[Gold]:
    which = select(gold_questions.c.place, gold_questions.c.line).where(
        gold_questions.c.gold_sha256 == sha256, gold_questions.c.place.in_(places)
    )
    lines = {row.place: row.line for row in connection.execute(which)}
    return [_gold.decode(lines[place]) for place in places]
