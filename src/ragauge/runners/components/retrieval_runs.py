"""Judgements and the runs compared with them: in one go, or in pieces where they are large."""

from __future__ import annotations

import hashlib
import mmap
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct, structs

from ragauge.contracts.gold import GoldSet
from ragauge.contracts.kept import KeptAnswer
from ragauge.contracts.metric import Absent, Metric, NotApplicable
from ragauge.contracts.options import RetrievalOptions
from ragauge.contracts.report import Finding, Findings
from ragauge.contracts.trace import Trace
from ragauge.engines.local import ordered
from ragauge.errors import InputRejected
from ragauge.ingest.fields import Columns, quoted
from ragauge.ingest.lines import BLOCK, blocks, refuse_long_lines
from ragauge.ingest.ranked.ranking_rows import RankingRows, Role, RowsRead
from ragauge.ingest.ranked.ranking_writing import by_query
from ragauge.ingest.ranked.rankings import SHAPES, form_of, read_rankings
from ragauge.ingest.ranked.trec import read_trec
from ragauge.ingest.records import columns_for
from ragauge.metrics.sums import Sums
from ragauge.runners.components.evaluation import add_findings
from ragauge.runners.components.retrieval_gold import (
    gold_rows,
    holds_gold,
    holds_traces,
    trace_rows,
)
from ragauge.runners.components.retrieval_ranked import (
    Facts,
    Judged,
    RunScores,
    judged_rows,
    metrics_of,
    placed,
    places_in,
    queries_of,
    score_rows,
)

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
RESULTS_KEPT = 100
"""Results of a query that are kept, and relevant documents with them."""
UNGROUPED = "its queries stand in several places; they were sorted, which takes more memory"
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_HEAD = 1 << 16
_BOM = b"\xef\xbb\xbf"
LOOKED_FOR = 8
"""Queries tried for one cut: beyond, the judgements are held to be in another order."""


class Part(Struct, frozen=True):
    """Whole lines of a plain file."""

    name: str
    start: int
    size: int
    first_line: int

    def read(self) -> bytes:
        with Path(self.name).open("rb") as file:
            file.seek(self.start)
            content = file.read(self.size)
        return content.removeprefix(_BOM) if self.start == 0 else content


class Piece(Struct, frozen=True):
    """All the lines of some queries: what was retrieved for them, and what was judged."""

    run: Part
    qrels: Part | None
    """None where the judgements are held in memory."""


class OtherOrder(Exception):
    """The judgements are not in the order of the run."""


def pieces(run: str, qrels: str | None, size: int) -> Iterator[Piece]:
    """The files in pieces of about this many bytes of the run; raises OtherOrder.

    A piece ends where a query ends that begins in the judgements, too; where it does not, the next
    query is tried.
    """
    with _Lines(run) as ranked, _Lines(qrels) if qrels else nullcontext() as judged:
        end, tried = 0, 0
        query: bytes | None = b""
        while query is not None:
            end, query = ranked.next_query(max(ranked.taken + size, end))
            if judged is None:
                yield Piece(ranked.part(end), None)
                continue
            there = judged.size if query is None else judged.line_of(query)
            if there is not None:
                tried = 0
                yield Piece(ranked.part(end), judged.part(there))
            elif (tried := tried + 1) == LOOKED_FOR:
                raise OtherOrder


