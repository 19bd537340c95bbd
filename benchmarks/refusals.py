"""Refusals in free words against what people said: precision and recall, and what they cost.

Human judgements of others: MTRAG's answerability, CLAP NQ, SQuAD 2.0 with the answers of three
systems, EVOUNA's answers that people judged correct. `REFUSALS_FOLDER`, or the first argument,
names the folder that has them.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from benchmarks.peers.environments import ROOT
from benchmarks.results import table, write_section
from ragauge.refusals.predicate import Decision, free_refusal, has_cue
from ragauge.stats.intervals import wilson

DEFAULT_FOLDER = ROOT.parent / "shared" / "data"
HALVES = ("the half the rules were written with", "the other half")
REPEATS = 5


class Answer(NamedTuple):
    """An answer, the set it is from, and whether people say that it refuses."""

    id: str
    source: str
    text: str
    question: str
    refuses: bool

    @property
    def half(self) -> int:
        return int(sha256(self.id.encode()).hexdigest(), 16) % 2


def main() -> None:
    answers = read(folder())
    judged = [(one, free_refusal(one.text, question=one.question).verdict) for one in answers]
    parts = [
        about(answers),
        worth_table(judged),
        verdict_table(judged),
        abstentions(folder()),
        cost_table(answers),
    ]
    print("\n\n".join(parts))
    write_section("Refusals in free words", parts)


def folder() -> Path:
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("REFUSALS_FOLDER")
    return Path(named) if named else DEFAULT_FOLDER


def lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        sys.exit(f"{path} is missing: name the folder that has it as the first argument")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def read(path: Path) -> list[Answer]:
    return [
        *mtrag(path / "mtrag"),
        *clapnq(path / "clapnq"),
        *squad(path / "squad2_systems"),
        *evouna(path / "evouna"),
    ]


def mtrag(path: Path) -> Iterator[Answer]:
    """Answers people wrote, each to a question known as answerable or not; and systems' answers.

    A system may answer what cannot be answered: of its answers only those count that people wrote
    or that answer an answerable question.
    """
    for row in lines(path / "mtrag_un.jsonl"):
        kind = row["answerability"]
        source = f"MTRAG, {kind.lower()}"
        refuses = kind in ("UNANSWERABLE", "UNDERSPECIFIED")
        yield Answer(row["id"], source, row["reference_answer"], row["question"], refuses)
    tasks = {task["id"]: task for task in lines(path / "human_eval_tasks.jsonl")}
    for row in lines(path / "human_eval_responses.jsonl"):
        task = tasks[row["task_id"]]
        unanswerable = task["answerability"] == "UNANSWERABLE"
        if unanswerable and row["model"] != "reference":
            continue
        source = "MTRAG, judged answers"
        yield Answer(row["task_id"], source, row["answer"], task["question"], unanswerable)


def clapnq(path: Path) -> Iterator[Answer]:
    for row in lines(path / "dev.jsonl"):
        for answer in row["answers"]:
            yield Answer(row["id"], "CLAP NQ", answer["answer"], row["question"], False)


def squad(path: Path) -> Iterator[Answer]:
    for row in lines(path / "questions.jsonl"):
        for said in sorted({*row["answers"], *row["predictions"].values()} - {""}):
            yield Answer(row["id"], "SQuAD 2.0", said, row["question"], False)


def evouna(path: Path) -> Iterator[Answer]:
    """Answers that people judged correct: whatever they open with, they answer."""
    for row in lines(path / "answers.jsonl"):
        for one in row["systems"].values():
            if one["correct"]:
                yield Answer(row["id"], "EVOUNA, correct", one["answer"], row["question"], False)


Judged = list[tuple[Answer, Decision]]


def worth_table(judged: Judged) -> str:
    """Precision and recall of refusals, undetermined ones counted as answers, then as refusals."""
    ways: dict[str, tuple[Decision, ...]] = {
        "as an answer": ("refusal",),
        "as a refusal": ("refusal", "undetermined"),
    }
    rows = []
    for half, name in enumerate(HALVES):
        here = [(one, verdict) for one, verdict in judged if one.half == half]
        for way, counted in ways.items():
            said = [one.refuses for one, verdict in here if verdict in counted]
            found = [verdict in counted for one, verdict in here if one.refuses]
            rows.append([f"{name}, undetermined {way}", len(here), share(said), share(found)])
    return table(["refusals", "answers", "precision", "recall"], rows)


def share(hits: list[bool]) -> str:
    """A share with its Wilson interval at 95 %."""
    n = len(hits)
    low, high = wilson(sum(hits) / n, n)
    return f"{sum(hits) / n:.3f} [{low:.3f}, {high:.3f}], {sum(hits)} of {n}"


def verdict_table(judged: Judged) -> str:
    verdicts: tuple[Decision, ...] = ("refusal", "undetermined", "answer")
    rows = []
    for source in sorted({one.source for one, _ in judged}):
        for half in (0, 1):
            said = [v for one, v in judged if one.source == source and one.half == half]
            name = source if half == 0 else f"{source}, the other half"
            rows.append([name, *(said.count(verdict) for verdict in verdicts)])
    return table(["answers of", *verdicts], rows)


def abstentions(path: Path) -> str:
    said = [
        prediction
        for row in lines(path / "squad2_systems" / "questions.jsonl")
        for prediction in row["predictions"].values()
    ]
    return (
        f"The systems of SQuAD 2.0 abstain with an empty answer, {said.count(''):,} times in "
        f'{len(said):,}: an empty answer is an error record unless `--refusal-tokens ""` declares '
        "it a refusal, and not among the answers above."
    )


def about(answers: list[Answer]) -> str:
    refusing = sum(one.refuses for one in answers)
    return (
        f"{len(answers):,} answers in English that people wrote or judged, {refusing} of which "
        "refuse: those that people wrote to questions of MTRAG marked unanswerable, or "
        "underspecified, which ask back what was meant. Partial answers count as no refusals. The "
        "rules were written with one half of the questions, chosen by a hash of their ids; the "
        "other half was looked at twice. The first time one fault of structure was fixed (what "
        "is said *based on the documents* was taken for something that the documents say). Before "
        "the second time the other half had recall 25 of 28 and precision 25 of 26 (the one is a "
        "question back that is marked answerable); then a list of what could be meant was "
        "allowed more than one sentence, and *I neither have* was added. Brackets: Wilson "
        "intervals at 95 %. For Dutch, German, French, Spanish, Chinese and Japanese there are no "
        "human judgements here, only the sentences of the tests."
    )


def cost_table(answers: list[Answer]) -> str:
    texts = {
        "without a word of a refusal": [one.text for one in answers if not has_cue(one.text)],
        "with one": [one.text for one in answers if has_cue(one.text)],
    }
    rows = []
    for name, said in texts.items():
        length = sum(map(len, said)) // len(said)
        rows.append([name, f"{len(said):,}", length, f"{cost(said, free_refusal):.1f}"])
    return table(["cost of an answer", "answers", "characters", "CPU µs"], rows)


def cost(texts: list[str], judge: Callable[[str], object]) -> float:
    """The best mean of some repeats, in microseconds."""
    taken = []
    for _ in range(REPEATS):
        start = process_time()
        for text in texts:
            judge(text)
        taken.append(process_time() - start)
    return min(taken) / len(texts) * 1e6


if __name__ == "__main__":
    main()
