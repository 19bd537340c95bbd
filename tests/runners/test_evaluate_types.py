"""`evaluate_types` from end to end: the numbers, the detail, the findings and the gates."""

import json
import random

import msgspec
import polars as pl
import pytest

from ragauge.errors import InputRejected, UsageError
from ragauge.runners.components.evaluate_types import evaluate_types


def report(gold, predicted, **options):
    return evaluate_types(gold, predicted, **options).report


def values(found):
    return {id: score.value for id, score in found.metrics.items()}


def codes(found):
    return {finding.code: finding.where for finding in found.findings}


def listed(labels):
    return {f"i{place:03}": label for place, label in enumerate(labels)}


def test_d1_macro_f1_and_the_briefs_stand_side_by_side():
    found = report(listed("MLA"), listed("MLA"), labels="heritage")
    assert values(found)["labels.macro_f1"] == 1.0
    assert values(found)["labels.macro_f1_all"] == pytest.approx(0.158, abs=5e-4)
    assert found.detail.absent_labels == 16


def test_d2_labels_outside_the_list_have_a_row_and_a_column():
    found = report(listed(["M", "foo", "L"]), listed(["bar", "M", "L"]), labels="M,L")
    assert found.detail.labels == ("M", "L", "OTHER")
    assert found.detail.matrix == ((0, 0, 1), (0, 1, 0), (1, 0, 0))
    assert sum(map(sum, found.detail.matrix)) == found.coverage["items"] == 3
    assert codes(found) == {
        "unknown_gold_label": 'gold: "i001"',
        "unknown_predicted_label": 'predicted: "i000"',
    }


def test_d2_the_matrix_has_no_other_and_no_missing_where_nothing_is():
    found = report(listed("ML"), listed("LL"))
    assert found.detail.labels == ("L", "M")
    assert found.detail.matrix == ((1, 0), (1, 0))


def test_d3_no_items_at_all_is_a_report_with_a_warning():
    for gold, labels in (([], None), (listed("ZZ"), "M,L")):
        found = report(gold, listed("ML"), labels=labels)
        scores = {id: one for id, one in found.metrics.items() if id != "labels.coverage"}
        assert all(one.value is None and one.n == 0 and one.reason for one in scores.values())
        assert found.detail.errors == 0
        assert not found.passed
    assert codes(report([], []))["nothing_to_score"] == "gold"


def test_d4_a_missing_prediction_is_a_class_of_its_own_and_wrong():
    found = report(listed("MLA"), {"i000": "M", "elsewhere": "M"})
    assert values(found)["labels.accuracy"] == pytest.approx(1 / 3)
    assert found.detail.labels[-1] == "MISSING"
    assert found.detail.errors == 2
    assert [(one.gold, one.predicted) for one in found.detail.confusions] == [
        ("A", "MISSING"),
        ("L", "MISSING"),
    ]
    assert found.finding_counts == {"missing_prediction": 2, "unknown_item": 1}
    assert found.coverage == {
        "items": 3,
        "scored": 1,
        "missing": 2,
        "unknown": 1,
        "unlabelled": 0,
        "duplicates": 0,
        "rejected": 0,
    }
    assert not found.passed, "a third of the items has a prediction"


def test_d5_confusions_have_counts_shares_examples_and_an_order():
    gold, predicted = listed("MMMMLLAA"), listed("LLLAMMMM")
    found = report(gold, predicted).detail
    assert (found.errors, found.distinct_confusions) == (8, 4)
    assert [(one.gold, one.predicted, one.count, one.share) for one in found.confusions] == [
        ("M", "L", 3, 0.75),
        ("A", "M", 2, 1.0),
        ("L", "M", 2, 1.0),
        ("M", "A", 1, 0.25),
    ]
    assert found.confusions[0].examples == ("i000", "i001", "i002")


def test_d6_strict_and_lenient_accuracy():
    gold = [
        {"id": "a", "gold_type": "M", "secondary_types": ["L"]},
        {"id": "b", "gold_type": "M", "secondary_types": "A;foo"},
    ]
    found = report(gold, {"a": "L", "b": "foo"}, labels="M,L,A")
    assert values(found)["labels.accuracy"] == 0.0
    assert values(found)["labels.accuracy_lenient"] == 0.5
    assert found.finding_counts["unknown_secondary_label"] == 1


