"""What is timed: Ragauge and the field's own tool on the same input, each giving one number."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchmarks.component_files import LABELS, TYPES, Span, entities, labels, write_rankings

QUERIES, DEPTH = 10_000, 100
DOCUMENTS = 20_000
ITEMS = 100_000
MEASURES = ("nDCG@10", "P@5", "R@20", "RR", "AP")


class Case(NamedTuple):
    """A comparison: what both tools are given, and how each comes to its number."""

    prepare: Callable[[Path, float], Any]
    ours: Callable[[Any], float]
    peer: Callable[[Any], float]
    wanted: str


def rankings(folder: Path, share: float) -> tuple[str, str]:
    qrels, run = write_rankings(folder, round(QUERIES * share), DEPTH)
    return str(qrels), str(run)


def ragauge_rankings(files: tuple[str, str]) -> float:
    from ragauge import evaluate_retrieval

    made = evaluate_retrieval(*files, measures=MEASURES, no_rel="zero", intervals=False)
    return made.report.metrics["retrieval.ndcg@10"].value or 0.0


def pytrec_eval_rankings(files: tuple[str, str]) -> float:
    import pytrec_eval

    wanted = {"ndcg_cut.10", "P.5", "recall.20", "recip_rank", "map"}
    with Path(files[0]).open() as judged, Path(files[1]).open() as ranked:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), wanted)
        values = evaluator.evaluate(pytrec_eval.parse_run(ranked))
    return sum(one["ndcg_cut_10"] for one in values.values()) / len(values)


def ir_measures_rankings(files: tuple[str, str]) -> float:
    import ir_measures

    wanted = [ir_measures.parse_measure(name) for name in MEASURES]
    judged, ranked = ir_measures.read_trec_qrels(files[0]), ir_measures.read_trec_run(files[1])
    return float(ir_measures.calc_aggregate(wanted, judged, ranked)[wanted[0]])


Spans = tuple[list[list[Span]], list[list[Span]]]


class Annotated(NamedTuple):
    """The same entities three times: as our records and columns, and as nervaluate's spans."""

    records: tuple[list[dict[str, Any]], ...]
    columns: tuple[Any, ...]
    inclusive: Spans


def annotated(folder: Path, share: float) -> Annotated:
    from ragauge.contracts.entities import Entity
    from ragauge.metrics.entity_kernel import columns_of

    spans = entities(round(DOCUMENTS * share))
    ids = [str(place) for place in range(len(spans[0]))]

    def columns(side: list[list[Span]]) -> Any:
        made = [
            [Entity(start=s["start"], end=s["end"], type=s["label"]) for s in one] for one in side
        ]
        return columns_of(made, ids)

    return Annotated(
        tuple(
            [{"id": id, "entities": one} for id, one in zip(ids, side, strict=True)]
            for side in spans
        ),
        tuple(columns(side) for side in spans),
        (_inclusive(spans[0]), _inclusive(spans[1])),
    )


def _inclusive(side: list[list[Span]]) -> list[list[Span]]:
    """nervaluate counts the last character in."""
    return [[{**span, "end": span["end"] - 1} for span in one] for one in side]


def record_values(given: Annotated) -> float:
    return _strict_f1(given.records)


def column_values(given: Annotated) -> float:
    return _strict_f1(given.columns)


def _strict_f1(given: tuple[Any, ...]) -> float:
    from ragauge import ner_values

    return ner_values(*given)["entities.f1_strict"] or 0.0


def record_report(given: Annotated) -> float:
    from ragauge import evaluate_ner

    made = evaluate_ner(*given.records, intervals=False)
    return made.report.metrics["entities.f1_strict"].value or 0.0


def nervaluate_spans(given: Annotated) -> float:
    from nervaluate import Evaluator

    results = Evaluator(*given.inclusive, tags=list(TYPES), loader="dict").evaluate()
    return float(results["overall"]["strict"].f1)


class Labels(NamedTuple):
    """The same labels as two lists side by side, by id, as records and in files of records."""

    lists: tuple[list[str], list[str]]
    by_id: tuple[dict[str, str], dict[str, str]]
    records: tuple[list[dict[str, str]], list[dict[str, str]]]
    files: tuple[str, str]


def typed(folder: Path, share: float) -> Labels:
    gold, predicted = labels(round(ITEMS * share))
    ids = [f"item-{place}" for place in range(len(gold))]
    by_id = dict(zip(ids, gold, strict=True)), dict(zip(ids, predicted, strict=True))
    gold_records, predicted_records = (
        [{"id": id, "label": label} for id, label in side.items()] for side in by_id
    )
    paths = []
    for name, records in (("gold", gold_records), ("predicted", predicted_records)):
        paths.append(folder / f"labels-{name}.jsonl")
        paths[-1].write_bytes(msgspec.json.Encoder().encode_lines(records))
    files = str(paths[0]), str(paths[1])
    return Labels((gold, predicted), by_id, (gold_records, predicted_records), files)


def list_values(given: Labels) -> float:
    from ragauge.contracts.labels import LabelSet
    from ragauge.metrics.label_sums import label_patterns, label_values

    patterns = label_patterns(LabelSet(name="letters", labels=LABELS), *given.lists)
    patterns.matrix()
    return label_values(patterns)["labels.macro_f1"] or 0.0


def values_by_id(given: Labels) -> float:
    from ragauge import types_values

    return types_values(*given.by_id)["labels.macro_f1"] or 0.0


def label_report(given: Labels, form: str = "by_id") -> float:
    from ragauge import evaluate_types

    made = evaluate_types(*getattr(given, form), intervals=False)
    return made.report.metrics["labels.macro_f1"].value or 0.0


def sklearn_labels(given: Labels) -> float:
    from sklearn.metrics import classification_report, confusion_matrix

    confusion_matrix(*given.lists)
    return float(classification_report(*given.lists, output_dict=True)["macro avg"]["f1-score"])


CASES = {
    "rankings from TREC files, whole report; pytrec_eval": Case(
        rankings, ragauge_rankings, pytrec_eval_rankings, "3"
    ),
    "rankings from TREC files, whole report; ir_measures": Case(
        rankings, ragauge_rankings, ir_measures_rankings, ""
    ),
    "entities from records, values; nervaluate": Case(
        annotated, record_values, nervaluate_spans, "12"
    ),
    "entities from arrays, values; nervaluate": Case(
        annotated, column_values, nervaluate_spans, "25"
    ),
    "entities from records, whole report; nervaluate": Case(
        annotated, record_report, nervaluate_spans, ""
    ),
    "labels in two lists, values and matrix; scikit-learn": Case(
        typed, list_values, sklearn_labels, "20"
    ),
    "labels joined by id, values; scikit-learn": Case(typed, values_by_id, sklearn_labels, ""),
    "labels by id, whole report; scikit-learn": Case(typed, label_report, sklearn_labels, "1"),
    "labels in records, whole report; scikit-learn": Case(
        typed, partial(label_report, form="records"), sklearn_labels, "1"
    ),
    "labels in JSON Lines, whole report; scikit-learn": Case(
        typed, partial(label_report, form="files"), sklearn_labels, "1"
    ),
}
