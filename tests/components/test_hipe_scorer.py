"""HIPE's scorer: a plain twin of how it counts, and its own published examples.

The twin is written from the definition in the scorer's documentation: predictions are taken in
their order, an exact one first, else the first overlapping gold entity that is still free; P, R and
F1 are computed for all documents together (micro) and averaged over documents (macro_doc), where a
document without predictions has no precision, one without gold no recall, and F1 needs both.
"""

import random
from statistics import mean

import pytest

from ragauge.errors import InputRejected
from ragauge.runners.components.evaluate_linking import evaluate_linking
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


LINKED = "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNEL-LIT\tNEL-METO\tMISC"


def linked_table(file, *documents, header=LINKED):
    """A HIPE table; a document is its rows, each with token, tag and link, or only a token."""
    lines = [header]
    for number, rows in enumerate(documents):
        lines += [f"# hipe2022:document_id = d{number}", "# hipe2022:language = fr"]
        for row in rows:
            token, tag, link = row.split() if " " in row else (row, "O", "_")
            lines.append(f"{token}\t{tag}\tO\t{link}\t_\tNoSpaceAfter")
    file.write_text("\n".join(lines) + "\n")
    return file


def hipe_scores(gold, predicted, **options):
    """By cut-off precision, recall and F1."""
    metrics = evaluate_linking(gold, predicted, intervals=False, **options).report.metrics
    return {
        k: tuple(
            metrics[f"linking.hipe_{rate}@{k}"].value for rate in ("precision", "recall", "f1")
        )
        for k in (1, 3, 5)
    }


def test_nil_is_an_id_and_neighbours_are_separate_entities(tmp_path):
    """As the scorer's own published example of neighbours: 3 correct of 4 predicted and 4 gold."""
    gold = ["M B-pers NIL", "Las I-pers NIL", "M B-pers Q33", "Bert I-pers Q33", "Las B-pers NIL"]
    gold += ["M B-pers Q17", "Rei I-pers Q17", "au"]
    guess = [row.replace("Q33", "NIL") for row in gold]
    files = linked_table(tmp_path / "g", gold), linked_table(tmp_path / "p", guess)
    assert hipe_scores(*files) == dict.fromkeys((1, 3, 5), (0.75, 0.75, 0.75))


def test_alternatives_count_up_to_the_cut_off(tmp_path):
    gold = ["a B-loc Q1", "b B-loc Q2", "c B-loc NIL", "d B-loc Q4|Q9", "e B-loc _"]
    guess = [
        "a B-loc Q1|Q8",
        "b B-loc Q8|Q7|Q2",
        "c B-loc Q5|Q6|Q7|NIL",
        "d B-loc Q9",
        "e B-loc Q5",
    ]
    files = linked_table(tmp_path / "g", gold), linked_table(tmp_path / "p", guess)
    scores = hipe_scores(*files)
    assert [scores[k][:2] for k in (1, 3, 5)] == [(1 / 5, 1 / 4), (2 / 5, 2 / 4), (3 / 5, 3 / 4)]
    report = evaluate_linking(*files, intervals=False).report
    assert report.finding_counts["gold_alternatives"] == 1
    assert report.metrics["linking.hits@1"].value == 1 / 3


def test_the_metonymic_column_is_scored_by_name(tmp_path):
    gold = linked_table(tmp_path / "g", ["a B-loc Q1"])
    other = tmp_path / "meto"
    other.write_text(f"{LINKED}\n# document_id = d0\na\tB-loc\tB-org\tQ1\tQ7\t_\n")
    scores = hipe_scores(other, other, layer="NEL-METO")
    assert scores[1] == (1.0, 1.0, 1.0)
    with pytest.raises(InputRejected, match="no mention has a gold link"):
        hipe_scores(gold, gold, layer="NEL-METO")
    lacking = tmp_path / "lacking"
    lacking.write_text("TOKEN\tNE-COARSE-LIT\na\tB-loc\n")
    with pytest.raises(InputRejected, match='no column is called "NEL-LIT"'):
        hipe_scores(lacking, gold)


def test_predictions_without_document_ids_and_with_other_tokens(tmp_path):
    gold = linked_table(tmp_path / "g", ["a B-loc Q1", "b"], ["c B-loc Q2"])
    flat = tmp_path / "p"
    flat.write_text(f"{LINKED}\na\tS-loc\tO\tQ1\t_\t_\nb\tO\tO\t_\t_\t_\nc\tS-loc\tO\tQ3\t_\t_\n")
    assert hipe_scores(gold, flat)[1] == (0.5, 0.5, 0.5)
    assert evaluate_linking(gold, flat).report.finding_counts["aligned_by_order"] == 1
    other = linked_table(tmp_path / "o", ["a B-loc Q1", "x"], ["c B-loc Q2"])
    with pytest.raises(InputRejected, match='token 2 of "d0" is "x", in gold "b"'):
        hipe_scores(gold, other)


def linked_spans(rng, tokens):
    """Entities with alternatives: (first, end, ids)."""
    ids = ["NIL", "Q1", "Q2", "Q3"]
    found = spans(rng, tokens, 0.6)
    return [(first, end, tuple(rng.sample(ids, rng.randint(1, 4)))) for first, end, _ in found]


def rows_of(found, tokens):
    rows = [f"w{at}" for at in range(tokens)]
    for first, end, ids in found:
        for at in range(first, end):
            rows[at] = f"w{at} {'B' if at == first else 'I'}-loc {'|'.join(ids)}"
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_links_are_counted_as_the_scorer_counts_them(tmp_path, seed):
    rng, tokens = random.Random(seed), 14
    golds = [linked_spans(rng, tokens) for _ in range(10)]
    guesses = [gold if rng.random() < 0.3 else linked_spans(rng, tokens) for gold in golds]
    files = [
        linked_table(tmp_path / name, *(rows_of(one, tokens) for one in side))
        for name, side in (("g", golds), ("p", guesses))
    ]
    scores = hipe_scores(*files)
    for k in (1, 3, 5):
        names = lambda gold, said, k=k: gold[2][0] in said[2][:k]  # noqa: E731
        counts = [counted(*pair, names) for pair in zip(golds, guesses, strict=True)]
        micro, _ = averages(counts)
        expected = tuple(micro[rate] for rate in ("precision", "recall", "f1"))
        assert scores[k] == pytest.approx(expected, abs=1e-9), k
