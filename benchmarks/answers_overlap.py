"""Overlap of answers with references beside what a user would pick: rouge-score, sacrebleu, a loop.

Every case runs in a process of its own with one thread, and checks that both come to the same
number. A share of the size as the first argument tries it out: then nothing is written down.
"""

import os
import re
import string
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from benchmarks import measure
from benchmarks.component_cases import Case
from benchmarks.components import ONE_THREAD, REPEATS, timed
from benchmarks.results import table, write_section

PAIRS = 200
WORDS = 100
KEPT = 0.6
"""Share of the reference's words that stand in the answer, in place."""
KINDS = ("rouge1", "rouge2", "rougeL")
ENDINGS = ("", "s", "ed", "ing", "ation", "ness", "ly")
ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)

Pairs = list[tuple[str, str]]


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "case":
        print(*timed(CASES[sys.argv[2]], float(sys.argv[3])))
        return
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    about = (
        f"{PAIRS} answers of {WORDS} words against references of {WORDS} words, each read anew; "
        f"single thread, CPU without imports, best of {REPEATS}; both come to the same number."
    )
    header = ["case", "ragauge µs a pair", "peer µs a pair", "faster by", "wanted"]
    parts = [about, table(header, [row(name, share) for name in CASES])]
    if share == 1.0:
        write_section("Overlap of answers", parts)
    print(*parts, sep="\n\n")


def row(name: str, share: float) -> list[object]:
    """A case, measured in a process of its own."""
    env = {**os.environ, **ONE_THREAD}
    command = [sys.executable, "-m", "benchmarks.answers_overlap", "case", name, str(share)]
    ours, theirs = map(float, measure.run(command, env=env).stdout.split())
    each = 1e6 / round(PAIRS * share)
    return [
        name,
        f"{ours * each:.0f}",
        f"{theirs * each:.0f}",
        f"{theirs / ours:.1f}",
        CASES[name].wanted,
    ]


def pairs(folder: Path, share: float) -> Pairs:
    """References and answers of made-up English-like words, with a full stop now and then."""
    random = Random(7)
    made = ["".join(random.choices("abcdeilmnorstu", k=random.randint(3, 7))) for _ in range(800)]
    vocabulary = [stem + ending for stem in made for ending in ENDINGS]
    weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]

    def drawn(number: int) -> list[str]:
        return random.choices(vocabulary, weights, k=number)

    found = []
    for _ in range(round(PAIRS * share)):
        reference, others = drawn(WORDS), drawn(WORDS)
        answer = [
            one if random.random() < KEPT else other
            for one, other in zip(reference, others, strict=True)
        ]
        found.append((_written(reference), _written(answer)))
    return found


def _written(words: list[str]) -> str:
    sentences = (words[start : start + 12] for start in range(0, len(words), 12))
    return " ".join(" ".join(words).capitalize() + "." for words in sentences)


def ragauge_rouge(tokenizer: Any, stemmed: bool) -> Callable[[Pairs], float]:
    def scored(given: Pairs) -> float:
        from ragauge.text.rouge import rouge

        scores = (rouge(*pair, tokenizer, use_stemmer=stemmed) for pair in given)
        return sum(one.f for each in scores for one in each)

    return scored


def rouge_score(stemmed: bool) -> Callable[[Pairs], float]:
    def scored(given: Pairs) -> float:
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(list(KINDS), use_stemmer=stemmed)
        return sum(one.fmeasure for pair in given for one in scorer.score(*pair).values())

    return scored


def ragauge_chrf(given: Pairs) -> float:
    from ragauge.text.overlap import chrf

    return sum(chrf(*pair) for pair in given)


def sacrebleu_chrf(given: Pairs) -> float:
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    return sum(metric.sentence_score(answer, [wanted]).score / 100 for wanted, answer in given)


def ragauge_token_f1(given: Pairs) -> float:
    from ragauge.text.overlap import word_overlap

    return sum(word_overlap(*pair).f for pair in given)


def loop_token_f1(given: Pairs) -> float:
    """Token F1 as most people write it: lower case, no punctuation, no articles, two counters."""
    total = 0.0
    for reference, answer in given:
        wanted, found = _plain(reference), _plain(answer)
        shared = sum((Counter(wanted) & Counter(found)).values())
        if shared:
            precision, recall = shared / len(found), shared / len(wanted)
            total += 2 * precision * recall / (precision + recall)
    return total


def _plain(text: str) -> list[str]:
    return ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split()


CASES = {
    "ROUGE-1, 2 and L, Unicode words; rouge-score": Case(
        pairs, ragauge_rouge("unicode", False), rouge_score(False), "8"
    ),
    "ROUGE-1, 2 and L, tokenizer=rouge155; rouge-score": Case(
        pairs, ragauge_rouge("rouge155", False), rouge_score(False), "8"
    ),
    "the same with the Porter stemmer, stems remembered; rouge-score": Case(
        pairs, ragauge_rouge("rouge155", True), rouge_score(True), "8"
    ),
    "chrF; sacrebleu": Case(pairs, ragauge_chrf, sacrebleu_chrf, ""),
    "token F1; the SQuAD-style loop": Case(pairs, ragauge_token_f1, loop_token_f1, ""),
}


if __name__ == "__main__":
    main()
