"""The evaluation of entities, from records, columns and frames to a report."""

import json

import msgspec
import numpy as np
import polars as pl
import pytest

from ragauge.contracts.entities import AnnotatedText, Entity, EntityColumns
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.rendering import render
from ragauge.runners.components.evaluate_ner import evaluate_ner, ner_values

TEXT = (
    "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800 en beheert de grootste "
    "collectie Nederlandse kunst."
)
PLACES = {
    "GRP.HER.MUS": (4, 25),
    "IDENTIFIER": (33, 40),
    "TMP": (60, 64),
    "TOP": (98, 109),
}


def span(start, end, type="ORG", **more):
    return {"start": start, "end": end, "type": type, **more}


def document(id, *entities, **more):
    return {"id": id, "entities": list(entities), **more}


GOLD = [document("nl-1", *(span(*place, type) for type, place in PLACES.items()), text=TEXT)]
PREDICTED = [
    document("nl-1", span(4, 25, "GRP.HER.MUS"), span(33, 40, "IDENTIFIER"), span(60, 62, "TMP"))
]


def run(gold, predicted, **options):
    return evaluate_ner(gold, predicted, **{"intervals": False} | options).report


def values(report):
    return {name.removeprefix("entities."): score.value for name, score in report.metrics.items()}


def as_json(report):
    """As it is written: NaN and Infinity would not survive."""
    return json.loads(json.dumps(msgspec.to_builtins(report), allow_nan=False))


def test_the_fixture_of_the_specification():
    report = run(GOLD, PREDICTED)
    told = values(report)
    rounded = {
        name: [round(told[f"{rate}_{name}"], 4) for rate in ("precision", "recall", "f1")]
        for name in ("strict", "partial")
    }
    assert rounded == {"strict": [0.6667, 0.5, 0.5714], "partial": [1.0, 0.75, 0.8571]}
    assert as_json(report)["detail"]["schemas"]["semeval_partial"]["f1"] == pytest.approx(5 / 7)


def test_a1_entities_are_seen_after_any_blanks():
    text = "Het  Rijksmuseum,  in\n1800"
    gold = [document("d", span(22, 26, "TMP"), text=text)]
    report = run(gold, gold)
    assert (report.detail.tokens.tp, report.detail.tokens.f1) == (1, 1.0)


def test_a4_nothing_to_find_and_nothing_found_is_null_with_a_reason():
    report = run([document("d", text="x")], [document("d")])
    score = report.metrics["entities.f1_strict"]
    assert (score.value, score.n, score.of) == (None, 0, 0)
    assert "nothing to find and nothing found (1)" in score.reason
    assert as_json(report)["metrics"]["entities.f1_strict"]["value"] is None
    told = values(run([document("d")], [document("d")], empty="gerbil"))
    assert told["f1_strict"] == told["f1_strict_doc"] == 1.0
    assert values(run([document("d")], [document("d")], empty="zero"))["f1_partial"] == 0.0


def test_a5_a_type_may_be_called_like_an_average():
    names = ("macro_avg", "micro", "average")
    gold = [document("d", *(span(10 * n, 10 * n + 5, name) for n, name in enumerate(names)))]
    report = run(gold, gold)
    assert sorted(report.per_type) == sorted(names)
    assert report.metrics["entities.f1_strict_macro"].value == 1.0


def test_a6_declared_types_are_all_told_and_others_are_findings():
    report = run(
        GOLD, [document("nl-1", span(4, 25, "FOO"))], types=("GRP.HER.MUS", "TMP", "UNUSED")
    )
    assert report.per_type["UNUSED"]["gold"] == 0
    assert report.per_type["UNUSED"]["f1_strict"] is None
    assert report.finding_counts["undeclared_type"] == 3
    assert values(report)["f1_strict_macro"] == 0.0


def test_b1_documents_are_matched_apart():
    gold = [document("a", span(0, 5)), document("b", span(10, 15))]
    swapped = [document("a", span(10, 15)), document("b", span(0, 5))]
    told = values(run(gold, swapped))
    assert told["f1_strict"] == told["f1_partial"] == 0.0
    assert values(run(gold, gold[::-1]))["f1_strict"] == 1.0


