"""Two runs in which every text that a user or a model gives tries to be more than text."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from ragauge import open_history, record, score
from ragauge.contracts.history import Run
from tests.reports.payloads import PAYLOADS

START = datetime(2026, 11, 1, 6, tzinfo=UTC)


def storable(text: str) -> bool:
    """Half of a surrogate pair is no text, and no history takes it."""
    return text.encode("utf-8", "ignore").decode() == text


TEXTS = [text for text in PAYLOADS if storable(text)]


def hostile_history(folder: Path, texts: list[str]) -> tuple[str, Run, Run]:
    """The place of a history, and its two runs: a question for each text, all fields full of it."""
    gold, place = folder / "gold.jsonl", str(folder / "store")
    gold.write_text("".join(json.dumps(_gold(n, text)) + "\n" for n, text in enumerate(texts)))
    runs = []
    with closing(open_history(place)) as history:
        for day in (1, 2):
            traces = folder / f"traces-{day}.jsonl"
            lines = [_trace(n, text, day) for n, text in enumerate(texts)]
            traces.write_text("".join(json.dumps(line) + "\n" for line in lines))
            made = record(
                score(gold, traces, keep_answers=True),
                history,
                name=texts[0],
                labels={f"label {n}": text[:200] for n, text in enumerate(texts)},
                recorded_at=START.replace(day=day),
            )
            runs.append(made)
    return place, runs[0], runs[1]


def _gold(n: int, text: str) -> dict[str, object]:
    return {
        "qid": f"{n} {text}",
        "question": text,
        "answerable": True,
        "gold_claim": text,
        "gold_claim_substr": [text],
        "gold_citations": [f"{text}#1"],
        "paraphrases": [f"{text}?"],
        "strata": {"kind": text[:100], "half": str(n % 2)},
    }


def _trace(n: int, text: str, day: int) -> dict[str, object]:
    wrong = day == 2 and n % 2 == 0
    cited = "elsewhere" if wrong else f"{text}#1"
    return {
        "qid": f"{n} {text}",
        "q": text,
        "answer_json": {"claim": f"{text} {day}", "citations": [cited]},
        "retrieved": [{"snippet_id": f"{text}#1", "doc_id": text, "text": f"{text} {text}"}],
    }