@pytest.mark.parametrize(("gold", "predicted"), [("foo", "bar"), ("foo", "foo"), ("X", "")])
def test_e1_unknown_labels_are_of_no_category(gold, predicted):
    found = report({"a": gold}, {"a": predicted}, labels="heritage")
    assert values(found)["labels.category_accuracy"] in (None, 0.0)
    assert values(found)["labels.accuracy"] in (None, 0.0)
    assert not found.passed


def test_e2_category_accuracy_its_gap_and_the_paths():
    found = report(listed("ML"), listed("LC"), labels="heritage")
    value = values(found)
    assert (value["labels.category_accuracy"], value["labels.category_gap"]) == (0.5, 0.5)
    assert {value[f"labels.hierarchical_{one}"] for one in ("precision", "recall", "f1")} == {0.25}
    assert found.detail.categories[0] == "CULTURAL"
    cultural = found.detail.category_matrix[0]
    private = found.detail.categories.index("PRIVATE")
    assert (cultural[0], cultural[private]) == (1, 1)


def test_categories_of_unknown_and_missing_stand_at_the_end():
    found = report(listed("MLf"), {"i000": "zzz", "i002": "M"}, labels="heritage").detail
    assert found.categories[-2:] == ("OTHER", "MISSING")
    assert sum(map(sum, found.category_matrix)) == 3


def test_a_label_that_is_called_other_keeps_its_name():
    found = report(listed(["OTHER", "M"]), listed(["OTHER", "foo"]), labels="OTHER,M")
    assert found.detail.labels == ("OTHER", "M", "(OTHER)")
    assert values(found)["labels.accuracy"] == 0.5


def test_each_label_has_its_rates_and_none_where_there_is_nothing():
    found = report(listed("MML"), listed("MLL"), labels="M,L,A").per_type
    assert found["M"] == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": pytest.approx(2 / 3),
        "support": 2,
        "predicted": 1,
    }
    assert found["A"] == {
        **dict.fromkeys(("precision", "recall", "f1")),
        "support": 0,
        "predicted": 0,
    }


def test_dotted_labels_are_paths_without_a_declared_set():
    found = report({"a": "GRP.HER.MUS"}, {"a": "GRP.HER.LIB"})
    assert values(found)["labels.category_accuracy"] == 1.0
    assert values(found)["labels.hierarchical_f1"] == pytest.approx(2 / 3)
    assert found.detail.label_set == "met"


def test_entries_without_a_type_are_not_scored_but_counted(tmp_path):
    entries = [
        {"id": "a", "text": "x", "type_classification": {"primary_type": "M"}},
        {"id": "b", "text": "y", "ner_annotations": []},
    ]
    file = tmp_path / "entries.jsonl"
    file.write_text("\n".join(map(json.dumps, entries)))
    found = report(file, {"a": "M", "b": "L"})
    assert (found.coverage["items"], found.coverage["scored"], found.coverage["unlabelled"]) == (
        2,
        1,
        1,
    )
    assert found.finding_counts == {"unlabelled_item": 1}


def test_duplicates_are_refused_and_can_be_accepted():
    gold = [{"id": "a", "label": "M"}, {"id": "b", "label": "L"}, {"id": "a", "label": "L"}]
    with pytest.raises(InputRejected, match=r'gold: item 3: id: "a" is at gold: item 1 already'):
        report(gold, listed("M"))
    found = report(gold, {"a": "M", "b": "L"}, max_bad="1")
    assert (found.coverage["duplicates"], found.coverage["rejected"]) == (1, 1)
    assert values(found)["labels.accuracy"] == 1.0


def test_lists_side_by_side_are_refused():
    with pytest.raises(InputRejected, match="expected an object"):
        report(["M", "L"], ["M", "L"])


