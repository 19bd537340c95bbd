"""Linking evaluated: each row of the specification by its name, and what an evaluation shows."""

import json

import msgspec
import polars as pl
import pytest

from ragauge.errors import InputRejected, UsageError
from ragauge.runners.components.evaluate_linking import evaluate_linking


def report(gold, predicted, **options):
    return evaluate_linking(gold, predicted, **options).report


def values(gold, predicted, **options):
    """The metrics without their family."""
    metrics = report(gold, predicted, **options).metrics
    return {id.partition(".")[2]: score.value for id, score in metrics.items()}


def refused(gold, predicted, **options):
    """What is said of input that cannot be scored."""
    with pytest.raises(InputRejected) as caught:
        evaluate_linking(gold, predicted, **options)
    return list(caught.value.problems)


def gold_of(ids):
    return [{"id": name, "mention": name, "gold_wikidata": id} for name, id in ids.items()]


def predicted_of(answers):
    return [{"id": name, "candidates": candidates} for name, candidates in answers.items()]


ARCHIVES = [
    {"doc": "d1", "start": 0, "end": 17, "mention": "Nationaal Archief", "wikidata_id": "Q1"},
    {"doc": "d2", "start": 4, "end": 21, "mention": "Nationaal Archief", "wikidata_id": "Q2"},
]


def test_the_published_fixture():
    """statistics.md: right at ranks 1 and 2."""
    found = values(gold_of({"a": "Q1", "b": "Q2"}), predicted_of({"a": ["Q1"], "b": ["Q9", "Q2"]}))
    assert (found["hits@1"], found["hits@5"], found["mrr"]) == (0.5, 1.0, 0.75)


class TestF1KeyedOnPlaceOrId:
    def test_the_same_words_in_two_documents_are_two_mentions(self):
        assert values(ARCHIVES, ARCHIVES)["hits@1"] == 1.0

    def test_words_alone_join_where_they_are_unique(self):
        gold = [{"mention": "Rijksmuseum", "gold_wikidata": "Q190804"}]
        said = [{"mention": "Rijksmuseum", "wikidata_id": "Q190804"}]
        assert values(gold, said)["hits@1"] == 1.0

    def test_words_that_gold_has_twice_are_an_error(self):
        gold = [
            {"mention": "Nationaal Archief", "context": context, "gold_wikidata": id}
            for context, id in (("in Den Haag", "Q1"), ("in Suriname", "Q2"))
        ]
        problems = refused(gold, [{"mention": "Nationaal Archief", "wikidata_id": "Q1"}])
        assert problems == [
            'predicted: item 1: mention: "Nationaal Archief" is 2 mentions of gold '
            "(gold: item 1, gold: item 2); give each an id, or doc, start and end, in both files"
        ]

    def test_their_context_tells_them_apart_where_both_files_have_it(self):
        gold = [
            {"mention": "Nationaal Archief", "context": context, "gold_wikidata": id}
            for context, id in (("in Den Haag", "Q1"), ("in Suriname", "Q2"))
        ]
        said = [
            {"mention": "Nationaal Archief", "context": context, "wikidata_id": id}
            for context, id in (("in Suriname", "Q2"), ("in Den Haag", "Q1"))
        ]
        assert values(gold, said)["hits@1"] == 1.0

    def test_the_same_words_without_context_are_an_error_in_gold_itself(self):
        gold = [{"mention": "Archief", "gold_wikidata": id} for id in ("Q1", "Q2")]
        problems = refused(gold, [{"mention": "Archief", "wikidata_id": "Q1"}])
        assert '"Archief" is at gold: item 1 already; give each an id' in problems[0]

    def test_a_moved_span_is_not_joined_by_its_words(self):
        moved = [{**ARCHIVES[0], "start": 1, "end": 18}, ARCHIVES[1]]
        found = report(ARCHIVES, moved)
        assert found.finding_counts == {"missing_prediction": 1, "unknown_mention": 1}
        assert found.metrics["linking.hits@1"].value == 0.5