def test_b2_no_order_changes_a_report():
    gold = [
        document("a", span(0, 10), span(20, 30), span(20, 30, "TOP"), strata={"lang": "nl"}),
        document("b", span(0, 4)),
    ]
    predicted = [document("b"), document("a", span(5, 25), span(0, 4), span(22, 28, "TOP"))]
    turned = [
        [{**one, "entities": one["entities"][::-1]} for one in side[::-1]]
        for side in (gold, predicted)
    ]
    first, second = as_json(run(gold, predicted)), as_json(run(*turned))
    for report in (first, second):
        for error in report["detail"]["errors"]:
            del error["where"]
    assert first == second


@pytest.mark.parametrize(("start", "end"), [(5, 5), (7, 3), (-2, 4)])
def test_b3_an_impossible_span_is_rejected_with_its_place(start, end):
    with pytest.raises(InputRejected, match=r"gold 1: entities\[0\].*0 <= start < end"):
        run([document("d", span(start, end))], [document("d")])
    assert (
        run([document("d", span(start, end))], [document("d")], max_bad="1").coverage["rejected"]
        == 1
    )


@pytest.mark.parametrize("matching", ["Strict", "Best", "partial"])
def test_b4_an_unknown_matching_is_an_error(matching):
    with pytest.raises(UsageError, match="matching"):
        run(GOLD, PREDICTED, matching=matching)


@pytest.mark.parametrize(
    "wrong",
    [{"min_overlap": 2.0}, {"min_overlap": -0.1}, {"level": 0}, {"empty": "none"}, {"layer": "x"}],
)
def test_other_wrong_options_are_errors_too(wrong):
    with pytest.raises(UsageError):
        run(GOLD, PREDICTED, **wrong)


def test_b7_the_least_overlap_is_an_option_and_in_the_signature():
    gold, predicted = [document("d", span(0, 100))], [document("d", span(99, 120))]
    assert values(run(gold, predicted))["f1_partial"] == 1.0
    report = run(gold, predicted, min_overlap=0.5)
    assert values(report)["f1_partial"] == 0.0
    assert "matching:best|min_overlap:0.5" in report.metrics["entities.f1_partial"].signature


def test_b8_hipe_upper_cases_and_leaves_out_types_gold_does_not_have():
    gold = [document("d", span(0, 5, "pers"), span(6, 9, "loc"))]
    predicted = [document("d", span(0, 5, "PERS"), span(6, 9, "LOC"), span(20, 25, "prod"))]
    assert values(run(gold, predicted))["f1_strict"] == 0.0
    report = run(gold, predicted, matching="hipe")
    assert values(report)["f1_strict"] == 1.0
    assert report.finding_counts["ignored_type"] == 1


def test_b9_levels_cut_the_types():
    gold = [document("d", span(0, 5, "GRP.HER.MUS"), span(6, 9, "TOP"))]
    predicted = [document("d", span(0, 5, "GRP.HER.ARC"), span(6, 9, "TOP"))]
    report = run(gold, predicted)
    assert [(one.level, one.f1_strict) for one in report.detail.levels] == [
        (1, 1.0),
        (2, 1.0),
        (3, 0.5),
    ]
    assert [one.types for one in report.detail.levels] == [2, 2, 3]
    cut = run(gold, predicted, level=1)
    assert values(cut)["f1_strict"] == 1.0
    assert sorted(cut.per_type) == ["GRP", "TOP"]
    assert run(gold, gold, level=1).coverage["gold_entities"] == 2


def test_b9_entities_that_a_level_makes_alike_count_once():
    gold = [document("d", span(0, 5, "GRP.A"), span(0, 5, "GRP.B"))]
    report = run(gold, gold, level=1)
    assert report.coverage["gold_entities"] == 1
    assert report.finding_counts["same_at_level"] == 2


def test_b9_layers_are_told_apart_and_one_can_be_chosen():
    gold = [document("d", span(0, 5, layer="coarse"), span(0, 9, layer="nested"))]
    predicted = [document("d", span(0, 5, layer="coarse"), span(1, 9, layer="nested"))]
    report = run(gold, predicted)
    assert report.detail.layers["coarse"]["strict"].f1 == 1.0
    assert report.detail.layers["nested"]["strict"].f1 == 0.0
    assert values(run(gold, predicted, layer="coarse"))["f1_strict"] == 1.0


