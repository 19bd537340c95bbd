"""Evaluations made by hand, as they come from real ones; `text` stands where foreign text can."""

from __future__ import annotations

from ragauge.contracts.evaluation import (
    ComparedMetric,
    Confusion,
    EntityDetail,
    EntityError,
    EvalAllReport,
    EvalReport,
    KbPair,
    LabelDetail,
    LevelScore,
    LinkDetail,
    LinkError,
    MatchCounts,
    QueryRow,
    RankingDetail,
    ShownSpan,
    SourceShare,
    SummaryNumber,
    TaskFailure,
    TokenCounts,
    TypeShare,
)
from ragauge.contracts.report import Advice, Finding, Score, Verdict

LETTERS = tuple("GLAMORCUBESFIXPHDNT")
SENTENCE = (
    "Het Rijksmuseum Amsterdam (ISIL: NL-AmRM) werd opgericht in 1800 en beheert de grootste "
    "collectie Nederlandse kunst."
)


def score(value, n=120, of=120, reason=None, margin=0.04):
    ci = None if value is None else (max(0.0, value - margin), min(1.0, value + margin))
    return Score(value=value, n=n, of=of, ci=ci, reason=reason)


def gate(metric, bound, value, n=120, op=">=", reason=None):
    holds = value is not None and (value == bound if op == "=" else value >= bound)
    return Verdict(
        rule=f"{metric}{op}{bound:g}",
        metric=metric,
        op=op,
        bound=bound,
        value=value,
        n=n,
        ci=None if value is None else (max(0.0, value - 0.04), min(1.0, value + 0.04)),
        verdict="not_evaluated" if value is None else "pass" if holds else "fail",
        reason=reason,
    )


def report(task, metrics, gates, detail, /, **parts):
    known = {
        "passed": all(one.holds for one in gates),
        "task": task,
        "metrics": metrics,
        "gates": tuple(gates),
        "per_type": {},
        "per_stratum": {},
        "detail": detail,
        "findings": (),
        "finding_counts": {},
        "coverage": {"units": 120},
        "identity": {"command": f"eval {task}", "gold_sha256": "2f7d9a"},
    }
    return EvalReport(**{**known, **parts})


def by_language(ids, text=None):
    """Headline metrics for three languages, one of them seen twice."""
    values = {"nl": (70, 0.83), text or "en": (48, 0.74), "de": (2, 0.5)}
    return {
        text or "language": {
            value: {id: score(at - 0.01 * place, n, n) for place, id in enumerate(ids)}
            for value, (n, at) in values.items()
        }
    }


def found(text, code="duplicate_prediction", times=7):
    places = tuple(
        Finding(code, f"{text or 'predicted.jsonl'}:{n}", text or "doc-3 is predicted twice")
        for n in (4, 9)
    )
    return {"findings": places, "finding_counts": {code: times}}


def advised(text):
    one = Advice(
        id="a",
        title=text or "Longer spans than gold",
        evidence=text or "31 boundaries are wrong, 24 of them too long.",
        confirm=text or "Read ten of them.",
        action=text or "Teach the tagger where a name ends.",
        questions=(text or "heritage-001",),
    )
    return {"advice": (one,)}


def matched(correct, incorrect, partial, missed, spurious):
    gold, predicted = (
        correct + incorrect + partial + missed,
        correct + incorrect + partial + spurious,
    )
    hit = correct + partial / 2
    precision, recall = hit / predicted, hit / gold
    return MatchCounts(
        correct=correct,
        incorrect=incorrect,
        partial=partial,
        missed=missed,
        spurious=spurious,
        precision=precision,
        recall=recall,
        f1=2 * precision * recall / (precision + recall),
    )


def tokens(tp, fp, fn):
    return TokenCounts(
        tp=tp,
        fp=fp,
        fn=fn,
        precision=tp / (tp + fp) if tp + fp else None,
        recall=tp / (tp + fn) if tp + fn else None,
        f1=2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None,
    )


def span(start, end, type, text=SENTENCE):
    return ShownSpan(start=start, end=end, type=type, text=text[start:end])