class TestF1IdsJoinWhatMoved:
    """Explicit ids, unique on both sides, join mentions whose spans differ."""

    GOLD = (
        {"doc": "d", "id": "m1", "start": 0, "end": 9, "mention": "The Hague", "wikidata_id": "Q1"},
        {"doc": "d", "id": "m2", "start": 20, "end": 25, "mention": "Delft", "wikidata_id": None},
        {"doc": "e", "id": "m3", "start": 3, "end": 8, "mention": "Ghent", "wikidata_id": "Q3"},
    )

    def said(self, place, **changed):
        return [{**one, **changed} if n == place else one for n, one in enumerate(self.GOLD)]

    def test_hits_count_and_only_the_weak_view_counts_end_to_end(self):
        found = report(self.GOLD, self.said(0, start=4))
        got = {id.partition(".")[2]: score.value for id, score in found.metrics.items()}
        assert (got["hits@1"], got["mrr"], got["accuracy"], got["coverage"]) == (1, 1, 1, 1)
        assert (got["strong_precision"], got["strong_recall"], got["strong_f1"]) == (0.5, 0.5, 0.5)
        assert (got["weak_f1"], got["mention_f1"]) == (1.0, pytest.approx(2 / 3))
        assert found.finding_counts == {"span_differs": 1}
        assert (found.coverage["missing"], found.coverage["unknown"]) == (0, 0)
        (finding,) = found.findings
        assert finding.where == "predicted: item 1"
        assert finding.message == '"The Hague" (d:4–9) is 0–9 in gold; joined by its id, m1'

    def test_without_an_overlap_the_weak_view_is_wrong_too(self):
        got = values(self.GOLD, self.said(0, start=40, end=49))
        assert (got["hits@1"], got["weak_f1"], got["strong_f1"]) == (1.0, 0.5, 0.5)

    def test_nil_is_joined_as_well(self):
        found = report(self.GOLD, self.said(1, end=27))
        assert found.metrics["linking.nil_f1"].value == 1.0
        assert found.finding_counts == {"span_differs": 1}

    def test_a_place_decides_before_an_id(self):
        swapped = [
            {**self.GOLD[0], "id": "m2"}, {**self.GOLD[1], "id": "m1"}, self.GOLD[2],
        ]  # fmt: skip
        found = report(self.GOLD, swapped)
        assert (found.metrics["linking.strong_f1"].value, found.finding_counts) == (1.0, {})

    @pytest.mark.parametrize("order", [1, -1])
    def test_an_id_that_either_side_has_twice_joins_nothing(self, order):
        twice = [*self.said(0, start=4), {**self.GOLD[0], "start": 50, "end": 59}][::order]
        assert report(self.GOLD, twice).finding_counts == {
            "missing_prediction": 1, "unknown_mention": 2,
        }  # fmt: skip
        gold = [*self.GOLD, {**self.GOLD[2], "id": "m1", "start": 30, "end": 35}][::order]
        assert report(gold, self.said(0, start=4)).finding_counts == {
            "missing_prediction": 2, "unknown_mention": 1,
        }  # fmt: skip

    def test_an_id_in_another_document_joins_nothing(self):
        found = report(self.GOLD, self.said(0, doc="e"))
        assert found.finding_counts == {"missing_prediction": 1, "unknown_mention": 1}


def test_f2_hits_and_mrr_have_one_denominator():
    gold = gold_of({f"m{n}": f"Q{n}" for n in range(1, 11)})
    found = values(gold, predicted_of({"m1": ["Q1"]}))
    assert found["hits@1"] == found["mrr"] == 0.1
    assert found["mrr_answered"] == 1.0
    assert found["coverage"] == 0.1


class TestF3Duplicates:
    SAID = (
        {"id": "a", "candidates": [{"id": "Q9", "score": 0.2}]},
        {"id": "a", "candidates": [{"id": "Q1", "score": 0.9}]},
        {"id": "a", "candidates": [{"id": "Q8", "score": 0.5}]},
    )

    def test_they_are_an_error_with_both_places(self):
        problems = refused(gold_of({"a": "Q1"}), self.SAID)
        assert [problem.partition(";")[0] for problem in problems] == [
            'predicted: item 2: mention: "a" was predicted at predicted: item 1 already',
            'predicted: item 3: mention: "a" was predicted at predicted: item 1 already',
        ]

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
    def test_the_best_by_score_is_kept_and_the_others_counted(self, order):
        said = [self.SAID[place] for place in order]
        found = report(gold_of({"a": "Q1"}), said, duplicates="best")
        assert found.metrics["linking.hits@1"].value == 1.0
        assert found.finding_counts["duplicate_prediction"] == 2
        assert found.coverage["duplicates"] == 2

    def test_without_scores_the_order_does_not_decide(self):
        said = predicted_of({"a": ["Q1"]}) + predicted_of({"a": ["Q2"]})
        gold = gold_of({"a": "Q1"})
        forwards, backwards = (values(gold, rows, duplicates="best") for rows in (said, said[::-1]))
        assert forwards == backwards


