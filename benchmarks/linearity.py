"""Work grows with the length of a text, not with its square: hostile texts, at two lengths.

python -m benchmarks.linearity ends with 1 where a function takes more than twice its share of
time, or makes more than 2.3 times the calls for twice the text.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from functools import partial
from time import process_time

from ragauge.citations.fuzzy_match import differences
from ragauge.grounding import groundedness
from ragauge.grounding.cited import citation_support
from ragauge.jitters import JITTERS, jittered
from ragauge.quantities import quantities
from ragauge.refusals.predicate import free_refusal
from ragauge.text.citations import take_apart
from ragauge.text.sentences import sentences

SHORT, TIMES = 6_000, 4
ROUNDS, ENOUGH_S = 2, 0.02
"""The best of so many rounds; less time than that is chance."""
RECORD = "Lot: True\n" + "Parking lot: False\n" * 6
PIECES = [
    *("citations:[[\n", "citations: [a] ", "claim: ", "{", '{"a":', "citations:\n\n", "*", "```{"),
    *(
        "a",
        "1",
        "aB",
        "[",
        "[1]",
        "[1,",
        "so [1]. ",
        "\n",
        " \n",
        "sure\n",
        " ",
        "\u0301",
        "\ud800",
    ),
    *(
        "\x00",
        "夜",
        "not ",
        "lot; ",
        "a1",
        "A-1",
        "a-",
        "1/",
        "twenty ",
        "one-",
        "+1 ",
        "$",
        "1.2.",
    ),
    *(
        "万",
        "May 1 ",
        "(1",
        "http://1 ",
        "@a.",
        "a@",
        "million ",
        "I",
        "1'",
        "a , ",
        "“",
        "'x ",
        '"',
    ),
    *(
        "`",
        "```````a",
        "? ",
        "1 – ",
        "A b ",
        "The ",
        "(",
        "‘a",
        "In which year was the ",
        " \t",
        "，",
    ),
    *("解释", "Waar wordt aan ge", "Show the ", "please ", "Liste auf ", "Foo de ", "de' ", "..a"),
    *(
        "Which is it, the A or the ",
        "the documents ",
        "not in the ",
        "没有",
        "' ne pas ",
        "x. ",
        ".[",
    ),
    *(": 1. A", "*_", "> ", "。《", "a . '' ", "a. [1", "1. a\n", ".)", "- ", "|", "a:\n", "A.B. "),
]
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "take_apart": take_apart,
    "groundedness of an answer": lambda text: groundedness(text, [RECORD]),
    "groundedness in a context": lambda text: groundedness(RECORD, [text]),
    "quantities": quantities,
    "free_refusal": free_refusal,
    "sentences": sentences,
    "differences": lambda text: differences(text + "x", "It opened in 1885.", within=True),
    **{f"jitter {name}": partial(jittered, name=name) for name in JITTERS},
}


def sentences_of(
    words: list[str],
    characters: int,
    seed: int,
    size: int = 12,
    stop: str = ". ",
    between: str = " ",
) -> str:
    """Sentences of words drawn at random, of about so many characters."""
    draw, length = random.Random(seed), 0
    made: list[str] = []
    while length < characters:
        made.append(between.join(draw.choices(words, k=size)) + stop)
        length += len(made[-1])
    return "".join(made)


HAN = [chr(0x4E00 + place) for place in range(300)]
NAMES = [f"W{place}ord" for place in range(150)]
YES_NO = ("true", "false", "null")
SHAPES = {
    "prose": lambda size, seed: sentences_of(NAMES, size, seed),
    "chinese": lambda size, seed: sentences_of(HAN, size // 2, seed, 24, "。", ""),
    "one sentence": lambda size, seed: sentences_of(NAMES, size, seed, stop=" "),
    "one word": lambda size, seed: "museum " * (size // 7),
    "one word a sentence": lambda size, seed: sentences_of(NAMES, size // 2, seed, 1),
    "one long word": lambda size, seed: "museum" * (size // 6),
    "numbers": lambda size, seed: sentences_of(
        [str(place) for place in range(seed, 900, 2)], size, seed, stop=" "
    ),
    "record": lambda size, seed: "".join(
        f"Field{place}Name: {YES_NO[(place + seed) % 3]}\n" for place in range(size // 18)
    ),
}


def work(run: Callable[..., object], *texts: str) -> int:
    """The number of calls, to functions written in C included."""
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        run(*texts)
    finally:
        sys.setprofile(None)
    return count


def cited(answer: str, context: str) -> None:
    piece = len(context) // 8 + 1
    contexts = [context[at : at + piece] for at in range(0, len(context), piece)]
    citation_support(answer, contexts, ["1", "2"])


WORK: dict[str, Callable[..., object]] = {
    "groundedness": lambda *texts: groundedness(texts[0], [texts[1]]),
    "citation_support": cited,
}


def seconds(run: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        began = process_time()
        run(text)
        best = min(best, process_time() - began)
    return best


def main() -> int:
    slow = 0
    for name, run in FUNCTIONS.items():
        worst, of = 0.0, ""
        for piece in PIECES:
            short = piece * (SHORT // len(piece))
            long_s = seconds(run, short * TIMES)
            growth = long_s / max(seconds(run, short), 1e-9) if long_s >= ENOUGH_S else 0.0
            worst, of = max((worst, of), (growth, piece))
        slow += worst > 2 * TIMES
        grew = f"{worst:4.1f} times the time at worst, for {of!a}" if worst else "too quick to tell"
        print(f"{name:28} {TIMES} times the text: {grew}")
    for name, run in WORK.items():
        for shape, made in SHAPES.items():
            once, twice = (work(run, made(size, 1), made(size, 2)) for size in (40_000, 80_000))
            slow += twice >= 2.3 * once
            print(f"{name:28} 2 times the text: {twice / once:4.1f} times the calls, for {shape}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