class _Lines:
    """The lines of a file, looked into without reading it whole."""

    def __init__(self, name: str) -> None:
        self.name, self.taken, self._line = name, 0, 1

    def __enter__(self) -> _Lines:
        self._file = Path(self.name).open("rb")
        self._bytes = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self.size = len(self._bytes)
        refuse_long_lines(self.name, self._bytes, self.size)
        return self

    def __exit__(self, *_: object) -> None:
        self._bytes.close()
        self._file.close()

    def part(self, end: int) -> Part:
        """What stands from the last part to here."""
        made = Part(self.name, self.taken, end - self.taken, self._line)
        codes = np.frombuffer(self._bytes, dtype=np.uint8, count=made.size, offset=made.start)
        self._line += int(np.count_nonzero(codes == 10))
        # Give back the memory of what was looked at, where the system can.
        first, past = (place - place % mmap.PAGESIZE for place in (self.taken, end))
        if hasattr(mmap, "MADV_DONTNEED") and past > first:
            self._bytes.madvise(mmap.MADV_DONTNEED, first, past - first)
        self.taken = end
        return made

    def next_query(self, at: int) -> tuple[int, bytes | None]:
        """The first line past a position whose query is another than the line's there, and that.

        The end of the file, and None, where there is none.
        """
        start = self._bytes.rfind(b"\n", 0, min(at, self.size)) + 1
        query = b""
        while start < self.size:
            end = self._bytes.find(b"\n", start)
            end = end if end >= 0 else self.size
            found = next(iter(self._bytes[start:end].split(None, 1)), b"")
            if query and found and found != query and not found.startswith(b"#"):
                return start, found
            query, start = query or found, end + 1
        return self.size, None

    def line_of(self, query: bytes) -> int | None:
        """Where the first line of a query begins, from the last part on."""
        named = re.compile(re.escape(query) + rb"[ \t]")
        if named.match(self._bytes, self.taken):
            return self.taken
        found = re.compile(rb"\n" + named.pattern).search(self._bytes, self.taken)
        return found.start() + 1 if found else None


class PieceScorer:
    """Scores pieces of files; judgements that are held are the same for every piece."""

    def __init__(self, options: RetrievalOptions, held: Judged | None) -> None:
        self._options, self._held = options, held

    def __call__(self, piece: Piece) -> RunScores:
        problems: list[str] = []
        run, judged = self.rows(piece, problems)
        return score_rows(run, judged, self._options, problems)

    def rows(self, piece: Piece, problems: list[str]) -> tuple[RankingRows, Judged]:
        """What the piece has of the run, and of the judgements."""
        part = piece.run
        run = read_trec(part.name, part.read(), "run", problems, part.first_line)
        if piece.qrels is not None:
            part, faults = piece.qrels, list[str]()
            rows = read_trec(part.name, part.read(), "qrels", faults, part.first_line)
            return run, judged_rows(rows, self._options.collapse, faults)
        assert self._held is not None, "pieces without judgements come with held ones"
        place = places_in(self._held.queries, run.frame["query"].unique(maintain_order=True))
        return run, self._held.some(place[place >= 0])


class Scattered(Exception):
    """A query stands in two pieces: only the whole file tells its number."""


class Gathering:
    """Pieces as they come; raises where they cannot be told apart by query."""

    def __init__(self, name: str, qrels: str) -> None:
        self._name, self._qrels = name, qrels
        self._pieces: list[RunScores] = []
        self.judged: set[str] = set()
        self._ranked: set[str] = set()
        self._unknown: set[str] = set()

    def add(self, piece: RunScores) -> None:
        missing = [piece.queries[at] for at in np.flatnonzero(piece.facts.missing)]
        present = set(piece.queries).difference(missing)
        if not self.judged.isdisjoint(piece.queries):
            raise Scattered
        if not (self._ranked.isdisjoint(present) and self._ranked.isdisjoint(piece.unknown)):
            raise Scattered
        self.judged.update(piece.queries)
        self._ranked.update(present, piece.unknown)
        self._unknown.update(piece.unknown)
        if not self._unknown.isdisjoint(self.judged):
            raise OtherOrder
        self._pieces.append(piece)

    def finished(self, options: RetrievalOptions) -> RunScores:
        """All of them, sorted by query."""
        parts = self._pieces
        queries = [query for part in parts for query in part.queries]
        order = np.array(sorted(range(len(queries)), key=queries.__getitem__), dtype=np.int64)
        all_there = np.ones(len(order), dtype=np.int64)
        findings, of_qrels = Findings(), Findings()
        for part in parts:
            add_findings(part.findings.kept(), part.findings.counts, findings)
            add_findings(part.qrels_findings.kept(), part.qrels_findings.counts, of_qrels)
        if any(part.scattered_run for part in parts):
            findings.add(Finding("ungrouped", self._name, UNGROUPED))
        if any(part.scattered_qrels for part in parts):
            of_qrels.add(Finding("ungrouped", self._qrels, UNGROUPED))
        unknown = [query for part in parts for query in part.unknown]
        for query in unknown:
            message = f"{quoted(query)}: nobody judged this query; it is in no number"
            findings.add(Finding("unknown_query", self._name, message))
        return RunScores(
            name=self._name,
            queries=[queries[at] for at in order],
            sums={
                metric.id: self._sums(metric, order, all_there) for metric in metrics_of(options)
            },
            facts=Facts(
                **{
                    name: np.concatenate([getattr(part.facts, name) for part in parts])[order]
                    for name in Facts.__struct_fields__
                }
            ),
            unknown=unknown,
            rows=sum(part.rows for part in parts),
            judged_rows=sum(part.judged_rows for part in parts),
            findings=findings,
            qrels_findings=of_qrels,
            problems=_by_line(problem for part in parts for problem in part.problems),
            qrels_problems=_by_line(fault for part in parts for fault in part.qrels_problems),
            sources=parts[0].sources,
        )

    def _sums(self, metric: Metric, order: Array, all_there: Array) -> Sums:
        """The rows of a metric; the pieces give them up, or a million queries would stand twice."""
        parts = [piece.values.pop(metric.id) for piece in self._pieces]
        scored = np.concatenate([scored for _, scored, _ in parts])[order].astype(np.int64)
        sums = np.empty((len(order), 2), dtype=np.int64)
        sums[:, 0] = np.concatenate([value for value, _, _ in parts])[order]
        sums[:, 1] = scored
        absent: Counter[Absent] = Counter()
        for _, _, reasons in parts:
            absent.update(reasons)
        counted = all_there if scored.all() else scored
        outside = bool(absent) and all(isinstance(why, NotApplicable) for why in absent)
        return Sums(metric, sums, counted, counted if outside else all_there, absent)