def test_f4_nil_is_no_miss_in_hits_and_an_answer_in_accuracy():
    ids = {f"m{n}": None if n < 3 else f"Q{n}" for n in range(20)}
    said = predicted_of({name: [id] if id else [] for name, id in ids.items()})
    found = values(gold_of(ids), said)
    for name in ("hits@1", "mrr", "nil_precision", "nil_recall", "nil_f1", "accuracy"):
        assert found[name] == 1.0, name


class TestF5Candidates:
    def test_they_rank_by_score_where_each_has_one(self):
        said = [{"id": "Q9", "score": 0.1}, {"id": "Q1", "score": 0.8}]
        assert values(gold_of({"a": "Q1"}), predicted_of({"a": said}))["hits@1"] == 1.0

    def test_they_rank_as_listed_where_one_has_none(self):
        said = [{"id": "Q9"}, {"id": "Q1", "score": 0.8}]
        assert values(gold_of({"a": "Q1"}), predicted_of({"a": said}))["mrr"] == 0.5

    def test_ties_break_by_id_descending(self):
        said = [{"id": "Q1", "score": 1.0}, {"id": "Q2", "score": 1.0}]
        assert values(gold_of({"a": "Q2"}), predicted_of({"a": said}))["mrr"] == 1.0

    def test_one_that_is_named_again_takes_up_no_rank(self):
        said = ["Q9", "http://www.wikidata.org/entity/Q9", "q9", "Q1"]
        found = report(gold_of({"a": "Q1"}), predicted_of({"a": said}))
        assert found.metrics["linking.mrr"].value == 0.5
        assert found.finding_counts == {"duplicate_candidate": 2}

    def test_many_ids_in_one_candidate_are_no_hit(self):
        said = [{"ids": {"wikidata": ["Q8", "Q9", "Q1"]}}]
        assert values(gold_of({"a": "Q1"}), predicted_of({"a": said}))["hits@10"] == 0.0


SOME_NIL = {"a": None, "b": "Q2", "c": None, "d": "Q4"}


class TestF6NilIsJoined:
    def test_the_order_of_the_answers_does_not_matter(self):
        said = predicted_of({name: [id] if id else [] for name, id in SOME_NIL.items()})[::-1]
        assert values(gold_of(SOME_NIL), said)["nil_f1"] == 1.0

    def test_no_answer_is_no_nil_and_is_counted_as_missing(self):
        found = report(gold_of(SOME_NIL), predicted_of({"a": []}))
        got = {name: found.metrics[f"linking.nil_{name}"].value for name in ("recall", "f1")}
        assert got == {"recall": 0.5, "f1": pytest.approx(2 / 3)}
        assert found.coverage["missing"] == 3
        assert found.finding_counts["missing_prediction"] == 3

    @pytest.mark.parametrize(
        "answer",
        [
            {"candidates": []},
            {"nil": True},
            {"wikidata_id": None},
            {"prediction": "NIL"},
            {"candidates": ["NIL0042", "Q7"]},
            {"prediction": None, "candidates": ["Q7"]},
            {"candidates": ["Q7"], "nil": True},
        ],
    )
    def test_nil_can_be_said_in_many_ways(self, answer):
        found = values(gold_of({"a": None}), [{"id": "a", **answer}])
        assert (found["nil_recall"], found["accuracy"]) == (1.0, 1.0)

    @pytest.mark.parametrize(
        "answer",
        [
            {"candidates": ["NIL", "Q1"]},
            {"candidates": ["Q1"], "nil": True},
            {"candidates": ["Q1", "NIL"], "nil": True},
            {"candidates": ["Q1"], "prediction": None},
        ],
    )
    def test_a_nil_answer_has_the_first_rank_however_it_is_said(self, answer):
        found = report(gold_of({"a": "Q1"}), [{"id": "a", **answer}])
        got = {id.partition(".")[2]: score.value for id, score in found.metrics.items()}
        assert (got["hits@1"], got["hits@5"], got["mrr"], got["accuracy"]) == (0.0, 1.0, 0.5, 0.0)
        assert found.detail.ranks["2-5"] == 1
        assert found.detail.errors[0].predicted == ("NIL", "Q1")

    def test_nil_nowhere_is_absent_with_a_reason(self):
        score = report(gold_of({"a": "Q1"}), predicted_of({"a": ["Q1"]})).metrics["linking.nil_f1"]
        assert (score.value, score.n) == (None, 0)
        assert score.reason == "nothing to score: NIL in neither (1)"


def entity(name, **ids):
    return {"id": name, **ids}


