"""The field's own scorers say what we say: nervaluate 1.2.1 and seqeval."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score
from seqeval.scheme import IOB1, IOB2, IOBES

from ragauge.contracts.entities import Entity
from ragauge.metrics.entity_matching import match_entities, outcomes
from ragauge.runners.components.evaluate_ner import evaluate_ner

SCHEMAS = {
    "strict": "strict",
    "exact": "exact",
    "semeval_partial": "partial",
    "ent_type": "ent_type",
}
"""Ours, and what nervaluate calls each."""
COUNTS = ("correct", "incorrect", "partial", "missed", "spurious")
TYPES = ("LOC", "ORG", "PER")


def random_entities(rng, most=6):
    found = []
    for _ in range(rng.randint(0, most)):
        start = rng.randint(0, 60)
        found.append((start, start + rng.choice((1, 2, 4, 8, 30, 150)), rng.choice(TYPES)))
    return list(dict.fromkeys(found))


def random_documents(seed, size):
    """Gold, and predictions that are now the same, now near, now made up."""
    rng = random.Random(seed)
    documents = []
    for _ in range(size):
        gold = random_entities(rng)
        predicted = random_entities(rng, 3)
        for start, end, type in gold:
            kind = rng.random()
            if kind < 0.4:
                predicted.append((start, end, type))
            elif kind < 0.6:
                predicted.append((start, end + rng.randint(1, 5), rng.choice(TYPES)))
            elif kind < 0.7:
                predicted.append((start, end, rng.choice(TYPES)))
        rng.shuffle(predicted)
        documents.append((gold, list(dict.fromkeys(predicted))))
    return documents


def nervaluate_of(documents, percentage=1.0):
    """nervaluate's results; its ends are inclusive."""
    sides = [
        [
            [{"label": type, "start": start, "end": end - 1} for start, end, type in side]
            for side in given
        ]
        for given in zip(*documents, strict=True)
    ]
    made = Evaluator(*sides, tags=TYPES, loader="dict", min_overlap_percentage=percentage)
    return made.evaluate()["overall"]


def records(side):
    return [
        {
            "id": f"d{place:04}",
            "entities": [{"start": s, "end": e, "type": type} for s, e, type in entities],
        }
        for place, entities in enumerate(side)
    ]


def report_on(documents, **options):
    gold, predicted = zip(*documents, strict=True)
    return evaluate_ner(records(gold), records(predicted), intervals=False, **options).report


@pytest.mark.parametrize(("share", "percentage"), [(None, 1.0), (0.5, 50.0)])
def test_matching_nervaluate_equals_nervaluate(share, percentage):
    documents = random_documents(1, 400)
    theirs = nervaluate_of(documents, percentage)
    report = report_on(documents, matching="nervaluate", min_overlap=share)
    for ours, name in SCHEMAS.items():
        told = report.detail.schemas[ours]
        for count in COUNTS:
            assert getattr(told, count) == getattr(theirs[name], count), (ours, count)
        for rate in ("precision", "recall", "f1"):
            assert getattr(told, rate) == pytest.approx(getattr(theirs[name], rate), abs=1e-12)


spans = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 4), st.sampled_from(TYPES)).map(
        lambda drawn: (drawn[0], drawn[0] + drawn[1], drawn[2])
    ),
    max_size=6,
)


@given(spans, spans)
def test_one_document_equals_nervaluate_repeated_entities_too(gold, predicted):
    theirs = nervaluate_of([(gold, predicted)])
    one, other = (
        [Entity(start=s, end=e, type=type) for s, e, type in side] for side in (gold, predicted)
    )
    for schema, pairs in match_entities(one, other, "nervaluate").items():
        told = outcomes(one, other, pairs, schema)
        wanted = {count: getattr(theirs[SCHEMAS[schema]], count) for count in COUNTS}
        assert {count: told[count] for count in COUNTS} == wanted


def test_b6_half_open_ends_are_not_nervaluates():
    """Fed half-open ends, nervaluate takes neighbours for a match; we convert."""
    side_by_side = [([(0, 5, "LOC")], [(5, 9, "LOC")])]
    assert nervaluate_of(side_by_side)["ent_type"].correct == 0
    assert report_on(side_by_side, matching="nervaluate").detail.schemas["ent_type"].correct == 0
    inclusive = [[[{"label": "LOC", "start": s, "end": e}]] for s, e in ((0, 5), (5, 9))]
    fed_wrong = Evaluator(*inclusive, tags=TYPES, loader="dict").evaluate()["overall"]
    assert fed_wrong["ent_type"].correct == 1


def test_where_nothing_is_entangled_all_matchings_agree():
    documents = []
    for gold, predicted in random_documents(2, 200):
        apart = [(100 * n, 100 * n + 9, type) for n, (_, _, type) in enumerate(gold)]
        near = [(s + n % 3, e, type) for n, (s, e, type) in enumerate(apart)]
        documents.append((apart, near[: len(predicted)]))
    told = {
        matching: report_on(documents, matching=matching).detail.schemas
        for matching in ("best", "hipe", "nervaluate")
    }
    assert told["best"] == told["hipe"] == told["nervaluate"]


def tagged(seed, documents, length=25):
    """IOB2 tags of gold and prediction."""
    rng = random.Random(seed)

    def tags():
        found = []
        while len(found) < length:
            if rng.random() < 0.6:
                found.append("O")
                continue
            type, size = rng.choice(TYPES), rng.randint(1, 3)
            found += [f"B-{type}", *[f"I-{type}"] * (size - 1)]
        return found[:length]

    gold = [tags() for _ in range(documents)]
    predicted = [
        [tag if rng.random() < 0.97 else "O" for tag in row] if rng.random() < 0.8 else tags()
        for row in gold
    ]
    return gold, [repaired(row) for row in predicted]