def _by_line(problems: Iterable[str]) -> list[str]:
    """As the file has them, in however many pieces it was read."""

    def line(problem: str) -> int:
        place = re.match(r".*?:(\d+): ", problem)
        return int(place[1]) if place else 0

    return sorted(problems, key=line)


class JudgedRuns:
    """Scores runs against one set of judgements."""

    def __init__(
        self, qrels: Any, options: RetrievalOptions, columns: Columns | None = None
    ) -> None:
        self._qrels, self._form = qrels, options.input_format
        self._columns = columns_for(columns, **{role: SHAPES[role] for role in ("run", "qrels")})
        self._problems: list[str] = []
        self._cut: dict[str, str | None] = {}
        """Runs that were scored in pieces, and the judgements that were cut with them."""
        self.name = name_of(qrels, "qrels")
        # Mapped columns say what records are: judgements or results, not questions or traces.
        seen = self._form is None and not self._columns["qrels"]
        self._is_gold = seen and holds_gold(qrels)
        self._gold = GoldSet(())
        if options.no_rel is None:
            trec = self._large or self._rows.form == "trec"
            options = structs.replace(options, no_rel="zero" if trec else "exclude")
        self.options = options
        """With what the form of the judgements decides."""

    def score(self, run: Any, name: str = "run") -> RunScores:
        """The run's scores, query by query, with all that is wrong with it and the judgements."""
        if self._is_cut(run):
            with suppress(Scattered):  # then the whole file is read, and told to be ungrouped
                return self._in_pieces(str(run))
        problems: list[str] = []
        judged, rows = self._whole, self._rows_of(run, problems)
        gathering = Gathering(name_of(run, name), self.name)
        gathering.add(score_rows(rows, judged, self.options, problems))
        return gathering.finished(self.options)

    def listed(self, run: Any) -> Iterator[tuple[str, KeptAnswer]]:
        """What a run that was scored has for each judged query, read once more."""
        if name_of(run, "") not in self._cut:
            rows = self._rows_of(run, [])
            yield from kept_rankings(rows, self._whole, self.options)
            return
        qrels = self._cut[str(run)]
        reader = PieceScorer(self.options, None if qrels else self._whole)
        for piece in pieces(str(run), qrels, PIECE):
            rows, judged = reader.rows(piece, [])
            yield from kept_rankings(rows, judged, self.options)

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

    def _is_cut(self, run: Any) -> bool:
        if self._columns["run"] or not _is_trec(run, "run", self._form):
            return False
        return _size(run) >= CUT_FROM and not self._traces(run)

    def _traces(self, run: Any) -> bool:
        return self._form is None and not self._columns["run"] and holds_traces(run)

    def _rows_of(self, run: Any, problems: list[str]) -> RankingRows:
        if self._traces(run):
            return trace_rows(run, self._gold, problems)
        mapped = self._columns["run"]
        if self._form is None and not mapped and holds_gold(run):
            fact = "holds a gold set and no results; name the gold set first, then the run"
            raise InputRejected(f"{name_of(run, 'run')}: {fact}")
        return read_rankings(run, "run", problems, self._form, mapped)

    @cached_property
    def _large(self) -> bool:
        if self._is_gold or self._columns["qrels"]:
            return False
        if not _is_trec(self._qrels, "qrels", self._form):
            return False
        return _size(self._qrels) > HELD_UP_TO

    @cached_property
    def _rows(self) -> RankingRows:
        if self._is_gold:
            rows, self._gold = gold_rows(self._qrels, self._problems)
            return rows
        mapped = self._columns["qrels"]
        return read_rankings(self._qrels, "qrels", self._problems, self._form, mapped)

    @cached_property
    def _whole(self) -> Judged:
        return judged_rows(self._rows, self.options.collapse, self._problems)

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

    def _gathered(self, run: str, qrels: str | None, held: Judged | None) -> RunScores:
        gathering = Gathering(run, self.name)
        arguments = (self.options, held)
        work = pieces(run, qrels, PIECE)
        workers = self.options.workers if _size(run) >= SPREAD_FROM else 1
        for scores in ordered(PieceScorer, arguments, work, workers):
            gathering.add(scores)
        if held:  # the judged queries that the run does not have, and what there is to say of all
            unseen = [query not in gathering.judged for query in held.queries]
            rest = structs.replace(
                held.some(np.flatnonzero(unseen)),
                findings=held.findings,
                problems=held.problems,
                rows=held.rows,
                scattered=held.scattered,
            )
            nothing = RowsRead("run").rows(self.name)
            gathering.add(score_rows(nothing, rest, self.options))
        found = gathering.finished(self.options)
        self._cut[run] = qrels
        return found


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


