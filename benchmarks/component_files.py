"""Rankings, entities and labels for the benchmarks, drawn by seed."""

import random
from pathlib import Path
from typing import Any

TYPES = ("GRP.HER.MUS", "GRP.HER.ARC", "GRP.HER.LIB", "TOP", "TMP", "IDENTIFIER")
LABELS = tuple("GLAMORCUBESFIXPHDNT")

Span = dict[str, Any]


def write_rankings(folder: Path, queries: int, depth: int) -> tuple[Path, Path]:
    """TREC qrels and a run, grouped by query; a quarter of the judged documents are relevant."""
    drawn = random.Random(queries)
    qrels, run = folder / f"{queries}.qrels", folder / f"{queries}.run"
    with qrels.open("w") as judged, run.open("w") as ranked:
        for query in range(queries):
            documents = drawn.sample(range(1_000_000), depth)
            scores = sorted((drawn.random() for _ in documents), reverse=True)
            for document in drawn.sample(documents, depth // 5):
                grade = drawn.choice((0, 0, 1, 2, 3))
                judged.write(f"q{query} 0 doc{document} {grade}\n")
            judged.write(f"q{query} 0 absent{query} 1\n")
            for rank, (document, score) in enumerate(zip(documents, scores, strict=True), 1):
                ranked.write(f"q{query} Q0 doc{document} {rank} {score:.6f} made\n")
    return qrels, run


def entities(documents: int) -> tuple[list[list[Span]], list[list[Span]]]:
    """Gold spans and predicted ones for each document: most right, some shifted, some retyped."""
    drawn = random.Random(documents)
    gold = [_spans(drawn) for _ in range(documents)]
    return gold, [[_predicted(span, drawn) for span in spans] for spans in gold]


def _spans(drawn: random.Random) -> list[Span]:
    starts = sorted(drawn.sample(range(0, 400, 20), 5))
    return [
        {"start": start, "end": start + drawn.randint(4, 15), "label": drawn.choice(TYPES)}
        for start in starts
    ]


def _predicted(span: Span, drawn: random.Random) -> Span:
    luck = drawn.random()
    if luck < 0.1:
        return {**span, "start": span["start"] + 2}
    if luck < 0.2:
        return {**span, "label": drawn.choice(TYPES)}
    return span


def labels(items: int) -> tuple[list[str], list[str]]:
    """Gold labels and predicted ones, seven in ten of them right."""
    drawn = random.Random(items)
    gold = drawn.choices(LABELS, k=items)
    return gold, [one if drawn.random() < 0.7 else drawn.choice(LABELS) for one in gold]