def test_b9_discontinuous_entities_are_scored_by_their_parts():
    parts = [[0, 5], [15, 20]]
    gold = [document("d", span(0, 20, fragments=parts))]
    assert values(run(gold, gold))["f1_strict"] == 1.0
    whole = run(gold, [document("d", span(0, 20))])
    assert values(whole)["f1_strict"] == 0.0
    assert values(whole)["f1_partial"] == 1.0
    assert values(run(gold, [document("d", span(6, 14))]))["f1_partial"] == 0.0


def test_c1_a_ratio_over_no_gold_is_null():
    report = run([document("d", span(0, 5, "A"))], [document("d", span(0, 5, "B"))])
    told = as_json(report)["detail"]["distribution"]
    assert told["B"] == {"gold": 0, "predicted": 1, "ratio": None}
    assert told["A"]["ratio"] == 0.0


def test_over_prediction_is_told_for_each_type_and_over_all():
    gold = [document("d", span(0, 5, "A"), span(6, 9, "A")), document("e")]
    predicted = [
        document("d", span(0, 5, "A"), span(10, 12, "B")),
        document("e", span(0, 5, "A"), span(6, 7, "A"), span(8, 9, "A")),
    ]
    report = run(gold, predicted)
    assert report.metrics["entities.over_prediction"].value == 2.5
    assert {type: row["over_prediction"] for type, row in report.per_type.items()} == {
        "A": 2.0,
        "B": None,
    }
    nothing = run([document("d")], [document("d", span(0, 5, "A"))])
    score = nothing.metrics["entities.over_prediction"]
    assert (score.value, score.reason) == (None, "nothing to divide by: gold is 0")
    assert "over prediction" in render(report, "text")
    gated = run(gold, predicted, gates="over_prediction<=1.2")
    assert not gated.passed


def test_per_type_charges_a_wrong_type_to_both():
    gold = [document("d", span(0, 5, "A"), span(6, 9, "B"))]
    report = run(gold, [document("d", span(0, 5, "B"), span(6, 9, "B"))])
    one, other = report.per_type["A"], report.per_type["B"]
    assert (one["tp"], one["fp"], one["fn"], one["precision_strict"]) == (0, 0, 1, None)
    assert (other["tp"], other["fp"], other["fn"], other["precision_strict"]) == (1, 1, 0, 0.5)


def test_documents_missing_and_unknown_are_told_and_counted():
    gold = [document("a", span(0, 5)), document("b", span(0, 5))]
    report = run(gold, [document("a", span(0, 5)), document("z", span(0, 5))])
    assert report.coverage == {
        "documents": 2,
        "scored": 1,
        "missing": 1,
        "unknown": 1,
        "gold_entities": 2,
        "predicted_entities": 1,
        "duplicates": 0,
        "rejected": 0,
    }
    assert values(report)["recall_strict"] == 0.5
    assert values(report)["coverage"] == 0.5
    assert report.finding_counts == {"missing_document": 1, "unknown_document": 1}
    assert not report.passed


def test_a_document_given_twice_is_a_problem():
    with pytest.raises(InputRejected, match="already"):
        run([document("a"), document("a")], [document("a")])


def test_an_entity_given_twice_is_a_finding_and_counts_once():
    report = run([document("a", span(0, 5))], [document("a", span(0, 5), span(0, 5))])
    assert values(report)["precision_strict"] == 1.0
    assert report.coverage["duplicates"] == 1
    assert "predicted 1: entities[1]" in report.findings[0].where


def test_errors_are_told_with_what_stands_around_them():
    predicted = [
        document(
            "nl-1", span(4, 15, "TOP"), span(33, 40, "TMP"), span(60, 62, "TMP"), span(0, 3, "X")
        )
    ]
    report = run(GOLD, predicted)
    assert report.detail.error_counts == {
        "boundary": 1,
        "type": 1,
        "boundary_and_type": 1,
        "missed": 1,
        "spurious": 1,
    }
    boundary = next(one for one in report.detail.errors if one.kind == "boundary")
    assert (boundary.gold.text, boundary.predicted.text) == ("1800", "18")
    assert boundary.before == "…(ISIL: NL-AmRM) werd opgericht in "
    assert boundary.after == " en beheert de grootste collectie…"
    spurious = next(one for one in report.detail.errors if one.kind == "spurious")
    assert spurious.gold is None and spurious.where == "predicted 1"
    assert report.detail.errors[0].kind == "spurious"


