"""An evaluation in every form: the numbers it must show, and what it never says."""

import csv
import io
import json

import jsonschema
import msgspec
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped

from ragauge.contracts.evaluation import EvalReport
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.schemas import examples, schema
from ragauge.errors import UsageError
from ragauge.reports import html
from ragauge.reports.evaluation import rankings, story
from ragauge.reports.evaluation.compared import word_of
from ragauge.reports.evaluation.view import View
from ragauge.reports.forms import form_of, render
from tests.reports.evaluation.reports import (
    MAKERS,
    compared,
    gate,
    linking,
    ner,
    nothing,
    retrieval,
    types,
)
from tests.reports.test_html import Page

FORMS = KINDS[EvalReport].forms
tasks = pytest.mark.parametrize("task", MAKERS)


def squeezed(written):
    return [" ".join(line.split()) for line in written.splitlines()]


def test_a_form_it_does_not_have_is_refused(tmp_path):
    with pytest.raises(UsageError, match='an evaluation report has no form "sarif"'):
        form_of(tmp_path / "x.sarif", EvalReport)


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    example = msgspec.convert(examples("eval-report")[0], EvalReport)
    assert "TMP" in render(example, form)


@tasks
def test_every_report_is_as_its_schema_says_and_reads_back(task):
    validator = jsonschema.Draft202012Validator(schema("eval-report"))
    validator.validate(json.loads(json.dumps(examples("eval-report")[0])))
    for made in (MAKERS[task](), nothing(task)):
        written = render(made, "json")
        validator.validate(json.loads(written))
        assert msgspec.json.decode(written, type=EvalReport) == made
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**json.loads(written), "detail": {"task": "sums"}})


@tasks
@pytest.mark.parametrize("form", FORMS)
def test_a_report_of_nothing_says_so_and_has_no_number(task, form):
    written = render(nothing(task), form)
    assert "nan" not in written.lower()
    if form in ("text", "markdown", "html"):
        assert "nothing to evaluate" in written
        assert "NOT EVALUATED" in written
        assert "1.000" not in written


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (
            "ner",
            "FAIL strict F1 0.748, partial F1 0.861 over 120 documents; 2 of 3 gates failed",
        ),
        ("types", "FAIL accuracy 0.851, macro F1 0.801 over 814 items; 1 of 3 gates failed"),
        (
            "linking",
            "FAIL Hits@1 0.708, MRR 0.770, NIL F1 0.730 over 500 mentions;"
            " 1 of 4 gates failed, 1 not evaluated",
        ),
        ("retrieval", "FAIL nDCG@10 0.500, MRR 0.603 over 50 queries; 1 of 3 gates failed"),
    ],
)
def test_the_verdict_names_the_headline_numbers(task, words):
    assert squeezed(render(MAKERS[task](), "text", width=140))[0] == words


def test_the_verdict_of_a_run_that_passed():
    held = gate("entities.coverage", 1, 1.0, op="=")
    assert story.gates_words([held]) == "1 of 1 gate holds"
    assert story.gates_words([held, held]) == "2 of 2 gates hold"
    assert story.gates_words([]) == "no gates"
    unknown = gate("entities.f1_strict", 0.85, None)
    assert story.gates_words([held, unknown]) == "1 of 2 gates hold, 1 not evaluated"


@tasks
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_gates_come_first_then_metrics_strata_findings_and_coverage(task, form):
    written = render(MAKERS[task](), form, width=100)
    titles = ["bound", "Other metrics", "By", "Findings", "Coverage"]
    opened = {"text": "\n{}", "markdown": "{}", "html": "<h2>{}"}[form]
    first = {"text": "\nGates", "markdown": "| bound |", "html": "<h2>Gates"}[form]
    places = [written.index(first), *(written.index(opened.format(t)) for t in titles[1:])]
    assert places == sorted(places)


def test_a_stratum_shows_its_values_with_n_and_counts_what_is_chance():
    rows = squeezed(render(retrieval(), "text"))
    at = rows.index("By language")
    assert rows[at + 1 : at + 5] == [
        "value n ndcg@10 ndcg_exp@10 recall@10 rr",
        "nl 70 0.830 0.820 0.800 0.810",
        "en 48 0.740 0.730 0.710 0.720",
        "and 1 value over fewer than 5",
    ]


def test_a_page_shows_what_is_chance_and_marks_it():
    [table] = story.strata(retrieval())
    assert [cell.text for cell in table.rows[2].cells] == [
        *("de", "2", "0.500*", "0.490*", "0.470*", "0.480*"),
    ]
    assert table.more == "* over fewer than 5"
    only = {"language": {"de": retrieval().per_stratum["language"]["de"]}}
    [alone] = story.strata(retrieval(per_stratum=only), brief=True)
    assert [row.cells[0].text for row in alone.rows] == ["de"]


