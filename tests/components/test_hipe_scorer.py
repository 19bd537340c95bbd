"""HIPE's scorer: a plain twin of how it counts, and its own published examples.

The twin is written from the definition in the scorer's documentation: predictions are taken in
their order, an exact one first, else the first overlapping gold entity that is still free; P, R and
F1 are computed for all documents together (micro) and averaged over documents (macro_doc), where a
document without predictions has no precision, one without gold no recall, and F1 needs both.
"""

import random
from statistics import mean

import pytest

from ragauge.runners.components.evaluate_ner import evaluate_ner


def counted(gold, predicted, fits):
    """(correct, predicted, gold) of one document; spans are (first, end, types), half-open."""
    used, correct = set(), 0
    for first, end, types in predicted:
        exact = [one for one in gold if one[:2] == (first, end)]
        if exact and fits(exact[0], (first, end, types)):
            used.add(exact[0])
            correct += 1
            continue
        for one in gold:
            same = one[:2] == (first, end)
            if same or (one[0] < end and first < one[1] and one not in used):
                used.add(one)
                correct += not same and fits(one, (first, end, types)) and fits is not strictly
                break
    return correct, len(predicted), len(gold)


def strictly(gold, predicted):
    return gold == predicted


def fuzzily(gold, predicted):
    return gold[2] == predicted[2]


def f1(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def averages(counts):
    """Micro and macro_doc P, R and F1, None where no document has one."""
    correct, predicted, gold = map(sum, zip(*counts, strict=True))
    micro = [correct / predicted if predicted else 0.0, correct / gold if gold else 0.0]
    each = {
        "precision": [one / found for one, found, _ in counts if found],
        "recall": [one / there for one, _, there in counts if there],
        "f1": [f1(one / found, one / there) for one, found, there in counts if found and there],
    }
    macro = {rate: mean(values) if values else None for rate, values in each.items()}
    return dict(zip(("precision", "recall"), micro, strict=True)) | {"f1": f1(*micro)}, macro


def spans(rng, tokens, share):
    """Entities of a row of tokens, which do not overlap."""
    found, at = [], 0
    while at < tokens:
        size = rng.randint(1, 3)
        if rng.random() < share and at + size <= tokens:
            found.append((at, at + size, rng.choice(["PERS", "LOC", "ORG"])))
        at += size
    return found


def tags(found, tokens):
    told = ["O"] * tokens
    for first, end, kind in found:
        told[first:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - first - 1)]
    return told


def written(file, documents, tokens):
    lines = ["TOKEN\tNE-COARSE-LIT"]
    for number, found in enumerate(documents):
        lines.append(f"# document_id = d{number:02}")
        lines += [f"w{at}\t{tag}" for at, tag in enumerate(tags(found, tokens))]
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("seed", range(8))
def test_micro_and_macro_doc_are_those_of_the_scorer(tmp_path, seed):
    rng, tokens = random.Random(seed), 12
    golds = [spans(rng, tokens, rng.choice([0, 0.3, 0.7])) for _ in range(12)]
    guesses = [
        [one for one in gold if rng.random() < 0.5] if rng.random() < 0.5 else spans(rng, 12, 0.4)
        for gold in golds
    ]
    guesses[0] = []
    kinds = {kind for gold in golds for _, _, kind in gold}
    scored = [[one for one in guess if one[2] in kinds] for guess in guesses]
    files = [
        written(tmp_path / f"{name}.tsv", side, tokens)
        for name, side in (("gold", golds), ("predicted", guesses))
    ]
    metrics = evaluate_ner(*files, matching="hipe", intervals=False).report.metrics
    for schema, fits in (("strict", strictly), ("partial", fuzzily)):
        counts = [counted(*pair, fits) for pair in zip(golds, scored, strict=True)]
        micro, macro = averages(counts)
        for rate in ("precision", "recall", "f1"):
            told = metrics[f"entities.{rate}_{schema}"].value
            assert told == pytest.approx(micro[rate], abs=1e-9), (rate, schema)
            told = metrics[f"entities.{rate}_{schema}_macro_doc"]
            assert told.value == pytest.approx(macro[rate], abs=1e-9), (rate, schema)