def test_units_are_right_where_all_is_found_and_nothing_else():
    gold = [document(id, span(0, 5)) for id in "abc"] + [document("d")]
    predicted = [
        document("a", span(0, 5)),
        document("b", span(0, 5), span(6, 9)),
        document("d"),
    ]
    outcome = evaluate_ner(gold, predicted, intervals=False)
    assert list(outcome.units.ids) == ["a", "b", "c", "d"]
    assert outcome.units.right == [True, False, False, True]


def test_strata_are_scored_apart():
    gold = [
        document("a", span(0, 5), strata={"lang": "nl"}),
        document("b", span(0, 5), strata={"lang": "fr"}),
    ]
    report = run(gold, [document("a", span(0, 5)), document("b")])
    told = report.per_stratum["lang"]
    assert told["nl"]["entities.f1_strict"].value == 1.0
    assert told["fr"]["entities.f1_strict"].value == 0.0


def test_places_in_another_text_are_refused():
    gold = [document("a", span(0, 5), text="Ghent is")]
    with pytest.raises(InputRejected, match="differs from gold's at character 1"):
        run(gold, [document("a", span(0, 5), text="Gent was")])


def test_a_text_with_other_blanks_is_the_same_text():
    gold = [document("a", span(1, 7), text="(NL-AmR) in  Ghent")]
    found = run(gold, [document("a", span(2, 8), text="( NL-AmR ) in Ghent")])
    assert found.metrics["entities.f1_strict"].value == 1.0
    assert found.finding_counts == {"text_respaced": 1}


SHORT = [document("a", span(0, 3), text="abc def")]


class TestPredictionsWithoutAText:
    """Their places and surfaces are checked against gold's text."""

    def test_a_surface_that_is_not_in_the_text_is_told(self):
        found = run(SHORT, [document("a", span(0, 3, text="zzz"))])
        assert found.finding_counts == {"misplaced_span": 1}
        (finding,) = found.findings
        assert finding.where == "predicted 1: ORG at 0–3"
        assert '"zzz"' in finding.message

    def test_a_surface_that_stands_elsewhere_is_told_with_its_place(self):
        found = run(SHORT, [document("a", span(1, 4, text="abc"))])
        assert found.finding_counts == {"misplaced_span": 1}
        assert "0" in found.findings[0].message
        assert values(found)["f1_strict"] == 0.0

    def test_it_is_moved_there_where_that_is_asked_for(self):
        predicted = [document("a", span(1, 4, text="abc"), span(4, 7, text="def"))]
        found = run(SHORT, predicted, reanchor=True)
        assert found.finding_counts == {"misplaced_span": 1}
        assert found.findings[0].message.endswith("; it was moved there")
        assert (values(found)["recall_strict"], values(found)["precision_strict"]) == (1.0, 0.5)

    def test_two_that_stand_at_one_place_once_moved_count_once(self):
        predicted = [document("a", span(1, 4, text="abc"), span(0, 3, text="abc"))]
        found = run(SHORT, predicted, reanchor=True)
        assert found.finding_counts == {"misplaced_span": 1, "repeated_entity": 1}
        assert values(found)["f1_strict"] == 1.0

    @pytest.mark.parametrize("surface", [{}, {"text": "zzz"}])
    def test_an_end_past_the_text_is_a_problem(self, surface):
        predicted = [document("a", span(0, 5000, **surface), span(0, 3))]
        fact = "predicted 1: ORG at 0–5000: ends at 5000, past the text of 7 characters"
        with pytest.raises(InputRejected, match=fact):
            run(SHORT, predicted)
        found = run(SHORT, predicted, max_bad="1")
        assert (found.coverage["rejected"], found.coverage["predicted_entities"]) == (1, 1)
        assert values(found)["f1_strict"] == 1.0

    def test_another_unit_of_counting_is_seen_as_in_gold(self):
        gold = [document("a", span(2, 5), text="\U0001f3db abc")]
        found = run(gold, [document("a", span(3, 6, text="abc"))])
        assert found.finding_counts == {"offsets_recounted": 1}
        assert values(found)["f1_strict"] == 1.0

    def test_parts_of_a_discontinuous_one_are_checked_too(self):
        parts = {"fragments": [[0, 1], [4, 5]]}
        gold = [document("a", span(0, 5, **parts), text="abc def")]
        right = run(gold, [document("a", span(0, 5, text="a d", **parts))])
        assert (right.finding_counts, values(right)["f1_strict"]) == ({}, 1.0)
        wrong = run(gold, [document("a", span(0, 5, text="a x", **parts))])
        assert wrong.finding_counts == {"misplaced_span": 1}

    def test_files_of_spans_are_checked_as_records_are(self, tmp_path):
        file = tmp_path / "predicted.tsv"
        file.write_text("doc\tstart\tend\ttype\ttext\na\t0\t3\tORG\tzzz\n")
        assert run(SHORT, file).finding_counts == {"misplaced_span": 1}

    def test_a_frame_has_no_surfaces_and_its_ends_are_checked(self):
        frame = frame_of([document("a", span(0, 8))])
        with pytest.raises(InputRejected, match="past the text of 7 characters"):
            run(SHORT, frame)

    def test_nothing_stands_in_an_empty_text(self):
        with pytest.raises(InputRejected, match="past the text of 0 characters"):
            run([document("a", text="")], [document("a", span(0, 3))])

    def test_a_document_that_gold_does_not_know_is_not_checked(self):
        found = run(SHORT, [*SHORT, document("z", span(0, 5000, text="zzz"))])
        assert found.finding_counts == {"unknown_document": 1}

    @pytest.mark.parametrize("surface", ["", 5])
    def test_a_surface_that_is_none_is_refused(self, surface):
        with pytest.raises(InputRejected, match=r"predicted 1: entities\[0\].text"):
            run(SHORT, [document("a", span(0, 3, text=surface))])


