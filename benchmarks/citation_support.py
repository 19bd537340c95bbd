"""Citation support beside what people said of claims and the passages they cite.

Scores are out of fold: no coefficient saw the question of the claim it scores. The folder with the
sets of human judgements is the first argument, or the one beside the project.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from benchmarks.peers.environments import ROOT
from benchmarks.results import table, write_section
from ragauge.contracts.answers import AnswerRow, Context
from ragauge.contracts.metric import Row
from ragauge.grounding.cited import SUPPORTED, citation_support
from ragauge.grounding.model import Model, Weights, shipped
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.groundedness import citation_recall
from ragauge.stats.discrimination import (
    auroc,
    balanced_accuracy,
    interval_over_groups,
    rank_correlation,
    value_of,
)
from training.datasets import judged_rows
from training.groundedness import Example, examples, fit_sentences

if TYPE_CHECKING:
    from ragauge.stats.discrimination import Statistic

DEFAULT_FOLDER = ROOT.parent / "shared" / "data"
TITLE = "Citation support"
FOLDS = 10
EXPERTS = "ExpertQA, citations of whole answers"

ABOUT = f"""\
Human judgements of whether cited passages support a claim: the sets of AttributionBench, a claim \
with its references, and ExpertQA's answers, whose experts call the support of each claim \
Complete, Partial, Incomplete or Missing (the claim cites nothing). Supported is what is called \
attributable, or Complete; claims whose support the experts call N/A, and those without a \
reference to compare with, are left out and counted. The score of a claim is that of its least \
supported sentence against all that it cites. AUROC and balanced accuracy, at the shipped \
threshold of {SUPPORTED:g}, with intervals at 95 % over questions. Out of fold: the coefficients \
were fitted without the questions of the claims they score, {FOLDS} folds; the rules and word \
lists were written with AttributionBench's claims in view, so that its figures flatter. *Length* \
is the control that reads no passage: shorter claims first."""
UNCITED = """\
On ExpertQA's answers words tell little: the interval of the AUROC reaches down to chance. Why is \
not known. The last row counts every claim of these answers: one that cites nothing has the score \
0, so that it tells more of who cites at all than of support."""


class Claim(Struct, frozen=True, kw_only=True):
    """A claim, the passages it cites, and what people said."""

    name: str
    question: str
    text: str
    references: tuple[str, ...]
    supported: bool


class Scored(Struct, frozen=True, kw_only=True):
    claim: Claim
    score: float


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    answers = list(lines(folder / "expertqa_citations/answers.jsonl"))
    claims = [*attribution(folder), *experts(answers)]
    models = models_of(folder, [claim.question for claim in claims])
    began = process_time()
    scored = [one for claim in claims for one in score_of(claim, models[claim.question])]
    seconds = process_time() - began
    parts = [
        ABOUT,
        agreement_table(scored),
        UNCITED,
        left_out(claims, scored, answers),
        per_answer(answers, models),
        f"{len(scored) / seconds:,.0f} claims a CPU second, each with its passages read anew.",
    ]
    print("\n\n".join(parts))
    write_section(TITLE, parts)


def attribution(folder: Path) -> Iterator[Claim]:
    for row in lines(folder / "attribution/claims.jsonl"):
        yield Claim(
            name=row["src"],
            question=row["question"],
            text=row["claim"],
            references=tuple(row["references"]),
            supported=row["attributable"],
        )


def experts(answers: Sequence[dict[str, Any]]) -> Iterator[Claim]:
    """The judged claims of answers; the passages are those that the claim itself cites."""
    for answer in answers:
        texts = {one["n"]: one["text"] for one in answer["references"]}
        for claim in answer["claims"]:
            if claim["support"] != "N/A":
                yield Claim(
                    name=EXPERTS,
                    question=answer["question"],
                    text=claim["claim"],
                    references=tuple(texts[n] for n in claim["cites"] if n in texts),
                    supported=claim["support"] == "Complete",
                )


def models_of(folder: Path, questions: Sequence[str]) -> dict[str, Model]:
    """By question the coefficients that were fitted without it."""
    told = examples([row for row in judged_rows(folder) if row.kind == "qa"])
    names = sorted(set(questions))
    found: dict[str, Model] = {}
    for fold in range(FOLDS):
        held = set(names[fold::FOLDS])
        found |= dict.fromkeys(held, fitted_without(told, held))
    return found


