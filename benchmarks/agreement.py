"""What agreement is worth: does it tell right answers from wrong ones, and better than length?

Runs recorded by others: a question, one answer known as right or wrong, ten more runs of the
question and ten of paraphrases. `SAC3_FOLDER`, or the first argument, names their folder.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import mean
from time import process_time
from timeit import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.fuzz import token_set_ratio

from benchmarks.peers.environments import ROOT
from benchmarks.results import table, write_section
from ragauge.metrics.stability import median_distance
from ragauge.text.agreement import agreement
from ragauge.text.canonical import canonical

DEFAULT_FOLDER = ROOT.parent / "shared" / "data" / "stability_sac3"
RESAMPLES = 4_000
SEED = 0
TIMED_RUNS, TIMED_LENGTH = 20, 300

Question = dict[str, Any]
Score = Callable[[Question, Sequence[str]], float]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Draws = list[tuple[NDArray[np.int64], ...]]

RUNS: dict[str, Callable[[Question], list[str]]] = {
    "both": lambda q: q["same_question_runs"] + q["paraphrase_runs"],
    "same question": lambda q: q["same_question_runs"],
    "paraphrases": lambda q: q["paraphrase_runs"],
}


def of_pairs(alike: Callable[[str, str], float]) -> Score:
    return lambda _, claims: mean(
        alike(one, other) for one, other in combinations(map(canonical, claims), 2)
    )


def jaccard(one: str, other: str) -> float:
    a, b = set(one.split()), set(other.split())
    return len(a & b) / max(len(a | b), 1)


OURS = "`agreement`"
SCORES: dict[str, Score] = {
    "the answer is short": lambda question, _: -len(question["answer"]),
    "the runs are short": lambda _, claims: -mean(map(len, claims)),
    "edit distance, `ned50`": lambda _, claims: -median_distance(Counter(map(canonical, claims))),
    "Jaccard of words": of_pairs(jaccard),
    "rapidfuzz `token_set_ratio`": of_pairs(token_set_ratio),
    OURS: lambda question, claims: agreement(question["question"], claims) or 0.0,
}


def main() -> None:
    questions = read(folder())
    draws = resamples(questions)
    parts = [
        about(questions),
        worth_table(questions, draws),
        gain_table(questions, draws),
        runs_table(questions, draws),
        cost(questions),
    ]
    print("\n\n".join(parts))
    write_section("Agreement of repeated runs", parts)


def folder() -> Path:
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SAC3_FOLDER")
    return Path(named) if named else DEFAULT_FOLDER


def read(path: Path) -> list[Question]:
    file = path / "runs.jsonl"
    if not file.exists():
        sys.exit(f"{file} is missing: name the folder that has it as the first argument")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def won(questions: list[Question], score: Score, kind: str = "both") -> Floats:
    """For each right answer and each wrong one, whether the right one scores higher; a tie is ½.

    The mean over all of them, or over a choice of them, is an area under the ROC curve.
    """
    scores = np.array([score(question, RUNS[kind](question)) for question in questions])
    is_right = np.array([question["correct"] for question in questions])
    right, wrong = scores[is_right][:, None], scores[~is_right][None, :]
    return np.where(right == wrong, 0.5, right > wrong)


def paired(questions: list[Question], alike: Callable[[Question, Question], bool]) -> Mask:
    """Which pairs of a right and a wrong answer are to be counted."""
    right = [question for question in questions if question["correct"]]
    wrong = [question for question in questions if not question["correct"]]
    return np.array([[alike(one, other) for other in wrong] for one in right])


def by_set(questions: list[Question]) -> dict[str, Mask]:
    """Pairs of all questions, and of each data set's."""
    names = sorted({question["dataset"] for question in questions})
    everything = {"all": paired(questions, lambda one, other: True)}
    return everything | {name: paired(questions, both_of(name)) for name in names}


def both_of(name: str) -> Callable[[Question, Question], bool]:
    return lambda one, other: one["dataset"] == other["dataset"] == name


def of_equal_length(questions: list[Question]) -> Mask:
    """Pairs whose answers are of the same third by length."""
    cuts = np.quantile([len(question["answer"]) for question in questions], [1 / 3, 2 / 3])

    def third(question: Question) -> int:
        return int(np.searchsorted(cuts, len(question["answer"])))

    return paired(questions, lambda one, other: third(one) == third(other))


def resamples(questions: list[Question]) -> Draws:
    """Right and wrong answers drawn with replacement, the same for every score."""
    right = sum(question["correct"] for question in questions)
    wrong = len(questions) - right
    random = np.random.default_rng(SEED)
    return [
        np.ix_(random.integers(right, size=right), random.integers(wrong, size=wrong))
        for _ in range(RESAMPLES)
    ]


def with_interval(values: Floats, counted: Mask, draws: Draws) -> str:
    """The mean over the pairs that count, and a bootstrap interval at 95 %."""
    low, high = np.quantile([values[d][counted[d]].mean() for d in draws], [0.025, 0.975])
    return f"{values[counted].mean():.3f} [{low:.3f}, {high:.3f}]"


def worth_table(questions: list[Question], draws: Draws) -> str:
    counted = by_set(questions) | {"equal length": of_equal_length(questions)}
    rows = [
        [name, *(with_interval(won(questions, score), mask, draws) for mask in counted.values())]
        for name, score in SCORES.items()
    ]
    return table(["AUROC, all runs", *counted], rows)


def gain_table(questions: list[Question], draws: Draws) -> str:
    counted = by_set(questions)
    ours = won(questions, SCORES[OURS])
    gains = {name: ours - won(questions, score) for name, score in SCORES.items() if name != OURS}
    rows = [
        [name, *(with_interval(gain, mask, draws) for mask in counted.values())]
        for name, gain in gains.items()
    ]
    return table([f"AUROC of {OURS} above that of", *counted], rows)


def runs_table(questions: list[Question], draws: Draws) -> str:
    everything = paired(questions, lambda one, other: True)
    rows = [
        [name, *(with_interval(won(questions, score, kind), everything, draws) for kind in RUNS)]
        for name, score in SCORES.items()
    ]
    return table(["AUROC, by the runs looked at", *RUNS], rows)


def about(questions: list[Question]) -> str:
    right = sum(question["correct"] for question in questions)
    return (
        f"{len(questions)} questions of the development part of SAC3, {right} answered right, each "
        "with ten more runs and ten runs of paraphrases. AUROC: how often, of a right and a wrong "
        "answer, the right one has the higher score; 0.5 is chance. `equal length` compares only "
        "answers of the same third by length. Brackets: bootstrap intervals at 95 %, questions "
        f"drawn {RESAMPLES:,} times. `agreement` was chosen among variants by means of these very "
        "questions, so the figures flatter it a little."
    )


def cost(questions: list[Question]) -> str:
    """What a question costs, its runs filled up with other answers to a full length."""
    text = " ".join(question["answer"] for question in questions)
    step = len(text) // (2 * TIMED_RUNS)
    claims = [text[at * step :][:TIMED_LENGTH] for at in range(TIMED_RUNS)]
    best = (
        min(repeat(lambda: agreement("Who?", claims), timer=process_time, number=50, repeat=5)) / 50
    )
    return f"A question with {TIMED_RUNS} runs of {TIMED_LENGTH} characters: {best * 1e3:.1f} ms."


if __name__ == "__main__":
    main()