def test_fragments_move_with_their_text():
    parts = {"fragments": [[0, 2], [6, 8]]}
    gold = [document("a", span(0, 8, **parts), text="ab cd ef")]
    same = {"fragments": [[0, 2], [8, 10]]}
    other = [document("a", span(0, 10, **same), text="ab  cd  ef")]
    assert run(gold, other).metrics["entities.f1_strict"].value == 1.0


def test_a_single_layer_on_each_side_is_one_layer():
    gold = [document("a", span(0, 5))]
    found = run(gold, [document("a", span(0, 5, layer="NE-COARSE-LIT"))])
    assert found.metrics["entities.f1_strict"].value == 1.0
    assert found.finding_counts == {"layer_renamed": 1}


def test_layers_that_one_side_lacks_are_findings():
    gold = [document("a", span(0, 5), span(6, 8, layer="y"))]
    found = run(gold, [document("a", span(0, 5), span(6, 8, layer="x"))])
    assert found.finding_counts == {
        "layer_not_in_gold": 1,
        "layer_not_predicted": 1,
        "layers_pooled": 1,
    }


def frame_of(documents):
    rows = [
        (one["id"], each["start"], each["end"], each["type"])
        for one in documents
        for each in one["entities"]
    ]
    return pl.DataFrame(rows, schema=["doc", "start", "end", "type"], orient="row")


def texts_of(documents):
    return [
        AnnotatedText(
            id=one["id"],
            text=one.get("text"),
            entities=tuple(Entity(**each) for each in one["entities"]),
            where=one["id"],
        )
        for one in documents
    ]


MANY = (
    [document("a", span(0, 10), span(20, 30, "TOP")), document("b", span(0, 4)), document("c")],
    [document("a", span(0, 9), span(20, 30, "TOP")), document("b"), document("c", span(5, 6, "X"))],
)


def test_frames_texts_and_columns_say_what_records_say():
    wanted = values(run(*MANY))
    ids = ["a", "b", "c"]
    assert values(run(*map(frame_of, MANY), documents=ids)) == wanted
    assert values(run(*map(texts_of, MANY))) == wanted
    types = ["ORG", "TOP", "X"]
    columns = [
        EntityColumns(
            documents=ids,
            doc=np.array([ids.index(one["id"]) for one in side for _ in one["entities"]]),
            start=np.array([each["start"] for one in side for each in one["entities"]]),
            end=np.array([each["end"] for one in side for each in one["entities"]]),
            type=np.array([types.index(each["type"]) for one in side for each in one["entities"]]),
            types=types,
            layer=np.zeros(3, dtype=np.int64),
            layers=[""],
        )
        for side in MANY
    ]
    assert values(run(*columns)) == wanted