WALK = [
    {"id1": "Q1", "id2": "viaf:11", "relation": "P214"},
    {"id1": "Q1", "id2": "https://viaf.org/viaf/12/", "relation": "P214"},
    {"id1": "wikidata:Q1", "id2": "isil:NL-AmRM", "relation": "P791"},
    {"id1": "Q2", "id2": "viaf:22", "relation": "P214"},
]


class TestF7Consistency:
    """F7, F7b, F7c and F7d."""

    GOLD = gold_of({"a": "Q1", "b": "Q2", "c": "Q3"})

    def test_f7_the_crosswalk_is_passed_in(self):
        said = [
            entity("a", wikidata_id="Q1", viaf_id="11"),
            entity("b", wikidata_id="Q2", viaf_id="11"),
            entity("c", wikidata_id="Q3"),
        ]
        found = report(self.GOLD, said, crosswalk=WALK)
        assert found.metrics["linking.consistency"].value == 0.5
        pair = found.detail.kb_pairs["wikidata-viaf"]
        assert (pair.of, pair.comparable, pair.agree, pair.agreement) == (2, 2, 1, 0.5)

    def test_f7b_a_pair_says_how_many_have_ids_in_both(self):
        said = [
            entity("a", wikidata_id="Q1", viaf_id="11"),
            entity("b", wikidata_id="Q3", viaf_id="33"),
            entity("c", wikidata_id="Q1", isil_code="NL-XX"),
        ]
        pairs = report(self.GOLD, said, crosswalk=WALK).detail.kb_pairs
        told = {name: (pair.of, pair.comparable, pair.agreement) for name, pair in pairs.items()}
        assert told == {"wikidata-isil": (1, 1, 0.0), "wikidata-viaf": (2, 1, 1.0)}
        without = [entity("c", wikidata_id="Q3", ghcid="NL-NH-AMS-M-RM")]
        (pair,) = report(self.GOLD, without, crosswalk=WALK).detail.kb_pairs.values()
        assert (pair.of, pair.comparable, pair.agreement) == (1, 0, None)

    def test_f7b_coverage_holds_the_inconsistent_too(self):
        said = [
            entity("a", wikidata_id="Q1", viaf_id="99"),
            entity("b", wikidata_id="Q2"),
            entity("c", wikidata_id="Q3", viaf_id="33"),
        ]
        found = report(self.GOLD, said, crosswalk=WALK)
        assert found.metrics["linking.consistency"].value == 0.0
        score = found.metrics["linking.consistency_coverage"]
        assert (score.value, score.n) == (pytest.approx(1 / 3), 3)

    def test_f7b_each_pair_of_knowledge_bases_is_told(self):
        said = [entity("a", wikidata_id="Q1", viaf_id="11", isil_code="NL-XX")]
        pairs = report(self.GOLD, said, crosswalk=WALK).detail.kb_pairs
        assert {name: pair.agreement for name, pair in pairs.items()} == {
            "wikidata-viaf": 1.0,
            "wikidata-isil": 0.0,
            "viaf-isil": 0.0,
        }

    def test_f7c_nothing_checkable_is_absent(self):
        found = report(self.GOLD, [entity("a", wikidata_id="Q1")], crosswalk=WALK)
        score = found.metrics["linking.consistency"]
        assert (score.value, score.n) == (None, 0)
        assert "no two ids that the crosswalk can compare (1)" in score.reason
        assert found.metrics["linking.consistency_coverage"].value == 0.0

    def test_f7c_without_a_crosswalk_both_are_absent(self):
        found = report(self.GOLD, [entity("a", wikidata_id="Q1", viaf_id="11")])
        for name in ("consistency", "consistency_coverage"):
            assert found.metrics[f"linking.{name}"].value is None

    def test_f7d_one_of_several_ids_must_fit(self):
        said = [entity("a", wikidata_id="Q1", viaf_id=["98", "12"])]
        assert values(self.GOLD, said, crosswalk=WALK)["consistency"] == 1.0

    @pytest.mark.parametrize("isil", ["NL-AmRM", "nl-amrm", "AmRM", "ISIL: NL-AmRM"])
    def test_f7d_ids_are_normalised_first(self, isil):
        said = [entity("a", wikidata_id="http://www.wikidata.org/entity/Q1", isil_code=isil)]
        assert values(self.GOLD, said, crosswalk=WALK)["consistency"] == 1.0

    def test_a_relation_that_is_not_sameness_is_not_used_and_told(self):
        walk = [*WALK, {"id1": "Q3", "id2": "viaf:33", "relation": "skos:broadMatch"}]
        said = [entity("c", wikidata_id="Q3", viaf_id="33")]
        found = report(self.GOLD, said, crosswalk=walk)
        assert found.metrics["linking.consistency"].value is None
        assert found.finding_counts["other_relation"] == 1


