"""Times `ragauge.score` as the peers are timed: the call alone, in one process.

python -m benchmarks.peers.ragauge_rows --gold GOLD.jsonl --traces TRACES.jsonl --limit 1000000

Unlike theirs, the call reads the files, checks every line and decides gates.
"""

from benchmarks.peers.stopwatch import arguments, cost_line, cost_of
from ragauge.runners.score import score


def main() -> None:
    given = arguments(__doc__.splitlines()[0], ("score",))
    cost = cost_of(lambda: score(given.gold, [given.traces], each="trace", preset="ship"))
    print(cost_line("ragauge", "score", given.limit, cost))


if __name__ == "__main__":
    main()