def test_strata_have_headline_scores():
    gold = [
        {"id": "a", "label": "M", "strata": {"country": "NL"}},
        {"id": "b", "label": "L", "strata": {"country": "BE"}},
        {"id": "c", "label": "L", "strata": {"country": "BE"}},
    ]
    found = report(gold, {"a": "M", "b": "M", "c": "L"}).per_stratum["country"]
    assert found["NL"]["labels.accuracy"].value == 1.0
    assert (found["BE"]["labels.accuracy"].value, found["BE"]["labels.accuracy"].n) == (0.5, 2)


def test_the_heritage_gates_and_gates_of_ones_own():
    gold, predicted = listed("MMMMLLLLAA"), listed("MMMMLLLLAM")
    found = report(gold, predicted, preset="heritage", gates="labels.category_accuracy>=0.5")
    assert [gate.metric for gate in found.gates].count("labels.accuracy") == 1
    assert {gate.metric: gate.holds for gate in found.gates}["labels.accuracy"]
    assert not found.passed, "labels without groups have no category"
    assert report(gold, predicted, preset="heritage").passed
    with pytest.raises(UsageError, match="did you mean"):
        report(gold, predicted, gates="labels.acuracy>=0.5")
    with pytest.raises(UsageError, match="eval types"):
        report(gold, predicted, colour="red")


def test_no_order_of_records_changes_the_report():
    source = random.Random(5)
    gold = [
        {"id": f"i{place}", "label": source.choice("MLAf"), "strata": {"s": source.choice("xy")}}
        for place in range(60)
    ]
    predicted = [{"id": f"i{place}", "label": source.choice("MLAC")} for place in range(5, 60)]
    shuffled = source.sample(gold, 60), source.sample(predicted, 55)
    one, other = (report(*pair, labels="M,L,A,C") for pair in ((gold, predicted), shuffled))
    blank = [Placeless(found) for found in (one, other)]
    assert blank[0].json == blank[1].json


class Placeless:
    """A report as JSON without the places of its findings, which are places in a list."""

    def __init__(self, found):
        plain = msgspec.to_builtins(found)
        plain["findings"] = [(one["code"], one["message"]) for one in plain["findings"]]
        self.json = json.dumps(plain, allow_nan=False)


def test_frames_and_files_give_the_same_numbers(tmp_path):
    rows = {"id": ["a", "b", "c"], "gold_type": ["M", "L", "L"], "predicted": ["M", "M", None]}
    frame = pl.DataFrame(rows)
    file = tmp_path / "both.csv"
    frame.write_csv(file)
    of_frame, of_file = report(frame, frame), report(str(file), file)
    assert values(of_frame) == values(of_file)
    assert values(of_frame)["labels.accuracy"] == pytest.approx(1 / 3)
    assert of_frame.identity["gold_sha256"] == of_file.identity["gold_sha256"]


def test_the_units_of_the_outcome_tell_which_items_are_right():
    units = evaluate_types(listed("MLf"), listed("MML"), labels="M,L").units
    assert units.ids == ["i000", "i001", "i002"]
    assert units.right == [True, False, None]
    assert units.measured["labels.macro_f1"].counts.shape == (3, 6)


def test_everything_in_a_report_is_plain_json():
    found = report(listed("MLf"), listed("MX"), labels="heritage")
    again = json.loads(msgspec.json.encode(found))
    assert json.dumps(again, allow_nan=False)
    assert type(found.detail.matrix[0][0]) is int
    assert type(found.metrics["labels.accuracy"].value) is float


def test_a_matrix_nobody_can_read_is_left_out(monkeypatch):
    monkeypatch.setattr("ragauge.runners.components.evaluate_types.MATRIX_LABELS", 1)
    found = report(listed("ML"), listed("LL")).detail
    assert (found.labels, found.matrix, found.errors) == (("L", "M"), (), 1)


def test_too_many_labels_leave_out_the_macro_averages_and_say_so(monkeypatch):
    from ragauge.metrics import label_sums

    monkeypatch.setattr(label_sums, "LARGEST", 3)
    found = report(listed("ML"), listed("LL"))
    assert "labels.macro_f1" not in found.metrics
    assert found.finding_counts["too_many_labels"] == 1
    assert values(found)["labels.accuracy"] == 0.5
    assert found.per_type["L"]["recall"] == 1.0