def kept_rankings(
    run: RankingRows, judged: Judged, options: RetrievalOptions
) -> Iterator[tuple[str, KeptAnswer]]:
    """Each judged query that the run has, with its first results in the order that is measured.

    A result has its id, rank, score and grade, so far as they are told; under `extra.relevant`
    stand the grades of the query's relevant documents, those that were not found among them.
    """
    found = placed(run, judged, options, Findings())  # all there is to say was said when scored
    rank = np.arange(found.offsets[-1]) - found.offsets[queries_of(found.offsets)]
    places = np.arange(len(found.grades)) if found.keep is None else np.flatnonzero(found.keep)
    first = places[rank < RESULTS_KEPT]
    ids = found.column(found.document).gather(first).to_list()
    scores = found.column(found.frame["value"]).gather(first).to_list()
    grades = found.grades[first].tolist()
    ends = np.cumsum(np.minimum(np.diff(found.offsets), RESULTS_KEPT)).tolist()
    for place, (query, start, end) in enumerate(
        zip(judged.queries.to_list(), [0, *ends], ends, strict=False)
    ):
        if found.missing[place]:
            continue
        retrieved = []
        for at in range(start, end):
            result: dict[str, Any] = {"id": ids[at], "rank": at - start + 1}
            if scores[at] is not None:
                result["score"] = scores[at]
            retrieved.append(result | {"grade": grades[at]} if grades[at] >= 0 else result)
        of_query = slice(*judged.offsets[place : place + 2].tolist())
        documents, given = judged.document[of_query].to_list(), judged.grade[of_query].tolist()
        # By grade, then by id.
        relevant = sorted(
            (-grade, id) for id, grade in zip(documents, given, strict=True) if grade >= options.rel
        )
        trace = Trace(
            qid=query,
            retrieved_ids=tuple(ids[start:end]),
            retrieved=tuple(retrieved),
            extra={"relevant": {id: -grade for grade, id in relevant[:RESULTS_KEPT]}},
        )
        yield query, KeptAnswer(trace=trace)