def test_absent_numbers_are_dashes_with_their_reason():
    rows = squeezed(render(linking(), "text"))
    at = rows.index("weak_f1 – 0 of 500")
    assert rows[at + 1] == "no mention has a place"
    assert "| `bpref` | – |  | 0 of 50 | `nothing is judged not relevant` |" in render(
        retrieval(), "markdown"
    )


def test_entities_have_the_four_schemas_and_their_types():
    rows = squeezed(render(ner(), "text"))
    assert "strict 480 60 0 117 74 0.782 0.731 0.755" in rows
    assert "semeval partial 510 0 30 117 74 0.855 0.799 0.826" in rows
    assert "ent type 545 31 0 81 38 0.888 0.830 0.858" in rows
    assert any(row.startswith("TOP 210 151 12 59 0.740 0.700 0.720 █") for row in rows)
    assert "SPUR 0 0 12 0 0.000 – –" in rows
    assert "SPUR 0 12 – ┃▍" in rows
    assert any(row.startswith("all types 1,402 230 310 0.859 0.819 0.839") for row in rows)
    assert "Layer literal" in rows


def test_errors_are_counted_and_shown_with_both_spans():
    rows = squeezed(render(ner(), "text"))
    assert any(row.startswith("missed 87 45.3 % ████") for row in rows)
    assert "Het [{Rijksmuseum} Amsterdam] (ISIL: NL-AmRM) werd opgericht in 1800" in rows
    assert "heritage-001 gold: GRP.HER.MUS 4–25 predicted: GRP.HER.MUS 4–15" in rows
    assert "and 183 more; --report FILE.html shows them" in rows
    shown = render(ner(), "html")
    assert (
        '<mark class="gold predicted">Rijksmuseum</mark><mark class="gold"> Amsterdam</mark>'
        in (shown)
    )
    assert '<mark class="predicted">Nederlandse</mark>' in shown


def test_links_have_ranks_pairs_and_errors_in_context():
    rows = squeezed(render(linking(), "text"))
    assert any(row.startswith("1 301 70.8 % ████") for row in rows)
    assert any(row.startswith("not found 40 9.4 %") for row in rows)
    assert any(row.startswith("NIL 0.740 0.720 0.730") for row in rows)
    assert "viaf-isil 7 0 0.0 % 0 –" in rows
    assert any(row.startswith("wikidata-isil 110 88 80.0 % 84 0.955") for row in rows)
    assert "doc-7:11–22 gold: wikidata:Q190804 predicted: Q1 Q190804 at rank: 2" in rows
    assert any("het [Rijksmuseum] naar" in row for row in rows)


def test_retrieval_is_compared_in_words():
    rows = squeezed(render(retrieval(), "text"))
    at = rows.index("Against bm25.run")
    told = [row for row in rows[at : at + 14] if not row.startswith("50 queries")]
    assert told[3:8] == [
        "ndcg@10 0.512 0.441 +0.071 [+0.041, +0.101] 0.003 0.006 better",
        "rr 0.603 0.611 -0.008 [-0.038, +0.022] 0.410 0.410 cannot tell",
        "p@10 0.300 0.400 -0.100 [-0.130, -0.070] < 0.001 < 0.001 worse",
        "ap 0.310 0.310 0.000 [-0.030, +0.030] 1 1 the same",
        "rbp – – – – – not comparable",
    ]
    assert rows[at + 12] == "50 queries: 24 better, 15 worse; not in the other run"


def test_the_adjusted_probability_decides():
    assert word_of(compared("retrieval.rr", 0.6, 0.5, 0.03, 0.09)) == "cannot tell"
    assert word_of(compared("retrieval.rr", 0.6, 0.5, 0.03, None)) == "better"
    assert word_of(compared("a.plugin", 0.4, 0.5, 0.01, 0.01)) == "worse"


def test_the_histogram_counts_every_query_with_a_value_once():
    tenths = rankings.tenths(retrieval().detail)
    assert sum(one.queries for one in tenths) == 49
    assert [one.queries for one in tenths] == [5, 5, 5, 5, 5, 4, 4, 5, 5, 6]
    page = Page(render(retrieval(), "html"))
    assert page.text_of("title").count("0.9 to 1.0: 6 queries") == 1
    edges = retrieval(queries=2).detail.queries[1]
    for value, place in ((0.3, 3), (0.7, 7), (1.0, 9), (0.0, 0), (0.29999999999, 3)):
        row = msgspec.structs.replace(edges, values={"ndcg@10": value})
        detail = msgspec.structs.replace(retrieval().detail, queries=(row,))
        assert [one.queries for one in rankings.tenths(detail)].index(1) == place


