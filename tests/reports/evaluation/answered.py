"""Evaluations of answers made by hand; `text` stands where foreign text can."""

from __future__ import annotations

from ragauge.contracts.answers import Evidence, SentenceSupport
from ragauge.contracts.evaluation import (
    AnswerDetail,
    AnswerScored,
    AnswerShown,
    EvidenceText,
    HumanAgreement,
    ShownSentence,
)
from ragauge.contracts.judge import Usage
from tests.reports.evaluation.reports import advised, by_language, found, gate, report, score

CONTEXT = (
    "The national gallery opened its doors in The Hague on 31 May 1800. In 1808 it moved to the "
    "capital, on the order of the king. Cuypers designed the present building, which opened in "
    "1885."
)


def sentence(text, value, evidence=None, words=(), numbers=(), reason=None, chunk="museum#2"):
    """A sentence with its score, and the part of the context that comes nearest."""
    shown, place = None, None
    if evidence:
        start = CONTEXT.index(evidence) if evidence in CONTEXT else 0
        end = start + len(evidence)
        place = Evidence(chunk, start, end)
        shown = EvidenceText(
            chunk=chunk,
            before=CONTEXT[max(0, start - 90) : start],
            text=evidence,
            after=CONTEXT[end : end + 90],
        )
    support = SentenceSupport(
        text=text,
        start=0,
        end=len(text),
        score=value,
        evidence=place,
        unsupported_words=tuple(words),
        unsupported_numbers=tuple(numbers),
        reason=reason,
    )
    return ShownSentence(support=support, evidence=shown)


def shown(id, question, value, *sentences, kind="qa", **parts):
    known = {
        "id": id,
        "question": question,
        "answer": " ".join(one.support.text for one in sentences) or None,
        "kind": kind,
        "values": {
            "answers.groundedness": value,
            "answers.grounded": None if value is None else float(value >= 0.62),
            "answers.number_agreement": 0.5,
            "answers.token_recall": None,
            "answers.faithfulness": 0.25,
        },
        "reasons": {
            "answers.token_recall": "no reference",
            "answers.groundedness": "1 of 3 sentences is supported",
        },
        "sentences": sentences,
    }
    return AnswerShown(**{**known, **parts})


def worst(text=None):
    """A wrong year and place, a Chinese answer, a summary, no answer at all."""
    moved = "In 1808 it moved to the capital, on the order of the king"
    return (
        shown(
            text or "museum-17",
            text or "When was the Rijksmuseum founded, and where?",
            0.312,
            sentence(
                text or "The gallery was founded in 1834 in Berlin.",
                0.118,
                "opened its doors in The Hague on 31 May 1800",
                (text or "founded", "Berlin"),
                (text or "1834",),
                chunk=text or "museum#2",
            ),
            sentence("It moved to the capital in 1808, as the king had ordered.", 0.552, moved),
            sentence("Cuypers designed the building it has now.", 0.934, CONTEXT[124:165]),
            sentence("I hope this helps!", None, reason=text or "claims nothing"),
        ),
        shown(
            "zh-4",
            "阿姆斯特丹国立博物馆是什么时候建立的？",
            0.402,
            sentence(
                "博物馆于1834年在柏林建立，后来在国王的命令下迁往首都，并在那里收藏了许多重要的荷兰绘画作品和其他艺术品。",
                0.402,
                "In 1808 it moved to the capital",
                ("柏林", "艺术品"),
                ("1834年",),
            ),
        ),
        shown(
            "empty-2",
            "Who cleans the windows?",
            None,
            values={"answers.groundedness": None},
            reasons={"answers.groundedness": text or "no answer"},
        ),
        shown(
            "summary-9",
            None,
            0.611,
            *(
                sentence(f"Room {n} shows {n * 7} paintings of the sea.", 0.4 + n / 25, moved)
                for n in range(14)
            ),
            kind="summary",
        ),
        shown(
            "fine-1",
            "Who designed the building?",
            0.95,
            sentence("Cuypers designed it.", 0.95, "Cuypers designed the present building"),
        ),
    )


def agreement(metric, auroc=0.842, judge="small-judge", **parts):
    known = {
        "metric": metric,
        "judge": judge,
        "n": 412,
        "sources": 96,
        "base_rate": 0.617,
        "auroc": auroc,
        "auroc_ci": None if auroc is None else (auroc - 0.041, auroc + 0.037),
        "balanced_accuracy": 0.771,
        "kappa": 0.548,
        "ece": 0.083,
        "threshold": 0.61,
        "labels": "labels.jsonl sha256:9c56cc51",
    }
    return HumanAgreement(**{**known, **parts})


