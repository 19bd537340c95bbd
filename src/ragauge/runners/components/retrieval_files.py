"""Judgements and the runs held against them: in one go, or in pieces where they are large."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import structs

from ragauge.contracts.finding import Finding, Findings
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.trace import Trace
from ragauge.engines.local import ordered
from ragauge.ingest.lines import BLOCK, blocks
from ragauge.ingest.ranked.ranking_rows import RankingRows, Role, RowsRead
from ragauge.ingest.ranked.ranking_writing import by_query
from ragauge.ingest.ranked.rankings import form_of, read_rankings
from ragauge.metrics.retrieval import NoRelevant
from ragauge.runners.components.retrieval_gather import Gathering, RunScores, Scattered
from ragauge.runners.components.retrieval_groups import queries_of
from ragauge.runners.components.retrieval_judged import Judged, JudgedRows, judged_rows
from ragauge.runners.components.retrieval_pieces import OtherOrder, pieces
from ragauge.runners.components.retrieval_ranked import Placed, Reading, placed
from ragauge.runners.components.retrieval_scoring import PieceScorer, PieceScores, Setup, score_rows

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array


PIECE = BLOCK
"""Bytes of a run that are scored at a time."""
CUT_FROM = 2 * PIECE
"""Bytes of a run from which on it is read in pieces: they stay in the processor's cache."""
SPREAD_FROM = 64 << 20
"""Bytes of a run from which on it is worth to start processes."""
HELD_UP_TO = PIECE
"""Bytes of judgements that every process holds; larger ones are cut with the run."""
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_HEAD = 1 << 16


class JudgedRuns:
    """Scores runs against one set of judgements."""

    def __init__(self, qrels: Any, setup: Setup, form: str | None, workers: int) -> None:
        self._qrels, self._form, self._workers = qrels, form, workers
        self._problems: list[str] = []
        self._cut: dict[str, str | None] = {}
        """Runs that were scored in pieces, and the judgements that were cut with them."""
        self.name = name_of(qrels, "qrels")
        if setup.no_rel is None:
            trec = self._large or self._rows.form == "trec"
            setup = structs.replace(setup, no_rel="zero" if trec else "exclude")
        self._setup = setup

    @property
    def no_rel(self) -> NoRelevant:
        """How queries without a relevant document are counted."""
        return self._setup.no_relevant

    def score(self, run: Any, name: str = "run") -> RunScores:
        """The run's scores, query by query, with all that is wrong with it and the judgements."""
        if _is_trec(run, "run", self._form) and _size(run) >= CUT_FROM:
            with suppress(Scattered):  # then the whole file is read, and told to be ungrouped
                return self._in_pieces(str(run))
        problems: list[str] = []
        rows = read_rankings(run, "run", problems, self._form)
        gathering = Gathering(name_of(run, name), self.name)
        gathering.add(score_rows(rows, self._whole, self._setup, problems))
        return gathering.finished(self._setup)

    def listed(self, run: Any) -> Iterator[tuple[str, KeptAnswer]]:
        """What a run that was scored has for each judged query, read once more."""
        reading = self._setup.reading
        if name_of(run, "") not in self._cut:
            rows = read_rankings(run, "run", [], self._form)
            yield from kept_rankings(rows, self._whole.judged, reading)
            return
        qrels = self._cut[str(run)]
        reader = PieceScorer(self._setup, None if qrels else self._whole.judged)
        for piece in pieces(str(run), qrels, PIECE):
            rows, judged = reader.rows(piece, [])
            yield from kept_rankings(rows, judged.judged, reading)

    @cached_property
    def sha256(self) -> str:
        """What tells these judgements from others: the hash of their text, or of what they say."""
        digest = hashlib.sha256()
        if isinstance(self._qrels, str | Path) and Path(self._qrels).is_file():
            for block in blocks(str(self._qrels)):
                digest.update(block.read())
        else:
            digest.update(msgspec.json.encode(by_query(self._rows), order="sorted"))
        return digest.hexdigest()

    @property
    def strata(self) -> dict[str, dict[str, str]]:
        """By query, where the judgements tell."""
        return {} if self._large else self._rows.strata

    @cached_property
    def _large(self) -> bool:
        return _is_trec(self._qrels, "qrels", self._form) and _size(self._qrels) > HELD_UP_TO

    @cached_property
    def _rows(self) -> RankingRows:
        return read_rankings(self._qrels, "qrels", self._problems, self._form)

    @cached_property
    def _whole(self) -> JudgedRows:
        rows = self._rows
        return judged_rows(rows, self._setup.reading.collapse, self._problems)

    def _in_pieces(self, run: str) -> RunScores:
        if not self._large:
            return self._gathered(run, None, self._whole)
        try:
            return self._gathered(run, str(self._qrels), None)
        except OtherOrder:
            found = self._gathered(run, None, self._whole)
        message = "is not in the order of the run; it was held in memory as a whole"
        found.qrels_findings.add(Finding("judgements_held", self.name, message))
        return found

    def _gathered(self, run: str, qrels: str | None, held: JudgedRows | None) -> RunScores:
        gathering = Gathering(run, self.name)
        arguments = (self._setup, held.judged if held else None)
        work = pieces(run, qrels, PIECE)
        workers = self._workers if _size(run) >= SPREAD_FROM else 1
        for scores in ordered(PieceScorer, arguments, work, workers):
            gathering.add(scores)
        if held:
            gathering.add(self._unseen(gathering, held))
        found = gathering.finished(self._setup)
        self._cut[run] = qrels
        return found

    def _unseen(self, gathering: Gathering, held: JudgedRows) -> PieceScores:
        """The judged queries that the run does not have, and what there is to say of all."""
        places = gathering.unseen(held.judged.queries.to_list())
        rest = structs.replace(held, judged=held.judged.some(np.array(places, dtype=np.int64)))
        nothing = RowsRead("run").rows(self.name)
        return score_rows(nothing, rest, self._setup)


