"""Whatever stands in score cells, every row is kept, and every metric counts every row."""

import csv
import io
import json
import math

from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import RagaugeError
from ragauge.ingest.scored.columns import score_of
from ragauge.ingest.scored.scored_file import read_scores

NAMES = ("faithfulness", "Contextual Recall", "noise_sensitivity(mode=relevant)", "tone", "zeal")
CELLS = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["n/a", "nan", "NaN", "-inf", "0.5", "0,5", "1e999", "True", " 1 ", "١"])
    | st.lists(st.floats(), max_size=2)
    | st.dictionaries(st.text(max_size=3), st.floats(), max_size=2)
)
SCORES = st.dictionaries(st.sampled_from(NAMES), CELLS)
ROWS = st.lists(SCORES, min_size=1, max_size=8).map(
    lambda rows: [
        {"id": f"s{number}", "faithfulness": None, **row} for number, row in enumerate(rows)
    ]
)


def told(scored):
    return {row.id: (row.values, row.invalid, row.strata) for row in scored.rows}


def refusal(file, form="auto"):
    """What is said against a file; None where it is read. Any other error is a fault of ours."""
    try:
        read_scores(file, form=form)
    except RagaugeError as error:
        return str(error)
    return None


@given(ROWS)
def test_every_metric_counts_every_row(rows):
    scored = read_scores(rows)
    assert [row.id for row in scored.rows] == [row["id"] for row in rows]
    for metric in scored.metrics:
        valid = [row for row in scored.rows if metric in row.values]
        invalid = [row for row in scored.rows if metric in row.invalid]
        assert len(valid) + len(invalid) == len(rows)
    for row in scored.rows:
        assert not row.values.keys() & row.invalid.keys()
        assert all(type(one) is float and math.isfinite(one) for one in row.values.values())
        assert all(row.invalid.values())


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_what_a_row_is(rows, random):
    shuffled = random.sample(rows, len(rows))
    one, other = read_scores(rows), read_scores(shuffled)
    assert told(one) == told(other)
    assert {*one.metrics} == {*other.metrics} and one.renamed == other.renamed


@given(ROWS)
def test_json_as_python_writes_it_holds_the_same_scores(tmp_path, rows):
    names = {name for row in rows for name in row if name in NAMES[:3]}
    kept = [{"id": row["id"], **{k: row[k] for k in row if k in names}} for row in rows]
    file = tmp_path / "s.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in kept), "utf-8", newline="")
    assert told(read_scores(file)) == told(read_scores(kept))


@given(st.lists(st.lists(CELLS.map(str), min_size=3, max_size=3), min_size=1, max_size=6))
def test_a_table_of_any_cells_keeps_its_rows(tmp_path, cells):
    written = io.StringIO(newline="")
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["id", *NAMES[:3]])
    for number, row in enumerate(cells):
        writer.writerow([f"s{number}", *(cell.replace("\0", "").replace("\r", "") for cell in row)])
    file = tmp_path / "s.csv"
    file.write_bytes(written.getvalue().encode("utf-8", "replace"))
    scored = read_scores(file)
    assert len(scored.rows) == len(cells)
    assert all(len(row.values) + len(row.invalid) == 3 for row in scored.rows)


@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
)
def test_whatever_the_bytes_only_our_errors_are_raised(tmp_path, content):
    for name in ("s.jsonl", "s.csv", "s.json"):
        file = tmp_path / name
        file.write_bytes(content)
        said = refusal(file)
        assert said is None or str(file) in said


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "id",
                        "question",
                        "answer",
                        "contexts",
                        "retrieved_ids",
                        "gold_ids",
                        "claims",
                    ),
                    *("strata", "vars", "response", "output", "gradingResult", "componentResults"),
                    *("assertion", "type", "metric", "namedScores", "score", "metricsData", "name"),
                    *("results", "testCases", "rows", "faithfulness", "tone", "metadata", "scores"),
                    *("provider", "prompt", "error", "failureReason", "testIdx", "promptIdx"),
                    *(
                        "conversationalTestCases",
                        "test_results",
                        "testRunData",
                        "context",
                        "user_input",
                    ),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_whatever_the_shape_only_our_errors_are_raised(tmp_path, value):
    file = tmp_path / "s.json"
    file.write_text(json.dumps(value), "utf-8")
    for form in ("auto", "rows"):
        said = refusal(file, form)
        assert said is None or str(file) in said


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_as_text_is_that_number(value):
    assert score_of(repr(value)) == value == score_of(value)
