"""Which units and which metrics a report speaks of: its own n, and what was asked for by name."""

import msgspec
import pytest

from ragauge.metrics.names import long_name
from ragauge.metrics.worst_first import ranking, requested
from ragauge.reports.document import Table
from ragauge.reports.kinds import evaluation
from ragauge.reports.kinds import evaluation_rankings as rankings
from ragauge.reports.rendering import render
from tests.reports.evaluation.reports import linking, ner, retrieval, score, types


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def test_a_slice_whose_numbers_are_over_a_few_is_chance_whatever_its_size():
    by = {
        "nl": {"linking.hits@1": score(0.8, 12, 13)},
        "de": {"linking.hits@1": score(0.8, 3, 40)},
    }
    made = linking(per_stratum={"language": by})
    rows = squeezed(render(made, "text"))
    at = rows.index("By language")
    assert rows[at + 2 : at + 4] == [
        "nl 12 of 13 0.800",
        "and 1 more; --report FILE.html shows them",
    ]
    assert "| `de` | 3 of 40 | 0.800* |" in render(made, "markdown")


ASKED = {"P@5": "p@5", "RBP": "rbp", "P(rel=2)@10": "p(rel=2)@10", "Success@1": "success@1"}


def custom(names=tuple(ASKED), rel=1):
    """An evaluation of the measures somebody asked for; the worst of all by nDCG@10 are kept."""
    made = retrieval()
    ids = [f"retrieval.{ASKED[name]}" for name in ASKED]
    rows = tuple(
        msgspec.structs.replace(
            row,
            values={
                id: None if not row.relevant else (place + 1) * (7 * at % 10) / 50
                for place, id in enumerate(sorted(ids))
            },
        )
        for at, row in enumerate(made.detail.queries)
    )
    metrics = {id: score(0.3 + place / 100, 49, 50) for place, id in enumerate(sorted(ids))}
    identity = {"command": "eval retrieval", "options": {"measures": list(names), "rel": rel}}
    return retrieval(
        metrics={**metrics, "retrieval.coverage": score(1.0, 50, 50)},
        gates=made.gates[2:],
        passed=True,
        detail=msgspec.structs.replace(made.detail, queries=rows, compared=()),
        identity=identity,
        per_stratum={},
    )


def test_what_was_asked_for_is_known_in_its_order_and_words():
    wanted = {"retrieval." + id: name for name, id in ASKED.items()}
    assert list(requested(custom()).items()) == list(wanted.items())
    assert requested(custom(("P@5,P(rel=2)@10", "no such"))) == {
        "retrieval.p@5": "P@5",
        "retrieval.p(rel=2)@10": "P(rel=2)@10",
    }
    assert requested(custom(("P@10",), rel=2)) == {"retrieval.p(rel=2)@10": "P@10"}
    assert requested(retrieval()) == {}
    assert requested(ner()) == {}


def test_the_verdict_names_the_first_two_that_were_asked_for():
    assert evaluation.verdict_text(custom())[1] == (
        "P@5 0.310, RBP 0.320 over 50 queries; 1 of 1 gate holds"
    )


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_all_that_was_asked_for_stands_in_the_open(form):
    written = render(custom(), form)
    names = [long_name(f"retrieval.{id}", id) for id in ASKED.values()]
    places = [written.index(f">{name}<" if form == "html" else name) for name in names]
    assert places == sorted(places)


def test_queries_are_ranked_by_the_first_metric_that_was_asked_for():
    made = custom()
    table = rankings.queries(made, made.detail)
    assert table.remark.startswith("the lowest P@5 first; ")
    assert [one.title for one in table.columns[4:-1]] == ["p@5", "rbp", "p(rel=2)@10", "success@1"]
    values = [row.cells[-1].plot.fraction for row in table.rows[:-1]]
    assert values == sorted(values)
    for form in ("text", "markdown", "html", "junit"):
        assert "ndcg@10" not in render(made, form, width=140).lower()
    rows = squeezed(render(made, "text"))
    assert "P@5, query by query how many queries are in each tenth" in rows
    assert "query first relevant found retrieved p@5 rbp p(rel=2)@10 success@1" in rows


def test_other_cut_offs_rank_by_the_deepest_ndcg():
    made = retrieval()
    rows = tuple(
        msgspec.structs.replace(
            row, values={"retrieval.p@5": 0.1, "retrieval.ndcg@5": 0.2, "retrieval.ndcg@7": 0.3}
        )
        for row in made.detail.queries
    )
    detail = msgspec.structs.replace(made.detail, queries=rows)
    found = ranking(msgspec.structs.replace(made, detail=detail))
    assert (found.id, found.lower) == ("retrieval.ndcg@7", False)


def test_where_less_is_better_the_worst_have_most():
    made = retrieval()
    rows = tuple(
        msgspec.structs.replace(row, values={"retrieval.unjudged@10": at / 100})
        for at, row in enumerate(made.detail.queries)
    )
    made = msgspec.structs.replace(
        made,
        detail=msgspec.structs.replace(made.detail, queries=rows),
        metrics={"retrieval.unjudged@10": score(0.2, 50, 50)},
        identity={"options": {"measures": ["unjudged@10"]}},
    )
    table = rankings.queries(made, made.detail)
    assert table.remark.startswith("the highest unjudged@10 first")
    assert [row.cells[0].text for row in table.rows[:3]] == ["q049", "q048", "q047"]


def test_a_cut_off_nobody_asked_for_is_empty_and_not_absent():
    rows = squeezed(render(custom(), "text"))
    assert rows[rows.index("By cut-off") + 1 :][:4] == [
        "metric @1 @5 @10",
        "p 0.310",
        "p(rel=2) 0.300",
        "success 0.330",
    ]


def wide_types():
    """Entities with strict and partial rates for each type, as the runner gives them."""
    rates = {"precision": 0.9, "recall": 0.6, "f1": 0.72}
    counts = {"gold": 83, "predicted": 53, "tp": 51, "fp": 2, "fn": 32}
    both = {f"{name}_{kind}": at for name, at in rates.items() for kind in ("strict", "partial")}
    return ner(per_type={"GRP.HER.MUS": {**counts, **both}, "TOP": {**counts, **both}})


@pytest.mark.parametrize("width", [40, 60, 100, 140])
@pytest.mark.parametrize("make", [wide_types, types, linking, retrieval, custom])
def test_every_number_of_a_table_is_whole_at_any_width(make, width):
    made = make()
    lines = render(made, "text", width=width).splitlines()
    assert max(map(len, lines)) <= width
    words = {word.rstrip(",;") for line in lines for word in line.split()}
    tables = [one for one in evaluation.document(made).part("tables") if isinstance(one, Table)]
    for table in tables[:2]:
        for row in table.rows[:5]:
            for cell, column in zip(row.cells, table.columns, strict=True):
                assert not column.right or set(cell.text.split()) <= words