def repaired(tags):
    """Every entity begins with B: what strict IOB2 and its repair read alike."""
    found = []
    for before, tag in zip(["O", *tags], tags, strict=False):
        begins = tag.startswith("I-") and before[2:] != tag[2:]
        found.append(f"B-{tag[2:]}" if begins else tag)
    return found


def spans_of(tags):
    found, start = [], None
    for place, tag in enumerate([*tags, "O"]):
        if start is not None and not tag.startswith("I-"):
            found.append((start, place, tags[start][2:]))
            start = None
        if tag.startswith("B-"):
            start = place
    return found


def test_strict_equals_seqeval_in_all_its_averages_and_types():
    gold, predicted = tagged(3, 150)
    documents = [
        (spans_of(one), spans_of(other)) for one, other in zip(gold, predicted, strict=True)
    ]
    report = report_on(documents)
    strict = {"mode": "strict", "scheme": IOB2, "zero_division": 0}
    told = {name: score.value for name, score in report.metrics.items()}
    for name, theirs in (
        ("precision", precision_score),
        ("recall", recall_score),
        ("f1", f1_score),
    ):
        ours = told[f"entities.{name}_strict"]
        assert ours == pytest.approx(theirs(gold, predicted, **strict), abs=1e-12)
    macro = f1_score(gold, predicted, average="macro", **strict)
    assert told["entities.f1_strict_macro_union"] == pytest.approx(macro, abs=1e-12)
    by_type = classification_report(gold, predicted, output_dict=True, **strict)
    for type in TYPES:
        row = report.per_type[type]
        assert row["precision_strict"] == pytest.approx(by_type[type]["precision"], abs=1e-12)
        assert row["recall_strict"] == pytest.approx(by_type[type]["recall"], abs=1e-12)
        assert row["f1_strict"] == pytest.approx(by_type[type]["f1-score"], abs=1e-12)
        assert row["gold"] == by_type[type]["support"]


FORMS = {"iob1": (IOB1, "BI"), "iob2": (IOB2, "BI"), "bioes": (IOBES, "BIES")}
"""What seqeval calls each scheme, and its marks."""


def any_tags(rng, marks, length):
    """Tags in any order: entities that go on where none began, end twice, or never end."""
    found = []
    while len(found) < length:
        type = rng.choice(TYPES)
        broken = [f"{rng.choice(marks)}-{rng.choice((type, type, *TYPES))}" for _ in range(3)]
        found += rng.choice((["O"], ["O", "O"], broken, whole_entity(marks, type, rng)))
    return found[:length]


def whole_entity(marks, type, rng):
    size = rng.randint(1, 4)
    if marks == "BI":
        return [f"B-{type}", *[f"I-{type}"] * (size - 1)]
    if size == 1:
        return [f"S-{type}"]
    return [f"B-{type}", *[f"I-{type}"] * (size - 2), f"E-{type}"]


def broken_tags(seed, marks, sentences=80):
    """Gold and predicted tags; some sentences are empty."""
    rng = random.Random(seed)
    gold = [any_tags(rng, marks, rng.choice((0, 1, 2, 8, 20))) for _ in range(sentences)]
    predicted = [
        [tag if rng.random() < 0.85 else rng.choice(any_tags(rng, marks, 3)) for tag in row]
        for row in gold
    ]
    return gold, predicted


def written(file, sentences):
    """A token and its tag a line; an empty sentence is one more blank line."""
    rows = ("".join(f"w{place} {tag}\n" for place, tag in enumerate(row)) for row in sentences)
    file.write_text("".join(f"{row}\n" for row in rows))
    return file


def f1_with(mode, form, gold, predicted, **how):
    """seqeval's, which without a mode repairs as conlleval does."""
    told = {"mode": "strict", "scheme": FORMS[form][0]} if mode == "strict" else {}
    return f1_score(gold, predicted, zero_division=0, **told, **how)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", ["repair", "strict"])
@pytest.mark.parametrize("form", FORMS)
def test_files_of_broken_tags_score_as_seqeval_scores_them(tmp_path, form, mode, seed):
    gold, predicted = broken_tags(seed, FORMS[form][1])
    files = [written(tmp_path / name, side) for name, side in (("g", gold), ("p", predicted))]
    report = evaluate_ner(*files, input_format=form, scheme=mode, intervals=False).report
    told = {name.partition(".")[2]: score.value for name, score in report.metrics.items()}
    assert 0 < told["f1_strict"] < 1
    assert told["f1_strict"] == pytest.approx(f1_with(mode, form, gold, predicted), abs=1e-12)
    macro = f1_with(mode, form, gold, predicted, average="macro")
    assert told["f1_strict_macro_union"] == pytest.approx(macro, abs=1e-12)
    strictly = {"mode": "strict", "scheme": FORMS[form][0]} if mode == "strict" else {}
    by_type = classification_report(gold, predicted, output_dict=True, zero_division=0, **strictly)
    for type in TYPES:
        row = report.per_type[type]
        assert row["gold"] == by_type[type]["support"]
        for ours, theirs in (("precision", "precision"), ("recall", "recall"), ("f1", "f1-score")):
            found = row[f"{ours}_strict"] or 0.0
            assert found == pytest.approx(by_type[type][theirs], abs=1e-12), (type, ours)
    micro = by_type["micro avg"]
    assert told["precision_strict"] == pytest.approx(micro["precision"], abs=1e-12)
    assert told["recall_strict"] == pytest.approx(micro["recall"], abs=1e-12)