def name_of(given: Any, name: str) -> str:
    """What a finding calls it: the file, or what it is."""
    return str(given) if isinstance(given, str | Path) else name


def _is_trec(given: Any, role: Role, form: str | None) -> bool:
    """Whether it is a plain TREC file, which can be cut."""
    if not isinstance(given, str | Path) or not Path(given).is_file():
        return False
    with Path(given).open("rb") as file:
        head = file.read(_HEAD)
    return not head.startswith(_PACKED) and form_of(head, role, form) == "trec"


def _size(given: str | Path) -> int:
    return Path(given).stat().st_size


RESULTS_KEPT = 100
"""Results of a query that are kept, and relevant documents beside them."""


def kept_rankings(
    run: RankingRows, judged: Judged, reading: Reading
) -> Iterator[tuple[str, KeptAnswer]]:
    """Each judged query that the run has, with its first results in the order that is measured.

    A result has its id, rank, score and grade, so far as they are told; under `extra.relevant`
    stand the grades of the query's relevant documents, those that were not found among them.
    """
    found = placed(run, judged, reading, Findings())  # all there is to say was said when scored
    first, offsets = _first_results(found)
    ids, scores, grades = _columns(found, first)
    document, grade = judged.document, judged.grade
    for place, query in enumerate(judged.queries.to_list()):
        if found.ranking.taken.missing[place]:
            continue
        start, stop = offsets[place : place + 2].tolist()
        results = zip(ids[start:stop], scores[start:stop], grades[start:stop], strict=True)
        of_query = slice(*judged.offsets[place : place + 2].tolist())
        relevant = dict(zip(document[of_query].to_list(), grade[of_query].tolist(), strict=True))
        trace = Trace(
            qid=query,
            retrieved_ids=tuple(ids[start:stop]),
            retrieved=tuple(_result(rank, *one) for rank, one in enumerate(results, 1)),
            extra={"relevant": _best(relevant, reading.rel)},
        )
        yield query, KeptAnswer(trace=trace)


def _first_results(found: Placed) -> tuple[Array, Array]:
    """The places of the first results of each query, and where each query begins among them."""
    offsets = found.offsets
    rank = np.arange(offsets[-1]) - offsets[queries_of(offsets)]
    places = np.arange(len(found.grades)) if found.keep is None else np.flatnonzero(found.keep)
    sizes = np.minimum(np.diff(offsets), RESULTS_KEPT)
    return places[rank < RESULTS_KEPT], np.concatenate([[0], np.cumsum(sizes)])


def _columns(found: Placed, places: Array) -> tuple[list[str], list[float | None], list[int]]:
    ranking = found.ranking
    ids = ranking.column(ranking.document).gather(places).to_list()
    scores = ranking.column(ranking.taken.frame["value"]).gather(places).to_list()
    return ids, scores, found.grades[places].tolist()


def _result(rank: int, id: str, score: float | None, grade: int) -> dict[str, Any]:
    told: dict[str, Any] = {"id": id, "rank": rank}
    if score is not None:
        told["score"] = score
    return told | {"grade": grade} if grade >= 0 else told


def _best(grades: dict[str, int], rel: int) -> dict[str, int]:
    """The relevant documents by grade, then by id, as many as are kept."""
    relevant = sorted((-grade, id) for id, grade in grades.items() if grade >= rel)
    return {id: -grade for grade, id in relevant[:RESULTS_KEPT]}