def test_repeated_entities_are_findings_in_every_form():
    twice = [document("a", span(0, 5), span(0, 5))]
    for gold in (twice, frame_of(twice), texts_of(twice)):
        report = run(gold, gold)
        assert report.coverage["gold_entities"] == 1
        assert report.finding_counts == {"repeated_entity": 2}
        assert values(report)["f1_strict"] == 1.0


def test_a_frame_says_what_is_wrong_with_it():
    frame = pl.DataFrame({"doc": ["a", "a"], "start": [3, None], "end": [2, 5], "type": ["X", "X"]})
    with pytest.raises(InputRejected) as told:
        run(frame, frame)
    assert "gold row 2: has an empty cell" in str(told.value)
    assert "goes from 3 to 2" in str(told.value)
    with pytest.raises(UsageError, match="no column end, type"):
        run(frame.select("doc", "start"), frame)


@pytest.mark.parametrize("field", ["entities", "ner_annotations", "spans"])
@pytest.mark.parametrize("name", ["type", "label"])
def test_records_may_use_any_of_the_known_names(field, name):
    gold = [{"id": "a", field: [{"start": 0, "end": 5, name: "X"}]}]
    assert values(run(gold, gold))["f1_strict"] == 1.0


def test_the_quick_way_of_records_says_what_the_careful_one_says():
    marked = [[{**one, "doc_id": one["id"]} for one in side] for side in MANY]
    first, second = as_json(run(*MANY)), as_json(run(*marked))
    assert first == second


def test_intervals_hold_the_values():
    gold = [document(f"d{n:02}", span(0, 5), span(6, 9)) for n in range(40)]
    predicted = [document(f"d{n:02}", span(0, 5 + (n % 3 == 0)), span(6, 9)) for n in range(40)]
    report = evaluate_ner(gold, predicted).report
    for name in ("f1_strict", "precision_strict", "f1_strict_doc", "f1_strict_macro"):
        score = report.metrics[f"entities.{name}"]
        assert score.ci[0] < score.value < score.ci[1]


def test_gold_is_known_by_its_meaning():
    def sha(gold):
        return evaluate_ner(gold, MANY[1], intervals=False).identity["gold_sha256"]

    turned = [{**one, "entities": one["entities"][::-1]} for one in MANY[0][::-1]]
    assert sha(turned) == sha(MANY[0])
    assert sha([*MANY[0][:2], document("c", span(0, 3))]) != sha(MANY[0])


@pytest.mark.parametrize("empty", ["null", "zero"])
def test_a_quick_look_has_the_values_of_the_report(empty):
    wanted = {id: score.value for id, score in run(*MANY, empty=empty).metrics.items()}
    assert ner_values(*MANY, empty=empty) == wanted
    with pytest.raises(InputRejected):
        ner_values([document("a", span(5, 5))], [document("a")])


HIPE = "TOKEN\tNE-COARSE-LIT\tMISC\n"
NAMED = (
    "# document_id = a\nJean\tB-pers\tNoSpaceAfter\n,\tO\t_\nEde\tB-loc\t_\n"
    "# document_id = b\nhier\tO\t_\nBonn\tB-loc\t_\n"
)


def hipe_files(tmp_path, gold, predicted):
    files = tmp_path / "gold.tsv", tmp_path / "predicted.tsv"
    for file, lines in zip(files, (gold, predicted), strict=True):
        file.write_text(HIPE + lines)
    return files


@pytest.mark.parametrize("cut", ["one block", "other blocks"])
def test_a_file_without_document_ids_is_aligned_by_order(tmp_path, cut):
    """The scorer of HIPE does so; other spacing and other cuts do not matter."""
    lines = ["Jean\tB-pers\t_", ",\tO\t_", "Ede\tO\t_", "hier\tO\t_", "Bonn\tS-loc\t_"]
    if cut == "other blocks":
        lines.insert(1, "")
    files = hipe_files(tmp_path, NAMED, "\n".join(lines) + "\n")
    report = run(*files)
    told = values(report)
    assert (told["precision_strict"], told["recall_strict"]) == (1.0, pytest.approx(2 / 3))
    assert report.coverage["documents"] == report.coverage["scored"] == 2
    [finding] = [one for one in report.findings if one.code == "aligned_by_order"]
    assert finding.where == f"{files[1]}:2"
    assert "its 5 tokens are those of gold" in finding.message
    swapped = run(files[1], files[0])
    assert values(swapped)["recall_strict"] == 1.0
    assert swapped.finding_counts["aligned_by_order"] == 1