class TestF8Equivalents:
    GOLD = gold_of({"a": "Q1", "b": "Q2"})
    SAID = predicted_of({"a": ["Q100"], "b": ["Q9", "dbpedia:Den_Haag"]})
    TABLE = (
        {"id1": "Q1", "id2": "Q50", "relation": "redirect"},
        {"id1": "Q50", "id2": "Q100", "relation": "redirect"},
        {"id1": "http://dbpedia.org/resource/Den_Haag", "id2": "Q2", "relation": "owl:sameAs"},
    )

    def test_strict_and_relaxed_are_both_reported(self):
        found = values(self.GOLD, self.SAID, equivalents=self.TABLE)
        assert (found["hits@1"], found["mrr"]) == (0.0, 0.0)
        assert (found["hits@1_relaxed"], found["mrr_relaxed"]) == (0.5, 0.75)

    def test_without_a_table_relaxed_is_absent(self):
        found = values(self.GOLD, self.SAID)
        assert found["hits@1_relaxed"] is None and found["mrr_relaxed"] is None

    def test_what_is_related_is_one_step_away(self):
        table = [
            {"id1": "Q1", "id2": "Q5", "relation": "related"},
            {"id1": "Q5", "id2": "Q6", "relation": "related"},
        ]
        said = predicted_of({"a": ["Q5"], "b": ["Q6"]})
        gold = gold_of({"a": "Q1", "b": "Q1"})
        assert values(gold, said, equivalents=table)["hits@1_relaxed"] == 0.5

    def test_the_table_is_in_the_signature_and_the_identity(self):
        plain, relaxed = (
            report(self.GOLD, self.SAID),
            report(self.GOLD, self.SAID, equivalents=self.TABLE),
        )
        assert "equivalents:" in relaxed.metrics["linking.mrr"].signature
        assert plain.identity["options"] != relaxed.identity["options"]


HAGUE = {"doc_id": "d", "text": "The Hague and the National Archive in The Hague"}
IN_THE_HAGUE = {
    **HAGUE,
    "entities": [
        {"start": 0, "end": 9, "type": "TOP", "qid": "Q36600"},
        {"start": 18, "end": 34, "type": "ARC", "qid": "Q1"},
        {"start": 38, "end": 47, "type": "TOP", "qid": "Q36600"},
        {"start": 10, "end": 13, "type": "TOP", "qid": "NIL"},
    ],
}


class TestF9EndToEnd:
    def ends(self, *entities):
        found = values([IN_THE_HAGUE], [{**HAGUE, "entities": list(entities)}])
        names = ("precision", "recall", "f1")
        strong = tuple(found[f"strong_{name}"] for name in names)
        return strong, tuple(found[f"weak_{name}"] for name in names), found["mention_f1"]

    def test_strong_asks_for_the_exact_place(self):
        strong, weak, mentions = self.ends(
            {"start": 0, "end": 9, "qid": "Q36600"},
            {"start": 14, "end": 34, "qid": "Q1"},
            {"start": 38, "end": 47, "qid": "Q999"},
        )
        assert strong == pytest.approx((1 / 3, 1 / 3, 1 / 3))
        assert weak == pytest.approx((2 / 3, 2 / 3, 2 / 3))
        assert mentions == pytest.approx(2 * 2 / (2 * 2 + 1 + 2))

    def test_one_wide_link_answers_one_mention_only(self):
        strong, weak, _ = self.ends({"start": 0, "end": 47, "qid": "Q36600"})
        assert strong == (0.0, 0.0, 0.0)
        assert weak == pytest.approx((1.0, 1 / 3, 0.5))

    def test_a_link_where_gold_marks_nothing_is_spurious_and_a_finding(self):
        found = report(
            [IN_THE_HAGUE],
            [
                {
                    **IN_THE_HAGUE,
                    "entities": [*IN_THE_HAGUE["entities"], {"start": 14, "end": 17, "qid": "Q5"}],
                }
            ],
        )
        assert found.metrics["linking.strong_precision"].value == 0.75
        assert found.metrics["linking.strong_recall"].value == 1.0
        assert found.finding_counts == {"unknown_mention": 1}
        assert found.coverage["unknown"] == 1
        of = {name: score.of for name, score in found.metrics.items()}
        assert of["linking.coverage"] == of["linking.accuracy"] == 4
        assert of["linking.hits@1"] == 3  # one is NIL in gold
        assert of["linking.hits@1_relaxed"] == 4
        assert of["linking.strong_precision"] == 4  # what was linked
        assert of["linking.weak_recall"] == 3
        assert of["linking.mention_f1"] == 5

    def test_a_document_without_a_mention_counts_what_is_found_there(self):
        empty = {"doc_id": "e", "text": "nothing", "entities": []}
        said = [IN_THE_HAGUE, {**empty, "entities": [{"start": 0, "end": 3, "qid": "Q5"}]}]
        assert values([IN_THE_HAGUE, empty], said)["strong_precision"] == 0.75

    def test_a_document_that_gold_does_not_know_is_not_scored(self):
        other = {"doc_id": "x", "entities": [{"start": 0, "end": 3, "qid": "Q5"}]}
        found = report([IN_THE_HAGUE], [IN_THE_HAGUE, other])
        assert found.metrics["linking.strong_precision"].value == 1.0
        assert found.finding_counts == {"unknown_document": 1}

    def test_nil_found_counts_for_mentions_and_not_for_links(self):
        strong, _, mentions = self.ends({"start": 10, "end": 13, "qid": "NIL"})
        assert strong == (None, 0.0, 0.0)
        assert mentions == pytest.approx(2 / 5)

    def test_without_places_there_is_no_weak_view(self):
        score = report(gold_of({"a": "Q1"}), predicted_of({"a": ["Q1"]})).metrics
        assert score["linking.weak_f1"].reason == "nothing to score: no place in a text (1)"
        assert score["linking.mention_f1"].value is None
        assert score["linking.strong_f1"].value == 1.0