def test_the_worst_queries_stand_first_and_those_without_judgements_last():
    made = retrieval()
    table = rankings.queries(made, made.detail, 500)
    names = [row.cells[0].text for row in table.rows]
    assert names[:3] == ["q000", "q041", "q011"]
    assert names[-1] == "q007"
    assert len(names) == 50
    assert rankings.queries(made, made.detail, 12).more == "38 queries not shown"


def test_macro_over_all_labels_names_the_absent_ones():
    for form in ("text", "markdown", "html"):
        written = " ".join(render(types(), form, width=140).split())
        assert "0.717 over all labels of heritage (2 labels occur nowhere and count 0" in written


@tasks
def test_every_part_of_the_page_is_a_fragment_and_on_the_page(task):
    made = MAKERS[task]()
    page, plain = render(made, "html"), json.loads(render(made, "json"))
    for part in View.parts:
        assert str(html.fragment(part, plain)).strip() in page
    assert Page(page).text_of("title")[0] == "Ragauge evaluation: FAIL"
    assert "<script" not in page


def test_an_error_is_shown_by_its_kind_and_its_type():
    page = Page(render(ner(), "html"))
    picks = [one.get("class") for one in page.all("input")]
    assert picks[:6] == [None, *(f"pick-k{n}" for n in range(1, 6))]
    shown = [one["class"] for one in page.all("li") if "error" in one.get("class", "")]
    assert len(shown) == 13
    assert sum(classes.startswith("error k1 ") for classes in shown) == 8
    assert {classes.split()[2] for classes in shown} == {"t1", "t2", "t3", "t4"}


def test_many_types_share_the_last_place_of_the_filter():
    made = ner()
    errors = tuple(
        msgspec.structs.replace(
            made.detail.errors[-2],
            gold=msgspec.structs.replace(made.detail.errors[-2].gold, type=f"type {n:02d}"),
        )
        for n in range(40)
    )
    view = View(
        msgspec.structs.replace(made, detail=msgspec.structs.replace(made.detail, errors=errors))
    )
    assert len(view.types) == 24
    assert view.types[-1].errors == 17
    assert sum(one.type == 24 for one in view.errors) == 17
    style = (html.TEMPLATES / "style.css").read_text()
    assert ".browser:has(.pick-t24:checked) .error:not(.t24)" in style


def results_of(made):
    [gates, cases] = list(JUnitXml.fromstring(render(made, "junit").encode()))
    return gates, {case.name: case.result[0] if case.result else None for case in cases}


def test_junit_has_a_case_for_each_type_label_mention_and_query():
    gates, found = results_of(ner())
    assert (gates.tests, gates.failures) == (3, 2)
    assert found["TMP"].message.endswith("1 boundary and type, 7 missed")
    assert "gold.jsonl:1: missed:" in found["TMP"].text
    _, labels = results_of(types())
    assert labels["E"].message == "8 of 44 taken for another label"
    assert labels["E"].text == "for S: 8 (item-0012 item-0104)"
    assert "X" not in labels
    _, mentions = results_of(linking())
    assert {type(one) for one in mentions.values()} == {Failure, Error}
    _, queries = results_of(retrieval())
    assert len(queries) == 50
    assert queries["q000"].message == "no relevant document up to rank 10"
    assert isinstance(queries["q007"], Skipped)
    assert queries["q001"] is None


@tasks
def test_nothing_turns_a_passed_run_red(task):
    made = msgspec.structs.replace(MAKERS[task](), passed=True, gates=())
    _, found = results_of(made)
    assert {type(result) for result in found.values()} <= {type(None), Skipped}


def read_csv(made):
    return list(csv.DictReader(io.StringIO(render(made, "csv"), newline="")))


def test_csv_has_a_row_a_type_a_label_a_link_or_a_query():
    rows = {row["type"]: row for row in read_csv(ner())}
    assert (rows["TOP"]["support"], rows["TOP"]["f1"], rows["SPUR"]["f1"]) == ("210.0", "0.72", "")
    assert [row["label"] for row in read_csv(types())][:3] == ["G", "L", "A"]
    assert read_csv(linking())[0]["gold"] == "wikidata:Q190804"
    assert read_csv(linking())[0]["rank"] == "2"
    queries = read_csv(retrieval())
    assert len(queries) == 50
    assert queries[3]["retrieval.ndcg@10"] == "0.1"
    assert queries[7]["retrieval.ndcg@10"] == ""