def entity_errors(text=None):
    """One of each kind in the heritage sentence, and more that were missed."""

    def error(kind, gold, predicted, document="heritage-001"):
        spans = [one for one in (gold, predicted) if one]
        start, end = min(one.start for one in spans), max(one.end for one in spans)
        return EntityError(
            kind=kind,
            document=document,
            gold=gold,
            predicted=predicted,
            before=SENTENCE[max(0, start - 40) : start],
            after=SENTENCE[end : end + 40],
            where="gold.jsonl:1",
        )

    named = text or "GRP.HER.MUS"
    return (
        error("boundary", span(4, 25, named), span(4, 15, named)),
        error("type", span(33, 40, "IDENTIFIER"), span(33, 40, named)),
        error("boundary_and_type", span(60, 64, "TMP"), span(57, 64, "TOP")),
        error("spurious", None, span(98, 109, "TOP")),
        *(error("missed", span(60, 64, "TMP"), None, f"heritage-{n:03d}") for n in range(2, 9)),
        EntityError(
            kind="missed",
            document=text or "placed-only",
            gold=ShownSpan(start=10, end=24, type="TOP", text=None),
            predicted=None,
            before=text or "",
            after=text or "",
            where=f"{text or 'gold.tsv'}:12",
        ),
        EntityError(
            kind="boundary",
            document="overlapping",
            gold=ShownSpan(start=0, end=10, type=named, text=(text or "x" * 10)[:10].ljust(10)),
            predicted=ShownSpan(start=0, end=12, type=named, text=text),
            before="",
            after="",
            where="gold.jsonl:8",
        ),
    )


def ner(text=None, **parts):
    types = {
        text or "GRP.HER.MUS": (120, 0.91),
        "GRP.HER.ARC": (84, 0.84),
        "GRP.HER.LIB": (60, 0.78),
        "TOP": (210, 0.72),
        "TMP": (150, 0.66),
        "IDENTIFIER": (33, 0.41),
    }
    schemas = {
        "strict": matched(480, 60, 0, 117, 74),
        "exact": matched(510, 30, 0, 117, 74),
        "semeval_partial": matched(510, 0, 30, 117, 74),
        "ent_type": matched(545, 31, 0, 81, 38),
    }
    errors = entity_errors(text)
    detail = EntityDetail(
        matching="best",
        schemas=schemas,
        tokens=tokens(1402, 230, 310),
        levels=(
            LevelScore(level=1, types=4, f1_strict=0.79, f1_partial=0.88),
            LevelScore(level=2, types=4, f1_strict=0.77, f1_partial=0.87),
            LevelScore(level=3, types=6, f1_strict=0.748, f1_partial=0.861),
        ),
        layers={"literal": schemas, text or "metonymic": schemas},
        distribution={
            type: TypeShare(gold=gold, predicted=round(gold * rate), ratio=round(rate, 4))
            for type, (gold, rate) in types.items()
        }
        | {"SPUR": TypeShare(gold=0, predicted=12, ratio=None)},
        token_types={type: tokens(gold, 20, 30) for type, (gold, _) in types.items()},
        error_counts={
            "missed": 87,
            "spurious": 44,
            "boundary": 31,
            "type": 22,
            "boundary_and_type": 8,
        },
        errors=errors,
    )
    metrics = {
        "entities.f1_strict": score(0.7484),
        "entities.precision_strict": score(0.7818),
        "entities.recall_strict": score(0.7306),
        "entities.f1_partial": score(0.8612),
        "entities.f1_strict_macro": score(0.7021),
        "entities.f1_strict_macro_union": score(0.6018),
        "entities.token_f1": score(0.8385),
        "entities.f1_strict_doc": score(None, 0, 120, text or "no document has entities"),
        "entities.coverage": score(1.0),
        "entities.strict.tp": Score(value=480.0, n=120, of=120),
    }
    gates = (
        gate("entities.f1_strict", 0.85, 0.7484, reason=text),
        gate("entities.f1_partial", 0.90, 0.8612),
        gate("entities.coverage", 1, 1.0, op="="),
    )
    known = {
        "per_type": {
            type: {
                "support": float(gold),
                "tp": float(round(gold * rate)),
                "fp": 12.0,
                "fn": float(gold - round(gold * rate)),
                "precision": rate + 0.02,
                "recall": rate - 0.02,
                "f1": rate,
            }
            for type, (gold, rate) in types.items()
        }
        | {
            "SPUR": {
                "support": 0.0,
                "tp": 0.0,
                "fp": 12.0,
                "fn": 0.0,
                "precision": 0.0,
                "recall": None,
                "f1": None,
            }
        },
        "per_stratum": by_language(["entities.f1_strict", "entities.f1_partial"], text),
        "coverage": {"documents": 120, "predicted": 118, "missing": 2, "unknown": 0},
        **found(text),
        **advised(text),
    }
    return report("ner", metrics, gates, detail, **{**known, **parts})