class TestKnowledgeBases:
    GOLD = (
        {"id": "a", "mention": "A", "gold_wikidata": "Q1", "gold_viaf": "11"},
        {"id": "b", "mention": "B", "gold_wikidata": "Q2", "gold_viaf": None},
    )
    SAID = ({"id": "a", "viaf_id": "11", "wikidata_id": "Q7"}, {"id": "b", "wikidata_id": "Q2"})

    def test_by_default_an_id_in_common_is_right(self):
        assert values(self.GOLD, self.SAID)["hits@1"] == 1.0

    def test_one_can_be_named_to_decide(self):
        assert values(self.GOLD, self.SAID, kb="Wikidata")["hits@1"] == 0.5

    def test_what_has_no_id_in_it_is_nil(self):
        found = report(self.GOLD, self.SAID, kb="viaf")
        assert (found.coverage["in_kb"], found.coverage["nil"]) == (1, 1)
        assert found.metrics["linking.hits@1"].value == 1.0
        assert found.metrics["linking.nil_recall"].value == 0.0

    def test_one_that_gold_does_not_have_is_refused(self):
        with pytest.raises(UsageError, match="there are viaf, wikidata"):
            evaluate_linking(self.GOLD, self.SAID, kb="isil")

    def test_an_answer_in_another_one_is_told(self):
        found = report(gold_of({"a": "Q1"}), [{"id": "a", "viaf_id": "11"}])
        assert found.finding_counts == {"other_knowledge_base": 1}
        assert found.metrics["linking.hits@1"].value == 0.0