MEASURED = {
    "answers.groundedness": 0.731,
    "answers.grounded": 0.684,
    "answers.brief_faithfulness": 0.912,
    "answers.number_agreement": 0.861,
    "answers.token_recall": 0.644,
    "answers.containment": 0.401,
    "answers.token_f1": 0.382,
    "answers.rougeL": 0.344,
    "answers.edit_distance": 0.71,
    "answers.semantic_similarity": 0.77,
    "answers.relevance": 0.69,
    "answers.citation_precision": 0.58,
    "answers.lexical_faithfulness": 0.702,
    "answers.lexical_context_recall": 0.66,
    "answers.faithfulness": 0.755,
    "answers.context_recall": 0.7,
    "answers.rubric": 3.4,
    "answers.coverage": 0.99,
}


def scored(one):
    """The row of an answer that is shown: right where every sentence is supported."""
    told = [sentence.support for sentence in one.sentences]
    missing = [
        word for each in told for word in (*each.unsupported_numbers, *each.unsupported_words)
    ]
    levels = [each.score for each in told if each.score is not None]
    return AnswerScored(
        id=one.id,
        question=one.question,
        answer=one.answer,
        kind=one.kind,
        right=one.answer is not None and min(levels, default=0) >= 0.4,
        values=one.values,
        reasons=one.reasons,
        unsupported=tuple(missing),
    )


def detail(text=None, **parts):
    known = {
        "judge": text or "small-judge",
        "embedder": "ngram",
        "groundedness": "groundedness/1",
        "kinds": {"qa": 80, "summary": 20, "data_to_text": 3},
        "refusals": 4,
        "errors": 1,
        "worst": worst(text),
        "answers": tuple(map(scored, parts.get("worst", worst(text)))),
        "unsupported": {text or "1834": 7, "Berlin": 4, "founded": 4},
        "usage": Usage(
            calls=412, cached=120, prompt_tokens=1_204_331, completion_tokens=80_112, cost=0.4231
        ),
        "agreement": (
            agreement("answers.faithfulness", labels=text or "labels.jsonl sha256:9c56cc51"),
            agreement("answers.groundedness", 0.861, "groundedness/1"),
        ),
    }
    return AnswerDetail(**{**known, **parts})


def answered(text=None, task="answers", **parts):
    metrics = {
        id: score(value, 98 if "faithful" in id else 103, 103) for id, value in MEASURED.items()
    } | {
        f"answers.{name}": score(None, 0, 103, text or "no row has a dated reference")
        for name in ("date_agreement", "factual_accuracy")
    }
    gates = (
        gate("answers.groundedness", 0.80, 0.731, 98, reason=text),
        gate("answers.number_agreement", 0.85, 0.861, 103),
    )
    units = "answers" if task == "answers" else "questions"
    known = {
        "per_stratum": by_language(["answers.groundedness", "answers.token_recall"], text),
        "coverage": {units: 103, "answered": 102, "refusals": 4, "errors": 1},
        **found(text, "no_answer", 1),
        **advised(text),
    }
    return report(task, metrics, gates, parts.pop("detail", detail(text)), **{**known, **parts})


def plain(**parts):
    """A small evaluation without a judge, as most are."""
    kept = ("answers.groundedness", "answers.grounded", "answers.number_agreement")
    metrics = {id: score(MEASURED[id], 12, 12) for id in kept} | {
        f"answers.{name}": score(None, 0, 12, "no row has a reference")
        for name in ("exact_match", "token_f1", "content_f1", "containment", "rougeL", "chrf")
    }
    known = {
        "judge": None,
        "usage": None,
        "agreement": (),
        "kinds": {"qa": 12},
        "refusals": 0,
        "errors": 0,
    }
    return report("answers", metrics, (), detail(**known), **{"coverage": {"answers": 12}, **parts})


def nothing_answered():
    """A report of rows that hold nothing: every number absent."""
    empty = detail(
        judge=None,
        embedder=None,
        groundedness=None,
        kinds={},
        refusals=0,
        errors=0,
        worst=(),
        unsupported={},
        usage=None,
        agreement=(),
    )
    metric = "answers.groundedness"
    return report(
        "answers",
        {metric: score(None, 0, 0, "nothing to evaluate")},
        (gate(metric, 0.8, None, 0, reason="nothing to evaluate"),),
        empty,
        coverage={},
    )