def matrix_of(labels):
    """Mostly right; every label has its own way of being taken for others."""
    size = len(labels)
    rows = []
    for row in range(size):
        counts = [0] * size
        if labels[row] not in ("MISSING", "X", "P"):
            counts[row] = 30 + 3 * (row % 7)
            counts[(row + 1) % size] += 4 + row % 5
            counts[(row + 5) % size] += row % 3
        rows.append(tuple(counts))
    return tuple(rows)


def types(labels=(*LETTERS, "OTHER", "MISSING"), text=None, **parts):
    labels = tuple(labels) if text is None else (text, *labels[1:])
    matrix = matrix_of(labels)
    total = sum(map(sum, matrix))
    wrong = sorted(
        (
            (-count, labels[row], labels[column], count / sum(matrix[row]))
            for row in range(len(labels))
            for column, count in enumerate(matrix[row])
            if row != column and count
        ),
    )
    right = sum(matrix[place][place] for place in range(len(labels)))
    groups = ("CULTURAL", "INSTITUTIONAL", text or "COMMUNITY", "UNKNOWN")
    detail = LabelDetail(
        label_set=text or "heritage",
        labels=labels,
        matrix=matrix,
        absent_labels=2,
        errors=total - right,
        distinct_confusions=len(wrong),
        confusions=tuple(
            Confusion(
                gold=gold,
                predicted=predicted,
                count=-count,
                share=share,
                examples=(text or "item-0012", "item-0104"),
            )
            for count, gold, predicted, share in wrong
        ),
        categories=groups,
        category_matrix=((200, 12, 4, 0), (9, 140, 3, 1), (0, 5, 99, 2), (1, 0, 2, 30)),
    )
    accuracy = right / total
    metrics = {
        "labels.accuracy": score(accuracy, total, total),
        "labels.accuracy_lenient": score(accuracy + 0.03, total, total),
        "labels.macro_f1": score(0.8011, total, total),
        "labels.macro_f1_all": score(0.7168, total, total),
        "labels.weighted_f1": score(0.82, total, total),
        "labels.category_accuracy": score(0.901, total, total),
        "labels.category_gap": score(0.901 - accuracy, total, total),
        "labels.hierarchical_precision": score(0.88, total, total),
        "labels.hierarchical_recall": score(0.87, total, total),
        "labels.hierarchical_f1": score(0.875, total, total),
        "labels.coverage": score(0.99, total, total),
    }
    gates = (
        gate("labels.accuracy", 0.80, accuracy, total),
        gate("labels.macro_f1", 0.75, 0.8011, total),
        gate("labels.coverage", 1, 0.99, total, "=", text),
    )
    known = {
        "per_type": {
            label: {
                "support": float(sum(matrix[row])),
                "predicted": float(sum(line[row] for line in matrix)),
                "precision": 0.8 if sum(matrix[row]) else None,
                "recall": matrix[row][row] / sum(matrix[row]) if sum(matrix[row]) else None,
                "f1": 0.78 if sum(matrix[row]) else None,
            }
            for row, label in enumerate(labels)
        },
        "per_stratum": by_language(["labels.accuracy", "labels.macro_f1"], text),
        "coverage": {"items": total, "missing": 4},
        **found(text),
    }
    return report("types", metrics, gates, detail, **{**known, **parts})


