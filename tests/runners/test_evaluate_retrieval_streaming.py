"""Large files in pieces: the same bytes as in one go, with any number of workers."""

import random
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragauge.errors import InputRejected
from ragauge.runners.components import retrieval_runs
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from ragauge.runners.components.retrieval_runs import OtherOrder, Piece, pieces

SMALL = 150
"""Bytes of a piece in these tests."""


def files(queries: int = 40, seed: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    """Lines of judgements and of a run, by query: ties, duplicates, odd ranks, unknown ones."""
    drawn = random.Random(seed)
    qrels, run = [], []
    for number in range(queries):
        documents = [f"d{one}" for one in drawn.sample(range(100), 12)]
        query = f"q{number}"
        judged = drawn.sample(documents, 5)
        if number % 7 != 3:  # a query that nobody judged
            qrels.append([f"{query} 0 {id} {drawn.choice((-1, 0, 0, 1, 2, 3))}\n" for id in judged])
        if number % 5 != 2:  # one that the run lacks
            shown = [*documents[:9], drawn.choice(documents[:9])]
            lines = [
                f"{query} Q0 {id} {rank} {drawn.choice((1, 2, 3, 4.5))} t\n"
                for rank, id in enumerate(shown, 1)
            ]
            run.append(lines)
    return qrels, run


def written(path: Path, lines: list[list[str]]) -> Path:
    path.write_text("".join(line for some in lines for line in some))
    return path


def in_pieces(monkeypatch: pytest.MonkeyPatch, held_up_to: int) -> None:
    monkeypatch.setattr(retrieval_runs, "CUT_FROM", 0)
    monkeypatch.setattr(retrieval_runs, "SPREAD_FROM", 0)
    monkeypatch.setattr(retrieval_runs, "HELD_UP_TO", held_up_to)
    monkeypatch.setattr(retrieval_runs, "PIECE", SMALL)


def report(qrels: Path, run: Path, **options: Any) -> bytes:
    return msgspec.json.encode(evaluate_retrieval(qrels, run, **options).report)


@pytest.mark.parametrize("held_up_to", [0, 1 << 20], ids=["cut", "held"])
@pytest.mark.parametrize("odd", [False, True])
def test_pieces_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held_up_to: int, odd: bool
) -> None:
    judged, ranked = files()
    if odd:
        judged[3].insert(1, "# judged by two\n\n")
        ranked[4] = [line.replace(" ", " \t") for line in ranked[4]]
        ranked[9].append("\n")
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    whole = report(qrels, run, baselines=[run])
    in_pieces(monkeypatch, held_up_to)
    assert len(list(pieces(str(run), None, SMALL))) > 20
    assert report(qrels, run, baselines=[run]) == whole


def test_two_workers_give_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, ranked = files()
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    in_pieces(monkeypatch, 0)
    assert report(qrels, run, workers=2) == report(qrels, run, workers=1)


def test_bad_lines_have_the_same_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, ranked = files()
    judged[30].append("q37 0 d1 much\n")
    judged[10].append(judged[10][0].rsplit(" ", 1)[0] + " 9\n")
    ranked[2].append("short\n")
    ranked[20].append(ranked[20][0].replace(" t\n", "\n"))
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    with pytest.raises(InputRejected) as whole:
        report(qrels, run)
    tolerated = report(qrels, run, max_bad="50%")
    in_pieces(monkeypatch, 0)
    with pytest.raises(InputRejected) as cut:
        report(qrels, run)
    assert len(whole.value.problems) == 4
    assert cut.value.problems == whole.value.problems
    assert report(qrels, run, max_bad="50%") == tolerated


def test_judgements_in_another_order_are_held_and_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, ranked = files()
    random.Random(3).shuffle(judged)
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    whole = evaluate_retrieval(qrels, run).report
    in_pieces(monkeypatch, 0)
    found = evaluate_retrieval(qrels, run).report
    assert found.finding_counts.pop("judgements_held") == 1
    assert found.finding_counts == whole.finding_counts
    assert found.metrics == whole.metrics
    assert found.detail == whole.detail


def test_one_query_out_of_order_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged, ranked = files()
    judged.append(judged.pop(0))
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    whole = evaluate_retrieval(qrels, run).report
    in_pieces(monkeypatch, 0)
    found = evaluate_retrieval(qrels, run).report
    assert found.metrics == whole.metrics
    assert found.finding_counts["judgements_held"] == 1


@pytest.mark.parametrize("held_up_to", [0, 1 << 20], ids=["cut", "held"])
@pytest.mark.parametrize("file", ["qrels", "run"])
def test_a_query_in_two_places_leads_to_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held_up_to: int, file: str
) -> None:
    judged, ranked = files()
    torn = judged if file == "qrels" else ranked
    torn.append([torn[1].pop()])
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    whole = report(qrels, run)
    in_pieces(monkeypatch, held_up_to)
    assert report(qrels, run) == whole
    assert b'"ungrouped":1' in whole


def test_a_query_nobody_judged_in_two_places_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged, ranked = files()
    unknown = next(some for some in ranked if some[0].startswith("q3 "))
    ranked.append([unknown.pop()])
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    whole = report(qrels, run)
    in_pieces(monkeypatch, 0)
    assert report(qrels, run) == whole


def test_pieces_end_where_a_query_ends_and_are_all_of_the_file(tmp_path: Path) -> None:
    judged, ranked = files()
    qrels, run = written(tmp_path / "qrels", judged), written(tmp_path / "run", ranked)
    made = list(pieces(str(run), str(qrels), SMALL))
    assert b"".join(piece.run.read() for piece in made) == run.read_bytes()
    assert b"".join(_qrels(piece) for piece in made) == qrels.read_bytes()
    for content in (run.read_bytes(), qrels.read_bytes()):
        assert content.count(b"\n") == len(content.splitlines())
    seen: set[bytes] = set()
    for piece in made:
        queries = {line.split()[0] for line in piece.run.read().splitlines()}
        assert seen.isdisjoint(queries)
        seen |= queries
    lines = run.read_bytes().splitlines()
    assert [piece.run.read().splitlines()[0] for piece in made] == [
        lines[piece.run.first_line - 1] for piece in made
    ]


def _qrels(piece: Piece) -> bytes:
    assert piece.qrels is not None
    return piece.qrels.read()


def test_a_query_whose_id_begins_like_anothers_is_not_taken_for_it(tmp_path: Path) -> None:
    qrels = written(tmp_path / "qrels", [["q1 0 d 1\n"], ["q22 0 d 1\n"], ["q2 0 d 1\n"]])
    run = written(tmp_path / "run", [["q1 Q0 d 1 1 t\n"], ["q2 Q0 d 1 1 t\n"]])
    made = list(pieces(str(run), str(qrels), 1))
    assert [_qrels(piece) for piece in made] == [b"q1 0 d 1\nq22 0 d 1\n", b"q2 0 d 1\n"]


def test_a_wholly_different_order_is_given_up(tmp_path: Path) -> None:
    names = [f"q{number}" for number in range(30)]
    run = written(tmp_path / "run", [[f"{name} Q0 d 1 1 t\n"] for name in names])
    qrels = written(tmp_path / "qrels", [[f"x{name} 0 d 1\n"] for name in names])
    with pytest.raises(OtherOrder):
        list(pieces(str(run), str(qrels), 1))
    assert len(names) > retrieval_runs.LOOKED_FOR