def test_sentences_without_ids_are_aligned_with_the_documents_of_the_other_side(tmp_path):
    gold, predicted = tmp_path / "gold.tsv", tmp_path / "predicted.iob"
    gold.write_text(HIPE + NAMED)
    predicted.write_text("Jean S-pers\n\n, O\nEde S-loc\n\nhier O\nBonn S-loc\n")
    report = run(gold, predicted)
    assert values(report)["f1_strict"] == 1.0


def test_what_cannot_be_aligned_by_order_is_refused(tmp_path):
    tokens = ["Jean\tB-pers\t_", ",\tO\t_", "Ede\tO\t_", "hier\tO\t_"]
    with pytest.raises(InputRejected, match="it has 4 tokens and gold 5; give both files document"):
        run(*hipe_files(tmp_path, NAMED, "\n".join(tokens) + "\n"))
    with pytest.raises(InputRejected, match='token 5 is "Born" and in gold "Bonn"'):
        run(*hipe_files(tmp_path, NAMED, "\n".join([*tokens, "Born\tO\t_"]) + "\n"))
    crossing = [*tokens[:2], "Ede\tB-loc\t_", "hier\tI-loc\t_", "Bonn\tO\t_"]
    with pytest.raises(InputRejected, match='the entity at "Ede" goes on into the next document'):
        run(*hipe_files(tmp_path, NAMED, "\n".join(crossing) + "\n"))


# Findings on two sides that were joined


def told(gold, predicted, **options):
    """The messages of a report's findings, by code."""
    report = run(gold, predicted, **options)
    found = {}
    for finding in report.findings:
        found.setdefault(finding.code, []).append(finding.message)
    return found


def test_layers_in_one_number_are_named():
    gold = [{"id": "d", "entities": [span(0, 5, layer="coarse"), span(0, 9, layer="nested")]}]
    (message,) = told(gold, gold)["layers_pooled"]
    assert '2 layers: "coarse", "nested"; choose one with --layer' in message
    assert told(gold, gold, layer="coarse") == {}


def test_the_layers_of_a_hipe_table_are_named(tmp_path):
    gold = tmp_path / "gold.tsv"
    rows = ("TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-NESTED", "Berlin\tB-loc\tB-org\t_")
    gold.write_text("\n".join(rows) + "\n")
    (message,) = told(gold, gold)["layers_pooled"]
    assert '2 layers: "NE-COARSE-LIT", "NE-COARSE-METO"' in message


def test_a_type_that_only_predictions_have_is_told_once_with_the_nearest():
    gold = [{"id": "d", "entities": [span(0, 5, "GRP.HER.MUS"), span(6, 9, "TOP")]}]
    said = [span(0, 5, "MUSEUM"), span(6, 9, "MUSEUM"), span(10, 12, "xyz"), span(6, 9, "TOP")]
    assert told(gold, [{"id": "d", "entities": said}])["type_not_in_gold"] == [
        'gold has no "MUSEUM", which is predicted 2 times; the nearest is "GRP.HER.MUS"',
        'gold has no "xyz", which is predicted once',
    ]
    declared = told(gold, [{"id": "d", "entities": said}], types=("MUSEUM", "xyz"))
    assert "type_not_in_gold" not in declared


def test_no_type_is_strange_where_gold_has_none():
    assert told([{"id": "d", "entities": []}], [{"id": "d", "entities": [span(0, 5)]}]) == {}


def test_no_document_in_common_shows_the_ids_of_both():
    gold = [{"id": id, "entities": [span(0, 5)]} for id in ("nl-4", "nl-1", "nl-3", "nl-2")]
    found = told(gold, [{"id": "4.txt", "entities": [span(0, 5)]}])
    assert found["no_document_in_common"] == [
        'gold has "nl-1", "nl-2", "nl-3", …, the predictions "4.txt"; '
        "give a document the same id in both"
    ]
    assert "no_document_in_common" not in told(gold, gold[:1])
    assert "no_document_in_common" not in told(gold, [])