class TestWhatIsShown:
    GOLD = (
        {"id": "a", "mention": "A", "wikidata_id": "Q1", "type": "MUS", "context": "at A"},
        {"id": "b", "mention": "B", "wikidata_id": "Q2", "type": "MUS"},
        {"id": "c", "mention": "C", "wikidata_id": "Q3", "type": "ARC"},
        {"id": "d", "mention": "D", "wikidata_id": None, "type": "ARC"},
        {"id": "e", "mention": "E", "wikidata_id": "Q5"},
    )
    SAID = (
        {"id": "a", "candidates": ["Q8", "Q9", "Q1"]},
        {"id": "b", "candidates": ["Q2"]},
        {"id": "c", "nil": True},
        {"id": "d", "candidates": ["Q4"]},
    )

    def test_errors_by_kind_with_ids_and_ranks(self):
        detail = report(self.GOLD, self.SAID).detail
        told = [(one.kind, one.mention, one.gold, one.predicted, one.rank) for one in detail.errors]
        assert told == [
            ("ranked_low", "A", ("Q1",), ("Q8", "Q9", "Q1"), 3),
            ("not_linked", "C", ("Q3",), ("NIL",), None),
            ("should_be_nil", "D", ("NIL",), ("Q4",), None),
            ("missing", "E", ("Q5",), (), None),
        ]
        assert detail.errors[0].context == "at A"
        assert detail.error_counts == {
            "missing": 1, "not_linked": 1, "ranked_low": 1, "should_be_nil": 1,
        }  # fmt: skip
        assert detail.ranks == {"1": 1, "2-5": 1, "6-10": 0, "beyond": 0, "none": 2}

    def test_types_where_they_are_known(self):
        found = report(self.GOLD, self.SAID).per_type
        assert list(found) == ["ARC", "MUS"]
        assert found["MUS"]["hits@1"] == 0.5 and found["MUS"]["mrr"] == pytest.approx(2 / 3)
        assert (found["ARC"]["n"], found["ARC"]["nil"], found["ARC"]["hits@1"]) == (2, 1, 0.0)

    def test_coverage_counts_both_sides(self):
        said = [*self.SAID, {"id": "z", "candidates": ["Q1"]}]
        assert report(self.GOLD, said).coverage == {
            "documents": 0, "mentions": 5, "in_kb": 4, "nil": 1, "scored": 4, "missing": 1,
            "unknown": 1, "duplicates": 0, "rejected": 0,
        }  # fmt: skip

    def test_the_integrity_gate_fails_on_what_is_missing(self):
        found = report(self.GOLD, self.SAID)
        assert not found.passed
        assert report(self.GOLD, self.GOLD).passed is None
        assert report(self.GOLD, self.GOLD, gates="accuracy>=0.9").passed

    def test_the_heritage_preset(self):
        found = report(self.GOLD, self.SAID, preset="heritage")
        assert {gate.metric for gate in found.gates} == {
            "linking.hits@1", "linking.mrr", "linking.nil_f1", "linking.coverage",
        }  # fmt: skip

    def test_other_ranks_can_be_asked_for(self):
        found = values(self.GOLD, self.SAID, k=(3,))
        assert found["hits@3"] == 0.5
        with pytest.raises(UsageError, match="k 0 is no rank"):
            evaluate_linking(self.GOLD, self.SAID, k=(0,))

    def test_json_has_no_nan_and_the_order_of_records_does_not_matter(self):
        forwards = report(self.GOLD, self.SAID)
        backwards = report(self.GOLD[::-1], self.SAID[::-1])
        told = json.loads(msgspec.json.encode(forwards.metrics))
        assert told == json.loads(msgspec.json.encode(backwards.metrics))
        assert forwards.identity == backwards.identity

    def test_intervals_resample_documents(self):
        gold = [
            {"doc": f"d{n // 5}", "start": n, "end": n + 1, "mention": "x", "wikidata_id": "Q1"}
            for n in range(40)
        ]
        said = [{**one, "wikidata_id": "Q1" if one["doc"] < "d4" else "Q2"} for one in gold]
        outcome = evaluate_linking(gold, said)
        score = outcome.report.metrics["linking.hits@1"]
        assert (score.value, score.n, len(outcome.units.ids)) == (0.5, 40, 8)
        apart = [{**one, "doc": f"e{n}"} for n, one in enumerate(gold)]
        others = [{**one, "doc": f"e{n}"} for n, one in enumerate(said)]
        alone = report(apart, others).metrics["linking.hits@1"]
        assert score.ci[1] - score.ci[0] > alone.ci[1] - alone.ci[0]

    def test_strata_of_documents(self):
        gold = [
            {"doc": "d1", "start": 0, "end": 1, "wikidata_id": "Q1", "strata": {"country": "NL"}},
            {"doc": "d2", "start": 0, "end": 1, "wikidata_id": "Q2", "strata": {"country": "DE"}},
            {"doc": "d3", "start": 0, "end": 1, "wikidata_id": "Q2", "strata": {"country": "DE"}},
            {"doc": "d3", "start": 2, "end": 3, "wikidata_id": "Q2", "strata": {"country": "FR"}},
        ]
        found = report(gold, [*gold[:1], {**gold[1], "wikidata_id": "Q9"}, *gold[2:]])
        told = {
            name: one["linking.hits@1"].value for name, one in found.per_stratum["country"].items()
        }
        assert told == {"DE": 0.0, "NL": 1.0}
        assert found.finding_counts["mixed_stratum"] == 1

    def test_strata_of_a_document_without_a_mention(self):
        gold = [
            {**IN_THE_HAGUE, "strata": {"language": "en"}},
            {"doc_id": "e", "text": "niets", "entities": [], "strata": {"language": "nl"}},
        ]
        said = [*gold[:1], {"doc_id": "e", "entities": [{"start": 0, "end": 3, "qid": "Q5"}]}]
        outcome = evaluate_linking(gold, said, gates="strong_precision<=0 where language=nl")
        assert outcome.units.details["language"] == ["en", "nl"]
        (gate,) = (one for one in outcome.report.gates if one.metric == "linking.strong_precision")
        assert (gate.value, gate.verdict) == (0.0, "pass")