def linking(text=None, **parts):
    context = "In 1885 verhuisde het Rijksmuseum naar het gebouw van Cuypers, Stadhouderskade."

    def error(kind, mention, gold, predicted, rank=None, context=context):
        return LinkError(
            kind=kind,
            key=f"doc-7:{len(mention)}–{len(mention) + 11}",
            mention=mention,
            gold=gold,
            predicted=predicted,
            rank=rank,
            context=context,
            where="gold.jsonl:7",
        )

    detail = LinkDetail(
        in_kb=425,
        nil=75,
        missing=6,
        ranks={"1": 301, "2-5": 61, "6-10": 14, "beyond": 9, "none": 40},
        kb_pairs={
            "viaf-isil": KbPair(of=7, comparable=0, agree=0, agreement=None),
            "wikidata-isil": KbPair(of=110, comparable=88, agree=84, agreement=84 / 88),
            text or "wikidata-viaf": KbPair(of=150, comparable=120, agree=111, agreement=111 / 120),
        },
        error_counts={
            "wrong": 40,
            "ranked_low": 84,
            "not_linked": 11,
            "should_be_nil": 21,
            "missing": 6,
        },
        errors=(
            error("ranked_low", "Rijksmuseum", ("wikidata:Q190804",), ("Q1", "Q190804"), 2),
            error("wrong", "Cuypers", ("wikidata:Q551593", "viaf:1"), ("wikidata:Q99",)),
            error("not_linked", "Stadhouderskade", ("wikidata:Q1",), ()),
            error("should_be_nil", text or "het gebouw", (), tuple(f"Q{n}" for n in range(9))),
            error("missing", "Paviljoen Welgelegen", ("wikidata:Q2",), (), None, text),
        ),
    )
    metrics = {
        "linking.hits@1": score(0.7082, 425, 425),
        "linking.hits@5": score(0.8518, 425, 425),
        "linking.hits@10": score(0.8847, 425, 425),
        "linking.mrr": score(0.7701, 425, 425),
        "linking.accuracy": score(0.716, 500, 500),
        "linking.nil_precision": score(0.7397, 500, 500),
        "linking.nil_recall": score(0.72, 500, 500),
        "linking.nil_f1": score(0.7297, 500, 500),
        "linking.strong_precision": score(0.70, 500, 500),
        "linking.strong_recall": score(0.69, 500, 500),
        "linking.strong_f1": score(0.695, 500, 500),
        "linking.weak_f1": score(None, 0, 500, text or "no mention has a place"),
        "linking.mention_f1": score(0.88, 500, 500),
        "linking.consistency": score(0.9375, 208, 500),
        "linking.consistency_coverage": score(0.416, 500, 500),
        "linking.coverage": score(0.988, 500, 500),
    }
    gates = (
        gate("linking.hits@1", 0.70, 0.7082, 425),
        gate("linking.mrr", 0.75, 0.7701, 425),
        gate("linking.nil_f1", 0.65, None, 0, reason=text or "no NIL mention"),
        gate("linking.coverage", 1, 0.988, 500, "="),
    )
    known = {
        "per_stratum": by_language(["linking.hits@1", "linking.mrr", "linking.nil_f1"], text),
        "coverage": {"mentions": 500, "in_kb": 425, "nil": 75, "missing": 6},
        **found(text, "duplicate_prediction"),
    }
    return report("linking", metrics, gates, detail, **{**known, **parts})


def compared(metric, value, other, p, adjusted, reason=None, n_zero=11, run="bm25.run"):
    change = None if value is None or other is None else value - other
    return ComparedMetric(
        run=run,
        metric=metric,
        value=value,
        other=other,
        estimate=change,
        ci=None if change is None else (change - 0.03, change + 0.03),
        p=p,
        p_adjusted=adjusted,
        n=50,
        n_zero=n_zero,
        method="randomisation",
        seed=7,
        effect=0.31 if change else None,
        better=24,
        worse=15,
        reason=reason,
    )


def retrieval(text=None, queries=50, **parts):
    rows = tuple(
        QueryRow(
            query=text if text is not None and n == 0 else f"q{n:03d}",
            retrieved=100,
            relevant=0 if n == 7 else 4 + n % 9,
            relevant_retrieved=0 if n in (0, 7) else 2 + n % 4,
            first_relevant=None if n in (0, 7) else 1 + n % 12,
            values={
                "retrieval.ndcg@10": None if n == 7 else (n * 37 % 101) / 100 if n else 0.0,
                "retrieval.p@10": None if n == 7 else (n % 10) / 10,
                "retrieval.recall@10": None if n == 7 else (n % 8) / 8,
                "retrieval.rr": None if n == 7 else 1 / (1 + n % 12),
            },
        )
        for n in range(queries)
    )
    scored = sorted((row.values["retrieval.ndcg@10"], row.query) for row in rows if row.relevant)
    detail = RankingDetail(
        queries=rows,
        worst=tuple(query for _, query in scored[:5]),
        sources={
            "bm25": SourceShare(
                share=0.61, top1=0.7, top5=0.64, relevant=120, unique_relevant=44, precision=0.21
            ),
            text or "dense": SourceShare(
                share=0.39, top1=0.3, top5=0.36, relevant=98, unique_relevant=22, precision=0.18
            ),
        },
        overlap={text or "bm25 + dense": 76},
        compared=(
            compared("retrieval.ndcg@10", 0.512, 0.441, 0.003, 0.006, run=text or "bm25.run"),
            compared("retrieval.rr", 0.603, 0.611, 0.41, 0.41, run=text or "bm25.run"),
            compared("retrieval.p@10", 0.3, 0.4, 0.0001, 0.0002, run=text or "bm25.run"),
            compared("retrieval.ap", 0.31, 0.31, 1.0, 1.0, n_zero=50, run=text or "bm25.run"),
            compared(
                "retrieval.rbp",
                None,
                None,
                None,
                None,
                text or "not in the other run",
                run=text or "bm25.run",
            ),
        ),
        correction="holm",
    )
    metrics = {
        f"retrieval.{name}@{cut}": score(base + 0.01 * place, queries - 1, queries)
        for name, base in (("ndcg", 0.49), ("ndcg_exp", 0.46), ("p", 0.3), ("recall", 0.4))
        for place, cut in enumerate((5, 10, 20))
    } | {
        "retrieval.rr": score(0.603, queries - 1, queries),
        "retrieval.ap": score(0.31, queries - 1, queries),
        "retrieval.p(rel=2)@5": score(0.21, queries - 1, queries),
        "retrieval.rprec": score(0.3, queries - 1, queries),
        "retrieval.bpref": score(None, 0, queries, text or "nothing is judged not relevant"),
        "retrieval.coverage": score(1.0, queries, queries),
    }
    gates = (
        gate("retrieval.ndcg_exp@10", 0.60, 0.47, queries - 1),
        gate("retrieval.rr", 0.55, 0.603, queries - 1),
        gate("retrieval.coverage", 1, 1.0, queries, "="),
    )
    known = {
        "per_stratum": by_language(
            ["retrieval.ndcg@10", "retrieval.ndcg_exp@10", "retrieval.rr", "retrieval.recall@10"],
            text,
        ),
        "coverage": {"queries": queries, "retrieved": queries, "no_relevant": 1},
        **found(text, "rank_and_score_disagree", 3),
    }
    return report("retrieval", metrics, gates, detail, **{**known, **parts})