def fitted_without(told: Sequence[Example], questions: set[str]) -> Model:
    fit = fit_sentences([one for one in told if one.row.question not in questions])
    weights = Weights(fit.intercept, fit.coefficients)
    model = shipped()
    qa = structs.replace(model.kinds["qa"], sentence=weights)
    return structs.replace(model, kinds={**model.kinds, "qa": qa})


def score_of(claim: Claim, model: Model) -> list[Scored]:
    """The score of a claim; nothing where it states nothing, or cites what cannot be read."""
    ids = [f"reference {place}" for place in range(len(claim.references))]
    contexts = [Context(id, text) for id, text in zip(ids, claim.references, strict=True)]
    if not contexts:
        return [Scored(claim=claim, score=0.0)] if claim.name == EXPERTS else []
    found = citation_support(
        claim.text, contexts, ids, claim.question, kind="qa", numbered=False, model=model
    )
    scores = [one.score for one in found.sentences if one.score is not None]
    return [Scored(claim=claim, score=min(scores))] if scores else []


def agreement_table(scored: Sequence[Scored]) -> str:
    names = dict.fromkeys(one.claim.name for one in scored)
    citing = [one for one in scored if one.claim.references]
    sets = {name: [one for one in citing if one.claim.name == name] for name in names}
    sets = {name: of for name, of in sorted(sets.items()) if name != EXPERTS} | {
        "all of AttributionBench": [one for one in citing if one.claim.name != EXPERTS],
        EXPERTS: sets[EXPERTS],
        f"{EXPERTS}, uncited claims too": [one for one in scored if one.claim.name == EXPERTS],
    }
    head = ["set", "claims", "questions", "supported", "AUROC", "length", "balanced accuracy"]
    return table(head, [agreement(name, of) for name, of in sets.items()])


def agreement(name: str, scored: Sequence[Scored]) -> list[object]:
    right = [one.claim.supported for one in scored]
    groups = [one.claim.question for one in scored]
    said = [one.score >= SUPPORTED for one in scored]
    shorter = [-float(len(one.claim.text)) for one in scored]
    return [
        name,
        len(scored),
        len(set(groups)),
        f"{np.mean(right):.2f}",
        with_interval(auroc([one.score for one in scored], right), groups),
        with_interval(auroc(shorter, right), groups),
        with_interval(balanced_accuracy(said, right), groups),
    ]


def left_out(
    claims: Sequence[Claim], scored: Sequence[Scored], answers: Sequence[dict[str, Any]]
) -> str:
    bare = sum(not claim.references and claim.name != EXPERTS for claim in claims)
    silent = len(claims) - len(scored) - bare
    spared = sum(claim["support"] == "N/A" for answer in answers for claim in answer["claims"])
    return (
        f"Left out: {bare} claims without a reference, {silent} that state nothing or whose "
        f"references have no word, {spared} whose support is N/A."
    )


def per_answer(answers: Sequence[dict[str, Any]], models: dict[str, Model]) -> str:
    """Citation recall of whole answers beside the share of their claims called Complete."""
    ours, theirs, groups = [], [], []
    for answer in answers:
        told = [one["support"] for one in answer["claims"] if one["support"] != "N/A"]
        row = recall_of(answer, models) if told else None
        if row is not None:
            ours.append(row)
            theirs.append(sum(one == "Complete" for one in told) / len(told))
            groups.append(answer["question"])
    found = with_interval(rank_correlation(ours, theirs), groups)
    return (
        f"Citation recall of {len(ours)} whole answers of ExpertQA, read from their markers, "
        f"beside the share of their claims that experts call Complete: rank correlation {found}; "
        f"means {np.mean(ours):.2f} and {np.mean(theirs):.2f}."
    )


def recall_of(answer: dict[str, Any], models: dict[str, Model]) -> float | None:
    contexts = tuple(Context(str(one["n"]), one["text"]) for one in answer["references"])
    text, question = answer["answer"], answer["question"]
    found = citation_support(text, contexts, None, question, kind="qa", model=models[question])
    row = AnswerRow(id=answer["id"], answer=text, contexts=contexts)
    counts = citation_recall(AnswerFacts(row=row, citations=found))
    return counts.counts[0] / counts.counts[1] if isinstance(counts, Row) else None


def with_interval(statistic: "Statistic", groups: Sequence[str]) -> str:
    value, spread = value_of(statistic, len(groups)), interval_over_groups(statistic, groups)
    if value is None or spread.ci is None:
        return "" if value is None else f"{value:.3f}"
    return f"{value:.3f} [{spread.ci[0]:.3f}, {spread.ci[1]:.3f}]"


def lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as each:
        yield from map(json.loads, each)


if __name__ == "__main__":
    main()