class TestInputs:
    def test_frames_with_a_row_a_candidate(self):
        gold = pl.DataFrame({"doc": ["d", "d"], "start": [0, 5], "end": [3, 8], "id": ["Q1", None]})
        said = pl.DataFrame(
            {
                "doc": ["d", "d", "d"],
                "start": [0, 0, 5],
                "end": [3, 3, 8],
                "id": ["Q9", "Q1", "NIL"],
                "score": [0.9, 0.4, 0.5],
            }
        )
        found = values(gold, said)
        assert (found["mrr"], found["nil_f1"]) == (0.5, 1.0)
        ranked = said.drop("score").with_columns(rank=pl.Series([2, 1, 1]))
        assert values(gold, ranked)["mrr"] == 1.0

    def test_heritage_entries_of_both_sides(self):
        entry = {
            "id": "h1",
            "text": "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800.",
            "ner_annotations": [
                {"text": "Rijksmuseum Amsterdam", "type": "GRP.HER.MUS", "start": 4, "end": 25}
            ],
            "entity_linking": {
                "Rijksmuseum Amsterdam": {"wikidata_id": "Q190804", "isil_code": "NL-AmRM"},
                "de collectie": {"wikidata_id": None},
            },
        }
        said = {
            "id": "h1",
            "entity_linking": {
                "Rijksmuseum Amsterdam": {"isil_code": "nl-amrm"},
                "de collectie": {"nil": True},
            },
        }
        found = report([entry], [said])
        assert found.metrics["linking.accuracy"].value == 1.0
        assert found.per_type["GRP.HER.MUS"]["n"] == 1

    def test_bad_records_are_refused_together_and_tolerated_on_request(self, tmp_path):
        gold = tmp_path / "gold.jsonl"
        gold.write_text(
            '{"id": "a", "mention": "A", "wikidata_id": "Q1"}\n'
            '{"id": "b", "mention": "B", "wikidata_id": "Rijksmuseum"}\n'
            '{"mention": "C"}\n'
        )
        said = predicted_of({"a": ["Q1"]})
        problems = refused(str(gold), said)
        assert problems == [
            f'{gold}:2: wikidata_id: "Rijksmuseum" is no Wikidata id, such as Q190804',
            f"{gold}:3: gold: missing; give wikidata_id, viaf_id, isil_code, ids or gold; "
            "null where it is NIL",
        ]
        found = report(gold, said, max_bad="2")
        assert found.coverage["rejected"] == 2
        assert found.finding_counts == {"bad_record": 2}

    def test_nothing_to_score_is_refused(self):
        strange = refused(gold_of({"a": "Q1"}), predicted_of({"z": ["Q1"]}))[0]
        assert "nothing to score" in strange
        assert strange.endswith('Gold has "a", the predictions "z"')
        assert "holds no gold link" in refused([], predicted_of({"a": ["Q1"]}))[0]
        assert "holds no prediction" in refused(gold_of({"a": "Q1"}), [])[0]

    def test_options_are_checked(self):
        with pytest.raises(UsageError, match="eval linking"):
            evaluate_linking(gold_of({"a": "Q1"}), predicted_of({"a": []}), duplicates="maybe")


ITSELF = [
    {"id": "a", "mention": "A", "gold_wikidata": "Q1", "gold_viaf": "11"},
    {"id": "b", "mention": "B", "gold_wikidata": None, "gold_viaf": None},
]


def test_a_file_against_itself_is_right_and_says_so(tmp_path):
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(map(json.dumps, ITSELF)))
    found = report(file, file)
    names = ("accuracy", "hits@1", "nil_f1", "coverage")
    assert [found.metrics[f"linking.{name}"].value for name in names] == [1.0] * 4
    assert found.finding_counts == {"gold_as_prediction": 2}


@pytest.mark.parametrize(
    "said", [{"wikidata_id": "Q9"}, {"candidates": ["Q9"]}, {"prediction": "Q9"}, {"nil": True}]
)
def test_gold_beside_a_prediction_is_never_taken_for_it(said):
    found = report(ITSELF[:1], [{**ITSELF[0], **said}])
    assert found.metrics["linking.accuracy"].value == 0.0
    assert "gold_as_prediction" not in found.finding_counts