MAKERS = {"ner": ner, "types": types, "linking": linking, "retrieval": retrieval}


def hostile(task, text):
    """The report of a task with the text wherever foreign text can stand."""
    return MAKERS[task](text=text)


def nothing(task):
    """A report of an empty gold set: every number absent, no rows, and a verdict all the same."""
    details = {
        "ner": EntityDetail(
            matching="best",
            schemas={},
            tokens=tokens(0, 0, 0),
            levels=(),
            layers={},
            distribution={},
            token_types={},
            error_counts={},
            errors=(),
        ),
        "types": LabelDetail(
            label_set="heritage",
            labels=(),
            matrix=(),
            absent_labels=0,
            errors=0,
            distinct_confusions=0,
            confusions=(),
        ),
        "linking": LinkDetail(
            in_kb=0, nil=0, missing=0, ranks={}, kb_pairs={}, error_counts={}, errors=()
        ),
        "retrieval": RankingDetail(
            queries=(), worst=(), sources={}, overlap={}, compared=(), correction=None
        ),
    }
    family = {"ner": "entities", "types": "labels", "linking": "linking", "retrieval": "retrieval"}
    metric = f"{family[task]}.coverage"
    return report(
        task,
        {metric: score(None, 0, 0, "nothing to evaluate")},
        (gate(metric, 1, None, 0, "=", "nothing to evaluate"),),
        details[task],
        coverage={},
    )


def everything(text=None, **parts):
    """All tasks of a model, of which one failed and one has numbers without a report."""
    tasks = {"ner": ner(text), "types": types(text=text), "retrieval": retrieval(text)}

    def number(metric, value, n=120, reason=None):
        return SummaryNumber(
            metric=metric,
            value=value,
            n=n,
            ci=None if value is None else (value - 0.03, value + 0.03),
            reason=reason,
        )

    failed = text or "the knowledge base could not be read"
    known = {
        "passed": False,
        "model": text or "baseline",
        "summary": {
            "ner_f1_strict": number("entities.f1_strict", 0.7484),
            "ner_f1_partial": number("entities.f1_partial", 0.8612),
            "type_accuracy": number("labels.accuracy", 0.8401),
            "type_macro_f1": number("labels.macro_f1", 0.8011),
            "linking_hits_1": number("linking.hits@1", None, 0, failed),
            "linking_mrr": number("linking.mrr", None, 0, failed),
            "retrieval_ndcg_10": number("retrieval.ndcg@10", 0.5),
            "qa_faithfulness": number("answers.grounding", 0.71, 80),
        },
        "metrics": {
            **{id: one for made in tasks.values() for id, one in made.metrics.items()},
            "answers.grounding": score(0.71, 80, 80),
        },
        "gates": tuple(one for made in tasks.values() for one in made.gates),
        "tasks": tasks,
        "failures": (TaskFailure(task="linking", error=failed),),
        **found(text, "task_failed", 1),
        "coverage": {"tasks": 5, "evaluated": 4, "failed": 1},
        "identity": {"command": "eval all", "model": text or "baseline"},
    }
    return EvalAllReport(**{**known, **parts})
