"""Linking against other ways to count: trec_eval's reciprocal rank, and real data by hand."""

import json
import random

import pytest
import pytrec_eval

from ragauge.runners.components.evaluate_linking import evaluate_linking
from tests.components.shared_data import shared


def values(gold, predicted, **options):
    metrics = evaluate_linking(gold, predicted, intervals=False, **options).report.metrics
    return {id.partition(".")[2]: score.value for id, score in metrics.items()}


@pytest.mark.parametrize("seed", range(5))
def test_reciprocal_rank_and_hits_as_trec_eval_counts_them(seed):
    """Scores tie often: trec_eval then takes the higher id first, and so do we."""
    draw = random.Random(seed)
    right = {
        f"m{n}": {f"Q{draw.randint(1, 30)}" for _ in range(draw.randint(1, 2))} for n in range(60)
    }
    run = {
        name: {f"Q{id}": draw.randint(0, 4) / 4 for id in draw.sample(range(1, 31), 12)}
        for name in right
        if draw.random() < 0.85
    }
    qrels = {name: dict.fromkeys(ids, 1) for name, ids in right.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "success"})
    found = evaluator.evaluate(run)
    gold = [{"id": name, "mention": name, "ids": sorted(ids)} for name, ids in right.items()]
    said = [
        {"id": name, "candidates": [{"id": id, "score": score} for id, score in scores.items()]}
        for name, scores in run.items()
    ]
    ours = values(gold, said)
    total = {name: sum(row[name] for row in found.values()) for name in next(iter(found.values()))}
    assert ours["mrr"] == pytest.approx(total["recip_rank"] / len(right), abs=1e-9)
    assert ours["mrr_answered"] == pytest.approx(total["recip_rank"] / len(run), abs=1e-9)
    for k in (1, 5, 10):
        assert ours[f"hits@{k}"] == total[f"success_{k}"] / len(right)


FAULTS = ("none", "none", "none", "missing", "wrong", "low", "nil", "moved")


class Perturbed:
    """MHERCL as a system with known faults would give it back, and what that comes to by hand."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.gold = [
            json.loads(line) for line in shared("mhercl/mhercl.jsonl").read_text().splitlines()
        ]
        self.ranks, self.answered = [], 0
        self.nil = {"both": 0, "gold": 0, "said": 0}
        self.links = {"right": 0, "overlapping": 0, "predicted": 0}
        self.places = {"both": 0, "gold": 0, "predicted": 0}
        self.predicted = [
            {"doc_id": text["doc_id"], "entities": list(self.answers(text))} for text in self.gold
        ]

    def answers(self, text):
        for entity in text["entities"]:
            in_kb = entity["qid"] != "NIL"
            self.places["gold"] += 1
            self.nil["gold"] += not in_kb
            fault = self.draw.choice(FAULTS)
            if fault == "missing":
                self.ranks += [None] * in_kb
                continue
            self.places["predicted"] += 1
            place = {"start": entity["start"], "end": entity["end"]}
            if fault == "moved":
                # Past the end of the text, so that no other mention has this place.
                place["end"] += 1000
                self.ranks += [None] * in_kb
            else:
                self.places["both"] += 1
                self.answered += 1
            yield {**place, **self.answer(entity["qid"], fault)}

    def answer(self, right, fault):
        """One answer, counted while it is made."""
        in_kb, joined = right != "NIL", fault != "moved"
        if fault == "nil" or (not in_kb and fault in ("none", "low", "moved")):
            self.nil["said"] += joined
            self.nil["both"] += joined and not in_kb
            self.ranks += [None] * (in_kb and joined)
            return {"nil": True}
        self.links["predicted"] += 1
        if fault == "wrong" or not in_kb:
            self.ranks += [None] * in_kb
            return {"candidates": ["Q0", "Q00"]}
        if fault == "low":
            self.ranks.append(rank := self.draw.randint(2, 12))
            return {"candidates": [*(f"Q0{n}" for n in range(1, rank)), right]}
        self.links["right"] += joined
        self.links["overlapping"] += 1
        self.ranks += [1] * joined
        return {"wikidata_id": f"http://www.wikidata.org/entity/{right}"}


def f1(both, gold, predicted):
    return 2 * both / (gold + predicted)


@pytest.mark.parametrize("seed", [1, 2])
def test_mhercl_with_known_faults_counts_as_by_hand(seed):
    made = Perturbed(seed)
    found = evaluate_linking(made.gold, made.predicted).report
    got = {id.partition(".")[2]: score.value for id, score in found.metrics.items()}
    ranks, nil, links, places = made.ranks, made.nil, made.links, made.places
    in_kb, mentions = len(ranks), places["gold"]
    assert (found.coverage["in_kb"], found.coverage["nil"]) == (848, 371) == (in_kb, nil["gold"])
    for k in (1, 5, 10):
        assert got[f"hits@{k}"] == sum(rank is not None and rank <= k for rank in ranks) / in_kb
    assert got["mrr"] == pytest.approx(sum(1 / rank for rank in ranks if rank) / in_kb)
    assert got["nil_precision"] == nil["both"] / nil["said"]
    assert got["nil_recall"] == nil["both"] / nil["gold"]
    assert got["nil_f1"] == f1(nil["both"], nil["gold"], nil["said"])
    assert got["accuracy"] == (nil["both"] + ranks.count(1)) / mentions
    assert got["coverage"] == made.answered / mentions
    assert got["strong_precision"] == links["right"] / links["predicted"]
    assert got["strong_recall"] == links["right"] / in_kb
    assert got["strong_f1"] == f1(links["right"], in_kb, links["predicted"])
    assert got["weak_precision"] == links["overlapping"] / links["predicted"]
    assert got["weak_f1"] == f1(links["overlapping"], in_kb, links["predicted"])
    assert got["mention_f1"] == f1(places["both"], places["gold"], places["predicted"])
    moved = places["predicted"] - places["both"]
    assert found.finding_counts["unknown_mention"] == found.coverage["unknown"] == moved
    assert found.coverage["missing"] == mentions - made.answered


def test_mhercl_against_itself_is_perfect():
    path = shared("mhercl/mhercl.jsonl")
    got = values(path, path)
    absent = {"consistency", "consistency_coverage", "hits@1_relaxed", "mrr_relaxed"}
    assert {name for name, value in got.items() if value is None} == absent
    assert all(value == 1.0 for name, value in got.items() if name not in absent)
